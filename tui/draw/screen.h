// SPDX-License-Identifier: Apache-2.0
/* Surfaces to terminal bytes. The only place with ncurses, which is given a memory file and never the tty
 * (measured: given the tty, ncurses 6.4 sleeps in write or burns a core when nobody reads). The caller takes
 * the finished frame and sends it in its own time. There may be several, of one thread;
 * ncurses' own part of one that goes is kept until the last one goes.
 * Errors: ERR_SYSTEM, ERR_TTY_NONE. */
#pragma once

#include "tui/draw/surface.h"

#include <stdbool.h>

struct err;
struct draw_screen;

struct draw_screen_opts {
	const char *term;      /* TERM */
	const char *colorterm; /* "truecolor" or "24bit": look for a -direct entry */
	bool no_color;         /* NO_COLOR */
	bool is_ascii;         /* the terminal shows nothing else (ascii.h) */
	int cols, rows;
};
/* ERR_TTY_NONE when no terminfo entry fits. */
struct draw_screen *draw_screen_new(const struct draw_screen_opts *opts, struct err *err);
void draw_screen_free(struct draw_screen *screen);
void draw_screen_resize(
	struct draw_screen *screen, int cols, int rows); /* the next frame paints all */
void draw_screen_repaint(struct draw_screen *screen);    /* the next frame paints all */
/* Appends the bytes that turn the terminal's picture into this one. */
void draw_screen_paint(
	struct draw_screen *screen, const struct draw_surface *surface, struct str *out);
/* Bytes to begin and to end with: alternate screen, mouse, bracketed paste, focus; and everything back. They
 * are fixed at draw_screen_new(), so that a crash handler can send the end without running any of this. */
enum { SCREEN_BRACKET_BYTES = 512 };
const char *draw_screen_begin_bytes(const struct draw_screen *screen);
const char *draw_screen_end_bytes(const struct draw_screen *screen);
const char *draw_screen_mouse_bytes(
	const struct draw_screen *screen, bool on, bool every_motion);
/* By its TERM: one from before there was Unicode, or none worth the name. */
bool draw_screen_knows_ascii_alone(const char *term);
/* Asked about itself (OSC), it answers, or at least prints nothing. */
bool draw_screen_answers(const struct draw_screen *screen);
int draw_screen_colors(const struct draw_screen *screen); /* 0, 8, 16, 256, 1 << 24 */
