// SPDX-License-Identifier: Apache-2.0
// The columns of sandboxes. The order of the rows is that of the fields in -o json.
#include "engine/fleet/kind.h"

#include "engine/fleet/usage.h"
#include <stdio.h>

enum fleet_column {
	UID,
	NAMESPACE,
	CLAIM,
	SANDBOX,
	STATE,
	WHY,
	WHY_SINCE,
	NEXT,
	POD,
	POD_IP,
	NODE,
	POOL,
	TEMPLATE,
	CREATED_BY,
	CREATED_AT,
	EXPIRES_AT,
	RESTARTS,
	WARM_START,
	CPU_MILLI,
	CPU_LIMIT,
	CPU_REQUEST,
	MEMORY_BYTES,
	MEMORY_LIMIT,
	MEMORY_REQUEST,
	DISK_BYTES,
	DISK_LIMIT,
	CPU,
	MEMORY,
	DISK,
	IDLE,
	NAME,
	AGE,
	EXPIRES,
	COLUMN_COUNT,
};

enum {
	OF_CLAIMS = FLEET_SOURCE_BIT(FLEET_CLAIMS),
	OF_SANDBOXES = FLEET_SOURCE_BIT(FLEET_SANDBOXES),
	OF_PODS = FLEET_SOURCE_BIT(FLEET_PODS),
	OF_USAGE = FLEET_SOURCE_USAGE,
};

/* How a state looks, and where it stands when rows are sorted by it: the unhealthy first, the well last. */
static const struct {
	enum resource_tone tone;
	int order;
	const char *glyph;
} states[FLEET_STATE_COUNT] = {
	[FLEET_FAILED] = { RESOURCE_BAD, 0, "✗" },
	[FLEET_BLOCKED] = { RESOURCE_BAD, 1, "✗" },
	[FLEET_ERROR] = { RESOURCE_BAD, 2, "✗" },
	[FLEET_DEGRADED] = { RESOURCE_WARNING, 3, "▲" },
	[FLEET_EXPIRED] = { RESOURCE_BAD, 4, "✗" },
	[FLEET_PENDING] = { RESOURCE_WARNING, 5, "◐" },
	[FLEET_CREATING] = { RESOURCE_BUSY, 6, "◐" },
	[FLEET_UNKNOWN] = { RESOURCE_WARNING, 7, "?" },
	[FLEET_RESUMING] = { RESOURCE_BUSY, 8, "◐" },
	[FLEET_SUSPENDING] = { RESOURCE_BUSY, 9, "◐" },
	[FLEET_TERMINATING] = { RESOURCE_GONE, 10, "◌" },
	[FLEET_FINISHED] = { RESOURCE_GONE, 11, "✓" },
	[FLEET_READY] = { RESOURCE_GOOD, 12, "●" },
	[FLEET_SUSPENDED] = { RESOURCE_GONE, 13, "■" },
	[FLEET_WARM] = { RESOURCE_GONE, 14, "○" },
	[FLEET_CRASHING] = { RESOURCE_BAD, 2, "✗" },
	[FLEET_DELETED] = { RESOURCE_GONE, 15, "†" },
};

enum resource_tone fleet_state_tone(enum fleet_state state)
{
	return states[state].tone;
}

int fleet_state_order(enum fleet_state state)
{
	return states[state].order;
}

const char *fleet_state_glyph(enum fleet_state state)
{
	return states[state].glyph;
}

const char *fleet_row_name(const struct fleet_row *row)
{
	return *row->claim ? row->claim : row->sandbox;
}

static const struct fleet_row *of(const void *row)
{
	return row;
}

static struct resource_value known_text(const char *text)
{
	return (struct resource_value){ .text = text, .is_known = *text != 0 };
}

static struct resource_value wall_time(int64_t ms)
{
	return (struct resource_value){ .text = "", .number = ms, .is_known = ms != 0 };
}

#define TEXT_COLUMN(function, member)                                                          \
	static struct resource_value function(const void *row)                                 \
	{                                                                                      \
		return known_text(of(row)->member);                                            \
	}
TEXT_COLUMN(uid, uid)
TEXT_COLUMN(namespace_, namespace_)
TEXT_COLUMN(claim, claim)
TEXT_COLUMN(sandbox, sandbox)
TEXT_COLUMN(why, why)
TEXT_COLUMN(next, next)
TEXT_COLUMN(pod, pod)
TEXT_COLUMN(pod_ip, pod_ip)
TEXT_COLUMN(node, node)
TEXT_COLUMN(pool, pool)
TEXT_COLUMN(template_, template_)
TEXT_COLUMN(created_by, created_by)
#undef TEXT_COLUMN

static struct resource_value name(const void *row)
{
	return known_text(fleet_row_name(row));
}

static struct resource_value state(const void *row)
{
	return known_text(fleet_state_name(of(row)->state));
}

static struct resource_value why_since(const void *row)
{
	return wall_time(of(row)->why_since_ms);
}

static struct resource_value created(const void *row)
{
	return wall_time(of(row)->created_ms);
}

static struct resource_value expires(const void *row)
{
	return wall_time(of(row)->expires_ms);
}

/* Of a pod: without one, or when it may not be seen, nobody has counted. */
static struct resource_value restarts(const void *row)
{
	return (struct resource_value){
		.text = "", .number = of(row)->restarts, .is_known = *of(row)->pod_uid != 0
	};
}

static struct resource_value warm_start(const void *row)
{
	return (struct resource_value){
		.text = "", .number = of(row)->is_warm_start, .is_known = true
	};
}

static const char *sandbox_name(const void *row)
{
	return of(row)->sandbox;
}

static int64_t state_order(const void *row)
{
	return states[of(row)->state].order;
}

static enum resource_tone state_tone(const void *row)
{
	return fleet_state_tone(of(row)->state);
}

static const char *state_glyph(const void *row)
{
	return fleet_state_glyph(of(row)->state);
}

static const char *restarts_note(const void *row, char buffer[RESOURCE_CELL_BYTES])
{
	if (of(row)->restarts <= 0)
		return "";
	snprintf(buffer, RESOURCE_CELL_BYTES, "↻%d", of(row)->restarts);
	return buffer;
}

static enum resource_tone restarts_tone(const void *row)
{
	return of(row)->restarts ? RESOURCE_WARNING : RESOURCE_PLAIN;
}

static enum resource_tone dim(const void *row)
{
	(void)row;
	return RESOURCE_DIM;
}

/* What somebody should read is not dim. */
static enum resource_tone why_tone(const void *row)
{
	enum resource_tone tone = fleet_state_tone(of(row)->state);
	return tone == RESOURCE_BAD || tone == RESOURCE_WARNING ? RESOURCE_PLAIN : RESOURCE_DIM;
}

static const char *labels(const void *row)
{
	return of(row)->labels;
}

static bool is_deleted(const void *row)
{
	return of(row)->state == FLEET_DELETED;
}

static bool is_warm(const void *row)
{
	return of(row)->state == FLEET_WARM;
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = { .field = "uid", .value = uid },
	[NAMESPACE] = { .title = "NAMESPACE",
		.name = "namespace",
		.alias = "ns",
		.field = "namespace",
		.cols = 14,
		.rank = 5,
		.is_searched = true,
		.value = namespace_ },
	[CLAIM] = { .field = "claim", .value = claim },
	[SANDBOX] = { .title = "SANDBOX",
		.name = "sandbox",
		.field = "sandbox",
		.cols = 22,
		.rank = 10,
		.sources = OF_SANDBOXES,
		.is_searched = true,
		.value = sandbox },
	[STATE] = { .title = "STATE",
		.name = "state",
		.field = "state",
		.cols = 11,
		.rank = 1,
		.is_searched = true,
		.value = state,
		.order = state_order,
		.tone = state_tone,
		.glyph = state_glyph,
		.note = restarts_note },
	[WHY] = { .title = "WHY",
		.name = "why",
		.field = "why",
		.rank = 3,
		.is_searched = true,
		.value = why,
		.tone = why_tone },
	[WHY_SINCE] = { .field = "whySince", .format = RESOURCE_TIME, .value = why_since },
	[NEXT] = { .title = "NEXT",
		.name = "next",
		.field = "next",
		.rank = 11,
		.is_searched = true,
		.value = next,
		.tone = dim },
	[POD] = { .title = "POD",
		.name = "pod",
		.field = "pod",
		.cols = 22,
		.rank = 9,
		.sources = OF_PODS | OF_SANDBOXES,
		.is_searched = true,
		.value = pod },
	[POD_IP] = { .title = "IP", .field = "podIP", .value = pod_ip },
	[NODE] = { .title = "NODE",
		.name = "node",
		.field = "node",
		.is_searched = true,
		.value = node },
	[POOL] = { .title = "POOL",
		.name = "pool",
		.field = "pool",
		.cols = 14,
		.rank = 7,
		.sources = OF_CLAIMS,
		.is_searched = true,
		.value = pool },
	[TEMPLATE] = { .title = "TEMPLATE",
		.name = "template",
		.field = "template",
		.is_searched = true,
		.value = template_ },
	[CREATED_BY] = { .field = "createdBy", .value = created_by },
	[CREATED_AT] = { .field = "createdAt", .format = RESOURCE_TIME, .value = created },
	[EXPIRES_AT] = { .field = "expiresAt", .format = RESOURCE_TIME, .value = expires },
	[RESTARTS] = { .title = "RESTARTS",
		.screen_title = "RST",
		.name = "restarts",
		.field = "restarts",
		.format = RESOURCE_COUNT,
		.cols = 4,
		.rank = 7,
		.sources = OF_PODS | OF_SANDBOXES,
		.value = restarts,
		.tone = restarts_tone },
	[WARM_START] = { .field = "warmStart", .format = RESOURCE_BOOL, .value = warm_start },
	[CPU_MILLI] = { .title = "CPU(cores)",
		.field = "cpuMillis",
		.format = RESOURCE_MILLI,
		.sources = OF_USAGE,
		.value = fleet_cpu_amount },
	[CPU_LIMIT] = { .title = "CPU LIMIT",
		.field = "cpuLimitMillis",
		.format = RESOURCE_MILLI,
		.value = fleet_cpu_limit },
	[CPU_REQUEST] = { .title = "CPU REQUEST",
		.field = "cpuRequestMillis",
		.format = RESOURCE_MILLI,
		.value = fleet_cpu_request },
	[MEMORY_BYTES] = { .title = "MEMORY(bytes)",
		.field = "memoryBytes",
		.format = RESOURCE_BYTES,
		.sources = OF_USAGE,
		.value = fleet_memory_amount },
	[MEMORY_LIMIT] = { .title = "MEMORY LIMIT",
		.field = "memoryLimitBytes",
		.format = RESOURCE_BYTES,
		.value = fleet_memory_limit },
	[MEMORY_REQUEST] = { .title = "MEMORY REQUEST",
		.field = "memoryRequestBytes",
		.format = RESOURCE_BYTES,
		.value = fleet_memory_request },
	[DISK_BYTES] = { .title = "DISK(bytes)",
		.field = "diskBytes",
		.format = RESOURCE_BYTES,
		.sources = OF_USAGE,
		.value = fleet_disk_amount },
	[DISK_LIMIT] = { .title = "DISK LIMIT",
		.field = "diskLimitBytes",
		.format = RESOURCE_BYTES,
		.value = fleet_disk_limit },
	[CPU] = { .title = "CPU",
		.name = "cpu",
		.format = RESOURCE_SHARE,
		.cols = 5,
		.rank = 5,
		.sources = OF_USAGE,
		.value = fleet_cpu_share,
		.order = fleet_cpu_order,
		.tone = fleet_cpu_tone,
		.picture = RESOURCE_SPARKLINE,
		.history = fleet_cpu_history,
		.amount = fleet_cpu_amount,
		.amount_format = RESOURCE_MILLI },
	[MEMORY] = { .title = "MEM",
		.name = "mem",
		.format = RESOURCE_SHARE,
		.cols = 5,
		.rank = 6,
		.sources = OF_USAGE,
		.value = fleet_memory_share,
		.order = fleet_memory_order,
		.tone = fleet_memory_tone,
		.picture = RESOURCE_GAUGE,
		.amount = fleet_memory_amount,
		.amount_format = RESOURCE_BYTES },
	[DISK] = { .title = "DISK",
		.name = "disk",
		.format = RESOURCE_SHARE,
		.cols = 5,
		.rank = 8,
		.sources = OF_USAGE,
		.value = fleet_disk_share,
		.order = fleet_disk_order,
		.tone = fleet_disk_tone,
		.picture = RESOURCE_GAUGE,
		.amount = fleet_disk_amount,
		.amount_format = RESOURCE_BYTES },
	[IDLE] = { .title = "IDLE",
		.name = "idle",
		.format = RESOURCE_AGE,
		.cols = 6,
		.rank = 9,
		.sources = OF_USAGE,
		.value = fleet_idle_since,
		.order = fleet_idle_order,
		.tone = dim },
	[NAME] = { .title = "NAME",
		.name = "name",
		.is_searched = true,
		.value = name,
		.second = sandbox_name },
	[AGE] = { .title = "AGE",
		.name = "age",
		.format = RESOURCE_AGE,
		.cols = 6,
		.rank = 2,
		.value = created },
	[EXPIRES] = { .title = "EXPIRES",
		.screen_title = "ENDS",
		.name = "expires",
		.alias = "ends",
		.format = RESOURCE_LEFT,
		.cols = 7,
		.rank = 4,
		.value = expires },
};

static const char *const aliases[] = { "sb", NULL };

const struct resource_kind fleet_usage_kind = {
	.name = "sandboxes",
	.singular = "sandbox",
	.list_kind = "SandboxList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAME, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, STATE, CPU_MILLI, CPU_LIMIT, MEMORY_BYTES,
		MEMORY_LIMIT, DISK_BYTES, DISK_LIMIT, RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATE, CPU_MILLI, CPU_LIMIT, CPU_REQUEST,
		MEMORY_BYTES, MEMORY_LIMIT, MEMORY_REQUEST, DISK_BYTES, DISK_LIMIT, POD, NODE,
		RESOURCE_NONE },
	.is_aside = is_warm,
	.labels = labels,
};

const struct resource_kind fleet_sandbox_kind = {
	.name = "sandboxes",
	.singular = "sandbox",
	.aliases = aliases,
	.list_kind = "SandboxList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, STATE, CPU, MEMORY, DISK, IDLE, SANDBOX, POD,
		POOL, EXPIRES, AGE, WHY, NEXT, RESOURCE_NONE },
	.table =
		(const int[]){ NAMESPACE, NAME, STATE, SANDBOX, POOL, AGE, WHY, RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATE, SANDBOX, POOL, POD, POD_IP, NODE,
		TEMPLATE, RESTARTS, AGE, WHY, RESOURCE_NONE },
	.labels = labels,
	.is_aside = is_warm,
	.is_gone = is_deleted,
};
