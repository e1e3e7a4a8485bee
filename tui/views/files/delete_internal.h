// SPDX-License-Identifier: Apache-2.0
/* What files_delete.c (question, deletion) and views_files_delete_plan.c (how much is it?) share. */
#pragma once

#include "tui/views/files/delete.h"
#include "tui/views/files/tree.h"

enum { DELETE_CALL_BYTES_MAX = 48 << 10 };

struct views_target {
	char *name, *path; /* path: from the sandbox's root */
	int64_t size_bytes;
	bool is_folder, is_link;
};

struct views_ask { /* what the dialog holds: either side may go first */
	struct views_files_delete *job;
};

struct views_files_delete {
	uint64_t serial; /* host_input_serial() of the command */
	struct view_host *host;
	bool is_local;
	char *uid, *dir, *place;
	struct views_target *targets;
	size_t n, at; /* at: of the deletion */
	struct views_tree *tree;
	struct runtime_op *op;
	struct views_ask *ask;
	bool is_deleting, has_rm, is_counted;
	struct views_files_tree_totals totals;
	size_t n_deleted, n_failed, n_in_call;
	struct err first;
	void (*done)(void *arg, size_t n_deleted);
	void *arg;
};

/* ---- files_delete.c */
void views_files_delete_ask(struct views_files_delete *job);
void views_files_delete_finish(struct views_files_delete *job);
void views_files_delete_note(
	struct views_files_delete *job, size_t n, const struct err *err); /* a failure */
const char **views_files_delete_names(
	const struct views_files_delete *job); /* free() the array */

/* ---- views_files_delete_plan.c */
/* Ends in views_files_delete_ask(), perhaps before it returns, or in views_files_delete_finish() later. */
bool views_files_delete_plan(struct views_files_delete *job, struct err *err);
