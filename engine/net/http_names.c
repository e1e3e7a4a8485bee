// SPDX-License-Identifier: Apache-2.0
/* Names for libcurl. Its own resolver is a thread, and cleaning up a request waits for that thread:
 * cancelling would block the loop for as long as a dead name server takes. So names are resolved
 * by the loop, kept for half a minute, and given to libcurl as CURLOPT_RESOLVE. */
#include "engine/net/http_internal.h"

#include "engine/base/clock.h"
#include "engine/net/loop.h"
#include "engine/net/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>

static void set_resolved(struct net_http_req *req, const char *addresses)
{
	char *entry = x_asprintf("%s:%u:%s", req->host, (unsigned)req->port, addresses);
	curl_slist_free_all(req->resolved);
	req->resolved = curl_slist_append(NULL, entry);
	free(entry);
}

bool net_http_names_find(struct net_http_req *req)
{
	if (net_resolve_is_literal(req->host))
		return true;
	if (req->opts.connect != NULL) {
		set_resolved(req, "127.0.0.1"); /* never dialled: the hook brings the socket */
		return true;
	}
	struct net_http *http = req->lane->http;
	int64_t now = clock_mono_ms();
	for (size_t i = 0; i < HTTP_NAMES; i++) {
		struct net_http_name *name = &http->names[i];
		if (name->host == NULL || name->until_ms < now ||
			strcasecmp(name->host, req->host) != 0)
			continue;
		set_resolved(req, name->addresses);
		return true;
	}
	return false;
}

static void keep(struct net_http *http, const char *host, const char *addresses)
{
	struct net_http_name *name = &http->names[http->next_name];
	http->next_name = (http->next_name + 1) % HTTP_NAMES;
	free(name->host);
	free(name->addresses);
	name->host = x_strdup(host);
	name->addresses = x_strdup(addresses);
	name->until_ms = clock_mono_ms() + HTTP_NAME_LIFE_MS;
}

static void on_resolved(void *arg, const struct err *err, const struct evutil_addrinfo *list)
{
	enum { MAX_LIST_BYTES = 1024 };
	struct net_http_req *req = arg;
	req->resolve = NULL;
	if (err != NULL) {
		req->on_resolved(req, err);
		return;
	}
	struct str addresses;
	str_init(&addresses, MAX_LIST_BYTES);
	for (; list != NULL && addresses.n < MAX_LIST_BYTES - 64; list = list->ai_next) {
		char text[INET6_ADDRSTRLEN + 16];
		if (getnameinfo(list->ai_addr, (socklen_t)list->ai_addrlen, text, sizeof text,
			    NULL, 0, NI_NUMERICHOST) != 0)
			continue;
		str_addf(&addresses, list->ai_family == AF_INET6 ? "%s[%s]" : "%s%s",
			addresses.n > 0 ? "," : "", text);
	}
	set_resolved(req, addresses.p);
	keep(req->lane->http, req->host, addresses.p);
	str_deinit(&addresses);
	req->on_resolved(req, NULL);
}

void net_http_names_ask(
	struct net_http_req *req, void (*done)(struct net_http_req *req, const struct err *err))
{
	req->on_resolved = done;
	req->resolve = net_resolve_start(
		req->lane->http->loop, req->host, req->port, on_resolved, req);
}

void net_http_names_free(struct net_http *http)
{
	for (size_t i = 0; i < HTTP_NAMES; i++) {
		free(http->names[i].host);
		free(http->names[i].addresses);
	}
}
