// SPDX-License-Identifier: Apache-2.0
/* Opens a byte stream and yields a bufferevent: TCP, TLS over TCP, or a Unix socket. Names are
 * resolved asynchronously. Every transport of the engine (these, and a port-forward channel) hands its user a
 * bufferevent, so nghttp2 and the WebSocket code see no difference.
 * Errors: ERR_ARG_INVALID, ERR_CONN_LOST, ERR_CONN_REFUSED. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct err;
struct net_loop;
struct net_tls;

/* Client TLS settings: reference counted, immutable. Verification is on unless insecure. */
struct net_tls_opts {
	const char *ca_pem;          /* NULL: the system's store */
	const char *client_cert_pem; /* with client_key_pem, or both NULL */
	const char *client_key_pem;
	const char *server_name; /* SNI and verified name; NULL: the host dialled */
	bool insecure;           /* no verification: the caller shows a permanent mark */
};
/* Errors: ERR_CONN_TLS (a certificate or key that cannot be read). */
struct net_tls *net_tls_new(const struct net_tls_opts *opts, struct err *err);
struct net_tls *net_tls_ref(struct net_tls *tls);
void net_tls_unref(struct net_tls *tls);
const struct net_tls_opts *net_tls_opts(const struct net_tls *tls); /* borrowed */
void *net_tls_ssl_ctx(struct net_tls *tls); /* SSL_CTX *, borrowed; ALPN is set per dial */

struct net_dial_opts {
	const char *host; /* name or literal address, IPv6 without brackets */
	uint16_t port;
	struct net_tls *tls; /* NULL: plain */
	const char *alpn;    /* "h2", "http/1.1" or NULL */
	int64_t timeout_ms;  /* connect + handshake; > 0 */
};
/* On success *bev is handed over to the callback: connected, disabled, without callbacks. Errors: ERR_CONN_DNS,
 * ERR_CONN_REFUSED, ERR_CONN_LOST, ERR_CONN_TLS, ERR_OP_TIMEOUT, ERR_INTERNAL (no memory for a stream). */
typedef void net_dial_done_fn(void *arg, const struct err *err, struct bufferevent *bev);
struct net_dial;
/* Errors: ERR_ARG_INVALID. */
struct net_dial *net_dial_start(struct net_loop *loop, const struct net_dial_opts *opts,
	net_dial_done_fn *done, void *arg, struct err *err);
void net_dial_cancel(struct net_dial *dial);
