// SPDX-License-Identifier: Apache-2.0
/* How fast something is used up, from the counts that were seen since somebody looks: no count from before that is
 * known, so nothing is said before DRAIN_LEAST_MS have been watched. Of the last DRAIN_BUCKETS * DRAIN_BUCKET_MS.
 * Zeroed: nothing has been seen. Times are monotonic, ms. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DRAIN_BUCKETS = 20, DRAIN_BUCKET_MS = 30000, DRAIN_LEAST_MS = 10000 };

struct kinds_drain {
	bool is_begun;
	int64_t since_ms, bucket; /* of since_ms: the number of the newest one */
	int64_t wanted, count;    /* as seen last */
	uint32_t taken[DRAIN_BUCKETS], added[DRAIN_BUCKETS];
};

/* Counts above what is wanted go by themselves and are nobody's use; another wish begins anew. */
void kinds_drain_see(struct kinds_drain *drain, int64_t now_ms, int64_t wanted, int64_t count);
/* Taken in a minute, in thousandths; false: not watched for long enough. */
bool kinds_drain_rate(const struct kinds_drain *drain, int64_t now_ms, int64_t *rate);
/* When there will be none, if it goes on like that: ms from now. False: it does not, or it is not known. */
bool kinds_drain_empty_in(const struct kinds_drain *drain, int64_t now_ms, int64_t *ms);
