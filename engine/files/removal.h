// SPDX-License-Identifier: Apache-2.0
/* Removing: first what would go, for the question of whoever asks, then it goes, with everything in it.
 *
 * A link goes itself, never what it points to: on the local disk by unlinkat, in a sandbox by its own rm. The daemon's DELETE
 * follows links, so it is used only where there is no rm, and the plan says so.
 * Errors: ERR_ARG_INVALID, ERR_FILE_DENIED, ERR_FILE_SERVER, those of engine/files/tree.h, those of
 * engine/runtime/runtime.h. */
#pragma once

#include "engine/base/err.h"
#include "engine/files/files.h"

struct files_totals {
	uint64_t files, folders, links, bytes, failed;
	bool is_cut; /* counting stopped: there is more */
};

struct files_target {
	char *name, *path; /* path: in the place */
	int64_t size_bytes;
	bool is_folder, is_link;
};

struct files_plan {
	const struct files_target *targets; /* as they were given; is_link as it is known now */
	size_t n;
	bool is_counted;
	struct files_totals totals; /* if it is counted */
	bool follows_links;         /* where a target is a link, what it points to goes */
};

struct files_result {
	size_t n_removed, n_failed; /* of the targets */
	struct err
		first; /* failure: ERR_FILE_DENIED, ERR_FILE_SERVER, of the local disk, of the runtime */
};

enum { FILES_TARGETS_MAX = 1000000 };

struct files_removal;
/* entries of the folder dir are copied. planned comes once; with err (of the runtime) there is nothing to be removed.
 * Errors: ERR_ARG_INVALID (none, too many), ERR_ARG_PATH (a name that is none), and those of the runtime. */
struct files_removal *files_removal_plan_start(struct net_loop *loop,
	const struct files_place *place, const char *dir,
	const struct files_entry *const *entries, size_t n,
	void (*planned)(void *arg, const struct err *err, const struct files_plan *plan),
	void *arg, struct err *err);
/* After planned: everything goes. The place again, as its runtime may have changed meanwhile. done comes once; borrowed. */
void files_removal_start(struct files_removal *removal, const struct files_place *place,
	void (*done)(void *arg, const struct files_result *result), void *arg);
/* Entries that have gone so far: in a sandbox of the targets alone. */
uint64_t files_removal_n_gone(const struct files_removal *removal);
/* Silent, at any time but from inside its callbacks (net_loop_defer); what has gone has gone. NULL is fine. */
void files_removal_free(struct files_removal *removal);

/* One path in a sandbox, without a plan. A link is looked for first, and goes itself; unseen: that could not be done (why), and
 * the daemon deletes, which follows links. recursive: a folder too. Never fails at once. Errors: ERR_ARG_PATH,
 * ERR_FILE_SERVER (what its rm says), and those of the runtime. */
struct files_op *files_remove_path_start(struct net_loop *loop, struct runtime *runtime,
	const char *path, bool recursive, void (*unseen)(void *arg, const struct err *why),
	void (*done)(void *arg, const struct err *err), void *arg);
