// SPDX-License-Identifier: Apache-2.0
/* The jobs of one transfer: those that wait (queued), and all others that are not done (jobs). */
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

struct transfer_job *transfer_add_job(struct transfer *transfer, struct transfer_directory *dir,
	const char *name, int64_t size_bytes, int mode)
{
	struct transfer_job *job = x_calloc(1, sizeof *job);

	job->transfer = transfer;
	job->dir = transfer_directory_ref(dir);
	job->name = x_strdup(name);
	job->mode = mode;
	job->existing_bytes = -1;
	job->from_fd = job->to_fd = -1;
	job->total_bytes = job->modified_s = -1;
	DL_APPEND(transfer->queued, job);
	transfer->n_queued++;
	transfer->progress.files_total++;
	transfer_job_set_size(job, size_bytes);
	return job;
}

void transfer_add_empty_dir_job(struct transfer *transfer, struct transfer_directory *dir)
{
	transfer_add_job(transfer, dir, "", 0, -1)->is_empty_dir = true;
	transfer->progress.files_total--; /* folders are not counted as files */
}

/* The last of all, and then all together: see attributes.c. */
void transfer_add_empty_dir(struct transfer *transfer, struct transfer_directory *dir)
{
	if (transfer->to.kind == END_LOCAL) {
		transfer_add_empty_dir_job(transfer, dir);
		return;
	}
	array_grow(&transfer->empty_dirs, &transfer->empty_dirs_capacity,
		transfer->n_empty_dirs + 1, sizeof(struct transfer_directory *));
	transfer->empty_dirs[transfer->n_empty_dirs++] = transfer_directory_ref(dir);
}

void transfer_job_leave(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;

	if (job->state == JOB_QUEUED) {
		DL_DELETE(transfer->queued, job);
		transfer->n_queued--;
		return;
	}
	DL_DELETE(transfer->jobs, job);
	if (job->state == JOB_ACTIVE)
		transfer->n_active--;
	else if (job->state == JOB_LOOKING)
		transfer->n_looking--;
	else if (job->state == JOB_ASKING)
		transfer->n_asking--;
	else if (job->state == JOB_VERIFYING)
		transfer->n_verifying--;
}

void transfer_job_requeue(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;

	transfer_job_leave(job);
	DL_PREPEND(transfer->queued, job);
	transfer->n_queued++;
	job->state = JOB_QUEUED;
}
