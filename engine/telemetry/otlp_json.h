// SPDX-License-Identifier: Apache-2.0
/* A record in OTLP's JSON form (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): ids in hex, 64-bit integers as
 * strings, enums as numbers. Text that is not UTF-8 becomes U+FFFD. */
#pragma once

#include "engine/base/str.h"

struct telemetry_record;

enum { TELEMETRY_OTLP_JSON_BYTES_MAX = 512 << 10 };
/* One TracesData or LogsData object on one line, in ASCII (so that it can be shown as it is), with a line end. out has room for
 * TELEMETRY_OTLP_JSON_BYTES_MAX. */
void telemetry_otlp_json_add(struct str *out, const struct telemetry_record *record);
