// SPDX-License-Identifier: Apache-2.0
/* libvterm's state layer: it keeps tab stops, and decides what lines, erasing and scrolling change.
 * Only input that parser.c has understood gets here. Facts this file relies on (0.1.4 to 0.3):
 *  - it never sees text, REP, saved cursors, SGR, or screen switches
 *  - rows and columns it names may lie outside: each is checked */
#include "tui/term/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint32_t intern_style(struct term *t, const struct term_style *style)
{
	static const struct term_style plain;
	if (memcmp(style, &plain, sizeof plain) == 0)
		return 0;
	return term_string_pool_add(t->tables.styles, style);
}

static void resolve_pen(struct term *t)
{
	struct term_style erase = { .bg = t->pen.bg };
	t->pen_id = intern_style(t, &t->pen);
	t->erase_id = intern_style(t, &erase);
	t->pen_changed = false;
}

uint32_t term_vterm_pen_id(struct term *t)
{
	if (t->pen_changed)
		resolve_pen(t);
	return t->pen_id;
}

uint32_t term_vterm_erase_id(struct term *t)
{
	if (t->pen_changed)
		resolve_pen(t);
	return t->erase_id;
}

static bool take_rect(const struct term *t, VTermRect from, struct term_grid_rect *to)
{
	*to = (struct term_grid_rect){ from.start_row, from.end_row, from.start_col,
		from.end_col };
	return !t->resizing && term_grid_clip(t->grid, to);
}

static void push_history(struct term *t, int count)
{
	for (int r = 0; r < count; r++) {
		const struct term_grid_row *row = grid_row(t->grid, r);
		term_scrollback_push(t->history, row->cells,
			(size_t)term_grid_row_length(t->grid, row), row->wrapped, row->marks);
	}
}

/* Whole rows of the screen leave at the top of a region. */
void term_vterm_scroll_up(struct term *t, struct term_grid_rect rect, int rows)
{
	bool whole = rect.left == 0 && rect.right == t->grid->cols;
	int height = rect.bottom - rect.top;
	if (rows > 0 && whole && rect.top == 0 && t->grid == t->screens[0] && !t->history_pause)
		push_history(t, rows < height ? rows : height);
	term_grid_scroll_rows(t->grid, rect, rows, term_vterm_erase_id(t), t->revision);
}

static int on_scrollrect(VTermRect vt_rect, int downward, int rightward, void *user)
{
	struct term *t = user;
	struct term_grid_rect rect;
	if (!take_rect(t, vt_rect, &rect))
		return 1;
	if (rightward != 0)
		term_grid_scroll_cols(
			t->grid, rect, rightward, term_vterm_erase_id(t), t->revision);
	else
		term_vterm_scroll_up(t, rect, downward);
	return 1;
}

static int on_erase(VTermRect vt_rect, int selective, void *user)
{
	struct term *t = user;
	struct term_grid_rect rect;
	if (!take_rect(t, vt_rect, &rect))
		return 1;
	if (selective)
		term_grid_erase_selective(t->grid, rect, term_vterm_erase_id(t), t->revision);
	else
		term_grid_fill(t->grid, rect, cell_blank(term_vterm_erase_id(t)), t->revision);
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

void term_vterm_start(struct term *t, int cols, int rows)
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
	int row = t->row;
	int col = t->col;
	if (t->modes.origin) {
		row -= t->region.top;
		col -= t->margins_mode ? t->region.left : 0;
	}
	char text[32];
	int n = snprintf(
		text, sizeof text, "\x1b[%d;%dH", row < 0 ? 1 : row + 1, col < 0 ? 1 : col + 1);
	vterm_input_write(t->vt, text, (size_t)n);
}

static int inside(int value, int start, int end)
{
	return value < start ? start : value >= end ? end - 1 : value;
}

void term_vterm_write(struct term *t, const char *bytes, size_t n)
{
	catch_up(t);
	vterm_input_write(t->vt, bytes, n);
	VTermPos pos;
	vterm_state_get_cursorpos(t->vt_state, &pos);
	t->row = inside(pos.row, 0, t->grid->rows);
	t->col = inside(pos.col, 0, t->grid->cols);
	t->vt_behind = t->row != pos.row || t->col != pos.col;
}

void term_vterm_writef(struct term *t, const char *format, ...)
{
	char text[128];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof text)
		term_vterm_write(t, text, (size_t)n);
}

void term_vterm_cursor(const struct term *t, int *row, int *col)
{
	*row = t->row;
	*col = t->col;
}

void term_vterm_move(struct term *t, int row, int col)
{
	bool origin = t->modes.origin;
	bool margins = origin && t->margins_mode;
	t->row = inside(
		row, origin ? t->region.top : 0, origin ? t->region.bottom : t->grid->rows);
	t->col = inside(
		col, margins ? t->region.left : 0, margins ? t->region.right : t->grid->cols);
	t->vt_behind = true;
	t->at_end = false;
}

void term_vterm_add_mark(struct term *t, uint32_t codepoint)
{
	int col = t->at_end ? t->col : t->col - 1;
	if (col < 0)
		return;
	struct term_grid_row *row = grid_row(t->grid, t->row);
	if ((row->cells[col].text & CELL_TAIL) && col > 0)
		col--;
	struct term_cell *cell = &row->cells[col];
	if ((cell->text & CELL_VALUE) == 0 || (cell->text & CELL_TAIL))
		return;
	*cell = term_cell_add_mark(&t->tables, *cell, codepoint);
	row->revision = t->revision;
	t->changed = true;
}

void term_vterm_clear_region(struct term *t)
{
	/* libvterm keeps the margins when their mode is off, and takes them at any time */
	term_vterm_writef(t, "\x1b[r\x1b[s");
	t->region = (struct term_grid_rect){ 0, t->grid->rows, 0, t->grid->cols };
}

void term_vterm_fill(struct term *t, struct term_grid_rect rect, struct term_cell cell)
{
	if (term_grid_clip(t->grid, &rect))
		term_grid_fill(t->grid, rect, cell, t->revision);
}
