// SPDX-License-Identifier: Apache-2.0
/* Events (core/v1 Event, which shows those of events.k8s.io as well): what happened to what, how often, when first and
 * last; the latest first. */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"

#include <string.h>

enum kinds_event_column {
	UID,
	NAMESPACE,
	NAME,
	LAST,
	TYPE,
	REASON,
	OBJECT,
	COUNT,
	MESSAGE,
	SOURCE,
	LAST_AT,
	FIRST_AT,
	FIRST,
	COLUMN_COUNT,
};

enum { N_TEXTS = 5 };

struct kinds_event {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *type, *reason, *about, *message, *source;
		};
		const char *texts[N_TEXTS];
	};
	int64_t first_ms, last_ms, count;
};

static const struct kinds_event *of(const void *row)
{
	return row;
}

/* The first of these that is a date: the generations of the API fill in different ones. */
static int64_t first_date(const cJSON *object, int64_t skew_ms, const char *const *paths)
{
	for (; *paths; paths++) {
		int64_t ms = kinds_time(kinds_text_at(object, *paths), skew_ms);
		if (ms)
			return ms;
	}
	return 0;
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	static const char *const last[] = { "series.lastObservedTime", "lastTimestamp",
		"eventTime", "metadata.creationTimestamp", NULL };
	static const char *const first[] = { "firstTimestamp", "eventTime",
		"metadata.creationTimestamp", NULL };
	struct kinds_event *event = row;
	const char *kind = kinds_text_at(object, "involvedObject.kind"),
		   *name = kinds_text_at(object, "involvedObject.name"),
		   *source = kinds_text_at(object, "reportingComponent");
	struct str about;
	event->last_ms = first_date(object, skew_ms, last);
	event->first_ms = first_date(object, skew_ms, first);
	event->count = kinds_int_at(object, "series.count", kinds_int_at(object, "count", 1));
	if (event->count < 1)
		event->count = 1;
	str_init(&about, KINDS_TEXT_BYTES);
	if (kind || name)
		str_addf(&about, "%s/%s", kind ? kind : "", name ? name : "");
	kinds_text_set(&event->about, about.p);
	str_deinit(&about);
	kinds_text_set(&event->type, kinds_text_at(object, "type"));
	kinds_text_set(&event->reason, kinds_text_at(object, "reason"));
	kinds_text_set(&event->message, kinds_text_at(object, "message"));
	kinds_text_set(&event->source,
		source && *source ? source : kinds_text_at(object, "source.component"));
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_event *)row)->texts, N_TEXTS);
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_event, type)
KINDS_TEXT_COLUMN(kinds_event, reason)
KINDS_TEXT_COLUMN(kinds_event, about)
KINDS_TEXT_COLUMN(kinds_event, message)
KINDS_TEXT_COLUMN(kinds_event, source)

static struct resource_value first(const void *row)
{
	return kinds_time_value(of(row)->first_ms);
}

static struct resource_value last(const void *row)
{
	return kinds_time_value(of(row)->last_ms);
}

static struct resource_value count(const void *row)
{
	return kinds_count_value(of(row)->count);
}

static enum resource_tone type_tone(const void *row)
{
	return strcmp(of(row)->type, "Warning") == 0 ? RESOURCE_WARNING : RESOURCE_PLAIN;
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[LAST] = { .title = "LAST",
		.name = "last",
		.alias = "age",
		.format = RESOURCE_AGE,
		.cols = 6,
		.value = last },
	[TYPE] = { .title = "TYPE",
		.name = "type",
		.field = "type",
		.cols = 7,
		.rank = 6,
		.is_searched = true,
		.value = type,
		.tone = type_tone },
	[REASON] = { .title = "REASON",
		.name = "reason",
		.field = "reason",
		.cols = 22,
		.rank = 2,
		.is_searched = true,
		.value = reason,
		.tone = type_tone },
	[OBJECT] = { .title = "OBJECT",
		.name = "object",
		.field = "object",
		.cols = 30,
		.rank = 3,
		.is_searched = true,
		.value = about },
	[COUNT] = { .title = "COUNT",
		.screen_title = "N",
		.name = "count",
		.field = "count",
		.format = RESOURCE_COUNT,
		.cols = 4,
		.rank = 5,
		.value = count },
	[MESSAGE] = { .title = "MESSAGE",
		.name = "message",
		.field = "message",
		.is_searched = true,
		.value = message },
	[SOURCE] = { .title = "SOURCE",
		.name = "source",
		.field = "source",
		.cols = 20,
		.rank = 8,
		.is_searched = true,
		.value = source },
	[LAST_AT] = { .field = "lastSeenAt", .format = RESOURCE_TIME, .value = last },
	[FIRST_AT] = { .field = "firstSeenAt", .format = RESOURCE_TIME, .value = first },
	[FIRST] = { .title = "FIRST",
		.name = "first",
		.format = RESOURCE_AGE,
		.cols = 6,
		.rank = 7,
		.value = first },
};

/* ---- the page */

static void add_message(
	const struct resource_lines *lines, const void *row, const cJSON *object)
{
	const char *message = kinds_text_at(object, "message");
	const char *action = kinds_text_at(object, "action");
	if (message)
		lines->line(lines->arg, "message", type_tone(row), message, 0);
	if (action && *action)
		lines->line(lines->arg, "action", RESOURCE_PLAIN, action, 0);
}

static const struct resource_section sections[] = { { "What happened", add_message }, { 0 } };

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_REFERENCE, NULL, "involvedObject", false },
	{ RESOURCE_BY_REFERENCE, NULL, "related", false },
	{ 0 },
};

const struct resource_kind kinds_event = {
	.name = "events",
	.singular = "event",
	.aliases = (const char *const[]){ "ev", NULL },
	.resource = &k8s_events,
	.row_bytes = sizeof(struct kinds_event),
	.project = project,
	.drop = drop,
	.list_kind = "EventList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, LAST, TYPE, REASON, OBJECT, COUNT, MESSAGE, FIRST,
		SOURCE, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, LAST, TYPE, REASON, OBJECT, COUNT, MESSAGE,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, LAST, FIRST, TYPE, REASON, OBJECT, COUNT, MESSAGE,
		SOURCE, RESOURCE_NONE },
	.brief = (const int[]){ REASON, MESSAGE, RESOURCE_NONE },
	.order_column = LAST,
	.sections = sections,
	.relations = relations,
};
