// SPDX-License-Identifier: Apache-2.0
// The application: made from an engine, attached to a terminal, detached again; dialogs, notes, quitting.
#include "engine/base/clock.h"
#include "tui/app/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE_CELLS = 200000 };

struct app *app_of(const struct view_host *host)
{
	return (struct app *)(uintptr_t)host;
}

struct app_tab *app_tab(const struct app *app)
{
	return app->tabs[app->current];
}

struct view *app_focused(const struct app *app)
{
	if (app->is_strip_on && app->is_strip_focused)
		return app->strip;
	return app_layout_data(app_tab(app)->focus);
}

/* ---- what views ask for */

static void on_host_dirty(struct view_host *host)
{
	app_frame_dirty(app_of(host));
}

static void on_host_run(struct view_host *host, const char *command)
{
	app_command_try(app_of(host), command);
}

static void on_host_dialog(struct view_host *host, struct widget_dialog *dialog)
{
	app_push_dialog(app_of(host), dialog);
}

static void on_host_note(struct view_host *host, enum view_note_level level, const char *text)
{
	struct app *app = app_of(host);
	snprintf(app->note, sizeof app->note, "%s", text);
	app->note_level = level;
	net_loop_timer_arm(app->note_timer, NOTE_MS);
	app_frame_dirty(app);
}

static void on_host_fail(struct view_host *host, const char *what, const struct err *err)
{
	app_fail(app_of(host), what, err);
}

static void on_host_open(struct view_host *host, const char *name, const struct view_args *args)
{
	struct err err;
	if (!app_tabs_open(app_of(host), views_find(name), args, &err))
		view_host_failf(host, &err, "Cannot open %s", name);
}

void app_close_pending(struct app *app)
{
	while (app->n_closing)
		app_tabs_close_view(app, app->closing[--app->n_closing]);
}

static void close_deferred(void *arg)
{
	struct app *app = arg;
	app->is_closing_deferred = false;
	app_close_pending(app);
}

static void on_host_close(struct view_host *host, struct view *view)
{
	struct app *app = app_of(host);
	for (size_t i = 0; i < app->n_closing; i++)
		if (app->closing[i] == view)
			return;
	if (app->n_closing == sizeof app->closing / sizeof app->closing[0])
		return;
	app->closing[app->n_closing++] = view;
	if (!app->is_closing_deferred)
		net_loop_defer(app->loop, close_deferred, app);
	app->is_closing_deferred = true;
}

static void on_host_copy_text(struct view_host *host, struct slice text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	enum { CLIP_BYTES_MAX = 75000 }; /* what terminals take in one OSC 52 */
	struct app *app = app_of(host);
	if (!app->tty)
		return;
	if (text.n > CLIP_BYTES_MAX) {
		view_host_notef(host, NOTE_WARNING,
			"%zu bytes are more than a terminal's clipboard takes", text.n);
		return;
	}
	struct str out;
	str_init(&out, 2 * CLIP_BYTES_MAX);
	str_add(&out, "\033]52;c;");
	for (size_t i = 0; i < text.n; i += 3) {
		unsigned a = (unsigned char)text.p[i];
		unsigned b = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
		unsigned c = i + 2 < text.n ? (unsigned char)text.p[i + 2] : 0;
		str_add_char(&out, digits[a >> 2]);
		str_add_char(&out, digits[(a & 3) << 4 | b >> 4]);
		str_add_char(&out, i + 1 < text.n ? digits[(b & 15) << 2 | c >> 6] : '=');
		str_add_char(&out, i + 2 < text.n ? digits[c & 63] : '=');
	}
	str_add(&out, "\a");
	draw_terminal_send(app->tty, (struct slice){ out.p, out.n });
	str_deinit(&out);
}

static const char *on_host_namespace(const struct view_host *host)
{
	return app_of(host)->namespace_;
}

static uint64_t on_host_input_serial(const struct view_host *host)
{
	return app_of(host)->input_serial;
}

static const struct view_host_ops host_ops = {
	.dirty = on_host_dirty,
	.run = on_host_run,
	.push_dialog = on_host_dialog,
	.note = on_host_note,
	.fail = on_host_fail,
	.open = on_host_open,
	.close = on_host_close,
	.copy_text = on_host_copy_text,
	.namespace_ = on_host_namespace,
	.each_command = app_command_each,
	.input_serial = on_host_input_serial,
	.can = app_command_can_in,
};

/* ---- dialogs */

void app_push_dialog(struct app *app, struct widget_dialog *dialog)
{
	bool is_awaited = widget_dialog_serial(dialog) &&
			  widget_dialog_serial(dialog) == app->input_serial &&
			  clock_mono_ms() - app->last_input_ms < AWAITED_MS;
	if (!app->n_handling && !is_awaited) {
		app_surprise_push(app, dialog);
		return;
	}
	app_drag_end(app, false);
	app->is_prefix = false;
	if (app->n_dialogs ==
		DIALOGS_MAX) { /* so many questions: the newest is taken as cancelled */
		widget_dialog_answer(dialog);
		widget_dialog_free(dialog);
		return;
	}
	app->dialogs[app->n_dialogs++] = dialog;
	app_frame_dirty(app);
}

void app_pop_dialog(struct app *app)
{
	struct widget_dialog *dialog = app->dialogs[--app->n_dialogs];
	app_frame_dirty(app);
	widget_dialog_answer(dialog); /* may push others */
	widget_dialog_free(dialog);
}

void app_drop_dialogs(struct app *app, const void *owner)
{
	size_t kept = 0;
	for (size_t i = 0; i < app->n_dialogs; i++)
		if (widget_dialog_owner(app->dialogs[i]) == owner)
			widget_dialog_free(app->dialogs[i]);
		else
			app->dialogs[kept++] = app->dialogs[i];
	app->n_dialogs = kept;
	app_surprise_drop(app, owner);
}

void app_fail(struct app *app, const char *what, const struct err *err)
{
	struct widget_dialog *dialog = widget_dialog_new(what, NULL, NULL, NULL);
	widget_dialog_set_error(dialog, true);
	widget_dialog_add_text(dialog, err->msg);
	const char *hint = err_hint(err);
	if (hint && *hint)
		widget_dialog_add_textf(dialog, "Next: %s.", hint);
	widget_dialog_add_textf(dialog, "(%s)", err_name(err));
	widget_dialog_add_button(dialog, "&OK");
	app_push_dialog(app, dialog);
}

/* ---- quitting */

void app_quit_now(struct app *app)
{
	if (app->is_quitting)
		return;
	app->is_quitting = true;
	if (app->opts.on_quit)
		app->opts.on_quit(app->opts.arg);
}

static void on_quit_answered(void *arg, struct widget_dialog *dialog, int button)
{
	(void)dialog;
	if (button == 0)
		app_quit_now(arg);
}

struct busy_list {
	struct widget_dialog *dialog;
	size_t n;
};

static void add_busy(void *arg, struct view *view)
{
	struct busy_list *list = arg;
	struct str text;
	str_init(&text, 256);
	const char *why = view->class->busy ? view->class->busy(view, &text) : NULL;
	if (why && list->n++ < 8)
		widget_dialog_add_textf(list->dialog, "  %s", why);
	str_deinit(&text);
}

void app_ask_quit(struct app *app)
{
	struct busy_list list = { widget_dialog_new("Quit?", on_quit_answered, app, NULL), 0 };
	app_tabs_each_view(app, add_busy, &list);
	size_t copies = transfer_queue_running(app->host.copies);
	size_t actions = views_actions_running(app->host.actions);
	if (copies)
		widget_dialog_add_textf(list.dialog, "  %zu cop%s not finished", copies,
			copies == 1 ? "y is" : "ies are");
	if (actions)
		widget_dialog_add_textf(list.dialog, "  %zu operation%s not finished", actions,
			actions == 1 ? " is" : "s are");
	if (!list.n && !copies && !actions) {
		widget_dialog_free(list.dialog);
		app_quit_now(app);
		return;
	}
	widget_dialog_add_text(list.dialog, "Quitting ends these. No sandbox is deleted.");
	widget_dialog_add_button(list.dialog, "&Quit");
	widget_dialog_add_button(list.dialog, "&Stay");
	widget_dialog_focus_button(list.dialog, 1);
	app_push_dialog(app, list.dialog);
}

/* ---- terminal */

static void on_bytes(void *arg, struct slice bytes)
{
	struct app *app = arg;
	app->last_input_ms = clock_mono_ms();
	draw_input_feed(app->input, bytes);
}

static void on_sent(void *arg)
{
	app_frame_sent(arg);
}

static void gone_deferred(void *arg)
{
	struct app *app = arg;
	app_detach(app);
	if (app->opts.on_gone)
		app->opts.on_gone(app->opts.arg);
	else
		app_quit_now(app);
}

void app_gone(void *arg)
{
	struct app *app = arg;
	net_loop_defer(app->loop, gone_deferred, app);
}

static bool load_theme(struct app *app, struct err *err)
{
	if (draw_screen_colors(app->screen) == 0)
		return draw_theme_load(&app->theme, "mono", err);
	return draw_theme_load(&app->theme, app->theme_name, err);
}

bool app_attach(struct app *app, int in_fd, int out_fd, const char *term, const char *colorterm,
	struct err *err)
{
	app_detach(app);
	struct draw_screen_opts screen = { .term = term,
		.colorterm = colorterm,
		.no_color = app->opts.no_color,
		.cols = 80,
		.rows = 24 };
	app->screen = draw_screen_new(&screen, err);
	if (!app->screen)
		return false;
	struct draw_terminal_opts tty = { .in_fd = in_fd,
		.out_fd = out_fd,
		.end_bytes = draw_screen_end_bytes(app->screen),
		.on_bytes = on_bytes,
		.on_sent = on_sent,
		.on_gone = app_gone,
		.arg = app };
	app->tty = draw_terminal_open(app->loop, &tty, err);
	if (!app->tty) {
		draw_screen_free(app->screen);
		app->screen = NULL;
		return false;
	}
	struct draw_input_callbacks callbacks = { .on_key = app_dispatch_key,
		.on_mouse = app_dispatch_mouse,
		.on_paste = app_dispatch_paste,
		.on_focus = app_dispatch_focus,
		.arg = app };
	app->input = draw_input_new(app->loop, term, &callbacks);
	struct err theme_err;
	if (!load_theme(app, &theme_err))
		draw_theme_builtin(&app->theme);
	app->is_focused = true;
	draw_terminal_send(app->tty, slice_of(draw_screen_begin_bytes(app->screen)));
	if (app->is_mouse_on)
		draw_terminal_send(
			app->tty, slice_of(draw_screen_mouse_bytes(app->screen, true, false)));
	app->is_every_motion = false;
	engine_look(app->host.engine, true);
	app_resized(app);
	return true;
}

void app_detach(struct app *app)
{
	if (!app->tty)
		return;
	app_drag_end(app, false);
	app->mouse_view = NULL;
	app->border = NULL;
	app->is_strip_border = app->has_press = false;
	app_surprise_hide(app);
	engine_look(app->host.engine, false);
	app_frame_stop(app);
	draw_terminal_close(app->tty);
	draw_input_free(app->input);
	draw_screen_free(app->screen);
	app->tty = NULL;
	app->input = NULL;
	app->screen = NULL;
}

bool app_is_attached(const struct app *app)
{
	return app->tty != NULL;
}

void app_resized(struct app *app)
{
	int cols = 80, rows = 24;
	if (!app->tty)
		return;
	draw_terminal_size(app->tty, &cols, &rows);
	size_t old_cells = (size_t)draw_surface_cols(app->surface) *
			   (size_t)draw_surface_rows(app->surface);
	if (cols != draw_surface_cols(app->surface) ||
		rows != draw_surface_rows(app->surface)) {
		draw_surface_resize(app->surface, cols, rows);
		app_drag_end(app, false);
	}
	draw_screen_resize(
		app->screen, draw_surface_cols(app->surface), draw_surface_rows(app->surface));
	/* sizes of panes follow the terminal at once, not only when a frame is sent: programs learn it early */
	app_frame_compose(app);
	app_frame_dirty(app);
	if (old_cells >= LARGE_CELLS &&
		(size_t)draw_surface_cols(app->surface) *
				(size_t)draw_surface_rows(app->surface) <
			old_cells / 2)
		mem_trim(); /* a size that no screen has was tried: hundreds of MiB */
}

/* ---- life */

static void on_engine_change(void *arg)
{
	struct app *app = arg;
	uint64_t revision = engine_access_reviews_revision(app->host.engine);
	if (revision != app->rights_revision) /* hints and help show what may be done */
		app_frame_dirty(app);
	app->rights_revision = revision;
	struct engine_link link;
	bool is_linked = engine_link_of(app->host.engine, &link);
	if (is_linked && link.revision != app->link_revision) {
		app->link_revision = link.revision;
		app_frame_dirty(app); /* all that is shown changes its meaning */
	}
	app->is_engine_telling = true;
	app_tabs_tell_changed(app);
	app->is_engine_telling = false;
}

static void on_note_over(void *arg)
{
	struct app *app = arg;
	app->note[0] = 0;
	app_frame_dirty(app);
}

struct app *app_new(struct net_loop *loop, const struct app_opts *opts, struct err *err)
{
	struct app *app = x_calloc(1, sizeof *app);
	app->loop = loop;
	app->opts = *opts;
	app->theme_name = x_strdup(opts->theme ? opts->theme : "default");
	app->host.ops = &host_ops;
	app->host.loop = loop;
	app->host.engine = opts->engine;
	app->host.theme = &app->theme;
	app->local_dir = opts->local_dir ? x_strdup(opts->local_dir) : getcwd(NULL, 0);
	if (!app->local_dir)
		app->local_dir = x_strdup("/");
	app->host.local_dir = app->local_dir;
	app->is_mouse_on = !opts->no_mouse;
	app->strip_rows = STRIP_ROWS;
	str_init(&app->frame, 32 << 20);
	widget_edit_init(&app->prompt.edit, "");
	app->surface = draw_surface_new(80, 24);
	snprintf(app->namespace_, sizeof app->namespace_, "%s",
		engine_fleet(opts->engine) ? engine_namespace(opts->engine) : "");
	app_frame_init(app);
	app->note_timer = net_loop_timer_new(loop, on_note_over, app);
	app_lone_init(app);
	app->host.sessions = sessions_new(opts->engine);
	views_transfers_open(&app->host);
	app->host.actions = views_actions_new(&app->host);
	struct view_args none = { 0 };
	bool ok = true;
	struct err theme_err;
	draw_theme_builtin(&app->theme);
	bool is_theme_bad = !draw_theme_load(&app->theme, app->theme_name, &theme_err);
	if (is_theme_bad && opts->theme) {
		err_copy(err, &theme_err);
		ok = false;
	}
	app->strip = view_log.open(&app->host, &none, err);
	ok = ok && app->strip && app_tabs_open(app, &view_sandboxes, &none, err);
	if (ok && opts->in_fd >= 0)
		ok = app_attach(
			app, opts->in_fd, opts->out_fd, opts->term, opts->colorterm, err);
	if (!ok) {
		app_free(app);
		return NULL;
	}
	engine_on_change(opts->engine, on_engine_change, app);
	return app;
}

void app_free(struct app *app)
{
	if (!app)
		return;
	engine_on_change(app->opts.engine, NULL, NULL);
	app_detach(app);
	app_session_free(app);
	transfer_queue_free(
		app->host.copies); /* before the views: conflicts are told to nobody */
	views_actions_free(app->host.actions);
	while (app->n_dialogs)
		widget_dialog_free(app->dialogs[--app->n_dialogs]);
	app_surprise_free_all(app);
	app_tabs_free(app);
	if (app->strip)
		app->strip->class->free(app->strip);
	sessions_free(app->host.sessions);
	app_frame_deinit(app);
	net_loop_timer_free(app->note_timer);
	app_lone_deinit(app);
	widget_edit_deinit(&app->prompt.edit);
	free(app->prompt.before);
	for (size_t i = 0; i < app->prompt.n_history; i++)
		free(app->prompt.history[i]);
	draw_surface_free(app->surface);
	str_deinit(&app->frame);
	free(app->theme_name);
	free(app->local_dir);
	free(app);
}

bool app_run(struct app *app, const char *command, struct err *err)
{
	app->n_handling++;
	bool ok = app_command_run(app, command, err);
	app->n_handling--;
	return ok;
}

void app_note(struct app *app, const char *text)
{
	on_host_note(&app->host, NOTE_INFO, text);
}
