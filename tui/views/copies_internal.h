// SPDX-License-Identifier: Apache-2.0
/* What the files of the queue of copies share.
 *
 *   copies_queue.c   starting, running, ending      copies_ask.c   questions about what is there already
 *   copies_sums.c    what people see of it          copies.c       the view */
#pragma once

#include "tui/views/copies.h"

#include "engine/base/err.h"
#include "engine/base/map.h"

enum { COPY_SAMPLES = 24 };

enum item_state { ITEM_WAITING, ITEM_RUNNING, ITEM_DONE, ITEM_FAILED };

struct copy;
struct item {
	struct copy *copy;
	char *path;
	int64_t size_bytes; /* -1 unknown */
	enum item_state state;
	struct transfer *transfer;
	struct transfer_progress progress; /* current is not kept here */
	struct err *err;                   /* of a failure, while there are not too many */
};

struct place {
	bool is_local;
	char *uid;
	char *name; /* for people */
};

struct sample {
	int64_t mono_ms;
	uint64_t bytes, work;
};

struct note {
	char *path, *text;
};

struct copy {
	struct copies *copies;
	struct copy *prev, *next;
	unsigned id;
	enum copy_state state;
	struct place from, to;
	char *to_dir, *what, *current;
	enum transfer_conflict conflict;
	struct item *items;
	size_t n, n_begun, n_active, n_kept_errors;
	int64_t started_ms, elapsed_ms;
	struct sample samples[COPY_SAMPLES];
	size_t n_samples;
	struct copy_info sums; /* files and bytes, while they are known to be right */
	bool has_sums;
	struct note notes[COPY_NOTES_KEPT];
	uint64_t n_notes; /* all, kept or not */
	uint64_t arrival; /* number of its end, if anything has arrived */
};

struct question {
	struct question *prev, *next;
	unsigned id; /* of the copy */
	size_t item;
	char *target;
	int64_t existing_bytes, new_bytes;
	uint64_t n_entries; /* not about a file: the tree has more than so many */
};

struct copies {
	struct host *host;
	struct copy *list; /* oldest first */
	size_t n;
	unsigned last_id;
	struct question *questions;
	bool has_dialog;
	struct loop_timer *tick, *step,
		*ask; /* timers and not deferred calls: they end with the queue */
	bool is_ticking;
	uint64_t revision, last_arrival;
};

/* ---- copies_queue.c */
void copies_changed(struct copies *copies);
struct copy *copies_find(const struct copies *copies, unsigned id);
void copies_step(struct copies *copies);

/* ---- copies_ask.c */
void copies_on_ask(void *arg); /* of the timer */
/* of a transfer */
void copies_on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes);
void copies_on_limit(void *arg, uint64_t n);
enum { EVERY_ITEM = -1 };
void copies_drop_questions(struct copies *copies, unsigned id, ptrdiff_t item);
size_t copies_questions_of(const struct copies *copies, unsigned id);

/* ---- copies_sums.c */
void copy_take_sample(struct copy *copy);
struct copy_info copy_info_of(struct copy *copy);
