// SPDX-License-Identifier: Apache-2.0
/* What happened to one sandbox, oldest first: what the API tells (dates, conditions, restarts, annotations of Agent Sandbox
 * v1beta1, events) and what we have seen change since we look, as one line of time. Nothing stands in it twice, and times
 * are of our clock (the server's, corrected). Texts are foreign bytes. */
#pragma once

#include "engine/resource/kind.h"

struct fleet;

enum fleet_story_kind {
	FLEET_STORY_CREATED,
	FLEET_STORY_READY,
	FLEET_STORY_UNREADY, /* it was ready */
	FLEET_STORY_SUSPENDED,
	FLEET_STORY_RESUMED,
	FLEET_STORY_RESTARTED, /* a container of its pod */
	FLEET_STORY_MOVED,     /* to another pod */
	FLEET_STORY_EXTENDED,
	FLEET_STORY_NOTED, /* an event that changes things: evicted, preempted, node lost */
	FLEET_STORY_EXPIRED,
	FLEET_STORY_ENDED, /* its pod has ended, well or not */
	FLEET_STORY_DELETED,
	FLEET_STORY_KIND_COUNT,
};

enum { FLEET_STORY_TEXT_BYTES = 192, FLEET_STORY_MAX = 48 };

struct fleet_story_entry {
	int64_t wall_ms;
	enum fleet_story_kind kind;
	char text
		[FLEET_STORY_TEXT_BYTES]; /* "adopted from warm pool p, 9 ms"; whole characters */
};

const char *fleet_story_glyph(enum fleet_story_kind kind); /* one cell */
enum resource_tone fleet_story_tone(enum fleet_story_kind kind);

/* Of a row, or of one that is gone and remembered (tombstones.h). Returns how many; of more than max the first and the
 * last ones. */
size_t fleet_story(
	const struct fleet *fleet, const char *uid, struct fleet_story_entry *out, size_t max);

/* Pure: puts in order and leaves out what is there twice (the same kind within a moment, as seen and as told: the one that
 * says more stays, at the time of the first). At most max stay. Returns how many. */
size_t fleet_story_order(struct fleet_story_entry *entries, size_t n, size_t max);
