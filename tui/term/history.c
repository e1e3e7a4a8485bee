// SPDX-License-Identifier: Apache-2.0
/* Keeping lines: packed, sealed into chunks, the oldest chunk dropped when the cap is reached. */
#include "tui/term/history_internal.h"

#include "engine/base/mem.h"

#include <stdlib.h>

enum {
	CHUNK_BYTES_MIN = 2 * 1024,
	CHUNK_BYTES_MAX = 64 * 1024,
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
	h->open_walk.cols = 0;
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
	h->open_walk.cols = 0;
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
