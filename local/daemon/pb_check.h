// SPDX-License-Identifier: Apache-2.0
/* What protobuf-c does not check when it unpacks (protobuf "Encoding" and proto3 rules): strings must
 * be UTF-8, and a NUL inside one would cut it silently, since it becomes a C string. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

enum daemon_pb_check {
	PB_OK,
	PB_BROKEN,   /* not wire format, too deep, or too many fields */
	PB_NOT_UTF8, /* in a string field */
};

enum { PB_MAX_DEPTH = 16, PB_MAX_FIELDS = 262144 };

/* Walks message bytes by the descriptor, without allocating. *nul_in gets the name of the message type
 * whose string field holds a NUL (static), or NULL. */
enum daemon_pb_check daemon_pb_check(const ProtobufCMessageDescriptor *type,
	const unsigned char *bytes, size_t n, const char **nul_in);

/* Checks, then unpacks. NULL with *why (static text) if it is not valid. */
void *daemon_pb_unpack(const ProtobufCMessageDescriptor *type, const unsigned char *bytes,
	size_t n, const char **nul_in, const char **why);
