// SPDX-License-Identifier: Apache-2.0
// The words that mean the same in every view: tabs, panes, namespace, theme, quit.
#include "tui/app/internal.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "tui/views/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMESPACES_MAX = 1000 };

static struct workspace *workspace_of_self(void *self)
{
	return ((struct workspace_client *)self)->workspace;
}

static bool run_quit(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	workspace_ask_quit(workspace_of_self(self));
	return true;
}

static bool run_palette(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	client_prompt_open(client_of(self), PROMPT_COMMAND);
	return true;
}

static bool run_view(void *self, const char *name, struct err *err)
{
	struct view_args none = { 0 };
	return workspace_tabs_open(workspace_of_self(self), views_find(name), &none, err);
}

static bool run_help(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_view(self, "help", err);
}

static bool run_sandboxes(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_view(self, "sandboxes", err);
}

static bool run_copies(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_view(self, "copies", err);
}

static bool run_bulk(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_view(self, "bulk", err);
}

static bool run_log(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	if (strcmp(args, "strip") != 0)
		return run_view(self, "log", err);
	workspace_show_strip(ws);
	return true;
}

static bool run_back(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	(void)args;
	(void)err;
	struct view *view = workspace_focused(ws);
	if (view->class == &view_sandboxes)
		workspace_ask_quit(ws);
	else
		workspace_tabs_ask_close(ws, view);
	return true;
}

static bool run_escape(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	(void)args;
	struct view *view = workspace_focused(ws);
	const char *uids[2];
	if (view->class->filter_text && *view->class->filter_text(view)) {
		view->class->filter(view, "");
		return true;
	}
	if (view->class->escape && view->class->escape(view))
		return true;
	if (view->class == &view_sandboxes) {
		if (view->class->targets(view, uids, 2) > 1)
			return workspace_command_run(ws, "mark none", err);
		return true; /* Esc never quits */
	}
	return run_back(self, "", err);
}

static bool parse_way(const char *args, enum workspace_layout_way *way)
{
	static const char *const names[] = { "left", "right", "up", "down" };
	for (int i = 0; i < 4; i++)
		if (strcmp(args, names[i]) == 0) {
			*way = (enum workspace_layout_way)i;
			return true;
		}
	return false;
}

static bool run_focus(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	enum workspace_layout_way way;
	bool forward = strcmp(args, "next") == 0;
	if (forward || strcmp(args, "previous") == 0)
		workspace_focus_next(ws, forward);
	else if (parse_way(args, &way))
		workspace_focus_toward(ws, way);
	else
		return err_set(
			err, ERR_ARG_INVALID, "focus next, previous, left, right, up or down");
	return true;
}

static bool run_grow(void *self, const char *args, struct err *err)
{
	enum workspace_layout_way way;
	if (!parse_way(args, &way))
		return err_set(err, ERR_ARG_INVALID, "grow left, right, up or down");
	workspace_grow(workspace_of_self(self), way);
	return true;
}

static bool run_split(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	enum workspace_layout_way way;
	if (!parse_way(args, &way) || way == LAYOUT_LEFT || way == LAYOUT_UP)
		return err_set(err, ERR_ARG_INVALID, "split right or down");
	struct view *view = workspace_focused(ws);
	const char *uid = NULL;
	size_t n = view->class->targets ? view->class->targets(view, &uid, 1) : 0;
	if (!n && engine_fleet(workspace_host(ws)->engine))
		return err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
	char *kept = n && uid ? x_strdup(uid) : NULL;
	struct view_args opts = { .uid = kept };
	bool ok = workspace_tabs_split(ws, way, &view_shell, &opts, err);
	free(kept);
	return ok;
}

static bool run_zoom(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	workspace_zoom(workspace_of_self(self));
	return true;
}

static bool run_tab(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	size_t n = workspace_n_tabs(ws);
	int64_t number;
	if (strcmp(args, "next") == 0)
		workspace_tabs_select(ws, (workspace_current(ws) + 1) % n);
	else if (strcmp(args, "previous") == 0)
		workspace_tabs_select(ws, (workspace_current(ws) + n - 1) % n);
	else if (num_parse_i64(args, 1, (int64_t)n, &number))
		workspace_tabs_select(ws, (size_t)number - 1);
	else
		return err_set(err, ERR_ARG_INVALID, "there is no tab '%s'", args);
	return true;
}

static bool run_close(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	(void)args;
	(void)err;
	workspace_tabs_ask_close(ws, workspace_focused(ws));
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The nth namespace that has sandboxes, in order of name. */
static bool nth_namespace(struct fleet *fleet, size_t nth, char out[WORKSPACE_NAMESPACE_BYTES])
{
	const char **names = x_calloc(NAMESPACES_MAX, sizeof *names);
	size_t n = 0;
	for (size_t i = 0; i < fleet_count(fleet) && n < NAMESPACES_MAX; i++) {
		const char *name = fleet_at(fleet, i)->namespace_;
		size_t k = 0;
		while (k < n && strcmp(names[k], name) != 0)
			k++;
		if (k == n)
			names[n++] = name;
	}
	qsort(names, n, sizeof *names, by_text);
	bool found = nth < n;
	if (found)
		snprintf(out, WORKSPACE_NAMESPACE_BYTES, "%s", names[nth]);
	free(names);
	return found;
}

static bool run_namespace(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	struct fleet *fleet = engine_fleet(workspace_host(ws)->engine);
	char name[WORKSPACE_NAMESPACE_BYTES];
	int64_t number;
	if (!fleet)
		return err_set(err, ERR_OP_UNSUPPORTED, "a direct URL has no namespaces");
	if (!*args) /* which ones there are */
		return workspace_command_run(ws, "namespaces", err);
	if (strcmp(args, "all") == 0)
		name[0] = 0;
	else if (num_parse_i64(args, 1, 9, &number)) {
		if (!nth_namespace(fleet, (size_t)number - 1, name))
			return err_set(err, ERR_ARG_INVALID,
				fleet_is_synced(fleet)
					? "there are not that many namespaces"
					: "the sandboxes have not been read yet");
	} else {
		snprintf(name, sizeof name, "%s", args);
	}
	if (!workspace_set_namespace(ws, name, err))
		return false;
	view_host_notef(workspace_host(ws), NOTE_INFO,
		*name ? "namespace %s" : "all namespaces%s", name);
	return true;
}

static void complete_namespace(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	struct fleet *fleet = engine_fleet(workspace_host(workspace_of_self(self))->engine);
	char name[WORKSPACE_NAMESPACE_BYTES];
	(void)args;
	add(add_arg, "all");
	for (size_t i = 0; fleet && nth_namespace(fleet, i, name); i++)
		add(add_arg, name);
}

static void complete_theme(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	(void)self;
	(void)args;
	add(add_arg, "auto");
	draw_theme_each(add, add_arg);
}

static void complete_context(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	const struct engine *engine = workspace_host(workspace_of_self(self))->engine;
	struct kube_contexts *all = kube_contexts_read(engine_kubeconfig(engine), NULL);
	(void)args;
	for (size_t i = 0; all && i < kube_contexts_count(all); i++)
		add(add_arg, kube_contexts_at(all, i)->name);
	kube_contexts_free(all);
	add(add_arg, ENGINE_LOCAL_CONTEXT);
}

static bool run_context(void *self, const char *args, struct err *err)
{
	return *args ? workspace_use_context(workspace_of_self(self), args, err)
		     : run_view(self, "contexts", err);
}

static bool run_redraw(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	client_repaint(client_of(self));
	return true;
}

static bool run_resync(void *self, const char *args, struct err *err)
{
	struct workspace *ws = workspace_of_self(self);
	(void)args;
	struct fleet *fleet = engine_fleet(workspace_host(ws)->engine);
	if (!fleet)
		return err_set(err, ERR_OP_UNSUPPORTED, "there is nothing to list");
	fleet_resync(fleet);
	engine_kinds_resync(workspace_host(ws)->engine);
	engine_access_forget(workspace_host(ws)->engine);
	view_host_notef(workspace_host(ws), NOTE_INFO, "listing everything again");
	return true;
}

static bool run_theme(void *self, const char *args, struct err *err)
{
	struct client *client = client_of(self);
	if (!*args)
		return err_set(
			err, ERR_ARG_INVALID, "theme NAME; it is %s now", client_theme(client));
	return client_set_theme(client, args, err);
}

static bool run_mouse(void *self, const char *args, struct err *err)
{
	struct client *client = client_of(self);
	if (strcmp(args, "on") == 0)
		client_set_mouse(client, true);
	else if (strcmp(args, "off") == 0)
		client_set_mouse(client, false);
	else if (strcmp(args, "toggle") == 0)
		client_set_mouse(client, !client_has_mouse(client));
	else
		return err_set(err, ERR_ARG_INVALID, "mouse on, off or toggle");
	view_host_notef(workspace_host(workspace_of_self(self)), NOTE_INFO,
		client_has_mouse(client) ? "the mouse is ours (Shift selects)"
					 : "the mouse is the terminal's: select as usual");
	return true;
}

static bool run_answer(void *self, const char *args, struct err *err)
{
	(void)args;
	return client_surprise_turn_to(client_of(self)) ||
	       err_set(err, ERR_ARG_INVALID, "no question is waiting for an answer");
}

static bool run_backend(void *self, const char *args, struct err *err)
{
	if (strcmp(args, "start") != 0)
		return err_set(err, ERR_ARG_INVALID, "backend start");
	return workspace_start_backend(workspace_of_self(self), err);
}

static bool run_stop(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	client_stop(client_of(self));
	return true;
}

const struct view_command app_commands[] = {
	{ "help", "", "all keys and commands", .run = run_help },
	{ "sandboxes", "", "the list of sandboxes", .run = run_sandboxes },
	{ "copies", "", "running and finished copies", .run = run_copies },
	{ "bulk", "", "what is done, or was, to several sandboxes: each, and what failed",
		.run = run_bulk },
	{ "log", "[strip]", "spans and log lines, in a tab or as a strip", .run = run_log },
	{ "namespace", "NAME|all|1…9", "look at one namespace or all", .run = run_namespace,
		.complete = complete_namespace, .aliases = "ns" },
	{ "context", "[NAME]", "another context of the kubeconfig, or the list of them",
		.run = run_context, .complete = complete_context, .aliases = "ctx contexts" },
	{ "filter", "[TEXT|NAME|save NAME|forget NAME|list]",
		"show only what fits; keep a filter by a name", .run = app_run_filter,
		.complete = app_complete_filter },
	{ "palette", "", "type a command", .run = run_palette },
	{ "split", "right|down", "another shell in the same sandbox, beside or below",
		.run = run_split, .has_right = true, .right = ACCESS_SHELL },
	{ "zoom", "", "this pane alone, or all again", .run = run_zoom },
	{ "close", "", "close this pane", .run = run_close, .is_lone = true },
	{ "back", "", "close this view; in the list: quit", .run = run_back },
	{ "escape", "", "clear filter and marks, then close this view", .run = run_escape },
	{ "tab", "next|previous|N", "another tab", .run = run_tab },
	{ "focus", "next|previous|left|right|up|down", "another pane", .run = run_focus },
	{ "grow", "left|right|up|down", "move a border of this pane", .run = run_grow },
	{ "theme", "NAME|auto", "other colours; auto: what suits the terminal",
		.run = run_theme, .complete = complete_theme },
	{ "mouse", "on|off|toggle", "use the mouse, or leave it to the terminal",
		.run = run_mouse },
	{ "answer", "", "turn to the question that waits for an answer", .run = run_answer },
	{ "backend", "start", "start the backend on this machine again", .run = run_backend },
	{ "redraw", "", "paint the whole screen again", .run = run_redraw },
	{ "resync", "", "list everything again", .run = run_resync },
	{ "stop", "", "suspend sandmux to the shell (fg comes back)", .run = run_stop },
	{ "quit", "", "quit (asks while shells or copies are running)", .run = run_quit,
		.aliases = "q q!" },
};
const size_t app_n_commands = sizeof app_commands / sizeof app_commands[0];

const char *app_command_help(const char *line)
{
	size_t n = strcspn(line, " ");
	for (size_t i = 0; i < app_n_commands; i++)
		if (strlen(app_commands[i].name) == n &&
			strncmp(app_commands[i].name, line, n) == 0)
			return app_commands[i].help;
	return workspace_command_help(line);
}
