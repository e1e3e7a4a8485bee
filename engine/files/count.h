// SPDX-License-Identifier: Apache-2.0
/* How much is in some entries of a sandbox, by its find (GNU). */
#pragma once

#include "engine/files/removal.h"

/* is_link[i] of each target, and the sums; not ok: it could not be counted. NULL: it cannot even be asked. */
struct files_op *files_count_start(struct net_loop *loop, struct runtime *runtime,
	const struct files_target *targets, size_t n,
	void (*done)(
		void *arg, bool ok, const struct files_totals *totals, const bool *is_link),
	void *arg);
