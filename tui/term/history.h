// SPDX-License-Identifier: Apache-2.0
/* The scrollback: packed logical lines in chunks, oldest chunk dropped when the cap is reached.
 * The line that is still going on in the first row of the screen is kept apart, open.
 * How many rows a line takes is worked out when it is read and remembered for each chunk, so a
 * resize costs nothing here. */
#pragma once

#include "tui/term/pack.h"

struct history;

enum { HISTORY_LINE_BYTES = 64 * 1024 }; /* a longer logical line is cut in several */

/* cap_bytes 0: nothing is kept. tables is borrowed and must outlive the history. */
struct history *history_new(size_t cap_bytes, struct cell_tables *tables);
void history_free(struct history *h);

void history_set_cols(struct history *h, int cols);
/* Adds one row that left the screen. wrapped: the next row continues it. */
void history_push(struct history *h, const struct term_cell *cells, size_t n, bool wrapped,
	uint8_t marks);
void history_clear(struct history *h);

int history_rows(struct history *h);
size_t history_bytes(const struct history *h);
bool history_is_empty(const struct history *h);
bool history_is_open(const struct history *h); /* screen row 0 continues the newest line */
uint32_t history_open_cells(const struct history *h);
uint64_t history_next_id(
	const struct history *h); /* id of the line that comes next, or is open */

/* A row of the scrollback: 1 is the newest, history_rows() the oldest. */
struct history_pos {
	struct pack_line line;
	uint64_t line_id;
	uint32_t row;       /* in the line, from 0 */
	uint32_t row_count; /* rows of the line */
	uint32_t start;     /* cells of the line before this row */
	bool open;
};
bool history_find(struct history *h, int rows_from_end, struct history_pos *pos);
size_t history_read(struct history *h, const struct history_pos *pos, struct term_cell *cells,
	size_t max_cells);
/* Where cell number `cell` of a line is now: rows from the end. False if the line is gone. */
bool history_locate(
	struct history *h, uint64_t line_id, uint32_t cell, int *rows_from_end, int *col);

/* Takes the newest line out (the open one first). cells must be freed; false if empty. */
struct history_line {
	struct term_cell *cells;
	size_t n;
	bool continues; /* it was open or cut */
	uint8_t marks;
};
bool history_pop(struct history *h, struct history_line *out);
