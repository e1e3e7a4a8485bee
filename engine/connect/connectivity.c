// SPDX-License-Identifier: Apache-2.0
#include "engine/connect/connectivity.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/fleet/row.h"
#include "engine/k8s/name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_TOKEN_BYTES = 16 << 10 };

/* ---- names */

static const char *const mode_names[] = {
	[CONNECT_DEFAULT] = "default",
	[CONNECT_PORT_FORWARD] = "port-forward",
	[CONNECT_IN_CLUSTER_SERVICE] = "in-cluster-service",
	[CONNECT_IN_CLUSTER_POD_IP] = "in-cluster-pod-ip",
	[CONNECT_GATEWAY] = "gateway",
	[CONNECT_ROUTER] = "router",
	[CONNECT_DIRECT] = "direct",
};
_Static_assert(
	sizeof mode_names / sizeof *mode_names == CONNECT_MODE_COUNT, "a name for each mode");

const char *connect_mode_name(enum connect_mode mode)
{
	return mode_names[mode];
}

bool connect_mode_parse(const char *text, enum connect_mode *out)
{
	for (int i = CONNECT_PORT_FORWARD; i < CONNECT_MODE_COUNT; i++) {
		if (strcmp(text, mode_names[i]) == 0) {
			*out = (enum connect_mode)i;
			return true;
		}
	}
	return false;
}

static const char *const runtime_names[] = {
	[CONNECT_RUNTIME_AUTO] = "auto",
	[CONNECT_RUNTIME_SANDBOXD] = "sandboxd",
	[CONNECT_RUNTIME_LEGACY] = "legacy",
};
_Static_assert(sizeof runtime_names / sizeof *runtime_names == CONNECT_RUNTIME_COUNT,
	"a name for each choice");

bool connect_runtime_parse(const char *text, enum connect_runtime *out)
{
	for (int i = 0; i < CONNECT_RUNTIME_COUNT; i++) {
		if (strcmp(text, runtime_names[i]) == 0) {
			*out = (enum connect_runtime)i;
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
	const struct connect_opts *opts, enum connect_mode *mode, struct err *err)
{
	const struct {
		enum connect_mode mode;
		const char *option;
		bool is_given;
	} ways[] = {
		{ CONNECT_DIRECT, "--rest or --grpc",
			opts->rest_url != NULL || opts->grpc_address != NULL },
		{ CONNECT_ROUTER, "--router-url", opts->router_url != NULL },
		{ CONNECT_ROUTER, "--router-service", opts->router_service != NULL },
		{ CONNECT_GATEWAY, "--gateway", opts->gateway != NULL },
	};
	const char *before = NULL;
	*mode = opts->mode;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (!ways[i].is_given)
			continue;
		if (before != NULL)
			return conflict(err, before, ways[i].option);
		before = ways[i].option;
		if (*mode == CONNECT_DEFAULT)
			*mode = ways[i].mode;
		if (*mode != ways[i].mode)
			return err_set(err, ERR_ARG_INVALID,
				"--connectivity %s and %s contradict each other",
				connect_mode_name(*mode), ways[i].option);
	}
	for (size_t i = 0; before == NULL && i < sizeof ways / sizeof *ways; i++)
		if (*mode == ways[i].mode)
			return err_set(err, ERR_ARG_INVALID, "--connectivity %s needs %s%s",
				connect_mode_name(*mode), ways[i].option,
				*mode == CONNECT_ROUTER ? " or --router-service" : "");
	return true;
}

bool connect_validate(const struct connect_opts *opts, struct err *err)
{
	enum connect_mode mode;
	if (!check_mode(opts, &mode, err))
		return false;
	bool is_routed = mode == CONNECT_ROUTER || mode == CONNECT_GATEWAY;
	bool is_legacy = opts->runtime == CONNECT_RUNTIME_LEGACY;
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
	if (mode == CONNECT_GATEWAY && opts->runtime == CONNECT_RUNTIME_SANDBOXD)
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

/* ---- tokens and addresses */

char *connect_read_token(const char *path, const char *whose, struct err *err)
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

/* ---- what is used */

bool connect_is_direct(const struct connect_opts *opts)
{
	return opts->rest_url != NULL || opts->grpc_address != NULL;
}

bool connect_is_routed(const struct connect_settings *settings)
{
	return settings->mode == CONNECT_ROUTER || settings->mode == CONNECT_GATEWAY;
}

static bool take_direct(
	struct connect_settings *settings, const struct connect_opts *opts, struct err *err)
{
	char *rest = settings->rest_url = x_strdup(opts->rest_url);
	size_t n = rest ? strlen(rest) : 0;
	while (n > 0 && rest[n - 1] == '/')
		rest[--n] = '\0';
	if (rest != NULL && strncmp(rest, "http://", 7) != 0 &&
		strncmp(rest, "https://", 8) != 0)
		return err_set(err, ERR_ARG_INVALID,
			"--rest '%s' is not an http:// or https:// URL", rest);
	if (opts->grpc_address != NULL &&
		!split_address(
			opts->grpc_address, &settings->grpc_host, &settings->grpc_port, err))
		return err_prefix(err, "--grpc");
	return true;
}

/* The context's words about the way, where the command line has none. */
static bool merge(struct connect_opts *whole, const char *context, const cJSON *extension,
	struct err *err)
{
	const char *mode = json_str(extension, "connectivity", NULL);
	const char *runtime = json_str(extension, "runtime", NULL);
	bool is_asked = whole->router_url || whole->router_service || whole->gateway ||
			whole->mode != CONNECT_DEFAULT;
	if (!is_asked) {
		whole->mode = CONNECT_PORT_FORWARD;
		if (mode != NULL && !connect_mode_parse(mode, &whole->mode))
			return err_set(err, ERR_CONFIG_KUBECONFIG,
				"context %s: unknown connectivity '%s'", context, mode);
		whole->router_url = json_str(extension, "router-url", NULL);
		whole->router_service = json_str(extension, "router-service", NULL);
		whole->router_namespace = json_str(extension, "router-namespace", NULL);
		whole->gateway = json_str(extension, "gateway", NULL);
		whole->gateway_namespace = json_str(extension, "gateway-namespace", NULL);
		whole->gateway_scheme = json_str(extension, "gateway-scheme", NULL);
	}
	if (whole->router_token_file == NULL)
		whole->router_token_file = json_str(extension, "router-token-file", NULL);
	if (whole->runtime == CONNECT_RUNTIME_AUTO && runtime != NULL &&
		!connect_runtime_parse(runtime, &whole->runtime))
		return err_set(err, ERR_CONFIG_KUBECONFIG, "unknown runtime '%.40s'", runtime);
	if (!connect_validate(whole, err))
		return err_prefix(err, "context %s", context);
	return true;
}

static bool take_way(
	struct connect_settings *settings, const struct connect_opts *opts, struct err *err)
{
	settings->router_url = x_strdup(opts->router_url);
	settings->router_service = x_strdup(opts->router_service);
	settings->router_namespace = x_strdup(opts->router_namespace);
	if (opts->gateway != NULL) {
		settings->gateway = x_strdup(opts->gateway);
		settings->gateway_namespace =
			x_strdup(opts->gateway_namespace ? opts->gateway_namespace : "default");
		settings->gateway_scheme =
			x_strdup(opts->gateway_scheme ? opts->gateway_scheme : "http");
	}
	if (opts->router_token_file == NULL)
		return true;
	settings->router_token = connect_read_token(opts->router_token_file, "router", err);
	return settings->router_token != NULL;
}

/* The command line's token is there already. */
static bool take_token(
	struct connect_settings *settings, const cJSON *extension, struct err *err)
{
	const char *file = json_str(extension, "daemon-token-file", NULL);
	if (settings->token != NULL || file == NULL)
		return true;
	if (strstr(file, CONNECT_TOKEN_POD) != NULL) {
		settings->token_of_pod = x_strdup(file);
		return true;
	}
	settings->token = connect_read_token(file, "daemon", err);
	return settings->token != NULL;
}

bool connect_settings_init(struct connect_settings *settings, const struct connect_opts *opts,
	const char *context, const cJSON *extension, struct err *err)
{
	struct connect_opts whole = *opts;
	*settings = (struct connect_settings){
		.runtime = opts->runtime,
		.runtime_version = x_strdup(opts->runtime_version),
		.no_pod_ip_header = opts->no_pod_ip_header,
		.allow_plaintext_token = opts->allow_plaintext_token,
	};
	if (!check_mode(&whole, &settings->mode, err))
		return false;
	if (opts->daemon_token_file != NULL) {
		settings->token = connect_read_token(opts->daemon_token_file, "daemon", err);
		if (settings->token == NULL)
			return false;
	}
	if (connect_is_direct(opts))
		return take_direct(settings, opts, err);
	if (!merge(&whole, context, extension, err))
		return false;
	check_mode(&whole, &settings->mode, NULL);
	settings->runtime = whole.runtime;
	return take_way(settings, &whole, err) && take_token(settings, extension, err);
}

void connect_settings_deinit(struct connect_settings *settings)
{
	free(settings->runtime_version);
	free(settings->router_url);
	free(settings->router_service);
	free(settings->router_namespace);
	x_free_secret(settings->router_token);
	free(settings->gateway);
	free(settings->gateway_namespace);
	free(settings->gateway_scheme);
	free(settings->rest_url);
	free(settings->grpc_host);
	x_free_secret(settings->token);
	free(settings->token_of_pod);
	*settings = (struct connect_settings){ 0 };
}

enum runtime_kind connect_runtime_kind(
	const struct connect_settings *settings, const struct fleet_row *row)
{
	if (settings->runtime == CONNECT_RUNTIME_SANDBOXD)
		return RUNTIME_SANDBOXD;
	/* behind a gateway there is never a sandboxd */
	bool is_legacy = settings->runtime == CONNECT_RUNTIME_LEGACY ||
			 settings->mode == CONNECT_GATEWAY || (row && row->is_legacy);
	return is_legacy ? RUNTIME_LEGACY : RUNTIME_SANDBOXD;
}

bool connect_is_other_kernel(const char *runtime_class)
{
	return strstr(runtime_class, "gvisor") || strstr(runtime_class, "runsc") ||
	       strstr(runtime_class, "kata");
}
