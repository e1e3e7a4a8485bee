// SPDX-License-Identifier: Apache-2.0
/* Pods (core/v1 Pod): state, readiness and restarts as kubectl prints them (printPod of
 * kubernetes/pkg/printers/internalversion/printers.go), and what a container says about itself where it is not well. */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum kinds_pod_column {
	UID,
	NAMESPACE,
	NAME,
	READY,
	STATUS,
	RESTARTS,
	IP,
	NODE,
	OWNER,
	WHY,
	CREATED,
	AGE,
	COLUMN_COUNT,
};

enum { N_TEXTS = 6, SHORT_BYTES = 64, CONTAINERS_MAX = 200 };

struct kinds_pod {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *ready, *status, *ip, *node, *owner, *why;
		};
		const char *texts[N_TEXTS];
	};
	int64_t restarts;
	bool is_whole, is_ended;
};

static const struct kinds_pod *of(const void *row)
{
	return row;
}

/* ---- from the object */

struct reading {
	const cJSON *object;
	char status[SHORT_BYTES];
	int64_t ready, total, restarts;
	bool is_initializing;
	const char *why; /* borrowed from the object */
};

static bool is_text(const char *text)
{
	return text && *text;
}

static void say(struct reading *r, const char *prefix, const char *text)
{
	snprintf(r->status, sizeof r->status, "%s%s", prefix, text);
}

/* Why a container ended, as the kubelet has it, else by signal or exit status. */
static void say_ended(struct reading *r, const char *prefix, const cJSON *ended)
{
	const char *reason = kinds_text_at(ended, "reason");
	int64_t signal_number = kinds_int_at(ended, "signal", 0);
	if (is_text(reason))
		say(r, prefix, reason);
	else if (signal_number)
		snprintf(r->status, sizeof r->status, "%sSignal:%" PRId64, prefix,
			signal_number);
	else
		snprintf(r->status, sizeof r->status, "%sExitCode:%" PRId64, prefix,
			kinds_int_at(ended, "exitCode", 0));
}

static void note_why(struct reading *r, const cJSON *state)
{
	const char *message = kinds_text_at(state, "message");
	if (is_text(message))
		r->why = message;
}

static bool is_restarting_init(const cJSON *object, int at)
{
	const char *policy =
		kinds_text_at(cJSON_GetArrayItem(kinds_at(object, "spec.initContainers"), at),
			"restartPolicy");
	return policy && strcmp(policy, "Always") == 0;
}

/* False: it holds up those after it. */
static bool read_init(struct reading *r, const cJSON *c, int at)
{
	const cJSON *ended = kinds_at(c, "state.terminated"),
		    *waiting = kinds_at(c, "state.waiting");
	const char *reason = kinds_text_at(waiting, "reason");
	bool is_kept = is_restarting_init(r->object, at);
	r->restarts += kinds_int_at(c, "restartCount", 0);
	if (ended && kinds_int_at(ended, "exitCode", -1) == 0)
		return true;
	if (is_kept && kinds_is_true_at(c, "started")) {
		r->ready += kinds_is_true_at(c, "ready");
		return true;
	}
	r->is_initializing = true;
	note_why(r, ended ? ended : waiting);
	if (ended)
		say_ended(r, "Init:", ended);
	else if (is_text(reason) && strcmp(reason, "PodInitializing") != 0)
		say(r, "Init:", reason);
	else
		snprintf(r->status, sizeof r->status, "Init:%d/%d", at,
			cJSON_GetArraySize(kinds_at(r->object, "spec.initContainers")));
	return false;
}

/* True: it runs and is ready. */
static bool read_container(struct reading *r, const cJSON *c)
{
	const cJSON *waiting = kinds_at(c, "state.waiting"),
		    *ended = kinds_at(c, "state.terminated");
	r->restarts += kinds_int_at(c, "restartCount", 0);
	if (is_text(kinds_text_at(waiting, "reason"))) {
		say(r, "", kinds_text_at(waiting, "reason"));
		note_why(r, waiting);
		return false;
	}
	if (ended) {
		say_ended(r, "", ended);
		note_why(r, ended);
		return false;
	}
	bool is_well = kinds_is_true_at(c, "ready") && kinds_at(c, "state.running");
	r->ready += is_well;
	return is_well;
}

static bool is_condition_true(const cJSON *object, const char *type)
{
	const char *is = kinds_text_at(kinds_condition(object, type), "status");
	return is && strcmp(is, "True") == 0;
}

static void read_containers(struct reading *r)
{
	const cJSON *all = kinds_at(r->object, "status.containerStatuses");
	int n = cJSON_GetArraySize(all);
	bool is_running = false;
	for (int i = n < CONTAINERS_MAX ? n : CONTAINERS_MAX; i-- > 0;)
		is_running |= read_container(r, cJSON_GetArrayItem(all, i));
	if (is_running && strcmp(r->status, "Completed") == 0)
		say(r, "", is_condition_true(r->object, "Ready") ? "Running" : "NotReady");
}

static void read_pod(struct reading *r)
{
	const cJSON *c, *scheduled = kinds_condition(r->object, "PodScheduled");
	const char *phase = kinds_text_at(r->object, "status.phase");
	const char *reason = kinds_text_at(r->object, "status.reason");
	const char *gate = kinds_text_at(scheduled, "reason");
	int at = 0;
	say(r, "", is_text(reason) ? reason : phase ? phase : "");
	note_why(r, kinds_at(r->object, "status"));
	if (gate && strcmp(gate, "SchedulingGated") == 0)
		say(r, "", gate);
	if (scheduled && !is_condition_true(r->object, "PodScheduled"))
		note_why(r, scheduled);
	r->total = cJSON_GetArraySize(kinds_at(r->object, "spec.containers"));
	cJSON_ArrayForEach(c, kinds_at(r->object, "status.initContainerStatuses"))
	{
		r->total += is_restarting_init(r->object, at);
		if (!r->is_initializing && at < CONTAINERS_MAX)
			read_init(r, c, at);
		at++;
	}
	if (!r->is_initializing || is_condition_true(r->object, "Initialized"))
		read_containers(r);
	bool is_over =
		phase && (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0);
	if (!kinds_text_at(r->object, "metadata.deletionTimestamp"))
		return;
	if (reason && strcmp(reason, "NodeLost") == 0)
		say(r, "", "Unknown");
	else if (!is_over)
		say(r, "", "Terminating");
}

/* What ended a container that is started again and again: "it was OOMKilled (exit 137); back-off 5m0s …". */
static void format_why(const struct reading *r, struct str *out)
{
	const cJSON *c;
	if (strcmp(r->status, "CrashLoopBackOff") == 0)
		cJSON_ArrayForEach(c, kinds_at(r->object, "status.containerStatuses"))
		{
			const cJSON *last = kinds_at(c, "lastState.terminated");
			const char *reason = kinds_text_at(last, "reason");
			if (last && !out->n)
				str_addf(out, "ended last: %s, exit %" PRId64 "; ",
					reason ? reason : "?",
					kinds_int_at(last, "exitCode", -1));
		}
	if (r->why)
		str_add(out, r->why);
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_pod *pod = row;
	struct reading r = { .object = object };
	struct str text;
	char ready[SHORT_BYTES];
	(void)skew_ms;
	read_pod(&r);
	snprintf(ready, sizeof ready, "%" PRId64 "/%" PRId64, r.ready, r.total);
	kinds_text_set(&pod->ready, ready);
	kinds_text_set(&pod->status, r.status);
	kinds_text_set(&pod->ip, kinds_text_at(object, "status.podIP"));
	kinds_text_set(&pod->node, kinds_text_at(object, "spec.nodeName"));
	pod->restarts = r.restarts;
	pod->is_whole = r.total > 0 && r.ready == r.total;
	pod->is_ended =
		strcmp(r.status, "Completed") == 0 || strcmp(r.status, "Succeeded") == 0;
	str_init(&text, KINDS_TEXT_BYTES);
	kinds_owner_format(object, &text);
	kinds_text_set(&pod->owner, text.p);
	str_clear(&text);
	format_why(&r, &text);
	kinds_text_set(&pod->why, text.p);
	str_deinit(&text);
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_pod *)row)->texts, N_TEXTS);
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_pod, ready)
KINDS_TEXT_COLUMN(kinds_pod, status)
KINDS_TEXT_COLUMN(kinds_pod, ip)
KINDS_TEXT_COLUMN(kinds_pod, node)
KINDS_TEXT_COLUMN(kinds_pod, owner)
KINDS_TEXT_COLUMN(kinds_pod, why)

static struct resource_value restarts(const void *row)
{
	return kinds_count_value(of(row)->restarts);
}

static enum resource_tone status_tone(const void *row)
{
	const struct kinds_pod *pod = of(row);
	static const char *const busy[] = { "Pending", "ContainerCreating", "PodInitializing",
		"SchedulingGated" };
	for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++)
		if (strcmp(pod->status, busy[i]) == 0)
			return RESOURCE_BUSY;
	return pod->object.deleted_ms                  ? RESOURCE_GONE
	       : pod->is_ended                         ? RESOURCE_DIM
	       : strncmp(pod->status, "Init:", 5) == 0 ? RESOURCE_BUSY
	       : strcmp(pod->status, "Running") != 0   ? RESOURCE_BAD
	       : pod->is_whole                         ? RESOURCE_GOOD
						       : RESOURCE_WARNING;
}

static enum resource_tone restarts_tone(const void *row)
{
	return of(row)->restarts ? RESOURCE_WARNING : RESOURCE_PLAIN;
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[READY] = { .title = "READY",
		.name = "ready",
		.field = "ready",
		.cols = 6,
		.rank = 3,
		.value = ready },
	[STATUS] = { .title = "STATUS",
		.name = "status",
		.field = "status",
		.cols = 17,
		.rank = 1,
		.is_searched = true,
		.value = status,
		.tone = status_tone },
	[RESTARTS] = { .title = "RESTARTS",
		.screen_title = "RST",
		.name = "restarts",
		.field = "restarts",
		.format = RESOURCE_COUNT,
		.cols = 4,
		.rank = 4,
		.value = restarts,
		.tone = restarts_tone },
	[IP] = { .title = "IP",
		.name = "ip",
		.field = "ip",
		.cols = 15,
		.rank = 8,
		.is_searched = true,
		.value = ip },
	[NODE] = { .title = "NODE",
		.name = "node",
		.field = "node",
		.cols = 16,
		.rank = 7,
		.is_searched = true,
		.value = node },
	[OWNER] = { .title = "OWNER",
		.name = "owner",
		.field = "owner",
		.cols = 24,
		.rank = 6,
		.is_searched = true,
		.value = owner },
	[WHY] = { .title = "WHY",
		.name = "why",
		.field = "why",
		.rank = 9,
		.is_searched = true,
		.value = why },
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

/* ---- the page */

static void add_containers(
	const struct resource_lines *lines, const void *row, const cJSON *object)
{
	const cJSON *c;
	(void)row;
	cJSON_ArrayForEach(c, kinds_at(object, "spec.containers"))
	{
		const char *name = kinds_text_at(c, "name"), *image = kinds_text_at(c, "image");
		const cJSON *s, *state = NULL;
		struct str text;
		str_init(&text, KINDS_TEXT_BYTES * 4);
		cJSON_ArrayForEach(s, kinds_at(object, "status.containerStatuses"))
		{
			const char *is = kinds_text_at(s, "name");
			if (is && name && strcmp(is, name) == 0)
				state = kinds_at(s, "state");
		}
		const char *word = state && state->child ? state->child->string : "";
		const char *reason = kinds_text_at(state ? state->child : NULL, "reason");
		str_addf(&text, "%s  %s%s%s", image ? image : "?", word, reason ? ": " : "",
			reason ? reason : "");
		lines->line(lines->arg, name ? name : "?",
			strcmp(word, "waiting") == 0 ? RESOURCE_WARNING : RESOURCE_PLAIN,
			text.p, 0);
		str_deinit(&text);
	}
}

static const struct resource_section sections[] = { { "Containers", add_containers }, { 0 } };

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "Sandbox", NULL, false },
	{ RESOURCE_BY_FIELD, "Node", "spec.nodeName", false },
	{ 0 },
};

static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "delete the pod",
		.question =
			"Everything that runs in them ends; what is not on a volume is lost. A Sandbox makes its pod anew.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

const struct resource_kind kinds_pod = {
	.name = "pods",
	.singular = "pod",
	.aliases = (const char *const[]){ "po", NULL },
	.resource = &k8s_pods,
	.row_bytes = sizeof(struct kinds_pod),
	.project = project,
	.drop = drop,
	.list_kind = "PodList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, READY, STATUS, RESTARTS, IP, NODE, OWNER, AGE,
		WHY, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, READY, STATUS, RESTARTS, AGE, OWNER, WHY,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, READY, STATUS, RESTARTS, AGE, IP, NODE, OWNER,
		WHY, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, READY, WHY, RESOURCE_NONE },
	.sections = sections,
	.relations = relations,
	.actions = actions,
};
