// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/frame.h"
#include "local/daemon/pb_check.h"
#include "local/daemon/quote.h"

#include "proto/process.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void frames_in_any_pieces(void **state)
{
	(void)state;
	static const char two[] = "\0\0\0\0\3abc\0\0\0\0\0";
	for (size_t step = 1; step < sizeof two; step++) {
		struct daemon_frame frame = { 0 };
		size_t at = 0;
		assert_int_equal(daemon_frame_state(&frame), FRAME_EMPTY);
		while (daemon_frame_state(&frame) != FRAME_WHOLE) {
			size_t n = sizeof two - 1 - at;
			at += daemon_frame_feed(&frame, two + at, n < step ? n : step);
		}
		assert_int_equal(at, 8);
		assert_int_equal(daemon_frame_length(&frame), 3);
		assert_memory_equal(frame.body, "abc", 3);
		assert_int_equal(daemon_frame_feed(&frame, two + 8, 5), 0); /* the next one's */
		daemon_frame_deinit(&frame);
	}
}

static void frame_limits(void **state)
{
	(void)state;
	struct daemon_frame frame = { 0 };
	daemon_frame_feed(&frame, "\0\0\x40\0\0", 5);
	assert_int_equal(daemon_frame_state(&frame),
		FRAME_PARTIAL); /* 4 MiB: allowed, nothing allocated */
	assert_int_equal(frame.body_capacity, 0);
	daemon_frame_deinit(&frame);
	assert_int_equal(daemon_frame_feed(&frame, "\0\0\x40\0\1zzz", 8), 5);
	assert_int_equal(daemon_frame_state(&frame), FRAME_TOO_BIG);
	assert_null(frame.body);
	daemon_frame_deinit(&frame);
	daemon_frame_feed(&frame, "\1\0\0\0\0", 5);
	assert_int_equal(daemon_frame_flag(&frame), 1);
	assert_int_equal(daemon_frame_state(&frame), FRAME_WHOLE);
}

static void timeouts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms; /* −1: wrong */
	} rows[] = { { "5S", 5000 }, { "1H", 3600000 }, { "2M", 120000 }, { "7m", 7 },
		{ "1999u", 1 }, { "99999999n", 99 }, { "0S", 0 },
		{ "99999999H", 359999996400000 }, { "", -1 }, { "S", -1 }, { "5", -1 },
		{ "5x", -1 }, { "-5S", -1 }, { " 5S", -1 }, { "123456789S", -1 } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int64_t ms = -1;
		char *wrong = daemon_frame_parse_timeout(rows[i].text, &ms);
		assert_int_equal(ms, rows[i].ms);
		assert_int_equal(wrong == NULL, rows[i].ms >= 0);
		free(wrong);
	}
}

static void messages_are_encoded(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 100);
	daemon_frame_encode_message(&out, "50% \xc3\xa9\n~");
	assert_string_equal(out.p, "50%25 %C3%A9%0A~");
	str_deinit(&out);
}

static enum daemon_pb_check check(const void *bytes, size_t n, const char **nul_in)
{
	return daemon_pb_check(&process__v1__execute_request__descriptor, bytes, n, nul_in);
}

static void protobuf_is_checked_first(void **state)
{
	(void)state;
	const char *nul_in;
	assert_int_equal(check("", 0, &nul_in), PB_OK);
	assert_int_equal(check("\x0a\x04\x0a\x02hi", 6, &nul_in), PB_OK);
	assert_null(nul_in);
	assert_int_equal(check("\x0a\x04\x0a\x02h\0", 6, &nul_in), PB_OK);
	assert_string_equal(nul_in, "ProcessConfig");
	assert_int_equal(check("\x0a\x07\x12\x05\x0a\x03x\0y", 9, &nul_in), PB_OK);
	assert_string_equal(nul_in, "EnvVarsEntry");
	assert_int_equal(check("\x0a\x04\x0a\x02\xff\xfe", 6, &nul_in), PB_NOT_UTF8);
	assert_int_equal(check("\x0a\x04\x0a\x02\xc0\x80", 6, &nul_in), PB_NOT_UTF8);
	assert_int_equal(check("\x0a\x05\x0a\x03\xed\xa0\x80", 7, &nul_in), PB_NOT_UTF8);
	assert_int_equal(check("\x0a\x05", 2, &nul_in), PB_BROKEN);
	assert_int_equal(check("\xff", 1, &nul_in), PB_BROKEN);
	assert_int_equal(check("\0\0", 2, &nul_in), PB_BROKEN);
	assert_int_equal(check("\x0b", 1, &nul_in), PB_BROKEN);
	assert_int_equal(
		check("\x9a\x06\x02\xff\xff", 5, &nul_in), PB_OK); /* unknown: skipped */
	assert_int_equal(
		check("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &nul_in), PB_BROKEN);
}

static void foreign_text_is_quoted(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 200);
	daemon_quote_json(&out, slice_of("a\"\\\n\x01<\xff\xe2\x80\xa8\xc3\xa9"));
	assert_string_equal(out.p, "\"a\\\"\\\\\\n\\u0001\\u003c\\ufffd\\u2028\xc3\xa9\"");
	str_clear(&out);
	daemon_quote_plain(&out, (struct slice){ "a\0\"\x1b\xff", 5 });
	assert_string_equal(out.p, "\"a\\x00\\\"\\x1b\\xff\"");
	str_deinit(&out);
	assert_string_equal(daemon_quote_errno(2), "no such file or directory");
	assert_string_equal(daemon_quote_errno(99999), "errno 99999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_any_pieces),
		cmocka_unit_test(frame_limits),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(messages_are_encoded),
		cmocka_unit_test(protobuf_is_checked_first),
		cmocka_unit_test(foreign_text_is_quoted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
