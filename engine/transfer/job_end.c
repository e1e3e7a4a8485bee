// SPDX-License-Identifier: Apache-2.0
/* How a job ends: it has succeeded, failed or been skipped, and what it held goes. */
#include "engine/base/fatal_signal.h"
#include "engine/net/work_pool.h"
#include "engine/transfer/internal.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

static void on_nothing(void *arg, const struct err *err)
{
	(void)arg;
	(void)err;
}

/* The file that makes an empty folder in a sandbox does not stay when it is given up: nobody waits for the answer. */
static void drop_placeholder(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;

	if (!job->is_empty_dir || (!job->write && !job->look))
		return;
	char *path = transfer_directory_to_path(transfer, job->dir, job->temp);
	runtime_delete_start(transfer->to.runtime, path, false, 0, on_nothing, NULL, NULL);
	free(path);
}

void transfer_job_free(struct transfer_job *job)
{
	transfer_job_leave(job);
	drop_placeholder(job);
	if (job->size_bytes < 0)
		job->transfer->n_unsized--;
	transfer_stream_cancel(job);
	runtime_cancel(job->write);
	runtime_cancel(job->look);
	net_work_cancel(job->sync);
	if (job->ready)
		event_free(job->ready);
	if (job->from_fd >= 0)
		close(job->from_fd);
	if (job->to_fd >= 0)
		close(job->to_fd);
	if (job->has_temp) {
		unlinkat(job->dir->to_fd, job->temp, 0);
		fatal_signal_forget_file(job->temp_slot);
	}
	if (job->has_from)
		transfer_directory_release_from(job->dir);
	if (job->has_to)
		transfer_directory_release_to(job->dir);
	if (job->buffer)
		evbuffer_free(job->buffer);
	digest_free(job->digest);
	transfer_directory_unref(job->dir);
	free(job->name);
	free(job->to_name);
	free(job->wanted_name);
	free(job);
}

void transfer_job_end(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;

	/* what will not come any more is no part of the total */
	transfer_job_set_size(job, 0);
	transfer_job_free(job);
	transfer_schedule(transfer);
}

void transfer_job_fail(struct transfer_job *job, const struct err *err)
{
	struct err said;

	err_copy(&said, err);
	if (job->transfer->from_stat.is_dir) {
		char *path = transfer_directory_relative(job->dir, job->name);
		/* the runtime names remote paths itself */
		if (*path && !strstr(said.msg, path))
			err_prefix(&said, "%s", path);
		free(path);
	}
	transfer_failed(job->transfer, &said);
	transfer_job_drop_bytes(job);
	transfer_job_end(job);
}

void transfer_job_skip(struct transfer_job *job)
{
	job->transfer->progress.files_skipped++;
	transfer_job_end(job);
}

void transfer_job_succeed(struct transfer_job *job)
{
	job->transfer->progress.files_done++;
	job->transfer->n_timeouts = 0;
	if (job->has_grown)
		transfer_note_add(job->transfer, TRANSFER_NOTE_GREW, job->dir, job->name,
			"it grew while it was copied; its first %lld bytes are there",
			(long long)job->bytes);
	transfer_attributes_add_file(job);
	transfer_job_end(job);
}
