// SPDX-License-Identifier: Apache-2.0
/* The controllers, one row each. Whatever changes in the store puts keys into the queue:
 *
 *   store change ──> on_change: whose keys does this concern? ──> queue ──> reconcile of the row ──> writes
 *                                                                   ^─── not before (a time) ──────────┘ */
#include "local/server/manager/internal.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/net/loop.h"
#include "local/server/kubelet/kubelet.h"
#include "local/server/kubelet/volumes.h"

#include <stdlib.h>
#include <string.h>

enum { PRUNE_MS = 300000 };

/* ---- which keys a change concerns ---- */

/* The one of this kind that owns o. */
static void enqueue_owner(
	struct controller *c, enum store_kind kind, const struct store_object *o)
{
	const cJSON *ref = controller_owner_of(o->json);
	const char *version = json_str(ref, "apiVersion", NULL);
	const char *name = json_str(ref, "name", NULL);
	const char *ref_kind = json_str(ref, "kind", NULL);
	const struct store_resource *r = version && ref_kind && name
						 ? store_resource_of_object(version, ref_kind)
						 : NULL;
	if (r && r->kind == kind)
		controller_enqueue(c, kind, o->ns, name, 0);
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

const struct controller_row manager_rows[] = {
	{ .name = "templates", .kind = KIND_TEMPLATE, .reconcile = manager_reconcile_template },
	{ .name = "pools",
		.kind = KIND_POOL,
		.reconcile = manager_reconcile_pool,
		.owns = { KIND_SANDBOX },
		.n_owns = 1,
		.reads = { { KIND_TEMPLATE, enqueue_pools } } },
	{ .name = "claims",
		.kind = KIND_CLAIM,
		.reconcile = manager_reconcile_claim,
		.owns = { KIND_SANDBOX },
		.n_owns = 1,
		.reads = { { KIND_SANDBOX, enqueue_unbound_claims },
			{ KIND_POOL, enqueue_unbound_claims },
			{ KIND_TEMPLATE, enqueue_unbound_claims } } },
	{ .name = "sandboxes",
		.kind = KIND_SANDBOX,
		.reconcile = manager_reconcile_sandbox,
		.owns = { KIND_POD, KIND_SERVICE, KIND_PVC },
		.n_owns = 3 },
	{ .name = "pods", .kind = KIND_POD, .reconcile = kubelet_reconcile_pod },
	{ .name = "gc",
		.kind = KIND_NAMESPACE,
		.reconcile = manager_reconcile_namespace,
		.on_change = manager_gc_on_change,
		.background = manager_gc_run },
	{ .name = "volumes", .on_change = kubelet_volumes_on_change },
	{ 0 },
};

static void ask_row(struct controller *c, const struct controller_row *row,
	const struct store_change *change)
{
	const struct store_object *o = change->now;
	for (size_t i = 0; i < row->n_owns; i++) {
		if (row->owns[i] != o->kind)
			continue;
		enqueue_owner(c, row->kind, o);
		if (change->before)
			enqueue_owner(c, row->kind, change->before);
	}
	for (const struct controller_read *read = row->reads; read->enqueue; read++)
		if (read->kind == o->kind)
			read->enqueue(c, o->ns);
}

static void on_change(void *arg, const struct store_change *change)
{
	struct controller *c = arg;
	const struct store_object *o = change->now;
	server_tell(c->server);
	if (o->kind == KIND_EVENT)
		return;
	controller_enqueue(c, o->kind, o->ns, o->name, 0);
	for (const struct controller_row *row = manager_rows; row->name; row++)
		ask_row(c, row, change);
	for (const struct controller_row *row = manager_rows; row->name; row++)
		if (row->on_change)
			row->on_change(c, change);
	controller_kick(c);
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
	kubelet_write_again(c);
	manager_gc_scan(c);
	enqueue_all(c);
}

struct controller *manager_start(struct server *s, struct err *err)
{
	struct controller *c = x_calloc(1, sizeof *c);
	c->server = s;
	controller_queue_open(c, manager_rows);
	c->behind_timer = net_loop_timer_new(s->loop, on_behind, c);
	if (!kubelet_volumes_open(s, err) || !kubelet_open(c, err)) {
		manager_free(c);
		return NULL;
	}
	kubelet_note_restart(c);
	c->wake = net_loop_wake_add(s->loop, on_wake, c);
	c->prune_timer = net_loop_timer_new(s->loop, on_prune, c);
	net_loop_timer_arm_every(c->prune_timer, PRUNE_MS);
	kubelet_limits_publish(c);
	store_listen(s->store, on_change, c);
	manager_gc_scan(c);
	controller_events_prune(c);
	enqueue_all(c);
	return c;
}

void manager_stop(struct controller *c, void (*done)(void *arg), void *arg)
{
	c->is_stopping = true;
	store_meta_set(c->server->store, "clean-stop", "1", NULL);
	kubelet_stop(c, done, arg);
}

void manager_free(struct controller *c)
{
	if (!c)
		return;
	c->is_stopping = true;
	kubelet_close(c);
	manager_gc_close(c);
	net_loop_timer_free(c->prune_timer);
	net_loop_timer_free(c->behind_timer);
	if (c->wake)
		net_loop_wake_remove(c->wake);
	controller_queue_close(c); /* and frees c, at the latest at the end of this turn */
}
