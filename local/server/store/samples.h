// SPDX-License-Identifier: Apache-2.0
/* What pods and the node use, as they were looked at last: what metrics.k8s.io is answered from. In memory only, by UID of
 * the pod; the node's UID is "". The kubelet writes, the API reads. A zeroed struct is empty. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct store_sample {
	int64_t at_ns;     /* wall clock, end of the window */
	int64_t window_ms; /* in which the processor time was spent */
	uint64_t cpu_nano; /* thousand-millionths of a CPU, mean of the window */
	uint64_t memory_bytes;
	uint64_t disk_bytes; /* of the workspace */
	bool has_disk;       /* it was measured */
};

struct store_samples_entry;
struct store_samples {
	struct store_samples_entry *by_uid;
};

void store_samples_put(
	struct store_samples *samples, const char *uid, const struct store_sample *sample);
/* Borrowed until the next put or drop; NULL: there was no look yet. */
const struct store_sample *store_samples_get(
	const struct store_samples *samples, const char *uid);
void store_samples_drop(struct store_samples *samples, const char *uid);
void store_samples_deinit(struct store_samples *samples);
