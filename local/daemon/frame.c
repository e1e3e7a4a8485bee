// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/frame.h"

#include "engine/base/mem.h"

#include <stdlib.h>

uint32_t frame_length(const struct frame *frame)
{
	const unsigned char *p = frame->prefix;
	if (frame->prefix_n < FRAME_PREFIX_BYTES)
		return 0;
	return (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
}

unsigned frame_flag(const struct frame *frame)
{
	return frame->prefix[0];
}

enum frame_state frame_state(const struct frame *frame)
{
	if (frame->prefix_n == 0)
		return FRAME_EMPTY;
	if (frame->prefix_n < FRAME_PREFIX_BYTES)
		return FRAME_PARTIAL;
	if (frame_length(frame) > FRAME_MAX_MESSAGE_BYTES)
		return FRAME_TOO_BIG;
	return frame->body_n < frame_length(frame) ? FRAME_PARTIAL : FRAME_WHOLE;
}

size_t frame_feed(struct frame *frame, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	size_t used = 0;
	while (used < n && frame->prefix_n < FRAME_PREFIX_BYTES)
		frame->prefix[frame->prefix_n++] = p[used++];
	if (frame_state(frame) != FRAME_PARTIAL || frame->prefix_n < FRAME_PREFIX_BYTES)
		return used;
	size_t want = frame_length(frame) - frame->body_n;
	if (want > n - used)
		want = n - used;
	if (want == 0)
		return used;
	array_grow(&frame->body, &frame->body_capacity, frame->body_n + want, 1);
	memcpy(frame->body + frame->body_n, p + used, want);
	frame->body_n += want;
	return used + want;
}

void frame_deinit(struct frame *frame)
{
	free(frame->body);
	*frame = (struct frame){ 0 };
}

void frame_write_prefix(unsigned char out[FRAME_PREFIX_BYTES], uint32_t length)
{
	out[0] = 0;
	out[1] = (unsigned char)(length >> 24);
	out[2] = (unsigned char)(length >> 16);
	out[3] = (unsigned char)(length >> 8);
	out[4] = (unsigned char)length;
}

void frame_encode_message(struct str *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		if (byte < 0x20 || byte > 0x7e || byte == '%')
			str_addf(out, "%%%02X", byte);
		else
			str_add_char(out, *c);
	}
}

bool frame_parse_timeout(struct slice text, int64_t *ms)
{
	enum { MAX_DIGITS = 8 };
	if (text.n < 2 || text.n > MAX_DIGITS + 1)
		return false;
	int64_t value = 0;
	for (size_t i = 0; i < text.n - 1; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		value = value * 10 + (text.p[i] - '0');
	}
	switch (text.p[text.n - 1]) {
	case 'H':
		value *= 3600 * 1000;
		break;
	case 'M':
		value *= 60 * 1000;
		break;
	case 'S':
		value *= 1000;
		break;
	case 'm':
		break;
	case 'u':
		value = (value + 999) / 1000;
		break;
	case 'n':
		value = (value + 999999) / 1000000;
		break;
	default:
		return false;
	}
	*ms = value;
	return true;
}

bool frame_is_grpc_content(struct slice content_type)
{
	static const char base[] = "application/grpc";
	size_t n = sizeof base - 1;
	if (content_type.n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = content_type.p[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != base[i])
			return false;
	}
	return content_type.n == n || content_type.p[n] == '+' || content_type.p[n] == ';';
}
