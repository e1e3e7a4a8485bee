// SPDX-License-Identifier: Apache-2.0
/* Leases (coordination.k8s.io/v1 Lease) that hold the binding keys of sandboxes: which claim has one, and whether that
 * claim still lives. Those of others (of controllers and nodes) are set aside.
 *
 *   Reserved ── its claim is recorded ──> Held ── the claim goes ──> Free
 *       └── the reservation lapses ──> Lapsed
 *
 * A key that is Free or Lapsed is taken by the next create (engine/fleet). The claim is the one of the owner reference
 * or of an annotation whose name ends with "claim-uid". */
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/settings.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/request.h"
#include "engine/resource/source.h"

#include <string.h>

enum kinds_lease_column {
	UID,
	NAMESPACE,
	NAME,
	STATUS,
	HOLDER,
	KEY,
	ACQUIRED,
	LAPSES,
	CLAIM_UID,
	CREATED,
	AGE,
	ACQUIRED_AT,
	LAPSES_AT,
	COLUMN_COUNT,
};

enum { N_TEXTS = 3 };
#define UID_KEY "claim-uid"

enum life { UNKNOWN, LIVES, ENDS, GONE };

struct kinds_lease {
	struct kinds_object object; /* first */
	union {
		struct {
			const char *holder, *claim_uid, *key;
		};
		const char *texts[N_TEXTS];
	};
	int64_t acquired_ms, lapses_ms; /* 0: not said */
	enum life claim;
};

static const struct kinds_lease *of(const void *row)
{
	return row;
}

static bool is_other(const void *row)
{
	const char *prefix = setting_text(SETTING_BINDING_PREFIX);
	return strncmp(of(row)->object.name, prefix, strlen(prefix)) != 0;
}

/* ---- from the object */

static const char *claim_of(const cJSON *object)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, kinds_at(object, "metadata.ownerReferences"))
	{
		const char *kind = kinds_text_at(item, "kind");
		if (kind && strcmp(kind, "SandboxClaim") == 0)
			return kinds_text_at(item, "uid");
	}
	cJSON_ArrayForEach(item, kinds_at(object, "metadata.annotations"))
	{
		size_t n = item->string ? strlen(item->string) : 0, tail = strlen(UID_KEY);
		if (n >= tail && strcmp(item->string + n - tail, UID_KEY) == 0)
			return cJSON_GetStringValue(item);
	}
	return NULL;
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_lease *lease = row;
	int64_t seconds = kinds_int_at(object, "spec.leaseDurationSeconds", 0);
	const char *renewed = kinds_text_at(object, "spec.renewTime");
	lease->acquired_ms = kinds_time(kinds_text_at(object, "spec.acquireTime"), skew_ms);
	int64_t from = renewed ? kinds_time(renewed, skew_ms) : lease->acquired_ms;
	bool is_said = from && seconds > 0 && seconds <= INT32_MAX;
	lease->lapses_ms = is_said ? from + seconds * 1000 : 0;
	kinds_text_set(&lease->holder, kinds_text_at(object, "spec.holderIdentity"));
	kinds_text_set(&lease->claim_uid, claim_of(object));
	const char *key =
		kinds_text_at(object, "metadata.annotations.pai.dev/sandbox-binding-key");
	if (key || !lease->key)
		kinds_text_set(&lease->key, key);
}

static void drop(void *row)
{
	kinds_texts_drop(((struct kinds_lease *)row)->texts, N_TEXTS);
}

static bool join(
	void *row, const struct resource_kind *kind, const struct resource_source *claims)
{
	struct kinds_lease *lease = row;
	const struct kinds_object *claim =
		*lease->claim_uid ? resource_source_find(claims, lease->claim_uid) : NULL;
	enum life is = !claims->self || !*lease->claim_uid ? UNKNOWN
		       : !claim                            ? GONE
		       : claim->deleted_ms                 ? ENDS
							   : LIVES;
	const struct resource_column *of_key =
		&kind->columns[resource_find_column(kind, "key")];
	const char *key = *lease->key || !claim ? lease->key : of_key->value(claim).text;
	if (is == lease->claim && strcmp(key, lease->key) == 0)
		return false;
	lease->claim = is;
	kinds_text_set(&lease->key, key);
	return true;
}

/* ---- columns */

KINDS_TEXT_COLUMN(kinds_lease, holder)
KINDS_TEXT_COLUMN(kinds_lease, claim_uid)
KINDS_TEXT_COLUMN(kinds_lease, key)

static bool has_lapsed(const struct kinds_lease *lease)
{
	return lease->lapses_ms && lease->lapses_ms <= clock_wall_ms();
}

static struct resource_value status(const void *row)
{
	const struct kinds_lease *lease = of(row);
	bool is_renewed = is_other(row); /* a holder that lives says so again and again */
	return kinds_text_value(lease->object.deleted_ms           ? "Terminating"
				: lease->claim == LIVES            ? "Held"
				: lease->claim == GONE             ? "Free"
				: lease->claim == ENDS             ? "Ending"
				: !*lease->holder                  ? "Free"
				: *lease->claim_uid && !is_renewed ? "Held?"
				: has_lapsed(lease)                ? "Lapsed"
				: is_renewed                       ? "Held"
								   : "Reserved");
}

static enum resource_tone status_tone(const void *row)
{
	const char *is = status(row).text;
	return strcmp(is, "Held") == 0       ? RESOURCE_GOOD
	       : strcmp(is, "Reserved") == 0 ? RESOURCE_BUSY
	       : strcmp(is, "Lapsed") == 0   ? RESOURCE_WARNING
	       : strcmp(is, "Held?") == 0    ? RESOURCE_PLAIN
					     : RESOURCE_GONE;
}

static struct resource_value acquired(const void *row)
{
	return kinds_time_value(of(row)->acquired_ms);
}

static struct resource_value lapses(const void *row)
{
	return kinds_time_value(of(row)->lapses_ms);
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
	[HOLDER] = KINDS_COLUMN_TEXT("CLAIM", "claim", "claim", 28, 3, holder),
	[KEY] = KINDS_COLUMN_TEXT("KEY", "key", "bindingKey", 18, 4, key),
	[ACQUIRED] = { .title = "ACQUIRED",
		.name = "acquired",
		.format = RESOURCE_AGE,
		.cols = 8,
		.rank = 6,
		.value = acquired },
	[LAPSES] = { .title = "LAPSES",
		.name = "lapses",
		.format = RESOURCE_LEFT,
		.cols = 7,
		.rank = 5,
		.value = lapses },
	[CLAIM_UID] = KINDS_COLUMN_TEXT("CLAIM UID", "uid", "claimUid", 36, 8, claim_uid),
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
	[ACQUIRED_AT] = { .field = "acquiredAt", .format = RESOURCE_TIME, .value = acquired },
	[LAPSES_AT] = { .field = "lapsesAt", .format = RESOURCE_TIME, .value = lapses },
};

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "SandboxClaim", NULL, false },
	{ RESOURCE_BY_FIELD, "SandboxClaim", "spec.holderIdentity", false },
	{ 0 },
};

static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "free the key",
		.question =
			"The next create with the same key makes another sandbox, also while this one lives.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

const struct resource_kind kinds_lease = {
	.name = "leases",
	.singular = "lease",
	.resource = &k8s_leases,
	.row_bytes = sizeof(struct kinds_lease),
	.project = project,
	.drop = drop,
	.list_kind = "LeaseList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, STATUS, HOLDER, KEY, ACQUIRED, LAPSES,
		CLAIM_UID, AGE, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, STATUS, HOLDER, KEY, LAPSES, AGE,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATUS, HOLDER, KEY, ACQUIRED, LAPSES,
		CLAIM_UID, AGE, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, KEY, RESOURCE_NONE },
	.is_aside = is_other,
	.aside = "leases of others",
	.beside = &k8s_sandboxclaims,
	.join = join,
	.relations = relations,
	.actions = actions,
};
