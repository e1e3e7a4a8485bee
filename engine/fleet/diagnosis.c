// SPDX-License-Identifier: Apache-2.0
/* One sentence: the object at fault, what is wrong with it, in its own words. The evidence nearest to the cause wins:
 * a container's reason to wait, then the pod, then events, then the conditions that only repeat it. */
#include "engine/base/clock.h"
#include "engine/base/str.h"
#include "engine/fleet/store.h"

#include <string.h>

enum {
	MESSAGE_SHOWN = 240,
	POD_GRACE_MS = 10000,
	CAUSE_MS =
		60000, /* a warning that is older than the trouble by more than this is not its cause */
};

struct sentence {
	const struct fleet_store *store;
	const struct fleet_claim *claim;
	const struct fleet_sandbox *sandbox;
	const struct fleet_pod *pod;
	struct str *out;
	int64_t *since_ms; /* server's clock; 0: unknown */
};

/* A foreign message, cut between characters. */
static void add_message(struct sentence *s, const char *message)
{
	size_t n = strlen(message);
	while (n > 0 && strchr(" \t\r\n.", message[n - 1]) != NULL)
		n--;
	if (n <= MESSAGE_SHOWN) {
		str_add_bytes(s->out, message, n);
		return;
	}
	n = MESSAGE_SHOWN;
	while (n > 0 && ((unsigned char)message[n] & 0xc0) == 0x80)
		n--;
	str_add_bytes(s->out, message, n);
	str_add(s->out, "…");
}

static void add_colon(struct sentence *s, const char *message)
{
	if (message == NULL || !message[0])
		return;
	str_add(s->out, ": ");
	add_message(s, message);
}

static void add_reason(struct sentence *s, const struct fleet_condition *condition)
{
	if (condition->reason != NULL && condition->reason[0])
		str_addf(s->out, " (%s)", condition->reason);
	add_colon(s, condition->message);
	*s->since_ms = fleet_condition_since_ms(condition);
}

static void add_claim(struct sentence *s)
{
	str_addf(s->out, "SandboxClaim %s", s->claim->name);
}

static void add_sandbox(struct sentence *s)
{
	if (s->sandbox != NULL)
		str_addf(s->out, "Sandbox %s", s->sandbox->name);
	else
		add_claim(s);
}

static const char *pod_called(const struct sentence *s)
{
	if (s->pod != NULL)
		return s->pod->name;
	if (s->sandbox == NULL)
		return "";
	return s->sandbox->pod_name[0] ? s->sandbox->pod_name : s->sandbox->name;
}

/* A claim may tell of its pod before the Sandbox is known. */
static void add_pod(struct sentence *s)
{
	const char *name = pod_called(s);
	str_add(s->out, name[0] ? "Pod " : "Its pod");
	str_add(s->out, name);
}

/* ---- evidence */

/* Warnings that kubelets repeat about pods that start well: never the cause. */
static bool is_noise(const char *reason)
{
	static const char *const noise[] = { "MissingClusterDNS", "DNSConfigForming",
		"CheckLimitsForResolvConf", "InvalidDiskCapacity" };
	for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
		if (strcmp(reason, noise[i]) == 0)
			return true;
	}
	return false;
}

static const struct fleet_store_event *last_warning(
	const struct sentence *s, const struct fleet_uid *uid)
{
	const struct fleet_event_list *list = fleet_events_about(s->store, uid);
	for (const struct fleet_store_event *e = list ? list->events : NULL; e != NULL;
		e = e->next) {
		if (e->is_warning && !is_noise(e->reason))
			return e;
	}
	return NULL;
}

/* The last warning about an object, unless it is about an earlier trouble: condition is the one that tells since when it
 * is as it is. */
static bool say_event(struct sentence *s, const struct fleet_uid *uid, int64_t created_ms,
	const struct fleet_condition *condition)
{
	const struct fleet_store_event *event = last_warning(s, uid);
	int64_t since = condition->since_s ? fleet_condition_since_ms(condition) - CAUSE_MS : 0;
	if (event == NULL || event->when_ms < created_ms || event->when_ms < since)
		return false;
	const char *slash = strchr(event->object, '/');
	if (slash != NULL)
		str_addf(s->out, "%.*s %s: %s", (int)(slash - event->object), event->object,
			slash + 1, event->reason);
	else
		str_addf(s->out, "%s: %s", event->object, event->reason);
	add_colon(s, event->message);
	*s->since_ms = event->when_ms;
	return true;
}

static bool is_named_wait(const struct fleet_pod *pod)
{
	return pod->trouble->waiting[0] &&
	       strcmp(pod->trouble->waiting, "ContainerCreating") != 0 &&
	       strcmp(pod->trouble->waiting, "PodInitializing") != 0;
}

static void say_ended(struct sentence *s)
{
	const struct fleet_pod *pod = s->pod;
	str_addf(s->out, "%s%s", pod->trouble->ended[0] ? ": " : "", pod->trouble->ended);
	if (pod->trouble->exit_code != 0)
		str_addf(s->out, " (exit code %d)", pod->trouble->exit_code);
	if (pod->restarts > 0)
		str_addf(s->out, ", restarted %d time%s", pod->restarts,
			pod->restarts == 1 ? "" : "s");
}

static bool say_unscheduled(struct sentence *s)
{
	const struct fleet_condition *scheduled = NULL;
	if (s->pod != NULL && s->pod->scheduled->status == CONDITION_FALSE)
		scheduled = s->pod->scheduled;
	else if (s->pod != NULL &&
		 s->pod->node[0]) /* the Sandbox's word lags behind, or is of the pod before */
		return false;
	else if (s->sandbox != NULL &&
		 (s->sandbox->scheduled->status == CONDITION_FALSE ||
			 s->sandbox->scheduled->status == CONDITION_UNKNOWN))
		scheduled = s->sandbox->scheduled;
	if (scheduled == NULL)
		return false;
	str_addf(s->out, "Pod %s is not scheduled", pod_called(s));
	add_reason(s, scheduled);
	return true;
}

/* What the pod says for itself; false if it has nothing to say. */
static bool say_pod(struct sentence *s)
{
	const struct fleet_pod *pod = s->pod;
	if (pod == NULL) {
		if (!s->store->is_synced[STORE_PODS] || s->sandbox == NULL)
			return false;
		if (say_event(s, &s->sandbox->uid, s->sandbox->created_ms, &s->sandbox->ready))
			return true;
		str_addf(s->out, "Pod %s does not exist", pod_called(s));
		*s->since_ms = fleet_condition_since_ms(&s->sandbox->ready);
		return true;
	}
	*s->since_ms =
		pod->ready.since_s ? fleet_condition_since_ms(&pod->ready) : pod->created_ms;
	if (pod->deleted_ms != 0) {
		str_addf(s->out, "Pod %s is terminating", pod->name);
		*s->since_ms = pod->deleted_ms;
		return true;
	}
	if (say_unscheduled(s))
		return true;
	if (is_named_wait(pod)) {
		str_addf(s->out, "Pod %s, container %s: %s", pod->name, pod->trouble->container,
			pod->trouble->waiting);
		/* of a crash the last end tells more than the wait */
		if (pod->trouble->ended[0] || pod->trouble->exit_code != 0)
			say_ended(s);
		else
			add_colon(s, pod->trouble->waiting_message);
		return true;
	}
	if (pod->ready.status == CONDITION_TRUE)
		return false;
	if (pod->trouble->ended[0] || pod->trouble->exit_code != 0) {
		str_addf(s->out, "Pod %s, container %s ended", pod->name,
			pod->trouble->container);
		say_ended(s);
		return true;
	}
	if (say_event(s, &pod->uid, pod->created_ms, &pod->ready))
		return true;
	if (pod->phase == 'R')
		str_addf(s->out, "Pod %s is running but not ready", pod->name);
	else if (pod->trouble->waiting[0])
		str_addf(s->out, "Pod %s is starting (%s)", pod->name, pod->trouble->waiting);
	else
		str_addf(s->out, "Pod %s is starting", pod->name);
	return true;
}

static const struct fleet_condition *ready_of(const struct sentence *s)
{
	return fleet_state_ready_condition(s->claim, s->sandbox);
}

static void say_condition(struct sentence *s, const struct fleet_condition *condition)
{
	add_sandbox(s);
	if (condition->message != NULL && condition->message[0])
		add_colon(s, condition->message);
	else
		add_colon(s, condition->reason);
	*s->since_ms = fleet_condition_since_ms(condition);
}

/* ---- the states */

static void say_terminating(struct sentence *s)
{
	const char *finalizers = s->claim ? s->claim->finalizers : s->sandbox->finalizers;
	if (s->claim != NULL)
		add_claim(s);
	else
		add_sandbox(s);
	str_add(s->out, " is being deleted");
	if (finalizers[0])
		str_addf(s->out, "; it waits for %s", finalizers);
	*s->since_ms = s->claim ? s->claim->deleted_ms : s->sandbox->deleted_ms;
}

static void say_expired(struct sentence *s)
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

static void say_failed(struct sentence *s)
{
	if (s->claim != NULL &&
		(s->claim->ready.code == REASON_InvalidMetadata ||
			s->claim->ready.code == REASON_EnvVarsInjectionRejected ||
			s->claim->ready.code == REASON_VolumeClaimTemplatesError)) {
		add_claim(s);
		str_add(s->out, " is rejected");
		add_reason(s, &s->claim->ready);
		return;
	}
	if (ready_of(s)->code == REASON_MultiplePods) {
		add_sandbox(s);
		str_add(s->out, " has more than one pod, which a person must sort out");
		add_reason(s, ready_of(s));
		return;
	}
	static const char plain[] = "Pod failed: "; /* more than the controller's usual words */
	const char *message = ready_of(s)->message;
	add_pod(s);
	str_add(s->out, " failed");
	if (message != NULL && strncmp(message, plain, sizeof plain - 1) == 0)
		add_colon(s, message + sizeof plain - 1);
	else if (s->pod != NULL &&
		 (s->pod->trouble->ended[0] || s->pod->trouble->exit_code != 0))
		say_ended(s);
	else
		add_colon(s, ready_of(s)->message);
	const struct fleet_condition *finished =
		s->sandbox ? s->sandbox->finished : s->claim->finished;
	*s->since_ms = fleet_condition_since_ms(finished);
}

static bool say_pool(struct sentence *s)
{
	const struct fleet_claim *claim = s->claim;
	if (claim == NULL || !claim->pool[0] || !s->store->is_synced[STORE_POOLS])
		return false;
	const struct fleet_store_pool *pool =
		fleet_store_pool(s->store, claim->namespace_, claim->pool);
	if (pool == NULL) {
		str_addf(s->out, "SandboxWarmPool %s does not exist", claim->pool);
		*s->since_ms = claim->created_ms;
		return true;
	}
	if (s->store->is_synced[STORE_TEMPLATES] &&
		fleet_store_template(s->store, pool->namespace_, pool->template_) == NULL) {
		str_addf(s->out, "SandboxTemplate %s of SandboxWarmPool %s does not exist",
			pool->template_, pool->name);
		*s->since_ms = claim->created_ms;
		return true;
	}
	return say_event(s, &pool->uid, claim->created_ms, &claim->ready);
}

static void say_blocked(struct sentence *s)
{
	const struct fleet_claim *claim = s->claim;
	const struct fleet_store_pool *pool =
		fleet_store_pool(s->store, claim->namespace_, claim->pool);
	if (claim->ready.code == REASON_WarmPoolNotFound && pool != NULL)
		str_addf(s->out,
			"the controller has not seen SandboxWarmPool %s yet: it looks again within a minute",
			pool->name);
	else if (claim->ready.code == REASON_WarmPoolNotFound)
		str_addf(s->out, "SandboxWarmPool %s does not exist", claim->pool);
	else if (pool != NULL &&
		 fleet_store_template(s->store, claim->namespace_, pool->template_))
		str_addf(s->out,
			"the controller has not seen SandboxTemplate %s yet: it looks again within a minute",
			pool->template_);
	else if (pool != NULL)
		str_addf(s->out, "SandboxTemplate %s of SandboxWarmPool %s does not exist",
			pool->template_, pool->name);
	else
		str_addf(s->out, "the SandboxTemplate of SandboxWarmPool %s does not exist",
			claim->pool);
	*s->since_ms = fleet_condition_since_ms(&claim->ready);
}

static void say_suspending(struct sentence *s)
{
	add_sandbox(s);
	str_add(s->out, " is being suspended");
	const struct fleet_condition *suspended = &s->sandbox->suspended;
	if (suspended->status != CONDITION_ABSENT && suspended->status != CONDITION_TRUE)
		add_reason(s, suspended);
	*s->since_ms = fleet_condition_since_ms(&s->sandbox->ready);
}

static void say_resuming(struct sentence *s)
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

static void say_pending(struct sentence *s)
{
	const struct fleet_condition *ready = ready_of(s);
	if (s->sandbox != NULL && say_unscheduled(s))
		return;
	if (s->sandbox == NULL && say_pool(s))
		return;
	if (s->claim != NULL &&
		say_event(s, &s->claim->uid, s->claim->created_ms, &s->claim->ready))
		return;
	if (ready->status != CONDITION_ABSENT) {
		say_condition(s, ready);
		return;
	}
	add_sandbox(s);
	str_add(s->out, " waits for the controller, which has not said anything yet");
	*s->since_ms = s->claim ? s->claim->created_ms : s->sandbox->created_ms;
}

static void say_creating(struct sentence *s)
{
	if (s->sandbox == NULL || !say_pod(s))
		say_condition(s, ready_of(s));
}

static void say_degraded(struct sentence *s)
{
	struct str *out = s->out;
	str_add(out, "no longer ready; ");
	say_creating(s);
}

/* The condition says Ready; does the pod agree? */
static void say_ready(struct sentence *s)
{
	const struct fleet_sandbox *sandbox = s->sandbox;
	const struct fleet_pod *pod = s->pod;
	if (sandbox == NULL)
		return;
	if (pod == NULL) {
		/* the pod's watch may be a moment behind the Sandbox's */
		int64_t age = clock_wall_ms() + s->store->clock_skew_ms -
			      fleet_condition_since_ms(&sandbox->ready);
		if (!s->store->is_synced[STORE_PODS] ||
			(!sandbox->had_pod && age < POD_GRACE_MS))
			return;
		str_addf(s->out, "Ready, but Pod %s does not exist", pod_called(s));
		return;
	}
	if (pod->deleted_ms != 0) {
		str_addf(s->out, "Ready, but Pod %s is terminating", pod->name);
		*s->since_ms = pod->deleted_ms;
	} else if (pod->ready.status == CONDITION_FALSE) {
		str_addf(s->out, "Ready, but Pod %s is not", pod->name);
		add_reason(s, &pod->ready);
	} else if (pod->restarts > 0) {
		str_addf(s->out, "Pod %s, container %s has been restarted", pod->name,
			pod->trouble->container);
		say_ended(s);
		*s->since_ms = fleet_condition_since_ms(&pod->ready);
	}
}

static void say_warm(struct sentence *s)
{
	const struct fleet_condition *ready = &s->sandbox->ready;
	if (s->sandbox->deleted_ms != 0)
		say_terminating(s);
	else if (ready->status == CONDITION_TRUE)
		say_ready(s);
	else if (!say_unscheduled(s) && !say_pod(s) && ready->status != CONDITION_ABSENT)
		say_condition(s, ready);
}

static void say_finished(struct sentence *s)
{
	add_pod(s);
	str_add(s->out, " has ended successfully");
	*s->since_ms = fleet_condition_since_ms(
		s->sandbox ? s->sandbox->finished : s->claim->finished);
}

static void say_suspended(struct sentence *s)
{
	add_sandbox(s);
	str_add(s->out, " is suspended");
	*s->since_ms = fleet_condition_since_ms(&s->sandbox->suspended);
}

static void say_ready_condition(struct sentence *s)
{
	say_condition(s, ready_of(s));
}

static void (*const say[FLEET_STATE_COUNT])(struct sentence *s) = {
	[FLEET_TERMINATING] = say_terminating,
	[FLEET_EXPIRED] = say_expired,
	[FLEET_FAILED] = say_failed,
	[FLEET_BLOCKED] = say_blocked,
	[FLEET_FINISHED] = say_finished,
	[FLEET_SUSPENDED] = say_suspended,
	[FLEET_SUSPENDING] = say_suspending,
	[FLEET_RESUMING] = say_resuming,
	[FLEET_READY] = say_ready,
	[FLEET_ERROR] = say_ready_condition,
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
	struct sentence s = { .store = store,
		.claim = row->claim,
		.sandbox = row->sandbox,
		.pod = row->sandbox ? row->sandbox->pod : NULL,
		.out = out,
		.since_ms = since_ms };
	*since_ms = 0;
	say[state](&s);
}
