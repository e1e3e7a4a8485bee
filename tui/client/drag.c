// SPDX-License-Identifier: Apache-2.0
// Things carried from one pane to another: a ghost follows the mouse, the view under it says whether it would take it, the
// release drops it.
#include "tui/client/internal.h"

#include <stdlib.h>

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

static void leave_target(struct client *client)
{
	struct view *over = client->drag_over;
	client->drag_over = NULL;
	client->drag_ok = false;
	if (over && over->class->drag_leave)
		over->class->drag_leave(over);
}

void client_drag_end(struct client *client, bool is_drop)
{
	struct view_drag *drag = client->drag;
	if (!drag)
		return;
	client->drag = NULL;
	struct view *over = client->drag_over;
	bool is_ok = client->drag_ok;
	struct workspace_rect r;
	if (is_drop && is_ok && over && over->class->drop &&
		workspace_region(client->workspace, over, &r))
		over->class->drop(
			over, drag, client->mouse_col - r.col, client->mouse_row - r.row);
	client->drag_over = over;
	leave_target(client);
	drag_free(drag);
	client_dirty(client);
}

void client_drag_begin(struct client *client)
{
	struct view *view = client->mouse_view;
	struct workspace_rect r;
	if (!view || !view->class->drag_begin || !workspace_region(client->workspace, view, &r))
		return;
	struct view_drag *drag = x_calloc(1, sizeof *drag);
	drag->from = view;
	if (view->class->drag_begin(
		    view, client->press.col - r.col, client->press.row - r.row, drag))
		client->drag = drag;
	else
		drag_free(drag);
}

void client_drag_move(struct client *client)
{
	struct workspace_rect r;
	struct view *view =
		workspace_view_at(client->workspace, client->mouse_col, client->mouse_row);
	if (view != client->drag_over)
		leave_target(client);
	client->drag_over = view;
	client->drag_ok = view && view->class->drag_hover &&
			  workspace_region(client->workspace, view, &r) &&
			  view->class->drag_hover(view, client->drag, client->mouse_col - r.col,
				  client->mouse_row - r.row);
	/* over another tab's name: show that tab, so that its panes can be reached */
	size_t tab = client->mouse_row == 0 ? client_tab_bar_at(client, client->mouse_col)
					    : workspace_current(client->workspace);
	if (tab < workspace_n_tabs(client->workspace) &&
		tab != workspace_current(client->workspace))
		workspace_tabs_select(client->workspace, tab);
	client_dirty(client);
}

void client_drag_forget(struct client *client, const struct view *view)
{
	if (client->mouse_view == view)
		client->mouse_view = NULL;
	if (client->drag && (client->drag->from == view || client->drag_over == view))
		client_drag_end(client, false);
	client->is_border_held = false;
}
