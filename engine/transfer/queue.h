// SPDX-License-Identifier: Apache-2.0
/* Copies in order: a queue over transfers (transfer.h). A copy is what one person asked for at once: some files and
 * folders of one place, into one folder of another. It lives on when whoever asked looks elsewhere. At most
 * TRANSFER_COPIES_PARALLEL of them run, each with at most TRANSFER_COPY_ITEMS_PARALLEL of its files at a time, so that a
 * question about one of them does not stop the others.
 *
 * The queue shows nothing: what it has to say and to ask comes as data. Loop thread only. */
#pragma once

#include "engine/transfer/transfer.h"

enum {
	TRANSFER_COPIES_PARALLEL = 2,
	TRANSFER_COPY_ITEMS_PARALLEL = 3,
	TRANSFER_COPIES_KEPT_MAX = 200,
	TRANSFER_COPY_FAILURES_KEPT = 20,
	TRANSFER_COPY_NOTES_KEPT = 20
};

struct transfer_place {
	bool is_local;   /* the disk of this machine */
	const char *uid; /* else the row; NULL: the direct runtime */
};

enum transfer_copy_state {
	TRANSFER_COPY_WAITING,
	TRANSFER_COPY_RUNNING,
	TRANSFER_COPY_PAUSED,
	TRANSFER_COPY_DONE,
	TRANSFER_COPY_FAILED, /* some of it, or all */
	TRANSFER_COPY_CANCELLED,
	TRANSFER_COPY_STATE_COUNT,
};
const char *transfer_copy_state_name(enum transfer_copy_state state);
bool transfer_copy_is_over(enum transfer_copy_state state);

struct transfer_copy_info {
	unsigned id;
	enum transfer_copy_state state;
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
/* 100 only when it is done. */
unsigned transfer_copy_percent(const struct transfer_copy_info *info);

struct transfer_question {
	unsigned id;                       /* for transfer_queue_answer() */
	const char *path, *place;          /* what it is about, and where that is; foreign */
	int64_t existing_bytes, new_bytes; /* of a file that is there; -1 unknown */
	uint64_t n_entries; /* not 0: not about a file, the tree has more than so many */
};

enum transfer_choice {
	TRANSFER_CHOOSE_STOP, /* the whole copy */
	TRANSFER_CHOOSE_SKIP,
	TRANSFER_CHOOSE_OVERWRITE,
	TRANSFER_CHOOSE_RENAME,
	TRANSFER_CHOOSE_GO_ON, /* with a large tree */
	TRANSFER_CHOICE_COUNT,
};

struct transfer_queue_opts {
	struct net_loop *loop;
	struct telemetry *telemetry;
	bool read_only; /* nothing is written into sandboxes */
	/* The runtime of a place that is not local, each time that something of it begins; borrowed for the call. Its errors
	 * are those of the copy. */
	struct runtime *(*runtime)(void *arg, const char *uid, struct err *err);
	const char *(*name)(void *arg, const char *uid); /* for people; borrowed for the call */
	/* Something that can be seen is different, perhaps from inside a call. */
	void (*on_change)(void *arg);
	/* A copy was taken in (TRANSFER_COPY_WAITING), or is over; from inside the call that did it, or later. */
	void (*on_copy)(void *arg, const struct transfer_copy_info *info);
	/* One question at a time, never from inside a call; the other files go on meanwhile. The next comes after
	 * transfer_queue_answer(), also when the copy has ended in between. Files that go from one folder into another one are
	 * asked about in the order in which they were named, whoever was looked at first. Borrowed for the call. */
	void (*on_question)(void *arg, const struct transfer_question *question);
	void *arg;
};

struct transfer_queue;
struct transfer_queue *transfer_queue_new(const struct transfer_queue_opts *opts);
void transfer_queue_free(struct transfer_queue *queue); /* cancels all silently */

struct transfer_request {
	struct transfer_place from, to;
	const char *const *paths; /* full paths at `from` */
	const int64_t *sizes; /* bytes of each, -1: a folder or unknown; NULL: all unknown */
	size_t n;
	const char *to_dir;              /* a folder at `to`; "" is a sandbox's root */
	enum transfer_conflict conflict; /* TRANSFER_ASK: by on_question */
};
/* Borrows everything.
 * Errors: ERR_ARG_INVALID (nothing to copy, too many, to where they are), ERR_OP_UNSUPPORTED (neither end is in a
 * sandbox), ERR_OP_READ_ONLY, those of engine/runtime/runtime.h. */
bool transfer_queue_start(
	struct transfer_queue *queue, const struct transfer_request *request, struct err *err);
/* Would this copy go nowhere: into itself, or to where it is? Both paths at the same place. */
bool transfer_is_into_itself(const char *path, const char *to_dir);

/* of a question that is no more: nothing. for_all: of this copy */
void transfer_queue_answer(struct transfer_queue *queue, unsigned question_id,
	enum transfer_choice choice, bool for_all);
void transfer_queue_pause(struct transfer_queue *queue, unsigned id, bool paused);
void transfer_queue_cancel(struct transfer_queue *queue, unsigned id);
/* What failed or was cancelled, again. Errors: ERR_ARG_INVALID (there is no such thing). */
bool transfer_queue_retry(struct transfer_queue *queue, unsigned id, struct err *err);
void transfer_queue_clear(struct transfer_queue *queue); /* forgets those that are over */

/* ---- what there is */
size_t transfer_queue_running(
	const struct transfer_queue *queue); /* those that wait, run or are paused */
size_t transfer_queue_count(const struct transfer_queue *queue);
/* In order of start, the newest first. Borrowed for this turn. */
struct transfer_copy_info transfer_queue_at(const struct transfer_queue *queue, size_t index);
/* The kept failures of one: path and error. False: no such index. */
bool transfer_queue_failure(const struct transfer_queue *queue, unsigned id, size_t index,
	const char **path, const struct err **err);
/* The kept notes of one. Raw foreign text. */
bool transfer_queue_note(const struct transfer_queue *queue, unsigned id, size_t index,
	const char **path, const char **text);
/* All that are not over as if they were one: bytes, work, rate, the longest time left (-1: not known of one); what is so of
 * all of them (is_planned, is_finishing, state TRANSFER_COPY_PAUSED) and of any (is_asking). False: there are none. */
bool transfer_queue_sum(const struct transfer_queue *queue, struct transfer_copy_info *sum);
/* True if something has arrived in that folder since *seen; *seen becomes now. Begin with 0. */
bool transfer_queue_has_arrived(const struct transfer_queue *queue, uint64_t *seen,
	const struct transfer_place *to, const char *to_dir);
uint64_t transfer_queue_revision(
	const struct transfer_queue *queue); /* rises with every visible change */
