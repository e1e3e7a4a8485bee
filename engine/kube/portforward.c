// SPDX-License-Identifier: Apache-2.0
/* States: waiting for credentials ─> dialling ─> WebSocket handshake ─> open ─> over. What the user writes before
 * "open" waits in the socketpair.
 *
 *   user's fd ═ socketpair ═ bev ── 32 KiB frames ──> ws ──> API server ──> kubelet ──> pod's loopback
 *             back-pressure: queue full ─ the fd is not read; bev's output full ─ ws stops reading
 *
 * Once it is open the user's bytes are read here, not by bev: libevent reads 4 KiB at a time, which became frames
 * of 4 KiB that every proxy on the way handled one by one.
 */
#include "engine/kube/portforward.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/k8s/resource.h"
#include "engine/kube/auth.h"
#include "engine/kube/client_internal.h"
#include "engine/kube/config.h"
#include "engine/kube/denied.h"
#include "engine/kube/portforward_error.h"
#include "engine/kube/portforward_wire.h"
#include "engine/net/dial.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "engine/net/ws.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	DIAL_TIMEOUT_MS = 10000,
	HANDSHAKE_TIMEOUT_MS = 10000,
	PING_EVERY_MS = 30000,
	PONG_WITHIN_MS = 15000,
	/* with the headers of the frame (8 bytes) and of the wire it is two whole TLS records */
	FRAME_BYTES = (32 << 10) - 8 - WIRE_HEAD_BYTES,
	HIGH_WATER_BYTES = 256 << 10,  /* kept in one direction */
	MAX_MESSAGE_BYTES = 256 << 10, /* the server sends at most 32 KiB + 1 */
};

struct kube_portforward {
	struct kube_client *client;
	char *pod;
	char *path;
	size_t prefix_n; /* of path: before the API's own */
	char *host, *host_header;
	uint16_t server_port, port;
	struct kube_auth_wait *wait;
	struct net_dial *dial;
	struct net_ws *ws;
	struct bufferevent *bev; /* our end of the socketpair */
	struct event *readable;  /* the same; once open, instead of the bev's own reading */
	struct kube_wire wire;
	bool is_open, is_over;
	void (*on_closed)(void *arg, const struct err *err);
	void *arg;
};

/* ---- the end */

static void stop(struct kube_portforward *forward)
{
	kube_auth_wait_cancel(forward->wait);
	net_dial_cancel(forward->dial);
	net_ws_free(forward->ws);
	forward->wait = NULL;
	forward->dial = NULL;
	forward->ws = NULL;
}

static void over(struct kube_portforward *forward, const struct err *err)
{
	if (forward->is_over)
		return;
	forward->is_over = true;
	forward->on_closed(forward->arg, err);
}

static void close_user_end(struct kube_portforward *forward)
{
	if (forward->readable != NULL)
		event_free(forward->readable);
	forward->readable = NULL;
	if (forward->bev != NULL)
		bufferevent_free(forward->bev);
	forward->bev = NULL;
}

static void on_flushed(struct bufferevent *bev, void *arg)
{
	(void)bev;
	close_user_end(arg);
}

/* The user still gets what has arrived, then the close. */
static void end(struct kube_portforward *forward, const struct err *err)
{
	struct bufferevent *bev = forward->bev;
	over(forward, err);
	if (bev == NULL || forward->bev == NULL)
		return;
	bufferevent_disable(bev, EV_READ);
	event_del(forward->readable);
	if (evbuffer_get_length(bufferevent_get_output(bev)) == 0) {
		close_user_end(forward);
		return;
	}
	bufferevent_setwatermark(bev, EV_WRITE, 0, 0);
	bufferevent_setcb(bev, NULL, on_flushed, NULL, forward);
}

/* ---- from the user to the pod */

/* the user closed its end: there is no half-close on this wire */
static void user_closed(struct kube_portforward *forward)
{
	close_user_end(forward);
	stop(forward);
	over(forward, NULL);
}

static void pump_out(struct kube_portforward *forward)
{
	unsigned char frame[WIRE_HEAD_BYTES + FRAME_BYTES];
	unsigned char *bytes = frame + WIRE_HEAD_BYTES;
	int fd = bufferevent_getfd(forward->bev);
	while (net_ws_has_room(forward->ws)) {
		/* first what came while we were connecting */
		ev_ssize_t n = evbuffer_remove(
			bufferevent_get_input(forward->bev), bytes, FRAME_BYTES);
		if (n <= 0)
			n = recv(fd, bytes, FRAME_BYTES, 0);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
			event_add(forward->readable, NULL);
			return;
		}
		if (n <= 0) {
			user_closed(forward);
			return;
		}
		size_t head = kube_wire_put_head(&forward->wire, bytes, (size_t)n);
		net_ws_send(forward->ws, bytes - head, (size_t)n + head);
	}
	event_del(forward->readable); /* on_ws_writable goes on */
}

static void on_user_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	pump_out(arg);
}

static void on_user_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		user_closed(arg);
}

static void on_ws_writable(void *arg)
{
	struct kube_portforward *forward = arg;
	if (forward->bev != NULL && !forward->is_over)
		pump_out(forward);
}

/* ---- from the pod to the user */

static void on_user_drained(struct bufferevent *bev, void *arg)
{
	struct kube_portforward *forward = arg;
	(void)bev;
	if (forward->ws != NULL)
		net_ws_pause(forward->ws, false);
}

static void on_wire_bytes(void *arg, struct slice bytes)
{
	struct kube_portforward *forward = arg;
	if (forward->bev == NULL)
		return;
	bufferevent_write(forward->bev, bytes.p, bytes.n);
	if (evbuffer_get_length(bufferevent_get_output(forward->bev)) > HIGH_WATER_BYTES)
		net_ws_pause(forward->ws, true);
}

static void on_wire_answer(void *arg, struct slice bytes)
{
	struct kube_portforward *forward = arg;
	net_ws_send(forward->ws, bytes.p, bytes.n);
}

static void on_wire_end(void *arg, enum kube_wire_end how, struct slice words)
{
	struct kube_portforward *forward = arg;
	struct err err = { 0 };
	if (how == WIRE_REFUSED)
		err_set(&err, ERR_PORTFWD_REFUSED, "port-forward to pod %s port %u: %.*s",
			forward->pod, forward->port, (int)words.n, words.p);
	else if (how == WIRE_PROTOCOL)
		err_set(&err, ERR_PORTFWD_PROTOCOL, "port-forward to pod %s: %.*s",
			forward->pod, (int)words.n, words.p);
	else if (how == WIRE_BROKEN)
		err_set(&err, ERR_PORTFWD_LOST, "port-forward to pod %s: it was reset",
			forward->pod);
	end(forward, how == WIRE_CLOSED ? NULL : &err);
}

static void on_ws_message(void *arg, struct slice bytes)
{
	struct kube_portforward *forward = arg;
	if (!forward->is_over)
		kube_wire_read(&forward->wire, bytes);
}

static void on_ws_open(void *arg)
{
	struct kube_portforward *forward = arg;
	unsigned char opening[WIRE_OPENING_BYTES];
	forward->is_open = true;
	if (forward->bev == NULL || forward->is_over)
		return;
	forward->wire.is_tunnel = strcmp(net_ws_protocol(forward->ws), PORTFORWARD_TUNNEL) == 0;
	size_t n = kube_wire_opening(&forward->wire, opening);
	if (n > 0)
		net_ws_send(forward->ws, opening, n);
	bufferevent_disable(forward->bev, EV_READ);
	pump_out(forward);
}

static void on_ws_closed(void *arg, const struct err *err, int close_code)
{
	struct kube_portforward *forward = arg;
	(void)close_code;
	if (forward->is_over)
		return;
	/* a WebSocket is a GET, and newer servers want the right to create as well */
	static const char *const verbs[] = { "create", "get", NULL };
	struct err own;
	if (err != NULL)
		kube_portforward_error(&own, forward->pod, forward->is_open, err);
	if (err != NULL && own.code == ERR_PORTFWD_DENIED)
		kube_denied_of_verbs(&own, verbs, forward->path + forward->prefix_n);
	end(forward, err != NULL ? &own : NULL); /* NULL: the pod closed its connection */
}

/* ---- opening */

static void dial_failed(struct kube_portforward *forward, const struct err *from)
{
	struct err err = *from;
	err.code = from->code == ERR_CONN_TLS ? ERR_KUBE_TLS : ERR_KUBE_TRANSPORT;
	end(forward, &err);
}

static void on_dialled(void *arg, const struct err *err, struct bufferevent *bev)
{
	struct kube_portforward *forward = arg;
	struct err own = { 0 };
	forward->dial = NULL;
	if (err != NULL) {
		dial_failed(forward, err);
		return;
	}
	struct net_http_header headers[KUBE_AUTH_MAX_HEADERS + 1];
	size_t n = kube_auth_headers(forward->client->auth, headers, KUBE_AUTH_MAX_HEADERS);
	headers[n++] = (struct net_http_header){ "User-Agent", forward->client->user_agent };
	const struct net_ws_opts opts = {
		.host = forward->host_header,
		.path = forward->path,
		/* the server takes the first that it knows */
		.protocols = PORTFORWARD_TUNNEL ", " PORTFORWARD_CHANNELS,
		.headers = headers,
		.n_headers = n,
		.timeout_ms = HANDSHAKE_TIMEOUT_MS,
		.ping_every_ms = PING_EVERY_MS,
		.pong_within_ms = PONG_WITHIN_MS,
		.max_message_bytes = MAX_MESSAGE_BYTES,
		.on_open = on_ws_open,
		.on_message = on_ws_message,
		.on_writable = on_ws_writable,
		.on_closed = on_ws_closed,
		.arg = forward,
	};
	forward->ws = net_ws_new_take(forward->client->loop, bev, &opts, &own);
	if (forward->ws == NULL)
		end(forward, &own);
}

static void dial(struct kube_portforward *forward)
{
	struct err err = { 0 };
	const struct net_dial_opts opts = {
		.host = forward->host,
		.port = forward->server_port,
		.tls = kube_auth_tls(forward->client->auth),
		.alpn = "http/1.1", /* upgrades are not offered over h2 */
		.timeout_ms = DIAL_TIMEOUT_MS,
	};
	forward->dial = net_dial_start(forward->client->loop, &opts, on_dialled, forward, &err);
	if (forward->dial == NULL)
		dial_failed(forward, &err);
}

static void on_auth(void *arg, const struct err *err)
{
	struct kube_portforward *forward = arg;
	forward->wait = NULL;
	if (err != NULL)
		end(forward, err);
	else
		dial(forward);
}

static bool parse_server(struct kube_portforward *forward, struct err *err)
{
	const char *server = kube_config_server(forward->client->config);
	struct evhttp_uri *uri = evhttp_uri_parse(server);
	if (uri == NULL || evhttp_uri_get_host(uri) == NULL) {
		if (uri != NULL)
			evhttp_uri_free(uri);
		return err_set(err, ERR_CONFIG_KUBECONFIG, "'%s' is not a server URL", server);
	}
	bool is_https = strcmp(evhttp_uri_get_scheme(uri), "https") == 0;
	int port = evhttp_uri_get_port(uri);
	const char *host = evhttp_uri_get_host(uri);
	const char *prefix = evhttp_uri_get_path(uri);
	size_t n = strlen(host);
	bool in_brackets = n > 2 && host[0] == '[';
	forward->host = in_brackets ? x_strndup(host + 1, n - 2) : x_strdup(host);
	forward->server_port = (uint16_t)(port > 0 ? port : is_https ? 443 : 80);
	forward->host_header =
		x_asprintf(!in_brackets && strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
			forward->server_port);
	char *path = forward->path;
	forward->prefix_n = prefix ? strlen(prefix) : 0;
	forward->path = x_asprintf("%s%s?ports=%u", prefix ? prefix : "", path, forward->port);
	free(path);
	evhttp_uri_free(uri);
	return true;
}

static void take_user_end(struct kube_portforward *forward, int fd)
{
	struct event_base *base = net_loop_base(forward->client->loop);
	evutil_make_socket_nonblocking(fd);
	forward->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	forward->readable =
		event_new(base, fd, EV_READ | EV_PERSIST, on_user_readable, forward);
	bufferevent_setcb(forward->bev, NULL, on_user_drained, on_user_event, forward);
	bufferevent_set_max_single_write(forward->bev, HIGH_WATER_BYTES);
	bufferevent_setwatermark(forward->bev, EV_READ, 0, HIGH_WATER_BYTES);
	bufferevent_setwatermark(forward->bev, EV_WRITE, HIGH_WATER_BYTES / 4, 0);
	bufferevent_enable(forward->bev, EV_READ | EV_WRITE);
}

struct kube_portforward *kube_portforward_open(struct kube_client *client,
	const struct kube_portforward_opts *opts, int fd_take, struct err *err)
{
	struct kube_portforward *forward = x_calloc(1, sizeof *forward);
	forward->client = client;
	forward->pod = x_strdup(opts->pod);
	forward->port = opts->port;
	forward->path = kube_path(&k8s_pods, opts->namespace_, opts->pod, "portforward");
	forward->on_closed = opts->on_closed;
	forward->arg = opts->arg;
	kube_wire_init(&forward->wire, opts->port);
	forward->wire.on_bytes = on_wire_bytes;
	forward->wire.on_answer = on_wire_answer;
	forward->wire.on_end = on_wire_end;
	forward->wire.arg = forward;
	if (!parse_server(forward, err)) {
		kube_portforward_free(forward);
		return NULL;
	}
	take_user_end(forward, fd_take);
	/* credentials first; on_auth never comes from inside this call */
	forward->wait = kube_auth_wait_start(client->auth, on_auth, forward);
	return forward;
}

void kube_portforward_free(struct kube_portforward *forward)
{
	if (forward == NULL)
		return;
	forward->is_over = true;
	stop(forward);
	close_user_end(forward);
	kube_wire_deinit(&forward->wire);
	free(forward->pod);
	free(forward->path);
	free(forward->host);
	free(forward->host_header);
	free(forward);
}
