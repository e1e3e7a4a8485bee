// SPDX-License-Identifier: Apache-2.0
/* Operations on names: list, stat, delete. A directory is told from a file by the Content-Type of the answer: a
 * file is always application/octet-stream, whatever is in it. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"
#include "engine/runtime/legacy.h"
#include "engine/runtime/listing.h"

#include <stdlib.h>

struct name_op {
	struct runtime_op op;
	char *path;
	bool recursive;
	struct runtime_rest_failure failure;
	struct runtime_listing *listing;
	struct runtime_stat stat;
	union {
		void (*list)(void *arg, const struct err *err,
			const struct runtime_entry *entries, size_t n, size_t n_hidden);
		void (*stat)(void *arg, const struct err *err, const struct runtime_stat *st);
		void (*delete_)(void *arg, const struct err *err);
	} done;
	void *arg;
};

static void release(struct runtime_op *op)
{
	struct name_op *name = (struct name_op *)op;

	runtime_listing_free(name->listing);
	free(name->path);
}

static struct name_op *name_new(struct runtime *runtime, const char *path, enum path_use use,
	int64_t timeout_ms, const char *span_name, struct err *err)
{
	if (!path_check(path, use, err))
		return NULL;
	struct name_op *name = runtime_op_new(runtime, sizeof *name, LANE_REST,
		timeout_ms > 0 ? timeout_ms : setting_get(SETTING_FILE_TIMEOUT), span_name,
		NULL);
	name->path = path_normalize(path);
	name->op.release = release;
	telemetry_span_set_path(name->op.span, "sandbox.file.path", name->path);
	return name;
}

static struct runtime_op *launched(struct name_op *name, struct err *err)
{
	return runtime_op_launch(&name->op, err) ? &name->op : NULL;
}

/* "demo/a.txt: path does not exist…": which path is meant. */
static void say_path(struct name_op *name, struct err *err)
{
	if (err->code != ERR_OP_TIMEOUT)
		err_prefix(err, "%s", name->path[0] ? name->path : "/");
}

static void finish_failed(struct name_op *name, enum runtime_errors_rest kind)
{
	struct err err = { 0 };

	runtime_route_error(name->op.runtime, &err, kind, name->failure.status,
		(struct slice){ name->failure.bytes, name->failure.n });
	say_path(name, &err);
	runtime_op_finish(&name->op, &err);
}

static bool on_body(void *arg, struct slice bytes, struct err *err)
{
	struct name_op *name = arg;

	if (name->failure.status)
		runtime_rest_failure_add(&name->failure, bytes);
	else if (name->listing)
		return runtime_listing_feed(name->listing, bytes, err);
	return true;
}

/* ---- list */
static bool on_list_reply(void *arg, const struct net_http_reply *reply, struct err *err)
{
	struct name_op *name = arg;

	if (reply->status != 200) {
		name->failure.status = reply->status;
		return true;
	}
	if (name->op.runtime->kind != RUNTIME_LEGACY && !runtime_rest_is_json(reply))
		return err_set(err, ERR_FILE_NOT_DIR, "it is a file, not a directory");
	return true;
}

/* The legacy runtime sends the bare array: it is put where sandboxd has it. */
static bool open_listing(struct name_op *name, struct err *err)
{
	name->listing = runtime_listing_new();
	return name->op.runtime->kind != RUNTIME_LEGACY ||
	       runtime_listing_feed(name->listing, slice_of("{\"entries\":"), err);
}

static bool close_listing(struct name_op *name, struct err *err)
{
	if (name->op.runtime->kind == RUNTIME_LEGACY &&
		!runtime_listing_feed(name->listing, slice_of("}"), err))
		return false;
	return runtime_listing_finish(name->listing, err);
}

static void on_list_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct name_op *name = arg;
	struct err failure = { 0 };

	(void)body;
	runtime_rest_ended(&name->op, err);
	if (name->failure.status && reply) {
		finish_failed(name, ERRORS_READ);
		return;
	}
	if (err)
		err_copy(&failure, err);
	else if (close_listing(name, &failure)) {
		size_t n, n_hidden;
		runtime_listing_entries(name->listing, &n, &n_hidden);
		telemetry_span_set_int(name->op.span, "sandbox.file.count", (int64_t)n);
		runtime_op_finish(&name->op, NULL);
		return;
	}
	say_path(name, &failure);
	runtime_op_finish(&name->op, &failure);
}

static bool begin_list(struct runtime_op *op, struct err *err)
{
	struct name_op *name = (struct name_op *)op;
	if (!open_listing(name, err))
		return false;
	char *url = runtime_route_url(op->runtime, "list", name->path);
	struct net_http_opts opts = {
		.method = "GET",
		.url = url,
		.max_body_bytes = op->runtime->max_listing_bytes,
		.on_reply = on_list_reply,
		.on_body = on_body,
		.done = on_list_done,
		.arg = name,
	};

	bool ok = runtime_rest_start(op, &opts, err);
	free(url);
	return ok;
}

static void complete_list(struct runtime_op *op, const struct err *err)
{
	struct name_op *name = (struct name_op *)op;
	const struct runtime_entry *entries = NULL;
	size_t n = 0, n_hidden = 0;

	if (!err)
		entries = runtime_listing_entries(name->listing, &n, &n_hidden);
	name->done.list(name->arg, err, entries, n, n_hidden);
}

struct runtime_op *runtime_list_start(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_entry *entries,
		size_t n, size_t n_hidden),
	void *arg, struct err *err)
{
	struct name_op *name =
		name_new(runtime, path, PATH_READ, timeout_ms, "files.list", err);

	if (!name)
		return NULL;
	name->op.begin = begin_list;
	name->op.complete = complete_list;
	name->done.list = done;
	name->arg = arg;
	return launched(name, err);
}

/* The request is over. True if there is no reply: the operation has been finished with the reason and the path. */
static bool has_ended_without_reply(struct name_op *name, const struct err *err)
{
	runtime_rest_ended(&name->op, err);
	if (!err)
		return false;
	struct err failure = *err;
	say_path(name, &failure);
	runtime_op_finish(&name->op, &failure);
	return true;
}

/* ---- stat */
static void on_stat_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct name_op *name = arg;

	(void)body;
	if (has_ended_without_reply(name, err))
		return;
	if (reply->status != 200) {
		name->failure.status = reply->status;
		finish_failed(name, ERRORS_READ);
		return;
	}
	name->stat.is_dir = runtime_rest_is_json(reply);
	name->stat.size_bytes = name->stat.is_dir ? -1 : reply->content_length;
	name->stat.modified_s = runtime_rest_modified_s(reply);
	runtime_op_finish(&name->op, NULL);
}

static bool begin_stat(struct runtime_op *op, struct err *err)
{
	struct name_op *name = (struct name_op *)op;
	char *url = path_to_url(name->path);
	struct net_http_opts opts = {
		.method = "HEAD",
		.url = url,
		.done = on_stat_done,
		.arg = name,
	};

	bool ok = runtime_rest_start(op, &opts, err);
	free(url);
	return ok;
}

static void complete_stat(struct runtime_op *op, const struct err *err)
{
	struct name_op *name = (struct name_op *)op;

	name->done.stat(name->arg, err, err ? NULL : &name->stat);
}

struct runtime_op *runtime_stat_start(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st),
	void *arg, struct err *err)
{
	if (runtime->kind == RUNTIME_LEGACY)
		return runtime_legacy_stat(runtime, path, timeout_ms, done, arg, err);
	struct name_op *name =
		name_new(runtime, path, PATH_READ, timeout_ms, "files.exists", err);

	if (!name)
		return NULL;
	name->op.begin = begin_stat;
	name->op.complete = complete_stat;
	name->done.stat = done;
	name->arg = arg;
	return launched(name, err);
}

/* ---- delete */
static void on_delete_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct name_op *name = arg;

	if (has_ended_without_reply(name, err))
		return;
	if (reply->status == 204 || reply->status == 200) {
		runtime_op_finish(&name->op, NULL);
		return;
	}
	name->failure.status = reply->status;
	runtime_rest_failure_add(&name->failure, body);
	finish_failed(name, ERRORS_DELETE);
}

static bool begin_delete(struct runtime_op *op, struct err *err)
{
	struct name_op *name = (struct name_op *)op;
	char *path = path_to_url(name->path);
	char *url = x_asprintf("%s%s", path, name->recursive ? "?recursive=true" : "");
	struct net_http_opts opts = {
		.method = "DELETE",
		.url = url,
		.max_body_bytes = 64 << 10,
		.done = on_delete_done,
		.arg = name,
	};

	bool ok = runtime_rest_start(op, &opts, err);
	free(url);
	free(path);
	return ok;
}

static void complete_delete(struct runtime_op *op, const struct err *err)
{
	struct name_op *name = (struct name_op *)op;

	name->done.delete_(name->arg, err);
}

struct runtime_op *runtime_delete_start(struct runtime *runtime, const char *path,
	bool recursive, int64_t timeout_ms, void (*done)(void *arg, const struct err *err),
	void *arg, struct err *err)
{
	if (runtime->read_only) {
		err_set(err, ERR_OP_READ_ONLY, "delete %s: read-only", path);
		return NULL;
	}
	if (!runtime_can(runtime, RUNTIME_CAN_DELETE)) {
		runtime_unsupported(err, "deleting");
		return NULL;
	}
	struct name_op *name =
		name_new(runtime, path, PATH_WRITE, timeout_ms, "files.delete", err);
	if (!name)
		return NULL;
	name->recursive = recursive;
	name->op.begin = begin_delete;
	name->op.complete = complete_delete;
	name->done.delete_ = done;
	name->arg = arg;
	return launched(name, err);
}
