// SPDX-License-Identifier: Apache-2.0
/* The pods behind a sandbox-router's Service (EndpointSlices, discovery.k8s.io/v1), kept by a watch that begins when it is
 * first asked for. Whoever connects asks again until there is one: see locate in engine/runtime/runtime.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct connect_router;
struct err;
struct kube_client;
struct str;

struct connect_router *connect_router_new(
	struct kube_client *kube, const char *service, const char *namespace_);
void connect_router_free(struct connect_router *router);
const char *connect_router_namespace(const struct connect_router *router); /* borrowed */
/* runtime_opts.locate, arg: the router. Errors: ERR_ROUTER_BACKEND (no ready pod yet), or why it cannot be read (kube.*). */
bool connect_router_locate(void *arg, struct str *url, struct err *err);
/* The pod to carry a connection to; false: none is ready. Borrowed for this turn. */
bool connect_router_pod(struct connect_router *router, const char **namespace_,
	const char **pod, uint16_t *port);
