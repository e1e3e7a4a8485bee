// SPDX-License-Identifier: Apache-2.0
/* The work queue. Whatever changes in the store puts keys into it; a key that is due is reconciled once,
 * against the state of that moment, however often it was put in.
 *
 *   store change ──> on_change: which keys does this concern? ──> queue ──> reconcile_<kind>() ──> writes
 *                                                                  ^─── not before (a time) ──────┘ */
#include "local/server/controller/internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/net/loop.h"
#include "local/server/controller/manifest.h"
#include "local/server/store/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 64, KEY_BYTES = 560, PRUNE_MS = 300000, BEHIND_MS = 5000 };

struct controller_item {
	UT_hash_handle hh;
	enum store_kind kind;
	char *ns, *name;
	int64_t due_ms;
	char key[KEY_BYTES];
};

typedef int64_t reconcile_fn(struct controller *c, struct store_object *o);
static reconcile_fn *const reconcilers[KIND_COUNT] = {
	[KIND_CLAIM] = controller_reconcile_claim,
	[KIND_POOL] = controller_reconcile_pool,
	[KIND_SANDBOX] = controller_reconcile_sandbox,
	[KIND_POD] = controller_reconcile_pod,
	[KIND_NAMESPACE] = controller_reconcile_namespace,
};

static void run_queue(struct controller *c);

static void on_kick(void *arg)
{
	struct controller *c = arg;
	c->is_kicked = false;
	if (c->is_freed)
		free(c);
	else
		run_queue(c);
}

static void kick(struct controller *c)
{
	if (c->is_kicked || c->is_stopping)
		return;
	c->is_kicked = true;
	net_loop_defer(c->server->loop, on_kick, c);
}

void controller_enqueue(struct controller *c, enum store_kind kind, const char *ns,
	const char *name, int64_t delay_ms)
{
	struct controller_item *it;
	char key[KEY_BYTES];
	int64_t due = clock_mono_ms() + delay_ms;
	if (!reconcilers[kind])
		return;
	snprintf(key, sizeof key, "%d/%s/%s", (int)kind, ns, name);
	HASH_FIND_STR(c->queue, key, it);
	if (!it) {
		it = x_calloc(1, sizeof *it);
		it->kind = kind;
		it->ns = x_strdup(ns);
		it->name = x_strdup(name);
		it->due_ms = due;
		memcpy(it->key, key, sizeof key);
		HASH_ADD_STR(c->queue, key, it);
	} else if (due < it->due_ms) {
		it->due_ms = due;
	}
	if (delay_ms <= 0)
		kick(c);
	else if (c->next_ms == 0 || due < c->next_ms) {
		c->next_ms = due;
		net_loop_timer_arm(c->timer, delay_ms);
	}
}

static void item_free(struct controller *c, struct controller_item *it)
{
	HASH_DEL(c->queue, it);
	free(it->ns);
	free(it->name);
	free(it);
}

static void run_item(struct controller *c, struct controller_item *it)
{
	struct store_object *o = store_get(c->server->store, it->kind, it->ns, it->name);
	enum store_kind kind = it->kind;
	item_free(c, it);
	if (!o)
		return;
	store_object_ref(o);
	int64_t again = reconcilers[kind](c, o);
	if (again > 0)
		controller_enqueue(c, kind, o->ns, o->name, again);
	store_object_unref(o);
}

static void run_queue(struct controller *c)
{
	struct controller_item *it, *next;
	int64_t now = clock_mono_ms(), earliest = 0;
	int done = 0;
	bool is_more = false;
	controller_gc_run(c);
	HASH_ITER(hh, c->queue, it, next) {
		if (it->due_ms > now)
			continue;
		if (done == SLICE) {
			is_more = true;
			break;
		}
		done++;
		/* reconciling may add items, but never frees another one */
		run_item(c, it);
	}
	if (is_more || controller_gc_is_pending(c)) {
		kick(c);
		return;
	}
	HASH_ITER(hh, c->queue, it, next) {
		if (earliest == 0 || it->due_ms < earliest)
			earliest = it->due_ms;
	}
	c->next_ms = earliest;
	if (earliest > 0)
		net_loop_timer_arm(c->timer, earliest > now ? earliest - now : 0);
}

static void on_timer(void *arg)
{
	struct controller *c = arg;
	c->next_ms = 0;
	if (!c->is_stopping)
		run_queue(c);
}

/* ---- which keys a change concerns ---- */

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

static void enqueue_owner(struct controller *c, const struct store_object *o)
{
	const cJSON *ref = controller_owner_of(o->json);
	const char *version = json_str(ref, "apiVersion", NULL);
	const char *kind = json_str(ref, "kind", NULL);
	const char *name = json_str(ref, "name", NULL);
	const struct store_resource *r =
		version && kind && name ? store_resource_of_object(version, kind) : NULL;
	if (r)
		controller_enqueue(c, r->kind, o->ns, name, 0);
}

/* Claims that have no sandbox yet may be helped by any pool, template or warm sandbox. */
static void enqueue_unbound_claims(struct controller *c, const char *ns)
{
	struct store *s = c->server->store;
	for (size_t i = 0; i < store_count(s, KIND_CLAIM); i++) {
		struct store_object *o = store_at(s, KIND_CLAIM, i);
		const char *bound = json_str(o->json, "status", "sandbox", "name", NULL);
		if (strcmp(o->ns, ns) == 0 && !bound)
			controller_enqueue(c, KIND_CLAIM, o->ns, o->name, 0);
	}
}

static void enqueue_pools(struct controller *c, const char *ns)
{
	struct store *s = c->server->store;
	for (size_t i = 0; i < store_count(s, KIND_POOL); i++) {
		struct store_object *o = store_at(s, KIND_POOL, i);
		if (strcmp(o->ns, ns) == 0)
			controller_enqueue(c, KIND_POOL, o->ns, o->name, 0);
	}
}

static void on_change(void *arg, const struct store_change *change)
{
	struct controller *c = arg;
	const struct store_object *o = change->now;
	server_tell(c->server);
	if (o->kind == KIND_EVENT)
		return;
	controller_enqueue(c, o->kind, o->ns, o->name, 0);
	switch (o->kind) {
	case KIND_SANDBOX:
		enqueue_owner(c, o);
		if (change->before)
			enqueue_owner(c, change->before);
		enqueue_unbound_claims(c, o->ns);
		break;
	case KIND_POD:
	case KIND_SERVICE:
	case KIND_PVC:
		enqueue_owner(c, o);
		break;
	case KIND_POOL:
		enqueue_unbound_claims(c, o->ns);
		break;
	case KIND_TEMPLATE:
		enqueue_pools(c, o->ns);
		enqueue_unbound_claims(c, o->ns);
		break;
	default:
		break;
	}
	controller_gc_on_change(c, change);
	controller_manifest_on_change(c->server, change);
	if (change->type == CHANGE_DELETED && o->kind == KIND_PVC) {
		char *key = x_asprintf("evicted/%s", o->uid);
		store_meta_set(c->server->store, key, NULL, NULL);
		free(key);
		controller_volumes_remove(c->server, "volumes", o->uid);
	}
	kick(c);
}

/* ---- writes ---- */

void controller_is_behind(struct controller *c)
{
	if (c->behind_timer)
		net_loop_timer_arm(c->behind_timer, BEHIND_MS);
}

static struct store_object *finish_write(
	struct controller *c, cJSON *status, struct store_object *out, const char *what)
{
	if (!status) {
		store_object_unref(out); /* the store holds it */
		return out;
	}
	if (store_status_code(status) >= 500)
		controller_is_behind(c);
	LOG("controller", LOG_WARN, "%s: %s", what, json_str(status, "message", NULL));
	cJSON_Delete(status);
	return NULL;
}

struct store_object *controller_update(
	struct controller *c, struct store_object *o, cJSON *json, enum store_objects_part part)
{
	struct store_object *out = NULL;
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "metadata");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	cJSON *status = store_objects_update(
		c->server->store, store_resource_of(o->kind), o, json, part, NULL, &out);
	return finish_write(c, status, out, "update");
}

struct store_object *controller_create(struct controller *c, enum store_kind kind,
	const char *ns, cJSON *json, struct err *err)
{
	struct store_object *out = NULL;
	cJSON *status = store_objects_create(
		c->server->store, store_resource_of(kind), ns, json, NULL, &out);
	if (status)
		err_set(err, ERR_KUBE_INVALID, "%s", json_str(status, "message", NULL));
	return finish_write(c, status, out, "create");
}

void controller_delete(
	struct controller *c, struct store_object *o, enum store_objects_policy policy)
{
	struct store_objects_delete how = { .policy = policy, .grace_seconds = -1 };
	struct store_object *kept = NULL;
	if (store_objects_is_terminating(o) && policy != OBJECTS_FOREGROUND)
		return;
	cJSON *status = store_objects_delete(
		c->server->store, store_resource_of(o->kind), o, &how, &kept);
	store_object_unref(kept);
	finish_write(c, status, NULL, "delete");
}

/* ---- start and stop ---- */

static void on_prune(void *arg)
{
	controller_events_prune(arg);
}

static void enqueue_all(struct controller *c)
{
	struct store *s = c->server->store;
	for (int k = 0; k < KIND_COUNT; k++)
		for (size_t i = 0; i < store_count(s, (enum store_kind)k); i++) {
			struct store_object *o = store_at(s, (enum store_kind)k, i);
			controller_enqueue(c, o->kind, o->ns, o->name, 0);
		}
}

/* The machine was suspended: dates have passed that no timer has counted. */
static void on_wake(void *arg)
{
	enqueue_all(arg);
}

static void on_behind(void *arg)
{
	struct controller *c = arg;
	if (c->is_stopping)
		return;
	controller_pods_write_again(c);
	controller_gc_scan(c);
	enqueue_all(c);
}

struct controller *controller_start(struct server *s, struct err *err)
{
	struct controller *c = x_calloc(1, sizeof *c);
	c->server = s;
	c->timer = net_loop_timer_new(s->loop, on_timer, c);
	c->behind_timer = net_loop_timer_new(s->loop, on_behind, c);
	if (!controller_volumes_open(s, err) || !controller_pods_open(c, err)) {
		controller_free(c);
		return NULL;
	}
	controller_pods_note_restart(c);
	c->wake = net_loop_wake_add(s->loop, on_wake, c);
	c->prune_timer = net_loop_timer_new(s->loop, on_prune, c);
	net_loop_timer_arm_every(c->prune_timer, PRUNE_MS);
	controller_limits_publish(c);
	store_listen(s->store, on_change, c);
	controller_gc_scan(c);
	controller_events_prune(c);
	enqueue_all(c);
	return c;
}

void controller_stop(struct controller *c, void (*done)(void *arg), void *arg)
{
	c->is_stopping = true;
	store_meta_set(c->server->store, "clean-stop", "1", NULL);
	controller_pods_stop_all(c, done, arg);
}

void controller_free(struct controller *c)
{
	struct controller_item *it, *next;
	if (!c)
		return;
	c->is_stopping = true;
	controller_pods_close(c);
	HASH_ITER(hh, c->queue, it, next) {
		item_free(c, it);
	}
	controller_gc_close(c);
	net_loop_timer_free(c->timer);
	net_loop_timer_free(c->prune_timer);
	net_loop_timer_free(c->behind_timer);
	if (c->wake)
		net_loop_wake_remove(c->wake);
	c->is_freed = true;
	if (!c->is_kicked)
		free(c);
}
