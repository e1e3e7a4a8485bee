// SPDX-License-Identifier: Apache-2.0
/* Text on its way to the grid: what a character does to the cursor, the margins and the row it stands in. All of
 * it is decided here, widths by the program's one table; libvterm sees none of it. Runs of ASCII and of
 * other characters are written as runs; tests/fuzz/term compares that with writing each character by itself. */
#include "engine/base/width.h"
#include "tui/term/state.h"

enum {
	BS = 0x08,
	HT = 0x09,
	CR = 0x0d,
	REPLACEMENT = 0xfffd,
};

/* The column that text may not reach from here: the right margin's, or the end when it stands outside. */
static int right_edge(const struct term *t)
{
	return t->col < t->region.right ? t->region.right : t->grid->cols;
}

static int left_edge(const struct term *t)
{
	return t->col >= t->region.left ? t->region.left : 0;
}

/* Down, and at the end of the region it scrolls, unless the cursor stands beside the margins. True if it did. */
static bool line_feed(struct term *t)
{
	if (t->row == t->region.bottom - 1) {
		if (t->col < t->region.left || t->col >= t->region.right)
			return false;
		term_vterm_scroll_up(t, t->region, 1);
		return true;
	}
	if (t->row < t->grid->rows - 1)
		t->row++;
	return false;
}

void term_text_control(struct term *t, unsigned char c)
{
	t->changed = true;
	if (c == HT) {
		if (!t->at_end) /* behind the last column there is no stop, and no way back */
			term_vterm_write(t, "\t", 1);
		return;
	}
	if (c == CR) {
		t->col = t->modes.origin ? t->region.left : left_edge(t);
	} else if (c == BS) {
		t->col -= t->col > left_edge(t);
	} else {
		line_feed(t);
		if (t->newline_mode)
			t->col = left_edge(t);
	}
	t->at_end = false;
	t->vt_behind = true;
}

/* The first part of what a character does that finds no room in its row (is_short: it is wide, and one empty
 * column was left). The row is marked before it moves, as it may become scrollback at once, and after, as scrolling unmarks
 * what lost its neighbour. */
static void wrap(struct term *t, bool is_short)
{
	int old_row = t->row;
	bool is_line = right_edge(t) == t->grid->cols && left_edge(t) == 0;
	bool moves = old_row == t->region.bottom - 1 || old_row < t->grid->rows - 1;
	if (is_line && moves) {
		struct term_grid_row *before = grid_row(t->grid, old_row);
		before->wrapped = true;
		before->wrap_short = is_short;
	}
	bool has_scrolled = line_feed(t);
	if (is_line && (has_scrolled ? t->row > t->region.top : t->row > old_row)) {
		struct term_grid_row *before = grid_row(t->grid, t->row - 1);
		before->wrapped = true;
		before->wrap_short = is_short;
	}
	t->col = left_edge(t);
	t->at_end = false;
}

/* After text up to a column. */
static void advance_cursor(struct term *t, int edge, int end)
{
	t->at_end = end >= edge;
	t->col = t->at_end ? edge - 1 : end;
	t->vt_behind = true;
}

static void put_cells(struct term *t, uint32_t c, int width)
{
	struct term_grid_row *row = grid_row(t->grid, t->row);
	int edge = right_edge(t);
	int end = t->col + width;
	if (t->modes.insert) {
		struct term_grid_rect rest = { t->row, t->row + 1, t->col, edge };
		term_grid_scroll_cols(t->grid, rest, -width, 0, t->revision);
	}
	if (row->used > t->col)
		term_grid_split_pairs(row, t->grid->cols, t->col, width);
	uint32_t style = term_vterm_pen_id(t);
	uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	struct term_cell *cell = &row->cells[t->col];
	cell[0] = (struct term_cell){ c | flags, style };
	if (width == 2) {
		cell[0].text |= CELL_WIDE;
		cell[1] = (struct term_cell){ CELL_TAIL | flags, style };
	}
	if (end > row->used)
		row->used = end;
	if (end >= t->grid->cols)
		row->wrapped = row->wrap_short = false;
	row->revision = t->revision;
	advance_cursor(t, edge, end);
}

static void put_char(struct term *t, uint32_t c, int width)
{
	if (t->at_end && t->modes.autowrap)
		wrap(t, false);
	int edge = right_edge(t);
	if (width == 2 && edge - left_edge(t) < 2) { /* it fits nowhere */
		c = REPLACEMENT;
		width = 1;
	}
	if (width == 2 && t->col + 2 > edge) {
		if (!t->modes.autowrap)
			return; /* as in tmux */
		wrap(t, grid_row(t->grid, t->row)->cells[t->col].text == 0);
	}
	put_cells(t, c, width);
}

static void put_ascii(struct term *t, const unsigned char *p, size_t n)
{
	const int cols = t->grid->cols;
	const uint32_t style = term_vterm_pen_id(t);
	const uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	while (n > 0) {
		if (t->at_end && t->modes.autowrap)
			wrap(t, false);
		if (!t->modes.autowrap && t->col == cols - 1) {
			p += n - 1; /* all on the last column: the last one stays */
			n = 1;
		}
		int count = cols - t->col;
		if ((size_t)count > n)
			count = (int)n;
		struct term_grid_row *row = grid_row(t->grid, t->row);
		if (row->used > t->col)
			term_grid_split_pairs(row, cols, t->col, count);
		struct term_cell *cell = row->cells + t->col;
		for (int i = 0; i < count; i++)
			cell[i] = (struct term_cell){ p[i] | flags, style };
		p += count;
		n -= (size_t)count;
		int end = t->col + count;
		if (end > row->used)
			row->used = end;
		if (end >= cols)
			row->wrapped = row->wrap_short = false;
		row->revision = t->revision;
		advance_cursor(t, cols, end);
	}
}

/* Other characters, as far as they find room in the row: what a row costs is paid once for all of them. Returns the
 * bytes that were taken. */
static size_t put_others(struct term *t, const unsigned char *p, size_t n)
{
	const int cols = t->grid->cols;
	const uint32_t style = term_vterm_pen_id(t);
	const uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	struct term_grid_row *row = grid_row(t->grid, t->row);
	int col = t->col;
	size_t taken = 0;
	if (t->at_end)
		return 0;
	while (taken < n && p[taken] >= 0x80) {
		uint32_t c;
		size_t length = term_cell_decode_utf8((const char *)p + taken, n - taken, &c);
		int is_wide = width_of(c) == 2;
		if (col + is_wide >= cols)
			break;
		if (taken == 0)
			term_grid_split_pairs(row, cols, col, 1 + is_wide);
		row->cells[col++] =
			(struct term_cell){ c | flags | (is_wide ? CELL_WIDE : 0), style };
		if (is_wide)
			row->cells[col++] = (struct term_cell){ CELL_TAIL | flags, style };
		taken += length;
	}
	if (taken == 0)
		return 0;
	if (col < cols &&
		(row->cells[col].text & CELL_TAIL)) /* its first half is overwritten */
		row->cells[col].text = 0;
	if (col > row->used)
		row->used = col;
	if (col >= cols)
		row->wrapped = row->wrap_short = false;
	row->revision = t->revision;
	advance_cursor(t, cols, col);
	return taken;
}

static bool is_ascii(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

void term_text_put(struct term *t, const unsigned char *p, size_t n)
{
	bool direct = t->direct && !t->modes.insert && !t->margins_mode;
	size_t i = 0;
	while (i < n) {
		size_t start = i;
		while (i < n && direct && is_ascii(p[i]))
			i++;
		if (i > start) {
			put_ascii(t, p + start, i - start);
			continue;
		}
		if (p[i] < 0x20) {
			term_text_control(t, p[i++]);
			continue;
		}
		if (direct)
			i += put_others(t, p + i, n - i);
		if (i == start) { /* at the end of a row, or where not all is plain */
			uint32_t c;
			i += term_cell_decode_utf8((const char *)p + i, n - i, &c);
			put_char(t, c, width_of(c) == 2 ? 2 : 1);
		}
	}
	t->changed = true;
}
