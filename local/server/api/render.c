// SPDX-License-Identifier: Apache-2.0
/* Objects to bytes. The common case, a whole object as it is stored, copies its text. */
#include "local/server/api/render.h"

#include "engine/base/json.h"
#include "engine/base/str.h"
#include "local/server/server.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void api_render_init(
	struct api_render *v, const struct store_resource *r, const struct api_request *req)
{
	v->r = r;
	v->accept = req->accept;
	v->include_object = api_request_query(req, "includeObject");
	v->has_columns_sent = false;
}

static void move_item(cJSON *from, const char *from_key, cJSON *to, const char *to_key)
{
	cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(from, from_key);
	if (item)
		cJSON_AddItemToObject(to, to_key, item);
}

static const char *const event_names[][2] = { /* core/v1, events.k8s.io/v1 */
	{ "metadata", "metadata" }, { "eventTime", "eventTime" }, { "series", "series" },
	{ "reportingComponent", "reportingController" },
	{ "reportingInstance", "reportingInstance" }, { "action", "action" },
	{ "reason", "reason" }, { "involvedObject", "regarding" }, { "related", "related" },
	{ "message", "note" }, { "type", "type" }, { "source", "deprecatedSource" },
	{ "firstTimestamp", "deprecatedFirstTimestamp" },
	{ "lastTimestamp", "deprecatedLastTimestamp" }, { "count", "deprecatedCount" }
};

static cJSON *rename_event(cJSON *from, int from_column, const char *api_version)
{
	cJSON *to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "apiVersion", api_version);
	cJSON_AddStringToObject(to, "kind", "Event");
	for (size_t i = 0; i < sizeof event_names / sizeof event_names[0]; i++)
		move_item(
			from, event_names[i][from_column], to, event_names[i][1 - from_column]);
	cJSON_Delete(from);
	return to;
}

cJSON *api_events_view(const cJSON *core)
{
	return rename_event(cJSON_Duplicate(core, true), 0, "events.k8s.io/v1");
}

cJSON *api_events_from_view_take(cJSON *view)
{
	return rename_event(view, 1, "v1");
}

cJSON *api_render_tree(
	const struct store_resource *r, const struct store_object *o, bool *owned)
{
	*owned = r->is_view;
	return r->is_view ? api_events_view(o->json) : o->json;
}

static void add_tree(struct evbuffer *out, const cJSON *tree)
{
	char *text = cJSON_PrintUnformatted(tree);
	if (!text)
		abort();
	evbuffer_add(out, text, strlen(text));
	free(text);
}

static cJSON *metadata_only(const cJSON *tree)
{
	cJSON *partial = cJSON_CreateObject();
	cJSON_AddStringToObject(partial, "kind", "PartialObjectMetadata");
	cJSON_AddStringToObject(partial, "apiVersion", "meta.k8s.io/v1");
	cJSON_AddItemToObject(
		partial, "metadata", cJSON_Duplicate(json_get(tree, "metadata", NULL), true));
	return partial;
}

static cJSON *table_new(struct api_render *v, int64_t rv, bool with_columns)
{
	char text[24];
	cJSON *table = cJSON_CreateObject();
	cJSON_AddStringToObject(table, "kind", "Table");
	cJSON_AddStringToObject(table, "apiVersion", "meta.k8s.io/v1");
	cJSON *metadata = cJSON_AddObjectToObject(table, "metadata");
	snprintf(text, sizeof text, "%lld", (long long)rv);
	cJSON_AddStringToObject(metadata, "resourceVersion", text);
	if (!with_columns) {
		cJSON_AddNullToObject(table, "columnDefinitions");
		return table;
	}
	cJSON *columns = cJSON_AddArrayToObject(table, "columnDefinitions");
	for (size_t i = 0; i < v->r->n_columns; i++) {
		const struct store_column *c = &v->r->columns[i];
		cJSON *column = cJSON_CreateObject();
		cJSON_AddStringToObject(column, "name", c->name);
		cJSON_AddStringToObject(column, "type", c->type);
		cJSON_AddStringToObject(
			column, "format", strcmp(c->name, "Name") == 0 ? "name" : "");
		cJSON_AddStringToObject(column, "description", c->description);
		cJSON_AddNumberToObject(column, "priority", c->priority);
		cJSON_AddItemToArray(columns, column);
	}
	return table;
}

/* Cells are made from the stored form; the object shown beside them from the view. */
static cJSON *table_row(struct api_render *v, const struct store_object *o)
{
	cJSON *row = cJSON_CreateObject();
	cJSON *cells = cJSON_AddArrayToObject(row, "cells");
	bool owned;
	for (size_t i = 0; i < v->r->n_columns; i++)
		store_column_add(&v->r->columns[i], o->json, cells);
	if (v->include_object && strcmp(v->include_object, "None") == 0)
		return row;
	cJSON *tree = api_render_tree(v->r, o, &owned);
	bool whole = v->include_object && strcmp(v->include_object, "Object") == 0;
	cJSON_AddItemToObject(
		row, "object", whole ? cJSON_Duplicate(tree, true) : metadata_only(tree));
	if (owned)
		cJSON_Delete(tree);
	return row;
}

void api_render_one(struct api_render *v, const struct store_object *o, struct evbuffer *out)
{
	cJSON *tree;
	bool owned;
	if (v->accept == ACCEPT_TABLE) {
		tree = table_new(v, o->rv, !v->has_columns_sent);
		v->has_columns_sent = true;
		cJSON_AddItemToArray(cJSON_AddArrayToObject(tree, "rows"), table_row(v, o));
		add_tree(out, tree);
		cJSON_Delete(tree);
		return;
	}
	if (v->accept == ACCEPT_JSON && !v->r->is_view) {
		evbuffer_add(out, o->text, o->text_n);
		return;
	}
	tree = api_render_tree(v->r, o, &owned);
	if (v->accept == ACCEPT_METADATA) {
		cJSON *partial = metadata_only(tree);
		add_tree(out, partial);
		cJSON_Delete(partial);
	} else {
		add_tree(out, tree);
	}
	if (owned)
		cJSON_Delete(tree);
}

static cJSON *list_metadata(const struct api_render_list_meta *meta)
{
	char text[24];
	cJSON *metadata = cJSON_CreateObject();
	snprintf(text, sizeof text, "%lld", (long long)meta->rv);
	cJSON_AddStringToObject(metadata, "resourceVersion", text);
	if (meta->continue_token)
		cJSON_AddStringToObject(metadata, "continue", meta->continue_token);
	if (meta->remaining >= 0)
		cJSON_AddNumberToObject(
			metadata, "remainingItemCount", (double)meta->remaining);
	return metadata;
}

void api_render_list(struct api_render *v, struct store_object **list, size_t n,
	const struct api_render_list_meta *meta, struct evbuffer *out)
{
	char version[K8S_API_VERSION_BYTES];
	cJSON *metadata = list_metadata(meta);
	if (v->accept == ACCEPT_TABLE) {
		cJSON *table = table_new(v, meta->rv, true);
		cJSON_ReplaceItemInObjectCaseSensitive(table, "metadata", metadata);
		cJSON *rows = cJSON_AddArrayToObject(table, "rows");
		for (size_t i = 0; i < n; i++)
			cJSON_AddItemToArray(rows, table_row(v, list[i]));
		add_tree(out, table);
		cJSON_Delete(table);
		return;
	}
	if (v->accept == ACCEPT_METADATA)
		evbuffer_add_printf(out,
			"{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\"");
	else
		evbuffer_add_printf(out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\"",
			v->r->api->kind, k8s_api_version(v->r->api, version));
	evbuffer_add_printf(out, ",\"metadata\":");
	add_tree(out, metadata);
	cJSON_Delete(metadata);
	evbuffer_add_printf(out, ",\"items\":[");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			evbuffer_add(out, ",", 1);
		api_render_one(v, list[i], out);
	}
	evbuffer_add(out, "]}\n", 3);
}

void api_render_bookmark(
	struct api_render *v, int64_t rv, bool ends_initial, struct evbuffer *out)
{
	char version[K8S_API_VERSION_BYTES], number[24];
	cJSON *bookmark = cJSON_CreateObject();
	bool is_partial = v->accept == ACCEPT_METADATA;
	snprintf(number, sizeof number, "%lld", (long long)rv);
	cJSON_AddStringToObject(
		bookmark, "kind", is_partial ? "PartialObjectMetadata" : v->r->api->kind);
	cJSON_AddStringToObject(bookmark, "apiVersion",
		is_partial ? "meta.k8s.io/v1" : k8s_api_version(v->r->api, version));
	cJSON *metadata = cJSON_AddObjectToObject(bookmark, "metadata");
	cJSON_AddStringToObject(metadata, "resourceVersion", number);
	cJSON_AddNullToObject(metadata, "creationTimestamp");
	if (ends_initial)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(metadata, "annotations"),
			"k8s.io/initial-events-end", "true");
	if (v->accept == ACCEPT_TABLE) {
		cJSON *table = table_new(v, rv, !v->has_columns_sent);
		v->has_columns_sent = true;
		cJSON *row = cJSON_CreateObject();
		cJSON *cells = cJSON_AddArrayToObject(row, "cells");
		for (size_t i = 0; i < v->r->n_columns; i++)
			cJSON_AddItemToArray(cells, cJSON_CreateString(""));
		cJSON_AddItemToObject(row, "object", bookmark);
		cJSON_AddItemToArray(cJSON_AddArrayToObject(table, "rows"), row);
		bookmark = table;
	}
	add_tree(out, bookmark);
	cJSON_Delete(bookmark);
}

/* What was just written and does not hold here is said, as an API server warns. */
static void warn_of_policy(struct api_request *req, const struct store_object *o)
{
	struct str text;
	if (req->method == EVHTTP_REQ_GET || o->kind != KIND_TEMPLATE ||
		!json_get(o->json, "spec", "networkPolicy", NULL))
		return;
	str_init(&text, 512);
	str_addf(&text, "spec.networkPolicy: kept, not enforced by the local backend: %s",
		server_network_words(req->server));
	cJSON_AddItemToArray(req->warnings, cJSON_CreateString(text.p));
	str_deinit(&text);
}

void api_reply_object(struct api_request *req, const struct store_resource *r, int code,
	const struct store_object *o)
{
	warn_of_policy(req, o);
	struct api_render view;
	struct evbuffer *out = evbuffer_new();
	api_render_init(&view, r, req);
	api_render_one(&view, o, out);
	evbuffer_add(out, "\n", 1);
	api_request_reply_buffer(req, code, out);
	evbuffer_free(out);
}
