// SPDX-License-Identifier: Apache-2.0
/*   head (8 bytes) ─> control: its body is kept until it is whole ─> handled
 *                 └─> data: passed on as it comes ─> FIN at its end */
#include "local/server/api/spdy.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 8, VERSION = 3, FLAG_FIN = 1, MAX_DATA = 0xffffff };
enum frame_type {
	SYN_STREAM = 1,
	SYN_REPLY = 2,
	RST_STREAM = 3,
	PING = 6,
	GOAWAY = 7,
};
enum { STATUS_CANCEL = 5 };
enum { SYN_FIXED_BYTES = 10 }; /* of SYN_STREAM, before the block */

struct api_spdy {
	struct evbuffer *out;
	struct api_spdy_callbacks callbacks;
	void *arg;
	struct api_spdy_blocks *blocks;
	unsigned char head[HEAD_BYTES];
	size_t head_n;
	bool is_control, is_broken;
	size_t left; /* of the frame's body */
	unsigned char body[SPDY_MAX_CONTROL_BYTES];
	size_t body_n;
};

static uint32_t get_u32(const unsigned char *in)
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void put_u32(unsigned char *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(value >> (24 - 8 * i));
}

struct api_spdy *api_spdy_new(
	struct evbuffer *out, const struct api_spdy_callbacks *callbacks, void *arg)
{
	struct api_spdy *s = x_calloc(1, sizeof *s);
	s->out = out;
	s->callbacks = *callbacks;
	s->arg = arg;
	s->blocks = api_spdy_blocks_new();
	return s;
}

void api_spdy_free(struct api_spdy *s)
{
	if (!s)
		return;
	api_spdy_blocks_free(s->blocks);
	free(s);
}

/* ---- what is sent ---- */

static void add_control(
	struct api_spdy *s, enum frame_type type, const unsigned char *body, size_t n)
{
	unsigned char head[HEAD_BYTES] = { 0x80, VERSION, 0, (unsigned char)type };
	put_u32(head + 4, (uint32_t)n);
	evbuffer_add(s->out, head, sizeof head);
	evbuffer_add(s->out, body, n);
}

static void add_two(struct api_spdy *s, enum frame_type type, uint32_t a, uint32_t b)
{
	unsigned char body[8];
	put_u32(body, a);
	put_u32(body + 4, b);
	add_control(s, type, body, sizeof body);
}

static void reply(struct api_spdy *s, uint32_t id)
{
	struct evbuffer *block = evbuffer_new();
	unsigned char head[HEAD_BYTES + 4] = { 0x80, VERSION, 0, SYN_REPLY };
	api_spdy_blocks_write_empty(s->blocks, block);
	put_u32(head + 4, (uint32_t)(4 + evbuffer_get_length(block)));
	put_u32(head + HEAD_BYTES, id);
	evbuffer_add(s->out, head, sizeof head);
	evbuffer_add_buffer(s->out, block);
	evbuffer_free(block);
}

void api_spdy_send(struct api_spdy *s, uint32_t id, const void *bytes, size_t n, bool fin)
{
	const unsigned char *at = bytes;
	do {
		unsigned char head[HEAD_BYTES];
		size_t part = n > MAX_DATA ? MAX_DATA : n;
		put_u32(head, id);
		put_u32(head + 4, (uint32_t)part);
		head[4] = fin && part == n ? FLAG_FIN : 0;
		evbuffer_add(s->out, head, sizeof head);
		if (part > 0)
			evbuffer_add(s->out, at, part);
		at = part > 0 ? at + part : at;
		n -= part;
	} while (n > 0);
}

void api_spdy_reset(struct api_spdy *s, uint32_t id)
{
	add_two(s, RST_STREAM, id, STATUS_CANCEL);
}

/* ---- what comes ---- */

static bool broken(struct api_spdy *s, struct err *err, const char *why)
{
	s->is_broken = true;
	return err_set(err, ERR_PORTFWD_PROTOCOL, "%s", why);
}

static bool on_syn_stream(struct api_spdy *s, bool fin, struct err *err)
{
	struct api_spdy_headers headers;
	if (s->body_n < SYN_FIXED_BYTES)
		return broken(s, err, "a SYN_STREAM frame is too short");
	uint32_t id = get_u32(s->body) & 0x7fffffff;
	/* also of a stream that is refused: the blocks are one stream of bytes */
	if (!api_spdy_blocks_read(s->blocks, s->body + SYN_FIXED_BYTES,
		    s->body_n - SYN_FIXED_BYTES, &headers, err)) {
		s->is_broken = true;
		return false;
	}
	if (id == 0 || id % 2 == 0)
		return broken(s, err, "a client's stream has an even number");
	if (!s->callbacks.on_stream(s->arg, id, &headers)) {
		api_spdy_reset(s, id); /* as Go's library does when its handler says no */
		return true;
	}
	reply(s, id);
	if (fin)
		s->callbacks.on_fin(s->arg, id);
	return true;
}

/* Frames that nothing depends on (SETTINGS, HEADERS, WINDOW_UPDATE, SYN_REPLY) are passed over. */
static bool on_control(struct api_spdy *s, struct err *err)
{
	unsigned type = (unsigned)s->head[2] << 8 | s->head[3];
	if (((unsigned)(s->head[0] & 0x7f) << 8 | s->head[1]) != VERSION)
		return broken(s, err, "a frame of another version of SPDY");
	switch (type) {
	case SYN_STREAM:
		return on_syn_stream(s, s->head[4] & FLAG_FIN, err);
	case RST_STREAM:
		if (s->body_n < 8)
			return broken(s, err, "a RST_STREAM frame is too short");
		s->callbacks.on_reset(s->arg, get_u32(s->body) & 0x7fffffff);
		return true;
	case PING:
		if (s->body_n < 4)
			return broken(s, err, "a PING frame is too short");
		if (get_u32(s->body) % 2 == 1) /* the client's own */
			add_control(s, PING, s->body, 4);
		return true;
	case GOAWAY:
		s->callbacks.on_goaway(s->arg);
		return true;
	default:
		return true;
	}
}

static bool on_head(struct api_spdy *s, struct err *err)
{
	s->is_control = s->head[0] & 0x80;
	s->left = get_u32(s->head + 4) & MAX_DATA;
	s->body_n = 0;
	if (s->is_control && s->left > sizeof s->body)
		return broken(s, err, "a control frame is too long");
	return true;
}

static bool on_end(struct api_spdy *s, struct err *err)
{
	s->head_n = 0;
	if (s->is_control)
		return on_control(s, err);
	if (s->head[4] & FLAG_FIN)
		s->callbacks.on_fin(s->arg, get_u32(s->head));
	return true;
}

static void on_part(struct api_spdy *s, const unsigned char *bytes, size_t n)
{
	if (s->is_control) {
		memcpy(s->body + s->body_n, bytes, n);
		s->body_n += n;
	} else {
		s->callbacks.on_data(s->arg, get_u32(s->head), bytes, n);
	}
	s->left -= n;
}

bool api_spdy_receive(struct api_spdy *s, const void *bytes, size_t n, struct err *err)
{
	const unsigned char *at = bytes;
	if (s->is_broken)
		return broken(s, err, "the connection has ended");
	while (n > 0) {
		size_t part;
		if (s->head_n < HEAD_BYTES) {
			part = HEAD_BYTES - s->head_n < n ? HEAD_BYTES - s->head_n : n;
			memcpy(s->head + s->head_n, at, part);
			s->head_n += part;
			if (s->head_n == HEAD_BYTES && !on_head(s, err))
				return false;
		} else {
			part = s->left < n ? s->left : n;
			on_part(s, at, part);
		}
		at += part;
		n -= part;
		if (s->head_n == HEAD_BYTES && s->left == 0 && !on_end(s, err))
			return false;
	}
	return true;
}
