// SPDX-License-Identifier: Apache-2.0
/* What warnings say about a sandbox that is not well (events of kubelet, scheduler, controllers), and what to do. */
#include "engine/base/str.h"
#include "engine/fleet/sentence.h"

#include <string.h>

enum {
	CAUSE_MS =
		60000, /* a warning that is older than the trouble by more than this is not its cause */
	TEMPLATE_BYTES = 256,
};

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

const struct fleet_store_event *fleet_event_diagnosis_last(
	const struct fleet_store *store, const struct fleet_uid *about, const char *reason)
{
	const struct fleet_event_list *list = fleet_events_about(store, about);
	for (const struct fleet_store_event *e = list ? list->events : NULL; e != NULL;
		e = e->next) {
		if (e->is_warning && !is_noise(e->reason) &&
			(reason == NULL || strcmp(reason, e->reason) == 0))
			return e;
	}
	return NULL;
}

/* What to do about a warning of that reason, where its message does not say more. %s: the template. */
static const struct {
	const char *reason, *next;
} advice[] = {
	{ "FailedCreatePodSandBox",
		"look at the node: its network plugin or container runtime is not working" },
	{ "NetworkNotReady", "look at the node: its network plugin is not working" },
	{ "FailedMount", "make what it names; the kubelet tries again by itself" },
	{ "FailedAttachVolume", "free the volume, or look at the storage driver" },
	{ "ProvisioningFailed",
		"correct the storage class of the volume in %s, or make it exist" },
	{ "FailedBinding", "make a PersistentVolume that fits, or name a storage class in %s" },
	{ "ClaimLost", "its data is lost: delete the sandbox, and create it anew" },
	{ "Evicted",
		"create it anew; ask in %s for as much as it uses, so that others go first" },
	{ "Preempted", "add room, or give its pods a higher priority class in %s" },
	{ "WarmPoolNotProgressing", "look at the pool's own sandboxes that are not ready" },
	{ "FailedCreate", "change what it names in %s: the controller tries again by itself" },
	{ "FailedKillPod", "look at the node's kubelet and container runtime" },
};

static void advise(struct fleet_sentence *s, const char *reason)
{
	char template_[TEMPLATE_BYTES];
	for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
		if (strcmp(advice[i].reason, reason) != 0)
			continue;
		const char *at = strstr(advice[i].next, "%s");
		if (at == NULL) {
			fleet_sentence_advise(s, "%s", advice[i].next);
			return;
		}
		fleet_sentence_template(s, template_, sizeof template_);
		fleet_sentence_advise(s, "%.*s%s%s", (int)(at - advice[i].next), advice[i].next,
			template_, at + 2);
		return;
	}
}

/* Readiness probe failed: HTTP probe failed with statuscode: 503 */
static bool say_probe(struct fleet_sentence *s, const struct fleet_store_event *event)
{
	static const char *const kinds[][2] = { { "Readiness", "readiness" },
		{ "Liveness", "liveness" }, { "Startup", "startup" } };
	char template_[TEMPLATE_BYTES];
	if (strcmp(event->reason, "Unhealthy") != 0)
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i][0]);
		if (strncmp(event->message, kinds[i][0], n) != 0)
			continue;
		const char *colon = strstr(event->message, ": ");
		str_addf(s->out, "the %s probe fails", kinds[i][1]);
		fleet_sentence_add_colon(s, colon ? colon + 2 : event->message);
		str_addf(s->out, " (Pod %s, Unhealthy)", fleet_sentence_pod(s));
		fleet_sentence_template(s, template_, sizeof template_);
		fleet_sentence_advise(s,
			"read the container's logs; mend the program, or the %s probe in %s",
			kinds[i][1], template_);
		return true;
	}
	return false;
}

static bool say_node_lost(struct fleet_sentence *s, const struct fleet_store_event *event)
{
	if (strcmp(event->reason, "NodeNotReady") != 0 || s->pod == NULL)
		return false;
	str_addf(s->out, "node %s does not answer, and Pod %s is on it (NodeNotReady)",
		s->pod->node[0] ? s->pod->node : "of the pod", s->pod->name);
	fleet_sentence_advise(s,
		"bring the node back; or, once it is off for certain, delete the pod by force");
	return true;
}

static void say_plainly(struct fleet_sentence *s, const struct fleet_store_event *event)
{
	const char *slash = strchr(event->object, '/');
	if (slash != NULL)
		str_addf(s->out, "%.*s %s: %s", (int)(slash - event->object), event->object,
			slash + 1, event->reason);
	else
		str_addf(s->out, "%s: %s", event->object, event->reason);
	fleet_sentence_add_colon(s, event->message);
	advise(s, event->reason);
}

bool fleet_event_diagnosis_say(struct fleet_sentence *s, const struct fleet_uid *about,
	int64_t created_ms, const struct fleet_condition *condition)
{
	const struct fleet_store_event *event =
		fleet_event_diagnosis_last(s->store, about, NULL);
	int64_t since = condition->since_s ? fleet_condition_since_ms(condition) - CAUSE_MS : 0;
	if (event == NULL || event->when_ms < created_ms || event->when_ms < since)
		return false;
	*s->since_ms = event->when_ms;
	if (say_probe(s, event)) { /* again and again, since the pod is not ready */
		if (condition->since_s != 0)
			*s->since_ms = fleet_condition_since_ms(condition);
	} else if (!fleet_refusal_say(s, event->message) && !say_node_lost(s, event)) {
		say_plainly(s, event);
	}
	return true;
}
