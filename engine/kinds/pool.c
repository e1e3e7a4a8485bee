// SPDX-License-Identifier: Apache-2.0
/* SandboxWarmPools (extensions.agents.x-k8s.io/v1beta1): how many are ready, how fast they are taken, and when there will
 * be none. The API server keeps no history: rate and forecast are from what was seen since somebody looks (drain.h).
 * status.replicas and readyReplicas are absent when they are zero. */
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/num.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/drain.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"
#include "engine/resource/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum kinds_pool_column {
	UID,
	NAMESPACE,
	NAME,
	STATUS,
	READY,
	DESIRED,
	TEMPLATE,
	RATE,
	EMPTY,
	STRATEGY,
	WHY,
	CREATED,
	AGE,
	EMPTY_AT,
	COLUMN_COUNT,
};

enum { N_TEXTS = 3, REPLICAS_MAX = 1000000 };

struct kinds_pool {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *template_, *strategy, *why;
		};
		const char *texts[N_TEXTS];
	};
	int64_t ready, desired;
	bool is_template_missing;
	struct kinds_drain drain;
};

static const struct kinds_pool *of(const void *row)
{
	return row;
}

/* ---- from the object */

static void set_why(struct kinds_pool *pool)
{
	struct str why;
	str_init(&why, KINDS_TEXT_BYTES);
	if (pool->is_template_missing)
		str_addf(&why, "template %s does not exist", pool->template_);
	kinds_text_set(&pool->why, why.p);
	str_deinit(&why);
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_pool *pool = row;
	const char *strategy = kinds_text_at(object, "spec.updateStrategy.type");
	(void)skew_ms;
	kinds_text_set(&pool->template_, kinds_text_at(object, "spec.sandboxTemplateRef.name"));
	kinds_text_set(&pool->strategy, strategy ? strategy : "OnReplenish");
	pool->ready = kinds_int_at(object, "status.readyReplicas", 0);
	pool->desired = kinds_int_at(object, "spec.replicas", 1);
	kinds_drain_see(&pool->drain, clock_mono_ms(), pool->desired, pool->ready);
	set_why(pool);
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_pool *)row)->texts, N_TEXTS);
}

struct looking {
	const struct kinds_pool *pool;
	bool is_found;
};

static void look_at_template(void *arg, const char *uid, const void *row)
{
	struct looking *looking = arg;
	const struct kinds_object *template_ = row;
	(void)uid;
	looking->is_found =
		looking->is_found ||
		(strcmp(template_->name, looking->pool->template_) == 0 &&
			strcmp(template_->namespace_, looking->pool->object.namespace_) == 0);
}

static bool join(
	void *row, const struct resource_kind *kind, const struct resource_source *templates)
{
	struct kinds_pool *pool = row;
	struct looking looking = { .pool = pool };
	(void)kind;
	bool was_missing = pool->is_template_missing;
	if (templates->self)
		templates->ops->each(templates->self, look_at_template, &looking);
	pool->is_template_missing = templates->self && !looking.is_found;
	if (pool->is_template_missing == was_missing)
		return false;
	set_why(pool);
	return true;
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_pool, template_)
KINDS_TEXT_COLUMN(kinds_pool, strategy)
KINDS_TEXT_COLUMN(kinds_pool, why)

static struct resource_value status(const void *row)
{
	const struct kinds_pool *pool = of(row);
	return kinds_text_value(pool->object.deleted_ms        ? "Terminating"
				: pool->is_template_missing    ? "Blocked"
				: !pool->desired               ? "Off"
				: pool->ready >= pool->desired ? "Full"
				: pool->ready                  ? "Filling"
							       : "Empty");
}

static enum resource_tone status_tone(const void *row)
{
	const struct kinds_pool *pool = of(row);
	return pool->object.deleted_ms           ? RESOURCE_GONE
	       : pool->is_template_missing       ? RESOURCE_BAD
	       : !pool->desired                  ? RESOURCE_DIM
	       : pool->ready >= pool->desired    ? RESOURCE_GOOD
	       : pool->ready * 2 > pool->desired ? RESOURCE_BUSY
						 : RESOURCE_WARNING;
}

static struct resource_value ready(const void *row)
{
	return kinds_count_value(of(row)->ready);
}

static struct resource_value desired(const void *row)
{
	return kinds_count_value(of(row)->desired);
}

static struct resource_value rate(const void *row)
{
	struct resource_value value = { .text = "" };
	value.is_known = kinds_drain_rate(&of(row)->drain, clock_mono_ms(), &value.number);
	return value;
}

static struct resource_value empty_at(const void *row)
{
	int64_t ms;
	bool is_known = kinds_drain_empty_in(&of(row)->drain, clock_mono_ms(), &ms);
	return kinds_time_value(is_known ? clock_wall_ms() + ms : 0);
}

static enum resource_tone empty_tone(const void *row)
{
	int64_t ms;
	bool is_known = kinds_drain_empty_in(&of(row)->drain, clock_mono_ms(), &ms);
	return is_known && ms < 300000 ? RESOURCE_WARNING : RESOURCE_PLAIN;
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAMESPACE] = KINDS_COLUMN_NAMESPACE,
	[NAME] = KINDS_COLUMN_NAME,
	[STATUS] = { .title = "STATUS",
		.name = "status",
		.field = "status",
		.cols = 11,
		.rank = 3,
		.is_searched = true,
		.value = status,
		.tone = status_tone },
	[READY] = { .title = "READY",
		.name = "ready",
		.field = "ready",
		.format = RESOURCE_COUNT,
		.cols = 6,
		.rank = 1,
		.value = ready,
		.tone = status_tone },
	[DESIRED] = { .title = "DESIRED",
		.name = "desired",
		.field = "desired",
		.format = RESOURCE_COUNT,
		.cols = 7,
		.rank = 1,
		.value = desired },
	[TEMPLATE] = { .title = "TEMPLATE",
		.name = "template",
		.field = "template",
		.cols = 20,
		.rank = 6,
		.is_searched = true,
		.value = template_ },
	[RATE] = { .title = "TAKEN",
		.name = "taken",
		.field = "takenPerMinute",
		.format = RESOURCE_RATE,
		.cols = 10,
		.rank = 4,
		.value = rate },
	[EMPTY] = { .title = "EMPTY IN",
		.name = "empty",
		.format = RESOURCE_LEFT,
		.cols = 8,
		.rank = 4,
		.value = empty_at,
		.tone = empty_tone },
	[STRATEGY] = { .title = "UPDATE",
		.name = "update",
		.field = "updateStrategy",
		.cols = 11,
		.rank = 8,
		.value = strategy },
	[WHY] = { .title = "WHY",
		.name = "why",
		.field = "why",
		.rank = 7,
		.is_searched = true,
		.value = why },
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
	[EMPTY_AT] = { .field = "emptyAt", .format = RESOURCE_TIME, .value = empty_at },
};

/* ---- the page */

static void add_stock(const struct resource_lines *lines, const void *row, const cJSON *object)
{
	const struct kinds_pool *pool = of(row);
	char text[160];
	snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " ready, %" PRId64 " made",
		pool->ready, pool->desired, kinds_int_at(object, "status.replicas", 0));
	lines->line(lines->arg, "stock", status_tone(row), text, 0);
	if (strcmp(pool->strategy, "Recreate") == 0)
		lines->line(lines->arg, "update", RESOURCE_PLAIN,
			"Recreate: warm ones of an older template are replaced at once", 0);
	else
		lines->line(lines->arg, "update", RESOURCE_PLAIN,
			"OnReplenish: warm ones of an older template stay until they are taken",
			0);
	int64_t generation = kinds_int_at(object, "metadata.generation", 0);
	if (kinds_int_at(object, "status.observedGeneration", generation) < generation)
		lines->line(lines->arg, "controller", RESOURCE_WARNING,
			"has not seen the last change yet", 0);
}

static const struct resource_section sections[] = { { "Stock", add_stock }, { 0 } };

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_FIELD, "SandboxTemplate", "spec.sandboxTemplateRef.name", false },
	{ RESOURCE_BY_LABEL, "Sandbox", "agents.x-k8s.io/warm-pool-sandbox", true },
	{ 0 },
};

/* ---- actions */

static bool read_replicas(const char *args, int64_t *n, struct err *err)
{
	return num_parse_i64(args, 0, REPLICAS_MAX, n) ||
	       err_set(err, ERR_ARG_INVALID, "'%.40s' is no number of warm sandboxes: scale N",
		       args);
}

static bool plan_scale(const void *row, const char *args, struct str *out, struct err *err)
{
	int64_t n;
	if (!read_replicas(args, &n, err))
		return false;
	str_addf(out, "%" PRId64 " -> %" PRId64 " (%" PRId64 " ready now)", of(row)->desired, n,
		of(row)->ready);
	return true;
}

/* autoscaling/v1 Scale. */
static bool request_scale(
	const void *row, const char *args, struct resource_request *out, struct err *err)
{
	int64_t n;
	(void)row;
	if (!read_replicas(args, &n, err))
		return false;
	out->method = "PATCH";
	out->content_type = "application/merge-patch+json";
	out->body = cJSON_CreateObject();
	cJSON_AddNumberToObject(
		cJSON_AddObjectToObject(out->body, "spec"), "replicas", (double)n);
	return true;
}

static const struct resource_action actions[] = {
	{ .name = "scale",
		.help = "another number of warm sandboxes",
		.question = "Warm ones that are too many are deleted; claimed ones stay.",
		.verb = "patch",
		.subresource = "scale",
		.args = "N",
		.wanted = "How many warm sandboxes",
		.plan = plan_scale,
		.request = request_scale },
	{ .name = "delete",
		.help = "delete the pool",
		.question =
			"Its warm sandboxes go with it; claimed ones stay. Claims that name it wait until there is one again.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

const struct resource_kind kinds_pool = {
	.name = "sandboxwarmpools",
	.singular = "sandboxwarmpool",
	.aliases = (const char *const[]){ "swp", "pools", "pool", "warmpools", NULL },
	.word = "pools",
	.resource = &k8s_sandboxwarmpools,
	.row_bytes = sizeof(struct kinds_pool),
	.project = project,
	.drop = drop,
	.list_kind = "SandboxWarmPoolList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, STATUS, READY, DESIRED, RATE, EMPTY, TEMPLATE,
		STRATEGY, AGE, WHY, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, STATUS, READY, DESIRED, TEMPLATE, AGE, WHY,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATUS, READY, DESIRED, RATE, EMPTY, TEMPLATE,
		STRATEGY, AGE, WHY, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, READY, DESIRED, WHY, RESOURCE_NONE },
	.beside = &k8s_sandboxtemplates,
	.join = join,
	.sections = sections,
	.relations = relations,
	.actions = actions,
};
