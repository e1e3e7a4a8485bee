// SPDX-License-Identifier: Apache-2.0
// Scrolling back and selecting. Places are anchors of the terminal: they follow their content while the program
// goes on writing and while the pane is resized.
#include "tui/views/shell/shell.h"

#include <string.h>

static int oldest(const struct views_shell *shell)
{
	return -term_history_rows(shell->term);
}

int views_shell_top_line(const struct views_shell *shell)
{
	int line, col;
	if (!shell->is_scrolling)
		return 0;
	if (!term_marker_line(shell->term, shell->top, &line, &col))
		return oldest(shell);
	return line > 0 ? 0 : line;
}

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

static void set_top(struct views_shell *shell, int line)
{
	line = clamp(line, oldest(shell), 0);
	shell->top = term_marker_at(shell->term, line, 0);
	shell->is_shot_stale = true;
	host_dirty(shell->view.host);
}

void views_shell_scroll_begin(struct views_shell *shell, bool is_peek)
{
	struct term_cursor cursor;
	if (shell->is_scrolling) {
		shell->is_peeking = shell->is_peeking && is_peek;
		return;
	}
	term_get_cursor(shell->term, &cursor);
	shell->is_scrolling = true;
	shell->is_peeking = is_peek;
	set_top(shell, 0);
	shell->at = term_marker_at(shell->term, cursor.row, cursor.col);
}

void views_shell_scroll_end(struct views_shell *shell)
{
	shell->is_scrolling = shell->is_peeking = false;
	views_shell_select_clear(shell);
	shell->is_shot_stale = true;
	host_dirty(shell->view.host);
}

void views_shell_scroll_by(struct views_shell *shell, int lines)
{
	set_top(shell, views_shell_top_line(shell) + lines);
}

/* ---- selecting */

static bool place_of(
	const struct views_shell *shell, struct term_marker anchor, struct term_pos *out)
{
	return term_marker_line(shell->term, anchor, &out->line, &out->col);
}

bool views_shell_selection(
	const struct views_shell *shell, struct term_pos *from, struct term_pos *to)
{
	if (!shell->has_selection || !place_of(shell, shell->from, from) ||
		!place_of(shell, shell->to, to))
		return false;
	if (from->line > to->line || (from->line == to->line && from->col > to->col)) {
		struct term_pos swap = *from;
		*from = *to;
		*to = swap;
	}
	return true;
}

void views_shell_select_clear(struct views_shell *shell)
{
	if (!shell->has_selection && !shell->is_selecting)
		return;
	shell->has_selection = shell->is_selecting = false;
	host_dirty(shell->view.host);
}

void views_shell_select_begin(struct views_shell *shell, int line, int col, bool is_block)
{
	shell->from = shell->to = term_marker_at(shell->term, line, col);
	shell->is_block = is_block;
	shell->is_selecting = true;
	shell->has_selection = false; /* a click alone selects nothing */
	host_dirty(shell->view.host);
}

void views_shell_select_to(struct views_shell *shell, int line, int col)
{
	if (!shell->is_selecting)
		return;
	shell->to = term_marker_at(shell->term, line, col);
	shell->has_selection = true;
	host_dirty(shell->view.host);
}

static bool is_word(uint32_t c)
{
	return c > 0x7F || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || (c && strchr("_-./~:@%+", (int)c));
}

void views_shell_select_word(struct views_shell *shell, int line, int col)
{
	struct term_cell cells[TERM_COLS_MAX];
	int n = (int)term_row(shell->term, line, cells, TERM_COLS_MAX);
	if (col >= n || !is_word(term_cell_base(shell->term, cells[col])))
		return;
	int a = col, b = col;
	while (a > 0 && is_word(term_cell_base(shell->term, cells[a - 1])))
		a--;
	while (b + 1 < n && is_word(term_cell_base(shell->term, cells[b + 1])))
		b++;
	shell->from = term_marker_at(shell->term, line, a);
	shell->to = term_marker_at(shell->term, line, b);
	shell->is_block = false;
	shell->has_selection = true;
	host_dirty(shell->view.host);
}

bool views_shell_select_copy(struct views_shell *shell)
{
	enum { COPY_BYTES_MAX = 1 << 20 };
	struct term_pos from, to;
	if (!views_shell_selection(shell, &from, &to))
		return false;
	struct str text;
	str_init(&text, COPY_BYTES_MAX);
	term_copy(shell->term, from, to, shell->is_block, &text);
	bool has_text = text.n > 0;
	if (has_text) {
		shell->view.host->ops->copy_text(
			shell->view.host, (struct slice){ text.p, text.n });
		view_host_notef(shell->view.host, NOTE_INFO,
			"%zu bytes copied to the clipboard", text.n);
	}
	str_deinit(&text);
	return has_text;
}

/* ---- the cursor of the scroll mode */

bool views_shell_scroll_cursor(const struct views_shell *shell, struct term_pos *out)
{
	return place_of(shell, shell->at, out);
}

void views_shell_scroll_to(struct views_shell *shell, int line, int col)
{
	int rows = term_rows(shell->term);
	line = clamp(line, oldest(shell), rows - 1);
	col = clamp(col, 0, term_cols(shell->term) - 1);
	int top = views_shell_top_line(shell);
	if (line < top)
		top = line;
	if (line >= top + rows)
		top = line - rows + 1;
	set_top(shell, top);
	shell->at = term_marker_at(shell->term, line, col);
	if (shell->is_selecting) {
		shell->to = shell->at;
		shell->has_selection = true;
	}
}
