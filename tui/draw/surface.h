// SPDX-License-Identifier: Apache-2.0
/* What a frame looks like before any terminal is involved: a grid of cells. Views draw here and know nothing
 * of ncurses; screen.c compares two surfaces and paints the difference. Tests read a surface as text.
 *
 * All text goes through safe_text on its way in, so nothing a cluster or a sandbox says reaches the terminal
 * as an escape. A cell carries its style by value: panes bring colours that no theme knows. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 is the terminal's default; else a tag in the top byte. */
typedef uint32_t draw_color;
enum {
	DRAW_COLOR_DEFAULT = 0,
	DRAW_COLOR_INDEXED = 1 << 24, /* | 0 … 255 */
	DRAW_COLOR_RGB = 2 << 24,     /* | 0xRRGGBB */
	DRAW_COLOR_TAG = 3 << 24,     /* mask of the tag */
};

enum {
	DRAW_BOLD = 1 << 0,
	DRAW_DIM = 1 << 1,
	DRAW_ITALIC = 1 << 2,
	DRAW_BLINK = 1 << 3,
	DRAW_REVERSE = 1 << 4,
	DRAW_CONCEAL = 1 << 5,
	DRAW_STRIKE = 1 << 6,
	DRAW_UNDERLINE = 1 << 7,
};

struct style {
	draw_color fg, bg;
	uint16_t attrs;
};

enum {
	SURFACE_CELL_BYTES = 20
}; /* a base and up to four marks: what one ncurses cell can hold */

struct cell {
	char text[SURFACE_CELL_BYTES]; /* not NUL-terminated; n bytes */
	uint8_t n;
	uint8_t cols; /* 1, 2, or 0: second half of a wide one */
	uint16_t attrs;
	draw_color fg, bg;
};

struct surface;
struct surface *surface_new(int cols, int rows);
void surface_free(struct surface *surface);
void surface_resize(struct surface *surface, int cols, int rows); /* content is lost */
/* Same size, else the target is resized first. */
void surface_copy(struct surface *to, const struct surface *from);
int surface_cols(const struct surface *surface);
int surface_rows(const struct surface *surface);
const struct cell *surface_row(const struct surface *surface, int row); /* borrowed */
/* The rows as text, trailing blanks removed, one line a row; for golden tests. */
void surface_text(const struct surface *surface, struct str *out);

/* Where the cursor shows at the end of the frame. */
enum cursor_shape { CURSOR_HIDDEN, CURSOR_BLOCK, CURSOR_UNDERLINE, CURSOR_BAR };
struct surface_cursor {
	int col, row;
	enum cursor_shape shape;
	bool blink;
};
void surface_set_cursor(struct surface *surface, const struct surface_cursor *cursor);
struct surface_cursor surface_cursor_of(const struct surface *surface);

/* A rectangle of a surface: views get one and cannot draw outside. Passed by value. */
struct region {
	struct surface *surface;
	int col, row; /* of its corner on the surface */
	int cols, rows;
};
struct region region_whole(struct surface *surface);
/* Clipped to the parent; may be empty (cols or rows 0). */
struct region region_sub(struct region parent, int col, int row, int cols, int rows);
bool region_contains(struct region region, int surface_col, int surface_row);
void region_fill(struct region region, struct style style);
/* Writes one line of foreign text within max_cols; cut text ends with "…". Returns the columns used. */
int region_text(struct region region, int row, int col, int max_cols, struct style style,
	const char *text);
int region_slice(struct region region, int row, int col, int max_cols, struct style style,
	struct slice text);
int region_textf(struct region region, int row, int col, int max_cols, struct style style,
	const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Text that ends at max_cols (numbers). */
void region_text_right(struct region region, int row, int col, int max_cols, struct style style,
	const char *text);
/* One ready cluster (already safe, cols 1 or 2). For terminal panes. */
void region_put(struct region region, int row, int col, struct style style, const char *text,
	size_t n, int cols);
/* The cells of another surface, its corner at (row, col); what does not fit is cut. */
void region_copy(struct region region, int row, int col, const struct surface *from);
/* Changes the style of what is there, keeping the text. */
void region_restyle(struct region region, int row, int col, int cols, struct style style);
void region_add_attrs(struct region region, int row, int col, int cols, uint16_t attrs);
/* A frame around the region, with a title cut to fit. Returns the inside. */
struct region region_box(
	struct region region, struct style style, struct style title_style, const char *title);
void region_hline(struct region region, int row, struct style style);
void region_vline(struct region region, int col, struct style style);
/* Columns that region_text would use. */
int text_cols(const char *text);
