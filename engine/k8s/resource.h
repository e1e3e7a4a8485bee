// SPDX-License-Identifier: Apache-2.0
/* The resources that sandmux reads, writes or serves (Agent Sandbox v1beta1, Kubernetes core), one const row each. */
#pragma once

#include <stdbool.h>

#define K8S_GROUP_AGENTS "agents.x-k8s.io"
#define K8S_GROUP_EXTENSIONS "extensions.agents.x-k8s.io"

struct k8s_resource {
	const char *group; /* "" is the core group */
	const char *version;
	const char *plural;
	const char *kind;
	bool is_namespaced;
};

extern const struct k8s_resource k8s_sandboxclaims;
extern const struct k8s_resource k8s_sandboxes;
extern const struct k8s_resource k8s_sandboxtemplates;
extern const struct k8s_resource k8s_sandboxwarmpools;
extern const struct k8s_resource k8s_pods;
extern const struct k8s_resource k8s_events; /* core/v1 view */
extern const struct k8s_resource
	k8s_events_events; /* events.k8s.io/v1 view of the same objects */
extern const struct k8s_resource k8s_services;
extern const struct k8s_resource k8s_persistentvolumeclaims;
extern const struct k8s_resource k8s_namespaces;
extern const struct k8s_resource k8s_nodes;
extern const struct k8s_resource k8s_leases;
extern const struct k8s_resource k8s_networkpolicies;
extern const struct k8s_resource k8s_endpointslices;
extern const struct k8s_resource k8s_selfsubjectaccessreviews; /* only created */
extern const struct k8s_resource k8s_podmetrics; /* metrics.k8s.io/v1beta1: served as "pods" */
extern const struct k8s_resource k8s_gateways;   /* gateway.networking.k8s.io/v1 */

enum { K8S_API_VERSION_BYTES = 96 };
/* "v1" or "group/version", in out. */
const char *k8s_api_version(
	const struct k8s_resource *resource, char out[K8S_API_VERSION_BYTES]);
