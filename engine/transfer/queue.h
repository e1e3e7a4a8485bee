// SPDX-License-Identifier: Apache-2.0
/* Copies under way, shared by the views: a queue over engine/transfer. A copy is what one person asked for at
 * once: some files and folders of one place, into one folder of another. It lives on when its view is left. At most
 * COPIES_PARALLEL of them run, each with at most COPY_ITEMS_PARALLEL of its files at a time, so that a question about
 * one of them does not stop the others. */
#pragma once

#include "tui/view/host.h"

#include "engine/base/str.h"

enum {
	COPIES_PARALLEL = 2,
	COPY_ITEMS_PARALLEL = 3,
	COPIES_KEPT_MAX = 200,
	COPY_FAILURES_KEPT = 20,
	COPY_NOTES_KEPT = 20
};

struct views_transfers;
struct views_transfers *views_transfers_new(struct view_host *host);
void views_transfers_free(struct views_transfers *copies); /* cancels them silently */
/* Those that wait, run or are paused: for the question before quitting. */
size_t views_transfers_running(const struct views_transfers *copies);
/* "2 copies 45% 12.0 MiB/s 3s left" for the status line. False if nothing runs. */
bool views_transfers_summary(const struct views_transfers *copies, struct str *out);

struct views_transfers_place {
	bool is_local;   /* the disk of this machine */
	const char *uid; /* else the row; NULL: the direct runtime */
};

struct views_transfers_request {
	struct views_transfers_place from, to;
	const char *const *paths; /* full paths at `from` */
	const int64_t *sizes; /* bytes of each, -1: a folder or unknown; NULL: all unknown */
	size_t n;
	const char *to_dir;              /* a folder at `to`; "" is a sandbox's root */
	enum transfer_conflict conflict; /* TRANSFER_ASK: by a dialog */
};
/* Borrows everything. False with *err if it cannot begin (no such sandbox, nothing to copy). */
bool views_transfers_start(struct views_transfers *copies,
	const struct views_transfers_request *request, struct err *err);

/* True if something has arrived in that folder since *seen; *seen becomes now. Begin with 0. */
bool views_transfers_has_arrived(const struct views_transfers *copies, uint64_t *seen,
	const struct views_transfers_place *to, const char *to_dir);

/* ---- for the view over them */
enum views_transfer_state {
	COPY_WAITING,
	COPY_RUNNING,
	COPY_PAUSED,
	COPY_DONE,
	COPY_FAILED, /* some of it, or all */
	COPY_CANCELLED,
	COPY_STATE_COUNT,
};
struct views_transfer_info {
	unsigned id;
	enum views_transfer_state state;
	const char *what;      /* "a.txt and 2 more"; raw foreign text, as the following */
	const char *from, *to; /* "local", or a sandbox's name */
	const char *to_dir;
	const char *current; /* "" if none */
	uint64_t files_done, files_total, files_skipped, files_failed;
	uint64_t bytes_done, bytes_total;
	uint64_t work_done, work_total; /* bytes and files in one: transfer_work() */
	bool is_planned;                /* the totals are complete */
	bool is_finishing;              /* every byte is sent; the target makes it durable */
	uint64_t bytes_per_s;
	int64_t left_ms; /* -1 unknown */
	int64_t elapsed_ms;
	bool is_asking; /* waits for an answer */
	size_t n_failures;
	uint64_t
		n_notes; /* what was skipped, grew, or lost its mode or time; the first are kept */
};
size_t views_transfers_count(const struct views_transfers *copies);
/* In order of start, the newest first. Borrowed for this turn. */
struct views_transfer_info views_transfers_at(
	const struct views_transfers *copies, size_t index);
/* The kept failures of one: path and error. False: no such index. */
bool views_transfers_failure(const struct views_transfers *copies, unsigned id, size_t index,
	const char **path, const struct err **err);
/* The kept notes of one. Raw foreign text. */
bool views_transfers_note(const struct views_transfers *copies, unsigned id, size_t index,
	const char **path, const char **text);
/* 100 only when it is done. */
unsigned views_transfers_percent(const struct views_transfer_info *info);
bool views_transfers_is_over(enum views_transfer_state state);
const char *views_transfer_state_name(enum views_transfer_state state);
void views_transfers_pause(struct views_transfers *copies, unsigned id, bool paused);
void views_transfers_cancel(struct views_transfers *copies, unsigned id);
bool views_transfers_retry(
	struct views_transfers *copies, unsigned id, struct err *err); /* what failed */
void views_transfers_clear(struct views_transfers *copies); /* forgets those that are over */
uint64_t views_transfers_revision(
	const struct views_transfers *copies); /* rises with every visible change */
