// SPDX-License-Identifier: Apache-2.0
/* What a pod says about itself: why no node takes it, why a container does not start or stay, why it was taken away. The
 * words are those of kube-scheduler, kubelet and containerd. */
#include "engine/base/str.h"
#include "engine/fleet/sentence.h"

#include <stdio.h>
#include <string.h>

enum { TEMPLATE_BYTES = 256, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* ---- no node takes it */

/* Words of the scheduler, and what to do; the first that fits. %s: the template. */
static const struct {
	const char *words, *next;
} scheduling[] = {
	{ "persistentvolumeclaim", NULL }, /* see advise_volume() */
	{ "volume node affinity conflict",
		"its volume is on another node: free that node, or give up the volume" },
	{ "Insufficient", "ask for less in %s, delete what is not needed, or add a node" },
	{ "Too many pods", "delete what is not needed, or add a node" },
	{ "node.kubernetes.io/unreachable", "bring the nodes back: they do not answer" },
	{ "node.kubernetes.io/not-ready", "look at the nodes: they are not ready" },
	{ "were unschedulable", "uncordon a node (kubectl uncordon)" },
	{ "node.kubernetes.io/disk-pressure", "free disk space on the nodes" },
	{ "node.kubernetes.io/memory-pressure", "free memory on the nodes" },
	{ "untolerated taint", "give it the toleration in %s, or take the taint off a node" },
	{ "node affinity", "correct nodeSelector or affinity in %s, or label a node" },
	{ "didn't match", "correct its placement rules in %s" },
	{ "no nodes available", "add a node" },
	{ "free ports", "give up the host port in %s, or add a node" },
};

static void advise_template(struct fleet_sentence *s, const char *next)
{
	char template_[TEMPLATE_BYTES];
	const char *at = strstr(next, "%s");
	fleet_sentence_template(s, template_, sizeof template_);
	if (at == NULL)
		fleet_sentence_advise(s, "%s", next);
	else
		fleet_sentence_advise(s, "%.*s%s%s", (int)(at - next), next, template_, at + 2);
}

/* The last warning about one of its volumes. */
static const struct fleet_store_event *volume_event(
	const struct fleet_sentence *s, char name[STORE_MAX_NAME])
{
	const char *at = s->pod ? s->pod->volumes : "";
	while (*at) {
		size_t n = strcspn(at, ",");
		snprintf(name, STORE_MAX_NAME, "%.*s", (int)n, at);
		const struct fleet_store_event *event =
			fleet_events_about_volume(s->store, s->pod->namespace_, name);
		if (event != NULL)
			return event;
		at += n;
		at += strspn(at, ", ");
	}
	return NULL;
}

/* name: of the PersistentVolumeClaim, "" if it is not known */
static void advise_volume(struct fleet_sentence *s, const char *message, const char *name)
{
	if (fleet_sentence_has(message, "storageclass"))
		advise_template(s, "make the storage class that it names, or correct it in %s");
	else if (fleet_sentence_has(message, "not found"))
		fleet_sentence_advise(s,
			"make PersistentVolumeClaim %s: the pod starts by itself then",
			name[0] ? name : "that it names");
	else if (fleet_sentence_has(message, "non-existent persistentvolume") ||
		 fleet_sentence_has(message, "is lost"))
		fleet_sentence_advise(s,
			"its data is lost: delete the sandbox with its PersistentVolumeClaim, and create it anew");
	else if (fleet_sentence_has(message, "being deleted"))
		fleet_sentence_advise(s, "wait until the PersistentVolumeClaim is gone");
	else
		fleet_sentence_advise(s,
			"find out what the PersistentVolumeClaim waits for: sandmux describe pvc %s",
			name[0] ? name : "NAME");
}

/* Its volume says more than the scheduler does. */
static bool say_volume(struct fleet_sentence *s, const char *message)
{
	char name[STORE_MAX_NAME] = "";
	if (!fleet_sentence_has(message, "persistentvolumeclaim"))
		return false;
	const struct fleet_store_event *event = volume_event(s, name);
	advise_volume(s, event ? event->message : message, name);
	if (event == NULL)
		return false;
	str_addf(s->out, "PersistentVolumeClaim %s: %s", name, event->reason);
	fleet_sentence_add_colon(s, event->message);
	*s->since_ms = event->when_ms;
	return true;
}

static void advise_scheduling(struct fleet_sentence *s, const char *message)
{
	for (size_t i = 0; i < sizeof scheduling / sizeof *scheduling; i++) {
		if (!fleet_sentence_has(message, scheduling[i].words))
			continue;
		if (scheduling[i].next != NULL)
			advise_template(s, scheduling[i].next);
		return;
	}
	fleet_sentence_advise(
		s, "change what the scheduler names, in the cluster or in the pod");
}

/* "0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are …": what preemption could not do either
 * names no cause. */
static void add_scheduler(struct fleet_sentence *s, const char *message)
{
	char cause[STORE_MAX_MESSAGE];
	const char *preemption = strstr(message, " preemption: ");
	snprintf(cause, sizeof cause, "%.*s",
		(int)(preemption ? (size_t)(preemption - message) : strlen(message)), message);
	fleet_sentence_add_message(s, cause);
}

static const struct fleet_condition *unscheduled(const struct fleet_sentence *s)
{
	if (s->pod != NULL && s->pod->scheduled->status == CONDITION_FALSE)
		return s->pod->scheduled;
	/* the Sandbox's word lags behind, or is of the pod before */
	if (s->pod != NULL && s->pod->node[0])
		return NULL;
	if (s->sandbox != NULL && (s->sandbox->scheduled->status == CONDITION_FALSE ||
					  s->sandbox->scheduled->status == CONDITION_UNKNOWN))
		return s->sandbox->scheduled;
	return NULL;
}

bool fleet_pod_diagnosis_unscheduled(struct fleet_sentence *s)
{
	const struct fleet_condition *scheduled = unscheduled(s);
	if (scheduled == NULL)
		return false;
	const char *message = scheduled->message ? scheduled->message : "";
	*s->since_ms = fleet_condition_since_ms(scheduled);
	if (scheduled->reason != NULL && strcmp(scheduled->reason, "SchedulingGated") == 0) {
		str_addf(s->out, "a scheduling gate holds Pod %s (SchedulingGated)",
			fleet_sentence_pod(s));
		fleet_sentence_add_colon(s, message);
		fleet_sentence_advise(s, "whoever has set the gate must take it away");
		return true;
	}
	advise_scheduling(s, message);
	if (say_volume(s, message))
		return true;
	if (!message[0]) {
		str_addf(s->out, "Pod %s is not scheduled", fleet_sentence_pod(s));
		if (scheduled->reason != NULL && scheduled->reason[0])
			str_addf(s->out, " (%s)", scheduled->reason);
		return true;
	}
	/* the cause first: lists cut the end */
	str_add(s->out, "no node takes it: ");
	add_scheduler(s, message);
	str_addf(s->out, " (Pod %s, %s)", fleet_sentence_pod(s),
		scheduled->reason && scheduled->reason[0] ? scheduled->reason
							  : "not scheduled");
	return true;
}

/* ---- images */

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(word, *words) == 0)
			return true;
	}
	return false;
}

static bool is_image_reason(const char *reason)
{
	static const char *const reasons[] = { "ErrImagePull", "ImagePullBackOff",
		"InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
		"RegistryUnavailable", "SignatureValidationFailed", NULL };
	return is_one_of(reason, reasons);
}

bool fleet_pod_diagnosis_is_stuck(const struct fleet_pod *pod)
{
	static const char *const others[] = { "CreateContainerConfigError",
		"CreateContainerError", "RunContainerError", NULL };
	const char *waiting = pod->trouble->waiting;
	return is_image_reason(waiting) || is_one_of(waiting, others);
}

/* What a registry, containerd or the kubelet say, and what it means; the first that fits. */
static const struct {
	const char *words, *means, *next;
} pulling[] = {
	{ "InvalidImageName", "it is no name of an image", "correct the image in %s" },
	{ "couldn't parse image", "it is no name of an image", "correct the image in %s" },
	{ "ErrImageNeverPull", "it is not on the node, and may not be pulled",
		"bring the image to the node, or change imagePullPolicy in %s" },
	{ "never pull", "it is not on the node, and may not be pulled",
		"bring the image to the node, or change imagePullPolicy in %s" },
	{ "unauthorized", "the registry refuses these credentials",
		"give %s an imagePullSecret that may read it" },
	{ "authorization failed", "the registry refuses these credentials",
		"give %s an imagePullSecret that may read it" },
	{ "no basic auth credentials", "the registry wants credentials",
		"give %s an imagePullSecret that may read it" },
	{ "access denied", "it does not exist, or the registry wants credentials",
		"correct the image in %s, or give it an imagePullSecret" },
	{ "insufficient_scope", "it does not exist, or the registry wants credentials",
		"correct the image in %s, or give it an imagePullSecret" },
	{ "403 forbidden", "the registry refuses these credentials",
		"give %s an imagePullSecret that may read it" },
	{ "toomanyrequests", "the registry limits pulls", "wait, or log in to the registry" },
	{ "no such host", "the registry's name is unknown to the node",
		"correct the image in %s, or the node's DNS" },
	{ "x509", "the node does not trust the registry's certificate",
		"give the node the registry's certificate authority" },
	{ "connection refused", "the registry does not answer",
		"look at the registry, and at the node's way to it" },
	{ "timeout", "the registry does not answer",
		"look at the registry, and at the node's way to it" },
	{ "deadline exceeded", "the registry does not answer",
		"look at the registry, and at the node's way to it" },
	{ "no space left", "the node's disk is full", "free disk space on the node" },
	{ "no match for platform", "it is not made for the node's processor",
		"take an image for this platform in %s" },
	{ "not found", "it does not exist", "correct the image in %s" },
	{ "manifest unknown", "it does not exist", "correct the image in %s" },
};

/* "Back-off pulling image" has no cause in older kubelets: the event before it has. */
static const char *pull_message(const struct fleet_sentence *s)
{
	const char *message = s->pod->trouble->waiting_message;
	const char *rest = strstr(message, "ErrImagePull: ");
	if (rest != NULL)
		return rest + strlen("ErrImagePull: ");
	if (strncmp(message, "Back-off", 8) != 0)
		return message;
	const struct fleet_event_list *list = fleet_events_about(s->store, &s->pod->uid);
	for (const struct fleet_store_event *e = list ? list->events : NULL; e; e = e->next) {
		if (strcmp(e->reason, "Failed") == 0 &&
			strncmp(e->message, "Failed to pull image", 20) == 0) {
			const char *colon = strstr(e->message, "\": ");
			return colon ? colon + 3 : e->message;
		}
	}
	return message;
}

static void say_image(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	const char *message = pull_message(s);
	str_addf(s->out, "%s %s cannot be pulled", c->image[0] ? "image" : "the",
		c->image[0] ? c->image : "image");
	advise_template(
		s, "read the pod's events; the kubelet tries again by itself, or correct %s");
	for (size_t i = 0; i < sizeof pulling / sizeof *pulling; i++) {
		if (strcmp(pulling[i].words, c->waiting) != 0 &&
			!fleet_sentence_has(message, pulling[i].words))
			continue;
		str_addf(s->out, ", %s", pulling[i].means);
		advise_template(s, pulling[i].next);
		break;
	}
	str_addf(s->out, " (Pod %s, container %s, %s)", s->pod->name, c->container, c->waiting);
	fleet_sentence_add_colon(s, message);
}

/* ---- containers */

void fleet_pod_diagnosis_end(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	const char *comma = "";
	if (strcmp(c->ended, "OOMKilled") == 0)
		str_add(s->out, "out of memory (OOMKilled)");
	else
		str_add(s->out, c->ended);
	if (c->ended[0])
		comma = ", ";
	if (c->exit_code != 0 || strcmp(c->ended, "Completed") == 0) {
		str_addf(s->out, "%sexit code %d", comma, c->exit_code);
		comma = ", ";
	}
	int restarts = c->restarts ? c->restarts : s->pod->restarts;
	if (restarts > 0)
		str_addf(s->out, "%srestarted %d time%s", comma, restarts,
			restarts == 1 ? "" : "s");
}

static bool is_start_failure(const struct fleet_container_status *c)
{
	static const char *const ends[] = { "StartError", "ContainerCannotRun", NULL };
	static const char *const waits[] = { "RunContainerError", "CreateContainerError",
		"StartError", "PostStartHookError", "PreCreateHookError", "PreStartHookError",
		"RunInitContainerError", NULL };
	return is_one_of(c->ended, ends) || is_one_of(c->waiting, waits);
}

void fleet_pod_diagnosis_advise_end(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	if (strcmp(c->ended, "OOMKilled") == 0)
		advise_template(s, "raise the memory limit in %s, or let it use less");
	else if (is_start_failure(c) || c->exit_code == EXIT_NOT_EXECUTABLE ||
		 c->exit_code == EXIT_NOT_FOUND)
		advise_template(s, "correct command or image in %s");
	else if (strcmp(c->ended, "Completed") == 0)
		advise_template(s, "it ends by itself: give %s a command that stays");
	else
		fleet_sentence_advise(
			s, "read the logs of its last run (logs, previous) for the cause");
}

static void add_container(struct fleet_sentence *s)
{
	str_addf(s->out, "%scontainer %s", s->pod->trouble->is_init ? "init " : "",
		s->pod->trouble->container);
}

static void add_where(struct fleet_sentence *s, const char *reason)
{
	str_addf(s->out, " (Pod %s%s%s)", s->pod->name, reason[0] ? ", " : "", reason);
}

/* secret "x" not found; configmap "x" not found; couldn't find key k in Secret n/x; … will run as root */
static void say_config(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	const char *message = c->waiting_message;
	add_container(s);
	str_add(s->out, " cannot be made");
	fleet_sentence_add_colon(s, message);
	add_where(s, c->waiting);
	if (fleet_sentence_has(message, "not found") || fleet_sentence_has(message, "find key"))
		fleet_sentence_advise(s,
			"make it in namespace %s: the container starts by itself then",
			s->pod->namespace_);
	else
		advise_template(s, "correct what it names in %s");
}

/* StartError keeps the runtime's message in the end of the container, RunContainerError in its wait. */
static void say_start_failure(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	bool is_back_off = strcmp(c->waiting, "CrashLoopBackOff") == 0;
	const char *message = c->ended_message[0] && (is_back_off || !c->waiting_message[0])
				      ? c->ended_message
				      : c->waiting_message;
	const char *cause = strstr(message, "exec: ");
	add_container(s);
	str_add(s->out, " cannot start");
	fleet_sentence_add_colon(s, cause ? cause : message);
	if (c->restarts > 0)
		str_addf(s->out, ", tried %d times", c->restarts + 1);
	add_where(s, is_back_off || !c->waiting[0] ? c->ended : c->waiting);
	fleet_pod_diagnosis_advise_end(s);
}

static void say_crash(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	add_container(s);
	str_add(s->out, c->is_init ? " fails" : " crashes");
	if (c->ended[0] || c->exit_code != 0 || c->restarts > 0) {
		str_add(s->out, ": ");
		fleet_pod_diagnosis_end(s);
		fleet_sentence_add_colon(s, c->ended_message);
	} else {
		fleet_sentence_add_colon(s, c->waiting_message);
	}
	add_where(s, c->waiting);
	fleet_pod_diagnosis_advise_end(s);
	if (c->ended_s != 0)
		*s->since_ms = (int64_t)c->ended_s * 1000;
}

static bool is_named_wait(const struct fleet_container_status *c)
{
	return c->waiting[0] && strcmp(c->waiting, "ContainerCreating") != 0 &&
	       strcmp(c->waiting, "PodInitializing") != 0;
}

bool fleet_pod_diagnosis_container(struct fleet_sentence *s)
{
	const struct fleet_container_status *c = s->pod->trouble;
	bool has_ended = c->ended[0] || c->exit_code != 0;
	if (!is_named_wait(c) && !has_ended)
		return false;
	if (is_image_reason(c->waiting)) {
		say_image(s);
	} else if (strcmp(c->waiting, "CreateContainerConfigError") == 0) {
		say_config(s);
	} else if (is_start_failure(c)) {
		say_start_failure(s);
	} else if (strcmp(c->waiting, "CrashLoopBackOff") == 0 ||
		   (!is_named_wait(c) && c->restarts > 0) || (c->is_init && has_ended)) {
		say_crash(s);
	} else if (is_named_wait(c)) {
		add_container(s);
		str_addf(s->out, " waits: %s", c->waiting);
		fleet_sentence_add_colon(s, c->waiting_message);
		add_where(s, "");
	} else {
		add_container(s);
		str_add(s->out, " ended: ");
		fleet_pod_diagnosis_end(s);
		fleet_sentence_add_colon(s, c->ended_message);
		add_where(s, "");
		fleet_pod_diagnosis_advise_end(s);
	}
	return true;
}

/* ---- taken away */

static const struct {
	const char *reason, *says, *next; /* next NULL: as before */
} verdicts[] = {
	{ "Evicted", "was evicted",
		"create it anew; ask in %s for as much as it uses, so that others go first" },
	{ "EvictionByEvictionAPI", "was evicted",
		"another pod comes by itself; if not, create it anew" },
	{ "Preempting", "had to make room for a more important pod",
		"add room, or give it a higher priority class in %s" },
	{ "PreemptionByScheduler", "had to make room for a more important pod",
		"add room, or give it a higher priority class in %s" },
	{ "NodeLost", "is on a node that does not answer",
		"bring the node back; or, once it is off for certain, delete the pod by force" },
	{ "DeletionByTaintManager",
		"is taken off its node, which does not answer or is tainted",
		"bring the node back; or, once it is off for certain, delete the pod by force" },
	{ "DeletionByPodGC", "was on a node that is no more", NULL },
	{ "TerminationByKubelet", "was ended by its node", NULL },
	{ "NodeShutdown", "was ended because its node shuts down", NULL },
	{ "Terminated", "was ended because its node shuts down", NULL },
	{ "DeadlineExceeded", "has run for longer than it may (activeDeadlineSeconds)",
		"create it anew, or raise the deadline in %s" },
	{ "NodeAffinity", "does not fit its node any more", "correct the placement in %s" },
	{ "UnexpectedAdmissionError", "was refused by its node",
		"look at the node's devices and kubelet" },
};

bool fleet_pod_diagnosis_verdict(struct fleet_sentence *s)
{
	const struct fleet_pod_verdict *v = s->pod->verdict;
	const char *reason = v->reason[0] ? v->reason : v->disruption;
	const char *message = v->reason[0] ? v->message : v->disruption_message;
	const char *says = NULL;
	if (!reason[0])
		return false;
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		if (strcmp(verdicts[i].reason, reason) != 0)
			continue;
		says = verdicts[i].says;
		if (verdicts[i].next != NULL)
			advise_template(s, verdicts[i].next);
	}
	str_addf(s->out, "Pod %s %s", s->pod->name, says ? says : "ended");
	if (s->pod->node[0])
		str_addf(s->out, ", node %s", s->pod->node);
	str_addf(s->out, " (%s)", reason);
	fleet_sentence_add_colon(s, message);
	if (v->disrupted_s != 0)
		*s->since_ms = (int64_t)v->disrupted_s * 1000;
	return true;
}
