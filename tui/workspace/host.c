// SPDX-License-Identifier: Apache-2.0
// What views ask of the application (struct view_host), answered.
#include "tui/workspace/internal.h"

static void on_host_dirty(struct view_host *host)
{
	workspace_dirty(workspace_of(host));
}

static void on_host_run(struct view_host *host, const char *command)
{
	workspace_command_try(workspace_of(host), command);
}

static void on_host_dialog(struct view_host *host, struct widget_dialog *dialog)
{
	workspace_push_dialog(workspace_of(host), dialog);
}

static void on_host_note(struct view_host *host, enum view_note_level level, const char *text)
{
	workspace_set_note(workspace_of(host), level, text);
}

static void on_host_fail(struct view_host *host, const char *what, const struct err *err)
{
	workspace_fail(workspace_of(host), what, err);
}

static void on_host_open(struct view_host *host, const char *name, const struct view_args *args)
{
	struct err err;
	if (!workspace_tabs_open_in(workspace_of(host), host, views_find(name), args, &err))
		view_host_failf(host, &err, "Cannot open %s", name);
}

void workspace_close_pending(struct workspace *ws)
{
	while (ws->n_closing)
		workspace_tabs_close_view(ws, ws->closing[--ws->n_closing]);
	workspace_contexts_sweep(ws);
}

static void close_deferred(void *arg)
{
	struct workspace *ws = arg;
	ws->is_closing_deferred = false;
	workspace_close_pending(ws);
}

static void on_host_close(struct view_host *host, struct view *view)
{
	struct workspace *ws = workspace_of(host);
	for (size_t i = 0; i < ws->n_closing; i++)
		if (ws->closing[i] == view)
			return;
	if (ws->n_closing == sizeof ws->closing / sizeof ws->closing[0])
		return;
	ws->closing[ws->n_closing++] = view;
	if (!ws->is_closing_deferred)
		net_loop_defer(ws->loop, close_deferred, ws);
	ws->is_closing_deferred = true;
}

static void on_host_copy_text(struct view_host *host, struct slice text)
{
	struct workspace_client *latest = workspace_of(host)->latest;
	if (latest)
		latest->ops->copy_text(latest, text);
}

static const char *on_host_namespace(const struct view_host *host)
{
	return workspace_context_of(host)->namespace_;
}

static bool on_host_use_context(struct view_host *host, const char *name, struct err *err)
{
	return workspace_use_context(workspace_of(host), name, err);
}

struct session_place {
	const struct session *session;
	const struct view *by;
};

static void look_for_session(void *arg, struct view *view)
{
	struct session_place *shown = arg;
	if (!shown->by && view->class->session && view->class->session(view) == shown->session)
		shown->by = view;
}

static size_t on_host_tab_of(const struct view_host *host, const struct session *session)
{
	struct workspace *ws = workspace_of(host);
	struct session_place shown = { session, NULL };
	workspace_tabs_each_view(ws, look_for_session, &shown);
	return shown.by ? workspace_tabs_number_of(ws, shown.by) : 0;
}

static uint64_t on_host_input_serial(const struct view_host *host)
{
	return workspace_of(host)->input_serial;
}

const struct view_host_ops workspace_host_ops = {
	.dirty = on_host_dirty,
	.run = on_host_run,
	.push_dialog = on_host_dialog,
	.note = on_host_note,
	.fail = on_host_fail,
	.open = on_host_open,
	.close = on_host_close,
	.copy_text = on_host_copy_text,
	.use_context = on_host_use_context,
	.tab_of = on_host_tab_of,
	.namespace_ = on_host_namespace,
	.each_command = workspace_command_each,
	.input_serial = on_host_input_serial,
	.can = workspace_command_can_in,
	.scope_before = workspace_command_scope_before,
};
