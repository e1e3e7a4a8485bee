// SPDX-License-Identifier: Apache-2.0
/* Byte for byte what goes over the wire, and what hostile bytes become. */
#include "engine/runtime/messages.h"

#include "engine/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void assert_bytes(char *got, size_t n, const char *want, size_t want_n)
{
	assert_int_equal(n, want_n);
	assert_memory_equal(got, want, n);
	free(got);
}
#define ASSERT_BYTES(got, n, want) assert_bytes((got), (n), (want), sizeof(want) - 1)

static void requests_have_the_bytes_of_the_protocol(void **state)
{
	const char *const argv[] = { "echo", "hi", NULL };
	const char *const env[] = { "A=b=c", "E=", NULL };
	struct runtime_message_config config = { argv, NULL, NULL };
	size_t n;
	char *bytes;

	(void)state;
	bytes = runtime_message_execute(&config, &n);
	ASSERT_BYTES(bytes, n,
		"\x0a\x0a\x0a\x04"
		"echo\x0a\x02hi");
	bytes = runtime_message_start(&config, 80, 24, &n);
	ASSERT_BYTES(bytes, n,
		"\x0a\x0a\x0a\x04"
		"echo\x0a\x02hi\x12\x04\x08\x50\x10\x18");
	config.env = env;
	config.cwd = "d";
	bytes = runtime_message_execute(&config, &n);
	ASSERT_BYTES(bytes, n,
		"\x0a\x1c\x0a\x04"
		"echo\x0a\x02hi\x12\x08\x0a\x01"
		"A\x12\x03"
		"b=c\x12\x03\x0a\x01"
		"E\x1a\x01"
		"d");
	bytes = runtime_message_stdin(7, slice_of("x\n"), &n);
	ASSERT_BYTES(bytes, n, "\x08\x07\x12\x02x\n");
	bytes = runtime_message_stdin_eof(7, &n);
	ASSERT_BYTES(bytes, n, "\x08\x07\x1a\x00");
	bytes = runtime_message_signal(7, 9, &n);
	ASSERT_BYTES(bytes, n, "\x08\x07\x10\x09");
	bytes = runtime_message_resize(7, 300, 50, &n);
	ASSERT_BYTES(bytes, n, "\x08\x07\x10\xac\x02\x18\x32");
}

#define BYTES(text) ((struct slice){ (text), sizeof(text) - 1 })

static void events_are_read(void **state)
{
	struct runtime_message_event event;

	(void)state;
	assert_true(runtime_message_event_parse(BYTES("\x0a\x02\x08\x15"), &event, NULL));
	assert_int_equal(event.kind, MESSAGE_INIT);
	assert_int_equal(event.pid, 21);
	runtime_message_event_deinit(&event);
	assert_true(runtime_message_event_parse(BYTES("\x12\x02o\n"), &event, NULL));
	assert_int_equal(event.kind, MESSAGE_STDOUT);
	assert_true(slice_equals(event.bytes, "o\n"));
	runtime_message_event_deinit(&event);
	assert_true(runtime_message_event_parse(BYTES("\x1a\x02"
						      "e\n"),
		&event, NULL));
	assert_int_equal(event.kind, MESSAGE_STDERR);
	runtime_message_event_deinit(&event);
	assert_true(runtime_message_event_parse(BYTES("\x22\x00"), &event, NULL));
	assert_int_equal(event.kind, MESSAGE_EXIT);
	assert_int_equal(event.exit_code, 0);
	runtime_message_event_deinit(&event);
	assert_true(runtime_message_event_parse(
		BYTES("\x22\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &event, NULL));
	assert_int_equal(event.exit_code, -1);
	runtime_message_event_deinit(&event);
	/* field 9 of a newer daemon, and nothing at all */
	assert_true(runtime_message_event_parse(BYTES("\x4a\x02hi"), &event, NULL));
	assert_int_equal(event.kind, MESSAGE_UNKNOWN);
	runtime_message_event_deinit(&event);
	assert_true(runtime_message_event_parse(BYTES(""), &event, NULL));
	assert_int_equal(event.kind, MESSAGE_UNKNOWN);
	runtime_message_event_deinit(&event);
}

static void broken_bytes_are_refused(void **state)
{
	static const struct slice broken[] = {
		{ "\x12\x05hi", 4 },               /* length beyond the end */
		{ "\x12\xff\xff\xff\xff\x0f", 6 }, /* 4 GiB */
		{ "\x0a\x02\x08", 3 },             /* cut in a nested message */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
			11 },  /* a tag that never ends */
		{ "\x07", 1 }, /* wire type 7 */
	};
	struct runtime_message_event event;
	struct runtime_message_result result;

	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		struct err err = { 0 };
		assert_false(runtime_message_event_parse(broken[i], &event, &err));
		assert_int_equal(err.code, ERR_PROC_PROTOCOL);
		runtime_message_event_deinit(&event);
	}
	assert_false(
		runtime_message_result_parse((struct slice){ "\x12\x05hi", 4 }, &result, NULL));
	runtime_message_result_deinit(&result);
}

static void results_are_read(void **state)
{
	struct runtime_message_result result;

	(void)state;
	assert_true(runtime_message_result_parse(BYTES("\x12\x03hi\n"), &result, NULL));
	assert_int_equal(result.exit_code, 0);
	assert_true(slice_equals(result.out, "hi\n"));
	assert_int_equal(result.err_out.n, 0);
	runtime_message_result_deinit(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_have_the_bytes_of_the_protocol),
		cmocka_unit_test(events_are_read),
		cmocka_unit_test(broken_bytes_are_refused),
		cmocka_unit_test(results_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
