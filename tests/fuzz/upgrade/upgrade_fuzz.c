// SPDX-License-Identifier: Apache-2.0
/* Bytes of a client after 101: WebSocket frames, SPDY frames, and SPDY in WebSocket messages. First byte: 1 = WebSocket,
 * 2 = SPDY (both: one in the other), 4 = header blocks alone. Second byte: size of the pieces. However the bytes are cut, the
 * same must come out. */
#include "engine/base/err.h"
#include "local/server/api/spdy.h"
#include "local/server/api/ws.h"

#include <event2/buffer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WEBSOCKET = 1, SPDY = 2, BLOCKS = 4 };

struct reader {
	struct evbuffer *in, *out;
	struct api_ws *ws;
	struct api_spdy *spdy;
	uint64_t seen; /* a sum of everything that was told */
	bool is_closed, is_broken;
};

static void note(struct reader *r, uint64_t what)
{
	r->seen = (r->seen ^ what) * 1099511628211u;
}

static void note_bytes(struct reader *r, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < n; i++)
		note(r, p[i]);
}

static bool on_stream(void *arg, uint32_t id, const struct api_spdy_headers *h)
{
	if (strlen(h->type) >= SPDY_VALUE_BYTES || strlen(h->port) >= SPDY_VALUE_BYTES ||
		strlen(h->request_id) >= SPDY_VALUE_BYTES || id % 2 == 0)
		abort();
	note(arg, id);
	note_bytes(arg, h->type, strlen(h->type));
	return id % 4 == 1;
}

static void on_data(void *arg, uint32_t id, const void *bytes, size_t n)
{
	if (n == 0)
		abort();
	(void)id;
	note_bytes(arg, bytes, n);
}

static void on_fin(void *arg, uint32_t id)
{
	note(arg, (uint64_t)id << 1);
}

static void on_reset(void *arg, uint32_t id)
{
	note(arg, (uint64_t)id << 2);
}

static void on_goaway(void *arg)
{
	note(arg, 7);
}

static void feed_spdy(struct reader *r, const void *bytes, size_t n)
{
	struct err err = { 0 };
	if (!api_spdy_receive(r->spdy, bytes, n, &err)) {
		if (err.code == ERR_NONE)
			abort();
		r->is_broken = true;
	}
}

static void on_piece(void *arg, const void *bytes, size_t n, bool is_begin, bool is_text)
{
	struct reader *r = arg;
	if (r->is_closed)
		abort();
	if (is_begin)
		note(r, is_text ? 11 : 13);
	if (r->spdy && n > 0)
		feed_spdy(r, bytes, n);
	else
		note_bytes(r, bytes, n);
}

static void on_close(void *arg)
{
	struct reader *r = arg;
	if (r->is_closed)
		abort();
	r->is_closed = true;
}

/* False: it was closed, or could not be read. */
static bool run(const uint8_t *data, size_t size, unsigned flags, size_t piece, uint64_t *seen)
{
	static const struct api_ws_callbacks ws = { on_piece, on_close };
	static const struct api_spdy_callbacks spdy = { on_stream, on_data, on_fin, on_reset,
		on_goaway };
	struct reader r = { .in = evbuffer_new(), .out = evbuffer_new() };
	struct err err = { 0 };
	if (flags & WEBSOCKET)
		r.ws = api_ws_new(r.out, &ws, &r);
	if (flags & SPDY)
		r.spdy = api_spdy_new(r.out, &spdy, &r);
	for (size_t i = 0; i < size && !r.is_closed && !r.is_broken; i += piece) {
		size_t n = size - i < piece ? size - i : piece;
		if (!r.ws) {
			feed_spdy(&r, data + i, n);
			continue;
		}
		evbuffer_add(r.in, data + i, n);
		r.is_broken = !api_ws_receive(r.ws, r.in, &err) || r.is_broken;
	}
	if (r.ws)
		api_ws_send(r.ws, "c", 1, "hello", 5);
	*seen = r.seen;
	bool is_whole = !r.is_closed && !r.is_broken;
	api_ws_free(r.ws);
	api_spdy_free(r.spdy);
	evbuffer_free(r.in);
	evbuffer_free(r.out);
	return is_whole;
}

static void read_blocks(const uint8_t *data, size_t size, size_t piece)
{
	struct api_spdy_blocks *blocks = api_spdy_blocks_new();
	struct api_spdy_headers headers;
	bool ok = true;
	for (size_t i = 0; i < size && ok; i += piece)
		ok = api_spdy_blocks_read(
			blocks, data + i, size - i < piece ? size - i : piece, &headers, NULL);
	api_spdy_blocks_free(blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	unsigned flags = data[0];
	size_t piece = (size_t)data[1] + 1;
	data += 2;
	size -= 2;
	if (flags & BLOCKS)
		read_blocks(data, size, piece);
	if (flags & BLOCKS || !(flags & (WEBSOCKET | SPDY)))
		return 0;
	/* wslay looks at the reason of a close piece by piece: how far a bad one gets, depends on them */
	uint64_t in_pieces = 0, at_once = 0;
	if (run(data, size, flags, piece, &in_pieces) &&
		run(data, size, flags, size + 1, &at_once) && in_pieces != at_once)
		abort();
	return 0;
}
