// SPDX-License-Identifier: Apache-2.0
/* A chunk is one block of memory: packed lines grow from its start, their offsets from its end.
 *
 *   chunks[first] … chunks[first + count - 1]   oldest … newest, sealed lines
 *   open                                        the line that screen row 0 continues
 */
#include "tui/term/history.h"

#include "engine/base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_BYTES_MIN = 2 * 1024,
	CHUNK_BYTES_MAX = 64 * 1024,
};

struct chunk {
	uint64_t first_id;
	uint32_t line_count;
	uint32_t size;
	uint32_t used;
	int rows_cols; /* the width that `rows` was counted for, 0 = not counted */
	uint64_t rows;
	_Alignas(8) unsigned char data[];
};

struct history {
	struct cell_tables *tables;
	size_t cap_bytes;
	size_t bytes; /* of the chunks */
	size_t chunk_bytes;
	struct chunk **chunks;
	size_t first;
	size_t count;
	size_t capacity;
	uint64_t next_id;
	struct pack_builder open;
	bool is_open;
	int cols;
	/* the sealed line that was read last; the next one asked for is mostly it or a neighbour */
	struct {
		bool valid;
		size_t chunk; /* index from first */
		uint32_t line;
		uint32_t row_count;
		uint64_t rows_after; /* of newer lines */
		struct pack_row row; /* how far it has been walked */
	} recent;
};

struct history *history_new(size_t cap_bytes, struct cell_tables *tables)
{
	struct history *h = x_calloc(1, sizeof *h);
	h->tables = tables;
	h->cap_bytes = cap_bytes;
	h->chunk_bytes = cap_bytes / 16;
	if (h->chunk_bytes < CHUNK_BYTES_MIN)
		h->chunk_bytes = CHUNK_BYTES_MIN;
	if (h->chunk_bytes > CHUNK_BYTES_MAX)
		h->chunk_bytes = CHUNK_BYTES_MAX;
	h->cols = 1;
	pack_init(&h->open);
	return h;
}

static uint32_t offset_of(const struct chunk *chunk, uint32_t index)
{
	uint32_t offset;
	memcpy(&offset, chunk->data + chunk->size - (index + 1) * sizeof offset, sizeof offset);
	return offset;
}

static struct pack_line line_of(const struct chunk *chunk, uint32_t index)
{
	return pack_load(chunk->data + offset_of(chunk, index));
}

static void drop_chunk(struct history *h, struct chunk *chunk)
{
	h->recent.valid = false;
	for (uint32_t i = 0; i < chunk->line_count; i++) {
		struct pack_line line = line_of(chunk, i);
		pack_unref_styles(&line, h->tables);
	}
	h->bytes -= sizeof *chunk + chunk->size;
	free(chunk);
}

static void drop_oldest(struct history *h)
{
	drop_chunk(h, h->chunks[h->first]);
	h->first++;
	h->count--;
	if (h->count == 0)
		h->first = 0;
}

static void drop_open(struct history *h)
{
	struct pack_line line = pack_built(&h->open);
	pack_unref_styles(&line, h->tables);
	pack_clear(&h->open);
	h->is_open = false;
}

void history_clear(struct history *h)
{
	while (h->count > 0)
		drop_oldest(h);
	if (h->is_open)
		h->next_id++;
	drop_open(h);
}

void history_free(struct history *h)
{
	if (h == NULL)
		return;
	history_clear(h);
	pack_deinit(&h->open);
	free(h->chunks);
	free(h);
}

void history_set_cols(struct history *h, int cols)
{
	h->cols = cols;
	h->recent.valid = false;
}

static struct chunk *newest(const struct history *h)
{
	return h->count > 0 ? h->chunks[h->first + h->count - 1] : NULL;
}

/* A chunk with room for `need` bytes and an offset, within the cap; NULL if it cannot be. */
static struct chunk *chunk_with_room(struct history *h, size_t need)
{
	struct chunk *chunk = newest(h);
	need += sizeof(uint32_t);
	if (chunk != NULL &&
		chunk->size - chunk->used - chunk->line_count * sizeof(uint32_t) >= need)
		return chunk;
	size_t size = need > h->chunk_bytes ? need : h->chunk_bytes;
	size_t total = sizeof *chunk + size;
	if (total > h->cap_bytes)
		return NULL;
	while (h->count > 0 && h->bytes + total > h->cap_bytes)
		drop_oldest(h);
	if (h->first > 0 && h->first + h->count == h->capacity) {
		memmove(h->chunks, h->chunks + h->first, h->count * sizeof(struct chunk *));
		h->first = 0;
	}
	array_grow(&h->chunks, &h->capacity, h->first + h->count + 1, sizeof *h->chunks);
	chunk = x_malloc(total);
	*chunk = (struct chunk){
		.first_id = h->next_id, .size = (uint32_t)size, .rows_cols = h->cols
	};
	h->chunks[h->first + h->count++] = chunk;
	h->bytes += total;
	return chunk;
}

static void seal(struct history *h)
{
	struct pack_line line = pack_built(&h->open);
	size_t bytes = pack_bytes(&line);
	struct chunk *chunk = chunk_with_room(h, bytes);
	h->is_open = false;
	h->next_id++;
	if (chunk == NULL) {
		/* larger than all that may be kept: what is older goes too, so that lines stay in order */
		while (h->count > 0)
			drop_oldest(h);
		drop_open(h);
		return;
	}
	pack_store(&line, chunk->data + chunk->used);
	uint32_t offset = chunk->used;
	memcpy(chunk->data + chunk->size - (chunk->line_count + 1) * sizeof offset, &offset,
		sizeof offset);
	chunk->line_count++;
	chunk->used += (uint32_t)bytes;
	if (chunk->rows_cols == h->cols)
		chunk->rows += pack_rows(&line, h->cols);
	else
		chunk->rows_cols = 0;
	pack_clear(&h->open);
}

void history_push(
	struct history *h, const struct term_cell *cells, size_t n, bool wrapped, uint8_t marks)
{
	if (h->cap_bytes == 0)
		return;
	h->is_open = true;
	h->recent.valid = false;
	h->open.head.marks |= marks;
	pack_append(&h->open, h->tables, cells, n);
	struct pack_line line = pack_built(&h->open);
	size_t limit =
		h->cap_bytes / 2 < HISTORY_LINE_BYTES ? h->cap_bytes / 2 : HISTORY_LINE_BYTES;
	bool cut = wrapped && pack_bytes(&line) >= limit;
	if (cut)
		h->open.head.flags |= PACK_CONTINUES;
	if (!wrapped || cut)
		seal(h);
}

static uint64_t chunk_rows(const struct history *h, struct chunk *chunk)
{
	if (chunk->rows_cols == h->cols)
		return chunk->rows;
	chunk->rows = 0;
	for (uint32_t i = 0; i < chunk->line_count; i++) {
		struct pack_line line = line_of(chunk, i);
		chunk->rows += pack_rows(&line, h->cols);
	}
	chunk->rows_cols = h->cols;
	return chunk->rows;
}

static uint32_t open_rows(const struct history *h)
{
	if (!h->is_open)
		return 0;
	struct pack_line line = pack_built(&h->open);
	return pack_rows(&line, h->cols);
}

int history_rows(struct history *h)
{
	uint64_t rows = open_rows(h);
	for (size_t i = 0; i < h->count; i++)
		rows += chunk_rows(h, h->chunks[h->first + i]);
	return rows > INT_MAX ? INT_MAX : (int)rows;
}

size_t history_bytes(const struct history *h)
{
	return h->bytes;
}

bool history_is_empty(const struct history *h)
{
	return h->count == 0 && !h->is_open;
}

bool history_is_open(const struct history *h)
{
	return h->is_open;
}

uint32_t history_open_cells(const struct history *h)
{
	return h->is_open ? h->open.head.cells : 0;
}

uint64_t history_next_id(const struct history *h)
{
	return h->next_id;
}

static void set_recent(struct history *h, size_t chunk, uint32_t line, uint64_t rows_after)
{
	struct pack_line found = line_of(h->chunks[h->first + chunk], line);
	h->recent.valid = true;
	h->recent.chunk = chunk;
	h->recent.line = line;
	h->recent.row_count = pack_rows(&found, h->cols);
	h->recent.rows_after = rows_after;
	h->recent.row = (struct pack_row){ 0 };
}

static bool step_newer(struct history *h)
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

static bool step_older(struct history *h)
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
static bool seek(struct history *h, uint64_t left)
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
	uint64_t after = open_rows(h);
	for (size_t i = h->count; i > 0; i--) {
		struct chunk *chunk = h->chunks[h->first + i - 1];
		uint64_t here = chunk_rows(h, chunk);
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

bool history_find(struct history *h, int rows_from_end, struct history_pos *pos)
{
	if (rows_from_end < 1)
		return false;
	uint64_t left = (uint64_t)rows_from_end;
	uint32_t rows = open_rows(h);
	if (left <= rows) {
		struct pack_row row = { 0 };
		*pos = (struct history_pos){
			.line = pack_built(&h->open),
			.line_id = h->next_id,
			.row = rows - (uint32_t)left,
			.row_count = rows,
			.open = true,
		};
		pack_seek_row(&pos->line, h->cols, pos->row, &row);
		pos->start = row.start;
		return true;
	}
	if (!seek(h, left))
		return false;
	const struct chunk *chunk = h->chunks[h->first + h->recent.chunk];
	*pos = (struct history_pos){
		.line = line_of(chunk, h->recent.line),
		.line_id = chunk->first_id + h->recent.line,
		.row = h->recent.row_count - (uint32_t)(left - h->recent.rows_after),
		.row_count = h->recent.row_count,
	};
	pack_seek_row(&pos->line, h->cols, pos->row, &h->recent.row);
	pos->start = h->recent.row.start;
	return true;
}

size_t history_read(struct history *h, const struct history_pos *pos, struct term_cell *cells,
	size_t max_cells)
{
	struct pack_row row = { 0 };
	if (!pos->open && h->recent.valid)
		row = h->recent.row; /* left there by history_find() */
	pack_seek_row(&pos->line, h->cols, pos->row, &row);
	struct pack_reader reader;
	pack_read_row(&reader, &pos->line, &row);
	size_t n = 0;
	while (n < row.cells && n < max_cells && pack_read(&reader, h->tables, &cells[n]))
		n++;
	/* the second half fell outside (a screen of one column, or a short buffer) */
	if (n > 0 && n == max_cells && (cells[n - 1].text & CELL_WIDE))
		cells[n - 1].text = 0xfffd;
	return n;
}

static void locate_in_line(const struct history *h, const struct pack_line *line, uint32_t cell,
	uint32_t *row, int *col)
{
	struct pack_row at = { 0 };
	uint32_t rows = pack_rows(line, h->cols);
	uint32_t next = line->head.flags & PACK_PLAIN ? cell / (uint32_t)h->cols : 0;
	if (next >= rows)
		next = rows - 1;
	do
		pack_seek_row(line, h->cols, next, &at);
	while (cell >= at.start + at.cells && ++next < rows);
	*row = at.row;
	uint32_t offset = cell > at.start ? cell - at.start : 0;
	*col = offset < (uint32_t)h->cols ? (int)offset : h->cols - 1;
}

bool history_locate(
	struct history *h, uint64_t line_id, uint32_t cell, int *rows_from_end, int *col)
{
	uint32_t row;
	uint64_t after = open_rows(h);
	if (h->is_open && line_id == h->next_id) {
		struct pack_line line = pack_built(&h->open);
		locate_in_line(h, &line, cell, &row, col);
		*rows_from_end = (int)(after - row);
		return true;
	}
	for (size_t i = h->count; i > 0; i--) {
		struct chunk *chunk = h->chunks[h->first + i - 1];
		if (line_id < chunk->first_id) {
			after += chunk_rows(h, chunk);
			continue;
		}
		if (line_id >= chunk->first_id + chunk->line_count)
			return false;
		for (uint32_t j = chunk->line_count; j > 0; j--) {
			struct pack_line line = line_of(chunk, j - 1);
			after += pack_rows(&line, h->cols);
			if (chunk->first_id + j - 1 != line_id)
				continue;
			locate_in_line(h, &line, cell, &row, col);
			after -= row;
			*rows_from_end = after > INT_MAX ? INT_MAX : (int)after;
			return true;
		}
	}
	return false;
}

static void unpack(struct history *h, const struct pack_line *line, struct history_line *out)
{
	out->cells = x_malloc((line->head.cells + 1u) * sizeof *out->cells);
	out->n = 0;
	out->marks = line->head.marks;
	struct pack_reader reader;
	pack_read_start(&reader, line);
	while (out->n < line->head.cells && pack_read(&reader, h->tables, &out->cells[out->n]))
		out->n++;
}

bool history_pop(struct history *h, struct history_line *out)
{
	h->recent.valid = false;
	if (h->is_open) {
		struct pack_line line = pack_built(&h->open);
		unpack(h, &line, out);
		out->continues = true;
		drop_open(h);
		return true;
	}
	struct chunk *chunk = newest(h);
	if (chunk == NULL)
		return false;
	struct pack_line line = line_of(chunk, chunk->line_count - 1);
	unpack(h, &line, out);
	out->continues = line.head.flags & PACK_CONTINUES;
	if (chunk->rows_cols == h->cols)
		chunk->rows -= pack_rows(&line, h->cols);
	else
		chunk->rows_cols = 0;
	pack_unref_styles(&line, h->tables);
	chunk->line_count--;
	chunk->used = offset_of(chunk, chunk->line_count);
	h->next_id--;
	if (chunk->line_count == 0) {
		h->count--;
		if (h->count == 0)
			h->first = 0;
		drop_chunk(h, chunk);
	}
	return true;
}
