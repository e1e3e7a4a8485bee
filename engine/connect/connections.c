// SPDX-License-Identifier: Apache-2.0
/* A runtime per sandbox in use, each tied to the pod it was made for.
 *
 *   engine_runtime(uid) ── row ─ address by connectivity ─ lane {runtime, tunnels}, kept while pod uid and address stay
 *   fleet change ── pod moved or gone: the lane retires, its runtime is invalidated with the reason
 */
#include "engine/internal.h"

#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/kube/portforward.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DAEMON_REST_PORT = 8080, /* sandboxd's defaults: --rest-port, --grpc-port */
	DAEMON_GRPC_PORT = 9090,
	LEGACY_PORT = 8888, /* of the Python runtime */
};

/* One tunnelled connection of a lane. */
struct engine_tunnel {
	struct engine_connection *lane;
	struct kube_portforward *forward;
	bool is_closed; /* freed by the next sweep */
	struct engine_tunnel *prev, *next;
};

static bool lane_connect(void *arg, uint16_t port, int fd_take, struct err *err);
static void lane_explain(void *arg, struct err *err);

static struct runtime_opts common_opts(
	const struct engine *engine, const struct fleet_row *row, const char *label)
{
	enum runtime_kind kind = engine_connectivity_runtime(engine, row);
	bool takes_token = kind == RUNTIME_SANDBOXD && !engine_connectivity_is_routed(engine);
	return (struct runtime_opts){
		.kind = kind,
		.required_version = engine->runtime_version,
		.token = takes_token ? engine->token : NULL,
		.allow_plaintext_token = engine->allow_plaintext_token,
		.label = label,
		.telemetry = engine->telemetry,
		.read_only = engine->read_only,
	};
}

struct runtime *engine_make_direct(struct engine *engine, const char *rest_url,
	const char *grpc_host, uint16_t grpc_port, const char *label, struct err *err)
{
	struct runtime_opts opts = common_opts(engine, NULL, label);
	opts.rest_url = rest_url;
	opts.grpc_host = grpc_host;
	opts.grpc_port = grpc_port;
	return runtime_new(engine->loop, engine->http, &opts, err);
}

/* Through a sandbox-router: files alone, for gRPC does not pass it. */
static struct runtime *make_routed(struct engine *engine, const struct fleet_row *row,
	struct engine_connection *lane, struct runtime_opts *opts, uint16_t port,
	struct err *err)
{
	const struct runtime_router router = {
		.sandbox = row->sandbox,
		.namespace_ = row->namespace_,
		.port = port,
		.pod_ip = engine->no_pod_ip_header ? NULL : row->pod_ip,
		.uid = row->sandbox_uid,
		.token = engine->router_token,
	};
	opts->router = &router;
	opts->rest_url = engine->router_url;
	if (engine->router_service != NULL) {
		lane->router = engine_router_of(engine, row->namespace_);
		opts->locate = engine_router_locate;
		opts->locate_arg = lane->router;
		opts->connect = lane_connect;
		opts->connect_arg = lane;
	}
	if (engine->gateway != NULL) {
		opts->locate = engine_gateway_locate;
		opts->locate_arg = engine->gateway;
		opts->connect_timeout_ms = setting_get(SETTING_GATEWAY_TIMEOUT);
	}
	return runtime_new(engine->loop, engine->http, opts, err);
}

/* The token of one pod's daemon. A UID comes from the API server and goes into a path: only what UIDs are made of. */
static char *read_pod_token(
	const struct engine *engine, const struct fleet_row *row, struct err *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	const char *at = strstr(engine->token_of_pod, ENGINE_TOKEN_POD);
	if (row->pod_uid[0] == '\0' || strspn(row->pod_uid, letters) != strlen(row->pod_uid)) {
		bool is_read = fleet_is_listed(engine->fleet, FLEET_PODS);
		err_set(err, ERR_SANDBOX_NOT_READY,
			is_read ? "sandbox %s has no pod yet"
				: "the pod of sandbox %s has not been read yet",
			row->sandbox);
		return NULL;
	}
	char *path = x_asprintf("%.*s%s%s", (int)(at - engine->token_of_pod),
		engine->token_of_pod, row->pod_uid, at + strlen(ENGINE_TOKEN_POD));
	char *token = engine_read_token(path, "daemon", err);
	free(path);
	return token;
}

static bool lane_find_token(void *arg, char **token, struct err *err)
{
	const struct engine_connection *lane = arg;
	const struct fleet_row *row = fleet_find(lane->engine->fleet, lane->uid);
	if (row == NULL)
		return err_set(err, ERR_SANDBOX_DELETED, "the sandbox was deleted");
	*token = read_pod_token(lane->engine, row, err);
	return *token != NULL;
}

/* Tunnelled, or dialled at the pod or its Service. */
static struct runtime *make_runtime(struct engine *engine, const struct fleet_row *row,
	struct engine_connection *lane, struct err *err)
{
	struct runtime_opts opts =
		common_opts(engine, row, row->claim[0] ? row->claim : row->sandbox);
	bool is_legacy = opts.kind == RUNTIME_LEGACY;
	bool is_tunnel = lane->mode == ENGINE_PORT_FORWARD;
	uint16_t port = is_legacy ? LEGACY_PORT : DAEMON_REST_PORT;
	opts.explain = lane_explain;
	opts.explain_arg = lane;
	if (lane->mode == engine->connectivity && engine_connectivity_is_routed(engine))
		return make_routed(engine, row, lane, &opts, port, err);
	char *pod_token = NULL;
	if (engine->token_of_pod != NULL && !is_legacy && row->pod_uid[0] == '\0') {
		/* the row is Ready a moment before its pod has been listed */
		opts.find_token = lane_find_token;
		opts.find_token_arg = lane;
	} else if (engine->token_of_pod != NULL && !is_legacy) {
		pod_token = read_pod_token(engine, row, err);
		if (pod_token == NULL)
			return NULL;
		opts.token = pod_token;
	}
	const char *host =
		is_tunnel ? "127.0.0.1" : lane->address; /* of a tunnel: only a name */
	char *rest =
		x_asprintf(strchr(host, ':') ? "http://[%s]:%d" : "http://%s:%d", host, port);
	opts.connect = is_tunnel ? lane_connect : NULL;
	opts.connect_arg = lane;
	opts.rest_url = rest;
	opts.grpc_host = is_legacy ? NULL : host;
	opts.grpc_port = is_legacy ? 0 : DAEMON_GRPC_PORT;
	struct runtime *runtime = runtime_new(engine->loop, engine->http, &opts, err);
	x_free_secret(pod_token);
	free(rest);
	return runtime;
}

static void tunnel_free(struct engine_tunnel *tunnel)
{
	DL_DELETE(tunnel->lane->tunnels, tunnel);
	kube_portforward_free(tunnel->forward);
	free(tunnel);
}

static void lane_free(struct engine_connection *lane)
{
	runtime_close(lane->runtime);
	runtime_unref(lane->runtime);
	while (lane->tunnels != NULL)
		tunnel_free(lane->tunnels);
	free(lane->address);
	free(lane->namespace_);
	free(lane);
}

/* A runtime class whose workload does not listen in the pod's host-side network namespace. */
bool engine_is_other_kernel(const char *runtime_class)
{
	return strstr(runtime_class, "gvisor") || strstr(runtime_class, "runsc") ||
	       strstr(runtime_class, "kata");
}

/* The pod to tunnel to; its name is the Sandbox's where the pods cannot be read. Borrowed. */
static const char *row_tunnel_pod(const struct fleet_row *row, struct err *err)
{
	if (!engine_is_other_kernel(row->runtime_class))
		return row->pod[0] ? row->pod : row->sandbox;
	err_set(err, ERR_PORTFWD_RUNTIME,
		"sandbox %s runs under %s, where a port-forward cannot reach the daemon",
		row->sandbox, row->runtime_class);
	return NULL;
}

/* The address of a row by the chosen mode; exactly one, no mode falls back to another. Borrowed. */
static const char *row_address(
	enum engine_connectivity mode, const struct fleet_row *row, struct err *err)
{
	if (row->state == FLEET_SUSPENDED || row->state == FLEET_SUSPENDING) {
		err_set(err, ERR_SANDBOX_SUSPENDED, "sandbox %s is suspended", row->sandbox);
		return NULL;
	}
	if (row->sandbox[0] == '\0') {
		err_set(err, ERR_SANDBOX_NOT_READY, "claim %s has no sandbox yet", row->claim);
		return NULL;
	}
	switch (mode) {
	case ENGINE_PORT_FORWARD:
		return row_tunnel_pod(row, err);
	case ENGINE_IN_CLUSTER_POD_IP:
		if (row->pod_ip[0] != '\0')
			return row->pod_ip;
		err_set(err, ERR_SANDBOX_NO_ADDRESS, "sandbox %s has no pod IP", row->sandbox);
		return NULL;
	case ENGINE_IN_CLUSTER_SERVICE:
		if (row->service_fqdn[0] != '\0')
			return row->service_fqdn;
		err_set(err, ERR_SANDBOX_NO_SERVICE, "sandbox %s has no Service", row->sandbox);
		return NULL;
	default: /* the router finds it */
		return row->sandbox;
	}
}

static void sweep_lane(struct engine_connection *lane)
{
	struct engine_tunnel *tunnel, *after;
	DL_FOREACH_SAFE(lane->tunnels, tunnel, after)
		if (tunnel->is_closed)
			tunnel_free(tunnel);
}

static void on_sweep(void *arg)
{
	struct engine *engine = arg;
	struct engine_connection *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after)
		sweep_lane(lane);
	for (lane = engine->retired; lane != NULL; lane = lane->next)
		sweep_lane(lane);
}

static void on_tunnel_closed(void *arg, const struct err *err)
{
	struct engine_tunnel *tunnel = arg;
	struct runtime *runtime = tunnel->lane->runtime;
	/* While it is connecting, a refusal may be a daemon that still starts: the health poll goes on. The rest
	 * is told to every call in flight, with the tunnel's own words. */
	bool is_starting = runtime_state_of(runtime) == RUNTIME_CONNECTING;
	if (err != NULL && !(is_starting && err_retry(err) == ERR_RETRY_SAME))
		runtime_invalidate(runtime, err);
	tunnel->is_closed = true;
	net_loop_timer_arm(tunnel->lane->engine->sweep, 0);
}

static bool lane_connect(void *arg, uint16_t port, int fd_take, struct err *err)
{
	struct engine_connection *lane = arg;
	if (lane->is_retired)
		return err_set(err, ERR_SANDBOX_MOVED, "the pod is gone");
	const char *namespace_ = lane->namespace_, *pod = lane->address;
	if (lane->router != NULL && !engine_router_pod(lane->router, &namespace_, &pod, &port))
		return err_set(err, ERR_ROUTER_BACKEND, "the router has no ready pod");
	struct engine_tunnel *tunnel = x_calloc(1, sizeof *tunnel);
	tunnel->lane = lane;
	const struct kube_portforward_opts opts = {
		.namespace_ = namespace_,
		.pod = pod,
		.port = port,
		.on_closed = on_tunnel_closed,
		.arg = tunnel,
	};
	tunnel->forward = kube_portforward_open(lane->engine->kube, &opts, fd_take, err);
	if (tunnel->forward == NULL) {
		free(tunnel);
		return false;
	}
	DL_APPEND(lane->tunnels, tunnel);
	return true;
}

/* A process that ended with its pod: what the fleet knows of that pod is the reason. */
static void lane_explain(void *arg, struct err *err)
{
	const struct engine_connection *lane = arg;
	const struct fleet_row *row = fleet_find(lane->engine->fleet, lane->uid);
	if (row == NULL)
		err_set(err, ERR_SANDBOX_DELETED, "the sandbox was deleted");
	else if (row->pod_uid[0] && lane->pod_uid[0] &&
		 strcmp(row->pod_uid, lane->pod_uid) != 0)
		err_set(err, ERR_SANDBOX_MOVED, "the pod of sandbox %s was replaced",
			row->sandbox);
	else if (row->is_pod_ending)
		err_set(err, ERR_PROC_LOST, "the pod of sandbox %s was deleted", row->sandbox);
	else if (err->code != ERR_NONE && row->why[0] != '\0')
		err_set(err, ERR_PROC_LOST, "the connection to sandbox %s is lost: %s",
			row->sandbox, row->why);
}

static void retire(struct engine *engine, struct engine_connection *lane, const struct err *why)
{
	HASH_DEL(engine->lanes, lane);
	lane->is_retired = true;
	lane->next = engine->retired;
	engine->retired = lane;
	runtime_invalidate(lane->runtime, why);
}

static struct engine_connection *make_lane(struct engine *engine, const struct fleet_row *row,
	enum engine_connectivity mode, struct err *err)
{
	const char *address = row_address(mode, row, err);
	if (address == NULL)
		return NULL;
	struct engine_connection *lane = x_calloc(1, sizeof *lane);
	lane->engine = engine;
	lane->mode = mode;
	memcpy(lane->uid, row->uid, sizeof lane->uid);
	memcpy(lane->pod_uid, row->pod_uid, sizeof lane->pod_uid);
	lane->address = x_strdup(address);
	lane->namespace_ = x_strdup(row->namespace_);
	lane->runtime = make_runtime(engine, row, lane, err);
	if (lane->runtime == NULL) {
		lane_free(lane);
		return NULL;
	}
	return lane;
}

struct runtime *engine_connections_try(
	struct engine *engine, const char *uid, enum engine_connectivity mode, struct err *err)
{
	const struct fleet_row *row = fleet_find(engine->fleet, uid);
	if (row == NULL) {
		err_set(err, ERR_SANDBOX_NOT_FOUND, "the sandbox is gone");
		return NULL;
	}
	struct engine_connection *lane = make_lane(engine, row, mode, err);
	if (lane == NULL)
		return NULL;
	lane->next = engine->retired; /* so that nobody else finds it */
	engine->retired = lane;
	return lane->runtime;
}

/* False: the fleet looks elsewhere, or has not listed yet, so that a missing row means nothing. */
static bool is_watched(const struct engine *engine, const struct engine_connection *lane)
{
	return fleet_is_synced(engine->fleet) &&
	       (engine->namespace_[0] == '\0' ||
		       strcmp(engine->namespace_, lane->namespace_) == 0);
}

struct runtime *engine_runtime(struct engine *engine, const char *uid, struct err *err)
{
	if (uid == NULL || engine->fleet == NULL) {
		if (engine->direct == NULL)
			err_set(err, ERR_ARG_INVALID, "no sandbox named");
		return engine->direct;
	}
	const struct fleet_row *row = fleet_find(engine->fleet, uid);
	struct engine_connection *lane;
	HASH_FIND_STR(engine->lanes, uid, lane);
	if (row == NULL && lane != NULL && !is_watched(engine, lane))
		return lane->runtime;
	if (row == NULL) {
		err_set(err, ERR_SANDBOX_NOT_FOUND, "the sandbox is gone");
		return NULL;
	}
	if (lane != NULL)
		return row_address(lane->mode, row, err) ? lane->runtime : NULL;
	lane = make_lane(engine, row, engine->connectivity, err);
	if (lane == NULL)
		return NULL;
	HASH_ADD_STR(engine->lanes, uid, lane);
	return lane->runtime;
}

void engine_connections_invalidate(struct engine *engine, const struct err *why)
{
	struct engine_connection *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after)
		runtime_invalidate(lane->runtime, why);
}

void engine_connections_check(struct engine *engine)
{
	struct engine_connection *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after) {
		const struct fleet_row *row = fleet_find(engine->fleet, lane->uid);
		struct err why = { 0 };
		if (row == NULL && !is_watched(engine, lane))
			continue;
		if (row == NULL) {
			err_set(&why, ERR_SANDBOX_DELETED, "the sandbox was deleted");
			retire(engine, lane, &why);
			continue;
		}
		if (lane->pod_uid[0] == '\0')
			memcpy(lane->pod_uid, row->pod_uid, sizeof lane->pod_uid);
		bool is_same_pod =
			row->pod_uid[0] == '\0' || strcmp(row->pod_uid, lane->pod_uid) == 0;
		const char *address = row_address(lane->mode, row, &why);
		if (address != NULL && is_same_pod && strcmp(address, lane->address) == 0)
			continue;
		/* a pod being replaced has no address for a moment: not a reason by itself */
		if (address == NULL && why.code == ERR_SANDBOX_NO_ADDRESS && is_same_pod)
			continue;
		if (address != NULL)
			err_set(&why, ERR_SANDBOX_MOVED, "the pod of sandbox %s was replaced",
				row->sandbox);
		retire(engine, lane, &why);
	}
}

void engine_connections_init(struct engine *engine)
{
	engine->sweep = net_loop_timer_new(engine->loop, on_sweep, engine);
}

size_t engine_connections_killing(const struct engine *engine)
{
	size_t n = 0;
	for (const struct engine_connection *lane = engine->lanes; lane != NULL;
		lane = lane->hh.next)
		n += lane->runtime != NULL ? runtime_n_killing(lane->runtime) : 0;
	return n;
}

void engine_connections_deinit(struct engine *engine)
{
	struct engine_connection *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after) {
		HASH_DEL(engine->lanes, lane);
		lane_free(lane);
	}
	while (engine->retired != NULL) {
		lane = engine->retired;
		engine->retired = lane->next;
		lane_free(lane);
	}
	net_loop_timer_free(engine->sweep);
}
