// SPDX-License-Identifier: Apache-2.0
// Dialogs: what they draw, what keys and mouse do in them, and that each answers once.
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "tui/widgets/dialog.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer, n_answers;
static char value[64];

static void on_done(void *arg, struct widget_dialog *dialog, int button)
{
	(void)arg;
	answer = button;
	n_answers++;
	if (arg)
		snprintf(value, sizeof value, "%s", widget_dialog_field(dialog, 0));
}

static void press(struct widget_dialog *dialog, const char *keys)
{
	char name[32];
	while (*keys) {
		struct draw_key key;
		size_t n = strcspn(keys, " ");
		snprintf(name, sizeof name, "%.*s", (int)n, keys);
		keys += n + (keys[n] == ' ');
		assert_true(draw_key_parse(name, &key));
		if (widget_dialog_key(dialog, &key)) {
			widget_dialog_answer(dialog);
			assert_int_equal(*keys, 0);
		}
	}
}

static struct widget_dialog *confirm(void)
{
	struct widget_dialog *dialog = widget_dialog_new("Delete?", on_done, NULL, NULL);
	widget_dialog_add_text(dialog, "Everything is lost.");
	widget_dialog_add_button(dialog, "&Delete");
	widget_dialog_add_button(dialog, "&Cancel");
	widget_dialog_focus_button(dialog, 1);
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
		struct widget_dialog *dialog = confirm();
		press(dialog, cases[i].keys);
		assert_int_equal(n_answers, 1);
		if (answer != cases[i].want)
			fail_msg("%s gave %d", cases[i].keys, answer);
		widget_dialog_free(dialog);
	}
}

static void test_fields(void **state)
{
	(void)state;
	struct widget_dialog *dialog = widget_dialog_new("Name", on_done, value, NULL);
	widget_dialog_add_field(dialog, "name", "old");
	widget_dialog_add_switch(dialog, "all", false);
	widget_dialog_add_button(dialog, "&OK");
	widget_dialog_add_button(dialog, "&Cancel");
	n_answers = 0;
	press(dialog, "ctrl-u c o space é backspace tab space enter");
	assert_int_equal(n_answers, 1);
	assert_int_equal(answer, 0);
	assert_string_equal(value, "co ");
	assert_true(widget_dialog_switch(dialog, 1));
	widget_dialog_free(dialog);
}

static void expect(struct widget_dialog *dialog, int cols, int rows, const char *want)
{
	struct draw_surface *s = draw_surface_new(cols, rows);
	struct draw_theme theme;
	struct str text;
	draw_theme_builtin(&theme);
	str_init(&text, 1 << 16);
	widget_dialog_draw(dialog, draw_region_whole(s), &theme);
	draw_surface_text(s, &text);
	if (want)
		assert_string_equal(text.p, want);
	str_deinit(&text);
	draw_surface_free(s);
}

static void test_the_picture(void **state)
{
	(void)state;
	struct widget_dialog *dialog = confirm();
	expect(dialog, 40, 9,
		"\n\n"
		"       ╭ Delete? ──────────────╮\n"
		"       │ Everything is lost.   │\n"
		"       │                       │\n"
		"       │   Delete   [ Cancel ] │\n"
		"       ╰───────────────────────╯\n"
		"\n\n");
	struct draw_mouse mouse = { .action = MOUSE_PRESS, .button = 1, .col = 12, .row = 5 };
	assert_true(widget_dialog_mouse(dialog, &mouse));
	widget_dialog_answer(dialog);
	assert_int_equal(answer, 0);
	mouse.row = 3;
	assert_false(widget_dialog_mouse(dialog, &mouse));
	widget_dialog_free(dialog);
}

static void test_hostile_text_and_any_size(void **state)
{
	(void)state;
	struct widget_dialog *dialog =
		widget_dialog_new("\033]0;x\a title", on_done, NULL, NULL);
	widget_dialog_add_text(
		dialog, "a\033[2Jb \xff word\nnew line 你好你好你好你好你好你好你好你好 end");
	for (int i = 0; i < 60; i++)
		widget_dialog_add_textf(dialog, "line %d", i);
	widget_dialog_add_field(dialog, "a label that is rather long for such a box", "v");
	widget_dialog_add_button(dialog, "&OK");
	for (int cols = 1; cols < 90; cols += 3)
		for (int rows = 1; rows < 30; rows += 2)
			expect(dialog, cols, rows, NULL);
	widget_dialog_free(dialog);
}

/* Letters that are taken go to the next one that is free, so that no letter is for two. */
static void test_no_two_buttons_share_a_letter(void **state)
{
	static const struct {
		const char *labels[DIALOG_BUTTONS_MAX];
		const char *letters; /* in order; '-' none */
	} cases[] = {
		{ { "&Once", "&Always", "N&o", "&Never" }, "oane" },
		{ { "&Overwrite", "&Skip", "&Keep both", "S&top" }, "oskt" },
		{ { "&Aa", "&Aa", "&Ab" }, "a-b" },
		{ { "&é", "plain", "&OK" }, "--o" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int k = 0; cases[i].letters[k]; k++) {
			struct widget_dialog *dialog =
				widget_dialog_new("?", on_done, NULL, NULL);
			for (int n = 0; cases[i].labels[n]; n++)
				widget_dialog_add_button(dialog, cases[i].labels[n]);
			char letter[2] = { cases[i].letters[k], 0 };
			n_answers = 0;
			if (*letter != '-') {
				press(dialog, letter);
				assert_int_equal(n_answers, 1);
				assert_int_equal(answer, k);
			}
			widget_dialog_free(dialog);
		}
}

static void test_a_name_cannot_write_lines_of_the_question(void **state)
{
	(void)state;
	struct widget_dialog *dialog = confirm();
	widget_dialog_add_textf(dialog, "  %s", "a\nNothing is lost.\r\n");
	expect(dialog, 60, 11,
		"\n\n"
		"               ╭ Delete? ──────────────────╮\n"
		"               │ Everything is lost.       │\n"
		"               │   a^JNothing is lost.^M^J │\n"
		"               │                           │\n"
		"               │       Delete   [ Cancel ] │\n"
		"               ╰───────────────────────────╯\n"
		"\n\n\n");
	/* nor push them out by its length */
	char *name = malloc(40000);
	memset(name, 'x', 39999);
	name[39999] = 0;
	widget_dialog_add_text(dialog, name);
	widget_dialog_add_text(dialog, "The last line.");
	struct draw_surface *s = draw_surface_new(80, 60);
	struct draw_theme theme;
	struct str text;
	draw_theme_builtin(&theme);
	str_init(&text, 1 << 16);
	widget_dialog_draw(dialog, draw_region_whole(s), &theme);
	draw_surface_text(s, &text);
	assert_non_null(strstr(text.p, "The last line."));
	str_deinit(&text);
	draw_surface_free(s);
	free(name);
	widget_dialog_free(dialog);
}

static void test_scrolled_to_the_end_and_then_taller(void **state)
{
	(void)state;
	struct widget_dialog *dialog = widget_dialog_new("Long", on_done, NULL, NULL);
	for (int i = 1; i <= 9; i++)
		widget_dialog_add_textf(dialog, "line %d", i);
	widget_dialog_add_button(dialog, "&OK");
	expect(dialog, 20, 8, NULL); /* four rows of text */
	for (int i = 0; i < 20; i++)
		press(dialog, "down");
	expect(dialog, 20, 8,
		"    ╭ Long ────╮\n"
		"    │ line 6   │\n"
		"    │ line 7   │\n"
		"    │ line 8   │\n"
		"    │ line 9   │\n"
		"    │          │\n"
		"    │   [ OK ] │\n"
		"    ╰──────────╯\n");
	expect(dialog, 20, 10,
		"    ╭ Long ────╮\n"
		"    │ line 4   │\n"
		"    │ line 5   │\n"
		"    │ line 6   │\n"
		"    │ line 7   │\n"
		"    │ line 8   │\n"
		"    │ line 9   │\n"
		"    │          │\n"
		"    │   [ OK ] │\n"
		"    ╰──────────╯\n");
	expect(dialog, 20, 14, NULL); /* all of them fit */
	press(dialog, "up");
	struct draw_mouse wheel = { .action = MOUSE_WHEEL_UP };
	widget_dialog_mouse(dialog, &wheel);
	expect(dialog, 20, 8,
		"    ╭ Long ────╮\n"
		"    │ line 1   │\n"
		"    │ line 2   │\n"
		"    │ line 3   │\n"
		"    │ line 4 ↓ │\n"
		"    │          │\n"
		"    │   [ OK ] │\n"
		"    ╰──────────╯\n");
	widget_dialog_free(dialog);
}

static bool is_number(void *arg, struct widget_dialog *dialog, int *field, struct err *err)
{
	(void)arg;
	*field = 1;
	if (strcmp(widget_dialog_field(dialog, 1), "7") == 0)
		return true;
	return err_set(
		err, ERR_ARG_INVALID, "'%s' is no number", widget_dialog_field(dialog, 1));
}

static void test_a_form_that_fails_keeps_its_contents(void **state)
{
	(void)state;
	struct widget_dialog *dialog = widget_dialog_new("Form", on_done, value, NULL);
	widget_dialog_add_field(dialog, "name", "");
	widget_dialog_add_field(dialog, "count", "");
	widget_dialog_add_button(dialog, "&OK");
	widget_dialog_set_check(dialog, is_number);
	n_answers = 0;
	press(dialog, "m e tab x enter");
	assert_int_equal(n_answers, 0);
	expect(dialog, 40, 10,
		"\n"
		"  ╭ Form ────────────────────────────╮\n"
		"  │ name  me                         │\n"
		"  │ count x                          │\n"
		"  │   ! 'x' is no number             │\n"
		"  │                                  │\n"
		"  │                                  │\n"
		"  │                             OK   │\n"
		"  ╰──────────────────────────────────╯\n"
		"\n");
	press(dialog, "ctrl-u 7 enter"); /* the field at fault has the focus */
	assert_int_equal(n_answers, 1);
	assert_string_equal(value, "me");
	widget_dialog_free(dialog);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buttons),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_the_picture),
		cmocka_unit_test(test_hostile_text_and_any_size),
		cmocka_unit_test(test_no_two_buttons_share_a_letter),
		cmocka_unit_test(test_a_name_cannot_write_lines_of_the_question),
		cmocka_unit_test(test_scrolled_to_the_end_and_then_taller),
		cmocka_unit_test(test_a_form_that_fails_keeps_its_contents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
