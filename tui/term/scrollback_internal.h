// SPDX-License-Identifier: Apache-2.0
/* A chunk is one block of memory: packed lines grow from its start, their offsets from its end.
 *
 *   chunks[first] … chunks[first + count - 1]   oldest … newest, sealed lines
 *   open                                        the line that screen row 0 continues
 *
 * scrollback.c keeps them, scrollback_read.c finds rows in them. */
#pragma once

#include "tui/term/scrollback.h"

#include <string.h>

struct term_chunk {
	uint64_t first_id;
	uint32_t line_count;
	uint32_t size;
	uint32_t used;
	int rows_cols; /* the width that `rows` was counted for, 0 = not counted */
	uint64_t rows;
	_Alignas(8) unsigned char data[];
};

struct term_scrollback {
	struct term_cell_tables *tables;
	size_t cap_bytes;
	size_t bytes; /* of the chunks */
	size_t chunk_bytes;
	struct term_chunk **chunks;
	size_t first;
	size_t count;
	size_t capacity;
	uint64_t next_id;
	struct term_packed_builder open;
	bool is_open;
	/* what is known of the open line at this width; bytes are only ever added to it, so the rows before stay */
	struct {
		int cols;       /* 0: nothing */
		uint32_t cells; /* that it had when its rows were counted */
		uint32_t rows;
		struct term_packed_row row; /* how far it has been walked */
	} open_walk;
	int cols;
	/* the sealed line that was read last; the next one asked for is mostly it or a neighbour */
	struct {
		bool valid;
		size_t chunk; /* index from first */
		uint32_t line;
		uint32_t row_count;
		uint64_t rows_after;        /* of newer lines */
		struct term_packed_row row; /* how far it has been walked */
	} recent;
};

static inline uint32_t offset_of(const struct term_chunk *chunk, uint32_t index)
{
	uint32_t offset;
	memcpy(&offset, chunk->data + chunk->size - (index + 1) * sizeof offset, sizeof offset);
	return offset;
}

static inline struct term_packed_line line_of(const struct term_chunk *chunk, uint32_t index)
{
	return term_packed_load(chunk->data + offset_of(chunk, index));
}

uint64_t term_scrollback_chunk_rows(const struct term_scrollback *h, struct term_chunk *chunk);
uint32_t term_scrollback_open_rows(struct term_scrollback *h);
