// SPDX-License-Identifier: Apache-2.0
/* Bundles one context: cluster access, fleet, telemetry; connections.c has a runtime per sandbox in use, resolve.c finds
 * names for headless verbs.
 *
 *   engine_new ── kube_config ─ kube_client ─ fleet          (or only a runtime, in direct mode)
 *   fleet change ── lanes whose pod moved or went ─ waiting resolves ─ front end
 */
#include "engine/internal.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/kinds/informers.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"
#include "engine/net/http.h"
#include "engine/telemetry/file_sink.h"
#include "engine/telemetry/sink.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_RECORDS = 4096,
	MAX_RECORD_BYTES = 4 << 20,
	MAX_TOKEN_BYTES = 16 << 10,
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
char *engine_read_token(const char *path, const char *whose, struct err *err)
{
	size_t n;
	char *token = file_read(path, MAX_TOKEN_BYTES, &n, err);
	if (token == NULL) {
		err_prefix(err, "%s token", whose);
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
		"the %s token in %s must be printable ASCII without spaces", whose, path);
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
	engine->direct = engine_make_direct(engine, rest, host, port, engine->title, err);
	ok = engine->direct != NULL;
	if (ok && rest != NULL)
		engine_link_init(engine);
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
	if (!engine_connectivity_open(engine, opts, extension, err))
		return false;
	const char *token_file = json_str(extension, "daemon-token-file", NULL);
	if (engine->token == NULL && opts->daemon_token_file == NULL && token_file != NULL) {
		if (strstr(token_file, ENGINE_TOKEN_POD) != NULL) {
			engine->token_of_pod = x_strdup(token_file);
			return true;
		}
		engine->token = engine_read_token(token_file, "daemon", err);
		return engine->token != NULL;
	}
	return true;
}

static void on_fleet_change(void *arg);

static struct fleet *open_fleet(struct engine *engine, const char *namespace_, struct err *err)
{
	const struct fleet_opts opts = {
		.namespace_ = namespace_[0] ? namespace_ : NULL,
		.label_selector = engine->label_selector,
		.telemetry = engine->telemetry,
		.read_only = engine->read_only,
		.lazy = engine->is_lazy,
		.on_change = on_fleet_change,
		.arg = engine,
	};
	return fleet_new(engine->loop, engine->kube, &opts, err);
}

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
		.plugins = { opts->plugins_may_ask, opts->on_plugin, opts->on_plugin_arg },
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
		.watch_idle_ms = opts->watch_idle_ms,
	};
	engine->kube = kube_client_new(engine->loop, engine->http, &client_opts, err);
	if (engine->kube == NULL)
		return false;
	engine->label_selector = x_strdup(opts->label_selector);
	engine->is_lazy = opts->no_fleet;
	engine->fleet = open_fleet(engine, engine->namespace_, err);
	if (engine->fleet != NULL)
		engine_link_init(engine);
	return engine->fleet != NULL;
}

bool engine_watch_namespace(struct engine *engine, const char *namespace_, struct err *err)
{
	if (engine->fleet == NULL)
		return err_set(err, ERR_OP_UNSUPPORTED, "a direct URL has no namespaces");
	if (strcmp(namespace_, engine->namespace_) == 0)
		return true;
	struct fleet *fleet = open_fleet(engine, namespace_, err);
	if (fleet == NULL)
		return false;
	fleet_free(engine->fleet);
	engine->fleet = fleet;
	char *old = engine->namespace_;
	engine->namespace_ = x_strdup(namespace_);
	free(old);
	return true;
}

struct engine *engine_new(
	struct net_loop *loop, const struct engine_opts *opts, struct err *err)
{
	struct engine *engine = x_calloc(1, sizeof *engine);
	engine->loop = loop;
	engine->read_only = opts->read_only;
	engine->allow_plaintext_token = opts->allow_plaintext_token;
	engine->connectivity = engine_connectivity_configured(opts);
	engine->runtime = opts->runtime;
	engine->runtime_version = x_strdup(opts->runtime_version);
	engine->no_pod_ip_header = opts->no_pod_ip_header;
	engine->telemetry = telemetry_new(MAX_RECORDS, MAX_RECORD_BYTES);
	telemetry_add_log(engine->telemetry);
	engine_connections_init(engine);
	engine_access_reviews_init(engine);
	if (!engine_connectivity_validate(opts, err))
		goto fail;
	if (opts->telemetry_file != NULL &&
		!telemetry_file_sink_add(engine->telemetry, opts->telemetry_file, err))
		goto fail;
	engine->http = net_http_new(loop, err);
	if (engine->http == NULL)
		goto fail;
	if (opts->daemon_token_file != NULL) {
		engine->token = engine_read_token(opts->daemon_token_file, "daemon", err);
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

void engine_plugins_may_ask(struct engine *engine, bool may)
{
	if (engine->config != NULL)
		kube_config_plugins_may_ask(engine->config, may);
}

bool engine_is_logging_in(const struct engine *engine)
{
	return engine->kube != NULL && kube_client_is_logging_in(engine->kube);
}

size_t engine_unfinished(const struct engine *engine)
{
	size_t n = engine_connections_killing(engine);
	if (engine->direct != NULL)
		n += runtime_n_killing(engine->direct);
	if (engine->fleet != NULL)
		n += fleet_cleanups_pending(engine->fleet);
	return n;
}

void engine_free(struct engine *engine)
{
	if (engine == NULL)
		return;
	while (engine->resolves != NULL)
		engine_resolve_cancel(engine->resolves);
	engine_connections_deinit(engine);
	engine_link_deinit(engine);
	runtime_close(engine->direct);
	runtime_unref(engine->direct);
	engine_gateway_free(engine->gateway);
	engine_routers_free(engine);
	engine_access_reviews_deinit(engine);
	fleet_free(engine->fleet);
	kinds_informers_free(engine->kinds);
	kube_client_free(engine->kube);
	if (engine->config != NULL)
		kube_config_unref(engine->config);
	net_http_free(engine->http);
	telemetry_flush(engine->telemetry);
	telemetry_free(engine->telemetry);
	free(engine->namespace_);
	free(engine->label_selector);
	free(engine->runtime_version);
	free(engine->router_url);
	free(engine->router_service);
	free(engine->router_namespace);
	x_free_secret(engine->router_token);
	free(engine->title);
	free(engine->server);
	x_free_secret(engine->token);
	free(engine->token_of_pod);
	free(engine);
}

/* ---- what it is */

struct net_loop *engine_loop(struct engine *engine)
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

static void on_fleet_change(void *arg)
{
	struct engine *engine = arg;
	engine_connections_check(engine);
	engine_link_check(engine);
	engine_resolves_look(engine);
	if (engine->on_change != NULL)
		engine->on_change(engine->on_change_arg);
}
