// SPDX-License-Identifier: Apache-2.0
// Frames: when one is drawn, and what is on it.
//
//   dirty ── 2 ms of quiet, at most 16 ms ──▶ compose ─▶ paint ─▶ send ── sent ──▶ next, if dirty
//
// What the cluster does by itself is shown at once, but not more often than every 50 ms: a thousand changes a second
// would else cost sixty frames, most of them for nobody. Keys and panes do not wait for that.
// While the terminal has not taken the last frame no other is drawn: a slow terminal skips frames, and the engine
// never waits for it. Hidden views are not drawn.
#include "engine/base/clock.h"
#include "tui/app/internal.h"

#include <stdio.h>
#include <string.h>

enum { BARS_ROWS = 2, ANSWER_MS = 100 };

/* A program that asks for every motion of the mouse gets it, while its pane has the focus. */
static void follow_motion(struct app *app)
{
	struct view *view = app_focused(app);
	bool wants = view->class->wants_motion && view->class->wants_motion(view);
	if (!app->is_mouse_on || wants == app->is_every_motion)
		return;
	app->is_every_motion = wants;
	str_add(&app->frame, draw_screen_mouse_bytes(app->screen, true, wants));
}

static void draw_frame(struct app *app)
{
	if (draw_terminal_is_sending(app->tty)) {
		app->is_frame_due = true;
		return;
	}
	app->is_dirty = app->is_frame_due = false;
	app->last_frame_ms = clock_mono_ms();
	app_frame_compose(app);
	str_clear(&app->frame);
	follow_motion(app);
	draw_screen_paint(app->screen, app->surface, &app->frame);
	draw_terminal_send(app->tty, (struct slice){ app->frame.p, app->frame.n });
}

static void on_frame(void *arg)
{
	struct app *app = arg;
	if (app->tty && app->is_dirty)
		draw_frame(app);
}

void app_frame_sent(struct app *app)
{
	if (app->is_frame_due)
		net_loop_timer_arm(app->frame_timer, 0);
}

void app_frame_dirty(struct app *app)
{
	if (!app->tty)
		return;
	int64_t now = clock_mono_ms();
	bool was_dirty = app->is_dirty;
	if (!was_dirty) {
		app->is_dirty = true;
		app->dirty_since_ms = now;
	}
	if (app->is_engine_telling) {
		int64_t pause = app->last_frame_ms + FRAME_CALM_MS - now;
		if (!was_dirty)
			net_loop_timer_arm(app->frame_timer,
				pause > FRAME_QUIET_MS ? pause : FRAME_QUIET_MS);
		return;
	}
	/* the answer to a key is drawn at once; what follows it is collected as ever */
	bool is_answer = now - app->last_input_ms < ANSWER_MS &&
			 now - app->last_frame_ms >= FRAME_MAX_MS;
	int64_t wait = is_answer ? 0 : FRAME_QUIET_MS;
	int64_t left = app->dirty_since_ms + FRAME_MAX_MS - now;
	if (wait > left)
		wait = left > 0 ? left : 0;
	net_loop_timer_arm(app->frame_timer, wait);
}

static void min_redraw(void *arg, struct view *view)
{
	int64_t *least = arg;
	int64_t ms = view->class->redraw_after_ms ? view->class->redraw_after_ms(view) : 0;
	if (ms && (!*least || ms < *least))
		*least = ms;
}

static void leaf_min_redraw(void *arg, struct app_layout *leaf)
{
	min_redraw(arg, app_layout_data(leaf));
}

/* Drawn in this turn: waiting for quiet would wake the machine twice. */
static void on_tick(void *arg)
{
	struct app *app = arg;
	app->is_dirty = true;
	net_loop_timer_disarm(app->frame_timer);
	on_frame(app);
}

/* Ages grow while nothing happens: only what is visible asks for it. */
static void arm_tick(struct app *app)
{
	int64_t least = 0;
	struct app_tab *tab = app_tab(app);
	if (tab->is_zoomed)
		min_redraw(&least, app_layout_data(tab->focus));
	else
		app_layout_each(tab->root, leaf_min_redraw, &least);
	if (app->is_strip_on)
		min_redraw(&least, app->strip);
	const int64_t own[] = { app_surprise_redraw_after_ms(app),
		app_link_row_redraw_after_ms(app) };
	for (int i = 0; i < 2; i++)
		if (own[i] && (!least || own[i] < least))
			least = own[i];
	if (least)
		net_loop_timer_arm(app->tick_timer, least);
	else
		net_loop_timer_disarm(app->tick_timer);
}

void app_frame_init(struct app *app)
{
	app->frame_timer = net_loop_timer_new(app->loop, on_frame, app);
	app->tick_timer = net_loop_timer_new(app->loop, on_tick, app);
}

void app_frame_deinit(struct app *app)
{
	net_loop_timer_free(app->frame_timer);
	net_loop_timer_free(app->tick_timer);
}

void app_frame_stop(struct app *app)
{
	net_loop_timer_disarm(app->frame_timer);
	net_loop_timer_disarm(app->tick_timer);
	app->is_dirty = app->is_frame_due = false;
}

/* ---- composing */

static struct draw_style role(const struct app *app, enum draw_theme_role which)
{
	return theme_style(&app->theme, which);
}

static void draw_hints(struct app *app, struct draw_region bar)
{
	struct draw_style plain = role(app, ROLE_BAR), key = role(app, ROLE_BAR_KEY);
	struct draw_style disabled = role(app, ROLE_BAR_DISABLED);
	enum view_key_scope scope =
		app->is_prefix ? SCOPE_PREFIX : view_scope(app_focused(app));
	int col = 1;
	if (scope == SCOPE_SHELL) {
		col += draw_region_textf(
			bar, 0, col, bar.cols - col, key, "%s", view_key_prefix_names());
		draw_region_text(
			bar, 0, col, bar.cols - col, plain, " then ? for keys, d for the list");
		return;
	}
	if (scope == SCOPE_TYPING) {
		draw_region_text(bar, 0, col, bar.cols - col, plain,
			"the name; ↓ goes to the next one, Enter and Esc end it");
		return;
	}
	bool is_alone = scope == SCOPE_PREFIX || scope == SCOPE_SCROLL || scope == SCOPE_DEAD;
	for (int pass = 0; pass < (is_alone ? 1 : 2); pass++)
		for (size_t i = 0; i < views_n_key_rows; i++) {
			const struct view_key_row *row = &view_key_rows[i];
			enum view_key_scope want = pass == 0 ? scope : SCOPE_GLOBAL;
			if (row->scope != want || !row->hint)
				continue;
			bool can = app_command_can(app, app_focused(app), row->command, NULL);
			int cols = draw_text_cols(row->key) + draw_text_cols(row->hint) +
				   (can ? 3 : 5);
			if (col + cols > bar.cols)
				return;
			if (!can) { /* not by its colour alone */
				col += 2 + draw_region_textf(bar, 0, col, bar.cols - col,
						   disabled, "(%s %s)", row->key, row->hint);
				continue;
			}
			col += draw_region_text(bar, 0, col, bar.cols - col, key, row->key) + 1;
			col += draw_region_text(bar, 0, col, bar.cols - col, plain, row->hint) +
			       2;
		}
}

static void draw_status(struct app *app, struct draw_region bar)
{
	struct draw_style plain = role(app, ROLE_BAR);
	draw_region_fill(bar, plain);
	if (app->note[0] && !app->is_prefix) {
		struct draw_style style = plain;
		if (app->note_level == NOTE_WARNING)
			style.attrs |= DRAW_BOLD;
		const char *mark = app->note_level == NOTE_WARNING ? "! "
				   : app->note_level == NOTE_OK    ? "✓ "
								   : "";
		int col = 1 + draw_region_text(bar, 0, 1, bar.cols - 1, style, mark);
		draw_region_text(bar, 0, col, bar.cols - col, style, app->note);
		return;
	}
	draw_hints(app, bar);
}

static void draw_view(
	struct app *app, struct draw_region region, struct view *view, bool has_title)
{
	bool is_focused = view == app_focused(app) && !app->n_dialogs;
	if (has_title) {
		struct draw_region bar = draw_region_sub(region, 0, 0, region.cols, 1);
		struct draw_style style =
			role(app, is_focused ? ROLE_TITLE_FOCUSED : ROLE_TITLE);
		draw_region_hline(
			bar, 0, role(app, is_focused ? ROLE_BORDER_FOCUSED : ROLE_BORDER));
		struct str title;
		str_init(&title, 256);
		view->class->title(view, &title);
		draw_region_text(bar, 0, 1, 1, style, " ");
		int used = draw_region_text(bar, 0, 2, bar.cols - 4, style, title.p);
		draw_region_text(bar, 0, 2 + used, 1, style, " ");
		str_deinit(&title);
		region = draw_region_sub(region, 0, 1, region.cols, region.rows - 1);
	}
	if (region.cols > 0 && region.rows > 0)
		view->class->draw(view, region, is_focused);
}

static void draw_copies(struct app *app, struct draw_region bar, const char *text)
{
	struct draw_style style = role(app, ROLE_PROGRESS);
	draw_region_fill(bar, style);
	draw_region_text(bar, 0, 1, bar.cols - 2, style, text);
	const char *key = "C shows them";
	if (draw_text_cols(text) + (int)strlen(key) + 4 < bar.cols)
		draw_region_text_right(bar, 0, 0, bar.cols - 1, style, key);
}

struct compose {
	struct app *app;
	struct draw_region screen;
	bool has_titles;
};

static void draw_leaf(void *arg, struct app_layout *leaf)
{
	struct compose *c = arg;
	struct app_rect r = app_layout_rect(leaf);
	draw_view(c->app, draw_region_sub(c->screen, r.col, r.row, r.cols, r.rows),
		app_layout_data(leaf), c->has_titles);
}

static void draw_line(void *arg, int col, int row, int rows)
{
	struct compose *c = arg;
	draw_region_vline(
		draw_region_sub(c->screen, col, row, 1, rows), 0, role(c->app, ROLE_BORDER));
}

static void draw_body(struct app *app, struct draw_region screen)
{
	struct app_tab *tab = app_tab(app);
	struct app_rect body = app->body;
	struct compose c = { app, screen, false };
	if (tab->is_zoomed || app_layout_is_leaf(tab->root)) {
		draw_view(app,
			draw_region_sub(screen, body.col, body.row, body.cols, body.rows),
			app_layout_data(tab->focus),
			tab->is_zoomed && !app_layout_is_leaf(tab->root));
		return;
	}
	c.has_titles = true;
	app_layout_each(tab->root, draw_leaf, &c);
	app_layout_lines(tab->root, draw_line, &c);
}

static void draw_ghost(struct app *app, struct draw_region screen)
{
	if (!app->drag)
		return;
	struct draw_style style = role(app, app->drag_ok ? ROLE_DROP : ROLE_GHOST);
	char label[96];
	snprintf(label, sizeof label, " %s %s ", app->drag_ok ? "→" : "·", app->drag->label);
	int cols = draw_text_cols(label);
	cols = cols < screen.cols ? cols : screen.cols;
	int col = app->mouse_col + 1, row = app->mouse_row + 1;
	if (col + cols > screen.cols)
		col = screen.cols - cols;
	if (row >= screen.rows)
		row = app->mouse_row - 1;
	draw_region_text(screen, row, col, cols, style, label);
}

static void draw_too_small(struct app *app, struct draw_region screen)
{
	struct draw_style style = role(app, ROLE_WARNING);
	int row = screen.rows / 2 - 1;
	row = row < 0 ? 0 : row;
	char line[80];
	snprintf(line, sizeof line, "%d×%d is too small", screen.cols, screen.rows);
	draw_region_text(screen, row, 0, screen.cols, style, line);
	snprintf(line, sizeof line, "sandmux needs %d×%d", APP_COLS_MIN, APP_ROWS_MIN);
	draw_region_text(screen, row + 1, 0, screen.cols, style, line);
	if (screen.rows > 3)
		draw_region_text(screen, row + 2, 0, screen.cols, role(app, ROLE_DIM),
			"everything goes on meanwhile");
}

static void place(struct app *app, struct draw_region screen, int copy_rows)
{
	int link = app_link_row_rows(app);
	int rows = screen.rows - BARS_ROWS - copy_rows - link;
	int strip = 0;
	if (app->is_strip_on) {
		strip = app->strip_rows;
		if (strip > rows - 6)
			strip = rows - 6;
		if (strip < 2)
			strip = 0;
	}
	app->link_rect = (struct app_rect){ 0, 1, screen.cols, link };
	app->body = (struct app_rect){ 0, 1 + link, screen.cols, rows - strip };
	app->strip_rect = (struct app_rect){ 0, 1 + link + rows - strip, screen.cols, strip };
	app->bar_rect = (struct app_rect){ 0, screen.rows - 1, screen.cols, 1 };
	for (size_t i = 0; i < app->n_tabs; i++)
		app_layout_place(app->tabs[i]->root, app->body);
}

void app_frame_compose(struct app *app)
{
	struct draw_region screen = draw_region_whole(app->surface);
	struct draw_surface_cursor hidden = { 0 };
	draw_region_fill(screen, role(app, ROLE_TEXT));
	draw_surface_set_cursor(app->surface, &hidden);
	if (screen.cols < APP_COLS_MIN || screen.rows < APP_ROWS_MIN) {
		draw_too_small(app, screen);
		return;
	}
	struct str copies;
	str_init(&copies, 256);
	int copy_rows = views_transfers_summary(app->host.copies, &copies);
	place(app, screen, copy_rows);
	app_tab_bar_draw(app, draw_region_sub(screen, 0, 0, screen.cols, 1));
	app_link_row_draw(app, draw_region_sub(screen, 0, 1, screen.cols, app->link_rect.rows));
	draw_body(app, screen);
	if (app->strip_rect.rows) {
		struct app_rect r = app->strip_rect;
		draw_view(app, draw_region_sub(screen, r.col, r.row, r.cols, r.rows),
			app->strip, true);
	}
	if (copy_rows)
		draw_copies(app, draw_region_sub(screen, 0, screen.rows - 2, screen.cols, 1),
			copies.p);
	str_deinit(&copies);
	draw_status(app, draw_region_sub(screen, 0, screen.rows - 1, screen.cols, 1));
	if (app->prompt.kind != PROMPT_NONE && !app->n_dialogs)
		app_prompt_draw(app, screen);
	for (size_t i = app->n_dialogs ? app->n_dialogs - 1 : 0; i < app->n_dialogs; i++)
		widget_dialog_draw(app->dialogs[i], screen, &app->theme);
	app_surprise_draw(app, screen);
	draw_ghost(app, screen);
	arm_tick(app);
}

bool app_frame_region(const struct app *app, const struct view *view, struct app_rect *out)
{
	if (view == app->strip) {
		if (!app->is_strip_on || !app->strip_rect.rows)
			return false;
		*out = app->strip_rect;
		out->row++;
		out->rows--;
		return true;
	}
	const struct app_tab *tab = app_tab(app);
	bool has_titles = !app_layout_is_leaf(tab->root);
	struct app_rect r = app->body;
	if (tab->is_zoomed || !has_titles) {
		if (app_layout_data(tab->focus) != view)
			return false;
	} else {
		struct app_layout *leaf = tab->focus;
		do {
			if (app_layout_data(leaf) == view)
				break;
			leaf = app_layout_next(tab->root, leaf, true);
		} while (leaf != tab->focus);
		if (app_layout_data(leaf) != view)
			return false;
		r = app_layout_rect(leaf);
	}
	if (has_titles) {
		r.row++;
		r.rows--;
	}
	*out = r;
	return true;
}
