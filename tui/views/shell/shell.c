// SPDX-License-Identifier: Apache-2.0
// A shell pane: a process of a sandbox behind a terminal of ours.
//
//   on_output ─▶ queue ─▶ pump: a slice ─▶ term_feed ─▶ consumed (re-opens the window)
//   keys ─▶ term ─▶ on_term_output ─▶ runtime_process_write ─ full? ─▶ held ─▶ on_drained
//
// The window of the stream is given back only as the terminal takes the bytes, so a flood stops at the process's own
// pipe, memory stays flat, and between two slices the loop looks at the keyboard. The process starts at the first
// draw, when the size of the pane is known. A pane whose process has ended keeps its screen, takes no input, says
// why, and offers to run it again.
#include "tui/views/shell/shell.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>
#include <string.h>

static const char *const login_argv[] = { "/bin/sh", "-c",
	"command -v bash >/dev/null 2>&1 && exec bash -l || exec sh -l", NULL };
static const char *const shell_env[] = { "TERM=xterm-256color", "COLORTERM=truecolor",
	"LANG=C.UTF-8", NULL };

enum { LOOK_AGAIN_MS = 50 };

bool views_shell_is_live(const struct views_shell *shell)
{
	return shell->state != SHELL_ENDED;
}

static void dirty(struct views_shell *shell)
{
	host_dirty(shell->view.host);
}

/* ---- to the process */

static void flush_held(struct views_shell *shell)
{
	struct err err;
	if (!shell->process || shell->state == SHELL_ENDED) {
		shell->n_held = 0;
		return;
	}
	size_t sent = 0;
	while (sent < shell->n_held) {
		size_t n = shell->n_held - sent;
		n = n < (64 << 10) ? n : (64 << 10);
		if (!runtime_process_write(
			    shell->process, (struct slice){ shell->held + sent, n }, &err)) {
			if (err.code != ERR_LIMIT_UPLOAD)
				sent = shell->n_held;
			break;
		}
		sent += n;
	}
	shell->n_held -= sent;
	if (shell->n_held)
		memmove(shell->held, shell->held + sent, shell->n_held);
}

static void on_drained(void *arg)
{
	struct views_shell *shell = arg;
	const struct err *lost = runtime_process_stdin_lost(shell->process);
	if (lost != NULL)
		view_host_notef(shell->view.host, NOTE_WARNING,
			"%s takes no input any more: %s", shell->name, lost->msg);
	flush_held(shell);
}

void views_shell_send(struct views_shell *shell, const char *bytes, size_t n)
{
	if (shell->state == SHELL_ENDED || !n)
		return;
	if (shell->n_held + n > SHELL_STDIN_BYTES_MAX) {
		view_host_notef(shell->view.host, NOTE_WARNING,
			"%s does not read: %zu bytes of input dropped", shell->name, n);
		return;
	}
	array_grow(&shell->held, &shell->held_capacity, shell->n_held + n, 1);
	memcpy(shell->held + shell->n_held, bytes, n);
	shell->n_held += n;
	if (shell->process)
		flush_held(shell);
}

/* ---- from the terminal */

static void on_term_output(const char *bytes, size_t n, void *arg)
{
	views_shell_send(arg, bytes, n);
}

static void on_term_damage(void *arg)
{
	dirty(arg);
}

static void on_term_title(const char *title, void *arg)
{
	(void)title; /* asked for when drawn */
	dirty(arg);
}

static void on_term_bell(void *arg)
{
	struct views_shell *shell = arg;
	if (shell->is_focused) /* whoever looks at it has seen it */
		return;
	shell->has_bell = true;
	dirty(shell);
}

enum { BUTTON_ONCE, BUTTON_ALWAYS, BUTTON_NO, BUTTON_NEVER };

static void on_clipboard_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_shell *shell = arg;
	(void)dialog;
	shell->is_asking = false;
	if (button == BUTTON_ALWAYS)
		shell->clipboard = CLIPBOARD_ALLOW;
	if (button == BUTTON_NEVER)
		shell->clipboard = CLIPBOARD_DENY;
	if (button == BUTTON_ONCE || button == BUTTON_ALWAYS)
		shell->view.host->ops->copy_text(
			shell->view.host, (struct slice){ shell->clip, shell->n_clip });
	free(shell->clip);
	shell->clip = NULL;
	shell->n_clip = 0;
}

/* The sandbox wants to write the person's clipboard: what it holds may be pasted into any shell later. */
static void on_term_clipboard(const char *bytes, size_t n, void *arg)
{
	enum { PREVIEW_BYTES = 300 };
	struct views_shell *shell = arg;
	struct view_host *host = shell->view.host;
	if (shell->clipboard == CLIPBOARD_DENY || shell->is_asking)
		return;
	if (shell->clipboard == CLIPBOARD_ALLOW) {
		host->ops->copy_text(host, (struct slice){ bytes, n });
		return;
	}
	shell->is_asking = true;
	shell->clip = x_malloc(n + 1);
	memcpy(shell->clip, bytes, n);
	shell->clip[n] = 0;
	shell->n_clip = n;
	struct widget_dialog *dialog = widget_dialog_new(
		"Write to your clipboard?", on_clipboard_answered, shell, NULL);
	widget_dialog_add_textf(dialog,
		"%s in %s wants to put %zu bytes there:", shell->program, shell->name, n);
	widget_dialog_add_textf(dialog, "%.*s%s", (int)(n < PREVIEW_BYTES ? n : PREVIEW_BYTES),
		shell->clip, n > PREVIEW_BYTES ? "…" : "");
	widget_dialog_add_button(dialog, "&Once");
	widget_dialog_add_button(dialog, "&Always");
	widget_dialog_add_button(dialog, "N&o");
	widget_dialog_add_button(dialog, "&Never");
	widget_dialog_focus_button(dialog, BUTTON_NO);
	widget_dialog_set_owner(dialog, shell);
	host->ops->push_dialog(host, dialog);
}

/* ---- from the process */

static void on_pump(void *arg)
{
	struct views_shell *shell = arg;
	size_t n = shell->n_queue - shell->fed;
	n = n < SHELL_FEED_BYTES ? n : SHELL_FEED_BYTES;
	if (n) {
		term_feed(shell->term, shell->queue + shell->fed, n);
		shell->has_output = true;
		shell->fed += n;
		if (shell->process)
			runtime_process_consumed(shell->process, n);
	}
	if (shell->fed < shell->n_queue) {
		net_loop_timer_arm(shell->pump, 0);
	} else {
		shell->n_queue = shell->fed = 0;
		int64_t left = term_sync_left_ms(shell->term, clock_mono_ms());
		if (left > 0) /* a program that forgets to end its frame */
			net_loop_timer_arm(shell->sync, left + 1);
	}
	dirty(shell);
}

static void on_sync_over(void *arg)
{
	dirty(arg);
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	struct views_shell *shell = arg;
	(void)stream;
	if (shell->fed && shell->fed == shell->n_queue)
		shell->n_queue = shell->fed = 0;
	if (shell->fed > (1 << 20)) {
		memmove(shell->queue, shell->queue + shell->fed, shell->n_queue - shell->fed);
		shell->n_queue -= shell->fed;
		shell->fed = 0;
	}
	if (!bytes.n)
		return;
	array_grow(&shell->queue, &shell->capacity, shell->n_queue + bytes.n, 1);
	memcpy(shell->queue + shell->n_queue, bytes.p, bytes.n);
	shell->n_queue += bytes.n;
	net_loop_timer_arm(shell->pump, 0);
}

static void on_init(void *arg, int pid)
{
	struct views_shell *shell = arg;
	(void)pid;
	shell->state = SHELL_RUNNING;
	/* The daemon sets the size after the child has begun: once more, for a child that read 0×0. */
	runtime_process_resize(shell->process, term_cols(shell->term), term_rows(shell->term));
	flush_held(shell);
	dirty(shell);
}

static void free_process(void *arg)
{
	runtime_process_free(arg);
}

static void on_exit_status(void *arg, const struct err *err, int exit_code)
{
	struct views_shell *shell = arg;
	shell->state = SHELL_ENDED;
	shell->view.ended_ms = clock_mono_ms();
	shell->exit_code = exit_code;
	shell->has_err = err != NULL;
	if (err) {
		err_copy(&shell->err, err);
		engine_refused(shell->view.host->engine, ENGINE_SHELL, shell->uid, NULL, err);
	}
	if (shell->process)
		net_loop_defer(shell->view.host->loop, free_process, shell->process);
	shell->process = NULL;
	shell->n_held = 0;
	views_shell_select_clear(shell);
	dirty(shell);
}

static void fail_start(struct views_shell *shell, const struct err *err)
{
	on_exit_status(shell, err, -1);
}

/* Which pod it is may not have been read yet, in the first moments: that is no "no". */
static bool knows_pods(const struct view_host *host, const char *uid)
{
	const struct fleet *fleet = engine_fleet(host->engine);
	return !fleet || !uid || fleet_is_listed(fleet, FLEET_PODS) ||
	       fleet_forbidden(fleet, FLEET_PODS) || fleet_failure(fleet, FLEET_PODS);
}

static void on_start(void *arg)
{
	struct views_shell *shell = arg;
	struct err err;
	if (!knows_pods(shell->view.host, shell->uid)) {
		net_loop_timer_arm(shell->starter, LOOK_AGAIN_MS);
		return;
	}
	shell->is_start_queued = false;
	struct runtime *runtime = engine_runtime(shell->view.host->engine, shell->uid, &err);
	if (!runtime) {
		fail_start(shell, &err);
		return;
	}
	struct runtime_start_opts opts = {
		.argv = shell->argv ? (const char *const *)shell->argv : login_argv,
		.env = shell_env,
		.pty_cols = term_cols(shell->term),
		.pty_rows = term_rows(shell->term),
		.on_init = on_init,
		.on_output = on_output,
		.on_exit = on_exit_status,
		.arg = shell,
	};
	shell->process = runtime_process_start(runtime, &opts, &err);
	if (!shell->process) {
		fail_start(shell, &err);
		return;
	}
	shell->state = SHELL_STARTING;
	runtime_process_on_drained(shell->process, on_drained);
	dirty(shell);
}

void views_shell_queue_start(struct views_shell *shell)
{
	if (shell->state != SHELL_WAITING || shell->is_start_queued)
		return;
	shell->is_start_queued = true;
	net_loop_timer_arm(shell->starter, 0);
}

/* ---- the view */

bool views_shell_run_again(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	(void)args;
	if (shell->state != SHELL_ENDED)
		return err_set(err, ERR_OP_BUSY, "it is still running");
	/* what was on the screen goes to the scrollback, modes back to their start */
	for (int i = 0; i < term_rows(shell->term); i++)
		term_feed(shell->term, "\r\n", 2);
	term_reset(shell->term);
	shell->state = SHELL_WAITING;
	shell->is_shot_stale = true;
	views_shell_scroll_end(shell);
	views_shell_queue_start(shell);
	return true;
}

static enum view_key_scope scope(const struct view *view)
{
	const struct views_shell *shell = shell_of(view);
	if (shell->is_scrolling && !shell->is_peeking)
		return SCOPE_SCROLL;
	return shell->state == SHELL_ENDED && shell->fed == shell->n_queue ? SCOPE_DEAD
									   : SCOPE_SHELL;
}

static void title(const struct view *view, struct str *out)
{
	const struct views_shell *shell = shell_of(view);
	const char *told = term_title(shell->term);
	str_addf(out, "%s %s", shell->program, shell->name);
	if (*told)
		str_addf(out, " · %s", told);
	if (shell->is_scrolling)
		str_add(out, " [scroll]");
	if (shell->state == SHELL_ENDED)
		str_add(out, " (ended)");
}

static void focus(struct view *view, bool in)
{
	struct views_shell *shell = shell_of(view);
	shell->is_focused = in;
	if (in)
		shell->has_bell = false;
	if (shell->state == SHELL_RUNNING)
		term_focus(shell->term, in);
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	const struct views_shell *shell = shell_of(view);
	if (!shell->uid || !max)
		return 0;
	uids[0] = shell->uid;
	return 1;
}

static unsigned marks(const struct view *view)
{
	const struct views_shell *shell = shell_of(view);
	return (shell->has_bell ? VIEW_BELL : 0U) | (shell->has_output ? VIEW_OUTPUT : 0U);
}

static bool wants_motion(const struct view *view)
{
	const struct views_shell *shell = shell_of(view);
	struct term_modes modes;
	term_get_modes(shell->term, &modes);
	return shell->state == SHELL_RUNNING && modes.mouse == TERM_MOUSE_MOTION;
}

/* Why an ended process ended may only be known later: the row says it. */
static void changed(struct view *view)
{
	if (shell_of(view)->state == SHELL_ENDED)
		host_dirty(view->host);
}

static const char *busy(const struct view *view, struct str *into)
{
	const struct views_shell *shell = shell_of(view);
	if (shell->state != SHELL_RUNNING) /* what has not begun is not lost */
		return NULL;
	str_addf(into, "%s is running in %s", shell->program, shell->name);
	return into->p;
}

static struct view *open_shell(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	if (engine_is_read_only(host->engine)) {
		err_set(err, ERR_OP_READ_ONLY, "shells are off");
		return NULL;
	}
	/* ask now for what is known now: a suspended sandbox needs no pane to say so */
	if (knows_pods(host, args->uid) && !engine_runtime(host->engine, args->uid, err))
		return NULL;
	struct views_shell *shell = x_calloc(1, sizeof *shell);
	shell->view.class = &view_shell;
	shell->view.host = host;
	shell->uid = x_strdup(args->uid);
	shell->name = x_strdup(view_host_row_name(host, args->uid));
	const struct fleet *fleet = engine_fleet(host->engine);
	const struct fleet_row *row = fleet && args->uid ? fleet_find(fleet, args->uid) : NULL;
	shell->namespace_ = row ? x_strdup(row->namespace_) : NULL;
	if (args->argv) {
		size_t n = 0;
		while (args->argv[n])
			n++;
		shell->argv = x_calloc(n + 1, sizeof *shell->argv);
		for (size_t i = 0; i < n; i++)
			shell->argv[i] = x_strdup(args->argv[i]);
	}
	shell->program = x_strdup(shell->argv ? path_base(shell->argv[0]) : "shell");
	struct term_opts opts = { .cols = 80,
		.rows = 24,
		.history_bytes = SHELL_HISTORY_BYTES,
		.callbacks = { .on_output = on_term_output,
			.on_damage = on_term_damage,
			.on_title = on_term_title,
			.on_bell = on_term_bell,
			.on_clipboard_write = on_term_clipboard },
		.arg = shell };
	shell->term = term_new(&opts);
	shell->shot = draw_surface_new(1, 1);
	shell->is_shot_stale = true;
	shell->pump = net_loop_timer_new(host->loop, on_pump, shell);
	shell->starter = net_loop_timer_new(host->loop, on_start, shell);
	shell->sync = net_loop_timer_new(host->loop, on_sync_over, shell);
	return &shell->view;
}

static void free_shell(struct view *view)
{
	struct views_shell *shell = shell_of(view);
	runtime_process_kill(shell->process);
	net_loop_timer_free(shell->pump);
	net_loop_timer_free(shell->starter);
	net_loop_timer_free(shell->sync);
	term_free(shell->term);
	draw_surface_free(shell->shot);
	for (size_t i = 0; shell->argv && shell->argv[i]; i++)
		free(shell->argv[i]);
	free(shell->argv);
	free(shell->program);
	free(shell->uid);
	free(shell->name);
	free(shell->namespace_);
	free(shell->queue);
	free(shell->held);
	free(shell->clip);
	free(shell);
}

bool views_shell_run_clear(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	(void)args;
	(void)err;
	term_history_clear(shell->term);
	views_shell_scroll_end(shell);
	return true;
}

const struct view_class view_shell = {
	.name = "shell",
	.scope = scope,
	.commands = views_shell_commands,
	.n_commands = SHELL_COMMANDS,
	.open = open_shell,
	.free = free_shell,
	.title = title,
	.draw = views_shell_draw,
	.key = views_shell_key,
	.mouse = views_shell_mouse,
	.paste = views_shell_paste,
	.focus = focus,
	.targets = targets,
	.changed = changed,
	.busy = busy,
	.wants_motion = wants_motion,
	.marks = marks,
};
