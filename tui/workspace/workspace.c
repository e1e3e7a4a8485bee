// SPDX-License-Identifier: Apache-2.0
// The life of a workspace, and what the engine tells it.
#include "tui/workspace/internal.h"

#include "engine/base/state_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRIP_ROWS = 6, SAVE_AFTER_MS = 1000 };

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
	if (!state_store_save(ws->remembered, &err))
		view_host_notef(ws->host, NOTE_WARNING, "not remembered: %s", err.msg);
}

static void on_remember(void *arg)
{
	struct workspace *ws = arg;
	net_loop_timer_arm(ws->save_timer, SAVE_AFTER_MS);
}

static void open_remembered(struct workspace *ws)
{
	ws->save_timer = net_loop_timer_new(ws->loop, on_save, ws);
	ws->remembered = state_store_new(ws->opts.state_path);
	state_store_on_change(ws->remembered, on_remember, ws);
	const char *problem = state_store_problem(ws->remembered);
	if (*problem)
		workspace_set_note(ws, NOTE_WARNING, problem);
}

static void close_remembered(struct workspace *ws)
{
	state_store_save(ws->remembered, NULL);
	state_store_free(ws->remembered);
	net_loop_timer_free(ws->save_timer);
}

struct view_host *workspace_host(struct workspace *ws)
{
	return ws->host;
}

/* ---- what it looks at */

const char *workspace_namespace(const struct workspace *ws)
{
	return workspace_context_of(ws->host)->namespace_;
}

static void close_detail(void *arg, struct view *view)
{
	struct workspace *ws = arg;
	if (view->class == &view_detail)
		ws->host->ops->close(ws->host, view);
}

/* The engine watches one namespace and is to watch another. Views of objects hold what belongs to the old one. */
static bool watch_other(struct workspace *ws, const char *name, struct err *err)
{
	if (views_actions_running(ws->host->actions))
		return err_set(
			err, ERR_OP_BUSY, "wait until the operations under way are done");
	workspace_tabs_each_view(ws, close_detail, ws);
	workspace_close_pending(ws);
	return engine_watch_namespace(ws->host->engine, name, err);
}

bool workspace_set_namespace(struct workspace *ws, const char *name, struct err *err)
{
	const char *watched = engine_namespace(ws->host->engine);
	if (*watched && strcmp(watched, name) != 0 && !watch_other(ws, name, err))
		return false;
	struct workspace_context *now = workspace_context_of(ws->host);
	snprintf(now->namespace_, sizeof now->namespace_, "%s", name);
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
	ws->strip_rows = STRIP_ROWS;
	ws->note_timer = net_loop_timer_new(loop, on_note_over, ws);
	open_remembered(ws);
	ws->host_ops = &workspace_host_ops;
	ws->host = &workspace_context_new(ws, opts->engine, false)->host;
	struct view_args none = { 0 };
	ws->strip = view_log.open(ws->host, &none, err);
	if (!ws->strip || !workspace_tabs_open(ws, &view_sandboxes, &none, err)) {
		workspace_free(ws);
		return NULL;
	}
	return ws;
}

void workspace_free(struct workspace *ws)
{
	if (!ws)
		return;
	workspace_contexts_end(ws);
	workspace_surprises_free(ws);
	workspace_tabs_free(ws);
	if (ws->strip)
		ws->strip->class->free(ws->strip);
	workspace_contexts_free(ws);
	close_remembered(ws);
	net_loop_timer_free(ws->note_timer);
	free(ws->local_dir);
	free(ws);
}
