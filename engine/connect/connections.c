// SPDX-License-Identifier: Apache-2.0
/*   connect_get(uid) ── row ─ address by mode ─ connection {runtime, tunnels}, kept while pod uid and address stay
 *   fleet change ── pod moved or gone: its runtime is retired with the reason, and our reference to it goes
 *   the last reference ── runtime_opts.release ── the connection and its tunnels go
 */
#include "engine/connect/internal.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/connect/gateway.h"
#include "engine/connect/router.h"
#include "engine/fleet/fleet.h"
#include "engine/kube/portforward.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One tunnelled connection of a connection. */
struct connect_tunnel {
	struct connect_connection *connection;
	struct kube_portforward *forward;
	bool is_closed; /* freed by the next sweep */
	struct connect_tunnel *prev, *next;
};

static bool on_connect(void *arg, uint16_t port, int fd_take, struct err *err);
static void on_explain(void *arg, struct err *err);
static void on_release(void *arg);

static struct runtime_opts common_opts(
	const struct connect *connect, const struct fleet_row *row, const char *label)
{
	const struct connect_settings *settings = &connect->settings;
	enum runtime_kind kind = connect_runtime_kind(settings, row);
	bool takes_token = kind == RUNTIME_SANDBOXD && !connect_is_routed(settings);
	return (struct runtime_opts){
		.kind = kind,
		.required_version = settings->runtime_version,
		.token = takes_token ? settings->token : NULL,
		.allow_plaintext_token = settings->allow_plaintext_token,
		.label = label,
		.telemetry = connect->parts.telemetry,
		.read_only = connect->parts.read_only,
	};
}

static struct runtime *open_runtime(
	const struct connect *connect, const struct runtime_opts *opts, struct err *err)
{
	return runtime_new(connect->parts.loop, connect->parts.http, opts, err);
}

static struct connect_router *router_of(struct connect *connect, const char *namespace_)
{
	const struct connect_settings *settings = &connect->settings;
	const char *where =
		settings->router_namespace ? settings->router_namespace : namespace_;
	struct connect_routers *at = connect->routers;
	while (at != NULL && strcmp(connect_router_namespace(at->router), where) != 0)
		at = at->next;
	if (at != NULL)
		return at->router;
	at = x_calloc(1, sizeof *at);
	at->router = connect_router_new(connect->parts.kube, settings->router_service, where);
	LL_PREPEND(connect->routers, at);
	return at->router;
}

/* Through a sandbox-router: files alone, for gRPC does not pass it. */
static struct runtime *make_routed(const struct fleet_row *row,
	struct connect_connection *connection, struct runtime_opts *opts, uint16_t port,
	struct err *err)
{
	struct connect *connect = connection->connect;
	const struct connect_settings *settings = &connect->settings;
	const struct runtime_router router = {
		.sandbox = row->sandbox,
		.namespace_ = row->namespace_,
		.port = port,
		.pod_ip = settings->no_pod_ip_header ? NULL : row->pod_ip,
		.uid = row->sandbox_uid,
		.token = settings->router_token,
	};
	opts->router = &router;
	opts->rest_url = settings->router_url;
	if (settings->router_service != NULL) {
		connection->router = router_of(connect, row->namespace_);
		opts->locate = connect_router_locate;
		opts->locate_arg = connection->router;
		opts->connect = on_connect;
		opts->connect_arg = connection;
	}
	if (connect->gateway != NULL) {
		opts->locate = connect_gateway_locate;
		opts->locate_arg = connect->gateway;
		opts->connect_timeout_ms = setting_get(SETTING_GATEWAY_TIMEOUT);
	}
	return open_runtime(connect, opts, err);
}

/* The token of one pod's daemon. A UID comes from the API server and goes into a path: only what UIDs are made of. */
static char *read_pod_token(
	const struct connect *connect, const struct fleet_row *row, struct err *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	const char *at = strstr(connect->settings.token_of_pod, CONNECT_TOKEN_POD);
	if (row->pod_uid[0] == '\0' || strspn(row->pod_uid, letters) != strlen(row->pod_uid)) {
		bool is_read = fleet_is_listed(connect->fleet, FLEET_PODS);
		err_set(err, ERR_SANDBOX_NOT_READY,
			is_read ? "sandbox %s has no pod yet"
				: "the pod of sandbox %s has not been read yet",
			row->sandbox);
		return NULL;
	}
	char *path = x_asprintf("%.*s%s%s", (int)(at - connect->settings.token_of_pod),
		connect->settings.token_of_pod, row->pod_uid, at + strlen(CONNECT_TOKEN_POD));
	char *token = connect_read_token(path, "daemon", err);
	free(path);
	return token;
}

static bool on_find_token(void *arg, char **token, struct err *err)
{
	const struct connect_connection *connection = arg;
	const struct fleet_row *row = fleet_find(connection->connect->fleet, connection->uid);
	if (row == NULL)
		return err_set(err, ERR_SANDBOX_DELETED, "the sandbox was deleted");
	*token = read_pod_token(connection->connect, row, err);
	return *token != NULL;
}

/* Tunnelled, or dialled at the pod or its Service. */
static struct runtime *make_runtime(
	const struct fleet_row *row, struct connect_connection *connection, struct err *err)
{
	const struct connect *connect = connection->connect;
	struct runtime_opts opts =
		common_opts(connect, row, row->claim[0] ? row->claim : row->sandbox);
	bool is_legacy = opts.kind == RUNTIME_LEGACY;
	bool is_tunnel = connection->mode == CONNECT_PORT_FORWARD;
	uint16_t port = (uint16_t)setting_get(
		is_legacy ? SETTING_LEGACY_PORT : SETTING_SANDBOXD_REST_PORT);
	opts.explain = on_explain;
	opts.explain_arg = connection;
	opts.release = on_release;
	opts.release_arg = connection;
	if (connection->mode == connect->settings.mode && connect_is_routed(&connect->settings))
		return make_routed(row, connection, &opts, port, err);
	char *pod_token = NULL;
	if (connect->settings.token_of_pod != NULL && !is_legacy && row->pod_uid[0] == '\0') {
		/* the row is Ready a moment before its pod has been listed */
		opts.find_token = on_find_token;
		opts.find_token_arg = connection;
	} else if (connect->settings.token_of_pod != NULL && !is_legacy) {
		pod_token = read_pod_token(connect, row, err);
		if (pod_token == NULL)
			return NULL;
		opts.token = pod_token;
	}
	const char *host =
		is_tunnel ? "127.0.0.1" : connection->address; /* of a tunnel: only a name */
	char *rest =
		x_asprintf(strchr(host, ':') ? "http://[%s]:%d" : "http://%s:%d", host, port);
	opts.connect = is_tunnel ? on_connect : NULL;
	opts.connect_arg = connection;
	opts.rest_url = rest;
	opts.grpc_host = is_legacy ? NULL : host;
	opts.grpc_port = is_legacy ? 0 : (uint16_t)setting_get(SETTING_SANDBOXD_GRPC_PORT);
	struct runtime *runtime = open_runtime(connect, &opts, err);
	x_free_secret(pod_token);
	free(rest);
	return runtime;
}

static void tunnel_free(struct connect_tunnel *tunnel)
{
	DL_DELETE(tunnel->connection->tunnels, tunnel);
	kube_portforward_free(tunnel->forward);
	free(tunnel);
}

static void connection_free(struct connect_connection *connection)
{
	while (connection->tunnels != NULL)
		tunnel_free(connection->tunnels);
	net_loop_timer_free(connection->sweep);
	free(connection->address);
	free(connection->namespace_);
	free(connection);
}

static void on_release(void *arg)
{
	struct connect_connection *connection = arg;
	DL_DELETE(connection->connect->all, connection);
	connection_free(connection);
}

/* The pod to tunnel to; its name is the Sandbox's where the pods cannot be read. Borrowed. */
static const char *row_tunnel_pod(const struct fleet_row *row, struct err *err)
{
	if (!connect_is_other_kernel(row->runtime_class))
		return row->pod[0] ? row->pod : row->sandbox;
	err_set(err, ERR_PORTFWD_RUNTIME,
		"sandbox %s runs under %s, where a port-forward cannot reach the daemon",
		row->sandbox, row->runtime_class);
	return NULL;
}

/* The address of a row by the chosen mode; exactly one, no mode falls back to another. Borrowed. */
static const char *row_address(
	enum connect_mode mode, const struct fleet_row *row, struct err *err)
{
	char because[FLEET_BECAUSE_BYTES];
	if (row->state == FLEET_SUSPENDED || row->state == FLEET_SUSPENDING) {
		err_set(err, ERR_SANDBOX_SUSPENDED, "sandbox %s is suspended", row->sandbox);
		return NULL;
	}
	if (row->sandbox[0] == '\0') {
		err_set(err, ERR_SANDBOX_NOT_READY, "claim %s has no sandbox yet%s", row->claim,
			fleet_row_because(row, because));
		return NULL;
	}
	switch (mode) {
	case CONNECT_PORT_FORWARD:
		return row_tunnel_pod(row, err);
	case CONNECT_IN_CLUSTER_POD_IP:
		if (row->pod_ip[0] != '\0')
			return row->pod_ip;
		err_set(err, ERR_SANDBOX_NO_ADDRESS, "sandbox %s has no pod IP", row->sandbox);
		return NULL;
	case CONNECT_IN_CLUSTER_SERVICE:
		if (row->service_fqdn[0] != '\0')
			return row->service_fqdn;
		err_set(err, ERR_SANDBOX_NO_SERVICE, "sandbox %s has no Service", row->sandbox);
		return NULL;
	default: /* the router finds it */
		return row->sandbox;
	}
}

static void on_sweep(void *arg)
{
	struct connect_connection *connection = arg;
	struct connect_tunnel *tunnel, *after;
	DL_FOREACH_SAFE(connection->tunnels, tunnel, after)
		if (tunnel->is_closed)
			tunnel_free(tunnel);
}

static void on_tunnel_closed(void *arg, const struct err *err)
{
	struct connect_tunnel *tunnel = arg;
	struct runtime *runtime = tunnel->connection->runtime;
	/* While it is connecting, a refusal may be a daemon that still starts: the health poll goes on. The rest
	 * is told to every call in flight, with the tunnel's own words. */
	bool is_starting = runtime_state_of(runtime) == RUNTIME_CONNECTING;
	if (err != NULL && !(is_starting && err_retry(err) == ERR_RETRY_SAME))
		runtime_invalidate(runtime, err);
	tunnel->is_closed = true;
	net_loop_timer_arm(tunnel->connection->sweep, 0);
}

static bool on_connect(void *arg, uint16_t port, int fd_take, struct err *err)
{
	struct connect_connection *connection = arg;
	const char *namespace_ = connection->namespace_, *pod = connection->address;
	if (connection->router != NULL &&
		!connect_router_pod(connection->router, &namespace_, &pod, &port))
		return err_set(err, ERR_ROUTER_BACKEND, "the router has no ready pod");
	struct connect_tunnel *tunnel = x_calloc(1, sizeof *tunnel);
	tunnel->connection = connection;
	const struct kube_portforward_opts opts = {
		.namespace_ = namespace_,
		.pod = pod,
		.port = port,
		.on_closed = on_tunnel_closed,
		.arg = tunnel,
	};
	tunnel->forward =
		kube_portforward_open(connection->connect->parts.kube, &opts, fd_take, err);
	if (tunnel->forward == NULL) {
		free(tunnel);
		return false;
	}
	DL_APPEND(connection->tunnels, tunnel);
	return true;
}

/* A process that ended with its pod: what the fleet knows of that pod is the reason. */
static void on_explain(void *arg, struct err *err)
{
	const struct connect_connection *connection = arg;
	const struct fleet_row *row = fleet_find(connection->connect->fleet, connection->uid);
	if (row == NULL)
		err_set(err, ERR_SANDBOX_DELETED, "the sandbox was deleted");
	else if (row->pod_uid[0] && connection->pod_uid[0] &&
		 strcmp(row->pod_uid, connection->pod_uid) != 0)
		err_set(err, ERR_SANDBOX_MOVED, "the pod of sandbox %s was replaced",
			row->sandbox);
	else if (row->is_pod_ending)
		err_set(err, ERR_PROC_LOST, "the pod of sandbox %s was deleted", row->sandbox);
	else if (err->code != ERR_NONE && row->why[0] != '\0')
		err_set(err, ERR_PROC_LOST, "the connection to sandbox %s is lost: %s",
			row->sandbox, row->why);
}

/* ---- connections */

static struct connect_connection *make(struct connect *connect, const struct fleet_row *row,
	enum connect_mode mode, struct err *err)
{
	const char *address = row_address(mode, row, err);
	if (address == NULL)
		return NULL;
	struct connect_connection *connection = x_calloc(1, sizeof *connection);
	connection->connect = connect;
	connection->mode = mode;
	memcpy(connection->uid, row->uid, sizeof connection->uid);
	memcpy(connection->pod_uid, row->pod_uid, sizeof connection->pod_uid);
	connection->address = x_strdup(address);
	connection->namespace_ = x_strdup(row->namespace_);
	connection->sweep = net_loop_timer_new(connect->parts.loop, on_sweep, connection);
	connection->runtime = make_runtime(row, connection, err);
	if (connection->runtime == NULL) {
		connection_free(connection);
		return NULL;
	}
	DL_APPEND(connect->all, connection);
	return connection;
}

/* It goes with our reference, unless somebody holds its runtime. */
static void retire(struct connect_connection *connection, const struct err *why)
{
	struct runtime *runtime = connection->runtime;
	HASH_DEL(connection->connect->current, connection);
	connection->is_current = false;
	runtime_retire(runtime, why);
	runtime_unref(runtime);
}

struct runtime *connect_try(
	struct connect *connect, const char *uid, enum connect_mode mode, struct err *err)
{
	const struct fleet_row *row = fleet_find(connect->fleet, uid);
	if (row == NULL) {
		err_set(err, ERR_SANDBOX_NOT_FOUND, "the sandbox is gone");
		return NULL;
	}
	struct connect_connection *connection = make(connect, row, mode, err);
	return connection != NULL ? connection->runtime : NULL;
}

/* False: the fleet looks elsewhere, or has not listed yet, so that a missing row means nothing. */
static bool is_watched(
	const struct connect *connect, const struct connect_connection *connection)
{
	return fleet_is_synced(connect->fleet) &&
	       (connect->namespace_[0] == '\0' ||
		       strcmp(connect->namespace_, connection->namespace_) == 0);
}

struct runtime *connect_get(struct connect *connect, const char *uid, struct err *err)
{
	if (uid == NULL || connect->fleet == NULL) {
		if (connect->direct == NULL)
			err_set(err, ERR_ARG_INVALID, "no sandbox named");
		return connect->direct;
	}
	const struct fleet_row *row = fleet_find(connect->fleet, uid);
	struct connect_connection *connection;
	HASH_FIND_STR(connect->current, uid, connection);
	if (row == NULL && connection != NULL && !is_watched(connect, connection))
		return connection->runtime;
	if (row == NULL) {
		err_set(err, ERR_SANDBOX_NOT_FOUND, "the sandbox is gone");
		return NULL;
	}
	if (connection != NULL)
		return row_address(connection->mode, row, err) ? connection->runtime : NULL;
	connection = make(connect, row, connect->settings.mode, err);
	if (connection == NULL)
		return NULL;
	connection->is_current = true;
	HASH_ADD_STR(connect->current, uid, connection);
	return connection->runtime;
}

bool connect_drop(struct connect *connect, const char *uid)
{
	struct err why = { 0 };
	struct connect_connection *connection;
	HASH_FIND_STR(connect->current, uid, connection);
	if (connection == NULL)
		return false;
	err_set(&why, ERR_OP_CLOSED, "the connection was closed here; the sandbox lives on");
	retire(connection, &why);
	return true;
}

/* Is its pod still there, where it was? Else why not. */
static bool is_in_place(
	struct connect_connection *connection, const struct fleet_row *row, struct err *why)
{
	if (row == NULL)
		return err_set(why, ERR_SANDBOX_DELETED, "the sandbox was deleted");
	if (connection->pod_uid[0] == '\0')
		memcpy(connection->pod_uid, row->pod_uid, sizeof connection->pod_uid);
	bool is_same_pod =
		row->pod_uid[0] == '\0' || strcmp(row->pod_uid, connection->pod_uid) == 0;
	const char *address = row_address(connection->mode, row, why);
	if (address != NULL && is_same_pod && strcmp(address, connection->address) == 0)
		return true;
	/* a pod being replaced has no address for a moment: not a reason by itself */
	if (address == NULL && why->code == ERR_SANDBOX_NO_ADDRESS && is_same_pod)
		return true;
	if (address != NULL)
		err_set(why, ERR_SANDBOX_MOVED, "the pod of sandbox %s was replaced",
			row->sandbox);
	return false;
}

void connect_fleet_changed(struct connect *connect)
{
	struct connect_connection *connection, *after;
	HASH_ITER(hh, connect->current, connection, after) {
		const struct fleet_row *row = fleet_find(connect->fleet, connection->uid);
		struct err why = { 0 };
		if (row == NULL && !is_watched(connect, connection))
			continue;
		if (!is_in_place(connection, row, &why))
			retire(connection, &why);
	}
}

/* ---- life */

static void on_gateway_lost(void *arg, const struct err *why)
{
	struct connect *connect = arg;
	struct connect_connection *connection;
	DL_FOREACH(connect->all, connection)
		runtime_invalidate(connection->runtime, why);
}

static bool open_direct(struct connect *connect, struct err *err)
{
	const struct connect_settings *settings = &connect->settings;
	struct runtime_opts opts = common_opts(connect, NULL, NULL);
	opts.rest_url = settings->rest_url;
	opts.grpc_host = settings->grpc_host;
	opts.grpc_port = settings->grpc_port;
	connect->direct = open_runtime(connect, &opts, err);
	return connect->direct != NULL;
}

struct connect *connect_new(const struct connect_parts *parts,
	struct connect_settings *settings_take, struct err *err)
{
	struct connect *connect = x_calloc(1, sizeof *connect);
	connect->parts = *parts;
	connect->settings = *settings_take;
	*settings_take = (struct connect_settings){ 0 };
	connect->namespace_ = x_strdup("");
	const struct connect_settings *settings = &connect->settings;
	if (settings->gateway != NULL)
		connect->gateway = connect_gateway_new(parts->kube, settings->gateway,
			settings->gateway_namespace, settings->gateway_scheme, on_gateway_lost,
			connect);
	if (settings->mode != CONNECT_DIRECT || open_direct(connect, err))
		return connect;
	connect_free(connect);
	return NULL;
}

void connect_free(struct connect *connect)
{
	if (connect == NULL)
		return;
	HASH_CLEAR(hh, connect->current);
	while (connect->all != NULL) {
		struct connect_connection *connection = connect->all;
		struct runtime *runtime = connection->runtime,
			       *ours = connection->is_current ? runtime : NULL;
		runtime_close(runtime); /* the connection goes here */
		runtime_unref(ours);
	}
	runtime_close(connect->direct);
	runtime_unref(connect->direct);
	connect_gateway_free(connect->gateway);
	while (connect->routers != NULL) {
		struct connect_routers *first = connect->routers;
		connect->routers = first->next;
		connect_router_free(first->router);
		free(first);
	}
	connect_settings_deinit(&connect->settings);
	free(connect->namespace_);
	free(connect);
}

void connect_set_fleet(struct connect *connect, struct fleet *fleet, const char *namespace_)
{
	char *old = connect->namespace_;
	connect->fleet = fleet;
	connect->namespace_ = x_strdup(namespace_);
	free(old);
}

const struct connect_settings *connect_settings_of(const struct connect *connect)
{
	return &connect->settings;
}

struct net_loop *connect_loop(const struct connect *connect)
{
	return connect->parts.loop;
}

struct runtime *connect_direct(const struct connect *connect)
{
	return connect->direct;
}

bool connect_can(const struct connect *connect, const struct fleet_row *row,
	enum runtime_feature feature)
{
	if (row == NULL)
		return connect->direct == NULL || runtime_can(connect->direct, feature);
	if (connect_runtime_kind(&connect->settings, row) == RUNTIME_LEGACY)
		return feature == RUNTIME_CAN_EXECUTE;
	return !connect_is_routed(&connect->settings) || feature == RUNTIME_CAN_DELETE ||
	       feature == RUNTIME_CAN_INFO;
}

size_t connect_n_killing(const struct connect *connect)
{
	const struct connect_connection *connection;
	size_t n = connect->direct != NULL ? runtime_n_killing(connect->direct) : 0;
	DL_FOREACH(connect->all, connection)
		n += runtime_n_killing(connection->runtime);
	return n;
}
