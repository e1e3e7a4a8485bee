// SPDX-License-Identifier: Apache-2.0
/* Bundles one context: cluster access, fleet, connections to sandboxes, rights, telemetry; resolve.c finds names for
 * headless verbs.
 *
 *   engine_new ── kube_config ─ kube_client ─ fleet ─ connect, access    (or only a runtime, in direct mode)
 *   fleet change ── connections whose pod moved or went ─ waiting resolves ─ front end
 */
#include "engine/internal.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/kinds/informers.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"
#include "engine/net/http.h"
#include "engine/telemetry/file_sink.h"
#include "engine/telemetry/sink.h"
#include "engine/usage/poll.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RECORDS = 4096, MAX_RECORD_BYTES = 4 << 20 };

static void tell(void *arg)
{
	const struct engine *engine = arg;
	if (engine->on_change != NULL)
		engine->on_change(engine->on_change_arg);
}

static void on_fleet_change(void *arg)
{
	struct engine *engine = arg;
	connect_fleet_changed(engine->connect);
	engine_link_check(engine);
	engine_resolves_look(engine);
	tell(engine);
}

/* ---- construction */

static bool open_connect(struct engine *engine, const struct engine_opts *opts, struct err *err)
{
	const struct connect_parts parts = { engine->loop, engine->http, engine->telemetry,
		engine->kube, opts->read_only };
	struct connect_settings settings;
	const cJSON *extension =
		engine->config ? kube_config_extension(engine->config, "sandmux") : NULL;
	const char *context = engine->config ? kube_config_context(engine->config) : NULL;
	engine->is_local = json_bool(extension, false, "local", NULL);
	if (connect_settings_init(&settings, &opts->connect, context, extension, err))
		engine->connect = connect_new(&parts, &settings, err);
	connect_settings_deinit(&settings);
	return engine->connect != NULL;
}

static void open_access(struct engine *engine, bool is_read_only)
{
	const struct access_opts opts = {
		.loop = engine->loop,
		.kube = engine->kube,
		.read_only = is_read_only,
		.first = access_first,
		.on_change = tell,
		.arg = engine,
	};
	engine->access = access_new(&opts);
	access_set_scope(engine->access, engine->namespace_);
}

static bool open_direct(struct engine *engine, const struct engine_opts *opts, struct err *err)
{
	if (!open_connect(engine, opts, err))
		return false;
	engine->title = x_strdup(runtime_label(connect_direct(engine->connect)));
	engine->server = x_strdup(engine->title);
	engine->namespace_ = x_strdup("");
	open_access(engine, opts->read_only);
	if (opts->connect.rest_url != NULL)
		engine_link_init(engine);
	return true;
}

static struct fleet *open_fleet(struct engine *engine, const char *namespace_, struct err *err)
{
	const struct fleet_opts opts = {
		.namespace_ = namespace_[0] ? namespace_ : NULL,
		.label_selector = engine->label_selector,
		.telemetry = engine->telemetry,
		.usage = usage_poll_table(engine->usage),
		.read_only = access_is_read_only(engine->access),
		.lazy = engine->is_lazy,
		.keeps_deleted = engine->keeps_deleted,
		.policy = engine->policy,
		.on_change = on_fleet_change,
		.arg = engine,
	};
	return fleet_new(engine->loop, engine->kube, &opts, err);
}

static void open_usage(struct engine *engine)
{
	const struct usage_poll_opts opts = {
		.client = engine->kube,
		.namespace_ = engine->namespace_,
		.on_change = tell,
		.arg = engine,
	};
	engine->usage = usage_poll_new(&opts);
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
	if (engine->config == NULL)
		return false;
	const char *context = kube_config_context(engine->config);
	engine->title = x_strdup(context[0] ? context : "in-cluster");
	engine->server = x_strdup(kube_config_server(engine->config));
	engine->namespace_ =
		x_strdup(opts->all_namespaces ? "" : kube_config_namespace(engine->config));
	const struct kube_client_opts client_opts = {
		.config = engine->config,
		.read_only = opts->read_only,
		.dry_run = opts->dry_run,
		.on_write = opts->on_write,
		.on_write_arg = opts->on_write_arg,
		.user_agent = "sandmux/" SANDMUX_VERSION,
		.watch_idle_ms = opts->watch_idle_ms,
	};
	engine->kube = kube_client_new(engine->loop, engine->http, &client_opts, err);
	if (engine->kube == NULL)
		return false;
	if (!open_connect(engine, opts, err))
		return false;
	if (opts->policy_file != NULL) {
		engine->policy = fleet_policy_read(opts->policy_file, err);
		if (engine->policy == NULL)
			return false;
	}
	open_access(engine, opts->read_only);
	open_usage(engine);
	engine->label_selector = x_strdup(opts->label_selector);
	engine->is_lazy = opts->no_fleet;
	engine->keeps_deleted = opts->keeps_deleted;
	engine->fleet = open_fleet(engine, engine->namespace_, err);
	if (engine->fleet == NULL)
		return false;
	connect_set_fleet(engine->connect, engine->fleet, engine->namespace_);
	engine_link_init(engine);
	return true;
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
	connect_set_fleet(engine->connect, fleet, engine->namespace_);
	access_set_scope(engine->access, engine->namespace_);
	usage_poll_set_namespace(engine->usage, engine->namespace_);
	return true;
}

struct engine *engine_new(
	struct net_loop *loop, const struct engine_opts *opts, struct err *err)
{
	struct engine *engine = x_calloc(1, sizeof *engine);
	engine->loop = loop;
	engine->telemetry = telemetry_new(MAX_RECORDS, MAX_RECORD_BYTES);
	telemetry_add_log(engine->telemetry);
	if (!connect_validate(&opts->connect, err))
		goto fail;
	if (opts->telemetry_file != NULL &&
		!telemetry_file_sink_add(engine->telemetry, opts->telemetry_file, err))
		goto fail;
	engine->http = net_http_new(loop, err);
	if (engine->http == NULL)
		goto fail;
	if (connect_is_direct(&opts->connect) ? open_direct(engine, opts, err)
					      : open_cluster(engine, opts, err))
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

struct runtime *engine_runtime(struct engine *engine, const char *uid, struct err *err)
{
	const struct fleet_row *row =
		engine->fleet != NULL && uid != NULL ? fleet_find(engine->fleet, uid) : NULL;
	if (row != NULL && !fleet_policy_admits(engine->policy, row, err))
		return NULL;
	struct runtime *runtime = connect_get(engine->connect, uid, err);
	const struct fleet_policy_template *rule =
		runtime != NULL && row != NULL && engine->policy != NULL
			? fleet_policy_find(engine->policy, row->template_, NULL)
			: NULL;
	if (rule != NULL && rule->cwd[0])
		runtime_set_cwd(runtime, rule->cwd);
	return runtime;
}

bool engine_disconnect(struct engine *engine, const char *uid)
{
	return connect_drop(engine->connect, uid);
}

const struct fleet_policy *engine_policy(const struct engine *engine)
{
	return engine->policy;
}

size_t engine_unfinished(const struct engine *engine)
{
	size_t n = connect_n_killing(engine->connect);
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
	connect_free(engine->connect);
	engine_link_deinit(engine);
	access_free(engine->access);
	fleet_free(engine->fleet);
	usage_poll_free(engine->usage);
	kinds_informers_free(engine->kinds);
	kube_client_free(engine->kube);
	if (engine->config != NULL)
		kube_config_unref(engine->config);
	net_http_free(engine->http);
	telemetry_flush(engine->telemetry);
	telemetry_free(engine->telemetry);
	fleet_policy_free(engine->policy);
	free(engine->namespace_);
	free(engine->label_selector);
	free(engine->title);
	free(engine->server);
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
	return access_is_read_only(engine->access);
}

bool engine_is_local(const struct engine *engine)
{
	return engine->is_local;
}

enum connect_mode engine_connect_mode(const struct engine *engine)
{
	return connect_settings_of(engine->connect)->mode;
}

void engine_on_change(struct engine *engine, void (*fn)(void *arg), void *arg)
{
	engine->on_change = fn;
	engine->on_change_arg = arg;
}
