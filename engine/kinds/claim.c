// SPDX-License-Identifier: Apache-2.0
/* SandboxClaims (extensions.agents.x-k8s.io/v1beta1) as they are; the sandboxes join them with what they lead to. */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"

#include <string.h>

enum kinds_claim_column {
	UID,
	NAMESPACE,
	NAME,
	STATUS,
	SANDBOX,
	POOL,
	REASON,
	KEY,
	ENDS,
	WHY,
	CREATED,
	AGE,
	ENDS_AT,
	COLUMN_COUNT,
};

enum { N_TEXTS = 6 };

struct kinds_claim {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *ready, *sandbox, *pool, *reason, *key, *why;
		};
		const char *texts[N_TEXTS];
	};
	int64_t ends_ms;
};

static const struct kinds_claim *of(const void *row)
{
	return row;
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_claim *claim = row;
	const cJSON *is_ready = kinds_condition(object, "Ready");
	const char *sandbox = kinds_text_at(object, "status.sandbox.name");
	const char *ready = kinds_text_at(is_ready, "status");
	kinds_text_set(&claim->ready, ready);
	kinds_text_set(&claim->sandbox, sandbox);
	kinds_text_set(&claim->pool, kinds_text_at(object, "spec.warmPoolRef.name"));
	kinds_text_set(&claim->reason, kinds_text_at(is_ready, "reason"));
	kinds_text_set(&claim->key,
		kinds_text_at(object, "metadata.annotations.pai.dev/sandbox-binding-key"));
	kinds_text_set(&claim->why, ready && strcmp(ready, "True") == 0
					    ? NULL
					    : kinds_text_at(is_ready, "message"));
	claim->ends_ms =
		kinds_time(kinds_text_at(object, "spec.lifecycle.shutdownTime"), skew_ms);
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_claim *)row)->texts, N_TEXTS);
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_claim, sandbox)
KINDS_TEXT_COLUMN(kinds_claim, pool)
KINDS_TEXT_COLUMN(kinds_claim, reason)
KINDS_TEXT_COLUMN(kinds_claim, key)
KINDS_TEXT_COLUMN(kinds_claim, why)

static struct resource_value status(const void *row)
{
	const struct kinds_claim *claim = of(row);
	return kinds_text_value(claim->object.deleted_ms            ? "Terminating"
				: strcmp(claim->ready, "True") == 0 ? "Ready"
								    : "NotReady");
}

static enum resource_tone status_tone(const void *row)
{
	const struct kinds_claim *claim = of(row);
	return claim->object.deleted_ms            ? RESOURCE_GONE
	       : strcmp(claim->ready, "True") == 0 ? RESOURCE_GOOD
						   : RESOURCE_WARNING;
}

static struct resource_value ends(const void *row)
{
	return kinds_time_value(of(row)->ends_ms);
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
	[SANDBOX] = KINDS_COLUMN_TEXT("SANDBOX", "sandbox", "sandbox", 24, 4, sandbox),
	[POOL] = KINDS_COLUMN_TEXT("POOL", "pool", "pool", 14, 6, pool),
	[REASON] = KINDS_COLUMN_TEXT("REASON", "reason", "reason", 20, 5, reason),
	[KEY] = KINDS_COLUMN_TEXT("KEY", "key", "bindingKey", 14, 8, key),
	[ENDS] = { .title = "ENDS",
		.name = "ends",
		.format = RESOURCE_LEFT,
		.cols = 7,
		.rank = 5,
		.value = ends },
	[WHY] = KINDS_COLUMN_TEXT("WHY", "why", "why", 0, 7, why),
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
	[ENDS_AT] = { .field = "endsAt", .format = RESOURCE_TIME, .value = ends },
};

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_FIELD, "Sandbox", "status.sandbox.name", true },
	{ RESOURCE_BY_FIELD, "SandboxWarmPool", "spec.warmPoolRef.name", false },
	{ 0 },
};

static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "delete the claim",
		.question =
			"Their sandboxes go with them: everything that runs in them ends, and their files are lost.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

const struct resource_kind kinds_claim = {
	.name = "sandboxclaims",
	.singular = "sandboxclaim",
	.aliases = (const char *const[]){ "claims", "claim", "sbc", NULL },
	.word = "claims",
	.resource = &k8s_sandboxclaims,
	.row_bytes = sizeof(struct kinds_claim),
	.project = project,
	.drop = drop,
	.list_kind = "SandboxClaimList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, STATUS, REASON, SANDBOX, POOL, KEY, ENDS, AGE,
		WHY, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, STATUS, SANDBOX, POOL, REASON, AGE,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATUS, SANDBOX, POOL, REASON, KEY, ENDS, AGE,
		WHY, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, REASON, WHY, RESOURCE_NONE },
	.relations = relations,
	.actions = actions,
};
