// SPDX-License-Identifier: Apache-2.0
/* The state shown to people: the first rule that holds. The order is the meaning; a table test goes through every
 * row of it. C = claim, S = Sandbox, R = the Ready condition that decides. */
#include "engine/fleet/store.h"

#include <string.h>

const struct fleet_condition *fleet_state_ready_condition(
	const struct fleet_claim *claim, const struct fleet_sandbox *sandbox)
{
	if (sandbox != NULL)
		return &sandbox->ready;
	return claim != NULL ? &claim->ready : &fleet_condition_absent;
}

struct fleet_view {
	const struct fleet_claim *claim;
	const struct fleet_sandbox *sandbox;
	const struct fleet_condition *ready;
	enum fleet_reason claim_reason;   /* of C's Ready when it is not True */
	enum fleet_reason sandbox_reason; /* of S's */
	bool finished_ok, finished_badly;
};

static enum fleet_reason reason_of(const struct fleet_condition *condition)
{
	return condition->status == CONDITION_ABSENT ? REASON_OTHER
						     : (enum fleet_reason)condition->code;
}

static bool is_suspending(const struct fleet_sandbox *s)
{
	return s != NULL && s->is_suspended_mode &&
	       !(s->suspended.status == CONDITION_TRUE && s->suspended.is_current);
}

/* Its pod is going, is gone, or is another one already than that which ended. */
static bool is_pod_on_the_way(const struct fleet_sandbox *s)
{
	if (s->pod == NULL)
		return s->had_pod;
	return s->pod->deleted_ms != 0 || s->pod->phase == 'P' || s->pod->phase == 'R';
}

/* While a Sandbox is being suspended, or its pod is deleted by somebody, the pod ends, and for a moment the real
 * controller reports that as Finished: that is no end of the sandbox. */
static void note_finished(struct fleet_view *view, const struct fleet_condition *finished)
{
	const struct fleet_sandbox *s = view->sandbox;
	if (finished->status != CONDITION_TRUE || is_suspending(s))
		return;
	if (s != NULL && is_pod_on_the_way(s))
		return;
	view->finished_ok |= finished->code == REASON_PodSucceeded;
	view->finished_badly |= finished->code == REASON_PodFailed;
}

static bool is_terminating(const struct fleet_view *v)
{
	return v->claim != NULL ? v->claim->deleted_ms != 0 : v->sandbox->deleted_ms != 0;
}

static bool is_expired(const struct fleet_view *v)
{
	return v->claim_reason == REASON_ClaimExpired ||
	       v->claim_reason == REASON_SandboxExpired ||
	       v->sandbox_reason == REASON_SandboxExpired;
}

static bool is_failed(const struct fleet_view *v)
{
	return v->claim_reason == REASON_InvalidMetadata ||
	       v->claim_reason == REASON_EnvVarsInjectionRejected ||
	       v->claim_reason == REASON_VolumeClaimTemplatesError ||
	       reason_of(v->ready) == REASON_MultiplePods || v->finished_badly;
}

static bool is_blocked(const struct fleet_view *v)
{
	return v->claim_reason == REASON_WarmPoolNotFound ||
	       v->claim_reason == REASON_TemplateNotFound;
}

static bool is_suspended(const struct fleet_view *v)
{
	const struct fleet_sandbox *s = v->sandbox;
	return s != NULL && s->is_suspended_mode && s->suspended.status == CONDITION_TRUE &&
	       s->suspended.is_current;
}

static bool is_resuming(const struct fleet_view *v)
{
	const struct fleet_sandbox *s = v->sandbox;
	return s != NULL && !s->is_suspended_mode &&
	       (s->suspended.status == CONDITION_TRUE ||
		       reason_of(v->ready) == REASON_SandboxSuspended ||
		       (s->was_suspended && v->ready->status != CONDITION_TRUE) ||
		       (s->was_suspended && !v->ready->is_current));
}

static bool is_ready(const struct fleet_view *v)
{
	return v->ready->status == CONDITION_TRUE && v->ready->is_current;
}

static bool is_pending(const struct fleet_view *v)
{
	if (v->ready->status == CONDITION_ABSENT)
		return true;
	if (v->sandbox == NULL)
		return v->claim_reason == REASON_SandboxMissing ||
		       v->claim_reason == REASON_SandboxCreatePending ||
		       v->claim_reason == REASON_AdoptionConflict ||
		       v->claim_reason == REASON_SandboxNotReady;
	return v->sandbox->scheduled->status == CONDITION_FALSE ||
	       v->sandbox->scheduled->status == CONDITION_UNKNOWN;
}

static bool is_degraded(const struct fleet_view *v)
{
	bool was_ready =
		(v->claim != NULL && (v->claim->first_ready_s || v->claim->was_ready)) ||
		(v->sandbox != NULL && v->sandbox->was_ready);
	return reason_of(v->ready) == REASON_DependenciesNotReady && was_ready;
}

/* The pod that it waits for; NULL: none, or it does not wait. */
static const struct fleet_pod *awaited_pod(const struct fleet_view *v)
{
	const struct fleet_pod *pod = v->sandbox ? v->sandbox->pod : NULL;
	if (pod == NULL || pod->deleted_ms != 0 || pod->ready.status == CONDITION_TRUE ||
		reason_of(v->ready) != REASON_DependenciesNotReady)
		return NULL;
	return pod;
}

static bool is_held(const struct fleet_view *v)
{
	const struct fleet_pod *pod = awaited_pod(v);
	return pod != NULL && fleet_pod_diagnosis_is_stuck(pod);
}

/* A container of its pod has ended before, and the pod is not ready: it runs for a moment, or waits for its next try. */
static bool is_crashing(const struct fleet_view *v)
{
	const struct fleet_pod *pod = awaited_pod(v);
	if (pod == NULL)
		return false;
	return strcmp(pod->trouble->waiting, "CrashLoopBackOff") == 0 ||
	       (pod->restarts > 0 && !pod->trouble->waiting[0] && pod->trouble->ended[0]);
}

enum fleet_state fleet_state_of(
	const struct fleet_claim *claim, const struct fleet_sandbox *sandbox)
{
	struct fleet_view v = { .claim = claim, .sandbox = sandbox };
	v.ready = fleet_state_ready_condition(claim, sandbox);
	if (claim != NULL)
		v.claim_reason = reason_of(&claim->ready);
	/* the claim's is a copy that lags behind; after the Sandbox is gone it is all there is */
	if (claim != NULL && sandbox == NULL)
		note_finished(&v, claim->finished);
	if (sandbox != NULL) {
		v.sandbox_reason = reason_of(&sandbox->ready);
		note_finished(&v, sandbox->finished);
	}
	if (claim == NULL && sandbox->owner == OWNER_POOL)
		return FLEET_WARM;
	if (is_terminating(&v))
		return FLEET_TERMINATING;
	if (is_expired(&v))
		return FLEET_EXPIRED;
	if (is_failed(&v))
		return FLEET_FAILED;
	if (is_blocked(&v))
		return FLEET_BLOCKED;
	if (v.finished_ok)
		return FLEET_FINISHED;
	if (is_suspended(&v))
		return FLEET_SUSPENDED;
	if (sandbox != NULL && sandbox->is_suspended_mode)
		return FLEET_SUSPENDING;
	if (is_resuming(&v))
		return FLEET_RESUMING;
	if (is_ready(&v))
		return FLEET_READY;
	if (reason_of(v.ready) == REASON_ReconcilerError)
		return FLEET_ERROR;
	if (is_pending(&v))
		return FLEET_PENDING;
	if (is_crashing(&v))
		return FLEET_CRASHING;
	if (is_degraded(&v))
		return FLEET_DEGRADED;
	if (is_held(&v))
		return FLEET_BLOCKED;
	if (reason_of(v.ready) == REASON_DependenciesNotReady)
		return FLEET_CREATING;
	return FLEET_UNKNOWN;
}
