// SPDX-License-Identifier: Apache-2.0
/* A local target: a temp file beside it, which gets the name when everything is there and checked. Without leave to
 * replace, the name is taken with link(), which never replaces. */
#include "engine/base/fatal_signal.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool transfer_target_open(struct transfer_job *job, struct err *err)
{
	job->to_fd = transfer_temp_open(job->dir->to_fd, job->temp, &job->temp_slot, err);
	job->has_temp = job->to_fd >= 0;
	return job->has_temp;
}

bool transfer_target_replaces(const struct transfer_job *job)
{
	return job->may_replace && job->existing_bytes >= 0;
}

/* Set while the descriptor is open: the name may mean something else by now. */
bool transfer_target_set_attributes(struct transfer_job *job, struct err *err)
{
	struct transfer *transfer = job->transfer;
	mode_t mode =
		(job->mode >= 0 ? (mode_t)job->mode & 0777 : 0666) & ~transfer_local_umask();

	if (fchmod(job->to_fd, mode) < 0)
		return err_set_errno(err, errno, "%s", job->to_name);
	if (transfer_keeps_times(transfer) &&
		!transfer_local_set_times(job->to_fd, job->modified_s))
		transfer_note_add(transfer, TRANSFER_NOTE_NOT_KEPT, job->dir, job->name,
			"its time is not kept: %s", strerror(errno));
	return true;
}

static void forget_temp(struct transfer_job *job)
{
	job->has_temp = false;
	fatal_signal_forget_file(job->temp_slot);
}

static bool replace(struct transfer_job *job, struct err *err)
{
	int dir = job->dir->to_fd;
	struct stat st;
	bool is_there = fstatat(dir, job->to_name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	/* a device or a pipe that appeared meanwhile stays */
	if (is_there && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return err_set(err, ERR_FILE_DENIED, "%s is not a file here", job->to_name);
	if (is_there && transfer_written_has(&job->transfer->written, &st))
		return err_set(err, ERR_FILE_EXISTS,
			"%s has the same name here as another file of this copy", job->to_name);
	if (renameat(dir, job->temp, dir, job->to_name) < 0)
		return err_set_errno(err, errno, "%s", job->to_name);
	forget_temp(job);
	return true;
}

static bool take_name(struct transfer_job *job, struct err *err)
{
	int dir = job->dir->to_fd;
	struct stat st;

	if (job->may_replace)
		return replace(job, err);
	if (linkat(dir, job->temp, dir, job->to_name, 0) == 0) {
		unlinkat(dir, job->temp, 0);
		forget_temp(job);
		return true;
	}
	if (errno == EEXIST)
		return err_set(err, ERR_FILE_EXISTS, "%s appeared meanwhile", job->to_name);
	/* a file system without hard links: look, then rename */
	if (fstatat(dir, job->to_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return err_set(err, ERR_FILE_EXISTS, "%s appeared meanwhile", job->to_name);
	return replace(job, err);
}

bool transfer_target_commit(struct transfer_job *job, struct err *err)
{
	struct transfer *transfer = job->transfer;
	struct stat st;

	if (!take_name(job, err))
		return false;
	if (transfer->from_stat.is_dir && fstat(job->to_fd, &st) == 0)
		transfer_written_add(&transfer->written, &st);
	return true;
}
