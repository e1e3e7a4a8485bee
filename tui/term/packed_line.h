// SPDX-License-Identifier: Apache-2.0
/* Lines of the scrollback, packed: text as UTF-8 (one byte a cell where the line is plain ASCII) and
 * styles as runs. A packed line is a logical line: rows that wrapped are joined.
 *
 * Text: a narrow cell is its UTF-8; 0x01 = the next character is wide; 0x02 n and 0x03 n = n bytes
 * of several code points follow, narrow or wide. Cells never hold control characters, so the marks
 * cannot be mistaken. The second cell of a wide one is not stored. */
#pragma once

#include "tui/term/cell.h"

struct term_packed_run {
	uint32_t style;
	uint32_t cells;
};

enum {
	PACK_PLAIN = 1 << 0,     /* one byte a cell */
	PACK_CONTINUES = 1 << 1, /* cut because of its length: the next line goes on with it */
	PACK_WIDE = 1 << 2,      /* has wide cells, so that rows may be one cell short */
};

struct term_packed_head {
	uint32_t cells;
	uint32_t text_bytes;
	uint32_t run_count; /* 0: all in the default style */
	uint8_t flags;
	uint8_t marks;
	uint16_t unused;
};

/* One packed line; the pointers are borrowed from where it lies. */
struct term_packed_line {
	struct term_packed_head head;
	const struct term_packed_run *runs;
	const char *text;
};

struct term_packed_builder {
	struct term_packed_head head;
	struct term_packed_run *runs;
	size_t run_capacity;
	char *text;
	size_t text_capacity;
};

void term_packed_init(struct term_packed_builder *builder);
void term_packed_deinit(struct term_packed_builder *builder);
void term_packed_clear(
	struct term_packed_builder *builder); /* keeps the memory; drops no style reference */
/* Appends cells. Each run holds one reference of its style. */
void term_packed_append(struct term_packed_builder *builder,
	const struct term_cell_tables *tables, const struct term_cell *cells, size_t n);
struct term_packed_line term_packed_built(const struct term_packed_builder *builder);

size_t term_packed_bytes(
	const struct term_packed_line *line); /* stored size, a multiple of 4 */
void term_packed_store(const struct term_packed_line *line, void *out);
struct term_packed_line term_packed_load(const void *stored);
void term_packed_unref_styles(
	const struct term_packed_line *line, const struct term_cell_tables *tables);

/* Reads the cells of a line in order. */
struct term_packed_reader {
	struct term_packed_line line;
	uint32_t text_at;
	uint32_t run_at;
	uint32_t run_left;
	bool tail; /* the second cell of a wide one comes next */
};
void term_packed_read_start(
	struct term_packed_reader *reader, const struct term_packed_line *line);
bool term_packed_read(struct term_packed_reader *reader, struct term_cell_tables *tables,
	struct term_cell *cell);

/* Rows that the line takes at a width; at least 1. */
uint32_t term_packed_rows(const struct term_packed_line *line, int cols);
/* Where one row of a line begins. */
struct term_packed_row {
	uint32_t row;
	uint32_t start; /* cells before it */
	uint32_t cells;
	uint32_t text_at;
};
/* Finds a row. *at is where an earlier call for the same line and width ended (zero at first): going on
 * from there makes reading a long line row by row cheap. */
void term_packed_seek_row(const struct term_packed_line *line, int cols, uint32_t row,
	struct term_packed_row *at);
/* Starts reading at a row that term_packed_seek_row() found. */
void term_packed_read_row(struct term_packed_reader *reader,
	const struct term_packed_line *line, const struct term_packed_row *at);
