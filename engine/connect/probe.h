// SPDX-License-Identifier: Apache-2.0
/* The probe: one GET of a SandboxTemplate (or, name NULL, a list of one): settles reachability, the credential, and whether
 * the namespace holds what a create needs. */
#pragma once

#include "engine/connect/connectivity.h"

struct connect_probe;
struct kube_client;

/* done, once. reason: "healthy", "auth", "not-served", "transport", "backend" (the words of the client references); err
 * NULL if healthy. Errors: kube.*, ERR_CONFIG_EXEC_PLUGIN, ERR_OP_TIMEOUT, ERR_TEMPLATE_NOT_FOUND; ERR_PORTFWD_RUNTIME: a
 * template that runs under gVisor or Kata cannot be reached by port-forward. */
struct connect_probe *connect_probe_start(struct kube_client *kube, enum connect_mode mode,
	const char *namespace_, const char *template_name,
	void (*done)(void *arg, const struct err *err, const char *reason), void *arg,
	struct err *err);
void connect_probe_cancel(struct connect_probe *probe);
