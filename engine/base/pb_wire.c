// SPDX-License-Identifier: Apache-2.0
#include "engine/base/pb_wire.h"

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

bool pb_wire_next(struct slice *message, struct pb_wire_field *field, bool *ok)
{
	uint64_t key, value;
	*ok = true;
	if (message->n == 0)
		return false;
	*ok = read_varint(message, &key) && key >> 3 > 0 && key >> 32 == 0;
	if (!*ok)
		return false;
	field->number = (uint32_t)(key >> 3);
	field->type = (enum pb_wire_type)(key & 7);
	field->bytes = (struct slice){ message->p, 0 };
	switch (field->type) {
	case PB_WIRE_VARINT:
		*ok = read_varint(message, &value);
		break;
	case PB_WIRE_FIXED64:
		*ok = skip(message, 8);
		break;
	case PB_WIRE_BYTES:
		*ok = read_varint(message, &value) && value <= message->n;
		if (!*ok)
			return false;
		field->bytes = (struct slice){ message->p, (size_t)value };
		*ok = skip(message, (size_t)value);
		break;
	case PB_WIRE_FIXED32:
		*ok = skip(message, 4);
		break;
	default:
		*ok = false;
	}
	return *ok;
}
