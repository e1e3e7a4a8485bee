// SPDX-License-Identifier: Apache-2.0
/* Host name to addresses, asynchronously (evdns; a literal needs no name server). Internal to
 * engine/net. The idiom is that of loop.h. */
#pragma once

#include <event2/util.h> /* struct evutil_addrinfo is a macro there */
#include <stdbool.h>
#include <stdint.h>

struct err;
struct net_loop;
struct net_resolve;

/* Errors: ERR_CONN_DNS. list is borrowed for the call, in the order in which to try, and never empty on success. */
typedef void net_resolve_done_fn(
	void *arg, const struct err *err, const struct evutil_addrinfo *list);
struct net_resolve *net_resolve_start(struct net_loop *loop, const char *host, uint16_t port,
	net_resolve_done_fn *done, void *arg);
void net_resolve_cancel(struct net_resolve *resolve);
/* True for an IPv4 or IPv6 address; a zone (%eth0) is accepted. */
bool net_resolve_is_literal(const char *host);
