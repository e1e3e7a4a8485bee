// SPDX-License-Identifier: Apache-2.0
/* From one sandbox to another (or within one) without touching the disk: a read that fills a bounded buffer, and
 * a write that empties it; each pauses while the other is behind. The write begins when the read knows its size. */
#include "engine/base/mem.h"
#include "engine/net/http.h"
#include "engine/transfer/internal.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>

static void start_write(struct transfer_job *job);

/* The two bodies must not start or resume each other from inside their own callbacks (libcurl refuses): that
 * happens in the next turn. */
static void on_next_turn(evutil_socket_t fd, short what, void *arg)
{
	struct transfer_job *job = arg;
	size_t n = evbuffer_get_length(job->buffer);

	(void)fd;
	(void)what;
	if (job->is_info_known && !job->has_written) {
		job->has_written = true;
		start_write(job);
		return;
	}
	if (job->transfer->is_paused)
		return;
	if (job->is_read_paused && transfer_stream_is_open(job) &&
		n < TRANSFER_BUFFER_BYTES / 2) {
		job->is_read_paused = false;
		transfer_stream_resume(job);
	}
	if (job->is_write_paused && job->write && (n || job->is_read_done)) {
		job->is_write_paused = false;
		runtime_resume(job->write);
	}
}

static void on_info(void *arg, int64_t total_bytes, int64_t modified_s)
{
	struct transfer_job *job = arg;

	job->total_bytes = total_bytes;
	if (modified_s >= 0)
		job->modified_s = modified_s;
	transfer_job_set_size(job, total_bytes);
	job->is_info_known = true;
	event_active(job->ready, EV_TIMEOUT, 0);
}

static bool on_bytes(void *arg, struct slice bytes, struct err *err)
{
	struct transfer_job *job = arg;

	(void)err;
	evbuffer_add(job->buffer, bytes.p, bytes.n);
	if (job->is_write_paused)
		event_active(job->ready, EV_TIMEOUT, 0);
	job->is_read_paused = job->transfer->is_paused ||
			      evbuffer_get_length(job->buffer) >= TRANSFER_BUFFER_BYTES;
	return !job->is_read_paused;
}

static long read_bytes(void *arg, char *into, size_t room, struct err *err)
{
	struct transfer_job *job = arg;

	(void)err;
	if (!job->transfer->is_paused) {
		int n = evbuffer_remove(job->buffer, into, room);
		if (n > 0) {
			transfer_job_take_bytes(job, into, (size_t)n);
			job->is_data_over = job->bytes == job->total_bytes;
			if (job->is_read_paused)
				event_active(job->ready, EV_TIMEOUT, 0);
			return n;
		}
		if (job->is_read_done) {
			job->is_data_over = true;
			return 0;
		}
	}
	job->is_write_paused = true;
	return HTTP_BODY_PAUSE;
}

static void on_read(void *arg, const struct err *err, int64_t bytes_read)
{
	struct transfer_job *job = arg;

	(void)bytes_read;
	transfer_stream_ended(job);
	job->is_read_done = true;
	if (err)
		transfer_job_fail(job, err);
	else
		event_active(job->ready, EV_TIMEOUT, 0);
}

static void on_written(void *arg, const struct err *err)
{
	struct transfer_job *job = arg;

	job->write = NULL;
	if (err)
		transfer_job_fail(job, err);
	else
		transfer_job_data_done(job);
}

static void start_write(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	char *path = transfer_directory_to_path(transfer, job->dir, job->to_name);
	struct runtime_write_opts opts = {
		.path = path,
		.mode = job->mode >= 0 ? job->mode & 0777 : -1,
		.total_bytes = job->total_bytes,
		.read_bytes = read_bytes,
		.done = on_written,
		.arg = job,
	};
	struct err err = { 0 };

	job->write = runtime_write_start(transfer->to.runtime, &opts, &err);
	free(path);
	if (!job->write)
		transfer_job_fail(job, &err);
}

void transfer_relay_start(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };
	char *path = transfer_directory_from_path(transfer, job->dir, job->name);
	struct runtime_read_opts opts = {
		.path = path,
		.if_unmodified_since_s = -1,
		.on_info = on_info,
		.on_bytes = on_bytes,
		.done = on_read,
		.arg = job,
	};

	job->buffer = evbuffer_new();
	job->ready = event_new(net_loop_base(transfer->loop), -1, 0, on_next_turn, job);
	bool ok = transfer_stream_start(job, &opts, &err);
	free(path);
	if (!ok)
		transfer_job_fail(job, &err);
}
