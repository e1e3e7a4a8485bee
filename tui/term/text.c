// SPDX-License-Identifier: Apache-2.0
/* Text on its way to the grid: what a character does to the cursor, the margins and the row it stands in. All of
 * it is decided here, widths by the program's one table; libvterm sees none of it. Runs of ASCII and of
 * other characters are written as runs; tests/fuzz/term compares that with writing each character by itself. */
#include "tui/term/interpreter.h"

#include "engine/base/width.h"

#include <string.h>

enum {
	BEL = 0x07,
	BS = 0x08,
	HT = 0x09,
	CR = 0x0d,
	SHIFT_OUT = 0x0e,
	SHIFT_IN = 0x0f,
	REPLACEMENT = 0xfffd,
};

/* The column that text may not reach from here: the right margin's, or the end when it stands outside. */
static int right_edge(const struct term *t)
{
	return t->place.col < t->place.region.right ? t->place.region.right : t->grid->cols;
}

static int left_edge(const struct term *t)
{
	return t->place.col >= t->place.region.left ? t->place.region.left : 0;
}

/* Down, and at the end of the region it scrolls, unless the cursor stands beside the margins. True if it did. */
static bool line_feed(struct term *t)
{
	if (t->place.row == t->place.region.bottom - 1) {
		if (t->place.col < t->place.region.left ||
			t->place.col >= t->place.region.right)
			return false;
		term_state_scroll(t, t->place.region, 1, 0);
		return true;
	}
	if (t->place.row < t->grid->rows - 1)
		t->place.row++;
	return false;
}

/* BS … CR */
static void format_effector(struct term *t, unsigned char c)
{
	t->changed = true;
	if (c == HT) {
		if (!t->place.at_end) /* behind the last column there is no stop, and no way back */
			term_vterm_run(t->vterm, &t->place, TERM_VTERM_TAB_FORWARD, 1);
		return;
	}
	if (c == CR) {
		t->place.col = t->modes.origin ? t->place.region.left : left_edge(t);
	} else if (c == BS) {
		t->place.col -= t->place.col > left_edge(t);
	} else {
		line_feed(t);
		if (t->newline_mode)
			t->place.col = left_edge(t);
	}
	t->place.at_end = false;
}

/* The first part of what a character does that finds no room in its row (is_short: it is wide, and one empty
 * column was left). The row is marked before it moves, as it may become scrollback at once, and after, as scrolling unmarks
 * what lost its neighbour. */
static void wrap(struct term *t, bool is_short)
{
	int old_row = t->place.row;
	bool is_line = right_edge(t) == t->grid->cols && left_edge(t) == 0;
	bool moves = old_row == t->place.region.bottom - 1 || old_row < t->grid->rows - 1;
	if (is_line && moves) {
		struct term_grid_row *before = grid_row(t->grid, old_row);
		before->wrapped = true;
		before->wrap_short = is_short;
	}
	bool has_scrolled = line_feed(t);
	if (is_line &&
		(has_scrolled ? t->place.row > t->place.region.top : t->place.row > old_row)) {
		struct term_grid_row *before = grid_row(t->grid, t->place.row - 1);
		before->wrapped = true;
		before->wrap_short = is_short;
	}
	t->place.col = left_edge(t);
	t->place.at_end = false;
}

/* After text up to a column. */
static void advance_cursor(struct term *t, int edge, int end)
{
	t->place.at_end = end >= edge;
	t->place.col = t->place.at_end ? edge - 1 : end;
}

static void put_cells(struct term *t, uint32_t c, int width)
{
	struct term_grid_row *row = grid_row(t->grid, t->place.row);
	int edge = right_edge(t);
	int end = t->place.col + width;
	if (t->modes.insert) {
		struct term_grid_rect rest = { t->place.row, t->place.row + 1, t->place.col,
			edge };
		term_grid_scroll_cols(t->grid, rest, -width, 0, t->revision);
	}
	if (row->used > t->place.col)
		term_grid_split_pairs(row, t->grid->cols, t->place.col, width);
	uint32_t style = term_state_pen_id(t);
	uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	struct term_cell *cell = &row->cells[t->place.col];
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
	if (t->place.at_end && t->modes.autowrap)
		wrap(t, false);
	int edge = right_edge(t);
	if (width == 2 && edge - left_edge(t) < 2) { /* it fits nowhere */
		c = REPLACEMENT;
		width = 1;
	}
	if (width == 2 && t->place.col + 2 > edge) {
		if (!t->modes.autowrap)
			return; /* as in tmux */
		wrap(t, grid_row(t->grid, t->place.row)->cells[t->place.col].text == 0);
	}
	put_cells(t, c, width);
}

static void put_ascii(struct term *t, const unsigned char *p, size_t n)
{
	const int cols = t->grid->cols;
	const uint32_t style = term_state_pen_id(t);
	const uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	while (n > 0) {
		if (t->place.at_end && t->modes.autowrap)
			wrap(t, false);
		if (!t->modes.autowrap && t->place.col == cols - 1) {
			p += n - 1; /* all on the last column: the last one stays */
			n = 1;
		}
		int count = cols - t->place.col;
		if ((size_t)count > n)
			count = (int)n;
		struct term_grid_row *row = grid_row(t->grid, t->place.row);
		if (row->used > t->place.col)
			term_grid_split_pairs(row, cols, t->place.col, count);
		struct term_cell *cell = row->cells + t->place.col;
		for (int i = 0; i < count; i++)
			cell[i] = (struct term_cell){ p[i] | flags, style };
		p += count;
		n -= (size_t)count;
		int end = t->place.col + count;
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
	const uint32_t style = term_state_pen_id(t);
	const uint32_t flags = t->protect ? CELL_PROTECTED : 0;
	struct term_grid_row *row = grid_row(t->grid, t->place.row);
	int col = t->place.col;
	size_t taken = 0;
	if (t->place.at_end)
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

static void put_run(struct term *t, const unsigned char *p, size_t n)
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
			format_effector(t, p[i++]);
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

/* --- what the parser says ----------------------------------------------------------------- */

static uint32_t last_of(const unsigned char *p, size_t n)
{
	size_t at = n - 1;
	while (at > 0 && (p[at] & 0xc0) == 0x80)
		at--;
	uint32_t codepoint;
	if (p[at] < 0x20)
		return 0;
	term_cell_decode_utf8((const char *)p + at, n - at, &codepoint);
	return codepoint;
}

static void remember_and_put(struct term *t, const unsigned char *p, size_t n)
{
	t->last_char = last_of(p, n);
	put_run(t, p, n);
}

/* DEC special graphics, 0x5f … 0x7e. */
static const uint16_t dec_graphics[] = { 0x00a0, 0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a,
	0x00b0, 0x00b1, 0x2424, 0x240b, 0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba, 0x23bb,
	0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534, 0x252c, 0x2502, 0x2264, 0x2265, 0x03c0,
	0x2260, 0x00a3, 0x00b7 };
_Static_assert(
	sizeof dec_graphics / sizeof dec_graphics[0] == 0x7f - 0x5f, "one for each code");

/* Text while another character set than ASCII is in use; rare, so one character at a time. */
static void put_translated(struct term *t, unsigned char c)
{
	enum term_charset set = t->charsets.g[t->charsets.gl];
	if (t->charsets.single != 0)
		set = t->charsets.g[t->charsets.single];
	t->charsets.single = 0;
	uint32_t codepoint = c;
	if (set == CHARSET_DEC_GRAPHICS && c >= 0x5f)
		codepoint = dec_graphics[c - 0x5f];
	else if (set == CHARSET_UK && c == '#')
		codepoint = 0x00a3;
	char utf8[4];
	size_t n = term_cell_encode_utf8(codepoint, utf8);
	remember_and_put(t, (const unsigned char *)utf8, n);
}

static bool is_translating(const struct term *t)
{
	return t->charsets.single != 0 || t->charsets.g[t->charsets.gl] != CHARSET_ASCII;
}

void term_text_put(struct term *t, const unsigned char *p, size_t n)
{
	while (n > 0 && is_translating(t)) {
		size_t i = 0;
		while (i < n && !is_ascii(p[i]))
			i++;
		if (i > 0) {
			remember_and_put(t, p, i);
		} else {
			put_translated(t, p[0]);
			i = 1;
		}
		p += i;
		n -= i;
	}
	if (n > 0)
		remember_and_put(t, p, n);
}

void term_text_repeat(struct term *t, int count)
{
	uint32_t c = t->last_char;
	if (c == 0)
		return;
	/* a line at most: seven bytes must not cost a screen of work each time */
	if (count > t->grid->cols)
		count = t->grid->cols;
	char utf8[4];
	size_t n = term_cell_encode_utf8(c, utf8);
	char text[4 * 64];
	while (count > 0) {
		int piece = count < 64 ? count : 64;
		for (int i = 0; i < piece; i++)
			memcpy(text + (size_t)i * n, utf8, n);
		put_run(t, (const unsigned char *)text, (size_t)piece * n);
		count -= piece;
	}
}

void term_text_control(struct term *t, unsigned char c)
{
	if (c == BEL) {
		t->bell = true;
	} else if (c == SHIFT_OUT || c == SHIFT_IN) {
		t->charsets.gl = c == SHIFT_OUT ? 1 : 0;
	} else if (c >= BS && c <= CR) {
		format_effector(t, c);
		t->last_char = 0;
	}
}

void term_text_mark(struct term *t, uint32_t codepoint)
{
	int col = t->place.at_end ? t->place.col : t->place.col - 1;
	if (col < 0)
		return;
	struct term_grid_row *row = grid_row(t->grid, t->place.row);
	if ((row->cells[col].text & CELL_TAIL) && col > 0)
		col--;
	struct term_cell *cell = &row->cells[col];
	if ((cell->text & CELL_VALUE) == 0 || (cell->text & CELL_TAIL))
		return;
	*cell = term_cell_add_mark(&t->tables, *cell, codepoint);
	row->revision = t->revision;
	t->changed = true;
}
