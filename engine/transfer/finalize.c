// SPDX-License-Identifier: Apache-2.0
/* After the last byte: is it as long as it should be, is the source still what it was, are the sums equal? Then the
 * disk, and the place.
 *
 *   data done ─> (size there) ─> (source unchanged) ─> (fsync) ─> (SHA-256) ─> commit */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_MS = 30 * 1000, RECHECK_OVER_BYTES = 1 << 20 };

static void commit(struct transfer_job *job)
{
	struct err err = { 0 };

	if (job->transfer->to.kind == END_LOCAL && !transfer_target_commit(job, &err))
		transfer_job_fail(job, &err);
	else
		transfer_job_succeed(job);
}

static void on_verified(struct transfer_job *job, const struct err *err)
{
	if (err)
		transfer_job_fail(job, err);
	else
		commit(job);
}

static void on_synced(void *arg, int error)
{
	struct transfer_job *job = arg;
	struct err err = { 0 };

	job->sync = NULL;
	if (error) {
		err_set_errno(&err, error, "cannot write to the disk");
		transfer_job_fail(job, &err);
		return;
	}
	if (!transfer_target_set_attributes(job, &err)) {
		transfer_job_fail(job, &err);
		return;
	}
	/* it stays open until it has its name: temp.c */
	/* what is gone, or comes only once, cannot be compared */
	if (job->digest && !job->is_gone && !job->transfer->from_is_stream)
		transfer_checksum_add(job, on_verified);
	else
		commit(job);
}

/* Only an old file can be lost: what replaces it is on the disk before it takes the name. A new name is not worth
 * the wait: fsync takes as long again as a fast copy. */
static void sync_or_go_on(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (job->digest)
		digest_finish_hex(job->digest, job->hex);
	if (transfer->to.kind != END_LOCAL) {
		if (job->digest && transfer->to.kind == END_REMOTE)
			transfer_checksum_add(job, on_verified);
		else
			commit(job);
		return;
	}
	if (!transfer_target_replaces(job)) {
		on_synced(job, 0);
		return;
	}
	job->sync = transfer_fsync_start(transfer->loop, job->to_fd, on_synced, job, &err);
	if (!job->sync)
		transfer_job_fail(job, &err);
}

static void on_source_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer_job *job = arg;
	struct err failure = { 0 };

	job->look = NULL;
	if (err && err->code != ERR_FILE_NOT_FOUND) {
		transfer_job_fail(job, err);
		return;
	}
	bool has_grown = !err && !st->is_dir && st->size_bytes > job->bytes;
	/* shorter, or rewritten at its length: what came may be a mixture of the two */
	if (!err && !has_grown &&
		(st->is_dir || st->modified_s != job->modified_s ||
			(st->size_bytes >= 0 && st->size_bytes != job->bytes))) {
		err_set(&failure, ERR_FILE_CHANGED, "%s changed while it was copied",
			job->name);
		transfer_job_fail(job, &failure);
		return;
	}
	if (err) /* all of it has come, and it may be the last copy */
		transfer_note_add(job->transfer, TRANSFER_NOTE_GONE, job->dir, job->name,
			"it was removed while it was copied; all of it is there");
	job->is_gone = err != NULL;
	job->has_grown = has_grown;
	sync_or_go_on(job);
}

/* The daemon tells the size once, at the start of a read: a file that grows is cut off there without a word. */
static void check_source(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->from.kind != END_REMOTE || transfer->from_is_stream ||
		(transfer->from_stat.is_dir && job->bytes < RECHECK_OVER_BYTES)) {
		sync_or_go_on(job);
		return;
	}
	char *path = transfer_directory_from_path(transfer, job->dir, job->name);
	job->look = runtime_stat_start(
		transfer->from.runtime, path, LOOK_MS, on_source_stat, job, &err);
	free(path);
	if (!job->look)
		transfer_job_fail(job, &err);
}

static void on_written_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer_job *job = arg;
	struct err failure = { 0 };

	job->look = NULL;
	if (err) {
		transfer_job_fail(job, err);
	} else if (st->is_dir || st->size_bytes != job->bytes) {
		err_set(&failure, ERR_FILE_VERIFY, "%s has %lld bytes there instead of %lld",
			job->to_name, (long long)st->size_bytes, (long long)job->bytes);
		transfer_job_fail(job, &failure);
	} else {
		check_source(job);
	}
}

void transfer_job_data_done(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->to.kind != END_REMOTE) {
		check_source(job);
		return;
	}
	char *path = transfer_directory_to_path(transfer, job->dir, job->to_name);
	job->look = runtime_stat_start(
		transfer->to.runtime, path, LOOK_MS, on_written_stat, job, &err);
	free(path);
	if (!job->look)
		transfer_job_fail(job, &err);
}
