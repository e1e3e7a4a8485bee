// SPDX-License-Identifier: Apache-2.0
/* What happens to the dependents of an object, by ownerReferences: gone owner = gone dependents; foreground
 * deletion waits for them; orphan deletion cuts the reference. And the emptying of namespaces. */
#include "local/server/manager/internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"

#include <stdlib.h>
#include <string.h>

struct manager_gc_entry {
	UT_hash_handle hh;
	char uid[];
};

/* An owner that is missing but was never deleted was lost with a part of the database: what has files, or leads to
 * such, stays, and waits for a person. */
static bool may_collect(struct store *s, const struct store_object *o, const char *owner_uid)
{
	bool has_files = o->kind == KIND_PVC || o->kind == KIND_POD ||
			 o->kind == KIND_SANDBOX || o->kind == KIND_CLAIM;
	if (!has_files || store_was_deleted(s, owner_uid))
		return true;
	LOG("controller", LOG_WARN, "%s %s/%s is kept: its owner %s is not known",
		store_resource_of(o->kind)->singular, o->ns, o->name, owner_uid);
	return false;
}

static void push(struct controller *c, const char *uid)
{
	struct manager_gc_entry *e;
	size_t n = strlen(uid);
	HASH_FIND(hh, c->gc, uid, n, e);
	if (e || n == 0)
		return;
	e = x_calloc(1, sizeof *e + n + 1);
	memcpy(e->uid, uid, n + 1);
	HASH_ADD(hh, c->gc, uid, n, e);
}

void manager_gc_on_change(struct controller *c, const struct store_change *change)
{
	const cJSON *ref;
	const struct store_object *o = change->now;
	if (change->type == CHANGE_DELETED) {
		push(c, o->uid);
		/* a foreground deletion of an owner may have waited for this one */
		cJSON_ArrayForEach(ref, json_get(o->json, "metadata", "ownerReferences", NULL))
		{
			const char *uid = json_str(ref, "uid", NULL);
			push(c, uid ? uid : "");
		}
		if (*o->ns)
			controller_enqueue(c, KIND_NAMESPACE, "", o->ns, 0);
	} else if (store_objects_is_terminating(o)) {
		push(c, o->uid);
	}
}

void manager_gc_scan(struct controller *c)
{
	struct store *s = c->server->store;
	const cJSON *ref;
	for (int k = 0; k < KIND_COUNT; k++)
		for (size_t i = 0; i < store_count(s, (enum store_kind)k); i++) {
			const struct store_object *o = store_at(s, (enum store_kind)k, i);
			if (store_objects_is_terminating(o))
				push(c, o->uid);
			cJSON_ArrayForEach(
				ref, json_get(o->json, "metadata", "ownerReferences", NULL))
			{
				const char *uid = json_str(ref, "uid", NULL);
				if (uid && !store_by_uid(s, uid) && may_collect(s, o, uid))
					push(c, uid);
			}
		}
}

static bool depends_on(const struct store_object *o, const char *uid)
{
	const cJSON *ref;
	cJSON_ArrayForEach(ref, json_get(o->json, "metadata", "ownerReferences", NULL))
	{
		const char *owner = json_str(ref, "uid", NULL);
		if (owner && strcmp(owner, uid) == 0)
			return true;
	}
	return false;
}

/* References to all dependents; free with store_list_free. */
static struct store_object **dependents(struct store *s, const char *uid, size_t *n)
{
	struct store_object **v = NULL;
	size_t capacity = 0;
	*n = 0;
	for (int k = 0; k < KIND_COUNT; k++)
		for (size_t i = 0; i < store_count(s, (enum store_kind)k); i++) {
			struct store_object *o = store_at(s, (enum store_kind)k, i);
			if (!depends_on(o, uid))
				continue;
			array_grow(&v, &capacity, *n + 1, sizeof(struct store_object *));
			v[(*n)++] = store_object_ref(o);
		}
	return v;
}

/* Removes references to uid; what has no living owner left is deleted unless it is to be kept. */
static void cut(struct controller *c, struct store_object *o, const char *uid, bool keep)
{
	cJSON *json = cJSON_Duplicate(o->json, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "metadata");
	cJSON *list = cJSON_GetObjectItemCaseSensitive(metadata, "ownerReferences");
	int living = 0;
	for (cJSON *ref = list ? list->child : NULL, *next; ref; ref = next) {
		const char *owner = json_str(ref, "uid", NULL);
		next = ref->next;
		if (!owner || strcmp(owner, uid) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(list, ref));
		else
			living += store_by_uid(c->server->store, owner) != NULL;
	}
	if (living == 0 && !keep) {
		cJSON_Delete(json);
		controller_delete(c, o, OBJECTS_BACKGROUND);
		return;
	}
	if (!list->child)
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "ownerReferences");
	controller_update(c, o, json, OBJECTS_MAIN);
}

static void drop_finalizer(struct controller *c, struct store_object *o, const char *name)
{
	cJSON *json = cJSON_Duplicate(o->json, true);
	store_objects_set_finalizer(json, name, false);
	controller_update(c, o, json, OBJECTS_MAIN);
}

static void process(struct controller *c, const char *uid)
{
	struct store *s = c->server->store;
	struct store_object *owner = store_by_uid(s, uid);
	size_t n;
	bool is_foreground =
		owner && store_objects_is_terminating(owner) &&
		store_objects_has_finalizer(owner->json, OBJECTS_FINALIZER_FOREGROUND);
	bool is_orphan = owner && store_objects_is_terminating(owner) &&
			 store_objects_has_finalizer(owner->json, OBJECTS_FINALIZER_ORPHAN);
	if (owner && !is_foreground && !is_orphan)
		return;
	struct store_object **v = dependents(s, uid, &n);
	for (size_t i = 0; i < n; i++) {
		struct store_object *o = store_get(s, v[i]->kind, v[i]->ns, v[i]->name);
		if (!o || (!owner && !may_collect(s, o, uid)))
			continue;
		if (is_foreground)
			controller_delete(c, o, OBJECTS_BACKGROUND);
		else
			cut(c, o, uid, is_orphan);
	}
	store_list_free(v, n);
	if (!owner)
		return;
	v = dependents(s, uid, &n);
	store_list_free(v, n);
	owner = store_by_uid(s, uid);
	if (owner && is_orphan)
		drop_finalizer(c, owner, OBJECTS_FINALIZER_ORPHAN);
	else if (owner && n == 0)
		drop_finalizer(c, owner, OBJECTS_FINALIZER_FOREGROUND);
}

bool manager_gc_run(struct controller *c)
{
	struct manager_gc_entry *e, *next;
	int budget = 32;
	HASH_ITER(hh, c->gc, e, next) {
		if (budget-- == 0)
			break;
		HASH_DEL(c->gc, e);
		process(c, e->uid);
		free(e);
	}
	return c->gc != NULL;
}

void manager_gc_close(struct controller *c)
{
	struct manager_gc_entry *e, *next;
	HASH_ITER(hh, c->gc, e, next) {
		HASH_DEL(c->gc, e);
		free(e);
	}
}

/* A terminating namespace goes when nothing is left in it. */
int64_t manager_reconcile_namespace(struct controller *c, struct store_object *ns)
{
	struct store *s = c->server->store;
	size_t left = 0, n;
	if (!store_objects_is_terminating(ns))
		return 0;
	for (int k = 0; k < KIND_COUNT; k++) {
		if (k == KIND_NAMESPACE)
			continue;
		struct store_object **v =
			store_list(s, (enum store_kind)k, ns->name, store_revision(s), &n);
		for (size_t i = 0; i < n; i++) {
			struct store_object *o = store_get(s, v[i]->kind, v[i]->ns, v[i]->name);
			if (o)
				controller_delete(c, o, OBJECTS_BACKGROUND);
		}
		store_list_free(v, n);
		for (size_t i = 0; i < store_count(s, (enum store_kind)k); i++)
			left += strcmp(store_at(s, (enum store_kind)k, i)->ns, ns->name) == 0;
	}
	ns = store_get(s, KIND_NAMESPACE, "", ns->name);
	if (left > 0 || !ns)
		return ns ? 1000 : 0;
	struct err err;
	if (!store_remove(s, ns, &err)) {
		LOG("controller", LOG_ERROR, "%s", err.msg);
		controller_is_behind(c);
	}
	return 0;
}
