// SPDX-License-Identifier: Apache-2.0
/* Frames and lines that join: a border that meets another one becomes ├ ┼ ╥ or whatever the two make, corners are round.
 * Two boxes that share a column or a row share its border; the one drawn last gives it its colour, so what has the focus
 * is drawn last. A cell keeps the arms of its border beside its attributes: text that looks like a border never joins,
 * and text drawn over a border ends it there. Terminals that know no more than ASCII get + - and | (screen.h). */
#pragma once

#include "tui/draw/surface.h"

enum draw_line { DRAW_LINE_LIGHT = 1, DRAW_LINE_DOUBLE = 2 };

/* From (row, col) on; its ends point inwards, so that one that begins on a border makes ├ and not ┼. */
void draw_border_hline(struct draw_region region, int row, int col, int cols,
	struct draw_style style, enum draw_line line);
void draw_border_vline(struct draw_region region, int col, int row, int rows,
	struct draw_style style, enum draw_line line);
/* " title " over the border of that row, cut to what fits between its corners; NULL or "": nothing. Returns the columns
 * used. Foreign text is fine. */
int draw_border_title(
	struct draw_region region, int row, struct draw_style style, const char *title);
/* The same at the right end of the row. */
int draw_border_title_right(
	struct draw_region region, int row, struct draw_style style, const char *title);
/* A light frame around the region with a title in its upper border. Returns the inside; empty if there is none. */
struct draw_region draw_border_box(struct draw_region region, struct draw_style style,
	struct draw_style title_style, const char *title);
