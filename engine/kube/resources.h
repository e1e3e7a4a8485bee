// SPDX-License-Identifier: Apache-2.0
/* The resources that sandmux reads or writes (Agent Sandbox v1beta1, Kubernetes core). */
#pragma once

#include "engine/kube/client.h"

extern const struct kube_resource kube_sandboxclaims;
extern const struct kube_resource kube_sandboxes;
extern const struct kube_resource kube_sandboxtemplates;
extern const struct kube_resource kube_sandboxwarmpools;
extern const struct kube_resource kube_pods;
extern const struct kube_resource kube_events; /* core/v1 view */
extern const struct kube_resource kube_services;
extern const struct kube_resource kube_namespaces;
extern const struct kube_resource kube_leases;
extern const struct kube_resource kube_endpointslices;
extern const struct kube_resource kube_gateways; /* gateway.networking.k8s.io/v1 */
