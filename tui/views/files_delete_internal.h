// SPDX-License-Identifier: Apache-2.0
/* What files_delete.c (question, deletion) and files_delete_look.c (how much is it?) share. */
#pragma once

#include "tui/views/files_delete.h"
#include "tui/views/files_tree.h"

enum { DELETE_CALL_BYTES_MAX = 48 << 10 };

struct target {
	char *name, *path; /* path: from the sandbox's root */
	int64_t size_bytes;
	bool is_folder, is_link;
};

struct ask { /* what the dialog holds: either side may go first */
	struct files_delete *job;
};

struct files_delete {
	uint64_t serial; /* host_input_serial() of the command */
	struct host *host;
	bool is_local;
	char *uid, *dir, *place;
	struct target *targets;
	size_t n, at; /* at: of the deletion */
	struct tree *tree;
	struct runtime_op *op;
	struct ask *ask;
	bool is_deleting, has_rm, is_counted;
	struct tree_totals totals;
	size_t n_deleted, n_failed, n_in_call;
	struct err first;
	void (*done)(void *arg, size_t n_deleted);
	void *arg;
};

/* ---- files_delete.c */
void files_delete_ask(struct files_delete *job);
void files_delete_finish(struct files_delete *job);
void files_delete_note(
	struct files_delete *job, size_t n, const struct err *err); /* a failure */
const char **files_delete_names(const struct files_delete *job);    /* free() the array */

/* ---- files_delete_look.c */
/* Ends in files_delete_ask(), perhaps before it returns, or in files_delete_finish() later. */
bool files_delete_look(struct files_delete *job, struct err *err);
