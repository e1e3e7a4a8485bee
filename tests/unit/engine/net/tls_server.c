// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/net/tls_server.h"

#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

/* --- certificates --- */

static char *pem_of(X509 *cert, EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());
	if (cert != NULL)
		PEM_write_bio_X509(bio, cert);
	else
		PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
	char *bytes;
	long n = BIO_get_mem_data(bio, &bytes);
	char *text = x_strndup(bytes, (size_t)n);
	BIO_free(bio);
	return text;
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (extension == NULL || X509_add_ext(cert, extension, -1) != 1)
		abort();
	X509_EXTENSION_free(extension);
}

static X509 *make_cert(const char *name, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key,
	const char *names, int days)
{
	static long serial = 1;
	X509 *cert = X509_new();
	X509_set_version(cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
	X509_gmtime_adj(X509_getm_notBefore(cert), -2 * 86400);
	X509_gmtime_adj(X509_getm_notAfter(cert), (long)days * 86400);
	X509_set_pubkey(cert, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
		(const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert));
	add_extension(cert, issuer ? issuer : cert, NID_basic_constraints,
		issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
	if (names != NULL)
		add_extension(cert, issuer, NID_subject_alt_name, names);
	if (X509_sign(cert, issuer_key, EVP_sha256()) == 0)
		abort();
	return cert;
}

struct tls_identity *tls_identity_new(const char *names, int days)
{
	struct tls_identity *identity = x_calloc(1, sizeof *identity);
	EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
	if (ca_key == NULL || key == NULL)
		abort();
	X509 *ca = make_cert("test authority", ca_key, NULL, ca_key, NULL, 10);
	X509 *cert = make_cert("test", key, ca, ca_key, names, days);
	identity->ca_pem = pem_of(ca, NULL);
	identity->cert_pem = pem_of(cert, NULL);
	identity->key_pem = pem_of(NULL, key);
	X509_free(ca);
	X509_free(cert);
	EVP_PKEY_free(ca_key);
	EVP_PKEY_free(key);
	return identity;
}

void tls_identity_free(struct tls_identity *identity)
{
	if (identity == NULL)
		return;
	free(identity->ca_pem);
	free(identity->cert_pem);
	free(identity->key_pem);
	free(identity);
}

/* --- server --- */

static void on_readable(struct bufferevent *bev, void *arg)
{
	(void)arg;
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
	struct evbuffer *in = bufferevent_get_input(bev);
	struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	if (end.pos < 0)
		return;
	evbuffer_drain(in, (size_t)end.pos + 4);
	bufferevent_write(bev, answer, sizeof answer - 1);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct tls_server *server = arg;
	if (what & BEV_EVENT_CONNECTED) {
		server->handshakes++;
		const char *name = SSL_get_servername(
			bufferevent_openssl_get_ssl(bev), TLSEXT_NAMETYPE_host_name);
		snprintf(server->sni, sizeof server->sni, "%s", name ? name : "");
	}
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int n, void *arg)
{
	(void)listener;
	(void)address;
	(void)n;
	struct tls_server *server = arg;
	SSL *ssl = SSL_new(server->ctx);
	struct bufferevent *bev = bufferevent_openssl_socket_new(server->base, fd, ssl,
		BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (server->accepted >= 64 || bev == NULL)
		abort();
	server->streams[server->accepted++] = bev;
	bufferevent_setcb(bev, on_readable, NULL, on_event, server);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_n,
	const unsigned char *in, unsigned in_n, void *arg)
{
	(void)ssl;
	struct tls_server *server = arg;
	unsigned char *chosen;
	if (SSL_select_next_proto(&chosen, out_n, (const unsigned char *)server->alpn_wire,
		    server->alpn_bytes, in, in_n) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static BIO *bio_of(const char *pem)
{
	return BIO_new_mem_buf(pem, (int)strlen(pem));
}

void tls_server_start(
	struct tls_server *server, struct net_loop *loop, const struct tls_server_opts *opts)
{
	*server = (struct tls_server){ .base = net_loop_base(loop) };
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	server->ctx = ctx;
	BIO *bio = bio_of(opts->identity->cert_pem);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	bio = bio_of(opts->identity->key_pem);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	BIO_free(bio);
	if (SSL_CTX_use_certificate(ctx, cert) != 1 || SSL_CTX_use_PrivateKey(ctx, key) != 1)
		abort();
	X509_free(cert);
	EVP_PKEY_free(key);
	if (opts->client_ca_pem != NULL) {
		bio = bio_of(opts->client_ca_pem);
		X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);
		BIO_free(bio);
		X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca);
		X509_free(ca);
		SSL_CTX_set_verify(
			ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	}
	if (opts->alpn != NULL) {
		server->alpn_bytes = (unsigned)snprintf(server->alpn_wire,
			sizeof server->alpn_wire, "%c%s", (char)strlen(opts->alpn), opts->alpn);
		SSL_CTX_set_alpn_select_cb(ctx, on_alpn, server);
	}
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	server->listener = evconnlistener_new_bind(server->base, on_accept, server,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1, (struct sockaddr *)&address,
		sizeof address);
	socklen_t n = sizeof address;
	if (server->listener == NULL || getsockname(evconnlistener_get_fd(server->listener),
						(struct sockaddr *)&address, &n) != 0)
		abort();
	server->port = ntohs(address.sin_port);
}

void tls_server_stop(struct tls_server *server)
{
	evconnlistener_free(server->listener);
	for (int i = 0; i < server->accepted; i++)
		bufferevent_free(server->streams[i]);
	SSL_CTX_free(server->ctx);
}
