// SPDX-License-Identifier: Apache-2.0
/* The resources that the local API serves, one const row each. Discovery, routing, Table output,
 * validation and OpenAPI are all produced from these rows and schemas.json. */
#pragma once

#include "engine/k8s/resource.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* The node that all pods run on. */
#define STORE_NODE_NAME "sandmux-local"

/* What is stored, as numbers in the database: only add at the end. Two resources may show one kind: core/v1 and events.k8s.io/v1 events. */
enum store_kind {
	KIND_CLAIM,
	KIND_TEMPLATE,
	KIND_POOL,
	KIND_SANDBOX,
	KIND_POD,
	KIND_SERVICE,
	KIND_PVC,
	KIND_NAMESPACE,
	KIND_EVENT,
	KIND_LEASE,
	KIND_NODE,
	KIND_ENDPOINT_SLICE,
	KIND_COUNT,
};

/* Adds one cell to cells. */
typedef void store_column_fn(const cJSON *object, cJSON *cells);

struct store_column {
	const char *name;
	const char *type; /* string, integer, date */
	const char *description;
	int priority;          /* 0 always, 1 with -o wide */
	store_column_fn *cell; /* NULL: what is at path, */
	const char *path[3];   /* as far as it is not NULL, */
	const char *otherwise; /* or this text; NULL: "" */
};
void store_column_add(const struct store_column *column, const cJSON *object, cJSON *cells);

struct store_resource {
	enum store_kind kind;
	const struct k8s_resource *api;
	const char *singular;
	const char *short_name; /* or NULL */
	const char *category;   /* or NULL */
	const char *schema;     /* name in schemas.json */
	bool is_custom; /* rules of custom resources: generation, patch types, field selectors */
	bool has_status; /* status is a subresource */
	bool has_scale;
	bool is_view; /* events.k8s.io: converted on the way in and out */
	const struct store_column *columns;
	size_t n_columns;
};

extern const struct store_resource store_resource_table[];
extern const size_t store_resource_count;

/* NULL if it is not served. */
const struct store_resource *store_resource_find(
	const char *group, const char *version, const char *plural);
/* The row that shows a kind as it is stored. */
const struct store_resource *store_resource_of(enum store_kind kind);
/* The row for apiVersion and kind of an object or owner reference, or NULL. */
const struct store_resource *store_resource_of_object(
	const char *api_version, const char *kind_name);
/* True if the group (any version) is served. */
bool store_resource_has_group(const char *group);
