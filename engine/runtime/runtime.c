// SPDX-License-Identifier: Apache-2.0
/* The runtime object: its settings, the rule about tokens in the clear, its end. */
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/settings.h"
#include "engine/net/dial.h"
#include "engine/runtime/internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct runtime_address {
	bool is_tls;
	char host[256];
	uint16_t port;
};

static bool parse_url(const char *url, struct runtime_address *out, struct err *err)
{
	const char *rest = url;

	*out = (struct runtime_address){ .port = 80 };
	if (strncasecmp(url, "https://", 8) == 0) {
		out->is_tls = true;
		out->port = 443;
		rest += 8;
	} else if (strncasecmp(url, "http://", 7) == 0) {
		rest += 7;
	} else {
		return err_set(
			err, ERR_ARG_INVALID, "%s: must begin with http:// or https://", url);
	}
	size_t n = strcspn(rest, "/?#");
	const char *host = rest;
	size_t host_n = n;
	const char *port = NULL;
	if (n && rest[0] == '[') {
		const char *close = memchr(rest, ']', n);
		if (!close)
			return err_set(
				err, ERR_ARG_INVALID, "%s: no ']' after the address", url);
		host = rest + 1;
		host_n = (size_t)(close - host);
		if (close + 1 < rest + n)
			port = close + 1;
	} else {
		port = memchr(rest, ':', n);
		if (port)
			host_n = (size_t)(port - rest);
	}
	if (!host_n || host_n >= sizeof out->host || memchr(host, '@', host_n))
		return err_set(err, ERR_ARG_INVALID, "the URL has no plain host name");
	memcpy(out->host, host, host_n);
	if (port) {
		char digits[8] = "";
		int64_t value;
		size_t digits_n = n - (size_t)(port + 1 - rest);
		if (*port != ':' || digits_n >= sizeof digits)
			return err_set(err, ERR_ARG_INVALID, "%s: bad port", url);
		memcpy(digits, port + 1, digits_n);
		if (!num_parse_i64(digits, 1, 65535, &value))
			return err_set(err, ERR_ARG_INVALID, "%s: bad port", url);
		out->port = (uint16_t)value;
	}
	if (rest[n] == '?' || rest[n] == '#')
		return err_set(
			err, ERR_ARG_INVALID, "%s: query and fragment make no sense", url);
	return true;
}

static bool is_loopback(const char *host)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, &v4) == 1)
		return (ntohl(v4.s_addr) >> 24) == 127;
	return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool check_token(const char *token, struct err *err)
{
	if (!*token)
		return err_set(err, ERR_ARG_INVALID, "the token is empty");
	for (const char *c = token; *c; c++)
		if (*c <= ' ' || *c > '~')
			return err_set(err, ERR_ARG_INVALID,
				"the token must be printable ASCII without spaces");
	return true;
}

/* Whoever reads it: the router, or the daemon. */
static const char *token_of(const struct runtime_opts *opts)
{
	if (opts->router)
		return opts->router->token;
	return opts->kind == RUNTIME_LEGACY ? NULL : opts->token;
}

/* A token in the clear is readable on the way, and a pod address may belong to a stranger by now. */
static bool check_plaintext(
	const struct runtime *runtime, const char *host, bool is_tls, struct err *err)
{
	if (!runtime->auth_header || runtime->allow_plaintext_token || runtime->connect ||
		is_tls || is_loopback(host))
		return true;
	return err_set(err, ERR_CONN_PLAINTEXT_TOKEN,
		"the token would travel unencrypted to %s", host);
}

bool runtime_is_token_safe(const struct runtime *runtime, const char *url, struct err *err)
{
	struct runtime_address address;

	return parse_url(url, &address, err) &&
	       check_plaintext(runtime, address.host, address.is_tls, err);
}

/* gRPC does not pass a router. */
static bool set_token(
	struct runtime *runtime, const char *token, bool is_for_router, struct err *err)
{
	if (!check_token(token, err))
		return false;
	runtime->auth_header = x_asprintf("Bearer %s", token);
	if (!is_for_router)
		runtime->token = x_strdup(token);
	return true;
}

static bool take_token(
	struct runtime *runtime, const struct runtime_opts *opts, struct err *err)
{
	const char *token = token_of(opts);

	runtime->allow_plaintext_token = opts->allow_plaintext_token;
	runtime->find_token = opts->find_token;
	runtime->find_token_arg = opts->find_token_arg;
	return !token || set_token(runtime, token, opts->router != NULL, err);
}

bool runtime_find_token(struct runtime *runtime, struct err *err)
{
	char *token = NULL;

	if (!runtime->find_token || runtime->auth_header)
		return true;
	bool ok = runtime->find_token(runtime->find_token_arg, &token, err) &&
		  set_token(runtime, token, false, err);
	x_free_secret(token);
	if (!ok)
		return false;
	if (runtime_is_token_safe(runtime, runtime->rest_url, err) &&
		(!runtime->grpc_host ||
			check_plaintext(runtime, runtime->grpc_host, false, err)))
		return true;
	x_free_secret(runtime->auth_header);
	x_free_secret(runtime->token);
	runtime->auth_header = runtime->token = NULL;
	return false;
}

static bool take_addresses(
	struct runtime *runtime, const struct runtime_opts *opts, struct err *err)
{
	if (opts->rest_url) {
		struct runtime_address rest;
		if (!parse_url(opts->rest_url, &rest, err) ||
			!check_plaintext(runtime, rest.host, rest.is_tls, err))
			return false;
		runtime->rest_url = x_strdup(opts->rest_url);
		for (size_t n = strlen(runtime->rest_url);
			n && runtime->rest_url[n - 1] == '/';)
			runtime->rest_url[--n] = 0;
		runtime->rest_port = rest.port;
		runtime->lanes[LANE_REST].is_loopback =
			!opts->connect && is_loopback(rest.host);
	}
	if (opts->grpc_host) {
		if (!*opts->grpc_host || !opts->grpc_port)
			return err_set(
				err, ERR_ARG_INVALID, "the gRPC address needs host and port");
		if (!check_plaintext(runtime, opts->grpc_host, opts->tls != NULL, err))
			return false;
		runtime->grpc_host = x_strdup(opts->grpc_host);
		runtime->grpc_port = opts->grpc_port;
		runtime->lanes[LANE_GRPC].is_loopback =
			!opts->connect && is_loopback(opts->grpc_host);
		runtime->authority = strchr(opts->grpc_host, ':')
					     ? x_asprintf("[%s]:%u", opts->grpc_host,
						       (unsigned)opts->grpc_port)
					     : x_asprintf("%s:%u", opts->grpc_host,
						       (unsigned)opts->grpc_port);
	}
	if (opts->locate)
		runtime->rest_url = x_strdup(""); /* until it is found */
	if (!runtime->rest_url && !opts->grpc_host)
		return err_set(err, ERR_ARG_INVALID, "neither a REST nor a gRPC address");
	return true;
}

static int64_t given_or(int64_t given, enum setting setting)
{
	return given > 0 ? given : setting_get(setting);
}

static void take_limits(struct runtime *runtime, const struct runtime_opts *opts)
{
	bool is_legacy = opts->kind == RUNTIME_LEGACY;

	runtime->max_download_bytes =
		(uint64_t)given_or((int64_t)opts->max_download_bytes, SETTING_DOWNLOAD_LIMIT);
	runtime->max_upload_bytes =
		(uint64_t)given_or((int64_t)opts->max_upload_bytes, SETTING_UPLOAD_LIMIT);
	runtime->max_listing_bytes =
		(size_t)given_or((int64_t)opts->max_listing_bytes, SETTING_LISTING_LIMIT);
	runtime->max_execute_bytes = (size_t)given_or((int64_t)opts->max_execute_bytes,
		is_legacy ? SETTING_LEGACY_OUTPUT_LIMIT : SETTING_OUTPUT_LIMIT);
	runtime->connect_timeout_ms =
		given_or(opts->connect_timeout_ms, SETTING_CONNECT_TIMEOUT);
}

struct runtime *runtime_new(struct net_loop *loop, struct net_http *http,
	const struct runtime_opts *opts, struct err *err)
{
	static unsigned long serial;
	struct runtime *runtime = x_calloc(1, sizeof *runtime);

	runtime->loop = loop;
	runtime->http = http;
	runtime->connect = opts->connect;
	runtime->connect_arg = opts->connect_arg;
	if (!take_token(runtime, opts, err) || !take_addresses(runtime, opts, err) ||
		!runtime_route_init(runtime, opts, err))
		goto fail;
	runtime->tls = opts->tls ? net_tls_ref(opts->tls) : NULL;
	runtime->telemetry = opts->telemetry;
	runtime->label = x_strdup(opts->label      ? opts->label
				  : opts->rest_url ? runtime->rest_url
						   : runtime->authority);
	runtime->http_lane = x_asprintf("runtime-%lu", ++serial);
	runtime->explain = opts->explain;
	runtime->explain_arg = opts->explain_arg;
	runtime->read_only = opts->read_only;
	take_limits(runtime, opts);
	runtime_connect_init(runtime);
	return runtime;
fail:
	runtime_free(runtime);
	return NULL;
}

void runtime_free(struct runtime *runtime)
{
	if (!runtime)
		return;
	while (runtime->ops)
		runtime_op_end_silently(runtime->ops);
	runtime_liveness_deinit(runtime);
	runtime_connect_deinit(runtime);
	if (runtime->http_lane)
		net_http_drop_lane(runtime->http, runtime->http_lane);
	if (runtime->tls)
		net_tls_unref(runtime->tls);
	runtime_route_deinit(runtime);
	free(runtime->label);
	free(runtime->rest_url);
	free(runtime->grpc_host);
	free(runtime->authority);
	x_free_secret(runtime->token);
	x_free_secret(runtime->auth_header);
	free(runtime->http_lane);
	free(runtime);
}

const char *runtime_label(const struct runtime *runtime)
{
	return runtime->label;
}

size_t runtime_n_killing(const struct runtime *runtime)
{
	return runtime->n_killing;
}

enum runtime_state runtime_state_of(const struct runtime *runtime)
{
	bool is_up = false, is_down = runtime_liveness_is_silent(runtime);

	for (int i = 0; i < LANE_COUNT; i++) {
		if (runtime->lanes[i].state == LANE_CONNECTING)
			return RUNTIME_CONNECTING;
		is_up |= runtime->lanes[i].state == LANE_UP;
		is_down |= runtime->lanes[i].state == LANE_DOWN && runtime->lanes[i].has_failed;
	}
	return is_down ? RUNTIME_DOWN : is_up ? RUNTIME_UP : RUNTIME_IDLE;
}

void runtime_invalidate(struct runtime *runtime, const struct err *err)
{
	struct err none = { 0 };

	if (!err) {
		err_set(&none, ERR_CONN_LOST, "the connection was given up");
		err = &none;
	}
	for (struct runtime_op *op = runtime->ops; op; op = op->next) {
		if (op->detach)
			op->detach(op);
		net_http_cancel(op->req);
		net_grpc_cancel(op->call);
		op->req = NULL;
		op->call = NULL;
		runtime_op_fail_later(op, err);
	}
	runtime_connect_drop(runtime);
}
