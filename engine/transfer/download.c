// SPDX-License-Identifier: Apache-2.0
/* From a sandbox to a local target (target.c), or to a stream. */
#include "engine/transfer/internal.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- stream */
static bool hold(struct transfer_job *job, const char *bytes, size_t n)
{
	evbuffer_add(job->buffer, bytes, n);
	event_add(job->ready, NULL);
	job->is_read_paused = true;
	return false; /* pauses the read */
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct transfer_job *job = arg;
	struct err err = { 0 };
	size_t n = evbuffer_get_contiguous_space(job->buffer), written;
	const char *bytes = (const char *)evbuffer_pullup(job->buffer, (ev_ssize_t)n);

	(void)what;
	if (!transfer_local_write_all((int)fd, bytes, n, &written, &err)) {
		transfer_job_fail(job, &err);
		return;
	}
	evbuffer_drain(job->buffer, written);
	if (evbuffer_get_length(job->buffer)) {
		event_add(job->ready, NULL);
	} else if (job->is_read_done) {
		transfer_job_data_done(job);
	} else if (job->is_read_paused && !job->transfer->is_paused) {
		job->is_read_paused = false;
		transfer_stream_resume(job);
	}
}

/* ---- bytes */
static void on_info(void *arg, int64_t total_bytes, int64_t modified_s)
{
	struct transfer_job *job = arg;
	struct transfer *transfer = job->transfer;

	job->total_bytes = total_bytes;
	if (modified_s >= 0)
		job->modified_s = modified_s;
	/* the plan's size is older than this one */
	transfer_job_set_size(job, total_bytes);
	if (transfer->to.kind == END_LOCAL)
		transfer_local_reserve(job->to_fd, total_bytes, &job->failure);
}

static bool on_bytes(void *arg, struct slice bytes, struct err *err)
{
	struct transfer_job *job = arg;
	struct transfer *transfer = job->transfer;
	size_t written = 0;

	if (job->failure.code != ERR_NONE) {
		err_copy(err, &job->failure);
		return false;
	}
	int fd = transfer->to.kind == END_FD ? transfer->to.fd : job->to_fd;
	transfer_job_take_bytes(job, bytes.p, bytes.n);
	if (job->buffer && evbuffer_get_length(job->buffer))
		return hold(job, bytes.p, bytes.n);
	if (!transfer_local_write_all(fd, bytes.p, bytes.n, &written, err))
		return false;
	if (written < bytes.n)
		return hold(job, bytes.p + written, bytes.n - written);
	if (job->bytes - job->flushed_bytes >= TRANSFER_FLUSH_BYTES &&
		transfer_target_replaces(job)) {
		transfer_local_begin_flush(
			fd, job->flushed_bytes, job->bytes - job->flushed_bytes);
		job->flushed_bytes = job->bytes;
	}
	job->is_read_paused = transfer->is_paused;
	return !transfer->is_paused;
}

static void on_read(void *arg, const struct err *err, int64_t bytes_read)
{
	struct transfer_job *job = arg;
	struct err failure = { 0 };
	struct stat st;

	(void)bytes_read;
	transfer_stream_ended(job);
	job->is_read_done = job->is_data_over = true;
	if (!err && job->failure.code != ERR_NONE)
		err = &job->failure;
	if (err) {
		transfer_job_fail(job, err);
	} else if (job->transfer->to.kind == END_FD) {
		if (!job->buffer || !evbuffer_get_length(job->buffer))
			transfer_job_data_done(job);
	} else if (fstat(job->to_fd, &st) < 0 || st.st_size != job->bytes) {
		err_set(&failure, ERR_FILE_VERIFY, "%s is %lld bytes long instead of %lld",
			job->to_name, (long long)st.st_size, (long long)job->bytes);
		transfer_job_fail(job, &failure);
	} else {
		transfer_job_data_done(job);
	}
}

static bool open_stream(struct transfer_job *job, struct err *err)
{
	struct transfer_internal_end *to = &job->transfer->to;

	if (!transfer_local_make_nonblocking(to, err))
		return false;
	job->buffer = evbuffer_new();
	job->ready = event_new(
		net_loop_base(job->transfer->loop), to->fd, EV_WRITE, on_writable, job);
	return true;
}

void transfer_download_start(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->to.kind == END_FD ? !open_stream(job, &err)
					: !transfer_target_open(job, &err)) {
		transfer_job_fail(job, &err);
		return;
	}
	char *path = transfer_directory_from_path(transfer, job->dir, job->name);
	struct runtime_read_opts opts = {
		.path = path,
		.if_unmodified_since_s = -1,
		.on_info = on_info,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = job,
	};
	bool ok = transfer_stream_start(job, &opts, &err);
	free(path);
	if (!ok)
		transfer_job_fail(job, &err);
}
