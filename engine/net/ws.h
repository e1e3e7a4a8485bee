// SPDX-License-Identifier: Apache-2.0
/* WebSocket client (RFC 6455) over a connected bufferevent: handshake with subprotocol, binary messages,
 * ping. Messages are never fragmented (the Kubernetes API server reads a frame as a message); frames are masked.
 * Errors: ERR_ARG_INVALID, ERR_CONN_LOST, ERR_HTTP_STATUS, ERR_PORTFWD_PROTOCOL. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct err;
struct net_http_header;
struct net_loop;
struct net_ws;

struct net_ws_opts {
	const char *host; /* Host header */
	const char *path; /* with query */
	const char
		*protocols; /* offered, "a" or "a, b"; the server must choose one. NULL: none */
	const struct net_http_header *headers;
	size_t n_headers;
	int64_t timeout_ms;       /* handshake */
	int64_t ping_every_ms;    /* 0: none */
	int64_t pong_within_ms;   /* dead after this long without any byte after a ping */
	size_t max_message_bytes; /* received; 0: 64 KiB */
	void (*on_open)(void *arg);
	void (*on_message)(void *arg, struct slice bytes);
	void (*on_writable)(void *arg); /* the send queue has drained below the low mark */
	/* Once. err NULL: closed by the peer with close_code. Errors: ERR_HTTP_STATUS (the handshake was refused: sys = status,
	 * the body's first bytes in msg), ERR_OP_TIMEOUT, ERR_CONN_LOST, ERR_PORTFWD_PROTOCOL (no WebSocket, or a
	 * frame that may not come). */
	void (*on_closed)(void *arg, const struct err *err, int close_code);
	void *arg;
};
/* Takes over bev, also on failure. Errors: ERR_ARG_INVALID (a header). */
struct net_ws *net_ws_new_take(struct net_loop *loop, struct bufferevent *bev,
	const struct net_ws_opts *opts, struct err *err);
const char *net_ws_protocol(const struct net_ws *ws); /* the one chosen; "" if none */
bool net_ws_send(struct net_ws *ws, const void *bytes, size_t n); /* false: send queue full */
bool net_ws_has_room(
	struct net_ws *ws); /* false: on_writable tells when net_ws_send takes more */
void net_ws_pause(struct net_ws *ws, bool paused); /* stop reading the socket: back-pressure */
void net_ws_free(struct net_ws *ws);
