// SPDX-License-Identifier: Apache-2.0
/* A terminal under test: what it said, and its screen as text. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "tui/term/term.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig {
	struct term *t;
	struct str output;
	struct str clipboard;
	struct str title;
	int bells;
	int damages;
	int clipboards;
	int titles;
	char mark;
	int mark_status;
	struct str text; /* last rendering */
};

static inline void rig_on_output(const char *bytes, size_t n, void *arg)
{
	struct rig *rig = arg;
	str_add_bytes(&rig->output, bytes, n);
}

static inline void rig_on_damage(void *arg)
{
	((struct rig *)arg)->damages++;
}

static inline void rig_on_title(const char *title, void *arg)
{
	struct rig *rig = arg;
	rig->titles++;
	str_clear(&rig->title);
	str_add(&rig->title, title);
}

static inline void rig_on_bell(void *arg)
{
	((struct rig *)arg)->bells++;
}

static inline void rig_on_clipboard(const char *bytes, size_t n, void *arg)
{
	struct rig *rig = arg;
	rig->clipboards++;
	str_clear(&rig->clipboard);
	str_add_bytes(&rig->clipboard, bytes, n);
}

static inline void rig_on_mark(char kind, int status, void *arg)
{
	struct rig *rig = arg;
	rig->mark = kind;
	rig->mark_status = status;
}

static inline void rig_init(struct rig *rig, int cols, int rows, size_t term_scrollback_bytes)
{
	memset(rig, 0, sizeof *rig);
	setlocale(LC_CTYPE, "C.UTF-8");
	str_init(&rig->output, 1 << 20);
	str_init(&rig->clipboard, 1 << 20);
	str_init(&rig->title, 1 << 20);
	str_init(&rig->text, 1 << 24);
	struct term_opts opts = {
		.cols = cols,
		.rows = rows,
		.history_bytes = term_scrollback_bytes,
		.callbacks = { rig_on_output, rig_on_damage, rig_on_title, rig_on_bell,
			rig_on_clipboard, rig_on_mark },
		.arg = rig,
	};
	rig->t = term_new(&opts);
}

static inline void rig_deinit(struct rig *rig)
{
	term_free(rig->t);
	str_deinit(&rig->output);
	str_deinit(&rig->clipboard);
	str_deinit(&rig->title);
	str_deinit(&rig->text);
}

static inline void rig_feed(struct rig *rig, const char *text)
{
	term_feed(rig->t, text, strlen(text));
}

/* Lines from … to, without blanks at their ends, joined by '|', without empty lines at the end. */
static inline const char *rig_lines(struct rig *rig, int from, int to)
{
	size_t cols = (size_t)term_cols(rig->t);
	struct term_cell *cells = x_malloc(cols * sizeof *cells);
	str_clear(&rig->text);
	for (int line = from; line <= to; line++) {
		if (line > from)
			str_add_char(&rig->text, '|');
		size_t keep = rig->text.n;
		assert_int_equal(term_row(rig->t, line, cells, cols), cols);
		for (size_t c = 0; c < cols; c++) {
			char text[TERM_CELL_TEXT_BYTES];
			size_t n = term_cell_text(rig->t, cells[c], text);
			str_add_bytes(&rig->text, text, n);
			if (n > 0 && strcmp(text, " ") != 0)
				keep = rig->text.n;
		}
		rig->text.n = keep;
		rig->text.p[keep] = '\0';
	}
	while (rig->text.n > 0 && rig->text.p[rig->text.n - 1] == '|')
		rig->text.p[--rig->text.n] = '\0';
	free(cells);
	return rig->text.p;
}

static inline const char *rig_screen(struct rig *rig)
{
	return rig_lines(rig, 0, term_rows(rig->t) - 1);
}

static inline struct term_style rig_style(struct rig *rig, int line, int col)
{
	struct term_cell cells[TERM_COLS_MAX];
	size_t n = term_row(rig->t, line, cells, TERM_COLS_MAX);
	assert_true((size_t)col < n);
	return *term_style(rig->t, cells[col].style);
}

static inline struct term_cell rig_cell(struct rig *rig, int line, int col)
{
	struct term_cell cells[TERM_COLS_MAX];
	size_t n = term_row(rig->t, line, cells, TERM_COLS_MAX);
	assert_true((size_t)col < n);
	return cells[col];
}

static inline void rig_expect_cursor(struct rig *rig, int row, int col)
{
	struct term_cursor cursor;
	term_get_cursor(rig->t, &cursor);
	assert_int_equal(cursor.row, row);
	assert_int_equal(cursor.col, col);
}
