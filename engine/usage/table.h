// SPDX-License-Identifier: Apache-2.0
/* The series of many pods, by namespace and name: about 170 bytes a pod. Whoever shows a pod looks it up when it is drawn; no
 * row knows its series, so that what all pods use can change without a change of a row. */
#pragma once

#include "engine/usage/series.h"

#include <stddef.h>

struct usage_table;

enum { USAGE_TABLE_MAX = 300000 };

struct usage_table *usage_table_new(void);
void usage_table_free(struct usage_table *table);
void usage_table_clear(struct usage_table *table);
/* Grows with each sample taken, and when what was known is not any more. */
uint64_t usage_table_revision(const struct usage_table *table);
size_t usage_table_count(const struct usage_table *table);

/* The last sample of a pod, and its series; NULL: none that is younger than the table's patience. Borrowed for this turn. */
const struct usage_series *usage_table_find(
	const struct usage_table *table, const char *namespace_, const char *pod);
/* Pods above USAGE_TABLE_MAX are not taken. */
bool usage_table_add(struct usage_table *table, const char *namespace_, const char *pod,
	const struct usage_sample *sample);
/* A pod has gone, or another one has its name. What was measured until now is not told of that one. */
void usage_table_restart(struct usage_table *table, const char *namespace_, const char *pod);
/* The time at the server, s since 1970: what is older than the patience is not known any more, and what is much older is
 * forgotten. Told by whoever asks, so that the table needs no clock. */
void usage_table_set_now(struct usage_table *table, uint32_t now_s, uint32_t patience_s);
