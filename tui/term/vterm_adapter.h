// SPDX-License-Identifier: Apache-2.0
/* libvterm, and the only file that knows it: editing by lines and columns, erasing, scrolling, tab stops, and the
 * encoding of keys. Works with 0.1.4 to 0.3.3 by the same code (docs/terminal.md, "Releases of libvterm").
 *
 * Who owns what, and how the other side learns of it:
 *
 *   state              | owner    | libvterm's copy
 *   -------------------|----------|---------------------------------------------------------------------------
 *   cursor             | ours     | told before an operation if it differs; what the operation made of it is read back
 *   region, margins    | ours     | told before an operation that looks at them, if they are not those told last
 *   DECCKM, DECKPAM    | ours     | told before a key, if they are not those told last
 *   size               | ours     | told by term_vterm_resize()
 *   tab stops          | libvterm | none of ours
 *   pending wrap       | ours     | never told: its own flag stays off, because it never gets text
 *   origin mode        | ours     | never told: it is given absolute places
 *   insert, autowrap,  | ours     | never told: they concern text, or how things look
 *   pen, cursor's look |          |
 *   cells, scrollback  | ours     | none: libvterm says by on_erase and on_scroll which change
 *
 * So nothing has to be synchronised by callers: they change what is theirs, and ask for an operation. Costs: an
 * operation is one sequence of a dozen bytes through libvterm's parser, one more when the cursor was moved since the
 * last one, two more when the region was; nothing depends on the size of the screen but the cells that change. A
 * tab or a column operation is as dear as the others: text, which is what floods, never comes here.
 *
 * Callbacks run inside term_vterm_run() and term_vterm_key() and must not call back into the adapter. Rectangles
 * and counts come as libvterm has them and may reach outside the screen: the receiver clips. One thread. Nothing
 * here fails: allocation aborts. */
#pragma once

#include "tui/term/grid.h"

struct term_vterm;

struct term_vterm_callbacks {
	void (*on_erase)(struct term_grid_rect rect, bool selective, void *arg);
	/* Content moves up by `up` rows (down if negative), or left by `left` columns; the other is 0. */
	void (*on_scroll)(struct term_grid_rect rect, int up, int left, void *arg);
	void (*on_output)(const char *bytes, size_t n, void *arg); /* of a key */
};

/* Where an operation happens. Rows and columns count from 0 and lie on the screen, the region has a row and a column
 * at least. */
struct term_place {
	int row;
	int col;
	bool at_end; /* behind the character in the last column, where the next one wraps */
	struct term_grid_rect region; /* DECSTBM and DECSLRM; whole when not set */
};

/* Those with a count take 1 … 65535. */
enum term_vterm_op {
	TERM_VTERM_TAB_FORWARD,   /* HT, CHT */
	TERM_VTERM_TAB_BACK,      /* CBT */
	TERM_VTERM_TAB_SET,       /* HTS; no count */
	TERM_VTERM_TAB_CLEAR,     /* TBC: count is 0 (here) or 3 (all) */
	TERM_VTERM_INDEX,         /* IND; no count */
	TERM_VTERM_NEXT_LINE,     /* NEL; no count */
	TERM_VTERM_REVERSE_INDEX, /* RI; no count */
	TERM_VTERM_INSERT_LINES,
	TERM_VTERM_DELETE_LINES,
	TERM_VTERM_SCROLL_UP,
	TERM_VTERM_SCROLL_DOWN,
	TERM_VTERM_INSERT_COLUMNS,
	TERM_VTERM_DELETE_COLUMNS,
	TERM_VTERM_ERASE_DISPLAY, /* ED, and the three below: count is 0, 1 or 2 */
	TERM_VTERM_ERASE_DISPLAY_SELECTIVE,
	TERM_VTERM_ERASE_LINE,
	TERM_VTERM_ERASE_LINE_SELECTIVE,
	TERM_VTERM_OP_COUNT,
};

/* callbacks are copied. Nothing is called before term_vterm_run(). */
struct term_vterm *term_vterm_new(
	int cols, int rows, const struct term_vterm_callbacks *callbacks, void *arg);
void term_vterm_free(struct term_vterm *v); /* NULL is fine */
/* Tab stops that are still on the screen stay, new columns have the usual ones. Erases nothing. */
void term_vterm_resize(struct term_vterm *v, int cols, int rows);
void term_vterm_reset(struct term_vterm *v); /* RIS: the usual tab stops. Erases nothing. */

/* Does one operation; place->row and place->col are where it left the cursor, the rest is not changed. */
void term_vterm_run(
	struct term_vterm *v, struct term_place *place, enum term_vterm_op op, int count);

/* Encodes a key that has no byte of its own, up to F12. mods: TERM_MOD_*. */
void term_vterm_key(struct term_vterm *v, enum term_key key, unsigned mods, bool app_cursor,
	bool app_keypad);

/* Compares all that is held twice, by asking libvterm in ways it answers: where its cursor can go, what it makes of a
 * character and of two keys. Returns what differs, in words, or NULL. Leaves everything as it was; costs some thirty
 * sequences. Debug and fuzz builds call it after every input and abort. */
const char *term_vterm_check(struct term_vterm *v, const struct term_place *place);
