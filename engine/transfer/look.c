// SPDX-License-Identifier: Apache-2.0
/* A link in a sandbox that leads nowhere: the daemon says that nothing is there, and a write would replace it. Whoever did
 * not say so is asked, as for a file. Files that seem to be new are looked at by `test -L`, as many at a time as came
 * together; where the sandbox has no shell they count as new. */
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <stdlib.h>

enum { MAX_ARGV_BYTES = 64 << 10, LOOK_MS = 30 * 1000 };

bool transfer_is_blind(const struct err *err)
{
	return err->code == ERR_FILE_LOOP || err->code == ERR_FILE_DENIED ||
	       err->code == ERR_FILE_SERVER;
}

void transfer_look_add(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;

	transfer->n_active--;
	transfer->n_looking++;
	job->state = JOB_LOOKING;
	transfer_schedule(transfer);
}

/* Back to the head of the queue: five hundred new files must not all start at once. */
static void look_done(struct transfer_job *job, bool is_link)
{
	transfer_job_requeue(job);
	job->has_looked = true;
	job->is_link = is_link;
}

static void on_links(void *arg, const struct err *err, const bool *is_link, size_t n)
{
	struct transfer *transfer = arg;
	struct transfer_job **jobs = transfer->link_jobs;
	size_t n_jobs = transfer->n_link_jobs;

	(void)n;
	transfer->link_look = NULL;
	transfer->link_jobs = NULL;
	transfer->n_link_jobs = 0;
	for (size_t i = 0; i < n_jobs; i++)
		look_done(jobs[i], !err && is_link[i]);
	free(jobs);
	transfer_schedule(transfer);
}

void transfer_look_turn(struct transfer *transfer)
{
	char *paths[RUNTIME_MAX_LINKS];
	size_t n = 0, argv_bytes = 0;
	struct transfer_job *job;
	struct err err = { 0 };

	if (!transfer->n_looking || transfer->link_look || transfer->is_fatal)
		return;
	struct transfer_job **jobs = x_calloc(transfer->n_looking, sizeof *jobs);
	DL_FOREACH(transfer->jobs, job) {
		if (n == RUNTIME_MAX_LINKS || argv_bytes > MAX_ARGV_BYTES)
			break;
		if (job->state != JOB_LOOKING)
			continue;
		paths[n] = transfer_directory_to_path(transfer, job->dir, job->to_name);
		argv_bytes += strlen(paths[n]);
		jobs[n++] = job;
	}
	transfer->link_jobs = jobs;
	transfer->n_link_jobs = n;
	transfer->link_look = runtime_links_start(transfer->to.runtime,
		(const char *const *)paths, n, LOOK_MS, on_links, transfer, &err);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	if (!transfer->link_look)
		on_links(transfer, &err, NULL, 0);
}

void transfer_look_free(struct transfer *transfer)
{
	runtime_cancel(transfer->link_look);
	transfer->link_look = NULL;
	free(transfer->link_jobs);
	transfer->link_jobs = NULL;
	transfer->n_link_jobs = 0;
}
