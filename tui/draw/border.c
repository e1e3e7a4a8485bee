// SPDX-License-Identifier: Apache-2.0
// Borders as arms: each cell has up to four, light or double, and its character is looked up by them. Joining is
// putting the arms of two lines together.
#include "tui/draw/border.h"

#include <string.h>

enum { UP, DOWN, LEFT, RIGHT, N_WAYS, WAY_BITS = 2, WAY_MASK = 3 };
enum { TITLE_GAP = 2, TITLE_COLS_MIN = 3 };

/* By (light or double verticals), (light or double horizontals), and which arms there are: bits up, down, left, right. */
static const char *const glyphs[2][2][1 << N_WAYS] = {
	{
		{ " ", "│", "│", "│", "─", "╯", "╮", "┤", "─", "╰", "╭", "├", "─", "┴", "┬",
			"┼" },
		{ " ", "│", "│", "│", "═", "╛", "╕", "╡", "═", "╘", "╒", "╞", "═", "╧", "╤",
			"╪" },
	},
	{
		{ " ", "║", "║", "║", "─", "╜", "╖", "╢", "─", "╙", "╓", "╟", "─", "╨", "╥",
			"╫" },
		{ " ", "║", "║", "║", "═", "╝", "╗", "╣", "═", "╚", "╔", "╠", "═", "╩", "╦",
			"╬" },
	},
};

static unsigned arm(int way, enum draw_line line)
{
	return (unsigned)line << (DRAW_ARMS_SHIFT + way * WAY_BITS);
}

static unsigned weight(unsigned arms, int way)
{
	return arms >> (DRAW_ARMS_SHIFT + way * WAY_BITS) & WAY_MASK;
}

static unsigned heavier(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* The arms of both; of two weights in one way the heavier stays. */
static unsigned join(unsigned a, unsigned b)
{
	unsigned arms = 0;
	for (int way = 0; way < N_WAYS; way++)
		arms |= heavier(weight(a, way), weight(b, way))
			<< (DRAW_ARMS_SHIFT + way * WAY_BITS);
	return arms;
}

static const char *glyph_of(unsigned arms)
{
	unsigned which = 0;
	for (int way = 0; way < N_WAYS; way++)
		which |= weight(arms, way) ? 1U << way : 0;
	bool is_tall = heavier(weight(arms, UP), weight(arms, DOWN)) == DRAW_LINE_DOUBLE;
	bool is_wide = heavier(weight(arms, LEFT), weight(arms, RIGHT)) == DRAW_LINE_DOUBLE;
	return glyphs[is_tall][is_wide][which];
}

static void put(struct draw_region r, int row, int col, struct draw_style style, unsigned arms)
{
	if (row < 0 || row >= r.rows || col < 0 || col >= r.cols)
		return;
	const struct draw_cell *there = draw_surface_row(r.surface, r.row + row) + r.col + col;
	arms = join(arms, there->attrs & DRAW_ARMS);
	style.attrs = (uint16_t)((style.attrs & ~(unsigned)DRAW_ARMS) | arms);
	const char *glyph = glyph_of(arms);
	draw_region_put(r, row, col, style, glyph, strlen(glyph), 1);
}

/* The arms of the ith of n cells of a line from way `back` to way `on`. */
static unsigned arms_at(int i, int n, int back, int on, enum draw_line line)
{
	unsigned both = arm(back, line) | arm(on, line);
	if (n == 1)
		return both;
	return i == 0 ? arm(on, line) : i == n - 1 ? arm(back, line) : both;
}

void draw_border_hline(struct draw_region r, int row, int col, int cols,
	struct draw_style style, enum draw_line line)
{
	for (int i = 0; i < cols; i++)
		put(r, row, col + i, style, arms_at(i, cols, LEFT, RIGHT, line));
}

void draw_border_vline(struct draw_region r, int col, int row, int rows,
	struct draw_style style, enum draw_line line)
{
	for (int i = 0; i < rows; i++)
		put(r, row + i, col, style, arms_at(i, rows, UP, DOWN, line));
}

static int put_title(struct draw_region r, int row, struct draw_style style, const char *title,
	bool is_right)
{
	int room = r.cols - 2 * TITLE_GAP, at = TITLE_GAP;
	if (!title || !*title || room < TITLE_COLS_MIN)
		return 0;
	int cols = is_right ? draw_text_cols(title) : 0;
	if (is_right)
		at += cols < room ? room - cols : 0;
	int used = draw_region_text(r, row, at, room + TITLE_GAP - at, style, title);
	draw_region_put(r, row, at - 1, style, " ", 1, 1);
	draw_region_put(r, row, at + used, style, " ", 1, 1);
	return used + 2;
}

int draw_border_title(struct draw_region r, int row, struct draw_style style, const char *title)
{
	return put_title(r, row, style, title, false);
}

int draw_border_title_right(
	struct draw_region r, int row, struct draw_style style, const char *title)
{
	return put_title(r, row, style, title, true);
}

struct draw_region draw_border_box(struct draw_region r, struct draw_style style,
	struct draw_style title_style, const char *title)
{
	if (r.cols < 2 || r.rows < 2)
		return draw_region_sub(r, 0, 0, 0, 0);
	draw_border_hline(r, 0, 0, r.cols, style, DRAW_LINE_LIGHT);
	draw_border_hline(r, r.rows - 1, 0, r.cols, style, DRAW_LINE_LIGHT);
	draw_border_vline(r, 0, 0, r.rows, style, DRAW_LINE_LIGHT);
	draw_border_vline(r, r.cols - 1, 0, r.rows, style, DRAW_LINE_LIGHT);
	draw_border_title(r, 0, title_style, title);
	return draw_region_sub(r, 1, 1, r.cols - 2, r.rows - 2);
}
