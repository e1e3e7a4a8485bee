// SPDX-License-Identifier: Apache-2.0
/* A TLS server on loopback inside the test, with an authority and certificates made on the spot. */
#pragma once

#include "engine/net/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_identity {
	char *ca_pem;   /* the authority's certificate */
	char *cert_pem; /* signed by it */
	char *key_pem;
};

/* names: subjectAltName as OpenSSL writes it ("DNS:localhost,IP:127.0.0.1"). days < 0: expired. */
struct tls_identity *tls_identity_new(const char *names, int days);
void tls_identity_free(struct tls_identity *identity);

struct tls_server_opts {
	const struct tls_identity *identity;
	const char *client_ca_pem; /* NULL: no client certificate is asked for */
	const char *alpn;          /* the only protocol it speaks; NULL: none */
};
struct tls_server {
	uint16_t port;
	int accepted, handshakes;
	char sni[64]; /* of the last client */
	/* what follows is private */
	void *ctx;
	char alpn_wire[32];
	unsigned alpn_bytes;
	struct evconnlistener *listener;
	struct bufferevent *streams[64];
	struct event_base *base;
};
/* Answers every request (an empty line ends one) with an HTTP/1.1 200 whose body is "hello". */
void tls_server_start(
	struct tls_server *server, struct net_loop *loop, const struct tls_server_opts *opts);
void tls_server_stop(struct tls_server *server);
