// SPDX-License-Identifier: Apache-2.0
#include "engine/usage/sample.h"

#include "engine/base/json.h"
#include "engine/k8s/quantity.h"
#include "engine/k8s/time.h"

enum { MILLI = 1000, SECOND_MS = 1000 };

/* False: there is no such field, or it is no quantity. */
static bool add(const cJSON *usage, const char *name, uint64_t *sum)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(usage, name);
	if (!cJSON_IsString(value) && !cJSON_IsNumber(value))
		return false;
	*sum += k8s_quantity_milli_of(value); /* at most 1e18 each */
	if (*sum > (uint64_t)INT64_MAX)
		*sum = (uint64_t)INT64_MAX;
	return true;
}

bool usage_sample_read(const cJSON *object, uint32_t now_s, struct usage_sample *out)
{
	const cJSON *container;
	uint64_t cpu = 0, memory = 0, disk = 0;
	bool has_usage = false, has_disk = false;
	cJSON_ArrayForEach(container, json_get(object, "containers", NULL))
	{
		const cJSON *usage = json_get(container, "usage", NULL);
		bool has_cpu = add(usage, "cpu", &cpu),
		     has_memory = add(usage, "memory", &memory);
		has_usage = has_usage || has_cpu || has_memory;
		has_disk = add(usage, "ephemeral-storage", &disk) || has_disk;
	}
	if (!has_usage)
		return false;
	int64_t at_s = k8s_time_ms(json_str(object, "timestamp", NULL)) / SECOND_MS;
	*out = (struct usage_sample){
		.at_s = at_s > 0 && at_s <= now_s ? (uint32_t)at_s : now_s,
		.cpu_milli = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX,
		.memory_bytes = (int64_t)(memory / MILLI),
		.disk_bytes = has_disk ? (int64_t)(disk / MILLI) : -1,
	};
	return true;
}
