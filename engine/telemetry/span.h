// SPDX-License-Identifier: Apache-2.0
/* Spans of our own operations (OpenTelemetry trace model), kept in a bounded ring that the log view reads.
 * Never recorded: tokens, environment values, stdin/stdout/file bytes, arguments beyond the base name of
 * argv[0], file paths (unless telemetry_set_paths(true)). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct telemetry;
struct telemetry_span;

struct telemetry *telemetry_new(
	size_t max_spans); /* oldest finished ones are dropped, counted */
void telemetry_free(struct telemetry *telemetry);
void telemetry_set_paths(struct telemetry *telemetry, bool on);

/* name: suffix such as "create_claim", "run", "files.read"; shown as "sandmux.<suffix>". parent NULL = root.
 * telemetry NULL gives a NULL span, and every span function accepts NULL. */
struct telemetry_span *telemetry_span_start(
	struct telemetry *telemetry, const char *name, const struct telemetry_span *parent);
void telemetry_span_set_str(struct telemetry_span *span, const char *key, const char *value);
void telemetry_span_set_int(struct telemetry_span *span, const char *key, int64_t value);
/* A file path: kept only if paths are on. */
void telemetry_span_set_path(struct telemetry_span *span, const char *key, const char *path);
/* Ends it; err NULL = OK, else status ERROR with sandbox.error.code. The pointer is dead afterwards. */
void telemetry_span_end(struct telemetry_span *span, const struct err *err);
enum { SPAN_TRACEPARENT_BYTES = 56 };
const char *telemetry_span_traceparent(
	const struct telemetry_span *span, char out[SPAN_TRACEPARENT_BYTES]); /* "" if NULL */

struct telemetry_span_attr {
	const char *key;
	const char *value; /* text form */
};
struct telemetry_span_record {
	uint64_t sequence; /* rises by one a span, in order of end (or start while open) */
	char trace_id[33], span_id[17], parent_id[17];
	const char *name;
	int64_t start_wall_ns, duration_ns; /* duration -1 while open */
	bool failed;
	const char *error_code; /* "" if none */
	const struct telemetry_span_attr *attrs;
	size_t n_attrs;
};
/* Newest first; fn returns false to stop. Records are borrowed for the call. */
void telemetry_each(const struct telemetry *telemetry,
	bool (*fn)(void *arg, const struct telemetry_span_record *record), void *arg);
uint64_t telemetry_revision(const struct telemetry *telemetry);
uint64_t telemetry_dropped(const struct telemetry *telemetry);
