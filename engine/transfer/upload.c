// SPDX-License-Identifier: Apache-2.0
/* From a local file or a stream to a sandbox. A local file that is not what it was when we began is found before
 * its last byte is sent: the daemon then drops what it has. */
#include "engine/base/mem.h"
#include "engine/net/http.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long pause_write(struct transfer_job *job)
{
	job->is_write_paused = true;
	return HTTP_BODY_PAUSE;
}

static long read_bytes(void *arg, char *into, size_t room, struct err *err)
{
	struct transfer_job *job = arg;

	if (job->transfer->is_paused || job->waits_for_writer)
		return pause_write(job);
	if (room > TRANSFER_SLICE_BYTES)
		room = TRANSFER_SLICE_BYTES;
	long n = transfer_source_read(job, into, room, err);
	if (n == SOURCE_WAITS) {
		event_add(job->ready, NULL);
		return pause_write(job);
	}
	if (n == SOURCE_FAILED)
		return HTTP_BODY_ABORT;
	transfer_job_take_bytes(job, into, (size_t)n);
	job->is_data_over = n == 0 || job->bytes == job->total_bytes;
	return n;
}

static void start_write(struct transfer_job *job);

static void on_written(void *arg, const struct err *err)
{
	struct transfer_job *job = arg;

	job->write = NULL;
	if (err && transfer_source_starts_again(job))
		start_write(job);
	else if (err)
		transfer_job_fail(job, err);
	else
		transfer_job_data_done(job);
}

static void start_write(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };
	char *path = transfer_directory_to_path(transfer, job->dir, job->to_name);
	struct runtime_write_opts opts = {
		.path = path,
		.mode = job->mode,
		.total_bytes = job->total_bytes,
		.read_bytes = read_bytes,
		.done = on_written,
		.arg = job,
	};
	job->write = runtime_write_start(transfer->to.runtime, &opts, &err);
	free(path);
	if (!job->write)
		transfer_job_fail(job, &err);
}

void transfer_upload_start(struct transfer_job *job)
{
	struct err err = { 0 };

	if (transfer_source_open(job, &err))
		start_write(job);
	else
		transfer_job_fail(job, &err);
}

/* ---- a folder without files: the daemon cannot make one, but makes the parents of a file */
static void on_placeholder_deleted(void *arg, const struct err *err)
{
	struct transfer_job *job = arg;
	struct transfer *transfer = job->transfer;

	job->look = NULL;
	if (err) {
		transfer_job_fail(job, err);
		return;
	}
	transfer_job_free(job);
	transfer_schedule(transfer);
}

static long read_nothing(void *arg, char *into, size_t room, struct err *err)
{
	(void)arg;
	(void)into;
	(void)room;
	(void)err;
	return 0;
}

static void on_placeholder_written(void *arg, const struct err *err)
{
	struct transfer_job *job = arg;
	struct err failure = { 0 };

	job->write = NULL;
	if (!err) {
		char *path = transfer_directory_to_path(job->transfer, job->dir, job->temp);
		job->look = runtime_delete_start(job->transfer->to.runtime, path, false, 0,
			on_placeholder_deleted, job, &failure);
		free(path);
		if (job->look)
			return;
		err = &failure;
	}
	transfer_job_fail(job, err);
}

void transfer_upload_empty_dir(struct transfer_job *job)
{
	struct err err = { 0 };
	char random[17];

	digest_random_hex(random, 16);
	snprintf(job->temp, sizeof job->temp, ".sandmux-tmp-%s", random);
	char *path = transfer_directory_to_path(job->transfer, job->dir, job->temp);
	struct runtime_write_opts opts = {
		.path = path,
		.mode = -1,
		.total_bytes = 0,
		.read_bytes = read_nothing,
		.done = on_placeholder_written,
		.arg = job,
	};
	job->write = runtime_write_start(job->transfer->to.runtime, &opts, &err);
	free(path);
	if (!job->write)
		transfer_job_fail(job, &err);
}
