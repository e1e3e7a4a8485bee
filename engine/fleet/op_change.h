// SPDX-License-Identifier: Apache-2.0
/* What op_change.c (delete, suspend and resume) and op_lifetime.c (extend, the end of life) share: an operation on the object that
 * a row was, never on one that took its name since. */
#pragma once

#include "engine/fleet/binding_lease.h"
#include "engine/fleet/fleet_internal.h"

#define MERGE_PATCH "application/merge-patch+json"

struct fleet_change {
	char sandbox_uid[FLEET_UID_BYTES];
	char *sandbox;
	bool suspend;
	bool is_unseen; /* the watch has not told of the Sandbox yet */
	struct fleet_lifetime lifetime;
	char *policy; /* of lifetime */
	bool never_shorter;
	int conflicts;
	char binding[FLEET_BINDING_DIGITS + 1]; /* of its Lease; "" */
};
struct fleet_op *fleet_change_new(struct fleet *fleet, const struct fleet_row *row,
	const char *span, fleet_done_fn *done, void *arg);
/* op, if its first call is on its way; else it is freed, and NULL. */
struct fleet_op *fleet_change_started(struct fleet_op *op, const struct err *err);
char *fleet_change_path(const struct fleet_op *op); /* of the claim, or the Sandbox */
