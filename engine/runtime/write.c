// SPDX-License-Identifier: Apache-2.0
/* A file into the sandbox, streamed. The daemon writes beside the target and renames at the end, so a body
 * that we break off leaves the old file. An early refusal comes as an answer followed by a reset: the answer counts,
 * not the failed send; and over 1 MiB the daemon is asked first (Expect: 100-continue).
 * The stall clock runs while bytes can be taken from the caller, and once more, longer, while the daemon
 * syncs the file to its disk. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"
#include "engine/runtime/legacy.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	SYNC_BYTES_PER_MS = 2 << 10, /* a very slow disk: 2 MiB a second */
	EXPECT_OVER_BYTES = 1 << 20,
};

struct write_op {
	struct runtime_op op;
	struct runtime_write_opts opts;
	char *path;
	int64_t bytes_sent;
	bool is_sent, is_paused;
	struct err own; /* why we broke it off */
	/* the legacy runtime takes a form, with the file as its only part */
	struct runtime_legacy_form form;
	size_t head_at, tail_at;
	bool is_file_ended;
};

static void release(struct runtime_op *op)
{
	struct write_op *write = (struct write_op *)op;

	runtime_legacy_form_deinit(&write->form);
	free(write->path);
}

static void arm(struct write_op *write)
{
	if (write->is_paused)
		runtime_op_set_timeout(&write->op, 0);
	else if (write->is_sent)
		runtime_op_set_timeout(
			&write->op, setting_get(SETTING_STALL_TIMEOUT) +
					    write->bytes_sent / SYNC_BYTES_PER_MS);
	else
		runtime_op_set_timeout(&write->op, setting_get(SETTING_STALL_TIMEOUT));
}

static void finish(struct write_op *write, const struct err *err)
{
	struct err said;

	telemetry_span_set_int(write->op.span, "sandbox.file.size", write->bytes_sent);
	if (err) {
		said = *err;
		err_prefix(&said, "%s", write->path);
	}
	runtime_op_finish(&write->op, err ? &said : NULL);
}

static long abort_with(struct write_op *write, struct err *err)
{
	err_copy(err, &write->own);
	return HTTP_BODY_ABORT;
}

static long on_read_body(void *arg, char *into, size_t room, struct err *err)
{
	struct write_op *write = arg;
	int64_t total = write->opts.total_bytes;

	if (!write->op.runtime || write->own.code != ERR_NONE)
		return abort_with(write, err);
	if (total >= 0 && (uint64_t)(total - write->bytes_sent) < room)
		room = (size_t)(total - write->bytes_sent);
	long n = room ? write->opts.read_bytes(write->opts.arg, into, room, &write->own) : 0;
	if (!write->op.runtime) /* cancelled in there */
		return HTTP_BODY_ABORT;
	uint64_t max = write->op.runtime->max_upload_bytes;
	if (n == HTTP_BODY_ABORT) {
		if (write->own.code == ERR_NONE)
			err_set(&write->own, ERR_OP_CANCELLED, "broken off");
		return abort_with(write, err);
	}
	write->is_paused = n == HTTP_BODY_PAUSE;
	if (write->is_paused) {
		arm(write);
		return n;
	}
	if (n == 0 && total >= 0 && write->bytes_sent < total) {
		err_set(&write->own, ERR_FILE_CHANGED,
			"the source ended after %" PRId64 " of %" PRId64 " bytes",
			write->bytes_sent, total);
		return abort_with(write, err);
	}
	write->bytes_sent += n;
	if (max && (uint64_t)write->bytes_sent > max) {
		err_set(&write->own, ERR_LIMIT_UPLOAD, "the limit is %" PRIu64 " bytes", max);
		return abort_with(write, err);
	}
	write->is_sent = n == 0 || write->bytes_sent == total;
	arm(write);
	return n;
}

static long take(const char *from, size_t n, size_t *at, char *into, size_t room)
{
	size_t piece = n - *at < room ? n - *at : room;

	memcpy(into, from + *at, piece);
	*at += piece;
	return (long)piece;
}

static long on_read_form(void *arg, char *into, size_t room, struct err *err)
{
	struct write_op *write = arg;
	const struct runtime_legacy_form *form = &write->form;

	if (!write->op.runtime)
		return HTTP_BODY_ABORT;
	if (write->head_at < form->head_n)
		return take(form->head, form->head_n, &write->head_at, into, room);
	if (!write->is_file_ended) {
		long n = on_read_body(write, into, room, err);
		if (n != 0)
			return n;
		write->is_file_ended = true;
	}
	return take(form->tail, form->tail_n, &write->tail_at, into, room);
}

static void on_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct write_op *write = arg;
	struct err failure = { 0 };

	write->op.req = NULL;
	if (write->own.code != ERR_NONE) {
		finish(write, &write->own);
	} else if (reply &&
		   (reply->status == 204 || reply->status == 200 || reply->status == 201) &&
		   (write->is_sent || write->opts.total_bytes == 0)) {
		finish(write, NULL);
	} else if (reply && reply->status >= 300) {
		runtime_route_error(
			write->op.runtime, &failure, ERRORS_WRITE, reply->status, body);
		finish(write, &failure);
	} else if (err) {
		failure = *err;
		runtime_connect_rest_failed(write->op.runtime, &failure);
		finish(write, &failure);
	} else {
		err_set(&failure, ERR_RUNTIME_PROTOCOL, "HTTP %d before the file was sent",
			reply->status);
		finish(write, &failure);
	}
}

static bool begin_form(struct write_op *write, struct err *err)
{
	const struct runtime_legacy_form *form = &write->form;
	int64_t total = write->opts.total_bytes;
	char *content_type = x_asprintf("multipart/form-data; boundary=%s", form->boundary);
	const struct net_http_header type = { "Content-Type", content_type };
	struct net_http_opts opts = {
		.method = "POST",
		.url = "/upload",
		.headers = &type,
		.n_headers = 1,
		.upload_bytes = total < 0 ? -1 : total + (int64_t)(form->head_n + form->tail_n),
		.read_body = on_read_form,
		.expect_continue = total < 0 || total > EXPECT_OVER_BYTES,
		.max_body_bytes = 64 << 10,
		.done = on_done,
		.arg = write,
	};

	arm(write);
	bool ok = runtime_rest_start(&write->op, &opts, err);
	free(content_type);
	return ok;
}

static bool begin(struct runtime_op *op, struct err *err)
{
	if (op->runtime->kind == RUNTIME_LEGACY)
		return begin_form((struct write_op *)op, err);
	struct write_op *write = (struct write_op *)op;
	static const struct net_http_header type = { "Content-Type",
		"application/octet-stream" };
	char *path = path_to_url(write->path);
	char *url = write->opts.mode < 0
			    ? x_strdup(path)
			    : x_asprintf("%s?mode=%04o", path, (unsigned)write->opts.mode);
	struct net_http_opts opts = {
		.method = "PUT",
		.url = url,
		.headers = &type,
		.n_headers = 1,
		.upload_bytes = write->opts.total_bytes,
		.read_body = on_read_body,
		.expect_continue = write->opts.total_bytes < 0 ||
				   write->opts.total_bytes > EXPECT_OVER_BYTES,
		.max_body_bytes = 64 << 10,
		.done = on_done,
		.arg = write,
	};

	arm(write);
	bool ok = runtime_rest_start(op, &opts, err);
	free(url);
	free(path);
	return ok;
}

static void complete(struct runtime_op *op, const struct err *err)
{
	struct write_op *write = (struct write_op *)op;

	write->opts.done(write->opts.arg, err);
}

static void resume_write(struct runtime_op *op)
{
	struct write_op *write = (struct write_op *)op;

	if (!write->is_paused)
		return;
	write->is_paused = false;
	arm(write);
	net_http_resume_upload(op->req);
}

static bool check(
	struct runtime *runtime, const struct runtime_write_opts *opts, struct err *err)
{
	if (runtime->read_only)
		return err_set(err, ERR_OP_READ_ONLY, "write %s: read-only", opts->path);
	if (!path_check(opts->path, PATH_WRITE, err))
		return false;
	if (opts->mode < -1 || opts->mode > 0777)
		return err_set(err, ERR_ARG_INVALID, "mode %o: only 0000 to 0777",
			(unsigned)opts->mode);
	if (opts->total_bytes > 0 && runtime->max_upload_bytes &&
		(uint64_t)opts->total_bytes > runtime->max_upload_bytes)
		return err_set(err, ERR_LIMIT_UPLOAD,
			"%" PRId64 " bytes; the limit is %" PRIu64, opts->total_bytes,
			runtime->max_upload_bytes);
	return true;
}

struct runtime_op *runtime_write_start(
	struct runtime *runtime, const struct runtime_write_opts *opts, struct err *err)
{
	if (!check(runtime, opts, err))
		return NULL;
	/* while it waits for a connection, connect.c's deadline ends it */
	struct write_op *write =
		runtime_op_new(runtime, sizeof *write, LANE_REST, 0, "files.write", NULL);
	write->op.release = release;
	write->opts = *opts;
	write->path = path_normalize(opts->path);
	write->opts.path = write->path;
	if (write->opts.total_bytes < 0)
		write->opts.total_bytes = -1;
	if (runtime->kind == RUNTIME_LEGACY &&
		!runtime_legacy_form_init(&write->form, write->path, err)) {
		runtime_op_discard(&write->op);
		return NULL;
	}
	write->op.timeout_text = "nothing moved for too long";
	write->op.begin = begin;
	write->op.complete = complete;
	write->op.resume = resume_write;
	telemetry_span_set_path(write->op.span, "sandbox.file.path", write->path);
	return runtime_op_launch(&write->op, err) ? &write->op : NULL;
}
