// SPDX-License-Identifier: Apache-2.0
/* libvterm's state layer: it decides where characters go, how the cursor moves and what scrolls.
 * Only input that filter.c has understood gets here. Facts this file relies on (0.1.4 to 0.3):
 *  - each write is decoded into an array on the stack: VT_WRITE_BYTES at most
 *  - it never sees combining marks (state_add_mark), REP, saved cursors, SGR, or screen switches
 *  - after a wrap the next glyph is put in column 0 of the next row, with nothing but a scroll in
 *    between; the cursor callback is called at the end of a piece of text
 *  - rows and columns it names may lie outside: each is checked */
#include "tui/term/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint32_t intern_style(struct term *t, const struct term_style *style)
{
	static const struct term_style plain;
	if (memcmp(style, &plain, sizeof plain) == 0)
		return 0;
	return intern_add(t->tables.styles, style);
}

static void resolve_pen(struct term *t)
{
	struct term_style erase = { .bg = t->pen.bg };
	t->pen_id = intern_style(t, &t->pen);
	t->erase_id = intern_style(t, &erase);
	t->pen_changed = false;
}

uint32_t state_pen_id(struct term *t)
{
	if (t->pen_changed)
		resolve_pen(t);
	return t->pen_id;
}

uint32_t state_erase_id(struct term *t)
{
	if (t->pen_changed)
		resolve_pen(t);
	return t->erase_id;
}

/* The row above was left because it was full, not because the program moved. */
static void note_wrap(struct term *t, int row, int width)
{
	if (t->last.row != row - 1 || t->last.row < 0)
		return;
	int cols = t->grid->cols;
	bool is_short = t->last.end == cols - 1 && width == 2;
	if (t->last.end < cols && !is_short)
		return;
	struct grid_row *before = grid_row(t->grid, row - 1);
	before->wrapped = true;
	before->wrap_short = is_short;
}

static int on_putglyph(VTermGlyphInfo *info, VTermPos pos, void *user)
{
	struct term *t = user;
	struct grid *g = t->grid;
	if (t->resizing || pos.row < 0 || pos.row >= g->rows || pos.col < 0 ||
		pos.col >= g->cols || info->chars[0] == 0)
		return 1;
	uint32_t text = info->chars[0] & CELL_VALUE;
	int width = info->width;
	if (width <= 0)
		return 1; /* a mark that we do not know: nothing to put it on */
	if (width > 1) {
		width = 2;
		if (pos.col + 2 > g->cols) {
			width = 1; /* a screen of one column */
			text = 0xfffd;
		}
	}
	if (pos.col == 0 && t->last.valid)
		note_wrap(t, pos.row, width);
	struct grid_row *row = grid_row(g, pos.row);
	struct term_cell *cell = &row->cells[pos.col];
	int end = pos.col + width;
	if (width == 2 && t->modes.insert) {
		/* libvterm makes room for one column only */
		struct grid_rect rest = { pos.row, pos.row + 1, pos.col, g->cols };
		grid_scroll_cols(g, rest, -1, 0, t->revision);
	}
	if (row->used > pos.col)
		grid_split_pairs(row, g->cols, pos.col, width);
	if (t->protect)
		text |= CELL_PROTECTED;
	uint32_t style = state_pen_id(t);
	cell->text = text;
	cell->style = style;
	if (width == 2) {
		cell[0].text |= CELL_WIDE;
		cell[1].text = CELL_TAIL | (text & CELL_PROTECTED);
		cell[1].style = style;
	}
	if (end > row->used)
		row->used = end;
	if (end >= g->cols)
		row->wrapped = row->wrap_short = false;
	row->revision = t->revision;
	t->wrap_is_ours = false;
	t->last.valid = true;
	t->last.row = pos.row;
	t->last.end = end;
	int i = 1;
	for (; i < MARKS_IN_ROW_MAX && info->chars[i] != 0; i++)
		*cell = cell_add_mark(&t->tables, *cell, info->chars[i]);
	if (i == MARKS_IN_ROW_MAX)
		t->filter.drop_marks = true; /* its buffer for them has no limit */
	return 1;
}

/* After a character in the last column libvterm leaves the cursor on it (on the first half, if it is
 * wide). */
static bool is_on_last(const struct term *t, int row, int col)
{
	int cols = t->grid->cols;
	if (t->last.row != row || t->last.end < cols)
		return false;
	return col == cols - 1 ||
	       (col == cols - 2 && (grid_row(t->grid, row)->cells[cols - 1].text & CELL_TAIL));
}

static int on_movecursor(VTermPos pos, VTermPos old, int visible, void *user)
{
	(void)old;
	(void)visible;
	struct term *t = user;
	/* the end of a piece of text: the cursor stands behind it, or on the last column */
	bool behind = pos.row == t->last.row && pos.col == t->last.end;
	if (t->last.valid && !behind && !is_on_last(t, pos.row, pos.col))
		t->last.valid = false;
	return 1;
}

static bool take_rect(const struct term *t, VTermRect from, struct grid_rect *to)
{
	*to = (struct grid_rect){ from.start_row, from.end_row, from.start_col, from.end_col };
	return !t->resizing && grid_clip(t->grid, to);
}

static void push_history(struct term *t, int count)
{
	for (int r = 0; r < count; r++) {
		const struct grid_row *row = grid_row(t->grid, r);
		history_push(t->history, row->cells, (size_t)grid_row_length(t->grid, row),
			row->wrapped, row->marks);
	}
}

/* Whole rows of the screen leave at the top of a region. */
void state_scroll_up(struct term *t, struct grid_rect rect, int rows)
{
	bool whole = rect.left == 0 && rect.right == t->grid->cols;
	int height = rect.bottom - rect.top;
	if (rows > 0 && whole && rect.top == 0 && t->grid == t->screens[0] && !t->history_pause)
		push_history(t, rows < height ? rows : height);
	grid_scroll_rows(t->grid, rect, rows, state_erase_id(t), t->revision);
	if (t->last.valid && t->last.row >= rect.top && t->last.row < rect.bottom) {
		t->last.row -= rows;
		if (t->last.row < rect.top || t->last.row >= rect.bottom)
			t->last.valid = false;
	}
}

static int on_scrollrect(VTermRect vt_rect, int downward, int rightward, void *user)
{
	struct term *t = user;
	struct grid_rect rect;
	if (!take_rect(t, vt_rect, &rect))
		return 1;
	if (t->in_text && downward == 1 && t->last.valid && t->last.row == rect.bottom - 1) {
		/* it may leave the screen now, before note_wrap() sees it */
		struct grid_row *row = grid_row(t->grid, t->last.row);
		row->wrapped = true;
		row->wrap_short = t->last.end < t->grid->cols;
	}
	if (rightward != 0)
		grid_scroll_cols(t->grid, rect, rightward, state_erase_id(t), t->revision);
	else
		state_scroll_up(t, rect, downward);
	return 1;
}

static int on_erase(VTermRect vt_rect, int selective, void *user)
{
	struct term *t = user;
	struct grid_rect rect;
	if (!take_rect(t, vt_rect, &rect))
		return 1;
	if (selective)
		grid_erase_selective(t->grid, rect, state_erase_id(t), t->revision);
	else
		grid_fill(t->grid, rect, cell_blank(state_erase_id(t)), t->revision);
	return 1;
}

static int on_settermprop(VTermProp prop, VTermValue *val, void *user)
{
	struct term *t = user;
	switch (prop) {
	case VTERM_PROP_CURSORVISIBLE:
		t->cursor_look.visible = val->boolean;
		break;
	case VTERM_PROP_CURSORBLINK:
		t->cursor_look.blink = val->boolean;
		break;
	case VTERM_PROP_CURSORSHAPE:
		t->cursor_look.shape =
			val->number == VTERM_PROP_CURSORSHAPE_UNDERLINE  ? TERM_CURSOR_UNDERLINE
			: val->number == VTERM_PROP_CURSORSHAPE_BAR_LEFT ? TERM_CURSOR_BAR
									 : TERM_CURSOR_BLOCK;
		break;
	case VTERM_PROP_REVERSE:
		t->modes.reverse_screen = val->boolean;
		break;
	default:
		return 0;
	}
	return 1;
}

static int on_setlineinfo(
	int row, const VTermLineInfo *info, const VTermLineInfo *old, void *user)
{
	(void)row;
	(void)info;
	(void)old;
	(void)user;
	return 0; /* no double-width or double-height lines */
}

static const VTermStateCallbacks callbacks = {
	.putglyph = on_putglyph,
	.movecursor = on_movecursor,
	.scrollrect = on_scrollrect,
	.erase = on_erase,
	.settermprop = on_settermprop,
	.setlineinfo = on_setlineinfo,
};

/* Only encoded keys come out here: queries are answered in csi.c and osc.c. */
static void on_output(const char *bytes, size_t n, void *user)
{
	term_send(user, bytes, n);
}

void state_start(struct term *t, int cols, int rows)
{
	t->vt = vterm_new(rows, cols);
	vterm_set_utf8(t->vt, 1);
	vterm_output_set_callback(t->vt, on_output, t);
	t->vt_state = vterm_obtain_state(t->vt);
	vterm_state_set_callbacks(t->vt_state, &callbacks, t);
	vterm_state_reset(t->vt_state, 1);
}

/* Tells libvterm where the cursor is, if others have moved it. */
static void catch_up(struct term *t)
{
	if (!t->vt_behind)
		return;
	t->wrap_is_ours = state_wrap_pending(t);
	t->vt_behind = false;
	int row = t->row;
	int col = t->col;
	if (t->modes.origin) {
		row -= t->region.top;
		col -= t->margins_mode ? t->region.left : 0;
	}
	char text[32];
	int n = snprintf(
		text, sizeof text, "\x1b[%d;%dH", row < 0 ? 1 : row + 1, col < 0 ? 1 : col + 1);
	bool valid = t->last.valid;
	vterm_input_write(t->vt, text, (size_t)n);
	t->last.valid = valid;
}

void state_write(struct term *t, const char *bytes, size_t n)
{
	catch_up(t);
	while (n > 0) {
		size_t piece = n < VT_WRITE_BYTES ? n : VT_WRITE_BYTES;
		if (piece < n) /* never through a character */
			while (piece > 1 && ((unsigned char)bytes[piece] & 0xc0) == 0x80)
				piece--;
		vterm_input_write(t->vt, bytes, piece);
		bytes += piece;
		n -= piece;
	}
}

void state_writef(struct term *t, const char *format, ...)
{
	char text[128];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof text)
		state_write(t, text, (size_t)n);
}

static int inside(int value, int start, int end)
{
	return value < start ? start : value >= end ? end - 1 : value;
}

void state_cursor(const struct term *t, int *row, int *col)
{
	VTermPos pos = { t->row, t->col };
	if (!t->vt_behind)
		vterm_state_get_cursorpos(t->vt_state, &pos);
	*row = inside(pos.row, 0, t->grid->rows);
	*col = inside(pos.col, 0, t->grid->cols);
	if (t->last.valid && is_on_last(t, *row, *col))
		*col = t->grid->cols - 1;
}

void state_move(struct term *t, int row, int col)
{
	bool origin = t->modes.origin;
	bool margins = origin && t->margins_mode;
	t->row = inside(
		row, origin ? t->region.top : 0, origin ? t->region.bottom : t->grid->rows);
	t->col = inside(
		col, margins ? t->region.left : 0, margins ? t->region.right : t->grid->cols);
	t->vt_behind = true;
	t->last.valid = false;
}

void state_settle(struct term *t)
{
	state_cursor(t, &t->row, &t->col);
	t->vt_behind = true;
	t->last.valid = false;
}

bool state_wrap_pending(const struct term *t)
{
	int row;
	int col;
	if (!t->modes.autowrap || !t->last.valid || t->last.end < t->grid->cols)
		return false;
	state_cursor(t, &row, &col);
	return t->last.row == row && col == t->grid->cols - 1;
}

void state_add_mark(struct term *t, uint32_t codepoint)
{
	int row_number;
	int col;
	state_cursor(t, &row_number, &col);
	if (!(t->last.valid && t->last.row == row_number && t->last.end > col))
		col--; /* otherwise the character is still under the cursor */
	if (col < 0)
		return;
	struct grid_row *row = grid_row(t->grid, row_number);
	if ((row->cells[col].text & CELL_TAIL) && col > 0)
		col--;
	struct term_cell *cell = &row->cells[col];
	if ((cell->text & CELL_VALUE) == 0 || (cell->text & CELL_TAIL))
		return;
	*cell = cell_add_mark(&t->tables, *cell, codepoint);
	row->revision = t->revision;
	t->changed = true;
}

void state_clear_region(struct term *t)
{
	/* libvterm keeps the margins when their mode is off, and takes them at any time */
	state_writef(t, "\x1b[r\x1b[s");
	t->region = (struct grid_rect){ 0, t->grid->rows, 0, t->grid->cols };
}

void state_fill(struct term *t, struct grid_rect rect, struct term_cell cell)
{
	if (grid_clip(t->grid, &rect))
		grid_fill(t->grid, rect, cell, t->revision);
}
