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
	/* not an attribute: which ways the border in this cell goes (border.h); 0: it is none */
	DRAW_ARMS_SHIFT = 8,
	DRAW_ARMS = 0xFF << DRAW_ARMS_SHIFT,
};

struct draw_style {
	draw_color fg, bg;
	uint16_t attrs;
};

enum {
	SURFACE_CELL_BYTES = 20
}; /* a base and up to four marks: what one ncurses cell can hold */

struct draw_cell {
	char text[SURFACE_CELL_BYTES]; /* not NUL-terminated; n bytes */
	uint8_t n;
	uint8_t cols; /* 1, 2, or 0: second half of a wide one */
	uint16_t attrs;
	draw_color fg, bg;
};

struct draw_surface;
struct draw_surface *draw_surface_new(int cols, int rows);
void draw_surface_free(struct draw_surface *surface);
void draw_surface_resize(
	struct draw_surface *surface, int cols, int rows); /* content is lost */
/* Same size, else the target is resized first. */
void draw_surface_copy(struct draw_surface *to, const struct draw_surface *from);
int draw_surface_cols(const struct draw_surface *surface);
int draw_surface_rows(const struct draw_surface *surface);
const struct draw_cell *draw_surface_row(
	const struct draw_surface *surface, int row); /* borrowed */
/* The rows as text, trailing blanks removed, one line a row; for golden tests. */
void draw_surface_text(const struct draw_surface *surface, struct str *out);

/* Where the cursor shows at the end of the frame. */
enum draw_cursor_shape { CURSOR_HIDDEN, CURSOR_BLOCK, CURSOR_UNDERLINE, CURSOR_BAR };
struct draw_surface_cursor {
	int col, row;
	enum draw_cursor_shape shape;
	bool blink;
};
void draw_surface_set_cursor(
	struct draw_surface *surface, const struct draw_surface_cursor *cursor);
struct draw_surface_cursor draw_surface_cursor_of(const struct draw_surface *surface);

/* A rectangle of a surface: views get one and cannot draw outside. Passed by value. */
struct draw_region {
	struct draw_surface *surface;
	int col, row; /* of its corner on the surface */
	int cols, rows;
};
struct draw_region draw_region_whole(struct draw_surface *surface);
/* Clipped to the parent; may be empty (cols or rows 0). */
struct draw_region draw_region_sub(
	struct draw_region parent, int col, int row, int cols, int rows);
bool draw_region_contains(struct draw_region region, int surface_col, int draw_surface_row);
void draw_region_fill(struct draw_region region, struct draw_style style);
/* Writes one line of foreign text within max_cols; cut text ends with "…". Returns the columns used. */
int draw_region_text(struct draw_region region, int row, int col, int max_cols,
	struct draw_style style, const char *text);
int draw_region_slice(struct draw_region region, int row, int col, int max_cols,
	struct draw_style style, struct slice text);
int draw_region_textf(struct draw_region region, int row, int col, int max_cols,
	struct draw_style style, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Text that ends at max_cols (numbers). */
void draw_region_text_right(struct draw_region region, int row, int col, int max_cols,
	struct draw_style style, const char *text);
/* One ready cluster (already safe, cols 1 or 2). For terminal panes. */
void draw_region_put(struct draw_region region, int row, int col, struct draw_style style,
	const char *text, size_t n, int cols);
/* The cells of another surface, its corner at (row, col); what does not fit is cut. */
void draw_region_copy(
	struct draw_region region, int row, int col, const struct draw_surface *from);
/* Changes the style of what is there, keeping text and borders. */
void draw_region_restyle(
	struct draw_region region, int row, int col, int cols, struct draw_style style);
void draw_region_add_attrs(
	struct draw_region region, int row, int col, int cols, uint16_t attrs);
/* Of plain text; lines that join are in border.h. */
void draw_region_hline(struct draw_region region, int row, struct draw_style style);
void draw_region_vline(struct draw_region region, int col, struct draw_style style);
/* Columns that draw_region_text would use. */
int draw_text_cols(const char *text);
int draw_slice_cols(struct slice text); /* the same of bytes that have no end of their own */
