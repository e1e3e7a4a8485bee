// SPDX-License-Identifier: Apache-2.0
/* The model without the network: objects go in one by one, rows come out. Claims, Sandboxes and pods are kept as the
 * few facts that rows show; a row joins them. Every change is O(1) in the number of rows, except those of a pool or
 * template, which touch the rows of that pool.
 *
 *   claim  <─ label claim-uid, controller owner, or status.sandbox.name ─ Sandbox <─ owner ─ pod
 *   claim.warmPoolRef ─> pool ─> template
 *   row = claim (+ its Sandbox + its pod), or a Sandbox nobody claimed (+ its pod) */
#pragma once

#include "engine/base/json.h"
#include "engine/fleet/fleet.h"
#include "engine/fleet/index.h"
#include "engine/kube/reflector.h"
#include "engine/resource/order.h"

enum fleet_store_kind {
	STORE_CLAIMS,
	STORE_SANDBOXES,
	STORE_PODS,
	STORE_POOLS,
	STORE_TEMPLATES,
	STORE_EVENTS,
	STORE_KIND_COUNT,
};

/* Kubernetes UIDs are UUIDs; anything else is interned text whose pointer stands here, marked by eight bytes of ff. Equal
 * = memcmp. */
struct fleet_uid {
	uint8_t bytes[16];
};

enum fleet_condition_status {
	CONDITION_ABSENT,
	CONDITION_TRUE,
	CONDITION_FALSE,
	CONDITION_UNKNOWN
};

#define STORE_REASONS(X)                                                                       \
	X(DependenciesReady)                                                                   \
	X(DependenciesNotReady)                                                                \
	X(SandboxSuspended)                                                                    \
	X(PodSucceeded)                                                                        \
	X(PodFailed)                                                                           \
	X(SandboxExpired)                                                                      \
	X(MultiplePods)                                                                        \
	X(ReconcilerError)                                                                     \
	X(WarmPoolNotFound)                                                                    \
	X(TemplateNotFound)                                                                    \
	X(SandboxMissing)                                                                      \
	X(SandboxNotReady)                                                                     \
	X(SandboxCreatePending)                                                                \
	X(AdoptionConflict)                                                                    \
	X(InvalidMetadata)                                                                     \
	X(EnvVarsInjectionRejected)                                                            \
	X(VolumeClaimTemplatesError)                                                           \
	X(ClaimExpired)

enum fleet_reason {
	REASON_OTHER, /* or none */
#define X(name) REASON_##name,
	STORE_REASONS(X)
#undef X
};

struct fleet_condition {
	const char *reason, *message; /* interned */
	uint32_t since_s;             /* server's wall clock, as exact as the API gives it */
	uint8_t status;               /* enum fleet_condition_status */
	uint8_t code;                 /* enum fleet_reason */
	bool is_current;              /* its observedGeneration is the object's generation */
};

struct fleet_claim {
	struct fleet_uid uid;
	const char *namespace_, *name, *pool, *sandbox, *pod_ip, *created_by, *finalizers,
		*labels;
	int64_t created_ms, deleted_ms, shutdown_ms; /* 0: none */
	uint64_t revision;
	struct fleet_condition ready;
	const struct fleet_condition *finished;
	struct fleet_store_row *row;
	uint32_t epoch;
	uint32_t first_ready_s;  /* annotation claim-first-ready-at; 0: none */
	uint32_t ready_after_ms; /* since the controller saw it first; 0: not known */
	bool was_ready;          /* seen so by us */
};

/* What the ports of a pod say about what listens in it. */
enum fleet_declared { DECLARED_NOTHING, DECLARED_SANDBOXD, DECLARED_LEGACY };

enum fleet_owner { OWNER_NONE, OWNER_CLAIM, OWNER_POOL, OWNER_OTHER };

struct fleet_sandbox {
	struct fleet_uid uid, claim_uid; /* claim_uid: zero = none */
	const char *namespace_, *name, *pool, *template_, *node, *pod_ip, *service_fqdn,
		*created_by, *runtime_class, *pod_name, *finalizers, *labels;
	int64_t created_ms, deleted_ms, shutdown_ms;
	int64_t hidden_until_ms; /* monotonic: its claim has just gone, or may be about to come */
	uint64_t revision;
	struct fleet_condition ready, suspended;
	const struct fleet_condition *scheduled,
		*finished; /* shared while they say nothing special */
	struct fleet_store_row *row;
	struct fleet_pod *pod; /* the best one */
	uint32_t epoch;
	uint8_t owner;   /* enum fleet_owner */
	uint8_t runtime; /* enum fleet_declared */
	uint32_t
		pod_gone_s; /* server's clock: since when we have seen it without a pod; 0: not */
	bool is_suspended_mode, is_warm_start;
	bool was_suspended; /* since it was last Ready: the API cannot tell resuming from creating */
	bool was_ready, had_pod;
};

/* The container of a pod that explains most. */
struct fleet_container_status {
	const char *container, *waiting, *waiting_message, *image; /* "" if not */
	const char *ended, *ended_message; /* its last end; "" if none */
	uint32_t ended_s;                  /* server's wall clock; 0 unknown */
	int exit_code;
	int restarts; /* of this container */
	bool is_init;
};

/* What a pod says about itself as a whole: why it failed (status.reason), or why it is being taken away (DisruptionTarget). */
struct fleet_pod_verdict {
	const char *reason, *message; /* "Evicted", "NodeLost", …; "" */
	const char *disruption, *disruption_message;
	uint32_t disrupted_s;
};

struct fleet_pod {
	struct fleet_uid uid, owner_uid;
	const char *namespace_, *name, *node, *pod_ip, *runtime_class;
	const char *volumes; /* names of its PersistentVolumeClaims, ", " between; "" */
	const struct fleet_container_status *trouble; /* shared while there is none */
	const struct fleet_pod_verdict *verdict;      /* the same */
	int64_t created_ms, deleted_ms;
	uint64_t revision;
	struct fleet_sandbox *sandbox;
	struct fleet_condition ready;
	const struct fleet_condition *scheduled;
	uint32_t epoch;
	struct fleet_limits limits;
	int restarts;
	uint8_t runtime; /* enum fleet_declared */
	uint8_t phase;   /* 'P'ending 'R'unning 'S'ucceeded 'F'ailed 'U'nknown */
};

struct fleet_store_pool {
	struct fleet_uid uid;
	const char *namespace_, *name, *template_;
	int desired, ready;
	uint64_t revision;
	uint32_t epoch;
};

struct fleet_template {
	struct fleet_uid uid;
	const char *namespace_, *name, *runtime_class;
	uint64_t revision;
	uint32_t epoch;
	uint8_t runtime; /* enum fleet_declared */
};

struct fleet_store_row {
	struct fleet_row shown; /* its strings are references of the row's own */
	struct fleet_claim *claim;
	struct fleet_sandbox *sandbox;
	struct fleet_observations *seen; /* NULL: nothing has changed since we look */
	int64_t expiry_ms;               /* in store.by_expiry; 0: it is not, or it is over */
	size_t position;                 /* in store.rows */
	struct fleet_store_row *prev, *next; /* by revision, newest last */
};

struct fleet_store_event {
	struct fleet_uid uid;
	const char *reason, *message, *object;
	int64_t when_ms;
	int count;
	bool is_warning;
	struct fleet_store_event *prev, *next; /* newest first */
};
struct fleet_event_list { /* events about one object */
	struct fleet_uid about;
	struct fleet_store_event *events;
	size_t n;
	bool is_known;                        /* about an object that we hold */
	struct fleet_event_list *prev, *next; /* by last use, newest last */
};

enum { TOMBSTONE_OBJECTS = 3 }; /* claim, Sandbox, pod */
struct fleet_story_entry;
struct fleet_tombstone {
	struct fleet_row shown; /* its strings are references of its own */
	struct fleet_uid about[TOMBSTONE_OBJECTS];
	struct fleet_story_entry *story;
	size_t n_story;
	int64_t gone_mono_ms;
	struct fleet_tombstone *prev, *next; /* oldest first */
};

struct fleet_store {
	struct fleet_string_pool texts;
	struct fleet_index claims, claims_by_sandbox;
	struct fleet_index sandboxes, sandboxes_by_claim, sandboxes_by_name;
	struct fleet_index pods, pods_by_owner;
	struct fleet_index pools, templates; /* by namespace and name */
	struct fleet_store_pool **pool_list;
	size_t n_pools, pool_capacity;
	struct fleet_store_row **rows; /* may have holes until fleet_store_pack() */
	size_t n_rows, n_holes, row_capacity;
	struct fleet_store_row *by_revision;
	uint64_t revision;
	struct {
		uint64_t revision;
		char uid[FLEET_UID_BYTES];
	} * removals; /* a ring */
	size_t n_removals;
	uint64_t forgotten; /* removals up to that revision are no longer known */
	size_t by_state[FLEET_STATE_COUNT];
	struct resource_order *by_expiry; /* rows that have an end ahead */
	struct fleet_index event_index;
	struct fleet_event_list *known_events, *unknown_events;
	size_t n_events, n_unknown_lists, event_bytes;
	uint32_t epoch[STORE_KIND_COUNT];
	bool is_listing[STORE_KIND_COUNT];
	bool is_synced[STORE_KIND_COUNT];
	bool is_forbidden[STORE_KIND_COUNT];
	bool is_filtered; /* a label selector on claims: rows without a claim are not asked for */
	struct fleet_tombstone *tombstones;
	size_t n_tombstones, max_tombstones; /* 0: none are kept */
	bool hides_tombstones;
	size_t n_hidden;  /* Sandboxes that wait for their claim */
	size_t n_dropped; /* over STORE_MAX_OBJECTS */
	int64_t clock_skew_ms;
	struct usage_table *usage; /* begun anew where a pod has another uid; NULL */
	void (*on_change)(void *arg);
	void *arg;
};

enum {
	STORE_MAX_OBJECTS = 300000, /* of a kind */
	STORE_MAX_NAME = 256,
	STORE_MAX_MESSAGE = 1024,
	STORE_REMOVALS = 4096,
	STORE_MAX_EVENTS = 16384,
	STORE_MAX_EVENT_BYTES = 8 << 20, /* of all, as if no text were shared */
	STORE_MAX_EVENTS_EACH = 32,
	STORE_MAX_UNKNOWN_LISTS = 2048,
	STORE_HIDE_MS = 10000,
};

void fleet_store_init(struct fleet_store *store, void (*on_change)(void *arg), void *arg);
void fleet_store_deinit(struct fleet_store *store);

/* One object as the API sends it; anything that is not one is ignored. */
void fleet_store_apply(struct fleet_store *store, enum fleet_store_kind kind,
	enum kube_change change, const struct cJSON *object);
/* A row of that uid was there and went, not long ago: what says that it is there is older. */
bool fleet_store_was_removed(const struct fleet_store *store, const char *uid);
/* A claim or Sandbox as the answer to a change of ours has it. One that the watch has taken away meanwhile does not come
 * back. */
void fleet_store_apply_answer(
	struct fleet_store *store, enum fleet_store_kind kind, const struct cJSON *object);
/* A list of that kind begins; ends: objects of the kind not applied since are gone. */
void fleet_store_sync(struct fleet_store *store, enum fleet_store_kind kind, bool begin);
/* Objects of that name are gone, except the one of that uid (text, or NULL). */
void fleet_store_forget_named(struct fleet_store *store, enum fleet_store_kind kind,
	const char *namespace_, const char *name, const char *uid);
/* This user may not read the kind: its columns are unknown, nothing else changes. */
void fleet_store_set_forbidden(
	struct fleet_store *store, enum fleet_store_kind kind, bool forbidden);
/* Looks again at Sandboxes whose claim has not come. True while there are some. */
bool fleet_store_show_hidden(struct fleet_store *store);

/* Rows that end before that time of the wall clock, and have not yet. */
size_t fleet_store_n_expiring(const struct fleet_store *store, int64_t before_ms);
int64_t fleet_store_next_end(const struct fleet_store *store); /* the first; 0: none */
struct fleet_store_row *fleet_store_find(const struct fleet_store *store, const char *uid);
void fleet_store_pack(struct fleet_store *store); /* no holes in rows */
void fleet_store_changes(const struct fleet_store *store, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg);

/* ---- inside, by file */

/* store_find.c: NULL: there is none of that uid, or name. */
struct fleet_claim *fleet_claim_of_uid(
	const struct fleet_store *store, const struct fleet_uid *uid);
struct fleet_sandbox *fleet_sandbox_of_uid(
	const struct fleet_store *store, const struct fleet_uid *uid);
struct fleet_pod *fleet_pod_of_uid(
	const struct fleet_store *store, const struct fleet_uid *uid);
const struct fleet_store_pool *fleet_store_pool(
	const struct fleet_store *store, const char *namespace_, const char *name);
const struct fleet_template *fleet_store_template(
	const struct fleet_store *store, const char *namespace_, const char *name);
bool fleet_store_is_old(const struct fleet_store *store, enum fleet_store_kind kind,
	uint64_t known, uint64_t revision);
/* Counts what it turns away. */
bool fleet_store_is_full(struct fleet_store *store, const struct fleet_index *index);

/* store.c, store_pools.c, relist.c */
void fleet_store_remove_claim(struct fleet_store *store, struct fleet_claim *claim);
void fleet_store_remove_sandbox(struct fleet_store *store, struct fleet_sandbox *sandbox);
void fleet_store_remove_pod(struct fleet_store *store, struct fleet_pod *pod);
void fleet_store_apply_pool(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object);
void fleet_store_remove_pool(struct fleet_store *store, struct fleet_store_pool *pool);
void fleet_store_apply_template(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object);
void fleet_store_remove_template(struct fleet_store *store, struct fleet_template *template_);
void fleet_store_forget_all(struct fleet_store *store);

/* uid.c */
struct fleet_uid fleet_uid_parse(
	struct fleet_store *store, const char *text); /* references odd text */
void fleet_uid_drop(struct fleet_store *store, struct fleet_uid *uid);
const char *fleet_uid_format(const struct fleet_uid *uid, char out[FLEET_UID_BYTES]);
bool fleet_uid_is_none(const struct fleet_uid *uid);
bool fleet_uid_equals(const struct fleet_uid *a, const struct fleet_uid *b);
uint32_t fleet_uid_hash(const struct fleet_uid *uid);
uint32_t fleet_name_hash(const char *namespace_, const char *name);

/* projection.c: objects to facts. Each fills what it finds and empties the rest. */
void fleet_claim_read(
	struct fleet_store *store, struct fleet_claim *claim, const struct cJSON *object);
void fleet_claim_drop(struct fleet_store *store, struct fleet_claim *claim);
void fleet_sandbox_read(
	struct fleet_store *store, struct fleet_sandbox *sandbox, const struct cJSON *object);
void fleet_sandbox_drop(struct fleet_store *store, struct fleet_sandbox *sandbox);
void fleet_pod_read(
	struct fleet_store *store, struct fleet_pod *pod, const struct cJSON *object);
void fleet_pod_drop(struct fleet_store *store, struct fleet_pod *pod);
void fleet_pool_read(
	struct fleet_store *store, struct fleet_store_pool *pool, const struct cJSON *object);
void fleet_pool_drop(struct fleet_store *store, struct fleet_store_pool *pool);
void fleet_template_read(struct fleet_store *store, struct fleet_template *template_,
	const struct cJSON *object);
void fleet_template_drop(struct fleet_store *store, struct fleet_template *template_);
uint64_t fleet_revision_of(const struct cJSON *object);

int64_t fleet_condition_since_ms(const struct fleet_condition *condition);
extern const struct fleet_condition fleet_condition_absent;
extern const struct fleet_container_status fleet_no_container_status;
extern const struct fleet_pod_verdict fleet_no_pod_verdict;

/* state.c: the table. claim, sandbox may be NULL, not both. */
enum fleet_state fleet_state_of(
	const struct fleet_claim *claim, const struct fleet_sandbox *sandbox);
/* The condition that decides: the Sandbox's if it is known, else the claim's. */
const struct fleet_condition *fleet_state_ready_condition(
	const struct fleet_claim *claim, const struct fleet_sandbox *sandbox);

/* pod_diagnosis.c: a container of it waits for what somebody has to provide: its image, a secret, a command that is there */
bool fleet_pod_diagnosis_is_stuck(const struct fleet_pod *pod);

/* tombstone.c: made of a row that is about to go, added once it has gone. NULL: none is wanted. */
struct fleet_tombstone *fleet_tombstone_make(
	struct fleet_store *store, const struct fleet_store_row *row);
void fleet_tombstone_add(struct fleet_store *store, struct fleet_tombstone *stone);
const struct fleet_tombstone *fleet_tombstone_of(
	const struct fleet_store *store, const char *uid);
struct fleet_tombstone *fleet_tombstone_named(const struct fleet_store *store, const char *uid);
/* is_seen: lists show it. */
void fleet_tombstone_remove(
	struct fleet_store *store, struct fleet_tombstone *stone, bool is_seen);
void fleet_tombstones_deinit(struct fleet_store *store);
/* Forgets those older than that. Returns when the next one is due, in ms; -1: there is none. */
int64_t fleet_tombstones_expire(struct fleet_store *store, int64_t keep_ms);

/* story.c */
struct str;
size_t fleet_story_of(const struct fleet_store *store, const struct fleet_store_row *row,
	struct fleet_story_entry *out, size_t max);

/* diagnosis.c */
void fleet_diagnosis_format(const struct fleet_store *store, const struct fleet_store_row *row,
	enum fleet_state state, struct str *out, struct str *next, int64_t *since_ms);

/* row_update.c */
struct fleet_store_row *fleet_row_new(
	struct fleet_store *store); /* shows nothing until its first refresh */
void fleet_row_remove(struct fleet_store *store, struct fleet_store_row *row);
void fleet_row_record_removal(struct fleet_store *store, const char *uid);
void fleet_row_ref_texts(struct fleet_row *row);
void fleet_row_unref_texts(struct fleet_store *store, struct fleet_row *row);
int64_t fleet_local_ms(const struct fleet_store *store, int64_t server_ms); /* 0 stays 0 */

/* rows.c */
void fleet_row_refresh(struct fleet_store *store, struct fleet_store_row *row);
/* The row of a claim or of a Sandbox nobody claimed: made, moved or removed as the objects say now. */
void fleet_rows_join_claim(struct fleet_store *store, struct fleet_claim *claim);
void fleet_rows_join_sandbox(struct fleet_store *store, struct fleet_sandbox *sandbox);
void fleet_rows_join_pod(struct fleet_store *store, struct fleet_pod *pod);
void fleet_rows_leave_claim(struct fleet_store *store, struct fleet_claim *claim);
void fleet_rows_leave_sandbox(struct fleet_store *store, struct fleet_sandbox *sandbox);
void fleet_rows_leave_pod(struct fleet_store *store, struct fleet_pod *pod);
void fleet_rows_of_pool(struct fleet_store *store, const char *namespace_, const char *pool);
void fleet_rows_of_template(
	struct fleet_store *store, const char *namespace_, const char *template_);
/* events.c */
/* The row that it may explain; NULL: none. */
struct fleet_store_row *fleet_events_apply(
	struct fleet_store *store, const struct cJSON *object);
void fleet_events_deinit(struct fleet_store *store);
const struct fleet_event_list *fleet_events_about(
	const struct fleet_store *store, const struct fleet_uid *uid);
/* The last warning about a PersistentVolumeClaim, which is not held: by its name. NULL: none. */
const struct fleet_store_event *fleet_events_about_volume(
	const struct fleet_store *store, const char *namespace_, const char *name);
void fleet_events_now_known(struct fleet_store *store, const struct fleet_uid *uid);
