// SPDX-License-Identifier: Apache-2.0
/* Fields of a protobuf message as bytes, without a schema (protobuf "Encoding"): for what protobuf-c does not check, and for
 * messages of which two fields are wanted. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum pb_wire_type {
	PB_WIRE_VARINT = 0,
	PB_WIRE_FIXED64 = 1,
	PB_WIRE_BYTES = 2,
	PB_WIRE_FIXED32 = 5
};

struct pb_wire_field {
	uint32_t number;
	enum pb_wire_type type;
	struct slice bytes; /* of PB_WIRE_BYTES; points into the message */
};

/* Takes the next field off the message. False at its end, and when it is broken: *ok tells. Groups are broken. */
bool pb_wire_next(struct slice *message, struct pb_wire_field *field, bool *ok);
