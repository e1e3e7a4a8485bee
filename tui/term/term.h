// SPDX-License-Identifier: Apache-2.0
/* A terminal without a screen: bytes of a process go in, a grid of cells with scrollback can be
 * read, keys and mouse events are encoded for the process. No I/O, no loop, no ncurses.
 *
 * Everything fed is hostile. A real parser (parser.c) stands in front of libvterm's state layer and
 * only lets through what is known to be harmless; docs/terminal.md lists every sequence. Replies to
 * queries and encoded input leave by on_output and nowhere else.
 *
 * Callbacks run inside term_feed(), term_key_*(), term_mouse(), term_paste(), term_focus() and
 * term_resize(); they must not call back into the same term except for the reading functions.
 *
 * Lines: 0 … rows-1 is the screen, -1 is the newest line of the scrollback, -term_history_rows()
 * the oldest. Columns and lines count from 0. A wide character takes two cells: the first has
 * width 2, the second width 0.
 * Cell and style ids are valid until the next call that takes a non-const term (term_row excepted). */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct term;

enum {
	TERM_COLS_MIN = 1,
	TERM_ROWS_MIN = 1,
	TERM_COLS_MAX = 2000, /* larger sizes are taken as these */
	TERM_ROWS_MAX = 1000,
	TERM_TITLE_BYTES = 256,
	TERM_CLIPBOARD_BYTES = 48 * 1024, /* decoded; the sequence itself is cut at 64 KiB */
	TERM_SYNC_TIMEOUT_MS = 150,
	TERM_TITLES_MAX = 10, /* of the title stack (CSI 22 t): the oldest goes */
	TERM_REPLY_BYTES =
		4096, /* replies to queries that one term_feed() can cause; more are lost */
	TERM_CELL_TEXT_BYTES = 40, /* longest text of one cell, with NUL */
};

struct term_callbacks {
	/* Bytes for the stdin of the process: replies to its queries, keys, mouse, pasted text. */
	void (*on_output)(const char *bytes, size_t n, void *arg);
	/* Something visible changed; at most once for each call. Ask term_revision() what. */
	void (*on_damage)(void *arg);
	void (*on_title)(const char *title, void *arg); /* cleaned by safe_text; "" = reset */
	void (*on_bell)(void *arg);
	/* OSC 52 write, decoded: raw foreign bytes. Whether it may is the caller's policy; the clipboard
	 * is never read. */
	void (*on_clipboard_write)(const char *bytes, size_t n, void *arg);
	/* Shell integration marks (OSC 133). exit_status is -1 unless kind is 'D' with a number. */
	void (*on_mark)(char kind, int exit_status, void *arg);
};

struct term_opts {
	int cols;
	int rows;
	size_t history_bytes;            /* cap of the scrollback; 0 = none */
	struct term_callbacks callbacks; /* each may be NULL */
	void *arg;
};

struct term *term_new(const struct term_opts *opts);
void term_free(struct term *t); /* NULL is fine */

/* Work is proportional to n (with a small factor): the caller slices what it feeds. Sequences and
 * characters may be cut anywhere. Time for synchronized output is clock_mono_ms(). */
void term_feed(struct term *t, const void *bytes, size_t n);
/* Re-flows wrapped lines of the main screen; the scrollback is re-flowed when it is read. The
 * alternate screen is cropped. Scrolling region and margins become the whole screen (as in xterm and
 * tmux), tab stops stay. */
void term_resize(struct term *t, int cols, int rows);
/* What a program is told that asks for the colours of text and background (OSC 10, 11), as 0xRRGGBB. Until this is
 * called it gets no answer. */
void term_set_colors(struct term *t, uint32_t text, uint32_t background);
void term_reset(struct term *t); /* as RIS: everything but the scrollback */

/* --- State ------------------------------------------------------------------------------- */

enum term_cursor_shape {
	TERM_CURSOR_BLOCK,
	TERM_CURSOR_UNDERLINE,
	TERM_CURSOR_BAR,
};

struct term_cursor {
	int row;
	int col;
	bool visible; /* DECTCEM */
	bool blink;
	enum term_cursor_shape shape;
};

enum term_mouse_mode {
	TERM_MOUSE_OFF,
	TERM_MOUSE_X10,    /* 9: presses only */
	TERM_MOUSE_CLICK,  /* 1000 */
	TERM_MOUSE_DRAG,   /* 1002 */
	TERM_MOUSE_MOTION, /* 1003 */
};

struct term_modes {
	enum term_mouse_mode mouse;
	bool mouse_sgr;        /* 1006 */
	bool alternate_screen; /* 47, 1047, 1049 */
	bool alternate_scroll; /* 1007: wheel as cursor keys on the alternate screen */
	bool app_cursor;       /* DECCKM */
	bool app_keypad;       /* DECKPAM */
	bool bracketed_paste;  /* 2004 */
	bool focus_reports;    /* 1004 */
	bool reverse_screen;   /* DECSCNM: draw the whole screen reversed */
	bool insert;           /* IRM */
	bool autowrap;         /* DECAWM */
	bool origin;           /* DECOM */
};

int term_cols(const struct term *t);
int term_rows(const struct term *t);
void term_get_cursor(const struct term *t, struct term_cursor *out);
void term_get_modes(const struct term *t, struct term_modes *out);
const char *term_title(const struct term *t); /* cleaned; borrowed until the next feed */
const char *term_cwd(const struct term *t);   /* OSC 7, cleaned; "" if never told */

/* --- What changed ------------------------------------------------------------------------ */

/* Grows whenever the visible state (cells, cursor, modes) may have changed. A view keeps the value of
 * its last frame and draws the rows that changed since. */
uint64_t term_revision(const struct term *t);
bool term_row_changed(const struct term *t, int row, uint64_t since_revision); /* screen rows */

/* Synchronized output (DECSET 2026): while active the view keeps its last frame. Ends by itself
 * TERM_SYNC_TIMEOUT_MS after it began; left_ms tells a timer when to look again (0 = not active). */
bool term_sync_active(const struct term *t, int64_t now_mono_ms);
int64_t term_sync_left_ms(const struct term *t, int64_t now_mono_ms);

/* --- Reading ----------------------------------------------------------------------------- */

/* 0 = default, else a tag in the top byte. */
typedef uint32_t term_color;
enum {
	TERM_COLOR_DEFAULT = 0,
	TERM_COLOR_INDEXED = 1 << 24, /* | 0 … 255 */
	TERM_COLOR_RGB = 2 << 24,     /* | 0xRRGGBB */
	TERM_COLOR_TAG = 3 << 24,     /* mask of the tag */
};

enum {
	TERM_ATTR_BOLD = 1 << 0,
	TERM_ATTR_FAINT = 1 << 1,
	TERM_ATTR_ITALIC = 1 << 2,
	TERM_ATTR_BLINK = 1 << 3,
	TERM_ATTR_REVERSE = 1 << 4,
	TERM_ATTR_CONCEAL = 1 << 5,
	TERM_ATTR_STRIKE = 1 << 6,
	TERM_ATTR_OVERLINE = 1 << 7,
};

enum term_underline {
	TERM_UNDERLINE_NONE,
	TERM_UNDERLINE_SINGLE,
	TERM_UNDERLINE_DOUBLE,
	TERM_UNDERLINE_CURLY,
	TERM_UNDERLINE_DOTTED,
	TERM_UNDERLINE_DASHED,
};

struct term_style {
	term_color fg;
	term_color bg;
	term_color underline_color;
	uint16_t attrs;     /* TERM_ATTR_* */
	uint16_t underline; /* enum term_underline */
};

struct term_cell {
	uint32_t text;  /* opaque: term_cell_*() */
	uint32_t style; /* id for term_style(); 0 is the default style */
};

/* Copies one line; returns the cells written, min(max_cells, cols), or 0 if there is no such line.
 * Cells after the text are blank. */
size_t term_row(struct term *t, int line, struct term_cell *cells, size_t max_cells);
/* The line goes on in the next one: it was wrapped, not ended. */
bool term_line_is_wrapped(const struct term *t, int line);
/* 0 or the letters of the OSC 133 marks set on this line, as bits 1 << (letter - 'A'). */
unsigned term_line_marks(const struct term *t, int line);

int term_cell_width(struct term_cell cell); /* 1, 2, or 0 (second half of a wide one) */
uint32_t term_cell_base(
	const struct term *t, struct term_cell cell); /* code point; ' ' if blank */
/* UTF-8 with combining marks, NUL-terminated; returns its bytes. Blank: " "; second half: "". */
size_t term_cell_text(
	const struct term *t, struct term_cell cell, char out[TERM_CELL_TEXT_BYTES]);
const struct term_style *term_style(const struct term *t, uint32_t style); /* never NULL */

int term_history_rows(const struct term *t); /* at the present width */
size_t term_history_bytes(const struct term *t);
void term_history_clear(struct term *t);

/* A place that follows its content through output and re-flow (a pinned view, a mark, a selection
 * end). False from term_marker_line(): the line is gone (evicted or cleared). */
struct term_marker {
	uint64_t line_id;
	uint32_t cell; /* cells from the start of the unwrapped line */
};
struct term_marker term_marker_at(const struct term *t, int line, int col);
bool term_marker_line(const struct term *t, struct term_marker anchor, int *line, int *col);

/* Text from (line, col) to (line, col), both included, in reading order: wrapped lines are joined,
 * trailing blanks removed, lines end with \n (not after the last). As rectangle: the columns
 * between the two on each line. */
struct term_pos {
	int line;
	int col;
};
void term_copy(struct term *t, struct term_pos from, struct term_pos to, bool rectangle,
	struct str *out);

/* --- Input for the process --------------------------------------------------------------- */

enum {
	TERM_MOD_SHIFT = 1 << 0,
	TERM_MOD_ALT = 1 << 1,
	TERM_MOD_CTRL = 1 << 2,
};

enum term_key {
	TERM_KEY_ENTER,
	TERM_KEY_TAB,
	TERM_KEY_BACKSPACE,
	TERM_KEY_ESCAPE,
	TERM_KEY_UP,
	TERM_KEY_DOWN,
	TERM_KEY_LEFT,
	TERM_KEY_RIGHT,
	TERM_KEY_INSERT,
	TERM_KEY_DELETE,
	TERM_KEY_HOME,
	TERM_KEY_END,
	TERM_KEY_PAGE_UP,
	TERM_KEY_PAGE_DOWN,
	TERM_KEY_BEGIN, /* the keypad's 5 without NumLock */
	TERM_KEY_KP_0,  /* … KP_9 follow in order */
	TERM_KEY_KP_9 = TERM_KEY_KP_0 + 9,
	TERM_KEY_KP_MULTIPLY,
	TERM_KEY_KP_PLUS,
	TERM_KEY_KP_COMMA,
	TERM_KEY_KP_MINUS,
	TERM_KEY_KP_PERIOD,
	TERM_KEY_KP_DIVIDE,
	TERM_KEY_KP_ENTER,
	TERM_KEY_KP_EQUAL,
	TERM_KEY_F1, /* F1 + n - 1, up to F24 */
	TERM_KEY_F24 = TERM_KEY_F1 + 23,
	TERM_KEY_COUNT,
};

enum term_mouse_event {
	TERM_MOUSE_PRESS,
	TERM_MOUSE_RELEASE,
	TERM_MOUSE_MOVE, /* button: the one held, 0 = none */
};

/* A character key: UTF-8, Ctrl as control byte, Alt as ESC in front. */
void term_key_char(struct term *t, uint32_t codepoint, unsigned mods);
void term_key_sym(struct term *t, enum term_key key, unsigned mods);
/* button: 1 left, 2 middle, 3 right, 4 wheel up, 5 wheel down, 6 and 7 wheel left and right, 8 … 11
 * extra. False (and nothing sent) if the program did not ask for this event. */
bool term_mouse(struct term *t, enum term_mouse_event event, int button, int col, int row,
	unsigned mods);
/* Pasted text: line ends become CR, control bytes other than TAB and any end marker are removed,
 * so that it cannot leave bracketed paste. Sent in pieces through on_output. */
void term_paste(struct term *t, const char *bytes, size_t n);
/* The same in several calls, for text that arrives in pieces: begin, any number of parts, end. */
void term_paste_begin(struct term *t);
void term_paste_part(struct term *t, const char *bytes, size_t n);
void term_paste_end(struct term *t);
void term_focus(struct term *t, bool in); /* sent only if the program asked (1004) */
