// SPDX-License-Identifier: Apache-2.0
/* Spans of our own operations (OpenTelemetry trace model), while they are open; ended, they are records of the store.
 * Never recorded: tokens, environment values, stdin/stdout/file bytes, arguments beyond the base name of
 * argv[0], file paths (unless telemetry_set_paths(true)). */
#pragma once

#include "engine/telemetry/store.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct telemetry_span;

void telemetry_set_paths(struct telemetry *telemetry, bool on);

/* name: suffix such as "create_claim", "run", "files.read"; shown as "sandmux.<suffix>". parent NULL = root.
 * telemetry NULL gives a NULL span, and every span function accepts NULL. */
struct telemetry_span *telemetry_span_start(
	struct telemetry *telemetry, const char *name, const struct telemetry_span *parent);
/* An attribute; keys and values are copied. Beyond 16 they are counted, not kept; a text is kept up to 256 bytes. */
void telemetry_span_set_str(struct telemetry_span *span, const char *key, const char *value);
void telemetry_span_set_int(struct telemetry_span *span, const char *key, int64_t value);
/* A file path: kept only if paths are on. */
void telemetry_span_set_path(struct telemetry_span *span, const char *key, const char *path);
/* Ends it; err NULL = OK, else status ERROR with sandbox.error.code. The pointer is dead afterwards. */
void telemetry_span_end(struct telemetry_span *span, const struct err *err);
enum { SPAN_TRACEPARENT_BYTES = 56 };
const char *telemetry_span_traceparent(
	const struct telemetry_span *span, char out[SPAN_TRACEPARENT_BYTES]); /* "" if NULL */
