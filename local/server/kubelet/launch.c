// SPDX-License-Identifier: Apache-2.0
/* What the daemon of a pod gets: an address, an environment, limits, a workspace and a log. */
#include "local/server/kubelet/run.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/path.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENV = 512, HOST_NAME_BYTES = 64 };
enum { MAX_ADDRESSES = 32 }; /* tried when something else listens there */

static bool is_used(struct controller *c, const char *address)
{
	struct store *s = c->server->store;
	for (size_t i = 0; i < store_count(s, KIND_POD); i++) {
		const char *ip =
			json_str(store_at(s, KIND_POD, i)->json, "status", "podIP", NULL);
		if (ip && strcmp(ip, address) == 0)
			return true;
	}
	return false;
}

/* The next free address of this backend's part of 127.64.0.0/10. An address is not given again soon, so
 * that a client with an old one does not reach a stranger. */
static void next_address(struct controller *c, char out[16])
{
	char text[16];
	const char *dir = c->server->opts.state_dir;
	uint32_t base = digest_fnv1a32(dir, strlen(dir));
	do {
		uint32_t n = c->kubelet->next_address++ % (254u * 256u);
		snprintf(out, 16, "127.%u.%u.%u", 64 + base % 128, (base / 128 + n / 254) % 256,
			1 + n % 254);
	} while (is_used(c, out));
	snprintf(text, sizeof text, "%u", c->kubelet->next_address);
	store_meta_set(c->server->store, "next-address", text, NULL);
}

/* ---- what the daemon gets ---- */

static const char *field_of(
	const struct kubelet_run *r, const struct store_object *pod, const char *path)
{
	if (!path)
		return NULL;
	if (strcmp(path, "metadata.name") == 0)
		return pod->name;
	if (strcmp(path, "metadata.namespace") == 0)
		return pod->ns;
	if (strcmp(path, "metadata.uid") == 0)
		return pod->uid;
	if (strcmp(path, "status.podIP") == 0)
		return r->address;
	if (strcmp(path, "spec.nodeName") == 0)
		return STORE_NODE_NAME;
	return NULL;
}

/* "K=V" strings of the first container; free each and the array. */
static char **make_env(const struct kubelet_run *r, const struct store_object *pod)
{
	const cJSON *v;
	size_t n = 0;
	char **env = x_calloc(MAX_ENV + 1, sizeof *env);
	cJSON_ArrayForEach(v, json_get(kubelet_pod_first_container(pod), "env", NULL))
	{
		const char *name = json_str(v, "name", NULL);
		const char *value = json_str(v, "value", NULL);
		if (!value)
			value = field_of(r, pod,
				json_str(v, "valueFrom", "fieldRef", "fieldPath", NULL));
		if (name && *name && !strchr(name, '=') && n < MAX_ENV)
			env[n++] = x_asprintf("%s=%s", name, value ? value : "");
	}
	return env;
}

static void free_env(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

static char *workspace_of(
	const struct kubelet_run *r, const struct store_object *pod, struct err *err)
{
	const struct store_object *claim = kubelet_run_workspace_claim(r, pod);
	if (claim)
		return kubelet_volumes_folder(r->c->server, "volumes", claim->uid, err);
	char *folder = kubelet_volumes_folder(r->c->server, "pods", r->uid, err);
	char *path = folder ? path_join(r->uid, "workspace") : NULL;
	free(folder);
	folder = path ? kubelet_volumes_folder(r->c->server, "pods", path, err) : NULL;
	free(path);
	return folder;
}

static bool launch_at(struct kubelet_run *r, const struct store_object *pod,
	isolation_spawn_exit_fn *on_exit, struct err *err)
{
	struct server *s = r->c->server;
	char *folder = kubelet_volumes_folder(s, "pods", r->uid, err);
	char *workspace = folder ? workspace_of(r, pod, err) : NULL;
	if (workspace && !r->log)
		r->log = kubelet_podlog_open(s, folder, err);
	char token_sha256[DIGEST_SHA256_HEX];
	if (workspace && r->log && kubelet_pod_token_hash(s, folder, token_sha256, err)) {
		char **env = make_env(r, pod);
		char host[HOST_NAME_BYTES];
		snprintf(host, sizeof host, "%s", pod->name);
		kubelet_run_limits_read(r, pod);
		struct isolation_spawn_opts opts = { .name = host,
			.uid = pod->uid,
			.workspace = workspace,
			.address = r->address,
			.rest_port = SERVER_REST_PORT,
			.grpc_port = SERVER_GRPC_PORT,
			.token_sha256 = token_sha256[0] ? token_sha256 : NULL,
			.host_uid = kubelet_pod_host_uid(s, workspace),
			.env = (const char *const *)env,
			.log_path = kubelet_podlog_path(r->log),
			.daemon_path = s->opts.sandboxd,
			.limits = r->limits.spawn,
			.mode = s->opts.is_isolated ? ISOLATION_BWRAP : ISOLATION_NONE };
		r->daemon = isolation_spawn_start(s->loop, &opts, on_exit, r, err);
		free_env(env);
	}
	if (r->daemon) {
		free(r->workspace);
		r->workspace = workspace;
	} else {
		free(workspace);
	}
	free(folder);
	return r->daemon != NULL;
}

bool kubelet_run_launch(struct kubelet_run *r, const struct store_object *pod,
	isolation_spawn_exit_fn *on_exit, struct err *err)
{
	if (!r->address[0])
		next_address(r->c, r->address);
	bool ok = launch_at(r, pod, on_exit, err);
	for (int i = 0; !ok && err->sys == EADDRINUSE && i < MAX_ADDRESSES; i++) {
		next_address(r->c, r->address);
		ok = launch_at(r, pod, on_exit, err);
	}
	return ok;
}
