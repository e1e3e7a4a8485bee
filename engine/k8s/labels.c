// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/labels.h"

#include "engine/base/json.h"
#include "engine/base/str.h"

#include <string.h>

static bool is_clean(const char *text)
{
	return text != NULL && strpbrk(text, "=,") == NULL;
}

void k8s_labels_format(const cJSON *object, struct str *out)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "metadata", "labels", NULL))
	{
		const char *value = cJSON_GetStringValue(item);
		if (!is_clean(item->string) || !is_clean(value))
			continue;
		size_t n = out->n + 1 + strlen(item->string) + 1 + strlen(value);
		if (n < K8S_LABELS_BYTES_MAX)
			str_addf(out, "%s%s=%s", out->n ? "," : "", item->string, value);
	}
}

const char *k8s_labels_find(const char *labels, const char *key, size_t *n)
{
	size_t wanted = strlen(key);
	for (const char *at = labels; *at != '\0';) {
		size_t entry = strcspn(at, ",");
		if (entry > wanted && at[wanted] == '=' && strncmp(at, key, wanted) == 0) {
			*n = entry - wanted - 1;
			return at + wanted + 1;
		}
		at += entry + (at[entry] == ',');
	}
	return NULL;
}
