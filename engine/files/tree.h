// SPDX-License-Identifier: Apache-2.0
/* Walks some entries of one local folder with everything in them, in slices, and counts or deletes. Links are never
 * followed: a link is deleted, not what it points to; folders are opened step by step below the one before. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_loop;

enum { TREE_DEPTH_MAX = 200, TREE_COUNT_MAX = 1000000 };

struct views_files_tree_totals {
	uint64_t files, folders, links, bytes, failed;
	bool is_cut; /* counting stopped at TREE_COUNT_MAX */
};
struct views_tree;
/* names: entries of dir, copied. done once: err is the first failure (the others are counted). */
struct views_tree *views_files_tree_start(struct net_loop *loop, const char *dir,
	const char *const *names, size_t n, bool is_deleting,
	void (*done)(
		void *arg, const struct err *err, const struct views_files_tree_totals *totals),
	void *arg, struct err *err);
void views_files_tree_cancel(struct views_tree *tree);
