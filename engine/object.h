// SPDX-License-Identifier: Apache-2.0
/* One object of the API, of whatever kind, as the server has it: read, and as YAML for people. Part of the one door.
 * Errors: ERR_ARG_INVALID, ERR_OP_UNSUPPORTED, those of engine/kinds.h. */
#pragma once

#include "engine/kinds.h"

struct k8s_resource;
struct str;

/* Which object. Texts are borrowed: of a row, until it changes. */
struct engine_object_id {
	const struct k8s_resource *resource;
	const char *namespace_, *name;
	const char *word; /* what people call it: "claim", "pod", "persistentvolumeclaim" */
};

/* The objects that a sandbox's row is joined from, as far as there are some: claim, Sandbox, pod. Returns how many. */
enum { ENGINE_ROW_OBJECTS_MAX = 3 };
size_t engine_row_objects(const struct engine *engine, const char *uid,
	struct engine_object_id out[ENGINE_ROW_OBJECTS_MAX]);
struct engine_object_id engine_kind_object(
	const struct resource_kind *kind, const char *namespace_, const char *name);

/* As engine_object_start(), for any of them. */
struct engine_object_call *engine_object_read(struct engine *engine,
	const struct engine_object_id *id, engine_object_fn *done, void *arg, struct err *err);
/* As engine_object_may(): a verb on that object. */
bool engine_object_may_verb(struct engine *engine, const struct engine_object_id *id,
	const char *verb, const char *subresource, struct err *err);

/* The log of a container: see engine/podlog/podlog.h. Errors: ERR_OP_UNSUPPORTED (no cluster). */
struct podlog;
struct podlog_opts;
struct podlog *engine_podlog_start(
	struct engine *engine, const struct podlog_opts *opts, struct err *err);

struct engine_yaml_opts {
	bool has_managed_fields; /* else metadata.managedFields is left out */
	bool has_secrets;        /* else they are masked, see engine/k8s/mask.h */
};
/* Adds the object as YAML. Returns how many values are masked, or would be. */
size_t engine_object_yaml(
	const struct cJSON *object, const struct engine_yaml_opts *opts, struct str *out);
