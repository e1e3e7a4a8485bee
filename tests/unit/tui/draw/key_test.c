// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "tui/draw/input.h"

#include <string.h>

static void test_names_go_both_ways(void **state)
{
	static const char *const names[] = { "a", "A", "?", ":", "-", "ctrl-]", "ctrl-d",
		"shift-tab", "tab", "enter", "esc", "space", "F1", "shift-F12", "pageup",
		"ctrl-left", "ctrl-alt-shift-F5", "é", "你", "alt-x", "ctrl--" };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct key key;
		char name[KEY_NAME_BYTES];
		assert_true(key_parse(names[i], &key));
		assert_string_equal(key_format(&key, name), names[i]);
	}
}

static void test_what_is_no_key_is_refused(void **state)
{
	static const char *const names[] = { "", "ab", "F0", "F25", "F", "ctrl-", "Enter",
		"ctrl-ab" };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct key key;
		/* "F" and "ctrl-" are a letter and nothing: only the letter is a key */
		if (strcmp(names[i], "F") == 0)
			assert_true(key_parse(names[i], &key));
		else if (key_parse(names[i], &key))
			fail_msg("'%s' was taken", names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_go_both_ways),
		cmocka_unit_test(test_what_is_no_key_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
