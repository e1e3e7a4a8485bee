// SPDX-License-Identifier: Apache-2.0
/* Helpers on object trees, and conditions. */
#include "local/server/controller/controller.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/json.h"
#include "engine/k8s/condition.h"
#include "engine/k8s/time.h"

#include <stdio.h>
#include <string.h>

const cJSON *controller_owner_of(const cJSON *object)
{
	const cJSON *ref;
	cJSON_ArrayForEach(ref, json_get(object, "metadata", "ownerReferences", NULL))
	{
		if (json_bool(ref, false, "controller", NULL))
			return ref;
	}
	return NULL;
}

bool controller_is_owned_by(const cJSON *object, const char *uid)
{
	const char *owner = json_str(controller_owner_of(object), "uid", NULL);
	return owner && strcmp(owner, uid) == 0;
}

cJSON *controller_unstructured_object(cJSON *parent, const char *key)
{
	cJSON *child = cJSON_GetObjectItemCaseSensitive(parent, key);
	if (cJSON_IsObject(child))
		return child;
	cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
	return cJSON_AddObjectToObject(parent, key);
}

cJSON *controller_unstructured_array(cJSON *parent, const char *key)
{
	cJSON *child = cJSON_GetObjectItemCaseSensitive(parent, key);
	return child ? child : cJSON_AddArrayToObject(parent, key);
}

cJSON *controller_unstructured_named(const cJSON *list, const char *name)
{
	cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		const char *is = json_str(item, "name", NULL);
		if (is && name && strcmp(is, name) == 0)
			return item;
	}
	return NULL;
}

void controller_unstructured_set_item(cJSON *parent, const char *key, cJSON *value)
{
	if (cJSON_GetObjectItemCaseSensitive(parent, key))
		cJSON_ReplaceItemInObjectCaseSensitive(parent, key, value);
	else
		cJSON_AddItemToObject(parent, key, value);
}

void controller_unstructured_drop(cJSON *parent, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
}

void controller_unstructured_set(cJSON *parent, const char *key, const char *value)
{
	if (value)
		controller_unstructured_set_item(parent, key, cJSON_CreateString(value));
	else
		controller_unstructured_drop(parent, key);
}

void controller_unstructured_set_number(cJSON *parent, const char *key, double value)
{
	controller_unstructured_set_item(parent, key, cJSON_CreateNumber(value));
}

static void set_in_metadata(cJSON *object, const char *map, const char *key, const char *value)
{
	cJSON *metadata = controller_unstructured_object(object, "metadata");
	if (!value && !cJSON_GetObjectItemCaseSensitive(metadata, map))
		return;
	controller_unstructured_set(controller_unstructured_object(metadata, map), key, value);
}

void controller_unstructured_set_label(cJSON *object, const char *key, const char *value)
{
	set_in_metadata(object, "labels", key, value);
}

void controller_unstructured_set_annotation(cJSON *object, const char *key, const char *value)
{
	set_in_metadata(object, "annotations", key, value);
}

const char *controller_unstructured_annotation(const cJSON *object, const char *key)
{
	return json_str(object, "metadata", "annotations", key, NULL);
}

const char *controller_unstructured_label(const cJSON *object, const char *key)
{
	return json_str(object, "metadata", "labels", key, NULL);
}

void controller_unstructured_set_owner(cJSON *object, const struct store_object *owner)
{
	char version[K8S_API_VERSION_BYTES];
	const struct store_resource *r = store_resource_of(owner->kind);
	cJSON *list = cJSON_CreateArray(), *ref = cJSON_CreateObject();
	cJSON_AddStringToObject(ref, "apiVersion", k8s_api_version(r->api, version));
	cJSON_AddStringToObject(ref, "kind", r->api->kind);
	cJSON_AddStringToObject(ref, "name", owner->name);
	cJSON_AddStringToObject(ref, "uid", owner->uid);
	cJSON_AddBoolToObject(ref, "controller", true);
	cJSON_AddBoolToObject(ref, "blockOwnerDeletion", true);
	cJSON_AddItemToArray(list, ref);
	controller_unstructured_set_item(
		controller_unstructured_object(object, "metadata"), "ownerReferences", list);
}

const char *controller_hash8(const char *text, char out[HASH8_BYTES])
{
	snprintf(out, HASH8_BYTES, "%08x", digest_fnv1a32(text, strlen(text)));
	return out;
}

/* ---- conditions ---- */

static cJSON *find_or_add(cJSON *status, const char *type)
{
	cJSON *c = k8s_condition_in(status, type);
	if (c)
		return c;
	c = cJSON_CreateObject();
	cJSON_AddStringToObject(c, "type", type);
	cJSON_AddItemToArray(controller_unstructured_array(status, "conditions"), c);
	return c;
}

void controller_condition_set(cJSON *status, const char *type, const char *value,
	const char *reason, const char *message, int64_t observed_generation)
{
	char now[CLOCK_RFC3339_BYTES];
	cJSON *c = find_or_add(status, type);
	const char *old = json_str(c, "status", NULL);
	bool is_same = old && strcmp(old, value) == 0;
	controller_unstructured_set(c, "status", value);
	controller_unstructured_set(c, "reason", reason);
	controller_unstructured_set(c, "message", message);
	if (!is_same)
		controller_unstructured_set(
			c, "lastTransitionTime", k8s_time_now(K8S_TIME, now));
	if (observed_generation > 0)
		controller_unstructured_set_number(
			c, "observedGeneration", (double)observed_generation);
}

void controller_condition_put(cJSON *status, const cJSON *condition)
{
	cJSON *c = find_or_add(status, json_str(condition, "type", NULL));
	const cJSON *field;
	cJSON_ArrayForEach(field, condition)
	{
		controller_unstructured_set_item(
			c, field->string, cJSON_Duplicate(field, true));
	}
}

void controller_condition_drop(cJSON *status, const char *type)
{
	cJSON *c = k8s_condition_in(status, type);
	if (c)
		cJSON_Delete(cJSON_DetachItemViaPointer(
			cJSON_GetObjectItemCaseSensitive(status, "conditions"), c));
}
