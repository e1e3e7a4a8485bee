// SPDX-License-Identifier: Apache-2.0
/* A TCP server on loopback that hands each request head to a function, which writes what it likes. */
#pragma once

#include "engine/base/str.h"
#include "engine/net/loop.h"

#include <stdint.h>

struct bufferevent;
struct raw_server;

struct raw_conn {
	struct raw_server *server;
	struct bufferevent *bev;
	int number;        /* of the connection, from 0 */
	int requests;      /* heads seen on it, the current one included */
	size_t body_bytes; /* to be skipped before the next head; set by the handler */
	struct str head;
	struct str body; /* what of it has come */
	bool is_closed;
};
typedef void raw_handler_fn(struct raw_conn *conn);

struct raw_server {
	uint16_t port;
	raw_handler_fn *handler;
	int accepted, requests;
	struct raw_conn conns[64];
	struct event_base *base;
	struct evconnlistener *listener;
};
void raw_server_start(
	struct raw_server *server, struct net_loop *loop, raw_handler_fn *handler);
void raw_server_stop(struct raw_server *server);
/* Serves one end of a socketpair in the same way. */
void raw_server_adopt(struct raw_server *server, int fd);
void raw_send(struct raw_conn *conn, const char *text);
void raw_close(struct raw_conn *conn); /* after what was sent has left */
bool raw_head_has(const struct raw_conn *conn, const char *text);
