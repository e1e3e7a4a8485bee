// SPDX-License-Identifier: Apache-2.0
/* One file: is something in the way? its data, the checks afterwards, its place.
 *
 *   begin ─> what is there? ─> (ask) ─> data ─> same size? unchanged? ─> (SHA-256) ─> commit
 *
 * Until the commit a local target is a temp file beside it, and a remote one is the daemon's. */
#include "engine/base/fatal_signal.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 30 * 1000, MAX_RENAMES = 1000 };

static void look_at_target(struct job *job);

/* ---- ends */
static void leave(struct job *job)
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
	else if (job->state == JOB_ASKING)
		transfer->n_asking--;
	else if (job->state == JOB_VERIFYING)
		transfer->n_verifying--;
}

void transfer_job_free(struct job *job)
{
	leave(job);
	runtime_cancel(job->read);
	runtime_cancel(job->write);
	runtime_cancel(job->look);
	transfer_sync_cancel(job->sync);
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
		transfer_dir_release_from(job->dir);
	if (job->has_to)
		transfer_dir_release_to(job->dir);
	if (job->buffer)
		evbuffer_free(job->buffer);
	digest_free(job->digest);
	transfer_dir_unref(job->dir);
	free(job->name);
	free(job->to_name);
	free(job->wanted_name);
	free(job);
}

/* What will not come any more is no part of the total. */
static void forget_rest(struct job *job)
{
	struct transfer_progress *progress = &job->transfer->progress;

	if (job->size_bytes <= job->bytes)
		return;
	uint64_t rest = (uint64_t)(job->size_bytes - job->bytes);
	progress->bytes_total -= rest < progress->bytes_total ? rest : progress->bytes_total;
}

static void end_job(struct job *job)
{
	struct transfer *transfer = job->transfer;

	forget_rest(job);
	transfer_job_free(job);
	transfer_kick(transfer);
}

void transfer_job_fail(struct job *job, const struct err *err)
{
	struct err said;

	err_copy(&said, err);
	if (job->transfer->from_stat.is_dir) {
		char *path = transfer_dir_relative(job->dir, job->name);
		/* the runtime names remote paths itself */
		if (*path && !strstr(said.msg, path))
			err_prefix(&said, "%s", path);
		free(path);
	}
	transfer_failed(job->transfer, &said);
	end_job(job);
}

static void skip(struct job *job)
{
	job->transfer->progress.files_skipped++;
	end_job(job);
}

void transfer_job_succeed(struct job *job)
{
	job->transfer->progress.files_done++;
	job->transfer->n_timeouts = 0;
	end_job(job);
}

/* ---- what is in the way */
static void start_data(struct job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->from.kind == END_LOCAL) {
		if (transfer_dir_use_from(transfer, job->dir, &err) < 0) {
			transfer_job_fail(job, &err);
			return;
		}
		job->has_from = true;
	}
	if (transfer->opts.verify)
		job->digest = digest_new();
	if (transfer->to.kind != END_REMOTE)
		transfer_download_start(job);
	else if (transfer->from.kind == END_REMOTE)
		transfer_relay_start(job);
	else
		transfer_upload_start(job);
}

static void fail_exists(struct job *job)
{
	struct err err = { 0 };

	err_set(&err, ERR_FILE_EXISTS, "%s exists already", job->to_name);
	transfer_job_fail(job, &err);
}

static void rename_and_look_again(struct job *job)
{
	if (!job->wanted_name)
		job->wanted_name = x_strdup(job->to_name);
	if (++job->rename_serial > MAX_RENAMES) {
		fail_exists(job);
		return;
	}
	free(job->to_name);
	job->to_name = transfer_local_rename_candidate(job->wanted_name, job->rename_serial);
	look_at_target(job);
}

static void ask(struct job *job)
{
	job->transfer->n_active--;
	job->transfer->n_asking++;
	job->state = JOB_ASKING;
	transfer_kick(job->transfer);
}

void transfer_job_answer(struct job *job, enum transfer_conflict answer)
{
	switch (answer) {
	case TRANSFER_SKIP:
		skip(job);
		break;
	case TRANSFER_OVERWRITE:
		job->may_replace = true;
		start_data(job);
		break;
	case TRANSFER_RENAME:
		rename_and_look_again(job);
		break;
	case TRANSFER_ASK:
		ask(job);
		break;
	case TRANSFER_FAIL:
	case TRANSFER_CONFLICT_COUNT:
		fail_exists(job);
		break;
	}
}

static void on_conflict(struct job *job, int64_t existing_bytes)
{
	job->existing_bytes = existing_bytes;
	/* once RENAME was chosen for it, the next taken name is no new question */
	transfer_job_answer(
		job, job->rename_serial ? TRANSFER_RENAME : job->transfer->conflict);
}

static void look_locally(struct job *job)
{
	struct err err = { 0 };
	struct stat st;

	if (fstatat(job->dir->to_fd, job->to_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT) {
			start_data(job);
			return;
		}
		err_set_errno(&err, errno, "%s", job->to_name);
	} else if (S_ISDIR(st.st_mode)) {
		err_set(&err, ERR_FILE_IS_DIR, "%s is a folder here", job->to_name);
	} else if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		err_set(&err, ERR_FILE_DENIED, "%s is a device, pipe or socket here",
			job->to_name);
	} else {
		on_conflict(job, (int64_t)st.st_size);
		return;
	}
	transfer_job_fail(job, &err);
}

static void on_target_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct job *job = arg;
	struct err failure = { 0 };

	job->look = NULL;
	if (err && err->code == ERR_FILE_NOT_FOUND) {
		start_data(job);
	} else if (err) {
		transfer_job_fail(job, err);
	} else if (st->is_dir) {
		err_set(&failure, ERR_FILE_IS_DIR, "%s is a folder there", job->to_name);
		transfer_job_fail(job, &failure);
	} else {
		on_conflict(job, st->size_bytes);
	}
}

static void look_at_target(struct job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->to.kind == END_LOCAL) {
		look_locally(job);
		return;
	}
	char *path = transfer_dir_to_path(transfer, job->dir, job->to_name);
	job->look = runtime_stat_start(
		transfer->to.runtime, path, LOOK_MS, on_target_stat, job, &err);
	free(path);
	if (!job->look)
		transfer_job_fail(job, &err);
}

void transfer_job_begin(struct job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (job->has_answer) {
		job->has_answer = false;
		transfer_job_answer(job, job->answer);
		return;
	}
	if (!job->to_name)
		job->to_name = x_strdup(job->name);
	if (transfer->to.kind == END_LOCAL) {
		if (transfer_dir_use_to(transfer, job->dir, &err) < 0) {
			transfer_job_fail(job, &err);
			return;
		}
		job->has_to = true;
	}
	job->may_replace = transfer->conflict == TRANSFER_OVERWRITE;
	if (job->is_empty_dir) {
		/* folders are not counted as files */
		transfer->progress.files_total--;
		if (transfer->to.kind == END_LOCAL)
			end_job(job);
		else
			transfer_upload_empty_dir(job);
	} else if (transfer->to.kind == END_FD ||
		   (transfer->to.kind == END_REMOTE &&
			   (job->may_replace || transfer->to.is_new))) {
		start_data(job);
	} else {
		look_at_target(job);
	}
}

/* ---- data */
bool transfer_job_replaces(const struct job *job)
{
	return job->may_replace && job->existing_bytes >= 0;
}

void transfer_job_take_bytes(struct job *job, const void *bytes, size_t n)
{
	job->bytes += (int64_t)n;
	if (job->digest)
		digest_add(job->digest, bytes, n);
	transfer_add_bytes(job->transfer, n);
}

void transfer_job_unpause(struct job *job)
{
	if (job->is_read_paused && job->read) {
		job->is_read_paused = false;
		runtime_resume(job->read);
	}
	if (job->is_write_paused && job->write) {
		job->is_write_paused = false;
		runtime_resume(job->write);
	}
}
