// SPDX-License-Identifier: Apache-2.0
/* NetworkPolicies (networking.k8s.io/v1 NetworkPolicy): what sandboxes of a template may reach, and who may reach them. */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/page.h"

#include <string.h>

enum kinds_networkpolicy_column {
	UID,
	NAMESPACE,
	NAME,
	PODS,
	INGRESS,
	EGRESS,
	OWNER,
	CREATED,
	AGE,
	COLUMN_COUNT,
};

enum { N_TEXTS = 2 };

struct kinds_networkpolicy {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *pods, *owner;
		};
		const char *texts[N_TEXTS];
	};
	int ingress, egress; /* rules; -1: it says nothing about that way */
};

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "SandboxTemplate", NULL, false },
	{ RESOURCE_BY_SELECTOR, "Pod", "spec.podSelector.matchLabels", false },
	{ 0 },
};

static const struct kinds_networkpolicy *of(const void *row)
{
	return row;
}

static int count_rules(const cJSON *object, const char *path, const char *type)
{
	const cJSON *item;
	bool is_about = false;
	cJSON_ArrayForEach(item, kinds_at(object, "spec.policyTypes"))
	{
		const char *is = cJSON_GetStringValue(item);
		is_about = is_about || (is && strcmp(is, type) == 0);
	}
	return is_about ? cJSON_GetArraySize(kinds_at(object, path)) : -1;
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_networkpolicy *policy = row;
	struct str text;
	(void)skew_ms;
	policy->ingress = count_rules(object, "spec.ingress", "Ingress");
	policy->egress = count_rules(object, "spec.egress", "Egress");
	str_init(&text, KINDS_TEXT_BYTES);
	kinds_owner_format(object, &text);
	kinds_text_set(&policy->owner, text.p);
	str_clear(&text);
	kinds_relation_format(&relations[1], object, &text);
	kinds_text_set(&policy->pods, text.p);
	str_deinit(&text);
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_networkpolicy *)row)->texts, N_TEXTS);
}

KINDS_TEXT_COLUMN(kinds_networkpolicy, pods)
KINDS_TEXT_COLUMN(kinds_networkpolicy, owner)

/* No rule for a way that it is about: nothing is allowed there. */
static struct resource_value rules(int n)
{
	return n < 0 ? (struct resource_value){ .text = "" } : kinds_count_value(n);
}

static struct resource_value ingress(const void *row)
{
	return rules(of(row)->ingress);
}

static struct resource_value egress(const void *row)
{
	return rules(of(row)->egress);
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[PODS] = KINDS_COLUMN_TEXT("PODS", "pods", "podSelector", 0, 5, pods),
	[INGRESS] = { .title = "IN",
		.name = "in",
		.field = "ingressRules",
		.format = RESOURCE_COUNT,
		.cols = 4,
		.rank = 3,
		.value = ingress },
	[EGRESS] = { .title = "OUT",
		.name = "out",
		.field = "egressRules",
		.format = RESOURCE_COUNT,
		.cols = 4,
		.rank = 3,
		.value = egress },
	[OWNER] = KINDS_COLUMN_TEXT("OWNER", "owner", "owner", 28, 4, owner),
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

/* ---- the page */

static void add_way(const struct resource_lines *lines, const char *label, int n)
{
	struct str text;
	str_init(&text, KINDS_TEXT_BYTES);
	if (n < 0)
		str_add(&text, "not limited by this policy");
	else if (!n)
		str_add(&text, "nothing is allowed");
	else
		str_addf(&text, "only what %d rule%s allow%s", n, n == 1 ? "" : "s",
			n == 1 ? "s" : "");
	lines->line(lines->arg, label, RESOURCE_PLAIN, text.p, 0);
	str_deinit(&text);
}

static void add_ways(const struct resource_lines *lines, const void *row, const cJSON *object)
{
	(void)object;
	add_way(lines, "in", of(row)->ingress);
	add_way(lines, "out", of(row)->egress);
}

static const struct resource_section sections[] = { { "Ways", add_ways }, { 0 } };

const struct resource_kind kinds_networkpolicy = {
	.name = "networkpolicies",
	.singular = "networkpolicy",
	.aliases = (const char *const[]){ "netpol", NULL },
	.resource = &k8s_networkpolicies,
	.row_bytes = sizeof(struct kinds_networkpolicy),
	.project = project,
	.drop = drop,
	.list_kind = "NetworkPolicyList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, PODS, INGRESS, EGRESS, OWNER, AGE,
		RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, PODS, INGRESS, EGRESS, OWNER, AGE,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, PODS, INGRESS, EGRESS, OWNER, AGE,
		RESOURCE_NONE },
	.brief = (const int[]){ INGRESS, EGRESS, RESOURCE_NONE },
	.sections = sections,
	.relations = relations,
};
