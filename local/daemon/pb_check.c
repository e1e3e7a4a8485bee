// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/pb_check.h"

#include "engine/base/pb_wire.h"
#include "local/daemon/utf8.h"

#include <string.h>

struct daemon_pb_check_walk {
	size_t fields;
	const char *nul_in;
};

static enum daemon_pb_check walk_message(struct daemon_pb_check_walk *walk,
	const ProtobufCMessageDescriptor *type, struct slice message, unsigned depth);

static enum daemon_pb_check walk_bytes(struct daemon_pb_check_walk *walk,
	const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field,
	struct slice value, unsigned depth)
{
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return walk_message(walk, field->descriptor, value, depth + 1);
	if (field->type != PROTOBUF_C_TYPE_STRING)
		return PB_OK;
	if (memchr(value.p, 0, value.n) != NULL)
		walk->nul_in = type->short_name;
	return daemon_utf8_is_valid((const unsigned char *)value.p, value.n) ? PB_OK
									     : PB_NOT_UTF8;
}

static enum daemon_pb_check walk_message(struct daemon_pb_check_walk *walk,
	const ProtobufCMessageDescriptor *type, struct slice message, unsigned depth)
{
	struct pb_wire_field is;
	bool ok;
	if (depth > PB_MAX_DEPTH)
		return PB_BROKEN;
	while (pb_wire_next(&message, &is, &ok)) {
		if (++walk->fields > PB_MAX_FIELDS)
			return PB_BROKEN;
		const ProtobufCFieldDescriptor *field =
			is.type == PB_WIRE_BYTES
				? protobuf_c_message_descriptor_get_field(type, is.number)
				: NULL;
		enum daemon_pb_check result =
			field == NULL ? PB_OK : walk_bytes(walk, type, field, is.bytes, depth);
		if (result != PB_OK)
			return result;
	}
	return ok ? PB_OK : PB_BROKEN;
}

enum daemon_pb_check daemon_pb_check(const ProtobufCMessageDescriptor *type,
	const unsigned char *bytes, size_t n, const char **nul_in)
{
	struct daemon_pb_check_walk walk = { 0 };
	enum daemon_pb_check result =
		walk_message(&walk, type, (struct slice){ (const char *)bytes, n }, 0);
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
