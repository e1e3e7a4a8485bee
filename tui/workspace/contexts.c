// SPDX-License-Identifier: Apache-2.0
// Contexts: an engine each, and what runs on it. A change to another one asks its server first: the present one stays where that does
// not answer. What is open in the old one lives on: panes, copies, sessions; its lists follow the new one.
#include "tui/workspace/internal.h"

#include "engine/base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct workspace_change {
	struct workspace *workspace;
	struct engine *engine;
	struct engine_object_call *ping;
};

static void on_engine_change(void *arg)
{
	struct workspace_context *context = arg;
	struct workspace *ws = context->workspace;
	uint64_t revision = engine_access_revision(context->host.engine);
	if (revision != context->rights_revision) /* hints and help show what may be done */
		workspace_dirty(ws);
	context->rights_revision = revision;
	struct engine_link link;
	bool is_linked = engine_link_of(context->host.engine, &link);
	if (is_linked && link.revision != context->link_revision) {
		context->link_revision = link.revision;
		workspace_dirty(ws); /* all that is shown changes its meaning */
	}
	ws->is_engine_telling = true;
	workspace_tabs_tell_changed(ws);
	ws->is_engine_telling = false;
}

/* ---- life */

struct workspace_context *workspace_context_new(
	struct workspace *ws, struct engine *engine, bool is_owned)
{
	struct workspace_context *context = x_calloc(1, sizeof *context);
	struct view_host *host = &context->host;
	context->workspace = ws;
	context->is_owned = is_owned;
	host->ops = ws->host_ops;
	host->loop = ws->loop;
	host->engine = engine;
	host->theme = ws->host ? ws->host->theme : &ws->theme;
	host->local_dir = ws->local_dir;
	host->remembered = ws->remembered;
	snprintf(context->namespace_, sizeof context->namespace_, "%s",
		engine_fleet(engine) ? engine_namespace(engine) : "");
	host->sessions = sessions_new(engine);
	views_transfers_open(host);
	host->actions = views_actions_new(host);
	host->edits = views_edits_new(host);
	engine_on_change(engine, on_engine_change, context);
	DL_APPEND(ws->contexts, context);
	return context;
}

static void context_end(struct workspace_context *context)
{
	engine_on_change(context->host.engine, NULL, NULL);
	transfer_queue_free(context->host.copies); /* conflicts are told to nobody */
	views_actions_free(context->host.actions);
}

static void context_free(struct workspace_context *context)
{
	DL_DELETE(context->workspace->contexts, context);
	views_edits_free(context->host.edits);
	sessions_free(context->host.sessions);
	if (context->is_owned)
		engine_free(context->host.engine);
	free(context);
}

static void change_free(struct workspace_change *change)
{
	if (!change)
		return;
	engine_object_cancel(change->ping);
	engine_free(change->engine);
	free(change);
}

void workspace_contexts_end(struct workspace *ws)
{
	struct workspace_context *context;
	change_free(ws->change);
	ws->change = NULL;
	DL_FOREACH(ws->contexts, context)
		context_end(context);
}

void workspace_contexts_free(struct workspace *ws)
{
	while (ws->contexts)
		context_free(ws->contexts);
}

struct users {
	const struct view_host *host;
	bool is_used;
};

static void look_at_view(void *arg, struct view *view)
{
	struct users *users = arg;
	users->is_used = users->is_used || view->host == users->host;
}

void workspace_contexts_sweep(struct workspace *ws)
{
	struct workspace_context *context, *next;
	DL_FOREACH_SAFE(ws->contexts, context, next) {
		struct users users = { &context->host, ws->host == &context->host };
		workspace_tabs_each_view(ws, look_at_view, &users);
		if (users.is_used || !context->is_owned ||
			sessions_count(context->host.sessions) ||
			transfer_queue_running(context->host.copies) ||
			views_actions_running(context->host.actions) ||
			engine_unfinished(context->host.engine))
			continue;
		context_end(context);
		context_free(context);
	}
}

/* ---- another one */

/* Pages and lists of the old one go: what they show is not what is looked at any more. */
static void close_of_old(void *arg, struct view *view)
{
	const struct view_host *old = arg;
	if (view->host == old &&
		(view->class == &view_detail || view->class == &view_resources ||
			view->class == &view_resource || view->class == &view_contexts))
		view->host->ops->close(view->host, view);
}

struct find_list {
	const struct view_host *host;
	struct view *found;
};

static void look_for_list(void *arg, struct view *view)
{
	struct find_list *find = arg;
	if (view->class == &view_sandboxes && view->host == find->host)
		find->found = view;
}

static bool replace_view(
	struct workspace *ws, struct view *old, const struct view_class *class, struct err *err)
{
	const struct view_args none = { 0 };
	struct view *view = class->open(ws->host, &none, err);
	if (view)
		workspace_tabs_replace(ws, old, view);
	return view != NULL;
}

static void switch_to(struct workspace *ws, struct workspace_context *context)
{
	struct view_host *old = ws->host;
	struct find_list list = { old, NULL };
	struct err err = { 0 };
	workspace_tabs_each_view(ws, look_for_list, &list);
	workspace_tabs_each_view(ws, close_of_old, old);
	ws->host = &context->host;
	bool ok = replace_view(ws, ws->strip, &view_log, &err) &&
		  (!list.found || replace_view(ws, list.found, &view_sandboxes, &err));
	if (!ok) { /* the list stays what it was */
		ws->host = old;
		view_host_failf(
			old, &err, "Cannot show %s", engine_context(context->host.engine));
		return;
	}
	workspace_tabs_select(ws, 0);
	view_host_notef(ws->host, NOTE_OK, "context %s", engine_context(ws->host->engine));
	workspace_dirty(ws);
}

/* From the loop: nothing of the engine is on the stack. */
static void on_refused(void *arg)
{
	change_free(arg);
}

static void on_ping(void *arg, const struct err *err, const struct cJSON *object)
{
	struct workspace_change *change = arg;
	struct workspace *ws = change->workspace;
	(void)object;
	change->ping = NULL;
	ws->change = NULL;
	/* one that may not ask for the version has been answered all the same */
	if (err && err->code != ERR_KUBE_FORBIDDEN && err->code != ERR_KUBE_NOT_FOUND) {
		view_host_failf(ws->host, err, "Cannot switch to %s; %s stays",
			engine_context(change->engine), engine_context(ws->host->engine));
		net_loop_defer(ws->loop, on_refused, change);
		return;
	}
	struct engine *engine = change->engine;
	free(change);
	switch_to(ws, workspace_context_new(ws, engine, true));
}

bool workspace_use_context(struct workspace *ws, const char *name, struct err *err)
{
	struct workspace_context *context;
	if (strcmp(name, engine_context(ws->host->engine)) == 0)
		return true;
	DL_FOREACH(ws->contexts, context) {
		if (strcmp(name, engine_context(context->host.engine)) != 0)
			continue;
		switch_to(ws, context);
		workspace_contexts_sweep(ws);
		return true;
	}
	if (ws->change)
		return err_set(err, ERR_OP_BUSY, "%s is being asked",
			engine_context(ws->change->engine));
	if (!ws->opts.open_engine)
		return err_set(err, ERR_OP_UNSUPPORTED, "there is no other context here");
	struct engine *engine = ws->opts.open_engine(ws->opts.arg, name, err);
	if (!engine)
		return false;
	struct workspace_change *change = x_calloc(1, sizeof *change);
	change->workspace = ws;
	change->engine = engine;
	change->ping = engine_ping_start(engine, on_ping, change, err);
	if (!change->ping) {
		change_free(change);
		return false;
	}
	ws->change = change;
	view_host_notef(ws->host, NOTE_INFO, "asking %s …", name);
	return true;
}

void workspace_view_title(const struct workspace *ws, const struct view *view, struct str *out)
{
	if (view->host != ws->host)
		str_addf(out, "%s: ", engine_context(view->host->engine));
	view->class->title(view, out);
}
