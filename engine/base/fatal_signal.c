// SPDX-License-Identifier: Apache-2.0
#include "engine/base/fatal_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
	SIGNALS = 65,           /* Linux has 1…64 */
	STACK_BYTES = 64 << 10, /* for a crash that was an overflow of the stack */
	FILES = 64,
	NAME_BYTES = 256,
	WRITE_TRIES = 50,
	WRITE_WAIT_MS = 10,
};

struct temp_file {
	volatile sig_atomic_t is_used;
	int dir_fd;
	char name[NAME_BYTES];
};

/* What the handlers look at. */
static volatile sig_atomic_t terminal_fd = -1, has_modes;
static char terminal_bytes[FATAL_SIGNAL_BYTES];
static struct termios terminal_modes;
static struct temp_file files[FILES];
static volatile sig_atomic_t told_fd = -1, patience_left, last_caught;

static struct sigaction before[SIGNALS];
static bool is_caught[SIGNALS], is_guarded[SIGNALS], was_ignored[SIGNALS], has_begun,
	is_catching;

enum fatal_signal_kind fatal_signal_kind(int number)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGABRT:
	case SIGSYS:
	case SIGTRAP:
		return FATAL_SIGNAL_CRASH;
	case SIGKILL: /* cannot be caught */
	case SIGSTOP:
	case SIGTSTP: /* these stop, or do nothing (signal(7)) */
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
		return FATAL_SIGNAL_NOT;
	default:
		return number >= 1 && number < SIGNALS ? FATAL_SIGNAL_ORDERLY
						       : FATAL_SIGNAL_NOT;
	}
}

static void look_at_dispositions(void)
{
	if (has_begun)
		return;
	has_begun = true;
	for (int i = 1; i < SIGNALS; i++) {
		struct sigaction now;
		was_ignored[i] = sigaction(i, NULL, &now) == 0 &&
				 !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN;
	}
}

void fatal_signal_init(void)
{
	look_at_dispositions();
	signal(SIGPIPE, SIG_IGN);
}

/* ---- what is put right. Async-signal-safe functions only (signal-safety(7)). */

static void write_bytes(int fd, const char *p, size_t n)
{
	for (int tries = 0; n > 0 && tries < WRITE_TRIES; tries++) {
		ssize_t done = write(fd, p, n);
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		} else if (done < 0 && errno != EAGAIN && errno != EINTR) {
			return; /* it is gone */
		} else {
			struct pollfd wait = { fd, POLLOUT, 0 };
			poll(&wait, 1, WRITE_WAIT_MS);
		}
	}
}

/* A job in the background must not change the modes under the one in front. A terminal that is not ours to control knows no
 * jobs. */
static bool is_in_front(int fd)
{
	pid_t front = tcgetpgrp(fd);
	return front < 0 || front == getpgrp();
}

void fatal_signal_restore_terminal(void)
{
	int fd = terminal_fd;
	if (fd < 0)
		return;
	int saved = errno;
	terminal_fd = -1;
	write_bytes(fd, terminal_bytes, strlen(terminal_bytes));
	if (has_modes && is_in_front(fd))
		tcsetattr(fd, TCSANOW, &terminal_modes);
	errno = saved;
}

static void put_right(void)
{
	fatal_signal_restore_terminal();
	for (int i = 0; i < FILES; i++)
		if (files[i].is_used)
			unlinkat(files[i].dir_fd, files[i].name, 0);
}

static void on_crash(int number)
{
	put_right();
	sigaction(number, &before[number], NULL); /* a sanitizer's, or the default */
	raise(number);                            /* blocked until this handler returns */
}

static void on_orderly(int number, siginfo_t *info, void *context)
{
	(void)context;
	/* our own write to a closed pipe: write() said so */
	if (number == SIGPIPE && info->si_pid == getpid())
		return;
	/* a closed window sends it twice, and often after another: never the impatient one */
	if (number == SIGHUP && last_caught == SIGHUP)
		return;
	int saved = errno;
	if (patience_left == 0 && (number != SIGHUP || last_caught == 0)) {
		put_right();
		signal(number, SIG_DFL);
		raise(number); /* blocked until this handler returns */
		return;
	}
	if (patience_left > 0)
		patience_left--;
	last_caught = number;
	char byte = (char)number;
	(void)!write(told_fd, &byte, 1);
	errno = saved;
}

/* ---- catching */

/* Sanitizers end the program without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

void fatal_signal_guard_crashes(void)
{
	static char stack[STACK_BYTES];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
	look_at_dispositions();
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(put_right);
	else
		sigaltstack(&alternate, NULL);
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK };
	sigfillset(&action.sa_mask);
	for (int i = 1; i < SIGNALS; i++) {
		if (fatal_signal_kind(i) == FATAL_SIGNAL_CRASH && !was_ignored[i] &&
			!is_guarded[i])
			is_guarded[i] = sigaction(i, &action, &before[i]) == 0;
	}
}

void fatal_signal_catch(int fd, int patience)
{
	look_at_dispositions();
	fatal_signal_guard_crashes();
	told_fd = fd;
	patience_left = patience;
	last_caught = 0;
	is_catching = true;
	/* without SA_RESTART: a write to a pipe that nobody reads must not outlive the wish to end */
	struct sigaction action = { .sa_sigaction = on_orderly, .sa_flags = SA_SIGINFO };
	sigfillset(&action.sa_mask);
	for (int i = 1; i < SIGNALS; i++) {
		if (fatal_signal_kind(i) == FATAL_SIGNAL_ORDERLY && !was_ignored[i] &&
			!is_caught[i])
			is_caught[i] = sigaction(i, &action, &before[i]) == 0;
	}
}

void fatal_signal_set_patience(int patience)
{
	patience_left = patience;
}

void fatal_signal_release(void)
{
	for (int i = 1; i < SIGNALS; i++) {
		if (is_caught[i])
			sigaction(i, &before[i], NULL);
		is_caught[i] = false;
	}
	told_fd = -1;
	is_catching = false;
}

bool fatal_signal_is_caught(void)
{
	return is_catching;
}

int fatal_signal_last(void)
{
	return last_caught;
}

/* ---- what there is to put right */

void fatal_signal_set_terminal(int fd, const struct termios *modes, const char *bytes)
{
	terminal_fd = -1; /* nothing half-written is used */
	if (fd < 0)
		return;
	snprintf(terminal_bytes, sizeof terminal_bytes, "%s", bytes ? bytes : "");
	has_modes = modes != NULL;
	if (modes != NULL)
		terminal_modes = *modes;
	terminal_fd = fd;
}

int fatal_signal_remember_file(int dir_fd, const char *name)
{
	for (int i = 0; i < FILES; i++) {
		struct temp_file *file = &files[i];
		if (file->is_used || strlen(name) >= sizeof file->name)
			continue;
		file->dir_fd = dir_fd;
		snprintf(file->name, sizeof file->name, "%s", name);
		file->is_used = 1;
		return i;
	}
	return -1;
}

void fatal_signal_forget_file(int slot)
{
	if (slot >= 0 && slot < FILES)
		files[slot].is_used = 0;
}
