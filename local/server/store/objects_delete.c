// SPDX-License-Identifier: Apache-2.0
/* Finalizers, and what a delete means. */
#include "local/server/store/objects_internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/status.h"
#include "engine/k8s/time.h"

#include <string.h>

bool store_objects_has_finalizer(const cJSON *json, const char *name)
{
	const cJSON *f;
	cJSON_ArrayForEach(f, json_get(json, "metadata", "finalizers", NULL))
	{
		if (cJSON_IsString(f) && strcmp(f->valuestring, name) == 0)
			return true;
	}
	return false;
}

void store_objects_set_finalizer(cJSON *json, const char *name, bool present)
{
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "metadata");
	cJSON *list = cJSON_GetObjectItemCaseSensitive(metadata, "finalizers");
	if (present) {
		if (store_objects_has_finalizer(json, name))
			return;
		if (!list)
			list = cJSON_AddArrayToObject(metadata, "finalizers");
		cJSON_AddItemToArray(list, cJSON_CreateString(name));
		return;
	}
	for (cJSON *f = list ? list->child : NULL, *next; f; f = next) {
		next = f->next;
		if (cJSON_IsString(f) && strcmp(f->valuestring, name) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(list, f));
	}
	if (list && !list->child)
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "finalizers");
}

static cJSON *check_preconditions(const struct store_resource *r, const struct store_object *o,
	const struct store_objects_delete *how)
{
	struct str why;
	cJSON *status = NULL;
	const char *rv = json_str(o->json, "metadata", "resourceVersion", NULL);
	str_init(&why, 1024);
	if (how->uid && strcmp(how->uid, o->uid) != 0)
		str_addf(&why,
			"the UID in the precondition (%.64s) does not match the UID in"
			" record (%s). The object might have been deleted and then recreated",
			how->uid, o->uid);
	else if (how->resource_version && strcmp(how->resource_version, rv) != 0)
		str_addf(&why,
			"the ResourceVersion in the precondition (%.64s) does not match the"
			" ResourceVersion in record (%s). The object might have been modified",
			how->resource_version, rv);
	if (why.n > 0)
		status = k8s_status_conflict(r->api, o->name, why.p);
	str_deinit(&why);
	return status;
}

cJSON *store_objects_delete(struct store *s, const struct store_resource *r,
	struct store_object *o, const struct store_objects_delete *how,
	struct store_object **kept)
{
	struct err err = { 0 };
	cJSON *status = check_preconditions(r, o, how);
	*kept = NULL;
	if (status || how->dry_run)
		return status;
	if (r->kind == KIND_NAMESPACE && strcmp(o->name, "default") == 0)
		return k8s_status_about(
			k8s_status_new(K8S_FORBIDDEN,
				"namespaces \"default\" is forbidden: this namespace may"
				" not be deleted"),
			r->api, o->name);
	cJSON *body = cJSON_Duplicate(o->json, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(body, "metadata");
	if (how->policy == OBJECTS_FOREGROUND)
		store_objects_set_finalizer(body, OBJECTS_FINALIZER_FOREGROUND, true);
	if (how->policy == OBJECTS_ORPHAN)
		store_objects_set_finalizer(body, OBJECTS_FINALIZER_ORPHAN, true);
	/* a pod is held by its daemon, a namespace by its content */
	bool held = cJSON_GetArraySize(json_get(metadata, "finalizers", NULL)) > 0 ||
		    r->kind == KIND_POD || r->kind == KIND_NAMESPACE;
	if (!held) {
		cJSON_Delete(body);
		return store_remove(s, o, &err) ? NULL : store_objects_system_status(&err);
	}
	if (!json_str(metadata, "deletionTimestamp", NULL)) {
		int64_t grace = how->grace_seconds >= 0 ? how->grace_seconds
				: r->kind == KIND_POD
					? json_int(body, 5, "spec",
						  "terminationGracePeriodSeconds", NULL)
					: 0;
		char date[CLOCK_RFC3339_BYTES];
		store_objects_set_string(metadata, "deletionTimestamp",
			k8s_time_format(clock_wall_ns() + grace * 1000000000, K8S_TIME, date));
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "deletionGracePeriodSeconds");
		cJSON_AddNumberToObject(metadata, "deletionGracePeriodSeconds", (double)grace);
		if (r->kind == KIND_NAMESPACE) {
			cJSON_DeleteItemFromObjectCaseSensitive(body, "status");
			store_objects_set_string(cJSON_AddObjectToObject(body, "status"),
				"phase", "Terminating");
		}
		store_objects_bump_generation(r, o->json, body);
	}
	if (cJSON_Compare(body, o->json, true)) {
		cJSON_Delete(body);
		*kept = store_object_ref(o);
		return NULL;
	}
	struct store_object *marked = store_write(s, r->kind, body, &err);
	if (!marked)
		return store_objects_system_status(&err);
	*kept = store_object_ref(marked);
	return NULL;
}
