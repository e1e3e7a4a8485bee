// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/pb_check.h"

#include "local/daemon/utf8.h"

#include <stdint.h>
#include <string.h>

struct daemon_pb_check_walk {
	size_t fields;
	const char *nul_in;
};

struct cursor {
	const unsigned char *p;
	size_t n;
};

static bool read_varint(struct cursor *c, uint64_t *out)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (c->n == 0)
			return false;
		unsigned char byte = *c->p++;
		c->n--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = value;
			return true;
		}
	}
	return false;
}

static bool skip(struct cursor *c, size_t n)
{
	if (c->n < n)
		return false;
	c->p += n;
	c->n -= n;
	return true;
}

static enum daemon_pb_check walk_message(struct daemon_pb_check_walk *walk,
	const ProtobufCMessageDescriptor *type, struct cursor c, unsigned depth);

static enum daemon_pb_check walk_bytes(struct daemon_pb_check_walk *walk,
	const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field,
	struct cursor value, unsigned depth)
{
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return walk_message(walk, field->descriptor, value, depth + 1);
	if (field->type != PROTOBUF_C_TYPE_STRING)
		return PB_OK;
	if (memchr(value.p, 0, value.n) != NULL)
		walk->nul_in = type->short_name;
	return daemon_utf8_is_valid(value.p, value.n) ? PB_OK : PB_NOT_UTF8;
}

static enum daemon_pb_check walk_message(struct daemon_pb_check_walk *walk,
	const ProtobufCMessageDescriptor *type, struct cursor c, unsigned depth)
{
	enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
	if (depth > PB_MAX_DEPTH)
		return PB_BROKEN;
	while (c.n > 0) {
		uint64_t key, value;
		if (++walk->fields > PB_MAX_FIELDS || !read_varint(&c, &key) || key >> 3 == 0 ||
			key >> 32 != 0)
			return PB_BROKEN;
		bool ok;
		switch (key & 7) {
		case VARINT:
			ok = read_varint(&c, &value);
			break;
		case FIXED64:
			ok = skip(&c, 8);
			break;
		case FIXED32:
			ok = skip(&c, 4);
			break;
		case BYTES: {
			if (!read_varint(&c, &value) || value > c.n)
				return PB_BROKEN;
			const ProtobufCFieldDescriptor *field =
				protobuf_c_message_descriptor_get_field(
					type, (unsigned)(key >> 3));
			struct cursor inner = { c.p, (size_t)value };
			enum daemon_pb_check result =
				field == NULL ? PB_OK
					      : walk_bytes(walk, type, field, inner, depth);
			if (result != PB_OK)
				return result;
			ok = skip(&c, (size_t)value);
			break;
		}
		default:
			ok = false;
		}
		if (!ok)
			return PB_BROKEN;
	}
	return PB_OK;
}

enum daemon_pb_check daemon_pb_check(const ProtobufCMessageDescriptor *type,
	const unsigned char *bytes, size_t n, const char **nul_in)
{
	struct daemon_pb_check_walk walk = { 0 };
	enum daemon_pb_check result =
		walk_message(&walk, type, (struct cursor){ n ? bytes : NULL, n }, 0);
	*nul_in = walk.nul_in;
	return result;
}

void *daemon_pb_unpack(const ProtobufCMessageDescriptor *type, const unsigned char *bytes,
	size_t n, const char **nul_in, const char **why)
{
	static const unsigned char nothing[1];
	switch (daemon_pb_check(type, bytes, n, nul_in)) {
	case PB_OK:
		break;
	case PB_NOT_UTF8:
		*why = "string field contains invalid UTF-8";
		return NULL;
	case PB_BROKEN:
		*why = "proto: cannot parse invalid wire-format data";
		return NULL;
	}
	void *message = protobuf_c_message_unpack(type, NULL, n, n ? bytes : nothing);
	if (message == NULL)
		*why = "proto: cannot parse invalid wire-format data";
	return message;
}
