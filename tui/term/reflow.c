// SPDX-License-Identifier: Apache-2.0
/* The main screen at another size. Rows that wrapped are joined to logical lines and broken anew;
 * the line that goes on in the scrollback is taken back for it. What does not fit on top becomes
 * scrollback; a screen that was full is filled from it. The scrollback itself is not touched: it
 * breaks its lines when they are read. */
#include "tui/term/reflow.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A row to be: borrowed cells. */
struct out_row {
	struct term_cell *cells;
	int length;
	bool wrapped;
	bool wrap_short;
	uint8_t marks;
};

struct out_rows {
	struct out_row *rows;
	size_t count;
	size_t capacity;
};

struct term_flow {
	int cols; /* new */
	int rows;
	struct term_scrollback_line *lines; /* oldest first */
	size_t line_count;
	size_t line_capacity;
	size_t cursor_line;
	size_t cursor_cell; /* in that line; may lie behind its end */
	struct out_rows out;
	size_t cursor_row; /* in out */
	int cursor_col;
	bool cursor_at_end;
};

static struct term_scrollback_line *add_line(struct term_flow *flow)
{
	array_grow(
		&flow->lines, &flow->line_capacity, flow->line_count + 1, sizeof *flow->lines);
	struct term_scrollback_line *line = &flow->lines[flow->line_count++];
	memset(line, 0, sizeof *line);
	return line;
}

static int last_used_row(const struct term_grid *g)
{
	int last = g->rows - 1;
	while (last > 0 && term_grid_row_length(g, grid_row(g, last)) == 0)
		last--;
	return last;
}

/* Cells of a row to lay out anew. A row that is filled with colour to its end stays one row: only its text may need
 * another. */
static size_t length_to_keep(
	const struct term_grid *g, const struct term_grid_row *row, int new_cols)
{
	int n = term_grid_row_length(g, row);
	while (!row->wrapped && n > new_cols && row->cells[n - 1].text == 0)
		n--;
	return (size_t)n;
}

static void gather(
	struct term *t, struct term_flow *flow, int last, int cursor_row, int cursor_col)
{
	const struct term_grid *g = t->screens[0];
	bool continues = false;
	if (term_scrollback_is_open(t->history)) {
		struct term_scrollback_line *line = add_line(flow);
		term_scrollback_pop(t->history, line);
		continues = true;
	}
	for (int r = 0; r <= last; r++) {
		const struct term_grid_row *row = grid_row(g, r);
		struct term_scrollback_line *line =
			continues ? &flow->lines[flow->line_count - 1] : add_line(flow);
		size_t length = length_to_keep(g, row, flow->cols);
		if (r == cursor_row) {
			flow->cursor_line = flow->line_count - 1;
			flow->cursor_cell = line->n + (size_t)cursor_col;
		}
		if (length > 0) {
			line->cells =
				x_realloc(line->cells, line->n + length, sizeof *line->cells);
			memcpy(line->cells + line->n, row->cells, length * sizeof *line->cells);
			line->n += length;
		}
		line->marks |= row->marks;
		continues = row->wrapped;
	}
}

static struct out_row *add_row(struct out_rows *out)
{
	array_grow(&out->rows, &out->capacity, out->count + 1, sizeof *out->rows);
	struct out_row *row = &out->rows[out->count++];
	memset(row, 0, sizeof *row);
	return row;
}

/* Cells of the row that begins at cells; *used is what it takes from the line. The same again for the same line: it
 * may be laid out twice. */
static int break_row(struct term_cell *cells, size_t left, int cols, size_t *used)
{
	size_t n = left < (size_t)cols ? left : (size_t)cols;
	*used = n;
	if (n == 0 || n == left || !(cells[n].text & CELL_TAIL))
		return (int)n;
	if (n > 1) {
		*used = n - 1;
		return (int)n - 1;
	}
	cells[0].text = 0xfffd; /* a screen of one column */
	*used = 2;
	return 1;
}

static void lay_out(struct term_flow *flow, size_t index, struct out_rows *out)
{
	struct term_scrollback_line *line = &flow->lines[index];
	bool has_cursor = index == flow->cursor_line;
	size_t at = 0;
	do {
		size_t used = 0;
		struct out_row *row = add_row(out);
		if (line->n > 0) {
			row->cells = line->cells + at;
			row->length = break_row(row->cells, line->n - at, flow->cols, &used);
		}
		row->marks = at == 0 ? line->marks : 0;
		row->wrapped = at + used < line->n;
		row->wrap_short = row->wrapped && row->length < flow->cols;
		if (has_cursor && flow->cursor_cell >= at) {
			size_t col = flow->cursor_cell - at;
			flow->cursor_row = out->count - 1;
			flow->cursor_col = col < (size_t)flow->cols ? (int)col : flow->cols - 1;
		}
		at += used;
	} while (at < line->n);
	/* just behind a full row: the next character wraps */
	if (has_cursor)
		flow->cursor_at_end = flow->cursor_cell == line->n &&
				      out->rows[out->count - 1].length == flow->cols;
}

/* Takes lines back from the scrollback until the screen is full; they come before the others. */
static void fill_from_history(struct term *t, struct term_flow *flow)
{
	size_t own = flow->line_count;
	size_t missing = (size_t)flow->rows - flow->out.count;
	struct out_rows counted = { 0 };
	while (counted.count < missing) {
		struct term_scrollback_line line;
		if (!term_scrollback_pop(t->history, &line))
			break;
		*add_line(flow) = line;
		size_t cursor_line = flow->cursor_line;
		flow->cursor_line = SIZE_MAX;
		lay_out(flow, flow->line_count - 1, &counted);
		flow->cursor_line = cursor_line;
	}
	free(counted.rows);
	if (flow->line_count == own)
		return;
	/* newest came first: turn them round and put them in front */
	size_t taken = flow->line_count - own;
	struct term_scrollback_line *lines = x_malloc(flow->line_count * sizeof *lines);
	for (size_t i = 0; i < taken; i++)
		lines[i] = flow->lines[flow->line_count - 1 - i];
	memcpy(lines + taken, flow->lines, own * sizeof *lines);
	free(flow->lines);
	flow->lines = lines;
	flow->line_capacity = flow->line_count;
	flow->cursor_line += taken;
	flow->out.count = 0;
	for (size_t i = 0; i < flow->line_count; i++)
		lay_out(flow, i, &flow->out);
}

static struct term_grid *build(struct term *t, const struct term_flow *flow, size_t first)
{
	struct term_grid *g = term_grid_new(flow->cols, flow->rows);
	for (int r = 0; r < flow->rows; r++) {
		struct term_grid_row *row = grid_row(g, r);
		row->revision = t->revision;
		if (first + (size_t)r >= flow->out.count)
			continue;
		const struct out_row *from = &flow->out.rows[first + (size_t)r];
		if (from->length > 0)
			memcpy(row->cells, from->cells,
				(size_t)from->length * sizeof *row->cells);
		row->used = from->length;
		row->marks = from->marks;
		row->wrapped = from->wrapped && r + 1 < flow->rows;
		row->wrap_short = row->wrapped && from->wrap_short;
	}
	return g;
}

void term_reflow_main(struct term *t, int cols, int rows, int *cursor_row, int *cursor_col,
	bool *cursor_at_end)
{
	struct term_grid *old = t->screens[0];
	struct term_flow flow = { .cols = cols, .rows = rows, .cursor_line = SIZE_MAX };
	int last = last_used_row(old);
	bool was_full = last == old->rows - 1 || *cursor_row == old->rows - 1;
	gather(t, &flow, last > *cursor_row ? last : *cursor_row, *cursor_row, *cursor_col);
	term_scrollback_set_cols(t->history, cols);
	for (size_t i = 0; i < flow.line_count; i++)
		lay_out(&flow, i, &flow.out);
	if (was_full && flow.out.count < (size_t)rows)
		fill_from_history(t, &flow);

	size_t first = flow.out.count > (size_t)rows ? flow.out.count - (size_t)rows : 0;
	if (first > flow.cursor_row)
		first = flow.cursor_row; /* rows below the cursor are given up before it is */
	for (size_t i = 0; i < first; i++) {
		const struct out_row *row = &flow.out.rows[i];
		term_scrollback_push(
			t->history, row->cells, (size_t)row->length, row->wrapped, row->marks);
	}
	t->screens[0] = build(t, &flow, first);
	if (t->grid == old)
		t->grid = t->screens[0];
	term_grid_free(old);
	*cursor_row = (int)(flow.cursor_row - first);
	*cursor_col = flow.cursor_col;
	*cursor_at_end = flow.cursor_at_end;
	for (size_t i = 0; i < flow.line_count; i++)
		free(flow.lines[i].cells);
	free(flow.lines);
	free(flow.out.rows);
}
