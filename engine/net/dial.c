// SPDX-License-Identifier: Apache-2.0
/* resolving -> connecting (one address after the other) -> handshaking -> done.
 * A host that begins with '/' is the path of a Unix socket. */
#include "engine/net/dial.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/net/loop.h"
#include "engine/net/resolve.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_ADDRESSES = 8 };

struct net_address {
	struct sockaddr_storage addr;
	socklen_t n;
};

struct net_dial {
	struct net_loop *loop;
	char *host;
	uint16_t port;
	struct net_tls *tls;
	char *alpn;
	net_dial_done_fn *done;
	void *arg;
	int64_t deadline_ms;
	struct net_loop_timer *begin;
	struct net_loop_timer *deadline;
	struct net_loop_timer
		*attempt; /* an address that does not answer must not use it all up */
	struct net_resolve *resolve;
	struct net_address addresses[MAX_ADDRESSES];
	size_t n_addresses, next_address;
	int fd;              /* being connected; -1 when none */
	struct event *event; /* on fd */
	struct bufferevent *bev;
	struct err last; /* why the address before failed */
};

static void dial_free(struct net_dial *dial)
{
	net_resolve_cancel(dial->resolve);
	net_loop_timer_free(dial->begin);
	net_loop_timer_free(dial->deadline);
	net_loop_timer_free(dial->attempt);
	if (dial->event != NULL)
		event_free(dial->event);
	if (dial->fd >= 0)
		close(dial->fd);
	if (dial->bev != NULL)
		bufferevent_free(dial->bev);
	net_tls_unref(dial->tls);
	free(dial->host);
	free(dial->alpn);
	free(dial);
}

static void finish(struct net_dial *dial, const struct err *err)
{
	net_dial_done_fn *done = dial->done;
	void *arg = dial->arg;
	struct bufferevent *bev = NULL;
	if (err == NULL) {
		bev = dial->bev;
		dial->bev = NULL;
		bufferevent_setcb(bev, NULL, NULL, NULL, NULL);
		bufferevent_disable(bev, EV_READ | EV_WRITE);
	}
	struct err copy;
	err_copy(&copy, err);
	dial_free(dial);
	done(arg, err != NULL ? &copy : NULL, bev);
}

static void describe(const struct net_dial *dial, char *out, size_t n)
{
	if (dial->host[0] == '/')
		snprintf(out, n, "%s", dial->host);
	else
		snprintf(out, n, strchr(dial->host, ':') ? "[%s]:%u" : "%s:%u", dial->host,
			(unsigned)dial->port);
}

static void fail(struct net_dial *dial, enum err_code code, const char *why)
{
	char where[300];
	struct err err;
	describe(dial, where, sizeof where);
	err_set(&err, code, "%s: %s", where, why);
	finish(dial, &err);
}

static void set_connect_error(struct net_dial *dial, int errnum)
{
	char where[300];
	describe(dial, where, sizeof where);
	bool refused = errnum == ECONNREFUSED || errnum == ENOENT;
	err_set(&dial->last, refused ? ERR_CONN_REFUSED : ERR_CONN_LOST, "%s: %s", where,
		strerror(errnum));
	dial->last.sys = errnum;
}

static void on_deadline(void *arg)
{
	struct net_dial *dial = arg;
	fail(dial, ERR_OP_TIMEOUT,
		dial->bev != NULL   ? "no answer to the TLS handshake in time"
		: dial->n_addresses ? "no connection in time"
				    : "the name was not resolved in time");
}

/* --- TLS --- */

static void on_handshake_failed(struct net_dial *dial, short what)
{
	SSL *ssl = bufferevent_openssl_get_ssl(dial->bev);
	long verified = SSL_get_verify_result(ssl);
	unsigned long code = bufferevent_get_openssl_error(dial->bev);
	int errnum = EVUTIL_SOCKET_ERROR();
	ERR_clear_error();
	if (verified != X509_V_OK && !net_tls_opts(dial->tls)->insecure) {
		fail(dial, ERR_CONN_TLS, X509_verify_cert_error_string(verified));
	} else if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
		   ERR_GET_REASON(code) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
		const char *reason = ERR_reason_error_string(code);
		fail(dial, ERR_CONN_TLS, reason ? reason : "the TLS handshake failed");
	} else { /* libevent reports a failed read as the bare number SSL_ERROR_SYSCALL */
		bool is_end = what & BEV_EVENT_EOF || errnum == 0;
		fail(dial, ERR_CONN_LOST,
			is_end ? "closed by the server during the TLS handshake"
			       : strerror(errnum));
	}
}

static void on_tls_event(struct bufferevent *bev, short what, void *arg)
{
	struct net_dial *dial = arg;
	if (!(what & BEV_EVENT_CONNECTED)) {
		on_handshake_failed(dial, what);
		return;
	}
	const unsigned char *chosen;
	unsigned n;
	SSL_get0_alpn_selected(bufferevent_openssl_get_ssl(bev), &chosen, &n);
	struct slice protocol = { (const char *)chosen, n };
	/* a server without ALPN speaks HTTP/1.1; HTTP/2 must be agreed on (RFC 9113 section 3.2) */
	bool fits = dial->alpn == NULL || slice_equals(protocol, dial->alpn) ||
		    (n == 0 && strcmp(dial->alpn, "h2") != 0);
	if (!fits)
		fail(dial, ERR_CONN_TLS,
			"the server does not offer the protocol needed (ALPN)");
	else
		finish(dial, NULL);
}

static bool set_name(SSL *ssl, const char *name, bool insecure)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	if (net_resolve_is_literal(name)) /* RFC 6066: no literal address in SNI */
		return insecure || X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	char *copy = x_strdup(name); /* the macro casts const away */
	bool ok = SSL_set_tlsext_host_name(ssl, copy) == 1;
	free(copy);
	return ok && (insecure || X509_VERIFY_PARAM_set1_host(param, name, 0) == 1);
}

static void start_tls(struct net_dial *dial)
{
	const struct net_tls_opts *opts = net_tls_opts(dial->tls);
	SSL *ssl = SSL_new(net_tls_ssl_ctx(dial->tls));
	const char *name = opts->server_name ? opts->server_name : dial->host;
	bool ok = ssl != NULL && set_name(ssl, name, opts->insecure);
	if (ok && dial->alpn != NULL) {
		unsigned char wire[64];
		size_t n = strlen(dial->alpn);
		wire[0] = (unsigned char)n;
		memcpy(wire + 1, dial->alpn, n);
		ok = SSL_set_alpn_protos(ssl, wire, (unsigned)n + 1) == 0;
	}
	if (!ok) {
		SSL_free(ssl);
		fail(dial, ERR_CONN_TLS, "this name cannot be verified");
		return;
	}
	int fd = dial->fd;
	dial->bev = bufferevent_openssl_socket_new(net_loop_base(dial->loop), fd, ssl,
		BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (dial->bev == NULL) {
		SSL_free(ssl);
		fail(dial, ERR_INTERNAL, "no TLS stream");
		return;
	}
	dial->fd = -1;
	/* many servers close without close_notify: HTTP has its own ends */
	bufferevent_openssl_set_allow_dirty_shutdown(dial->bev, 1);
	bufferevent_setcb(dial->bev, NULL, NULL, on_tls_event, dial);
	bufferevent_enable(dial->bev, EV_READ | EV_WRITE);
}

/* --- TCP --- */

static void try_next(struct net_dial *dial);

static void close_attempt(struct net_dial *dial)
{
	if (dial->event != NULL)
		event_free(dial->event);
	dial->event = NULL;
	if (dial->fd >= 0)
		close(dial->fd);
	dial->fd = -1;
}

static void on_connected(struct net_dial *dial)
{
	if (dial->event != NULL)
		event_free(dial->event);
	dial->event = NULL;
	net_loop_timer_disarm(dial->attempt);
	if (dial->tls != NULL) {
		start_tls(dial);
		return;
	}
	dial->bev = bufferevent_socket_new(
		net_loop_base(dial->loop), dial->fd, BEV_OPT_CLOSE_ON_FREE);
	if (dial->bev == NULL) {
		fail(dial, ERR_INTERNAL, "no stream");
		return;
	}
	dial->fd = -1;
	finish(dial, NULL);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	struct net_dial *dial = arg;
	int errnum = 0;
	socklen_t n = sizeof errnum;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &n) != 0)
		errnum = errno;
	if (errnum == 0) {
		on_connected(dial);
		return;
	}
	set_connect_error(dial, errnum);
	close_attempt(dial);
	try_next(dial);
}

static void on_attempt_timeout(void *arg)
{
	struct net_dial *dial = arg;
	set_connect_error(dial, ETIMEDOUT);
	close_attempt(dial);
	try_next(dial);
}

/* Starts connecting to one address; false with the reason in dial->last. */
static bool start_connect(struct net_dial *dial, const struct net_address *address)
{
	int family = address->addr.ss_family;
	dial->fd = socket(family, SOCK_STREAM, 0);
	if (dial->fd < 0) {
		set_connect_error(dial, errno);
		return false;
	}
	evutil_make_socket_closeonexec(dial->fd);
	evutil_make_socket_nonblocking(dial->fd);
	if (family != AF_UNIX) {
		int on = 1;
		setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		setsockopt(dial->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	}
	const struct sockaddr *addr = (const struct sockaddr *)&address->addr;
	if (connect(dial->fd, addr, address->n) != 0 && errno != EINPROGRESS) {
		set_connect_error(dial, errno);
		close_attempt(dial);
		return false;
	}
	dial->event =
		event_new(net_loop_base(dial->loop), dial->fd, EV_WRITE, on_writable, dial);
	event_add(dial->event, NULL);
	return true;
}

static void try_next(struct net_dial *dial)
{
	while (dial->next_address < dial->n_addresses) {
		size_t left = dial->n_addresses - dial->next_address;
		if (!start_connect(dial, &dial->addresses[dial->next_address++]))
			continue;
		if (left > 1)
			net_loop_timer_arm(dial->attempt,
				(dial->deadline_ms - clock_mono_ms()) / (int64_t)left);
		else
			net_loop_timer_disarm(dial->attempt);
		return;
	}
	struct err err = dial->last;
	finish(dial, &err);
}

static void add_address(struct net_dial *dial, const void *addr, size_t n)
{
	if (dial->n_addresses == MAX_ADDRESSES || n > sizeof dial->addresses[0].addr)
		return;
	struct net_address *address = &dial->addresses[dial->n_addresses++];
	memcpy(&address->addr, addr, n);
	address->n = (socklen_t)n;
}

static void on_resolved(void *arg, const struct err *err, const struct evutil_addrinfo *list)
{
	struct net_dial *dial = arg;
	dial->resolve = NULL;
	if (err != NULL) {
		finish(dial, err);
		return;
	}
	for (; list != NULL; list = list->ai_next)
		add_address(dial, list->ai_addr, list->ai_addrlen);
	try_next(dial);
}

static void on_begin(void *arg)
{
	struct net_dial *dial = arg;
	if (dial->host[0] != '/') {
		dial->resolve = net_resolve_start(
			dial->loop, dial->host, dial->port, on_resolved, dial);
		return;
	}
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	memcpy(addr.sun_path, dial->host, strlen(dial->host)); /* checked at the start */
	add_address(dial, &addr, sizeof addr);
	try_next(dial);
}

struct net_dial *net_dial_start(struct net_loop *loop, const struct net_dial_opts *opts,
	net_dial_done_fn *done, void *arg, struct err *err)
{
	const char *host = opts->host;
	bool is_unix = host != NULL && host[0] == '/';
	if (host == NULL || host[0] == '\0' || (!is_unix && opts->port == 0) ||
		opts->timeout_ms <= 0 || (opts->alpn && strlen(opts->alpn) > 60)) {
		err_set(err, ERR_ARG_INVALID, "a host, a port and a timeout are needed");
		return NULL;
	}
	if (is_unix && strlen(host) >= sizeof((struct sockaddr_un *)0)->sun_path) {
		err_set(err, ERR_ARG_INVALID, "the socket path %s is too long", host);
		return NULL;
	}
	struct net_dial *dial = x_calloc(1, sizeof *dial);
	dial->loop = loop;
	dial->host = x_strdup(host);
	dial->port = opts->port;
	dial->tls = net_tls_ref(opts->tls);
	dial->alpn = x_strdup(opts->alpn);
	dial->done = done;
	dial->arg = arg;
	dial->fd = -1;
	dial->deadline_ms = clock_mono_ms() + opts->timeout_ms;
	dial->begin = net_loop_timer_new(loop, on_begin, dial);
	dial->deadline = net_loop_timer_new(loop, on_deadline, dial);
	dial->attempt = net_loop_timer_new(loop, on_attempt_timeout, dial);
	net_loop_timer_arm(dial->begin, 0);
	net_loop_timer_arm(dial->deadline, opts->timeout_ms);
	return dial;
}

void net_dial_cancel(struct net_dial *dial)
{
	if (dial != NULL)
		dial_free(dial);
}
