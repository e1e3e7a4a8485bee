// SPDX-License-Identifier: Apache-2.0
/* Keeping lines: packed, sealed into chunks, the oldest chunk dropped when the cap is reached. */
#include "tui/term/scrollback_internal.h"

#include "engine/base/mem.h"

#include <stdlib.h>

enum {
	CHUNK_BYTES_MIN = 2 * 1024,
	CHUNK_BYTES_MAX = 64 * 1024,
};

struct term_scrollback *term_scrollback_new(size_t cap_bytes, struct term_cell_tables *tables)
{
	struct term_scrollback *h = x_calloc(1, sizeof *h);
	h->tables = tables;
	h->cap_bytes = cap_bytes;
	h->chunk_bytes = cap_bytes / 16;
	if (h->chunk_bytes < CHUNK_BYTES_MIN)
		h->chunk_bytes = CHUNK_BYTES_MIN;
	if (h->chunk_bytes > CHUNK_BYTES_MAX)
		h->chunk_bytes = CHUNK_BYTES_MAX;
	h->cols = 1;
	term_packed_init(&h->open);
	return h;
}

static void drop_chunk(struct term_scrollback *h, struct term_chunk *chunk)
{
	h->recent.valid = false;
	for (uint32_t i = 0; i < chunk->line_count; i++) {
		struct term_packed_line line = line_of(chunk, i);
		term_packed_unref_styles(&line, h->tables);
	}
	h->bytes -= sizeof *chunk + chunk->size;
	free(chunk);
}

static void drop_oldest(struct term_scrollback *h)
{
	drop_chunk(h, h->chunks[h->first]);
	h->first++;
	h->count--;
	if (h->count == 0)
		h->first = 0;
}

static void drop_open(struct term_scrollback *h)
{
	struct term_packed_line line = term_packed_built(&h->open);
	term_packed_unref_styles(&line, h->tables);
	term_packed_clear(&h->open);
	h->is_open = false;
	h->open_walk.cols = 0;
}

void term_scrollback_clear(struct term_scrollback *h)
{
	while (h->count > 0)
		drop_oldest(h);
	if (h->is_open)
		h->next_id++;
	drop_open(h);
}

void term_scrollback_free(struct term_scrollback *h)
{
	if (h == NULL)
		return;
	term_scrollback_clear(h);
	term_packed_deinit(&h->open);
	free(h->chunks);
	free(h);
}

void term_scrollback_set_cols(struct term_scrollback *h, int cols)
{
	h->cols = cols;
	h->recent.valid = false;
}

static struct term_chunk *newest(const struct term_scrollback *h)
{
	return h->count > 0 ? h->chunks[h->first + h->count - 1] : NULL;
}

/* A chunk with room for `need` bytes and an offset, within the cap; NULL if it cannot be. */
static struct term_chunk *chunk_with_room(struct term_scrollback *h, size_t need)
{
	struct term_chunk *chunk = newest(h);
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
		memmove(h->chunks, h->chunks + h->first,
			h->count * sizeof(struct term_chunk *));
		h->first = 0;
	}
	array_grow(&h->chunks, &h->capacity, h->first + h->count + 1, sizeof *h->chunks);
	chunk = x_malloc(total);
	*chunk = (struct term_chunk){
		.first_id = h->next_id, .size = (uint32_t)size, .rows_cols = h->cols
	};
	h->chunks[h->first + h->count++] = chunk;
	h->bytes += total;
	return chunk;
}

static void seal(struct term_scrollback *h)
{
	struct term_packed_line line = term_packed_built(&h->open);
	size_t bytes = term_packed_bytes(&line);
	struct term_chunk *chunk = chunk_with_room(h, bytes);
	h->is_open = false;
	h->next_id++;
	if (chunk == NULL) {
		/* larger than all that may be kept: what is older goes too, so that lines stay in order */
		while (h->count > 0)
			drop_oldest(h);
		drop_open(h);
		return;
	}
	term_packed_store(&line, chunk->data + chunk->used);
	uint32_t offset = chunk->used;
	memcpy(chunk->data + chunk->size - (chunk->line_count + 1) * sizeof offset, &offset,
		sizeof offset);
	chunk->line_count++;
	chunk->used += (uint32_t)bytes;
	h->open_walk.cols = 0;
	if (chunk->rows_cols == h->cols)
		chunk->rows += term_packed_rows(&line, h->cols);
	else
		chunk->rows_cols = 0;
	term_packed_clear(&h->open);
}

void term_scrollback_push(struct term_scrollback *h, const struct term_cell *cells, size_t n,
	bool wrapped, uint8_t marks)
{
	if (h->cap_bytes == 0)
		return;
	h->is_open = true;
	h->recent.valid = false;
	h->open.head.marks |= marks;
	term_packed_append(&h->open, h->tables, cells, n);
	struct term_packed_line line = term_packed_built(&h->open);
	size_t limit =
		h->cap_bytes / 2 < HISTORY_LINE_BYTES ? h->cap_bytes / 2 : HISTORY_LINE_BYTES;
	bool cut = wrapped && term_packed_bytes(&line) >= limit;
	if (cut)
		h->open.head.flags |= PACK_CONTINUES;
	if (!wrapped || cut)
		seal(h);
}

size_t term_scrollback_bytes(const struct term_scrollback *h)
{
	return h->bytes;
}

bool term_scrollback_is_empty(const struct term_scrollback *h)
{
	return h->count == 0 && !h->is_open;
}

bool term_scrollback_is_open(const struct term_scrollback *h)
{
	return h->is_open;
}

uint32_t term_scrollback_open_cells(const struct term_scrollback *h)
{
	return h->is_open ? h->open.head.cells : 0;
}

uint64_t term_scrollback_next_id(const struct term_scrollback *h)
{
	return h->next_id;
}

static void unpack(struct term_scrollback *h, const struct term_packed_line *line,
	struct term_scrollback_line *out)
{
	out->cells = x_malloc((line->head.cells + 1u) * sizeof *out->cells);
	out->n = 0;
	out->marks = line->head.marks;
	struct term_packed_reader reader;
	term_packed_read_start(&reader, line);
	while (out->n < line->head.cells &&
		term_packed_read(&reader, h->tables, &out->cells[out->n]))
		out->n++;
}

bool term_scrollback_pop(struct term_scrollback *h, struct term_scrollback_line *out)
{
	h->recent.valid = false;
	if (h->is_open) {
		struct term_packed_line line = term_packed_built(&h->open);
		unpack(h, &line, out);
		out->continues = true;
		drop_open(h);
		return true;
	}
	struct term_chunk *chunk = newest(h);
	if (chunk == NULL)
		return false;
	struct term_packed_line line = line_of(chunk, chunk->line_count - 1);
	unpack(h, &line, out);
	out->continues = line.head.flags & PACK_CONTINUES;
	if (chunk->rows_cols == h->cols)
		chunk->rows -= term_packed_rows(&line, h->cols);
	else
		chunk->rows_cols = 0;
	term_packed_unref_styles(&line, h->tables);
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
