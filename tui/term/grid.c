// SPDX-License-Identifier: Apache-2.0
/* Cells of one screen. Nothing here knows about escape sequences or the scrollback.
 * Positions are checked by the callers with term_grid_clip(): libvterm may name places outside. */
#include "tui/term/grid.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct term_cell *new_cells(int cols)
{
	return x_calloc((size_t)cols, sizeof(struct term_cell));
}

struct term_grid *term_grid_new(int cols, int rows)
{
	struct term_grid *g = x_calloc(1, sizeof *g);
	g->cols = cols;
	g->rows = rows;
	g->ring = x_calloc((size_t)rows, sizeof *g->ring);
	for (int i = 0; i < rows; i++)
		g->ring[i].cells = new_cells(cols);
	return g;
}

void term_grid_free(struct term_grid *g)
{
	if (g == NULL)
		return;
	for (int i = 0; i < g->rows; i++)
		free(g->ring[i].cells);
	free(g->ring);
	free(g);
}

bool term_grid_clip(const struct term_grid *g, struct term_grid_rect *rect)
{
	if (rect->top < 0)
		rect->top = 0;
	if (rect->left < 0)
		rect->left = 0;
	if (rect->bottom > g->rows)
		rect->bottom = g->rows;
	if (rect->right > g->cols)
		rect->right = g->cols;
	return rect->top < rect->bottom && rect->left < rect->right;
}

int term_grid_row_length(const struct term_grid *g, const struct term_grid_row *row)
{
	if (row->wrapped)
		return row->wrap_short ? g->cols - 1 : g->cols;
	int n = row->used;
	while (n > 0 && row->cells[n - 1].text == 0 && row->cells[n - 1].style == 0)
		n--;
	return n;
}

static bool is_default_blank(struct term_cell cell)
{
	return cell.text == 0 && cell.style == 0;
}

static void fill_row(struct term_grid_row *row, int left, int right, struct term_cell cell)
{
	if (is_default_blank(cell)) {
		/* the rest is blank already */
		int end = right < row->used ? right : row->used;
		if (end > left)
			memset(row->cells + left, 0, (size_t)(end - left) * sizeof cell);
		if (right >= row->used && left < row->used)
			row->used = left;
		return;
	}
	for (int i = left; i < right; i++)
		row->cells[i] = cell;
	if (right > row->used)
		row->used = right;
}

void term_grid_split_pairs(struct term_grid_row *row, int cols, int col, int n)
{
	if (col > 0 && (row->cells[col].text & CELL_TAIL))
		row->cells[col - 1].text = 0;
	int after = col + n;
	if (after < cols && after > 0 && (row->cells[after].text & CELL_TAIL))
		row->cells[after].text = 0;
}

static void unwrap(struct term_grid_row *row)
{
	row->wrapped = false;
	row->wrap_short = false;
}

void term_grid_fill(struct term_grid *g, struct term_grid_rect rect, struct term_cell cell,
	uint64_t revision)
{
	for (int r = rect.top; r < rect.bottom; r++) {
		struct term_grid_row *row = grid_row(g, r);
		term_grid_split_pairs(row, g->cols, rect.left, rect.right - rect.left);
		fill_row(row, rect.left, rect.right, cell);
		if (rect.right == g->cols)
			unwrap(row);
		if (rect.left == 0 && rect.right == g->cols)
			row->marks = 0;
		row->revision = revision;
	}
}

void term_grid_erase_selective(
	struct term_grid *g, struct term_grid_rect rect, uint32_t style, uint64_t revision)
{
	for (int r = rect.top; r < rect.bottom; r++) {
		struct term_grid_row *row = grid_row(g, r);
		for (int c = rect.left; c < rect.right; c++) {
			if (row->cells[c].text & CELL_PROTECTED)
				continue;
			struct term_grid_rect one = { r, r + 1, c, c + 1 };
			term_grid_fill(g, one, cell_blank(style), revision);
		}
	}
}

/* Whole rows: headers rotate inside the region, memory of the ones that leave is used again. */
static void rotate_rows(struct term_grid *g, int top, int bottom, int up)
{
	int height = bottom - top;
	int shift = up > 0 ? up : height + up; /* to the left, 0 < shift < height */
	if (top == 0 && bottom == g->rows) {
		g->top = (g->top + shift) % g->rows;
		return;
	}
	/* juggling rotation, gcd(height, shift) cycles */
	int moved = 0;
	for (int start = 0; moved < height; start++) {
		struct term_grid_row first = *grid_row(g, top + start);
		int at = start;
		for (;;) {
			int from = (at + shift) % height;
			moved++;
			if (from == start)
				break;
			*grid_row(g, top + at) = *grid_row(g, top + from);
			at = from;
		}
		*grid_row(g, top + at) = first;
	}
}

static void move_rows_part(struct term_grid *g, struct term_grid_rect rect, int up)
{
	int height = rect.bottom - rect.top;
	size_t bytes = (size_t)(rect.right - rect.left) * sizeof(struct term_cell);
	int keep = height - abs(up);
	for (int i = 0; i < keep; i++) {
		int to = up > 0 ? rect.top + i : rect.bottom - 1 - i;
		struct term_grid_row *dest = grid_row(g, to);
		const struct term_grid_row *src = grid_row(g, to + up);
		term_grid_split_pairs(dest, g->cols, rect.left, rect.right - rect.left);
		memcpy(dest->cells + rect.left, src->cells + rect.left, bytes);
		/* a wide character cut by the edge of the source */
		if (dest->cells[rect.left].text & CELL_TAIL)
			dest->cells[rect.left].text = 0;
		if (dest->cells[rect.right - 1].text & CELL_WIDE)
			dest->cells[rect.right - 1].text = 0;
		if (rect.right > dest->used)
			dest->used = rect.right;
		unwrap(dest);
	}
}

void term_grid_scroll_rows(struct term_grid *g, struct term_grid_rect rect, int up,
	uint32_t style, uint64_t revision)
{
	int height = rect.bottom - rect.top;
	if (up == 0)
		return;
	bool whole = rect.left == 0 && rect.right == g->cols;
	if (up >= height || up <= -height) {
		term_grid_fill(g, rect, cell_blank(style), revision);
	} else if (whole) {
		rotate_rows(g, rect.top, rect.bottom, up);
	} else {
		move_rows_part(g, rect, up);
	}
	/* lines that were joined over the edges of the region are not any more */
	if (rect.top > 0)
		unwrap(grid_row(g, rect.top - 1));
	if (abs(up) < height) {
		struct term_grid_rect fresh = rect;
		if (up > 0) {
			fresh.top = rect.bottom - up;
			unwrap(grid_row(g, fresh.top - 1));
		} else {
			fresh.bottom = rect.top - up;
			unwrap(grid_row(g, rect.bottom - 1));
		}
		term_grid_fill(g, fresh, cell_blank(style), revision);
	}
	for (int r = rect.top; r < rect.bottom; r++)
		grid_row(g, r)->revision = revision;
}

void term_grid_scroll_cols(struct term_grid *g, struct term_grid_rect rect, int left,
	uint32_t style, uint64_t revision)
{
	int width = rect.right - rect.left;
	if (left == 0)
		return;
	if (left >= width || left <= -width) {
		term_grid_fill(g, rect, cell_blank(style), revision);
		return;
	}
	size_t bytes = (size_t)(width - abs(left)) * sizeof(struct term_cell);
	for (int r = rect.top; r < rect.bottom; r++) {
		struct term_grid_row *row = grid_row(g, r);
		struct term_cell *cells = row->cells;
		term_grid_split_pairs(row, g->cols, rect.left, width);
		if (left > 0)
			memmove(cells + rect.left, cells + rect.left + left, bytes);
		else
			memmove(cells + rect.left - left, cells + rect.left, bytes);
		if (rect.right > row->used)
			row->used = rect.right;
		struct term_grid_rect fresh = { r, r + 1, rect.left, rect.right };
		if (left > 0)
			fresh.left = rect.right - left;
		else
			fresh.right = rect.left - left;
		/* halves left alone at either end of what moved */
		int first = left > 0 ? rect.left : rect.left - left;
		int last = left > 0 ? rect.right - left - 1 : rect.right - 1;
		if (cells[first].text & CELL_TAIL)
			cells[first].text = 0;
		if (cells[last].text & CELL_WIDE)
			cells[last].text = 0;
		fill_row(row, fresh.left, fresh.right, cell_blank(style));
		if (rect.right == g->cols)
			unwrap(row);
		row->revision = revision;
	}
}

void term_grid_crop(struct term_grid *g, int cols, int rows, uint64_t revision)
{
	struct term_grid *fresh = term_grid_new(cols, rows);
	int keep_rows = rows < g->rows ? rows : g->rows;
	int keep_cols = cols < g->cols ? cols : g->cols;
	for (int r = 0; r < rows; r++) {
		struct term_grid_row *to = grid_row(fresh, r);
		to->revision = revision;
		if (r >= keep_rows)
			continue;
		const struct term_grid_row *from = grid_row(g, r);
		memcpy(to->cells, from->cells, (size_t)keep_cols * sizeof *to->cells);
		if (to->cells[keep_cols - 1].text & CELL_WIDE)
			to->cells[keep_cols - 1].text = 0;
		to->used = from->used < keep_cols ? from->used : keep_cols;
		to->marks = from->marks;
	}
	struct term_grid old = *g;
	*g = *fresh;
	*fresh = old;
	term_grid_free(fresh);
}
