// SPDX-License-Identifier: Apache-2.0
/* A binary message as one masked frame (RFC 6455, section 5.2), written into one piece of an evbuffer. wslay sends
 * what it is given in pieces of 4 KiB; over TLS each of them becomes a record, which every proxy on the way
 * opens, closes and passes on by itself. */
#include "engine/net/ws_internal.h"

#include "engine/base/digest.h"

#include <event2/buffer.h>

enum {
	FIN_BINARY = 0x82,
	IS_MASKED = 0x80,
	LENGTH_16 = 126,
	LENGTH_64 = 127,
	MASK_BYTES = 4,
	MAX_HEADER_BYTES = 2 + 8 + MASK_BYTES,
};

/* Without the mask. */
static size_t put_header(unsigned char *into, size_t n)
{
	size_t length_bytes = n < LENGTH_16 ? 0 : n <= UINT16_MAX ? 2 : 8;
	into[0] = FIN_BINARY;
	into[1] = (unsigned char)(IS_MASKED | (length_bytes == 0          ? n
						      : length_bytes == 2 ? LENGTH_16
									  : LENGTH_64));
	for (size_t i = 0; i < length_bytes; i++)
		into[2 + i] = (unsigned char)((uint64_t)n >> 8 * (length_bytes - 1 - i));
	return 2 + length_bytes;
}

/* Eight bytes at a time: the mask has the same bytes at every multiple of four. */
static void mask_copy(unsigned char *into, const unsigned char *from, size_t n,
	const unsigned char mask[MASK_BYTES])
{
	unsigned char twice[2 * MASK_BYTES];
	uint64_t key, word;
	size_t i = 0;
	memcpy(twice, mask, MASK_BYTES);
	memcpy(twice + MASK_BYTES, mask, MASK_BYTES);
	memcpy(&key, twice, sizeof key);
	for (; n - i >= sizeof word; i += sizeof word) {
		memcpy(&word, from + i, sizeof word);
		word ^= key;
		memcpy(into + i, &word, sizeof word);
	}
	for (; i < n; i++)
		into[i] = from[i] ^ mask[i % MASK_BYTES];
}

bool net_ws_frame_add(struct evbuffer *out, const void *bytes, size_t n)
{
	struct evbuffer_iovec space;
	ev_ssize_t room = (ev_ssize_t)(MAX_HEADER_BYTES + n);
	if (evbuffer_reserve_space(out, room, &space, 1) < 1)
		return false;
	unsigned char *frame = space.iov_base;
	size_t header = put_header(frame, n);
	digest_random(frame + header, MASK_BYTES);
	mask_copy(frame + header + MASK_BYTES, bytes, n, frame + header);
	space.iov_len = header + MASK_BYTES + n;
	return evbuffer_commit_space(out, &space, 1) == 0;
}
