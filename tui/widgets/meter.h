// SPDX-License-Identifier: Apache-2.0
/* Shares as pictures, in parts of a thousand. What is not known is not drawn: an empty gauge is a lie. */
#pragma once

#include "tui/draw/surface.h"

/* "▓▓▓░" in that many cells: how much of it is taken. Something is never drawn as nothing, and not all never as all. */
void widget_meter_gauge(struct draw_region region, int row, int col, int cols,
	struct draw_style style, int permille);
/* "▁▂▃▅▇": the last of the values, the newest at the right; -1 was not known and stays blank. */
void widget_meter_sparkline(struct draw_region region, int row, int col, int cols,
	struct draw_style style, const int16_t *values, int n);
/* "▮▮▯ 2/3": how many of how many there are, one cell each, or in `max` cells where they are more. Returns the cells. */
int widget_meter_count(struct draw_region region, int row, int col, int max,
	struct draw_style style, int there, int wanted);
