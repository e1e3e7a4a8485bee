// SPDX-License-Identifier: Apache-2.0
/* Long foreign text over several rows, broken at blanks where it can be. Widths are those of its safe form. */
#pragma once

#include "tui/draw/surface.h"

/* The bytes of the next row of at most cols columns, and in *skip those after it that are not shown (a blank, a line
 * end). At least one character, so that it always gets on. */
size_t widget_wrap_next(struct slice text, int cols, size_t *skip);
int widget_wrap_rows(struct slice text, int cols); /* how many it takes; 1 for "" */
/* Draws from row on, in columns col to the end of the region, rows below 0 and past the end left out. Returns the
 * rows it takes in all. */
int widget_wrap_draw(struct draw_region region, int row, int col, struct draw_style style,
	struct slice text);
