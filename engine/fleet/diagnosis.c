// SPDX-License-Identifier: Apache-2.0
/* One sentence: what is wrong, with the object at fault, in its own words; and the next step. The evidence nearest to the
 * cause wins: a container's reason to wait, then the pod, then events, then the conditions that only repeat it. */
#include "engine/base/clock.h"
#include "engine/base/str.h"
#include "engine/fleet/sentence.h"

#include <string.h>

enum { POD_GRACE_MS = 10000, TEMPLATE_BYTES = 256 };

static void add_reason(struct fleet_sentence *s, const struct fleet_condition *condition)
{
	if (condition->reason != NULL && condition->reason[0])
		str_addf(s->out, " (%s)", condition->reason);
	fleet_sentence_add_colon(s, condition->message);
	*s->since_ms = fleet_condition_since_ms(condition);
}

static void add_claim(struct fleet_sentence *s)
{
	str_addf(s->out, "SandboxClaim %s", s->claim->name);
}

static void add_sandbox(struct fleet_sentence *s)
{
	if (s->sandbox != NULL)
		str_addf(s->out, "Sandbox %s", s->sandbox->name);
	else
		add_claim(s);
}

/* A claim may tell of its pod before the Sandbox is known. */
static void add_pod(struct fleet_sentence *s)
{
	const char *name = fleet_sentence_pod(s);
	str_add(s->out, name[0] ? "Pod " : "Its pod");
	str_add(s->out, name);
}

/* An end before counts only while the pod is not ready. */
static bool is_trouble(const struct fleet_pod *pod)
{
	return pod->ready.status != CONDITION_TRUE || pod->trouble->waiting[0];
}

/* What the pod says for itself; false if it has nothing to say. */
static bool say_pod(struct fleet_sentence *s)
{
	const struct fleet_pod *pod = s->pod;
	if (pod == NULL) {
		if (!s->store->is_synced[STORE_PODS] || s->sandbox == NULL)
			return false;
		if (fleet_event_diagnosis_say(
			    s, &s->sandbox->uid, s->sandbox->created_ms, &s->sandbox->ready))
			return true;
		str_addf(s->out, "Pod %s does not exist", fleet_sentence_pod(s));
		*s->since_ms = fleet_condition_since_ms(&s->sandbox->ready);
		return true;
	}
	*s->since_ms =
		pod->ready.since_s ? fleet_condition_since_ms(&pod->ready) : pod->created_ms;
	if (fleet_pod_diagnosis_verdict(s))
		return true;
	if (pod->deleted_ms != 0) {
		str_addf(s->out, "Pod %s is terminating", pod->name);
		*s->since_ms = pod->deleted_ms;
		return true;
	}
	if (fleet_pod_diagnosis_unscheduled(s))
		return true;
	if (is_trouble(pod) && fleet_pod_diagnosis_container(s))
		return true;
	if (pod->ready.status == CONDITION_TRUE)
		return false;
	if (fleet_event_diagnosis_say(s, &pod->uid, pod->created_ms, &pod->ready))
		return true;
	if (pod->phase == 'R')
		str_addf(s->out, "Pod %s is running but not ready", pod->name);
	else if (pod->trouble->waiting[0])
		str_addf(s->out, "Pod %s is starting (%s)", pod->name, pod->trouble->waiting);
	else
		str_addf(s->out, "Pod %s is starting", pod->name);
	return true;
}

static const struct fleet_condition *ready_of(const struct fleet_sentence *s)
{
	return fleet_state_ready_condition(s->claim, s->sandbox);
}

static void say_condition(struct fleet_sentence *s, const struct fleet_condition *condition)
{
	add_sandbox(s);
	if (condition->message != NULL && condition->message[0])
		fleet_sentence_add_colon(s, condition->message);
	else
		fleet_sentence_add_colon(s, condition->reason);
	*s->since_ms = fleet_condition_since_ms(condition);
}

static void say_creating(struct fleet_sentence *s)
{
	if (s->sandbox == NULL || !say_pod(s))
		say_condition(s, ready_of(s));
}

/* ---- the states */

static void say_terminating(struct fleet_sentence *s)
{
	const char *finalizers = s->claim ? s->claim->finalizers : s->sandbox->finalizers;
	if (s->claim != NULL)
		add_claim(s);
	else
		add_sandbox(s);
	str_add(s->out, " is being deleted");
	if (finalizers[0]) {
		str_addf(s->out, "; it waits for %s", finalizers);
		fleet_sentence_advise(s,
			"if this lasts, look whether that which is to do %s still runs",
			strchr(finalizers, ',') ? "these" : "this");
	} else if (s->pod != NULL) {
		str_addf(s->out, "; Pod %s is still there", s->pod->name);
	}
	*s->since_ms = s->claim ? s->claim->deleted_ms : s->sandbox->deleted_ms;
}

static void say_expired(struct fleet_sentence *s)
{
	const struct fleet_condition *sandbox = s->sandbox ? &s->sandbox->ready : NULL;
	bool by_claim =
		s->claim != NULL && (s->claim->ready.code == REASON_ClaimExpired ||
					    s->claim->ready.code == REASON_SandboxExpired);
	if (by_claim)
		add_claim(s);
	else
		add_sandbox(s);
	str_add(s->out, " has reached its shutdown time");
	add_reason(s, by_claim ? &s->claim->ready : sandbox);
}

static bool say_rejected(struct fleet_sentence *s)
{
	char template_[TEMPLATE_BYTES];
	if (s->claim == NULL)
		return false;
	fleet_sentence_template(s, template_, sizeof template_);
	if (s->claim->ready.code == REASON_InvalidMetadata)
		fleet_sentence_advise(s,
			"create it anew with pod labels below sandbox.users.io/ only, and no annotations of kubernetes.io");
	else if (s->claim->ready.code == REASON_EnvVarsInjectionRejected)
		fleet_sentence_advise(s,
			"create it anew without env, or allow it: envVarsInjectionPolicy in %s",
			template_);
	else if (s->claim->ready.code == REASON_VolumeClaimTemplatesError)
		fleet_sentence_advise(s,
			"create it anew without volumes, or allow them: volumeClaimTemplatesPolicy in %s",
			template_);
	else
		return false;
	add_claim(s);
	str_add(s->out, " is rejected");
	add_reason(s, &s->claim->ready);
	return true;
}

/* What a pod that has failed says of its end; more than the controller's usual words. */
static void say_failed_pod(struct fleet_sentence *s)
{
	static const char plain[] = "Pod failed: ";
	const char *message = ready_of(s)->message;
	if (s->pod != NULL && fleet_pod_diagnosis_verdict(s))
		return;
	add_pod(s);
	str_add(s->out, " failed");
	if (message != NULL && strncmp(message, plain, sizeof plain - 1) == 0) {
		fleet_sentence_add_colon(s, message + sizeof plain - 1);
	} else if (s->pod != NULL &&
		   (s->pod->trouble->ended[0] || s->pod->trouble->exit_code != 0)) {
		str_add(s->out, ": ");
		fleet_pod_diagnosis_end(s);
		fleet_sentence_add_colon(s, s->pod->trouble->ended_message);
	} else {
		fleet_sentence_add_colon(s, ready_of(s)->message);
	}
	fleet_sentence_advise(s, "read its logs, then delete it, and create it anew");
}

static void say_failed(struct fleet_sentence *s)
{
	if (say_rejected(s))
		return;
	if (ready_of(s)->code == REASON_MultiplePods) {
		add_sandbox(s);
		str_add(s->out, " has more than one pod, which a person must sort out");
		add_reason(s, ready_of(s));
		fleet_sentence_advise(s, "delete those of its pods that should not be there");
		return;
	}
	say_failed_pod(s);
	const struct fleet_condition *finished =
		s->sandbox ? s->sandbox->finished : s->claim->finished;
	*s->since_ms = fleet_condition_since_ms(finished);
}

static void say_no_pool(struct fleet_sentence *s)
{
	str_addf(s->out, "SandboxWarmPool %s does not exist", s->claim->pool);
	fleet_sentence_advise(s,
		"make SandboxWarmPool %s: it goes on by itself; or create it anew in another pool",
		s->claim->pool);
}

static void say_no_template(struct fleet_sentence *s, const struct fleet_store_pool *pool)
{
	str_addf(s->out, "SandboxTemplate %s of SandboxWarmPool %s does not exist",
		pool->template_, pool->name);
	fleet_sentence_advise(s,
		"make SandboxTemplate %s, or name another one in SandboxWarmPool %s",
		pool->template_, pool->name);
}

static bool say_pool(struct fleet_sentence *s)
{
	const struct fleet_claim *claim = s->claim;
	if (claim == NULL || !claim->pool[0])
		return false;
	const struct fleet_store_pool *pool =
		fleet_store_pool(s->store, claim->namespace_, claim->pool);
	if (pool == NULL && !s->store->is_synced[STORE_POOLS])
		return false;
	if (pool == NULL) {
		say_no_pool(s);
		*s->since_ms = claim->created_ms;
		return true;
	}
	if (s->store->is_synced[STORE_TEMPLATES] &&
		fleet_store_template(s->store, pool->namespace_, pool->template_) == NULL) {
		say_no_template(s, pool);
		*s->since_ms = claim->created_ms;
		return true;
	}
	return fleet_event_diagnosis_say(s, &pool->uid, claim->created_ms, &claim->ready);
}

static void say_unseen(struct fleet_sentence *s, const char *kind, const char *name)
{
	str_addf(s->out,
		"the controller has not seen %s %s yet: it looks again within a minute", kind,
		name);
	fleet_sentence_advise(s, "wait: it goes on by itself");
}

/* What the claim needs is missing; or, of a pod, what its containers need. */
static void say_blocked(struct fleet_sentence *s)
{
	const struct fleet_claim *claim = s->claim;
	bool is_pool = claim != NULL && claim->ready.code == REASON_WarmPoolNotFound;
	bool is_template = claim != NULL && claim->ready.code == REASON_TemplateNotFound;
	if (!is_pool && !is_template) {
		say_creating(s);
		return;
	}
	const struct fleet_store_pool *pool =
		fleet_store_pool(s->store, claim->namespace_, claim->pool);
	if (is_pool && pool != NULL) {
		say_unseen(s, "SandboxWarmPool", pool->name);
	} else if (is_pool) {
		say_no_pool(s);
	} else if (pool != NULL &&
		   fleet_store_template(s->store, claim->namespace_, pool->template_)) {
		say_unseen(s, "SandboxTemplate", pool->template_);
	} else if (pool != NULL) {
		say_no_template(s, pool);
	} else {
		str_addf(s->out, "the SandboxTemplate of SandboxWarmPool %s does not exist",
			claim->pool);
		fleet_sentence_advise(s,
			"make the SandboxTemplate that SandboxWarmPool %s names", claim->pool);
	}
	*s->since_ms = fleet_condition_since_ms(&claim->ready);
}

static void say_suspending(struct fleet_sentence *s)
{
	add_sandbox(s);
	str_add(s->out, " is being suspended");
	const struct fleet_condition *suspended = &s->sandbox->suspended;
	if (suspended->status != CONDITION_ABSENT && suspended->status != CONDITION_TRUE)
		add_reason(s, suspended);
	*s->since_ms = fleet_condition_since_ms(&s->sandbox->ready);
}

static void say_resuming(struct fleet_sentence *s)
{
	size_t before;
	add_sandbox(s);
	str_add(s->out, " is resuming; ");
	before = s->out->n;
	int64_t since = fleet_condition_since_ms(ready_of(s));
	if (!say_pod(s) || s->out->n == before) {
		str_add(s->out, "waiting for its pod");
		*s->since_ms = since;
	}
}

/* A condition in the API server's words, or in the controller's. */
static void say_refused_or(struct fleet_sentence *s, const struct fleet_condition *condition)
{
	*s->since_ms = fleet_condition_since_ms(condition);
	if (!fleet_refusal_say(s, condition->message))
		say_condition(s, condition);
}

static void say_error(struct fleet_sentence *s)
{
	say_refused_or(s, ready_of(s));
}

static void say_pending(struct fleet_sentence *s)
{
	const struct fleet_condition *ready = ready_of(s);
	if (s->sandbox != NULL && fleet_pod_diagnosis_unscheduled(s))
		return;
	if (s->sandbox == NULL && say_pool(s))
		return;
	if (s->claim != NULL && fleet_event_diagnosis_say(s, &s->claim->uid,
					s->claim->created_ms, &s->claim->ready))
		return;
	if (ready->status != CONDITION_ABSENT) {
		say_refused_or(s, ready);
		return;
	}
	add_sandbox(s);
	str_add(s->out, " waits for the controller, which has not said anything yet");
	fleet_sentence_advise(s,
		"if this lasts, nobody has taken it up: look whether the agent-sandbox controller runs");
	*s->since_ms = s->claim ? s->claim->created_ms : s->sandbox->created_ms;
}

static void say_degraded(struct fleet_sentence *s)
{
	struct str *out = s->out;
	str_add(out, "no longer ready; ");
	say_creating(s);
}

/* No pod, where the condition says that it is ready. */
static void say_ready_without_pod(struct fleet_sentence *s)
{
	const struct fleet_sandbox *sandbox = s->sandbox;
	/* the pod's watch may be a moment behind the Sandbox's */
	int64_t age = clock_wall_ms() + s->store->clock_skew_ms -
		      fleet_condition_since_ms(&sandbox->ready);
	if (!s->store->is_synced[STORE_PODS] || (!sandbox->had_pod && age < POD_GRACE_MS))
		return;
	*s->since_ms = sandbox->pod_gone_s ? (int64_t)sandbox->pod_gone_s * 1000
					   : fleet_condition_since_ms(&sandbox->ready);
	str_addf(s->out, "Ready, but Pod %s does not exist", fleet_sentence_pod(s));
	fleet_sentence_advise(s,
		"the controller should make it anew: if this lasts, look whether it runs, or suspend and resume");
}

static bool say_node_lost(struct fleet_sentence *s)
{
	const struct fleet_store_event *event =
		fleet_event_diagnosis_last(s->store, &s->pod->uid, "NodeNotReady");
	return event != NULL &&
	       fleet_event_diagnosis_say(s, &s->pod->uid, s->pod->created_ms, &s->pod->ready);
}

/* The condition says Ready; does the pod agree? */
static void say_ready(struct fleet_sentence *s)
{
	const struct fleet_pod *pod = s->pod;
	if (s->sandbox == NULL)
		return;
	if (pod == NULL) {
		say_ready_without_pod(s);
		return;
	}
	bool is_lost = pod->deleted_ms != 0 || pod->ready.status == CONDITION_FALSE;
	if (is_lost) {
		str_add(s->out, "Ready, but ");
		*s->since_ms = pod->deleted_ms ? pod->deleted_ms
					       : fleet_condition_since_ms(&pod->ready);
		fleet_sentence_advise(s, "wait for its pod, or read the pod's events");
		if (fleet_pod_diagnosis_verdict(s) || say_node_lost(s))
			return;
		str_addf(s->out, "Pod %s is %s", pod->name,
			pod->deleted_ms ? "terminating" : "not");
		if (!pod->deleted_ms)
			add_reason(s, &pod->ready);
	} else if (pod->restarts > 0) {
		if (pod->trouble->container[0])
			str_addf(s->out,
				"container %s has been restarted: ", pod->trouble->container);
		else
			str_add(s->out, "a container has been restarted: ");
		fleet_pod_diagnosis_end(s);
		str_addf(s->out, " (Pod %s)", pod->name);
		*s->since_ms = pod->trouble->ended_s ? (int64_t)pod->trouble->ended_s * 1000
						     : fleet_condition_since_ms(&pod->ready);
		if (strcmp(pod->trouble->ended, "OOMKilled") == 0)
			fleet_pod_diagnosis_advise_end(s);
		else
			fleet_sentence_advise(s,
				"what ran in it has ended: start it again; its last run's logs may say why");
	}
}

static void say_warm(struct fleet_sentence *s)
{
	const struct fleet_condition *ready = &s->sandbox->ready;
	if (s->sandbox->deleted_ms != 0)
		say_terminating(s);
	else if (ready->status == CONDITION_TRUE)
		say_ready(s);
	else if (ready->code == REASON_ReconcilerError)
		say_error(s);
	else if (!fleet_pod_diagnosis_unscheduled(s) && !say_pod(s) &&
		 ready->status != CONDITION_ABSENT)
		say_condition(s, ready);
}

static void say_finished(struct fleet_sentence *s)
{
	add_pod(s);
	str_add(s->out, " has ended successfully");
	*s->since_ms = fleet_condition_since_ms(
		s->sandbox ? s->sandbox->finished : s->claim->finished);
}

static void say_suspended(struct fleet_sentence *s)
{
	add_sandbox(s);
	str_add(s->out, " is suspended");
	*s->since_ms = fleet_condition_since_ms(&s->sandbox->suspended);
}

static void say_ready_condition(struct fleet_sentence *s)
{
	say_condition(s, ready_of(s));
}

static void (*const say[FLEET_STATE_COUNT])(struct fleet_sentence *s) = {
	[FLEET_TERMINATING] = say_terminating,
	[FLEET_EXPIRED] = say_expired,
	[FLEET_FAILED] = say_failed,
	[FLEET_BLOCKED] = say_blocked,
	[FLEET_FINISHED] = say_finished,
	[FLEET_SUSPENDED] = say_suspended,
	[FLEET_SUSPENDING] = say_suspending,
	[FLEET_RESUMING] = say_resuming,
	[FLEET_READY] = say_ready,
	[FLEET_ERROR] = say_error,
	[FLEET_PENDING] = say_pending,
	[FLEET_DEGRADED] = say_degraded,
	[FLEET_CREATING] = say_creating,
	[FLEET_UNKNOWN] = say_ready_condition,
	[FLEET_WARM] = say_warm,
	[FLEET_CRASHING] = say_creating,
	[FLEET_DELETED] = say_ready_condition,
};

/* What to do about a state whatever its cause. NULL: nothing. */
static const char *next_of(enum fleet_state state)
{
	static const char *const next[FLEET_STATE_COUNT] = {
		[FLEET_EXPIRED] = "delete it, and create another one",
		[FLEET_FAILED] =
			"it will not heal: delete it, and create it anew without the cause",
		[FLEET_BLOCKED] = "make what is missing: it goes on by itself then",
		[FLEET_FINISHED] = "read its logs, then delete it",
		[FLEET_SUSPENDED] = "resume it to work in it",
		[FLEET_ERROR] =
			"the controller tries again by itself; if this stays, change what it names",
		[FLEET_DEGRADED] = "read the pod's events and logs",
		[FLEET_CRASHING] = "read the logs of the container's last run",
	};
	return next[state];
}

void fleet_diagnosis_format(const struct fleet_store *store, const struct fleet_store_row *row,
	enum fleet_state state, struct str *out, struct str *next, int64_t *since_ms)
{
	if (next_of(state) != NULL)
		str_add(next, next_of(state));
	struct fleet_sentence s = { .store = store,
		.claim = row->claim,
		.sandbox = row->sandbox,
		.pod = row->sandbox ? row->sandbox->pod : NULL,
		.out = out,
		.next = next,
		.since_ms = since_ms };
	*since_ms = 0;
	say[state](&s);
}
