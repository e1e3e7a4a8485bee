// SPDX-License-Identifier: Apache-2.0
/* What the files of the queue of copies share; each calls only those under it.
 *
 *   queue.c   starting, running, ending, answers
 *   queue_progress.c   what people see of a copy      queue_questions.c   what is to be asked, in order */
#pragma once

#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "engine/transfer/queue.h"

#include <string.h>

enum { TRANSFER_COPY_SAMPLES = 24 };

enum transfer_item_state { ITEM_WAITING, ITEM_RUNNING, ITEM_DONE, ITEM_FAILED };

struct transfer_copy;
struct transfer_item {
	struct transfer_copy *copy;
	char *path;
	int64_t size_bytes; /* -1 unknown */
	enum transfer_item_state state;
	struct transfer *transfer;
	struct transfer_progress progress; /* current is not kept here */
	struct err *err;                   /* of a failure, while there are not too many */
	/* queue_questions.c */
	uint64_t order;  /* of its start, for its first question; 0 after that */
	bool is_looking; /* something may be in its way */
	struct transfer_item *prev, *next; /* of those */
};

struct transfer_queue_end {
	bool is_local;
	char *uid;
	char *name; /* for people */
};

static inline struct transfer_place transfer_end_place(const struct transfer_queue_end *end)
{
	return (struct transfer_place){ .is_local = end->is_local, .uid = end->uid };
}

static inline bool transfer_is_same_place(struct transfer_place a, struct transfer_place b)
{
	return a.is_local == b.is_local &&
	       (a.is_local || strcmp(a.uid ? a.uid : "", b.uid ? b.uid : "") == 0);
}

struct transfer_copy_sample {
	int64_t mono_ms;
	uint64_t bytes, work;
};

struct transfer_copy_note {
	char *path, *text;
};

struct transfer_copy {
	struct transfer_queue *queue;
	struct transfer_copy *prev, *next;
	unsigned id;
	enum transfer_copy_state state;
	struct transfer_queue_end from, to;
	char *to_dir, *what, *current;
	enum transfer_conflict conflict;
	struct transfer_item *items;
	size_t n, n_begun, n_active, n_kept_errors;
	size_t n_asking; /* questions: queue_questions.c */
	int64_t started_ms, elapsed_ms;
	struct transfer_copy_sample samples[TRANSFER_COPY_SAMPLES];
	size_t n_samples;
	struct transfer_copy_info sums; /* files and bytes, while they are known to be right */
	bool has_sums;
	struct transfer_copy_note notes[TRANSFER_COPY_NOTES_KEPT];
	uint64_t n_notes; /* all, kept or not */
	uint64_t arrival; /* number of its end, if anything has arrived */
};

struct transfer_queue_question {
	struct transfer_queue_question *prev, *next;
	unsigned id;
	uint64_t order;
	struct transfer_item *item;
	char *path;
	int64_t existing_bytes, new_bytes;
	uint64_t n_entries;
};

struct transfer_queue {
	struct transfer_queue_opts opts;
	struct transfer_copy *list; /* oldest first */
	size_t n;
	unsigned last_id, last_question_id;
	struct transfer_queue_question *questions; /* utlist, by order */
	struct transfer_item *looking;             /* utlist, by order */
	uint64_t last_order;
	unsigned asked; /* the question that an answer is waited for; 0: none */
	struct net_loop_timer *tick, *step,
		*ask; /* timers and not deferred calls: they end with the queue */
	bool is_ticking;
	uint64_t revision, last_arrival;
};

static inline void transfer_queue_changed(struct transfer_queue *queue)
{
	queue->revision++;
	queue->opts.on_change(queue->opts.arg);
}

/* ---- queue_questions.c */
/* It has been started, and perhaps something is in its way. */
void transfer_question_expect(struct transfer_item *item);
/* Nothing more is waited for from it. */
void transfer_question_forget(struct transfer_item *item);
/* Time has passed: perhaps it is known by now that nothing is in the way. */
void transfer_question_look(struct transfer_queue *queue);
void transfer_question_add(struct transfer_item *item, const char *path, int64_t existing_bytes,
	int64_t new_bytes, uint64_t n_entries);
/* Of one item, or with NULL of the whole copy. conflicts_only: not those about large trees. */
void transfer_question_drop(
	struct transfer_copy *copy, const struct transfer_item *item, bool conflicts_only);
/* It is taken out of the list. Its item; NULL: it is no more. */
struct transfer_item *transfer_question_take(
	struct transfer_queue *queue, unsigned id, bool *is_limit);
void transfer_question_ask(void *queue); /* of the timer: the next, if none is asked */

/* ---- queue_progress.c */
struct transfer_copy *transfer_queue_find(const struct transfer_queue *queue, unsigned id);
void transfer_copy_take_sample(struct transfer_copy *copy);
struct transfer_copy_info transfer_copy_info_of(struct transfer_copy *copy);
