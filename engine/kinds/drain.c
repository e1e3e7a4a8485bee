// SPDX-License-Identifier: Apache-2.0
// Changes are summed in buckets of half a minute, a ring of them.
#include "engine/kinds/drain.h"

#include <string.h>

static int64_t bucket_at(const struct kinds_drain *drain, int64_t now_ms)
{
	return now_ms > drain->since_ms ? (now_ms - drain->since_ms) / DRAIN_BUCKET_MS : 0;
}

static void go_to(struct kinds_drain *drain, int64_t bucket)
{
	for (int i = 0; drain->bucket < bucket && i < DRAIN_BUCKETS; i++) {
		drain->bucket++;
		drain->taken[drain->bucket % DRAIN_BUCKETS] = 0;
		drain->added[drain->bucket % DRAIN_BUCKETS] = 0;
	}
	if (drain->bucket >= bucket)
		return;
	memset(drain->taken, 0, sizeof drain->taken);
	memset(drain->added, 0, sizeof drain->added);
	drain->bucket = bucket;
}

void kinds_drain_see(struct kinds_drain *drain, int64_t now_ms, int64_t wanted, int64_t count)
{
	count = count < 0 ? 0 : count < wanted ? count : wanted;
	if (!drain->is_begun || drain->wanted != wanted) {
		*drain = (struct kinds_drain){
			.is_begun = true, .since_ms = now_ms, .wanted = wanted, .count = count
		};
		return;
	}
	go_to(drain, bucket_at(drain, now_ms));
	int at = (int)(drain->bucket % DRAIN_BUCKETS);
	if (count < drain->count)
		drain->taken[at] += (uint32_t)(drain->count - count);
	else
		drain->added[at] += (uint32_t)(count - drain->count);
	drain->count = count;
}

/* What was seen in the last buckets, and for how long they reach back; false: not for long enough. */
static bool sum(const struct kinds_drain *drain, int64_t now_ms, int64_t *taken, int64_t *added,
	int64_t *ms)
{
	int64_t newest = bucket_at(drain, now_ms), oldest = newest - DRAIN_BUCKETS + 1;
	*taken = *added = 0;
	if (oldest < 0)
		oldest = 0;
	for (int64_t i = oldest; i <= drain->bucket; i++) {
		*taken += drain->taken[i % DRAIN_BUCKETS];
		*added += drain->added[i % DRAIN_BUCKETS];
	}
	*ms = now_ms - drain->since_ms - oldest * DRAIN_BUCKET_MS;
	return drain->is_begun && now_ms - drain->since_ms >= DRAIN_LEAST_MS && *ms > 0;
}

bool kinds_drain_rate(const struct kinds_drain *drain, int64_t now_ms, int64_t *rate)
{
	int64_t taken, added, ms;
	if (!sum(drain, now_ms, &taken, &added, &ms))
		return false;
	*rate = taken * 60000 * 1000 / ms;
	return true;
}

bool kinds_drain_empty_in(const struct kinds_drain *drain, int64_t now_ms, int64_t *in_ms)
{
	int64_t taken, added, ms;
	if (!sum(drain, now_ms, &taken, &added, &ms) || taken <= added || !drain->count)
		return false;
	*in_ms = drain->count * ms / (taken - added);
	return true;
}
