// SPDX-License-Identifier: Apache-2.0
/* Text on its way to the grid. ASCII and the format effectors are most of what a terminal gets and
 * leave nothing to decide, so they are written here, without libvterm; everything else (widths of
 * other characters, insert mode, side margins, tabs) is libvterm's. Who moved the cursor last knows
 * where it is: t->vt_behind says that it was us, and state.c tells libvterm before it is asked again.
 * tests/fuzz/term compares both ways on every input. */
#include "tui/term/internal.h"

#include <utf8proc.h>

enum {
	BS = 0x08,
	HT = 0x09,
	LF = 0x0a,
	CR = 0x0d,
	SHORT_ASCII = 16, /* fewer ASCII bytes between other text go with it */
};

static void line_feed(struct term *t, int *row)
{
	if (*row == t->region.bottom - 1) {
		struct grid_rect rect = t->region;
		rect.left = 0;
		rect.right = t->grid->cols;
		state_scroll_up(t, rect, 1);
	} else if (*row < t->grid->rows - 1) {
		(*row)++;
	}
}

void text_control(struct term *t, unsigned char c)
{
	int row;
	int col;
	t->changed = true;
	if (c == HT || t->margins_mode) {
		char byte = (char)c;
		state_write(t, &byte, 1);
		state_settle(t);
		return;
	}
	state_cursor(t, &row, &col);
	if (c == CR)
		col = 0;
	else if (c == BS)
		col -= col > 0;
	else {
		line_feed(t, &row);
		if (t->newline_mode)
			col = 0;
	}
	t->row = row;
	t->col = col;
	t->vt_behind = true;
	t->last.valid = false;
}

/* The first part of what a character does after one in the last column. The row is marked before it
 * moves, as it may become scrollback at once, and after, as scrolling unmarks what lost its neighbour. */
static void wrap(struct term *t, int *row, int *col)
{
	int old_row = *row;
	struct grid_row *before = grid_row(t->grid, old_row);
	bool was_last = t->last.valid && t->last.row == old_row;
	bool scrolls = old_row == t->region.bottom - 1;
	bool moves = old_row < t->grid->rows - 1;
	if (was_last && (scrolls || moves)) {
		before->wrapped = true;
		before->wrap_short = false;
	}
	line_feed(t, row);
	*col = 0;
	if (was_last && t->last.valid && t->last.row == *row - 1)
		grid_row(t->grid, t->last.row)->wrapped = true;
}

static void put_ascii(struct term *t, const unsigned char *p, size_t n)
{
	const int cols = t->grid->cols;
	const uint32_t style = state_pen_id(t);
	const uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	bool pending = state_wrap_pending(t);
	int row_number;
	int col;
	state_cursor(t, &row_number, &col);
	while (n > 0) {
		if (pending)
			wrap(t, &row_number, &col);
		if (!t->modes.autowrap && col == cols - 1) {
			p += n - 1; /* all on the last column: the last one stays */
			n = 1;
		}
		int count = cols - col;
		if ((size_t)count > n)
			count = (int)n;
		struct grid_row *row = grid_row(t->grid, row_number);
		if (row->used > col)
			grid_split_pairs(row, cols, col, count);
		struct term_cell *cell = row->cells + col;
		for (int i = 0; i < count; i++)
			cell[i] = (struct term_cell){ p[i] | flags, style };
		p += count;
		n -= (size_t)count;
		col += count;
		if (col > row->used)
			row->used = col;
		row->revision = t->revision;
		t->last.valid = true;
		t->last.row = row_number;
		t->last.end = col;
		if (col < cols)
			break;
		row->wrapped = row->wrap_short = false;
		pending = t->modes.autowrap;
		col = cols - 1;
	}
	t->row = row_number;
	t->col = col;
	t->vt_behind = true;
}

static void write_vt(struct term *t, const unsigned char *p, size_t n)
{
	t->in_text = true;
	state_write(t, (const char *)p, n);
	t->in_text = false;
}

/* Without autowrap libvterm would still wrap a wide character that does not fit. It is dropped (as in
 * tmux). Rare, so one character at a time. */
static void put_unwrapped(struct term *t, const unsigned char *p, size_t n)
{
	int cols = t->grid->cols;
	int row;
	int col;
	while (n > 0) {
		uint32_t codepoint;
		size_t length = cell_decode_utf8((const char *)p, n, &codepoint);
		state_cursor(t, &row, &col);
		if (col < cols - 1 || utf8proc_charwidth((utf8proc_int32_t)codepoint) < 2)
			write_vt(t, p, length);
		if (t->last.valid && t->last.end >= cols) {
			/* libvterm may have left it on the first half of a wide one */
			state_cursor(t, &t->row, &t->col);
			t->vt_behind = true;
		}
		p += length;
		n -= length;
	}
}

/* Through libvterm. A wrap that it does not know of, because we wrote the last column, is ours. */
static void put_other(struct term *t, const unsigned char *p, size_t n)
{
	if (!t->modes.autowrap) {
		put_unwrapped(t, p, n);
		return;
	}
	if ((t->vt_behind || t->wrap_is_ours) && state_wrap_pending(t) && !t->margins_mode) {
		int row;
		int col;
		state_cursor(t, &row, &col);
		wrap(t, &row, &col);
		t->row = row;
		t->col = col;
		t->vt_behind = true;
		t->last.valid = false;
	}
	write_vt(t, p, n);
}

static bool is_ascii(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

void text_put(struct term *t, const unsigned char *p, size_t n)
{
	bool direct = t->direct && !t->modes.insert && !t->margins_mode && t->grid->cols > 1;
	size_t i = 0;
	while (i < n) {
		size_t start = i;
		while (i < n && is_ascii(p[i]))
			i++;
		bool other_follows = i < n && p[i] >= 0x80 && i - start < SHORT_ASCII;
		if (i > start && direct && !other_follows) {
			put_ascii(t, p + start, i - start);
			continue;
		}
		if (i == start && p[i] < 0x20) {
			text_control(t, p[i++]);
			continue;
		}
		/* up to a control, or enough ASCII to change over for */
		size_t ascii = 0;
		while (i < n && p[i] >= 0x20 && !(direct && ascii >= SHORT_ASCII)) {
			ascii = is_ascii(p[i]) ? ascii + 1 : 0;
			i++;
		}
		put_other(t, p + start, i - start);
	}
	t->changed = true;
}
