// SPDX-License-Identifier: Apache-2.0
/* What the files of this room share: the terminal itself. Bytes go
 *
 *   term_feed → parser.c (parser) ─ parser_text.c, text.c ──────────────────────────────────→ grid
 *                                 ├ lines, tabs … csi.c → libvterm state ─ callbacks → vterm_adapter.c ─↑
 *                                 ├ styles ───────→ sgr.c
 *                                 ├ modes, queries → mode.c, csi.c
 *                                 └ OSC, DCS ─────→ osc.c
 */
#pragma once

#include "tui/term/cell.h"
#include "tui/term/grid.h"
#include "tui/term/scrollback.h"
#include "tui/term/term.h"

#include <vterm.h>

enum {
	CSI_PARAMS_MAX = 32,
	CSI_VALUE_MAX = 65535, /* larger numbers are taken as this */
	OSC_BYTES = 4 * 1024,
	OSC_CLIPBOARD_BYTES = 64 * 1024,
	DCS_BYTES = 256,
	MARKS_IN_ROW_MAX = 16, /* combining marks on one character that are looked at */
};

enum term_parser_state {
	FILTER_GROUND,
	FILTER_ESCAPE,
	FILTER_CSI,
	FILTER_STRING,
	FILTER_STRING_ESCAPE,
};

struct term_csi {
	int params[CSI_PARAMS_MAX]; /* -1 = not given */
	uint32_t colons;            /* bit i: param i was joined to the one before by ':' */
	int count;                  /* at least 1 */
	char leader;                /* one of < = > ? or 0 */
	char intermediate;          /* 0 if none */
	char final;
	bool bad; /* cannot be one that we know: swallow it */
};

struct term_parser {
	enum term_parser_state state;
	unsigned char utf8[4]; /* a character cut by the end of the input */
	int utf8_have;
	struct term_csi csi;
	bool csi_has_digits;
	char escape_intermediate;
	bool escape_bad;
	char string_kind; /* ']' OSC, 'P' DCS, '_' APC, '^' PM, 'X' SOS */
	bool string_overflow;
	bool string_bell; /* ended by BEL: answers end so too */
	char *string;
	size_t string_n;
	size_t string_capacity;
	uint32_t last_char; /* for REP; 0 = none */
	int marks;          /* combining marks since the last base character */
};

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
	VTerm *vt;
	VTermState *vt_state;
	struct term_callbacks callbacks;
	void *arg;

	struct term_cell_tables tables;
	struct term_grid *screens[2]; /* main, alternate */
	struct term_grid *grid;       /* the one in use */
	struct term_scrollback *history;
	bool history_pause; /* rows deleted by the program are not history */
	bool resizing;      /* libvterm is being told: ignore what it says */

	struct term_style pen;
	uint32_t pen_id;
	uint32_t erase_id; /* background of the pen only */
	bool pen_changed;

	/* The cursor. In the last column there are two places: on the character, and behind it, where
	 * the next one wraps (at_end). */
	int row;
	int col;
	bool at_end;
	bool vt_behind; /* libvterm does not know the place yet */
	bool direct;    /* ASCII is written in runs; tests switch it off to compare */

	struct term_parser filter;
	struct term_charsets charsets;
	struct term_saved_cursor saved[2];
	struct term_modes modes;
	struct term_cursor cursor_look; /* visible, blink, shape; the place is libvterm's */
	bool newline_mode;
	bool margins_mode; /* DECLRMM */
	bool protect;      /* DECSCA */
	struct term_grid_rect region;
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

/* parser.c */
void term_parser_feed(struct term *t, const unsigned char *bytes, size_t n);
void term_parser_reset(struct term_parser *f);
void term_parser_start_escape(struct term_parser *f);

/* parser_text.c */
size_t term_parser_text_feed(
	struct term *t, const unsigned char *p, size_t n); /* returns the bytes used */
size_t term_parser_text_finish(struct term *t, const unsigned char *bytes, size_t n);
void term_parser_text_control(
	struct term *t, unsigned char c); /* a C0 control within a sequence */
void term_parser_text_repeat(struct term *t, int count);

/* csi.c, esc.c, osc.c, sgr.c */
void term_csi_handle(struct term *t, const struct term_csi *csi);
void term_esc_handle(struct term *t, char intermediate, char final);
void term_esc_save_cursor(struct term *t);
void term_esc_restore_cursor(struct term *t);
void term_esc_soft_reset(struct term *t);
void term_string_handle(struct term *t, char kind, char *text, size_t n);
void term_string_push_title(struct term *t);
void term_string_pop_title(struct term *t);
size_t term_string_limit(const struct term_parser *f);
void term_sgr_handle(struct term *t, const struct term_csi *csi);
size_t term_sgr_format(const struct term_style *style, char *out, size_t size);
int term_csi_param(const struct term_csi *csi, int index, int missing);

/* mode.c */
void term_mode_set(struct term *t, bool private_mode, int number, bool on);
int term_mode_get(
	const struct term *t, bool private_mode, int number); /* as DECRPM: 0, 1, 2 … */
void term_mode_init(struct term *t);
void term_mode_switch_screen(struct term *t, bool alternate, bool clear);

/* vterm_adapter.c: libvterm */
void term_vterm_start(struct term *t, int cols, int rows);
void term_vterm_write(struct term *t, const char *bytes, size_t n);
void term_vterm_writef(struct term *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void term_vterm_scroll_up(struct term *t, struct term_grid_rect rect, int rows);
void term_vterm_add_mark(struct term *t, uint32_t codepoint); /* combining, at the cursor */
/* Puts the cursor somewhere (brought inside) and on its character: a pending wrap is over. */
void term_vterm_move(struct term *t, int row, int col);
void term_vterm_clear_region(struct term *t); /* region and margins = whole screen */
void term_vterm_cursor(const struct term *t, int *row, int *col);
void term_vterm_fill(struct term *t, struct term_grid_rect rect, struct term_cell cell);
uint32_t term_vterm_pen_id(struct term *t);
uint32_t term_vterm_erase_id(struct term *t);

/* text.c: checked UTF-8 with format effectors (BS … CR) */
void term_text_put(struct term *t, const unsigned char *bytes, size_t n);
void term_text_control(struct term *t, unsigned char c); /* BS … CR */

/* reflow.c: the main screen at another size; the cursor is moved along */
void term_reflow_main(struct term *t, int cols, int rows, int *cursor_row, int *cursor_col,
	bool *cursor_at_end);

/* term.c */
void term_reply(struct term *t, const char *bytes, size_t n); /* to a query: limited */
void term_replyf(struct term *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void term_send(struct term *t, const char *bytes, size_t n); /* input of the user */
void term_touch(struct term *t); /* something visible besides cells changed */
