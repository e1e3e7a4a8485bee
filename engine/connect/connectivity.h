// SPDX-License-Identifier: Apache-2.0
/* Which way leads to the sandboxes, and what listens in them: what was asked for, checked before anything is opened. No
 * way falls back to another, so options that contradict each other are refused here. */
#pragma once

#include "engine/runtime/runtime.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct err;
struct fleet_row;

enum connect_mode {
	CONNECT_DEFAULT, /* the context's extension, else port-forward */
	CONNECT_PORT_FORWARD,
	CONNECT_IN_CLUSTER_SERVICE,
	CONNECT_IN_CLUSTER_POD_IP,
	CONNECT_GATEWAY,
	CONNECT_ROUTER,
	CONNECT_DIRECT, /* --rest and --grpc: no cluster at all */
	CONNECT_MODE_COUNT,
};
const char *connect_mode_name(enum connect_mode mode);
bool connect_mode_parse(const char *text, enum connect_mode *out); /* not "default" */

enum connect_runtime {
	CONNECT_RUNTIME_AUTO, /* by the ports that the pod declares, else sandboxd */
	CONNECT_RUNTIME_SANDBOXD,
	CONNECT_RUNTIME_LEGACY, /* the Python runtime */
	CONNECT_RUNTIME_COUNT,
};
bool connect_runtime_parse(
	const char *text, enum connect_runtime *out); /* auto, sandboxd, legacy */

/* As given by whoever opens the engine; all borrowed. */
struct connect_opts {
	enum connect_mode mode;
	/* router, gateway: through a sandbox-router */
	const char *router_url;
	/* its Service, reached by port-forward to a ready pod; namespace NULL: the sandbox's own */
	const char *router_service, *router_namespace;
	const char *router_token_file; /* bearer token for the router's own check */
	const char *gateway, *gateway_namespace, *gateway_scheme; /* NULL: "default", "http" */
	bool no_pod_ip_header;
	enum connect_runtime runtime;
	const char *runtime_version; /* of sandboxd; another one is refused */
	/* direct */
	const char *rest_url, *grpc_address; /* HOST:PORT */
	const char *daemon_token_file;       /* bearer token for the daemon */
	bool allow_plaintext_token;
};
/* Errors: ERR_ARG_INVALID. */
bool connect_validate(const struct connect_opts *opts, struct err *err);

/* In a context's daemon-token-file it stands for the UID of the pod: one token a pod. */
#define CONNECT_TOKEN_POD "{pod-uid}"

/* What is used: the options, and the words of the context where they say nothing. */
struct connect_settings {
	enum connect_mode mode; /* never CONNECT_DEFAULT */
	enum connect_runtime runtime;
	char *runtime_version;
	char *router_url, *router_service, *router_namespace, *router_token;
	char *gateway, *gateway_namespace, *gateway_scheme;
	char *rest_url, *grpc_host; /* direct */
	uint16_t grpc_port;
	char *token;        /* of every daemon; or NULL */
	char *token_of_pod; /* a path with CONNECT_TOKEN_POD in it; or NULL */
	bool no_pod_ip_header, allow_plaintext_token;
};
/* context: its name, and extension: what it says about reaching its sandboxes (a kubeconfig extension of ours); both NULL
 * in direct mode. Errors: ERR_ARG_INVALID, ERR_CONFIG_KUBECONFIG, ERR_FILE_* and ERR_SYSTEM of a token's file. */
bool connect_settings_init(struct connect_settings *settings, const struct connect_opts *opts,
	const char *context, const struct cJSON *extension, struct err *err);
void connect_settings_deinit(struct connect_settings *settings); /* also a half-built one */
bool connect_is_direct(const struct connect_opts *opts);
bool connect_is_routed(const struct connect_settings *settings);
/* What listens in that sandbox; row NULL: the direct one. */
enum runtime_kind connect_runtime_kind(
	const struct connect_settings *settings, const struct fleet_row *row);

/* The token of a file without the blanks around it: printable ASCII without spaces, as the daemon's clients require. NULL
 * with *err (ERR_ARG_INVALID, or of the file). free(). */
char *connect_read_token(const char *path, const char *whose, struct err *err);

/* gVisor or Kata: the workload does not listen in the pod's host-side network namespace. */
bool connect_is_other_kernel(const char *runtime_class);
