// SPDX-License-Identifier: Apache-2.0
#include "cli/tty.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
enum { CRASH_COUNT = sizeof crashes / sizeof crashes[0] };
static struct sigaction before[CRASH_COUNT];
static struct termios saved;
static volatile sig_atomic_t is_raw;

void tty_restore(void)
{
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	is_raw = 0;
}

/* tcsetattr is async-signal-safe (POSIX). */
static void on_crash(int signal_number)
{
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crashes[i], &before[i], NULL); /* a sanitizer's, or the default */
	raise(signal_number);
}

bool tty_raw(void)
{
	if (tcgetattr(STDIN_FILENO, &saved) != 0)
		return false;
	struct termios raw = saved;
	cfmakeraw(&raw);
	const struct sigaction action = { .sa_handler = on_crash };
	for (size_t i = 0; i < CRASH_COUNT; i++)
		sigaction(crashes[i], &action, &before[i]);
	atexit(tty_restore);
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0)
		return false;
	is_raw = 1;
	return true;
}

bool tty_size(int *cols, int *rows)
{
	struct winsize size;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 &&
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return false;
	*cols = size.ws_col;
	*rows = size.ws_row;
	return size.ws_col > 0 && size.ws_row > 0;
}

bool tty_escape_found(struct tty_escape *escape, const char *bytes, size_t n)
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
