// SPDX-License-Identifier: Apache-2.0
/* Four bytes "k8s\0", then runtime.Unknown {1: TypeMeta {1: apiVersion, 2: kind}, 2: raw}; raw is the object:
 * Namespace {1: ObjectMeta {1: name, 2: generateName, 11: labels, 12: annotations}}. Maps are repeated
 * entries {1: key, 2: value} (k8s.io/apimachinery and k8s.io/api, generated.proto). */
#include "local/server/api/protobuf.h"

#include "engine/base/mem.h"
#include "engine/base/pb_wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

/* The first length-delimited field of that number. */
static bool find(struct slice in, uint32_t number, struct slice *out)
{
	struct pb_wire_field f;
	bool ok = true;
	while (pb_wire_next(&in, &f, &ok))
		if (f.number == number && f.type == PB_WIRE_BYTES) {
			*out = f.bytes;
			return true;
		}
	return false;
}

/* Text without NUL, in UTF-8; else NULL. */
static char *to_text(struct slice bytes)
{
	utf8proc_int32_t codepoint;
	for (size_t i = 0; i < bytes.n;) {
		utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)bytes.p + i,
			(utf8proc_ssize_t)(bytes.n - i), &codepoint);
		if (n <= 0 || codepoint == 0)
			return NULL;
		i += (size_t)n;
	}
	return x_strndup(bytes.p, bytes.n);
}

static void add_text(cJSON *object, const char *key, struct slice bytes)
{
	char *text = to_text(bytes);
	if (text && *text)
		cJSON_AddStringToObject(object, key, text);
	free(text);
}

static void add_entry(cJSON *metadata, const char *map_name, struct slice entry)
{
	struct slice key, value = { "", 0 };
	cJSON *map = cJSON_GetObjectItemCaseSensitive(metadata, map_name);
	if (!find(entry, 1, &key))
		return;
	find(entry, 2, &value);
	char *k = to_text(key), *v = to_text(value);
	if (!map)
		map = cJSON_AddObjectToObject(metadata, map_name);
	if (k && v && !cJSON_GetObjectItemCaseSensitive(map, k))
		cJSON_AddStringToObject(map, k, v);
	free(k);
	free(v);
}

cJSON *api_protobuf_namespace(struct slice body)
{
	struct slice type, kind, raw, meta = { "", 0 };
	struct pb_wire_field f;
	bool ok = true;
	if (body.n < 4 || memcmp(body.p, "k8s\0", 4) != 0)
		return NULL;
	body = (struct slice){ body.p + 4, body.n - 4 };
	if (!find(body, 1, &type) || !find(type, 2, &kind) ||
		!slice_equals(kind, "Namespace") || !find(body, 2, &raw))
		return NULL;
	find(raw, 1, &meta);
	cJSON *object = cJSON_CreateObject();
	cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");
	while (pb_wire_next(&meta, &f, &ok)) {
		if (f.type != PB_WIRE_BYTES)
			continue;
		if (f.number == 1)
			add_text(metadata, "name", f.bytes);
		else if (f.number == 2)
			add_text(metadata, "generateName", f.bytes);
		else if (f.number == 11)
			add_entry(metadata, "labels", f.bytes);
		else if (f.number == 12)
			add_entry(metadata, "annotations", f.bytes);
	}
	if (ok)
		return object;
	cJSON_Delete(object);
	return NULL;
}
