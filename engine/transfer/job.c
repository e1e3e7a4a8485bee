// SPDX-License-Identifier: Apache-2.0
/* One file: is something in the way? its data, the checks afterwards, its place.
 *
 *   begin ─> what is there? ─> (ask) ─> data ─> same size? unchanged? ─> (SHA-256) ─> commit
 *
 * Until the commit a local target is a temp file beside it, and a remote one is the daemon's. */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LOOK_MS = 30 * 1000, MAX_RENAMES = 1000 };

static void look_at_target(struct transfer_job *job);

/* ---- what is in the way */
static void start_data(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	job->has_begun_data = true;
	if (transfer->from.kind == END_LOCAL) {
		if (transfer_directory_use_from(transfer, job->dir, &err) < 0) {
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

static void fail_exists(struct transfer_job *job)
{
	struct err err = { 0 };

	if (job->is_dir_in_the_way)
		err_set(&err, ERR_FILE_IS_DIR, "%s is a folder at the target", job->to_name);
	else
		err_set(&err, ERR_FILE_EXISTS, "%s exists already", job->to_name);
	transfer_job_fail(job, &err);
}

static void rename_and_look_again(struct transfer_job *job)
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

static void ask(struct transfer_job *job)
{
	job->transfer->n_active--;
	job->transfer->n_asking++;
	job->state = JOB_ASKING;
	transfer_schedule(job->transfer);
}

static void take_answer(struct transfer_job *job, enum transfer_conflict answer)
{
	switch (answer) {
	case TRANSFER_SKIP:
		transfer_job_skip(job);
		break;
	case TRANSFER_OVERWRITE:
		/* a folder is never replaced by a file */
		job->may_replace = !job->is_dir_in_the_way;
		if (job->may_replace)
			start_data(job);
		else
			fail_exists(job);
		break;
	case TRANSFER_RENAME:
		rename_and_look_again(job);
		break;
	case TRANSFER_ASK:
		/* "overwrite?" would be no question */
		if (job->is_dir_in_the_way)
			fail_exists(job);
		else
			ask(job);
		break;
	case TRANSFER_FAIL:
	case TRANSFER_CONFLICT_COUNT:
		fail_exists(job);
		break;
	}
}

/* existing_bytes -1: a folder, or what cannot be looked into (a link that leads nowhere or out) */
static void on_conflict(struct transfer_job *job, int64_t existing_bytes, bool is_dir)
{
	job->existing_bytes = existing_bytes;
	job->is_dir_in_the_way = is_dir;
	/* once RENAME was chosen for it, the next taken name is no new question */
	take_answer(job, job->rename_serial ? TRANSFER_RENAME : job->transfer->conflict);
}

static void look_locally(struct transfer_job *job)
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
		on_conflict(job, -1, true);
		return;
	} else if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		err_set(&err, ERR_FILE_DENIED, "%s is a device, pipe or socket here",
			job->to_name);
	} else {
		on_conflict(job, (int64_t)st.st_size, false);
		return;
	}
	transfer_job_fail(job, &err);
}

static void on_target_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer_job *job = arg;

	job->look = NULL;
	if (!err) {
		on_conflict(job, st->is_dir ? -1 : st->size_bytes, st->is_dir);
	} else if (err->code == ERR_FILE_NOT_FOUND) {
		transfer_look_add(job); /* nothing, or a link that leads nowhere */
	} else if (transfer_is_blind(err)) {
		err_copy(&job->failure, err);
		transfer_look_add(job);
	} else {
		transfer_job_fail(job, err);
	}
}

static void look_at_target(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->to.kind == END_LOCAL) {
		look_locally(job);
		return;
	}
	char *path = transfer_directory_to_path(transfer, job->dir, job->to_name);
	job->look = runtime_stat_start(
		transfer->to.runtime, path, LOOK_MS, on_target_stat, job, &err);
	free(path);
	if (!job->look)
		transfer_job_fail(job, &err);
}

void transfer_job_begin(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (job->has_looked) {
		job->has_looked = false;
		struct err failure = job->failure;
		job->failure.code = ERR_NONE;
		if (job->is_link)
			on_conflict(job, -1, false);
		else if (failure.code != ERR_NONE)
			transfer_job_fail(job, &failure); /* it may be there */
		else
			start_data(job);
		return;
	}
	if (job->has_answer) {
		job->has_answer = false;
		take_answer(job, job->answer);
		return;
	}
	if (!job->to_name)
		job->to_name = x_strdup(job->name);
	if (transfer->to.kind == END_LOCAL) {
		if (transfer_directory_use_to(transfer, job->dir, &err) < 0) {
			transfer_job_fail(job, &err);
			return;
		}
		job->has_to = true;
	}
	job->may_replace = transfer->conflict == TRANSFER_OVERWRITE;
	if (job->is_empty_dir) {
		if (transfer->to.kind == END_LOCAL)
			transfer_job_end(job);
		else
			transfer_upload_empty_dir(job);
	} else if (transfer->to.kind == END_FD ||
		   (transfer->to.kind == END_REMOTE &&
			   (job->may_replace || job->dir->to_is_new))) {
		start_data(job);
	} else {
		look_at_target(job);
	}
}

/* ---- data */
void transfer_job_unpause(struct transfer_job *job)
{
	if (job->is_read_paused && transfer_stream_is_open(job)) {
		job->is_read_paused = false;
		transfer_stream_resume(job);
	}
	if (job->is_write_paused && job->write) {
		job->is_write_paused = false;
		runtime_resume(job->write);
	}
}
