// SPDX-License-Identifier: Apache-2.0
/* Create, update and delete of any kind. */
#include "local/server/store/objects_internal.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/name.h"
#include "engine/k8s/status.h"
#include "engine/k8s/time.h"
#include "local/server/store/metadata.h"
#include "local/server/store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct store_objects_how own_writes = { .validation = OBJECTS_IGNORE };

bool store_objects_is_terminating(const struct store_object *o)
{
	return json_str(o->json, "metadata", "deletionTimestamp", NULL) != NULL;
}

void store_objects_set_string(cJSON *object, const char *key, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	if (value)
		cJSON_AddStringToObject(object, key, value);
}

static void set_now(cJSON *metadata, const char *key)
{
	char date[CLOCK_RFC3339_BYTES];
	store_objects_set_string(metadata, key, k8s_time_now(K8S_TIME, date));
}

static void keep_item(cJSON *into, const cJSON *from, const char *key)
{
	const cJSON *old = cJSON_GetObjectItemCaseSensitive(from, key);
	cJSON_DeleteItemFromObjectCaseSensitive(into, key);
	if (old)
		cJSON_AddItemToObject(into, key, cJSON_Duplicate(old, true));
}

/* The array call keeps the key of the item. */
static void move_first(cJSON *from, cJSON *to)
{
	cJSON_AddItemToArray(to, cJSON_DetachItemViaPointer(from, from->child));
}

/* Makes apiVersion and kind the first fields and right; complains if the body says otherwise. */
static cJSON *check_type(const struct store_resource *r, cJSON *body)
{
	char wanted[K8S_API_VERSION_BYTES];
	const char *version = json_str(body, "apiVersion", NULL);
	const char *kind = json_str(body, "kind", NULL);
	k8s_api_version(r->api, wanted);
	if ((kind && strcmp(kind, r->api->kind) != 0) ||
		(version && strcmp(version, wanted) != 0))
		return k8s_status_bad_request(
			"the object provided is unrecognized (must be of type %s): it says %.100s,"
			" Kind=%.100s",
			r->api->kind, version ? version : "", kind ? kind : "");
	cJSON_DeleteItemFromObjectCaseSensitive(body, "apiVersion");
	cJSON_DeleteItemFromObjectCaseSensitive(body, "kind");
	cJSON *rest = cJSON_CreateObject();
	while (body->child)
		move_first(body, rest);
	cJSON_AddStringToObject(body, "apiVersion", wanted);
	cJSON_AddStringToObject(body, "kind", r->api->kind);
	while (rest->child)
		move_first(rest, body);
	cJSON_Delete(rest);
	return NULL;
}

static cJSON *report_unknown(const struct store_resource *r,
	const struct store_objects_how *how, const cJSON *unknown)
{
	const cJSON *u;
	struct str text;
	cJSON *status = NULL;
	if (!unknown->child || how->validation == OBJECTS_IGNORE)
		return NULL;
	str_init(&text, 4096);
	cJSON_ArrayForEach(u, unknown)
	{
		if (how->validation == OBJECTS_STRICT) {
			str_addf(&text, "%sunknown field \"%s\"", text.n ? ", " : "",
				u->valuestring);
		} else if (how->warnings) {
			str_clear(&text);
			str_addf(&text, "unknown field \"%s\"", u->valuestring);
			cJSON_AddItemToArray(how->warnings, cJSON_CreateString(text.p));
		}
	}
	if (how->validation == OBJECTS_STRICT)
		status =
			k8s_status_bad_request("%s in version \"%s\" cannot be handled as a %s:"
					       " strict decoding error: %s",
				r->api->kind, r->api->version, r->api->kind, text.p);
	str_deinit(&text);
	return status;
}

/* The rules of a kind that a schema cannot say. */
static void check_rules(
	const struct store_resource *r, const cJSON *old, const cJSON *body, cJSON *causes)
{
	if (old && r->kind == KIND_SANDBOX) {
		const cJSON *was = json_get(old, "spec", "volumeClaimTemplates", NULL);
		const cJSON *is = json_get(body, "spec", "volumeClaimTemplates", NULL);
		if ((was == NULL) != (is == NULL) || (was && !cJSON_Compare(was, is, true)))
			k8s_status_add_cause(causes, "FieldValueInvalid", "spec",
				"Invalid value: volumeClaimTemplates is immutable");
	}
}

/* Schema, metadata and kind rules in one go. */
static cJSON *validate(const struct store_resource *r, const cJSON *old, cJSON *body,
	const struct store_objects_how *how)
{
	struct store_schema_check check;
	const char *name;
	store_schema_check(&check, r->schema, body);
	cJSON *status = report_unknown(r, how, check.unknown);
	if (!status) {
		store_metadata_check(body, check.causes);
		check_rules(r, old, body, check.causes);
		name = json_str(body, "metadata", "name", NULL);
		if (check.causes->child) {
			status = k8s_status_invalid(r->api, name ? name : "", check.causes);
			check.causes = NULL;
		}
	}
	store_schema_check_deinit(&check);
	return status;
}

cJSON *store_objects_system_status(const struct err *err)
{
	if (err->code == ERR_KUBE_QUOTA)
		return k8s_status_new(K8S_FORBIDDEN, "exceeded quota: objects, %s", err->msg);
	if (err->code == ERR_KUBE_INVALID)
		return k8s_status_new(K8S_INVALID, "%s", err->msg);
	if (err->code == ERR_KUBE_TOO_LARGE)
		return k8s_status_new(K8S_TOO_LARGE, "%s", err->msg);
	return k8s_status_new(K8S_INTERNAL_ERROR, "Internal error occurred: %s", err->msg);
}

static struct store_object *unstored(const struct store_resource *r, cJSON *json, int64_t rv)
{
	struct store_object *o = x_calloc(1, sizeof *o);
	o->refs = 1;
	o->kind = r->kind;
	o->rv = rv;
	o->json = json;
	o->text = cJSON_PrintUnformatted(json);
	o->text_n = strlen(o->text);
	o->ns = o->name = o->uid = "";
	return o;
}

static cJSON *write_out(struct store *s, const struct store_resource *r, cJSON *body,
	const struct store_objects_how *how, int64_t rv, struct store_object **out)
{
	struct err err = { 0 };
	if (how->dry_run) {
		struct store_object *o = unstored(r, body, rv);
		if (out)
			*out = o;
		else
			store_object_unref(o);
		return NULL;
	}
	struct store_object *o = store_write(s, r->kind, body, &err);
	if (!o)
		return store_objects_system_status(&err);
	if (out)
		*out = store_object_ref(o);
	return NULL;
}

static cJSON *check_namespace(
	struct store *s, const struct store_resource *r, const char *ns, const char *name)
{
	if (!r->api->is_namespaced)
		return NULL;
	struct store_object *o = store_get(s, KIND_NAMESPACE, "", ns);
	if (!o)
		return k8s_status_not_found(store_resource_of(KIND_NAMESPACE)->api, ns);
	if (!store_objects_is_terminating(o))
		return NULL;
	cJSON *status = k8s_status_about(
		k8s_status_new(K8S_FORBIDDEN,
			"%s \"%s\" is forbidden: unable to create new content in namespace %s"
			" because it is being terminated",
			r->api->plural, name, ns),
		r->api, name);
	cJSON *causes = cJSON_AddArrayToObject(
		cJSON_GetObjectItemCaseSensitive(status, "details"), "causes");
	k8s_status_add_cause(causes, "NamespaceTerminating", "metadata.namespace",
		"namespace %s is being terminated", ns);
	return status;
}

static void new_uid(char out[37])
{
	char hex[33];
	digest_random_hex(hex, 32);
	snprintf(out, 37, "%.8s-%.4s-4%.3s-%c%.3s-%.12s", hex, hex + 8, hex + 13,
		"89ab"[hex[16] & 3], hex + 17, hex + 20);
}

/* Five characters without vowels and look-alikes, as the API server chooses them. */
static void generate_name(cJSON *metadata, const char *prefix)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char random[5];
	char name[70];
	int n = snprintf(name, sizeof name - 5, "%.58s", prefix);
	digest_random(random, sizeof random);
	for (int i = 0; i < 5; i++)
		name[n + i] = letters[random[i] % (sizeof letters - 1)];
	name[n + 5] = '\0';
	store_objects_set_string(metadata, "name", name);
}

static cJSON *check_name(
	struct store *s, const struct store_resource *r, const char *ns, cJSON *metadata)
{
	const char *name = json_str(metadata, "name", NULL);
	const char *prefix = json_str(metadata, "generateName", NULL);
	cJSON *causes = cJSON_CreateArray();
	if ((!name || !*name) && prefix && *prefix) {
		for (int tries = 0; tries < 8; tries++) {
			generate_name(metadata, prefix);
			name = json_str(metadata, "name", NULL);
			if (!store_get(s, r->kind, ns, name))
				break;
		}
	}
	if (!name || !*name)
		k8s_status_add_cause(causes, "FieldValueRequired", "metadata.name",
			"Required value: name or generateName is required");
	else if (!k8s_is_dns_subdomain(name, strlen(name)))
		k8s_status_add_cause(causes, "FieldValueInvalid", "metadata.name",
			"Invalid value: \"%.253s\": a lowercase RFC 1123 subdomain must consist of"
			" lower case alphanumeric characters, '-' or '.', and must start and end"
			" with an alphanumeric character",
			name);
	if (causes->child)
		return k8s_status_invalid(r->api, name ? name : "", causes);
	cJSON_Delete(causes);
	return NULL;
}

cJSON *store_objects_create(struct store *s, const struct store_resource *r, const char *ns,
	cJSON *body, const struct store_objects_how *how, struct store_object **out)
{
	char uid[37];
	const char *given;
	how = how ? how : &own_writes;
	cJSON *status = check_type(r, body);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(body, "metadata");
	if (!status && metadata && !cJSON_IsObject(metadata))
		status = k8s_status_bad_request("metadata must be an object");
	if (status)
		goto fail;
	if (!metadata)
		metadata = cJSON_AddObjectToObject(body, "metadata");
	given = json_str(metadata, "namespace", NULL);
	if (r->api->is_namespaced && given && *given && strcmp(given, ns) != 0) {
		status = k8s_status_bad_request(
			"the namespace of the provided object does not match"
			" the namespace sent on the request");
		goto fail;
	}
	store_objects_set_string(metadata, "namespace", r->api->is_namespaced ? ns : NULL);
	given = json_str(metadata, "resourceVersion", NULL);
	if (given && *given && strcmp(given, "0") != 0) {
		status = k8s_status_new(K8S_BAD_REQUEST,
			"resourceVersion should not be set on objects to be created");
		goto fail;
	}
	status = check_name(s, r, ns, metadata);
	if (!status)
		status = check_namespace(s, r, ns, json_str(metadata, "name", NULL));
	if (status)
		goto fail;
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "selfLink");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "deletionTimestamp");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "deletionGracePeriodSeconds");
	if (r->has_status && how != &own_writes)
		cJSON_DeleteItemFromObjectCaseSensitive(body, "status");
	status = validate(r, NULL, body, how);
	if (status)
		goto fail;
	struct store_object *old = store_get(s, r->kind, ns, json_str(metadata, "name", NULL));
	if (old) {
		status =
			k8s_status_exists(r->api, old->name, store_objects_is_terminating(old));
		goto fail;
	}
	new_uid(uid);
	store_objects_set_string(metadata, "uid", uid);
	set_now(metadata, "creationTimestamp");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "generation");
	if (r->is_custom)
		cJSON_AddNumberToObject(metadata, "generation", 1);
	return write_out(s, r, body, how, 0, out);
fail:
	cJSON_Delete(body);
	return status;
}

static cJSON *check_identity(const struct store_resource *r, const struct store_object *old,
	const cJSON *body, bool needs_rv)
{
	const char *name = json_str(body, "metadata", "name", NULL);
	const char *ns = json_str(body, "metadata", "namespace", NULL);
	const char *uid = json_str(body, "metadata", "uid", NULL);
	const char *rv = json_str(body, "metadata", "resourceVersion", NULL);
	const char *current = json_str(old->json, "metadata", "resourceVersion", NULL);
	if (name && strcmp(name, old->name) != 0)
		return k8s_status_bad_request(
			"the name of the object (%.253s) does not match the name"
			" on the URL (%s)",
			name, old->name);
	if (ns && *ns && strcmp(ns, old->ns) != 0)
		return k8s_status_bad_request(
			"the namespace of the object (%.253s) does not match"
			" the namespace on the URL (%s)",
			ns, old->ns);
	if (uid && *uid && strcmp(uid, old->uid) != 0)
		return k8s_status_conflict(r->api, old->name,
			"Precondition failed: UID in precondition differs from UID in object meta");
	if (rv && *rv && strcmp(rv, current) != 0)
		return k8s_status_conflict(r->api, old->name,
			"the object has been modified; please apply your changes to the latest"
			" version and try again");
	if (needs_rv && (!rv || !*rv)) {
		cJSON *causes = cJSON_CreateArray();
		k8s_status_add_cause(causes, "FieldValueInvalid", "metadata.resourceVersion",
			"Invalid value: 0: must be specified for an update");
		return k8s_status_invalid(r->api, old->name, causes);
	}
	return NULL;
}

void store_objects_bump_generation(
	const struct store_resource *r, const cJSON *old, cJSON *body)
{
	if (!r->is_custom)
		return;
	int64_t generation = json_int(old, 1, "metadata", "generation", NULL);
	if (!cJSON_Compare(json_get(old, "spec", NULL), json_get(body, "spec", NULL), true))
		generation++;
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(body, "metadata");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "generation");
	cJSON_AddNumberToObject(metadata, "generation", (double)generation);
}

cJSON *store_objects_update(struct store *s, const struct store_resource *r,
	struct store_object *old, cJSON *body, enum store_objects_part part,
	const struct store_objects_how *how, struct store_object **out)
{
	static const char *const server_owned[] = { "name", "namespace", "uid",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"generation", "resourceVersion", "generateName" };
	how = how ? how : &own_writes;
	cJSON *status = check_type(r, body);
	if (!status)
		status = check_identity(r, old, body, how->needs_rv);
	if (status)
		goto fail;
	if (part == OBJECTS_STATUS) {
		cJSON *whole = cJSON_Duplicate(old->json, true);
		keep_item(whole, body, "status");
		cJSON_Delete(body);
		body = whole;
	}
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(body, "metadata");
	if (!cJSON_IsObject(metadata)) {
		cJSON_DeleteItemFromObjectCaseSensitive(body, "metadata");
		metadata = cJSON_AddObjectToObject(body, "metadata");
	}
	for (size_t i = 0; i < sizeof server_owned / sizeof server_owned[0]; i++)
		keep_item(metadata, cJSON_GetObjectItemCaseSensitive(old->json, "metadata"),
			server_owned[i]);
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "selfLink");
	if (part == OBJECTS_MAIN && r->has_status)
		keep_item(body, old->json, "status");
	status = validate(r, old->json, body, how);
	if (status)
		goto fail;
	store_objects_bump_generation(r, old->json, body);
	if (cJSON_Compare(old->json, body, true)) {
		cJSON_Delete(body);
		if (out)
			*out = store_object_ref(old);
		return NULL;
	}
	/* the last finalizer of a deleted object has gone */
	bool gone = json_str(metadata, "deletionTimestamp", NULL) && r->kind != KIND_POD &&
		    r->kind != KIND_NAMESPACE &&
		    cJSON_GetArraySize(json_get(metadata, "finalizers", NULL)) == 0;
	struct store_object *written = NULL;
	status = write_out(s, r, body, how, old->rv, &written);
	if (!status && gone && !how->dry_run) {
		struct err err = { 0 };
		if (!store_remove(s, store_get(s, r->kind, written->ns, written->name), &err))
			status = store_objects_system_status(&err);
	}
	if (status || !out)
		store_object_unref(written);
	else
		*out = written;
	return status;
fail:
	cJSON_Delete(body);
	return status;
}
