// SPDX-License-Identifier: Apache-2.0
/* From a record to the messages of opentelemetry/proto/{trace,logs}/v1, as JSON. */
#include "engine/telemetry/otlp_json.h"

#include "engine/base/digest.h"
#include "engine/base/json.h"
#include "engine/base/safe_text.h"
#include "engine/telemetry/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void add_text(cJSON *object, const char *key, struct slice text)
{
	struct str out;
	str_init(&out, text.n * 3 + 1);
	while (text.n > 0) {
		int32_t c;
		size_t n = safe_text_decode(text, &c);
		if (n > 0 && c != 0)
			str_add_bytes(&out, text.p, n);
		else
			str_add(&out, "\uFFFD");
		n = n > 0 ? n : 1;
		text = (struct slice){ text.p + n, text.n - n };
	}
	cJSON_AddStringToObject(object, key, out.p);
	str_deinit(&out);
}

static void add_id(cJSON *object, const char *key, const uint8_t *id, size_t n)
{
	char hex[2 * TELEMETRY_TRACE_ID_BYTES + 1];
	if (!telemetry_id_is_set(id, n))
		return;
	digest_hex(id, n, hex);
	cJSON_AddStringToObject(object, key, hex);
}

static void add_int64(cJSON *object, const char *key, int64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRId64, value);
	cJSON_AddStringToObject(object, key, text);
}

static void add_count(cJSON *object, const char *key, size_t count)
{
	if (count != 0)
		cJSON_AddNumberToObject(object, key, (double)count);
}

static void add_attrs(
	cJSON *object, const struct telemetry_attr *attrs, size_t n, size_t n_dropped)
{
	cJSON *array = n != 0 ? cJSON_AddArrayToObject(object, "attributes") : NULL;
	for (size_t i = 0; i < n; i++) {
		cJSON *each = cJSON_CreateObject();
		cJSON_AddItemToArray(array, each);
		add_text(each, "key", slice_of(attrs[i].key));
		cJSON *value = cJSON_AddObjectToObject(each, "value");
		switch (attrs[i].type) {
		case TELEMETRY_INT:
			add_int64(value, "intValue", attrs[i].integer);
			break;
		case TELEMETRY_DOUBLE:
			cJSON_AddNumberToObject(value, "doubleValue", attrs[i].real);
			break;
		case TELEMETRY_BOOL:
			cJSON_AddBoolToObject(value, "boolValue", attrs[i].boolean);
			break;
		case TELEMETRY_STRING:
		case TELEMETRY_TYPE_COUNT:
			add_text(value, "stringValue", attrs[i].string);
		}
	}
	add_count(object, "droppedAttributesCount", n_dropped);
}

static void add_span(cJSON *span, const struct telemetry_record *record)
{
	add_id(span, "traceId", record->trace_id, sizeof record->trace_id);
	add_id(span, "spanId", record->span_id, sizeof record->span_id);
	add_id(span, "parentSpanId", record->parent_id, sizeof record->parent_id);
	add_text(span, "name", slice_of(record->name));
	cJSON_AddNumberToObject(span, "kind", record->span_kind);
	add_int64(span, "startTimeUnixNano", record->wall_ns);
	add_int64(span, "endTimeUnixNano", record->wall_ns + record->duration_ns);
	add_attrs(span, record->attrs, record->n_attrs, record->n_dropped_attrs);
	cJSON *events = record->n_events ? cJSON_AddArrayToObject(span, "events") : NULL;
	for (size_t i = 0; i < record->n_events; i++) {
		const struct telemetry_span_event *from = &record->events[i];
		cJSON *event = cJSON_CreateObject();
		cJSON_AddItemToArray(events, event);
		add_int64(event, "timeUnixNano", from->wall_ns);
		add_text(event, "name", slice_of(from->name));
		add_attrs(event, from->attrs, from->n_attrs, from->n_dropped_attrs);
	}
	add_count(span, "droppedEventsCount", record->n_dropped_events);
	cJSON *links = record->n_links ? cJSON_AddArrayToObject(span, "links") : NULL;
	for (size_t i = 0; i < record->n_links; i++) {
		cJSON *link = cJSON_CreateObject();
		cJSON_AddItemToArray(links, link);
		add_id(link, "traceId", record->links[i].trace_id, TELEMETRY_TRACE_ID_BYTES);
		add_id(link, "spanId", record->links[i].span_id, TELEMETRY_SPAN_ID_BYTES);
	}
	add_count(span, "droppedLinksCount", record->n_dropped_links);
	cJSON *status = cJSON_AddObjectToObject(span, "status");
	cJSON_AddNumberToObject(status, "code", record->status);
	if (record->status_text[0] != '\0')
		add_text(status, "message", slice_of(record->status_text));
}

/* The names of the specification: a number between two steps is the lower one. */
static const char *severity_text(enum telemetry_severity severity)
{
	static const char *const names[] = { "TRACE", "DEBUG", "INFO", "WARN", "ERROR",
		"FATAL" };
	size_t step = ((size_t)severity - 1) / 4;
	return names[step < sizeof names / sizeof *names ? step : 5];
}

static void add_log(cJSON *log, const struct telemetry_record *record)
{
	add_int64(log, "timeUnixNano", record->wall_ns);
	add_int64(log, "observedTimeUnixNano",
		record->observed_ns != 0 ? record->observed_ns : record->wall_ns);
	if (record->severity != TELEMETRY_SEVERITY_NONE) {
		cJSON_AddNumberToObject(log, "severityNumber", record->severity);
		cJSON_AddStringToObject(log, "severityText", severity_text(record->severity));
	}
	if (record->name[0] != '\0')
		add_text(log, "eventName", slice_of(record->name));
	add_text(cJSON_AddObjectToObject(log, "body"), "stringValue", record->body);
	add_attrs(log, record->attrs, record->n_attrs, record->n_dropped_attrs);
	add_id(log, "traceId", record->trace_id, sizeof record->trace_id);
	add_id(log, "spanId", record->span_id, sizeof record->span_id);
}

static cJSON *only_element(cJSON *object, const char *array_name)
{
	cJSON *element = cJSON_CreateObject();
	cJSON_AddItemToArray(cJSON_AddArrayToObject(object, array_name), element);
	return element;
}

static void add_ascii(struct str *out, const char *json)
{
	for (struct slice rest = slice_of(json); rest.n > 0;) {
		int32_t c = 0;
		size_t n = safe_text_decode(rest, &c);
		n = n > 0 ? n : 1;
		if (c > 0xFFFF)
			str_addf(out, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (c >> 10)),
				(unsigned)(0xDC00 | (c & 0x3FF)));
		else if (c >= 0x7F)
			str_addf(out, "\\u%04x", (unsigned)c);
		else
			str_add_bytes(out, rest.p, n);
		rest = (struct slice){ rest.p + n, rest.n - n };
	}
}

void telemetry_otlp_json_add(struct str *out, const struct telemetry_record *record)
{
	bool is_span = record->kind == TELEMETRY_SPAN;
	const struct telemetry_attr service = { .key = "service.name",
		.string = slice_of(record->service[0] != '\0' ? record->service : "sandmux") };
	cJSON *data = cJSON_CreateObject();
	cJSON *of_resource = only_element(data, is_span ? "resourceSpans" : "resourceLogs");
	add_attrs(cJSON_AddObjectToObject(of_resource, "resource"), &service, 1, 0);
	cJSON *of_scope = only_element(of_resource, is_span ? "scopeSpans" : "scopeLogs");
	cJSON *scope = cJSON_AddObjectToObject(of_scope, "scope");
	if (record->scope[0] != '\0')
		add_text(scope, "name", slice_of(record->scope));
	if (is_span)
		add_span(only_element(of_scope, "spans"), record);
	else
		add_log(only_element(of_scope, "logRecords"), record);
	char *json = cJSON_PrintUnformatted(data);
	add_ascii(out, json);
	str_add_char(out, '\n');
	cJSON_free(json);
	cJSON_Delete(data);
}
