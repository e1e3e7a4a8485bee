// SPDX-License-Identifier: Apache-2.0
/* What the controllers share. Not for use outside of this folder. */
#pragma once

#include "engine/base/map.h"
#include "engine/k8s/condition.h"
#include "local/server/controller/controller.h"
#include "local/server/server.h"
#include "local/server/store/objects.h"

#include <stdint.h>

struct net_loop_timer;
struct net_loop_wake;
struct controller_item;
struct controller_run;
struct controller_gc_entry;

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

extern const struct controller_row
	controller_rows[]; /* controller.c; the last one has no name */

struct controller {
	struct server *server;
	const struct controller_row *rows; /* the last one has no name */
	struct controller_item *queue;
	struct net_loop_timer *timer;
	int64_t next_ms; /* when the timer fires; 0: not armed */
	bool is_kicked, is_stopping, is_freed;
	struct controller_gc_entry *gc; /* UIDs whose dependents must be looked at */
	struct controller_run *runs;    /* daemons, by pod UID */
	struct net_loop_timer *scan_timer, *usage_timer, *prune_timer, *behind_timer;
	struct net_loop_wake *wake;
	int64_t floor_since_ms; /* since when the disk is nearly full, monotonic; 0: it is not */
	uint32_t next_address;
	void (*stopped)(void *arg);
	void *stopped_arg;
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

int64_t controller_reconcile_claim(struct controller *c, struct store_object *o);
int64_t controller_reconcile_pool(struct controller *c, struct store_object *o);
int64_t controller_reconcile_sandbox(struct controller *c, struct store_object *o);
int64_t controller_reconcile_pod(struct controller *c, struct store_object *o);
int64_t controller_reconcile_namespace(struct controller *c, struct store_object *o);

/* gc.c: dependents of what was deleted */
void controller_gc_on_change(struct controller *c, const struct store_change *change);
void controller_gc_scan(
	struct controller *c); /* after a start: owners that went while we were away */
bool controller_gc_run(struct controller *c); /* a slice of it; true: there is more */
void controller_gc_close(struct controller *c);

/* events.c */
enum controller_event_type { EVENT_NORMAL, EVENT_WARNING };
void controller_events_record(struct controller *c, const struct store_object *about,
	enum controller_event_type type, const char *reason, const char *action,
	const char *format, ...) __attribute__((format(printf, 6, 7)));
void controller_events_prune(struct controller *c);

/* pods.c: the daemons */
bool controller_pods_open(struct controller *c, struct err *err);
void controller_pods_note_restart(struct controller *c);
void controller_pods_write_again(struct controller *c); /* their status, as it is now */
void controller_pods_stop_all(struct controller *c, void (*done)(void *arg), void *arg);
void controller_pods_close(struct controller *c);

/* pod_limits.c: what holds in this backend: "limits.json" in the state directory, and an annotation of the first
 * namespace. Before the first sandbox: it may move this process into another cgroup. */
void controller_limits_publish(struct controller *c);

/* volumes.c: folders below the state directory */
void controller_volumes_on_change(struct controller *c, const struct store_change *change);
/* Sorts what is there against the store: deleted by name, kept, or quarantined. Sweeps our temporary files. */
bool controller_volumes_open(struct server *s, struct err *err);
/* "<state>/<kind>/<uid>", made if it is missing; free(). A volume that was made before and is missing now is
 * ERR_FILE_NOT_FOUND. */
char *controller_volumes_folder(
	struct server *s, const char *kind, const char *uid, struct err *err);
/* Moves it to the trash at once and deletes it in a process of its own. */
void controller_volumes_remove(struct server *s, const char *kind, const char *uid);

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

/* The claim's wishes against its template; NULL reason: nothing to object. */
const char *controller_claim_check_metadata(const cJSON *claim, char *message, size_t n);
const char *controller_claim_check_env(
	const cJSON *claim, const cJSON *template_spec, char *message, size_t n);
const char *controller_claim_check_volumes(
	const cJSON *claim, const cJSON *template_spec, char *message, size_t n);
/* Writes the wishes into the spec of a Sandbox that is being made; false with a message on a conflict. */
bool controller_claim_apply_overrides(const cJSON *claim, const struct store_object *template,
	cJSON *sandbox, char *message, size_t n);
bool controller_claim_apply_metadata(
	const cJSON *claim, cJSON *sandbox, char *message, size_t n);

/* A Sandbox from a template: spec, template labels and annotations. */
cJSON *controller_sandbox_from_template(const struct store_object *template);

#define LABEL_CREATED_BY "agents.x-k8s.io/created-by"
#define LABEL_CLAIM_UID "agents.x-k8s.io/claim-uid"
#define LABEL_LAUNCH_TYPE "agents.x-k8s.io/launch-type"
#define LABEL_WARM_POOL "agents.x-k8s.io/warm-pool-sandbox"
#define LABEL_TEMPLATE_REF "agents.x-k8s.io/sandbox-template-ref-hash"
#define LABEL_TEMPLATE_HASH "agents.x-k8s.io/sandbox-template-hash"
#define LABEL_POD_TEMPLATE_HASH "agents.x-k8s.io/sandbox-pod-template-hash"
#define LABEL_NAME_HASH "agents.x-k8s.io/sandbox-name-hash"
#define LABEL_ADOPTABLE "agents.x-k8s.io/adoptable"
#define ANNOTATION_SANDBOX_NAME "agents.x-k8s.io/sandbox-name"
#define ANNOTATION_TEMPLATE_REF "agents.x-k8s.io/sandbox-template-ref"
#define ANNOTATION_POD_NAME "agents.x-k8s.io/pod-name"
#define ANNOTATION_FIRST_OBSERVED "agents.x-k8s.io/controller-first-observed-at"
#define ANNOTATION_FIRST_READY "agents.x-k8s.io/claim-first-ready-at"
#define ANNOTATION_PROPAGATED_LABELS "agents.x-k8s.io/propagated-labels"
#define ANNOTATION_PROPAGATED_ANNOTATIONS "agents.x-k8s.io/propagated-annotations"
#define ANNOTATION_LIMITS "sandmux.local/limits" /* JSON of local/isolation/limits.h */
#define ANNOTATION_LIMIT_PIDS "limits.sandmux.local/pids"
#define ANNOTATION_LIMIT_INODES "limits.sandmux.local/inodes"
#define ANNOTATION_LIMIT_TMP_INODES "limits.sandmux.local/tmp-inodes"
#define CONDITION_RESTARTED "sandmux.local/Restarted"
