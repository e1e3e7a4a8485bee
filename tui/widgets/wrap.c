// SPDX-License-Identifier: Apache-2.0
// Folding of text.
#include "tui/widgets/wrap.h"

#include "engine/base/safe_text.h"

size_t widget_wrap_next(struct slice text, int cols, size_t *skip)
{
	size_t at = 0, blank = 0;
	int used = 0;
	*skip = 0;
	while (at < text.n) {
		char unit[SAFE_UNIT_BYTES];
		size_t n;
		int width;
		if (text.p[at] == '\n') {
			*skip = 1;
			return at;
		}
		size_t eaten = safe_text_next_raw(
			(struct slice){ text.p + at, text.n - at }, unit, &n, &width);
		if (!eaten)
			break;
		if (used + width > cols) {
			if (text.p[at] == ' ') {
				*skip = 1;
				return at;
			}
			if (blank) {
				*skip = 1;
				return blank;
			}
			return at ? at : eaten;
		}
		if (text.p[at] == ' ')
			blank = at;
		used += width;
		at += eaten;
	}
	return at;
}

int widget_wrap_rows(struct slice text, int cols)
{
	int rows = 0;
	do {
		size_t skip, n = widget_wrap_next(text, cols, &skip);
		text.p += n + skip;
		text.n -= n + skip;
		rows++;
	} while (text.n);
	return rows;
}

int widget_wrap_draw(
	struct draw_region region, int row, int col, struct draw_style style, struct slice text)
{
	int rows = 0, cols = region.cols - col;
	do {
		size_t skip, n = widget_wrap_next(text, cols, &skip);
		if (row + rows >= 0 && row + rows < region.rows)
			draw_region_slice(region, row + rows, col, cols, style,
				(struct slice){ text.p, n });
		text.p += n + skip;
		text.n -= n + skip;
		rows++;
	} while (text.n);
	return rows;
}
