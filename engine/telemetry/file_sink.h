// SPDX-License-Identifier: Apache-2.0
/* A sink that appends each record to a file, as one line of OTLP JSON (the form of OpenTelemetry's file exporter,
 * opentelemetry.io/docs/specs/otel/protocol/file-exporter, which a collector's otlpjsonfile receiver reads).
 * A pipe that nobody empties makes it busy, a full disk makes it fail: neither costs the store anything.
 * Errors: errno. */
#pragma once

#include <stdbool.h>

struct err;
struct telemetry;

/* Opens path (0600, appended, never waited for) and adds the sink, which lives as long as the store. */
bool telemetry_file_sink_add(struct telemetry *telemetry, const char *path, struct err *err);
