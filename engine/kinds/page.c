// SPDX-License-Identifier: Apache-2.0
#include "engine/kinds/page.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/kinds/object.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 16 << 10, LABEL_BYTES = 64, RELATIONS_MAX = 100 };

/* ---- sections that add nothing have no title */

struct late {
	const struct resource_lines *lines;
	const char *title; /* NULL: it stands already */
};

static void on_title(void *arg, const char *title)
{
	((struct late *)arg)->title = title;
}

static void on_line(void *arg, const char *label, enum resource_tone tone, const char *text,
	int64_t when_ms)
{
	struct late *late = arg;
	if (late->title)
		late->lines->title(late->lines->arg, late->title);
	late->title = NULL;
	late->lines->line(late->lines->arg, label, tone, text, when_ms);
}

/* ---- the row */

/* "CLASS" -> "class": what stands over a column, beside its value. */
static void label_of(const struct resource_column *column, char out[LABEL_BYTES])
{
	snprintf(out, LABEL_BYTES, "%s", column->title);
	for (char *c = out; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

static void add_columns(
	const struct resource_kind *kind, const void *row, const struct resource_lines *lines)
{
	char label[LABEL_BYTES], cell[RESOURCE_CELL_BYTES];
	int i;
	RESOURCE_EACH(i, kind->wide) {
		const struct resource_column *column = &kind->columns[i];
		struct resource_value value = column->value(row);
		if (i == kind->name_column || !value.is_known)
			continue;
		label_of(column, label);
		if (column->format == RESOURCE_AGE)
			lines->line(lines->arg, strcmp(label, "age") ? label : "created",
				RESOURCE_PLAIN,
				clock_format_rfc3339(value.number * 1000000, 0, cell),
				value.number);
		else
			lines->line(lines->arg, label, resource_tone(column, row),
				resource_text(column, row, clock_wall_ms(), cell), 0);
	}
}

/* ---- relations */

static void add_name(struct str *out, const char *name)
{
	str_addf(out, "%s%s", out->n ? ", " : "", name);
}

void kinds_relation_format(
	const struct resource_relation *relation, const cJSON *object, struct str *out)
{
	const cJSON *item, *at = kinds_at(object, relation->by == RESOURCE_BY_OWNER
							  ? "metadata.ownerReferences"
							  : relation->path);
	int left = RELATIONS_MAX;
	switch (relation->by) {
	case RESOURCE_BY_OWNER:
		cJSON_ArrayForEach(item, at)
		{
			const char *kind = kinds_text_at(item, "kind");
			const char *name = kinds_text_at(item, "name");
			if (left-- > 0 && name && kind && strcmp(kind, relation->kind) == 0)
				add_name(out, name);
		}
		break;
	case RESOURCE_BY_FIELD:
		if (cJSON_IsString(at) && *at->valuestring)
			add_name(out, at->valuestring);
		break;
	case RESOURCE_BY_REFERENCE:
		if (kinds_text_at(at, "kind") && kinds_text_at(at, "name"))
			str_addf(out, "%s/%s", kinds_text_at(at, "kind"),
				kinds_text_at(at, "name"));
		break;
	case RESOURCE_BY_VOLUMES:
		cJSON_ArrayForEach(item, at)
		{
			const char *volume = kinds_text_at(item, "metadata.name");
			const char *name = kinds_text_at(object, "metadata.name");
			if (left-- > 0 && volume && name)
				str_addf(out, "%s%s-%s", out->n ? ", " : "", volume, name);
		}
		break;
	case RESOURCE_BY_NAME:
	case RESOURCE_BY_LABEL:
	case RESOURCE_BY_MENTION:
		break; /* only the server knows */
	case RESOURCE_BY_SELECTOR:
		for (item = cJSON_IsObject(at) ? at->child : NULL; item; item = item->next)
			if (left-- > 0 && cJSON_IsString(item))
				str_addf(out, "%s%s=%s", out->n ? "," : "", item->string,
					item->valuestring);
		break;
	}
}

static void add_relations(const struct resource_kind *kind, const cJSON *object,
	const struct resource_lines *lines)
{
	lines->title(lines->arg, "Belongs to");
	for (const struct resource_relation *r = kind->relations; r && r->kind; r++) {
		struct str text;
		str_init(&text, TEXT_BYTES);
		kinds_relation_format(r, object, &text);
		if (text.n)
			lines->line(lines->arg, r->kind ? r->kind : r->path, RESOURCE_PLAIN,
				text.p, 0);
		str_deinit(&text);
	}
}

/* ---- what objects of all kinds may have */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void add_conditions(const cJSON *object, const struct resource_lines *lines)
{
	const cJSON *c;
	lines->title(lines->arg, "Conditions");
	cJSON_ArrayForEach(c, kinds_at(object, "status.conditions"))
	{
		struct str text;
		const char *message = or_empty(kinds_text_at(c, "message"));
		str_init(&text, TEXT_BYTES);
		str_addf(&text, "%s  %s%s%s", or_empty(kinds_text_at(c, "status")),
			or_empty(kinds_text_at(c, "reason")), *message ? ": " : "", message);
		lines->line(lines->arg, or_empty(kinds_text_at(c, "type")), RESOURCE_PLAIN,
			text.p, kinds_time(kinds_text_at(c, "lastTransitionTime"), 0));
		str_deinit(&text);
	}
}

static void add_map(const char *title, const cJSON *map, const struct resource_lines *lines)
{
	lines->title(lines->arg, title);
	for (const cJSON *pair = cJSON_IsObject(map) ? map->child : NULL; pair;
		pair = pair->next)
		lines->line(lines->arg, pair->string, RESOURCE_PLAIN,
			cJSON_IsString(pair) ? pair->valuestring : "?", 0);
}

void kinds_page(const struct resource_kind *kind, const void *row, const cJSON *object,
	const struct resource_lines *lines)
{
	struct late late = { .lines = lines };
	const struct resource_lines out = { on_title, on_line, &late };
	if (row)
		add_columns(kind, row, &out);
	if (!object)
		return;
	for (const struct resource_section *s = kind->sections; row && s && s->title; s++) {
		late.title = s->title;
		s->add(&out, row, object);
	}
	add_relations(kind, object, &out);
	add_conditions(object, &out);
	add_map("Labels", kinds_at(object, "metadata.labels"), &out);
	add_map("Annotations", kinds_at(object, "metadata.annotations"), &out);
}
