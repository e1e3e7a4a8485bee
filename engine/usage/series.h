// SPDX-License-Identifier: Apache-2.0
/* What one pod has used in the last minutes, in 64 bytes: the last sample as it was said, and a ring of coarse ones (right to a
 * sixteenth: a sparkline has eight heights). No I/O. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { USAGE_HISTORY = 16, USAGE_IDLE_MILLI = 10 };

enum usage_resource { USAGE_CPU, USAGE_MEMORY, USAGE_DISK, USAGE_RESOURCE_COUNT };

struct usage_sample {
	uint32_t
		at_s; /* when it was measured: the server's wall clock, s since 1970; never 0 */
	uint32_t cpu_milli;   /* thousandths of a core */
	int64_t memory_bytes; /* working set */
	int64_t disk_bytes;   /* -1: not told */
};

struct usage_series {
	struct usage_sample last; /* at_s 0: there is none */
	uint32_t since_s;         /* samples until then are of another pod of that name */
	uint8_t n, next;          /* of the ring */
	uint16_t idle_units;      /* see usage_series_idle_s() */
	uint8_t cpu[USAGE_HISTORY], memory[USAGE_HISTORY];
};
_Static_assert(sizeof(struct usage_series) <= 64, "a series costs a cache line");

/* False: it is not newer than what is there, or of another pod. After a gap of more than gap_s there is one in the history
 * that is not known. */
bool usage_series_add(
	struct usage_series *series, const struct usage_sample *sample, uint32_t gap_s);
/* Another pod has the name from now on (the server's wall clock). */
void usage_series_restart(struct usage_series *series, uint32_t now_s);
/* For how long nothing has happened there that can be measured, s, as of the last sample: less than USAGE_IDLE_MILLI of a core
 * was used, and no file changed the size of the disk's content, where that is told. It is counted while somebody looks;
 * at most 6 days; 0: something happened. */
int64_t usage_series_idle_s(const struct usage_series *series);
/* Values of CPU (thousandths of a core) or memory (bytes), the oldest first, -1 where not known; at most `max`. Returns how
 * many. Of the disk there are none. */
int usage_series_history(
	const struct usage_series *series, enum usage_resource resource, int64_t *out, int max);
