// SPDX-License-Identifier: Apache-2.0
/* The two descriptors of a terminal on the loop: raw mode, bytes in, frames out without ever blocking, and the
 * terminal restored on every way out (see tty_restore_now()). Nothing here knows what the bytes mean. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

struct err;
struct loop;
struct tty;

struct tty_opts {
	int in_fd,
		out_fd; /* borrowed; the terminal behind them is opened again for ourselves if it can be */
	const char *end_bytes; /* what puts the terminal back; copied */
	void (*on_bytes)(void *arg, struct slice bytes);
	void (*on_sent)(void *arg); /* all that was queued has left */
	void (*on_gone)(void *arg); /* hang-up or error: the terminal is no more */
	void *arg;
};
struct tty *tty_open(struct loop *loop, const struct tty_opts *opts, struct err *err);
/* Sends the end bytes (waits up to 300 ms for a slow terminal), gives the old modes back. */
void tty_close(struct tty *tty);
bool tty_size(const struct tty *tty, int *cols, int *rows);
bool tty_is_sending(const struct tty *tty);
void tty_send(struct tty *tty, struct slice bytes); /* queued behind what is being sent */
/* Gives the terminal to the shell (job control) and takes it again. */
void tty_leave(struct tty *tty);
void tty_enter(struct tty *tty, const char *begin_bytes);

/* For fatal signals: async-signal-safe, does what tty_close() does for the tty opened last. */
void tty_restore_now(void);
/* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT restore the terminal first and then do what they did before. */
void tty_guard_crashes(void);
