// SPDX-License-Identifier: Apache-2.0
/* What this server serves, in the plain and the aggregated form, from the resource table. */
#include "local/server/api/api.h"

#include <stdio.h>
#include <string.h>

#ifndef SANDMUX_VERSION
#define SANDMUX_VERSION "0"
#endif

static const char *const verbs[] = { "create", "delete", "deletecollection", "get", "list",
	"patch", "update", "watch" };

static void add_strings(cJSON *o, const char *key, const char *const *v, size_t n)
{
	cJSON_AddItemToObject(o, key, cJSON_CreateStringArray(v, (int)n));
}

/* The n-th different group of the table, in its order; NULL after the last. */
static const struct store_resource *nth_group(size_t n)
{
	for (size_t i = 0; i < store_resource_count; i++) {
		bool seen = false;
		for (size_t j = 0; j < i; j++)
			seen = seen || strcmp(store_resource_table[i].api->group,
					       store_resource_table[j].api->group) == 0;
		if (!seen && n-- == 0)
			return &store_resource_table[i];
	}
	return NULL;
}

/* Groups that only have reviews in them. */
static const struct {
	const char *group, *kind, *plural;
} reviews[] = {
	{ "authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews" },
	{ "authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews" },
	{ "authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews" },
};
enum { REVIEW_COUNT = sizeof reviews / sizeof reviews[0] };
static const char *const review_groups[] = { "authorization.k8s.io", "authentication.k8s.io" };

/* ---- plain ---- */

static void add_names(cJSON *entry, const struct store_resource *r)
{
	if (r->short_name)
		add_strings(entry, "shortNames", &r->short_name, 1);
	if (r->category)
		add_strings(entry, "categories", &r->category, 1);
}

static void plain_resource(cJSON *list, const struct store_resource *r, const char *sub)
{
	static const char *const status_verbs[] = { "get", "patch", "update" };
	char name[128];
	cJSON *entry = cJSON_CreateObject();
	bool is_scale = sub && strcmp(sub, "scale") == 0;
	snprintf(name, sizeof name, "%s%s%s", r->api->plural, sub ? "/" : "", sub ? sub : "");
	cJSON_AddStringToObject(entry, "name", name);
	cJSON_AddStringToObject(entry, "singularName", sub ? "" : r->singular);
	cJSON_AddBoolToObject(entry, "namespaced", r->api->is_namespaced);
	if (is_scale) {
		cJSON_AddStringToObject(entry, "group", "autoscaling");
		cJSON_AddStringToObject(entry, "version", "v1");
	}
	cJSON_AddStringToObject(entry, "kind", is_scale ? "Scale" : r->api->kind);
	if (!sub) {
		add_strings(entry, "verbs", verbs, sizeof verbs / sizeof verbs[0]);
		add_names(entry, r);
	} else if (strcmp(sub, "log") == 0) {
		add_strings(entry, "verbs", status_verbs, 1);
	} else {
		add_strings(entry, "verbs", status_verbs, 3);
	}
	cJSON_AddItemToArray(list, entry);
}

static void plain_review(cJSON *list, size_t i)
{
	static const char *const create[] = { "create" };
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddStringToObject(entry, "name", reviews[i].plural);
	cJSON_AddStringToObject(entry, "singularName", "");
	cJSON_AddBoolToObject(entry, "namespaced", false);
	cJSON_AddStringToObject(entry, "kind", reviews[i].kind);
	add_strings(entry, "verbs", create, 1);
	cJSON_AddItemToArray(list, entry);
}

void api_discovery_version(struct api_request *req, const char *group, const char *version)
{
	char text[K8S_API_VERSION_BYTES];
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", "APIResourceList");
	cJSON_AddStringToObject(out, "apiVersion", "v1");
	snprintf(text, sizeof text, "%s%s%s", group, *group ? "/" : "", version);
	cJSON_AddStringToObject(out, "groupVersion", text);
	cJSON *list = cJSON_AddArrayToObject(out, "resources");
	for (size_t i = 0; i < store_resource_count; i++) {
		const struct store_resource *r = &store_resource_table[i];
		if (strcmp(r->api->group, group) != 0 || strcmp(r->api->version, version) != 0)
			continue;
		plain_resource(list, r, NULL);
		if (r->kind == KIND_POD)
			plain_resource(list, r, "log");
		if (r->has_status)
			plain_resource(list, r, "status");
		if (r->has_scale)
			plain_resource(list, r, "scale");
	}
	for (size_t i = 0; i < REVIEW_COUNT && strcmp(version, "v1") == 0; i++)
		if (strcmp(reviews[i].group, group) == 0)
			plain_review(list, i);
	if (list->child) {
		api_request_reply_json_take(req, 200, out);
		return;
	}
	cJSON_Delete(out);
	api_request_reply_not_served(req);
}

static cJSON *plain_group(const char *group, const char *version)
{
	char text[K8S_API_VERSION_BYTES];
	cJSON *out = cJSON_CreateObject(), *v = cJSON_CreateObject();
	snprintf(text, sizeof text, "%s/%s", group, version);
	cJSON_AddStringToObject(out, "name", group);
	cJSON_AddStringToObject(v, "groupVersion", text);
	cJSON_AddStringToObject(v, "version", version);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(out, "versions"), v);
	cJSON_AddItemToObject(out, "preferredVersion", cJSON_Duplicate(v, true));
	return out;
}

/* Version of a served group, or NULL. */
static const char *version_of(const char *group)
{
	for (size_t i = 0; i < store_resource_count; i++)
		if (strcmp(store_resource_table[i].api->group, group) == 0)
			return store_resource_table[i].api->version;
	for (size_t i = 0; i < REVIEW_COUNT; i++)
		if (strcmp(reviews[i].group, group) == 0)
			return "v1";
	return NULL;
}

void api_discovery_group(struct api_request *req, const char *group)
{
	const char *version = *group ? version_of(group) : NULL;
	if (!version) {
		api_request_reply_not_served(req);
		return;
	}
	cJSON *out = plain_group(group, version);
	cJSON_AddStringToObject(out, "kind", "APIGroup");
	cJSON_AddStringToObject(out, "apiVersion", "v1");
	api_request_reply_json_take(req, 200, out);
}

/* ---- aggregated (apidiscovery.k8s.io/v2) ---- */

static cJSON *gvk(const char *group, const char *version, const char *kind)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "group", group);
	cJSON_AddStringToObject(o, "version", version);
	cJSON_AddStringToObject(o, "kind", kind);
	return o;
}

static void aggregated_sub(
	cJSON *list, const char *sub, const char *group, const char *version, const char *kind)
{
	static const char *const v[] = { "get", "patch", "update" };
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddStringToObject(entry, "subresource", sub);
	cJSON_AddItemToObject(entry, "responseKind", gvk(group, version, kind));
	add_strings(entry, "verbs", v, strcmp(sub, "log") == 0 ? 1 : 3);
	cJSON_AddItemToArray(list, entry);
}

static cJSON *aggregated_resource(const struct store_resource *r)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddStringToObject(entry, "resource", r->api->plural);
	cJSON_AddItemToObject(
		entry, "responseKind", gvk(r->api->group, r->api->version, r->api->kind));
	cJSON_AddStringToObject(
		entry, "scope", r->api->is_namespaced ? "Namespaced" : "Cluster");
	cJSON_AddStringToObject(entry, "singularResource", r->singular);
	add_strings(entry, "verbs", verbs, sizeof verbs / sizeof verbs[0]);
	add_names(entry, r);
	cJSON *subs = cJSON_CreateArray();
	if (r->kind == KIND_POD)
		aggregated_sub(subs, "log", "", "v1", "Pod");
	if (r->has_status)
		aggregated_sub(subs, "status", r->api->group, r->api->version, r->api->kind);
	if (r->has_scale)
		aggregated_sub(subs, "scale", "autoscaling", "v1", "Scale");
	if (subs->child)
		cJSON_AddItemToObject(entry, "subresources", subs);
	else
		cJSON_Delete(subs);
	return entry;
}

static cJSON *aggregated_group(const char *group, const char *version)
{
	static const char *const create[] = { "create" };
	cJSON *item = cJSON_CreateObject(), *v = cJSON_CreateObject();
	cJSON *metadata = cJSON_AddObjectToObject(item, "metadata");
	if (*group)
		cJSON_AddStringToObject(metadata, "name", group);
	cJSON_AddNullToObject(metadata, "creationTimestamp");
	cJSON_AddStringToObject(v, "version", version);
	cJSON *list = cJSON_AddArrayToObject(v, "resources");
	for (size_t i = 0; i < store_resource_count; i++)
		if (strcmp(store_resource_table[i].api->group, group) == 0)
			cJSON_AddItemToArray(
				list, aggregated_resource(&store_resource_table[i]));
	for (size_t i = 0; i < REVIEW_COUNT; i++) {
		if (strcmp(reviews[i].group, group) != 0)
			continue;
		cJSON *entry = cJSON_CreateObject();
		cJSON_AddStringToObject(entry, "resource", reviews[i].plural);
		cJSON_AddItemToObject(
			entry, "responseKind", gvk(group, version, reviews[i].kind));
		cJSON_AddStringToObject(entry, "scope", "Cluster");
		cJSON_AddStringToObject(entry, "singularResource", "");
		add_strings(entry, "verbs", create, 1);
		cJSON_AddItemToArray(list, entry);
	}
	cJSON_AddStringToObject(v, "freshness", "Current");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(item, "versions"), v);
	return item;
}

static void aggregated(struct api_request *req, bool is_core)
{
	const struct store_resource *r;
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", "APIGroupDiscoveryList");
	cJSON_AddStringToObject(out, "apiVersion", "apidiscovery.k8s.io/v2");
	cJSON_AddObjectToObject(out, "metadata");
	cJSON *items = cJSON_AddArrayToObject(out, "items");
	for (size_t i = 0; (r = nth_group(i)) != NULL; i++)
		if (is_core == (*r->api->group == '\0'))
			cJSON_AddItemToArray(
				items, aggregated_group(r->api->group, r->api->version));
	for (size_t i = 0; !is_core && i < 2; i++)
		cJSON_AddItemToArray(items, aggregated_group(review_groups[i], "v1"));
	char *text = cJSON_PrintUnformatted(out);
	cJSON_Delete(out);
	api_request_reply_bytes(req, 200,
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", text,
		strlen(text));
	cJSON_free(text);
}

void api_discovery_api(struct api_request *req)
{
	static const char *const versions[] = { "v1" };
	if (req->accept == ACCEPT_DISCOVERY) {
		aggregated(req, true);
		return;
	}
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", "APIVersions");
	add_strings(out, "versions", versions, 1);
	cJSON *address = cJSON_CreateObject();
	cJSON_AddStringToObject(address, "clientCIDR", "0.0.0.0/0");
	const char *host = api_request_header(req, "Host");
	cJSON_AddStringToObject(address, "serverAddress", host ? host : "");
	cJSON_AddItemToArray(
		cJSON_AddArrayToObject(out, "serverAddressByClientCIDRs"), address);
	api_request_reply_json_take(req, 200, out);
}

void api_discovery_apis(struct api_request *req)
{
	const struct store_resource *r;
	if (req->accept == ACCEPT_DISCOVERY) {
		aggregated(req, false);
		return;
	}
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", "APIGroupList");
	cJSON_AddStringToObject(out, "apiVersion", "v1");
	cJSON *groups = cJSON_AddArrayToObject(out, "groups");
	for (size_t i = 0; (r = nth_group(i)) != NULL; i++)
		if (*r->api->group)
			cJSON_AddItemToArray(
				groups, plain_group(r->api->group, r->api->version));
	for (size_t i = 0; i < 2; i++)
		cJSON_AddItemToArray(groups, plain_group(review_groups[i], "v1"));
	api_request_reply_json_take(req, 200, out);
}

/* The Kubernetes version whose habits this server follows; clients compare it with their own. */
void api_version(struct api_request *req)
{
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "major", "1");
	cJSON_AddStringToObject(out, "minor", "36");
	cJSON_AddStringToObject(out, "gitVersion", "v1.36.0+sandmux-local." SANDMUX_VERSION);
	cJSON_AddStringToObject(out, "gitCommit", "");
	cJSON_AddStringToObject(out, "gitTreeState", "clean");
	cJSON_AddStringToObject(out, "buildDate", "1970-01-01T00:00:00Z");
	cJSON_AddStringToObject(out, "goVersion", "none");
	cJSON_AddStringToObject(out, "compiler", "cc");
	cJSON_AddStringToObject(out, "platform", "linux/amd64");
	api_request_reply_json_take(req, 200, out);
}
