// SPDX-License-Identifier: Apache-2.0
/* One object: get, create, update, patch, delete, and the scale subresource. */
#include "local/server/api/api.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/num.h"
#include "engine/k8s/status.h"
#include "local/server/api/render.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"
#include "local/server/store/patch.h"
#include "local/server/store/schema.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct store_object *find(struct api_request *req, const struct api_target *t)
{
	struct store_object *o = store_get(
		req->server->store, t->r->kind, t->r->api->is_namespaced ? t->ns : "", t->name);
	if (!o)
		api_request_fail_take(req, k8s_status_not_found(t->r->api, t->name));
	return o;
}

static cJSON *parse_how(struct api_request *req, struct store_objects_how *how)
{
	const char *validation = api_request_query(req, "fieldValidation");
	const char *dry_run = api_request_query(req, "dryRun");
	*how = (struct store_objects_how){ .warnings = req->warnings };
	if (validation && strcmp(validation, "Strict") == 0)
		how->validation = OBJECTS_STRICT;
	else if (validation && strcmp(validation, "Ignore") == 0)
		how->validation = OBJECTS_IGNORE;
	else if (validation && *validation && strcmp(validation, "Warn") != 0)
		return k8s_status_bad_request(
			"fieldValidation: Unsupported value: \"%.40s\"", validation);
	if (dry_run && *dry_run && strcmp(dry_run, "All") != 0)
		return k8s_status_bad_request("dryRun: Unsupported value: \"%.40s\"", dry_run);
	how->dry_run = dry_run && *dry_run;
	return NULL;
}

void api_get(struct api_request *req, const struct api_target *t)
{
	struct store_object *o = find(req, t);
	if (o)
		api_reply_object(req, t->r, 200, o);
}

/* The body as it is stored. */
static cJSON *parse_object(struct api_request *req, const struct api_target *t, cJSON **status)
{
	cJSON *body = api_request_parse_body(req, false, status);
	if (body && !cJSON_IsObject(body)) {
		*status = k8s_status_bad_request("the body of the request must be an object");
		cJSON_Delete(body);
		return NULL;
	}
	if (body && t->r->is_view) {
		cJSON_DeleteItemFromObjectCaseSensitive(body, "apiVersion");
		body = api_events_from_view_take(body);
	}
	return body;
}

static const struct store_resource *stored(const struct api_target *t)
{
	return t->r->is_view ? store_resource_of(t->r->kind) : t->r;
}

static void reply_written(struct api_request *req, const struct api_target *t, int code,
	cJSON *status, struct store_object *o)
{
	if (status)
		api_request_fail_take(req, status);
	else
		api_reply_object(req, t->r, code, o);
	store_object_unref(o);
}

void api_create(struct api_request *req, const struct api_target *t)
{
	struct store_objects_how how;
	struct store_object *o = NULL;
	cJSON *body = NULL, *status = parse_how(req, &how);
	if (!status)
		body = parse_object(req, t, &status);
	if (body && t->r->kind == KIND_NAMESPACE) {
		cJSON_DeleteItemFromObjectCaseSensitive(body, "status");
		cJSON_AddStringToObject(
			cJSON_AddObjectToObject(body, "status"), "phase", "Active");
	}
	if (body)
		status = store_objects_create(req->server->store, stored(t),
			t->r->api->is_namespaced ? t->ns : "", body, &how, &o);
	reply_written(req, t, 201, status, o);
}

void api_update(struct api_request *req, const struct api_target *t)
{
	struct store_objects_how how;
	struct store_object *updated = NULL, *o = find(req, t);
	bool is_status = t->sub && strcmp(t->sub, "status") == 0;
	cJSON *body = NULL, *status;
	if (!o)
		return;
	status = parse_how(req, &how);
	how.needs_rv = t->r->is_custom;
	if (!status)
		body = parse_object(req, t, &status);
	if (body)
		status = store_objects_update(req->server->store, stored(t), o, body,
			is_status ? OBJECTS_STATUS : OBJECTS_MAIN, &how, &updated);
	reply_written(req, t, 200, status, updated);
}

static cJSON *unsupported_patch(const struct api_target *t, const char *type)
{
	return k8s_status_new(K8S_UNSUPPORTED_MEDIA_TYPE,
		"the body of the request was in an unknown format - accepted media types include:"
		" application/json-patch+json, application/merge-patch+json,"
		" application/apply-patch+yaml%s (got %.100s)",
		t->r->is_custom ? "" : ", application/strategic-merge-patch+json", type);
}

/* Lists of built-in kinds are merged by key in a strategic patch; this server replaces them whole, and so
 * refuses a patch that says how to merge. */
static bool has_directive(const cJSON *patch)
{
	const cJSON *field;
	cJSON_ArrayForEach(field, patch)
	{
		if (field->string && field->string[0] == '$')
			return true;
		if (has_directive(field))
			return true;
	}
	return false;
}

/* The object after the patch, or NULL with *status. */
static cJSON *patched(struct api_request *req, const struct api_target *t,
	const struct store_object *o, cJSON **status)
{
	char type[128];
	struct err err = { 0 };
	bool owned;
	api_request_content_type(req, type);
	bool is_merge = strcmp(type, "application/merge-patch+json") == 0;
	bool is_json = strcmp(type, "application/json-patch+json") == 0;
	bool is_strategic =
		strcmp(type, "application/strategic-merge-patch+json") == 0 && !t->r->is_custom;
	if (!is_merge && !is_json && !is_strategic) {
		*status = unsupported_patch(t, type);
		return NULL;
	}
	cJSON *patch = api_request_parse_body(req, false, status);
	if (!patch)
		return NULL;
	cJSON *tree = api_render_tree(t->r, o, &owned);
	if (!owned)
		tree = cJSON_Duplicate(tree, true);
	if (is_json && !store_patch_json(&tree, patch, &err))
		*status = err.code == ERR_KUBE_INVALID
				  ? k8s_status_about(k8s_status_new(K8S_INVALID, "%s", err.msg),
					    t->r->api, o->name)
				  : k8s_status_bad_request("%s", err.msg);
	else if (!is_json && !cJSON_IsObject(patch))
		*status = k8s_status_bad_request("a merge patch must be an object");
	else if (is_strategic && has_directive(patch))
		*status = k8s_status_bad_request(
			"this server does not know $-directives of strategic merge patches");
	else if (!is_json)
		tree = store_patch_merge(tree, patch);
	cJSON_Delete(patch);
	if (!*status && !cJSON_IsObject(tree))
		*status = k8s_status_bad_request("the patched object is not an object");
	if (*status) {
		cJSON_Delete(tree);
		return NULL;
	}
	if (t->r->is_view) {
		cJSON_DeleteItemFromObjectCaseSensitive(tree, "apiVersion");
		tree = api_events_from_view_take(tree);
	}
	return tree;
}

void api_patch(struct api_request *req, const struct api_target *t)
{
	char type[128];
	struct store_objects_how how;
	struct store_object *o, *updated = NULL;
	bool is_status = t->sub && strcmp(t->sub, "status") == 0;
	api_request_content_type(req, type);
	if (strcmp(type, "application/apply-patch+yaml") == 0) {
		api_apply(req, t);
		return;
	}
	o = find(req, t);
	if (!o)
		return;
	cJSON *status = parse_how(req, &how);
	cJSON *tree = status ? NULL : patched(req, t, o, &status);
	if (tree)
		status = store_objects_update(req->server->store, stored(t), o, tree,
			is_status ? OBJECTS_STATUS : OBJECTS_MAIN, &how, &updated);
	reply_written(req, t, 200, status, updated);
}

/* DeleteOptions from the body, else from the query. */
static cJSON *parse_delete(
	struct api_request *req, cJSON *body, struct store_objects_delete *how)
{
	const char *policy = json_str(body, "propagationPolicy", NULL);
	const char *dry_run = api_request_query(req, "dryRun");
	const char *grace = api_request_query(req, "gracePeriodSeconds");
	*how = (struct store_objects_delete){ .grace_seconds = -1 };
	if (!policy)
		policy = api_request_query(req, "propagationPolicy");
	if (policy && strcmp(policy, "Foreground") == 0)
		how->policy = OBJECTS_FOREGROUND;
	else if (policy && strcmp(policy, "Orphan") == 0)
		how->policy = OBJECTS_ORPHAN;
	else if (policy && strcmp(policy, "Background") != 0)
		return k8s_status_new(K8S_INVALID,
			"DeleteOptions is invalid: propagationPolicy: Unsupported value: \"%.40s\"",
			policy);
	how->uid = json_str(body, "preconditions", "uid", NULL);
	how->resource_version = json_str(body, "preconditions", "resourceVersion", NULL);
	if (grace && !num_parse_i64(grace, 0, INT32_MAX, &how->grace_seconds))
		return k8s_status_bad_request(
			"gracePeriodSeconds: Invalid value: \"%.40s\"", grace);
	how->grace_seconds = json_int(body, how->grace_seconds, "gracePeriodSeconds", NULL);
	how->dry_run = (dry_run && *dry_run) || json_get(body, "dryRun", NULL);
	return NULL;
}

static cJSON *success_about(const struct store_resource *r, const char *name, const char *uid)
{
	cJSON *s = k8s_status_about(k8s_status_success(), r->api, name);
	cJSON_AddStringToObject(cJSON_GetObjectItemCaseSensitive(s, "details"), "uid", uid);
	return s;
}

void api_delete(struct api_request *req, const struct api_target *t)
{
	struct store_objects_delete how;
	struct store_object *kept = NULL, *o = find(req, t);
	cJSON *status, *body;
	if (!o)
		return;
	body = api_request_parse_body(req, true, &status);
	if (!status)
		status = parse_delete(req, body, &how);
	cJSON *success = success_about(t->r, o->name, o->uid);
	if (!status)
		status = store_objects_delete(req->server->store, stored(t), o, &how, &kept);
	cJSON_Delete(body);
	if (!status && !kept) {
		api_request_reply_json_take(req, 200, success);
		return;
	}
	if (status)
		api_request_fail_take(req, status);
	else
		api_reply_object(req, t->r, 200, kept);
	cJSON_Delete(success);
	store_object_unref(kept);
}

void api_delete_collection(struct api_request *req, const struct api_target *t)
{
	struct store *s = req->server->store;
	struct store_objects_delete how;
	struct api_filter filter = { 0 };
	size_t n = 0;
	cJSON *status, *body = api_request_parse_body(req, true, &status);
	if (!status)
		status = parse_delete(req, body, &how);
	if (!status && api_filter_init(&filter, req, t->r, &status)) {
		struct store_object **all =
			store_list(s, t->r->kind, t->ns, store_revision(s), &n);
		for (size_t i = 0; i < n && !status; i++) {
			struct store_object *kept = NULL;
			struct store_object *o =
				store_get(s, t->r->kind, all[i]->ns, all[i]->name);
			if (o && api_filter_matches(&filter, o))
				status = store_objects_delete(s, stored(t), o, &how, &kept);
			store_object_unref(kept);
		}
		store_list_free(all, n);
	}
	api_filter_deinit(&filter);
	cJSON_Delete(body);
	if (status) {
		api_request_fail_take(req, status);
		return;
	}
	api_request_reply_json_take(req, 200, k8s_status_success());
}

static cJSON *scale_of(const struct store_object *pool)
{
	cJSON *scale = cJSON_CreateObject(), *metadata, *item;
	static const char *const keys[] = { "name", "namespace", "uid", "resourceVersion",
		"creationTimestamp" };
	cJSON_AddStringToObject(scale, "kind", "Scale");
	cJSON_AddStringToObject(scale, "apiVersion", "autoscaling/v1");
	metadata = cJSON_AddObjectToObject(scale, "metadata");
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const cJSON *value = json_get(pool->json, "metadata", keys[i], NULL);
		if (value)
			cJSON_AddItemToObject(metadata, keys[i], cJSON_Duplicate(value, true));
	}
	item = cJSON_AddObjectToObject(scale, "spec");
	cJSON_AddNumberToObject(
		item, "replicas", (double)json_int(pool->json, 0, "spec", "replicas", NULL));
	item = cJSON_AddObjectToObject(scale, "status");
	cJSON_AddNumberToObject(
		item, "replicas", (double)json_int(pool->json, 0, "status", "replicas", NULL));
	const char *selector = json_str(pool->json, "status", "selector", NULL);
	if (selector)
		cJSON_AddStringToObject(item, "selector", selector);
	return scale;
}

/* What a written Scale says becomes spec.replicas of the pool. */
static cJSON *scale_write(struct api_request *req, const struct api_target *t,
	struct store_object *o, cJSON *scale, struct store_object **out)
{
	struct store_objects_how how;
	struct store_schema_check check;
	cJSON *status = parse_how(req, &how);
	if (status)
		return status;
	store_schema_check(&check, "Scale", scale);
	const char *rv = json_str(scale, "metadata", "resourceVersion", NULL);
	if (check.causes->child) {
		status = k8s_status_invalid(t->r->api, o->name, check.causes);
		check.causes = NULL;
	} else {
		cJSON *pool = cJSON_Duplicate(o->json, true);
		cJSON *spec = cJSON_GetObjectItemCaseSensitive(pool, "spec");
		cJSON *metadata = cJSON_GetObjectItemCaseSensitive(pool, "metadata");
		cJSON_DeleteItemFromObjectCaseSensitive(spec, "replicas");
		cJSON_AddNumberToObject(
			spec, "replicas", (double)json_int(scale, 0, "spec", "replicas", NULL));
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
		if (rv)
			cJSON_AddStringToObject(metadata, "resourceVersion", rv);
		status = store_objects_update(
			req->server->store, t->r, o, pool, OBJECTS_MAIN, &how, out);
	}
	store_schema_check_deinit(&check);
	return status;
}

void api_scale(struct api_request *req, const struct api_target *t)
{
	struct store_object *updated = NULL, *o = find(req, t);
	cJSON *status = NULL, *scale, *body;
	if (!o)
		return;
	scale = scale_of(o);
	if (req->method == EVHTTP_REQ_GET) {
		api_request_reply_json_take(req, 200, scale);
		return;
	}
	body = api_request_parse_body(req, false, &status);
	if (body && req->method == EVHTTP_REQ_PATCH) {
		char type[128];
		api_request_content_type(req, type);
		if (strcmp(type, "application/merge-patch+json") == 0)
			scale = store_patch_merge(scale, body);
		else
			status = unsupported_patch(t, type);
		cJSON_Delete(body);
	} else if (body) {
		cJSON_Delete(scale);
		scale = body;
	}
	if (!status)
		status = scale_write(req, t, o, scale, &updated);
	cJSON_Delete(scale);
	if (status)
		api_request_fail_take(req, status);
	else
		api_request_reply_json_take(req, 200, scale_of(updated));
	store_object_unref(updated);
}
