// SPDX-License-Identifier: Apache-2.0
/* What the files of this room share: the terminal itself. Bytes go
 *
 *   term_feed → filter.c (parser) ─ ground.c, text.c ──────────────────────────────────→ grid
 *                                 ├ lines, tabs … csi.c → libvterm state ─ callbacks → state.c ─↑
 *                                 ├ styles ───────→ sgr.c
 *                                 ├ modes, queries → mode.c, csi.c
 *                                 └ OSC, DCS ─────→ osc.c
 */
#pragma once

#include "tui/term/cell.h"
#include "tui/term/grid.h"
#include "tui/term/history.h"
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

enum filter_state {
	FILTER_GROUND,
	FILTER_ESCAPE,
	FILTER_CSI,
	FILTER_STRING,
	FILTER_STRING_ESCAPE,
};

struct csi {
	int params[CSI_PARAMS_MAX]; /* -1 = not given */
	uint32_t colons;            /* bit i: param i was joined to the one before by ':' */
	int count;                  /* at least 1 */
	char leader;                /* one of < = > ? or 0 */
	char intermediate;          /* 0 if none */
	char final;
	bool bad; /* cannot be one that we know: swallow it */
};

struct filter {
	enum filter_state state;
	unsigned char utf8[4]; /* a character cut by the end of the input */
	int utf8_have;
	struct csi csi;
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

enum charset {
	CHARSET_ASCII,
	CHARSET_DEC_GRAPHICS,
	CHARSET_UK,
};

struct charsets {
	enum charset g[4];
	int gl;     /* the set in use */
	int single; /* SS2/SS3: the set of the next character, 0 = none */
};

struct saved_cursor {
	bool valid;
	int row;
	int col;
	bool at_end;
	bool origin;
	struct term_style pen;
	struct charsets charsets;
};

struct term {
	VTerm *vt;
	VTermState *vt_state;
	struct term_callbacks callbacks;
	void *arg;

	struct cell_tables tables;
	struct grid *screens[2]; /* main, alternate */
	struct grid *grid;       /* the one in use */
	struct history *history;
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

	struct filter filter;
	struct charsets charsets;
	struct saved_cursor saved[2];
	struct term_modes modes;
	struct term_cursor cursor_look; /* visible, blink, shape; the place is libvterm's */
	bool newline_mode;
	bool margins_mode; /* DECLRMM */
	bool protect;      /* DECSCA */
	struct grid_rect region;
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

/* filter.c */
void filter_feed(struct term *t, const unsigned char *bytes, size_t n);
void filter_reset(struct filter *f);
void filter_start_escape(struct filter *f);

/* ground.c */
size_t ground_feed(
	struct term *t, const unsigned char *p, size_t n); /* returns the bytes used */
size_t ground_finish(struct term *t, const unsigned char *bytes, size_t n);
void ground_control(struct term *t, unsigned char c); /* a C0 control within a sequence */
void ground_repeat(struct term *t, int count);

/* csi.c, esc.c, osc.c, sgr.c */
void csi_handle(struct term *t, const struct csi *csi);
void esc_handle(struct term *t, char intermediate, char final);
void esc_save_cursor(struct term *t);
void esc_restore_cursor(struct term *t);
void esc_soft_reset(struct term *t);
void string_handle(struct term *t, char kind, char *text, size_t n);
void string_push_title(struct term *t);
void string_pop_title(struct term *t);
size_t string_limit(const struct filter *f);
void sgr_handle(struct term *t, const struct csi *csi);
size_t sgr_format(const struct term_style *style, char *out, size_t size);
int csi_param(const struct csi *csi, int index, int missing);

/* mode.c */
void mode_set(struct term *t, bool private_mode, int number, bool on);
int mode_get(const struct term *t, bool private_mode, int number); /* as DECRPM: 0, 1, 2 … */
void mode_init(struct term *t);
void mode_switch_screen(struct term *t, bool alternate, bool clear);

/* state.c: libvterm */
void state_start(struct term *t, int cols, int rows);
void state_write(struct term *t, const char *bytes, size_t n);
void state_writef(struct term *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void state_scroll_up(struct term *t, struct grid_rect rect, int rows);
void state_add_mark(struct term *t, uint32_t codepoint); /* combining, at the cursor */
/* Puts the cursor somewhere (brought inside) and on its character: a pending wrap is over. */
void state_move(struct term *t, int row, int col);
void state_clear_region(struct term *t); /* region and margins = whole screen */
void state_cursor(const struct term *t, int *row, int *col);
void state_fill(struct term *t, struct grid_rect rect, struct term_cell cell);
uint32_t state_pen_id(struct term *t);
uint32_t state_erase_id(struct term *t);

/* text.c: checked UTF-8 with format effectors (BS … CR) */
void text_put(struct term *t, const unsigned char *bytes, size_t n);
void text_control(struct term *t, unsigned char c); /* BS … CR */

/* reflow.c: the main screen at another size; the cursor is moved along */
void reflow_main(struct term *t, int cols, int rows, int *cursor_row, int *cursor_col,
	bool *cursor_at_end);

/* term.c */
void term_reply(struct term *t, const char *bytes, size_t n); /* to a query: limited */
void term_replyf(struct term *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void term_send(struct term *t, const char *bytes, size_t n); /* input of the user */
void term_touch(struct term *t); /* something visible besides cells changed */
