// SPDX-License-Identifier: Apache-2.0
/* The scrollback: packed logical lines in chunks, oldest chunk dropped when the cap is reached.
 * The line that is still going on in the first row of the screen is kept apart, open.
 * How many rows a line takes is worked out when it is read and remembered for each chunk, so a
 * resize costs nothing here. */
#pragma once

#include "tui/term/packed_line.h"

struct term_scrollback;

enum { HISTORY_LINE_BYTES = 64 * 1024 }; /* a longer logical line is cut in several */

/* cap_bytes 0: nothing is kept. tables is borrowed and must outlive the history. */
struct term_scrollback *term_scrollback_new(size_t cap_bytes, struct term_cell_tables *tables);
void term_scrollback_free(struct term_scrollback *h);

void term_scrollback_set_cols(struct term_scrollback *h, int cols);
/* Adds one row that left the screen. wrapped: the next row continues it. */
void term_scrollback_push(struct term_scrollback *h, const struct term_cell *cells, size_t n,
	bool wrapped, uint8_t marks);
void term_scrollback_clear(struct term_scrollback *h);

int term_scrollback_rows(struct term_scrollback *h);
size_t term_scrollback_bytes(const struct term_scrollback *h);
bool term_scrollback_is_empty(const struct term_scrollback *h);
bool term_scrollback_is_open(
	const struct term_scrollback *h); /* screen row 0 continues the newest line */
uint32_t term_scrollback_open_cells(const struct term_scrollback *h);
uint64_t term_scrollback_next_id(
	const struct term_scrollback *h); /* id of the line that comes next, or is open */

/* A row of the scrollback: 1 is the newest, term_scrollback_rows() the oldest. */
struct term_scrollback_pos {
	struct term_packed_line line;
	uint64_t line_id;
	uint32_t row;       /* in the line, from 0 */
	uint32_t row_count; /* rows of the line */
	uint32_t start;     /* cells of the line before this row */
	bool open;
};
bool term_scrollback_find(
	struct term_scrollback *h, int rows_from_end, struct term_scrollback_pos *pos);
size_t term_scrollback_read(struct term_scrollback *h, const struct term_scrollback_pos *pos,
	struct term_cell *cells, size_t max_cells);
/* Where cell number `cell` of a line is now: rows from the end. False if the line is gone. */
bool term_scrollback_locate(struct term_scrollback *h, uint64_t line_id, uint32_t cell,
	int *rows_from_end, int *col);

/* Takes the newest line out (the open one first). cells must be freed; false if empty. */
struct term_scrollback_line {
	struct term_cell *cells;
	size_t n;
	bool continues; /* it was open or cut */
	uint8_t marks;
};
bool term_scrollback_pop(struct term_scrollback *h, struct term_scrollback_line *out);
