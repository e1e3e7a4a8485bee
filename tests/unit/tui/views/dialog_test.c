// SPDX-License-Identifier: Apache-2.0
// Dialogs: what they draw, what keys and mouse do in them, and that each answers once.
#include "tests/unit/unit.h"

#include "tui/views/dialog.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static int answer, n_answers;
static char value[64];

static void on_done(void *arg, struct dialog *dialog, int button)
{
	(void)arg;
	answer = button;
	n_answers++;
	if (arg)
		snprintf(value, sizeof value, "%s", dialog_field(dialog, 0));
}

static void press(struct dialog *dialog, const char *keys)
{
	char name[32];
	while (*keys) {
		struct key key;
		size_t n = strcspn(keys, " ");
		snprintf(name, sizeof name, "%.*s", (int)n, keys);
		keys += n + (keys[n] == ' ');
		assert_true(key_parse(name, &key));
		if (dialog_key(dialog, &key)) {
			dialog_answer(dialog);
			assert_int_equal(*keys, 0);
		}
	}
}

static struct dialog *confirm(void)
{
	struct dialog *dialog = dialog_new("Delete?", on_done, NULL, NULL);
	dialog_add_text(dialog, "Everything is lost.");
	dialog_add_button(dialog, "&Delete");
	dialog_add_button(dialog, "&Cancel");
	dialog_focus_button(dialog, 1);
	answer = 99;
	n_answers = 0;
	return dialog;
}

static void test_buttons(void **state)
{
	static const struct {
		const char *keys;
		int want;
	} cases[] = {
		{ "enter", 1 },
		{ "d", 0 },
		{ "D", 0 },
		{ "c", 1 },
		{ "esc", DIALOG_CANCELLED },
		{ "ctrl-c", DIALOG_CANCELLED },
		{ "left enter", 0 },
		{ "tab enter", 0 },
		{ "shift-tab enter", 0 },
		{ "tab tab enter", 1 },
		{ "x z up down left space", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct dialog *dialog = confirm();
		press(dialog, cases[i].keys);
		assert_int_equal(n_answers, 1);
		if (answer != cases[i].want)
			fail_msg("%s gave %d", cases[i].keys, answer);
		dialog_free(dialog);
	}
}

static void test_fields(void **state)
{
	(void)state;
	struct dialog *dialog = dialog_new("Name", on_done, value, NULL);
	dialog_add_field(dialog, "name", "old");
	dialog_add_switch(dialog, "all", false);
	dialog_add_button(dialog, "&OK");
	dialog_add_button(dialog, "&Cancel");
	n_answers = 0;
	press(dialog, "ctrl-u c o space é backspace tab space enter");
	assert_int_equal(n_answers, 1);
	assert_int_equal(answer, 0);
	assert_string_equal(value, "co ");
	assert_true(dialog_switch(dialog, 1));
	dialog_free(dialog);
}

static void expect(struct dialog *dialog, int cols, int rows, const char *want)
{
	struct surface *s = surface_new(cols, rows);
	struct theme theme;
	struct str text;
	theme_builtin(&theme);
	str_init(&text, 1 << 16);
	dialog_draw(dialog, region_whole(s), &theme);
	surface_text(s, &text);
	if (want)
		assert_string_equal(text.p, want);
	str_deinit(&text);
	surface_free(s);
}

static void test_the_picture(void **state)
{
	(void)state;
	struct dialog *dialog = confirm();
	expect(dialog, 40, 9,
		"\n\n"
		"       ┌ Delete? ──────────────┐\n"
		"       │ Everything is lost.   │\n"
		"       │                       │\n"
		"       │   Delete   [ Cancel ] │\n"
		"       └───────────────────────┘\n"
		"\n\n");
	struct mouse mouse = { .action = MOUSE_PRESS, .button = 1, .col = 12, .row = 5 };
	assert_true(dialog_mouse(dialog, &mouse));
	dialog_answer(dialog);
	assert_int_equal(answer, 0);
	mouse.row = 3;
	assert_false(dialog_mouse(dialog, &mouse));
	dialog_free(dialog);
}

static void test_hostile_text_and_any_size(void **state)
{
	(void)state;
	struct dialog *dialog = dialog_new("\033]0;x\a title", on_done, NULL, NULL);
	dialog_add_text(
		dialog, "a\033[2Jb \xff word\nnew line 你好你好你好你好你好你好你好你好 end");
	for (int i = 0; i < 60; i++)
		dialog_add_textf(dialog, "line %d", i);
	dialog_add_field(dialog, "a label that is rather long for such a box", "v");
	dialog_add_button(dialog, "&OK");
	for (int cols = 1; cols < 90; cols += 3)
		for (int rows = 1; rows < 30; rows += 2)
			expect(dialog, cols, rows, NULL);
	dialog_free(dialog);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buttons),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_the_picture),
		cmocka_unit_test(test_hostile_text_and_any_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
