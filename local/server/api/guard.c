// SPDX-License-Identifier: Apache-2.0
/* evhttp says nothing of a connection before a request is whole. So the bytes are watched on their way into its input
 * buffer, until the token has been seen in a head, and the end of a connection is that of its SSL object.
 *
 * A connection is ended by shutting its socket down: evhttp sees the end, and frees it in its own time. */
#include "local/server/api/guard.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/base/str.h"
#include "engine/net/loop.h"
#include "local/server/api/peer.h"

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, KEPT_DESCRIPTORS = 256, LEAST = 64, PAUSE_MS = 100 };

struct visitor {
	struct visitor *prev, *next; /* oldest first */
	struct api_guard *guard;
	struct bufferevent *bev; /* NULL once it is being freed */
	long uid;
	bool is_known;   /* the token was seen */
	bool is_counted; /* its socket was there to be looked at */
	bool is_ending;
	size_t taken; /* bytes */
	int64_t until_ms;
	struct str line; /* of the head, as far as it has come */
	bool is_line_long, is_in_body;
};

struct api_guard {
	struct net_loop *loop;
	const char *token;
	int netlink;
	size_t max;
	struct visitor *visitors;
	struct net_loop_timer *timer, *pause;
	struct evconnlistener *listener;
	unsigned n_deferred;
	bool is_closing;
};

static int ex_index = -1;
static struct api_guard *pausing; /* one backend a process */

static void end_visit(struct visitor *v)
{
	if (v->is_ending || !v->bev)
		return;
	v->is_ending = true;
	shutdown(bufferevent_getfd(v->bev), SHUT_RDWR);
}

/* ---- whether the token comes ---- */

static bool has_token(const struct visitor *v)
{
	static const char name[] = "authorization:";
	const char *p = v->line.p, *token = v->guard->token;
	if (!p || strncasecmp(p, name, sizeof name - 1) != 0)
		return false;
	p += sizeof name - 1;
	p += strspn(p, " \t");
	if (strncasecmp(p, "Bearer ", 7) != 0)
		return false;
	p += 7 + strspn(p + 7, " ");
	size_t n = strlen(p);
	while (n > 0 && strchr(" \t\r", p[n - 1]))
		n--;
	return n == strlen(token) && CRYPTO_memcmp(p, token, n) == 0;
}

static void end_line(struct visitor *v)
{
	bool is_empty = v->line.n == 0 || (v->line.n == 1 && v->line.p[0] == '\r');
	if (!v->is_line_long && has_token(v))
		v->is_known = true;
	else if (is_empty && !v->is_line_long)
		v->is_in_body = true; /* what follows is not looked into: no token, no more */
	str_clear(&v->line);
	v->is_line_long = false;
}

static void look(struct visitor *v, const char *bytes, size_t n)
{
	while (n > 0 && !v->is_known && !v->is_in_body) {
		const char *end = memchr(bytes, '\n', n);
		size_t part = end ? (size_t)(end - bytes) : n;
		if (v->line.n + part >= LINE_BYTES)
			v->is_line_long = true;
		else
			str_add_bytes(&v->line, bytes, part);
		bytes += part + (end != NULL);
		n -= part + (end != NULL);
		if (end)
			end_line(v);
	}
}

static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct visitor *v = arg;
	struct evbuffer_ptr at;
	struct evbuffer_iovec parts[8];
	if (v->is_known || info->n_added == 0)
		return;
	v->taken += info->n_added;
	evbuffer_ptr_set(input, &at, info->orig_size, EVBUFFER_PTR_SET);
	int n = evbuffer_peek(input, -1, &at, parts, 8);
	for (int i = 0; i < n && i < 8; i++)
		look(v, parts[i].iov_base, parts[i].iov_len);
	if (v->is_known) {
		str_deinit(&v->line);
		return;
	}
	if (v->taken > GUARD_STRANGER_BYTES)
		end_visit(v);
}

/* ---- places ---- */

static void free_if_done(struct api_guard *g)
{
	if (g->is_closing && !g->visitors && g->n_deferred == 0)
		free(g);
}

static void arm(struct api_guard *g)
{
	struct visitor *v;
	DL_FOREACH(g->visitors, v) {
		if (v->is_known)
			continue;
		int64_t left = v->until_ms - clock_mono_ms();
		net_loop_timer_arm(g->timer, left > 0 ? left : 0);
		return;
	}
}

static void on_timer(void *arg)
{
	struct api_guard *g = arg;
	struct visitor *v;
	int64_t now = clock_mono_ms();
	DL_FOREACH(g->visitors, v) {
		if (v->is_known || v->until_ms > now)
			continue;
		/* again and again, until evhttp has let go of it */
		v->is_ending = false;
		v->until_ms = now + GUARD_STRANGER_MS;
		end_visit(v);
	}
	arm(g);
}

static size_t count(const struct api_guard *g, long uid, bool any_uid, bool strangers_only)
{
	size_t n = 0;
	const struct visitor *v;
	DL_FOREACH(g->visitors, v) {
		n += v->is_counted && !v->is_ending && (any_uid || v->uid == uid) &&
		     !(strangers_only && v->is_known);
	}
	return n;
}

/* The oldest stranger of whoever has most of them. */
static struct visitor *who_leaves(const struct api_guard *g)
{
	struct visitor *v, *chosen = NULL;
	size_t most = 0;
	DL_FOREACH(g->visitors, v) {
		if (!v->is_counted || v->is_ending || v->is_known)
			continue;
		size_t n = count(g, v->uid, false, true);
		if (n > most) {
			most = n;
			chosen = v;
		}
	}
	return chosen;
}

static struct visitor *oldest_of(const struct api_guard *g, long uid)
{
	struct visitor *v;
	DL_FOREACH(g->visitors, v) {
		if (v->is_counted && !v->is_ending && !v->is_known && v->uid == uid)
			return v;
	}
	return NULL;
}

/* Now there is a socket. Those with the token keep their places, so that the places that are left are the strangers'. */
static void find_place(void *arg)
{
	struct api_guard *g = arg;
	struct visitor *v;
	g->n_deferred--;
	if (g->is_closing) {
		free_if_done(g);
		return;
	}
	DL_FOREACH(g->visitors, v) {
		int fd = v->bev && !v->is_counted ? bufferevent_getfd(v->bev) : -1;
		if (fd < 0)
			continue;
		v->uid = api_peer_uid(g->netlink, fd);
		v->is_counted = true;
		struct visitor *leaves = NULL;
		if (count(g, v->uid, false, true) > GUARD_STRANGERS_OF_ONE)
			leaves = oldest_of(g, v->uid);
		else if (count(g, 0, true, true) > GUARD_STRANGERS)
			leaves = who_leaves(g);
		if (leaves)
			end_visit(leaves);
		if (count(g, 0, true, false) > g->max ||
			count(g, v->uid, false, false) > GUARD_ALL_OF_ONE)
			end_visit(v);
	}
}

/* ---- connections ---- */

static void on_ssl_free(
	void *parent, void *ptr, CRYPTO_EX_DATA *data, int index, long argl, void *argp)
{
	struct visitor *v = ptr;
	(void)parent;
	(void)data;
	(void)index;
	(void)argl;
	(void)argp;
	if (!v)
		return;
	DL_DELETE(v->guard->visitors, v);
	free_if_done(v->guard);
	str_deinit(&v->line);
	free(v);
}

struct bufferevent *api_guard_accept(
	struct api_guard *g, struct event_base *base, struct ssl_ctx_st *tls)
{
	SSL *ssl = SSL_new(tls);
	struct bufferevent *bev =
		ssl ? bufferevent_openssl_socket_new(base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING,
			      BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS)
		    : NULL;
	if (!bev)
		return NULL;
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	struct visitor *v = x_calloc(1, sizeof *v);
	v->guard = g;
	v->bev = bev;
	v->uid = PEER_UNKNOWN;
	v->until_ms = clock_mono_ms() + GUARD_STRANGER_MS;
	str_init(&v->line, LINE_BYTES);
	SSL_set_ex_data(ssl, ex_index, v);
	DL_APPEND(g->visitors, v);
	evbuffer_add_cb(bufferevent_get_input(bev), on_input, v);
	g->n_deferred++;
	net_loop_defer(g->loop, find_place, g);
	arm(g);
	return bev;
}

static size_t places(void)
{
	struct rlimit limit;
	size_t n = GUARD_ALL;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
		limit.rlim_cur < GUARD_ALL + KEPT_DESCRIPTORS)
		n = limit.rlim_cur > KEPT_DESCRIPTORS + LEAST
			    ? (size_t)limit.rlim_cur - KEPT_DESCRIPTORS
			    : LEAST;
	return n;
}

static void on_pause_over(void *arg)
{
	struct api_guard *g = arg;
	evconnlistener_enable(g->listener);
}

struct api_guard *api_guard_new(struct net_loop *loop, const char *token, struct err *err)
{
	if (ex_index < 0)
		ex_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, on_ssl_free);
	if (ex_index < 0) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return NULL;
	}
	struct api_guard *g = x_calloc(1, sizeof *g);
	g->loop = loop;
	g->token = token;
	g->netlink = api_peer_open();
	g->max = places();
	g->timer = net_loop_timer_new(loop, on_timer, g);
	g->pause = net_loop_timer_new(loop, on_pause_over, g);
	return g;
}

void api_guard_free(struct api_guard *g)
{
	if (!g)
		return;
	net_loop_timer_free(g->timer);
	net_loop_timer_free(g->pause);
	if (g->netlink >= 0)
		close(g->netlink);
	g->is_closing = true;
	if (pausing == g)
		pausing = NULL;
	free_if_done(g);
}

void api_guard_know(struct evhttp_request *request)
{
	struct evhttp_connection *con = evhttp_request_get_connection(request);
	struct bufferevent *bev = con ? evhttp_connection_get_bufferevent(con) : NULL;
	SSL *ssl = bev ? bufferevent_openssl_get_ssl(bev) : NULL;
	struct visitor *v = ssl ? SSL_get_ex_data(ssl, ex_index) : NULL;
	if (v)
		v->is_known = true;
}

static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	/* the listener's argument is evhttp's: ours is found by the listener */
	(void)arg;
	struct api_guard *g = pausing;
	if (!g || g->listener != listener)
		return;
	evconnlistener_disable(listener);
	net_loop_timer_arm(g->pause, PAUSE_MS);
}

void api_guard_pause_on_error(struct api_guard *g, struct evconnlistener *listener)
{
	pausing = g;
	g->listener = listener;
	evconnlistener_set_error_cb(listener, on_accept_error);
}

bool api_guard_is_host(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	if (!host)
		return true;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t n = strlen(names[i]);
		if (strncasecmp(host, names[i], n) == 0 && (host[n] == '\0' || host[n] == ':'))
			return true;
	}
	return false;
}
