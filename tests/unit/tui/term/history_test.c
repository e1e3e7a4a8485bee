// SPDX-License-Identifier: Apache-2.0
/* Scrollback, re-flow, anchors and copying. */
#include "tests/unit/tui/term/harness.h"

static struct rig rig;

static int setup(void **state)
{
	(void)state;
	rig_init(&rig, 10, 4, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_deinit(&rig);
	return 0;
}

static const char *all(void)
{
	return rig_lines(&rig, -term_history_rows(rig.t), term_rows(rig.t) - 1);
}

static void test_lines_go_to_the_scrollback(void **state)
{
	(void)state;
	rig_feed(&rig, "1\r\n2\r\n\x1b[31m3\x1b[m\r\n4\r\n5\r\n6\r\n你e\u0301");
	assert_int_equal(term_history_rows(rig.t), 3);
	assert_string_equal(rig_lines(&rig, -3, -1), "1|2|3");
	assert_string_equal(rig_screen(&rig), "4|5|6|你e\u0301");
	assert_int_equal(rig_style(&rig, -1, 0).fg, TERM_COLOR_INDEXED | 1);
	rig_feed(&rig, "\r\n\r\n\r\n\r\n");
	assert_string_equal(rig_lines(&rig, -1, -1), "你e\u0301");
	assert_int_equal(term_cell_width(rig_cell(&rig, -1, 0)), 2);
	assert_int_equal(term_cell_width(rig_cell(&rig, -1, 1)), 0);
	struct term_cell cells[10];
	assert_int_equal(term_row(rig.t, -8, cells, 10), 0);
	assert_int_equal(term_row(rig.t, 4, cells, 10), 0);
	assert_int_equal(term_row(rig.t, 0, cells, 3), 3);
}

/* The line that is still going on, read row by row, from below and again while it grows and the width changes. */
static void test_an_open_line_is_read_as_it_grows(void **state)
{
	struct str whole, read;
	(void)state;
	str_init(&whole, 1 << 16);
	for (int i = 0; i < 60; i++) {
		char text[24];
		snprintf(text, sizeof text, "%d你a\xcc\x81%s", i, i % 3 ? "b" : "好");
		rig_feed(&rig, text);
		str_add(&whole, text);
		if (i % 20 == 19)
			term_resize(rig.t, i == 39 ? 13 : 7, 4);
		int oldest = -term_history_rows(rig.t);
		for (int line = 3; line >= oldest; line -= 5) /* backwards, which starts anew */
			rig_lines(&rig, line, line);
		str_init(&read, 1 << 16);
		term_copy(rig.t, (struct term_pos){ oldest, 0 },
			(struct term_pos){ term_rows(rig.t) - 1, 20 }, false, &read);
		while (read.n > 0 && read.p[read.n - 1] == '\n')
			read.p[--read.n] = '\0';
		assert_string_equal(read.p, whole.p);
		str_deinit(&read);
	}
	/* taken back onto a taller screen, sealed, and another one begun */
	term_resize(rig.t, 7, 60);
	rig_feed(&rig, "\r\n");
	term_resize(rig.t, 7, 4);
	assert_non_null(strstr(all(), "你"));
	str_deinit(&whole);
}

static void test_deleted_lines_and_regions_do_not(void **state)
{
	(void)state;
	rig_feed(&rig, "1\r\n2\r\n3\r\n4\x1b[H\x1b[2M");
	assert_int_equal(term_history_rows(rig.t), 0);
	rig_feed(&rig, "\x1b[2;4r\x1b[4;1H\n\n");
	assert_int_equal(term_history_rows(rig.t), 0);
	/* a region from the top does: a status line stays below it */
	rig_feed(&rig, "\x1b[1;3r\x1b[3;1H\n");
	assert_int_equal(term_history_rows(rig.t), 1);
}

static void test_the_cap_is_in_bytes(void **state)
{
	(void)state;
	rig_deinit(&rig);
	rig_init(&rig, 80, 24, 100 * 1024);
	char line[80];
	for (int i = 0; i < 20000; i++) {
		snprintf(
			line, sizeof line, "\x1b[3%dmline %d of many, some text\r\n", i % 8, i);
		rig_feed(&rig, line);
		assert_true(term_history_bytes(rig.t) <= 100 * 1024);
	}
	int rows = term_history_rows(rig.t);
	assert_true(rows > 1000 && rows < 3000);
	/* what is left are the newest, without a gap */
	for (int i = 1; i <= rows; i++) {
		snprintf(line, sizeof line, "line %d of many, some text", 20000 - 23 - i);
		assert_string_equal(rig_lines(&rig, -i, -i), line);
	}
}

static void test_no_scrollback_at_all(void **state)
{
	(void)state;
	rig_deinit(&rig);
	rig_init(&rig, 10, 4, 0);
	rig_feed(&rig, "1\r\n2\r\n3\r\n4\r\n5\r\n012345678901234567890123456789\r\n");
	assert_int_equal(term_history_rows(rig.t), 0);
	term_resize(rig.t, 5, 3);
	term_resize(rig.t, 30, 8);
	assert_int_equal(term_history_bytes(rig.t), 0);
}

static void test_clear(void **state)
{
	(void)state;
	rig_feed(&rig, "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[3J");
	assert_int_equal(term_history_rows(rig.t), 0);
	assert_string_equal(rig_screen(&rig), "3|4|5|6");
	/* in the middle of a wrapped line */
	rig_feed(&rig, "\r\n0123456789012345678901234567890123456789abc\x1b[3J");
	assert_int_equal(term_history_rows(rig.t), 0);
	term_resize(rig.t, 20, 4);
	term_history_clear(rig.t);
	assert_int_equal(term_history_rows(rig.t), 0);
}

static void test_reflow_narrower_and_back(void **state)
{
	(void)state;
	rig_feed(&rig, "abcdefghijklmno\r\n12\r\n$ ");
	assert_true(term_line_is_wrapped(rig.t, 0));
	assert_false(term_line_is_wrapped(rig.t, 1));
	term_resize(rig.t, 5, 4);
	assert_string_equal(all(), "abcde|fghij|klmno|12|$");
	rig_expect_cursor(&rig, 3, 2);
	assert_true(term_line_is_wrapped(rig.t, -1));
	assert_true(term_line_is_wrapped(rig.t, 0));
	assert_false(term_line_is_wrapped(rig.t, 1));
	term_resize(rig.t, 20, 4);
	assert_string_equal(all(), "abcdefghijklmno|12|$");
	rig_expect_cursor(&rig, 2, 2);
	rig_feed(&rig, "x");
	assert_string_equal(all(), "abcdefghijklmno|12|$ x");
}

static void test_reflow_of_wide_characters(void **state)
{
	(void)state;
	rig_feed(&rig, "a你好世界b"); /* ten columns */
	term_resize(rig.t, 4, 4);
	assert_string_equal(all(), "a你|好世|界b");
	term_resize(rig.t, 5, 4);
	assert_string_equal(all(), "a你好|世界b");
	rig_expect_cursor(&rig, 1, 4); /* behind it: what comes next wraps */
	term_resize(rig.t, 1, 4);
	term_resize(rig.t, 10, 4);
	assert_int_equal(term_history_rows(rig.t), 0);
}

static void test_coloured_rows_stay_rows(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b[44m\x1b[2Jab\r\ncd");
	term_resize(rig.t, 5, 4);
	assert_string_equal(rig_screen(&rig), "ab|cd");
	assert_int_equal(rig_style(&rig, 0, 4).bg, TERM_COLOR_INDEXED | 4);
	assert_int_equal(term_history_rows(rig.t), 0);
}

/* The column that a wide character leaves is empty only if nothing stood there. */
static void test_text_before_a_wide_one_is_kept(void **state)
{
	(void)state;
	rig_feed(&rig, "012345678X\x1b[1;10H你");
	assert_string_equal(rig_screen(&rig), "012345678X|你");
	term_resize(rig.t, 20, 4);
	assert_string_equal(rig_screen(&rig), "012345678X你");
}

/* Lines taken back from the scrollback are laid out twice. */
static void test_one_column_has_no_second_halves(void **state)
{
	(void)state;
	rig_feed(&rig, "你好\r\n1\r\n2\r\n3\r\n世");
	assert_int_equal(term_history_rows(rig.t), 1);
	term_resize(rig.t, 1, 20);
	assert_int_equal(term_history_rows(rig.t), 0);
	assert_string_equal(all(), "\uFFFD|\uFFFD|1|2|3|\uFFFD");
}

static void test_a_pending_wrap_survives(void **state)
{
	(void)state;
	rig_feed(&rig, "0123456789");
	rig_expect_cursor(&rig, 0, 9);
	term_resize(rig.t, 12, 4);
	rig_feed(&rig, "x");
	assert_string_equal(rig_screen(&rig), "0123456789x");
	term_resize(rig.t, 11, 4); /* just full: no row is wasted on the cursor */
	rig_expect_cursor(&rig, 0, 10);
	rig_feed(&rig, "y");
	assert_string_equal(rig_screen(&rig), "0123456789x|y");
	rig_feed(&rig, "\r\n0123456789ab");
	term_resize(rig.t, 6, 4);
	rig_feed(&rig, "x");
	assert_string_equal(all(), "012345|6789xy|012345|6789ab|x");
}

static void test_heights(void **state)
{
	(void)state;
	rig_feed(&rig, "1\r\n2\r\n3");
	term_resize(rig.t, 10, 2); /* the empty row goes first, then the top */
	assert_string_equal(rig_lines(&rig, -1, 1), "1|2|3");
	rig_expect_cursor(&rig, 1, 1);
	term_resize(rig.t, 10, 5); /* it comes back */
	assert_int_equal(term_history_rows(rig.t), 0);
	assert_string_equal(rig_screen(&rig), "1|2|3");
	rig_expect_cursor(&rig, 2, 1);
	/* a screen that was not full takes nothing back */
	rig_feed(&rig, "\r\n4\r\n5\r\n6\r\n7\x1b[H\x1b[2J");
	term_resize(rig.t, 10, 8);
	assert_string_equal(rig_screen(&rig), "");
	assert_int_equal(term_history_rows(rig.t), 2);
}

static void test_cursor_stays_visible_when_text_is_below(void **state)
{
	(void)state;
	rig_feed(&rig, "1\r\n2\r\n3\r\n4\x1b[1;1H");
	term_resize(rig.t, 10, 2);
	rig_expect_cursor(&rig, 0, 0);
	assert_string_equal(rig_screen(&rig), "1|2");
}

/* Nothing is lost or doubled by any number of resizes. */
static void test_content_survives_many_resizes(void **state)
{
	(void)state;
	rig_deinit(&rig);
	rig_init(&rig, 80, 24, 8 << 20);
	struct str expected;
	str_init(&expected, 1 << 22);
	unsigned seed = 7;
	for (int i = 0; i < 400; i++) {
		seed = seed * 1103515245u + 12345u;
		int n = (int)(seed >> 16) % 300;
		for (int c = 0; c < n; c++) {
			const char *text = c % 17 == 3 ? "世" : c % 29 == 5 ? "e\u0301" : "x";
			str_add(&expected, text);
			rig_feed(&rig, text);
		}
		str_addf(&expected, "%d.\n", i);
		char end[16];
		snprintf(end, sizeof end, "%d.\r\n", i);
		rig_feed(&rig, end);
		if (i % 7 == 0)
			term_resize(
				rig.t, 2 + (int)(seed >> 8) % 150, 1 + (int)(seed >> 12) % 60);
	}
	for (int pass = 0; pass < 2; pass++) {
		struct str text;
		str_init(&text, 1 << 22);
		term_copy(rig.t, (struct term_pos){ -term_history_rows(rig.t), 0 },
			(struct term_pos){ term_rows(rig.t) - 1, term_cols(rig.t) - 1 }, false,
			&text);
		while (text.n > 0 && text.p[text.n - 1] == '\n')
			text.p[--text.n] = '\0';
		expected.p[expected.n - 1] = '\0';
		size_t same = 0;
		while (same < text.n && text.p[same] == expected.p[same])
			same++;
		if (same < expected.n - 1)
			print_error("%zu of %zu: \"%.60s\" \"%.60s\"\n", same, expected.n,
				text.p + same, expected.p + same);
		assert_int_equal(same, strlen(expected.p));
		str_deinit(&text);
		term_resize(rig.t, 33, 11);
	}
	str_deinit(&expected);
}

static void test_long_lines_are_cut_not_lost(void **state)
{
	(void)state;
	rig_deinit(&rig);
	rig_init(&rig, 80, 24, 4 << 20);
	for (int i = 0; i < 20000; i++)
		rig_feed(&rig, "0123456789");
	term_resize(rig.t, 100, 30);
	assert_int_equal(term_history_rows(rig.t) + 30 >= 2000, 1);
	struct str text;
	str_init(&text, 1 << 22);
	term_copy(rig.t, (struct term_pos){ -term_history_rows(rig.t), 0 },
		(struct term_pos){ 29, 99 }, false, &text);
	assert_int_equal(text.n, 200000);
	for (size_t i = 0; i < text.n; i++)
		assert_int_equal(text.p[i], '0' + (char)(i % 10));
	str_deinit(&text);
}

static void expect_copy(int l1, int c1, int l2, int c2, bool rectangle, const char *want)
{
	struct str text;
	str_init(&text, 1 << 16);
	term_copy(rig.t, (struct term_pos){ l1, c1 }, (struct term_pos){ l2, c2 }, rectangle,
		&text);
	assert_string_equal(text.p, want);
	str_deinit(&text);
}

static void test_copy(void **state)
{
	(void)state;
	rig_feed(&rig, "abcdefghijklm  \r\n\r\n你 x\r\ny");
	assert_int_equal(term_history_rows(rig.t), 1);
	expect_copy(-1, 0, 3, 9, false, "abcdefghijklm\n\n你 x\ny");
	expect_copy(-1, 8, 0, 1, false, "ijkl");
	expect_copy(0, 1, -1, 8, false, "ijkl"); /* the other way round */
	expect_copy(-1, 1, 0, 2, true, "bc\nlm");
	expect_copy(2, 0, 2, 0, false, "你");
	expect_copy(-99, -5, 99, 99, false, "abcdefghijklm\n\n你 x\ny");
	expect_copy(9, 0, 12, 0, false, "");
	/* the hole that a wide character left at the end of a row */
	rig_feed(&rig, "\x1b[H\x1b[2J\x1b[3J123456789你x");
	expect_copy(0, 0, 1, 9, false, "123456789你x");
}

static void test_anchors_follow_their_content(void **state)
{
	(void)state;
	int line;
	int col;
	rig_feed(&rig, "zero\r\nabcdefghijKLMNO\r\nlast");
	struct term_marker k = term_marker_at(rig.t, 2, 1); /* the L */
	struct term_marker zero = term_marker_at(rig.t, 0, 2);
	for (int i = 0; i < 5; i++)
		rig_feed(&rig, "\r\nmore");
	assert_true(term_marker_line(rig.t, k, &line, &col));
	assert_int_equal(line, -3);
	assert_int_equal(col, 1);
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, line, col)), 'L');
	term_resize(rig.t, 4, 6);
	assert_true(term_marker_line(rig.t, k, &line, &col));
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, line, col)), 'L');
	assert_true(term_marker_line(rig.t, zero, &line, &col));
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, line, col)), 'r');
	struct term_marker again = term_marker_at(rig.t, line, col);
	assert_int_equal(again.line_id, zero.line_id);
	assert_int_equal(again.cell, zero.cell);
	term_history_clear(rig.t);
	assert_false(term_marker_line(rig.t, zero, &line, &col));
}

static void test_marks_go_along(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b]133;A\a$ \r\nout\r\n\x1b]133;A\a$ \r\n\r\n\r\n\r\n\r\n");
	int found = 0;
	for (int line = -term_history_rows(rig.t); line < 4; line++)
		found += term_line_marks(rig.t, line) == 1;
	assert_int_equal(found, 2);
	term_resize(rig.t, 1, 3);
	found = 0;
	for (int line = -term_history_rows(rig.t); line < 3; line++)
		found += term_line_marks(rig.t, line) == 1;
	assert_int_equal(found, 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_lines_go_to_the_scrollback),
		CASE(test_an_open_line_is_read_as_it_grows),
		CASE(test_deleted_lines_and_regions_do_not),
		CASE(test_the_cap_is_in_bytes),
		CASE(test_no_scrollback_at_all),
		CASE(test_clear),
		CASE(test_reflow_narrower_and_back),
		CASE(test_reflow_of_wide_characters),
		CASE(test_one_column_has_no_second_halves),
		CASE(test_a_pending_wrap_survives),
		CASE(test_coloured_rows_stay_rows),
		CASE(test_text_before_a_wide_one_is_kept),
		CASE(test_heights),
		CASE(test_cursor_stays_visible_when_text_is_below),
		CASE(test_content_survives_many_resizes),
		CASE(test_long_lines_are_cut_not_lost),
		CASE(test_copy),
		CASE(test_anchors_follow_their_content),
		CASE(test_marks_go_along),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
