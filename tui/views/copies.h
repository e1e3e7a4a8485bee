// SPDX-License-Identifier: Apache-2.0
/* Copies under way, shared by the views: a queue over engine/transfer. A copy is what one person asked for at
 * once: some files and folders of one place, into one folder of another. It lives on when its view is left. At most
 * COPIES_PARALLEL of them run, each with at most COPY_ITEMS_PARALLEL of its files at a time, so that a question about
 * one of them does not stop the others. */
#pragma once

#include "tui/views/host.h"

#include "engine/base/str.h"

enum {
	COPIES_PARALLEL = 2,
	COPY_ITEMS_PARALLEL = 3,
	COPIES_KEPT_MAX = 200,
	COPY_FAILURES_KEPT = 20,
	COPY_NOTES_KEPT = 20
};

struct copies;
struct copies *copies_new(struct host *host);
void copies_free(struct copies *copies); /* cancels them silently */
/* Those that wait, run or are paused: for the question before quitting. */
size_t copies_running(const struct copies *copies);
/* "2 copies 45% 12.0 MiB/s 3s left" for the status line. False if nothing runs. */
bool copies_summary(const struct copies *copies, struct str *out);

struct copies_place {
	bool is_local;   /* the disk of this machine */
	const char *uid; /* else the row; NULL: the direct runtime */
};

struct copies_request {
	struct copies_place from, to;
	const char *const *paths; /* full paths at `from` */
	const int64_t *sizes; /* bytes of each, -1: a folder or unknown; NULL: all unknown */
	size_t n;
	const char *to_dir;              /* a folder at `to`; "" is a sandbox's root */
	enum transfer_conflict conflict; /* TRANSFER_ASK: by a dialog */
};
/* Borrows everything. False with *err if it cannot begin (no such sandbox, nothing to copy). */
bool copies_start(struct copies *copies, const struct copies_request *request, struct err *err);

/* True if something has arrived in that folder since *seen; *seen becomes now. Begin with 0. */
bool copies_has_arrived(const struct copies *copies, uint64_t *seen,
	const struct copies_place *to, const char *to_dir);

/* ---- for the view over them */
enum copy_state {
	COPY_WAITING,
	COPY_RUNNING,
	COPY_PAUSED,
	COPY_DONE,
	COPY_FAILED, /* some of it, or all */
	COPY_CANCELLED,
	COPY_STATE_COUNT,
};
struct copy_info {
	unsigned id;
	enum copy_state state;
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
size_t copies_count(const struct copies *copies);
/* In order of start, the newest first. Borrowed for this turn. */
struct copy_info copies_at(const struct copies *copies, size_t index);
/* The kept failures of one: path and error. False: no such index. */
bool copies_failure(const struct copies *copies, unsigned id, size_t index, const char **path,
	const struct err **err);
/* The kept notes of one. Raw foreign text. */
bool copies_note(const struct copies *copies, unsigned id, size_t index, const char **path,
	const char **text);
/* 100 only when it is done. */
unsigned copies_percent(const struct copy_info *info);
bool copies_is_over(enum copy_state state);
const char *copy_state_name(enum copy_state state);
void copies_pause(struct copies *copies, unsigned id, bool paused);
void copies_cancel(struct copies *copies, unsigned id);
bool copies_retry(struct copies *copies, unsigned id, struct err *err); /* what failed */
void copies_clear(struct copies *copies);              /* forgets those that are over */
uint64_t copies_revision(const struct copies *copies); /* rises with every visible change */
