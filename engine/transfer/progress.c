// SPDX-License-Identifier: Apache-2.0
/* What is counted of one transfer: failures, remarks, bytes. Under everything else that moves it. */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TIMEOUTS = 6, NOTE_BYTES = 256 };

const char *transfer_note_name(enum transfer_note note)
{
	static const char *const names[] = {
		[TRANSFER_NOTE_GREW] = "grew",
		[TRANSFER_NOTE_GONE] = "gone",
		[TRANSFER_NOTE_LOOP] = "loop",
		[TRANSFER_NOTE_KIND] = "kind",
		[TRANSFER_NOTE_NOT_KEPT] = "notKept",
	};
	_Static_assert(sizeof names / sizeof *names == TRANSFER_NOTE_COUNT, "a name for each");
	return names[note];
}

void transfer_schedule(struct transfer *transfer)
{
	if (!transfer->is_ended)
		net_loop_timer_arm(transfer->kick, 0);
}

void transfer_failed(struct transfer *transfer, const struct err *err)
{
	transfer->progress.files_failed++;
	if (transfer->first.code == ERR_NONE)
		err_copy(&transfer->first, err);
	/* one that never answers is a pipe; so many in a row are a daemon that is gone */
	if (err->code == ERR_OP_TIMEOUT)
		transfer->n_timeouts++;
	if (err_code_scope(err->code) == ERR_SCOPE_ALL ||
		transfer->n_timeouts >= MAX_TIMEOUTS) {
		transfer->is_fatal = true;
		/* what ended it counts more than what a single file had before */
		err_copy(&transfer->first, err);
	}
}

void transfer_note_add(struct transfer *transfer, enum transfer_note note,
	const struct transfer_directory *dir, const char *name, const char *format, ...)
{
	char text[NOTE_BYTES];
	va_list args;

	transfer->progress.n_notes++;
	if (!transfer->opts.on_note)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	char *path = transfer_directory_relative(dir, name);
	if (!*path) {
		/* the folder that was named */
		free(path);
		path = x_strdup(transfer->to.top ? transfer->to.top : transfer->from.path);
	}
	transfer->opts.on_note(transfer->opts.arg, note, path, text);
	free(path);
}

bool transfer_is_over_limit(const struct transfer *transfer)
{
	return transfer->max_entries && transfer->n_entries > transfer->max_entries;
}

bool transfer_keeps_times(const struct transfer *transfer)
{
	return transfer->from_stat.is_dir || transfer->opts.keep_times;
}

/* ---- bytes: bytes_total has the larger of what a source says and what came of it */
void transfer_job_set_size(struct transfer_job *job, int64_t bytes)
{
	struct transfer *transfer = job->transfer;
	int64_t old = job->size_bytes > job->bytes ? job->size_bytes : job->bytes;
	int64_t new = bytes > job->bytes ? bytes : job->bytes;

	transfer->progress.bytes_total += (uint64_t) new - (uint64_t)old;
	transfer->n_unsized += (size_t)(bytes < 0) - (size_t)(job->size_bytes < 0);
	job->size_bytes = bytes;
}

void transfer_job_take_bytes(struct transfer_job *job, const void *bytes, size_t n)
{
	struct transfer_progress *progress = &job->transfer->progress;
	int64_t old = job->size_bytes > job->bytes ? job->size_bytes : job->bytes;

	job->bytes += (int64_t)n;
	progress->bytes_done += n;
	if (job->bytes > old)
		progress->bytes_total += (uint64_t)(job->bytes - old);
	if (job->digest)
		digest_add(job->digest, bytes, n);
}

void transfer_job_drop_bytes(struct transfer_job *job)
{
	int64_t size = job->size_bytes;

	transfer_job_set_size(job, 0);
	job->transfer->progress.bytes_done -= (uint64_t)job->bytes;
	job->transfer->progress.bytes_total -= (uint64_t)job->bytes;
	job->bytes = 0;
	transfer_job_set_size(job, size);
}
