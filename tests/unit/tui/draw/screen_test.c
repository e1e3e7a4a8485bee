// SPDX-License-Identifier: Apache-2.0
// Frames as bytes: the first paints, a second one without a change is empty, foreign escapes never come through, colours
// follow what the terminal has, and nothing is left of ncurses' hold on signals.
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "tui/draw/screen.h"

#include <locale.h>
#include <signal.h>
#include <string.h>

static struct draw_screen *open_screen(const char *term, const char *colorterm, bool no_color)
{
	struct err err = { 0 };
	struct screen_opts opts = { .term = term,
		.colorterm = colorterm,
		.no_color = no_color,
		.cols = 20,
		.rows = 5 };
	struct draw_screen *screen = screen_new(&opts, &err);
	if (!screen)
		fail_msg("%s: %s", term, err.msg);
	return screen;
}

static void test_only_what_changed_is_sent(void **state)
{
	struct surface *s = surface_new(20, 5);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	struct style plain = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 1 << 20);
	region_text(region_whole(s), 1, 2, 10, plain, "hello");
	screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "hello"));
	str_clear(&out);
	screen_paint(screen, s, &out);
	assert_int_equal(out.n, 0);
	region_text(region_whole(s), 1, 2, 10, plain, "hallo");
	screen_paint(screen, s, &out);
	assert_non_null(strchr(out.p, 'a'));
	assert_true(out.n < 60);
	assert_null(strstr(out.p, "hallo"));
	str_clear(&out);
	screen_repaint(screen);
	screen_paint(screen, s, &out);
	assert_non_null(strstr(out.p, "hallo"));
	str_deinit(&out);
	screen_free(screen);
	surface_free(s);
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
	struct style plain = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
		struct surface *s = surface_new(20, 5);
		struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
		struct str out;
		str_init(&out, 1 << 20);
		region_text(region_whole(s), 0, 0, 20, plain, hostile[i]);
		screen_paint(screen, s, &out);
		assert_null(strstr(out.p, hostile[i]));
		assert_null(strstr(out.p, "\033]52"));
		assert_null(strstr(out.p, "\xc2\x9b"));
		assert_null(strstr(out.p, "\xe2\x80\xae"));
		assert_null(strchr(out.p, '\a'));
		str_deinit(&out);
		screen_free(screen);
		surface_free(s);
	}
}

static void paint_red(
	const char *term, const char *colorterm, bool no_color, int colors, const char *want)
{
	struct surface *s = surface_new(20, 5);
	struct draw_screen *screen = open_screen(term, colorterm, no_color);
	struct style style = { .fg = DRAW_COLOR_RGB | 0xFF8040 };
	struct str out;
	str_init(&out, 1 << 20);
	assert_int_equal(screen_colors(screen), colors);
	region_text(region_whole(s), 0, 0, 20, style, "x");
	screen_paint(screen, s, &out);
	if (want && !strstr(out.p, want))
		fail_msg("%s: no '%s' in the frame", term, want);
	if (!want)
		assert_null(strstr(out.p, "[3"));
	str_deinit(&out);
	screen_free(screen);
	surface_free(s);
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

static void test_resizes(void **state)
{
	struct surface *s = surface_new(20, 5);
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	struct style plain = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 1 << 22);
	static const int sizes[][2] = { { 1, 1 }, { 200, 50 }, { 2, 60 }, { 300, 2 },
		{ 40, 10 } };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		surface_resize(s, sizes[i][0], sizes[i][1]);
		region_text(region_whole(s), 0, 0, sizes[i][0], plain, "你好 wide text");
		str_clear(&out);
		screen_paint(screen, s, &out);
		assert_true(out.n > 0);
	}
	assert_non_null(strstr(out.p, "你"));
	str_deinit(&out);
	screen_free(screen);
	surface_free(s);
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
	screen_free(screen);
	for (int i = 0; i < 4; i++) {
		sigaction(numbers[i], NULL, &after);
		assert_true(after.sa_handler == before[i].sa_handler);
	}
}

static void test_the_end_undoes_the_beginning(void **state)
{
	struct draw_screen *screen = open_screen("xterm-256color", NULL, false);
	(void)state;
	const char *begin = screen_begin_bytes(screen), *end = screen_end_bytes(screen);
	static const char *const modes[] = { "?1049", "?2004", "?1004" };
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		assert_non_null(strstr(begin, modes[i]));
		assert_non_null(strstr(end, modes[i]));
	}
	assert_non_null(strstr(end, "?1002l"));
	assert_non_null(strstr(end, "?1006l"));
	assert_non_null(strstr(end, "?25h"));
	screen_free(screen);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_changed_is_sent),
		cmocka_unit_test(test_foreign_escapes_do_not_come_through),
		cmocka_unit_test(test_colours_follow_the_terminal),
		cmocka_unit_test(test_resizes),
		cmocka_unit_test(test_signals_stay_ours),
		cmocka_unit_test(test_the_end_undoes_the_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
