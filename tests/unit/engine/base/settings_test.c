// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

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

/* as docs/settings.md has them, and how far each may be moved */
static const struct {
	const char *name, *initial, *min, *max;
} table[] = {
	{ "ready-timeout", "180s", "1ms", "86400s" },
	{ "resolve-timeout", "30s", "1ms", "86400s" },
	{ "connect-timeout", "30s", "1ms", "86400s" },
	{ "health-poll", "200ms", "10ms", "60s" },
	{ "gateway-timeout", "180s", "1ms", "86400s" },
	{ "file-timeout", "30s", "1ms", "86400s" },
	{ "headers-timeout", "30s", "1ms", "86400s" },
	{ "stall-timeout", "30s", "1ms", "86400s" },
	{ "start-timeout", "30s", "1ms", "86400s" },
	{ "command-timeout", "60s", "1ms", "86400s" },
	{ "legacy-command-timeout", "180s", "1ms", "86400s" },
	{ "router-timeout", "180s", "1ms", "86400s" },
	{ "drain-timeout", "2s", "1ms", "86400s" },
	{ "kill-grace", "5s", "1ms", "86400s" },
	{ "cleanup-timeout", "30s", "1ms", "86400s" },
	{ "request-timeout", "10s", "1ms", "86400s" },
	{ "request-retries", "2", "0", "10" },
	{ "watch-idle", "90s", "1s", "86400s" },
	{ "watch-timeout", "300s", "10s", "86400s" },
	{ "poll-interval", "30s", "1s", "86400s" },
	{ "usage-interval", "10s", "1s", "86400s" },
	{ "list-page", "500", "1", "100000" },
	{ "exec-plugin-timeout", "60s", "1ms", "86400s" },
	{ "download-limit", "none", "none", "8192.0 PiB" },
	{ "upload-limit", "none", "none", "8192.0 PiB" },
	{ "listing-limit", "8.0 MiB", "1.0 KiB", "512.0 MiB" },
	{ "output-limit", "4.0 MiB", "1.0 KiB", "64.0 MiB" },
	{ "legacy-output-limit", "16.0 MiB", "1.0 KiB", "64.0 MiB" },
	{ "claim-limit", "64.0 KiB", "1.0 KiB", "3.0 MiB" },
	{ "transfer-max-entries", "200000", "none", "1000000000" },
	{ "sandboxd-rest-port", "8080", "1", "65535" },
	{ "sandboxd-grpc-port", "9090", "1", "65535" },
	{ "legacy-port", "8888", "1", "65535" },
	{ "pod-label-domains", "sandbox.users.io", "sandbox.users.io", "sandbox.users.io" },
	{ "policy-file", "", "", "" },
	{ "binding-prefix", "pai-sandbox-binding-", "pai-sandbox-binding-",
		"pai-sandbox-binding-" },
	{ "binding-reservation", "60s", "1s", "86400s" },
	{ "binding-attempts", "10", "1", "1000" },
	{ "run-rm-lifetime", "3600s", "1s", "31536000s" },
	{ "bulk-rate", "20", "1", "1000" },
	{ "auto-cleanup", "off", "off", "on" },
	{ "tombstone-time", "600s", "0s", "86400s" },
	{ "tombstones", "100", "0", "10000" },
	{ "production-contexts", "", "", "" },
	{ "prefix-key", "ctrl-] F12", "ctrl-] F12", "ctrl-] F12" },
	{ "glyphs", "auto", "auto", "auto" },
	{ "remember", "on", "off", "on" },
};

static void test_defaults_and_limits(void **state)
{
	char text[SETTING_TEXT_BYTES];

	(void)state;
	assert_int_equal(COUNT(table), SETTING_COUNT);
	for (int i = 0; i < SETTING_COUNT; i++) {
		enum setting setting = (enum setting)i;
		const struct setting_row *row = setting_row(setting);
		assert_string_equal(row->name, table[i].name);
		assert_string_equal(
			setting_format(setting, row->initial, text), table[i].initial);
		assert_string_equal(setting_format(setting, row->min, text), table[i].min);
		assert_string_equal(setting_format(setting, row->max, text), table[i].max);
		assert_true(strlen(row->help) > 5);
		if (row->unit == SETTING_TEXT)
			assert_string_equal(setting_initial_text(setting), table[i].initial);
		else
			assert_null(setting_initial_text(setting));
	}
}

/* The smallest and the largest are taken, one more or less is not. */
static void test_limits_are_taken(void **state)
{
	static const struct {
		const char *name, *value;
		enum setting setting;
		int64_t is; /* -1: refused */
		const char *msg;
	} tried[] = {
		{ "health-poll", "10ms", SETTING_HEALTH_POLL, 10, NULL },
		{ "health-poll", "9ms", SETTING_HEALTH_POLL, -1,
			"health-poll: '9ms' is not within 10ms and 60s" },
		{ "health-poll", "60s", SETTING_HEALTH_POLL, 60000, NULL },
		{ "health-poll", "60001ms", SETTING_HEALTH_POLL, -1,
			"health-poll: '60001ms' is not within 10ms and 60s" },
		{ "health-poll", "200ms", SETTING_HEALTH_POLL, 200, NULL },
		{ "health-poll", "soon", SETTING_HEALTH_POLL, -1,
			"health-poll: 'soon' is not a time such as 30s or 5m" },
		{ "listing-limit", "1KiB", SETTING_LISTING_LIMIT, 1024, NULL },
		{ "listing-limit", "x", SETTING_LISTING_LIMIT, -1,
			"listing-limit: 'x' is not a size such as 64KiB or 8MiB" },
		{ "listing-limit", "8MiB", SETTING_LISTING_LIMIT, 8 << 20, NULL },
		{ "list-page", "x", SETTING_LIST_PAGE, -1, "list-page: 'x' is not a number" },
		{ "list-page", "none", SETTING_LIST_PAGE, -1,
			"list-page: 'none' is not a number" },
		{ "list-page", "0", SETTING_LIST_PAGE, -1,
			"list-page: '0' is not within 1 and 100000" },
		{ "transfer-max-entries", "none", SETTING_TRANSFER_MAX_ENTRIES, 0, NULL },
		{ "transfer-max-entries", "7", SETTING_TRANSFER_MAX_ENTRIES, 7, NULL },
		{ "transfer-max-entries", "-1", SETTING_TRANSFER_MAX_ENTRIES, -1,
			"transfer-max-entries: '-1' is not within none and 1000000000" },
		{ "transfer-max-entries", "x", SETTING_TRANSFER_MAX_ENTRIES, -1,
			"transfer-max-entries: 'x' is not a number or none" },
		{ "nothing", "1", SETTING_COUNT, -1,
			"there is no setting 'nothing'; `sandmux settings` lists them" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct err err = { 0 };
		bool ok = setting_set(tried[i].name, tried[i].value, &err);
		assert_int_equal(ok, tried[i].is >= 0);
		assert_string_equal(err.msg, tried[i].msg ? tried[i].msg : "");
		if (ok)
			assert_true(setting_get(tried[i].setting) == tried[i].is);
	}
}

static int n_taken;
static char taken[100];

static bool take_text(const char *text, struct err *err)
{
	n_taken++;
	snprintf(taken, sizeof taken, "%s", text);
	return strcmp(text, "no") != 0 || err_set(err, ERR_ARG_INVALID, "no key");
}

static void test_a_text(void **state)
{
	struct err err = { 0 };
	char text[SETTING_TEXT_BYTES];

	(void)state;
	assert_string_equal(setting_text(SETTING_PREFIX_KEY), "ctrl-] F12");
	assert_true(setting_set("prefix-key", "F2", &err)); /* nobody knows what it means */
	assert_string_equal(setting_text(SETTING_PREFIX_KEY), "F2");
	setting_on_text(SETTING_LIST_PAGE, take_text); /* no text */
	assert_true(setting_set("prefix-key", "F3", &err));
	assert_int_equal(n_taken, 0);
	setting_on_text(SETTING_PREFIX_KEY, take_text);
	assert_true(setting_set("prefix-key", "F4", &err));
	assert_int_equal(n_taken, 1);
	assert_string_equal(taken, "F4");
	assert_string_equal(setting_format(SETTING_PREFIX_KEY, 0, text), "F4");
	assert_false(setting_set("prefix-key", "no", &err));
	assert_string_equal(err.msg, "prefix-key: no key");
	assert_string_equal(setting_text(SETTING_PREFIX_KEY), "F4");
	/* 255 bytes and no more */
	char longest[SETTING_TEXT_BYTES + 1];
	memset(longest, 'x', sizeof longest);
	longest[SETTING_TEXT_BYTES - 1] = '\0';
	assert_true(setting_set("prefix-key", longest, &err));
	assert_string_equal(setting_text(SETTING_PREFIX_KEY), longest);
	longest[SETTING_TEXT_BYTES - 1] = 'x';
	longest[SETTING_TEXT_BYTES] = '\0';
	assert_false(setting_set("prefix-key", longest, &err));
	assert_non_null(strstr(err.msg, "' is too long"));
	/* each has its own */
	assert_string_equal(setting_text(SETTING_POD_LABEL_DOMAINS), "sandbox.users.io");
	assert_true(setting_set("pod-label-domains", "a.example", &err));
	assert_string_equal(setting_text(SETTING_POD_LABEL_DOMAINS), "a.example");
	assert_int_equal(strlen(setting_text(SETTING_PREFIX_KEY)), SETTING_TEXT_BYTES - 1);
	assert_true(setting_set("pod-label-domains", "sandbox.users.io", &err));
	assert_int_equal(n_taken, 3);
	setting_on_text(SETTING_PREFIX_KEY, NULL);
}

static void test_words(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_true(setting_is(SETTING_GLYPHS, "auto"));
	assert_true(setting_set("glyphs", "ascii", &err));
	assert_true(setting_is(SETTING_GLYPHS, "ascii"));
	assert_false(setting_set("glyphs", "asci", &err));
	assert_string_equal(err.msg, "glyphs: 'asci' is none of: auto unicode ascii");
	assert_false(setting_set("glyphs", "", &err));
	assert_true(setting_is(SETTING_GLYPHS, "ascii"));
	assert_true(setting_set("glyphs", "auto", &err));
}

static void test_a_file(void **state)
{
	static const struct {
		const char *text, *msg; /* after the path */
		int64_t retries;
	} files[] = {
		{ "request-retries: 4\nwatch-idle: 10s\n", NULL, 4 },
		{ "request-retries: \"5\"\n", NULL, 5 },
		{ "", NULL, 5 },
		{ "# nothing\n", NULL, 5 },
		{ "request-retries: 11\n", ": request-retries: '11' is not within 0 and 10",
			5 },
		/* what stands before the wrong one is taken, what stands after it is not */
		{ "request-retries: 8\nnothing: 1\nlist-page: 77\n",
			": there is no setting 'nothing'; `sandmux settings` lists them", 8 },
		{ "request-retries: [1]\n", ": request-retries: a text or a number is wanted",
			8 },
		{ "auto-cleanup: on\nrequest-retries: 8\n", NULL, 8 },
		{ "auto-cleanup: true\n", NULL, 8 },
		{ "auto-cleanup: 1\n", ": auto-cleanup: '1' is not on or off", 8 },
		{ "request-retries: true\n", ": request-retries: a text or a number is wanted",
			8 },
		{ "- 1\n- 2\n", ": it must be a map of settings", 8 },
		{ "just a text\n", ": it must be a map of settings", 8 },
	};
	char path[] = "/tmp/sandmux-settings-XXXXXX", wanted[200];
	struct err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < COUNT(files); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, files[i].text, strlen(files[i].text), 0),
			strlen(files[i].text));
		err = (struct err){ 0 };
		bool ok = setting_read_file(path, &err);
		assert_int_equal(ok, files[i].msg == NULL);
		if (!ok) {
			snprintf(wanted, sizeof wanted, "%s%s", path, files[i].msg);
			assert_string_equal(err.msg, wanted);
			assert_int_equal(err.code, ERR_CONFIG_FILE);
			assert_false(setting_read_file(path, NULL));
		}
		assert_true(setting_get(SETTING_REQUEST_RETRIES) == files[i].retries);
	}
	assert_true(setting_get(SETTING_WATCH_IDLE) == 10000);
	assert_true(setting_get(SETTING_LIST_PAGE) == 500);
	/* not YAML, and not there */
	assert_int_equal(pwrite(fd, "a: [\n", 5, 0), 5);
	assert_false(setting_read_file(path, &err));
	assert_int_equal(err.code, ERR_CONFIG_FILE);
	close(fd);
	assert_false(setting_read_file("/tmp", &err));
	assert_int_equal(unlink(path), 0);
	assert_true(setting_read_file(path, &err));
	assert_true(setting_read_file("/dev/null/x", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sane),
		cmocka_unit_test(test_defaults_and_limits),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_refused_and_unchanged),
		cmocka_unit_test(test_limits_are_taken),
		cmocka_unit_test(test_a_text),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
