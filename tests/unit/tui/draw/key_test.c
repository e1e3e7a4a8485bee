// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "tui/draw/input.h"

#include <string.h>

static void test_names_go_both_ways(void **state)
{
	static const char *const names[] = { "a", "A", "?", ":", "-", "ctrl-]", "ctrl-d",
		"shift-tab", "tab", "enter", "esc", "space", "F1", "shift-F12", "pageup",
		"ctrl-left", "ctrl-alt-shift-F5", "é", "你", "alt-x", "ctrl--", "backspace",
		"up", "down", "left", "right", "insert", "delete", "home", "end", "pagedown",
		"begin", "F12", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xdf\xbf", "\xe0\xa0\x80",
		"~" };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct draw_key key;
		char name[KEY_NAME_BYTES];
		assert_true(draw_key_parse(names[i], &key));
		assert_string_equal(draw_key_format(&key, name), names[i]);
	}
}

static void test_what_is_no_key_is_refused(void **state)
{
	static const char *const names[] = { "", "ab", "F0", "F25", "F", "ctrl-", "Enter",
		"ctrl-ab", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3\xa9x", "F-1", "F1x" };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct draw_key key;
		/* "F" and "ctrl-" are a letter and nothing: only the letter is a key */
		if (strcmp(names[i], "F") == 0)
			assert_true(draw_key_parse(names[i], &key));
		else if (draw_key_parse(names[i], &key))
			fail_msg("'%s' was taken", names[i]);
	}
}

static void test_what_a_name_means(void **state)
{
	static const struct {
		const char *name;
		struct draw_key key;
	} rows[] = {
		{ "space", { KEY_NONE, ' ', 0, false } },
		{ "shift-space", { KEY_NONE, ' ', MOD_SHIFT, false } },
		{ "\xc3\xa9", { KEY_NONE, 0xE9, 0, false } },
		{ "\xe2\x82\xac", { KEY_NONE, 0x20AC, 0, false } },
		{ "\xf0\x9f\x98\x80", { KEY_NONE, 0x1F600, 0, false } },
		{ "F1", { KEY_SYM_F1, 0, 0, false } },
		{ "F12", { KEY_SYM_F12, 0, 0, false } },
		{ "F13", { KEY_SYM_F1, 0, MOD_SHIFT, false } },
		{ "ctrl-F24", { KEY_SYM_F12, 0, MOD_CTRL | MOD_SHIFT, false } },
		{ "alt-ctrl-a", { KEY_NONE, 'a', MOD_ALT | MOD_CTRL, false } },
		{ "enter", { KEY_SYM_ENTER, 0, 0, false } },
		{ "begin", { KEY_SYM_BEGIN, 0, 0, false } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_key key = { KEY_SYM_UP, 5, MOD_ALT, true };
		assert_true(draw_key_parse(rows[i].name, &key));
		assert_int_equal(key.sym, rows[i].key.sym);
		assert_int_equal(key.codepoint, rows[i].key.codepoint);
		assert_int_equal(key.mods, rows[i].key.mods);
		assert_false(key.keypad);
		for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
			assert_int_equal(draw_key_equals(&key, &rows[k].key), i == k);
	}
	/* of a key with a name the character does not count, and the keypad never does */
	const struct draw_key one = { KEY_SYM_ENTER, 0, 0, false },
			      two = { KEY_SYM_ENTER, 13, 0, true };
	assert_true(draw_key_equals(&one, &two));
	const struct draw_key three = { KEY_SYM_ENTER, 0, MOD_CTRL, false };
	assert_false(draw_key_equals(&one, &three));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_go_both_ways),
		cmocka_unit_test(test_what_is_no_key_is_refused),
		cmocka_unit_test(test_what_a_name_means),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
