// SPDX-License-Identifier: Apache-2.0
// The words that mean the same in every view: tabs, panes, namespace, theme, quit.
#include "engine/base/num.h"
#include "tui/app/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMESPACES_MAX = 1000 };

static bool run_quit(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	app_ask_quit(self);
	return true;
}

static bool run_palette(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	app_prompt_open(self, PROMPT_COMMAND);
	return true;
}

static bool run_filter(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	struct view *view = app_focused(app);
	if (!view->class->filter)
		return err_set(
			err, ERR_OP_UNSUPPORTED, "%s cannot be filtered", view->class->name);
	if (*args)
		view->class->filter(view, args);
	else
		app_prompt_open(app, PROMPT_FILTER);
	return true;
}

static bool run_view(struct app *app, const char *name, struct err *err)
{
	struct view_args none = { 0 };
	return app_tabs_open(app, views_find(name), &none, err);
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

static bool run_log(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	if (strcmp(args, "strip") != 0)
		return run_view(app, "log", err);
	app->is_strip_on = !app->is_strip_on;
	app->is_strip_focused = false;
	app_frame_dirty(app);
	return true;
}

static bool run_back(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	(void)args;
	(void)err;
	struct view *view = app_focused(app);
	if (view->class == &view_sandboxes)
		app_ask_quit(app);
	else
		app_tabs_ask_close(app, view);
	return true;
}

static bool run_escape(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	(void)args;
	struct view *view = app_focused(app);
	const char *uids[2];
	if (view->class->filter_text && *view->class->filter_text(view)) {
		view->class->filter(view, "");
		return true;
	}
	if (view->class == &view_sandboxes) {
		if (view->class->targets(view, uids, 2) > 1)
			return app_command_run(app, "mark none", err);
		return true; /* Esc never quits */
	}
	return run_back(self, "", err);
}

static bool parse_way(const char *args, enum app_layout_way *way)
{
	static const char *const names[] = { "left", "right", "up", "down" };
	for (int i = 0; i < 4; i++)
		if (strcmp(args, names[i]) == 0) {
			*way = (enum app_layout_way)i;
			return true;
		}
	return false;
}

static bool run_focus(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	struct app_tab *tab = app_tab(app);
	enum app_layout_way way;
	bool forward = strcmp(args, "next") == 0;
	if (forward || strcmp(args, "previous") == 0) {
		/* the strip is the last pane of every tab */
		struct app_layout *next = app_layout_next(tab->root, tab->focus, forward);
		bool wraps = next == app_layout_next(tab->root, tab->root, forward) ||
			     next == tab->focus;
		if (app->is_strip_on && wraps && !app->is_strip_focused) {
			app->is_strip_focused = true;
			app_frame_dirty(app);
			return true;
		}
		app_tabs_focus(app, next);
		return true;
	}
	if (!parse_way(args, &way))
		return err_set(
			err, ERR_ARG_INVALID, "focus next, previous, left, right, up or down");
	struct app_layout *leaf = app_layout_toward(tab->root, tab->focus, way);
	if (leaf)
		app_tabs_focus(app, leaf);
	return true;
}

static bool run_grow(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	enum app_layout_way way;
	if (!parse_way(args, &way))
		return err_set(err, ERR_ARG_INVALID, "grow left, right, up or down");
	app_layout_grow(app_tab(app)->root, app_tab(app)->focus, way, 2);
	app_frame_dirty(app);
	return true;
}

static bool run_split(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	enum app_layout_way way;
	if (!parse_way(args, &way) || way == LAYOUT_LEFT || way == LAYOUT_UP)
		return err_set(err, ERR_ARG_INVALID, "split right or down");
	struct view *view = app_focused(app);
	const char *uid = NULL;
	size_t n = view->class->targets ? view->class->targets(view, &uid, 1) : 0;
	if (!n && engine_fleet(app->host.engine))
		return err_set(err, ERR_ARG_INVALID, "no sandbox is selected");
	char *kept = n && uid ? x_strdup(uid) : NULL;
	struct view_args opts = { .uid = kept };
	bool ok = app_tabs_split(app, way, &view_shell, &opts, err);
	free(kept);
	return ok;
}

static bool run_zoom(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	(void)args;
	(void)err;
	app_tab(app)->is_zoomed = !app_tab(app)->is_zoomed;
	app_tabs_tell_changed(app);
	app_frame_dirty(app);
	return true;
}

static bool run_tab(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	int64_t number;
	if (strcmp(args, "next") == 0)
		app_tabs_select(app, (app->current + 1) % app->n_tabs);
	else if (strcmp(args, "previous") == 0)
		app_tabs_select(app, (app->current + app->n_tabs - 1) % app->n_tabs);
	else if (num_parse_i64(args, 1, TABS_MAX, &number) && (size_t)number <= app->n_tabs)
		app_tabs_select(app, (size_t)number - 1);
	else
		return err_set(err, ERR_ARG_INVALID, "there is no tab '%s'", args);
	return true;
}

static bool run_close(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	(void)args;
	(void)err;
	app_tabs_ask_close(app, app_focused(app));
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The nth namespace that has sandboxes, in order of name. */
static bool nth_namespace(struct app *app, size_t nth, char out[NAMESPACE_BYTES])
{
	struct fleet *fleet = engine_fleet(app->host.engine);
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
		snprintf(out, NAMESPACE_BYTES, "%s", names[nth]);
	free(names);
	return found;
}

static void close_detail(void *arg, struct view *view)
{
	struct app *app = arg;
	if (view->class == &view_detail)
		app->host.ops->close(&app->host, view);
}

/* The engine watches one namespace and is to watch another. Views of objects hold what belongs to the old one. */
static bool watch_other(struct app *app, const char *name, struct err *err)
{
	if (views_actions_running(app->host.actions))
		return err_set(
			err, ERR_OP_BUSY, "wait until the operations under way are done");
	app_tabs_each_view(app, close_detail, app);
	app_close_pending(app);
	return engine_watch_namespace(app->host.engine, name, err);
}

static bool run_namespace(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	char name[NAMESPACE_BYTES];
	int64_t number;
	if (!engine_fleet(app->host.engine))
		return err_set(err, ERR_OP_UNSUPPORTED, "a direct URL has no namespaces");
	if (!*args)
		return err_set(err, ERR_ARG_INVALID, "namespace NAME, all, or a number");
	if (strcmp(args, "all") == 0)
		name[0] = 0;
	else if (num_parse_i64(args, 1, 9, &number)) {
		if (!nth_namespace(app, (size_t)number - 1, name))
			return err_set(err, ERR_ARG_INVALID,
				fleet_is_synced(engine_fleet(app->host.engine))
					? "there are not that many namespaces"
					: "the sandboxes have not been read yet");
	} else {
		snprintf(name, sizeof name, "%s", args);
	}
	const char *watched = engine_namespace(app->host.engine);
	if (*watched && strcmp(watched, name) != 0 && !watch_other(app, name, err))
		return false;
	snprintf(app->namespace_, sizeof app->namespace_, "%s", name);
	view_host_notef(
		&app->host, NOTE_INFO, *name ? "namespace %s" : "all namespaces%s", name);
	app_frame_dirty(app);
	return true;
}

static bool run_redraw(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	(void)args;
	(void)err;
	if (app->screen)
		draw_screen_repaint(app->screen);
	app_frame_dirty(app);
	return true;
}

static bool run_resync(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	(void)args;
	struct fleet *fleet = engine_fleet(app->host.engine);
	if (!fleet)
		return err_set(err, ERR_OP_UNSUPPORTED, "there is nothing to list");
	fleet_resync(fleet);
	engine_kinds_resync(app->host.engine);
	engine_access_reviews_forget(app->host.engine);
	view_host_notef(&app->host, NOTE_INFO, "listing everything again");
	return true;
}

static bool run_theme(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	if (!*args)
		return err_set(
			err, ERR_ARG_INVALID, "theme NAME; it is %s now", app->theme.name);
	if (!draw_theme_load(&app->theme, args, err))
		return false;
	free(app->theme_name);
	app->theme_name = x_strdup(args);
	app_frame_dirty(app);
	return true;
}

static bool run_mouse(void *self, const char *args, struct err *err)
{
	struct app *app = self;
	if (strcmp(args, "on") == 0)
		app->is_mouse_on = true;
	else if (strcmp(args, "off") == 0)
		app->is_mouse_on = false;
	else if (strcmp(args, "toggle") == 0)
		app->is_mouse_on = !app->is_mouse_on;
	else
		return err_set(err, ERR_ARG_INVALID, "mouse on, off or toggle");
	app->is_every_motion = false;
	if (app->tty)
		draw_terminal_send(app->tty, slice_of(draw_screen_mouse_bytes(
						     app->screen, app->is_mouse_on, false)));
	view_host_notef(&app->host, NOTE_INFO,
		app->is_mouse_on ? "the mouse is ours (Shift selects)"
				 : "the mouse is the terminal's: select as usual");
	return true;
}

static bool run_answer(void *self, const char *args, struct err *err)
{
	(void)args;
	return app_surprise_turn_to(self) ||
	       err_set(err, ERR_ARG_INVALID, "no question is waiting for an answer");
}

static bool run_backend(void *self, const char *args, struct err *err)
{
	if (strcmp(args, "start") != 0)
		return err_set(err, ERR_ARG_INVALID, "backend start");
	return app_link_row_start(self, err);
}

static bool run_stop(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	app_session_stop(self);
	return true;
}

const struct view_command app_commands[] = {
	{ "help", "", "all keys and commands", run_help },
	{ "sandboxes", "", "the list of sandboxes", run_sandboxes },
	{ "copies", "", "running and finished copies", run_copies },
	{ "log", "[strip]", "spans and log lines, in a tab or as a strip", run_log },
	{ "namespace", "NAME|all|1…9", "look at one namespace or all", run_namespace },
	{ "filter", "[TEXT]", "show only what has these words", run_filter },
	{ "palette", "", "type a command", run_palette },
	{ "split", "right|down", "another shell in the same sandbox, beside or below",
		run_split },
	{ "zoom", "", "this pane alone, or all again", run_zoom },
	{ "close", "", "close this pane", run_close },
	{ "back", "", "close this view; in the list: quit", run_back },
	{ "escape", "", "clear filter and marks, then close this view", run_escape },
	{ "tab", "next|previous|N", "another tab", run_tab },
	{ "focus", "next|previous|left|right|up|down", "another pane", run_focus },
	{ "grow", "left|right|up|down", "move a border of this pane", run_grow },
	{ "theme", "NAME", "other colours", run_theme },
	{ "mouse", "on|off|toggle", "use the mouse, or leave it to the terminal", run_mouse },
	{ "answer", "", "turn to the question that waits for an answer", run_answer },
	{ "backend", "start", "start the backend on this machine again", run_backend },
	{ "redraw", "", "paint the whole screen again", run_redraw },
	{ "resync", "", "list everything again", run_resync },
	{ "stop", "", "suspend sandmux to the shell (fg comes back)", run_stop },
	{ "quit", "", "quit (asks while shells or copies are running)", run_quit },
};
const size_t app_n_app_commands = sizeof app_commands / sizeof app_commands[0];
