// SPDX-License-Identifier: Apache-2.0
// Frames as bytes: the first paints, a second one without a change is empty, foreign escapes never come through, colours
// follow what the terminal has, and nothing is left of ncurses' hold on signals.
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "tui/draw/border.h"
#include "tui/draw/screen.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct draw_screen *open_screen(const char *term, const char *colorterm, bool no_color)
{
	struct err err = { 0 };
	struct draw_screen_opts opts = { .term = term,
		.colorterm = colorterm,
		.no_color = no_color,
		.cols = 20,
		.rows = 5 };
	struct draw_screen *screen = draw_screen_new(&opts, &err);
	if (!screen)
		fail_msg("%s: %s", term, err.msg);
	return screen;
}

static void test_only_what_changed_is_sent(void **state)
{
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	struct draw_style plain = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 1 << 20);
	draw_region_text(draw_region_whole(s), 1, 2, 10, plain, "hello");
	draw_screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "hello"));
	str_clear(&out);
	draw_screen_paint(screen, s, &out);
	assert_int_equal(out.n, 0);
	draw_region_text(draw_region_whole(s), 1, 2, 10, plain, "hallo");
	draw_screen_paint(screen, s, &out);
	assert_non_null(strchr(out.p, 'a'));
	assert_true(out.n < 60);
	assert_null(strstr(out.p, "hallo"));
	str_clear(&out);
	draw_screen_repaint(screen);
	draw_screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "hallo"));
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
}

static void test_foreign_escapes_do_not_come_through(void **state)
{
	static const char *const hostile[] = { "\033]52;c;aGk=\a", "\033[31;5m",
		"\xc2\x9b"
		"2J",
		"a\rb\nc\td\be", "\x1b\\",
		"\xe2\x80\xae"
		"evil",
		"\xff\xfe\x80" };
	struct draw_style plain = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
		struct draw_surface *s = draw_surface_new(20, 5);
		struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
		struct str out;
		str_init(&out, 1 << 20);
		draw_region_text(draw_region_whole(s), 0, 0, 20, plain, hostile[i]);
		draw_screen_paint(screen, s, &out);
		assert_null(strstr(out.p, hostile[i]));
		assert_null(strstr(out.p, "\033]52"));
		assert_null(strstr(out.p, "\xc2\x9b"));
		assert_null(strstr(out.p, "\xe2\x80\xae"));
		assert_null(strchr(out.p, '\a'));
		str_deinit(&out);
		draw_screen_free(screen);
		draw_surface_free(s);
	}
}

static void paint_red(
	const char *term, const char *colorterm, bool no_color, int colors, const char *want)
{
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = open_screen(term, colorterm, no_color);
	struct draw_style style = { .fg = DRAW_COLOR_RGB | 0xFF8040 };
	struct str out;
	str_init(&out, 1 << 20);
	assert_int_equal(draw_screen_colors(screen), colors);
	draw_region_text(draw_region_whole(s), 0, 0, 20, style, "x");
	draw_screen_paint(screen, s, &out);
	if (want && !strstr(out.p, want))
		fail_msg("%s: no '%s' in the frame", term, want);
	if (!want)
		assert_null(strstr(out.p, "[3"));
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
}

static void test_colours_follow_the_terminal(void **state)
{
	(void)state;
	paint_red("xterm-256color", NULL, false, 256, "38;5;209m");
	paint_red("xterm-256color", "truecolor", false, 1 << 24, "38;2;255;128;64m");
	paint_red("xterm", NULL, false, 8, "[3");
	paint_red("xterm-256color", "truecolor", true, 0, NULL);
	paint_red("dumb", NULL, false, 0, NULL);
	paint_red("no-such-terminal", NULL, false, 0, NULL);
	paint_red("vt100", NULL, false, 0, NULL);
}

static void test_how_many_colours(void **state)
{
	static const struct {
		const char *term, *colorterm;
		int colors;
	} rows[] = {
		{ "xterm-16color", NULL, 16 },
		{ "xterm-88color", NULL, 16 },
		{ "linux", NULL, 8 },
		{ "vt220", NULL, 0 },
		{ "xterm-direct", NULL, 1 << 24 },
		{ "xterm-256color", "", 256 },
		{ "vt100", "truecolor", 0 }, /* there is no such entry */
		{ "", NULL, 0 },
		{ NULL, "truecolor", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_screen *screen =
			open_screen(rows[i].term, rows[i].colorterm, false);
		if (draw_screen_colors(screen) != rows[i].colors)
			fail_msg("row %zu: %d", i, draw_screen_colors(screen));
		draw_screen_free(screen);
	}
}

static void test_resizes(void **state)
{
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	struct draw_style plain = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 1 << 22);
	static const int sizes[][2] = { { 1, 1 }, { 200, 50 }, { 2, 60 }, { 300, 2 },
		{ 40, 10 } };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		draw_surface_resize(s, sizes[i][0], sizes[i][1]);
		draw_region_text(
			draw_region_whole(s), 0, 0, sizes[i][0], plain, "你好 wide text");
		str_clear(&out);
		draw_screen_paint(screen, s, &out);
		assert_true(out.n > 0);
	}
	assert_non_null(strstr(out.p, "你"));
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
}

static void test_signals_stay_ours(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
	struct sigaction before[4], after;
	(void)state;
	for (int i = 0; i < 4; i++)
		sigaction(numbers[i], NULL, &before[i]);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	for (int i = 0; i < 4; i++) {
		sigaction(numbers[i], NULL, &after);
		assert_true(after.sa_handler == before[i].sa_handler);
	}
	draw_screen_free(screen);
	for (int i = 0; i < 4; i++) {
		sigaction(numbers[i], NULL, &after);
		assert_true(after.sa_handler == before[i].sa_handler);
	}
}

static void test_the_end_undoes_the_beginning(void **state)
{
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	(void)state;
	const char *begin = draw_screen_begin_bytes(screen),
		   *end = draw_screen_end_bytes(screen);
	static const char *const modes[] = { "?1049", "?2004", "?1004" };
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		assert_non_null(strstr(begin, modes[i]));
		assert_non_null(strstr(end, modes[i]));
	}
	assert_non_null(strstr(end, "?1002l"));
	assert_non_null(strstr(end, "?1006l"));
	assert_non_null(strstr(end, "?25h"));
	draw_screen_free(screen);
}

/* ---- what a cell becomes */
static bool has_sgr(const char *frame, int number)
{
	char alone[20], after_reset[20];
	snprintf(alone, sizeof alone, "\033[%dm", number);
	snprintf(after_reset, sizeof after_reset, "\033[0;%dm", number);
	return strstr(frame, alone) != NULL || strstr(frame, after_reset) != NULL;
}

static void test_attributes(void **state)
{
	static const struct {
		uint16_t attrs;
		int sgr;
	} rows[] = { { DRAW_BOLD, 1 }, { DRAW_DIM, 2 }, { DRAW_ITALIC, 3 },
		{ DRAW_UNDERLINE, 4 }, { DRAW_BLINK, 5 }, { DRAW_REVERSE, 7 },
		{ DRAW_CONCEAL, 8 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_surface *s = draw_surface_new(20, 5);
		struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
		struct draw_style style = { .attrs = rows[i].attrs };
		struct str out;
		str_init(&out, 1 << 20);
		draw_region_text(draw_region_whole(s), 0, 0, 20, style, "word");
		draw_screen_paint(screen, s, &out);
		for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
			assert_int_equal(has_sgr(out.p, rows[k].sgr), i == k);
		assert_non_null(strstr(out.p, "word"));
		str_deinit(&out);
		draw_screen_free(screen);
		draw_surface_free(s);
	}
}

static void paint_cell_as(
	const char *term, const char *colorterm, struct draw_style style, const char *want)
{
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = open_screen(term, colorterm, false);
	struct str out;
	str_init(&out, 1 << 20);
	draw_region_text(draw_region_whole(s), 0, 0, 20, style, "x");
	draw_screen_paint(screen, s, &out);
	if (!strstr(out.p, want))
		fail_msg("%s: no '%s' in '%s'", term, want + 1, out.p);
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
}

static void test_colours_to_the_number(void **state)
{
	static const struct {
		const char *term, *colorterm;
		struct draw_style style;
		const char *want;
	} rows[] = {
		{ "xterm-256color", NULL, { DRAW_COLOR_INDEXED | 1, 0, 0 }, "\033[31m" },
		{ "xterm-256color", NULL, { 0, DRAW_COLOR_INDEXED | 2, 0 }, "\033[42m" },
		{ "xterm-256color", NULL, { DRAW_COLOR_INDEXED | 200, 0, 0 }, "38;5;200m" },
		{ "xterm-256color", NULL,
			{ DRAW_COLOR_INDEXED | 3, DRAW_COLOR_INDEXED | 255, 0 }, "48;5;255m" },
		{ "xterm-256color", NULL, { DRAW_COLOR_RGB | 0xFFFFFF, 0, 0 }, "38;5;231m" },
		{ "xterm-256color", "truecolor", { DRAW_COLOR_INDEXED | 1, 0, 0 }, "\033[31m" },
		{ "xterm-256color", "24bit", { 0, DRAW_COLOR_RGB | 0x010203, 0 },
			"48;2;1;2;3m" },
		{ "xterm-256color", "no", { 0, DRAW_COLOR_RGB | 0xFF0000, 0 }, "48;5;196m" },
		{ "xterm-256color", "24bit", { DRAW_COLOR_INDEXED | 200, 0, 0 },
			"38;2;255;0;215m" },
		{ "xterm", NULL, { DRAW_COLOR_RGB | 0xFF0000, 0, 0 }, "\033[31m" },
		{ "xterm", NULL, { DRAW_COLOR_INDEXED | 15, 0, 0 }, "\033[37m" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		paint_cell_as(rows[i].term, rows[i].colorterm, rows[i].style, rows[i].want);
}

/* The darkest blues have the numbers of the palette's colours: each stays a blue, and different from them. */
static void test_ascii_alone(void **state)
{
	static const struct draw_screen_opts opts = {
		.term = "vt100", .is_ascii = true, .cols = 20, .rows = 5
	};
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = draw_screen_new(&opts, NULL);
	struct draw_region all = draw_region_whole(s);
	struct draw_style plain = { 0 };
	struct str out;
	(void)state;
	assert_non_null(screen);
	str_init(&out, 1 << 20);
	struct draw_region in =
		draw_border_box(draw_region_sub(all, 0, 0, 9, 3), plain, plain, "é");
	draw_region_text(in, 0, 0, 7, plain, "▁█▓●你x");
	draw_screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "+ ? ----+"));
	assert_non_null(strstr(out.p, "|_##*? x|"));
	for (size_t i = 0; i < out.n; i++)
		assert_true((unsigned char)out.p[i] < 0x80);
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
	assert_true(draw_screen_knows_ascii_alone("vt220"));
	assert_true(draw_screen_knows_ascii_alone("dumb"));
	assert_false(draw_screen_knows_ascii_alone("xterm-256color"));
	assert_false(draw_screen_knows_ascii_alone("linux"));
	assert_false(draw_screen_knows_ascii_alone(NULL));
}

static void test_the_darkest_blues(void **state)
{
	struct draw_screen *screen = open_screen("xterm-256color", "truecolor", false);
	struct draw_surface *s = draw_surface_new(20, 5);
	struct str out;
	(void)state;
	str_init(&out, 1 << 20);
	for (uint32_t blue = 0; blue < 20; blue++) {
		struct draw_style style = { .fg = DRAW_COLOR_RGB | blue };
		draw_region_text(draw_region_whole(s), 0, 0, 20, style, blue % 2 ? "x" : "y");
		str_clear(&out);
		draw_screen_paint(screen, s, &out);
		if (!strstr(out.p, "38;2;0;0;"))
			fail_msg("blue %u: '%s'", blue, out.p);
	}
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
}

static void test_odd_characters(void **state)
{
	static const struct {
		const char *text;
		int cols;
		const char *want, *not ; /* not: must not be sent */
	} rows[] = {
		{ "e\xcc\x81", 1, "e\xcc\x81", NULL },
		{ "\xe4\xbd\xa0", 2, "\xe4\xbd\xa0", NULL },
		/* another width than the cell has: it would move all that follows */
		{ "\xe4\xbd\xa0", 1, "?", "\xe4\xbd\xa0" },
		{ "\xc3\xa9", 2, "\xe3\x80\x80", "\xc3\xa9" },
		{ "\x07", 1, "?", "\x07" },
		{ "\x7f", 1, "?", "\x7f" },
		/* joiners and selectors go */
		{ "\xe2\x9c\x94\xef\xb8\x8f", 1, "\xe2\x9c\x94", "\xef\xb8\x8f" },
		{ "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9", 2, "\xf0\x9f\x91\xa8",
			"\xe2\x80\x8d" },
		{ "\xff\xfe", 1, "?", "\xff" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_surface *s = draw_surface_new(20, 2);
		struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
		struct draw_style plain = { 0 };
		struct str out;
		str_init(&out, 1 << 20);
		draw_region_put(draw_region_whole(s), 0, 3, plain, rows[i].text,
			strlen(rows[i].text), rows[i].cols);
		draw_region_text(draw_region_whole(s), 0, 3 + rows[i].cols, 9, plain, "after");
		draw_screen_paint(screen, s, &out);
		if (!strstr(out.p, rows[i].want) || !strstr(out.p, "after") ||
			(rows[i].not &&strstr(out.p, rows[i].not )))
			fail_msg("row %zu: '%s'", i, out.p);
		str_deinit(&out);
		draw_screen_free(screen);
		draw_surface_free(s);
	}
}

/* ---- the cursor */
static void test_the_cursor(void **state)
{
	static const struct {
		struct draw_surface_cursor cursor;
		const char *want;
	} rows[] = {
		{ { 3, 1, CURSOR_BLOCK, false }, "\033[2 q" },
		{ { 3, 1, CURSOR_BLOCK, true }, "\033[1 q" },
		{ { 3, 1, CURSOR_UNDERLINE, false }, "\033[4 q" },
		{ { 3, 1, CURSOR_UNDERLINE, true }, "\033[3 q" },
		{ { 3, 1, CURSOR_BAR, false }, "\033[6 q" },
		{ { 3, 1, CURSOR_BAR, true }, "\033[5 q" },
	};
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	struct draw_style plain = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 1 << 20);
	draw_region_text(draw_region_whole(s), 4, 10, 9, plain, "far");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		str_clear(&out);
		draw_surface_set_cursor(s, &rows[i].cursor);
		draw_screen_paint(screen, s, &out);
		const char *shape = strstr(out.p, rows[i].want);
		assert_non_null(shape);
		assert_string_equal(shape, rows[i].want); /* the last */
		if (i == 0) {                             /* row 2, column 4 */
			assert_non_null(strstr(out.p, "\033[2;4H"));
			assert_non_null(strstr(out.p, "\033[?12l\033[?25h"));
		}
		/* the same again is nothing */
		str_clear(&out);
		draw_screen_paint(screen, s, &out);
		assert_string_equal(out.p, "");
	}
	struct draw_surface_cursor hidden = { 0 };
	draw_surface_set_cursor(s, &hidden);
	str_clear(&out);
	draw_screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "\033[?25l"));
	assert_null(strstr(out.p, " q"));
	str_deinit(&out);
	draw_screen_free(screen);
	/* others have one shape */
	screen = open_screen("vt100", NULL, false);
	str_init(&out, 1 << 20);
	draw_surface_set_cursor(s, &rows[0].cursor);
	draw_screen_paint(screen, s, &out);
	assert_null(strstr(out.p, " q"));
	assert_null(strstr(out.p, "2026"));
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
}

static void test_a_frame_is_one_picture(void **state)
{
	struct draw_surface *s = draw_surface_new(20, 5);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	struct draw_style plain = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 1 << 20);
	str_add(&out, "before");
	draw_region_text(draw_region_whole(s), 0, 0, 9, plain, "text");
	draw_screen_paint(screen, s, &out);
	assert_memory_equal(out.p, "before\033[?2026h", 14);
	assert_non_null(strstr(out.p, "text"));
	assert_string_equal(out.p + out.n - 8, "\033[?2026l");
	/* a row that did not change is not sent, nor is a cell */
	str_clear(&out);
	draw_region_text(draw_region_whole(s), 2, 5, 9, plain, "more");
	draw_screen_paint(screen, s, &out);
	assert_null(strstr(out.p, "text"));
	assert_non_null(strstr(out.p, "more"));
	/* of another size all is */
	draw_surface_resize(s, 21, 5);
	draw_region_text(draw_region_whole(s), 0, 0, 9, plain, "text");
	str_clear(&out);
	draw_screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "text"));
	assert_non_null(strstr(out.p, "\033[H\033[2J"));
	str_deinit(&out);
	draw_screen_free(screen);
	draw_surface_free(s);
	draw_screen_free(NULL);
}

static void test_brackets_and_mouse(void **state)
{
	static const char *const alike[] = { "xterm", "tmux", "screen", "alacritty", "foot",
		"kitty", "wezterm", "rxvt", "konsole", "vte", "gnome", "iterm", "mintty", "st",
		"contour", "ghostty" };
	(void)state;
	for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
		char term[40];
		snprintf(term, sizeof term, "%s-unheard-of", alike[i]);
		struct draw_screen *screen = open_screen(term, NULL, false);
		assert_string_equal(draw_screen_mouse_bytes(screen, true, false),
			"\033[?1003l\033[?1000h\033[?1002h\033[?1006h");
		assert_memory_equal(draw_screen_begin_bytes(screen), "\033[?1049h", 8);
		draw_screen_free(screen);
	}
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	assert_string_equal(draw_screen_begin_bytes(screen),
		"\033[?1049h\033[H\033[2J\033[?2004h\033[?1004h");
	assert_string_equal(draw_screen_end_bytes(screen),
		"\033[?2026l\033[?1003l\033[?1002l\033[?1000l\033[?1006l\033[?1004l\033[?2004l"
		"\033[0 q\033[0m\033[?25h\033[?1049l\033[?25h");
	assert_string_equal(draw_screen_mouse_bytes(screen, true, true),
		"\033[?1000h\033[?1002h\033[?1003h\033[?1006h");
	assert_string_equal(draw_screen_mouse_bytes(screen, false, true),
		"\033[?1003l\033[?1002l\033[?1000l\033[?1006l");
	assert_string_equal(draw_screen_mouse_bytes(screen, false, false),
		"\033[?1003l\033[?1002l\033[?1000l\033[?1006l");
	draw_screen_free(screen);
	/* a terminal of its own kind gets what its entry says, without marks for pauses */
	screen = open_screen("vt100", NULL, false);
	assert_string_equal(draw_screen_begin_bytes(screen), "\033[H\033[J");
	assert_string_equal(draw_screen_end_bytes(screen), "\033[m\017\033[H\033[J");
	assert_string_equal(draw_screen_mouse_bytes(screen, true, true), "");
	assert_string_equal(draw_screen_mouse_bytes(screen, false, true), "");
	draw_screen_free(screen);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_changed_is_sent),
		cmocka_unit_test(test_foreign_escapes_do_not_come_through),
		cmocka_unit_test(test_colours_follow_the_terminal),
		cmocka_unit_test(test_how_many_colours),
		cmocka_unit_test(test_resizes),
		cmocka_unit_test(test_signals_stay_ours),
		cmocka_unit_test(test_the_end_undoes_the_beginning),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_colours_to_the_number),
		cmocka_unit_test(test_the_darkest_blues),
		cmocka_unit_test(test_ascii_alone),
		cmocka_unit_test(test_odd_characters),
		cmocka_unit_test(test_the_cursor),
		cmocka_unit_test(test_a_frame_is_one_picture),
		cmocka_unit_test(test_brackets_and_mouse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
