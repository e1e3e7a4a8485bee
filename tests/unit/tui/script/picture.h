// SPDX-License-Identifier: Apache-2.0
/* A frame as text that people read and tests compare: of each row what it says and, where it is not all plain text, one
 * letter a cell for its role. Only rows that differ from the last picture are written. */
#pragma once

#include "engine/base/mem.h"
#include "tui/draw/surface.h"
#include "tui/draw/theme.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PICTURE_ROWS = 128 };

struct picture {
	char *rows[PICTURE_ROWS]; /* of the last one */
	struct draw_surface_cursor cursor;
};

/* A theme in which every role looks different from all others. */
static inline void picture_theme(struct draw_theme *theme)
{
	for (unsigned i = 0; i < ROLE_COUNT; i++)
		theme->roles[i] =
			(struct draw_style){ DRAW_COLOR_RGB | i, DRAW_COLOR_RGB | i, 0 };
}

/* '.' for plain text, then letters in the order of THEME_ROLES; colours of a program's own: ':' default, digits. */
static inline char picture_role(draw_color color)
{
	static const char letters[] = ".bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN";
	unsigned n = color & 0xffffff;
	if (color == DRAW_COLOR_DEFAULT)
		return ':';
	if ((color & DRAW_COLOR_TAG) == DRAW_COLOR_INDEXED)
		return n < 10 ? (char)('0' + n) : '#';
	return n < ROLE_COUNT ? letters[n] : '$';
}

static inline char picture_attrs(unsigned attrs)
{
	static const struct {
		unsigned attrs;
		char letter;
	} rows[] = { { 0, '.' }, { DRAW_BOLD, 'B' }, { DRAW_DIM, 'D' }, { DRAW_ITALIC, 'I' },
		{ DRAW_REVERSE, 'R' }, { DRAW_STRIKE, 'S' }, { DRAW_UNDERLINE, 'U' },
		{ DRAW_BOLD | DRAW_DIM, 'd' }, { DRAW_REVERSE | DRAW_BOLD, 'r' } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].attrs == attrs)
			return rows[i].letter;
	return '*';
}

/* A line of letters under the text; nothing if all of them are the plain one. */
static inline void picture_line(
	struct str *out, const char *name, const char *letters, int n, char plain)
{
	while (n > 0 && letters[n - 1] == plain)
		n--;
	if (n > 0)
		str_addf(out, " %s|%.*s\n", name, n, letters);
}

static inline char *picture_row(const struct draw_cell *cells, int cols, int row)
{
	struct str out;
	str_init(&out, 64 << 10);
	char *fg = x_calloc((size_t)cols * 3 + 3, 1), *bg = fg + cols + 1,
	     *attrs = bg + cols + 1;
	bool is_split = false;
	str_addf(&out, "%2d|", row);
	for (int i = 0; i < cols; i++) {
		str_add_bytes(&out, cells[i].text, cells[i].n);
		fg[i] = picture_role(cells[i].fg);
		bg[i] = picture_role(cells[i].bg);
		attrs[i] = picture_attrs(cells[i].attrs & ~(unsigned)DRAW_ARMS);
		is_split = is_split || fg[i] != bg[i];
	}
	while (out.n > 3 && out.p[out.n - 1] == ' ')
		out.p[--out.n] = 0;
	str_add(&out, "\n");
	picture_line(&out, " ", fg, cols, '.');
	if (is_split)
		picture_line(&out, "b", bg, cols, '.');
	picture_line(&out, "a", attrs, cols, '.');
	free(fg);
	char *text = str_take(&out);
	str_deinit(&out);
	return text;
}

/* What is called otherwise in each run (a folder, a port) is written the same. */
static inline void picture_settle(char *text, const char *mark, int n, char with)
{
	for (char *at = text; (at = strstr(at, mark)); at += strlen(mark)) {
		char *p = at + strlen(mark);
		for (int i = 0; i < n && isalnum((unsigned char)p[i]); i++)
			p[i] = with;
	}
}

/* Ids of spans and requests are 16 or 32 hexadecimal digits. */
static inline void picture_settle_ids(char *text)
{
	static const char digits[] = "0123456789abcdef";
	for (char *p = text; *p;) {
		size_t n = strspn(p, digits);
		if (n == 16 || n == 32)
			memset(p, 'x', n);
		p += n + (p[n] != 0);
	}
}

/* Folders that are made while a script runs carry the day of the run: it is written as the day of the pictures. A run may
 * go over midnight. */
static inline void picture_settle_day(char *text)
{
	static const char day_of_pictures[] = "Nov 30  2026";
	for (int back = 0; back < 2; back++) {
		time_t seconds = time(NULL) - back * 24 * 60 * 60;
		struct tm tm;
		char day[32];
		gmtime_r(&seconds, &tm);
		strftime(day, sizeof day, "%b %e  %Y", &tm);
		for (char *at = text; (at = strstr(at, day)); at += strlen(day))
			memcpy(at, day_of_pictures, strlen(day));
	}
}

static inline void picture_settle_names(char *text)
{
	picture_settle(text, "port 1 after ", 1, '0'); /* ms: how long a refusal took */
	picture_settle_day(text);
	picture_settle_ids(text);
	picture_settle(text, "cript.", 6, 'X');
	picture_settle(text, "127.0.0.1:", 5, '1');
	picture_settle(text, "up for ", 1, '0');
}

static inline void picture_add(
	struct picture *last, const struct draw_surface *surface, struct str *out)
{
	struct draw_surface_cursor cursor = draw_surface_cursor_of(surface);
	for (int row = 0; row < PICTURE_ROWS; row++) {
		char *text = row < draw_surface_rows(surface)
				     ? picture_row(draw_surface_row(surface, row),
					       draw_surface_cols(surface), row)
				     : NULL;
		if (text)
			picture_settle_names(text);
		if (text && (!last->rows[row] || strcmp(last->rows[row], text) != 0))
			str_add(out, text);
		free(last->rows[row]);
		last->rows[row] = text;
	}
	bool is_same = cursor.shape == last->cursor.shape && cursor.blink == last->cursor.blink;
	if (cursor.shape != CURSOR_HIDDEN)
		is_same = is_same && cursor.col == last->cursor.col &&
			  cursor.row == last->cursor.row;
	if (!is_same && cursor.shape == CURSOR_HIDDEN)
		str_add(out, "cursor hidden\n");
	else if (!is_same)
		str_addf(out, "cursor %d,%d shape %d%s\n", cursor.row, cursor.col,
			(int)cursor.shape, cursor.blink ? " blinks" : "");
	last->cursor = cursor;
}

static inline void picture_deinit(struct picture *last)
{
	for (int i = 0; i < PICTURE_ROWS; i++)
		free(last->rows[i]);
}
