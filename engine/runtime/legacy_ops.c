// SPDX-License-Identifier: Apache-2.0
/* Operations that go another way in the legacy runtime: execute by one POST, stat by exists and a listing. */
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/runtime/internal.h"
#include "engine/runtime/legacy.h"
#include "engine/runtime/listing.h"

#include <stdlib.h>

enum {
	MAX_EXISTS_BYTES = 64 << 10,
};

/* ---- execute */
struct execute {
	struct runtime_op op;
	char *body;
	struct runtime_legacy_result result;
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result);
	void *arg;
};

static void release_execute(struct runtime_op *op)
{
	struct execute *execute = (struct execute *)op;

	runtime_legacy_result_deinit(&execute->result);
	free(execute->body);
}

static void complete_execute(struct runtime_op *op, const struct err *err)
{
	struct execute *execute = (struct execute *)op;
	const struct runtime_result result = {
		.exit_code = execute->result.exit_code,
		.out = slice_of(execute->result.out),
		.err_out = slice_of(execute->result.err_out),
	};

	execute->done(execute->arg, err, err ? NULL : &result);
}

static void on_executed(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct execute *execute = arg;
	struct err failure = { 0 };

	runtime_rest_ended(&execute->op, err);
	if (err && err->code == ERR_LIMIT_RESPONSE)
		err_set(&failure, ERR_LIMIT_OUTPUT, "the output is over %zu bytes",
			execute->op.runtime->max_execute_bytes);
	else if (err)
		failure = *err;
	else if (reply->status != 200)
		runtime_route_error(
			execute->op.runtime, &failure, ERRORS_DAEMON, reply->status, body);
	else if (runtime_legacy_result_parse(body, &execute->result, &failure))
		telemetry_span_set_int(
			execute->op.span, "sandbox.exit_code", execute->result.exit_code);
	runtime_op_finish(&execute->op, failure.code != ERR_NONE ? &failure : NULL);
}

static bool begin_execute(struct runtime_op *op, struct err *err)
{
	struct execute *execute = (struct execute *)op;
	static const struct net_http_header type = { "Content-Type", "application/json" };
	struct net_http_opts opts = {
		.method = "POST",
		.url = "/execute",
		.headers = &type,
		.n_headers = 1,
		.body = slice_of(execute->body),
		.max_body_bytes = op->runtime->max_execute_bytes,
		.done = on_executed,
		.arg = execute,
	};

	return runtime_rest_start(op, &opts, err);
}

struct runtime_op *runtime_legacy_execute(struct runtime *runtime, const char *const *argv,
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
	char *body = runtime_legacy_execute_body(argv, env, cwd, err);
	if (!body)
		return NULL;
	struct execute *execute = runtime_op_new(runtime, sizeof *execute, LANE_REST,
		timeout_ms > 0 ? timeout_ms : setting_get(SETTING_LEGACY_COMMAND_TIMEOUT),
		"run", NULL);
	execute->body = body;
	execute->done = done;
	execute->arg = arg;
	execute->op.timeout_text = "the command did not end in time";
	execute->op.begin = begin_execute;
	execute->op.complete = complete_execute;
	execute->op.release = release_execute;
	telemetry_span_set_str(execute->op.span, "sandbox.command.executable",
		runtime_process_executable(argv));
	return runtime_op_launch(&execute->op, err) ? &execute->op : NULL;
}

/* ---- stat */
struct stat_op {
	struct runtime_op op;
	char *path;
	struct runtime_listing *listing; /* of the folder it is in */
	struct runtime_stat stat;
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st);
	void *arg;
};

static void release_stat(struct runtime_op *op)
{
	struct stat_op *stat = (struct stat_op *)op;

	runtime_listing_free(stat->listing);
	free(stat->path);
}

static void complete_stat(struct runtime_op *op, const struct err *err)
{
	struct stat_op *stat = (struct stat_op *)op;

	stat->done(stat->arg, err, err ? NULL : &stat->stat);
}

static void fail_stat(struct stat_op *stat, const struct err *err)
{
	struct err said = *err;

	if (said.code != ERR_OP_TIMEOUT)
		err_prefix(&said, "%s", stat->path[0] ? stat->path : "/");
	runtime_op_finish(&stat->op, &said);
}

static bool find(struct stat_op *stat, struct err *err)
{
	const char *name = path_base(stat->path);
	size_t n, n_hidden;
	const struct runtime_entry *entries =
		runtime_listing_entries(stat->listing, &n, &n_hidden);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(entries[i].name, name) != 0)
			continue;
		stat->stat.is_dir = entries[i].is_dir;
		stat->stat.size_bytes = entries[i].is_dir ? -1 : entries[i].size_bytes;
		stat->stat.modified_s = entries[i].modified_s;
		return true;
	}
	return err_set(err, ERR_FILE_NOT_FOUND, "it exists, but no listing shows it");
}

static void on_folder(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct stat_op *stat = arg;
	struct err failure = { 0 };

	runtime_rest_ended(&stat->op, err);
	stat->listing = runtime_listing_new();
	if (err)
		failure = *err;
	else if (reply->status != 200)
		runtime_route_error(
			stat->op.runtime, &failure, ERRORS_READ, reply->status, body);
	else if (runtime_listing_feed(stat->listing, slice_of("{\"entries\":"), &failure) &&
		 runtime_listing_feed(stat->listing, body, &failure) &&
		 runtime_listing_feed(stat->listing, slice_of("}"), &failure) &&
		 runtime_listing_finish(stat->listing, &failure))
		find(stat, &failure);
	if (failure.code != ERR_NONE)
		fail_stat(stat, &failure);
	else
		runtime_op_finish(&stat->op, NULL);
}

static bool get(struct stat_op *stat, const char *endpoint, const char *path, size_t max_bytes,
	void (*done)(void *arg, const struct err *err, const struct net_http_reply *reply,
		struct slice body),
	struct err *err)
{
	char *url = runtime_legacy_url(endpoint, path);
	struct net_http_opts opts = {
		.method = "GET",
		.url = url,
		.max_body_bytes = max_bytes,
		.done = done,
		.arg = stat,
	};
	bool ok = runtime_rest_start(&stat->op, &opts, err);

	free(url);
	return ok;
}

static bool look_into_folder(struct stat_op *stat, struct err *err)
{
	const char *slash = strrchr(stat->path, '/');
	char *folder =
		slash ? x_strndup(stat->path, (size_t)(slash - stat->path)) : x_strdup("");
	bool ok =
		get(stat, "list", folder, stat->op.runtime->max_listing_bytes, on_folder, err);

	free(folder);
	return ok;
}

/* True: it is there. */
static bool take_exists(struct slice body, struct err *err)
{
	cJSON *json = json_parse(body, err);
	if (!json)
		return false;
	const cJSON *exists = json_get(json, "exists", NULL);
	if (!cJSON_IsBool(exists))
		err_set(err, ERR_RUNTIME_PROTOCOL, "the answer does not say whether it exists");
	else if (!cJSON_IsTrue(exists))
		err_set(err, ERR_FILE_NOT_FOUND, "path does not exist within the sandbox");
	bool ok = cJSON_IsTrue(exists);
	cJSON_Delete(json);
	return ok;
}

static void on_exists(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct stat_op *stat = arg;
	struct err failure = { 0 };

	runtime_rest_ended(&stat->op, err);
	if (err)
		failure = *err;
	else if (reply->status != 200)
		runtime_route_error(
			stat->op.runtime, &failure, ERRORS_READ, reply->status, body);
	else if (take_exists(body, &failure) && stat->path[0])
		look_into_folder(stat, &failure);
	if (failure.code != ERR_NONE)
		fail_stat(stat, &failure);
	else if (!stat->path[0])
		runtime_op_finish(&stat->op, NULL);
}

static bool begin_stat(struct runtime_op *op, struct err *err)
{
	struct stat_op *stat = (struct stat_op *)op;

	return get(stat, "exists", stat->path, MAX_EXISTS_BYTES, on_exists, err);
}

struct runtime_op *runtime_legacy_stat(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st),
	void *arg, struct err *err)
{
	if (!path_check(path, PATH_READ, err))
		return NULL;
	struct stat_op *stat = runtime_op_new(runtime, sizeof *stat, LANE_REST,
		timeout_ms > 0 ? timeout_ms : setting_get(SETTING_FILE_TIMEOUT), "files.exists",
		NULL);
	stat->path = path_normalize(path);
	stat->stat =
		(struct runtime_stat){ .is_dir = true, .size_bytes = -1, .modified_s = -1 };
	stat->done = done;
	stat->arg = arg;
	stat->op.begin = begin_stat;
	stat->op.complete = complete_stat;
	stat->op.release = release_stat;
	telemetry_span_set_path(stat->op.span, "sandbox.file.path", stat->path);
	return runtime_op_launch(&stat->op, err) ? &stat->op : NULL;
}
