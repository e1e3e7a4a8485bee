// SPDX-License-Identifier: Apache-2.0
/* The model: watches claims, Sandboxes, pods, templates, pools and events of one namespace or all, joins them
 * into rows, derives states, and runs lifecycle operations. Single writer, revision number, change notification
 * batched per loop turn. Costs well under 1 KiB a row.
 * Errors: ERR_ARG_INVALID, ERR_CLAIM_EXPIRED, ERR_CLAIM_FAILED, ERR_CLAIM_NOT_FOUND, ERR_CLAIM_ORPHANED,
 * ERR_CLAIM_REJECTED, ERR_CLAIM_REPLACED, ERR_CLAIM_UNCHANGED, ERR_OP_CANCELLED, ERR_OP_READ_ONLY, ERR_OP_TIMEOUT,
 * ERR_POOL_NOT_FOUND, ERR_SANDBOX_DELETED, ERR_SANDBOX_FINISHED, ERR_SANDBOX_NOT_FOUND, ERR_SANDBOX_NOT_READY,
 * ERR_TEMPLATE_NOT_FOUND, those of engine/k8s/selector.h, those of engine/kube/client.h. */
#pragma once

#include "engine/fleet/row.h"

struct cJSON;
struct err;
struct kube_client;
struct net_loop;
struct telemetry_span;
struct telemetry;
struct fleet;

struct fleet_policy;
struct fleet_opts {
	const char *namespace_;     /* NULL: all namespaces */
	const char *label_selector; /* of claims; NULL: none */
	struct telemetry *telemetry;
	struct usage_table *usage; /* what pods use; outlives the fleet; NULL: nobody knows */
	bool read_only;
	bool keeps_deleted; /* as tombstones, engine/fleet/tombstones.h */
	/* engine/fleet/template_policy.h: what is made, and which may be operated on. NULL: none. Outlives the fleet. */
	const struct fleet_policy *policy;
	bool lazy; /* headless verbs: nothing is watched until fleet_watch() or fleet_focus() */
	/* At most once a loop turn: something changed; look at fleet_revision() and the rows. */
	void (*on_change)(void *arg);
	void *arg;
};
struct fleet *fleet_new(struct net_loop *loop, struct kube_client *kube,
	const struct fleet_opts *opts, struct err *err);
void fleet_free(struct fleet *fleet);
/* With opts.lazy: start watching everything of opts.namespace_ … */
void fleet_watch(struct fleet *fleet);
/* … or only one claim (name, `<claim>.<uid8>`, or "sandbox/NAME") with its Sandbox, pod, pool and events, each by
 * a metadata.name (or involvedObject) field selector, so that a headless verb does not list 20,000 objects.
 * fleet_create_start() on a lazy fleet focuses on the claim it makes. fleet_is_synced() is then about these. A second
 * call adds another claim (a copy between two sandboxes needs both); without opts.lazy it does nothing. */
void fleet_single_watch(struct fleet *fleet, const char *namespace_, const char *name);
uint64_t fleet_revision(const struct fleet *fleet);
size_t fleet_count(const struct fleet *fleet); /* rows, warm ones included */
/* Rows in a stable order (insertion); index < fleet_count. Borrowed for this turn. */
const struct fleet_row *fleet_at(const struct fleet *fleet, size_t index);
const struct fleet_row *fleet_find(const struct fleet *fleet, const char *uid);
/* NAME of the command line: claim name, `<claim>.<uid8>` or `sandbox/NAME`, in that namespace. */
const struct fleet_row *fleet_find_name(
	const struct fleet *fleet, const char *namespace_, const char *name, struct err *err);
/* Calls fn for each row whose revision is above `since`, and for each uid removed since then (row NULL); a
 * caller that is too far behind gets fn(arg, NULL, NULL) once: rebuild. */
void fleet_changes(const struct fleet *fleet, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg);

struct fleet_informer_state { /* one watched collection */
	const char *resource; /* "sandboxclaims", … */
	int state;            /* enum kube_reflector_state */
	const char *state_name;
	int64_t age_ms;
	const char *error;     /* last error text, "" */
	const struct err *err; /* the same, whole; NULL if none; borrowed for this turn */
	bool synced;           /* the first list is complete */
	int64_t not_before_ms; /* monotonic: the server has named the time of the next try; 0 */
};
size_t fleet_informers(const struct fleet *fleet, struct fleet_informer_state *out, size_t max);
enum fleet_kind { /* of the collections that are watched */
	FLEET_CLAIMS,
	FLEET_SANDBOXES,
	FLEET_PODS,
	FLEET_POOLS,
	FLEET_TEMPLATES,
	FLEET_EVENTS,
	FLEET_KIND_COUNT,
};
/* What the server said (kube.forbidden) where this user may not read a collection: what it would tell is unknown, the
 * rest is as good as ever, and it is asked again every few minutes. NULL: readable, or not known yet. Borrowed for this
 * turn. */
const struct err *fleet_forbidden(const struct fleet *fleet, enum fleet_kind kind);
/* The same where a collection may be listed but not watched: its rows are as old as its last list (poll-interval). */
const struct err *fleet_unwatched(const struct fleet *fleet, enum fleet_kind kind);
/* A collection (or, after fleet_single_watch(), an object of it) has been read at least once: before that, that there is nothing
 * of it is not known. */
bool fleet_is_listed(const struct fleet *fleet, enum fleet_kind kind);
/* Why it cannot be read now (what was read before is kept); NULL: it can, or its first answer is waited for, or see
 * fleet_forbidden(). Borrowed for this turn. */
const struct err *fleet_failure(const struct fleet *fleet, enum fleet_kind kind);
bool fleet_is_synced(const struct fleet *fleet); /* claims and Sandboxes listed at least once */
/* Whatever is watched has been read at least once, or cannot be: nothing more will be known of why a row is as it is. */
bool fleet_is_settled(const struct fleet *fleet);
void fleet_resync(struct fleet *fleet);
/* The server answers: watches that wait out a pause go on at once, unless the server itself has named the time
 * (Retry-After). is_lane_dead: those that seem open are opened anew as well, from where they are. */
void fleet_hurry(struct fleet *fleet, bool is_lane_dead);
struct fleet_counters {
	size_t by_state[FLEET_STATE_COUNT];
	size_t expiring;     /* within 5 minutes */
	int64_t next_end_ms; /* wall clock: when the first of these does; 0: none */
};
struct fleet_counters fleet_counters_of(const struct fleet *fleet);

struct fleet_pool {
	const char *namespace_, *name, *template_;
	int desired, ready;
	bool is_template_missing;
};
size_t fleet_pool_count(const struct fleet *fleet);
struct fleet_pool fleet_pool_at(const struct fleet *fleet, size_t index);

struct fleet_event {
	int64_t wall_ms;
	bool is_warning;
	const char *reason, *message, *object; /* object: "Pod/name" */
	int count;
};
/* Newest first, those about the claim, Sandbox and pod of a row. Borrowed for this turn. */
size_t fleet_events(
	const struct fleet *fleet, const char *uid, struct fleet_event *out, size_t max);

/* ---- operations: one completion, see engine/net/loop.h */
struct fleet_op;
void fleet_op_cancel(struct fleet_op *op);
/* Rollbacks of failed or cancelled creates that are still to be sent: a program that leaves runs the loop
 * until this is 0, or for as long as it cares to (30 s at most make sense). */
size_t fleet_cleanups_pending(const struct fleet *fleet);

/* What an error of a create is about: where a form shows it. */
enum fleet_create_part {
	FLEET_PART_NONE,
	FLEET_PART_NAME,
	FLEET_PART_POOL,
	FLEET_PART_LABELS,
	FLEET_PART_ANNOTATIONS,
	FLEET_PART_POD_LABELS,
	FLEET_PART_POD_ANNOTATIONS,
	FLEET_PART_ENV,
	FLEET_PART_VOLUMES,
	FLEET_PART_LIFETIME,
	FLEET_PART_SHUTDOWN_POLICY,
	FLEET_PART_TTL,
	FLEET_PART_BINDING_KEY,
	FLEET_PART_TIMEOUT,
};
/* A claim that was made here goes, in the background, as that of a failed create does (see above). */
void fleet_clean_up(
	struct fleet *fleet, const char *namespace_, const char *name, const char *uid);

struct fleet_create_opts {
	const char *namespace_;
	/* A SandboxClaim to begin with (engine/fleet/create_file.h); what is given below wins over it. NULL: none. Borrowed
	 * until the start has returned. */
	const struct cJSON *base;
	const char *name;      /* NULL: the base's, else generated, prefix sandbox-claim- */
	const char *pool;      /* NULL: the base's, or one of the template */
	const char *template_; /* NULL: the pool's, or the policy's default */
	const char *
		network; /* "none", "full": what its template must be declared with; NULL: not asserted */
	bool adopt;
	const char *const *labels;      /* "K=V", NULL-terminated or NULL; on the claim */
	const char *const *annotations; /* of the claim */
	/* Of the pod. The controller takes labels of some domains only (the setting pod-label-domains), and no annotations of
	 * Kubernetes': what it would refuse is refused before anything is sent. */
	const char *const *pod_labels;
	const char *const *pod_annotations;
	const char *const *env;     /* "K=V" or "CONTAINER:K=V": forces a cold start */
	const char *const *volumes; /* "NAME:SIZE[:CLASS]": forces a cold start */
	int64_t shutdown_after_ms;  /* 0: none */
	const char *
		shutdown_policy; /* Delete, DeleteForeground, Retain; NULL: Delete where there is an end */
	bool has_ttl;
	int64_t ttl_ms; /* after its pod has ended, in whole seconds, rounded up; with has_ttl */
	/* At most one live sandbox of that key in the namespace: engine/fleet/binding.h. NULL: none. */
	const char *binding_key;
	const char *maker;        /* engine/fleet/maker.h; NULL or "": none */
	int64_t ready_timeout_ms; /* 0: 180 s */
	bool no_wait;
	enum fleet_create_part
		*part; /* out, when the start fails: what the error is about; may be NULL */
	/* Stage texts while waiting; may be NULL. */
	void (*on_progress)(void *arg, const char *stage);
	/* Before done with an error, or when it is cancelled: this claim was made, or may have been (uid "": the answer was not
	 * waited for), and named by the caller, so it stays. May be NULL; may not call back into the operation. */
	void (*on_left)(void *arg, const char *name, const char *uid);
	/* row: the sandbox made (or adopted), as far as it is known; borrowed. name: the claim's. */
	void (*done)(void *arg, const struct err *err, const char *name,
		const struct fleet_row *row);
	void *arg;
};
struct fleet_op *fleet_create_start(
	struct fleet *fleet, const struct fleet_create_opts *opts, struct err *err);
/* The claim that these would send now, for eyes; NULL with *err. It is the caller's. Errors: those of the start. */
struct cJSON *fleet_create_preview(
	const struct fleet *fleet, const struct fleet_create_opts *opts, struct err *err);
/* What the error of a create that was under way is about. */
enum fleet_create_part fleet_create_part_of(const struct err *err);
/* Why it starts cold instead of taking a warm sandbox; NULL: it need not. Static. */
const char *fleet_create_is_cold(const struct fleet_create_opts *opts);
typedef void fleet_done_fn(void *arg, const struct err *err);
struct fleet_delete_opts {
	enum fleet_propagation {
		FLEET_DELETE_BACKGROUND, /* the claim at once, its children after it */
		FLEET_DELETE_FOREGROUND, /* the claim stays until its children are gone */
		FLEET_DELETE_ORPHAN,     /* the children stay */
	} propagation;
	bool has_grace;
	int64_t grace_s; /* with has_grace */
};
/* With uid preconditions; 404 counts as done. The Lease of its binding key goes too, in the background. */
struct fleet_op *fleet_delete_start(
	struct fleet *fleet, const char *uid, fleet_done_fn *done, void *arg, struct err *err);
struct fleet_op *fleet_delete_with_start(struct fleet *fleet, const char *uid,
	const struct fleet_delete_opts *opts, fleet_done_fn *done, void *arg, struct err *err);
/* Waits for the state, 180 s. A Sandbox that the claim names and the watch has not told yet is asked for. */
struct fleet_op *fleet_suspend_start(struct fleet *fleet, const char *uid, bool suspend,
	fleet_done_fn *done, void *arg, struct err *err);
/* Moves the claim's shutdown time to now + extend_ms, also where there was none; claim.unchanged if it lives as long already;
 * refuses an expired claim. */
struct fleet_op *fleet_extend_start(struct fleet *fleet, const char *uid, int64_t extend_ms,
	fleet_done_fn *done, void *arg, struct err *err);
/* Its end of life, also earlier than it was: whoever asks for that is asked first. Refuses an expired one. */
struct fleet_lifetime {
	enum fleet_end {
		FLEET_END_KEPT,
		FLEET_END_AFTER, /* end_ms from now */
		FLEET_END_AT,    /* end_ms is a wall clock */
		FLEET_END_NEVER,
	} end;
	int64_t end_ms;
	const char *shutdown_policy; /* NULL: kept */
	bool has_ttl, clears_ttl;    /* of claims only */
	int64_t ttl_ms;
};
struct fleet_op *fleet_lifetime_start(struct fleet *fleet, const char *uid,
	const struct fleet_lifetime *lifetime, fleet_done_fn *done, void *arg, struct err *err);
/* The whole objects of a row (claim, sandbox, pod; any may be NULL), fetched now, for detail and describe. */
struct fleet_detail {
	const struct cJSON *claim, *sandbox, *pod;
	/* why one of them is not there, if that is known; NULL */
	const struct err *claim_err, *sandbox_err, *pod_err;
};
struct fleet_op *fleet_detail_start(struct fleet *fleet, const char *uid,
	void (*done)(void *arg, const struct err *err, const struct fleet_detail *detail),
	void *arg, struct err *err);
