// SPDX-License-Identifier: Apache-2.0
/* What the files of the queue of copies share.
 *
 *   transfers_queue.c   starting, running, ending      transfers_ask.c   questions about what is there already
 *   transfer_progress.c    what people see of it          transfers.c       the view */
#pragma once

#include "tui/views/transfers/transfers.h"

#include "engine/base/err.h"
#include "engine/base/map.h"

enum { COPY_SAMPLES = 24 };

enum views_item_state { ITEM_WAITING, ITEM_RUNNING, ITEM_DONE, ITEM_FAILED };

struct views_transfer;
struct views_item {
	struct views_transfer *copy;
	char *path;
	int64_t size_bytes; /* -1 unknown */
	enum views_item_state state;
	struct transfer *transfer;
	struct transfer_progress progress; /* current is not kept here */
	struct err *err;                   /* of a failure, while there are not too many */
};

struct views_place {
	bool is_local;
	char *uid;
	char *name; /* for people */
};

struct views_sample {
	int64_t mono_ms;
	uint64_t bytes, work;
};

struct views_note {
	char *path, *text;
};

struct views_transfer {
	struct views_transfers *copies;
	struct views_transfer *prev, *next;
	unsigned id;
	enum views_transfer_state state;
	struct views_place from, to;
	char *to_dir, *what, *current;
	enum transfer_conflict conflict;
	struct views_item *items;
	size_t n, n_begun, n_active, n_kept_errors;
	int64_t started_ms, elapsed_ms;
	struct views_sample samples[COPY_SAMPLES];
	size_t n_samples;
	struct views_transfer_info sums; /* files and bytes, while they are known to be right */
	bool has_sums;
	struct views_note notes[COPY_NOTES_KEPT];
	uint64_t n_notes; /* all, kept or not */
	uint64_t arrival; /* number of its end, if anything has arrived */
};

struct views_question {
	struct views_question *prev, *next;
	unsigned id; /* of the copy */
	size_t item;
	char *target;
	int64_t existing_bytes, new_bytes;
	uint64_t n_entries; /* not about a file: the tree has more than so many */
};

struct views_transfers {
	struct view_host *host;
	struct views_transfer *list; /* oldest first */
	size_t n;
	unsigned last_id;
	struct views_question *questions;
	bool has_dialog;
	struct net_loop_timer *tick, *step,
		*ask; /* timers and not deferred calls: they end with the queue */
	bool is_ticking;
	uint64_t revision, last_arrival;
};

/* ---- transfers_queue.c */
void views_transfers_changed(struct views_transfers *copies);
struct views_transfer *views_transfers_find(const struct views_transfers *copies, unsigned id);
void views_transfers_step(struct views_transfers *copies);

/* ---- transfers_ask.c */
void views_transfers_on_ask(void *arg); /* of the timer */
/* of a transfer */
void views_transfers_on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes);
void views_transfers_on_limit(void *arg, uint64_t n);
enum { EVERY_ITEM = -1 };
void views_transfers_drop_questions(
	struct views_transfers *copies, unsigned id, ptrdiff_t item);
size_t views_transfers_questions_of(const struct views_transfers *copies, unsigned id);

/* ---- transfer_progress.c */
void views_transfer_take_sample(struct views_transfer *copy);
struct views_transfer_info views_transfer_info_of(struct views_transfer *copy);
