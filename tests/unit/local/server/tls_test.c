// SPDX-License-Identifier: Apache-2.0
/* The certificates of a local backend: made once, kept, private, and made again when they are no good. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "local/server/tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64];
static struct server_local_tls tls;

static const char *file_of(const char *name)
{
	static char path[2][128];
	static int turn;
	turn = !turn;
	snprintf(path[turn], sizeof path[0], "%s/%s", folder, name);
	return path[turn];
}

static int set_up(void **state)
{
	struct err err;
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-tls-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_true(server_local_tls_open(&tls, folder, &err));
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "ca.pem", "ca.key", "server.pem", "server.key" };
	(void)state;
	server_local_tls_close(&tls);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		unlink(file_of(names[i]));
	rmdir(folder);
	return 0;
}

static void open_again(void)
{
	struct err err;
	server_local_tls_close(&tls);
	if (!server_local_tls_open(&tls, folder, &err))
		fail_msg("%s", err.msg);
}

static char *text_of(const char *name)
{
	struct err err;
	size_t n;
	char *text = file_read(file_of(name), 65536, &n, &err);
	assert_non_null(text);
	return text;
}

static X509 *certificate(const char *name)
{
	FILE *file = fopen(file_of(name), "r");
	assert_non_null(file);
	X509 *cert = PEM_read_X509(file, NULL, NULL, NULL);
	fclose(file);
	assert_non_null(cert);
	return cert;
}

static void what_is_served(void **state)
{
	(void)state;
	X509 *ca = certificate("ca.pem"), *server = certificate("server.pem");
	EVP_PKEY *key = X509_get0_pubkey(ca);
	assert_int_equal(X509_verify(server, key), 1);
	assert_int_equal(X509_verify(ca, key), 1);
	assert_int_equal(X509_check_ca(ca), 1);
	assert_int_equal(X509_check_ca(server), 0);
	assert_int_equal(X509_check_ip_asc(server, "127.0.0.1", 0), 1);
	assert_int_equal(X509_check_ip_asc(server, "127.0.0.2", 0), 0);
	assert_int_equal(X509_check_host(server, "localhost", 0, 0, NULL), 1);
	time_t soon = time(NULL) + 86400, past = time(NULL) - 1;
	assert_int_equal(X509_cmp_time(X509_get0_notAfter(server), &soon), 1);
	assert_int_equal(X509_cmp_time(X509_get0_notBefore(server), &past), -1);
	X509_free(ca);
	X509_free(server);
	struct stat st;
	assert_int_equal(stat(file_of("ca.key"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(file_of("server.key"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	char *ca_text = text_of("ca.pem");
	assert_string_equal(tls.ca_pem, ca_text);
	free(ca_text);
	assert_int_equal(SSL_CTX_get_min_proto_version(tls.ctx), TLS1_2_VERSION);
}

/* Whether each file is the same after it was opened again. */
static void expect_kept(const char *broken, bool ca, bool server)
{
	char *ca_before = text_of("ca.pem"), *server_before = text_of("server.pem");
	if (broken != NULL) {
		FILE *file = fopen(file_of(broken), "w");
		fputs("nonsense\n", file);
		fclose(file);
	}
	open_again();
	char *ca_after = text_of("ca.pem"), *server_after = text_of("server.pem");
	assert_int_equal(strcmp(ca_before, ca_after) == 0, ca);
	assert_int_equal(strcmp(server_before, server_after) == 0, server);
	X509 *authority = certificate("ca.pem"), *cert = certificate("server.pem");
	assert_int_equal(X509_verify(cert, X509_get0_pubkey(authority)), 1);
	X509_free(authority);
	X509_free(cert);
	free(ca_before);
	free(ca_after);
	free(server_before);
	free(server_after);
}

static void what_is_kept(void **state)
{
	(void)state;
	expect_kept(NULL, true, true);
	expect_kept("server.pem", true, false);
	expect_kept("server.key", true, false);
	expect_kept("ca.key", false, false);
	expect_kept("ca.pem", false, false);
	expect_kept(NULL, true, true);
}

/* A month before its end. */
static void what_is_about_to_end_is_made_again(void **state)
{
	(void)state;
	for (int days = 1; days <= 41; days += 40) {
		X509 *cert = certificate("server.pem");
		X509_gmtime_adj(X509_getm_notAfter(cert), (long)days * 86400);
		FILE *file = fopen(file_of("ca.key"), "r");
		EVP_PKEY *ca_key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
		fclose(file);
		assert_true(X509_sign(cert, ca_key, EVP_sha256()) > 0);
		file = fopen(file_of("server.pem"), "w");
		PEM_write_X509(file, cert);
		fclose(file);
		X509_free(cert);
		EVP_PKEY_free(ca_key);
		expect_kept(NULL, true, days > 30);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_served),
		TEST(what_is_kept),
		TEST(what_is_about_to_end_is_made_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
