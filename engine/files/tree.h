// SPDX-License-Identifier: Apache-2.0
/* Walks some entries of one local folder with everything in them, on a thread, and counts or deletes. Links are never
 * followed: a link is deleted, not what it points to; folders are opened step by step below the one before.
 * Errors: ERR_ARG_PATH, errno. */
#pragma once

#include "engine/files/removal.h"

enum { FILES_TREE_DEPTH_MAX = 200, FILES_TREE_COUNT_MAX = 1000000 };

/* names: entries of dir, copied. done: err is the first failure (the others are counted). Errors: ERR_ARG_PATH;
 * later those of the local disk. */
struct files_op *files_tree_start(struct net_loop *loop, const char *dir,
	const char *const *names, size_t n, bool is_deleting,
	void (*done)(void *arg, const struct err *err, const struct files_totals *totals),
	void *arg, struct err *err);
/* Entries of all kinds that have been passed so far. */
uint64_t files_tree_n_passed(const struct files_op *tree);
