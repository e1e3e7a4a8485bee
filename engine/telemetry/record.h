// SPDX-License-Identifier: Apache-2.0
/* What happened, as one typed record: a span, an event or a log line (the data model of OpenTelemetry: traces data model
 * and logs data model, opentelemetry.io/docs/specs/otel). Ids are bytes, times nanoseconds since 1970 UTC, severities the
 * numbers of OpenTelemetry. Text is raw foreign bytes: it is made safe where it is shown (safe_text) and nowhere before. */
#pragma once

#include "engine/base/log.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TELEMETRY_TRACE_ID_BYTES = 16, TELEMETRY_SPAN_ID_BYTES = 8 };

/* What is longer or more is cut or left out, and counted (n_dropped_…): a record never fails. Bytes are those of text. */
enum {
	TELEMETRY_ATTRS_MAX = 32,
	TELEMETRY_EVENTS_MAX = 16, /* inside a span */
	TELEMETRY_LINKS_MAX = 16,
	TELEMETRY_NAME_BYTES_MAX = 256, /* names and keys */
	TELEMETRY_TEXT_BYTES_MAX = 4 << 10,
	TELEMETRY_RECORD_TEXT_BYTES_MAX = 32 << 10, /* all text of one record */
};

enum telemetry_type {
	TELEMETRY_STRING,
	TELEMETRY_INT,
	TELEMETRY_DOUBLE,
	TELEMETRY_BOOL,
	TELEMETRY_TYPE_COUNT,
};

struct telemetry_attr {
	const char *key;
	enum telemetry_type type;
	union {
		struct slice string; /* of a kept record also NUL-terminated */
		int64_t integer;
		double real;
		bool boolean;
	};
};

enum telemetry_kind {
	TELEMETRY_SPAN,
	TELEMETRY_EVENT, /* a log record with a name of its own */
	TELEMETRY_LOG,
	TELEMETRY_KIND_COUNT,
};

/* OpenTelemetry's SeverityNumber; the three between them are finer steps. */
enum telemetry_severity {
	TELEMETRY_SEVERITY_NONE = 0,
	TELEMETRY_SEVERITY_TRACE = 1,
	TELEMETRY_SEVERITY_DEBUG = 5,
	TELEMETRY_SEVERITY_INFO = 9,
	TELEMETRY_SEVERITY_WARN = 13,
	TELEMETRY_SEVERITY_ERROR = 17,
	TELEMETRY_SEVERITY_FATAL = 21,
};

/* SpanKind of OTLP */
enum telemetry_span_kind {
	TELEMETRY_SPAN_UNSPECIFIED,
	TELEMETRY_SPAN_INTERNAL,
	TELEMETRY_SPAN_SERVER,
	TELEMETRY_SPAN_CLIENT,
	TELEMETRY_SPAN_PRODUCER,
	TELEMETRY_SPAN_CONSUMER,
};

enum telemetry_status { TELEMETRY_STATUS_UNSET, TELEMETRY_STATUS_OK, TELEMETRY_STATUS_ERROR };

struct telemetry_span_event {
	int64_t wall_ns;
	const char *name;
	const struct telemetry_attr *attrs;
	size_t n_attrs, n_dropped_attrs;
};

struct telemetry_span_link {
	uint8_t trace_id[TELEMETRY_TRACE_ID_BYTES], span_id[TELEMETRY_SPAN_ID_BYTES];
};

/* Whoever makes one fills in what it knows; zero is "not known" throughout. A text that is NULL is kept as "". */
struct telemetry_record {
	uint64_t sequence; /* given by the store, rising: a span has its at its start */
	enum telemetry_kind kind;
	int64_t wall_ns;     /* of a span its start */
	int64_t observed_ns; /* when we came to know of it; 0: then */
	int64_t duration_ns; /* of a span; -1 while it is open */
	uint8_t trace_id[TELEMETRY_TRACE_ID_BYTES], span_id[TELEMETRY_SPAN_ID_BYTES],
		parent_id[TELEMETRY_SPAN_ID_BYTES]; /* parent: of a span */
	enum telemetry_span_kind span_kind;
	enum telemetry_severity severity;
	enum telemetry_status status;
	const char *status_text; /* of our own spans the stable name of the error's code */
	const char *service;     /* resource: service.name of who made it; "" is this program */
	const char *
		scope; /* instrumentation scope: of our own log the module; "" is the service */
	const char *name;  /* of a span or an event */
	struct slice body; /* of a log line */
	const struct telemetry_attr *attrs;
	size_t n_attrs, n_dropped_attrs;
	const struct telemetry_span_event *events;
	size_t n_events, n_dropped_events;
	const struct telemetry_span_link *links;
	size_t n_links, n_dropped_links;
};

/* A copy in one piece of memory, within the limits above; free(). *bytes: what it takes. */
struct telemetry_record *telemetry_record_copy(
	const struct telemetry_record *record, size_t *bytes);
/* The text form of a value, raw: 7, 0.5, true, or the string as it is. */
void telemetry_attr_add_text(struct str *out, const struct telemetry_attr *attr);
enum telemetry_severity telemetry_severity_of_log(enum log_level level);
enum log_level telemetry_severity_log_level(enum telemetry_severity severity);
bool telemetry_id_is_set(
	const uint8_t *id, size_t n); /* false: all zero, as OTLP says "none" */
