// SPDX-License-Identifier: Apache-2.0
/* The table of resources and the cells of their printer columns. */
#include "local/server/store/resource.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/k8s/condition.h"
#include "engine/k8s/time.h"

#include <stdio.h>
#include <string.h>

static void add(cJSON *cells, const char *text)
{
	cJSON_AddItemToArray(cells, cJSON_CreateString(text ? text : ""));
}

static void add_age_since(cJSON *cells, const char *date)
{
	int64_t then;
	char age[CLOCK_AGE_BYTES];
	if (!k8s_time_parse(date, &then)) {
		add(cells, "<unknown>");
		return;
	}
	int64_t ms = (clock_wall_ns() - then) / 1000000;
	add(cells, clock_format_age(ms < 0 ? 0 : ms, age));
}

static void cell_age(const cJSON *o, cJSON *cells)
{
	add_age_since(cells, json_str(o, "metadata", "creationTimestamp", NULL));
}

static const cJSON *ready_condition(const cJSON *o)
{
	return k8s_condition_find(o, "Ready");
}

static void cell_ready(const cJSON *o, cJSON *cells)
{
	add(cells, json_str(ready_condition(o), "status", NULL));
}

static void cell_reason(const cJSON *o, cJSON *cells)
{
	add(cells, json_str(ready_condition(o), "reason", NULL));
}

static void cell_node_status(const cJSON *o, cJSON *cells)
{
	const char *status = json_str(ready_condition(o), "status", NULL);
	add(cells, status && strcmp(status, "True") == 0 ? "Ready" : "NotReady");
}

static void cell_pod_ready(const cJSON *o, cJSON *cells)
{
	const cJSON *c;
	int total = 0, ready = 0;
	char text[32];
	cJSON_ArrayForEach(c, json_get(o, "status", "containerStatuses", NULL))
	{
		ready += json_bool(c, false, "ready", NULL);
	}
	total = cJSON_GetArraySize(json_get(o, "spec", "containers", NULL));
	snprintf(text, sizeof text, "%d/%d", ready, total);
	add(cells, text);
}

/* As kubectl shows it: a waiting or terminated reason beats the phase. */
static void cell_pod_status(const cJSON *o, cJSON *cells)
{
	const char *text = json_str(o, "status", "phase", NULL);
	const char *reason = json_str(o, "status", "reason", NULL);
	const cJSON *c;
	if (reason)
		text = reason;
	cJSON_ArrayForEach(c, json_get(o, "status", "containerStatuses", NULL))
	{
		const char *why = json_str(c, "state", "waiting", "reason", NULL);
		if (!why)
			why = json_str(c, "state", "terminated", "reason", NULL);
		if (why)
			text = why;
	}
	if (json_str(o, "metadata", "deletionTimestamp", NULL))
		text = "Terminating";
	add(cells, text);
}

static void cell_pod_restarts(const cJSON *o, cJSON *cells)
{
	const cJSON *c;
	int64_t restarts = 0;
	char text[32];
	cJSON_ArrayForEach(c, json_get(o, "status", "containerStatuses", NULL))
	{
		restarts += json_int(c, 0, "restartCount", NULL);
	}
	snprintf(text, sizeof text, "%lld", (long long)restarts);
	add(cells, text);
}

static void cell_service_ports(const cJSON *o, cJSON *cells)
{
	const cJSON *port;
	char text[256] = "";
	size_t n = 0;
	cJSON_ArrayForEach(port, json_get(o, "spec", "ports", NULL))
	{
		const char *protocol = json_str(port, "protocol", NULL);
		int added = snprintf(text + n, sizeof text - n, "%s%lld/%.8s", n ? "," : "",
			(long long)json_int(port, 0, "port", NULL),
			protocol ? protocol : "TCP");
		if (added < 0 || (size_t)added >= sizeof text - n) {
			text[n] = '\0'; /* whole ports only */
			break;
		}
		n += (size_t)added;
	}
	add(cells, n ? text : "<none>");
}

static void cell_event_last_seen(const cJSON *o, cJSON *cells)
{
	const char *when = json_str(o, "series", "lastObservedTime", NULL);
	if (!when)
		when = json_str(o, "lastTimestamp", NULL);
	if (!when)
		when = json_str(o, "eventTime", NULL);
	if (!when)
		when = json_str(o, "metadata", "creationTimestamp", NULL);
	add_age_since(cells, when);
}

static void cell_event_object(const cJSON *o, cJSON *cells)
{
	const char *kind = json_str(o, "involvedObject", "kind", NULL);
	const char *name = json_str(o, "involvedObject", "name", NULL);
	char text[384];
	size_t i;
	snprintf(text, sizeof text, "%s/%s", kind ? kind : "", name ? name : "");
	for (i = 0; text[i] && text[i] != '/'; i++)
		if (text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] - 'A' + 'a');
	add(cells, text);
}

void store_column_add(const struct store_column *column, const cJSON *o, cJSON *cells)
{
	const char *const *path = column->path;
	if (column->cell) {
		column->cell(o, cells);
	} else if (strcmp(column->type, "integer") == 0) {
		int64_t n = json_int(o, 0, path[0], path[1], path[2], NULL);
		cJSON_AddItemToArray(cells, cJSON_CreateNumber((double)n));
	} else {
		const char *text =
			path[0] ? json_str(o, path[0], path[1], path[2], NULL) : NULL;
		add(cells, text ? text : column->otherwise);
	}
}

#define NAME                                                                                   \
	{                                                                                      \
		"Name", "string", "Name must be unique within a namespace.", 0, .path = {      \
			"metadata",                                                            \
			"name"                                                                 \
		}                                                                              \
	}
#define AGE                                                                                    \
	{                                                                                      \
		"Age", "string", "Time since the creation of the object.", 0, .cell = cell_age \
	}

static const struct store_column claim_columns[] = { NAME,
	{ "Ready", "string", "Status of the Ready condition.", 0, .cell = cell_ready },
	{ "Sandbox", "string", "The bound Sandbox.", 0,
		.path = { "status", "sandbox", "name" } },
	{ "Reason", "string", "Reason of the Ready condition.", 0, .cell = cell_reason }, AGE };
static const struct store_column template_columns[] = { NAME, AGE };
static const struct store_column pool_columns[] = { NAME,
	{ "Ready", "integer", "Sandboxes that are ready.", 0,
		.path = { "status", "readyReplicas" } },
	{ "Desired", "integer", "Sandboxes wanted.", 0, .path = { "spec", "replicas" } }, AGE };
static const struct store_column sandbox_columns[] = { NAME,
	{ "Ready", "string", "Status of the Ready condition.", 0, .cell = cell_ready },
	{ "Reason", "string", "Reason of the Ready condition.", 0, .cell = cell_reason }, AGE };
static const struct store_column pod_columns[] = { NAME,
	{ "Ready", "string", "Ready containers of all.", 0, .cell = cell_pod_ready },
	{ "Status", "string", "Phase, or the reason of a container.", 0,
		.cell = cell_pod_status },
	{ "Restarts", "string", "Restarts of all containers.", 0, .cell = cell_pod_restarts },
	AGE,
	{ "IP", "string", "Address of the pod.", 1, .path = { "status", "podIP" },
		.otherwise = "<none>" },
	{ "Node", "string", "Where it runs.", 1, .path = { "spec", "nodeName" },
		.otherwise = "<none>" },
	{ "Nominated Node", "string", "Always none.", 1, .otherwise = "<none>" },
	{ "Readiness Gates", "string", "Always none.", 1, .otherwise = "<none>" } };
static const struct store_column service_columns[] = { NAME,
	{ "Type", "string", "Type of the service.", 0, .path = { "spec", "type" },
		.otherwise = "ClusterIP" },
	{ "Cluster-IP", "string", "Cluster address.", 0, .path = { "spec", "clusterIP" },
		.otherwise = "<none>" },
	{ "External-IP", "string", "Always none.", 0, .otherwise = "<none>" },
	{ "Port(s)", "string", "Ports.", 0, .cell = cell_service_ports }, AGE };
static const struct store_column pvc_columns[] = { NAME,
	{ "Status", "string", "Phase.", 0, .path = { "status", "phase" } },
	{ "Volume", "string", "Folder that backs it.", 0, .path = { "spec", "volumeName" } },
	{ "Capacity", "string", "Size asked for.", 0,
		.path = { "status", "capacity", "storage" } },
	AGE };
static const struct store_column namespace_columns[] = { NAME,
	{ "Status", "string", "Phase.", 0, .path = { "status", "phase" } }, AGE };
static const struct store_column event_columns[] = { { "Last Seen", "string",
							     "Age of the last occurrence.", 0,
							     .cell = cell_event_last_seen },
	{ "Type", "string", "Normal or Warning.", 0, .path = { "type" } },
	{ "Reason", "string", "Why.", 0, .path = { "reason" } },
	{ "Object", "string", "What it is about.", 0, .cell = cell_event_object },
	{ "Message", "string", "In words.", 0, .path = { "message" } },
	{ "Name", "string", "Name of the event.", 1, .path = { "metadata", "name" } } };
static const struct store_column node_columns[] = { NAME,
	{ "Status", "string", "Ready: this backend runs.", 0, .cell = cell_node_status },
	{ "Roles", "string", "Always none.", 0, .otherwise = "<none>" }, AGE,
	{ "Version", "string", "Of the node.", 0,
		.path = { "status", "nodeInfo", "kubeletVersion" } },
	{ "OS-Image", "string", "System of this machine.", 1,
		.path = { "status", "nodeInfo", "osImage" } },
	{ "Kernel-Version", "string", "Kernel of this machine.", 1,
		.path = { "status", "nodeInfo", "kernelVersion" } },
	{ "Container-Runtime", "string", "What makes sandboxes.", 1,
		.path = { "status", "nodeInfo", "containerRuntimeVersion" } } };
static const struct store_column slice_columns[] = { NAME,
	{ "AddressType", "string", "Type of the addresses.", 0, .path = { "addressType" } },
	AGE };
static const struct store_column lease_columns[] = { NAME,
	{ "Holder", "string", "Who holds it.", 0, .path = { "spec", "holderIdentity" } }, AGE };

#define COLUMNS(c) .columns = c, .n_columns = sizeof c / sizeof c[0]

const struct store_resource store_resource_table[] = {
	{ KIND_NAMESPACE, &k8s_namespaces, "namespace", "ns", NULL, "Namespace",
		COLUMNS(namespace_columns) },
	{ KIND_POD, &k8s_pods, "pod", "po", "all", "Pod", .has_status = true,
		COLUMNS(pod_columns) },
	{ KIND_SERVICE, &k8s_services, "service", "svc", "all", "Service",
		COLUMNS(service_columns) },
	{ KIND_PVC, &k8s_persistentvolumeclaims, "persistentvolumeclaim", "pvc", NULL,
		"PersistentVolumeClaim", COLUMNS(pvc_columns) },
	{ KIND_EVENT, &k8s_events, "event", "ev", NULL, "Event", COLUMNS(event_columns) },
	{ KIND_SANDBOX, &k8s_sandboxes, "sandbox", "sandbox", "all", "Sandbox",
		.is_custom = true, .has_status = true, COLUMNS(sandbox_columns) },
	{ KIND_CLAIM, &k8s_sandboxclaims, "sandboxclaim", "sandboxclaim", "all", "SandboxClaim",
		.is_custom = true, .has_status = true, COLUMNS(claim_columns) },
	{ KIND_TEMPLATE, &k8s_sandboxtemplates, "sandboxtemplate", "sandboxtemplate", "all",
		"SandboxTemplate", .is_custom = true, COLUMNS(template_columns) },
	{ KIND_POOL, &k8s_sandboxwarmpools, "sandboxwarmpool", "swp", "all", "SandboxWarmPool",
		.is_custom = true, .has_status = true, .has_scale = true,
		COLUMNS(pool_columns) },
	{ KIND_NODE, &k8s_nodes, "node", "no", NULL, "Node", .has_status = true,
		COLUMNS(node_columns) },
	{ KIND_ENDPOINT_SLICE, &k8s_endpointslices, "endpointslice", NULL, NULL,
		"EndpointSlice", COLUMNS(slice_columns) },
	{ KIND_LEASE, &k8s_leases, "lease", NULL, NULL, "Lease", COLUMNS(lease_columns) },
	{ KIND_EVENT, &k8s_events_events, "event", "ev", NULL, "EventsV1Event", .is_view = true,
		COLUMNS(event_columns) },
};
const size_t store_resource_count =
	sizeof store_resource_table / sizeof store_resource_table[0];

const struct store_resource *store_resource_find(
	const char *group, const char *version, const char *plural)
{
	for (size_t i = 0; i < store_resource_count; i++) {
		const struct store_resource *r = &store_resource_table[i];
		if (strcmp(r->api->group, group) == 0 &&
			strcmp(r->api->version, version) == 0 &&
			strcmp(r->api->plural, plural) == 0)
			return r;
	}
	return NULL;
}

const struct store_resource *store_resource_of(enum store_kind kind)
{
	for (size_t i = 0; i < store_resource_count; i++)
		if (store_resource_table[i].kind == kind && !store_resource_table[i].is_view)
			return &store_resource_table[i];
	return NULL;
}

const struct store_resource *store_resource_of_object(
	const char *api_version, const char *kind_name)
{
	char text[K8S_API_VERSION_BYTES];
	for (size_t i = 0; i < store_resource_count; i++)
		if (strcmp(store_resource_table[i].api->kind, kind_name) == 0 &&
			strcmp(k8s_api_version(store_resource_table[i].api, text),
				api_version) == 0)
			return &store_resource_table[i];
	return NULL;
}

bool store_resource_has_group(const char *group)
{
	for (size_t i = 0; i < store_resource_count; i++)
		if (strcmp(store_resource_table[i].api->group, group) == 0)
			return true;
	return false;
}
