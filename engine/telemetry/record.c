// SPDX-License-Identifier: Apache-2.0
/* A record in one piece: the struct, its arrays, then all text. The same walk runs twice, first to measure (base is NULL),
 * then to write, so that the two cannot disagree. */
#include "engine/telemetry/record.h"

#include "engine/base/mem.h"

#include <inttypes.h>
#include <string.h>

struct writer {
	char *base; /* NULL: only measures */
	size_t used, text_bytes;
};

_Static_assert(
	sizeof(struct telemetry_record) % _Alignof(struct telemetry_attr) == 0 &&
		sizeof(struct telemetry_attr) % _Alignof(struct telemetry_span_event) == 0 &&
		sizeof(struct telemetry_span_event) % _Alignof(struct telemetry_attr) == 0,
	"arrays follow each other without gaps");

static void *put_array(struct writer *w, const void *from, size_t count, size_t element_bytes)
{
	void *at = w->base != NULL ? w->base + w->used : NULL;
	w->used += count * element_bytes;
	if (at != NULL && count != 0)
		memcpy(at, from, count * element_bytes);
	return at;
}

static struct slice put_text(struct writer *w, struct slice text, size_t max_bytes)
{
	size_t room = TELEMETRY_RECORD_TEXT_BYTES_MAX - w->text_bytes;
	max_bytes = max_bytes < room ? max_bytes : room;
	struct slice out = { "", text.n < max_bytes ? text.n : max_bytes };
	if (out.n == 0)
		return out;
	if (w->base != NULL) {
		char *to = w->base + w->used;
		memcpy(to, text.p, out.n);
		to[out.n] = '\0';
		out.p = to;
	}
	w->text_bytes += out.n;
	w->used += out.n + 1;
	return out;
}

static const char *put_name(struct writer *w, const char *name)
{
	return put_text(w, slice_of(name), TELEMETRY_NAME_BYTES_MAX).p;
}

/* to: the array in its new place, or NULL while measuring. */
static void put_attr_texts(struct writer *w, struct telemetry_attr *to,
	const struct telemetry_attr *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *key = put_name(w, from[i].key);
		struct slice string = { 0 };
		if (from[i].type == TELEMETRY_STRING)
			string = put_text(w, from[i].string, TELEMETRY_TEXT_BYTES_MAX);
		if (to == NULL)
			continue;
		to[i].key = key;
		if (from[i].type == TELEMETRY_STRING)
			to[i].string = string;
	}
}

static size_t at_most(size_t n, size_t max, size_t *n_dropped)
{
	if (n <= max)
		return n;
	*n_dropped += n - max;
	return max;
}

/* head: what fits of the record, by number; its pointers still lead to the caller's memory. */
static void put_record(struct writer *w, const struct telemetry_record *head)
{
	struct telemetry_record *to = put_array(w, head, 1, sizeof *head);
	struct telemetry_attr *attrs =
		put_array(w, head->attrs, head->n_attrs, sizeof *head->attrs);
	struct telemetry_span_event *events =
		put_array(w, head->events, head->n_events, sizeof *head->events);
	for (size_t i = 0; i < head->n_events; i++) {
		size_t n_dropped = head->events[i].n_dropped_attrs;
		size_t n = at_most(head->events[i].n_attrs, TELEMETRY_ATTRS_MAX, &n_dropped);
		void *event_attrs =
			put_array(w, head->events[i].attrs, n, sizeof *head->events[i].attrs);
		if (events != NULL) {
			events[i].attrs = event_attrs;
			events[i].n_attrs = n;
			events[i].n_dropped_attrs = n_dropped;
		}
	}
	void *links = put_array(w, head->links, head->n_links, sizeof *head->links);
	const char *name = put_name(w, head->name), *scope = put_name(w, head->scope);
	const char *service = put_name(w, head->service);
	const char *status_text = put_name(w, head->status_text);
	struct slice body = put_text(w, head->body, TELEMETRY_TEXT_BYTES_MAX);
	put_attr_texts(w, attrs, head->attrs, head->n_attrs);
	for (size_t i = 0; i < head->n_events; i++) {
		const char *event_name = put_name(w, head->events[i].name);
		size_t unused = 0;
		size_t n = at_most(head->events[i].n_attrs, TELEMETRY_ATTRS_MAX, &unused);
		struct telemetry_attr *event_attrs = NULL;
		if (events != NULL) {
			events[i].name = event_name;
			memcpy(&event_attrs, &events[i].attrs, sizeof event_attrs);
		}
		put_attr_texts(w, event_attrs, head->events[i].attrs, n);
	}
	if (to == NULL)
		return;
	to->attrs = attrs;
	to->events = events;
	to->links = links;
	to->name = name;
	to->scope = scope;
	to->service = service;
	to->status_text = status_text;
	to->body = body;
}

struct telemetry_record *telemetry_record_copy(
	const struct telemetry_record *record, size_t *bytes)
{
	struct telemetry_record head = *record;
	struct writer w = { 0 };
	head.n_attrs = at_most(head.n_attrs, TELEMETRY_ATTRS_MAX, &head.n_dropped_attrs);
	head.n_events = at_most(head.n_events, TELEMETRY_EVENTS_MAX, &head.n_dropped_events);
	head.n_links = at_most(head.n_links, TELEMETRY_LINKS_MAX, &head.n_dropped_links);
	put_record(&w, &head);
	*bytes = w.used;
	w = (struct writer){ .base = x_malloc(w.used) };
	put_record(&w, &head);
	return (struct telemetry_record *)w.base;
}

void telemetry_attr_add_text(struct str *out, const struct telemetry_attr *attr)
{
	switch (attr->type) {
	case TELEMETRY_INT:
		str_addf(out, "%" PRId64, attr->integer);
		return;
	case TELEMETRY_DOUBLE:
		str_addf(out, "%.17g", attr->real);
		return;
	case TELEMETRY_BOOL:
		str_add(out, attr->boolean ? "true" : "false");
		return;
	case TELEMETRY_STRING:
	case TELEMETRY_TYPE_COUNT:
		str_add_bytes(out, attr->string.p, attr->string.n);
	}
}

enum telemetry_severity telemetry_severity_of_log(enum log_level level)
{
	static const enum telemetry_severity severities[] = {
		[LOG_ERROR] = TELEMETRY_SEVERITY_ERROR,
		[LOG_WARN] = TELEMETRY_SEVERITY_WARN,
		[LOG_INFO] = TELEMETRY_SEVERITY_INFO,
		[LOG_DEBUG] = TELEMETRY_SEVERITY_DEBUG,
		[LOG_TRACE] = TELEMETRY_SEVERITY_TRACE,
	};
	_Static_assert(
		sizeof severities / sizeof *severities == LOG_LEVEL_COUNT, "one for each");
	return severities[level];
}

enum log_level telemetry_severity_log_level(enum telemetry_severity severity)
{
	return severity >= TELEMETRY_SEVERITY_ERROR  ? LOG_ERROR
	       : severity >= TELEMETRY_SEVERITY_WARN ? LOG_WARN
	       : severity >= TELEMETRY_SEVERITY_INFO ? LOG_INFO
	       : severity < TELEMETRY_SEVERITY_DEBUG && severity != TELEMETRY_SEVERITY_NONE
		       ? LOG_TRACE
		       : LOG_DEBUG;
}

bool telemetry_id_is_set(const uint8_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (id[i] != 0)
			return true;
	return false;
}
