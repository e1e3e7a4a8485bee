// SPDX-License-Identifier: Apache-2.0
/* Where a runtime listens, and the token that may go there: never in the clear to a stranger. */
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/runtime/internal.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
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

bool runtime_address_init(
	struct runtime *runtime, const struct runtime_opts *opts, struct err *err)
{
	return take_token(runtime, opts, err) && take_addresses(runtime, opts, err);
}

void runtime_address_deinit(struct runtime *runtime)
{
	free(runtime->rest_url);
	free(runtime->grpc_host);
	free(runtime->authority);
	x_free_secret(runtime->token);
	x_free_secret(runtime->auth_header);
}
