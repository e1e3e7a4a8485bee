// SPDX-License-Identifier: Apache-2.0
/* A process is its Start stream:
 *
 *   waiting ──lane up──> Start ──init──> running ──exit──> (trailers) ──> on_exit
 *                          └──NOT_FOUND with a cwd──> cwd check ──> on_exit
 *
 * The stream's end kills the direct child only, so killing is a signal to the whole group first, and the stream
 * is kept, and read, until the exit event or 2 s. Output is never held back while we kill: the daemon drops the
 * rest of a terminal's output when nobody reads it. */
#include "engine/runtime/process.h"

#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/messages.h"

#include <stdlib.h>

enum { TRAILERS_MS = 2000 };

/* ---- checks shared with execute.c */
const char *runtime_process_executable(const char *const *argv)
{
	return path_base(argv[0]);
}

bool runtime_process_argv_check(
	const char *const *argv, const char *const *env, struct err *err)
{
	if (!argv || !argv[0] || !argv[0][0])
		return err_set(err, ERR_ARG_INVALID, "no command");
	for (size_t i = 0; env && env[i]; i++)
		if (env[i][0] == '=' || !strchr(env[i], '='))
			/* the text may be a secret: only its place is told */
			return err_set(err, ERR_ARG_INVALID, "environment entry %zu is not K=V",
				i + 1);
	return true;
}

/* ---- ends */
static void count_killing(struct runtime_process *process, bool on)
{
	if (process->is_killing == on)
		return;
	process->is_killing = on;
	if (on)
		process->op.runtime->n_killing++;
	else
		process->op.runtime->n_killing--;
}

static void detach(struct runtime_op *op)
{
	struct runtime_process *process = (struct runtime_process *)op;

	runtime_cwd_check_cancel(process->check);
	process->check = NULL;
	runtime_stdin_drop(process);
	runtime_signal_resize_cancel(process);
	process->conn = NULL;
	count_killing(process, false);
}

static void complete(struct runtime_op *op, const struct err *err)
{
	struct runtime_process *process = (struct runtime_process *)op;

	if (!process->opts.on_exit)
		return;
	if (process->has_exit) {
		process->opts.on_exit(process->opts.arg, NULL, process->exit_code);
	} else if (process->has_init) {
		/* a lost connection is a lost process, by whatever way it was noticed */
		struct err lost = { 0 };
		runtime_errors_from_grpc(&lost, ERRORS_STREAM, err);
		process->opts.on_exit(process->opts.arg, &lost, -1);
	} else {
		process->opts.on_exit(process->opts.arg, err, -1);
	}
}

static void release(struct runtime_op *op)
{
	struct runtime_process *process = (struct runtime_process *)op;

	runtime_stdin_deinit(process);
	free((void *)(uintptr_t)process->request.p);
	free(process->cwd);
}

static void finish_protocol(struct runtime_process *process, const char *what)
{
	struct err err = { 0 };

	err_set(&err, ERR_PROC_PROTOCOL, "%s", what);
	runtime_op_finish(&process->op, &err);
}

/* ---- events */
static void on_init_event(struct runtime_process *process, int pid)
{
	if (process->has_init || pid <= 0) {
		finish_protocol(process, process->has_init ? "a second init event"
							   : "a process without a number");
		return;
	}
	process->has_init = true;
	process->pid = pid;
	runtime_op_set_timeout(
		&process->op, process->is_killing ? setting_get(SETTING_DRAIN_TIMEOUT) : 0);
	runtime_liveness_on_process(process->op.runtime);
	if (process->opts.window_bytes && process->op.call)
		net_grpc_set_window(process->op.call, process->opts.window_bytes);
	runtime_signal_resize_after_init(process);
	runtime_stdin_pump(process);
	if (process->opts.on_init && !process->is_killing)
		process->opts.on_init(process->opts.arg, pid);
}

static void on_output_event(struct runtime_process *process, int stream, struct slice bytes)
{
	if (!process->has_init || process->has_exit) {
		finish_protocol(process, "output outside its life");
		return;
	}
	if (process->is_killing || !process->opts.on_output) {
		net_grpc_consumed(process->op.call, bytes.n);
		return;
	}
	process->unconsumed_bytes += bytes.n;
	process->opts.on_output(process->opts.arg, stream, bytes);
}

static void on_exit_event(struct runtime_process *process, int exit_code)
{
	if (!process->has_init || process->has_exit) {
		finish_protocol(process, "an exit event out of order");
		return;
	}
	process->has_exit = true;
	process->exit_code = exit_code;
	telemetry_span_set_int(process->op.span, "sandbox.exit_code", exit_code);
	runtime_stdin_drop(process);
	/* what is left are the trailers */
	runtime_op_set_timeout(&process->op, TRAILERS_MS);
}

static void on_message(void *arg, struct slice message)
{
	struct runtime_process *process = arg;
	struct runtime_message_event event;
	struct err err = { 0 };

	if (!runtime_message_event_parse(message, &event, &err)) {
		runtime_op_finish(&process->op, &err);
		return;
	}
	/* framing and events that the consumer does not see are ours to give back */
	net_grpc_consumed(process->op.call, message.n - event.bytes.n);
	switch (event.kind) {
	case MESSAGE_INIT:
		on_init_event(process, event.pid);
		break;
	case MESSAGE_STDOUT:
		on_output_event(process, 1, event.bytes);
		break;
	case MESSAGE_STDERR:
		on_output_event(process, 2, event.bytes);
		break;
	case MESSAGE_EXIT:
		on_exit_event(process, event.exit_code);
		break;
	case MESSAGE_UNKNOWN:
	case MESSAGE_EVENT_KIND_COUNT:
		break;
	}
	runtime_message_event_deinit(&event);
}

static void on_cwd_checked(void *arg, bool is_missing)
{
	struct runtime_process *process = arg;
	struct err err = { 0 };

	process->check = NULL;
	if (is_missing)
		err_set(&err, ERR_PROC_NO_CWD, "no directory %s in the sandbox", process->cwd);
	else
		err = process->start_failure;
	runtime_op_finish(&process->op, &err);
}

static void on_not_started(struct runtime_process *process, const struct err *err)
{
	runtime_errors_from_grpc(&process->start_failure, ERRORS_START, err);
	if (process->start_failure.code == ERR_PROC_COMMAND_NOT_FOUND && process->cwd &&
		!process->is_killing) {
		process->check = runtime_cwd_check_start(
			&process->op, process->cwd, on_cwd_checked, process);
		if (process->check)
			return;
	}
	runtime_op_finish(&process->op, &process->start_failure);
}

static void on_done(void *arg, const struct err *err)
{
	struct runtime_process *process = arg;
	struct err failure = { 0 };

	process->op.call = NULL;
	if (process->has_exit) {
		/* killed: by the daemon, perhaps, because all of it goes */
		if (process->exit_code < 0 && process->op.runtime->explain)
			process->op.runtime->explain(
				process->op.runtime->explain_arg, &failure);
		process->has_exit = failure.code == ERR_NONE;
		runtime_op_finish(&process->op, process->has_exit ? NULL : &failure);
	} else if (!err) {
		finish_protocol(process, process->has_init
						 ? "the stream ended without an exit event"
						 : "the stream ended before the process began");
	} else if (!process->has_init) {
		on_not_started(process, err);
	} else {
		const struct runtime *runtime = process->op.runtime;
		runtime_errors_from_grpc(&failure, ERRORS_STREAM, err);
		if (failure.code == ERR_PROC_LOST && runtime->explain)
			runtime->explain(runtime->explain_arg, &failure);
		runtime_op_finish(&process->op, &failure);
	}
}

/* ---- start */
static bool begin(struct runtime_op *op, struct err *err)
{
	struct runtime_process *process = (struct runtime_process *)op;
	char traceparent[SPAN_TRACEPARENT_BYTES] = "";
	/* never a grpc-timeout: its expiry would kill the process */
	struct net_grpc_call_opts opts = {
		.path = "/process.v1.ProcessService/Start",
		.message = process->request,
		.on_message = on_message,
		.manual_window = true,
		.done = on_done,
		.arg = process,
	};

	telemetry_span_traceparent(op->span, traceparent);
	if (traceparent[0])
		opts.traceparent = traceparent;
	process->conn = op->runtime->current;
	op->call = net_grpc_start(process->conn->grpc, &opts, err);
	return op->call != NULL;
}

static int clamp(int size)
{
	return size < 0 ? 0 : size > 65535 ? 65535 : size;
}

struct runtime_process *runtime_process_start(
	struct runtime *runtime, const struct runtime_start_opts *opts, struct err *err)
{
	if (runtime->read_only) {
		err_set(err, ERR_OP_READ_ONLY, "no process is started: read-only");
		return NULL;
	}
	if (runtime->kind == RUNTIME_LEGACY) {
		runtime_unsupported(err, "a process with streams");
		return NULL;
	}
	const char *cwd = opts->cwd ? opts->cwd : runtime->cwd;
	if (!runtime_process_argv_check(opts->argv, opts->env, err) ||
		!runtime_cwd_is_allowed(cwd, err))
		return NULL;
	struct runtime_process *process = runtime_op_new(runtime, sizeof *process, LANE_GRPC,
		opts->init_timeout_ms > 0 ? opts->init_timeout_ms
					  : setting_get(SETTING_START_TIMEOUT),
		"command.start", opts->parent);
	struct runtime_message_config config = { opts->argv, opts->env, cwd };
	size_t n;

	process->op.timeout_text = "the process did not start in time";
	process->op.begin = begin;
	process->op.complete = complete;
	process->op.detach = detach;
	process->op.release = release;
	process->opts = *opts;
	process->opts.argv = process->opts.env = NULL;
	process->opts.cwd = NULL;
	process->opts.parent = NULL;
	process->cols = clamp(opts->pty_cols);
	process->rows = clamp(opts->pty_rows);
	process->is_pty = process->cols > 0 || process->rows > 0;
	process->is_size_due = process->cols > 0 && process->rows > 0;
	process->cwd = x_strdup(cwd);
	char *request = runtime_message_start(&config, process->cols, process->rows, &n);
	process->request = (struct slice){ request, n };
	runtime_stdin_init(process);
	telemetry_span_set_str(process->op.span, "sandbox.command.executable",
		runtime_process_executable(opts->argv));
	if (!runtime_op_launch(&process->op, err))
		return NULL;
	process->op.refs++; /* the handle's */
	return process;
}

/* ---- the caller's hand */
void runtime_process_consumed(struct runtime_process *process, size_t bytes)
{
	if (bytes > process->unconsumed_bytes)
		bytes = process->unconsumed_bytes;
	process->unconsumed_bytes -= bytes;
	if (bytes && process->op.runtime && process->op.call)
		net_grpc_consumed(process->op.call, bytes);
}

void runtime_process_kill(struct runtime_process *process)
{
	if (!process)
		return;
	if (!process->op.runtime) {
		runtime_op_unref(&process->op);
		return;
	}
	process->opts.on_init = NULL;
	process->opts.on_output = NULL;
	process->opts.on_exit = NULL;
	process->on_drained = NULL;
	if (process->op.is_waiting || !process->op.call) {
		/* nothing runs yet, or nothing runs any more */
		runtime_op_end_silently(&process->op);
	} else {
		count_killing(process, true);
		runtime_stdin_drop(process);
		runtime_process_consumed(process, process->unconsumed_bytes);
		if (!process->has_exit)
			runtime_process_signal(process, RUNTIME_SIGKILL, NULL);
		runtime_op_set_timeout(&process->op, setting_get(SETTING_DRAIN_TIMEOUT));
	}
	runtime_op_unref(&process->op);
}

void runtime_process_free(struct runtime_process *process)
{
	runtime_process_kill(process);
}
