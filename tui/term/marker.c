// SPDX-License-Identifier: Apache-2.0
/* Places that follow their content: the number of a logical line and a cell in it. Lines are counted
 * from the first one ever; those on the screen have the numbers that they will have in the scrollback. */
#include "tui/term/state.h"

#include <limits.h>

/* The alternate screen has no lines that could be followed: rows stand for themselves. */
static const uint64_t ANCHOR_ALTERNATE = 1ull << 63;

struct term_marker term_marker_at(const struct term *t, int line, int col)
{
	struct term_marker anchor = { 0, (uint32_t)(col < 0 ? 0 : col) };
	if (line < 0) {
		struct term_scrollback_pos pos;
		if (line == INT_MIN || !term_scrollback_find(t->history, -line, &pos))
			return anchor;
		anchor.line_id = pos.line_id;
		anchor.cell += pos.start;
		return anchor;
	}
	if (t->modes.alternate_screen) {
		anchor.line_id = ANCHOR_ALTERNATE | (uint32_t)line;
		return anchor;
	}
	anchor.line_id = term_scrollback_next_id(t->history);
	uint32_t before = term_scrollback_open_cells(t->history);
	for (int r = 0; r < line && r < t->grid->rows; r++) {
		const struct term_grid_row *row = grid_row(t->grid, r);
		before += (uint32_t)term_grid_row_length(t->grid, row);
		if (!row->wrapped) {
			anchor.line_id++;
			before = 0;
		}
	}
	anchor.cell += before;
	return anchor;
}

static bool anchor_on_screen(
	const struct term *t, struct term_marker anchor, int *line, int *col)
{
	uint64_t id = term_scrollback_next_id(t->history);
	uint32_t before = term_scrollback_open_cells(t->history);
	for (int r = 0; r < t->grid->rows; r++) {
		const struct term_grid_row *row = grid_row(t->grid, r);
		uint32_t length = (uint32_t)term_grid_row_length(t->grid, row);
		if (id == anchor.line_id && (!row->wrapped || anchor.cell < before + length)) {
			uint32_t at = anchor.cell > before ? anchor.cell - before : 0;
			*line = r;
			*col = at < (uint32_t)t->grid->cols ? (int)at : t->grid->cols - 1;
			return true;
		}
		before += length;
		if (!row->wrapped) {
			id++;
			before = 0;
		}
	}
	return false;
}

bool term_marker_line(const struct term *t, struct term_marker anchor, int *line, int *col)
{
	if (anchor.line_id & ANCHOR_ALTERNATE) {
		uint32_t row = (uint32_t)anchor.line_id;
		if (!t->modes.alternate_screen || row >= (uint32_t)t->grid->rows)
			return false;
		*line = (int)row;
		*col = anchor.cell < (uint32_t)t->grid->cols ? (int)anchor.cell
							     : t->grid->cols - 1;
		return true;
	}
	uint64_t next = term_scrollback_next_id(t->history);
	if (anchor.line_id > next ||
		(anchor.line_id == next &&
			anchor.cell >= term_scrollback_open_cells(t->history)))
		return !t->modes.alternate_screen && anchor_on_screen(t, anchor, line, col);
	int rows_from_end;
	if (!term_scrollback_locate(
		    t->history, anchor.line_id, anchor.cell, &rows_from_end, col))
		return false;
	*line = -rows_from_end;
	return true;
}
