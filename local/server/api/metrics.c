// SPDX-License-Identifier: Apache-2.0
/* metrics.k8s.io/v1beta1 as metrics-server answers it (k8s.io/metrics): PodMetrics and NodeMetrics, made of the kubelet's
 * samples. Beside cpu and memory a pod's usage has ephemeral-storage, the bytes of its workspace, once they were counted.
 * What has no sample yet is left out of lists and is not found by name. */
#include "local/server/api/api.h"

#include "engine/base/json.h"
#include "engine/k8s/status.h"
#include "engine/k8s/time.h"
#include "local/server/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct k8s_resource pod_metrics = { .group = "metrics.k8s.io",
	.version = "v1beta1",
	.plural = "podmetrics",
	.kind = "PodMetrics",
	.is_namespaced = true };
static const struct k8s_resource node_metrics = { .group = "metrics.k8s.io",
	.version = "v1beta1",
	.plural = "nodemetrics",
	.kind = "NodeMetrics" };

static void add_number(cJSON *usage, const char *key, uint64_t value, const char *unit)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64 "%s", value, unit);
	cJSON_AddStringToObject(usage, key, text);
}

static cJSON *usage_of(const struct store_sample *sample)
{
	cJSON *usage = cJSON_CreateObject();
	add_number(usage, "cpu", sample->cpu_nano, "n");
	add_number(usage, "memory", sample->memory_bytes / 1024, "Ki");
	if (sample->has_disk)
		add_number(usage, "ephemeral-storage", sample->disk_bytes, "");
	return usage;
}

/* Kind, metadata and window; the caller adds the usage. */
static cJSON *metrics_of(const struct k8s_resource *r, const struct store_object *about,
	const struct store_sample *sample)
{
	char text[CLOCK_RFC3339_BYTES], window[32];
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "kind", r->kind);
	cJSON_AddStringToObject(out, "apiVersion", "metrics.k8s.io/v1beta1");
	cJSON *metadata = cJSON_AddObjectToObject(out, "metadata");
	cJSON_AddStringToObject(metadata, "name", about->name);
	if (r->is_namespaced)
		cJSON_AddStringToObject(metadata, "namespace", about->ns);
	cJSON_AddStringToObject(metadata, "creationTimestamp", k8s_time_now(K8S_TIME, text));
	const cJSON *labels = json_get(about->json, "metadata", "labels", NULL);
	if (labels)
		cJSON_AddItemToObject(metadata, "labels", cJSON_Duplicate(labels, true));
	cJSON_AddStringToObject(
		out, "timestamp", k8s_time_format(sample->at_ns, K8S_TIME, text));
	snprintf(window, sizeof window, "%" PRId64 ".%03ds", sample->window_ms / 1000,
		(int)(sample->window_ms % 1000));
	cJSON_AddStringToObject(out, "window", window);
	return out;
}

/* NULL: no sample. */
static cJSON *of_pod(const struct server *s, const struct store_object *pod)
{
	const struct store_sample *sample = store_samples_get(&s->samples, pod->uid);
	const cJSON *first = json_get(pod->json, "spec", "containers", NULL);
	const char *name = json_str(first ? first->child : NULL, "name", NULL);
	if (!sample)
		return NULL;
	cJSON *out = metrics_of(&pod_metrics, pod, sample);
	cJSON *container = cJSON_CreateObject();
	cJSON_AddStringToObject(container, "name", name ? name : "sandbox");
	cJSON_AddItemToObject(container, "usage", usage_of(sample));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(out, "containers"), container);
	return out;
}

static cJSON *of_node(const struct server *s, const struct store_object *node)
{
	const struct store_sample *sample = store_samples_get(&s->samples, "");
	if (!sample || strcmp(node->name, STORE_NODE_NAME) != 0)
		return NULL;
	cJSON *out = metrics_of(&node_metrics, node, sample);
	cJSON_AddItemToObject(out, "usage", usage_of(sample));
	return out;
}

static void reply_list(struct api_request *req, const struct k8s_resource *r,
	enum store_kind kind, const char *ns)
{
	struct server *s = req->server;
	struct api_filter filter;
	cJSON *status = NULL;
	char kind_name[40];
	if (!api_filter_init(&filter, req, store_resource_of(kind), &status)) {
		api_request_fail_take(req, status);
		return;
	}
	cJSON *out = cJSON_CreateObject();
	snprintf(kind_name, sizeof kind_name, "%sList", r->kind);
	cJSON_AddStringToObject(out, "kind", kind_name);
	cJSON_AddStringToObject(out, "apiVersion", "metrics.k8s.io/v1beta1");
	cJSON_AddObjectToObject(out, "metadata");
	cJSON *items = cJSON_AddArrayToObject(out, "items");
	for (size_t i = 0; i < store_count(s->store, kind); i++) {
		const struct store_object *o = store_at(s->store, kind, i);
		if ((ns && strcmp(o->ns, ns) != 0) || !api_filter_matches(&filter, o))
			continue;
		cJSON *item = kind == KIND_POD ? of_pod(s, o) : of_node(s, o);
		if (item)
			cJSON_AddItemToArray(items, item);
	}
	api_filter_deinit(&filter);
	api_request_reply_json_take(req, 200, out);
}

static void reply_one(struct api_request *req, const struct k8s_resource *r,
	enum store_kind kind, const char *ns, const char *name)
{
	struct server *s = req->server;
	char both[600];
	const struct store_object *o = store_get(s->store, kind, ns, name);
	cJSON *out = o == NULL ? NULL : kind == KIND_POD ? of_pod(s, o) : of_node(s, o);
	if (out) {
		api_request_reply_json_take(req, 200, out);
		return;
	}
	snprintf(both, sizeof both, "%s%s%s", ns, *ns ? "/" : "", name);
	api_request_fail_take(req, k8s_status_not_found(r, both));
}

void api_metrics(struct api_request *req, char **seg, size_t n)
{
	const char *ns = NULL;
	if (n >= 3 && strcmp(seg[0], "namespaces") == 0) {
		ns = seg[1];
		seg += 2;
		n -= 2;
	}
	bool is_pods = n >= 1 && strcmp(seg[0], "pods") == 0;
	bool is_nodes = n >= 1 && strcmp(seg[0], "nodes") == 0 && !ns;
	const struct k8s_resource *r = is_pods ? &pod_metrics : &node_metrics;
	enum store_kind kind = is_pods ? KIND_POD : KIND_NODE;
	if (n > 2 || !(is_pods || is_nodes) || (is_pods && n == 2 && !ns))
		api_request_reply_not_served(req);
	else if (req->method != EVHTTP_REQ_GET || api_request_query_bool(req, "watch"))
		api_request_fail_take(
			req, k8s_status_new(K8S_METHOD_NOT_ALLOWED,
				     "the server does not allow this method on the requested"
				     " resource"));
	else if (req->accept == ACCEPT_NONE)
		api_request_fail_take(
			req, k8s_status_new(K8S_NOT_ACCEPTABLE,
				     "only the following media types are accepted:"
				     " application/json"));
	else if (n == 2)
		reply_one(req, r, kind, ns ? ns : "", seg[1]);
	else
		reply_list(req, r, kind, ns);
}
