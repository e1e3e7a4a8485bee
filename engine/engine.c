// SPDX-License-Identifier: Apache-2.0
/* Bundles one context: cluster access, fleet, telemetry, and a runtime per sandbox in use.
 *
 *   engine_new ── kube_config ─ kube_client ─ fleet          (or only a runtime, in direct mode)
 *   engine_runtime(uid) ── row ─ address by connectivity ─ runtime, kept while pod uid and address stay
 *   fleet change ── rows whose pod moved or went: their runtime is invalidated ─ waiting resolves ─ front end
 */
#include "engine/engine.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"
#include "engine/kube/portforward.h"
#include "engine/kube/reflector.h"
#include "engine/net/dial.h"
#include "engine/net/http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SPANS = 4096,
	MAX_TOKEN_BYTES = 16 << 10,
	DAEMON_REST_PORT = 8080, /* sandboxd's defaults: --rest-port, --grpc-port */
	DAEMON_GRPC_PORT = 9090,
	RESOLVE_TIMEOUT_MS = 30000, /* name to row, as in the Python client */
};

/* One tunnelled connection of a lane. */
struct tunnel {
	struct lane *lane;
	struct kube_portforward *forward;
	bool is_closed; /* freed by the next sweep */
	struct tunnel *prev, *next;
};

/* A runtime and the pod it was made for. */
struct lane {
	struct engine *engine;
	char uid[FLEET_UID_BYTES];
	char pod_uid[FLEET_UID_BYTES];
	char *address; /* or, for a port-forward, the pod's name */
	char *namespace_;
	struct runtime *runtime;
	struct tunnel *tunnels;
	bool is_retired;
	struct lane *next; /* among the retired */
	UT_hash_handle hh;
};

struct engine {
	struct loop *loop;
	struct http *http;
	struct telemetry *telemetry;
	struct kube_config *config;
	struct kube_client *kube;
	struct fleet *fleet;
	struct lane *lanes;
	/* Lanes whose pod moved: whoever still holds a process of theirs may free it later. */
	struct lane *retired;
	struct loop_timer *sweep; /* of closed tunnels */
	struct runtime *direct;
	struct engine_resolve *resolves;
	char *namespace_; /* "" = all */
	char *title;
	char *server;
	char *token;
	enum engine_connectivity connectivity;
	bool read_only, allow_plaintext_token, is_local;
	void (*on_change)(void *arg);
	void *on_change_arg;
};

struct engine_resolve {
	struct engine *engine;
	char *namespace_;
	char *name;
	int64_t wait_ready_ms;
	struct loop_timer *deadline;
	struct loop_timer *first_look;
	void (*done)(void *arg, const struct err *err, const char *uid);
	void *arg;
	struct engine_resolve *prev, *next;
};

/* ---- names of the modes */

static const char *const connectivity_names[] = {
	[ENGINE_CONNECTIVITY_DEFAULT] = "default",
	[ENGINE_PORT_FORWARD] = "port-forward",
	[ENGINE_IN_CLUSTER_SERVICE] = "in-cluster-service",
	[ENGINE_IN_CLUSTER_POD_IP] = "in-cluster-pod-ip",
	[ENGINE_GATEWAY] = "gateway",
	[ENGINE_ROUTER] = "router",
	[ENGINE_DIRECT] = "direct",
};
_Static_assert(
	sizeof connectivity_names / sizeof *connectivity_names == ENGINE_CONNECTIVITY_COUNT,
	"a name for each mode");

const char *engine_connectivity_name(enum engine_connectivity connectivity)
{
	return connectivity_names[connectivity];
}

bool engine_connectivity_parse(const char *text, enum engine_connectivity *out)
{
	for (int i = ENGINE_PORT_FORWARD; i < ENGINE_CONNECTIVITY_COUNT; i++) {
		if (strcmp(text, connectivity_names[i]) == 0) {
			*out = (enum engine_connectivity)i;
			return true;
		}
	}
	return false;
}

/* ---- the daemon's token */

/* Printable ASCII without spaces, as the daemon's clients require. */
static char *read_token(const char *path, struct err *err)
{
	size_t n;
	char *token = file_read(path, MAX_TOKEN_BYTES, &n, err);
	if (token == NULL) {
		err_prefix(err, "daemon token");
		return NULL;
	}
	while (n > 0 && isspace((unsigned char)token[n - 1]))
		token[--n] = '\0';
	bool ok = n > 0;
	for (size_t i = 0; i < n; i++)
		ok = ok && token[i] > ' ' && token[i] < 0x7f;
	if (ok)
		return token;
	free(token);
	err_set(err, ERR_ARG_INVALID,
		"the daemon token in %s must be printable ASCII without spaces", path);
	return NULL;
}

/* ---- construction */

static bool split_address(const char *address, char **host, uint16_t *port, struct err *err)
{
	const char *colon = strrchr(address, ':');
	uint64_t number;
	if (colon == NULL || colon == address || !num_parse_u64(colon + 1, 65535, &number) ||
		number == 0)
		return err_set(err, ERR_ARG_INVALID, "'%s' is not HOST:PORT", address);
	size_t n = (size_t)(colon - address);
	if (address[0] == '[' && colon[-1] == ']') {
		address++;
		n -= 2;
	}
	*host = x_strndup(address, n);
	*port = (uint16_t)number;
	return true;
}

static int lane_connect(void *arg, uint16_t port, struct err *err);

/* tunnel_lane: connections are port-forwards of that lane; NULL: dialled. */
static struct runtime *make_runtime(struct engine *engine, const char *rest_url,
	const char *grpc_host, uint16_t grpc_port, const char *label, struct lane *tunnel_lane,
	struct err *err)
{
	const struct runtime_opts opts = {
		.connect = tunnel_lane ? lane_connect : NULL,
		.connect_arg = tunnel_lane,
		.rest_url = rest_url,
		.grpc_host = grpc_host,
		.grpc_port = grpc_port,
		.token = engine->token,
		.allow_plaintext_token = engine->allow_plaintext_token,
		.label = label,
		.telemetry = engine->telemetry,
		.read_only = engine->read_only,
	};
	return runtime_new(engine->loop, engine->http, &opts, err);
}

static bool open_direct(struct engine *engine, const struct engine_opts *opts, struct err *err)
{
	char *rest = x_strdup(opts->rest_url);
	char *host = NULL;
	uint16_t port = 0;
	bool ok = false;
	size_t n = rest ? strlen(rest) : 0;
	while (n > 0 && rest[n - 1] == '/')
		rest[--n] = '\0';
	if (rest != NULL && strncmp(rest, "http://", 7) != 0 &&
		strncmp(rest, "https://", 8) != 0) {
		err_set(err, ERR_ARG_INVALID, "--rest '%s' is not an http:// or https:// URL",
			rest);
		goto out;
	}
	if (opts->grpc_address != NULL &&
		!split_address(opts->grpc_address, &host, &port, err)) {
		err_prefix(err, "--grpc");
		goto out;
	}
	engine->title = x_strdup(rest ? rest : opts->grpc_address);
	engine->server = x_strdup(engine->title);
	engine->connectivity = ENGINE_DIRECT;
	engine->direct = make_runtime(engine, rest, host, port, engine->title, NULL, err);
	ok = engine->direct != NULL;
out:
	free(rest);
	free(host);
	return ok;
}

/* What the context itself says about reaching its sandboxes (a kubeconfig extension of ours). */
static bool read_extension(
	struct engine *engine, const struct engine_opts *opts, struct err *err)
{
	const cJSON *extension = kube_config_extension(engine->config, "sandmux");
	engine->is_local = json_bool(extension, false, "local", NULL);
	if (engine->connectivity == ENGINE_CONNECTIVITY_DEFAULT) {
		const char *mode = json_str(extension, "connectivity", NULL);
		engine->connectivity = ENGINE_PORT_FORWARD;
		if (mode != NULL && !engine_connectivity_parse(mode, &engine->connectivity))
			return err_set(err, ERR_CONFIG_KUBECONFIG,
				"context %s: unknown connectivity '%s'",
				kube_config_context(engine->config), mode);
	}
	const char *token_file = json_str(extension, "daemon-token-file", NULL);
	if (engine->token == NULL && opts->daemon_token_file == NULL && token_file != NULL) {
		engine->token = read_token(token_file, err);
		return engine->token != NULL;
	}
	return true;
}

static void on_fleet_change(void *arg);
static void on_sweep(void *arg);

static bool open_cluster(struct engine *engine, const struct engine_opts *opts, struct err *err)
{
	const struct kube_config_opts config_opts = {
		.kubeconfig = opts->kubeconfig,
		.context = opts->context,
		.cluster = opts->cluster,
		.user = opts->user,
		.namespace_ = opts->namespace_,
		.server = opts->server,
		.certificate_authority = opts->certificate_authority,
		.token = opts->token,
		.as = opts->as,
		.as_groups = opts->as_groups,
		.insecure_skip_tls_verify = opts->insecure_skip_tls_verify,
		.in_cluster = opts->in_cluster,
		.request_timeout_ms = opts->request_timeout_ms,
	};
	engine->config = kube_config_load(&config_opts, err);
	if (engine->config == NULL || !read_extension(engine, opts, err))
		return false;
	const char *context = kube_config_context(engine->config);
	engine->title = x_strdup(context[0] ? context : "in-cluster");
	engine->server = x_strdup(kube_config_server(engine->config));
	engine->namespace_ =
		x_strdup(opts->all_namespaces ? "" : kube_config_namespace(engine->config));
	const struct kube_client_opts client_opts = {
		.config = engine->config,
		.read_only = opts->read_only,
		.user_agent = "sandmux/" SANDMUX_VERSION,
	};
	engine->kube = kube_client_new(engine->loop, engine->http, &client_opts, err);
	if (engine->kube == NULL)
		return false;
	const struct fleet_opts fleet_opts = {
		.namespace_ = engine->namespace_[0] ? engine->namespace_ : NULL,
		.label_selector = opts->label_selector,
		.telemetry = engine->telemetry,
		.read_only = opts->read_only,
		.lazy = opts->no_fleet,
		.on_change = on_fleet_change,
		.arg = engine,
	};
	engine->fleet = fleet_new(engine->loop, engine->kube, &fleet_opts, err);
	return engine->fleet != NULL;
}

struct engine *engine_new(struct loop *loop, const struct engine_opts *opts, struct err *err)
{
	struct engine *engine = x_calloc(1, sizeof *engine);
	engine->loop = loop;
	engine->read_only = opts->read_only;
	engine->allow_plaintext_token = opts->allow_plaintext_token;
	engine->connectivity = opts->connectivity;
	engine->telemetry = telemetry_new(MAX_SPANS);
	engine->sweep = loop_timer_new(loop, on_sweep, engine);
	engine->http = http_new(loop, err);
	if (engine->http == NULL)
		goto fail;
	if (opts->daemon_token_file != NULL) {
		engine->token = read_token(opts->daemon_token_file, err);
		if (engine->token == NULL)
			goto fail;
	}
	bool is_direct = opts->rest_url != NULL || opts->grpc_address != NULL;
	if (is_direct ? !open_direct(engine, opts, err) : !open_cluster(engine, opts, err))
		goto fail;
	if (engine->namespace_ == NULL)
		engine->namespace_ = x_strdup("");
	return engine;
fail:
	engine_free(engine);
	return NULL;
}

static void tunnel_free(struct tunnel *tunnel)
{
	DL_DELETE(tunnel->lane->tunnels, tunnel);
	kube_portforward_free(tunnel->forward);
	free(tunnel);
}

static void lane_free(struct lane *lane)
{
	runtime_free(lane->runtime);
	while (lane->tunnels != NULL)
		tunnel_free(lane->tunnels);
	free(lane->address);
	free(lane->namespace_);
	free(lane);
}

void engine_free(struct engine *engine)
{
	if (engine == NULL)
		return;
	while (engine->resolves != NULL)
		engine_resolve_cancel(engine->resolves);
	struct lane *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after) {
		HASH_DEL(engine->lanes, lane);
		lane_free(lane);
	}
	while (engine->retired != NULL) {
		lane = engine->retired;
		engine->retired = lane->next;
		lane_free(lane);
	}
	loop_timer_free(engine->sweep);
	runtime_free(engine->direct);
	fleet_free(engine->fleet);
	kube_client_free(engine->kube);
	if (engine->config != NULL)
		kube_config_unref(engine->config);
	http_free(engine->http);
	telemetry_free(engine->telemetry);
	free(engine->namespace_);
	free(engine->title);
	free(engine->server);
	if (engine->token != NULL)
		explicit_bzero(engine->token, strlen(engine->token));
	free(engine->token);
	free(engine);
}

/* ---- what it is */

struct loop *engine_loop(struct engine *engine)
{
	return engine->loop;
}

struct fleet *engine_fleet(struct engine *engine)
{
	return engine->fleet;
}

struct telemetry *engine_telemetry(struct engine *engine)
{
	return engine->telemetry;
}

const char *engine_context(const struct engine *engine)
{
	return engine->title;
}

const char *engine_namespace(const struct engine *engine)
{
	return engine->namespace_;
}

const char *engine_server(const struct engine *engine)
{
	return engine->server;
}

bool engine_is_insecure(const struct engine *engine)
{
	return engine->config != NULL && kube_config_is_insecure(engine->config);
}

bool engine_is_read_only(const struct engine *engine)
{
	return engine->read_only;
}

bool engine_is_local(const struct engine *engine)
{
	return engine->is_local;
}

enum engine_connectivity engine_connectivity_of(const struct engine *engine)
{
	return engine->connectivity;
}

void engine_on_change(struct engine *engine, void (*fn)(void *arg), void *arg)
{
	engine->on_change = fn;
	engine->on_change_arg = arg;
}

/* ---- runtimes */

/* A runtime class whose workload does not listen in the pod's host-side network namespace. */
static bool is_sandboxed_kernel(const char *runtime_class)
{
	return strstr(runtime_class, "gvisor") || strstr(runtime_class, "runsc") ||
	       strstr(runtime_class, "kata");
}

/* The pod to tunnel to; its name is the Sandbox's where the pods cannot be read. Borrowed. */
static const char *row_tunnel_pod(const struct fleet_row *row, struct err *err)
{
	if (!is_sandboxed_kernel(row->runtime_class))
		return row->pod[0] ? row->pod : row->sandbox;
	err_set(err, ERR_PORTFWD_RUNTIME,
		"sandbox %s runs under %s, where a port-forward cannot reach the daemon",
		row->sandbox, row->runtime_class);
	return NULL;
}

/* The address of a row by the chosen mode; exactly one, no mode falls back to another. Borrowed. */
static const char *row_address(
	const struct engine *engine, const struct fleet_row *row, struct err *err)
{
	if (row->state == FLEET_SUSPENDED || row->state == FLEET_SUSPENDING) {
		err_set(err, ERR_SANDBOX_SUSPENDED, "sandbox %s is suspended", row->sandbox);
		return NULL;
	}
	if (row->sandbox[0] == '\0') {
		err_set(err, ERR_SANDBOX_NOT_READY, "claim %s has no sandbox yet", row->claim);
		return NULL;
	}
	switch (engine->connectivity) {
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
	default:
		err_set(err, ERR_OP_UNSUPPORTED,
			"sandbox %s: connectivity %s is not available in this version",
			row->sandbox, connectivity_names[engine->connectivity]);
		return NULL;
	}
}

static void sweep_lane(struct lane *lane)
{
	struct tunnel *tunnel, *after;
	DL_FOREACH_SAFE(lane->tunnels, tunnel, after)
		if (tunnel->is_closed)
			tunnel_free(tunnel);
}

static void on_sweep(void *arg)
{
	struct engine *engine = arg;
	struct lane *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after)
		sweep_lane(lane);
	for (lane = engine->retired; lane != NULL; lane = lane->next)
		sweep_lane(lane);
}

static void on_tunnel_closed(void *arg, const struct err *err)
{
	struct tunnel *tunnel = arg;
	struct runtime *runtime = tunnel->lane->runtime;
	/* While it is connecting, a refusal may be a daemon that still starts: the health poll goes on. The rest
	 * is told to every call in flight, with the tunnel's own words. */
	bool is_starting = runtime_state_of(runtime) == RUNTIME_CONNECTING;
	if (err != NULL && !(is_starting && err_retry(err) == ERR_RETRY_SAME))
		runtime_invalidate(runtime, err);
	tunnel->is_closed = true;
	loop_timer_arm(tunnel->lane->engine->sweep, 0);
}

static int lane_connect(void *arg, uint16_t port, struct err *err)
{
	struct lane *lane = arg;
	if (lane->is_retired) {
		err_set(err, ERR_SANDBOX_MOVED, "the pod is gone");
		return -1;
	}
	struct tunnel *tunnel = x_calloc(1, sizeof *tunnel);
	tunnel->lane = lane;
	const struct kube_portforward_opts opts = {
		.namespace_ = lane->namespace_,
		.pod = lane->address,
		.port = port,
		.on_closed = on_tunnel_closed,
		.arg = tunnel,
	};
	int fd = -1;
	tunnel->forward = kube_portforward_open(lane->engine->kube, &opts, &fd, err);
	if (tunnel->forward == NULL) {
		free(tunnel);
		return -1;
	}
	DL_APPEND(lane->tunnels, tunnel);
	return fd;
}

static void retire(struct engine *engine, struct lane *lane, const struct err *why)
{
	HASH_DEL(engine->lanes, lane);
	lane->is_retired = true;
	lane->next = engine->retired;
	engine->retired = lane;
	runtime_invalidate(lane->runtime, why);
}

static struct runtime *make_lane(struct engine *engine, const struct fleet_row *row,
	const char *address, struct err *err)
{
	bool is_tunnel = engine->connectivity == ENGINE_PORT_FORWARD;
	const char *host = is_tunnel ? "127.0.0.1" : address; /* of a tunnel: only a name */
	char *rest = x_asprintf(
		strchr(host, ':') ? "http://[%s]:%d" : "http://%s:%d", host, DAEMON_REST_PORT);
	struct lane *lane = x_calloc(1, sizeof *lane);
	lane->engine = engine;
	memcpy(lane->uid, row->uid, sizeof lane->uid);
	memcpy(lane->pod_uid, row->pod_uid, sizeof lane->pod_uid);
	lane->address = x_strdup(address);
	lane->namespace_ = x_strdup(row->namespace_);
	lane->runtime = make_runtime(engine, rest, host, DAEMON_GRPC_PORT,
		row->claim[0] ? row->claim : row->sandbox, is_tunnel ? lane : NULL, err);
	free(rest);
	if (lane->runtime == NULL) {
		lane_free(lane);
		return NULL;
	}
	HASH_ADD_STR(engine->lanes, uid, lane);
	return lane->runtime;
}

struct runtime *engine_runtime(struct engine *engine, const char *uid, struct err *err)
{
	if (uid == NULL || engine->fleet == NULL) {
		if (engine->direct == NULL)
			err_set(err, ERR_ARG_INVALID, "no sandbox named");
		return engine->direct;
	}
	const struct fleet_row *row = fleet_find(engine->fleet, uid);
	if (row == NULL) {
		err_set(err, ERR_SANDBOX_NOT_FOUND, "the sandbox is gone");
		return NULL;
	}
	const char *address = row_address(engine, row, err);
	if (address == NULL)
		return NULL;
	struct lane *lane;
	HASH_FIND_STR(engine->lanes, uid, lane);
	return lane != NULL ? lane->runtime : make_lane(engine, row, address, err);
}

/* Connections are tied to the pod: when it is replaced or gone, they end with the reason. */
static void check_lanes(struct engine *engine)
{
	struct lane *lane, *after;
	HASH_ITER(hh, engine->lanes, lane, after) {
		const struct fleet_row *row = fleet_find(engine->fleet, lane->uid);
		struct err why = { 0 };
		if (row == NULL) {
			err_set(&why, ERR_SANDBOX_DELETED, "the sandbox was deleted");
			retire(engine, lane, &why);
			continue;
		}
		if (lane->pod_uid[0] == '\0')
			memcpy(lane->pod_uid, row->pod_uid, sizeof lane->pod_uid);
		bool is_same_pod =
			row->pod_uid[0] == '\0' || strcmp(row->pod_uid, lane->pod_uid) == 0;
		const char *address = row_address(engine, row, &why);
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

/* ---- resolving a name for a headless verb */

static void resolve_free(struct engine_resolve *resolve)
{
	DL_DELETE(resolve->engine->resolves, resolve);
	loop_timer_free(resolve->deadline);
	loop_timer_free(resolve->first_look);
	free(resolve->namespace_);
	free(resolve->name);
	free(resolve);
}

void engine_resolve_cancel(struct engine_resolve *resolve)
{
	if (resolve != NULL)
		resolve_free(resolve);
}

static void resolve_finish(
	struct engine_resolve *resolve, const struct err *err, const char *uid)
{
	void (*done)(void *, const struct err *, const char *) = resolve->done;
	void *arg = resolve->arg;
	char found[FLEET_UID_BYTES] = "";
	if (uid != NULL)
		snprintf(found, sizeof found, "%s", uid);
	resolve_free(resolve);
	done(arg, err, uid ? found : NULL);
}

/* An error of a source that a headless verb should not wait out. */
static const struct err *source_failure(struct engine *engine)
{
	struct fleet_source sources[8];
	size_t n = fleet_sources(engine->fleet, sources, sizeof sources / sizeof *sources);
	for (size_t i = 0; i < n; i++) {
		bool decides = strcmp(sources[i].resource, "sandboxclaims") == 0 ||
			       strcmp(sources[i].resource, "sandboxes") == 0;
		if (decides && !sources[i].synced && sources[i].err != NULL)
			return sources[i].err;
	}
	return NULL;
}

static bool ends_the_wait(const struct fleet_row *row, struct err *err)
{
	switch (row->state) {
	case FLEET_FAILED:
		err_set(err, ERR_CLAIM_FAILED, "%s: %s", row->claim, row->why);
		return true;
	case FLEET_EXPIRED:
		err_set(err, ERR_CLAIM_EXPIRED, "%s: %s", row->claim, row->why);
		return true;
	case FLEET_FINISHED:
		err_set(err, ERR_SANDBOX_FINISHED, "%s: %s", row->claim, row->why);
		return true;
	case FLEET_SUSPENDED:
	case FLEET_SUSPENDING:
		err_set(err, ERR_SANDBOX_SUSPENDED, "sandbox %s is suspended", row->sandbox);
		return true;
	case FLEET_TERMINATING:
		err_set(err, ERR_CLAIM_TERMINATING, "%s is being deleted", row->claim);
		return true;
	default:
		return false;
	}
}

static void resolve_look(struct engine_resolve *resolve)
{
	struct engine *engine = resolve->engine;
	struct err err = { 0 };
	const struct fleet_row *row =
		fleet_find_name(engine->fleet, resolve->namespace_, resolve->name, &err);
	if (row != NULL && (resolve->wait_ready_ms == 0 || row->state == FLEET_READY)) {
		resolve_finish(resolve, NULL, row->uid);
		return;
	}
	if (row != NULL) {
		if (ends_the_wait(row, &err))
			resolve_finish(resolve, &err, NULL);
		return;
	}
	const struct err *failure = source_failure(engine);
	if (failure != NULL) {
		err = *failure; /* a copy: the callback may change the fleet */
		resolve_finish(resolve, &err, NULL);
	} else if (fleet_is_synced(engine->fleet)) {
		resolve_finish(resolve, &err, NULL);
	}
}

static void on_first_look(void *arg)
{
	resolve_look(arg);
}

static void on_resolve_deadline(void *arg)
{
	struct engine_resolve *resolve = arg;
	struct err err = { 0 };
	const struct fleet_row *row = fleet_find_name(
		resolve->engine->fleet, resolve->namespace_, resolve->name, NULL);
	if (row != NULL)
		err_set(&err, ERR_SANDBOX_NOT_READY, "%s is %s: %s", resolve->name,
			fleet_state_name(row->state), row->why);
	else
		err_set(&err, ERR_OP_TIMEOUT, "no answer about %s from %s", resolve->name,
			resolve->engine->server);
	resolve_finish(resolve, &err, NULL);
}

struct engine_resolve *engine_resolve_start(struct engine *engine, const char *name,
	int64_t wait_ready_ms, void (*done)(void *arg, const struct err *err, const char *uid),
	void *arg, struct err *err)
{
	if (engine->fleet == NULL) {
		err_set(err, ERR_ARG_INVALID, "a name needs a cluster, not --rest/--grpc");
		return NULL;
	}
	struct engine_resolve *resolve = x_calloc(1, sizeof *resolve);
	resolve->engine = engine;
	resolve->name = x_strdup(name);
	resolve->namespace_ =
		x_strdup(engine->namespace_[0] ? engine->namespace_
					       : kube_config_namespace(engine->config));
	resolve->wait_ready_ms = wait_ready_ms;
	resolve->done = done;
	resolve->arg = arg;
	DL_APPEND(engine->resolves, resolve);
	resolve->deadline = loop_timer_new(engine->loop, on_resolve_deadline, resolve);
	loop_timer_arm(resolve->deadline,
		wait_ready_ms > RESOLVE_TIMEOUT_MS ? wait_ready_ms : RESOLVE_TIMEOUT_MS);
	resolve->first_look = loop_timer_new(engine->loop, on_first_look, resolve);
	loop_timer_arm(resolve->first_look, 0);
	fleet_focus(engine->fleet, resolve->namespace_, name);
	return resolve;
}

static void on_fleet_change(void *arg)
{
	struct engine *engine = arg;
	check_lanes(engine);
	struct engine_resolve *resolve, *after;
	DL_FOREACH_SAFE(engine->resolves, resolve, after)
		resolve_look(resolve);
	if (engine->on_change != NULL)
		engine->on_change(engine->on_change_arg);
}
