// SPDX-License-Identifier: Apache-2.0
// The mouse: who is under it, borders that move.
//
// A press belongs to what it hit until the release. A drag that begins on something a view can give becomes a
// carry: a ghost follows the mouse, the view under it says whether it would take it, the release drops it.
#include "tui/client/internal.h"

#include <stdlib.h>

static void give(struct client *client, struct view *view, const struct draw_mouse *mouse)
{
	struct workspace_rect r;
	if (!view->class->mouse || !workspace_region(client->workspace, view, &r))
		return;
	struct draw_mouse local = *mouse;
	local.col -= r.col;
	local.row -= r.row;
	view->class->mouse(view, &local);
	client_dirty(client);
}

/* ---- pressing */

static void press(struct client *client, const struct draw_mouse *mouse)
{
	client->press = *mouse;
	client->has_press = true;
	client->is_prefix = false; /* no key of a command follows */
	client->mouse_view = NULL;
	if (mouse->row == 0) {
		client_tab_bar_press(client, mouse);
		return;
	}
	if (client_hints_press(client, mouse))
		return;
	if (client->link_rows && mouse->row == 1) {
		if (mouse->button == 1 && client_link_row_offers(client))
			workspace_command_try(client->workspace, "backend start");
		return;
	}
	client->is_border_held =
		workspace_border_at(client->workspace, mouse->col, mouse->row, &client->border);
	if (client->is_border_held)
		return;
	struct view *view = workspace_view_at(client->workspace, mouse->col, mouse->row);
	if (!view)
		return;
	workspace_focus_view(client->workspace, view);
	client->mouse_view = view;
	give(client, view, mouse);
}

static void drag(struct client *client, const struct draw_mouse *mouse)
{
	if (client->is_border_held) {
		workspace_border_drag(
			client->workspace, &client->border, mouse->col, mouse->row);
		return;
	}
	bool is_moved =
		abs(mouse->col - client->press.col) > 1 || mouse->row != client->press.row;
	if (!client->drag && client->has_press && client->press.button == 1 && is_moved)
		client_drag_begin(client);
	if (client->drag)
		client_drag_move(client);
	else if (client->mouse_view)
		give(client, client->mouse_view, mouse);
}

static void release(struct client *client, const struct draw_mouse *mouse)
{
	client->is_border_held = client->has_press = false;
	if (client->drag) {
		client_drag_move(client);
		client_drag_end(client, true);
	} else if (client->mouse_view) {
		give(client, client->mouse_view, mouse);
	}
	client->mouse_view = NULL;
}

static void handle_mouse(struct client *client, const struct draw_mouse *mouse)
{
	if (client_is_too_small(client))
		return;
	if (client->n_dialogs) {
		client_dirty(client);
		if (widget_dialog_mouse(client->dialogs[client->n_dialogs - 1], mouse))
			client_dialogs_pop(client);
		return;
	}
	if (client->prompt.kind != PROMPT_NONE) {
		/* what has been typed is not thrown away by a click beside it */
		if (mouse->action == MOUSE_PRESS && !client->prompt.edit.text.n)
			client_prompt_close(client);
		return;
	}
	if (client_surprise_mouse(client, mouse))
		return;
	struct view *view;
	switch (mouse->action) {
	case MOUSE_PRESS:
		press(client, mouse);
		break;
	case MOUSE_DRAG:
		drag(client, mouse);
		break;
	case MOUSE_RELEASE:
		release(client, mouse);
		break;
	case MOUSE_MOVE:
		view = client_focused(client);
		if (workspace_view_at(client->workspace, mouse->col, mouse->row) == view)
			give(client, view, mouse);
		break;
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		view = workspace_view_at(client->workspace, mouse->col, mouse->row);
		if (view)
			give(client, view, mouse);
		break;
	}
}

void client_dispatch_mouse(void *arg, const struct draw_mouse *mouse)
{
	struct client *client = arg;
	workspace_close_pending(client->workspace);
	client->mouse_col = mouse->col;
	client->mouse_row = mouse->row;
	bool is_input = mouse->action != MOUSE_MOVE && mouse->action != MOUSE_RELEASE;
	workspace_begin_input(&client->place, is_input);
	handle_mouse(client, mouse);
	workspace_end_input(client->workspace);
}
