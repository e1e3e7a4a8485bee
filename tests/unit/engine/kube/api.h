// SPDX-License-Identifier: Apache-2.0
/* A scripted API server in the test's own loop (evhttp): the test's handler answers each request, keeps streams open,
 * cuts them, or says nothing. */
#pragma once

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"

#include "tests/unit/engine/kube/api_tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { API_LOG = 256 };

struct api_request { /* what was asked, kept for assertions */
	char method[8];
	char path[256];
	char query[1024];
	char *body;
	char authorization[256];
	uint16_t peer_port;
	int64_t at_ms;
};

struct api {
	struct net_loop *loop;
	struct net_http *http;
	struct kube_config *config;
	struct kube_client *client;
	struct evhttp *server;
	void *tls;
	struct tls_identity *identity;
	uint16_t port;
	char dir[64];
	struct api_request log[API_LOG];
	size_t n;
	/* answers, or keeps the request for later */
	void (*handle)(
		struct api *api, struct evhttp_request *request, const struct api_request *is);
	void *test;
};

static inline const char *api_query(const struct api_request *is, const char *key)
{
	static char value[1024];
	struct evkeyvalq pairs;
	value[0] = '\0';
	if (evhttp_parse_query_str(is->query, &pairs) != 0)
		return NULL;
	const char *found = evhttp_find_header(&pairs, key);
	if (found != NULL)
		snprintf(value, sizeof value, "%s", found);
	evhttp_clear_headers(&pairs);
	return found != NULL ? value : NULL;
}

static inline void api_reply(struct evhttp_request *request, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline void api_reply(struct evhttp_request *request, int code, const char *format, ...)
{
	struct evbuffer *body = evbuffer_new();
	va_list args;
	va_start(args, format);
	evbuffer_add_vprintf(body, format, args);
	va_end(args);
	evhttp_add_header(
		evhttp_request_get_output_headers(request), "Content-Type", "application/json");
	evhttp_send_reply(request, code, "x", body);
	evbuffer_free(body);
}

static inline void api_status(
	struct evhttp_request *request, int code, const char *reason, const char *message)
{
	api_reply(request, code,
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"%s\",\"reason\":\"%s\",\"code\":%d}",
		message, reason, code);
}

static inline void api_send(struct evhttp_request *request, const char *text)
{
	struct evbuffer *chunk = evbuffer_new();
	evbuffer_add(chunk, text, strlen(text));
	evhttp_send_reply_chunk(request, chunk);
	evbuffer_free(chunk);
}

/* Closes the connection under a request. libevent leaves a request whose answer has begun to the close callback of
 * whoever was answering it (evhttp_request_free), and frees one that has not been answered itself. */
static inline void api_cut(struct evhttp_request *request)
{
	struct bufferevent *bev =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
	shutdown(bufferevent_getfd(bev), SHUT_RDWR);
}

static inline const char *api_method(struct evhttp_request *request)
{
	switch (evhttp_request_get_command(request)) {
	case EVHTTP_REQ_GET:
		return "GET";
	case EVHTTP_REQ_POST:
		return "POST";
	case EVHTTP_REQ_PATCH:
		return "PATCH";
	case EVHTTP_REQ_PUT:
		return "PUT";
	case EVHTTP_REQ_DELETE:
		return "DELETE";
	default:
		return "?";
	}
}

static inline void api_on_request(struct evhttp_request *request, void *arg)
{
	struct api *api = arg;
	assert_true(api->n < API_LOG);
	struct api_request *is = &api->log[api->n++];
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *query = evhttp_uri_get_query(uri);
	const char *authorization =
		evhttp_find_header(evhttp_request_get_input_headers(request), "Authorization");
	char *address;
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	size_t n = evbuffer_get_length(body);
	snprintf(is->method, sizeof is->method, "%s", api_method(request));
	snprintf(is->path, sizeof is->path, "%s", evhttp_uri_get_path(uri));
	snprintf(is->query, sizeof is->query, "%s", query ? query : "");
	snprintf(is->authorization, sizeof is->authorization, "%s",
		authorization ? authorization : "");
	is->body = x_malloc(n + 1);
	evbuffer_copyout(body, is->body, n);
	is->body[n] = '\0';
	is->at_ms = clock_mono_ms();
	evhttp_connection_get_peer(
		evhttp_request_get_connection(request), &address, &is->peer_port);
	api->handle(api, request, is);
}

static inline void api_write(const struct api *api, const char *name, const char *text)
{
	char *path = x_asprintf("%s/%s", api->dir, name);
	struct err err = { 0 };
	if (!file_write_atomic(path, slice_of(text), 0600, &err))
		fail_msg("%s", err.msg);
	free(path);
}

/* user: the YAML of users[0].user, indented by four, and the server speaks TLS; NULL: a token, and it does not */
static inline void api_start(struct api *api, const char *user,
	void (*handle)(struct api *, struct evhttp_request *, const struct api_request *),
	void *test)
{
	struct err err = { 0 };
	memset(api, 0, sizeof *api);
	api->handle = handle;
	api->test = test;
	api->loop = net_loop_new(&err);
	assert_non_null(api->loop);
	api->http = net_http_new(api->loop, &err);
	assert_non_null(api->http);
	api->server = evhttp_new(net_loop_base(api->loop));
	evhttp_set_allowed_methods(api->server, EVHTTP_REQ_GET | EVHTTP_REQ_POST |
							EVHTTP_REQ_PATCH | EVHTTP_REQ_DELETE |
							EVHTTP_REQ_PUT);
	struct evhttp_bound_socket *socket =
		evhttp_bind_socket_with_handle(api->server, "127.0.0.1", 0);
	assert_non_null(socket);
	struct sockaddr_storage address;
	socklen_t n = sizeof address;
	assert_int_equal(0, getsockname(evhttp_bound_socket_get_fd(socket),
				    (struct sockaddr *)(void *)&address, &n));
	uint8_t bytes[2];
	memcpy(bytes, (const char *)&address + 2, 2); /* sin_port */
	api->port = (uint16_t)(bytes[0] << 8 | bytes[1]);
	evhttp_set_gencb(api->server, api_on_request, api);
	snprintf(api->dir, sizeof api->dir, "/tmp/sandmux-kube-XXXXXX");
	assert_non_null(mkdtemp(api->dir));
	if (user != NULL) {
		api->identity = tls_identity_new("IP:127.0.0.1", 2);
		api->tls = api_tls_start(api->server, api->identity);
		api_write(api, "ca.pem", api->identity->ca_pem);
	}
	char *text = x_asprintf(
		"clusters:\n- name: c\n  cluster:\n    server: http%s://127.0.0.1:%d\n%s"
		"users:\n- name: u\n  user:\n%s\n"
		"contexts:\n- name: x\n  context:\n    cluster: c\n    user: u\n"
		"    namespace: demo\ncurrent-context: x\n",
		user ? "s" : "", api->port, user ? "    certificate-authority: ca.pem\n" : "",
		user ? user : "    token: t0ken");
	api_write(api, "config", text);
	free(text);
	char *path = x_asprintf("%s/config", api->dir);
	const struct kube_config_opts opts = { .kubeconfig = path };
	api->config = kube_config_load(&opts, &err);
	free(path);
	if (api->config == NULL)
		fail_msg("%s", err.msg);
	const struct kube_client_opts client = { .config = api->config,
		.user_agent = "sandmux/test" };
	api->client = kube_client_new(api->loop, api->http, &client, &err);
	assert_non_null(api->client);
}

static inline void api_stop(struct api *api)
{
	kube_client_free(api->client);
	kube_config_unref(api->config);
	net_http_free(api->http);
	for (int i = 0; i < 10; i++) /* the server sees that its clients are gone */
		net_loop_run_once(api->loop, 10);
	evhttp_free(api->server);
	if (api->tls != NULL) {
		api_tls_stop(api->tls);
		tls_identity_free(api->identity);
	}
	net_loop_free(api->loop);
	for (size_t i = 0; i < api->n; i++)
		free(api->log[i].body);
	char *command[] = { x_asprintf("%s/config", api->dir), x_asprintf("%s/token", api->dir),
		x_asprintf("%s/plugin", api->dir), x_asprintf("%s/count", api->dir),
		x_asprintf("%s/ca.pem", api->dir) };
	for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
		unlink(command[i]);
		free(command[i]);
	}
	rmdir(api->dir);
}

/* Turns the loop until the condition holds; fails the test after so many ms. */
#define API_UNTIL(api, condition, ms)                                                          \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + (ms);                                         \
		while (!(condition)) {                                                         \
			if (clock_mono_ms() > end_)                                            \
				fail_msg("never: %s", #condition);                             \
			net_loop_run_once((api)->loop, 20);                                    \
		}                                                                              \
	} while (0)
#define API_FOR(api, ms)                                                                       \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + (ms);                                         \
		while (clock_mono_ms() < end_)                                                 \
			net_loop_run_once((api)->loop, 20);                                    \
	} while (0)
