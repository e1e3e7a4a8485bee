// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/usage.h"

#include "engine/base/clock.h"
#include "engine/usage/table.h"

enum { WHOLE = 1000, NEARLY_FULL = 850, FULL = 950 };

static const struct usage_series *series_of(const struct fleet_row *row)
{
	return row->usage && *row->pod ? usage_table_find(row->usage, row->namespace_, row->pod)
				       : NULL;
}

static int64_t limit_of(const struct fleet_row *row, enum usage_resource resource)
{
	const struct fleet_limits *limits = &row->limits;
	return resource == USAGE_CPU      ? limits->cpu_milli
	       : resource == USAGE_MEMORY ? limits->memory_bytes
					  : limits->disk_bytes;
}

static int64_t request_of(const struct fleet_row *row, enum usage_resource resource)
{
	const struct fleet_limits *limits = &row->limits;
	return resource == USAGE_CPU      ? limits->cpu_request_milli
	       : resource == USAGE_MEMORY ? limits->memory_request_bytes
					  : 0;
}

static int64_t share_of(int64_t amount, int64_t limit)
{
	if (limit <= 0)
		return -1;
	double share = (double)amount * WHOLE / (double)limit;
	return share < INT16_MAX ? (int64_t)(share + 0.5) : INT16_MAX;
}

struct fleet_use fleet_use_of(const struct fleet_row *row, enum usage_resource resource)
{
	const struct usage_series *series = series_of(row);
	struct fleet_use use = {
		.limit = limit_of(row, resource),
		.request = request_of(row, resource),
		.share = -1,
	};
	if (!series)
		return use;
	const struct usage_sample *last = &series->last;
	use.amount = resource == USAGE_CPU      ? last->cpu_milli
		     : resource == USAGE_MEMORY ? last->memory_bytes
						: last->disk_bytes;
	use.is_known = use.amount >= 0;
	if (use.is_known)
		use.share = share_of(use.amount, use.limit);
	else
		use.amount = 0;
	return use;
}

int fleet_use_history(
	const struct fleet_row *row, enum usage_resource resource, int16_t *out, int max)
{
	int64_t values[USAGE_HISTORY], most = limit_of(row, resource);
	const struct usage_series *series = series_of(row);
	int n = series ? usage_series_history(series, resource, values,
				 max < USAGE_HISTORY ? max : USAGE_HISTORY)
		       : 0;
	for (int i = 0; i < n && limit_of(row, resource) == 0; i++)
		if (values[i] > most)
			most = values[i];
	for (int i = 0; i < n; i++)
		out[i] = values[i] < 0 ? -1 : most ? (int16_t)share_of(values[i], most) : 0;
	return n;
}

/* ---- columns */

static struct resource_value share(const void *row, enum usage_resource resource)
{
	struct fleet_use use = fleet_use_of(row, resource);
	return (struct resource_value){ "", use.share, use.is_known && use.share >= 0 };
}

static struct resource_value amount(const void *row, enum usage_resource resource)
{
	struct fleet_use use = fleet_use_of(row, resource);
	return (struct resource_value){ "", use.amount, use.is_known };
}

static struct resource_value set(int64_t number)
{
	return (struct resource_value){ "", number, number != 0 };
}

static int64_t order(const void *row, enum usage_resource resource)
{
	struct fleet_use use = fleet_use_of(row, resource);
	return use.is_known ? -use.amount : 1;
}

static enum resource_tone tone(const void *row, enum usage_resource resource)
{
	int64_t full = fleet_use_of(row, resource).share;
	return full >= FULL          ? RESOURCE_BAD
	       : full >= NEARLY_FULL ? RESOURCE_WARNING
				     : RESOURCE_PLAIN;
}

#define COLUMN(name, resource)                                                                 \
	struct resource_value fleet_##name##_share(const void *row)                            \
	{                                                                                      \
		return share(row, resource);                                                   \
	}                                                                                      \
	struct resource_value fleet_##name##_amount(const void *row)                           \
	{                                                                                      \
		return amount(row, resource);                                                  \
	}                                                                                      \
	struct resource_value fleet_##name##_limit(const void *row)                            \
	{                                                                                      \
		return set(limit_of(row, resource));                                           \
	}                                                                                      \
	int64_t fleet_##name##_order(const void *row)                                          \
	{                                                                                      \
		return order(row, resource);                                                   \
	}                                                                                      \
	enum resource_tone fleet_##name##_tone(const void *row)                                \
	{                                                                                      \
		return tone(row, resource);                                                    \
	}
COLUMN(cpu, USAGE_CPU)
COLUMN(memory, USAGE_MEMORY)
COLUMN(disk, USAGE_DISK)
#undef COLUMN

struct resource_value fleet_cpu_request(const void *row)
{
	return set(request_of(row, USAGE_CPU));
}

struct resource_value fleet_memory_request(const void *row)
{
	return set(request_of(row, USAGE_MEMORY));
}

int fleet_cpu_history(const void *row, int16_t *out, int max)
{
	return fleet_use_history(row, USAGE_CPU, out, max);
}

static int64_t idle_ms(const struct fleet_row *row)
{
	const struct usage_series *series = row->state == FLEET_READY ? series_of(row) : NULL;
	return series ? usage_series_idle_s(series) * 1000 : 0;
}

struct resource_value fleet_idle_since(const void *row)
{
	int64_t ms = idle_ms(row);
	return (struct resource_value){
		.text = "", .number = clock_wall_ms() - ms, .is_known = ms > 0
	};
}

int64_t fleet_idle_order(const void *row)
{
	int64_t ms = idle_ms(row);
	return ms ? -ms : 1;
}
