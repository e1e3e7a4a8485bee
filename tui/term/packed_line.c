// SPDX-License-Identifier: Apache-2.0
/* Packing and unpacking of scrollback lines, and where they break at a given width. */
#include "tui/term/packed_line.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	MARK_WIDE = 0x01,
	MARK_CLUSTER = 0x02,
	MARK_WIDE_CLUSTER = 0x03,
};

void term_packed_init(struct term_packed_builder *builder)
{
	memset(builder, 0, sizeof *builder);
	builder->head.flags = PACK_PLAIN;
}

void term_packed_deinit(struct term_packed_builder *builder)
{
	free(builder->runs);
	free(builder->text);
	memset(builder, 0, sizeof *builder);
}

void term_packed_clear(struct term_packed_builder *builder)
{
	builder->head = (struct term_packed_head){ .flags = PACK_PLAIN };
}

/* A run of the default style at the start is only written down when another style follows. */
static void add_to_run(struct term_packed_builder *builder,
	const struct term_cell_tables *tables, uint32_t style)
{
	struct term_packed_head *head = &builder->head;
	if (head->run_count > 0 && builder->runs[head->run_count - 1].style == style) {
		builder->runs[head->run_count - 1].cells++;
		return;
	}
	if (head->run_count == 0 && style == 0)
		return;
	array_grow(&builder->runs, &builder->run_capacity, head->run_count + 2u,
		sizeof *builder->runs);
	if (head->run_count == 0 && head->cells > 0)
		builder->runs[head->run_count++] = (struct term_packed_run){ 0, head->cells };
	builder->runs[head->run_count++] = (struct term_packed_run){ style, 1 };
	term_string_pool_ref(tables->styles, style);
}

static void append_special(struct term_packed_builder *builder,
	const struct term_cell_tables *tables, struct term_cell cell)
{
	char text[TERM_CELL_TEXT_BYTES];
	size_t n = term_cell_append_text(tables, cell, text);
	char *out = builder->text + builder->head.text_bytes;
	size_t at = 0;
	bool wide = cell.text & CELL_WIDE;
	if (cell.text & CELL_CLUSTER) {
		out[at++] = wide ? MARK_WIDE_CLUSTER : MARK_CLUSTER;
		out[at++] = (char)n;
	} else if (wide) {
		out[at++] = MARK_WIDE;
	}
	memcpy(out + at, text, n);
	builder->head.text_bytes += (uint32_t)(at + n);
	builder->head.flags &= (uint8_t)~PACK_PLAIN;
	if (wide)
		builder->head.flags |= PACK_WIDE;
}

/* ASCII in one style, as far as it goes: most lines are nothing else. */
static size_t plain_run(
	struct term_packed_builder *builder, const struct term_cell *cells, size_t n)
{
	struct term_packed_head *head = &builder->head;
	uint32_t style = 0;
	if (head->run_count > 0)
		style = builder->runs[head->run_count - 1].style;
	char *out = builder->text + head->text_bytes;
	size_t room = builder->text_capacity - head->text_bytes;
	size_t i = 0;
	for (; i < n && i < room && cells[i].style == style; i++) {
		uint32_t text = cells[i].text & ~(uint32_t)CELL_PROTECTED;
		if (text >= 0x80)
			break;
		out[i] = text ? (char)text : ' ';
	}
	head->text_bytes += (uint32_t)i;
	head->cells += (uint32_t)i;
	if (head->run_count > 0)
		builder->runs[head->run_count - 1].cells += (uint32_t)i;
	return i;
}

void term_packed_append(struct term_packed_builder *builder,
	const struct term_cell_tables *tables, const struct term_cell *cells, size_t n)
{
	struct term_packed_head *head = &builder->head;
	for (size_t i = 0; i < n; i++) {
		/* room for one cell of any kind, asked for only now and then */
		if (builder->text_capacity - head->text_bytes < TERM_CELL_TEXT_BYTES + 2)
			array_grow(&builder->text, &builder->text_capacity,
				head->text_bytes + (n - i) + TERM_CELL_TEXT_BYTES + 2, 1);
		size_t plain = plain_run(builder, cells + i, n - i);
		if (plain > 0) {
			i += plain - 1;
			continue;
		}
		struct term_cell cell = cells[i];
		uint32_t value = cell.text & (CELL_VALUE | CELL_CLUSTER);
		bool pair =
			(cell.text & CELL_WIDE) && i + 1 < n && (cells[i + 1].text & CELL_TAIL);
		if (!pair)
			cell.text &= ~(uint32_t)CELL_PAIR;
		add_to_run(builder, tables, cell.style);
		if (!pair && value < 0x80)
			builder->text[head->text_bytes++] = value ? (char)value : ' ';
		else
			append_special(builder, tables, cell);
		head->cells++;
		if (pair) {
			add_to_run(builder, tables, cell.style);
			head->cells++;
			i++;
		}
	}
}

struct term_packed_line term_packed_built(const struct term_packed_builder *builder)
{
	return (struct term_packed_line){ builder->head, builder->runs, builder->text };
}

size_t term_packed_bytes(const struct term_packed_line *line)
{
	size_t bytes = sizeof line->head + line->head.run_count * sizeof *line->runs +
		       line->head.text_bytes;
	return (bytes + 3) & ~(size_t)3;
}

void term_packed_store(const struct term_packed_line *line, void *out)
{
	char *p = out;
	size_t run_bytes = line->head.run_count * sizeof *line->runs;
	memcpy(p, &line->head, sizeof line->head);
	if (run_bytes > 0)
		memcpy(p + sizeof line->head, line->runs, run_bytes);
	if (line->head.text_bytes > 0)
		memcpy(p + sizeof line->head + run_bytes, line->text, line->head.text_bytes);
}

struct term_packed_line term_packed_load(const void *stored)
{
	const char *p = stored;
	struct term_packed_line line;
	memcpy(&line.head, p, sizeof line.head);
	/* stored at multiples of 4, which is all that a run needs */
	line.runs = (const struct term_packed_run *)(const void *)(p + sizeof line.head);
	line.text = p + sizeof line.head + line.head.run_count * sizeof *line.runs;
	return line;
}

void term_packed_unref_styles(
	const struct term_packed_line *line, const struct term_cell_tables *tables)
{
	for (uint32_t i = 0; i < line->head.run_count; i++)
		term_string_pool_unref(tables->styles, line->runs[i].style);
}

void term_packed_read_start(
	struct term_packed_reader *reader, const struct term_packed_line *line)
{
	*reader = (struct term_packed_reader){ .line = *line };
	if (line->head.run_count > 0)
		reader->run_left = line->runs[0].cells;
}

static uint32_t read_style(struct term_packed_reader *reader)
{
	const struct term_packed_line *line = &reader->line;
	if (line->head.run_count == 0)
		return 0;
	while (reader->run_left == 0 && reader->run_at + 1 < line->head.run_count)
		reader->run_left = line->runs[++reader->run_at].cells;
	if (reader->run_left > 0)
		reader->run_left--;
	return line->runs[reader->run_at].style;
}

/* The next stored character: its kind and where its UTF-8 lies. False at the end. */
static bool next_text(
	struct term_packed_reader *reader, bool *wide, const char **text, size_t *n)
{
	uint32_t left = reader->line.head.text_bytes - reader->text_at;
	if (left == 0)
		return false;
	const char *p = reader->line.text + reader->text_at;
	size_t skip = 0;
	*wide = p[0] == MARK_WIDE || p[0] == MARK_WIDE_CLUSTER;
	uint32_t codepoint;
	if (p[0] == MARK_CLUSTER || p[0] == MARK_WIDE_CLUSTER) {
		skip = 2;
		*n = (unsigned char)p[1];
	} else {
		skip = *wide ? 1 : 0;
		*n = term_cell_decode_utf8(p + skip, left - skip, &codepoint);
	}
	*text = p + skip;
	reader->text_at += (uint32_t)(skip + *n);
	return true;
}

bool term_packed_read(struct term_packed_reader *reader, struct term_cell_tables *tables,
	struct term_cell *cell)
{
	if (reader->tail) {
		reader->tail = false;
		*cell = (struct term_cell){ CELL_TAIL, read_style(reader) };
		return true;
	}
	bool wide;
	const char *text;
	size_t n;
	if (!next_text(reader, &wide, &text, &n))
		return false;
	cell->text = term_cell_value_of(tables, text, n) | (wide ? CELL_WIDE : 0);
	cell->style = read_style(reader);
	reader->tail = wide;
	return true;
}

/* Walks the rows of a line that is not plain: a wide character is never split. */
static bool next_row(struct term_packed_reader *reader, int cols, uint32_t *cells)
{
	uint32_t row_cells = 0;
	for (;;) {
		uint32_t before = reader->text_at;
		bool wide;
		const char *text;
		size_t n;
		if (!next_text(reader, &wide, &text, &n))
			break;
		uint32_t width = wide ? 2 : 1;
		if (row_cells > 0 && row_cells + width > (uint32_t)cols) {
			reader->text_at = before;
			break;
		}
		row_cells += width;
	}
	*cells = row_cells;
	return row_cells > 0;
}

uint32_t term_packed_rows(const struct term_packed_line *line, int cols)
{
	if (line->head.cells == 0)
		return 1;
	if (!(line->head.flags & PACK_WIDE))
		return (line->head.cells + (uint32_t)cols - 1) / (uint32_t)cols;
	struct term_packed_reader reader = { .line = *line };
	uint32_t rows = 0;
	uint32_t cells;
	while (next_row(&reader, cols, &cells))
		rows++;
	return rows;
}

void term_packed_seek_row(
	const struct term_packed_line *line, int cols, uint32_t row, struct term_packed_row *at)
{
	if (line->head.flags & PACK_PLAIN) {
		uint64_t start = (uint64_t)row * (uint32_t)cols;
		if (start > line->head.cells)
			start = line->head.cells;
		uint32_t left = line->head.cells - (uint32_t)start;
		*at = (struct term_packed_row){ row, (uint32_t)start,
			left < (uint32_t)cols ? left : (uint32_t)cols, (uint32_t)start };
		return;
	}
	if (at->row > row)
		*at = (struct term_packed_row){ 0 };
	struct term_packed_reader reader = { .line = *line, .text_at = at->text_at };
	for (;;) {
		next_row(&reader, cols, &at->cells);
		if (at->row == row || at->cells == 0)
			return;
		at->row++;
		at->start += at->cells;
		at->text_at = reader.text_at;
	}
}

void term_packed_read_row(struct term_packed_reader *reader,
	const struct term_packed_line *line, const struct term_packed_row *at)
{
	term_packed_read_start(reader, line);
	reader->text_at = at->text_at;
	uint32_t skip = at->start;
	while (skip > 0 && line->head.run_count > 0) {
		uint32_t step = skip < reader->run_left ? skip : reader->run_left;
		reader->run_left -= step;
		skip -= step;
		if (skip == 0 || reader->run_at + 1 >= line->head.run_count)
			break;
		reader->run_left = line->runs[++reader->run_at].cells;
	}
}
