// SPDX-License-Identifier: Apache-2.0
/* Which way leads to the sandboxes, and what listens in them: what was asked for, checked before anything is opened.
 * No way falls back to another, so options that contradict each other are refused here. */
#include "engine/internal.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/k8s/name.h"
#include "engine/kube/config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const runtime_names[] = {
	[ENGINE_RUNTIME_AUTO] = "auto",
	[ENGINE_RUNTIME_SANDBOXD] = "sandboxd",
	[ENGINE_RUNTIME_LEGACY] = "legacy",
};
_Static_assert(sizeof runtime_names / sizeof *runtime_names == ENGINE_RUNTIME_COUNT,
	"a name for each choice");

bool engine_runtime_parse(const char *text, enum engine_runtime *out)
{
	for (int i = 0; i < ENGINE_RUNTIME_COUNT; i++) {
		if (strcmp(text, runtime_names[i]) == 0) {
			*out = (enum engine_runtime)i;
			return true;
		}
	}
	return false;
}

static bool is_url(const char *text)
{
	return strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0;
}

static bool conflict(struct err *err, const char *one, const char *other)
{
	return err_set(err, ERR_ARG_INVALID, "%s and %s contradict each other", one, other);
}

/* The mode that the addresses imply, if they agree with the one that was asked for. */
static bool check_mode(
	const struct engine_opts *opts, enum engine_connectivity *mode, struct err *err)
{
	const struct {
		enum engine_connectivity mode;
		const char *option;
		bool is_given;
	} ways[] = {
		{ ENGINE_DIRECT, "--rest or --grpc",
			opts->rest_url != NULL || opts->grpc_address != NULL },
		{ ENGINE_ROUTER, "--router-url", opts->router_url != NULL },
		{ ENGINE_ROUTER, "--router-service", opts->router_service != NULL },
		{ ENGINE_GATEWAY, "--gateway", opts->gateway != NULL },
	};
	const char *before = NULL;
	*mode = opts->connectivity;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (!ways[i].is_given)
			continue;
		if (before != NULL)
			return conflict(err, before, ways[i].option);
		before = ways[i].option;
		if (*mode == ENGINE_CONNECTIVITY_DEFAULT)
			*mode = ways[i].mode;
		if (*mode != ways[i].mode)
			return err_set(err, ERR_ARG_INVALID,
				"--connectivity %s and %s contradict each other",
				engine_connectivity_name(*mode), ways[i].option);
	}
	for (size_t i = 0; before == NULL && i < sizeof ways / sizeof *ways; i++)
		if (*mode == ways[i].mode)
			return err_set(err, ERR_ARG_INVALID, "--connectivity %s needs %s%s",
				engine_connectivity_name(*mode), ways[i].option,
				*mode == ENGINE_ROUTER ? " or --router-service" : "");
	return true;
}

bool engine_connectivity_validate(const struct engine_opts *opts, struct err *err)
{
	enum engine_connectivity mode;
	if (!check_mode(opts, &mode, err))
		return false;
	bool is_routed = mode == ENGINE_ROUTER || mode == ENGINE_GATEWAY;
	bool is_legacy = opts->runtime == ENGINE_RUNTIME_LEGACY;
	if (opts->router_url != NULL && !is_url(opts->router_url))
		return err_set(err, ERR_ARG_INVALID,
			"--router-url '%s' is not an http:// or https:// URL",
			opts->router_url);
	if (opts->router_service != NULL &&
		!k8s_is_dns_subdomain(opts->router_service, strlen(opts->router_service)))
		return err_set(err, ERR_ARG_INVALID,
			"--router-service '%s' is not the name of a Service",
			opts->router_service);
	if (opts->router_service == NULL && opts->router_namespace != NULL)
		return err_set(
			err, ERR_ARG_INVALID, "--router-namespace needs --router-service");
	if (!is_routed && opts->router_token_file != NULL)
		return err_set(err, ERR_ARG_INVALID,
			"--router-token-file needs --router-url, --router-service or --gateway");
	if (opts->gateway == NULL && (opts->gateway_namespace || opts->gateway_scheme))
		return err_set(err, ERR_ARG_INVALID,
			"--gateway-namespace and --gateway-scheme need --gateway");
	if (opts->gateway_scheme != NULL && strcmp(opts->gateway_scheme, "http") != 0 &&
		strcmp(opts->gateway_scheme, "https") != 0)
		return err_set(err, ERR_ARG_INVALID, "--gateway-scheme is http or https");
	if (mode == ENGINE_GATEWAY && opts->runtime == ENGINE_RUNTIME_SANDBOXD)
		return conflict(err, "--gateway", "--runtime sandboxd");
	if (opts->no_pod_ip_header && !is_routed)
		return err_set(err, ERR_ARG_INVALID,
			"--no-pod-ip-header needs --router-url, --router-service or --gateway");
	if (is_routed && opts->daemon_token_file != NULL)
		return err_set(err, ERR_ARG_INVALID,
			"--daemon-token-file: a sandbox-router removes the daemon's token; its own is --router-token-file");
	if (is_legacy && opts->daemon_token_file != NULL)
		return conflict(
			err, "--runtime legacy, which knows no token,", "--daemon-token-file");
	if (is_legacy && opts->grpc_address != NULL)
		return conflict(err, "--runtime legacy", "--grpc");
	if (opts->runtime_version != NULL &&
		(is_legacy || (opts->grpc_address != NULL && opts->rest_url == NULL)))
		return err_set(err, ERR_ARG_INVALID,
			"--runtime-version: only a sandboxd with a REST address tells its version");
	return true;
}

/* Ports in words of the context, where the command line has none. */
bool engine_connectivity_open(struct engine *engine, const struct engine_opts *opts,
	const cJSON *extension, struct err *err)
{
	struct engine_opts whole = *opts;
	bool is_asked = opts->router_url || opts->router_service || opts->gateway ||
			opts->connectivity != ENGINE_CONNECTIVITY_DEFAULT;
	whole.connectivity = engine->connectivity;
	if (!is_asked) {
		whole.router_url = json_str(extension, "router-url", NULL);
		whole.router_service = json_str(extension, "router-service", NULL);
		whole.router_namespace = json_str(extension, "router-namespace", NULL);
		whole.gateway = json_str(extension, "gateway", NULL);
		whole.gateway_namespace = json_str(extension, "gateway-namespace", NULL);
		whole.gateway_scheme = json_str(extension, "gateway-scheme", NULL);
	}
	if (opts->router_token_file == NULL)
		whole.router_token_file = json_str(extension, "router-token-file", NULL);
	const char *runtime = json_str(extension, "runtime", NULL);
	if (opts->runtime == ENGINE_RUNTIME_AUTO && runtime != NULL &&
		!engine_runtime_parse(runtime, &whole.runtime))
		return err_set(err, ERR_CONFIG_KUBECONFIG, "unknown runtime '%.40s'", runtime);
	if (!engine_connectivity_validate(&whole, err)) {
		err_prefix(err, "context %s", kube_config_context(engine->config));
		return false;
	}
	engine->runtime = whole.runtime;
	engine->router_url = x_strdup(whole.router_url);
	engine->router_service = x_strdup(whole.router_service);
	engine->router_namespace = x_strdup(whole.router_namespace);
	if (whole.router_token_file != NULL) {
		engine->router_token =
			engine_read_token(whole.router_token_file, "router", err);
		if (engine->router_token == NULL)
			return false;
	}
	if (whole.gateway != NULL)
		engine->gateway = engine_gateway_new(engine, whole.gateway,
			whole.gateway_namespace ? whole.gateway_namespace : "default",
			whole.gateway_scheme ? whole.gateway_scheme : "http");
	return true;
}

/* The mode of the command line; the context may still say another where nothing was said. */
enum engine_connectivity engine_connectivity_configured(const struct engine_opts *opts)
{
	enum engine_connectivity mode = opts->connectivity;
	check_mode(opts, &mode, NULL);
	return mode;
}

bool engine_connectivity_is_routed(const struct engine *engine)
{
	return engine->connectivity == ENGINE_ROUTER || engine->connectivity == ENGINE_GATEWAY;
}

enum runtime_kind engine_connectivity_runtime(
	const struct engine *engine, const struct fleet_row *row)
{
	if (engine->runtime == ENGINE_RUNTIME_SANDBOXD)
		return RUNTIME_SANDBOXD;
	/* behind a gateway there is never a sandboxd */
	bool is_legacy = engine->runtime == ENGINE_RUNTIME_LEGACY ||
			 engine->connectivity == ENGINE_GATEWAY || (row && row->is_legacy);
	return is_legacy ? RUNTIME_LEGACY : RUNTIME_SANDBOXD;
}
