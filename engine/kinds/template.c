// SPDX-License-Identifier: Apache-2.0
/* SandboxTemplates (extensions.agents.x-k8s.io/v1beta1): what sandboxes are made of, what they may reach, what a claim may
 * add, and which pools make them. Defaults where a field is missing are the controller's (v0.5.6). */
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"
#include "engine/resource/source.h"

#include <inttypes.h>
#include <string.h>

enum kinds_template_column {
	UID,
	NAMESPACE,
	NAME,
	IMAGE,
	PORTS,
	REQUESTS,
	NETWORK,
	RUNTIME,
	ENV,
	VOLUMES,
	POOLS,
	CREATED,
	AGE,
	COLUMN_COUNT,
};

enum { N_TEXTS = 8, LIST_MAX = 50 };
#define POD "spec.podTemplate.spec"

struct kinds_template {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *image, *ports, *requests, *network, *runtime, *env,
				*volumes, *pools;
		};
		const char *texts[N_TEXTS];
	};
};

/* ---- from the object */

static void add_word(struct str *out, const char *word)
{
	str_addf(out, "%s%s", out->n ? "," : "", word);
}

static void format_images(const cJSON *object, struct str *out)
{
	const cJSON *c;
	int left = LIST_MAX;
	cJSON_ArrayForEach(c, kinds_at(object, POD ".containers"))
	{
		const char *image = kinds_text_at(c, "image");
		if (image && left-- > 0)
			add_word(out, image);
	}
}

static void format_ports(const cJSON *object, struct str *out)
{
	const cJSON *c, *port;
	int left = LIST_MAX;
	cJSON_ArrayForEach(c, kinds_at(object, POD ".containers"))
	{
		cJSON_ArrayForEach(port, kinds_at(c, "ports"))
		{
			int64_t number = kinds_int_at(port, "containerPort", 0);
			if (number && left-- > 0)
				str_addf(out, "%s%" PRId64, out->n ? "," : "", number);
		}
	}
}

/* What the first container asks for and may have: "cpu 250m..2 mem 1Gi..4Gi". */
static void format_resources(const cJSON *object, struct str *out)
{
	static const char *const names[] = { "cpu", "memory" }, *const words[] = { "cpu",
		"mem" };
	const cJSON *c = cJSON_GetArrayItem(kinds_at(object, POD ".containers"), 0);
	for (int i = 0; i < 2; i++) {
		const cJSON *asked = cJSON_GetObjectItemCaseSensitive(
			kinds_at(c, "resources.requests"), names[i]);
		const cJSON *limit = cJSON_GetObjectItemCaseSensitive(
			kinds_at(c, "resources.limits"), names[i]);
		const char *from = cJSON_GetStringValue(asked),
			   *to = cJSON_GetStringValue(limit);
		if (from || to)
			str_addf(out, "%s%s %s%s%s", out->n ? " " : "", words[i],
				from ? from : "", to ? ".." : "", to ? to : "");
	}
}

static bool is_managed(const cJSON *object)
{
	const char *is = kinds_text_at(object, "spec.networkPolicyManagement");
	return !is || strcmp(is, "Unmanaged") != 0;
}

/* "default", "2 in, 1 out", "unmanaged". */
static void format_network(const cJSON *object, struct str *out)
{
	const cJSON *policy = kinds_at(object, "spec.networkPolicy");
	if (!is_managed(object))
		str_add(out, "unmanaged");
	else if (!cJSON_IsObject(policy))
		str_add(out, "default");
	else
		str_addf(out, "%d in, %d out", cJSON_GetArraySize(kinds_at(policy, "ingress")),
			cJSON_GetArraySize(kinds_at(policy, "egress")));
}

static const char *or_else(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

static void set_made(const char **slot, const cJSON *object,
	void (*format)(const cJSON *object, struct str *out))
{
	struct str text;
	str_init(&text, KINDS_TEXT_BYTES);
	format(object, &text);
	kinds_text_set(slot, text.p);
	str_deinit(&text);
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_template *template_ = row;
	(void)skew_ms;
	set_made(&template_->image, object, format_images);
	set_made(&template_->ports, object, format_ports);
	set_made(&template_->requests, object, format_resources);
	set_made(&template_->network, object, format_network);
	kinds_text_set(&template_->runtime, kinds_text_at(object, POD ".runtimeClassName"));
	kinds_text_set(&template_->env,
		or_else(kinds_text_at(object, "spec.envVarsInjectionPolicy"), "Disallowed"));
	kinds_text_set(&template_->volumes,
		or_else(kinds_text_at(object, "spec.volumeClaimTemplatesPolicy"),
			"Disallowed"));
	if (!template_->pools)
		kinds_text_set(&template_->pools, NULL);
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_template *)row)->texts, N_TEXTS);
}

struct gathering {
	const struct kinds_template *template_;
	const struct resource_column *template_name; /* of pools */
	struct str names;
};

static void look_at_pool(void *arg, const char *uid, const void *row)
{
	struct gathering *all = arg;
	const struct kinds_object *pool = row, *own = &all->template_->object;
	(void)uid;
	if (strcmp(all->template_name->value(row).text, own->name) == 0 &&
		strcmp(pool->namespace_, own->namespace_) == 0)
		add_word(&all->names, pool->name);
}

static bool join(
	void *row, const struct resource_kind *kind, const struct resource_source *pools)
{
	struct kinds_template *template_ = row;
	struct gathering all = { .template_ = template_,
		.template_name = &kind->columns[resource_find_column(kind, "template")] };
	str_init(&all.names, KINDS_TEXT_BYTES);
	if (pools->self)
		pools->ops->each(pools->self, look_at_pool, &all);
	bool is_new = strcmp(template_->pools, all.names.p ? all.names.p : "") != 0;
	if (is_new)
		kinds_text_set(&template_->pools, all.names.p);
	str_deinit(&all.names);
	return is_new;
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_template, image)
KINDS_TEXT_COLUMN(kinds_template, ports)
KINDS_TEXT_COLUMN(kinds_template, requests)
KINDS_TEXT_COLUMN(kinds_template, network)
KINDS_TEXT_COLUMN(kinds_template, runtime)
KINDS_TEXT_COLUMN(kinds_template, env)
KINDS_TEXT_COLUMN(kinds_template, volumes)
KINDS_TEXT_COLUMN(kinds_template, pools)

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[IMAGE] = KINDS_COLUMN_TEXT("IMAGE", "image", "image", 0, 3, image),
	[PORTS] = KINDS_COLUMN_TEXT("PORTS", "ports", "ports", 10, 6, ports),
	[REQUESTS] = KINDS_COLUMN_TEXT("RESOURCES", "resources", "resources", 26, 5, requests),
	[NETWORK] = KINDS_COLUMN_TEXT("NETWORK", "network", "networkPolicy", 12, 4, network),
	[RUNTIME] = KINDS_COLUMN_TEXT("RUNTIME", "runtime", "runtimeClass", 8, 7, runtime),
	[ENV] = KINDS_COLUMN_TEXT("ENV", "env", "envPolicy", 10, 9, env),
	[VOLUMES] = KINDS_COLUMN_TEXT("VOLUMES", "volumes", "volumePolicy", 10, 9, volumes),
	[POOLS] = KINDS_COLUMN_TEXT("POOLS", "pools", "pools", 16, 3, pools),
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

/* ---- the page */

static void add_network(
	const struct resource_lines *lines, const void *row, const cJSON *object)
{
	const cJSON *policy = kinds_at(object, "spec.networkPolicy");
	(void)row;
	if (!is_managed(object)) {
		lines->line(lines->arg, "policy", RESOURCE_WARNING,
			"unmanaged: the controller makes none; what the cluster has applies",
			0);
		return;
	}
	if (!cJSON_IsObject(policy)) {
		lines->line(lines->arg, "in", RESOURCE_PLAIN,
			"only from the sandbox router in agent-sandbox-system (default)", 0);
		lines->line(lines->arg, "out", RESOURCE_PLAIN,
			"the internet, no private addresses, so no DNS of the cluster (default)",
			0);
		return;
	}
	struct str text;
	str_init(&text, KINDS_TEXT_BYTES);
	str_addf(&text, "%d rules of its own", cJSON_GetArraySize(kinds_at(policy, "ingress")));
	lines->line(lines->arg, "in", RESOURCE_PLAIN, text.p, 0);
	str_clear(&text);
	str_addf(&text, "%d rules of its own", cJSON_GetArraySize(kinds_at(policy, "egress")));
	lines->line(lines->arg, "out", RESOURCE_PLAIN, text.p, 0);
	str_deinit(&text);
}

static void add_volumes(
	const struct resource_lines *lines, const void *row, const cJSON *object)
{
	const cJSON *volume;
	(void)row;
	cJSON_ArrayForEach(volume, kinds_at(object, "spec.volumeClaimTemplates"))
	{
		const char *name = kinds_text_at(volume, "metadata.name");
		const char *size = kinds_text_at(volume, "spec.resources.requests.storage");
		lines->line(
			lines->arg, name ? name : "?", RESOURCE_PLAIN, size ? size : "?", 0);
	}
}

static const struct resource_section sections[] = { { "Network", add_network },
	{ "Volumes", add_volumes }, { 0 } };

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_NAME, "NetworkPolicy", "-network-policy", true },
	{ RESOURCE_BY_MENTION, "SandboxWarmPool", "spec.sandboxTemplateRef.name", true },
	{ 0 },
};

static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "delete the template",
		.question = "Pools of it make no more sandboxes; those that exist stay.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

const struct resource_kind kinds_template = {
	.name = "sandboxtemplates",
	.singular = "sandboxtemplate",
	.aliases = (const char *const[]){ "sbt", "templates", "template", NULL },
	.word = "templates",
	.resource = &k8s_sandboxtemplates,
	.row_bytes = sizeof(struct kinds_template),
	.project = project,
	.drop = drop,
	.list_kind = "SandboxTemplateList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, IMAGE, PORTS, REQUESTS, NETWORK, RUNTIME, ENV,
		VOLUMES, POOLS, AGE, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, IMAGE, PORTS, NETWORK, POOLS, AGE,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, IMAGE, PORTS, REQUESTS, NETWORK, RUNTIME, ENV,
		VOLUMES, POOLS, AGE, RESOURCE_NONE },
	.brief = (const int[]){ IMAGE, RESOURCE_NONE },
	.beside = &k8s_sandboxwarmpools,
	.join = join,
	.sections = sections,
	.relations = relations,
	.actions = actions,
};
