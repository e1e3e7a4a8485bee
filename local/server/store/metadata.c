// SPDX-License-Identifier: Apache-2.0
/* Rules of k8s.io/apimachinery/pkg/util/validation for labels, annotations and owners. */
#include "local/server/store/metadata.h"

#include "engine/base/json.h"
#include "engine/k8s/name.h"
#include "engine/k8s/status.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ANNOTATIONS_BYTES = 262144 };

static bool is_key(const char *text)
{
	return k8s_is_label_key(text, strlen(text));
}

/* A member that must be an object whose values are strings; NULL and a cause if it is something else. */
static const cJSON *map_of(const cJSON *metadata, const char *name, cJSON *causes)
{
	const cJSON *map = json_get(metadata, name, NULL), *item;
	bool ok = map == NULL || cJSON_IsNull(map) || cJSON_IsObject(map);
	if (cJSON_IsObject(map))
		cJSON_ArrayForEach(item, map) ok = ok && cJSON_IsString(item);
	if (ok)
		return cJSON_IsObject(map) ? map : NULL;
	char field[64];
	snprintf(field, sizeof field, "metadata.%s", name);
	k8s_status_add_cause(causes, "FieldValueInvalid", field,
		"Invalid value: must be an object whose values are strings");
	return NULL;
}

static void check_labels(const cJSON *labels, cJSON *causes)
{
	const cJSON *label;
	cJSON_ArrayForEach(label, labels)
	{
		if (!is_key(label->string))
			k8s_status_add_cause(causes, "FieldValueInvalid", "metadata.labels",
				"Invalid value: \"%.100s\": name part must consist of alphanumeric"
				" characters, '-', '_' or '.', and must start and end with an"
				" alphanumeric character",
				label->string);
		if (cJSON_IsString(label) &&
			!k8s_is_label_value(label->valuestring, strlen(label->valuestring)))
			k8s_status_add_cause(causes, "FieldValueInvalid", "metadata.labels",
				"Invalid value: \"%.100s\": a valid label must be an empty string or"
				" consist of alphanumeric characters, '-', '_' or '.', and must start"
				" and end with an alphanumeric character, at most 63 of them",
				label->valuestring);
	}
}

static void check_annotations(const cJSON *annotations, cJSON *causes)
{
	const cJSON *a;
	size_t total = 0;
	cJSON_ArrayForEach(a, annotations)
	{
		total += strlen(a->string);
		total += cJSON_IsString(a) ? strlen(a->valuestring) : 0;
		if (!is_key(a->string))
			k8s_status_add_cause(causes, "FieldValueInvalid",
				"metadata.annotations",
				"Invalid value: \"%.100s\": not a qualified name", a->string);
	}
	if (total > MAX_ANNOTATIONS_BYTES)
		k8s_status_add_cause(causes, "FieldValueTooLong", "metadata.annotations",
			"Too long: may not be more than %d bytes", MAX_ANNOTATIONS_BYTES);
}

void store_metadata_check(const cJSON *object, cJSON *causes)
{
	const cJSON *metadata = json_get(object, "metadata", NULL), *item;
	int controllers = 0;
	check_labels(map_of(metadata, "labels", causes), causes);
	check_annotations(map_of(metadata, "annotations", causes), causes);
	cJSON_ArrayForEach(item, json_get(metadata, "ownerReferences", NULL))
	{
		controllers += json_bool(item, false, "controller", NULL);
	}
	if (controllers > 1)
		k8s_status_add_cause(causes, "FieldValueInvalid", "metadata.ownerReferences",
			"Invalid value: only one reference can have controller set to true");
	cJSON_ArrayForEach(item, json_get(metadata, "finalizers", NULL))
	{
		if (cJSON_IsString(item) && !is_key(item->valuestring))
			k8s_status_add_cause(causes, "FieldValueInvalid", "metadata.finalizers",
				"Invalid value: \"%.100s\": name is not a qualified name",
				item->valuestring);
	}
}
