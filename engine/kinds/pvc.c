// SPDX-License-Identifier: Apache-2.0
/* PersistentVolumeClaims (core/v1 PersistentVolumeClaim): the storage of sandboxes, what is bound to it, and whose it is. */
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"
#include "engine/kinds/page.h"
#include "engine/kinds/request.h"

#include <cjson/cJSON.h>
#include <string.h>

enum kinds_pvc_column {
	UID,
	NAMESPACE,
	NAME,
	STATUS,
	CAPACITY,
	MODES,
	CLASS,
	VOLUME,
	SANDBOX,
	CREATED,
	AGE,
	COLUMN_COUNT,
};

struct kinds_pvc {
	struct kinds_object object; /* first */
	const char *status, *capacity, *modes, *class, *volume, *sandbox;
};

static const struct kinds_pvc *of(const void *row)
{
	return row;
}

static const char *const aliases[] = { "pvc", "pvcs", NULL };

static const struct resource_relation relations[] = {
	{ RESOURCE_BY_OWNER, "Sandbox", NULL, false },
	{ RESOURCE_BY_FIELD, "PersistentVolume", "spec.volumeName", false },
	{ RESOURCE_BY_FIELD, "StorageClass", "spec.storageClassName", false },
	{ 0 },
};

/* ---- from the object */

/* As kubectl shortens them: "RWO,ROX". */
static void format_modes(const cJSON *modes, struct str *out)
{
	static const struct {
		const char *name, *abbreviation;
	} known[] = {
		{ "ReadWriteOnce", "RWO" },
		{ "ReadOnlyMany", "ROX" },
		{ "ReadWriteMany", "RWX" },
		{ "ReadWriteOncePod", "RWOP" },
	};
	const cJSON *mode;
	cJSON_ArrayForEach(
		mode, modes) for (size_t i = 0; i < sizeof known / sizeof known[0];
				  i++) if (cJSON_IsString(mode) &&
					   strcmp(mode->valuestring, known[i].name) == 0)
		str_addf(out, "%s%s", out->n ? "," : "", known[i].abbreviation);
}

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_pvc *pvc = row;
	struct str text;
	(void)skew_ms;
	kinds_text_set(&pvc->status,
		pvc->object.deleted_ms ? "Terminating" : kinds_text_at(object, "status.phase"));
	kinds_text_set(&pvc->class, kinds_text_at(object, "spec.storageClassName"));
	kinds_text_set(&pvc->volume, kinds_text_at(object, "spec.volumeName"));
	/* what it has; while it has nothing, what it asks for */
	const char *capacity = kinds_text_at(object, "status.capacity.storage");
	kinds_text_set(&pvc->capacity,
		capacity ? capacity : kinds_text_at(object, "spec.resources.requests.storage"));
	str_init(&text, KINDS_TEXT_BYTES);
	format_modes(kinds_at(object, "spec.accessModes"), &text);
	kinds_text_set(&pvc->modes, text.p);
	str_clear(&text);
	kinds_relation_format(&relations[0], object, &text);
	kinds_text_set(&pvc->sandbox, text.p);
	str_deinit(&text);
}

static void drop(void *row)
{
	struct kinds_pvc *pvc = row;
	kinds_text_drop(&pvc->status);
	kinds_text_drop(&pvc->capacity);
	kinds_text_drop(&pvc->modes);
	kinds_text_drop(&pvc->class);
	kinds_text_drop(&pvc->volume);
	kinds_text_drop(&pvc->sandbox);
}

/* ---- columns */

#define TEXT_COLUMN(member)                                                                    \
	static struct resource_value member(const void *row)                                   \
	{                                                                                      \
		return kinds_text_value(of(row)->member);                                      \
	}
TEXT_COLUMN(status)
TEXT_COLUMN(capacity)
TEXT_COLUMN(modes)
TEXT_COLUMN(class)
TEXT_COLUMN(volume)
TEXT_COLUMN(sandbox)
#undef TEXT_COLUMN

static enum resource_tone status_tone(const void *row)
{
	const char *is = of(row)->status;
	return strcmp(is, "Bound") == 0         ? RESOURCE_GOOD
	       : strcmp(is, "Pending") == 0     ? RESOURCE_WARNING
	       : strcmp(is, "Lost") == 0        ? RESOURCE_BAD
	       : strcmp(is, "Terminating") == 0 ? RESOURCE_GONE
						: RESOURCE_PLAIN;
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
	[CAPACITY] = { .title = "CAPACITY",
		.name = "capacity",
		.field = "capacity",
		.cols = 9,
		.rank = 3,
		.value = capacity },
	[MODES] = { .title = "MODES",
		.name = "modes",
		.field = "accessModes",
		.cols = 8,
		.rank = 7,
		.value = modes },
	[CLASS] = { .title = "CLASS",
		.name = "class",
		.field = "storageClass",
		.cols = 14,
		.rank = 6,
		.is_searched = true,
		.value = class },
	[VOLUME] = { .title = "VOLUME",
		.name = "volume",
		.field = "volume",
		.cols = 24,
		.rank = 8,
		.is_searched = true,
		.value = volume },
	[SANDBOX] = { .title = "SANDBOX",
		.name = "sandbox",
		.field = "sandbox",
		.cols = 22,
		.rank = 4,
		.is_searched = true,
		.value = sandbox },
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

/* ---- the page */

static void add_size(const struct resource_lines *lines, const void *row, const cJSON *object)
{
	const char *asked = kinds_text_at(object, "spec.resources.requests.storage");
	const char *has = kinds_text_at(object, "status.capacity.storage");
	(void)row;
	if (asked)
		lines->line(lines->arg, "asked for", RESOURCE_PLAIN, asked, 0);
	lines->line(lines->arg, "has", has ? RESOURCE_PLAIN : RESOURCE_WARNING,
		has ? has : "nothing yet", 0);
}

static const struct resource_section sections[] = { { "Size", add_size }, { 0 } };

static const struct resource_action actions[] = {
	{ .name = "delete",
		.help = "delete the claim",
		.question = "What they hold is lost unless their volumes are retained.",
		.verb = "delete",
		.subresource = "",
		.request = kinds_request_delete },
	{ 0 },
};

const struct resource_kind kinds_pvc = {
	.name = "persistentvolumeclaims",
	.singular = "persistentvolumeclaim",
	.aliases = aliases,
	.resource = &k8s_persistentvolumeclaims,
	.row_bytes = sizeof(struct kinds_pvc),
	.project = project,
	.drop = drop,
	.list_kind = "PersistentVolumeClaimList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = NAMESPACE,
	.screen = (const int[]){ NAMESPACE, NAME, STATUS, CAPACITY, SANDBOX, CLASS, MODES,
		VOLUME, AGE, RESOURCE_NONE },
	.table = (const int[]){ NAMESPACE, NAME, STATUS, CAPACITY, SANDBOX, CLASS, AGE,
		RESOURCE_NONE },
	.wide = (const int[]){ NAMESPACE, NAME, STATUS, CAPACITY, SANDBOX, CLASS, MODES, VOLUME,
		AGE, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, CAPACITY, RESOURCE_NONE },
	.sections = sections,
	.relations = relations,
	.actions = actions,
};
