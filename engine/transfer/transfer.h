// SPDX-License-Identifier: Apache-2.0
/* Copies files and trees between the local disk and sandboxes (either way, or sandbox to sandbox without touching
 * the disk). Flat memory, progress, cancel, conflict policy; nothing is ever half-written: the target is the old
 * file or the new one, whole. Names from a sandbox are hostile: a download never leaves its target folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct runtime;
struct telemetry;

struct transfer_end {
	struct runtime *
		runtime; /* NULL: the local disk. Must outlive the transfer, or be freed after cancel */
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
	uint64_t bytes_done,
		bytes_total; /* totals grow while the plan is made; is_planned says it is complete */
	bool is_planned;
	int64_t elapsed_ms;
	uint64_t bytes_per_s; /* over the last seconds */
};

struct transfer_opts {
	struct transfer_end from, to;
	bool recursive;
	enum transfer_conflict conflict;
	bool verify; /* SHA-256 on both sides where the sandbox can; the size is always verified */
	struct telemetry *telemetry;
	/* At most every 100 ms and at the end. */
	void (*on_progress)(void *arg, const struct transfer_progress *progress);
	/* A target exists: answer later with transfer_answer(); other files go on meanwhile. */
	void (*on_conflict)(
		void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes);
	/* err: the first failure (others are counted in progress). */
	void (*done)(
		void *arg, const struct err *err, const struct transfer_progress *progress);
	void *arg;
};
struct transfer;
/* As cp does it: if `to` is an existing directory or ends in '/', the copy goes into it under its own base name. */
struct transfer *transfer_start(
	struct loop *loop, const struct transfer_opts *opts, struct err *err);
void transfer_cancel(struct transfer *transfer); /* silent; temp files are removed */
void transfer_pause(struct transfer *transfer, bool paused);
void transfer_answer(struct transfer *transfer, enum transfer_conflict answer, bool for_all);
