// SPDX-License-Identifier: Apache-2.0
/* What stands between us and the runtime: a sandbox-router with its headers and its own errors, an address that is to
 * be found first, and the version that was asked for. */
#include "engine/base/digest.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/runtime/internal.h"
#include "engine/runtime/legacy.h"

#include <stdlib.h>

enum { MAX_URL_BYTES = 1024 };

bool runtime_unsupported(struct err *err, const char *what)
{
	return err_set(err, ERR_OP_UNSUPPORTED, "%s: not supported by this runtime", what);
}

enum runtime_kind runtime_kind_of(const struct runtime *runtime)
{
	return runtime->kind;
}

bool runtime_can(const struct runtime *runtime, enum runtime_feature feature)
{
	bool is_legacy = runtime->kind == RUNTIME_LEGACY;

	switch (feature) {
	case RUNTIME_CAN_EXECUTE:
		return is_legacy || runtime->grpc_host != NULL;
	case RUNTIME_CAN_PROCESSES:
		return !is_legacy && runtime->grpc_host != NULL;
	default:
		return !is_legacy && runtime->rest_url != NULL;
	}
}

/* ---- the router's headers */
bool runtime_route_check(const char *what, const char *value, struct err *err)
{
	for (const char *c = value; *c; c++)
		if (*c <= ' ' || *c > '~')
			return err_set(
				err, ERR_ARG_INVALID, "%s cannot be sent in a header", what);
	return true;
}

static bool add(struct runtime *runtime, const char *name, const char *value, struct err *err)
{
	if (!value || !*value)
		return true;
	if (!runtime_route_check(name, value, err))
		return false;
	runtime->route[runtime->n_route++] = (struct net_http_header){ name, x_strdup(value) };
	return true;
}

static bool add_router(
	struct runtime *runtime, const struct runtime_router *router, struct err *err)
{
	char *port = x_asprintf("%u", (unsigned)router->port);
	bool ok = add(runtime, "X-Sandbox-ID", router->sandbox, err) &&
		  add(runtime, "X-Sandbox-Namespace", router->namespace_, err) &&
		  add(runtime, "X-Sandbox-Port", port, err) &&
		  add(runtime, "X-Sandbox-Pod-IP", router->pod_ip, err) &&
		  add(runtime, "X-Sandbox-UID", router->uid, err);

	free(port);
	return ok;
}

bool runtime_route_init(
	struct runtime *runtime, const struct runtime_opts *opts, struct err *err)
{
	runtime->kind = opts->kind;
	runtime->locate = opts->locate;
	runtime->locate_arg = opts->locate_arg;
	if (opts->required_version && opts->kind != RUNTIME_LEGACY)
		runtime->required_version = x_strdup(opts->required_version);
	if (opts->kind == RUNTIME_LEGACY && opts->grpc_host)
		return err_set(err, ERR_ARG_INVALID, "the legacy runtime has no gRPC address");
	return !opts->router || add_router(runtime, opts->router, err);
}

void runtime_route_deinit(struct runtime *runtime)
{
	for (size_t i = 0; i < runtime->n_route; i++)
		free((void *)(uintptr_t)runtime->route[i].value);
	free(runtime->required_version);
}

size_t runtime_route_headers(
	const struct runtime *runtime, struct net_http_header *into, char *request_id)
{
	if (!runtime->n_route)
		return 0;
	for (size_t i = 0; i < runtime->n_route; i++)
		into[i] = runtime->route[i];
	if (!request_id[0])
		digest_random_hex(request_id, RUNTIME_REQUEST_ID_BYTES - 1);
	into[runtime->n_route] = (struct net_http_header){ "X-Request-ID", request_id };
	return runtime->n_route + 1;
}

/* ---- an address that is found */
bool runtime_route_locate(struct runtime *runtime, struct err *err)
{
	struct str url;

	if (!runtime->locate || runtime->is_version_next)
		return true;
	str_init(&url, MAX_URL_BYTES);
	bool ok = runtime->locate(runtime->locate_arg, &url, err);
	if (ok && url.truncated)
		ok = err_set(err, ERR_ARG_INVALID, "the address is too long");
	ok = ok && runtime_is_token_safe(runtime, url.p, err);
	if (ok) {
		free(runtime->rest_url);
		runtime->rest_url = str_take(&url);
	}
	str_deinit(&url);
	return ok;
}

/* ---- is it what we look for? */
static bool judge_version(struct runtime *runtime, const struct net_http_reply *reply,
	struct slice body, struct err *err)
{
	/* a daemon without the endpoint, or without the variable, names no version */
	if (reply->status == 404)
		return true;
	if (reply->status != 200)
		return runtime_route_error(runtime, err, ERRORS_DAEMON, reply->status, body);
	cJSON *json = json_parse(body, err);
	if (!json)
		return false;
	const char *version = json_str(json, "env", "SANDBOX_SANDBOXD_VERSION", NULL);
	bool ok = !version || strcmp(version, runtime->required_version) == 0;
	if (!ok)
		err_set(err, ERR_RUNTIME_VERSION, "%s runs sandboxd %.80s, not %.80s",
			runtime->label, version, runtime->required_version);
	cJSON_Delete(json);
	return ok;
}

static bool judge_legacy(struct slice body, struct err *err)
{
	cJSON *json = json_parse(body, NULL);
	const char *status = json ? json_str(json, "status", NULL) : NULL;
	bool ok = status && strcmp(status, "ok") == 0;

	cJSON_Delete(json);
	return ok || err_set(err, ERR_RUNTIME_PROTOCOL,
			     "what answers there is not the legacy runtime");
}

bool runtime_route_judge(struct runtime *runtime, const struct net_http_reply *reply,
	struct slice body, struct err *err)
{
	if (runtime->is_version_next) {
		runtime->is_version_next = false;
		return judge_version(runtime, reply, body, err);
	}
	if (reply->status != 200)
		return runtime_route_error(runtime, err, ERRORS_DAEMON, reply->status, body);
	if (runtime->kind == RUNTIME_LEGACY)
		return judge_legacy(body, err);
	runtime->is_version_next = runtime->required_version != NULL;
	return true;
}

bool runtime_route_is_final(enum err_code code)
{
	switch (code) {
	case ERR_CONN_TLS:
	case ERR_CONN_PLAINTEXT_TOKEN:
	case ERR_RUNTIME_AUTH:
	case ERR_RUNTIME_VERSION:
	case ERR_PORTFWD_DENIED:
	case ERR_PORTFWD_RUNTIME:
	case ERR_ROUTER_REJECTED:
	case ERR_GATEWAY_DELETED:
	case ERR_KUBE_FORBIDDEN:
	case ERR_KUBE_UNAUTHORIZED:
	case ERR_KUBE_NOT_SERVED:
	case ERR_ARG_INVALID:
		return true;
	default:
		return false;
	}
}

bool runtime_route_error(const struct runtime *runtime, struct err *err,
	enum runtime_errors_rest kind, int status, struct slice body)
{
	if (runtime->n_route && runtime_errors_is_router(err, status, body))
		return false;
	return runtime_errors_from_rest(err, kind, status, body);
}

char *runtime_route_url(
	const struct runtime *runtime, const char *legacy_endpoint, const char *path)
{
	return runtime->kind == RUNTIME_LEGACY ? runtime_legacy_url(legacy_endpoint, path)
					       : path_to_url(path);
}
