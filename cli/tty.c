// SPDX-License-Identifier: Apache-2.0
#include "cli/tty.h"

#include "cli/tty_modes.h"
#include "engine/base/fatal_signal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static bool is_raw, is_catching;
static struct cli_tty_modes modes;

/* The same terminal where it can be written to: stdin may be open for reading only. */
static int terminal_fd(void)
{
	struct stat in, out;
	bool is_same = fstat(STDIN_FILENO, &in) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
		       S_ISCHR(out.st_mode) && in.st_rdev == out.st_rdev;
	return is_same ? STDOUT_FILENO : STDIN_FILENO;
}

static void tell_what_is_on(void)
{
	struct str bytes;
	str_init(&bytes, FATAL_SIGNAL_BYTES - 1);
	cli_tty_modes_undo(&modes, &bytes);
	fatal_signal_set_terminal(terminal_fd(), &saved, bytes.p);
	str_deinit(&bytes);
}

void cli_tty_restore(void)
{
	if (!is_raw)
		return;
	is_raw = false;
	fatal_signal_restore_terminal();
	modes = (struct cli_tty_modes){ 0 };
	if (is_catching)
		fatal_signal_release();
	is_catching = false;
}

bool cli_tty_raw(void)
{
	if (tcgetattr(STDIN_FILENO, &saved) != 0)
		return false;
	struct termios raw = saved;
	cfmakeraw(&raw);
	fatal_signal_guard_crashes();
	if (!fatal_signal_is_caught()) { /* before the loop: the first one ends us */
		fatal_signal_catch(-1, 0);
		is_catching = true;
	}
	static bool is_at_exit;
	if (!is_at_exit)
		atexit(cli_tty_restore);
	is_at_exit = is_raw = true;
	tell_what_is_on();
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0)
		return true;
	cli_tty_restore();
	return false;
}

void cli_tty_will_write(const char *bytes, size_t n)
{
	if (is_raw && cli_tty_modes_feed(&modes, bytes, n))
		tell_what_is_on();
}

bool cli_tty_size(int *cols, int *rows)
{
	struct winsize size;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 &&
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return false;
	*cols = size.ws_col;
	*rows = size.ws_row;
	return size.ws_col > 0 && size.ws_row > 0;
}

bool cli_tty_escape_found(struct cli_tty_escape *escape, const char *bytes, size_t n)
{
	if (!escape->has_begun) {
		escape->has_begun = true;
		escape->state = 1;
	}
	for (size_t i = 0; i < n; i++) {
		char c = bytes[i];
		if (escape->state == 2 && c == '.')
			return true;
		if (c == '\r' || c == '\n')
			escape->state = 1;
		else
			escape->state = escape->state == 1 && c == '~' ? 2 : 0;
	}
	return false;
}
