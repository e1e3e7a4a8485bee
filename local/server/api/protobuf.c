// SPDX-License-Identifier: Apache-2.0
/* Four bytes "k8s\0", then runtime.Unknown {1: TypeMeta {1: apiVersion, 2: kind}, 2: raw}; raw is the object:
 * Namespace {1: ObjectMeta {1: name, 2: generateName, 11: labels, 12: annotations}}. Maps are repeated
 * entries {1: key, 2: value} (k8s.io/apimachinery and k8s.io/api, generated.proto). */
#include "local/server/api/protobuf.h"

#include "engine/base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

struct api_field {
	uint32_t number;
	unsigned wire_type;
	struct slice bytes; /* of a length-delimited field */
};

static bool read_varint(struct slice *in, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && in->n > 0; shift += 7) {
		unsigned char byte = (unsigned char)*in->p++;
		in->n--;
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip(struct slice *in, size_t n)
{
	if (in->n < n)
		return false;
	in->p += n;
	in->n -= n;
	return true;
}

/* The next field; false at the end and when the bytes are broken (*ok tells). */
static bool next_field(struct slice *in, struct api_field *f, bool *ok)
{
	uint64_t tag, n;
	if (in->n == 0)
		return false;
	*ok = read_varint(in, &tag) && tag >> 3 > 0 && tag >> 3 < (1u << 29);
	if (!*ok)
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->wire_type = (unsigned)(tag & 7);
	f->bytes = (struct slice){ in->p, 0 };
	switch (f->wire_type) {
	case 0:
		*ok = read_varint(in, &n);
		break;
	case 1:
		*ok = skip(in, 8);
		break;
	case 2:
		*ok = read_varint(in, &n) && n <= in->n;
		f->bytes = (struct slice){ in->p, *ok ? (size_t)n : 0 };
		*ok = *ok && skip(in, (size_t)n);
		break;
	case 5:
		*ok = skip(in, 4);
		break;
	default:
		*ok = false;
	}
	return *ok;
}

/* The first length-delimited field of that number. */
static bool find(struct slice in, uint32_t number, struct slice *out)
{
	struct api_field f;
	bool ok = true;
	while (next_field(&in, &f, &ok))
		if (f.number == number && f.wire_type == 2) {
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
	struct api_field f;
	bool ok = true;
	if (body.n < 4 || memcmp(body.p, "k8s\0", 4) != 0)
		return NULL;
	skip(&body, 4);
	if (!find(body, 1, &type) || !find(type, 2, &kind) ||
		!slice_equals(kind, "Namespace") || !find(body, 2, &raw))
		return NULL;
	find(raw, 1, &meta);
	cJSON *object = cJSON_CreateObject();
	cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");
	while (next_field(&meta, &f, &ok)) {
		if (f.wire_type != 2)
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
