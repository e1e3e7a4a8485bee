// SPDX-License-Identifier: Apache-2.0
#include "tui/widgets/middle.h"

#include "engine/base/safe_text.h"

enum {
	COLS_MIN = 5
}; /* of a text that is cut in the middle: with less there is no end to see */

/* The bytes at its beginning that take at most that many columns; *used: how many they take. */
static size_t bytes_within(struct slice text, int cols, int *used)
{
	size_t at = 0;
	*used = 0;
	while (at < text.n) {
		char unit[SAFE_UNIT_BYTES];
		size_t n;
		int width;
		size_t eaten = safe_text_next_raw(
			(struct slice){ text.p + at, text.n - at }, unit, &n, &width);
		if (!eaten || *used + width > cols)
			break;
		*used += width;
		at += eaten;
	}
	return at;
}

/* Where the rest begins that takes at most that many columns. */
static size_t begin_of_end(struct slice text, int all_cols, int cols)
{
	size_t at = 0;
	int left = all_cols;
	while (at < text.n && left > cols) {
		char unit[SAFE_UNIT_BYTES];
		size_t n;
		int width;
		size_t eaten = safe_text_next_raw(
			(struct slice){ text.p + at, text.n - at }, unit, &n, &width);
		if (!eaten)
			break;
		left -= width;
		at += eaten;
	}
	return at;
}

int widget_middle_draw(struct draw_region r, int row, int col, int max_cols,
	struct draw_style style, const char *text)
{
	struct slice all = slice_of(text);
	int cols = draw_slice_cols(all);
	if (cols <= max_cols || max_cols < COLS_MIN)
		return draw_region_slice(r, row, col, max_cols, style, all);
	int used = 0;
	size_t head = bytes_within(all, max_cols / 2, &used);
	size_t tail = begin_of_end(all, cols, max_cols - used - 1);
	draw_region_slice(r, row, col, used, style, (struct slice){ all.p, head });
	used += draw_region_text(r, row, col + used, 1, style, "…");
	used += draw_region_slice(r, row, col + used, max_cols - used, style,
		(struct slice){ all.p + tail, all.n - tail });
	return used;
}
