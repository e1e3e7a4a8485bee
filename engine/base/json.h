// SPDX-License-Identifier: Apache-2.0
/* cJSON with limits, typed look-ups that never crash on a wrong type, and a splitter that cuts the
 * elements out of a JSON stream as bytes arrive, so that a list of any length is parsed one element
 * at a time. Depth limit 64, element limit 4 MiB (the API server takes 3 MiB).
 * Errors: ERR_LIMIT_RESPONSE, ERR_RUNTIME_PROTOCOL. */
#pragma once

#include "engine/base/str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
enum { JSON_MAX_DEPTH = 64, JSON_MAX_BYTES = 4 << 20 };

/* Free with cJSON_Delete. ERR_RUNTIME_PROTOCOL on bad JSON, ERR_LIMIT_RESPONSE over a limit. */
cJSON *json_parse(struct slice bytes, struct err *err);

/* Path look-ups: json_get(o, "status", "sandbox", "name", NULL). Each returns NULL/fallback if any
 * step is missing or has another type. Strings are borrowed from the tree. */
const cJSON *json_get(const cJSON *object, ...) __attribute__((sentinel));
const char *json_str(const cJSON *object, ...) __attribute__((sentinel)); /* NULL if none */
int64_t json_int(const cJSON *object, int64_t fallback, ...) __attribute__((sentinel));
bool json_bool(const cJSON *object, int fallback, ...) __attribute__((sentinel));

/* Cuts complete top-level JSON values out of a byte stream (a watch: one object a line), or the elements
 * of the array named `items` of one enclosing object (a list page), and hands each to on_value as
 * bytes. For a list, everything outside that array is collected and handed to on_rest at the end
 * (metadata.continue, a Status), as one object with "items":[]. */
enum json_split_mode { JSON_SPLIT_VALUES, JSON_SPLIT_ITEMS };
struct json_split;
typedef bool json_split_fn(void *arg, struct slice value, struct err *err); /* false stops */
struct json_split *json_split_new(enum json_split_mode mode, size_t max_value_bytes,
	json_split_fn *on_value, json_split_fn *on_rest, void *arg);
void json_split_free(struct json_split *split);
bool json_split_feed(struct json_split *split, const void *bytes, size_t n, struct err *err);
bool json_split_finish(
	struct json_split *split, struct err *err); /* false if cut inside a value */
