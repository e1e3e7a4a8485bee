// SPDX-License-Identifier: Apache-2.0
/* The fleet: the store, the watches that feed it, and the operations under way. */
#pragma once

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/fleet/store.h"
#include "engine/kube/client.h"
#include "engine/telemetry/span.h"

struct loop;
struct loop_timer;

struct focus;

/* One reflector feeding the store. */
struct source {
	struct fleet *fleet;
	struct focus *focus; /* NULL: a whole collection */
	enum store_kind kind;
	char *name;                     /* the one object's, of a focus; NULL: not started */
	char seen_uid[FLEET_UID_BYTES]; /* in the list under way */
	struct kube_reflector *reflector;
	enum kube_reflector_state state;
	struct err err; /* ERR_NONE: none */
	bool synced;
};

enum focus_slot {
	FOCUS_CLAIM,
	FOCUS_CLAIM_SHORT, /* NAME read as `<claim>.<uid8>` */
	FOCUS_SANDBOX,
	FOCUS_POD,
	FOCUS_POOL,
	FOCUS_CLAIM_EVENTS,
	FOCUS_SANDBOX_EVENTS,
	FOCUS_SLOT_COUNT,
};
struct focus {
	struct fleet *fleet;
	char *namespace_, *name;
	struct source slots[FOCUS_SLOT_COUNT];
	struct focus *next;
};

/* Outlives the fleet until the end of the turn: a deferred call cannot be taken back. */
struct notice {
	struct fleet *fleet; /* NULL once it is freed */
};

struct fleet {
	struct loop *loop;
	struct kube_client *kube;
	struct telemetry *telemetry;
	char *namespace_, *label_selector; /* NULL: all, none */
	bool read_only, is_watching;
	struct store store;
	struct source whole[STORE_KIND_COUNT];
	struct focus *focuses;
	struct notice *notice; /* a call of on_change is on its way */
	void (*on_change)(void *arg);
	void *arg;
	struct fleet_op *ops;
	size_t n_ended;                /* operations so far: the list has changed */
	struct orphan *orphans;        /* rollbacks of creates, see op_rollback.c */
	struct loop_timer *look_again; /* at hidden Sandboxes */
	int64_t counted_ms;
	size_t expiring;
};

void fleet_note_change(struct fleet *fleet);

/* sources.c */
void fleet_sources_start_whole(struct fleet *fleet);
void fleet_sources_stop(struct fleet *fleet);
void fleet_sources_focus(struct fleet *fleet, const char *namespace_, const char *name);
/* This user may not read Sandboxes: what the claim says must do. */
bool fleet_sources_sandboxes_unknown(const struct fleet *fleet);

/* ---- operations: one struct for all; its steps are functions of op_*.c */
struct fleet_op {
	struct fleet *fleet;
	char uid[FLEET_UID_BYTES]; /* of the row */
	char *namespace_, *name;
	bool on_sandbox; /* the object is a Sandbox without claim */
	struct kube_call *call, *second_call, *third_call;
	struct loop_timer *deadline, *kick;
	struct span *span, *stage_span;
	void (*look)(
		struct fleet_op *op); /* after each change of the store; NULL: not waiting */
	void (*drop)(struct fleet_op *op); /* on cancel and at the end: what the kind keeps */
	fleet_done_fn *done;
	void *arg;
	struct create *create;
	struct change *change;
	struct detail *detail;
	struct fleet_op *prev, *next;
};
struct fleet_op *fleet_op_new(struct fleet *fleet, const char *span_name);
void fleet_op_free(
	struct fleet_op *op); /* cancels its calls; spans still open end as cancelled */
void fleet_op_end_spans(struct fleet_op *op, const struct err *err);
void fleet_op_finish(struct fleet_op *op, const struct err *err); /* by op->done */
/* The row, or NULL with *err (claim.not_found). */
const struct fleet_row *fleet_op_row(struct fleet *fleet, const char *uid, struct err *err);
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
struct orphan;
struct orphan *fleet_rollback_start(struct fleet *fleet, const char *namespace_,
	const char *name, const char *uid, const char *request_id, fleet_done_fn *done,
	void *arg);
void fleet_rollback_ignore(struct orphan *orphan); /* no done any more; it goes on */
void fleet_rollbacks_free(struct fleet *fleet);
/* DeleteOptions with the uid precondition. */
cJSON *fleet_op_delete_options(const char *uid);
