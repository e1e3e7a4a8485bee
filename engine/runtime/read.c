// SPDX-License-Identifier: Apache-2.0
/* A file from the sandbox, streamed. A FIFO looks like a file and never answers: the wait for the first byte and
 * every pause after it have a limit. When the body ends short, one HEAD tells a file that shrank from a
 * connection that broke. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHECK_MS = 5 * 1000 };

struct read_op {
	struct runtime_op op;
	struct runtime_read_opts opts;
	char *path;
	int64_t total_bytes, modified_s; /* of the whole file, as first told; -1 unknown */
	int64_t expected_bytes;          /* of this body */
	int64_t bytes_read;
	bool has_reply, is_complete_already;
	struct runtime_rest_failure failure;
	struct err lost; /* while the HEAD is under way */
};

static void release(struct runtime_op *op)
{
	free(((struct read_op *)op)->path);
}

static void finish(struct read_op *read, const struct err *err)
{
	struct err said;

	telemetry_span_set_int(read->op.span, "sandbox.file.size", read->bytes_read);
	if (err) {
		said = *err;
		err_prefix(&said, "%s", read->path);
	}
	runtime_op_finish(&read->op, err ? &said : NULL);
}

/* "bytes 2-5/10": first and total, total -1 for '*'. */
static bool parse_content_range(const char *text, int64_t *first, int64_t *total)
{
	int64_t last;
	int n = 0;

	*total = -1;
	if (!text)
		return false;
	if (sscanf(text, "bytes %" SCNd64 "-%" SCNd64 "/%n", first, &last, &n) == 2 && n) {
		if (text[n] != '*' && sscanf(text + n, "%" SCNd64, total) != 1)
			return false;
		return *first >= 0 && last >= *first && (*total < 0 || *total > last);
	}
	*first = -1;
	return sscanf(text, "bytes */%" SCNd64, total) == 1;
}

static bool check_ranged_reply(
	struct read_op *read, const struct net_http_reply *reply, struct err *err)
{
	int64_t first = -1, total = -1;
	bool has_range = parse_content_range(
		net_http_reply_header(reply, "Content-Range"), &first, &total);

	if (reply->status == 416 && has_range && first < 0 && total == read->opts.offset) {
		/* nothing is missing: the part we have is the whole file */
		read->total_bytes = total;
		read->is_complete_already = true;
		return true;
	}
	if (reply->status == 200)
		return err_set(
			err, ERR_FILE_CHANGED, "the daemon sent the file from its start");
	if (reply->status != 206)
		return true;
	if (!has_range || first != read->opts.offset)
		return err_set(err, ERR_RUNTIME_PROTOCOL, "another range than asked for");
	/* a server may not know If-Unmodified-Since */
	if (read->opts.if_unmodified_since_s >= 0 && read->modified_s >= 0 &&
		read->modified_s != read->opts.if_unmodified_since_s)
		return err_set(err, ERR_FILE_CHANGED, "it changed since the first part came");
	read->total_bytes = total;
	return true;
}

static bool on_reply(void *arg, const struct net_http_reply *reply, struct err *err)
{
	struct read_op *read = arg;
	uint64_t max = read->op.runtime->max_download_bytes;

	read->has_reply = true;
	read->modified_s = runtime_rest_modified_s(reply);
	if (read->opts.offset > 0) {
		if (!check_ranged_reply(read, reply, err))
			return false;
		if (read->is_complete_already)
			goto told;
	}
	if (reply->status != 200 && reply->status != 206) {
		read->failure.status = reply->status;
		return true;
	}
	if (read->op.runtime->kind != RUNTIME_LEGACY && runtime_rest_is_json(reply))
		return err_set(err, ERR_FILE_IS_DIR, "it is a directory");
	read->expected_bytes = reply->content_length;
	if (reply->status == 200)
		read->total_bytes = reply->content_length;
	if (max && read->expected_bytes > 0 && (uint64_t)read->expected_bytes > max)
		return err_set(err, ERR_LIMIT_DOWNLOAD,
			"%" PRId64 " bytes; the limit is %" PRIu64, read->expected_bytes, max);
told:
	if (read->opts.on_info)
		read->opts.on_info(read->opts.arg, read->total_bytes, read->modified_s);
	return true;
}

static bool on_body(void *arg, struct slice bytes, struct err *err)
{
	struct read_op *read = arg;

	if (!read->op.runtime) /* cancelled in on_info */
		return err_set(err, ERR_OP_CANCELLED, "cancelled");
	if (read->is_complete_already)
		return true;
	if (read->failure.status) {
		runtime_rest_failure_add(&read->failure, bytes);
		return true;
	}
	uint64_t max = read->op.runtime->max_download_bytes;
	read->bytes_read += (int64_t)bytes.n;
	if (max && (uint64_t)read->bytes_read > max)
		return err_set(err, ERR_LIMIT_DOWNLOAD, "the limit is %" PRIu64 " bytes", max);
	return read->opts.on_bytes(read->opts.arg, bytes, err);
}

/* ---- why did it end short? */
static void on_check_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct read_op *read = arg;
	struct err failure = { 0 };

	(void)body;
	read->op.req = NULL;
	bool is_same = !err && reply->status == 200 && !runtime_rest_is_json(reply) &&
		       reply->content_length == read->total_bytes &&
		       runtime_rest_modified_s(reply) == read->modified_s;
	if (err || is_same) {
		runtime_connect_rest_failed(read->op.runtime, &read->lost);
		finish(read, &read->lost);
		return;
	}
	err_set(&failure, ERR_FILE_CHANGED,
		"it changed while it was read: %" PRId64 " of %" PRId64 " bytes came",
		read->bytes_read, read->expected_bytes);
	finish(read, &failure);
}

static bool check_after_short_body(struct read_op *read, const struct err *lost)
{
	char *url = path_to_url(read->path);
	struct net_http_opts opts = {
		.method = "HEAD",
		.url = url,
		.timeout_ms = CHECK_MS,
		.done = on_check_done,
		.arg = read,
	};

	read->lost = *lost;
	bool ok = runtime_rest_start(&read->op, &opts, NULL);
	free(url);
	return ok;
}

static void on_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct read_op *read = arg;
	struct err failure = { 0 };

	(void)body;
	read->op.req = NULL;
	if (read->failure.status && reply) {
		runtime_route_error(read->op.runtime, &failure, ERRORS_READ,
			read->failure.status,
			(struct slice){ read->failure.bytes, read->failure.n });
		finish(read, &failure);
	} else if (err && err->code == ERR_CONN_LOST && read->has_reply &&
		   read->op.runtime->kind != RUNTIME_LEGACY && /* which has no HEAD */
		   read->bytes_read < read->expected_bytes) {
		if (!check_after_short_body(read, err))
			finish(read, err);
	} else if (err) {
		if (err->code == ERR_OP_TIMEOUT && !read->has_reply)
			err_set(&failure, ERR_OP_TIMEOUT,
				"no answer within 30 s; a named pipe never gives one");
		else
			failure = *err;
		runtime_connect_rest_failed(read->op.runtime, &failure);
		finish(read, &failure);
	} else if (!read->is_complete_already && read->expected_bytes >= 0 &&
		   read->bytes_read != read->expected_bytes) {
		err_set(&failure, ERR_FILE_CHANGED, "%" PRId64 " of %" PRId64 " bytes came",
			read->bytes_read, read->expected_bytes);
		finish(read, &failure);
	} else {
		finish(read, NULL);
	}
}

static bool begin(struct runtime_op *op, struct err *err)
{
	struct read_op *read = (struct read_op *)op;
	struct net_http_header headers[2];
	char range[48], date[64];
	size_t n = 0;
	char *url = runtime_route_url(op->runtime, "download", read->path);
	struct net_http_opts opts = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.headers_timeout_ms = setting_get(SETTING_HEADERS_TIMEOUT),
		.stall_timeout_ms = setting_get(SETTING_STALL_TIMEOUT),
		.on_reply = on_reply,
		.on_body = on_body,
		.done = on_done,
		.arg = read,
	};

	if (read->opts.offset > 0) {
		snprintf(range, sizeof range, "bytes=%" PRId64 "-", read->opts.offset);
		headers[n++] = (struct net_http_header){ "Range", range };
		if (read->opts.if_unmodified_since_s >= 0) {
			time_t t = (time_t)read->opts.if_unmodified_since_s;
			struct tm tm;
			gmtime_r(&t, &tm);
			strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
			headers[n++] = (struct net_http_header){ "If-Unmodified-Since", date };
		}
	}
	opts.n_headers = n;
	bool ok = runtime_rest_start(op, &opts, err);
	free(url);
	return ok;
}

static void complete(struct runtime_op *op, const struct err *err)
{
	struct read_op *read = (struct read_op *)op;

	read->opts.done(read->opts.arg, err, read->bytes_read);
}

static void resume_read(struct runtime_op *op)
{
	net_http_resume_download(op->req);
}

struct runtime_op *runtime_read_start(
	struct runtime *runtime, const struct runtime_read_opts *opts, struct err *err)
{
	if (!path_check(opts->path, PATH_READ, err))
		return NULL;
	char *path = path_normalize(opts->path);
	if (!*path) {
		free(path);
		err_set(err, ERR_FILE_IS_DIR, "the sandbox root is a directory");
		return NULL;
	}
	struct read_op *read =
		runtime_op_new(runtime, sizeof *read, LANE_REST, 0, "files.read", NULL);
	read->opts = *opts;
	read->path = path;
	read->opts.path = path;
	read->total_bytes = read->expected_bytes = read->modified_s = -1;
	read->op.begin = begin;
	read->op.complete = complete;
	read->op.release = release;
	read->op.resume = resume_read;
	telemetry_span_set_path(read->op.span, "sandbox.file.path", path);
	return runtime_op_launch(&read->op, err) ? &read->op : NULL;
}
