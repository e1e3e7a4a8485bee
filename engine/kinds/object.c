// SPDX-License-Identifier: Apache-2.0
#include "engine/kinds/object.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_WORD_BYTES = 128 };
#define INT_LIMIT 9007199254740991.0 /* what a double holds exactly */

/* Most texts of most rows are empty: one for all. */
static const char none[] = "";

void kinds_text_drop(const char **slot)
{
	if (*slot && *slot != none)
		free((void *)(uintptr_t)*slot);
	*slot = none;
}

void kinds_text_set(const char **slot, const char *text)
{
	const char *made = text && *text ? x_strndup(text, KINDS_TEXT_BYTES) : none;
	kinds_text_drop(slot);
	*slot = made;
}

static void read_labels(const char **slot, const cJSON *object)
{
	struct str text;
	str_init(&text, K8S_LABELS_BYTES_MAX);
	k8s_labels_format(object, &text);
	const char *made = text.n ? x_strdup(text.p) : none;
	kinds_text_drop(slot);
	*slot = made;
	str_deinit(&text);
}

void kinds_texts_drop(const char **slots, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kinds_text_drop(&slots[i]);
}

void kinds_object_read(struct kinds_object *row, const cJSON *object, int64_t skew_ms)
{
	kinds_text_set(&row->uid, kinds_text_at(object, "metadata.uid"));
	kinds_text_set(&row->name, kinds_text_at(object, "metadata.name"));
	kinds_text_set(&row->namespace_, kinds_text_at(object, "metadata.namespace"));
	read_labels(&row->labels, object);
	row->created_ms =
		kinds_time(kinds_text_at(object, "metadata.creationTimestamp"), skew_ms);
	row->deleted_ms =
		kinds_time(kinds_text_at(object, "metadata.deletionTimestamp"), skew_ms);
}

void kinds_object_drop(struct kinds_object *row)
{
	kinds_text_drop(&row->uid);
	kinds_text_drop(&row->name);
	kinds_text_drop(&row->namespace_);
	kinds_text_drop(&row->labels);
}

int64_t kinds_time(const char *text, int64_t skew_ms)
{
	int64_t ns;
	return text && clock_parse_rfc3339(text, &ns) ? ns / 1000000 - skew_ms : 0;
}

const cJSON *kinds_at(const cJSON *object, const char *path)
{
	char word[PATH_WORD_BYTES];
	while (object && *path) {
		size_t n = strcspn(path, ".");
		if (n >= sizeof word || !cJSON_IsObject(object))
			return NULL;
		const cJSON *whole = cJSON_GetObjectItemCaseSensitive(object, path);
		if (whole)
			return whole;
		memcpy(word, path, n);
		word[n] = 0;
		object = cJSON_GetObjectItemCaseSensitive(object, word);
		path += n + (path[n] == '.');
	}
	return object;
}

const char *kinds_text_at(const cJSON *object, const char *path)
{
	return cJSON_GetStringValue(kinds_at(object, path));
}

int64_t kinds_int_at(const cJSON *object, const char *path, int64_t fallback)
{
	const cJSON *at = kinds_at(object, path);
	double is = cJSON_IsNumber(at) ? at->valuedouble : NAN;
	return is >= -INT_LIMIT && is <= INT_LIMIT ? (int64_t)is : fallback;
}

bool kinds_is_true_at(const cJSON *object, const char *path)
{
	return cJSON_IsTrue(kinds_at(object, path));
}

void kinds_owner_format(const cJSON *object, struct str *out)
{
	const cJSON *item, *found = NULL;
	cJSON_ArrayForEach(item, kinds_at(object, "metadata.ownerReferences"))
	{
		bool is_whole = kinds_text_at(item, "kind") && kinds_text_at(item, "name");
		if (is_whole && (!found || kinds_is_true_at(item, "controller")))
			found = item;
	}
	if (found)
		str_addf(out, "%s/%s", kinds_text_at(found, "kind"),
			kinds_text_at(found, "name"));
}

const cJSON *kinds_condition(const cJSON *object, const char *type)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, kinds_at(object, "status.conditions"))
	{
		const char *is = kinds_text_at(item, "type");
		if (is && strcmp(is, type) == 0)
			return item;
	}
	return NULL;
}

struct resource_value kinds_text_value(const char *text)
{
	return (struct resource_value){ .text = text, .is_known = *text != 0 };
}

struct resource_value kinds_time_value(int64_t wall_ms)
{
	return (struct resource_value){
		.text = "", .number = wall_ms, .is_known = wall_ms != 0
	};
}

struct resource_value kinds_count_value(int64_t count)
{
	return (struct resource_value){ .text = "", .number = count, .is_known = true };
}

static const struct kinds_object *of(const void *row)
{
	return row;
}

struct resource_value kinds_uid(const void *row)
{
	return kinds_text_value(of(row)->uid);
}

struct resource_value kinds_name(const void *row)
{
	return kinds_text_value(of(row)->name);
}

struct resource_value kinds_namespace(const void *row)
{
	return kinds_text_value(of(row)->namespace_);
}

const char *kinds_labels(const void *row)
{
	return of(row)->labels;
}

struct resource_value kinds_created(const void *row)
{
	return kinds_time_value(of(row)->created_ms);
}
