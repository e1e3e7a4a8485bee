// SPDX-License-Identifier: Apache-2.0
/* SPDY frames and header blocks, and WebSocket frames, without a connection. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "local/server/api/spdy.h"
#include "local/server/api/ws.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static char told[4096];

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *format, ...)
{
	va_list args;
	size_t n = strlen(told);
	va_start(args, format);
	vsnprintf(told + n, sizeof told - n, format, args);
	va_end(args);
}

static bool on_stream(void *arg, uint32_t id, const struct api_spdy_headers *h)
{
	(void)arg;
	tell("open %u %s %s %s|", id, h->type, h->port, h->request_id);
	return strcmp(h->type, "refused") != 0;
}

static void on_data(void *arg, uint32_t id, const void *bytes, size_t n)
{
	(void)arg;
	tell("%u:%.*s|", id, (int)n, (const char *)bytes);
}

static void on_fin(void *arg, uint32_t id)
{
	(void)arg;
	tell("fin %u|", id);
}

static void on_reset(void *arg, uint32_t id)
{
	(void)arg;
	tell("reset %u|", id);
}

static void on_goaway(void *arg)
{
	(void)arg;
	tell("goaway|");
}

static const struct api_spdy_callbacks callbacks = { on_stream, on_data, on_fin, on_reset,
	on_goaway };

/* ---- a client */

static z_stream zip;
static struct evbuffer *sent;

static void put_u32(uint32_t value)
{
	const unsigned char b[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
		(unsigned char)(value >> 8), (unsigned char)value };
	evbuffer_add(sent, b, 4);
}

static size_t add_text(unsigned char *at, const char *text, size_t n)
{
	const unsigned char length[4] = { (unsigned char)(n >> 24), (unsigned char)(n >> 16),
		(unsigned char)(n >> 8), (unsigned char)n };
	memcpy(at, length, 4);
	memcpy(at + 4, text, n);
	return 4 + n;
}

static void syn(uint32_t id, const char *type, const char *port, const char *request, bool fin)
{
	unsigned char block[1024] = { 0, 0, 0, 3 }, packed[2048];
	size_t n = 4;
	const char *const pairs[] = { "streamtype", type, "port", port, "requestid", request };
	for (size_t i = 0; i < 6; i++)
		n += add_text(block + n, pairs[i], strlen(pairs[i]));
	zip.next_in = block;
	zip.avail_in = (uInt)n;
	zip.next_out = packed;
	zip.avail_out = sizeof packed;
	assert_int_equal(deflate(&zip, Z_SYNC_FLUSH), Z_OK);
	n = sizeof packed - zip.avail_out;
	put_u32(0x80030001);
	put_u32((fin ? 1u << 24 : 0) | (uint32_t)(10 + n));
	put_u32(id);
	put_u32(0);
	evbuffer_add(sent, "\0", 2);
	evbuffer_add(sent, packed, n);
}

static int set_up(void **state)
{
	unsigned char dictionary[SPDY_DICTIONARY_BYTES];
	(void)state;
	told[0] = '\0';
	sent = evbuffer_new();
	zip = (z_stream){ 0 };
	api_spdy_dictionary(dictionary);
	assert_int_equal(deflateInit(&zip, Z_DEFAULT_COMPRESSION), Z_OK);
	return deflateSetDictionary(&zip, dictionary, sizeof dictionary) == Z_OK ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	deflateEnd(&zip);
	evbuffer_free(sent);
	return 0;
}

/* What the draft's own text gives: every zlib stream of it names this sum. */
static void test_the_dictionary(void **state)
{
	unsigned char dictionary[SPDY_DICTIONARY_BYTES];
	(void)state;
	api_spdy_dictionary(dictionary);
	assert_int_equal(
		adler32(adler32(0, NULL, 0), dictionary, sizeof dictionary), 0xe3c6a7c2);
}

static void check(size_t piece, const char *wanted)
{
	struct evbuffer *out = evbuffer_new();
	struct err err = { 0 };
	struct api_spdy *s = api_spdy_new(out, &callbacks, NULL);
	size_t n = evbuffer_get_length(sent);
	const unsigned char *bytes = evbuffer_pullup(sent, -1);
	told[0] = '\0';
	for (size_t i = 0; i < n; i += piece)
		assert_true(
			api_spdy_receive(s, bytes + i, n - i < piece ? n - i : piece, &err));
	assert_string_equal(told, wanted);
	api_spdy_free(s);
	evbuffer_free(out);
}

static void test_frames_cut_anywhere(void **state)
{
	(void)state;
	syn(1, "error", "8080", "0", true);
	syn(3, "data", "8080", "0", false);
	put_u32(3);
	put_u32(2);
	evbuffer_add(sent, "hi", 2);
	put_u32(3);
	put_u32(1u << 24);
	put_u32(0x80030003); /* RST_STREAM */
	put_u32(8);
	put_u32(1);
	put_u32(5);
	put_u32(0x80030004); /* SETTINGS: passed over */
	put_u32(4);
	put_u32(0);
	put_u32(0x80030007); /* GOAWAY */
	put_u32(8);
	put_u32(0);
	put_u32(0);
	check(SIZE_MAX / 2,
		"open 1 error 8080 0|fin 1|open 3 data 8080 0|3:hi|fin 3|reset 1|goaway|");
	check(1, "open 1 error 8080 0|fin 1|open 3 data 8080 0|3:h|3:i|fin 3|reset 1|goaway|");
}

static void test_answers(void **state)
{
	struct err err = { 0 };
	struct evbuffer *out = evbuffer_new();
	struct api_spdy *s = api_spdy_new(out, &callbacks, NULL);
	unsigned char got[64];
	(void)state;
	syn(1, "refused", "1", "1", false);
	put_u32(0x80030006); /* PING */
	put_u32(4);
	put_u32(9);
	put_u32(0x80030006); /* the answer to one of ours: none is sent */
	put_u32(4);
	put_u32(2);
	size_t n = evbuffer_get_length(sent);
	assert_true(api_spdy_receive(s, evbuffer_pullup(sent, -1), n, &err));
	assert_int_equal(evbuffer_get_length(out), 16 + 12);
	evbuffer_remove(out, got, sizeof got);
	assert_memory_equal(got, "\x80\3\0\3\0\0\0\x08\0\0\0\1\0\0\0\5", 16);
	assert_memory_equal(got + 16, "\x80\3\0\6\0\0\0\4\0\0\0\x09", 12);
	api_spdy_send(s, 5, "abc", 3, false);
	api_spdy_send(s, 5, "", 0, true);
	api_spdy_reset(s, 7);
	assert_int_equal(evbuffer_remove(out, got, sizeof got), 11 + 8 + 16);
	assert_memory_equal(got, "\0\0\0\5\0\0\0\3abc\0\0\0\5\1\0\0\0", 19);
	assert_memory_equal(got + 19, "\x80\3\0\3\0\0\0\x08\0\0\0\7\0\0\0\5", 16);
	api_spdy_free(s);
	evbuffer_free(out);
}

static void test_what_breaks_it(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} rows[] = { { "\x80\2\0\1\0\0\0\0", 8 }, { "\x80\3\0\1\0\xff\xff\xff", 8 },
		{ "\x80\3\0\1\0\0\0\4\0\0\0\1", 12 }, { "\x80\3\0\3\0\0\0\4\0\0\0\1", 12 },
		{ "\x80\3\0\6\0\0\0\0", 8 },
		{ "\x80\3\0\1\0\0\0\x0e\0\0\0\1\0\0\0\0\0\0junk", 22 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct evbuffer *out = evbuffer_new();
		struct err err = { 0 };
		struct api_spdy *s = api_spdy_new(out, &callbacks, NULL);
		assert_false(api_spdy_receive(s, rows[i].bytes, rows[i].n, &err));
		assert_int_equal(err.code, ERR_PORTFWD_PROTOCOL);
		assert_false(api_spdy_receive(s, "x", 1, &err)); /* and so it stays */
		api_spdy_free(s);
		evbuffer_free(out);
	}
	/* a block that inflates to more than is kept */
	struct evbuffer *out = evbuffer_new();
	struct err err = { 0 };
	struct api_spdy_headers headers;
	struct api_spdy_blocks *blocks = api_spdy_blocks_new();
	unsigned char *large = calloc(1, 1 << 20), packed[8192];
	zip.next_in = large;
	zip.avail_in = 1 << 20;
	zip.next_out = packed;
	zip.avail_out = sizeof packed;
	assert_int_equal(deflate(&zip, Z_SYNC_FLUSH), Z_OK);
	assert_false(api_spdy_blocks_read(
		blocks, packed, sizeof packed - zip.avail_out, &headers, &err));
	free(large);
	api_spdy_blocks_free(blocks);
	evbuffer_free(out);
}

/* ---- WebSocket */

static void on_piece(void *arg, const void *bytes, size_t n, bool is_begin, bool is_text)
{
	(void)arg;
	tell("%s%s%.*s", is_begin ? "<" : "", is_begin && is_text ? "t" : "", (int)n,
		(const char *)bytes);
}

static void on_close(void *arg)
{
	(void)arg;
	tell("closed");
}

static void test_websocket(void **state)
{
	static const struct api_ws_callbacks ws_callbacks = { on_piece, on_close };
	/* "Hel", ping, "lo" in fragments, then a close with 1000; the mask is 0 */
	static const char frames[] = "\x02\x83\0\0\0\0Hel\x89\x81\0\0\0\0!\x80\x82\0\0\0\0lo"
				     "\x88\x82\0\0\0\0\x03\xe8";
	struct err err = { 0 };
	char accept[WS_ACCEPT_BYTES], got[64];
	(void)state;
	assert_true(api_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", accept)); /* RFC 6455, 1.3 */
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	assert_false(api_ws_accept("c2hvcnQ=", accept));
	assert_false(api_ws_accept("!", accept));
	assert_false(api_ws_accept(NULL, accept));
	struct evbuffer *out = evbuffer_new(), *in = evbuffer_new();
	struct api_ws *ws = api_ws_new(out, &ws_callbacks, NULL);
	for (size_t i = 0; i < sizeof frames - 1; i++) {
		evbuffer_add(in, frames + i, 1);
		assert_true(api_ws_receive(ws, in, &err));
	}
	assert_string_equal(told, "<Helloclosed");
	/* a pong, and the answer to the close; nothing after it */
	api_ws_send(ws, "c", 1, "late", 4);
	assert_int_equal(evbuffer_remove(out, got, sizeof got), 3 + 4);
	assert_memory_equal(got, "\x8a\1!\x88\2\x03\xe8", 7);
	api_ws_free(ws);
	/* what is sent, in each length */
	ws = api_ws_new(out, &ws_callbacks, NULL);
	char *bytes = calloc(1, 70000);
	api_ws_send(ws, "c", 1, bytes, 124);
	api_ws_send(ws, "c", 1, bytes, 125);
	api_ws_send(ws, NULL, 0, bytes, 70000);
	assert_int_equal(evbuffer_get_length(out), 2 + 125 + 4 + 126 + 10 + 70000);
	free(bytes);
	/* a frame without a mask */
	evbuffer_add(in, "\x82\1x", 3);
	assert_false(api_ws_receive(ws, in, &err));
	assert_int_equal(err.code, ERR_PORTFWD_PROTOCOL);
	api_ws_free(ws);
	evbuffer_free(out);
	evbuffer_free(in);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_the_dictionary),
		TEST(test_frames_cut_anywhere), TEST(test_answers), TEST(test_what_breaks_it),
		TEST(test_websocket) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
