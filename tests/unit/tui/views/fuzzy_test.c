// SPDX-License-Identifier: Apache-2.0
// Which names fit what is typed, and which of two fits better.
#include "tui/widgets/fuzzy.h"

#include "tests/unit/unit.h"

#include <stdbool.h>
#include <string.h>

static void what_fits(void **state)
{
	static const struct {
		const char *typed, *name;
		bool fits;
	} rows[] = { { "", "anything", true }, { "a", "a", true }, { "a", "", false },
		{ "sbx", "sandboxes", true }, { "SBX", "sandboxes", true },
		{ "sbx", "SandBoxes", true }, { "xbs", "sandboxes", false },
		{ "sandboxess", "sandboxes", false }, { "aa", "a", false },
		{ "nsall", "namespace all", true }, { "ll", "all", true },
		{ "lll", "all", false } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(
			widget_fuzzy_score(rows[i].typed, rows[i].name) > 0, rows[i].fits);
	char longest[1000];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_true(widget_fuzzy_score("xx", longest) > 0);
	assert_int_equal(widget_fuzzy_score(longest, "x"), 0);
}

static void what_fits_better(void **state)
{
	static const struct {
		const char *typed, *better, *worse;
	} rows[] = {
		{ "log", "log", "logs" },             /* the whole name */
		{ "lo", "log", "logs" },              /* the shorter one */
		{ "de", "delete", "redescribe" },     /* its beginning */
		{ "pt", "prefix-theme", "aptitude" }, /* beginnings of words */
		{ "mo", "mouse", "migrator" },        /* side by side */
		{ "sp", "suspend", "restop" },        /* the first letter counts */
		{ "ab", "xaxab", "xaxb" },            /* the best way is found, not the first */
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (widget_fuzzy_score(rows[i].typed, rows[i].better) <=
			widget_fuzzy_score(rows[i].typed, rows[i].worse))
			fail_msg("%s: %s is not better than %s", rows[i].typed, rows[i].better,
				rows[i].worse);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_fits),
		cmocka_unit_test(what_fits_better) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
