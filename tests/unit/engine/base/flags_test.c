// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/flags.h"

#include <getopt.h>
#include <string.h>

struct all {
	bool is_on, is_wide;
	const char *text, *taken;
	int64_t number, time_ms;
	uint64_t size;
};

static bool take(void *into, const char *text)
{
	struct all *all = into;
	all->taken = text;
	return text[0] != '!';
}

static const struct flag flags[] = {
	{ "switch", FLAG_SWITCH, FLAG_FIELD(bool, all, is_on) },
	{ "text", FLAG_TEXT, FLAG_FIELD(const char *, all, text) },
	{ "number", FLAG_NUMBER, FLAG_FIELD(int64_t, all, number), .min = 1, .max = 9,
		.unit = 1000 },
	{ "size", FLAG_SIZE, FLAG_FIELD(uint64_t, all, size) },
	{ "time", FLAG_TIME, FLAG_FIELD(int64_t, all, time_ms) },
	{ "choice", FLAG_CHOICE, FLAG_FIELD(bool, all, is_wide), .on = "wide",
		.off = "narrow" },
	{ "take", FLAG_TAKE, .take = take },
};
enum { COUNT = sizeof flags / sizeof flags[0] };

static void values(void **state)
{
	struct all all = { 0 };
	(void)state;
	assert_true(flags_set(&flags[0], &all, NULL));
	assert_true(flags_set(&flags[1], &all, "a b"));
	assert_true(flags_set(&flags[2], &all, "9"));
	assert_true(flags_set(&flags[3], &all, "2KiB"));
	assert_true(flags_set(&flags[4], &all, "3s"));
	assert_true(flags_set(&flags[5], &all, "wide"));
	assert_true(flags_set(&flags[6], &all, "x"));
	assert_true(all.is_on);
	assert_string_equal(all.text, "a b");
	assert_int_equal(all.number, 9000);
	assert_int_equal(all.size, 2048);
	assert_int_equal(all.time_ms, 3000);
	assert_true(all.is_wide);
	assert_string_equal(all.taken, "x");
	assert_true(flags_set(&flags[5], &all, "narrow"));
	assert_false(all.is_wide);
}

static void what_is_refused(void **state)
{
	static const struct {
		int flag;
		const char *text;
	} rows[] = { { 2, "0" }, { 2, "10" }, { 2, "" }, { 2, "x" }, { 3, "much" },
		{ 4, "soon" }, { 5, "" }, { 5, "wider" }, { 6, "!" } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct all all = { .number = 7 };
		if (flags_set(&flags[rows[i].flag], &all, rows[i].text))
			fail_msg("%s %s", flags[rows[i].flag].name, rows[i].text);
		assert_int_equal(all.number, 7);
	}
}

static void rows_for_getopt(void **state)
{
	static const struct option last[] = { { "help", no_argument, NULL, 256 }, { 0 } };
	struct option options[COUNT + 2];
	(void)state;
	memset(options, 0xff, sizeof options);
	flags_options(flags, COUNT, last, options);
	for (int i = 0; i < COUNT; i++) {
		assert_string_equal(options[i].name, flags[i].name);
		assert_int_equal(options[i].has_arg, i == 0 ? no_argument : required_argument);
		assert_int_equal(options[i].val, i);
	}
	assert_string_equal(options[COUNT].name, "help");
	assert_int_equal(options[COUNT].val, 256);
	assert_null(options[COUNT + 1].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(rows_for_getopt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
