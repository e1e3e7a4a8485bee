// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/k8s/time.h"

#define NS INT64_C(1000000000)

static void forms(void **state)
{
	char out[CLOCK_RFC3339_BYTES];
	int64_t at = INT64_C(1767225600) * NS + 123456789;
	(void)state;
	assert_string_equal(k8s_time_format(at, K8S_TIME, out), "2026-01-01T00:00:00Z");
	assert_string_equal(
		k8s_time_format(at, K8S_MICRO_TIME, out), "2026-01-01T00:00:00.123456Z");
	assert_string_equal(
		k8s_time_format(at, K8S_NANO_TIME, out), "2026-01-01T00:00:00.123456789Z");
	clock_set_for_tests(0, at);
	assert_string_equal(k8s_time_now(K8S_TIME, out), "2026-01-01T00:00:00Z");
	clock_set_for_tests(-1, -1);
}

static void reading(void **state)
{
	static const struct {
		const char *text;
		bool is_date, is_micro;
		int64_t ms;
	} rows[] = {
		{ "2026-01-01T00:00:00Z", true, false, INT64_C(1767225600000) },
		{ "2026-01-01T02:00:00+02:00", true, false, INT64_C(1767225600000) },
		{ "2026-01-01T00:00:00.123456Z", true, true, INT64_C(1767225600123) },
		{ "2026-01-01T00:00:00.123Z", true, false, INT64_C(1767225600123) },
		{ "2026-01-01T00:00:00.1234567Z", true, false, INT64_C(1767225600123) },
		{ "2026-13-01T00:00:00.123456Z", false, false, 0 },
		{ "today", false, false, 0 },
		{ "", false, false, 0 },
		{ NULL, false, false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t ns = -1;
		assert_int_equal(k8s_time_parse(rows[i].text, &ns), rows[i].is_date);
		assert_int_equal(ns == -1, !rows[i].is_date);
		assert_int_equal(k8s_time_is_micro(rows[i].text), rows[i].is_micro);
		assert_int_equal(k8s_time_ms(rows[i].text), rows[i].ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(reading),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
