// SPDX-License-Identifier: Apache-2.0
/* The terminal as its users see it: life, feeding, state, damage, reading. Owns the parts and wires them: events of the
 * parser to the interpreters, what libvterm says to the grid. */
#include "tui/term/term.h"

#include "engine/base/mem.h"
#include "tui/term/interpreter.h"
#include "tui/term/reflow.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEED_BYTES = 16 * 1024 }; /* between two looks at the tables */

static int clamp(int value, int min, int max)
{
	return value < min ? min : value > max ? max : value;
}

/* --- wiring ------------------------------------------------------------------------------- */

static void on_text(const unsigned char *bytes, size_t n, void *arg)
{
	term_text_put(arg, bytes, n);
}

static void on_mark(uint32_t codepoint, void *arg)
{
	term_text_mark(arg, codepoint);
}

static void on_control(unsigned char c, void *arg)
{
	term_text_control(arg, c);
}

static void on_esc(char intermediate, char final, void *arg)
{
	term_esc_handle(arg, intermediate, final);
}

static void on_csi(const struct term_csi *csi, void *arg)
{
	term_csi_handle(arg, csi);
}

static void on_string(char kind, char *text, size_t n, bool bell, void *arg)
{
	term_string_handle(arg, kind, text, n, bell);
}

static const struct term_parser_events parser_events = {
	.on_text = on_text,
	.on_mark = on_mark,
	.on_control = on_control,
	.on_esc = on_esc,
	.on_csi = on_csi,
	.on_string = on_string,
};

static void on_erase(struct term_grid_rect rect, bool selective, void *arg)
{
	term_state_erase(arg, rect, selective);
}

static void on_scroll(struct term_grid_rect rect, int up, int left, void *arg)
{
	term_state_scroll(arg, rect, up, left);
}

static void on_output(const char *bytes, size_t n, void *arg)
{
	term_send(arg, bytes, n);
}

static const struct term_vterm_callbacks vterm_callbacks = {
	.on_erase = on_erase,
	.on_scroll = on_scroll,
	.on_output = on_output,
};

/* --- life --------------------------------------------------------------------------------- */

struct term *term_new(const struct term_opts *opts)
{
	int cols = clamp(opts->cols, TERM_COLS_MIN, TERM_COLS_MAX);
	int rows = clamp(opts->rows, TERM_ROWS_MIN, TERM_ROWS_MAX);
	struct term *t = x_calloc(1, sizeof *t);
	t->callbacks = opts->callbacks;
	t->arg = opts->arg;
	t->tables.styles = term_string_pool_new(sizeof(struct term_style), STYLE_MAX);
	t->tables.clusters = term_string_pool_new(sizeof(struct term_cluster), CLUSTER_MAX);
	t->screens[0] = term_grid_new(cols, rows);
	t->screens[1] = term_grid_new(cols, rows);
	t->grid = t->screens[0];
	t->history = term_scrollback_new(opts->history_bytes, &t->tables);
	term_scrollback_set_cols(t->history, cols);
	term_state_clear_region(t);
	t->cursor_look = (struct term_cursor){ .visible = true, .blink = true };
	t->title = x_strdup("");
	t->cwd = x_strdup("");
	t->mouse_col = -1;
	t->mouse_row = -1;
	t->revision = 1;
	t->direct = true;
	term_mode_init(t);
	term_parser_init(&t->parser, &parser_events, t);
	t->vterm = term_vterm_new(cols, rows, &vterm_callbacks, t);
	term_state_erase(t, term_state_screen(t), false); /* all rows are new to a view */
	return t;
}

void term_free(struct term *t)
{
	if (t == NULL)
		return;
	term_vterm_free(t->vterm);
	term_parser_deinit(&t->parser);
	term_scrollback_free(t->history);
	term_grid_free(t->screens[0]);
	term_grid_free(t->screens[1]);
	term_string_pool_free(t->tables.styles);
	term_string_pool_free(t->tables.clusters);
	free(t->title);
	while (t->title_count > 0)
		free(t->titles[--t->title_count]);
	free(t->cwd);
	free(t);
}

/* --- changes ------------------------------------------------------------------------------ */

static void begin_change(struct term *t)
{
	t->revision++;
	t->changed = false;
	t->bell = false;
	t->reply_bytes = 0;
}

/* What ours and libvterm's both hold must be the same after every input. */
static void check_adapter(struct term *t)
{
#ifdef SANDMUX_TERM_CHECK
	const char *difference = term_vterm_check(t->vterm, &t->place);
	if (difference != NULL) {
		fprintf(stderr, "tui/term: %s (row %d, column %d of %d x %d)\n", difference,
			t->place.row, t->place.col, t->grid->cols, t->grid->rows);
		abort();
	}
#else
	(void)t;
#endif
}

static void end_change(struct term *t)
{
	check_adapter(t);
	if (t->bell && t->callbacks.on_bell != NULL)
		t->callbacks.on_bell(t->arg);
	if (t->changed && t->callbacks.on_damage != NULL)
		t->callbacks.on_damage(t->arg);
}

static void mark_cells(struct term *t, const struct term_grid *g)
{
	for (int r = 0; r < g->rows; r++) {
		const struct term_grid_row *row = grid_row(g, r);
		for (int c = 0; c < row->used; c++) {
			term_string_pool_sweep_mark(t->tables.styles, row->cells[c].style);
			if (row->cells[c].text & CELL_CLUSTER)
				term_string_pool_sweep_mark(
					t->tables.clusters, row->cells[c].text & CELL_VALUE);
		}
	}
}

static void sweep_if_due(struct term *t)
{
	if (!term_string_pool_sweep_is_due(t->tables.styles) &&
		!term_string_pool_sweep_is_due(t->tables.clusters))
		return;
	term_string_pool_sweep_begin(t->tables.styles);
	term_string_pool_sweep_begin(t->tables.clusters);
	mark_cells(t, t->screens[0]);
	mark_cells(t, t->screens[1]);
	term_string_pool_sweep_end(t->tables.styles);
	term_string_pool_sweep_end(t->tables.clusters);
	t->pen_changed = true; /* its ids may be gone */
}

void term_feed(struct term *t, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	begin_change(t);
	while (n > 0) {
		size_t piece = n < FEED_BYTES ? n : FEED_BYTES;
		term_parser_feed(&t->parser, p, piece);
		sweep_if_due(t);
		p += piece;
		n -= piece;
	}
	end_change(t);
}

void term_resize(struct term *t, int cols, int rows)
{
	cols = clamp(cols, TERM_COLS_MIN, TERM_COLS_MAX);
	rows = clamp(rows, TERM_ROWS_MIN, TERM_ROWS_MAX);
	if (cols == t->grid->cols && rows == t->grid->rows)
		return;
	begin_change(t);
	int row = t->place.row;
	int col = t->place.col;
	bool alternate = t->modes.alternate_screen;
	int main_row = row;
	int main_col = t->place.at_end ? col + 1 : col;
	bool main_at_end = false;
	if (alternate) {
		/* where the main screen was left; 47 and 1047 do not say */
		main_row = t->saved[0].valid ? t->saved[0].row : t->grid->rows - 1;
		main_col = t->saved[0].valid ? t->saved[0].col + t->saved[0].at_end : 0;
	}
	term_vterm_resize(t->vterm, cols, rows);
	term_reflow_main(t, cols, rows, &main_row, &main_col, &main_at_end);
	term_grid_crop(t->screens[1], cols, rows, t->revision);
	term_state_clear_region(t);
	for (int i = 0; i < 2; i++) {
		t->saved[i].row = clamp(t->saved[i].row, 0, rows - 1);
		t->saved[i].at_end &= t->saved[i].col == cols - 1;
		t->saved[i].col = clamp(t->saved[i].col, 0, cols - 1);
	}
	if (alternate) {
		t->saved[0].row = main_row;
		t->saved[0].col = main_col;
		t->saved[0].at_end = main_at_end;
		term_state_move(t, clamp(row, 0, rows - 1), clamp(col, 0, cols - 1));
	} else {
		term_state_move(t, main_row, main_col);
		t->place.at_end = main_at_end;
	}
	sweep_if_due(t);
	t->changed = true;
	end_change(t);
}

void term_set_colors(struct term *t, uint32_t text, uint32_t background)
{
	t->has_colors = true;
	t->text_color = text & 0xffffff;
	t->background_color = background & 0xffffff;
}

void term_reset(struct term *t)
{
	term_esc_full_reset(t);
	term_parser_reset(&t->parser);
	check_adapter(t);
}

/* --- state -------------------------------------------------------------------------------- */

int term_cols(const struct term *t)
{
	return t->grid->cols;
}

int term_rows(const struct term *t)
{
	return t->grid->rows;
}

void term_get_cursor(const struct term *t, struct term_cursor *out)
{
	*out = t->cursor_look;
	out->row = t->place.row;
	out->col = t->place.col;
}

void term_get_modes(const struct term *t, struct term_modes *out)
{
	*out = t->modes;
}

const char *term_title(const struct term *t)
{
	return t->title;
}

const char *term_cwd(const struct term *t)
{
	return t->cwd;
}

uint64_t term_revision(const struct term *t)
{
	return t->revision;
}

bool term_row_changed(const struct term *t, int row, uint64_t since_revision)
{
	return row >= 0 && row < t->grid->rows &&
	       grid_row(t->grid, row)->revision > since_revision;
}

/* --- reading ------------------------------------------------------------------------------ */

size_t term_row(struct term *t, int line, struct term_cell *cells, size_t max_cells)
{
	size_t n = (size_t)t->grid->cols < max_cells ? (size_t)t->grid->cols : max_cells;
	size_t have = 0;
	if (line >= t->grid->rows)
		return 0;
	if (line >= 0) {
		memcpy(cells, grid_row(t->grid, line)->cells, n * sizeof *cells);
		return n;
	}
	struct term_scrollback_pos pos;
	if (line == INT_MIN || !term_scrollback_find(t->history, -line, &pos))
		return 0;
	have = term_scrollback_read(t->history, &pos, cells, n);
	if (have < n)
		memset(cells + have, 0, (n - have) * sizeof *cells);
	return n;
}

bool term_line_is_wrapped(const struct term *t, int line)
{
	struct term_scrollback_pos pos;
	if (line >= 0)
		return line < t->grid->rows && grid_row(t->grid, line)->wrapped;
	if (line == INT_MIN || !term_scrollback_find(t->history, -line, &pos))
		return false;
	return pos.row + 1 < pos.row_count || pos.open ||
	       (pos.line.head.flags & PACK_CONTINUES);
}

unsigned term_line_marks(const struct term *t, int line)
{
	struct term_scrollback_pos pos;
	if (line >= 0)
		return line < t->grid->rows ? grid_row(t->grid, line)->marks : 0;
	if (line == INT_MIN || !term_scrollback_find(t->history, -line, &pos) || pos.row > 0)
		return 0;
	return pos.line.head.marks;
}

int term_cell_width(struct term_cell cell)
{
	return cell.text & CELL_TAIL ? 0 : cell.text & CELL_WIDE ? 2 : 1;
}

uint32_t term_cell_base(const struct term *t, struct term_cell cell)
{
	char text[TERM_CELL_TEXT_BYTES];
	size_t n = term_cell_append_text(&t->tables, cell, text);
	uint32_t codepoint = ' ';
	if (n > 0)
		term_cell_decode_utf8(text, n, &codepoint);
	return codepoint;
}

size_t term_cell_text(
	const struct term *t, struct term_cell cell, char out[TERM_CELL_TEXT_BYTES])
{
	return term_cell_append_text(&t->tables, cell, out);
}

const struct term_style *term_style(const struct term *t, uint32_t style)
{
	static const struct term_style plain;
	const struct term_style *found = term_string_pool_get(t->tables.styles, style);
	return found ? found : &plain;
}

int term_history_rows(const struct term *t)
{
	return term_scrollback_rows(t->history);
}

size_t term_history_bytes(const struct term *t)
{
	return term_scrollback_bytes(t->history);
}

void term_history_clear(struct term *t)
{
	term_scrollback_clear(t->history);
	term_touch(t);
}
