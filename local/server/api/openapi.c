// SPDX-License-Identifier: Apache-2.0
/* OpenAPI v3 (one document a group) and v2, made from schemas.json and the resource table: enough for
 * kubectl's explain, create and apply, and true to what this server checks. */
#include "local/server/api/api.h"

#include "engine/base/digest.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "local/server/store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *info(void)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "title", "sandmux local");
	cJSON_AddStringToObject(o, "version", SANDMUX_VERSION);
	return o;
}

static cJSON *query_parameter(const char *name, const char *type, bool is_v3)
{
	cJSON *p = cJSON_CreateObject();
	cJSON_AddStringToObject(p, "name", name);
	cJSON_AddStringToObject(p, "in", "query");
	if (is_v3)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(p, "schema"), "type", type);
	else
		cJSON_AddStringToObject(p, "type", type);
	return p;
}

static cJSON *gvk_of(const struct store_resource *r)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "group", r->api->group);
	cJSON_AddStringToObject(o, "kind", r->api->kind);
	cJSON_AddStringToObject(o, "version", r->api->version);
	return o;
}

static void add_reference(cJSON *o, const struct store_resource *r, bool is_v3)
{
	struct str ref;
	str_init(&ref, 256);
	str_addf(&ref, "%s%s", is_v3 ? "#/components/schemas/" : "#/definitions/", r->schema);
	cJSON_AddStringToObject(o, "$ref", ref.p);
	str_deinit(&ref);
}

static cJSON *operation(const struct store_resource *r, const char *action, bool is_v3)
{
	static const char *const writes[] = { "dryRun", "fieldManager", "fieldValidation" };
	cJSON *op = cJSON_CreateObject();
	cJSON *parameters = cJSON_AddArrayToObject(op, "parameters");
	bool is_write = strcmp(action, "post") == 0 || strcmp(action, "put") == 0 ||
			strcmp(action, "patch") == 0;
	for (size_t i = 0; is_write && i < 3; i++)
		cJSON_AddItemToArray(parameters, query_parameter(writes[i], "string", is_v3));
	cJSON *ok = cJSON_AddObjectToObject(cJSON_AddObjectToObject(op, "responses"), "200");
	cJSON_AddStringToObject(ok, "description", "OK");
	if (is_v3) {
		cJSON *json = cJSON_AddObjectToObject(
			cJSON_AddObjectToObject(ok, "content"), "application/json");
		add_reference(cJSON_AddObjectToObject(json, "schema"), r, true);
	} else {
		add_reference(cJSON_AddObjectToObject(ok, "schema"), r, false);
	}
	cJSON_AddStringToObject(op, "x-kubernetes-action", action);
	cJSON_AddItemToObject(op, "x-kubernetes-group-version-kind", gvk_of(r));
	return op;
}

static void add_paths(cJSON *paths, const struct store_resource *r, bool is_v3)
{
	static const char *const on_collection[] = { "get", "post", "delete" };
	static const char *const on_item[] = { "get", "put", "patch", "delete" };
	char path[256];
	int n = snprintf(path, sizeof path, "%s%s%s/%s%s/%s",
		*r->api->group ? "/apis/" : "/api", r->api->group, *r->api->group ? "" : "",
		r->api->version, r->api->is_namespaced ? "/namespaces/{namespace}" : "",
		r->api->plural);
	cJSON *collection = cJSON_AddObjectToObject(paths, path);
	for (size_t i = 0; i < 3; i++)
		cJSON_AddItemToObject(
			collection, on_collection[i], operation(r, on_collection[i], is_v3));
	snprintf(path + n, sizeof path - (size_t)n, "/{name}");
	cJSON *item = cJSON_AddObjectToObject(paths, path);
	for (size_t i = 0; i < 4; i++)
		cJSON_AddItemToObject(item, on_item[i], operation(r, on_item[i], is_v3));
}

/* Schemas reachable from name, copied into out. */
static void collect(cJSON *out, const cJSON *schema)
{
	const cJSON *field;
	cJSON_ArrayForEach(field, schema)
	{
		if (field->string && strcmp(field->string, "$ref") == 0) {
			const char *name = strrchr(field->valuestring, '/') + 1;
			if (!cJSON_HasObjectItem(out, name)) {
				const cJSON *found = store_schema_find(name);
				cJSON_AddItemToObject(out, name, cJSON_Duplicate(found, true));
				collect(out, found);
			}
		} else {
			collect(out, field);
		}
	}
}

static cJSON *document_v3(const char *group, const char *version)
{
	cJSON *doc = cJSON_CreateObject();
	cJSON_AddStringToObject(doc, "openapi", "3.0.0");
	cJSON_AddItemToObject(doc, "info", info());
	cJSON *paths = cJSON_AddObjectToObject(doc, "paths");
	cJSON *schemas =
		cJSON_AddObjectToObject(cJSON_AddObjectToObject(doc, "components"), "schemas");
	for (size_t i = 0; i < store_resource_count; i++) {
		const struct store_resource *r = &store_resource_table[i];
		if (strcmp(r->api->group, group) != 0 || strcmp(r->api->version, version) != 0)
			continue;
		const cJSON *schema = store_schema_find(r->schema);
		cJSON_AddItemToObject(schemas, r->schema, cJSON_Duplicate(schema, true));
		collect(schemas, schema);
		add_paths(paths, r, true);
	}
	return doc;
}

void api_openapi_v3_group(struct api_request *req, const char *group, const char *version)
{
	cJSON *doc = document_v3(group, version);
	if (json_get(doc, "paths", NULL)->child) {
		api_request_reply_json_take(req, 200, doc);
		return;
	}
	cJSON_Delete(doc);
	api_request_reply_not_served(req);
}

/* The index: a URL a group, with a hash so that clients can keep what they have. */
void api_openapi_v3(struct api_request *req)
{
	cJSON *out = cJSON_CreateObject();
	cJSON *paths = cJSON_AddObjectToObject(out, "paths");
	for (size_t i = 0; i < store_resource_count; i++) {
		const struct store_resource *r = &store_resource_table[i];
		char key[128];
		struct str url;
		snprintf(key, sizeof key, "%s%s/%s", *r->api->group ? "apis/" : "api",
			r->api->group, r->api->version);
		if (cJSON_HasObjectItem(paths, key))
			continue;
		cJSON *doc = document_v3(r->api->group, r->api->version);
		char *text = cJSON_PrintUnformatted(doc);
		str_init(&url, 256);
		str_addf(&url, "/openapi/v3/%s?hash=%08X", key,
			digest_fnv1a32(text, strlen(text)));
		cJSON_AddStringToObject(
			cJSON_AddObjectToObject(paths, key), "serverRelativeURL", url.p);
		str_deinit(&url);
		free(text);
		cJSON_Delete(doc);
	}
	api_request_reply_json_take(req, 200, out);
}

static void rewrite_references(cJSON *schema)
{
	cJSON *field;
	cJSON_ArrayForEach(field, schema)
	{
		if (field->string && strcmp(field->string, "$ref") == 0) {
			char *ref = x_asprintf(
				"#/definitions/%s", strrchr(field->valuestring, '/') + 1);
			cJSON_SetValuestring(field, ref);
			free(ref);
		} else {
			rewrite_references(field);
		}
	}
}

void api_openapi_v2(struct api_request *req)
{
	const char *accept = api_request_header(req, "Accept");
	if (accept && strstr(accept, "protobuf") && !strstr(accept, "application/json")) {
		/* client-go asks for protobuf alone; it goes on without this document */
		api_request_reply_text(req, 406, "only application/json is served\n");
		return;
	}
	cJSON *doc = cJSON_CreateObject();
	cJSON_AddStringToObject(doc, "swagger", "2.0");
	cJSON_AddItemToObject(doc, "info", info());
	cJSON *paths = cJSON_AddObjectToObject(doc, "paths");
	for (size_t i = 0; i < store_resource_count; i++)
		add_paths(paths, &store_resource_table[i], false);
	cJSON *definitions = cJSON_Duplicate(store_schema_all(), true);
	rewrite_references(definitions);
	cJSON_AddItemToObject(doc, "definitions", definitions);
	api_request_reply_json_take(req, 200, doc);
}
