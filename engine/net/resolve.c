// SPDX-License-Identifier: Apache-2.0
#include "engine/net/resolve.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"

#include <event2/dns.h>
#include <event2/util.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct net_resolve {
	struct net_loop *loop;
	char *host;
	char port[8];
	net_resolve_done_fn *done;
	void *arg;
	struct net_loop_timer *begin; /* evdns may answer from inside its start: never ours */
	struct query *query;          /* waiting for evdns */
};

/* evdns answers a cancelled request too, later: this is what that answer finds. */
struct query {
	struct net_resolve *resolve; /* NULL once it was cancelled */
	struct evdns_getaddrinfo_request *request;
};

bool net_resolve_is_literal(const char *host)
{
	struct evutil_addrinfo hints = { .ai_flags = EVUTIL_AI_NUMERICHOST,
		.ai_family = PF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct evutil_addrinfo *list = NULL;
	if (evutil_getaddrinfo(host, NULL, &hints, &list) != 0)
		return false;
	evutil_freeaddrinfo(list);
	return true;
}

static void resolve_free(struct net_resolve *resolve)
{
	net_loop_timer_free(resolve->begin);
	free(resolve->host);
	free(resolve);
}

static void finish(struct net_resolve *resolve, int code, struct evutil_addrinfo *list)
{
	struct err err;
	net_resolve_done_fn *done = resolve->done;
	void *arg = resolve->arg;
	if (code != 0 || list == NULL)
		err_set(&err, ERR_CONN_DNS, "cannot resolve %s: %s", resolve->host,
			code != 0 ? evutil_gai_strerror(code) : "no address");
	resolve_free(resolve);
	done(arg, code != 0 || list == NULL ? &err : NULL, list);
	if (list != NULL)
		evutil_freeaddrinfo(list);
}

static void on_answer(int code, struct evutil_addrinfo *list, void *arg)
{
	struct query *query = arg;
	struct net_resolve *resolve = query->resolve;
	free(query);
	if (resolve == NULL) {
		if (list != NULL)
			evutil_freeaddrinfo(list);
		return;
	}
	resolve->query = NULL;
	finish(resolve, code, list);
}

static void on_begin(void *arg)
{
	struct net_resolve *resolve = arg;
	struct evutil_addrinfo hints = { .ai_flags = EVUTIL_AI_NUMERICHOST,
		.ai_family = PF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP };
	struct evutil_addrinfo *list = NULL;
	if (evutil_getaddrinfo(resolve->host, resolve->port, &hints, &list) == 0) {
		finish(resolve, 0, list);
		return;
	}
	struct evdns_base *dns = net_loop_dns(resolve->loop);
	if (dns == NULL) {
		finish(resolve, EVUTIL_EAI_FAIL, NULL);
		return;
	}
	hints.ai_flags = 0;
	struct query *query = x_calloc(1, sizeof *query);
	query->resolve = resolve;
	resolve->query = query;
	struct evdns_getaddrinfo_request *request =
		evdns_getaddrinfo(dns, resolve->host, resolve->port, &hints, on_answer, query);
	if (request != NULL) /* NULL: it has been answered, resolve is gone */
		query->request = request;
}

struct net_resolve *net_resolve_start(struct net_loop *loop, const char *host, uint16_t port,
	net_resolve_done_fn *done, void *arg)
{
	struct net_resolve *resolve = x_calloc(1, sizeof *resolve);
	resolve->loop = loop;
	resolve->host = x_strdup(host);
	snprintf(resolve->port, sizeof resolve->port, "%u", (unsigned)port);
	resolve->done = done;
	resolve->arg = arg;
	resolve->begin = net_loop_timer_new(loop, on_begin, resolve);
	net_loop_timer_arm(resolve->begin, 0);
	return resolve;
}

void net_resolve_cancel(struct net_resolve *resolve)
{
	if (resolve == NULL)
		return;
	struct query *query = resolve->query;
	resolve_free(resolve);
	if (query == NULL)
		return;
	query->resolve = NULL;
	if (query->request != NULL)
		evdns_getaddrinfo_cancel(query->request);
}
