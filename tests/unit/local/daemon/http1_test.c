// SPDX-License-Identifier: Apache-2.0
/* Requests, bodies, queries, ranges and forms: each table once in one piece and once byte by byte. */
#include "local/daemon/http1.h"
#include "local/daemon/multipart.h"
#include "local/daemon/range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void feed(struct daemon_http1_request *r, const char *text, size_t step)
{
	size_t n = strlen(text);
	daemon_http1_request_init(r);
	for (size_t i = 0; i < n && r->state == HTTP1_HEAD; i += step)
		daemon_http1_request_feed(r, text + i, n - i < step ? n - i : step);
}

static void heads(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum daemon_http1_state state;
		int status;
		uint64_t length;
		bool is_chunked, keep_alive;
	} rows[] = {
		{ "GET / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP1_READY, 0, 0, false, true },
		{ "GET / HTTP/1.1\nHost: a\n\n", HTTP1_READY, 0, 0, false, true },
		{ "GET / HTTP/1.0\r\n\r\n", HTTP1_READY, 0, 0, false, false },
		{ "PUT /x HTTP/1.1\r\nhOST:a\r\nContent-length: 12 \r\nConnection: x, Close\r\n\r\n",
			HTTP1_READY, 0, 12, false, false },
		{ "PUT /x HTTP/1.1\r\nHost:a\r\nTransfer-Encoding: Chunked\r\n\r\n",
			HTTP1_READY, 0, 0, true, true },
		{ "GET / HTTP/1.1\r\nHost: a\r\nX: \xff\xfe\t\r\n\r\n", HTTP1_READY, 0, 0,
			false, true },
		{ "GET / HTTP/1.1\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", HTTP1_BAD, 400, 0, false,
			false },
		{ "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "GET / HTTP/2.0\r\nHost: a\r\n\r\n", HTTP1_BAD, 505, 0, false, false },
		{ "GET / HTTX/1.1\r\nHost: a\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "GET /a\x7f HTTP/1.1\r\nHost: a\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", HTTP1_BAD, 400, 0, false,
			false },
		{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", HTTP1_BAD, 400, 0, false, false },
		{ "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", HTTP1_BAD, 400, 0, false,
			false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", HTTP1_BAD, 400, 0,
			false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,1\r\n\r\n", HTTP1_BAD, 400, 0,
			false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n",
			HTTP1_BAD, 400, 0, false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
			HTTP1_BAD, 400, 0, false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: "
		  "chunked\r\n\r\n",
			HTTP1_BAD, 400, 0, false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
			HTTP1_BAD, 501, 0, false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
		  "chunked\r\n\r\n",
			HTTP1_BAD, 501, 0, false, false },
		{ "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", HTTP1_BAD, 417, 0,
			false, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (size_t step = 1; step < 1000; step += 998) {
			struct daemon_http1_request r;
			feed(&r, rows[i].text, step);
			if (r.state != rows[i].state)
				fail_msg("row %zu: state %d", i, r.state);
			if (r.state == HTTP1_BAD)
				assert_int_equal(r.bad_status, rows[i].status);
			else {
				assert_int_equal(r.content_length, rows[i].length);
				assert_int_equal(r.is_chunked, rows[i].is_chunked);
				assert_int_equal(r.keep_alive, rows[i].keep_alive);
			}
			daemon_http1_request_deinit(&r);
		}
	}
}

static void head_is_bounded(void **state)
{
	(void)state;
	struct daemon_http1_request r;
	char block[4096];
	memset(block, 'a', sizeof block);
	daemon_http1_request_init(&r);
	daemon_http1_request_feed(&r, "GET / HTTP/1.1\r\nX: ", 19);
	size_t fed = 0;
	while (r.state == HTTP1_HEAD && fed < 4 << 20) {
		daemon_http1_request_feed(&r, block, sizeof block);
		fed += sizeof block;
	}
	assert_int_equal(r.bad_status, 431);
	assert_true(fed <= HTTP1_MAX_HEAD_BYTES + sizeof block);
	daemon_http1_request_deinit(&r);
}

static void chunked_bodies(void **state)
{
	(void)state;
	static const struct {
		const char *text, *payload; /* payload NULL: bad */
		size_t left_over;
	} rows[] = {
		{ "0\r\n\r\n", "", 0 },
		{ "3\r\nabc\r\n0\r\n\r\nGET", "abc", 3 },
		{ "3;x=y\r\nabc\r\nA\r\n0123456789\r\n00\r\nT: x\r\nU: y\r\n\r\n",
			"abc0123456789", 0 },
		{ "3\nabc\r\n0\n\n", "abc", 0 },
		{ "\r\nabc", NULL, 0 },
		{ "g\r\n", NULL, 0 },
		{ "-1\r\n", NULL, 0 },
		{ "3\r\nabcd", NULL, 0 },
		{ "3\r\nabc\nx", NULL, 0 },
		{ "fffffffffffffffff\r\n", NULL, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (size_t step = 1; step < 1000; step += 998) {
			struct daemon_http1_request r = { .is_chunked = true };
			struct daemon_http1_body body;
			struct str payload;
			str_init(&payload, 1000);
			daemon_http1_body_init(&body, &r);
			size_t n = strlen(rows[i].text), at = 0;
			while (at < n && !body.is_done && !body.is_bad) {
				struct slice piece;
				size_t part = n - at < step ? n - at : step;
				at += daemon_http1_body_feed(
					&body, rows[i].text + at, part, &piece);
				str_add_bytes(&payload, piece.p, piece.n);
			}
			if (body.is_bad != (rows[i].payload == NULL))
				fail_msg("row %zu: bad %d", i, body.is_bad);
			if (!body.is_bad) {
				assert_true(body.is_done);
				assert_string_equal(payload.p, rows[i].payload);
				assert_int_equal(n - at, rows[i].left_over);
			}
			str_deinit(&payload);
		}
	}
}

static void queries(void **state)
{
	(void)state;
	static const struct {
		const char *query, *value;
	} rows[] = {
		{ NULL, NULL },
		{ "", NULL },
		{ "mode=0644", "0644" },
		{ "x=1&mode=%30600&mode=0644", "0600" },
		{ "mode", "" },
		{ "mode=", "" },
		{ "m%6fde=a+b%20c", "a b c" },
		{ "mode=%zz&mode=1", "1" },
		{ "mode=1;2", NULL },
		{ "xmode=1&mod=2", NULL },
		{ "mode=a=b", "a=b" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *value = daemon_http1_query_get(rows[i].query, "mode");
		if (rows[i].value == NULL)
			assert_null(value);
		else
			assert_string_equal(value, rows[i].value);
		free(value);
	}
}

static void ranges(void **state)
{
	(void)state;
	static const struct {
		const char *header;
		int64_t size;
		enum daemon_range_result result;
		size_t n;
		struct daemon_range first;
	} rows[] = {
		{ NULL, 10, RANGE_WHOLE, 0, { 0, 0 } },
		{ "bytes=2-5", 10, RANGE_SOME, 1, { 2, 4 } },
		{ "bytes=9-", 10, RANGE_SOME, 1, { 9, 1 } },
		{ "bytes=-3", 10, RANGE_SOME, 1, { 7, 3 } },
		{ "bytes=-30", 10, RANGE_SOME, 1, { 0, 10 } },
		{ "bytes=0-1, 4-5", 10, RANGE_SOME, 2, { 0, 2 } },
		{ "bytes=10-", 10, RANGE_BEYOND, 0, { 0, 0 } },
		{ "bytes=0-", 0, RANGE_WHOLE, 0, { 0, 0 } },
		{ "bytes=0-9,0-9", 10, RANGE_WHOLE, 2, { 0, 10 } },
		{ "bytes=5-2", 10, RANGE_BAD, 0, { 0, 0 } },
		{ "bytes=x", 10, RANGE_BAD, 0, { 0, 0 } },
		{ "bytes=1-2-3", 10, RANGE_BAD, 0, { 0, 0 } },
		{ "bytes=18446744073709551615-", 10, RANGE_BAD, 0, { 0, 0 } },
		{ "lines=1-2", 10, RANGE_BAD, 0, { 0, 0 } },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct daemon_range some[RANGE_MAX] = { { 0, 0 } };
		size_t n;
		enum daemon_range_result result =
			daemon_range_parse(rows[i].header, rows[i].size, some, &n);
		if (result != rows[i].result)
			fail_msg("%s: %d", rows[i].header, result);
		if (result == RANGE_SOME) {
			assert_int_equal(n, rows[i].n);
			assert_int_equal(some[0].start, rows[i].first.start);
			assert_int_equal(some[0].length, rows[i].first.length);
		}
	}
}

static void forms(void **state)
{
	(void)state;
	static const struct {
		const char *body, *content;
		enum daemon_multipart_state end;
	} rows[] = {
		{ "--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc\r\n--B--\r\n",
			"abc", MULTIPART_DONE },
		{ "--B\r\nContent-Disposition: form-data; name=file\r\n\r\n\r\n\r\n-\r\n--\r\n--A\r\n--B--",
			"\r\n\r\n-\r\n--\r\n--A", MULTIPART_DONE },
		{ "--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\r\n--B--\r\n",
			"", MULTIPART_DONE },
		{ "x\r\n--B\r\nA: b\r\n\r\nno\r\n--B\r\ncontent-disposition: form-data; "
		  "name=\"file\"\r\n\r\n\r\rq\r\n--B",
			"\r\rq", MULTIPART_DONE },
		{ "--B\r\nA: b\r\n\r\nno\r\n--B--\r\n", "", MULTIPART_BAD },
		{ "--B--", "", MULTIPART_BAD },
		{ "nothing of it", "", MULTIPART_MORE },
		{ "--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc", "abc",
			MULTIPART_MORE },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (size_t step = 1; step < 1000; step += 998) {
			const char *error = NULL;
			struct daemon_multipart *form =
				daemon_multipart_new("multipart/form-data; boundary=B", &error);
			assert_non_null(form);
			struct str content;
			str_init(&content, 1000);
			size_t n = strlen(rows[i].body);
			for (size_t at = 0; at < n;) {
				struct slice piece;
				size_t part = n - at < step ? n - at : step;
				at += daemon_multipart_feed(
					form, rows[i].body + at, part, &piece);
				str_add_bytes(&content, piece.p, piece.n);
			}
			assert_string_equal(content.p, rows[i].content);
			assert_int_equal(daemon_multipart_state(form), rows[i].end);
			str_deinit(&content);
			daemon_multipart_free(form);
		}
	}
	const char *error = NULL;
	assert_null(daemon_multipart_new("multipart/form-data", &error));
	assert_non_null(error);
	error = NULL;
	assert_null(daemon_multipart_new("multipart/form-database; boundary=B", &error));
	assert_null(daemon_multipart_new(NULL, &error));
	assert_null(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),
		cmocka_unit_test(head_is_bounded),
		cmocka_unit_test(chunked_bodies),
		cmocka_unit_test(queries),
		cmocka_unit_test(ranges),
		cmocka_unit_test(forms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
