// SPDX-License-Identifier: Apache-2.0
// The life of a client, and what a workspace asks of it.
#include "tui/client/internal.h"

#include "engine/base/clock.h"
#include "engine/base/state_store.h"

#include <stdlib.h>

enum { FRAME_BYTES_MAX = 32 << 20 };

struct client *client_of(struct workspace_client *place)
{
	return (struct client *)(void *)place;
}

struct workspace *client_workspace(const struct client *client)
{
	return client->workspace;
}

/* ---- what the workspace asks */

static void on_dirty(struct workspace_client *place, bool is_telling)
{
	client_frame_dirty(client_of(place), is_telling);
}

static void on_push_dialog(struct workspace_client *place, struct widget_dialog *dialog)
{
	client_dialogs_push(client_of(place), dialog);
}

static void on_drop_dialogs(struct workspace_client *place, const void *owner)
{
	client_dialogs_drop(client_of(place), owner);
}

static bool is_awaited(const struct workspace_client *place)
{
	const struct client *client = (const struct client *)(const void *)place;
	return clock_mono_ms() - client->last_input_ms < AWAITED_MS;
}

static void on_surprise(struct workspace_client *place, enum workspace_surprise_event event)
{
	client_surprise_event(client_of(place), event);
}

static void on_copy_text(struct workspace_client *place, struct slice text)
{
	client_terminal_copy(client_of(place), text);
}

static void on_view_gone(struct workspace_client *place, const struct view *view)
{
	client_drag_forget(client_of(place), view);
}

static const struct workspace_client_ops ops = {
	.dirty = on_dirty,
	.push_dialog = on_push_dialog,
	.drop_dialogs = on_drop_dialogs,
	.is_awaited = is_awaited,
	.surprise = on_surprise,
	.copy_text = on_copy_text,
	.view_gone = on_view_gone,
};

/* ---- colours */

bool client_set_theme(struct client *client, const char *name, struct err *err)
{
	bool is_auto = strcmp(name, "auto") == 0;
	struct draw_theme tried;
	if (!is_auto && !draw_theme_load(&tried, name, err))
		return false;
	free(client->theme_name);
	client->theme_name = is_auto ? NULL : x_strdup(name);
	state_store_set(client_host(client)->remembered, "theme", client->theme_name);
	client_terminal_theme(client);
	client_dirty(client);
	return true;
}

/* What was asked for now, else what was chosen last time, else what suits the terminal. */
static bool first_theme(struct client *client, struct err *err)
{
	const struct state_store *remembered = client_host(client)->remembered;
	const char *last = state_store_get(remembered, "theme");
	const char *background = state_store_get(remembered, "background");
	struct draw_theme tried;
	struct err theme_err;
	client->is_light = background && strcmp(background, "light") == 0;
	if (client->opts.theme && strcmp(client->opts.theme, "auto") != 0) {
		if (!draw_theme_load(&tried, client->opts.theme, err))
			return false;
		client->theme_name = x_strdup(client->opts.theme);
	} else if (last && !client->opts.theme) {
		if (draw_theme_load(&tried, last, &theme_err))
			client->theme_name = x_strdup(last);
		else
			view_host_notef(client_host(client), NOTE_WARNING, "%s", theme_err.msg);
	}
	client_terminal_theme(client);
	return true;
}

const char *client_theme(const struct client *client)
{
	return client->theme.name;
}

/* ---- life */

struct client *client_new(struct net_loop *loop, struct workspace *workspace,
	const struct client_opts *opts, struct err *err)
{
	struct client *client = x_calloc(1, sizeof *client);
	client->loop = loop;
	client->workspace = workspace;
	client->opts = *opts;
	client->place.ops = &ops;
	client->is_mouse_on = !opts->no_mouse;
	client->paint = client_paint;
	client->surprise.is_at_bottom = true;
	str_init(&client->frame, FRAME_BYTES_MAX);
	client->surface = draw_surface_new(80, 24);
	client_prompt_init(client);
	client_frame_init(client);
	client_lone_init(client);
	workspace_join(workspace, &client->place);
	if (!first_theme(client, err)) {
		client_free(client);
		return NULL;
	}
	return client;
}

void client_free(struct client *client)
{
	if (!client)
		return;
	client_detach(client);
	client_job_control_deinit(client);
	while (client->n_dialogs)
		widget_dialog_free(client->dialogs[--client->n_dialogs]);
	workspace_leave(&client->place);
	client_frame_deinit(client);
	client_lone_deinit(client);
	client_prompt_deinit(client);
	draw_surface_free(client->surface);
	draw_surface_free(client->canvas);
	str_deinit(&client->frame);
	free(client->theme_name);
	free(client);
}
