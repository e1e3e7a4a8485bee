// SPDX-License-Identifier: Apache-2.0
/* Sandboxes (agents.x-k8s.io/v1beta1) as they are, warm ones of the pools among them; the list of sandboxes joins them
 * with their claims. */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"

#include <string.h>

enum kinds_sandbox_column {
	UID,
	NAMESPACE,
	NAME,
	STATUS,
	OWNER,
	NODE,
	IP,
	LAUNCH,
	REASON,
	WHY,
	CREATED,
	AGE,
	COLUMN_COUNT,
};

enum { N_TEXTS = 7 };

struct kinds_sandbox {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *status, *owner, *node, *ip, *launch, *reason, *why;
		};
		const char *texts[N_TEXTS];
	};
};

static const struct kinds_sandbox *of(const void *row)
{
	return row;
}

static bool is_text(const char *text, const char *expected)
{
	return text && strcmp(text, expected) == 0;
}

/* Ready is of the spec only when the controller has seen it: it stays True for a moment after the switch. */
static bool is_seen(const cJSON *object, const cJSON *condition)
{
	int64_t generation = kinds_int_at(object, "metadata.generation", 0);
	return kinds_int_at(condition, "observedGeneration", generation) >= generation;
}

static const char *status_of(const struct kinds_sandbox *sandbox, const cJSON *object)
{
	const cJSON *is_ready = kinds_condition(object, "Ready");
	bool is_off = is_text(kinds_text_at(object, "spec.operatingMode"), "Suspended");
	bool is_down =
		is_text(kinds_text_at(kinds_condition(object, "Suspended"), "status"), "True");
	return sandbox->object.deleted_ms                                     ? "Terminating"
	       : is_text(kinds_text_at(is_ready, "reason"), "SandboxExpired") ? "Expired"
	       : is_off ? (is_down ? "Suspended" : "Suspending")
	       : is_text(kinds_text_at(kinds_condition(object, "Finished"), "status"), "True")
		       ? "Finished"
	       : is_text(kinds_text_at(is_ready, "status"), "True") && is_seen(object, is_ready)
		       ? "Ready"
		       : "NotReady";
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_sandbox *sandbox = row;
	const cJSON *is_ready = kinds_condition(object, "Ready");
	struct str owner;
	(void)skew_ms;
	kinds_text_set(&sandbox->status, status_of(sandbox, object));
	str_init(&owner, KINDS_TEXT_BYTES);
	kinds_owner_format(object, &owner);
	kinds_text_set(&sandbox->owner, owner.p);
	str_deinit(&owner);
	kinds_text_set(&sandbox->node, kinds_text_at(object, "status.nodeName"));
	kinds_text_set(&sandbox->ip,
		cJSON_GetStringValue(cJSON_GetArrayItem(kinds_at(object, "status.podIPs"), 0)));
	kinds_text_set(&sandbox->launch,
		kinds_text_at(object, "metadata.labels.agents.x-k8s.io/launch-type"));
	kinds_text_set(&sandbox->reason, kinds_text_at(is_ready, "reason"));
	kinds_text_set(&sandbox->why, strcmp(sandbox->status, "Ready") == 0
					      ? NULL
					      : kinds_text_at(is_ready, "message"));
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_sandbox *)row)->texts, N_TEXTS);
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_sandbox, status)
KINDS_TEXT_COLUMN(kinds_sandbox, owner)
KINDS_TEXT_COLUMN(kinds_sandbox, node)
KINDS_TEXT_COLUMN(kinds_sandbox, ip)
KINDS_TEXT_COLUMN(kinds_sandbox, launch)
KINDS_TEXT_COLUMN(kinds_sandbox, reason)
KINDS_TEXT_COLUMN(kinds_sandbox, why)

static enum resource_tone status_tone(const void *row)
{
	const char *is = of(row)->status;
	return strcmp(is, "Ready") == 0         ? RESOURCE_GOOD
	       : strcmp(is, "NotReady") == 0    ? RESOURCE_WARNING
	       : strcmp(is, "Suspending") == 0  ? RESOURCE_BUSY
	       : strcmp(is, "Terminating") == 0 ? RESOURCE_GONE
						: RESOURCE_DIM;
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[STATUS] = { .title = "STATUS",
		.name = "status",
		.field = "status",
		.cols = 11,
		.rank = 1,
		.is_searched = true,
		.value = status,
		.tone = status_tone },
	[OWNER] = KINDS_COLUMN_TEXT("OWNER", "owner", "owner", 28, 4, owner),
	[NODE] = KINDS_COLUMN_TEXT("NODE", "node", "node", 16, 7, node),
	[IP] = KINDS_COLUMN_TEXT("IP", "ip", "ip", 15, 8, ip),
	[LAUNCH] = KINDS_COLUMN_TEXT("LAUNCH", "launch", "launchType", 6, 8, launch),
	[REASON] = KINDS_COLUMN_TEXT("REASON", "reason", "reason", 22, 5, reason),
	[WHY] = KINDS_COLUMN_TEXT("WHY", "why", "why", 0, 6, why),
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "SandboxClaim", NULL, false },
	{ RESOURCE_BY_OWNER, "SandboxWarmPool", NULL, false },
	{ RESOURCE_BY_FIELD, "SandboxTemplate",
		"metadata.annotations.agents.x-k8s.io/sandbox-template-ref", false },
	{ RESOURCE_BY_FIELD, "Pod", "metadata.annotations.agents.x-k8s.io/pod-name", true },
	{ RESOURCE_BY_NAME, "Pod", "", true },
	{ RESOURCE_BY_NAME, "Service", "", true },
	{ RESOURCE_BY_VOLUMES, "PersistentVolumeClaim", "spec.volumeClaimTemplates", true },
	{ 0 },
};

static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "delete the Sandbox",
		.question =
			"Everything that runs in them ends, and their files are lost. A claim that holds one is given another, empty one.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

/* "sandboxes" are claims and Sandboxes, joined (engine/fleet/kind.c): these have the name that kubectl has for them where
 * several kinds are called the same. */
const struct resource_kind kinds_sandbox = {
	.name = "sandboxes." K8S_GROUP_AGENTS,
	.singular = "sandbox." K8S_GROUP_AGENTS,
	.aliases = (const char *const[]){ "rawsandboxes", NULL },
	.word = "rawsandboxes",
	.resource = &k8s_sandboxes,
	.row_bytes = sizeof(struct kinds_sandbox),
	.project = project,
	.drop = drop,
	.list_kind = "SandboxList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, STATUS, OWNER, REASON, NODE, IP, LAUNCH, AGE,
		WHY, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, STATUS, OWNER, REASON, AGE, RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATUS, OWNER, REASON, NODE, IP, LAUNCH, AGE,
		WHY, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, REASON, WHY, RESOURCE_NONE },
	.relations = relations,
	.actions = actions,
};
