// SPDX-License-Identifier: Apache-2.0
/* TLS for the scripted API server: credentials are never sent without. */
#pragma once

#include "tests/unit/engine/net/tls_server.h"

#include <event2/bufferevent_ssl.h>
#include <event2/http.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

static inline struct bufferevent *api_tls_stream(struct event_base *base, void *arg)
{
	struct bufferevent *stream = bufferevent_openssl_socket_new(
		base, -1, SSL_new(arg), BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
	return stream;
}

/* Returns what api_tls_stop() takes. */
static inline void *api_tls_start(struct evhttp *server, const struct tls_identity *identity)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	BIO *cert_bio = BIO_new_mem_buf(identity->cert_pem, -1);
	BIO *key_bio = BIO_new_mem_buf(identity->key_pem, -1);
	X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
	if (SSL_CTX_use_certificate(ctx, cert) != 1 || SSL_CTX_use_PrivateKey(ctx, key) != 1)
		abort();
	X509_free(cert);
	EVP_PKEY_free(key);
	BIO_free(cert_bio);
	BIO_free(key_bio);
	evhttp_set_bevcb(server, api_tls_stream, ctx);
	return ctx;
}

static inline void api_tls_stop(void *ctx)
{
	SSL_CTX_free(ctx);
}
