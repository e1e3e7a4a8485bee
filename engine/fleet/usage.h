// SPDX-License-Identifier: Apache-2.0
/* What a sandbox uses, of what it may use: the columns of engine/fleet/kind.c, and whoever draws one sandbox. The numbers are
 * those of its pod in the table that the fleet was given (fleet_opts.usage); rows do not change with them. */
#pragma once

#include "engine/fleet/row.h"
#include "engine/resource/kind.h"
#include "engine/usage/series.h"

struct fleet_use {
	bool is_known;
	int64_t amount; /* thousandths of a core, or bytes */
	int64_t limit;  /* 0: none, or not known */
	int64_t request;
	int64_t share; /* of the limit, in parts of a thousand; -1: there is no limit */
};
struct fleet_use fleet_use_of(const struct fleet_row *row, enum usage_resource resource);
/* The last minutes in parts of a thousand of its limit; without one of the most that is seen there, so that there is a shape
 * and no scale. As resource_column.history. */
int fleet_use_history(
	const struct fleet_row *row, enum usage_resource resource, int16_t *out, int max);

/* Of columns; row is a struct fleet_row. */
struct resource_value fleet_cpu_share(const void *row);
struct resource_value fleet_cpu_amount(const void *row);
struct resource_value fleet_cpu_limit(const void *row);
struct resource_value fleet_cpu_request(const void *row);
struct resource_value fleet_memory_share(const void *row);
struct resource_value fleet_memory_amount(const void *row);
struct resource_value fleet_memory_limit(const void *row);
struct resource_value fleet_memory_request(const void *row);
struct resource_value fleet_disk_share(const void *row);
struct resource_value fleet_disk_amount(const void *row);
struct resource_value fleet_disk_limit(const void *row);
/* Since when nothing has happened in it that can be measured (usage_series_idle_s): wall clock. */
struct resource_value fleet_idle_since(const void *row);
int64_t fleet_idle_order(const void *row); /* the longest first, unknown last */
int64_t fleet_cpu_order(const void *row);  /* the most first, unknown last */
int64_t fleet_memory_order(const void *row);
int64_t fleet_disk_order(const void *row);
int fleet_cpu_history(const void *row, int16_t *out, int max);
enum resource_tone fleet_cpu_tone(const void *row); /* full is a warning, at the limit bad */
enum resource_tone fleet_memory_tone(const void *row);
enum resource_tone fleet_disk_tone(const void *row);
