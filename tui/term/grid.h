// SPDX-License-Identifier: Apache-2.0
/* The cells of one screen: a ring of rows, so that scrolling the whole screen moves an index and
 * scrolling a region moves row headers, never cells. */
#pragma once

#include "tui/term/cell.h"

struct grid_row {
	struct term_cell *cells;
	uint64_t revision;
	int used;        /* cells from here on are blank in the default style */
	bool wrapped;    /* goes on in the next row */
	bool wrap_short; /* … and its last cell stayed empty because a wide one did not fit */
	uint8_t marks;   /* OSC 133, bits as in term_line_marks() */
};

struct grid {
	int cols;
	int rows;
	int top; /* ring index of row 0 */
	struct grid_row *ring;
};

/* Half-open, in rows and columns of the screen. */
struct grid_rect {
	int top;
	int bottom;
	int left;
	int right;
};

struct grid *grid_new(int cols, int rows);
void grid_free(struct grid *g);

static inline struct grid_row *grid_row(const struct grid *g, int row)
{
	int at = g->top + row;
	return &g->ring[at >= g->rows ? at - g->rows : at];
}

/* Cuts a rectangle to the grid; false if nothing is left of it. */
bool grid_clip(const struct grid *g, struct grid_rect *rect);
/* Cells of a row that hold something: without the blank rest, or all of a wrapped row. */
int grid_row_length(const struct grid *g, const struct grid_row *row);

/* The functions below expect a clipped rectangle. Each stamps the rows it changes. */
void grid_fill(struct grid *g, struct grid_rect rect, struct term_cell cell, uint64_t revision);
/* Erases what is not protected. */
void grid_erase_selective(
	struct grid *g, struct grid_rect rect, uint32_t style, uint64_t revision);
/* Content moves up by `up` rows (down if negative); what comes in is blank in style. */
void grid_scroll_rows(
	struct grid *g, struct grid_rect rect, int up, uint32_t style, uint64_t revision);
/* Content moves left by `left` columns (right if negative). */
void grid_scroll_cols(
	struct grid *g, struct grid_rect rect, int left, uint32_t style, uint64_t revision);
/* Blanks the other half of a wide character that a write at [col, col + n) would cut. */
void grid_split_pairs(struct grid_row *row, int cols, int col, int n);
/* Keeps the top left part; new cells are blank. */
void grid_crop(struct grid *g, int cols, int rows, uint64_t revision);
