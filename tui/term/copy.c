// SPDX-License-Identifier: Apache-2.0
/* Text of a part of the screen and scrollback. */
#include "tui/term/internal.h"

#include "engine/base/mem.h"

#include <stdlib.h>

static bool is_before(struct term_pos a, struct term_pos b)
{
	return a.line != b.line ? a.line < b.line : a.col < b.col;
}

/* Bytes of one line from left to right (excluded); trailing blanks only if the line goes on. */
static void add_line(struct term *t, struct term_cell *cells, int left, int right,
	bool keep_blanks, struct str *out)
{
	char text[TERM_CELL_TEXT_BYTES];
	if (!keep_blanks)
		while (right > left) {
			struct term_cell cell = cells[right - 1];
			bool blank =
				(cell.text & (CELL_VALUE | CELL_CLUSTER | CELL_TAIL)) == 0 ||
				(cell.text & (CELL_VALUE | CELL_CLUSTER | CELL_TAIL)) == ' ';
			if (!blank)
				break;
			right--;
		}
	for (int c = left; c < right; c++) {
		size_t n = cell_text(&t->tables, cells[c], text);
		str_add_bytes(out, text, n);
	}
}

void term_copy(struct term *t, struct term_pos from, struct term_pos to, bool rectangle,
	struct str *out)
{
	int cols = t->grid->cols;
	int oldest = -history_rows(t->history);
	int left_col = from.col < to.col ? from.col : to.col;
	int right_col = from.col < to.col ? to.col : from.col;
	if (is_before(to, from)) {
		struct term_pos swap = from;
		from = to;
		to = swap;
	}
	struct term_cell *cells = x_malloc((size_t)cols * sizeof *cells);
	for (int line = from.line < oldest ? oldest : from.line;
		line <= to.line && line < t->grid->rows && !out->truncated; line++) {
		int left = rectangle ? left_col : line == from.line ? from.col : 0;
		int right = (rectangle ? right_col : line == to.line ? to.col : cols - 1) + 1;
		left = left < 0 ? 0 : left > cols ? cols : left;
		right = right < left ? left : right > cols ? cols : right;
		term_row(t, line, cells, (size_t)cols);
		bool joins = !rectangle && term_line_is_wrapped(t, line);
		/* the gap that a wide character left at the end of a row is not text */
		if (joins && right == cols && cells[cols - 1].text == 0)
			right--;
		add_line(t, cells, left, right, joins, out);
		if (line < to.line && !joins)
			str_add_char(out, '\n');
	}
	free(cells);
}
