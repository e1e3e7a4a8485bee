// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/condition.h"

#include "engine/base/json.h"

#include <string.h>

struct cJSON *k8s_condition_in(const struct cJSON *status, const char *type)
{
	cJSON *condition;
	cJSON_ArrayForEach(condition, json_get(status, "conditions", NULL))
	{
		const char *is = json_str(condition, "type", NULL);
		if (is != NULL && strcmp(is, type) == 0)
			return condition;
	}
	return NULL;
}

const struct cJSON *k8s_condition_find(const struct cJSON *object, const char *type)
{
	return k8s_condition_in(json_get(object, "status", NULL), type);
}

bool k8s_condition_is_true(const struct cJSON *object, const char *type)
{
	const char *status = json_str(k8s_condition_find(object, type), "status", NULL);
	return status != NULL && strcmp(status, "True") == 0;
}

bool k8s_condition_is_fine(const char *type, const char *status)
{
	static const char *const bad_when_true[] = { "Suspended", "Finished",
		"DisruptionTarget", "MemoryPressure", "DiskPressure", "PIDPressure",
		"NetworkUnavailable", "PodResizePending", "PodResizeInProgress", "Failed" };
	bool is_true = strcmp(status, "True") == 0;
	for (size_t i = 0; i < sizeof bad_when_true / sizeof *bad_when_true; i++) {
		if (strcmp(type, bad_when_true[i]) == 0)
			return !is_true && strcmp(status, "Unknown") != 0;
	}
	return is_true;
}
