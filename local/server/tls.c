// SPDX-License-Identifier: Apache-2.0
/* Certificates by OpenSSL 3 (RFC 5280 extensions, so that strict verifiers accept them). */
#include "local/server/tls.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CA_DAYS = 3650, SERVER_DAYS = 397, RENEW_DAYS = 30, MAX_PEM_BYTES = 65536 };

struct pair {
	EVP_PKEY *key;
	X509 *cert;
};

static void pair_deinit(struct pair *p)
{
	EVP_PKEY_free(p->key);
	X509_free(p->cert);
	p->key = NULL;
	p->cert = NULL;
}

static bool ssl_fail(struct err *err, const char *what)
{
	char text[160];
	ERR_error_string_n(ERR_get_error(), text, sizeof text);
	return err_set(err, ERR_SYSTEM, "%s: %s", what, text);
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	bool ok = e && X509_add_ext(cert, e, -1) == 1;
	X509_EXTENSION_free(e);
	return ok;
}

static bool set_serial(X509 *cert)
{
	unsigned char bytes[16];
	if (RAND_bytes(bytes, sizeof bytes) != 1)
		return false;
	bytes[0] &= 0x7f;
	BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
	bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
	BN_free(n);
	return ok;
}

/* Signed by issuer, or by itself when issuer is NULL. */
static bool make_pair(struct pair *p, const char *common_name, const struct pair *issuer,
	int days, struct err *err)
{
	p->key = EVP_EC_gen("P-256");
	p->cert = X509_new();
	if (!p->key || !p->cert)
		return ssl_fail(err, "cannot make a key");
	const struct pair *signer = issuer ? issuer : p;
	X509_NAME *name = X509_get_subject_name(p->cert);
	bool ok = X509_set_version(p->cert, 2) && set_serial(p->cert) &&
		  X509_gmtime_adj(X509_getm_notBefore(p->cert), -3600) &&
		  X509_gmtime_adj(X509_getm_notAfter(p->cert), (long)days * 86400) &&
		  X509_set_pubkey(p->cert, p->key) &&
		  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
			  (const unsigned char *)common_name, -1, -1, 0) &&
		  X509_set_issuer_name(p->cert, X509_get_subject_name(signer->cert));
	if (ok && !issuer)
		ok = add_extension(p->cert, p->cert, NID_basic_constraints,
			     "critical,CA:TRUE,pathlen:0") &&
		     add_extension(
			     p->cert, p->cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
		     add_extension(p->cert, p->cert, NID_subject_key_identifier, "hash");
	else if (ok)
		ok = add_extension(p->cert, issuer->cert, NID_basic_constraints,
			     "critical,CA:FALSE") &&
		     add_extension(p->cert, issuer->cert, NID_key_usage,
			     "critical,digitalSignature") &&
		     add_extension(p->cert, issuer->cert, NID_ext_key_usage, "serverAuth") &&
		     add_extension(p->cert, issuer->cert, NID_subject_alt_name,
			     "IP:127.0.0.1,IP:::1,DNS:localhost") &&
		     add_extension(p->cert, issuer->cert, NID_subject_key_identifier, "hash") &&
		     add_extension(p->cert, issuer->cert, NID_authority_key_identifier,
			     "keyid:always");
	ok = ok && X509_sign(p->cert, signer->key, EVP_sha256()) > 0;
	return ok || ssl_fail(err, "cannot make a certificate");
}

static bool load_pair(struct pair *p, const char *cert_path, const char *key_path)
{
	size_t n;
	struct err ignored;
	char *cert = file_read(cert_path, MAX_PEM_BYTES, &n, &ignored);
	char *key = file_read(key_path, MAX_PEM_BYTES, &n, &ignored);
	if (cert && key) {
		BIO *c = BIO_new_mem_buf(cert, -1), *k = BIO_new_mem_buf(key, -1);
		p->cert = PEM_read_bio_X509(c, NULL, NULL, NULL);
		p->key = PEM_read_bio_PrivateKey(k, NULL, NULL, NULL);
		BIO_free(c);
		BIO_free(k);
	}
	if (key)
		OPENSSL_cleanse(key, strlen(key));
	free(cert);
	free(key);
	if (p->cert && p->key && X509_check_private_key(p->cert, p->key) == 1)
		return true;
	ERR_clear_error();
	pair_deinit(p);
	return false;
}

static bool save_bio(BIO *bio, const char *path, mode_t mode, struct err *err)
{
	char *data = NULL;
	long n = BIO_get_mem_data(bio, &data);
	bool ok =
		n > 0 && file_write_atomic(path, (struct slice){ data, (size_t)n }, mode, err);
	BIO_free(bio);
	return ok;
}

static bool save_pair(
	const struct pair *p, const char *cert_path, const char *key_path, struct err *err)
{
	BIO *cert = BIO_new(BIO_s_mem()), *key = BIO_new(BIO_s_secmem());
	if (!cert || !key || PEM_write_bio_X509(cert, p->cert) != 1 ||
		PEM_write_bio_PrivateKey(key, p->key, NULL, NULL, 0, NULL, NULL) != 1) {
		BIO_free(cert);
		BIO_free(key);
		return ssl_fail(err, "cannot write a certificate");
	}
	bool ok = save_bio(key, key_path, 0600, err);
	return save_bio(cert, cert_path, 0644, ok ? err : NULL) && ok;
}

static bool lives_for(const X509 *cert, int days)
{
	time_t then = time(NULL) + (time_t)days * 86400;
	return X509_cmp_time(X509_get0_notAfter(cert), &then) > 0;
}

static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_n,
	const unsigned char *in, unsigned int in_n, void *arg)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *chosen;
	(void)ssl;
	(void)arg;
	if (SSL_select_next_proto(&chosen, out_n, ours, sizeof ours - 1, in, in_n) !=
		OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *make_ctx(const struct pair *server, struct err *err)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	if (ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
		SSL_CTX_use_certificate(ctx, server->cert) == 1 &&
		SSL_CTX_use_PrivateKey(ctx, server->key) == 1) {
		SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, NULL);
		SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
		return ctx;
	}
	SSL_CTX_free(ctx);
	ssl_fail(err, "cannot set up TLS");
	return NULL;
}

bool server_local_tls_open(struct server_local_tls *tls, const char *dir, struct err *err)
{
	struct pair ca = { 0 }, server = { 0 };
	size_t n;
	char *ca_cert = path_join(dir, "ca.pem"), *ca_key = path_join(dir, "ca.key");
	char *cert = path_join(dir, "server.pem"), *key = path_join(dir, "server.key");
	bool ok = file_make_dirs(dir, 0700, err);
	if (ok && (!load_pair(&ca, ca_cert, ca_key) || !lives_for(ca.cert, RENEW_DAYS))) {
		pair_deinit(&ca);
		unlink(cert);
		ok = make_pair(&ca, "sandmux local CA", NULL, CA_DAYS, err) &&
		     save_pair(&ca, ca_cert, ca_key, err);
	}
	if (ok && (!load_pair(&server, cert, key) || !lives_for(server.cert, RENEW_DAYS))) {
		pair_deinit(&server);
		ok = make_pair(&server, "sandmux local API", &ca, SERVER_DAYS, err) &&
		     save_pair(&server, cert, key, err);
	}
	if (ok) {
		tls->ctx = make_ctx(&server, err);
		tls->ca_pem = file_read(ca_cert, MAX_PEM_BYTES, &n, err);
		ok = tls->ctx && tls->ca_pem;
	}
	pair_deinit(&ca);
	pair_deinit(&server);
	free(ca_cert);
	free(ca_key);
	free(cert);
	free(key);
	if (!ok)
		server_local_tls_close(tls);
	return ok;
}

void server_local_tls_close(struct server_local_tls *tls)
{
	SSL_CTX_free(tls->ctx);
	free(tls->ca_pem);
	tls->ctx = NULL;
	tls->ca_pem = NULL;
}
