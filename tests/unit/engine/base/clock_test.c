// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const int64_t second = 1000000000;

static void test_rfc3339_parses_dates(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1969-12-31T23:59:59.5Z", -500000000 },
		{ "2026-01-02T03:04:05Z", 1767323045000000000 },
		{ "2026-01-02t03:04:05z", 1767323045000000000 },
		{ "2026-01-02T03:04:05.000000001Z", 1767323045000000001 },
		{ "2026-01-02T03:04:05.123456Z", 1767323045123456000 },
		{ "2026-01-02T05:04:05+02:00", 1767323045000000000 },
		{ "2026-01-01T21:34:05-05:30", 1767323045000000000 },
		{ "2024-02-29T00:00:00Z", 1709164800000000000 },
		{ "2000-02-29T00:00:00Z", 951782400000000000 },
		{ "2016-12-31T23:59:60Z", 1483228800000000000 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns = 42;
		if (!clock_parse_rfc3339(cases[i].text, &ns) || ns != cases[i].ns)
			fail_msg("%s gave %lld", cases[i].text, (long long)ns);
	}
}

static void test_rfc3339_refuses_what_is_no_date(void **state)
{
	(void)state;
	static const char *const cases[] = { "", "2026", "2026-01-02", "2026-01-02T03:04:05",
		"2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z", "2026-02-29T03:04:05Z",
		"1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z",
		"2026-01-02T24:00:00Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:61Z",
		"2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.1234567890Z",
		"2026-01-02T03:04:05Zx", " 2026-01-02T03:04:05Z", "2026-01-02 03:04:05Z",
		"2026-1-2T03:04:05Z", "+026-01-02T03:04:05Z", "2026-01-02T03:04:05+2:00",
		"2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+01:60",
		"9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z" };
	int64_t ns = 42;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (clock_parse_rfc3339(cases[i], &ns))
			fail_msg("%s was accepted", cases[i]);
	assert_false(clock_parse_rfc3339(NULL, &ns));
	assert_int_equal(ns, 42);
}

static void test_rfc3339_formats_what_it_parses(void **state)
{
	(void)state;
	char text[CLOCK_RFC3339_BYTES];
	assert_string_equal(
		clock_format_rfc3339(1767323045123456789, 0, text), "2026-01-02T03:04:05Z");
	assert_string_equal(
		clock_format_rfc3339(1767323045123456789, 3, text), "2026-01-02T03:04:05.123Z");
	assert_string_equal(clock_format_rfc3339(1767323045123456789, 6, text),
		"2026-01-02T03:04:05.123456Z");
	assert_string_equal(clock_format_rfc3339(1767323045123456789, 9, text),
		"2026-01-02T03:04:05.123456789Z");
	assert_string_equal(
		clock_format_rfc3339(-1, 9, text), "1969-12-31T23:59:59.999999999Z");
	static const struct {
		int64_t s;
		const char *text;
	} edges[] = {
		{ 0, "1970-01-01T00:00:00Z" },
		{ 86399, "1970-01-01T23:59:59Z" },
		{ 86400, "1970-01-02T00:00:00Z" },
		{ -1, "1969-12-31T23:59:59Z" },
		{ -86400, "1969-12-31T00:00:00Z" },
		{ -86401, "1969-12-30T23:59:59Z" },
		{ 951782400, "2000-02-29T00:00:00Z" },
		{ 951868800, "2000-03-01T00:00:00Z" },
		{ 4107542400, "2100-03-01T00:00:00Z" },
		{ 4107456000, "2100-02-28T00:00:00Z" },
	};
	for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
		assert_string_equal(
			clock_format_rfc3339(edges[i].s * second, 0, text), edges[i].text);
	/* against the C library, over every kind of year */
	for (int64_t s = -8000000000; s < 8000000000; s += 86399 * 37) {
		time_t t = s;
		struct tm tm;
		char expected[CLOCK_RFC3339_BYTES];
		gmtime_r(&t, &tm);
		strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%SZ", &tm);
		assert_string_equal(clock_format_rfc3339(s * second, 0, text), expected);
		int64_t back;
		assert_true(clock_parse_rfc3339(text, &back));
		assert_int_equal(back, s * second);
	}
	clock_format_rfc3339(INT64_MIN, 9, text);
	clock_format_rfc3339(INT64_MAX, 9, text);
}

static void test_http_date(void **state)
{
	(void)state;
	int64_t s = 0;
	assert_true(clock_parse_http_date("Fri, 02 Jan 2026 03:04:05 GMT", &s));
	assert_int_equal(s, 1767323045);
	static const char *const bad[] = { "", "Fri, 2 Jan 2026 03:04:05 GMT",
		"Fri, 02 Jan 2026 03:04:05 UTC", "Fri, 02 Jan 2026 03:04:05 GMT ",
		"Xxx, 02 Jan 2026 03:04:05 GMT", "Fri, 32 Jan 2026 03:04:05 GMT",
		"Fri, 02 Foo 2026 03:04:05 GMT", "Fri 02 Jan 2026 03:04:05 GMT",
		"Fri, 02 Jan 2026", "Fr" };
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(clock_parse_http_date(bad[i], &s));
	assert_int_equal(s, 1767323045);
}

static void test_age_is_as_kubectl_prints_it(void **state)
{
	(void)state;
	enum { S = 1000, M = 60 * S, H = 60 * M };
	static const int64_t day = 24 * H;
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = { { -5000, "0s" }, { 0, "0s" }, { 999, "0s" }, { 5 * S, "5s" },
		{ 119 * S, "119s" }, { 120 * S, "2m" }, { 192 * S, "3m12s" },
		{ 9 * M + 59 * S, "9m59s" }, { 10 * M + 30 * S, "10m" }, { 179 * M, "179m" },
		{ 180 * M, "3h" }, { 4 * H + 5 * M, "4h5m" }, { 8 * H + 5 * M, "8h" },
		{ 47 * H, "47h" }, { 48 * H, "2d" }, { 50 * H, "2d2h" },
		{ 12 * day + 3 * H, "12d" }, { 729 * day, "729d" }, { 730 * day, "2y" },
		{ 735 * day, "2y5d" }, { 9 * 365 * day + 5 * day, "9y" } };
	char text[CLOCK_AGE_BYTES];
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(clock_format_age(cases[i].ms, text), cases[i].text);
	clock_format_age(INT64_MAX, text); /* fits */
}

static void test_duration(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = { { "180s", 180000 }, { "3m", 180000 }, { "1h30m", 5400000 },
		{ "250ms", 250 }, { "180", 180000 }, { "0", 0 }, { "1.5s", 1500 },
		{ "0.25", 250 }, { "1h2m3s4ms", 3723004 }, { "2d", 172800000 },
		{ "1.0001s", 1000 } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ms = -1;
		if (!clock_parse_duration(cases[i].text, &ms) || ms != cases[i].ms)
			fail_msg("%s gave %lld", cases[i].text, (long long)ms);
	}
	static const char *const bad[] = { "", "-1s", "+1s", " 1s", "1 s", "s", "1x", "1.s",
		".5s", "1s30", "30 ", "1sm", "99999999999999999999s", "9223372036854775807d",
		"1h-5m" };
	int64_t ms = -1;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (clock_parse_duration(bad[i], &ms))
			fail_msg("%s was accepted", bad[i]);
	assert_int_equal(ms, -1);
}

static void test_clock_can_be_replaced(void **state)
{
	(void)state;
	clock_set_for_tests(5 * second, 7 * second);
	assert_int_equal(clock_mono_ms(), 5000);
	assert_int_equal(clock_wall_ms(), 7000);
	clock_set_for_tests(-1, -1);
	assert_true(clock_wall_ms() > 1700000000000);
	int64_t before = clock_mono_ns();
	assert_true(clock_mono_ns() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc3339_parses_dates),
		cmocka_unit_test(test_rfc3339_refuses_what_is_no_date),
		cmocka_unit_test(test_rfc3339_formats_what_it_parses),
		cmocka_unit_test(test_http_date),
		cmocka_unit_test(test_age_is_as_kubectl_prints_it),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_clock_can_be_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
