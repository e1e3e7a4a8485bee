// SPDX-License-Identifier: Apache-2.0
// The mouse: who is under it, borders that move, things carried from one pane to another.
//
// A press belongs to what it hit until the release. A drag that begins on something a view can give becomes a
// carry: a ghost follows the mouse, the view under it says whether it would take it, the release drops it.
#include "tui/app/internal.h"

#include <stdlib.h>

static struct view *view_at(struct app *app, int col, int row, struct app_layout **leaf)
{
	*leaf = NULL;
	struct app_rect s = app->strip_rect;
	if (s.rows && row >= s.row && row < s.row + s.rows)
		return app->strip;
	struct app_tab *tab = app_tab(app);
	if (tab->is_zoomed || app_layout_is_leaf(tab->root)) {
		struct app_rect b = app->body;
		if (row < b.row || row >= b.row + b.rows)
			return NULL;
		*leaf = tab->focus;
		return app_layout_data(tab->focus);
	}
	bool is_border;
	struct app_layout *there = app_layout_at(tab->root, col, row, &is_border);
	if (!there || is_border)
		return NULL;
	*leaf = there;
	return app_layout_data(there);
}

static void give(struct app *app, struct view *view, const struct draw_mouse *mouse)
{
	struct app_rect r;
	if (!view->class->mouse || !app_frame_region(app, view, &r))
		return;
	struct draw_mouse local = *mouse;
	local.col -= r.col;
	local.row -= r.row;
	view->class->mouse(view, &local);
	app_frame_dirty(app);
}

/* ---- carrying */

static void drag_free(struct view_drag *drag)
{
	if (!drag)
		return;
	for (size_t i = 0; i < drag->n_paths; i++)
		free(drag->paths[i]);
	free(drag->paths);
	free(drag->uid);
	free(drag);
}

static void leave_target(struct app *app)
{
	struct view *over = app->drag_over;
	app->drag_over = NULL;
	app->drag_ok = false;
	if (over && over->class->drag_leave)
		over->class->drag_leave(over);
}

void app_drag_end(struct app *app, bool is_drop)
{
	struct view_drag *drag = app->drag;
	if (!drag)
		return;
	app->drag = NULL;
	struct view *over = app->drag_over;
	bool is_ok = app->drag_ok;
	struct app_rect r;
	if (is_drop && is_ok && over && over->class->drop && app_frame_region(app, over, &r))
		over->class->drop(over, drag, app->mouse_col - r.col, app->mouse_row - r.row);
	app->drag_over = over;
	leave_target(app);
	drag_free(drag);
	app_frame_dirty(app);
}

static void drag_begin(struct app *app)
{
	struct view *view = app->mouse_view;
	struct app_rect r;
	if (!view || !view->class->drag_begin || !app_frame_region(app, view, &r))
		return;
	struct view_drag *drag = x_calloc(1, sizeof *drag);
	drag->from = view;
	if (view->class->drag_begin(view, app->press.col - r.col, app->press.row - r.row, drag))
		app->drag = drag;
	else
		drag_free(drag);
}

static void drag_move(struct app *app)
{
	struct app_layout *leaf;
	struct app_rect r;
	struct view *view = view_at(app, app->mouse_col, app->mouse_row, &leaf);
	if (view != app->drag_over)
		leave_target(app);
	app->drag_over = view;
	app->drag_ok = view && view->class->drag_hover && app_frame_region(app, view, &r) &&
		       view->class->drag_hover(
			       view, app->drag, app->mouse_col - r.col, app->mouse_row - r.row);
	/* over another tab's name: show that tab, so that its panes can be reached */
	size_t tab = app->mouse_row == 0 ? app_tab_bar_at(app, app->mouse_col) : app->current;
	if (tab < app->n_tabs && tab != app->current)
		app_tabs_select(app, tab);
	app_frame_dirty(app);
}

/* ---- pressing */

static void press(struct app *app, const struct draw_mouse *mouse)
{
	struct app_layout *leaf;
	struct app_tab *tab = app_tab(app);
	struct app_rect s = app->strip_rect;
	app->press = *mouse;
	app->has_press = true;
	app->is_prefix = false; /* no key of a command follows */
	app->mouse_view = NULL;
	if (mouse->row == 0) {
		app_tab_bar_press(app, mouse);
		return;
	}
	if (app->link_rect.rows && mouse->row == app->link_rect.row) {
		if (mouse->button == 1 && app_link_row_offers(app))
			app_command_try(app, "backend start");
		return;
	}
	if (s.rows && mouse->row == s.row) {
		app->is_strip_border = true;
		return;
	}
	if (!tab->is_zoomed && !app_layout_is_leaf(tab->root)) {
		bool is_border;
		struct app_layout *there =
			app_layout_at(tab->root, mouse->col, mouse->row, &is_border);
		if (there && is_border) {
			app->border = there;
			return;
		}
	}
	struct view *view = view_at(app, mouse->col, mouse->row, &leaf);
	if (!view)
		return;
	if (leaf)
		app_tabs_focus(app, leaf);
	else if (!app->is_strip_focused) {
		app->is_strip_focused = true;
		app_frame_dirty(app);
	}
	app->mouse_view = view;
	give(app, view, mouse);
}

static void drag(struct app *app, const struct draw_mouse *mouse)
{
	if (app->border) {
		app_layout_drag(app->border, mouse->col, mouse->row);
		app_frame_dirty(app);
		return;
	}
	if (app->is_strip_border) {
		int rows = app->strip_rect.row + app->strip_rect.rows - mouse->row;
		app->strip_rows = rows < 2 ? 2 : rows;
		app_frame_dirty(app);
		return;
	}
	bool is_moved = abs(mouse->col - app->press.col) > 1 || mouse->row != app->press.row;
	if (!app->drag && app->has_press && app->press.button == 1 && is_moved)
		drag_begin(app);
	if (app->drag)
		drag_move(app);
	else if (app->mouse_view)
		give(app, app->mouse_view, mouse);
}

static void release(struct app *app, const struct draw_mouse *mouse)
{
	app->border = NULL;
	app->is_strip_border = app->has_press = false;
	if (app->drag) {
		drag_move(app);
		app_drag_end(app, true);
	} else if (app->mouse_view) {
		give(app, app->mouse_view, mouse);
	}
	app->mouse_view = NULL;
}

static void handle_mouse(struct app *app, const struct draw_mouse *mouse)
{
	if (draw_surface_cols(app->surface) < APP_COLS_MIN ||
		draw_surface_rows(app->surface) < APP_ROWS_MIN)
		return;
	if (app->n_dialogs) {
		app_frame_dirty(app);
		if (widget_dialog_mouse(app->dialogs[app->n_dialogs - 1], mouse))
			app_pop_dialog(app);
		return;
	}
	if (app->prompt.kind != PROMPT_NONE) {
		/* what has been typed is not thrown away by a click beside it */
		if (mouse->action == MOUSE_PRESS && !app->prompt.edit.text.n)
			app_prompt_close(app);
		return;
	}
	if (app_surprise_mouse(app, mouse))
		return;
	struct app_layout *leaf;
	struct view *view;
	switch (mouse->action) {
	case MOUSE_PRESS:
		press(app, mouse);
		break;
	case MOUSE_DRAG:
		drag(app, mouse);
		break;
	case MOUSE_RELEASE:
		release(app, mouse);
		break;
	case MOUSE_MOVE:
		view = app_focused(app);
		if (view_at(app, mouse->col, mouse->row, &leaf) == view)
			give(app, view, mouse);
		break;
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		view = view_at(app, mouse->col, mouse->row, &leaf);
		if (view)
			give(app, view, mouse);
		break;
	}
}

void app_dispatch_mouse(void *arg, const struct draw_mouse *mouse)
{
	struct app *app = arg;
	app_close_pending(app);
	app->mouse_col = mouse->col;
	app->mouse_row = mouse->row;
	bool is_input = mouse->action != MOUSE_MOVE && mouse->action != MOUSE_RELEASE;
	app->input_serial += is_input;
	app->n_handling++;
	handle_mouse(app, mouse);
	app->n_handling--;
}
