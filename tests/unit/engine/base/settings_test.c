// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/settings.h"

#include <string.h>

static void test_rows_are_sane(void **state)
{
	(void)state;
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_row *row = setting_row((enum setting)i);
		assert_non_null(row->name);
		assert_true(row->initial >= row->min && row->initial <= row->max);
		assert_true(setting_get((enum setting)i) == row->initial);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(row->name, setting_row((enum setting)j)->name);
	}
}

static void test_set(void **state)
{
	(void)state;
	struct err err = { 0 };
	char text[SETTING_TEXT_BYTES];
	assert_true(setting_set("stall-timeout", "1m30s", &err));
	assert_true(setting_get(SETTING_STALL_TIMEOUT) == 90000);
	assert_true(setting_set("health-poll", "150ms", &err));
	assert_string_equal(
		setting_format(SETTING_HEALTH_POLL, setting_get(SETTING_HEALTH_POLL), text),
		"150ms");
	assert_true(setting_set("download-limit", "1.5GiB", &err));
	assert_true(setting_get(SETTING_DOWNLOAD_LIMIT) == (int64_t)3 << 29);
	assert_true(setting_set("download-limit", "none", &err));
	assert_string_equal(setting_format(SETTING_DOWNLOAD_LIMIT, 0, text), "none");
	assert_true(setting_set("request-retries", "0", &err));
	assert_true(setting_get(SETTING_REQUEST_RETRIES) == 0);
}

static void test_refused_and_unchanged(void **state)
{
	(void)state;
	static const char *const bad[][2] = { { "request-retries", "11" },
		{ "request-retries", "-1" }, { "request-retries", "2s" },
		{ "request-retries", "" }, { "watch-idle", "10x" }, { "watch-idle", "999ms" },
		{ "watch-idle", "25h" }, { "watch-idle", "" }, { "listing-limit", "none" },
		{ "listing-limit", "1KiBs" }, { "listing-limit", "1TiB" }, { "", "1" },
		{ "watch", "1s" } };
	assert_true(setting_set("request-retries", "3", NULL));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = { 0 };
		if (setting_set(bad[i][0], bad[i][1], &err))
			fail_msg("%s=%s was accepted", bad[i][0], bad[i][1]);
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
	assert_true(setting_get(SETTING_REQUEST_RETRIES) == 3);
	assert_true(setting_get(SETTING_WATCH_IDLE) == 90000);
	assert_true(setting_get(SETTING_LISTING_LIMIT) == 8 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sane),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_refused_and_unchanged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
