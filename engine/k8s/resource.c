// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/resource.h"

#include <stdio.h>

#define ROW(name, group_, version_, plural_, kind_, namespaced)                                \
	const struct k8s_resource k8s_##name = { .group = group_,                              \
		.version = version_,                                                           \
		.plural = plural_,                                                             \
		.kind = kind_,                                                                 \
		.is_namespaced = namespaced };

ROW(sandboxclaims, K8S_GROUP_EXTENSIONS, "v1beta1", "sandboxclaims", "SandboxClaim", true)
ROW(sandboxes, K8S_GROUP_AGENTS, "v1beta1", "sandboxes", "Sandbox", true)
ROW(sandboxtemplates, K8S_GROUP_EXTENSIONS, "v1beta1", "sandboxtemplates", "SandboxTemplate",
	true)
ROW(sandboxwarmpools, K8S_GROUP_EXTENSIONS, "v1beta1", "sandboxwarmpools", "SandboxWarmPool",
	true)
ROW(pods, "", "v1", "pods", "Pod", true)
ROW(events, "", "v1", "events", "Event", true)
ROW(events_events, "events.k8s.io", "v1", "events", "Event", true)
ROW(services, "", "v1", "services", "Service", true)
ROW(persistentvolumeclaims, "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true)
ROW(namespaces, "", "v1", "namespaces", "Namespace", false)
ROW(nodes, "", "v1", "nodes", "Node", false)
ROW(leases, "coordination.k8s.io", "v1", "leases", "Lease", true)
ROW(networkpolicies, "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true)
ROW(endpointslices, "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true)
ROW(selfsubjectaccessreviews, "authorization.k8s.io", "v1", "selfsubjectaccessreviews",
	"SelfSubjectAccessReview", false)
ROW(podmetrics, "metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true)
ROW(gateways, "gateway.networking.k8s.io", "v1", "gateways", "Gateway", true)

const char *k8s_api_version(
	const struct k8s_resource *resource, char out[K8S_API_VERSION_BYTES])
{
	snprintf(out, K8S_API_VERSION_BYTES, "%s%s%s", resource->group,
		resource->group[0] ? "/" : "", resource->version);
	return out;
}
