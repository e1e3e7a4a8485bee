// SPDX-License-Identifier: Apache-2.0
/* The fleet: the store, the watches that feed it, and the operations under way. */
#pragma once

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/fleet/store.h"
#include "engine/kube/client.h"
#include "engine/telemetry/span.h"

struct net_loop;
struct net_loop_timer;

struct fleet_single_watch;

/* One reflector feeding the store. */
struct fleet_informer {
	struct fleet *fleet;
	struct fleet_single_watch *focus; /* NULL: a whole collection */
	enum fleet_store_kind kind;
	char *name;                     /* the one object's, of a focus; NULL: not started */
	char seen_uid[FLEET_UID_BYTES]; /* in the list under way */
	struct kube_reflector *reflector;
	enum kube_reflector_state state;
	struct err err; /* ERR_NONE: none */
	bool synced;
};

enum fleet_single_watch_slot {
	FOCUS_CLAIM,
	FOCUS_CLAIM_SHORT, /* NAME read as `<claim>.<uid8>` */
	FOCUS_SANDBOX,
	FOCUS_POD,
	FOCUS_POOL,
	FOCUS_CLAIM_EVENTS,
	FOCUS_SANDBOX_EVENTS,
	FOCUS_VOLUME_EVENTS,
	FOCUS_POOL_EVENTS,
	FOCUS_SLOT_COUNT,
};
struct fleet_single_watch {
	struct fleet *fleet;
	char *namespace_, *name;
	struct fleet_informer slots[FOCUS_SLOT_COUNT];
	struct fleet_single_watch *next;
};

/* Outlives the fleet until the end of the turn: a deferred call cannot be taken back. */
struct fleet_notice {
	struct fleet *fleet; /* NULL once it is freed */
};

struct fleet_hold;
struct fleet {
	struct net_loop *loop;
	struct kube_client *kube;
	struct telemetry *telemetry;
	char *namespace_, *label_selector; /* NULL: all, none */
	const struct fleet_policy *policy; /* NULL: none */
	bool read_only, is_watching;
	struct fleet_store store;
	struct fleet_informer whole[STORE_KIND_COUNT];
	struct fleet_single_watch *focuses;
	struct fleet_notice *notice; /* a call of on_change is on its way */
	void (*on_change)(void *arg);
	void *arg;
	struct fleet_hold *holds;
	bool is_retired; /* fleet_free() was called meanwhile */
	struct fleet_op *ops;
	size_t n_ended;                    /* operations so far: the list has changed */
	struct fleet_orphan *orphans;      /* rollbacks of creates, see op_rollback.c */
	struct fleet_unbind *unbinds;      /* Leases that are given back, see binding_lease.c */
	struct net_loop_timer *look_again; /* at hidden Sandboxes */
	struct net_loop_timer *tombstones_end; /* NULL: none are kept */
};

void fleet_note_change(struct fleet *fleet); /* notice.c */
/* A fleet that is held goes on, unseen, after fleet_free() until the last hold goes. on_retire is asked then whether it may
 * go at once. */
struct fleet_hold {
	void (*on_retire)(struct fleet_hold *hold); /* may end it */
	struct fleet_hold *prev, *next;
};
void fleet_hold_begin(struct fleet *fleet, struct fleet_hold *hold);
void fleet_hold_end(struct fleet *fleet, struct fleet_hold *hold); /* may free the fleet */

/* tombstones.c: from now on they are kept; and the time that they have is looked at */
void fleet_tombstones_start(struct fleet *fleet);
void fleet_tombstones_watch(struct fleet *fleet);

/* informers.c */
void fleet_informers_start_whole(struct fleet *fleet);
void fleet_informers_stop(struct fleet *fleet);
void fleet_informers_focus(struct fleet *fleet, const char *namespace_, const char *name);
/* This user may not read Sandboxes: what the claim says must do. */
bool fleet_informers_sandboxes_unknown(const struct fleet *fleet);

/* ---- operations: one struct for all; its steps are functions of op_*.c */
struct fleet_op {
	struct fleet *fleet;
	char uid[FLEET_UID_BYTES]; /* of the row */
	char *namespace_, *name;
	bool on_sandbox; /* the object is a Sandbox without claim */
	struct kube_call *call, *second_call, *third_call;
	struct net_loop_timer *deadline, *kick;
	struct telemetry_span *span, *stage_span;
	void (*look)(
		struct fleet_op *op); /* after each change of the store; NULL: not waiting */
	void (*drop)(struct fleet_op *op); /* on cancel and at the end: what the kind keeps */
	fleet_done_fn *done;
	void *arg;
	struct fleet_create *create;
	struct fleet_change *change;
	struct fleet_op_detail *detail;
	struct fleet_op *prev, *next;
};
struct fleet_op *fleet_op_new(struct fleet *fleet, const char *span_name);
void fleet_op_free(
	struct fleet_op *op); /* cancels its calls; spans still open end as cancelled */
void fleet_op_end_spans(struct fleet_op *op, const struct err *err);
void fleet_op_finish(struct fleet_op *op, const struct err *err); /* by op->done */
/* The row, or NULL with *err (claim.not_found). */
const struct fleet_row *fleet_op_row(struct fleet *fleet, const char *uid, struct err *err);
/* The same for a change: also read-only mode and the template policy may refuse it. */
const struct fleet_row *fleet_op_row_to_change(
	struct fleet *fleet, const char *uid, const char *verb, struct err *err);
/* Starts a call with the span's trace context. */
struct kube_call *fleet_op_call(struct fleet_op *op, const char *method, const char *path,
	const char *query, const char *content_type, const cJSON *body,
	void (*done)(void *arg, const struct err *err, const cJSON *object), struct err *err);
bool fleet_op_may_write(const struct fleet *fleet, const char *verb, struct err *err);
/* True once and with *err if the row's state says that waiting for Ready cannot end well. */
bool fleet_op_is_hopeless(
	const struct fleet *fleet, const struct fleet_row *row, struct err *err);

/* op_rollback.c: claims that a create made, did not name and could not finish. uid NULL: whether the create took
 * effect is not known; looked for by request_id. done may be NULL. */
struct fleet_orphan;
struct fleet_orphan *fleet_rollback_start(struct fleet *fleet, const char *namespace_,
	const char *name, const char *uid, const char *request_id, fleet_done_fn *done,
	void *arg);
void fleet_rollback_ignore(struct fleet_orphan *orphan); /* no done any more; it goes on */
void fleet_rollbacks_free(struct fleet *fleet);
/* binding_lease.c: the Lease of those digits goes, if it still names that claim (claim_uid NULL: if it has recorded none);
 * in the background. */
struct fleet_unbind;
void fleet_unbind_start(struct fleet *fleet, const char *namespace_, const char *digits,
	const char *claim_name, const char *claim_uid);
void fleet_unbinds_free(struct fleet *fleet);
size_t fleet_unbinds_pending(const struct fleet *fleet);
/* DeleteOptions with the uid precondition. */
cJSON *fleet_op_delete_options(const char *uid);
