// SPDX-License-Identifier: Apache-2.0
/*   start ─> wait for a turn (rate) ─> wait for credentials ─> HTTP ─> done
 *                                        ^                      │
 *                                        └── 401, once ─────────┘          */
#include "engine/kube/request.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/map.h"
#include "engine/k8s/status.h"
#include "engine/kube/auth.h"
#include "engine/kube/client_internal.h"
#include "engine/kube/config_internal.h"
#include "engine/kube/denied.h"
#include "engine/kube/status.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"

/* Objects are parsed as they come: a turn of the loop must not bring too many of them. */
enum { PIECE_BYTES = 8 << 10 };
enum { MAX_ERROR_BODY_BYTES = 64 << 10, OWN_HEADERS = 6 };

struct kube_request {
	struct kube_client *client;
	struct kube_request_opts opts;
	char *method, *path, *query, *content_type, *accept, *traceparent, *body;
	struct net_loop_timer *turn;
	struct kube_auth_wait *wait;
	struct net_http_req *http;
	uint64_t generation;
	int64_t sent_wall_ms;
	bool was_rejected; /* the one repetition after a 401 has been used */
	bool is_write;     /* of a dry run: told, and not made */
	bool is_failure;   /* the status line says so: the body is collected here */
	struct str failure;
	struct kube_request *prev, *next;
};

static void request_free(struct kube_request *request)
{
	DL_DELETE(request->client->requests, request);
	net_loop_timer_free(request->turn);
	kube_auth_wait_cancel(request->wait);
	free(request->method);
	free(request->path);
	free(request->query);
	free(request->content_type);
	free(request->accept);
	free(request->traceparent);
	if (request->body != NULL)
		explicit_bzero(request->body, request->opts.body.n);
	free(request->body);
	str_deinit(&request->failure);
	free(request);
}

void kube_request_cancel(struct kube_request *request)
{
	if (request == NULL)
		return;
	if (request->http != NULL)
		net_http_cancel(request->http);
	request_free(request);
}

static void finish(
	struct kube_request *request, const struct err *err, const struct kube_answer *answer)
{
	void (*done)(void *, const struct err *, const struct kube_answer *) =
		request->opts.done;
	void *arg = request->opts.arg;
	request_free(request);
	done(arg, err, answer);
}

/* ---- a dry run */

static void tell_write(const struct kube_request *request, struct slice answer)
{
	const struct kube_client *client = request->client;
	const struct kube_write write = { request->method, request->path,
		request->query ? request->query : "", request->content_type, request->opts.body,
		answer };
	if (client->on_write != NULL)
		client->on_write(client->on_write_arg, &write);
}

static void answer_ourselves(struct kube_request *request)
{
	const struct kube_write write = { request->method, request->path, "",
		request->content_type, request->opts.body, { "", 0 } };
	tell_write(request, (struct slice){ "", 0 });
	char *text = kube_dry_run_answer(&write);
	const struct kube_answer answer = {
		.status = 200, .body = slice_of(text), .retry_after_ms = -1
	};
	finish(request, NULL, &answer);
	free(text);
}

static void fail(struct kube_request *request, const struct err *err)
{
	const struct kube_answer none = { .retry_after_ms = -1 };
	finish(request, err, &none);
}

static bool on_reply(void *arg, const struct net_http_reply *reply, struct err *err)
{
	struct kube_request *request = arg;
	(void)err;
	request->is_failure = reply->status < 200 || reply->status > 299;
	/* noted here and not at the end: the end of a watch is minutes away */
	kube_client_note_reply(request->client, request->path, reply, request->sent_wall_ms);
	if (!request->is_failure && request->opts.on_begin != NULL)
		request->opts.on_begin(request->opts.arg);
	return true;
}

static bool on_body(void *arg, struct slice bytes, struct err *err)
{
	struct kube_request *request = arg;
	if (!request->is_failure)
		return request->opts.on_body(request->opts.arg, bytes, err);
	str_add_bytes(&request->failure, bytes.p, bytes.n);
	return true;
}

static void send_request(struct kube_request *request);

static void on_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct kube_request *request = arg;
	struct kube_client *client = request->client;
	struct err why = { 0 };
	request->http = NULL;
	int status = reply ? reply->status : 0;
	if (reply != NULL && request->opts.on_body == NULL)
		kube_client_note_reply(client, request->path, reply, request->sent_wall_ms);
	if (status == 401 && !request->was_rejected &&
		kube_auth_rejected(client->auth, request->generation)) {
		request->was_rejected = true;
		str_clear(&request->failure);
		send_request(request);
		return;
	}
	if (request->is_write && reply != NULL)
		tell_write(request, body);
	struct kube_answer answer = { .status = status, .body = body, .retry_after_ms = -1 };
	bool is_failure = reply != NULL && (status < 200 || status > 299);
	if (!is_failure) {
		if (err != NULL)
			kube_transport_err(err, client->config->server, &why);
		finish(request, err ? &why : NULL, &answer);
		return;
	}
	/* the status matters more than how its body ended */
	struct str failure = request->failure;
	str_init(&request->failure, MAX_ERROR_BODY_BYTES);
	if (request->opts.on_body == NULL)
		str_add_bytes(&failure, body.p, body.n);
	answer.body = (struct slice){ failure.p, failure.n };
	cJSON *object = json_parse(answer.body, NULL);
	answer.object = object;
	answer.retry_after_ms = kube_retry_after_ms(reply, object);
	k8s_status_to_err(status, object, answer.body, &why);
	if (why.code == ERR_KUBE_FORBIDDEN)
		kube_denied_of_request(&why, request->method, request->path, request->query);
	if (status == 401)
		err_set(&why, ERR_KUBE_UNAUTHORIZED,
			kube_config_tls(client->config) != NULL
				? "%s rejects the credentials of user '%s'"
				: "%s wants credentials, and those of user '%s' are never sent without TLS",
			client->config->server, kube_config_user(client->config));
	why.sys = status;
	finish(request, &why, &answer);
	cJSON_Delete(object);
	str_deinit(&failure);
}

static void start_http(struct kube_request *request)
{
	struct kube_client *client = request->client;
	struct kube_request_opts *opts = &request->opts;
	struct net_http_header headers[OWN_HEADERS + KUBE_AUTH_MAX_HEADERS];
	size_t n = 0;
	headers[n++] = (struct net_http_header){ "Accept", request->accept };
	headers[n++] = (struct net_http_header){ "User-Agent", client->user_agent };
	if (opts->body.n > 0)
		headers[n++] =
			(struct net_http_header){ "Content-Type", request->content_type };
	if (request->traceparent != NULL)
		headers[n++] = (struct net_http_header){ "traceparent", request->traceparent };
	n += kube_auth_headers(client->auth, headers + n, KUBE_AUTH_MAX_HEADERS);
	request->generation = kube_auth_generation(client->auth);
	request->sent_wall_ms = clock_wall_ms();
	char *url = x_asprintf("%s%s%s%s", client->config->server, request->path,
		request->query ? "?" : "", request->query ? request->query : "");
	const struct net_http_opts http = {
		.method = request->method,
		.url = url,
		.headers = headers,
		.n_headers = n,
		.tls = kube_auth_tls(client->auth),
		.proxy = client->config->proxy,
		.http2 = kube_auth_tls(client->auth) != NULL,
		.accept_gzip = !opts->no_gzip && !client->config->disable_compression,
		.lane = kube_client_lane(client),
		.body = opts->body,
		.upload_bytes = (int64_t)opts->body.n,
		.timeout_ms = opts->timeout_ms,
		.headers_timeout_ms = opts->headers_timeout_ms,
		.stall_timeout_ms = opts->stall_timeout_ms,
		.max_body_bytes = opts->max_body_bytes,
		.on_reply = opts->on_body ? on_reply : NULL,
		.on_body = opts->on_body ? on_body : NULL,
		.piece_bytes = opts->on_body ? PIECE_BYTES : 0,
		.done = on_done,
		.arg = request,
	};
	struct err err = { 0 };
	request->http = net_http_start(client->http, &http, &err);
	free(url);
	if (request->http == NULL)
		fail(request, &err);
}

static void on_credentials(void *arg, const struct err *err)
{
	struct kube_request *request = arg;
	request->wait = NULL;
	if (err != NULL)
		fail(request, err);
	else
		start_http(request);
}

static void send_request(struct kube_request *request)
{
	request->is_failure = false;
	if (kube_auth_is_ready(request->client->auth))
		start_http(request);
	else
		request->wait =
			kube_auth_wait_start(request->client->auth, on_credentials, request);
}

static void on_turn(void *arg)
{
	struct kube_request *request = arg;
	if (request->is_write && request->client->dry_run == KUBE_DRY_RUN_CLIENT)
		answer_ourselves(request);
	else
		send_request(request);
}

struct kube_request *kube_request_start(
	struct kube_client *client, const struct kube_request_opts *opts, struct err *err)
{
	if (!kube_client_may(client, opts->method, opts->path, err))
		return NULL;
	struct kube_request *request = x_calloc(1, sizeof *request);
	request->client = client;
	request->opts = *opts;
	request->method = x_strdup(opts->method);
	request->path = x_strdup(opts->path);
	request->query = opts->query && opts->query[0] ? x_strdup(opts->query) : NULL;
	request->is_write =
		client->dry_run != KUBE_DRY_RUN_OFF && kube_is_write(opts->method, opts->path);
	if (request->is_write && client->dry_run == KUBE_DRY_RUN_SERVER) {
		free(request->query);
		request->query = kube_dry_run_query(opts->query);
	}
	request->content_type =
		x_strdup(opts->content_type ? opts->content_type : "application/json");
	request->accept = x_strdup(opts->accept ? opts->accept : "application/json");
	request->traceparent =
		opts->traceparent && opts->traceparent[0] ? x_strdup(opts->traceparent) : NULL;
	if (opts->body.n > 0) {
		request->body = x_strndup(opts->body.p, opts->body.n);
		request->opts.body.p = request->body;
	}
	char *dry = request->is_write && client->dry_run == KUBE_DRY_RUN_SERVER
			    ? kube_dry_run_body(opts->method, opts->body)
			    : NULL;
	if (dry != NULL) {
		x_free_secret(request->body);
		request->body = dry;
		request->opts.body = slice_of(dry);
	}
	str_init(&request->failure, MAX_ERROR_BODY_BYTES);
	request->turn = net_loop_timer_new(client->loop, on_turn, request);
	net_loop_timer_arm(request->turn, kube_client_rate_limit(client, opts->rate));
	DL_APPEND(client->requests, request);
	return request;
}
