// SPDX-License-Identifier: Apache-2.0
/* Server-side apply, in part: an object is created or merged, and what the same field manager applied before
 * and no longer mentions is removed. Not done: managedFields, conflicts between managers (force is
 * accepted and changes nothing), merging of lists by key (they are replaced whole). docs/local.md says so. */
#include "local/server/api/api.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/k8s/status.h"
#include "local/server/api/render.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"
#include "local/server/store/patch.h"

#include <stdlib.h>
#include <string.h>

static char *record_key(const char *uid, const char *manager)
{
	return x_asprintf("applied/%s/%08x", uid, digest_fnv1a32(manager, strlen(manager)));
}

static cJSON *last_applied(struct store *s, const struct store_object *o, const char *manager)
{
	struct err err;
	char *key = record_key(o->uid, manager);
	char *text = store_meta_get(s, key);
	cJSON *tree = text ? json_parse(slice_of(text), &err) : NULL;
	free(text);
	free(key);
	return tree;
}

static void remember(struct store *s, const struct store_object *o, const char *manager,
	const cJSON *applied)
{
	struct err err;
	char *key = record_key(o->uid, manager);
	char *text = cJSON_PrintUnformatted(applied);
	store_meta_set(s, key, text, &err);
	free(text);
	free(key);
}

static cJSON *apply(struct api_request *req, const struct api_target *t, const char *manager,
	cJSON *body, struct store_object **out, int *code)
{
	struct store *s = req->server->store;
	const char *validation = api_request_query(req, "fieldValidation");
	const char *name = json_str(body, "metadata", "name", NULL);
	const char *dry_run = api_request_query(req, "dryRun");
	struct store_objects_how how = { .warnings = req->warnings,
		.dry_run = dry_run && *dry_run };
	struct store_object *o =
		store_get(s, t->r->kind, t->r->api->is_namespaced ? t->ns : "", t->name);
	cJSON *status;
	if (validation && strcmp(validation, "Strict") == 0)
		how.validation = OBJECTS_STRICT;
	if (name && strcmp(name, t->name) != 0)
		return k8s_status_bad_request(
			"the name of the object (%.253s) does not match the name"
			" on the URL (%s)",
			name, t->name);
	if (json_get(body, "metadata", "managedFields", NULL))
		return k8s_status_bad_request("metadata.managedFields must be nil");
	if (!o) {
		*code = 201;
		status = store_objects_create(s, t->r, t->r->api->is_namespaced ? t->ns : "",
			cJSON_Duplicate(body, true), &how, out);
	} else {
		cJSON *last = last_applied(s, o, manager);
		cJSON *patch = store_patch_three_way(last, body);
		cJSON *tree = store_patch_merge(cJSON_Duplicate(o->json, true), patch);
		cJSON_Delete(last);
		cJSON_Delete(patch);
		*code = 200;
		status = store_objects_update(
			s, t->r, o, tree, t->sub ? OBJECTS_STATUS : OBJECTS_MAIN, &how, out);
	}
	if (!status && !how.dry_run)
		remember(s, *out, manager, body);
	return status;
}

void api_apply(struct api_request *req, const struct api_target *t)
{
	const char *manager = api_request_query(req, "fieldManager");
	struct store_object *out = NULL;
	int code = 200;
	cJSON *status = NULL, *body = NULL;
	if (!manager || !*manager)
		status = k8s_status_bad_request("fieldManager is required for apply patch");
	else if (t->r->is_view)
		status = k8s_status_bad_request("events cannot be applied");
	else
		body = api_request_parse_body(req, false, &status);
	if (body && !cJSON_IsObject(body))
		status = k8s_status_bad_request("the body of an apply must be an object");
	if (!status)
		status = apply(req, t, manager, body, &out, &code);
	cJSON_Delete(body);
	if (status)
		api_request_fail_take(req, status);
	else
		api_reply_object(req, t->r, code, out);
	store_object_unref(out);
}
