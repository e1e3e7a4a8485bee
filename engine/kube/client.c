// SPDX-License-Identifier: Apache-2.0
/* The client and its buffered JSON calls, made of requests (request.c). */
#include "engine/kube/client.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/kube/auth.h"
#include "engine/kube/client_internal.h"
#include "engine/kube/config_internal.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	RETRY_FIRST_MS = 200,
	MAX_RETRY_AFTER_MS = 10 * 1000, /* longer: the caller is told instead */
};

struct kube_call {
	struct kube_client *client;
	struct kube_call_opts opts;
	char *method, *path, *query, *content_type, *accept, *traceparent, *body;
	struct kube_request *request;
	struct net_loop_timer *again;
	int retries;
	struct kube_call *prev, *next;
};

/* ---- the client */

struct kube_client *kube_client_new(struct net_loop *loop, struct net_http *http,
	const struct kube_client_opts *opts, struct err *err)
{
	if (opts->config == NULL) {
		err_set(err, ERR_INTERNAL, "a client needs a configuration");
		return NULL;
	}
	struct kube_client *client = x_calloc(1, sizeof *client);
	client->loop = loop;
	client->http = http;
	client->config = kube_config_ref(opts->config);
	client->auth = kube_auth_new(loop, client->config);
	client->user_agent = x_strdup(opts->user_agent ? opts->user_agent : "sandmux");
	client->read_only = opts->read_only;
	client->dry_run = opts->dry_run;
	client->on_write = opts->on_write;
	client->on_write_arg = opts->on_write_arg;
	client->watch_idle_ms = opts->watch_idle_ms;
	client->person = (struct kube_bucket){ 40, 20, 40, clock_mono_ms() };
	client->background = (struct kube_bucket){ 10, 5, 10, clock_mono_ms() };
	kube_client_reset_connections(client, client->pool_key);
	return client;
}

bool kube_client_is_logging_in(const struct kube_client *client)
{
	return kube_auth_is_logging_in(client->auth);
}

bool kube_client_is_dry_run(const struct kube_client *client)
{
	return client->dry_run != KUBE_DRY_RUN_OFF;
}

int64_t kube_client_login_ms(const struct kube_client *client)
{
	return kube_auth_login_ms(client->auth);
}

void kube_client_free(struct kube_client *client)
{
	if (client == NULL)
		return;
	while (client->calls != NULL)
		kube_call_cancel(client->calls);
	while (client->requests != NULL)
		kube_request_cancel(client->requests);
	kube_auth_free(client->auth);
	kube_config_unref(client->config);
	free(client->user_agent);
	free(client);
}

/* ---- calls */

static void call_free(struct kube_call *call)
{
	DL_DELETE(call->client->calls, call);
	net_loop_timer_free(call->again);
	free(call->method);
	free(call->path);
	free(call->query);
	free(call->content_type);
	free(call->accept);
	free(call->traceparent);
	if (call->body != NULL)
		explicit_bzero(call->body, call->opts.body.n);
	free(call->body);
	free(call);
}

void kube_call_cancel(struct kube_call *call)
{
	if (call == NULL)
		return;
	kube_request_cancel(call->request);
	call_free(call);
}

static void call_finish(
	struct kube_call *call, const struct err *err, const struct cJSON *object)
{
	void (*done)(void *, const struct err *, const struct cJSON *) = call->opts.done;
	void *arg = call->opts.arg;
	call_free(call);
	done(arg, err, object);
}

/* Reads are repeated when the way or the server failed; a write only when the server says that it did not look at
 * it (429, and 503 before it is up). */
static bool may_repeat(
	const struct kube_call *call, const struct err *err, const struct kube_answer *answer)
{
	bool is_read = strcmp(call->method, "GET") == 0 || strcmp(call->method, "HEAD") == 0;
	if (call->retries >= setting_get(SETTING_REQUEST_RETRIES) ||
		answer->retry_after_ms > MAX_RETRY_AFTER_MS)
		return false;
	if (answer->status == 429 || answer->status == 503)
		return true;
	if (!is_read)
		return false;
	return answer->status >= 500 || err->code == ERR_KUBE_TRANSPORT ||
	       (err->code == ERR_OP_TIMEOUT && answer->status == 0);
}

static bool attempt(struct kube_call *call, struct err *err);

static void on_again(void *arg)
{
	struct kube_call *call = arg;
	struct err err = { 0 };
	if (!attempt(call, &err))
		call_finish(call, &err, NULL);
}

static void on_answer(void *arg, const struct err *err, const struct kube_answer *answer)
{
	struct kube_call *call = arg;
	call->request = NULL;
	if (err != NULL && may_repeat(call, err, answer)) {
		int64_t delay = (int64_t)RETRY_FIRST_MS << call->retries++;
		uint16_t random;
		digest_random(&random, sizeof random);
		delay += delay * random / 65536;
		if (answer->retry_after_ms > delay)
			delay = answer->retry_after_ms;
		net_loop_timer_arm(call->again, delay);
		return;
	}
	if (err != NULL) {
		call_finish(call, err, answer->object);
		return;
	}
	struct err why = { 0 };
	cJSON *object = NULL;
	bool has_body = answer->body.n > 0;
	if (has_body)
		object = json_parse(answer->body, &why);
	if (has_body && object == NULL) {
		if (why.code == ERR_RUNTIME_PROTOCOL)
			why.code = ERR_KUBE_PROTOCOL;
		err_prefix(&why, "%s %s", call->method, call->path);
		call_finish(call, &why, NULL);
		return;
	}
	call_finish(call, NULL, object);
	cJSON_Delete(object);
}

static bool attempt(struct kube_call *call, struct err *err)
{
	int64_t timeout_ms = call->opts.timeout_ms;
	if (timeout_ms == 0)
		timeout_ms = call->client->config->request_timeout_ms;
	const struct kube_request_opts opts = {
		.method = call->method,
		.path = call->path,
		.query = call->query,
		.content_type = call->content_type,
		.accept = call->accept,
		.traceparent = call->traceparent,
		.body = call->opts.body,
		.rate = KUBE_RATE_PERSON,
		.timeout_ms =
			timeout_ms > 0 ? timeout_ms : setting_get(SETTING_REQUEST_TIMEOUT),
		.done = on_answer,
		.arg = call,
	};
	call->request = kube_request_start(call->client, &opts, err);
	return call->request != NULL;
}

struct kube_call *kube_call_start(
	struct kube_client *client, const struct kube_call_opts *opts, struct err *err)
{
	struct kube_call *call = x_calloc(1, sizeof *call);
	call->client = client;
	call->opts = *opts;
	call->method = x_strdup(opts->method);
	call->path = x_strdup(opts->path);
	call->query = x_strdup(opts->query);
	call->content_type = x_strdup(opts->content_type);
	call->accept = x_strdup(opts->accept);
	call->traceparent = x_strdup(opts->traceparent);
	if (opts->body.n > 0) {
		call->body = x_strndup(opts->body.p, opts->body.n);
		call->opts.body.p = call->body;
	}
	call->again = net_loop_timer_new(client->loop, on_again, call);
	DL_APPEND(client->calls, call);
	if (attempt(call, err))
		return call;
	call_free(call);
	return NULL;
}
