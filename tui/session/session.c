// SPDX-License-Identifier: Apache-2.0
// The life of a session.
//
//   WAITING ── a size, a pod that is known ──▶ STARTING ── the process is there ──▶ RUNNING ── its end ──▶ ENDED
//      ▲────────────────────────────────────── run again ─────────────────────────────────────────────────┘
//
// A start that is refused ends it as well. It begins with a size, since a program asks for it first of all; what is typed
// before waits for the process.
#include "tui/session/internal.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"

#include <stdlib.h>
#include <string.h>

static const char *const login_argv[] = { "/bin/sh", "-c",
	"command -v bash >/dev/null 2>&1 && exec bash -l || exec sh -l", NULL };
static const char *const session_env[] = { "TERM=xterm-256color", "COLORTERM=truecolor",
	"LANG=C.UTF-8", NULL };

enum { LOOK_AGAIN_MS = 50, COLS = 80, ROWS = 24 };

/* ---- what is known of it */

enum session_state session_state(const struct session *session)
{
	return session->state;
}

bool session_is_over(const struct session *session)
{
	return session->state == SESSION_ENDED && session->fed == session->n_queue;
}

bool session_ended_well(const struct session *session)
{
	return session->state == SESSION_ENDED && !session->has_err && session->exit_code == 0;
}

bool session_is_local(const struct session *session)
{
	return session->is_local;
}

void session_dismiss(struct session *session)
{
	session_tell_dismiss(session);
}

const char *session_uid(const struct session *session)
{
	return session->uid;
}

const char *session_name(const struct session *session)
{
	return session->name;
}

const char *session_program(const struct session *session)
{
	return session->program;
}

struct term *session_term(const struct session *session)
{
	return session->term;
}

void session_set_clipboard(struct session *session, enum session_clipboard policy)
{
	session->clipboard = policy;
}

enum session_clipboard session_clipboard(const struct session *session)
{
	return session->clipboard;
}

/* What the fleet says of its sandbox is so now: it looks at the namespace, and the API server answers. */
static bool is_row_known(const struct session *session, const struct fleet *fleet)
{
	struct engine_link link;
	const char *watched = engine_namespace(session->engine);
	bool is_watched =
		!*watched || !session->namespace_ || strcmp(watched, session->namespace_) == 0;
	bool is_stale = engine_link_of(session->engine, &link) &&
			link.state != ENGINE_LINK_LIVE && link.state != ENGINE_LINK_WAITING;
	return is_watched && !is_stale && fleet_is_synced(fleet);
}

void session_add_reason(const struct session *session, struct str *out)
{
	if (session->has_err) {
		str_addf(out, "%s (%s)", session->err.msg, err_name(&session->err));
		const char *hint = err_hint(&session->err);
		if (*hint)
			str_addf(out, "; %s", hint);
	} else if (session->exit_code < 0) {
		str_addf(out, "%s was killed by a signal", session->program);
	} else {
		str_addf(out, "%s ended with status %d", session->program, session->exit_code);
	}
	struct fleet *fleet = engine_fleet(session->engine);
	if (!fleet || !session->uid || !is_row_known(session, fleet))
		return; /* what was known of it is not why it has ended now */
	const struct fleet_row *row = fleet_find(fleet, session->uid);
	if (!row)
		str_add(out, "; the sandbox is gone");
	else if (row->state != FLEET_READY)
		str_addf(out, "; the sandbox is %s%s%s", fleet_state_name(row->state),
			*row->why ? ": " : "", row->why);
}

/* ---- the process */

static void on_drained(void *arg)
{
	struct session *session = arg;
	const struct err *lost =
		session->process ? runtime_process_stdin_lost(session->process) : NULL;
	if (lost != NULL)
		session_tell_warning(
			session, "%s takes no input any more: %s", session->name, lost->msg);
	session_stream_flush(session);
}

static void on_init(void *arg, int pid)
{
	struct session *session = arg;
	(void)pid;
	session->state = SESSION_RUNNING;
	/* The daemon sets the size after the child has begun: once more, for a child that read 0×0. */
	session_process_resize(session, term_cols(session->term), term_rows(session->term));
	session_stream_flush(session);
	session_tell_state(session);
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	(void)stream;
	session_stream_take(arg, bytes);
}

static void on_exit_status(void *arg, const struct err *err, int exit_code)
{
	struct session *session = arg;
	session->state = SESSION_ENDED;
	session->exit_code = exit_code;
	session->has_err = err != NULL;
	if (err) {
		err_copy(&session->err, err);
		engine_refused(session->engine, err);
	}
	session_process_drop(session);
	session->n_held = 0;
	session_tell_state(session);
	if (session->on_end)
		session->on_end(session->on_end_arg, session);
}

/* Which pod it is may not have been read yet, in the first moments: that is no "no". */
static bool knows_pods(struct engine *engine, const char *uid)
{
	const struct fleet *fleet = engine_fleet(engine);
	return !fleet || !uid || fleet_is_listed(fleet, FLEET_PODS) ||
	       fleet_forbidden(fleet, FLEET_PODS) || fleet_failure(fleet, FLEET_PODS);
}

static void on_start(void *arg)
{
	struct session *session = arg;
	struct err err;
	if (!session->is_local && !knows_pods(session->engine, session->uid)) {
		net_loop_timer_arm(session->starter, LOOK_AGAIN_MS);
		return;
	}
	session->is_start_queued = false;
	const struct runtime_start_opts opts = {
		.argv = session->argv ? (const char *const *)session->argv : login_argv,
		.env = session_env,
		.pty_cols = term_cols(session->term),
		.pty_rows = term_rows(session->term),
		.on_init = on_init,
		.on_output = on_output,
		.on_exit = on_exit_status,
		.arg = session,
	};
	if (!session_process_start(session, &opts, &err)) {
		on_exit_status(session, &err, -1);
		return;
	}
	session->state = session->is_local ? SESSION_RUNNING : SESSION_STARTING;
	session_process_on_drained(session, on_drained);
	if (session->is_local)
		session_stream_flush(session);
	session_tell_state(session);
}

bool session_run_again(struct session *session, struct err *err)
{
	if (session->state != SESSION_ENDED)
		return err_set(err, ERR_OP_BUSY, "it is still running");
	if (!session->owner)
		return err_set(err, ERR_OP_CLOSED, "its workspace has gone");
	/* what was on the screen goes to the scrollback, modes back to their start */
	for (int i = 0; i < term_rows(session->term); i++)
		term_feed(session->term, "\r\n", 2);
	term_reset(session->term);
	session->state = SESSION_WAITING;
	session_tell_state(session);
	session_queue_start(session);
	return true;
}

/* ---- life */

static char **copy_argv(const char *const *argv)
{
	size_t n = 0;
	while (argv[n])
		n++;
	char **copy = x_calloc(n + 1, sizeof *copy);
	for (size_t i = 0; i < n; i++)
		copy[i] = x_strdup(argv[i]);
	return copy;
}

struct session *session_open(
	struct sessions *sessions, const struct session_opts *opts, struct err *err)
{
	struct engine *engine = sessions->engine;
	if (engine_is_read_only(engine) && !opts->is_local) {
		err_set(err, ERR_OP_READ_ONLY, "shells are off");
		return NULL;
	}
	/* ask now for what is known now: a suspended sandbox needs no pane to say so */
	if (!opts->is_local && knows_pods(engine, opts->uid) &&
		!engine_runtime(engine, opts->uid, err))
		return NULL;
	const struct fleet *fleet = engine_fleet(engine);
	const struct fleet_row *row = fleet && opts->uid ? fleet_find(fleet, opts->uid) : NULL;
	struct session *session = x_calloc(1, sizeof *session);
	session->n_refs = 1;
	session->engine = engine;
	session->loop = engine_loop(engine);
	session->is_local = opts->is_local;
	session->on_end = opts->on_end;
	session->on_end_arg = opts->arg;
	session->uid = x_strdup(opts->uid);
	session->name = x_strdup(opts->name);
	session->namespace_ = row ? x_strdup(row->namespace_) : NULL;
	session->argv = opts->argv ? copy_argv(opts->argv) : NULL;
	session->program = x_strdup(opts->program   ? opts->program
				    : session->argv ? path_base(session->argv[0])
						    : "shell");
	session->starter = net_loop_timer_new(session->loop, on_start, session);
	session_stream_init(
		session, opts->cols ? opts->cols : COLS, opts->rows ? opts->rows : ROWS);
	session->owner = sessions;
	DL_APPEND(sessions->list, session);
	if (opts->cols)
		session_queue_start(session);
	return session;
}

struct session *session_ref(struct session *session)
{
	session->n_refs++;
	return session;
}

/* No callback comes after this. */
static void stop(struct session *session)
{
	session_process_kill(session);
	session->state = SESSION_ENDED;
	net_loop_timer_free(session->starter);
	session->starter = NULL;
	net_loop_timer_disarm(session->pump);
	net_loop_timer_disarm(session->sync);
	if (session->owner)
		DL_DELETE(session->owner->list, session);
	session->owner = NULL;
}

void session_unref(struct session *session)
{
	if (!session || --session->n_refs)
		return;
	if (session->owner)
		stop(session);
	if (session->on_end)
		session->on_end(session->on_end_arg, NULL);
	session_stream_deinit(session);
	while (session->taps)
		session_tap_remove(session->taps);
	for (size_t i = 0; session->argv && session->argv[i]; i++)
		free(session->argv[i]);
	free(session->argv);
	free(session->program);
	free(session->uid);
	free(session->name);
	free(session->namespace_);
	free(session);
}

/* ---- all of them */

struct sessions *sessions_new(struct engine *engine)
{
	struct sessions *sessions = x_calloc(1, sizeof *sessions);
	sessions->engine = engine;
	return sessions;
}

void sessions_free(struct sessions *sessions)
{
	if (!sessions)
		return;
	while (sessions->list)
		stop(sessions->list);
	free(sessions);
}

size_t sessions_count(const struct sessions *sessions)
{
	size_t n = 0;
	const struct session *session;
	DL_FOREACH(sessions->list, session)
		n++;
	return n;
}

void sessions_each(
	struct sessions *sessions, void (*fn)(void *arg, struct session *session), void *arg)
{
	struct session *session;
	DL_FOREACH(sessions->list, session)
		fn(arg, session);
}
