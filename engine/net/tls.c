// SPDX-License-Identifier: Apache-2.0
/* Client TLS settings, read from PEM in memory into one SSL_CTX. */
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/net/dial.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>

struct net_tls {
	unsigned refs;
	struct net_tls_opts opts; /* strings are ours */
	SSL_CTX *ctx;
};

static bool fail(struct err *err, const char *what)
{
	unsigned long code = ERR_peek_last_error();
	const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
	ERR_clear_error();
	return err_set(err, ERR_CONN_TLS, "%s: %s", what, reason ? reason : "not usable");
}

static BIO *bio_of(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)strlen(pem));
	if (bio == NULL)
		abort();
	return bio;
}

/* An encrypted key is refused instead of asking on the terminal. */
static int no_passphrase(char *into, int size, int rwflag, void *arg)
{
	(void)into;
	(void)size;
	(void)rwflag;
	(void)arg;
	return -1;
}

static bool load_authorities(SSL_CTX *ctx, const char *pem, struct err *err)
{
	BIO *bio = bio_of(pem);
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	size_t n = 0;
	X509 *cert;
	while ((cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL) {
		if (X509_STORE_add_cert(store, cert) == 1)
			n++;
		X509_free(cert);
	}
	BIO_free(bio);
	if (n == 0)
		return fail(err, "no certificate authority in the given PEM");
	ERR_clear_error(); /* "no start line" is how the list ends */
	return true;
}

static bool load_client(SSL_CTX *ctx, const struct net_tls_opts *opts, struct err *err)
{
	BIO *bio = bio_of(opts->client_cert_pem);
	X509 *cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
	bool ok = cert != NULL && SSL_CTX_use_certificate(ctx, cert) == 1;
	X509_free(cert);
	while (ok && (cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL)
		if (SSL_CTX_add0_chain_cert(ctx, cert) != 1) {
			X509_free(cert);
			ok = false;
		}
	BIO_free(bio);
	if (!ok)
		return fail(err, "the client certificate");
	ERR_clear_error();
	bio = bio_of(opts->client_key_pem);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	ok = key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1;
	EVP_PKEY_free(key);
	BIO_free(bio);
	return ok || fail(err, "the client key");
}

static bool set_up(struct net_tls *tls, struct err *err)
{
	tls->ctx = SSL_CTX_new(TLS_client_method());
	if (tls->ctx == NULL)
		return fail(err, "TLS");
	SSL_CTX_set_min_proto_version(tls->ctx, TLS1_2_VERSION);
	SSL_CTX_set_mode(tls->ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(
		tls->ctx, tls->opts.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	if (tls->opts.ca_pem != NULL) {
		if (!load_authorities(tls->ctx, tls->opts.ca_pem, err))
			return false;
	} else if (SSL_CTX_set_default_verify_paths(tls->ctx) != 1) {
		return fail(err, "the system's certificate authorities");
	}
	return tls->opts.client_cert_pem == NULL || load_client(tls->ctx, &tls->opts, err);
}

struct net_tls *net_tls_new(const struct net_tls_opts *opts, struct err *err)
{
	if ((opts->client_cert_pem == NULL) != (opts->client_key_pem == NULL)) {
		err_set(err, ERR_CONN_TLS,
			"a client certificate and its key must come together");
		return NULL;
	}
	struct net_tls *tls = x_calloc(1, sizeof *tls);
	tls->refs = 1;
	tls->opts = (struct net_tls_opts){
		.ca_pem = x_strdup(opts->ca_pem),
		.client_cert_pem = x_strdup(opts->client_cert_pem),
		.client_key_pem = x_strdup(opts->client_key_pem),
		.server_name = x_strdup(opts->server_name),
		.insecure = opts->insecure,
	};
	if (set_up(tls, err))
		return tls;
	net_tls_unref(tls);
	return NULL;
}

struct net_tls *net_tls_ref(struct net_tls *tls)
{
	if (tls != NULL)
		tls->refs++;
	return tls;
}

static void free_text(const char *text)
{
	char *mine;
	memcpy(&mine, &text, sizeof mine); /* ours, though the options say const */
	if (mine != NULL)
		OPENSSL_cleanse(mine, strlen(mine));
	free(mine);
}

void net_tls_unref(struct net_tls *tls)
{
	if (tls == NULL || --tls->refs > 0)
		return;
	SSL_CTX_free(tls->ctx);
	free_text(tls->opts.ca_pem);
	free_text(tls->opts.client_cert_pem);
	free_text(tls->opts.client_key_pem);
	free_text(tls->opts.server_name);
	free(tls);
}

const struct net_tls_opts *net_tls_opts(const struct net_tls *tls)
{
	return &tls->opts;
}

void *net_tls_ssl_ctx(struct net_tls *tls)
{
	return tls->ctx;
}
