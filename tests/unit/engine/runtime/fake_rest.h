// SPDX-License-Identifier: Apache-2.0
/* A REST daemon that does what a test says, in raw bytes, on the test's own loop: answers can be cut, wrong or
 * missing at any place. /v1/health is answered by itself unless own_health. Header-only. */
#pragma once

#include "engine/net/loop.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct fake_rest;
struct fake_request {
	struct fake_rest *fake;
	struct bufferevent *bev;
	char method[16], path[8192];
	char headers[16384]; /* all of them, as they came */
	char *body;
	size_t body_n;
	bool is_headers_only; /* called early, before the body */
};

struct fake_rest {
	struct event_base *base;
	struct evconnlistener *listener;
	uint16_t port;
	bool own_health, wants_headers;
	void (*handle)(struct fake_request *request, void *arg);
	void *arg;
	int n_requests, n_health;
	struct fake_conn *conns;
};

struct fake_conn {
	struct fake_rest *fake;
	struct bufferevent *bev;
	struct fake_conn *next;
	bool is_answered_early, is_closing;
};

static inline void fake_send(struct fake_request *request, const void *bytes, size_t n)
{
	bufferevent_write(request->bev, bytes, n);
}

static inline void fake_text(struct fake_request *request, const char *text)
{
	fake_send(request, text, strlen(text));
}

/* A whole answer with its length. */
static inline void fake_reply(struct fake_request *request, const char *status,
	const char *type, const void *body, size_t n)
{
	char head[512];
	int head_n = snprintf(head, sizeof head,
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", status, type,
		n);

	fake_send(request, head, (size_t)head_n);
	if (strcmp(request->method, "HEAD") != 0)
		fake_send(request, body, n);
}

static inline void fake_json(struct fake_request *request, const char *status, const char *body)
{
	fake_reply(request, status, "application/json", body, strlen(body));
}

static inline void fake_gone(struct fake_conn *conn)
{
	for (struct fake_conn **at = &conn->fake->conns; *at; at = &(*at)->next)
		if (*at == conn) {
			*at = conn->next;
			break;
		}
	bufferevent_free(conn->bev);
	free(conn);
}

static inline void fake_on_written(struct bufferevent *bev, void *arg)
{
	struct fake_conn *conn = arg;

	(void)bev;
	if (conn->is_closing)
		fake_gone(conn);
}

static inline void fake_close(struct fake_request *request)
{
	for (struct fake_conn *conn = request->fake->conns; conn; conn = conn->next)
		if (conn->bev == request->bev)
			conn->is_closing = true;
}

static inline const char *fake_header(const struct fake_request *request, const char *name)
{
	static char value[1024];
	size_t n = strlen(name);

	for (const char *line = request->headers; line; line = strstr(line, "\r\n")) {
		if (strncmp(line, "\r\n", 2) == 0)
			line += 2;
		if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
			const char *end = strstr(line, "\r\n");
			const char *from = line + n + 1;
			while (*from == ' ')
				from++;
			snprintf(value, sizeof value, "%.*s", (int)(end - from), from);
			return value;
		}
		if (!*line)
			break;
	}
	return NULL;
}

/* Takes a chunked body apart; false while it is not whole. */
static inline bool fake_unchunk(
	const char *from, size_t n, char *into, size_t *body_n, size_t *used)
{
	size_t at = 0, out = 0;

	for (;;) {
		const char *end = memmem(from + at, n - at, "\r\n", 2);
		if (!end)
			return false;
		size_t size = strtoul(from + at, NULL, 16);
		at = (size_t)(end - from) + 2;
		if (n - at < size + 2)
			return false;
		memcpy(into + out, from + at, size);
		out += size;
		at += size + 2;
		if (!size) {
			*body_n = out;
			*used = at;
			return true;
		}
	}
}

static inline void fake_dispatch(struct fake_conn *conn, struct fake_request *request)
{
	struct fake_rest *fake = conn->fake;

	if (strcmp(request->path, "/v1/health") == 0) {
		fake->n_health++;
		if (!fake->own_health) {
			fake_json(request, "200 OK",
				"{\"status\":\"ok\",\"uptime_seconds\":7}\n");
			return;
		}
	}
	fake->n_requests++;
	fake->handle(request, fake->arg);
}

static inline void fake_on_read(struct bufferevent *bev, void *arg)
{
	struct fake_conn *conn = arg;
	struct evbuffer *in = bufferevent_get_input(bev);

	for (;;) {
		size_t n = evbuffer_get_length(in);
		char *bytes = n ? (char *)evbuffer_pullup(in, -1) : NULL;
		char *end = bytes ? memmem(bytes, n, "\r\n\r\n", 4) : NULL;
		if (!end || conn->is_closing)
			return;
		static struct fake_request request;
		memset(&request, 0, sizeof request);
		request.fake = conn->fake;
		request.bev = bev;
		size_t head_n = (size_t)(end - bytes) + 4;
		char line[8300];
		size_t line_n = (size_t)((char *)memmem(bytes, n, "\r\n", 2) - bytes);
		snprintf(line, sizeof line, "%.*s", (int)line_n, bytes);
		sscanf(line, "%15s %8191s", request.method, request.path);
		snprintf(request.headers, sizeof request.headers, "%.*s",
			(int)(head_n - line_n - 2), bytes + line_n + 2);
		const char *length = fake_header(&request, "Content-Length");
		size_t want = length ? strtoul(length, NULL, 10) : 0, used = want;
		bool chunked = fake_header(&request, "Transfer-Encoding") != NULL;
		if (conn->fake->wants_headers && !conn->is_answered_early &&
			(want || chunked)) {
			conn->is_answered_early = true;
			request.is_headers_only = true;
			conn->fake->handle(&request, conn->fake->arg);
			request.is_headers_only = false;
			if (conn->is_closing)
				return;
		} else if (fake_header(&request, "Expect") && !conn->is_answered_early) {
			conn->is_answered_early = true;
			fake_text(&request, "HTTP/1.1 100 Continue\r\n\r\n");
		}
		char *body = calloc(1, n + 1);
		size_t body_n = want;
		if (chunked ? !fake_unchunk(bytes + head_n, n - head_n, body, &body_n, &used)
			    : n - head_n < want) {
			free(body);
			return;
		}
		if (!chunked)
			memcpy(body, bytes + head_n, want);
		request.body = body;
		request.body_n = body_n;
		evbuffer_drain(in, head_n + used);
		conn->is_answered_early = false;
		fake_dispatch(conn, &request);
		free(body);
		if (conn->is_closing) {
			/* what was written goes first, then the end */
			if (!evbuffer_get_length(bufferevent_get_output(bev)))
				fake_gone(conn);
			return;
		}
	}
}

static inline void fake_on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		fake_gone(arg);
}

static inline void fake_on_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int n, void *arg)
{
	struct fake_rest *fake = arg;
	struct fake_conn *conn = calloc(1, sizeof *conn);

	(void)listener;
	(void)address;
	(void)n;
	conn->fake = fake;
	conn->bev = bufferevent_socket_new(fake->base, fd, BEV_OPT_CLOSE_ON_FREE);
	conn->next = fake->conns;
	fake->conns = conn;
	bufferevent_setcb(conn->bev, fake_on_read, fake_on_written, fake_on_event, conn);
	bufferevent_enable(conn->bev, EV_READ | EV_WRITE);
}

static inline void fake_rest_open(struct fake_rest *fake, struct net_loop *loop,
	void (*handle)(struct fake_request *request, void *arg), void *arg)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof address;

	memset(fake, 0, sizeof *fake);
	fake->base = net_loop_base(loop);
	fake->handle = handle;
	fake->arg = arg;
	fake->listener = evconnlistener_new_bind(fake->base, fake_on_accept, fake,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1, (struct sockaddr *)&address,
		sizeof address);
	getsockname(evconnlistener_get_fd(fake->listener), (struct sockaddr *)&address, &n);
	fake->port = ntohs(address.sin_port);
}

static inline void fake_rest_drop_all(struct fake_rest *fake)
{
	while (fake->conns)
		fake_gone(fake->conns);
}

static inline void fake_rest_close(struct fake_rest *fake)
{
	fake_rest_drop_all(fake);
	if (fake->listener)
		evconnlistener_free(fake->listener);
	fake->listener = NULL;
}
