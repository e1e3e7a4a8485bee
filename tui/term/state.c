// SPDX-License-Identifier: Apache-2.0
/* Cursor, pen, region and screens: what more than one interpreter changes. The saved cursor is ours and not libvterm's,
 * whose is not brought inside when the screen shrinks. */
#include "tui/term/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void term_touch(struct term *t)
{
	t->changed = true;
}

/* --- output ------------------------------------------------------------------------------- */

void term_send(struct term *t, const char *bytes, size_t n)
{
	if (n > 0 && t->callbacks.on_output != NULL)
		t->callbacks.on_output(bytes, n, t->arg);
}

void term_reply(struct term *t, const char *bytes, size_t n)
{
	if (n > TERM_REPLY_BYTES - t->reply_bytes)
		return;
	t->reply_bytes += n;
	term_send(t, bytes, n);
}

void term_replyf(struct term *t, const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof text)
		term_reply(t, text, (size_t)n);
}

/* --- pen ---------------------------------------------------------------------------------- */

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

uint32_t term_state_pen_id(struct term *t)
{
	if (t->pen_changed)
		resolve_pen(t);
	return t->pen_id;
}

uint32_t term_state_erase_id(struct term *t)
{
	if (t->pen_changed)
		resolve_pen(t);
	return t->erase_id;
}

void term_state_clear_pen(struct term *t)
{
	memset(&t->pen, 0, sizeof t->pen);
	t->pen_changed = true;
}

/* --- place -------------------------------------------------------------------------------- */

static int inside(int value, int start, int end)
{
	return value < start ? start : value >= end ? end - 1 : value;
}

void term_state_move(struct term *t, int row, int col)
{
	bool origin = t->modes.origin;
	bool margins = origin && t->margins_mode;
	const struct term_grid_rect *region = &t->place.region;
	t->place.row =
		inside(row, origin ? region->top : 0, origin ? region->bottom : t->grid->rows);
	t->place.col = inside(
		col, margins ? region->left : 0, margins ? region->right : t->grid->cols);
	t->place.at_end = false;
}

struct term_grid_rect term_state_screen(const struct term *t)
{
	return (struct term_grid_rect){ 0, t->grid->rows, 0, t->grid->cols };
}

void term_state_clear_region(struct term *t)
{
	t->place.region = term_state_screen(t);
}

static struct term_saved_cursor *saved_of(struct term *t)
{
	return &t->saved[t->modes.alternate_screen ? 1 : 0];
}

void term_state_save_cursor(struct term *t)
{
	struct term_saved_cursor *saved = saved_of(t);
	saved->valid = true;
	saved->row = t->place.row;
	saved->col = t->place.col;
	saved->at_end = t->place.at_end;
	saved->origin = t->modes.origin;
	saved->pen = t->pen;
	saved->charsets = t->charsets;
}

void term_state_restore_cursor(struct term *t)
{
	const struct term_saved_cursor *saved = saved_of(t);
	t->modes.origin = saved->origin;
	term_state_move(t, saved->row, saved->col);
	t->place.at_end = saved->at_end && t->place.col == saved->col;
	t->pen = saved->pen;
	t->pen_changed = true;
	t->charsets = saved->charsets;
	term_touch(t);
}

/* --- cells -------------------------------------------------------------------------------- */

void term_state_fill(struct term *t, struct term_grid_rect rect, struct term_cell cell)
{
	if (term_grid_clip(t->grid, &rect))
		term_grid_fill(t->grid, rect, cell, t->revision);
}

void term_state_erase(struct term *t, struct term_grid_rect rect, bool selective)
{
	if (!selective)
		term_state_fill(t, rect, cell_blank(term_state_erase_id(t)));
	else if (term_grid_clip(t->grid, &rect))
		term_grid_erase_selective(t->grid, rect, term_state_erase_id(t), t->revision);
}

static void push_history(struct term *t, int count)
{
	for (int r = 0; r < count; r++) {
		const struct term_grid_row *row = grid_row(t->grid, r);
		term_scrollback_push(t->history, row->cells,
			(size_t)term_grid_row_length(t->grid, row), row->wrapped, row->marks);
	}
}

void term_state_scroll(struct term *t, struct term_grid_rect rect, int up, int left)
{
	if (!term_grid_clip(t->grid, &rect))
		return;
	if (left != 0) {
		term_grid_scroll_cols(t->grid, rect, left, term_state_erase_id(t), t->revision);
		return;
	}
	bool whole = rect.left == 0 && rect.right == t->grid->cols;
	int height = rect.bottom - rect.top;
	if (up > 0 && whole && rect.top == 0 && t->grid == t->screens[0] && !t->history_pause)
		push_history(t, up < height ? up : height);
	term_grid_scroll_rows(t->grid, rect, up, term_state_erase_id(t), t->revision);
}

void term_state_switch_screen(struct term *t, bool alternate, bool clear)
{
	struct term_grid *from = t->grid;
	t->grid = t->screens[alternate ? 1 : 0];
	t->modes.alternate_screen = alternate;
	if (clear)
		term_state_erase(t, term_state_screen(t), false);
	if (from != t->grid)
		for (int r = 0; r < t->grid->rows; r++)
			grid_row(t->grid, r)->revision = t->revision;
	term_touch(t);
}
