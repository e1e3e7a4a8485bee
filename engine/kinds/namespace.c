// SPDX-License-Identifier: Apache-2.0
/* Namespaces (core/v1 Namespace): where to look. */
#include "engine/base/json.h"
#include "engine/k8s/resource.h"
#include "engine/kinds/object.h"

#include <string.h>

enum kinds_namespace_column { UID, NAME, STATUS, CREATED, AGE, COLUMN_COUNT };

struct kinds_namespace {
	struct kinds_object object; /* first */
	const char *status;
};

static void project(void *row, const cJSON *object, int64_t skew_ms)
{
	struct kinds_namespace *namespace_ = row;
	(void)skew_ms;
	kinds_text_set(&namespace_->status, kinds_text_at(object, "status.phase"));
}

static void drop(void *row)
{
	kinds_text_drop(&((struct kinds_namespace *)row)->status);
}

KINDS_TEXT_COLUMN(kinds_namespace, status)

static enum resource_tone status_tone(const void *row)
{
	return strcmp(status(row).text, "Active") == 0 ? RESOURCE_GOOD : RESOURCE_GONE;
}

static const struct resource_column columns[COLUMN_COUNT] = {
	[UID] = KINDS_COLUMN_UID,
	[NAME] = KINDS_COLUMN_NAME,
	[STATUS] = { .title = "STATUS",
		.name = "status",
		.field = "status",
		.cols = 11,
		.rank = 1,
		.is_searched = true,
		.value = status,
		.tone = status_tone },
	[CREATED] = KINDS_COLUMN_CREATED,
	[AGE] = KINDS_COLUMN_AGE,
};

const struct resource_kind kinds_namespaces = {
	.name = "namespaces",
	.singular = "namespace",
	.aliases = (const char *const[]){ "ns", NULL },
	.resource = &k8s_namespaces,
	.row_bytes = sizeof(struct kinds_namespace),
	.project = project,
	.drop = drop,
	.list_kind = "NamespaceList",
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.labels = kinds_labels,
	.name_column = NAME,
	.namespace_column = RESOURCE_NONE,
	.screen = (const int[]){ NAME, STATUS, AGE, RESOURCE_NONE },
	.table = (const int[]){ NAME, STATUS, AGE, RESOURCE_NONE },
	.wide = (const int[]){ NAME, STATUS, AGE, RESOURCE_NONE },
	.brief = (const int[]){ STATUS, RESOURCE_NONE },
};
