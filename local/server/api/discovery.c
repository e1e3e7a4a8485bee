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

/* What is answered without being stored. */
static const char *const verbs_create[] = { "create", NULL };
static const char *const verbs_read[] = { "get", "list", NULL };
static const struct computed {
	const char *group, *version, *kind, *plural;
	bool is_namespaced;
	const char *const *verbs;
} computed[] = {
	{ "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
		false, verbs_create },
	{ "authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews",
		false, verbs_create },
	{ "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", false,
		verbs_create },
	{ "metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes", false, verbs_read },
	{ "metrics.k8s.io", "v1beta1", "PodMetrics", "pods", true, verbs_read },
};
enum { COMPUTED_COUNT = sizeof computed / sizeof computed[0] };

/* The first row of each group, in their order; NULL after the last. */
static const struct computed *nth_computed_group(size_t n)
{
	for (size_t i = 0; i < COMPUTED_COUNT; i++)
		if ((i == 0 || strcmp(computed[i].group, computed[i - 1].group) != 0) &&
			n-- == 0)
			return &computed[i];
	return NULL;
}

static void add_verbs(cJSON *entry, const char *const *list)
{
	size_t n = 0;
	while (list[n])
		n++;
	add_strings(entry, "verbs", list, n);
}

/* Subresources of pods that are not parts of the object. */
static const char *const verbs_get[] = { "get", NULL };
static const char *const verbs_connect[] = { "create", "get", NULL };
static const struct {
	const char *name, *kind;
	const char *const *verbs;
} pod_subs[] = {
	{ "attach", "PodAttachOptions", verbs_connect },
	{ "exec", "PodExecOptions", verbs_connect },
	{ "log", "Pod", verbs_get },
	{ "portforward", "PodPortForwardOptions", verbs_connect },
};
enum { POD_SUBS = sizeof pod_subs / sizeof pod_subs[0] };

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
	} else {
		add_strings(entry, "verbs", status_verbs, 3);
	}
	cJSON_AddItemToArray(list, entry);
}

static void plain_pod_subs(cJSON *list)
{
	char name[64];
	for (size_t i = 0; i < POD_SUBS; i++) {
		cJSON *entry = cJSON_CreateObject();
		snprintf(name, sizeof name, "pods/%s", pod_subs[i].name);
		cJSON_AddStringToObject(entry, "name", name);
		cJSON_AddStringToObject(entry, "singularName", "");
		cJSON_AddBoolToObject(entry, "namespaced", true);
		cJSON_AddStringToObject(entry, "kind", pod_subs[i].kind);
		add_verbs(entry, pod_subs[i].verbs);
		cJSON_AddItemToArray(list, entry);
	}
}

static void plain_computed(cJSON *list, const struct computed *c)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddStringToObject(entry, "name", c->plural);
	cJSON_AddStringToObject(entry, "singularName", "");
	cJSON_AddBoolToObject(entry, "namespaced", c->is_namespaced);
	cJSON_AddStringToObject(entry, "kind", c->kind);
	add_verbs(entry, c->verbs);
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
			plain_pod_subs(list);
		if (r->has_status)
			plain_resource(list, r, "status");
		if (r->has_scale)
			plain_resource(list, r, "scale");
	}
	for (size_t i = 0; i < COMPUTED_COUNT; i++)
		if (strcmp(computed[i].group, group) == 0 &&
			strcmp(computed[i].version, version) == 0)
			plain_computed(list, &computed[i]);
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
	for (size_t i = 0; i < COMPUTED_COUNT; i++)
		if (strcmp(computed[i].group, group) == 0)
			return computed[i].version;
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
	add_strings(entry, "verbs", v, 3);
	cJSON_AddItemToArray(list, entry);
}

static void aggregated_pod_subs(cJSON *list)
{
	for (size_t i = 0; i < POD_SUBS; i++) {
		cJSON *entry = cJSON_CreateObject();
		cJSON_AddStringToObject(entry, "subresource", pod_subs[i].name);
		cJSON_AddItemToObject(entry, "responseKind", gvk("", "v1", pod_subs[i].kind));
		add_verbs(entry, pod_subs[i].verbs);
		cJSON_AddItemToArray(list, entry);
	}
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
		aggregated_pod_subs(subs);
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

static cJSON *aggregated_computed(const struct computed *c)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON_AddStringToObject(entry, "resource", c->plural);
	cJSON_AddItemToObject(entry, "responseKind", gvk(c->group, c->version, c->kind));
	cJSON_AddStringToObject(entry, "scope", c->is_namespaced ? "Namespaced" : "Cluster");
	cJSON_AddStringToObject(entry, "singularResource", "");
	add_verbs(entry, c->verbs);
	return entry;
}

static cJSON *aggregated_group(const char *group, const char *version)
{
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
	for (size_t i = 0; i < COMPUTED_COUNT; i++)
		if (strcmp(computed[i].group, group) == 0)
			cJSON_AddItemToArray(list, aggregated_computed(&computed[i]));
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
	const struct computed *c;
	for (size_t i = 0; !is_core && (c = nth_computed_group(i)) != NULL; i++)
		cJSON_AddItemToArray(items, aggregated_group(c->group, c->version));
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
	const struct computed *c;
	for (size_t i = 0; (c = nth_computed_group(i)) != NULL; i++)
		cJSON_AddItemToArray(groups, plain_group(c->group, c->version));
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
