// SPDX-License-Identifier: Apache-2.0
#include "engine/object.h"

#include "engine/base/json.h"
#include "engine/base/yaml.h"
#include "engine/internal.h"
#include "engine/k8s/mask.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"

size_t engine_row_objects(const struct engine *engine, const char *uid,
	struct engine_object_id out[ENGINE_ROW_OBJECTS_MAX])
{
	const struct fleet_row *row = engine->fleet ? fleet_find(engine->fleet, uid) : NULL;
	size_t n = 0;
	if (!row)
		return 0;
	const struct engine_object_id all[] = {
		{ &k8s_sandboxclaims, row->namespace_, row->claim, "claim" },
		{ &k8s_sandboxes, row->namespace_, row->sandbox, "sandbox" },
		{ &k8s_pods, row->namespace_, row->pod, "pod" },
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i].name[0])
			out[n++] = all[i];
	return n;
}

struct engine_object_id engine_kind_object(
	const struct resource_kind *kind, const char *namespace_, const char *name)
{
	return (struct engine_object_id){ kind->resource, namespace_, name, kind->singular };
}

struct engine_object_call *engine_object_read(struct engine *engine,
	const struct engine_object_id *id, engine_object_fn *done, void *arg, struct err *err)
{
	char *path = kube_path(id->resource, id->namespace_, id->name, NULL);
	const struct kube_call_opts opts = { .method = "GET", .path = path };
	struct engine_object_call *call =
		engine_object_call_start(engine, &opts, done, arg, err);
	free(path);
	return call;
}

bool engine_object_may_verb(struct engine *engine, const struct engine_object_id *id,
	const char *verb, const char *subresource, struct err *err)
{
	const struct access_attributes about = { verb, id->resource->group,
		id->resource->plural, subresource };
	return engine_may_verb(engine, &about, id->namespace_, err);
}

struct podlog *engine_podlog_start(
	struct engine *engine, const struct podlog_opts *opts, struct err *err)
{
	if (engine->kube)
		return podlog_start(engine->kube, opts, err);
	err_set(err, ERR_OP_UNSUPPORTED, "there is no cluster behind a direct URL");
	return NULL;
}

/* As kubectl shows them, whatever order the server has. */
static void put_in_order(cJSON *object)
{
	static const char *const first[] = { "metadata", "kind", "apiVersion" };
	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
		cJSON *field = cJSON_DetachItemFromObjectCaseSensitive(object, first[i]);
		if (field && !object->child)
			cJSON_AddItemToObject(object, first[i], field);
		else if (field)
			cJSON_InsertItemInArray(object, 0, field);
	}
}

size_t engine_object_yaml(
	const cJSON *object, const struct engine_yaml_opts *opts, struct str *out)
{
	cJSON *shown = cJSON_Duplicate(object, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(shown, "metadata");
	size_t n;
	put_in_order(shown);
	if (!opts->has_managed_fields)
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	if (opts->has_secrets) {
		cJSON *masked = cJSON_Duplicate(shown, true);
		n = k8s_mask(masked);
		cJSON_Delete(masked);
	} else {
		n = k8s_mask(shown);
	}
	yaml_format(shown, out);
	cJSON_Delete(shown);
	return n;
}
