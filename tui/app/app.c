// SPDX-License-Identifier: Apache-2.0
// The application: made from an engine, attached to a terminal, detached again; dialogs, notes, quitting.
#include "engine/base/clock.h"
#include "tui/app/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE_CELLS = 200000 };

struct app *app_of(const struct host *host)
{
	return (struct app *)(uintptr_t)host;
}

struct tab *app_tab(const struct app *app)
{
	return app->tabs[app->current];
}

struct view *app_focused(const struct app *app)
{
	if (app->is_strip_on && app->is_strip_focused)
		return app->strip;
	return layout_data(app_tab(app)->focus);
}

/* ---- what views ask for */

static void on_host_dirty(struct host *host)
{
	frame_dirty(app_of(host));
}

static void on_host_run(struct host *host, const char *command)
{
	command_try(app_of(host), command);
}

static void on_host_dialog(struct host *host, struct dialog *dialog)
{
	app_push_dialog(app_of(host), dialog);
}

static void on_host_note(struct host *host, enum note_level level, const char *text)
{
	struct app *app = app_of(host);
	snprintf(app->note, sizeof app->note, "%s", text);
	app->note_level = level;
	loop_timer_arm(app->note_timer, NOTE_MS);
	frame_dirty(app);
}

static void on_host_fail(struct host *host, const char *what, const struct err *err)
{
	app_fail(app_of(host), what, err);
}

static void on_host_open(
	struct host *host, const struct view_class *class, const struct view_args *args)
{
	struct err err;
	if (!tabs_open(app_of(host), class, args, &err))
		host_failf(host, &err, "Cannot open %s", class->name);
}

void app_close_pending(struct app *app)
{
	while (app->n_closing)
		tabs_close_view(app, app->closing[--app->n_closing]);
}

static void close_deferred(void *arg)
{
	struct app *app = arg;
	app->is_closing_deferred = false;
	app_close_pending(app);
}

static void on_host_close(struct host *host, struct view *view)
{
	struct app *app = app_of(host);
	for (size_t i = 0; i < app->n_closing; i++)
		if (app->closing[i] == view)
			return;
	if (app->n_closing == sizeof app->closing / sizeof app->closing[0])
		return;
	app->closing[app->n_closing++] = view;
	if (!app->is_closing_deferred)
		loop_defer(app->loop, close_deferred, app);
	app->is_closing_deferred = true;
}

static void on_host_copy_text(struct host *host, struct slice text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	enum { CLIP_BYTES_MAX = 75000 }; /* what terminals take in one OSC 52 */
	struct app *app = app_of(host);
	if (!app->tty)
		return;
	if (text.n > CLIP_BYTES_MAX) {
		host_notef(host, NOTE_WARNING,
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
	terminal_send(app->tty, (struct slice){ out.p, out.n });
	str_deinit(&out);
}

static const char *on_host_namespace(const struct host *host)
{
	return app_of(host)->namespace_;
}

static uint64_t on_host_input_serial(const struct host *host)
{
	return app_of(host)->input_serial;
}

static const struct host_ops host_ops = {
	.dirty = on_host_dirty,
	.run = on_host_run,
	.push_dialog = on_host_dialog,
	.note = on_host_note,
	.fail = on_host_fail,
	.open = on_host_open,
	.close = on_host_close,
	.copy_text = on_host_copy_text,
	.namespace_ = on_host_namespace,
	.each_command = command_each,
	.input_serial = on_host_input_serial,
	.can = command_can_in,
};

/* ---- dialogs */

void app_push_dialog(struct app *app, struct dialog *dialog)
{
	bool is_awaited = dialog_serial(dialog) && dialog_serial(dialog) == app->input_serial &&
			  clock_mono_ms() - app->last_input_ms < AWAITED_MS;
	if (!app->n_handling && !is_awaited) {
		surprise_push(app, dialog);
		return;
	}
	drag_end(app, false);
	app->is_prefix = false;
	if (app->n_dialogs ==
		DIALOGS_MAX) { /* so many questions: the newest is taken as cancelled */
		dialog_answer(dialog);
		dialog_free(dialog);
		return;
	}
	app->dialogs[app->n_dialogs++] = dialog;
	frame_dirty(app);
}

void app_pop_dialog(struct app *app)
{
	struct dialog *dialog = app->dialogs[--app->n_dialogs];
	frame_dirty(app);
	dialog_answer(dialog); /* may push others */
	dialog_free(dialog);
}

void app_drop_dialogs(struct app *app, const void *owner)
{
	size_t kept = 0;
	for (size_t i = 0; i < app->n_dialogs; i++)
		if (dialog_owner(app->dialogs[i]) == owner)
			dialog_free(app->dialogs[i]);
		else
			app->dialogs[kept++] = app->dialogs[i];
	app->n_dialogs = kept;
	surprise_drop(app, owner);
}

void app_fail(struct app *app, const char *what, const struct err *err)
{
	struct dialog *dialog = dialog_new(what, NULL, NULL, NULL);
	dialog_set_error(dialog, true);
	dialog_add_text(dialog, err->msg);
	const char *hint = err_hint(err);
	if (hint && *hint)
		dialog_add_textf(dialog, "Next: %s.", hint);
	dialog_add_textf(dialog, "(%s)", err_name(err));
	dialog_add_button(dialog, "&OK");
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

static void on_quit_answered(void *arg, struct dialog *dialog, int button)
{
	(void)dialog;
	if (button == 0)
		app_quit_now(arg);
}

struct busy_list {
	struct dialog *dialog;
	size_t n;
};

static void add_busy(void *arg, struct view *view)
{
	struct busy_list *list = arg;
	struct str text;
	str_init(&text, 256);
	const char *why = view->class->busy ? view->class->busy(view, &text) : NULL;
	if (why && list->n++ < 8)
		dialog_add_textf(list->dialog, "  %s", why);
	str_deinit(&text);
}

void app_ask_quit(struct app *app)
{
	struct busy_list list = { dialog_new("Quit?", on_quit_answered, app, NULL), 0 };
	tabs_each_view(app, add_busy, &list);
	size_t copies = copies_running(app->host.copies);
	size_t actions = actions_running(app->host.actions);
	if (copies)
		dialog_add_textf(list.dialog, "  %zu cop%s not finished", copies,
			copies == 1 ? "y is" : "ies are");
	if (actions)
		dialog_add_textf(list.dialog, "  %zu operation%s not finished", actions,
			actions == 1 ? " is" : "s are");
	if (!list.n && !copies && !actions) {
		dialog_free(list.dialog);
		app_quit_now(app);
		return;
	}
	dialog_add_text(list.dialog, "Quitting ends these. No sandbox is deleted.");
	dialog_add_button(list.dialog, "&Quit");
	dialog_add_button(list.dialog, "&Stay");
	dialog_focus_button(list.dialog, 1);
	app_push_dialog(app, list.dialog);
}

/* ---- terminal */

static void on_bytes(void *arg, struct slice bytes)
{
	struct app *app = arg;
	app->last_input_ms = clock_mono_ms();
	input_feed(app->input, bytes);
}

static void on_sent(void *arg)
{
	frame_sent(arg);
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
	loop_defer(app->loop, gone_deferred, app);
}

static bool load_theme(struct app *app, struct err *err)
{
	if (screen_colors(app->screen) == 0)
		return theme_load(&app->theme, "mono", err);
	return theme_load(&app->theme, app->theme_name, err);
}

bool app_attach(struct app *app, int in_fd, int out_fd, const char *term, const char *colorterm,
	struct err *err)
{
	app_detach(app);
	struct screen_opts screen = { .term = term,
		.colorterm = colorterm,
		.no_color = app->opts.no_color,
		.cols = 80,
		.rows = 24 };
	app->screen = screen_new(&screen, err);
	if (!app->screen)
		return false;
	struct terminal_opts tty = { .in_fd = in_fd,
		.out_fd = out_fd,
		.end_bytes = screen_end_bytes(app->screen),
		.on_bytes = on_bytes,
		.on_sent = on_sent,
		.on_gone = app_gone,
		.arg = app };
	app->tty = terminal_open(app->loop, &tty, err);
	if (!app->tty) {
		screen_free(app->screen);
		app->screen = NULL;
		return false;
	}
	struct input_callbacks callbacks = { .on_key = dispatch_key,
		.on_mouse = dispatch_mouse,
		.on_paste = dispatch_paste,
		.on_focus = dispatch_focus,
		.arg = app };
	app->input = input_new(app->loop, term, &callbacks);
	struct err theme_err;
	if (!load_theme(app, &theme_err))
		theme_builtin(&app->theme);
	app->is_focused = true;
	terminal_send(app->tty, slice_of(screen_begin_bytes(app->screen)));
	if (app->is_mouse_on)
		terminal_send(app->tty, slice_of(screen_mouse_bytes(app->screen, true, false)));
	app->is_every_motion = false;
	engine_look(app->host.engine, true);
	app_resized(app);
	return true;
}

void app_detach(struct app *app)
{
	if (!app->tty)
		return;
	drag_end(app, false);
	app->mouse_view = NULL;
	app->border = NULL;
	app->is_strip_border = app->has_press = false;
	surprise_hide(app);
	engine_look(app->host.engine, false);
	frame_stop(app);
	terminal_close(app->tty);
	input_free(app->input);
	screen_free(app->screen);
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
	terminal_size(app->tty, &cols, &rows);
	size_t old_cells =
		(size_t)surface_cols(app->surface) * (size_t)surface_rows(app->surface);
	if (cols != surface_cols(app->surface) || rows != surface_rows(app->surface)) {
		surface_resize(app->surface, cols, rows);
		drag_end(app, false);
	}
	screen_resize(app->screen, surface_cols(app->surface), surface_rows(app->surface));
	/* sizes of panes follow the terminal at once, not only when a frame is sent: programs learn it early */
	frame_compose(app);
	frame_dirty(app);
	if (old_cells >= LARGE_CELLS &&
		(size_t)surface_cols(app->surface) * (size_t)surface_rows(app->surface) <
			old_cells / 2)
		mem_trim(); /* a size that no screen has was tried: hundreds of MiB */
}

/* ---- life */

static void on_engine_change(void *arg)
{
	struct app *app = arg;
	uint64_t revision = engine_rights_revision(app->host.engine);
	if (revision != app->rights_revision) /* hints and help show what may be done */
		frame_dirty(app);
	app->rights_revision = revision;
	struct engine_link link;
	bool is_linked = engine_link_of(app->host.engine, &link);
	if (is_linked && link.revision != app->link_revision) {
		app->link_revision = link.revision;
		frame_dirty(app); /* all that is shown changes its meaning */
	}
	app->is_engine_telling = true;
	tabs_tell_changed(app);
	app->is_engine_telling = false;
}

static void on_note_over(void *arg)
{
	struct app *app = arg;
	app->note[0] = 0;
	frame_dirty(app);
}

struct app *app_new(struct loop *loop, const struct app_opts *opts, struct err *err)
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
	edit_init(&app->prompt.edit, "");
	app->surface = surface_new(80, 24);
	snprintf(app->namespace_, sizeof app->namespace_, "%s",
		engine_fleet(opts->engine) ? engine_namespace(opts->engine) : "");
	frame_init(app);
	app->note_timer = loop_timer_new(loop, on_note_over, app);
	app_lone_init(app);
	app->host.copies = copies_new(&app->host);
	app->host.actions = actions_new(&app->host);
	struct view_args none = { 0 };
	bool ok = true;
	struct err theme_err;
	theme_builtin(&app->theme);
	bool is_theme_bad = !theme_load(&app->theme, app->theme_name, &theme_err);
	if (is_theme_bad && opts->theme) {
		err_copy(err, &theme_err);
		ok = false;
	}
	app->strip = view_log.open(&app->host, &none, err);
	ok = ok && app->strip && tabs_open(app, &view_sandboxes, &none, err);
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
	session_free(app);
	copies_free(app->host.copies); /* before the views: conflicts are told to nobody */
	actions_free(app->host.actions);
	while (app->n_dialogs)
		dialog_free(app->dialogs[--app->n_dialogs]);
	surprise_free_all(app);
	tabs_free(app);
	if (app->strip)
		app->strip->class->free(app->strip);
	frame_deinit(app);
	loop_timer_free(app->note_timer);
	app_lone_deinit(app);
	edit_deinit(&app->prompt.edit);
	free(app->prompt.before);
	for (size_t i = 0; i < app->prompt.n_history; i++)
		free(app->prompt.history[i]);
	surface_free(app->surface);
	str_deinit(&app->frame);
	free(app->theme_name);
	free(app->local_dir);
	free(app);
}

bool app_run(struct app *app, const char *command, struct err *err)
{
	app->n_handling++;
	bool ok = command_run(app, command, err);
	app->n_handling--;
	return ok;
}

void app_note(struct app *app, const char *text)
{
	on_host_note(&app->host, NOTE_INFO, text);
}
