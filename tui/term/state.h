// SPDX-License-Identifier: Apache-2.0
/* The state of a terminal, and what every file of the room may do to it.
 *
 *   term_feed ─ parser.c ─ events ─┬ text.c ─────────────────────────────────→ grid
 *                                  ├ csi.c, esc.c ─ vterm_adapter.c ─ erase, scroll ─↑
 *                                  ├ sgr.c, mode.c: pen, modes
 *                                  └ osc.c: titles, clipboard, marks
 *
 * term.c owns it and wires the parts; the interpreters act on it and know neither the parser nor term.c. */
#pragma once

#include "tui/term/cell.h"
#include "tui/term/grid.h"
#include "tui/term/parser.h"
#include "tui/term/scrollback.h"
#include "tui/term/term.h"
#include "tui/term/vterm_adapter.h"

enum term_charset {
	CHARSET_ASCII,
	CHARSET_DEC_GRAPHICS,
	CHARSET_UK,
};

struct term_charsets {
	enum term_charset g[4];
	int gl;     /* the set in use */
	int single; /* SS2/SS3: the set of the next character, 0 = none */
};

struct term_saved_cursor {
	bool valid;
	int row;
	int col;
	bool at_end;
	bool origin;
	struct term_style pen;
	struct term_charsets charsets;
};

struct term {
	struct term_callbacks callbacks;
	void *arg;
	struct term_parser parser;
	struct term_vterm *vterm;

	struct term_cell_tables tables;
	struct term_grid *screens[2]; /* main, alternate */
	struct term_grid *grid;       /* the one in use */
	struct term_scrollback *history;
	bool history_pause; /* rows deleted by the program are not history */

	struct term_style pen;
	uint32_t pen_id;
	uint32_t erase_id; /* background of the pen only */
	bool pen_changed;

	struct term_place place;
	bool direct; /* ASCII is written in runs; tests switch it off to compare */

	struct term_charsets charsets;
	struct term_saved_cursor saved[2];
	struct term_modes modes;
	struct term_cursor cursor_look; /* visible, blink, shape; not the place */
	bool newline_mode;
	bool margins_mode;     /* DECLRMM */
	bool protect;          /* DECSCA */
	uint32_t last_char;    /* for REP; 0 = none */
	int64_t sync_since_ms; /* -1 = off */

	uint64_t revision;
	bool changed; /* in this call */
	bool bell;
	size_t reply_bytes; /* in this call */

	char *title;
	char *titles[TERM_TITLES_MAX]; /* saved, the newest last */
	int title_count;
	char *cwd;
	bool has_colors;
	uint32_t text_color;
	uint32_t background_color;

	unsigned char paste_utf8[4];
	int paste_have;
	int paste_need;
	int paste_marker; /* matched bytes of an embedded paste marker */
	char paste_last;  /* its fifth byte */
	bool paste_cr;
	bool paste_bracketed;
	int mouse_col;
	int mouse_row;
	int mouse_button; /* held */
};

void term_touch(struct term *t); /* something visible besides cells changed */
void term_send(struct term *t, const char *bytes, size_t n);  /* input of the user */
void term_reply(struct term *t, const char *bytes, size_t n); /* to a query: limited */
void term_replyf(struct term *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ids of the pen's style, and of a blank with its background. */
uint32_t term_state_pen_id(struct term *t);
uint32_t term_state_erase_id(struct term *t);
void term_state_clear_pen(struct term *t);

/* Puts the cursor somewhere (brought inside the screen, in origin mode inside region and margins) and on its
 * character: a pending wrap is over. */
void term_state_move(struct term *t, int row, int col);
void term_state_clear_region(struct term *t); /* region and margins = whole screen */
void term_state_save_cursor(struct term *t);  /* one for each screen, as in xterm */
void term_state_restore_cursor(struct term *t);

struct term_grid_rect term_state_screen(const struct term *t); /* all of it */
/* These clip, and stamp the rows that they change. */
void term_state_fill(struct term *t, struct term_grid_rect rect, struct term_cell cell);
void term_state_erase(struct term *t, struct term_grid_rect rect, bool selective);
/* Content moves up or left (down, right if negative). Whole rows that leave at the top of the main screen become
 * scrollback. */
void term_state_scroll(struct term *t, struct term_grid_rect rect, int up, int left);
void term_state_switch_screen(struct term *t, bool alternate, bool clear);
