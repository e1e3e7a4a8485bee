// SPDX-License-Identifier: Apache-2.0
/* SPDY/3.1 as far as one forwarded connection needs it: two streams that we open, their headers in a stored (not
 * compressed) zlib stream, which every inflater reads; the headers that are sent to us are skipped, since nothing
 * in them matters. */
#include "engine/kube/portforward_wire.h"

#include <stdio.h>

enum {
	CHANNEL_DATA = 0,
	CHANNEL_ERROR = 1,
	CHANNELS = 2,
	ERROR_STREAM = 1,
	DATA_STREAM = 3,
	FLAG_FIN = 1,
	MAX_CONTROL_BYTES = 64 << 10,
	PING_BYTES = 4,
};

enum { SYN_STREAM = 1, SYN_REPLY = 2, RST_STREAM = 3, PING = 6 };

static size_t put32(unsigned char *into, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		into[i] = (unsigned char)(value >> (24 - 8 * i));
	return 4;
}

static uint32_t get32(const unsigned char *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 |
	       from[3];
}

void kube_wire_init(struct kube_wire *wire, uint16_t port)
{
	*wire = (struct kube_wire){ .port = port };
	str_init(&wire->words, WIRE_MAX_WORDS_BYTES);
}

void kube_wire_deinit(struct kube_wire *wire)
{
	str_deinit(&wire->words);
}

/* ---- what we send */

static size_t put_text(unsigned char *into, const char *text)
{
	size_t n = strlen(text);
	put32(into, (uint32_t)n);
	memcpy(into + 4, text, n);
	return 4 + n;
}

static size_t put_headers(unsigned char *into, const char *type, uint16_t port)
{
	char number[8];
	const char *const pairs[] = { "streamtype", type, "port", number, "requestid", "0" };
	size_t n = put32(into, 3);
	snprintf(number, sizeof number, "%u", port);
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		n += put_text(into + n, pairs[i]);
	return n;
}

/* One zlib stream for all headers of the connection: its two bytes come once; then a stored block with the text
 * and an empty one, which makes an inflater hand out what it has (RFC 1951, 3.2.4). */
static size_t put_stream(
	unsigned char *into, uint32_t id, const char *type, uint16_t port, uint8_t flags)
{
	static const unsigned char flush[] = { 0, 0, 0, 0xff, 0xff };
	size_t n = 8;
	n += put32(into + n, id);
	n += put32(into + n, 0); /* associated to none */
	into[n++] = 0;           /* priority */
	into[n++] = 0;           /* slot */
	if (id == ERROR_STREAM) {
		into[n++] = 0x78;
		into[n++] = 0x01;
	}
	size_t text_bytes = put_headers(into + n + 5, type, port);
	into[n++] = 0;
	into[n++] = (unsigned char)text_bytes;
	into[n++] = (unsigned char)(text_bytes >> 8);
	into[n++] = (unsigned char)~text_bytes;
	into[n++] = (unsigned char)(~text_bytes >> 8);
	n += text_bytes;
	memcpy(into + n, flush, sizeof flush);
	n += sizeof flush;
	put32(into, 0x80030000u | SYN_STREAM);
	put32(into + 4, (uint32_t)flags << 24 | (uint32_t)(n - 8));
	return n;
}

size_t kube_wire_opening(const struct kube_wire *wire, unsigned char *into)
{
	if (!wire->is_tunnel)
		return 0;
	size_t n = put_stream(into, ERROR_STREAM, "error", wire->port, FLAG_FIN);
	return n + put_stream(into + n, DATA_STREAM, "data", wire->port, 0);
}

size_t kube_wire_put_head(const struct kube_wire *wire, unsigned char *before, size_t n)
{
	if (!wire->is_tunnel) {
		before[-1] = CHANNEL_DATA;
		return 1;
	}
	put32(before - 8, DATA_STREAM);
	put32(before - 4, (uint32_t)n);
	return 8;
}

/* ---- what we read */

static void end(struct kube_wire *wire, enum kube_wire_end how, struct slice words)
{
	if (wire->is_over)
		return;
	wire->is_over = true;
	wire->on_end(wire->arg, how, words);
}

static void broken(struct kube_wire *wire, const char *what)
{
	end(wire, WIRE_PROTOCOL, slice_of(what));
}

static void read_channel(struct kube_wire *wire, struct slice message)
{
	if (message.n == 0)
		return;
	unsigned channel = (unsigned char)message.p[0];
	struct slice bytes = { message.p + 1, message.n - 1 };
	if (channel >= CHANNELS) {
		broken(wire, "a channel that was not asked for");
	} else if (!wire->has_port[channel]) {
		const unsigned char *at = (const unsigned char *)bytes.p;
		wire->has_port[channel] = true;
		if (bytes.n != 2 || (at[0] | at[1] << 8) != wire->port)
			broken(wire, "the first message is not the port");
	} else if (bytes.n == 0) {
		return;
	} else if (channel == CHANNEL_ERROR) {
		end(wire, WIRE_REFUSED, bytes);
	} else {
		wire->on_bytes(wire->arg, bytes);
	}
}

static bool is_control(const struct kube_wire *wire)
{
	return wire->head[0] & 0x80;
}

static uint32_t stream_of(const unsigned char *bytes)
{
	return get32(bytes) & 0x7fffffffu;
}

static void begin_frame(struct kube_wire *wire)
{
	wire->left = get32(wire->head + 4) & 0xffffffu;
	wire->body_bytes = 0;
	if (is_control(wire)) {
		if (wire->head[0] != 0x80 || wire->head[1] != 3)
			broken(wire, "not SPDY/3.1");
		else if (wire->left > MAX_CONTROL_BYTES)
			broken(wire, "a control frame is too large");
		return;
	}
	uint32_t stream = stream_of(wire->head);
	if (stream != DATA_STREAM && stream != ERROR_STREAM)
		broken(wire, "a stream that was not opened");
}

static void add_to_frame(struct kube_wire *wire, struct slice bytes)
{
	if (is_control(wire)) {
		size_t room = sizeof wire->body - wire->body_bytes;
		size_t n = bytes.n < room ? bytes.n : room;
		memcpy(wire->body + wire->body_bytes, bytes.p, n);
		wire->body_bytes += n;
	} else if (stream_of(wire->head) == ERROR_STREAM) {
		str_add_bytes(&wire->words, bytes.p, bytes.n);
	} else {
		wire->on_bytes(wire->arg, bytes);
	}
}

static void end_control(struct kube_wire *wire)
{
	unsigned kind = (unsigned)wire->head[2] << 8 | wire->head[3];
	bool has_stream = wire->body_bytes >= 4 && stream_of(wire->body) == DATA_STREAM;
	if (kind == SYN_STREAM)
		broken(wire, "the server opened a stream");
	else if (kind == SYN_REPLY && has_stream && (wire->head[4] & FLAG_FIN))
		end(wire, WIRE_CLOSED, (struct slice){ "", 0 });
	else if (kind == RST_STREAM && has_stream)
		end(wire, WIRE_BROKEN, (struct slice){ "", 0 });
	else if (kind == PING && wire->body_bytes == PING_BYTES && !(wire->body[3] & 1)) {
		/* the server's own have even numbers; they come back as they are */
		unsigned char answer[8 + PING_BYTES];
		memcpy(answer, wire->head, 8);
		memcpy(answer + 8, wire->body, PING_BYTES);
		wire->on_answer(wire->arg, (struct slice){ (char *)answer, sizeof answer });
	}
}

static void end_frame(struct kube_wire *wire)
{
	wire->head_bytes = 0;
	if (is_control(wire))
		end_control(wire);
	else if (wire->words.n > 0)
		end(wire, WIRE_REFUSED, (struct slice){ wire->words.p, wire->words.n });
	else if (stream_of(wire->head) == DATA_STREAM && (wire->head[4] & FLAG_FIN))
		end(wire, WIRE_CLOSED, (struct slice){ "", 0 });
}

static size_t read_some(struct kube_wire *wire, struct slice bytes)
{
	size_t missing = sizeof wire->head - wire->head_bytes;
	if (missing > 0) {
		size_t n = bytes.n < missing ? bytes.n : missing;
		memcpy(wire->head + wire->head_bytes, bytes.p, n);
		wire->head_bytes += n;
		if (n == missing)
			begin_frame(wire);
		return n;
	}
	size_t n = bytes.n < wire->left ? bytes.n : wire->left;
	add_to_frame(wire, (struct slice){ bytes.p, n });
	wire->left -= n;
	return n;
}

void kube_wire_read(struct kube_wire *wire, struct slice message)
{
	if (!wire->is_tunnel) {
		if (!wire->is_over)
			read_channel(wire, message);
		return;
	}
	while (!wire->is_over && message.n > 0) {
		size_t n = read_some(wire, message);
		message = (struct slice){ message.p + n, message.n - n };
		if (!wire->is_over && wire->head_bytes == sizeof wire->head && wire->left == 0)
			end_frame(wire);
	}
}
