// SPDX-License-Identifier: Apache-2.0
// The process of a session: one of a sandbox's daemon, or a program of this machine on a terminal of its own.
#include "tui/session/internal.h"

static void on_local_output(void *arg, struct slice bytes)
{
	const struct session *session = arg;
	session->on_output(arg, 1, bytes);
}

static void on_local_exit(void *arg, int exit_code)
{
	const struct session *session = arg;
	session->on_exit(arg, NULL, exit_code);
}

bool session_process_start(
	struct session *session, const struct runtime_start_opts *opts, struct err *err)
{
	struct runtime *runtime = NULL;
	if (!session->is_local) {
		runtime = engine_runtime(session->engine, session->uid, err);
		session->process = runtime ? runtime_process_start(runtime, opts, err) : NULL;
		return session->process != NULL;
	}
	session->on_output = opts->on_output;
	session->on_exit = opts->on_exit;
	const struct net_pty_opts local = {
		.argv = opts->argv,
		.env = opts->env,
		.cols = opts->pty_cols,
		.rows = opts->pty_rows,
		.on_output = on_local_output,
		.on_exit = on_local_exit,
		.arg = session,
	};
	session->pty = net_pty_start(session->loop, &local, err);
	return session->pty != NULL;
}

bool session_process_is_there(const struct session *session)
{
	return session->process || session->pty;
}

bool session_process_write(struct session *session, struct slice bytes, struct err *err)
{
	return session->pty ? net_pty_write(session->pty, bytes, err)
			    : runtime_process_write(session->process, bytes, err);
}

void session_process_consumed(struct session *session, size_t n)
{
	if (session->pty)
		net_pty_consumed(session->pty, n);
	else if (session->process)
		runtime_process_consumed(session->process, n);
}

void session_process_resize(struct session *session, int cols, int rows)
{
	if (session->pty)
		net_pty_resize(session->pty, cols, rows);
	else if (session->process)
		runtime_process_resize(session->process, cols, rows);
}

void session_process_on_drained(struct session *session, void (*fn)(void *arg))
{
	if (session->pty)
		net_pty_on_drained(session->pty, fn);
	else
		runtime_process_on_drained(session->process, fn);
}

static void free_process(void *arg)
{
	runtime_process_free(arg);
}

static void free_pty(void *arg)
{
	net_pty_free(arg);
}

void session_process_drop(struct session *session)
{
	if (session->process)
		net_loop_defer(session->loop, free_process, session->process);
	if (session->pty)
		net_loop_defer(session->loop, free_pty, session->pty);
	session->process = NULL;
	session->pty = NULL;
}

void session_process_kill(struct session *session)
{
	runtime_process_kill(session->process);
	net_pty_free(session->pty);
	session->process = NULL;
	session->pty = NULL;
}
