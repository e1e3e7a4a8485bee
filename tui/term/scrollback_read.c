// SPDX-License-Identifier: Apache-2.0
/* Finding rows in the scrollback at the present width, and reading them. How many rows a chunk takes
 * is counted once for each width; the line that was read last is remembered, because the next row
 * asked for is mostly its neighbour. */
#include "tui/term/scrollback_internal.h"

#include <limits.h>

uint64_t term_scrollback_chunk_rows(const struct term_scrollback *h, struct term_chunk *chunk)
{
	if (chunk->rows_cols == h->cols)
		return chunk->rows;
	chunk->rows = 0;
	for (uint32_t i = 0; i < chunk->line_count; i++) {
		struct term_packed_line line = line_of(chunk, i);
		chunk->rows += term_packed_rows(&line, h->cols);
	}
	chunk->rows_cols = h->cols;
	return chunk->rows;
}

uint32_t term_scrollback_open_rows(struct term_scrollback *h)
{
	if (!h->is_open)
		return 0;
	struct term_packed_line line = term_packed_built(&h->open);
	if (h->open_walk.cols != h->cols)
		h->open_walk.row = (struct term_packed_row){ 0 };
	if (h->open_walk.cols != h->cols || h->open_walk.cells != line.head.cells) {
		h->open_walk.rows = term_packed_rows(&line, h->cols);
		h->open_walk.cells = line.head.cells;
		h->open_walk.cols = h->cols;
	}
	return h->open_walk.rows;
}

int term_scrollback_rows(struct term_scrollback *h)
{
	uint64_t rows = term_scrollback_open_rows(h);
	for (size_t i = 0; i < h->count; i++)
		rows += term_scrollback_chunk_rows(h, h->chunks[h->first + i]);
	return rows > INT_MAX ? INT_MAX : (int)rows;
}

static void set_recent(
	struct term_scrollback *h, size_t chunk, uint32_t line, uint64_t rows_after)
{
	struct term_packed_line found = line_of(h->chunks[h->first + chunk], line);
	h->recent.valid = true;
	h->recent.chunk = chunk;
	h->recent.line = line;
	h->recent.row_count = term_packed_rows(&found, h->cols);
	h->recent.rows_after = rows_after;
	h->recent.row = (struct term_packed_row){ 0 };
}

static bool step_newer(struct term_scrollback *h)
{
	size_t chunk = h->recent.chunk;
	uint32_t line = h->recent.line + 1;
	if (line == h->chunks[h->first + chunk]->line_count) {
		chunk++;
		line = 0;
		if (chunk == h->count)
			return false;
	}
	uint64_t after = h->recent.rows_after;
	set_recent(h, chunk, line, 0);
	h->recent.rows_after = after - h->recent.row_count;
	return true;
}

static bool step_older(struct term_scrollback *h)
{
	size_t chunk = h->recent.chunk;
	uint32_t line = h->recent.line;
	if (line == 0) {
		if (chunk == 0)
			return false;
		chunk--;
		line = h->chunks[h->first + chunk]->line_count;
	}
	set_recent(h, chunk, line - 1, h->recent.rows_after + h->recent.row_count);
	return true;
}

/* Makes the sealed line that holds a row the recent one. */
static bool seek(struct term_scrollback *h, uint64_t left)
{
	for (int steps = 0; h->recent.valid && steps < 4; steps++) {
		if (left <= h->recent.rows_after) {
			if (!step_newer(h))
				return false;
		} else if (left > h->recent.rows_after + h->recent.row_count) {
			if (!step_older(h))
				return false;
		} else {
			return true;
		}
	}
	uint64_t after = term_scrollback_open_rows(h);
	for (size_t i = h->count; i > 0; i--) {
		struct term_chunk *chunk = h->chunks[h->first + i - 1];
		uint64_t here = term_scrollback_chunk_rows(h, chunk);
		if (left > after + here) {
			after += here;
			continue;
		}
		for (uint32_t j = chunk->line_count; j > 0; j--) {
			set_recent(h, i - 1, j - 1, after);
			if (left <= after + h->recent.row_count)
				return true;
			after += h->recent.row_count;
		}
	}
	h->recent.valid = false;
	return false;
}

bool term_scrollback_find(
	struct term_scrollback *h, int rows_from_end, struct term_scrollback_pos *pos)
{
	if (rows_from_end < 1)
		return false;
	uint64_t left = (uint64_t)rows_from_end;
	uint32_t rows = term_scrollback_open_rows(h);
	if (left <= rows) {
		*pos = (struct term_scrollback_pos){
			.line = term_packed_built(&h->open),
			.line_id = h->next_id,
			.row = rows - (uint32_t)left,
			.row_count = rows,
			.open = true,
		};
		term_packed_seek_row(&pos->line, h->cols, pos->row, &h->open_walk.row);
		pos->start = h->open_walk.row.start;
		return true;
	}
	if (!seek(h, left))
		return false;
	const struct term_chunk *chunk = h->chunks[h->first + h->recent.chunk];
	*pos = (struct term_scrollback_pos){
		.line = line_of(chunk, h->recent.line),
		.line_id = chunk->first_id + h->recent.line,
		.row = h->recent.row_count - (uint32_t)(left - h->recent.rows_after),
		.row_count = h->recent.row_count,
	};
	term_packed_seek_row(&pos->line, h->cols, pos->row, &h->recent.row);
	pos->start = h->recent.row.start;
	return true;
}

size_t term_scrollback_read(struct term_scrollback *h, const struct term_scrollback_pos *pos,
	struct term_cell *cells, size_t max_cells)
{
	struct term_packed_row row = { 0 };
	/* left there by term_scrollback_find() */
	if (pos->open && h->open_walk.cols == h->cols)
		row = h->open_walk.row;
	else if (!pos->open && h->recent.valid)
		row = h->recent.row;
	term_packed_seek_row(&pos->line, h->cols, pos->row, &row);
	struct term_packed_reader reader;
	term_packed_read_row(&reader, &pos->line, &row);
	size_t n = 0;
	while (n < row.cells && n < max_cells &&
		term_packed_read(&reader, h->tables, &cells[n]))
		n++;
	/* the second half fell outside (a screen of one column, or a short buffer) */
	if (n > 0 && n == max_cells && (cells[n - 1].text & CELL_WIDE))
		cells[n - 1].text = 0xfffd;
	return n;
}

static uint64_t recent_id(const struct term_scrollback *h)
{
	return h->chunks[h->first + h->recent.chunk]->first_id + h->recent.line;
}

/* Makes a sealed line the recent one; false if it is gone. */
static bool seek_line(struct term_scrollback *h, uint64_t line_id)
{
	for (int steps = 0; h->recent.valid && steps < 4; steps++) {
		if (recent_id(h) == line_id)
			return true;
		if (line_id > recent_id(h) ? !step_newer(h) : !step_older(h))
			return false;
	}
	uint64_t after = term_scrollback_open_rows(h);
	for (size_t i = h->count; i > 0; i--) {
		struct term_chunk *chunk = h->chunks[h->first + i - 1];
		if (line_id < chunk->first_id) {
			after += term_scrollback_chunk_rows(h, chunk);
			continue;
		}
		uint64_t index = line_id - chunk->first_id;
		if (index >= chunk->line_count)
			return false;
		for (uint32_t j = chunk->line_count - 1; j > index; j--) {
			struct term_packed_line line = line_of(chunk, j);
			after += term_packed_rows(&line, h->cols);
		}
		set_recent(h, i - 1, (uint32_t)index, after);
		return true;
	}
	return false;
}

/* The row that holds a cell. *at is where the line was left: going on from there is cheap. */
static int locate_in_line(const struct term_scrollback *h, const struct term_packed_line *line,
	uint32_t row_count, uint32_t cell, struct term_packed_row *at)
{
	uint32_t next = line->head.flags & PACK_PLAIN ? cell / (uint32_t)h->cols
			: cell < at->start            ? 0
						      : at->row;
	if (next >= row_count)
		next = row_count - 1;
	do
		term_packed_seek_row(line, h->cols, next, at);
	while (cell >= at->start + at->cells && ++next < row_count);
	uint32_t offset = cell > at->start ? cell - at->start : 0;
	return offset < (uint32_t)h->cols ? (int)offset : h->cols - 1;
}

bool term_scrollback_locate(struct term_scrollback *h, uint64_t line_id, uint32_t cell,
	int *rows_from_end, int *col)
{
	uint32_t rows = term_scrollback_open_rows(h);
	if (h->is_open && line_id == h->next_id) {
		struct term_packed_line line = term_packed_built(&h->open);
		*col = locate_in_line(h, &line, rows, cell, &h->open_walk.row);
		*rows_from_end = (int)(rows - h->open_walk.row.row);
		return true;
	}
	if (!seek_line(h, line_id))
		return false;
	struct term_packed_line line =
		line_of(h->chunks[h->first + h->recent.chunk], h->recent.line);
	*col = locate_in_line(h, &line, h->recent.row_count, cell, &h->recent.row);
	uint64_t from_end = h->recent.rows_after + h->recent.row_count - h->recent.row.row;
	*rows_from_end = from_end > INT_MAX ? INT_MAX : (int)from_end;
	return true;
}
