// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/frame.h"

#include "engine/base/mem.h"
#include "local/daemon/quote.h"

#include <stdlib.h>

uint32_t daemon_frame_length(const struct daemon_frame *frame)
{
	const unsigned char *p = frame->prefix;
	if (frame->prefix_n < FRAME_PREFIX_BYTES)
		return 0;
	return (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
}

unsigned daemon_frame_flag(const struct daemon_frame *frame)
{
	return frame->prefix[0];
}

enum daemon_frame_state daemon_frame_state(const struct daemon_frame *frame)
{
	if (frame->prefix_n == 0)
		return FRAME_EMPTY;
	if (frame->prefix_n < FRAME_PREFIX_BYTES)
		return FRAME_PARTIAL;
	if (daemon_frame_length(frame) > FRAME_MAX_MESSAGE_BYTES)
		return FRAME_TOO_BIG;
	return frame->body_n < daemon_frame_length(frame) ? FRAME_PARTIAL : FRAME_WHOLE;
}

size_t daemon_frame_feed(struct daemon_frame *frame, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	size_t used = 0;
	while (used < n && frame->prefix_n < FRAME_PREFIX_BYTES)
		frame->prefix[frame->prefix_n++] = p[used++];
	if (daemon_frame_state(frame) != FRAME_PARTIAL || frame->prefix_n < FRAME_PREFIX_BYTES)
		return used;
	size_t want = daemon_frame_length(frame) - frame->body_n;
	if (want > n - used)
		want = n - used;
	if (want == 0)
		return used;
	array_grow(&frame->body, &frame->body_capacity, frame->body_n + want, 1);
	memcpy(frame->body + frame->body_n, p + used, want);
	frame->body_n += want;
	return used + want;
}

void daemon_frame_deinit(struct daemon_frame *frame)
{
	free(frame->body);
	*frame = (struct daemon_frame){ 0 };
}

void daemon_frame_write_prefix(unsigned char out[FRAME_PREFIX_BYTES], uint32_t length)
{
	out[0] = 0;
	out[1] = (unsigned char)(length >> 24);
	out[2] = (unsigned char)(length >> 16);
	out[3] = (unsigned char)(length >> 8);
	out[4] = (unsigned char)length;
}

void daemon_frame_encode_message(struct str *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		if (byte < 0x20 || byte > 0x7e || byte == '%')
			str_addf(out, "%%%02X", byte);
		else
			str_add_char(out, *c);
	}
}

static char *quoted(const char *what, struct slice text)
{
	struct str out;
	str_init(&out, 512);
	str_add(&out, what);
	daemon_quote_plain(&out, text);
	char *message = str_take(&out);
	str_deinit(&out);
	return message;
}

char *daemon_frame_parse_timeout(const char *text, int64_t *ms)
{
	enum { MAX_DIGITS = 8 };
	static const struct {
		char letter;
		int64_t multiply, divide;
	} units[] = { { 'H', 3600000, 1 }, { 'M', 60000, 1 }, { 'S', 1000, 1 }, { 'm', 1, 1 },
		{ 'u', 1, 1000 }, { 'n', 1, 1000000 } };
	struct slice all = slice_of(text);
	if (all.n < 2)
		return quoted("transport: timeout string is too short: ", all);
	if (all.n > MAX_DIGITS + 1)
		return quoted("transport: timeout string is too long: ", all);
	size_t unit = 0, n_units = sizeof units / sizeof units[0];
	while (unit < n_units && units[unit].letter != text[all.n - 1])
		unit++;
	if (unit == n_units)
		return quoted("transport: timeout unit is not recognized: ", all);
	struct slice digits = { text, all.n - 1 };
	int64_t value = 0;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9') {
			char *number = quoted("strconv.ParseUint: parsing ", digits);
			char *message = x_asprintf("%s: invalid syntax", number);
			free(number);
			return message;
		}
		value = value * 10 + (digits.p[i] - '0');
	}
	*ms = value * units[unit].multiply / units[unit].divide;
	return NULL;
}

bool daemon_frame_is_grpc_content(struct slice content_type, struct slice *subtype)
{
	static const char base[] = "application/grpc";
	size_t n = sizeof base - 1;
	*subtype = (struct slice){ "", 0 };
	if (content_type.n < n || memcmp(content_type.p, base, n) != 0)
		return false;
	if (content_type.n == n)
		return true;
	*subtype = (struct slice){ content_type.p + n + 1, content_type.n - n - 1 };
	return content_type.p[n] == '+' || content_type.p[n] == ';';
}
