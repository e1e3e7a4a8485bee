// SPDX-License-Identifier: Apache-2.0
/* Execute: a command whose whole output comes in one answer. Its input is /dev/null. The daemon has been seen to
 * answer OK with -1 when the deadline passes there first: only our own clock counts. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"
#include "engine/runtime/legacy.h"
#include "engine/runtime/messages.h"

#include <stdlib.h>

struct execute_op {
	struct runtime_op op;
	struct slice request;
	char *cwd;
	struct runtime_cwd_check *check;
	struct runtime_message_result result;
	struct err failure;
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result);
	/* instead of done, for runtime_links_start() */
	void (*on_links)(void *arg, const struct err *err, const bool *is_link, size_t n);
	size_t n_links;
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

/* One '0' or '1' for each path: nothing that a file name could forge. */
static void complete_links(struct execute_op *execute, const struct err *err)
{
	const struct runtime_message_result *result = &execute->result;
	struct err failure = { 0 };
	bool *is_link = x_calloc(execute->n_links + 1, sizeof *is_link);

	if (!err && (result->exit_code != 0 || result->out.n != execute->n_links)) {
		err_set(&failure, ERR_PROC_PROTOCOL,
			"the look for links failed in the sandbox");
		err = &failure;
	}
	for (size_t i = 0; !err && i < execute->n_links; i++)
		is_link[i] = result->out.p[i] == '1';
	execute->on_links(execute->arg, err, err ? NULL : is_link, err ? 0 : execute->n_links);
	free(is_link);
}

static void complete(struct runtime_op *op, const struct err *err)
{
	struct execute_op *execute = (struct execute_op *)op;
	struct runtime_result result = {
		.exit_code = execute->result.exit_code,
		.out = execute->result.out,
		.err_out = execute->result.err_out,
	};

	if (execute->on_links)
		complete_links(execute, err);
	else
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
		telemetry_span_set_int(
			execute->op.span, "sandbox.exit_code", execute->result.exit_code);
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
	struct net_grpc_call_opts opts = {
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

	telemetry_span_traceparent(op->span, traceparent);
	if (traceparent[0])
		opts.traceparent = traceparent;
	op->call = net_grpc_start(op->runtime->current->grpc, &opts, err);
	return op->call != NULL;
}

static struct execute_op *execute_new(struct runtime *runtime, const char *const *argv,
	const char *const *env, const char *cwd, int64_t timeout_ms, struct err *err)
{
	if (runtime->read_only) {
		err_set(err, ERR_OP_READ_ONLY, "no command is run: read-only");
		return NULL;
	}
	if (cwd == NULL)
		cwd = runtime->cwd;
	if (!runtime_process_argv_check(argv, env, err) || !runtime_cwd_is_allowed(cwd, err))
		return NULL;
	struct execute_op *execute = runtime_op_new(runtime, sizeof *execute, LANE_GRPC,
		timeout_ms > 0 ? timeout_ms : setting_get(SETTING_COMMAND_TIMEOUT), "run",
		NULL);
	struct runtime_message_config config = { argv, env, cwd };
	size_t n;
	char *request = runtime_message_execute(&config, &n);

	execute->request = (struct slice){ request, n };
	execute->cwd = x_strdup(cwd);
	execute->op.timeout_text = "the command did not end in time";
	execute->op.begin = begin;
	execute->op.complete = complete;
	execute->op.detach = detach;
	execute->op.release = release;
	telemetry_span_set_str(execute->op.span, "sandbox.command.executable",
		runtime_process_executable(argv));
	return execute;
}

struct runtime_op *runtime_execute_start(struct runtime *runtime, const char *const *argv,
	const char *const *env, const char *cwd, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result),
	void *arg, struct err *err)
{
	if (runtime->kind == RUNTIME_LEGACY)
		return runtime_legacy_execute(
			runtime, argv, env, cwd, timeout_ms, done, arg, err);
	struct execute_op *execute = execute_new(runtime, argv, env, cwd, timeout_ms, err);
	if (!execute)
		return NULL;
	execute->done = done;
	execute->arg = arg;
	return runtime_op_launch(&execute->op, err) ? &execute->op : NULL;
}

struct runtime_op *runtime_links_start(struct runtime *runtime, const char *const *paths,
	size_t n, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const bool *is_link, size_t n),
	void *arg, struct err *err)
{
	static const char *const script[] = { "sh", "-c",
		"for p; do if [ -L \"$p\" ]; then printf 1; else printf 0; fi; done", "sh" };
	enum { SCRIPT = sizeof script / sizeof *script };

	if (runtime->kind == RUNTIME_LEGACY) {
		runtime_unsupported(err, "looking for links");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (!path_check(paths[i], PATH_READ, err))
			return NULL;
	if (n == 0 || n > RUNTIME_MAX_LINKS) {
		err_set(err, ERR_ARG_INVALID, "%zu paths; at most %d at a time", n,
			RUNTIME_MAX_LINKS);
		return NULL;
	}
	const char **argv = x_calloc(SCRIPT + n + 1, sizeof *argv);
	char **safe = x_calloc(n, sizeof *safe);
	memcpy(argv, script, sizeof script);
	for (size_t i = 0; i < n; i++) {
		/* never an option, and no trailing slash, which would follow the link */
		char *plain = path_normalize(paths[i]);
		argv[SCRIPT + i] = safe[i] = x_asprintf("./%s", plain);
		free(plain);
	}
	struct execute_op *execute = execute_new(runtime, argv, NULL, NULL, timeout_ms, err);
	for (size_t i = 0; i < n; i++)
		free(safe[i]);
	free(safe);
	free(argv);
	if (!execute)
		return NULL;
	execute->on_links = done;
	execute->n_links = n;
	execute->arg = arg;
	return runtime_op_launch(&execute->op, err) ? &execute->op : NULL;
}
