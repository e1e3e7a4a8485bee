// SPDX-License-Identifier: Apache-2.0
/* Copies files and trees between the local disk and sandboxes (either way, or sandbox to sandbox without touching
 * the disk). Flat memory, progress, cancel, conflict policy; nothing is ever half-written: the target is the old
 * file or the new one, whole. Names from a sandbox are hostile: a download never leaves its target folder.
 * Errors: ERR_ARG_INVALID, ERR_FILE_CHANGED, ERR_FILE_DENIED, ERR_FILE_EXISTS, ERR_FILE_IS_DIR, ERR_FILE_LOOP,
 * ERR_FILE_NOT_DIR, ERR_FILE_NOT_FOUND, ERR_FILE_SERVER, ERR_FILE_VERIFY, ERR_LIMIT_DOWNLOAD, ERR_LIMIT_ENTRIES,
 * ERR_OP_CANCELLED, ERR_OP_UNSUPPORTED, ERR_SYSTEM, errno, those of engine/base/path.h, those of
 * engine/runtime/runtime.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_loop;
struct runtime;
struct telemetry;

struct transfer_end {
	struct runtime *
		runtime; /* NULL: the local disk. The transfer holds a reference until its end */
	const char *
		path; /* sandbox path, or local path (relative to cwd or absolute); "-" with fd >= 0 */
	int fd; /* stdin/stdout for "-" (borrowed, may be made non-blocking by us); else -1 */
};

enum transfer_conflict {
	TRANSFER_ASK, /* on_conflict decides; without it: as FAIL */
	TRANSFER_SKIP,
	TRANSFER_OVERWRITE,
	TRANSFER_RENAME, /* "name (1).ext" */
	TRANSFER_FAIL,   /* ERR_FILE_EXISTS */
	TRANSFER_CONFLICT_COUNT,
};

struct transfer_progress {
	const char *current; /* path under way, foreign bytes */
	uint64_t files_done, files_total, files_skipped, files_failed;
	/* What has arrived and what is under way; the bytes of a failed file are taken back. Totals grow while the plan is
	 * made and while a source tells no size; is_planned says that they are complete. */
	uint64_t bytes_done, bytes_total;
	uint64_t n_notes; /* see on_note */
	bool is_planned;
	/* every byte has been sent, and the target makes it durable, or it is checked, or times are set */
	bool is_finishing;
	int64_t elapsed_ms;
	uint64_t bytes_per_s; /* over the last seconds */
};

/* What a receipt has to say although nothing failed. */
enum transfer_note {
	TRANSFER_NOTE_GREW,     /* copied as far as it went */
	TRANSFER_NOTE_GONE,     /* removed after it had been read in full */
	TRANSFER_NOTE_LOOP,     /* a link that leads back to a folder under way: skipped */
	TRANSFER_NOTE_KIND,     /* a link, pipe, socket or device in a tree: skipped */
	TRANSFER_NOTE_NOT_KEPT, /* its mode or its time could not be set */
	TRANSFER_NOTE_COUNT,
};
const char *transfer_note_name(enum transfer_note note); /* "grew", "loop", … for scripts */

/* How much of the work is done, in the unit of bytes_total: each file counts as some bytes more than it has, so that a tree
 * of small or empty files moves too. */
enum { TRANSFER_FILE_COST_BYTES = 256 << 10 };
static inline uint64_t transfer_work(uint64_t bytes, uint64_t files)
{
	return bytes + files * TRANSFER_FILE_COST_BYTES;
}
/* Never 100: that is what done() says. */
static inline unsigned transfer_percent(uint64_t work_done, uint64_t work_total)
{
	unsigned percent =
		work_total ? (unsigned)((double)work_done * 100 / (double)work_total) : 0;

	return percent < 99 ? percent : 99;
}

struct transfer_opts {
	struct transfer_end from, to;
	bool recursive;
	bool keep_times; /* of a single file too; trees always keep them, to the second */
	enum transfer_conflict conflict;
	bool verify; /* SHA-256 on both sides where the sandbox can; the size is always verified */
	struct telemetry *telemetry;
	/* At most every 100 ms and at the end. */
	void (*on_progress)(void *arg, const struct transfer_progress *progress);
	/* A target exists: answer later with transfer_answer(); other files go on meanwhile. */
	void (*on_conflict)(
		void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes);
	/* A tree has more than n entries (setting transfer-max-entries): nothing more of it is looked at until
	 * transfer_go_on(). NULL: it fails with ERR_LIMIT_ENTRIES. */
	void (*on_limit)(void *arg, uint64_t n);
	/* path: of the tree, or the name of a single file; foreign bytes, borrowed. It must not cancel. NULL: only counted. */
	void (*on_note)(void *arg, enum transfer_note note, const char *path, const char *text);
	/* err: the first failure (others are counted in progress), or what ended all. Errors: ERR_ARG_INVALID, ERR_FILE_NOT_FOUND,
	 * ERR_FILE_DENIED, ERR_FILE_IS_DIR, ERR_FILE_NOT_DIR, ERR_FILE_EXISTS, ERR_FILE_CHANGED, ERR_FILE_VERIFY, ERR_FILE_LOOP,
	 * ERR_LIMIT_ENTRIES, ERR_LIMIT_DOWNLOAD, those of the local disk (err_set_errno) and of the runtime. */
	void (*done)(
		void *arg, const struct err *err, const struct transfer_progress *progress);
	void *arg;
};
struct transfer;
/* Errors: ERR_ARG_PATH, ERR_ARG_INVALID (an empty path), ERR_OP_UNSUPPORTED (neither end is in a sandbox).
 * As cp does it: if `to` is an existing directory or ends in '/', the copy goes into it under its own base name. */
struct transfer *transfer_start(
	struct net_loop *loop, const struct transfer_opts *opts, struct err *err);
void transfer_cancel(struct transfer *transfer); /* silent; temp files are removed */
void transfer_pause(struct transfer *transfer, bool paused);
/* Does on_conflict perhaps come yet for what was named? False once its data are under way, it has been asked about, or there
 * is nothing to ask. Of a folder: until the tree is begun; what is in it may be asked about later. */
bool transfer_is_looking(const struct transfer *transfer);
void transfer_answer(struct transfer *transfer, enum transfer_conflict answer, bool for_all);
/* After on_limit: go on until twice as many, or stop with ERR_LIMIT_ENTRIES. */
void transfer_go_on(struct transfer *transfer, bool goes_on);
