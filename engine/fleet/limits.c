// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/limits.h"

#include "engine/base/json.h"
#include "engine/k8s/quantity.h"

#include <string.h>

enum { MILLI = 1000 };

/* In thousandths; 0: not said, or one of the containers has none and is_each. */
static int64_t sum_of(const cJSON *spec, const char *what, const char *resource, bool is_each)
{
	const cJSON *container;
	uint64_t sum = k8s_quantity_milli_of(json_get(spec, "resources", what, resource, NULL));
	if (sum)
		return (int64_t)(sum < INT64_MAX ? sum : INT64_MAX);
	cJSON_ArrayForEach(container, json_get(spec, "containers", NULL))
	{
		uint64_t one = k8s_quantity_milli_of(
			json_get(container, "resources", what, resource, NULL));
		if (!one && is_each)
			return 0;
		sum = sum + one < INT64_MAX ? sum + one : INT64_MAX;
	}
	return (int64_t)sum;
}

static int32_t milli_of(int64_t milli)
{
	return milli < INT32_MAX ? (int32_t)milli : INT32_MAX;
}

void fleet_limits_read(struct fleet_limits *limits, const cJSON *spec)
{
	*limits = (struct fleet_limits){
		.cpu_milli = milli_of(sum_of(spec, "limits", "cpu", true)),
		.cpu_request_milli = milli_of(sum_of(spec, "requests", "cpu", false)),
		.memory_bytes = sum_of(spec, "limits", "memory", true) / MILLI,
		.memory_request_bytes = sum_of(spec, "requests", "memory", false) / MILLI,
		.disk_bytes = sum_of(spec, "limits", "ephemeral-storage", true) / MILLI,
	};
}

bool fleet_limits_equal(const struct fleet_limits *a, const struct fleet_limits *b)
{
	return a->cpu_milli == b->cpu_milli && a->cpu_request_milli == b->cpu_request_milli &&
	       a->memory_bytes == b->memory_bytes &&
	       a->memory_request_bytes == b->memory_request_bytes &&
	       a->disk_bytes == b->disk_bytes;
}
