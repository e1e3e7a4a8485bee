// SPDX-License-Identifier: Apache-2.0
/* The two descriptors of a terminal on the loop: raw mode, bytes in, frames out without ever blocking, and the
 * terminal restored on every way out (a crash: engine/base/fatal_signal.h). Nothing here knows what the bytes mean.
 * Errors: ERR_TTY_NONE, those of engine/net/watch.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

struct err;
struct net_loop;
struct draw_terminal;

struct draw_terminal_opts {
	int in_fd,
		out_fd; /* borrowed; the terminal behind them is opened again for ourselves if it can be */
	const char *end_bytes; /* what puts the terminal back; copied */
	void (*on_bytes)(void *arg, struct slice bytes);
	void (*on_sent)(void *arg); /* all that was queued has left */
	void (*on_gone)(void *arg); /* hang-up or error: the terminal is no more */
	void *arg;
};
struct draw_terminal *draw_terminal_open(
	struct net_loop *loop, const struct draw_terminal_opts *opts, struct err *err);
/* Sends the end bytes (waits up to 300 ms for a slow terminal), gives the old modes back. */
void draw_terminal_close(struct draw_terminal *terminal);
bool draw_terminal_size(const struct draw_terminal *terminal, int *cols, int *rows);
bool draw_terminal_is_sending(const struct draw_terminal *terminal);
void draw_terminal_send(struct draw_terminal *terminal,
	struct slice bytes); /* queued behind what is being sent */
/* Gives the terminal to the shell (job control) and takes it again. */
void draw_terminal_leave(struct draw_terminal *terminal);
void draw_terminal_enter(struct draw_terminal *terminal, const char *begin_bytes);
