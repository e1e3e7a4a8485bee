// SPDX-License-Identifier: Apache-2.0
#include "tui/widgets/meter.h"

#include <string.h>

static void put(
	struct draw_region r, int row, int col, struct draw_style style, const char *cell)
{
	draw_region_put(r, row, col, style, cell, strlen(cell), 1);
}

/* How many of the cells are full. */
static int filled(int64_t part, int64_t whole, int cols)
{
	if (part <= 0 || whole <= 0)
		return 0;
	if (part >= whole)
		return cols;
	int64_t n = (part * cols + whole / 2) / whole;
	int64_t most = cols > 1 ? cols - 1 : cols;
	return (int)(n < 1 ? 1 : n > most ? most : n);
}

void widget_meter_gauge(
	struct draw_region r, int row, int col, int cols, struct draw_style style, int permille)
{
	int full = filled(permille, 1000, cols);
	for (int i = 0; i < cols; i++)
		put(r, row, col + i, style, i < full ? "▓" : "░");
}

void widget_meter_sparkline(struct draw_region r, int row, int col, int cols,
	struct draw_style style, const int16_t *values, int n)
{
	static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	enum { LEVELS = sizeof levels / sizeof *levels };
	for (int i = 0; i < cols; i++) {
		int at = n - cols + i;
		if (at < 0 || values[at] < 0)
			continue;
		int level = values[at] * LEVELS / 1000;
		put(r, row, col + i, style, levels[level < LEVELS ? level : LEVELS - 1]);
	}
}

int widget_meter_count(struct draw_region r, int row, int col, int max, struct draw_style style,
	int there, int wanted)
{
	int most = there > wanted ? there : wanted;
	int cols = most < max ? most : max;
	int full = filled(there, most, cols);
	for (int i = 0; i < cols; i++)
		put(r, row, col + i, style, i < full ? "▮" : "▯");
	return cols > 0 ? cols : 0;
}
