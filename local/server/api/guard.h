// SPDX-License-Identifier: Apache-2.0
/* What stands between the listening socket and the HTTP server, which keeps a whole body in memory before anybody asks
 * for the token, and connections for as long as a byte comes now and then.
 *
 * - A connection is a stranger's until a request on it has had the token. A stranger gets GUARD_STRANGER_BYTES and
 *   GUARD_STRANGER_MS, in all.
 * - There are places for so many strangers in all, and for so many of one user. A newcomer takes the place of the oldest
 *   stranger of the user who has most; nobody can keep others out by holding on.
 * - Those with the token have places of their own, which strangers do not take.
 *
 * Who connects is asked of the kernel (sock_diag(7)); where it does not say, all count as one user. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bufferevent;
struct err;
struct event_base;
struct evconnlistener;
struct evhttp_request;
struct api_guard;
struct net_loop;
struct ssl_ctx_st;

enum {
	GUARD_STRANGER_BYTES = 96 << 10, /* the head (64 KiB at most) and a small body */
	GUARD_STRANGER_MS = 10000,
	GUARD_STRANGERS = 64,
	GUARD_STRANGERS_OF_ONE = 24,
	GUARD_ALL = 1024, /* less where fewer descriptors may be open */
	GUARD_ALL_OF_ONE = 768,
};

/* token is borrowed. */
struct api_guard *api_guard_new(struct net_loop *loop, const char *token, struct err *err);
void api_guard_free(
	struct api_guard *guard); /* when its connections have gone, or after them */
/* A connection of evhttp over TLS (evhttp_set_bevcb). NULL: out of memory. */
struct bufferevent *api_guard_accept(
	struct api_guard *guard, struct event_base *base, struct ssl_ctx_st *tls);
/* This request had the token: its connection is no stranger's any more. */
void api_guard_know(struct evhttp_request *request);
/* Out of descriptors: pauses instead of trying again at once. */
void api_guard_pause_on_error(struct api_guard *guard, struct evconnlistener *listener);
/* Whether the Host of a request is an address or name of this machine: what a web page sends after DNS rebinding is
 * not. NULL (HTTP/1.0): true. */
bool api_guard_is_host(const char *host);
