// SPDX-License-Identifier: Apache-2.0
/* What a program has switched on in our terminal and what switches it off again; the way out of a shell; raw mode. */
#include "tests/unit/unit.h"

#include "cli/tty.h"
#include "cli/tty_modes.h"
#include "engine/base/fatal_signal.h"

#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void feed(struct cli_tty_modes *modes, const char *bytes, size_t piece)
{
	for (size_t n = strlen(bytes), at = 0; at < n; at += piece)
		cli_tty_modes_feed(modes, bytes + at, n - at < piece ? n - at : piece);
}

static const struct {
	const char *bytes, *undo;
} modes_rows[] = {
	{ "text only\r\n\ttab", "" },
	{ "\033[?1049h", "\033[?1049l" },
	{ "\033[?1049h\033[?1049l", "" },
	{ "\033[?25l", "\033[?25h" },
	{ "\033[?25l\033[?25h", "" },
	{ "\033[?7l", "\033[?7h" },
	{ "\033[?7h", "" },
	{ "\033[?25l\033[?1049h\033[?2004h", "\033[?2004l\033[?1049l\033[?25h" },
	{ "\033[?1000;1006h", "\033[?1000l\033[?1006l" },
	{ "\033[?1000;1006h\033[?1006l", "\033[?1000l" },
	{ "\033[?9h\033[?1h\033[?5h\033[?47h\033[?2026h",
		"\033[?2026l\033[?9l\033[?1l\033[?5l\033[?47l" },
	{ "\033[?1001h\033[?1002h\033[?1003h\033[?1004h\033[?1005h",
		"\033[?1001l\033[?1002l\033[?1003l\033[?1005l\033[?1004l" },
	{ "\033[?1015h\033[?1016h\033[?1047h", "\033[?1015l\033[?1016l\033[?1047l" },
	{ "\033[?100000006h", "" },
	{ "\033[?12345h", "" },
	{ "\033[1049h", "" }, /* not private */
	{ "\033[?1049r", "" },
	/* inserting */
	{ "\033[4h", "\033[4l" },
	{ "\033[4h\033[4l", "" },
	{ "\033[14h", "" },
	/* kitty's keyboard */
	{ "\033[>1u", "\033[<1u" },
	{ "\033[>1u\033[>5u\033[>u", "\033[<3u" },
	{ "\033[>1u\033[>1u\033[<u", "\033[<1u" },
	{ "\033[>1u\033[>1u\033[>1u\033[<2u", "\033[<1u" },
	{ "\033[>1u\033[<7u", "" },
	{ "\033[<2u\033[>1u", "\033[<1u" },
	/* other keys */
	{ "\033[>4;2m", "\033[>4m" },
	{ "\033[>4;2m\033[>4;0m", "" },
	{ "\033[>4;2m\033[>4m", "" },
	{ "\033[>4;m", "" },
	{ "\033[>1;2m", "" },
	/* the cursor's shape */
	{ "\033[5 q", "\033[0 q" },
	{ "\033[5 q\033[0 q", "" },
	{ "\033[5 q\033[ q", "" },
	{ "\033[5q", "" },
	/* colours */
	{ "\033[31m", "\033[m" },
	{ "\033[38:5:1;1m", "\033[m" },
	{ "\033[31m\033[m", "" },
	{ "\033[31m\033[0m", "" },
	{ "\033[31m\033[00m", "\033[m" },
	{ "\033[?31m", "" },
	/* the region */
	{ "\033[2;5r", "\0337\033[r\0338" },
	{ "\033[2;5r\033[r", "" },
	/* lines */
	{ "\033(0", "\017\033(B" },
	{ "\033(0\033(B", "" },
	{ "\016", "\017\033(B" },
	{ "\016\017", "" },
	/* the keypad */
	{ "\033=", "\033>" },
	{ "\033=\033>", "" },
	/* resets */
	{ "\033[31m\033[?2004h\033[>1u\033=\033c", "" },
	{ "\033[31m\033[?25l\033[?1049h\033[!p", "\033[?1049l" },
	{ "\033[31m\033[p", "\033[m" },
	/* strings are no sequences, until their end */
	{ "\033]0;\033[?25l", "\033[?25h" },
	{ "\033]0;[?25l\a", "" },
	{ "\033]0;(0\a\033[4h", "\033[4l" },
	{ "\033P(0\033\\\033[4h", "\033[4l" },
	{ "\033_\016\033\\", "" },
	{ "\033^\016\a", "" },
	{ "\033X\016\030\016", "\017\033(B" },
	{ "\033]\016\032\016", "\017\033(B" },
	{ "\033]\016\016", "" },
	/* what is cut off, or too long */
	{ "\033[?25", "" },
	{ "\033[?2\0305l", "" },
	{ "\033[?2\0325l", "" },
	{ "\033[?2\r5l", "\033[?25h" }, /* a control in a sequence */
	{ "\033[?1111111111111111111111111;25l", "\033[?25h" },
	{ "\033[?000000000000000000000000000025l", "\033[?25h" },
	{ "\033[?0000000000000000000000000000025l", "" },
	{ "\033\033[4h", "\033[4l" },
	{ "\033[4\033[?25l", "\033[?25h" },
	{ "\033Mx\033[4h", "\033[4l" },
};

static void what_is_switched_off(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 40; piece += 38)
		for (size_t i = 0; i < COUNT(modes_rows); i++) {
			struct cli_tty_modes modes = { 0 };
			struct str out;
			str_init(&out, 200);
			str_add(&out, "");
			feed(&modes, modes_rows[i].bytes, piece);
			cli_tty_modes_undo(&modes, &out);
			if (strcmp(out.p, modes_rows[i].undo) != 0)
				fail_msg("row %zu '%s': '%s'", i, modes_rows[i].bytes + 1,
					out.p + (out.n > 0));
			str_deinit(&out);
		}
}

static bool changes(struct cli_tty_modes *modes, const char *bytes)
{
	return cli_tty_modes_feed(modes, bytes, strlen(bytes));
}

static void what_is_told(void **state)
{
	struct cli_tty_modes modes = { 0 };
	(void)state;
	assert_false(changes(&modes, "abc"));
	assert_false(changes(&modes, "\033[?25"));
	assert_true(changes(&modes, "l"));
	assert_false(changes(&modes, "\033[?25l"));
	assert_true(changes(&modes, "x\033[>1uy"));
	assert_false(changes(&modes, "\033[>1u\033[<u"));
	assert_true(changes(&modes, "\033[?25h\033[<u"));
}

/* More pushes than a terminal keeps. */
static void many_pushes(void **state)
{
	struct cli_tty_modes modes = { 0 };
	struct str out;
	(void)state;
	str_init(&out, 20);
	for (int i = 0; i < 98; i++)
		changes(&modes, "\033[>1u");
	assert_true(changes(&modes, "\033[>1u"));
	assert_false(changes(&modes, "\033[>1u"));
	cli_tty_modes_undo(&modes, &out);
	assert_string_equal(out.p, "\033[<99u");
	str_deinit(&out);
}

static void the_way_out(void **state)
{
	static const struct {
		const char *typed;
		bool is;
	} rows[] = {
		{ "~.", true },
		{ "\r~.", true },
		{ "abc\r~.", true },
		{ "abc\n~.x", true },
		{ "abc~.", false },
		{ "\rx~.", false },
		{ "~~.", false },
		{ "~x.", false },
		{ "~\r.", false },
		{ "~\r~.", true },
		{ "\r\r~.", true },
		{ ".", false },
		{ "~", false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cli_tty_escape whole = { 0 }, pieces = { 0 };
		bool found = false;
		if (cli_tty_escape_found(&whole, rows[i].typed, strlen(rows[i].typed)) !=
			rows[i].is)
			fail_msg("row %zu", i);
		for (const char *p = rows[i].typed; *p && !found; p++)
			found = cli_tty_escape_found(&pieces, p, 1);
		assert_int_equal(found, rows[i].is);
	}
}

/* ---- raw mode, on a terminal of our own as stdin and stdout */

static int master, kept_in, kept_out;

static int open_terminal(void **state)
{
	int slave;
	struct winsize size = { .ws_row = 12, .ws_col = 34 };
	(void)state;
	fflush(stdout);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	fcntl(master, F_SETFL, O_NONBLOCK);
	kept_in = dup(STDIN_FILENO);
	kept_out = dup(STDOUT_FILENO);
	dup2(slave, STDIN_FILENO);
	dup2(slave, STDOUT_FILENO);
	close(slave);
	return 0;
}

static int close_terminal(void **state)
{
	(void)state;
	cli_tty_restore();
	dup2(kept_in, STDIN_FILENO);
	dup2(kept_out, STDOUT_FILENO);
	close(kept_in);
	close(kept_out);
	close(master);
	return 0;
}

static tcflag_t local_flags(void)
{
	struct termios now;
	assert_int_equal(tcgetattr(STDIN_FILENO, &now), 0);
	return now.c_lflag & (ICANON | ECHO | ISIG);
}

static void raw_and_back(void **state)
{
	char bytes[200] = "";
	(void)state;
	tcflag_t before = local_flags();
	assert_int_equal(before, ICANON | ECHO | ISIG);
	cli_tty_will_write("\033[4h", 4); /* not ours yet */
	assert_true(cli_tty_raw());
	assert_int_equal(local_flags(), 0);
	assert_true(fatal_signal_is_caught());
	cli_tty_will_write("\033[?25l\033[31m", 11);
	cli_tty_restore();
	assert_int_equal(local_flags(), before);
	assert_false(fatal_signal_is_caught());
	ssize_t n = read(master, bytes, sizeof bytes - 1);
	assert_int_equal(n, 9);
	assert_string_equal(bytes, "\033[m\033[?25h");
	/* once */
	cli_tty_restore();
	assert_int_equal(read(master, bytes, sizeof bytes), -1);
	/* what was switched on then is forgotten */
	assert_true(cli_tty_raw());
	cli_tty_restore();
	assert_int_equal(read(master, bytes, sizeof bytes), -1);
}

static void sizes(void **state)
{
	int cols = 0, rows = 0;
	struct winsize size = { .ws_row = 1, .ws_col = 0 };
	(void)state;
	assert_true(cli_tty_size(&cols, &rows));
	assert_int_equal(cols, 34);
	assert_int_equal(rows, 12);
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_false(cli_tty_size(&cols, &rows));
	size.ws_col = 1;
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_true(cli_tty_size(&cols, &rows));
	assert_int_equal(cols, 1);
	assert_int_equal(rows, 1);
	size.ws_row = 0;
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_false(cli_tty_size(&cols, &rows));
	/* stdin is none: stdout tells */
	size = (struct winsize){ .ws_row = 5, .ws_col = 6 };
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	int null = open("/dev/null", O_RDONLY);
	dup2(null, STDIN_FILENO);
	close(null);
	assert_true(cli_tty_size(&cols, &rows));
	assert_int_equal(rows, 5);
	assert_false(cli_tty_raw());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_switched_off),
		cmocka_unit_test(what_is_told),
		cmocka_unit_test(many_pushes),
		cmocka_unit_test(the_way_out),
		cmocka_unit_test_setup_teardown(raw_and_back, open_terminal, close_terminal),
		cmocka_unit_test_setup_teardown(sizes, open_terminal, close_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
