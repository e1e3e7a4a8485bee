// SPDX-License-Identifier: Apache-2.0
/* The daemon's parsers and writers of text: forms, ranges, quoting, UTF-8, protobuf. */
#include "tests/unit/unit.h"

#include "local/daemon/multipart.h"
#include "local/daemon/pb_check.h"
#include "local/daemon/quote.h"
#include "local/daemon/range.h"
#include "local/daemon/utf8.h"
#include "proto/process.pb-c.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* --- UTF-8 --- */

static void test_utf8(void **state)
{
	static const struct {
		const char *bytes;
		size_t length; /* 0: none */
		uint32_t code;
	} rows[] = {
		{ "a", 1, 'a' },
		{ "\x7f", 1, 0x7f },
		{ "\x80", 0, 0 },
		{ "\xc1\xbf", 0, 0 },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\x9f\xbf", 0, 0 },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xed\xa0\x80", 0, 0 },
		{ "\xed\xbf\xbf", 0, 0 },
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x8f\xbf\xbf", 0, 0 },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
		{ "\xf4\x90\x80\x80", 0, 0 },
		{ "\xf5\x80\x80\x80", 0, 0 },
		{ "\xc3", 0, 0 },
		{ "\xe2\x82", 0, 0 },
		{ "\xf0\x9f\x98", 0, 0 },
		{ "\xe2\x28\xa1", 0, 0 },
		{ "\xe2\x82\x28", 0, 0 },
		{ "\xc3\xc3", 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t code = 0;
		size_t n = strlen(rows[i].bytes);
		const unsigned char *p = (const unsigned char *)rows[i].bytes;
		if (daemon_utf8_next(p, n, &code) != rows[i].length || code != rows[i].code)
			fail_msg("row %zu", i);
		assert_int_equal(daemon_utf8_is_valid(p, n), rows[i].length == n);
	}
	assert_true(daemon_utf8_is_valid((const unsigned char *)"", 0));
	assert_true(daemon_utf8_is_valid((const unsigned char *)"a\xc3\xbc\0z", 5));
	assert_false(daemon_utf8_is_valid((const unsigned char *)"a\xc3\xbcz\xff", 5));
}

/* --- quoting --- */

static void test_quotes(void **state)
{
	static const struct {
		const char *text, *json, *plain;
	} rows[] = {
		{ "", "\"\"", "\"\"" },
		{ "a b", "\"a b\"", "\"a b\"" },
		{ "\"\\", "\"\\\"\\\\\"", "\"\\\"\\\\\"" },
		{ "\n\r\t\b\f", "\"\\n\\r\\t\\b\\f\"", "\"\\n\\r\\t\\b\\f\"" },
		{ "\a\v", "\"\\u0007\\u000b\"", "\"\\a\\v\"" },
		{ "\x01\x1f ", "\"\\u0001\\u001f \"", "\"\\x01\\x1f \"" },
		{ "\x7f", "\"\x7f\"", "\"\\x7f\"" },
		{ "<>&", "\"\\u003c\\u003e\\u0026\"", "\"<>&\"" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "\"\xc2\x80\xc2\x9f\xc2\xa0\"",
			"\"\\u0080\\u009f\xc2\xa0\"" },
		{ "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\"",
			"\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"" },
		{ "\xff"
		  "a\xc3",
			"\"\\ufffda\\ufffd\"", "\"\\xffa\\xc3\"" },
	};
	struct str out;
	(void)state;
	str_init(&out, 1000);
	for (size_t i = 0; i < COUNT(rows); i++) {
		str_clear(&out);
		daemon_quote_json(&out, slice_of(rows[i].text));
		assert_string_equal(out.p, rows[i].json);
		str_clear(&out);
		daemon_quote_plain(&out, slice_of(rows[i].text));
		assert_string_equal(out.p, rows[i].plain);
	}
	str_clear(&out);
	daemon_quote_plain(&out, (struct slice){ "\0a", 2 });
	assert_string_equal(out.p, "\"\\x00a\"");
	str_deinit(&out);
	assert_string_equal(daemon_quote_errno(ENOENT), "no such file or directory");
	assert_string_equal(daemon_quote_errno(EIO), "input/output error");
	assert_string_equal(daemon_quote_errno(9999), "errno 9999");
}

/* --- ranges --- */

static void test_ranges(void **state)
{
	static const struct {
		const char *header;
		int64_t size;
		enum daemon_range_result result;
		const char *ranges; /* "start+length " each */
	} rows[] = {
		{ NULL, 10, RANGE_WHOLE, "" },
		{ "", 10, RANGE_WHOLE, "" },
		{ "bytes=", 10, RANGE_WHOLE, "" },
		{ "bytes=,,", 10, RANGE_WHOLE, "" },
		{ "bytes=0-0", 10, RANGE_SOME, "0+1 " },
		{ "bytes=0-9", 10, RANGE_SOME, "0+10 " },
		{ "bytes=0-10", 10, RANGE_SOME, "0+10 " },
		{ "bytes=9-9", 10, RANGE_SOME, "9+1 " },
		{ "bytes=9-", 10, RANGE_SOME, "9+1 " },
		{ "bytes=10-", 10, RANGE_BEYOND, "" },
		{ "bytes=10-", 0, RANGE_WHOLE, "" },
		{ "bytes=0-", 0, RANGE_WHOLE, "" },
		{ "bytes=-1", 10, RANGE_SOME, "9+1 " },
		{ "bytes=-10", 10, RANGE_SOME, "0+10 " },
		{ "bytes=-11", 10, RANGE_SOME, "0+10 " },
		{ "bytes=-0", 10, RANGE_SOME, "10+0 " },
		{ "bytes=-", 10, RANGE_BAD, "" },
		{ "bytes=5-4", 10, RANGE_BAD, "" },
		{ "bytes=5-5", 10, RANGE_SOME, "5+1 " },
		{ "bytes=5", 10, RANGE_BAD, "" },
		{ "bytes=a-5", 10, RANGE_BAD, "" },
		{ "bytes=1-a", 10, RANGE_BAD, "" },
		{ "bytes=+1-2", 10, RANGE_BAD, "" },
		{ "bytes=1--2", 10, RANGE_BAD, "" },
		{ "bytes=9223372036854775807-", 10, RANGE_BEYOND, "" },
		{ "bytes=9223372036854775808-", 10, RANGE_BAD, "" },
		{ "bytes=0-99999999999999999999999", 10, RANGE_BAD, "" },
		{ "byte=0-1", 10, RANGE_BAD, "" },
		{ "BYTES=0-1", 10, RANGE_BAD, "" },
		{ "bytes= 0 - 1 ,\t2-3\t", 10, RANGE_SOME, "0+2 2+2 " },
		{ "bytes=0-1,20-", 10, RANGE_SOME, "0+2 " },
		{ "bytes=0-1,x", 10, RANGE_BAD, "" },
		{ "bytes=0-4,5-9", 10, RANGE_SOME, "0+5 5+5 " },
		{ "bytes=0-4,4-9", 10, RANGE_WHOLE, "" }, /* more than the file has */
		{ "bytes=0-9,0-9,x", 10, RANGE_BAD, "" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct daemon_range ranges[RANGE_MAX];
		size_t n;
		char text[200] = "";
		enum daemon_range_result result =
			daemon_range_parse(rows[i].header, rows[i].size, ranges, &n);
		for (size_t r = 0; result == RANGE_SOME && r < n; r++)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%d+%d ",
				(int)ranges[r].start, (int)ranges[r].length);
		if (result != rows[i].result || strcmp(text, rows[i].ranges) != 0)
			fail_msg("%s of %d: %d %s", rows[i].header, (int)rows[i].size, result,
				text);
	}
}

static void test_many_ranges(void **state)
{
	struct daemon_range ranges[RANGE_MAX];
	size_t n;
	(void)state;
	for (int count = RANGE_MAX - 1; count <= RANGE_MAX + 1; count++) {
		char header[1024] = "bytes=";
		for (int i = 0; i < count; i++)
			snprintf(header + strlen(header), sizeof header - strlen(header),
				"%s%d-%d", i ? "," : "", i, i);
		assert_int_equal(daemon_range_parse(header, 1000, ranges, &n),
			count <= RANGE_MAX ? RANGE_SOME : RANGE_WHOLE);
		if (count <= RANGE_MAX)
			assert_int_equal(n, count);
	}
}

/* --- forms --- */

/* The file in a form that arrives in pieces; NULL if it is broken (why). free(). */
static char *file_of(const char *type, const char *body, size_t piece, const char **why)
{
	struct str content;
	struct daemon_multipart *form = daemon_multipart_new(type, why);
	if (form == NULL)
		return NULL;
	str_init(&content, 1 << 20);
	size_t n = strlen(body), at = 0;
	while (at < n && daemon_multipart_state(form) == MULTIPART_MORE) {
		struct slice got;
		size_t part = n - at < piece ? n - at : piece;
		size_t used = daemon_multipart_feed(form, body + at, part, &got);
		assert_true(used <= part);
		str_add_bytes(&content, got.p, got.n);
		at += used;
	}
	if (daemon_multipart_state(form) == MULTIPART_MORE)
		*why = daemon_multipart_finish(form);
	else if (daemon_multipart_state(form) == MULTIPART_BAD)
		*why = daemon_multipart_error(form);
	char *out = daemon_multipart_state(form) == MULTIPART_DONE ? strdup(content.p) : NULL;
	if (out != NULL)
		assert_true(daemon_multipart_has_file(form));
	daemon_multipart_free(form);
	str_deinit(&content);
	return out;
}

#define HEAD "Content-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n"

static void test_forms(void **state)
{
	static const char type[] = "multipart/form-data; boundary=XX";
	static const struct {
		const char *body, *content, *why;
	} rows[] = {
		{ "--XX\r\n" HEAD "\r\nhello\r\n--XX--\r\n", "hello", NULL },
		{ "--XX\r\n" HEAD "\r\n\r\n--XX--", "", NULL },
		{ "--XX\r\n" HEAD "\r\n--XX--", "", NULL },
		{ "--XX\n" HEAD "\r\nhello\r\n--XX--\r\n", "hello", NULL },
		{ "preamble\r\n--XX\r\n" HEAD "\r\nhello\r\n--XX--\r\n", "hello", NULL },
		{ "--XX\r\ncontent-disposition: form-data; name=file\r\n\r\nx\r\n--XX", "x",
			NULL },
		{ "--XX\r\n" HEAD "Content-Type: a/b\r\n\r\nx\r\n--XX", "x", NULL },
		{ "--XX\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nno\r\n--XX\r\n" HEAD
		  "\r\nyes\r\n--XX--",
			"yes", NULL },
		{ "--XX\r\n" HEAD "\r\na\r\n--XY\r\n\r\r\n-\r\n--XX--", "a\r\n--XY\r\n\r\r\n-",
			NULL },
		{ "--XX\r\n" HEAD "\r\na\r\n\r\n--XX--", "a\r\n", NULL },
		{ "--XX\r\nContent-Disposition: form-data; name=\"files\"\r\n\r\nx\r\n--XX--",
			NULL, "missing the required \"file\" part" },
		{ "--XX\r\nContent-Disposition: attachment; name=\"file\"\r\n\r\nx\r\n--XX--",
			NULL, "missing the required \"file\" part" },
		{ "--XX--\r\n", NULL, "missing the required \"file\" part" },
		{ "--XX\r\n" HEAD "\r\nhello", NULL, "NextPart: EOF" },
		{ "hello", NULL, "NextPart: EOF" },
		{ "", NULL, "NextPart: EOF" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t piece = 1; piece <= 128;
			piece = piece < 9 ? piece + 1 : piece * 2) {
			const char *why = NULL;
			char *content = file_of(type, rows[i].body, piece, &why);
			if ((content == NULL) != (rows[i].content == NULL))
				fail_msg("row %zu in pieces of %zu: %s", i, piece,
					why ? why : content);
			if (content != NULL)
				assert_string_equal(content, rows[i].content);
			else if (strstr(why, rows[i].why) == NULL)
				fail_msg("row %zu: %s", i, why);
			free(content);
		}
}

static void test_what_is_a_form(void **state)
{
	char longest[200], longer[200];
	memset(longest, 'b', sizeof longest);
	snprintf(longest, sizeof longest, "multipart/form-data; boundary=%070d", 1);
	snprintf(longer, sizeof longer, "multipart/form-data; boundary=%071d", 1);
	const struct {
		const char *type;
		bool is_form;
		bool is_broken;
	} rows[] = {
		{ NULL, false, false },
		{ "text/plain; boundary=x", false, false },
		{ "multipart/form-datas; boundary=x", false, false },
		{ "multipart/mixed; boundary=x", false, false },
		{ "Multipart/Form-Data;boundary=x", true, false },
		{ "multipart/form-data; charset=a; boundary=\"a b\"", true, false },
		{ "multipart/form-data; BOUNDARY=x", true, false },
		{ "multipart/form-data", false, true },
		{ "multipart/form-data; boundary", false, true },
		{ "multipart/form-data; boundary=", false, true },
		{ "multipart/form-data; boundary=\"\"", false, true },
		{ "multipart/form-data; xboundary=x", false, true },
		{ longest, true, false },
		{ longer, false, true },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *why = NULL;
		struct daemon_multipart *form = daemon_multipart_new(rows[i].type, &why);
		if ((form != NULL) != rows[i].is_form || (why != NULL) != rows[i].is_broken)
			fail_msg("%s", rows[i].type);
		daemon_multipart_free(form);
	}
	/* a quoted boundary is taken without its quotes and escapes */
	const char *why = NULL;
	char *content = file_of("multipart/form-data; boundary=\"a\\\"b\"",
		"--a\"b\r\n" HEAD "\r\nx\r\n--a\"b--", 5, &why);
	assert_string_equal(content, "x");
	free(content);
}

static void test_the_headers_of_a_form_have_a_limit(void **state)
{
	enum { LIMIT = 64 << 10 };
	(void)state;
	for (int over = -1; over <= 1; over++) {
		const char *why = NULL;
		struct str body;
		size_t rest = strlen("\r\n") + strlen(HEAD) + strlen("\r\n");
		str_init(&body, 1 << 20);
		str_add(&body, "--XX\r\n" HEAD);
		size_t pad = (size_t)(LIMIT - (int)rest + over) - strlen("X: \r\n");
		str_add(&body, "X: ");
		for (size_t i = 0; i < pad; i++)
			str_add_char(&body, 'x');
		str_add(&body, "\r\n\r\ncontent\r\n--XX--");
		char *content =
			file_of("multipart/form-data; boundary=XX", body.p, 1 << 20, &why);
		if ((content != NULL) != (over <= 0))
			fail_msg("%d: %s", over, content ? "taken" : why);
		if (content == NULL)
			assert_non_null(strstr(why, "message too large"));
		free(content);
		str_deinit(&body);
	}
}

/* --- protobuf --- */

#define REQUEST &process__v1__start_request__descriptor

static void test_pb_check(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum daemon_pb_check result;
	} rows[] = {
#define ROW(text, result) { text, sizeof(text) - 1, result }
		ROW("", PB_OK),
		ROW("\x0a\x03\x0a\x01x", PB_OK),
		ROW("\x0a\x04\x0a\x02\xc3\xbc", PB_OK),
		ROW("\x0a\x03\x0a\x01\xff", PB_NOT_UTF8),
		ROW("\x0a\x04\x0a\x01x", PB_BROKEN), /* cut */
		ROW("\x0a\x03\x0a\x02x", PB_BROKEN), /* the inner one is cut */
		ROW("\x00\x01", PB_BROKEN),          /* field 0 */
		ROW("\x08", PB_BROKEN),              /* no value */
		ROW("\x98\x06\x05", PB_OK),          /* an unknown field: varint */
		ROW("\x99\x06"
		    "12345678",
			PB_OK),
		ROW("\x99\x06"
		    "1234567",
			PB_BROKEN),
		ROW("\x9d\x06"
		    "1234",
			PB_OK),
		ROW("\x9d\x06"
		    "123",
			PB_BROKEN),
		ROW("\x9a\x06\x02\xff\xff", PB_OK), /* unknown bytes are not a string */
		ROW("\x9b\x06", PB_BROKEN),         /* a group */
		ROW("\x9e\x06", PB_BROKEN),
		ROW("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", PB_OK),
		ROW("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", PB_BROKEN),
		ROW("\xf8\xff\xff\xff\x0f\x01", PB_OK), /* the last field number */
		ROW("\x80\x80\x80\x80\x10\x01", PB_BROKEN),
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *nul_in = NULL;
		enum daemon_pb_check result = daemon_pb_check(
			REQUEST, (const unsigned char *)rows[i].bytes, rows[i].n, &nul_in);
		if (result != rows[i].result)
			fail_msg("row %zu: %d", i, result);
		assert_null(nul_in);
	}
	const char *nul_in = NULL, *why = NULL;
	assert_int_equal(daemon_pb_check(REQUEST,
				 (const unsigned char *)"\x0a\x05\x0a\x03"
							"a\0b",
				 7, &nul_in),
		PB_OK);
	assert_string_equal(nul_in, "ProcessConfig");
	assert_null(daemon_pb_unpack(
		REQUEST, (const unsigned char *)"\x0a\x03\x0a\x01\xff", 5, &nul_in, &why));
	assert_non_null(strstr(why, "UTF-8"));
	assert_null(daemon_pb_unpack(REQUEST, (const unsigned char *)"\x08", 1, &nul_in, &why));
	assert_non_null(strstr(why, "wire-format"));
	Process__V1__StartRequest *request = daemon_pb_unpack(
		REQUEST, (const unsigned char *)"\x0a\x03\x0a\x01x", 5, &nul_in, &why);
	assert_string_equal(request->config->command[0], "x");
	process__v1__start_request__free_unpacked(request, NULL);
	request = daemon_pb_unpack(REQUEST, NULL, 0, &nul_in, &why);
	assert_non_null(request);
	process__v1__start_request__free_unpacked(request, NULL);
}

static void test_pb_fields_have_a_limit(void **state)
{
	size_t most = PB_MAX_FIELDS;
	unsigned char *bytes = malloc(2 * (most + 1));
	const char *nul_in;
	(void)state;
	for (size_t i = 0; i <= most; i++) {
		bytes[2 * i] = 0x78; /* field 15, unknown */
		bytes[2 * i + 1] = 1;
	}
	assert_int_equal(daemon_pb_check(REQUEST, bytes, 2 * most, &nul_in), PB_OK);
	assert_int_equal(daemon_pb_check(REQUEST, bytes, 2 * (most + 1), &nul_in), PB_BROKEN);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_many_ranges),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_what_is_a_form),
		cmocka_unit_test(test_the_headers_of_a_form_have_a_limit),
		cmocka_unit_test(test_pb_check),
		cmocka_unit_test(test_pb_fields_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
