// SPDX-License-Identifier: Apache-2.0
// What is on a frame, from below to above: bars, panes, the line at the bottom, prompt or dialog, a surprise, what is carried.
// Hidden views are not drawn.
#include "tui/client/internal.h"

#include "tui/draw/border.h"
#include "tui/views/transfers/transfers.h"

#include <stdio.h>
#include <string.h>

enum { BARS_ROWS = 2 };

static struct draw_style role(const struct client *client, enum draw_theme_role which)
{
	return theme_style(&client->theme, which);
}

/* What was said last, in a row of its own: hints stay where they are. */
static void draw_note(struct client *client, struct draw_region row)
{
	enum view_note_level level;
	const char *note = workspace_note(client->workspace, &level);
	struct draw_style style = role(client, level == NOTE_WARNING ? ROLE_WARNING
					       : level == NOTE_OK    ? ROLE_OK
								     : ROLE_TEXT);
	const char *mark = level == NOTE_WARNING ? "! " : level == NOTE_OK ? "✓ " : "";
	draw_region_fill(row, role(client, ROLE_TEXT));
	int col = 1 + draw_region_text(row, 0, 1, row.cols - 1, style, mark);
	draw_region_text(row, 0, col, row.cols - col, style, note);
}

static void is_terminal_pane(
	void *arg, struct view *view, struct workspace_rect rect, bool has_title)
{
	(void)rect;
	(void)has_title;
	enum view_key_scope scope = view_scope(view);
	*(bool *)arg |= scope == SCOPE_SHELL || scope == SCOPE_SCROLL || scope == SCOPE_DEAD;
}

/* 1: panes leave a row to the note. Where a program runs it lies over them instead: a size that changes with each note
 * would be told to the program. */
static int note_rows(struct client *client)
{
	enum view_note_level level;
	bool has_terminal = false;
	if (!*workspace_note(client->workspace, &level))
		return 0;
	workspace_each_pane(client->workspace, is_terminal_pane, &has_terminal);
	return !has_terminal;
}

/* Over the last row of the panes; the cursor is not hidden by it, nor, in the first row, where a pane is scrolled to. */
static void draw_note_over(struct client *client, struct draw_region screen, int below)
{
	struct draw_surface_cursor cursor = draw_surface_cursor_of(client->surface);
	int row = screen.rows - 2 - below;
	bool is_scrolling = view_scope(client_focused(client)) == SCOPE_SCROLL;
	if (cursor.shape != CURSOR_HIDDEN && cursor.row == row)
		row = is_scrolling ? row - 1 : 1 + client->link_rows;
	draw_note(client, draw_region_sub(screen, 0, row, screen.cols, 1));
}

static void draw_view(
	struct client *client, struct draw_region region, struct view *view, bool has_title)
{
	bool is_focused = view == client_focused(client) && !client->n_dialogs;
	if (has_title) {
		struct draw_region bar = draw_region_sub(region, 0, 0, region.cols, 1);
		struct draw_style style =
			role(client, is_focused ? ROLE_TITLE_FOCUSED : ROLE_TITLE);
		struct str title;
		str_init(&title, 256);
		workspace_view_title(client->workspace, view, &title);
		draw_region_text(bar, 0, 1, 1, style, " ");
		int used = draw_region_text(bar, 0, 2, bar.cols - 4, style, title.p);
		draw_region_text(bar, 0, 2 + used, 1, style, " ");
		str_deinit(&title);
		region = draw_region_sub(region, 0, 1, region.cols, region.rows - 1);
	}
	if (region.cols > 0 && region.rows > 0)
		view->class->draw(view, region, is_focused);
}

static void draw_copies(struct client *client, struct draw_region bar, const char *text)
{
	struct draw_style style = role(client, ROLE_PROGRESS);
	draw_region_fill(bar, style);
	draw_region_text(bar, 0, 1, bar.cols - 2, style, text);
	const char *key = "C shows them";
	if (draw_text_cols(text) + (int)strlen(key) + 4 < bar.cols)
		draw_region_text_right(bar, 0, 0, bar.cols - 1, style, key);
}

struct panes {
	struct client *client;
	struct draw_region screen; /* as large as the layout */
	int64_t redraw_after_ms;   /* of the first that wants it; 0: none */
};

static void earlier(int64_t *least, int64_t ms)
{
	if (ms && (!*least || ms < *least))
		*least = ms;
}

static void draw_pane(void *arg, struct view *view, struct workspace_rect r, bool has_title)
{
	struct panes *panes = arg;
	if (has_title) {
		/* as far as the lines beside it, so that they join */
		bool is_focused =
			view == client_focused(panes->client) && !panes->client->n_dialogs;
		int before = r.col > 0, after = r.col + r.cols < panes->screen.cols;
		draw_border_hline(panes->screen, r.row, r.col - before, r.cols + before + after,
			role(panes->client, is_focused ? ROLE_BORDER_FOCUSED : ROLE_BORDER),
			DRAW_LINE_LIGHT);
	}
	draw_view(panes->client, draw_region_sub(panes->screen, r.col, r.row, r.cols, r.rows),
		view, has_title);
	if (view->class->redraw_after_ms)
		earlier(&panes->redraw_after_ms, view->class->redraw_after_ms(view));
}

static void draw_line(void *arg, int col, int row, int rows)
{
	struct panes *panes = arg;
	/* to the title below it, if there is one: what else is there is drawn over it */
	draw_border_vline(panes->screen, col, row, rows + 1, role(panes->client, ROLE_BORDER),
		DRAW_LINE_DOUBLE);
}

static void draw_ghost(struct client *client, struct draw_region screen)
{
	if (!client->drag)
		return;
	struct draw_style style = role(client, client->drag_ok ? ROLE_DROP : ROLE_GHOST);
	char label[96];
	snprintf(label, sizeof label, " %s %s ", client->drag_ok ? "→" : "·",
		client->drag->label);
	int cols = draw_text_cols(label);
	cols = cols < screen.cols ? cols : screen.cols;
	int col = client->mouse_col + 1, row = client->mouse_row + 1;
	if (col + cols > screen.cols)
		col = screen.cols - cols;
	if (row >= screen.rows)
		row = client->mouse_row - 1;
	draw_region_text(screen, row, col, cols, style, label);
}

static void draw_too_small(struct client *client, struct draw_region screen)
{
	struct draw_style style = role(client, ROLE_WARNING);
	int row = screen.rows / 2 - 1;
	row = row < 0 ? 0 : row;
	char line[80];
	snprintf(line, sizeof line, "%d×%d is too small", screen.cols, screen.rows);
	draw_region_text(screen, row, 0, screen.cols, style, line);
	snprintf(line, sizeof line, "sandmux needs %d×%d", CLIENT_COLS_MIN, CLIENT_ROWS_MIN);
	draw_region_text(screen, row + 1, 0, screen.cols, style, line);
	if (screen.rows > 3)
		draw_region_text(screen, row + 2, 0, screen.cols, role(client, ROLE_DIM),
			"everything goes on meanwhile");
}

/* The rows between the bars. */
static struct workspace_rect between(
	struct client *client, struct draw_region screen, int below)
{
	int rows = screen.rows - BARS_ROWS - below - client->link_rows;
	return (struct workspace_rect){ 0, 1 + client->link_rows, screen.cols, rows };
}

/* The panes as large as the latest client has them, and of these what fits here. */
static int64_t draw_panes(
	struct client *client, struct draw_region screen, struct workspace_rect area)
{
	struct workspace *workspace = client->workspace;
	struct panes panes = { client, screen, 0 };
	bool is_latest = workspace_latest(workspace) == &client->place;
	if (is_latest)
		workspace_place(workspace, area);
	struct workspace_rect body = workspace_body(workspace),
			      strip = workspace_strip(workspace);
	int cols = body.col + body.cols, rows = body.row + body.rows + strip.rows;
	if (!is_latest) {
		struct draw_surface_cursor hidden = { 0 };
		if (!client->canvas)
			client->canvas = draw_surface_new(1, 1);
		draw_surface_resize(client->canvas, cols > 1 ? cols : 1, rows > 1 ? rows : 1);
		draw_surface_set_cursor(client->canvas, &hidden);
		panes.screen = draw_region_whole(client->canvas);
		draw_region_fill(panes.screen, role(client, ROLE_TEXT));
	}
	workspace_each_pane(workspace, draw_pane, &panes);
	workspace_each_line(workspace, draw_line, &panes);
	if (is_latest)
		return panes.redraw_after_ms;
	struct draw_region here =
		draw_region_sub(screen, area.col, area.row, area.cols, area.rows);
	draw_region_copy(here, -body.row, -body.col, client->canvas);
	struct draw_surface_cursor cursor = draw_surface_cursor_of(client->canvas);
	cursor.row += area.row - body.row;
	if (cursor.shape != CURSOR_HIDDEN && draw_region_contains(here, cursor.col, cursor.row))
		draw_surface_set_cursor(client->surface, &cursor);
	return panes.redraw_after_ms;
}

static void draw_over(struct client *client, struct draw_region screen)
{
	if (client->prompt.kind != PROMPT_NONE && !client->n_dialogs)
		client_prompt_draw(client, screen);
	if (client->n_dialogs)
		widget_dialog_draw(
			client->dialogs[client->n_dialogs - 1], screen, &client->theme);
	if (client->is_prefix && client->is_prefix_help)
		client_hints_draw_prefix(client, screen);
	client_surprise_draw(client, screen);
	draw_ghost(client, screen);
}

bool client_is_too_small(const struct client *client)
{
	return draw_surface_cols(client->surface) < CLIENT_COLS_MIN ||
	       draw_surface_rows(client->surface) < CLIENT_ROWS_MIN;
}

void client_compose(struct client *client)
{
	struct draw_region screen = draw_region_whole(client->surface);
	struct draw_surface_cursor hidden = { 0 };
	workspace_set_theme(client->workspace, &client->theme);
	draw_region_fill(screen, role(client, ROLE_TEXT));
	draw_surface_set_cursor(client->surface, &hidden);
	if (client_is_too_small(client)) {
		draw_too_small(client, screen);
		return;
	}
	struct str copies;
	str_init(&copies, 256);
	enum view_note_level level;
	int copy_rows = views_transfers_summary(client_host(client)->copies, &copies);
	int below = copy_rows + note_rows(client);
	client->link_rows = client_link_row_rows(client);
	client_tab_bar_draw(client, draw_region_sub(screen, 0, 0, screen.cols, 1));
	client_link_row_draw(
		client, draw_region_sub(screen, 0, 1, screen.cols, client->link_rows));
	int64_t redraw_ms = draw_panes(client, screen, between(client, screen, below));
	if (copy_rows)
		draw_copies(client, draw_region_sub(screen, 0, screen.rows - 2, screen.cols, 1),
			copies.p);
	str_deinit(&copies);
	if (below > copy_rows)
		draw_note(client,
			draw_region_sub(screen, 0, screen.rows - 1 - below, screen.cols, 1));
	else if (*workspace_note(client->workspace, &level))
		draw_note_over(client, screen, copy_rows);
	client_hints_draw(client, draw_region_sub(screen, 0, screen.rows - 1, screen.cols, 1));
	draw_over(client, screen);
	/* ages grow while nothing happens: only what is visible asks for it */
	earlier(&redraw_ms, client_surprise_redraw_after_ms(client));
	earlier(&redraw_ms, client_link_row_redraw_after_ms(client));
	client_frame_tick(client, redraw_ms);
}

/* A program that asks for every motion of the mouse gets it, while its pane has the focus. */
static void follow_motion(struct client *client)
{
	struct view *view = client_focused(client);
	bool wants = view->class->wants_motion && view->class->wants_motion(view);
	if (!client->is_mouse_on || wants == client->is_every_motion)
		return;
	client->is_every_motion = wants;
	str_add(&client->frame, draw_screen_mouse_bytes(client->screen, true, wants));
}

void client_paint(struct client *client)
{
	client_compose(client);
	str_clear(&client->frame);
	follow_motion(client);
	draw_screen_paint(client->screen, client->surface, &client->frame);
	draw_terminal_send(client->tty, (struct slice){ client->frame.p, client->frame.n });
}
