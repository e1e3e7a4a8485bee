// SPDX-License-Identifier: Apache-2.0
/* gRPC's own bytes, without I/O (the "gRPC over HTTP2" protocol description): the length-prefixed
 * message, the percent-encoded status message, the timeout and the content type. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_PREFIX_BYTES = 5, FRAME_MAX_MESSAGE_BYTES = 4 << 20 };

/* One message being received. Memory grows with the bytes that arrive, never with the length that
 * was announced. Zeroed is ready; daemon_frame_deinit() frees. */
struct daemon_frame {
	unsigned char prefix[FRAME_PREFIX_BYTES];
	size_t prefix_n;
	unsigned char *body;
	size_t body_n, body_capacity;
};

enum daemon_frame_state {
	FRAME_EMPTY,   /* no byte yet */
	FRAME_PARTIAL, /* some, not all */
	FRAME_WHOLE,
	FRAME_TOO_BIG, /* announces more than FRAME_MAX_MESSAGE_BYTES */
};

/* Takes what belongs to this message (the return value), the rest is the next one's. */
size_t daemon_frame_feed(struct daemon_frame *frame, const void *bytes, size_t n);
enum daemon_frame_state daemon_frame_state(const struct daemon_frame *frame);
uint32_t daemon_frame_length(
	const struct daemon_frame *frame); /* as announced; 0 before the prefix is whole */
unsigned daemon_frame_flag(const struct daemon_frame *frame);
void daemon_frame_deinit(struct daemon_frame *frame);

void daemon_frame_write_prefix(unsigned char out[FRAME_PREFIX_BYTES], uint32_t length);

/* grpc-message: every byte outside 0x20…0x7e, and '%', as %XX. */
void daemon_frame_encode_message(struct str *out, const char *text);

/* grpc-timeout: 1…8 digits and one of H M S m u n, in whole milliseconds (less than one is 0). NULL, or what
 * is wrong with it as grpc-go says it; malloc'ed. */
char *daemon_frame_parse_timeout(const char *text, int64_t *ms);

/* application/grpc, alone or followed by '+' or ';'; then *subtype is what follows. */
bool daemon_frame_is_grpc_content(struct slice content_type, struct slice *subtype);
