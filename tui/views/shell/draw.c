// SPDX-License-Identifier: Apache-2.0
// The picture of a shell pane.
//
// The last frame is kept as a surface. A live screen only draws the rows that changed since; while the program holds
// synchronized output (DECSET 2026) nothing is drawn, so half a frame is never seen. A scrolled pane is pinned to
// its content by an anchor, whatever comes in meanwhile.
#include "tui/views/shell/shell.h"

#include "tui/draw/color.h"

#include "engine/base/clock.h"
#include "tui/view/keys.h"

#include <stdio.h>
#include <string.h>

enum { BANNER_ROWS = 2 };

_Static_assert((int)TERM_COLOR_INDEXED == (int)DRAW_COLOR_INDEXED &&
		       (int)TERM_COLOR_RGB == (int)DRAW_COLOR_RGB &&
		       (int)TERM_COLOR_DEFAULT == (int)DRAW_COLOR_DEFAULT,
	"colours pass from pane to surface unchanged");

static struct draw_style style_of(
	struct views_shell *shell, const struct term_style *from, bool is_reverse)
{
	struct draw_style text = host_style(shell->view.host, ROLE_TEXT);
	struct draw_style style = { from->fg ? from->fg : text.fg,
		from->bg ? from->bg : text.bg, 0 };
	style.attrs |= from->attrs & TERM_ATTR_BOLD ? DRAW_BOLD : 0;
	style.attrs |= from->attrs & TERM_ATTR_FAINT ? DRAW_DIM : 0;
	style.attrs |= from->attrs & TERM_ATTR_ITALIC ? DRAW_ITALIC : 0;
	style.attrs |= from->attrs & TERM_ATTR_BLINK ? DRAW_BLINK : 0;
	style.attrs |= from->attrs & TERM_ATTR_CONCEAL ? DRAW_CONCEAL : 0;
	style.attrs |= from->attrs & TERM_ATTR_STRIKE ? DRAW_STRIKE : 0;
	style.attrs |= from->underline ? DRAW_UNDERLINE : 0;
	if (((from->attrs & TERM_ATTR_REVERSE) != 0) != is_reverse)
		style.attrs |= DRAW_REVERSE;
	return style;
}

static void draw_line(
	struct views_shell *shell, struct draw_region shot, int row, int line, bool is_reverse)
{
	struct term_cell cells[TERM_COLS_MAX];
	size_t n = term_row(shell->term, line, cells, TERM_COLS_MAX);
	uint32_t last_id = 0;
	struct draw_style style = style_of(shell, term_style(shell->term, 0), is_reverse);
	struct draw_style blank = style;
	for (size_t i = 0; i < n && (int)i < shot.cols; i++) {
		if (cells[i].style != last_id || i == 0) {
			style = style_of(
				shell, term_style(shell->term, cells[i].style), is_reverse);
			last_id = cells[i].style;
		}
		int width = term_cell_width(cells[i]);
		if (width == 0)
			continue;
		char text[TERM_CELL_TEXT_BYTES];
		size_t bytes = term_cell_text(shell->term, cells[i], text);
		draw_region_put(shot, row, (int)i, style, text, bytes, width);
	}
	for (int i = (int)n; i < shot.cols; i++)
		draw_region_put(shot, row, i, blank, " ", 1, 1);
}

static void take_shot(struct views_shell *shell)
{
	struct term *term = shell->term;
	int cols = term_cols(term), rows = term_rows(term);
	/* another theme, or another client with its own */
	struct draw_style text = host_style(shell->view.host, ROLE_TEXT);
	bool is_recoloured = text.fg != shell->shot_fg || text.bg != shell->shot_bg;
	bool is_all = shell->is_shot_stale || shell->is_scrolling || is_recoloured;
	if (draw_surface_cols(shell->shot) != cols || draw_surface_rows(shell->shot) != rows) {
		draw_surface_resize(shell->shot, cols, rows);
		is_all = true;
	} else if (!is_all && term_sync_active(term, clock_mono_ms())) {
		return;
	}
	struct term_modes modes;
	term_get_modes(term, &modes);
	uint64_t revision = term_revision(term);
	if (!is_all && revision == shell->revision)
		return;
	struct draw_region shot = draw_region_whole(shell->shot);
	int top = views_shell_top_line(shell);
	for (int row = 0; row < rows; row++)
		if (is_all || term_row_changed(term, row, shell->revision))
			draw_line(shell, shot, row, top + row, modes.reverse_screen);
	shell->revision = revision;
	shell->shot_fg = text.fg;
	shell->shot_bg = text.bg;
	shell->is_shot_stale = shell->is_scrolling; /* back to the live screen: all of it */
}

/* ---- over it */

static void draw_selection(struct views_shell *shell, struct draw_region region, int first_row)
{
	struct term_pos from, to;
	if (!views_shell_selection(shell, &from, &to))
		return;
	struct draw_style style = host_style(shell->view.host, ROLE_SELECTION);
	int top = views_shell_top_line(shell), cols = term_cols(shell->term);
	for (int row = 0; row < term_rows(shell->term); row++) {
		int line = top + row;
		if (line < from.line || line > to.line)
			continue;
		int a = line == from.line || shell->is_block ? from.col : 0;
		int b = line == to.line || shell->is_block ? to.col : cols - 1;
		if (shell->is_block && a > b) {
			int swap = a;
			a = b;
			b = swap;
		}
		draw_region_restyle(region, row + first_row, a, b - a + 1, style);
	}
}

static void draw_cursor(struct views_shell *shell, struct draw_region region, int first_row)
{
	struct draw_surface_cursor cursor = { 0 };
	int row, col;
	if (shell->is_scrolling && !shell->is_peeking) {
		int line;
		if (!term_marker_line(shell->term, shell->at, &line, &col))
			return;
		row = line - views_shell_top_line(shell);
		cursor.shape = CURSOR_BLOCK;
	} else {
		struct term_cursor at;
		term_get_cursor(shell->term, &at);
		if (!at.visible || !shell_is_live(shell) || shell->is_scrolling)
			return;
		row = at.row;
		col = at.col;
		cursor.shape = at.shape == TERM_CURSOR_BAR         ? CURSOR_BAR
			       : at.shape == TERM_CURSOR_UNDERLINE ? CURSOR_UNDERLINE
								   : CURSOR_BLOCK;
		cursor.blink = at.blink;
	}
	row += first_row;
	if (row < 0 || row >= region.rows || col >= region.cols)
		return;
	cursor.row = region.row + row;
	cursor.col = region.col + col;
	draw_surface_set_cursor(region.surface, &cursor);
}

static void draw_banner(struct views_shell *shell, struct draw_region region)
{
	struct view_host *host = shell->view.host;
	struct draw_style bad = host_style(host, ROLE_ERROR), bar = host_style(host, ROLE_BAR);
	bool is_well = session_ended_well(shell->session);
	if (is_well)
		bad = host_style(host, ROLE_DIM);
	struct str text;
	str_init(&text, 2048);
	session_add_reason(shell->session, &text);
	struct draw_region line = draw_region_sub(region, 0, region.rows - 2, region.cols, 1);
	draw_region_fill(line, bad);
	draw_region_text(line, 0, 0, line.cols, bad, text.p);
	str_deinit(&text);
	line = draw_region_sub(region, 0, region.rows - 1, region.cols, 1);
	draw_region_fill(line, bar);
	draw_region_textf(line, 0, 1, line.cols - 1, bar,
		"r runs it again   x closes the pane   pageup scrolls");
}

static void draw_scroll_mark(struct views_shell *shell, struct draw_region region)
{
	char text[64];
	snprintf(text, sizeof text, " %d/%d ", -views_shell_top_line(shell),
		term_history_rows(shell->term));
	int cols = draw_text_cols(text);
	draw_region_text(region, 0, region.cols - cols, cols,
		host_style(shell->view.host, ROLE_GHOST), text);
}

/* What a program learns that asks whether the background is light or dark. A theme without these colours tells none. */
static void tell_colors(struct views_shell *shell)
{
	struct draw_style pane = host_style(shell->view.host, ROLE_PANE);
	if (session_viewer_is_latest(shell->viewer) &&
		(pane.fg & DRAW_COLOR_TAG) != DRAW_COLOR_DEFAULT &&
		(pane.bg & DRAW_COLOR_TAG) != DRAW_COLOR_DEFAULT)
		term_set_colors(
			shell->term, draw_color_to_rgb(pane.fg), draw_color_to_rgb(pane.bg));
}

void views_shell_draw(struct view *view, struct draw_region region, bool is_focused)
{
	struct views_shell *shell = shell_of(view);
	if (region.cols < 1 || region.rows < 1)
		return;
	shell->has_output = false;
	session_viewer_resize(shell->viewer, region.cols, region.rows);
	tell_colors(shell);
	take_shot(shell);
	bool has_banner = session_is_over(shell->session) && region.rows > 3;
	/* the banner must not hide the last words: move the picture up if they would be under it */
	struct term_cursor cursor;
	term_get_cursor(shell->term, &cursor);
	int up = cursor.row + BANNER_ROWS + 1 - region.rows;
	int first_row = has_banner && !shell->is_scrolling && up > 0 ? -up : 0;
	draw_region_copy(region, first_row, 0, shell->shot);
	draw_selection(shell, region, first_row);
	enum session_state state = session_state(shell->session);
	if (state == SESSION_STARTING || state == SESSION_WAITING)
		draw_region_textf(region, 0, 0, region.cols, host_style(view->host, ROLE_DIM),
			"connecting to %s …", session_name(shell->session));
	if (has_banner)
		draw_banner(shell, region);
	if (shell->is_scrolling)
		draw_scroll_mark(shell, region);
	if (is_focused)
		draw_cursor(shell, region, first_row);
}
