// SPDX-License-Identifier: Apache-2.0
/* What controllers are made of: rows that a work queue calls, writes to the store, events, and object trees. The controllers
 * themselves are local/server/manager and local/server/kubelet. One thread, that of server->loop. */
#pragma once

#include "engine/base/map.h"
#include "engine/k8s/condition.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"

#include <stdint.h>

struct net_loop_timer;
struct net_loop_wake;
struct controller_item;
struct kubelet;
struct manager_gc_entry;

/* A controller: what it is about, what it makes, what else it reads. */
struct controller_read {
	enum store_kind kind;
	void (*enqueue)(
		struct controller *c, const char *ns); /* those whom a change may help */
};
struct controller_row {
	const char *name;
	enum store_kind kind;
	/* One pass over one object. Returns after how many ms to look again, 0: only when something changes. NULL: no kind is
	 * its own. */
	int64_t (*reconcile)(struct controller *c, struct store_object *o);
	enum store_kind owns[3]; /* a change of one concerns its controlling owner */
	size_t n_owns;
	struct controller_read reads[4]; /* the last one is empty */
	/* each change in the store; NULL */
	void (*on_change)(struct controller *c, const struct store_change *change);
	/* before the keys of a turn; true: there is more to do; NULL */
	bool (*background)(struct controller *c);
};

struct controller {
	struct server *server;
	const struct controller_row *rows; /* the last one has no name */
	struct controller_item *queue;
	struct net_loop_timer *timer;
	int64_t next_ms; /* when the timer fires; 0: not armed */
	bool is_kicked, is_stopping, is_freed;
	struct net_loop_timer *behind_timer, *prune_timer;
	struct net_loop_wake *wake;
	/* of those who stand on this */
	struct manager_gc_entry *gc; /* UIDs whose dependents must be looked at */
	struct kubelet *kubelet;     /* what runs */
};

/* queue.c. Keys of kinds that no row reconciles are dropped. delay_ms 0: at the end of this turn. */
void controller_enqueue(struct controller *c, enum store_kind kind, const char *ns,
	const char *name, int64_t delay_ms);
void controller_kick(struct controller *c); /* there is something to do in this turn */
void controller_queue_open(struct controller *c, const struct controller_row *rows);
void controller_queue_close(struct controller *c); /* frees c itself when nothing is deferred */

/* writes.c. Each takes json; the object returned is borrowed from the store; NULL if it failed (logged). */
struct store_object *controller_update(struct controller *c, struct store_object *o,
	cJSON *json_take, enum store_objects_part part);
struct store_object *controller_create(struct controller *c, enum store_kind kind,
	const char *ns, cJSON *json_take, struct err *err);
void controller_delete(
	struct controller *c, struct store_object *o, enum store_objects_policy policy);
/* The store did not take a write (a full disk): everything is looked at again in some seconds. */
void controller_is_behind(struct controller *c);

/* events.c */
enum controller_event_type { EVENT_NORMAL, EVENT_WARNING };
void controller_events_record(struct controller *c, const struct store_object *about,
	enum controller_event_type type, const char *reason, const char *action,
	const char *format, ...) __attribute__((format(printf, 6, 7)));
void controller_events_prune(struct controller *c);

/* unstructured.c: small helpers on trees that are being built */
const cJSON *controller_owner_of(const cJSON *object); /* the controller reference, or NULL */
bool controller_is_owned_by(const cJSON *object, const char *uid);
cJSON *controller_unstructured_object(cJSON *parent, const char *key); /* gets or adds */
cJSON *controller_unstructured_array(cJSON *parent, const char *key);  /* gets or adds */
/* The item of a list that is named so; NULL. */
cJSON *controller_unstructured_named(const cJSON *list, const char *name);
void controller_unstructured_set(cJSON *parent, const char *key, const char *value);
void controller_unstructured_set_number(cJSON *parent, const char *key, double value);
void controller_unstructured_set_item(cJSON *parent, const char *key, cJSON *value_take);
void controller_unstructured_drop(cJSON *parent, const char *key);
void controller_unstructured_set_label(
	cJSON *object, const char *key, const char *value); /* NULL drops */
void controller_unstructured_set_annotation(cJSON *object, const char *key, const char *value);
const char *controller_unstructured_annotation(const cJSON *object, const char *key);
const char *controller_unstructured_label(const cJSON *object, const char *key);
void controller_unstructured_set_owner(cJSON *object, const struct store_object *owner);
enum { HASH8_BYTES = 9 };
const char *controller_hash8(const char *text, char out[HASH8_BYTES]);

/* conditions of a status; lastTransitionTime moves only when status changes */
void controller_condition_set(cJSON *status, const char *type, const char *value,
	const char *reason, const char *message, int64_t observed_generation);
void controller_condition_put(
	cJSON *status, const cJSON *condition); /* a copy of another object's */
void controller_condition_drop(cJSON *status, const char *type);
