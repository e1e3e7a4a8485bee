// SPDX-License-Identifier: Apache-2.0
/* One TCP connection to a port of a pod through the API server: a WebSocket for each (Kubernetes
 * pods/portforward). The user holds the other end of a socket pair; no listening socket is ever
 * opened, so nobody else on the machine can ride it. Needs the verbs get and create on pods/portforward.
 *
 * Wire: portforward_wire.h. Flow control is TCP's: a reader that stops stops the API server's socket.
 * Errors: ERR_CONFIG_KUBECONFIG, ERR_KUBE_TLS, ERR_KUBE_TRANSPORT, ERR_PORTFWD_LOST, ERR_PORTFWD_PROTOCOL,
 * ERR_PORTFWD_REFUSED. */
#pragma once

#include <stdint.h>

struct err;
struct kube_client;
struct kube_portforward;

struct kube_portforward_opts {
	const char *namespace_, *pod; /* copied */
	uint16_t port;
	/* Once, when the connection is over, before the user's end sees its close. err NULL: closed in order.
	 * Errors: ERR_PORTFWD_DENIED, ERR_PORTFWD_NO_POD, ERR_PORTFWD_REFUSED, ERR_PORTFWD_LOST, ERR_PORTFWD_PROTOCOL,
	 * ERR_KUBE_TRANSPORT, ERR_KUBE_TLS, ERR_CONFIG_EXEC_PLUGIN.
	 * Free it later (loop_defer), not from inside. */
	void (*on_closed)(void *arg, const struct err *err);
	void *arg;
};
/* Takes over fd on success: a connected stream socket whose other end is the user's. Errors: ERR_CONFIG_KUBECONFIG (the
 * server's URL). */
struct kube_portforward *kube_portforward_open(struct kube_client *client,
	const struct kube_portforward_opts *opts, int fd_take, struct err *err);
void kube_portforward_free(struct kube_portforward *forward); /* the user's end sees a close */
