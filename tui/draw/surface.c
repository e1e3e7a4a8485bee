// SPDX-License-Identifier: Apache-2.0
// The grid of cells that a frame is drawn into. Its one invariant: a cell with cols 2 is followed by one
// with cols 0, and no other cell has cols 0; whoever overwrites half of a wide character blanks the rest.
#include "tui/draw/surface.h"

#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SURFACE_COLS_MAX = 2000, SURFACE_ROWS_MAX = 1000, MARKS_MAX = 4, LINE_BYTES = 4096 };

struct draw_surface {
	int cols, rows;
	struct draw_cell *cells;
	struct draw_surface_cursor cursor;
};

_Static_assert(sizeof(struct draw_cell) == 32, "cells are compared with memcmp: no padding");

static const struct draw_cell blank = { .text = " ", .n = 1, .cols = 1 };

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

struct draw_surface *draw_surface_new(int cols, int rows)
{
	struct draw_surface *s = x_calloc(1, sizeof *s);
	draw_surface_resize(s, cols, rows);
	return s;
}

void draw_surface_free(struct draw_surface *s)
{
	if (!s)
		return;
	free(s->cells);
	free(s);
}

void draw_surface_resize(struct draw_surface *s, int cols, int rows)
{
	s->cols = clamp(cols, 1, SURFACE_COLS_MAX);
	s->rows = clamp(rows, 1, SURFACE_ROWS_MAX);
	size_t n = (size_t)s->cols * (size_t)s->rows;
	s->cells = x_realloc(s->cells, n, sizeof *s->cells);
	for (size_t i = 0; i < n; i++)
		s->cells[i] = blank;
	s->cursor = (struct draw_surface_cursor){ 0 };
}

void draw_surface_copy(struct draw_surface *to, const struct draw_surface *from)
{
	if (to->cols != from->cols || to->rows != from->rows)
		draw_surface_resize(to, from->cols, from->rows);
	memcpy(to->cells, from->cells,
		sizeof *to->cells * (size_t)from->cols * (size_t)from->rows);
	to->cursor = from->cursor;
}

int draw_surface_cols(const struct draw_surface *s)
{
	return s->cols;
}

int draw_surface_rows(const struct draw_surface *s)
{
	return s->rows;
}

const struct draw_cell *draw_surface_row(const struct draw_surface *s, int row)
{
	return s->cells + (size_t)row * (size_t)s->cols;
}

void draw_surface_text(const struct draw_surface *s, struct str *out)
{
	for (int row = 0; row < s->rows; row++) {
		const struct draw_cell *cells = draw_surface_row(s, row);
		int end = s->cols;
		while (end > 0 && cells[end - 1].cols == 1 && cells[end - 1].n == 1 &&
			cells[end - 1].text[0] == ' ')
			end--;
		for (int col = 0; col < end; col++)
			str_add_bytes(out, cells[col].text, cells[col].n);
		str_add_char(out, '\n');
	}
}

void draw_surface_set_cursor(struct draw_surface *s, const struct draw_surface_cursor *cursor)
{
	s->cursor = *cursor;
}

struct draw_surface_cursor draw_surface_cursor_of(const struct draw_surface *s)
{
	return s->cursor;
}

struct draw_region draw_region_whole(struct draw_surface *s)
{
	return (struct draw_region){ s, 0, 0, s->cols, s->rows };
}

struct draw_region draw_region_sub(struct draw_region r, int col, int row, int cols, int rows)
{
	int left = clamp(col, 0, r.cols), top = clamp(row, 0, r.rows);
	int right = clamp(col + cols, left, r.cols), bottom = clamp(row + rows, top, r.rows);
	return (struct draw_region){ r.surface, r.col + left, r.row + top, right - left,
		bottom - top };
}

bool draw_region_contains(struct draw_region r, int col, int row)
{
	return col >= r.col && row >= r.row && col < r.col + r.cols && row < r.row + r.rows;
}

static struct draw_cell *row_of(struct draw_region r, int row)
{
	return r.surface->cells + (size_t)(r.row + row) * (size_t)r.surface->cols;
}

/* Before the cells col … col+cols-1 of the surface row are overwritten: no half characters remain. */
static void break_wide(struct draw_surface *s, struct draw_cell *cells, int col, int cols)
{
	if (col > 0 && cells[col].cols == 0) {
		cells[col - 1].text[0] = ' ';
		cells[col - 1].n = cells[col - 1].cols = 1;
	}
	int after = col + cols;
	if (after < s->cols && cells[after].cols == 0) {
		cells[after].text[0] = ' ';
		cells[after].n = cells[after].cols = 1;
	}
}

static size_t cluster_bytes(const char *text, size_t n)
{
	size_t marks = 0, i = 0;
	while (i < n) {
		size_t next = i + 1;
		while (next < n && ((unsigned char)text[next] & 0xC0) == 0x80)
			next++;
		if (next > SURFACE_CELL_BYTES || marks > MARKS_MAX)
			break;
		marks++;
		i = next;
	}
	return i;
}

void draw_region_put(struct draw_region r, int row, int col, struct draw_style style,
	const char *text, size_t n, int cols)
{
	if (row < 0 || row >= r.rows || col < 0 || col >= r.cols || n == 0 || cols < 1)
		return;
	if (col + cols > r.cols || cols > 2) {
		text = " ";
		n = 1;
		cols = 1;
	}
	struct draw_cell *cells = row_of(r, row);
	int at = r.col + col;
	break_wide(r.surface, cells, at, cols);
	struct draw_cell *c = &cells[at];
	memset(c, 0, sizeof *c);
	c->n = (uint8_t)cluster_bytes(text, n);
	memcpy(c->text, text, c->n);
	c->cols = (uint8_t)cols;
	c->attrs = style.attrs;
	c->fg = style.fg;
	c->bg = style.bg;
	if (cols == 2) {
		c[1] = *c;
		memset(c[1].text, 0, sizeof c[1].text);
		c[1].n = c[1].cols = 0;
	}
}

void draw_region_copy(struct draw_region r, int row, int col, const struct draw_surface *from)
{
	int skip = row < 0 ? -row : 0;
	int cols = clamp(from->cols, 0, r.cols - col);
	for (int i = skip; i < from->rows && row + i < r.rows && cols > 0; i++) {
		struct draw_cell *to = row_of(r, row + i);
		const struct draw_cell *cells = draw_surface_row(from, i);
		int at = r.col + col;
		break_wide(r.surface, to, at, cols);
		memcpy(to + at, cells, sizeof *to * (size_t)cols);
		if (cells[cols - 1].cols == 2) { /* its second half is cut off */
			to[at + cols - 1].text[0] = ' ';
			to[at + cols - 1].n = to[at + cols - 1].cols = 1;
		}
	}
}

void draw_region_fill(struct draw_region r, struct draw_style style)
{
	struct draw_cell fill = blank;
	fill.attrs = style.attrs;
	fill.fg = style.fg;
	fill.bg = style.bg;
	if (r.cols <= 0)
		return;
	for (int row = 0; row < r.rows; row++) {
		struct draw_cell *cells = row_of(r, row);
		break_wide(r.surface, cells, r.col, r.cols);
		for (int col = 0; col < r.cols; col++)
			cells[r.col + col] = fill;
	}
}

/* One unit of safe text: a cluster, or an escape like ^[ or <U+202E> that takes a cell per letter. */
static int put_unit(struct draw_region r, int row, int col, struct draw_style style,
	const char *unit, size_t n, int cols)
{
	if (cols == 2 && n > 1 && (unsigned char)unit[0] >= 0x80) {
		draw_region_put(r, row, col, style, unit, n, 2);
		return 2;
	}
	if (n > 1 && (unsigned char)unit[1] >= 0x80) {
		draw_region_put(r, row, col, style, unit, n, cols);
		return cols;
	}
	for (size_t i = 0; i < n; i++)
		draw_region_put(r, row, col + (int)i, style, unit + i, 1, 1);
	return (int)n;
}

int draw_region_slice(struct draw_region r, int row, int col, int max_cols,
	struct draw_style style, struct slice text)
{
	if (row < 0 || row >= r.rows || max_cols <= 0 || col < 0 || col >= r.cols)
		return 0;
	if (max_cols > r.cols - col)
		max_cols = r.cols - col;
	int used = 0, last_col = 0; /* last_col: where "…" may go */
	while (text.n) {
		char unit[SAFE_UNIT_BYTES];
		size_t n = 0;
		int cols = 0;
		size_t eaten = safe_text_next_raw(text, unit, &n, &cols);
		if (!eaten)
			break;
		text.p += eaten;
		text.n -= eaten;
		if (used + cols > max_cols) {
			draw_region_put(r, row, col + last_col, style, "…", strlen("…"), 1);
			for (int c = last_col + 1; c < used; c++)
				draw_region_put(r, row, col + c, style, " ", 1, 1);
			return last_col + 1 > used ? last_col + 1 : used;
		}
		if (used + cols < max_cols)
			last_col = used + cols;
		else if (last_col < used)
			last_col = used;
		used += put_unit(r, row, col + used, style, unit, n, cols);
	}
	return used;
}

int draw_region_text(struct draw_region r, int row, int col, int max_cols,
	struct draw_style style, const char *text)
{
	return draw_region_slice(r, row, col, max_cols, style, slice_of(text));
}

int draw_region_textf(struct draw_region r, int row, int col, int max_cols,
	struct draw_style style, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	return draw_region_text(r, row, col, max_cols, style, line);
}

int draw_text_cols(const char *text)
{
	return draw_slice_cols(slice_of(text));
}

int draw_slice_cols(struct slice rest)
{
	int sum = 0;
	while (rest.n) {
		char unit[SAFE_UNIT_BYTES];
		size_t n;
		int cols;
		size_t eaten = safe_text_next_raw(rest, unit, &n, &cols);
		if (!eaten)
			break;
		rest.p += eaten;
		rest.n -= eaten;
		sum += cols;
	}
	return sum;
}

void draw_region_text_right(struct draw_region r, int row, int col, int max_cols,
	struct draw_style style, const char *text)
{
	int cols = draw_text_cols(text);
	int skip = cols < max_cols ? max_cols - cols : 0;
	draw_region_text(r, row, col + skip, max_cols - skip, style, text);
}

void draw_region_restyle(
	struct draw_region r, int row, int col, int cols, struct draw_style style)
{
	if (row < 0 || row >= r.rows)
		return;
	struct draw_cell *cells = row_of(r, row);
	for (int c = clamp(col, 0, r.cols); c < clamp(col + cols, 0, r.cols); c++) {
		cells[r.col + c].fg = style.fg;
		cells[r.col + c].bg = style.bg;
		cells[r.col + c].attrs = (uint16_t)((cells[r.col + c].attrs & DRAW_ARMS) |
						    (style.attrs & ~DRAW_ARMS));
	}
}

void draw_region_add_attrs(struct draw_region r, int row, int col, int cols, uint16_t attrs)
{
	if (row < 0 || row >= r.rows)
		return;
	struct draw_cell *cells = row_of(r, row);
	for (int c = clamp(col, 0, r.cols); c < clamp(col + cols, 0, r.cols); c++)
		cells[r.col + c].attrs |= attrs;
}

void draw_region_hline(struct draw_region r, int row, struct draw_style style)
{
	for (int col = 0; col < r.cols; col++)
		draw_region_put(r, row, col, style, "─", strlen("─"), 1);
}

void draw_region_vline(struct draw_region r, int col, struct draw_style style)
{
	for (int row = 0; row < r.rows; row++)
		draw_region_put(r, row, col, style, "│", strlen("│"), 1);
}
