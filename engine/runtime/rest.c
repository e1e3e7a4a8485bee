// SPDX-License-Identifier: Apache-2.0
/* What every REST request has in common. */
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { MAX_HEADERS = 16, HEALTH_BYTES = 64 << 10 };

static bool on_connect(void *arg, int fd_take, struct err *err)
{
	struct runtime *runtime = arg;

	return runtime->connect(runtime->connect_arg, runtime->rest_port, fd_take, err);
}

int64_t runtime_op_remaining_ms(const struct runtime_op *op)
{
	if (!op->deadline_mono_ms)
		return 0;
	int64_t left = op->deadline_mono_ms - clock_mono_ms();
	return left > 0 ? left : 1;
}

/* How long the router waits for the runtime; else 180 s, which is also its most. */
static size_t add_timeout(const struct runtime_op *op, struct net_http_header *into, char *text,
	size_t text_bytes)
{
	int64_t left_ms = runtime_op_remaining_ms(op);

	if (!op->runtime->n_route || left_ms <= 0)
		return 0;
	if (left_ms > setting_get(SETTING_ROUTER_TIMEOUT))
		left_ms = setting_get(SETTING_ROUTER_TIMEOUT);
	snprintf(text, text_bytes, "%.3f", (double)left_ms / 1000);
	*into = (struct net_http_header){ "X-Sandbox-Timeout", text };
	return 1;
}

bool runtime_rest_start(struct runtime_op *op, struct net_http_opts *opts, struct err *err)
{
	struct runtime *runtime = op->runtime;
	struct net_http_header headers[MAX_HEADERS];
	size_t n = 0;
	char traceparent[SPAN_TRACEPARENT_BYTES] = "";
	char timeout[32];
	char *url = x_asprintf("%s%s", runtime->rest_url, opts->url);

	for (size_t i = 0; i < opts->n_headers && n < MAX_HEADERS - 4 - RUNTIME_ROUTE_HEADERS;
		i++)
		headers[n++] = opts->headers[i];
	if (runtime->auth_header)
		headers[n++] =
			(struct net_http_header){ "Authorization", runtime->auth_header };
	telemetry_span_traceparent(op->span, traceparent);
	if (traceparent[0])
		headers[n++] = (struct net_http_header){ "traceparent", traceparent };
	n += runtime_route_headers(runtime, headers + n, op->request_id);
	n += add_timeout(op, headers + n, timeout, sizeof timeout);
	if (runtime->n_route)
		telemetry_span_set_str(op->span, "sandbox.request_id", op->request_id);
	opts->url = url;
	opts->headers = headers;
	opts->n_headers = n;
	opts->tls = runtime->tls;
	opts->lane = runtime->http_lane;
	if (runtime->connect) {
		opts->connect = on_connect;
		opts->connect_arg = runtime;
	}
	op->req = net_http_start(runtime->http, opts, err);
	free(url);
	return op->req != NULL;
}

struct net_http_req *runtime_ask(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct net_http_reply *reply,
		struct slice body),
	void *arg, struct err *err)
{
	const char *path = runtime->kind == RUNTIME_LEGACY ? "/"
			   : runtime->is_version_next      ? "/v1/metadata"
							   : "/v1/health";
	if (runtime->is_closed) {
		err_copy(err, &runtime->over);
		return NULL;
	}
	char *url = x_asprintf("%s%s", runtime->rest_url, path);
	char request_id[RUNTIME_REQUEST_ID_BYTES] = "";
	struct net_http_header headers[RUNTIME_ROUTE_HEADERS + 2];
	size_t n = runtime_route_headers(runtime, headers, request_id);
	/* the daemon's health needs no token, and a wrong one would only be told later; a router checks every request */
	if (runtime->auth_header && (runtime->is_version_next || runtime->n_route))
		headers[n++] =
			(struct net_http_header){ "Authorization", runtime->auth_header };
	struct net_http_opts opts = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.n_headers = n,
		.tls = runtime->tls,
		.lane = runtime->http_lane,
		.connect = runtime->connect ? on_connect : NULL,
		.connect_arg = runtime,
		.timeout_ms = timeout_ms,
		.connect_timeout_ms = timeout_ms,
		.max_body_bytes =
			runtime->is_version_next ? runtime->max_listing_bytes : HEALTH_BYTES,
		.done = done,
		.arg = arg,
	};
	struct net_http_req *req = net_http_start(runtime->http, &opts, err);

	free(url);
	return req;
}

struct net_http_req *runtime_rest_probe(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct net_http_reply *reply,
		struct slice body),
	struct err *err)
{
	return runtime_ask(runtime, timeout_ms, done, runtime, err);
}

bool runtime_rest_is_json(const struct net_http_reply *reply)
{
	const char *type = net_http_reply_header(reply, "Content-Type");

	return type && strncasecmp(type, "application/json", 16) == 0 &&
	       (type[16] == 0 || type[16] == ';' || type[16] == ' ');
}

int64_t runtime_rest_modified_s(const struct net_http_reply *reply)
{
	const char *date = net_http_reply_header(reply, "Last-Modified");
	int64_t seconds;

	return date && clock_parse_http_date(date, &seconds) ? seconds : -1;
}

void runtime_rest_failure_add(struct runtime_rest_failure *failure, struct slice bytes)
{
	size_t room = sizeof failure->bytes - failure->n;
	size_t n = bytes.n < room ? bytes.n : room;

	memcpy(failure->bytes + failure->n, bytes.p, n);
	failure->n += n;
}
