// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"

#include "engine/base/err.h"

#include <stdarg.h>

/* cJSON recurses as deep as its input: the depth is checked before it sees a byte. */
static bool depth_is_fine(struct slice bytes)
{
	int depth = 0;
	bool in_string = false;
	for (size_t i = 0; i < bytes.n; i++) {
		char c = bytes.p[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > JSON_MAX_DEPTH)
				return false;
		} else if (c == '}' || c == ']') {
			depth--;
		}
	}
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

cJSON *json_parse(struct slice bytes, struct err *err)
{
	if (bytes.n > JSON_MAX_BYTES) {
		err_set(err, ERR_LIMIT_RESPONSE, "JSON of %zu bytes: more than %d", bytes.n,
			JSON_MAX_BYTES);
		return NULL;
	}
	if (!depth_is_fine(bytes)) {
		err_set(err, ERR_LIMIT_RESPONSE, "JSON is nested deeper than %d",
			JSON_MAX_DEPTH);
		return NULL;
	}
	const char *end = NULL;
	cJSON *value =
		bytes.n ? cJSON_ParseWithLengthOpts(bytes.p, bytes.n, &end, false) : NULL;
	if (value == NULL) {
		size_t at = end != NULL ? (size_t)(end - bytes.p) : 0;
		err_set(err, ERR_RUNTIME_PROTOCOL, "bad JSON at byte %zu", at);
		return NULL;
	}
	while (end < bytes.p + bytes.n && is_space(*end))
		end++;
	if (end != bytes.p + bytes.n) {
		cJSON_Delete(value);
		err_set(err, ERR_RUNTIME_PROTOCOL, "bytes after the end of JSON, at %zu",
			(size_t)(end - bytes.p));
		return NULL;
	}
	return value;
}

static const cJSON *walk(const cJSON *object, va_list steps)
{
	const char *name;
	while ((name = va_arg(steps, const char *)) != NULL && object != NULL)
		object = cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name)
						: NULL;
	return object;
}

#define WALK(object, found, last_named)                                                        \
	do {                                                                                   \
		va_list steps;                                                                 \
		va_start(steps, last_named);                                                   \
		(found) = walk((object), steps);                                               \
		va_end(steps);                                                                 \
	} while (0)

const cJSON *json_get(const cJSON *object, ...)
{
	const cJSON *found;
	WALK(object, found, object);
	return found;
}

const char *json_str(const cJSON *object, ...)
{
	const cJSON *found;
	WALK(object, found, object);
	return cJSON_GetStringValue(found);
}

int64_t json_int(const cJSON *object, int64_t fallback, ...)
{
	const cJSON *found;
	WALK(object, found, fallback);
	const double limit = 9007199254740992.0; /* 2^53: beyond it a double skips integers */
	if (!cJSON_IsNumber(found) || !(found->valuedouble >= -limit) ||
		!(found->valuedouble <= limit))
		return fallback;
	return (int64_t)found->valuedouble;
}

bool json_bool(const cJSON *object, int fallback, ...)
{
	const cJSON *found;
	WALK(object, found, fallback);
	return cJSON_IsBool(found) ? cJSON_IsTrue(found) != 0 : fallback != 0;
}
