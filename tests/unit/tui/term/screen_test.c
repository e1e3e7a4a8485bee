// SPDX-License-Identifier: Apache-2.0
/* Cells, styles, damage, modes, strings and their limits, synchronized output, resize of what is on the
 * screen. */
#include "tests/unit/tui/term/harness.h"

#include "engine/base/clock.h"

static struct rig rig;

static int setup(void **state)
{
	(void)state;
	rig_init(&rig, 20, 6, 1 << 16);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_deinit(&rig);
	clock_set_for_tests(-1, -1);
	return 0;
}

static void test_wide_and_combining_cells(void **state)
{
	(void)state;
	char text[TERM_CELL_TEXT_BYTES];
	rig_feed(&rig, "a你e\u0301\u0323z");
	assert_int_equal(term_cell_width(rig_cell(&rig, 0, 0)), 1);
	assert_int_equal(term_cell_width(rig_cell(&rig, 0, 1)), 2);
	assert_int_equal(term_cell_width(rig_cell(&rig, 0, 2)), 0);
	assert_int_equal(term_cell_text(rig.t, rig_cell(&rig, 0, 2), text), 0);
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, 0, 1)), 0x4f60);
	term_cell_text(rig.t, rig_cell(&rig, 0, 3), text);
	assert_string_equal(text, "e\u0301\u0323");
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, 0, 3)), 'e');
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, 0, 9)), ' ');
}

static void test_many_marks_stay_within_a_cell(void **state)
{
	(void)state;
	char text[TERM_CELL_TEXT_BYTES];
	rig_feed(&rig, "x");
	for (int i = 0; i < 1000; i++)
		rig_feed(&rig, "\u0301");
	rig_feed(&rig, "y");
	assert_true(term_cell_text(rig.t, rig_cell(&rig, 0, 0), text) < sizeof text);
	assert_int_equal(term_cell_base(rig.t, rig_cell(&rig, 0, 1)), 'y');
}

static void test_colours_and_attributes(void **state)
{
	(void)state;
	rig_feed(&rig,
		"\x1b[1;4;31mA\x1b[0;38;5;200;48;5;16mB\x1b[m\x1b[38;2;1;2;3mC\x1b[38:2::9:8:7m"
		"D\x1b[0;97;100mE\x1b[7;8;9;2;3;5;53mF\x1b[0;4:3;58:2::1:1:1mG\x1b[38;5;256mH");
	struct term_style s = rig_style(&rig, 0, 0);
	assert_int_equal(s.fg, TERM_COLOR_INDEXED | 1);
	assert_int_equal(s.bg, TERM_COLOR_DEFAULT);
	assert_int_equal(s.attrs, TERM_ATTR_BOLD);
	assert_int_equal(s.underline, TERM_UNDERLINE_SINGLE);
	s = rig_style(&rig, 0, 1);
	assert_int_equal(s.fg, TERM_COLOR_INDEXED | 200);
	assert_int_equal(s.bg, TERM_COLOR_INDEXED | 16);
	assert_int_equal(s.attrs, 0);
	assert_int_equal(rig_style(&rig, 0, 2).fg, TERM_COLOR_RGB | 0x010203);
	assert_int_equal(rig_style(&rig, 0, 3).fg, TERM_COLOR_RGB | 0x090807);
	s = rig_style(&rig, 0, 4);
	assert_int_equal(s.fg, TERM_COLOR_INDEXED | 15);
	assert_int_equal(s.bg, TERM_COLOR_INDEXED | 8);
	s = rig_style(&rig, 0, 5);
	assert_int_equal(s.attrs, TERM_ATTR_REVERSE | TERM_ATTR_CONCEAL | TERM_ATTR_STRIKE |
					  TERM_ATTR_FAINT | TERM_ATTR_ITALIC | TERM_ATTR_BLINK |
					  TERM_ATTR_OVERLINE);
	s = rig_style(&rig, 0, 6);
	assert_int_equal(s.underline, TERM_UNDERLINE_CURLY);
	assert_int_equal(s.underline_color, TERM_COLOR_RGB | 0x010101);
	assert_int_equal(rig_style(&rig, 0, 7).fg, TERM_COLOR_DEFAULT);
	assert_int_equal(rig_style(&rig, 0, 15).fg, TERM_COLOR_DEFAULT);
}

static void test_erasing_keeps_the_background_colour(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b[31;44mab\x1b[K\r\n\x1b[2L");
	assert_int_equal(rig_style(&rig, 0, 19).bg, TERM_COLOR_INDEXED | 4);
	assert_int_equal(rig_style(&rig, 0, 19).fg, TERM_COLOR_DEFAULT);
	assert_int_equal(rig_style(&rig, 1, 0).bg, TERM_COLOR_INDEXED | 4);
}

/* More styles than the table holds at once come and go; what is shown stays right. */
static void test_styles_are_recycled(void **state)
{
	(void)state;
	char text[64];
	for (int i = 0; i < 200000; i++) {
		snprintf(text, sizeof text, "\x1b[H\x1b[38;2;%d;%d;%dmx", i & 255, i >> 8 & 255,
			i >> 16);
		rig_feed(&rig, text);
	}
	assert_int_equal(rig_style(&rig, 0, 0).fg, TERM_COLOR_RGB | (199999 & 255) << 16 |
							   (199999 >> 8 & 255) << 8 |
							   199999 >> 16);
}

static void test_damage_names_the_rows(void **state)
{
	(void)state;
	rig_feed(&rig, "one\r\ntwo\r\nthree");
	uint64_t seen = term_revision(rig.t);
	int damages = rig.damages;
	rig_feed(&rig, "\x1b[2;1HTWO");
	assert_int_equal(rig.damages, damages + 1);
	assert_false(term_row_changed(rig.t, 0, seen));
	assert_true(term_row_changed(rig.t, 1, seen));
	assert_false(term_row_changed(rig.t, 2, seen));
	seen = term_revision(rig.t);
	rig_feed(&rig, "\x1b[3;5r\x1b[5;1H\n");
	assert_false(term_row_changed(rig.t, 1, seen));
	assert_true(term_row_changed(rig.t, 2, seen));
	assert_true(term_row_changed(rig.t, 4, seen));
	assert_false(term_row_changed(rig.t, 5, seen));
	seen = term_revision(rig.t);
	damages = rig.damages;
	rig_feed(&rig, "\x1b]1337;nothing\a");
	assert_int_equal(rig.damages, damages);
	rig_feed(&rig, "\x1b[?1049h");
	assert_true(term_row_changed(rig.t, 0, seen));
	assert_false(term_row_changed(rig.t, 6, 0));
	assert_false(term_row_changed(rig.t, -1, 0));
}

static void test_alternate_screen_gives_the_main_one_back(void **state)
{
	(void)state;
	struct term_modes modes;
	rig_feed(&rig, "main\r\n\x1b[31mred");
	rig_feed(&rig, "\x1b[?1049h\x1b[0;2H\x1b[32mvim\x1b[2;4r");
	term_get_modes(rig.t, &modes);
	assert_true(modes.alternate_screen);
	assert_string_equal(rig_screen(&rig), " vim");
	for (int i = 0; i < 50; i++)
		rig_feed(&rig, "x\r\n");
	assert_int_equal(term_history_rows(rig.t), 0);
	rig_feed(&rig, "\x1b[?1049l!");
	assert_string_equal(rig_screen(&rig), "main|red!");
	assert_int_equal(rig_style(&rig, 1, 3).fg, TERM_COLOR_INDEXED | 1);
	rig_expect_cursor(&rig, 1, 4);
}

/* A user resizes inside vim and leaves it: the cursor comes back where the text is. */
static void test_resize_on_the_alternate_screen(void **state)
{
	(void)state;
	rig_feed(&rig, "0123456789abcdefghijKLM\r\n$ vim\x1b[?1049h\x1b[6;20Hx");
	term_resize(rig.t, 10, 4);
	rig_feed(&rig, "\x1b[4;10Hy\x1b[?1049l!");
	assert_string_equal(rig_screen(&rig), "0123456789|abcdefghij|KLM|$ vim!");
	rig_expect_cursor(&rig, 3, 6);
	rig_feed(&rig, "\x1b[?1049h");
	term_resize(rig.t, 30, 8);
	rig_feed(&rig, "\x1b[?1049l?");
	assert_string_equal(rig_screen(&rig), "0123456789abcdefghijKLM|$ vim!?");
}

/* Each of these makes a bare libvterm 0.1.4 write outside its memory. */
static void test_shrinking_below_saved_cursor_region_and_margins(void **state)
{
	(void)state;
	static const char *const saves[] = { "\x1b[6;20H\0337", "\x1b[6;20H\x1b[s",
		"\x1b[6;20H\x1b[?1048h" };
	static const char *const restores[] = { "\0338", "\x1b[u", "\x1b[?1048l" };
	for (size_t i = 0; i < 3; i++) {
		term_reset(rig.t);
		term_resize(rig.t, 20, 6);
		rig_feed(&rig, saves[i]);
		term_resize(rig.t, 5, 2);
		rig_feed(&rig, restores[i]);
		rig_expect_cursor(&rig, 1, 4);
		rig_feed(&rig, "x\n\ny");
	}
	term_reset(rig.t);
	term_resize(rig.t, 20, 6);
	rig_feed(&rig, "\x1b[3;6r\x1b[?69h\x1b[10;20s\x1b[?6h\x1b[4;11H");
	term_resize(rig.t, 4, 2);
	rig_feed(&rig,
		"abcdef\n\n\x1b[5S\x1b[5T\x1bM\x1bM\x1b[3L\x1b[3M\x1b[2@\x1b[2P\x1b[2'}\x1b[2'~");
	term_resize(rig.t, 1, 1);
	rig_feed(&rig, "你x\n\x1b[5S\x1bM\x1b[9b\t\x1b[Z\x1bH\x1b[g");
	rig_expect_cursor(&rig, 0, 0);
}

static void test_tab_stops_survive_a_resize(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b[3g\x1b[1;5H\x1bH");
	term_resize(rig.t, 30, 6);
	rig_feed(&rig, "\r\tx\ty");
	assert_string_equal(rig_screen(&rig), "    x                   y");
}

static void expect_title(const char *feed, const char *title)
{
	rig_feed(&rig, feed);
	assert_string_equal(term_title(rig.t), title);
}

static void test_the_title_stack(void **state)
{
	(void)state;
	expect_title("\x1b[23t", ""); /* nothing saved: nothing happens */
	expect_title("\x1b]2;shell\a\x1b[22;0;0t\x1b]2;vim\a", "vim");
	expect_title("\x1b[22;2t\x1b]0;deeper\a", "deeper");
	expect_title("\x1b[22;1t\x1b[23;1t", "deeper"); /* the icon's name alone is not kept */
	expect_title("\x1b[23;2t", "vim");
	expect_title("\x1b[23;0;0t", "shell");
	assert_string_equal(rig.title.p, "shell"); /* told like any other */
	expect_title("\x1b[23t", "shell");
	assert_int_equal(rig.output.n, 0); /* never reported */
	for (int i = 0; i < 1000; i++) {   /* bounded: the oldest go */
		char text[64];
		snprintf(text, sizeof text, "\x1b]2;%d\a\x1b[22t", i);
		rig_feed(&rig, text);
	}
	for (int i = 999; i >= 1000 - TERM_TITLES_MAX; i--) {
		char title[16];
		snprintf(title, sizeof title, "%d", i);
		expect_title("\x1b[23t", title);
	}
	expect_title("\x1b]2;last\a\x1b[23t", "last");
	expect_title("\x1b[22t\x1b"
		     "c\x1b[23t",
		"last"); /* a reset empties it */
}

static void test_no_colours_no_answer(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b]10;?\a\x1b]11;?\a");
	assert_int_equal(rig.output.n, 0);
}

static void test_titles_are_cleaned_and_cut(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b]2;a\u202e"
		       "b\x01"
		       "c\a");
	assert_int_equal(rig.titles, 1);
	assert_null(strstr(rig.title.p, "\u202e"));
	assert_non_null(strstr(term_title(rig.t), "<U+202E>"));
	rig_feed(&rig, "\x1b]2;");
	for (int i = 0; i < 1000; i++)
		rig_feed(&rig, "yyy");
	rig_feed(&rig, "\x1b\\");
	assert_int_equal(rig.titles, 2);
	assert_true(strlen(term_title(rig.t)) <= TERM_TITLE_BYTES + 3);
	/* never said back */
	rig_feed(&rig, "\x1b[21t\x1b[20t\x05");
	assert_int_equal(rig.output.n, 0);
	/* the same again is no news */
	rig_feed(&rig, "\x1b]0;z\a\x1b]2;z\a");
	assert_int_equal(rig.titles, 3);
}

static void test_osc_limits(void **state)
{
	(void)state;
	char *big = x_malloc(300001);
	memset(big, 'A', 300000);
	big[300000] = '\0';
	rig_feed(&rig, "\x1b]2;");
	term_feed(rig.t, big, 5000);
	rig_feed(&rig, "\aok");
	assert_int_equal(rig.titles, 0);
	assert_string_equal(rig_screen(&rig), "ok");
	/* as much as fits into 64 KiB is taken … */
	rig_feed(&rig, "\x1b]52;c;");
	term_feed(rig.t, big, 64 * 1024);
	rig_feed(&rig, "\a");
	assert_int_equal(rig.clipboards, 0);
	rig_feed(&rig, "\x1b]52;c;");
	term_feed(rig.t, big, 64 * 1024 - 8);
	rig_feed(&rig, "\x1b\\");
	assert_int_equal(rig.clipboards, 1);
	assert_int_equal(rig.clipboard.n, (64 * 1024 - 8) / 4 * 3);
	/* … and without an end nothing grows */
	rig_feed(&rig, "\x1bP");
	for (int i = 0; i < 20; i++)
		term_feed(rig.t, big, 300000);
	rig_feed(&rig, "\x1b\\!");
	assert_string_equal(rig_screen(&rig), "ok!");
	free(big);
}

static void test_clipboard_is_written_never_read(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b]52;c;aGVsbG8=\a");
	assert_string_equal(rig.clipboard.p, "hello");
	rig_feed(&rig, "\x1b]52;c;?\a\x1b]52;;?\a\x1b]52;c;***\a\x1b]52;c;\a\x1b]52\a");
	assert_int_equal(rig.clipboards, 1);
	assert_int_equal(rig.output.n, 0);
}

static void test_marks_and_directory(void **state)
{
	(void)state;
	rig_feed(&rig,
		"\x1b]133;A\a$ make\x1b]133;B\a\r\n\x1b]133;C;x=1\aout\r\n\x1b]133;D;2\a");
	assert_int_equal(term_line_marks(rig.t, 0), 1 << 0 | 1 << 1);
	assert_int_equal(term_line_marks(rig.t, 1), 1 << 2);
	assert_int_equal(rig.mark, 'D');
	assert_int_equal(rig.mark_status, 2);
	rig_feed(&rig, "\x1b]133;Z\a\x1b]133;\a\x1b]133;D;999999999999999\a");
	assert_true(rig.mark_status >= 1000);
	rig_feed(&rig, "\x1b]7;file://box/home/a%20b%1b[31m\a");
	assert_non_null(strstr(term_cwd(rig.t), "/home/a b^["));
	rig_feed(&rig, "\x1b]7;http://box/etc\a");
	assert_non_null(strstr(term_cwd(rig.t), "/home"));
}

static void test_synchronized_output_ends_by_itself(void **state)
{
	(void)state;
	int64_t ms = 1000000;
	clock_set_for_tests(ms * 1000, 1);
	int64_t now = clock_mono_ms();
	assert_false(term_sync_active(rig.t, now));
	rig_feed(&rig, "\x1b[?2026h");
	assert_true(term_sync_active(rig.t, now));
	assert_int_equal(term_sync_left_ms(rig.t, now), TERM_SYNC_TIMEOUT_MS);
	assert_int_equal(term_sync_left_ms(rig.t, now + 100), TERM_SYNC_TIMEOUT_MS - 100);
	/* asking again does not make it longer */
	clock_set_for_tests((now + 100) * 1000000, 1);
	rig_feed(&rig, "\x1b[?2026h");
	assert_false(term_sync_active(rig.t, now + TERM_SYNC_TIMEOUT_MS));
	clock_set_for_tests((now + 200) * 1000000, 1);
	rig_feed(&rig, "\x1b[?2026h");
	assert_true(term_sync_active(rig.t, now + 201));
	rig_feed(&rig, "\x1b[?2026l");
	assert_false(term_sync_active(rig.t, now + 201));
}

static void test_cursor_look_and_modes(void **state)
{
	(void)state;
	struct term_cursor cursor;
	struct term_modes modes;
	rig_feed(&rig, "\x1b[6 q\x1b[?25l\x1b[?1003;1006;1004;2004;1;5h\x1b=\x1b[4h");
	term_get_cursor(rig.t, &cursor);
	assert_false(cursor.visible);
	assert_false(cursor.blink);
	assert_int_equal(cursor.shape, TERM_CURSOR_BAR);
	term_get_modes(rig.t, &modes);
	assert_int_equal(modes.mouse, TERM_MOUSE_MOTION);
	assert_true(modes.mouse_sgr && modes.focus_reports && modes.bracketed_paste);
	assert_true(modes.app_cursor && modes.app_keypad && modes.reverse_screen);
	assert_true(modes.insert && modes.autowrap);
	rig_feed(&rig, "\x1b"
		       "c");
	term_get_cursor(rig.t, &cursor);
	assert_true(cursor.visible);
	assert_int_equal(cursor.shape, TERM_CURSOR_BLOCK);
	term_get_modes(rig.t, &modes);
	assert_int_equal(modes.mouse, TERM_MOUSE_OFF);
	assert_false(modes.app_cursor || modes.reverse_screen || modes.bracketed_paste);
}

static void test_bells_are_counted_once_a_feed(void **state)
{
	(void)state;
	rig_feed(&rig, "\a\a\a");
	rig_feed(&rig, "x\a");
	assert_int_equal(rig.bells, 2);
}

static void test_replies_are_limited(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++) {
		char queries[4096];
		for (size_t at = 0; at < sizeof queries; at += 4)
			memcpy(queries + at, "\x1b[6n", 4);
		size_t before = rig.output.n;
		term_feed(rig.t, queries, sizeof queries);
		assert_true(rig.output.n - before <= TERM_REPLY_BYTES);
	}
}

static void test_sizes_are_brought_into_limits(void **state)
{
	(void)state;
	term_resize(rig.t, 0, -5);
	assert_int_equal(term_cols(rig.t), TERM_COLS_MIN);
	assert_int_equal(term_rows(rig.t), TERM_ROWS_MIN);
	term_resize(rig.t, 1 << 30, 1 << 30);
	assert_int_equal(term_cols(rig.t), TERM_COLS_MAX);
	assert_int_equal(term_rows(rig.t), TERM_ROWS_MAX);
	rig_feed(&rig, "\x1b[99999;99999Hx");
	rig_expect_cursor(&rig, TERM_ROWS_MAX - 1, TERM_COLS_MAX - 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_wide_and_combining_cells),
		CASE(test_the_title_stack),
		CASE(test_no_colours_no_answer),
		CASE(test_many_marks_stay_within_a_cell),
		CASE(test_colours_and_attributes),
		CASE(test_erasing_keeps_the_background_colour),
		CASE(test_styles_are_recycled),
		CASE(test_damage_names_the_rows),
		CASE(test_alternate_screen_gives_the_main_one_back),
		CASE(test_resize_on_the_alternate_screen),
		CASE(test_shrinking_below_saved_cursor_region_and_margins),
		CASE(test_tab_stops_survive_a_resize),
		CASE(test_titles_are_cleaned_and_cut),
		CASE(test_osc_limits),
		CASE(test_clipboard_is_written_never_read),
		CASE(test_marks_and_directory),
		CASE(test_synchronized_output_ends_by_itself),
		CASE(test_cursor_look_and_modes),
		CASE(test_bells_are_counted_once_a_feed),
		CASE(test_replies_are_limited),
		CASE(test_sizes_are_brought_into_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
