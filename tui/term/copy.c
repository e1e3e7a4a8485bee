// SPDX-License-Identifier: Apache-2.0
/* Text of a part of the screen and scrollback. */
#include "tui/term/state.h"

#include "engine/base/mem.h"

#include <stdlib.h>

static bool is_before(struct term_pos a, struct term_pos b)
{
	return a.line != b.line ? a.line < b.line : a.col < b.col;
}

static bool is_blank(struct term_cell cell, bool joins)
{
	uint32_t text = cell.text & (CELL_VALUE | CELL_CLUSTER | CELL_TAIL);
	return text == 0 || (text == ' ' && !joins);
}

/* Bytes of one line from left to right (excluded), without blanks at its end. Where the line goes on,
 * spaces that were written are text; what was never written is the gap that a wide character left. */
static void add_line(struct term *t, const struct term_cell *cells, int left, int right,
	bool joins, struct str *out)
{
	char text[TERM_CELL_TEXT_BYTES];
	while (right > left && is_blank(cells[right - 1], joins))
		right--;
	for (int c = left; c < right; c++) {
		size_t n = term_cell_append_text(&t->tables, cells[c], text);
		str_add_bytes(out, text, n);
	}
}

void term_copy(struct term *t, struct term_pos from, struct term_pos to, bool rectangle,
	struct str *out)
{
	int cols = t->grid->cols;
	int oldest = -term_scrollback_rows(t->history);
	int left_col = from.col < to.col ? from.col : to.col;
	int right_col = from.col < to.col ? to.col : from.col;
	if (is_before(to, from)) {
		struct term_pos swap = from;
		from = to;
		to = swap;
	}
	if (to.line >= t->grid->rows)
		to = (struct term_pos){ t->grid->rows - 1, cols - 1 };
	struct term_cell *cells = x_malloc((size_t)cols * sizeof *cells);
	for (int line = from.line < oldest ? oldest : from.line;
		line <= to.line && !out->truncated; line++) {
		int left = rectangle ? left_col : line == from.line ? from.col : 0;
		int right = (rectangle ? right_col : line == to.line ? to.col : cols - 1) + 1;
		left = left < 0 ? 0 : left > cols ? cols : left;
		right = right < left ? left : right > cols ? cols : right;
		term_row(t, line, cells, (size_t)cols);
		bool joins = !rectangle && term_line_is_wrapped(t, line);
		add_line(t, cells, left, right, joins, out);
		if (line < to.line && !joins)
			str_add_char(out, '\n');
	}
	free(cells);
}
