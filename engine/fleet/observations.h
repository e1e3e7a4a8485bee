// SPDX-License-Identifier: Apache-2.0
/* What has been seen to change in one row since we look: a ring that is made with its first entry, the newest 16. The
 * clock is the server's, in seconds: as exact as what the API tells of the same things. Not for use outside of this folder. */
#pragma once

#include "engine/fleet/index.h"
#include "engine/fleet/row.h"
#include "engine/fleet/story.h"

enum { FLEET_OBSERVATIONS_MAX = 16 };

struct fleet_observation {
	const char *text; /* interned; what there is to say beyond the kind */
	uint32_t at_s;
	uint8_t kind; /* enum fleet_story_kind */
};
struct fleet_observations {
	uint8_t n, capacity, first; /* a ring only once it is as large as it may be */
	struct fleet_observation list[];
};

struct fleet_pod;
struct fleet_store;
struct fleet_store_row;
struct str;

/* "container main restarted: OOMKilled, exit code 137 (1×); its processes are lost" */
void fleet_observation_format_restart(const struct fleet_pod *pod, struct str *out);

/* The row is about to look like `now`. */
void fleet_observe(
	struct fleet_store *store, struct fleet_store_row *row, const struct fleet_row *now);
void fleet_observations_free(
	struct fleet_store *store, struct fleet_observations *observations);
/* Oldest first; position < n. */
const struct fleet_observation *fleet_observation_at(
	const struct fleet_observations *observations, size_t position);
