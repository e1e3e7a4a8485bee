// SPDX-License-Identifier: Apache-2.0
/* The address of a Gateway (gateway.networking.k8s.io/v1), kept by a watch that begins when it is first asked for.
 * Whoever connects asks again and again until there is one: see locate in engine/runtime/runtime.h.
 * Errors: ERR_CONN_LOST. */
#pragma once

#include <stdbool.h>

struct connect_gateway;
struct err;
struct kube_client;
struct str;

/* on_lost: what went by its address is lost (ERR_CONN_LOST: it has another one, ERR_GATEWAY_DELETED). */
struct connect_gateway *connect_gateway_new(struct kube_client *kube, const char *name,
	const char *namespace_, const char *scheme,
	void (*on_lost)(void *arg, const struct err *why), void *arg);
void connect_gateway_free(struct connect_gateway *gateway);
/* runtime_opts.locate, arg: the gateway. Errors: ERR_GATEWAY_NO_ADDRESS (not yet), ERR_GATEWAY_DELETED, or why it cannot be
 * read (kube.*). */
bool connect_gateway_locate(void *arg, struct str *url, struct err *err);
