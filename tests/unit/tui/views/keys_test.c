// SPDX-License-Identifier: Apache-2.0
// The key table: every key can be read, none is bound twice, docs/keys.md is what the table says.
// With SANDMUX_GOLDEN=write the page is written instead.
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/settings.h"
#include "tui/view/keymap.h"

#include <stdlib.h>
#include <string.h>

static void test_every_key_can_be_read_and_is_bound_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < views_n_key_rows; i++) {
		struct draw_key a, b;
		if (!draw_key_parse(view_key_rows[i].key, &a))
			fail_msg("'%s' is no key", view_key_rows[i].key);
		assert_true(view_key_rows[i].help && *view_key_rows[i].help);
		assert_true(view_key_rows[i].command && *view_key_rows[i].command);
		assert_false(view_key_is_prefix(&a));
		for (size_t k = 0; k < i; k++) {
			assert_true(draw_key_parse(view_key_rows[k].key, &b));
			if (view_key_rows[k].scope == view_key_rows[i].scope &&
				draw_key_equals(&a, &b))
				fail_msg("'%s' is bound twice in %s", view_key_rows[i].key,
					view_key_scope_title(view_key_rows[i].scope));
		}
	}
}

static void test_a_live_shell_has_all_its_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < views_n_key_rows; i++)
		assert_int_not_equal(view_key_rows[i].scope, SCOPE_SHELL);
}

static void test_look_ups(void **state)
{
	struct draw_key key;
	(void)state;
	assert_true(draw_key_parse("s", &key));
	assert_string_equal(view_key_lookup(SCOPE_LIST, &key), "shell");
	assert_true(draw_key_parse("F11", &key));
	assert_null(view_key_lookup(SCOPE_LIST, &key));
	assert_string_equal(view_key_of_command(SCOPE_LIST, "delete"), "ctrl-d");
	assert_string_equal(view_key_of_command(SCOPE_FILES, "help"), "?");
	assert_null(view_key_of_command(SCOPE_LIST, "no-such-command"));
}

static bool is_prefix(const char *name)
{
	struct draw_key key;
	assert_true(draw_key_parse(name, &key));
	return view_key_is_prefix(&key);
}

static void test_the_prefix_is_a_setting(void **state)
{
	static const char *const refused[] = { "", " ", "q", "A", "é", "shift-a", "esc",
		"enter", "tab", "ctrl-i", "ctrl-m", "ctrl-[", "ctrl-c", "up", "ctrl-",
		"nonsense", "F25", "ctrl-a ctrl-b ctrl-e ctrl-f" };
	struct err err;
	(void)state;
	assert_true(is_prefix("ctrl-]") && is_prefix("F12") && !is_prefix("ctrl-b"));
	assert_string_equal(view_key_prefix_name(), "ctrl-]");
	assert_string_equal(view_key_prefix_names(), "ctrl-] or F12");
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		if (setting_set("prefix-key", refused[i], &err))
			fail_msg("'%s' was taken", refused[i]);
		assert_non_null(strstr(err.msg, "prefix-key: "));
	}
	assert_true(is_prefix("ctrl-]")); /* a refusal changes nothing */
	assert_true(setting_set("prefix-key", "ctrl-b  alt-space", &err));
	assert_true(is_prefix("ctrl-b") && is_prefix("alt-space"));
	assert_false(is_prefix("ctrl-]") || is_prefix("F12") || is_prefix("b"));
	assert_string_equal(view_key_scope_title(SCOPE_PREFIX),
		"After the prefix ctrl-b or alt-space (twice sends it)");
	assert_true(setting_set(
		"prefix-key", "F13", &err)); /* what terminals send for Shift and F1 */
	assert_true(is_prefix("shift-F1"));
	assert_true(setting_set("prefix-key", "ctrl-] F12", &err));
}

static void test_the_page_is_what_the_table_says(void **state)
{
	struct str page;
	struct err err;
	size_t n;
	(void)state;
	str_init(&page, 1 << 20);
	view_keymap_markdown(&page);
	const char *mode = getenv("SANDMUX_GOLDEN");
	if (mode && strcmp(mode, "write") == 0) {
		assert_true(file_write_atomic(
			"docs/keys.md", (struct slice){ page.p, page.n }, 0644, &err));
	} else {
		char *have = file_read("docs/keys.md", 1 << 20, &n, &err);
		assert_non_null(have);
		assert_string_equal(have, page.p);
		free(have);
	}
	str_deinit(&page);
}

int main(void)
{
	setting_on_text(SETTING_PREFIX_KEY, view_keys_set_prefix);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_can_be_read_and_is_bound_once),
		cmocka_unit_test(test_a_live_shell_has_all_its_keys),
		cmocka_unit_test(test_look_ups),
		cmocka_unit_test(test_the_prefix_is_a_setting),
		cmocka_unit_test(test_the_page_is_what_the_table_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
