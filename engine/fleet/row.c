// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/row.h"

#include <stdio.h>

static const char *const state_names[] = {
	[FLEET_TERMINATING] = "Terminating",
	[FLEET_EXPIRED] = "Expired",
	[FLEET_FAILED] = "Failed",
	[FLEET_BLOCKED] = "Blocked",
	[FLEET_FINISHED] = "Finished",
	[FLEET_SUSPENDED] = "Suspended",
	[FLEET_SUSPENDING] = "Suspending",
	[FLEET_RESUMING] = "Resuming",
	[FLEET_READY] = "Ready",
	[FLEET_ERROR] = "Error",
	[FLEET_PENDING] = "Pending",
	[FLEET_DEGRADED] = "Degraded",
	[FLEET_CREATING] = "Creating",
	[FLEET_UNKNOWN] = "Unknown",
	[FLEET_WARM] = "Warm",
	[FLEET_CRASHING] = "Crashing",
	[FLEET_DELETED] = "Deleted",
};
_Static_assert(
	sizeof state_names / sizeof *state_names == FLEET_STATE_COUNT, "a name for each state");

const char *fleet_state_name(enum fleet_state state)
{
	return (unsigned)state < FLEET_STATE_COUNT ? state_names[state] : "Unknown";
}

const char *fleet_row_because(const struct fleet_row *row, char out[FLEET_BECAUSE_BYTES])
{
	bool has_why = row->why != NULL && row->why[0], has_next = row->next && row->next[0];
	snprintf(out, FLEET_BECAUSE_BYTES, "%s%s%s%s", has_why ? ": " : "",
		has_why ? row->why : "", has_why && has_next ? "; " : "",
		has_why && has_next ? row->next : "");
	return out;
}
