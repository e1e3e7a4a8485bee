// SPDX-License-Identifier: Apache-2.0
/* The cells of one screen: a ring of rows, so that scrolling the whole screen moves an index and
 * scrolling a region moves row headers, never cells. */
#pragma once

#include "tui/term/cell.h"

struct term_grid_row {
	struct term_cell *cells;
	uint64_t revision;
	int used;        /* cells from here on are blank in the default style */
	bool wrapped;    /* goes on in the next row */
	bool wrap_short; /* … and its last cell stayed empty because a wide one did not fit */
	uint8_t marks;   /* OSC 133, bits as in term_line_marks() */
};

struct term_grid {
	int cols;
	int rows;
	int top; /* ring index of row 0 */
	struct term_grid_row *ring;
};

/* Half-open, in rows and columns of the screen. */
struct term_grid_rect {
	int top;
	int bottom;
	int left;
	int right;
};

struct term_grid *term_grid_new(int cols, int rows);
void term_grid_free(struct term_grid *g);

static inline struct term_grid_row *grid_row(const struct term_grid *g, int row)
{
	int at = g->top + row;
	return &g->ring[at >= g->rows ? at - g->rows : at];
}

/* Cuts a rectangle to the grid; false if nothing is left of it. */
bool term_grid_clip(const struct term_grid *g, struct term_grid_rect *rect);
/* Cells of a row that hold something: without the blank rest, or all of a wrapped row. */
int term_grid_row_length(const struct term_grid *g, const struct term_grid_row *row);

/* The functions below expect a clipped rectangle. Each stamps the rows it changes. */
void term_grid_fill(struct term_grid *g, struct term_grid_rect rect, struct term_cell cell,
	uint64_t revision);
/* Erases what is not protected. */
void term_grid_erase_selective(
	struct term_grid *g, struct term_grid_rect rect, uint32_t style, uint64_t revision);
/* Content moves up by `up` rows (down if negative); what comes in is blank in style. */
void term_grid_scroll_rows(struct term_grid *g, struct term_grid_rect rect, int up,
	uint32_t style, uint64_t revision);
/* Content moves left by `left` columns (right if negative). */
void term_grid_scroll_cols(struct term_grid *g, struct term_grid_rect rect, int left,
	uint32_t style, uint64_t revision);
/* Blanks the other half of a wide character that a write at [col, col + n) would cut. */
void term_grid_split_pairs(struct term_grid_row *row, int cols, int col, int n);
/* Keeps the top left part; new cells are blank. */
void term_grid_crop(struct term_grid *g, int cols, int rows, uint64_t revision);
