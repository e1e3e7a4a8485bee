// SPDX-License-Identifier: Apache-2.0
// Who shows a workspace, which of them is the latest, and what all of them are to draw again.
#include "tui/workspace/internal.h"

#include "engine/base/map.h"

#include <stdio.h>

enum { NOTE_MS = 6000 };

void workspace_join(struct workspace *workspace, struct workspace_client *client)
{
	client->workspace = workspace;
	DL_APPEND(workspace->clients, client);
	if (!workspace->latest)
		workspace->latest = client;
}

void workspace_leave(struct workspace_client *client)
{
	struct workspace *workspace = client->workspace;
	DL_DELETE(workspace->clients, client);
	workspace_set_theme(workspace, NULL); /* may be its */
	if (workspace->latest != client)
		return;
	workspace->latest = workspace->clients;
	workspace_dirty(workspace);
}

void workspace_use(struct workspace_client *client)
{
	struct workspace *workspace = client->workspace;
	if (workspace->latest == client)
		return;
	workspace->latest = client;
	workspace_dirty(workspace); /* it has another size */
}

void workspace_attached(struct workspace_client *client, bool is_attached)
{
	struct workspace *workspace = client->workspace;
	struct workspace_client *other, *seen = NULL;
	client->is_attached = is_attached;
	DL_FOREACH(workspace->clients, other)
		seen = !seen && other->is_attached ? other : seen;
	struct workspace_context *context;
	DL_FOREACH(workspace->contexts, context)
		engine_look(context->host.engine, seen != NULL);
	if (is_attached)
		workspace_use(client);
	else if (seen && workspace->latest == client) /* nobody is small for one who has gone */
		workspace_use(seen);
}

struct workspace_client *workspace_latest(const struct workspace *workspace)
{
	return workspace->latest;
}

void workspace_begin_input(struct workspace_client *client, bool is_new)
{
	workspace_use(client);
	client->workspace->input_serial += is_new;
	client->workspace->n_handling++;
}

void workspace_end_input(struct workspace *workspace)
{
	workspace->n_handling--;
}

void workspace_set_theme(struct workspace *workspace, const struct draw_theme *theme)
{
	struct workspace_context *context;
	DL_FOREACH(workspace->contexts, context)
		context->host.theme = theme ? theme : &workspace->theme;
}

void workspace_dirty(struct workspace *workspace)
{
	struct workspace_client *client;
	DL_FOREACH(workspace->clients, client)
		client->ops->dirty(client, workspace->is_engine_telling);
}

struct view *workspace_focused(const struct workspace *workspace)
{
	if (workspace->is_strip_on && workspace->is_strip_focused)
		return workspace->strip;
	return workspace_layout_data(workspace_tab(workspace)->focus);
}

void workspace_set_note(
	struct workspace *workspace, enum view_note_level level, const char *text)
{
	snprintf(workspace->note, sizeof workspace->note, "%s", text);
	workspace->note_level = level;
	net_loop_timer_arm(workspace->note_timer, NOTE_MS);
	workspace_dirty(workspace);
}

const char *workspace_note(const struct workspace *workspace, enum view_note_level *level)
{
	*level = workspace->note_level;
	return workspace->note;
}
