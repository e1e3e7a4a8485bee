// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/num.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void test_i64(void **state)
{
	(void)state;
	int64_t value = 0;
	assert_true(num_parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &value));
	assert_true(value == INT64_MIN);
	assert_true(num_parse_i64("9223372036854775807", INT64_MIN, INT64_MAX, &value));
	assert_true(value == INT64_MAX);
	assert_true(num_parse_i64("-0", -5, 5, &value));
	assert_int_equal(value, 0);
	assert_true(num_parse_i64("007", 0, 10, &value));
	assert_int_equal(value, 7);
	static const char *const bad[] = { "", "-", "+1", " 1", "1 ", "1a", "0x1", "--1", "11",
		"-11", "9223372036854775808", "-9223372036854775809",
		"99999999999999999999999" };
	for (size_t i = 0; i < COUNT(bad); i++)
		if (num_parse_i64(bad[i], -10, 10, &value))
			fail_msg("%s was accepted", bad[i]);
	assert_false(num_parse_i64(NULL, -10, 10, &value));
	assert_int_equal(value, 7);
}

static void test_u64(void **state)
{
	(void)state;
	uint64_t value = 0;
	assert_true(num_parse_u64("18446744073709551615", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	static const char *const bad[] = { "", "-1", "-0", "+1", "18446744073709551616",
		"65536", "1.0" };
	for (size_t i = 0; i < COUNT(bad); i++)
		if (num_parse_u64(bad[i], 65535, &value))
			fail_msg("%s was accepted", bad[i]);
	assert_true(value == UINT64_MAX);
}

static void test_size(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = { { "10", 10 }, { "10B", 10 }, { "4k", 4096 }, { "4K", 4096 },
		{ "4KB", 4096 }, { "4KiB", 4096 }, { "4 KiB", 4096 }, { "256MiB", 268435456 },
		{ "1.5GiB", 1610612736 }, { "0", 0 }, { "0.5k", 512 }, { "1T", 1099511627776 },
		{ "1.0000000001k", 1024 } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t bytes = 1;
		if (!num_parse_size(cases[i].text, UINT64_MAX, &bytes) ||
			bytes != cases[i].bytes)
			fail_msg("%s gave %llu", cases[i].text, (unsigned long long)bytes);
	}
	static const char *const bad[] = { "", "k", "-1k", "1.5", "1.k", ".5k", "1kk", "1x",
		"1iB", "1KiBx", "99999999P", "16777216T", "2M" };
	uint64_t bytes = 1;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (num_parse_size(bad[i], 1 << 20, &bytes))
			fail_msg("%s was accepted", bad[i]);
	assert_int_equal(bytes, 1);
}

static void test_size_is_shown_short(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = { { 0, "0 B" }, { 10, "10 B" }, { 1023, "1023 B" }, { 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" }, { 1048575, "1.0 MiB" }, { 1572864, "1.5 MiB" },
		{ 5368709120, "5.0 GiB" }, { UINT64_MAX, "16384.0 PiB" } };
	char text[NUM_SIZE_BYTES];
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(num_format_size(cases[i].bytes, text), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_i64),
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_size_is_shown_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
