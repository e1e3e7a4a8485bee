// SPDX-License-Identifier: Apache-2.0
// The life of a workspace, and what the engine tells it.
#include "tui/workspace/internal.h"

#include "engine/base/state_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRIP_ROWS = 6, SAVE_AFTER_MS = 1000 };

static void on_engine_change(void *arg)
{
	struct workspace *ws = arg;
	uint64_t revision = engine_access_revision(ws->host.engine);
	if (revision != ws->rights_revision) /* hints and help show what may be done */
		workspace_dirty(ws);
	ws->rights_revision = revision;
	struct engine_link link;
	bool is_linked = engine_link_of(ws->host.engine, &link);
	if (is_linked && link.revision != ws->link_revision) {
		ws->link_revision = link.revision;
		workspace_dirty(ws); /* all that is shown changes its meaning */
	}
	ws->is_engine_telling = true;
	workspace_tabs_tell_changed(ws);
	ws->is_engine_telling = false;
}

static void on_note_over(void *arg)
{
	struct workspace *ws = arg;
	ws->note[0] = 0;
	workspace_dirty(ws);
}

/* ---- what is remembered */

static void on_save(void *arg)
{
	struct workspace *ws = arg;
	struct err err;
	if (!state_store_save(ws->host.remembered, &err))
		view_host_notef(&ws->host, NOTE_WARNING, "not remembered: %s", err.msg);
}

static void on_remember(void *arg)
{
	struct workspace *ws = arg;
	net_loop_timer_arm(ws->save_timer, SAVE_AFTER_MS);
}

static void open_remembered(struct workspace *ws)
{
	ws->save_timer = net_loop_timer_new(ws->loop, on_save, ws);
	ws->host.remembered = state_store_new(ws->opts.state_path);
	state_store_on_change(ws->host.remembered, on_remember, ws);
	const char *problem = state_store_problem(ws->host.remembered);
	if (*problem)
		view_host_notef(&ws->host, NOTE_WARNING, "%s", problem);
}

static void close_remembered(struct workspace *ws)
{
	state_store_save(ws->host.remembered, NULL);
	state_store_free(ws->host.remembered);
	net_loop_timer_free(ws->save_timer);
}

struct view_host *workspace_host(struct workspace *ws)
{
	return &ws->host;
}

/* ---- what it looks at */

const char *workspace_namespace(const struct workspace *ws)
{
	return ws->namespace_;
}

static void close_detail(void *arg, struct view *view)
{
	struct workspace *ws = arg;
	if (view->class == &view_detail)
		ws->host.ops->close(&ws->host, view);
}

/* The engine watches one namespace and is to watch another. Views of objects hold what belongs to the old one. */
static bool watch_other(struct workspace *ws, const char *name, struct err *err)
{
	if (views_actions_running(ws->host.actions))
		return err_set(
			err, ERR_OP_BUSY, "wait until the operations under way are done");
	workspace_tabs_each_view(ws, close_detail, ws);
	workspace_close_pending(ws);
	return engine_watch_namespace(ws->host.engine, name, err);
}

bool workspace_set_namespace(struct workspace *ws, const char *name, struct err *err)
{
	const char *watched = engine_namespace(ws->host.engine);
	if (*watched && strcmp(watched, name) != 0 && !watch_other(ws, name, err))
		return false;
	snprintf(ws->namespace_, sizeof ws->namespace_, "%s", name);
	workspace_dirty(ws);
	return true;
}

/* ---- life */

struct workspace *workspace_new(
	struct net_loop *loop, const struct workspace_opts *opts, struct err *err)
{
	struct workspace *ws = x_calloc(1, sizeof *ws);
	ws->loop = loop;
	ws->opts = *opts;
	ws->local_dir = opts->local_dir ? x_strdup(opts->local_dir) : getcwd(NULL, 0);
	if (!ws->local_dir)
		ws->local_dir = x_strdup("/");
	draw_theme_builtin(&ws->theme);
	ws->host.ops = &workspace_host_ops;
	ws->host.loop = loop;
	ws->host.engine = opts->engine;
	ws->host.theme = &ws->theme;
	ws->host.local_dir = ws->local_dir;
	ws->strip_rows = STRIP_ROWS;
	snprintf(ws->namespace_, sizeof ws->namespace_, "%s",
		engine_fleet(opts->engine) ? engine_namespace(opts->engine) : "");
	ws->note_timer = net_loop_timer_new(loop, on_note_over, ws);
	open_remembered(ws);
	ws->host.sessions = sessions_new(opts->engine);
	views_transfers_open(&ws->host);
	ws->host.actions = views_actions_new(&ws->host);
	ws->host.edits = views_edits_new(&ws->host);
	struct view_args none = { 0 };
	ws->strip = view_log.open(&ws->host, &none, err);
	if (!ws->strip || !workspace_tabs_open(ws, &view_sandboxes, &none, err)) {
		workspace_free(ws);
		return NULL;
	}
	engine_on_change(opts->engine, on_engine_change, ws);
	return ws;
}

void workspace_free(struct workspace *ws)
{
	if (!ws)
		return;
	engine_on_change(ws->opts.engine, NULL, NULL);
	transfer_queue_free(
		ws->host.copies); /* before the views: conflicts are told to nobody */
	views_actions_free(ws->host.actions);
	workspace_surprises_free(ws);
	workspace_tabs_free(ws);
	if (ws->strip)
		ws->strip->class->free(ws->strip);
	views_edits_free(ws->host.edits);
	sessions_free(ws->host.sessions);
	close_remembered(ws);
	net_loop_timer_free(ws->note_timer);
	free(ws->local_dir);
	free(ws);
}
