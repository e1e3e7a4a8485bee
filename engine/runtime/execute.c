// SPDX-License-Identifier: Apache-2.0
/* Execute: a command whose whole output comes in one answer. Its input is /dev/null. The daemon has been seen to
 * answer OK with -1 when the deadline passes there first: only our own clock counts. */
#include "engine/base/mem.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"
#include "engine/runtime/messages.h"

#include <stdlib.h>

enum { DEFAULT_MS = 60 * 1000 };

struct execute_op {
	struct runtime_op op;
	struct slice request;
	char *cwd;
	struct cwd_check *check;
	struct message_result result;
	struct err failure;
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result);
	void *arg;
};

static void detach(struct runtime_op *op)
{
	struct execute_op *execute = (struct execute_op *)op;

	runtime_cwd_check_cancel(execute->check);
	execute->check = NULL;
}

static void release(struct runtime_op *op)
{
	struct execute_op *execute = (struct execute_op *)op;

	runtime_message_result_deinit(&execute->result);
	free((void *)(uintptr_t)execute->request.p);
	free(execute->cwd);
}

static void complete(struct runtime_op *op, const struct err *err)
{
	struct execute_op *execute = (struct execute_op *)op;
	struct runtime_result result = {
		.exit_code = execute->result.exit_code,
		.out = execute->result.out,
		.err_out = execute->result.err_out,
	};

	execute->done(execute->arg, err, err ? NULL : &result);
}

static void on_message(void *arg, struct slice message)
{
	struct execute_op *execute = arg;
	struct err err = { 0 };

	runtime_message_result_deinit(&execute->result);
	if (!runtime_message_result_parse(message, &execute->result, &err))
		runtime_op_finish(&execute->op, &err);
}

static void on_cwd_checked(void *arg, bool is_missing)
{
	struct execute_op *execute = arg;

	execute->check = NULL;
	if (is_missing)
		err_set(&execute->failure, ERR_PROC_NO_CWD, "no directory %s in the sandbox",
			execute->cwd);
	runtime_op_finish(&execute->op, &execute->failure);
}

static void on_done(void *arg, const struct err *err)
{
	struct execute_op *execute = arg;

	execute->op.call = NULL;
	if (!err) {
		span_set_int(execute->op.span, "sandbox.exit_code", execute->result.exit_code);
		runtime_op_finish(&execute->op, NULL);
		return;
	}
	runtime_errors_from_grpc(&execute->failure, ERRORS_EXECUTE, err);
	if (execute->failure.code == ERR_PROC_COMMAND_NOT_FOUND && execute->cwd)
		execute->check = runtime_cwd_check_start(
			&execute->op, execute->cwd, on_cwd_checked, execute);
	if (!execute->check)
		runtime_op_finish(&execute->op, &execute->failure);
}

static bool begin(struct runtime_op *op, struct err *err)
{
	struct execute_op *execute = (struct execute_op *)op;
	char traceparent[SPAN_TRACEPARENT_BYTES] = "";
	struct grpc_call_opts opts = {
		.path = "/process.v1.ProcessService/Execute",
		.message = execute->request,
		.is_unary = true,
		/* the op's own timer ends the call here; this tells the daemon, a little later */
		.timeout_ms = runtime_op_remaining_ms(op) + 500,
		.send_timeout = true,
		.on_message = on_message,
		.done = on_done,
		.arg = execute,
	};

	span_traceparent(op->span, traceparent);
	if (traceparent[0])
		opts.traceparent = traceparent;
	op->call = grpc_start(op->runtime->current->grpc, &opts, err);
	return op->call != NULL;
}

struct runtime_op *runtime_execute_start(struct runtime *runtime, const char *const *argv,
	const char *const *env, const char *cwd, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result),
	void *arg, struct err *err)
{
	if (runtime->read_only) {
		err_set(err, ERR_OP_READ_ONLY, "no command is run: read-only");
		return NULL;
	}
	if (!runtime_process_argv_check(argv, env, err) || !runtime_cwd_is_allowed(cwd, err))
		return NULL;
	struct execute_op *execute = runtime_op_new(runtime, sizeof *execute, LANE_GRPC,
		timeout_ms > 0 ? timeout_ms : DEFAULT_MS, "run", NULL);
	struct message_config config = { argv, env, cwd };
	size_t n;
	char *request = runtime_message_execute(&config, &n);

	execute->request = (struct slice){ request, n };
	execute->cwd = x_strdup(cwd);
	execute->done = done;
	execute->arg = arg;
	execute->op.timeout_text = "the command did not end in time";
	execute->op.begin = begin;
	execute->op.complete = complete;
	execute->op.detach = detach;
	execute->op.release = release;
	span_set_str(execute->op.span, "sandbox.command.executable",
		runtime_process_executable(argv));
	return runtime_op_launch(&execute->op, err) ? &execute->op : NULL;
}
