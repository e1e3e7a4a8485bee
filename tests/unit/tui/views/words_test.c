// SPDX-License-Identifier: Apache-2.0
/* The line that is edited, moving by a word, text over several rows. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "tui/widgets/cursor_motion.h"
#include "tui/widgets/edit.h"
#include "tui/widgets/wrap.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- the line */

/* Keys by name, blanks between them; each must be used. */
static void press(struct widget_edit *edit, const char *keys)
{
	while (*keys) {
		char name[32];
		struct draw_key key;
		size_t n = strcspn(keys, " ");
		snprintf(name, sizeof name, "%.*s", (int)n, keys);
		if (!draw_key_parse(name, &key))
			fail_msg("'%s' is no key", name);
		if (!widget_edit_key(edit, &key))
			fail_msg("'%s' is not used", name);
		keys += n + (keys[n] == ' ');
	}
}

static void keys_of_a_line(void **state)
{
	static const struct {
		const char *text, *keys, *is;
		size_t at;
	} rows[] = {
		{ "", "a b", "ab", 2 },
		{ "ab", "", "ab", 2 },
		{ "ab", "left x", "axb", 2 },
		{ "ab", "ctrl-b x", "axb", 2 },
		{ "ab", "left left left x", "xab", 1 },
		{ "ab", "home right x", "axb", 2 },
		{ "ab", "ctrl-a ctrl-f x", "axb", 2 },
		{ "ab", "right x", "abx", 3 },
		{ "ab", "home end x", "abx", 3 },
		{ "ab", "ctrl-a ctrl-e x", "abx", 3 },
		{ "ab", "backspace", "a", 1 },
		{ "ab", "ctrl-h backspace backspace", "", 0 },
		{ "ab", "home backspace", "ab", 0 },
		{ "ab", "home delete", "b", 0 },
		{ "ab", "delete", "ab", 2 },
		{ "abc", "left ctrl-u", "c", 0 },
		{ "abc", "left ctrl-k", "ab", 2 },
		{ "", "ctrl-u ctrl-k ctrl-w backspace delete left right home end", "", 0 },
		{ "one two", "ctrl-w", "one ", 4 },
		{ "one two  ", "ctrl-w", "one ", 4 },
		{ "one two", "ctrl-w ctrl-w ctrl-w", "", 0 },
		{ "one two", "left ctrl-w", "one o", 4 },
		/* characters of two and four bytes */
		{ "a\xc3\xbc", "left x", "ax\xc3\xbc", 2 },
		{ "a\xc3\xbc", "backspace", "a", 1 },
		{ "\xc3\xbc"
		  "a",
			"home right x", "\xc3\xbcxa", 3 },
		{ "\xf0\x9f\x98\x80"
		  "a",
			"home delete", "a", 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct widget_edit edit;
		widget_edit_init(&edit, rows[i].text);
		press(&edit, rows[i].keys);
		if (strcmp(edit.text.p, rows[i].is) != 0 || edit.at != rows[i].at)
			fail_msg("'%s', %s: '%s' at %zu", rows[i].text, rows[i].keys,
				edit.text.p, edit.at);
		widget_edit_deinit(&edit);
	}
}

static void keys_that_are_not_of_a_line(void **state)
{
	static const char *const names[] = { "ctrl-x", "alt-a", "up", "down", "enter", "esc",
		"tab", "F1" };
	(void)state;
	struct widget_edit edit;
	widget_edit_init(&edit, NULL);
	widget_edit_set(&edit, "ab");
	for (size_t i = 0; i < COUNT(names); i++) {
		struct draw_key key;
		if (!draw_key_parse(names[i], &key))
			fail_msg("'%s' is no key", names[i]);
		if (widget_edit_key(&edit, &key))
			fail_msg("%s", names[i]);
	}
	const struct draw_key control = { .codepoint = 0x1f }, erase = { .codepoint = 0x7f },
			      blank = { .codepoint = ' ' }, wide = { .codepoint = 0xfc };
	assert_false(widget_edit_key(&edit, &control));
	assert_false(widget_edit_key(&edit, &erase));
	assert_string_equal(edit.text.p, "ab");
	assert_true(widget_edit_key(&edit, &blank));
	assert_true(widget_edit_key(&edit, &wide));
	assert_string_equal(edit.text.p, "ab \xc3\xbc");
	widget_edit_deinit(&edit);
}

static void what_is_pasted_into_a_line(void **state)
{
	static char most[EDIT_BYTES_MAX + 10];
	(void)state;
	struct widget_edit edit;
	widget_edit_init(&edit, "[]");
	edit.at = 1;
	widget_edit_insert(&edit, (struct slice){ "a\r\n\tb\0c", 7 });
	assert_string_equal(edit.text.p, "[a   bc]");
	assert_int_equal(edit.at, 7);
	/* no more than fits, and what was behind stays */
	memset(most, 'x', sizeof most);
	widget_edit_insert(&edit, (struct slice){ most, sizeof most });
	assert_int_equal(edit.text.n, EDIT_BYTES_MAX);
	assert_int_equal(edit.text.p[EDIT_BYTES_MAX - 1], ']');
	assert_int_equal(edit.at, EDIT_BYTES_MAX - 1);
	press(&edit, "y");
	assert_int_equal(edit.text.n, EDIT_BYTES_MAX);
	press(&edit, "backspace y");
	assert_int_equal(edit.text.p[EDIT_BYTES_MAX - 2], 'y');
	widget_edit_deinit(&edit);
}

static void the_part_around_the_cursor_is_drawn(void **state)
{
	static const struct {
		const char *text;
		size_t at;
		int cols;
		const char *shown;
		int cursor;
	} rows[] = {
		{ "", 0, 5, "", 0 },
		{ "abc", 3, 5, "abc", 3 },
		{ "abc", 0, 5, "abc", 0 },
		{ "abcd", 4, 5, "abcd", 4 },
		{ "abcde", 5, 5, "bcde", 4 },
		{ "abcdefgh", 8, 5, "efgh", 4 },
		{ "abcdefgh", 2, 5, "abcd\xe2\x80\xa6", 2 },
		{ "abcdefgh", 4, 5, "abcd\xe2\x80\xa6", 4 },
		{ "abcdefgh", 5, 5, "bcde\xe2\x80\xa6", 4 },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd\xe5\x90\x97", 9, 5, "\xe5\xa5\xbd\xe5\x90\x97", 4 },
		{ "abc", 3, 1, "", 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct widget_edit edit;
		struct str text;
		struct draw_surface *surface = draw_surface_new(12, 1);
		const struct draw_style style = { .attrs = 0 };
		str_init(&text, 1000);
		widget_edit_init(&edit, rows[i].text);
		edit.at = rows[i].at;
		widget_edit_draw(
			&edit, draw_region_whole(surface), 0, 2, rows[i].cols, style, true);
		draw_surface_text(surface, &text);
		const char *shown = text.p + strspn(text.p, " ");
		if (strncmp(shown, rows[i].shown, strlen(rows[i].shown)) != 0 ||
			shown[strlen(rows[i].shown)] != '\n' ||
			draw_surface_cursor_of(surface).col != 2 + rows[i].cursor)
			fail_msg("row %zu: %s at %d", i, text.p,
				draw_surface_cursor_of(surface).col);
		assert_int_equal(draw_surface_cursor_of(surface).shape, CURSOR_BAR);
		draw_surface_free(surface);
		surface = draw_surface_new(12, 1);
		widget_edit_draw(
			&edit, draw_region_whole(surface), 0, 2, rows[i].cols, style, false);
		assert_int_equal(draw_surface_cursor_of(surface).shape, CURSOR_HIDDEN);
		draw_surface_free(surface);
		widget_edit_deinit(&edit);
		str_deinit(&text);
	}
}

/* ---- moving */

static void moving_by_a_word(void **state)
{
	static const struct {
		const char *word;
		int rows_shown;
		size_t from, to;
	} rows[] = { { "up", 10, 0, 0 }, { "up", 10, 1, 0 }, { "up", 10, 5, 4 },
		{ "down", 10, 5, 6 }, { "page-up", 10, 5, 0 }, { "page-up", 10, 9, 0 },
		{ "page-up", 10, 10, 1 }, { "page-down", 10, 5, 14 }, { "page-down", 1, 5, 6 },
		{ "page-down", 0, 5, 6 }, { "page-down", 2, 5, 6 }, { "page-up", 1, 5, 4 },
		{ "page-up", -3, 5, 4 }, { "first", 10, 5, 0 }, { "last", 10, 5, 100 } };
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t at = rows[i].from;
		assert_true(
			widget_cursor_motion(rows[i].word, rows[i].rows_shown, 100, &at, &err));
		if (at != rows[i].to)
			fail_msg("%s from %zu: %zu", rows[i].word, rows[i].from, at);
	}
	size_t at = 7;
	assert_false(widget_cursor_motion("sideways", 10, 100, &at, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	assert_int_equal(at, 7);
}

/* ---- several rows */

static void text_over_several_rows(void **state)
{
	static const struct {
		const char *text;
		int cols;
		const char *rows; /* with '|' between them */
	} rows[] = {
		{ "", 5, "" },
		{ "abc", 5, "abc" },
		{ "abcde", 5, "abcde" },
		{ "abcdef", 5, "abcde|f" },
		{ "ab cd", 5, "ab cd" },
		{ "ab cde", 5, "ab|cde" },
		{ "abcde fgh", 5, "abcde|fgh" },
		{ "abcde  fgh", 5, "abcde| fgh" },
		{ "a b c d e", 5, "a b c|d e" },
		{ "abcdefghijkl", 5, "abcde|fghij|kl" },
		{ "ab\ncd", 5, "ab|cd" },
		{ "ab\n\ncd", 5, "ab||cd" },
		{ "abcde\nf", 5, "abcde|f" },
		{ " abcdef", 5, " abcd|ef" },
		{ "abc", 1, "a|b|c" },
		{ "abc", 0, "a|b|c" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", 3, "\xe4\xbd\xa0|\xe5\xa5\xbd" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", 1, "\xe4\xbd\xa0|\xe5\xa5\xbd" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char is[200] = "";
		struct slice text = slice_of(rows[i].text);
		int n_rows = 0;
		do {
			size_t skip, n = widget_wrap_next(text, rows[i].cols, &skip);
			assert_true(text.n == 0 || n + skip > 0);
			snprintf(is + strlen(is), sizeof is - strlen(is), "%s%.*s",
				n_rows ? "|" : "", (int)n, text.p);
			text.p += n + skip;
			text.n -= n + skip;
			n_rows++;
		} while (text.n > 0);
		if (strcmp(is, rows[i].rows) != 0)
			fail_msg("'%s' in %d: '%s'", rows[i].text, rows[i].cols, is);
		assert_int_equal(
			widget_wrap_rows(slice_of(rows[i].text), rows[i].cols), n_rows);
	}
}

static void folded_text_is_drawn_where_it_fits(void **state)
{
	static const struct {
		int row, col;
		const char *text, *shown;
	} rows[] = {
		{ 0, 0, "ab cd ef", "ab cd|ef|" },
		{ 1, 1, "ab cd", "| ab| cd" },
		{ -1, 0, "ab cd ef", "ef||" },
		{ 2, 0, "ab cd ef", "||ab cd" },
		{ 3, 0, "ab", "||" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct draw_surface *surface = draw_surface_new(5, 3);
		struct str text;
		str_init(&text, 1000);
		const struct draw_style style = { .attrs = 0 };
		int n = widget_wrap_draw(draw_region_whole(surface), rows[i].row, rows[i].col,
			style, slice_of(rows[i].text));
		assert_int_equal(n, widget_wrap_rows(slice_of(rows[i].text), 5 - rows[i].col));
		draw_surface_text(surface, &text);
		if (text.n > 0 && text.p[text.n - 1] == '\n') /* of the last row */
			text.p[--text.n] = '\0';
		for (char *p = text.p; *p; p++)
			if (*p == '\n')
				*p = '|';
		assert_string_equal(text.p, rows[i].shown);
		str_deinit(&text);
		draw_surface_free(surface);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_a_line),
		cmocka_unit_test(keys_that_are_not_of_a_line),
		cmocka_unit_test(what_is_pasted_into_a_line),
		cmocka_unit_test(the_part_around_the_cursor_is_drawn),
		cmocka_unit_test(moving_by_a_word),
		cmocka_unit_test(text_over_several_rows),
		cmocka_unit_test(folded_text_is_drawn_where_it_fits),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
