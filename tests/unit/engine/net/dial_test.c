// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/dial.h"
#include "engine/net/http.h"
#include "tests/unit/engine/net/tls_server.h"
#include "tests/unit/engine/net/turns.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct net_loop *loop;
static struct tls_identity *identity, *stranger;

struct result {
	int done;
	struct err err;
	struct bufferevent *bev;
};

static bool is_starting;

static void on_dialled(void *arg, const struct err *err, struct bufferevent *bev)
{
	struct result *result = arg;
	assert_false(is_starting);
	assert_int_equal(result->done++, 0);
	assert_true((err == NULL) == (bev != NULL));
	result->err.code = ERR_NONE;
	err_copy(&result->err, err);
	result->bev = bev;
}

static struct net_dial *start(struct result *result, struct net_dial_opts opts)
{
	struct err err;
	*result = (struct result){ .done = 0 };
	if (opts.timeout_ms == 0)
		opts.timeout_ms = 5000;
	is_starting = true;
	struct net_dial *dial = net_dial_start(loop, &opts, on_dialled, result, &err);
	is_starting = false;
	if (dial == NULL)
		fail_msg("%s", err.msg);
	return dial;
}

static enum err_code dial(struct net_dial_opts opts)
{
	struct result result;
	start(&result, opts);
	TURN_UNTIL(loop, result.done);
	if (result.bev != NULL) {
		assert_int_equal(bufferevent_get_enabled(result.bev), 0);
		bufferevent_free(result.bev);
	}
	return result.err.code;
}

static int listen_on(int family, const struct sockaddr *address, socklen_t n)
{
	int fd = socket(family, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, address, n), 0);
	assert_int_equal(listen(fd, 5), 0);
	return fd;
}

static int listen_tcp(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof address;
	int fd = listen_on(AF_INET, (struct sockaddr *)&address, n);
	getsockname(fd, (struct sockaddr *)&address, &n);
	*port = ntohs(address.sin_port);
	return fd;
}

static void test_plain(void **state)
{
	(void)state;
	uint16_t port;
	int fd = listen_tcp(&port);
	assert_int_equal(
		dial((struct net_dial_opts){ .host = "127.0.0.1", .port = port }), ERR_NONE);
	/* localhost is ::1 too, where nobody listens */
	assert_int_equal(
		dial((struct net_dial_opts){ .host = "localhost", .port = port }), ERR_NONE);
	close(fd);
	struct result result;
	start(&result, (struct net_dial_opts){ .host = "127.0.0.1", .port = port });
	TURN_UNTIL(loop, result.done);
	assert_int_equal(result.err.code, ERR_CONN_REFUSED);
	assert_int_equal(result.err.sys, ECONNREFUSED);
	char where[40];
	snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)port);
	assert_non_null(strstr(result.err.msg, where));
}

static void test_unix_socket(void **state)
{
	(void)state;
	char dir[] = "/tmp/sandmux-dial-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%s/s", dir);
	assert_int_equal(
		dial((struct net_dial_opts){ .host = address.sun_path }), ERR_CONN_REFUSED);
	int fd = listen_on(AF_UNIX, (struct sockaddr *)&address, sizeof address);
	assert_int_equal(dial((struct net_dial_opts){ .host = address.sun_path }), ERR_NONE);
	close(fd);
	unlink(address.sun_path);
	rmdir(dir);
}

static void test_names_that_are_not_there(void **state)
{
	(void)state;
	enum err_code code = dial((struct net_dial_opts){
		.host = "nothing.invalid", .port = 1, .timeout_ms = 8000 });
	assert_true(code == ERR_CONN_DNS || code == ERR_OP_TIMEOUT);
}

static void test_bad_options(void **state)
{
	(void)state;
	char long_path[300] = "/";
	memset(long_path + 1, 'x', sizeof long_path - 2);
	const struct net_dial_opts bad[] = { { .host = NULL, .port = 1, .timeout_ms = 1 },
		{ .host = "", .port = 1, .timeout_ms = 1 },
		{ .host = "a", .port = 0, .timeout_ms = 1 },
		{ .host = "a", .port = 1, .timeout_ms = 0 },
		{ .host = long_path, .timeout_ms = 1 } };
	struct err err;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err.code = ERR_NONE;
		assert_null(net_dial_start(loop, &bad[i], on_dialled, NULL, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
}

static void test_cancel_in_every_state(void **state)
{
	(void)state;
	struct tls_server server;
	tls_server_start(&server, loop, &(struct tls_server_opts){ .identity = identity });
	struct net_tls *tls =
		net_tls_new(&(struct net_tls_opts){ .ca_pem = identity->ca_pem }, NULL);
	static const char *const hosts[] = { "127.0.0.1", "localhost", "nothing.invalid" };
	for (size_t h = 0; h < 3; h++) {
		for (int turns = 0; turns < 8; turns++) {
			struct result result;
			struct net_dial *dial = start(&result,
				(struct net_dial_opts){
					.host = hosts[h], .port = server.port, .tls = tls });
			for (int i = 0; i < turns && !result.done; i++)
				net_loop_run_once(loop, 0);
			if (result.done) {
				if (result.bev != NULL)
					bufferevent_free(result.bev);
				continue;
			}
			net_dial_cancel(dial);
			turn_for(loop, 5);
			assert_int_equal(result.done, 0);
		}
	}
	net_dial_cancel(NULL);
	net_tls_unref(tls);
	tls_server_stop(&server);
}

/* --- TLS: the same table for the dialler and for the HTTP client --- */

struct tls_case {
	const char *what;
	const char *host;
	const char *ca; /* "right", "wrong" or NULL: the system's */
	const char *server_name;
	bool insecure, with_client_cert;
	const char *client_ca; /* what the server asks for: "right" or NULL */
	const char *server_alpn, *alpn;
	bool is_expired;
	enum err_code code, http_code;
};

static const struct tls_case tls_cases[] = {
	{ "by name", "localhost", "right", .code = ERR_NONE, .http_code = ERR_NONE },
	{ "by address", "127.0.0.1", "right", .code = ERR_NONE, .http_code = ERR_NONE },
	{ "another authority", "localhost", "wrong", .code = ERR_CONN_TLS,
		.http_code = ERR_CONN_TLS },
	{ "the system's authorities", "localhost", NULL, .code = ERR_CONN_TLS,
		.http_code = ERR_CONN_TLS },
	{ "an address that is not in it", "127.0.0.2", "right", .code = ERR_CONN_TLS,
		.http_code = ERR_CONN_TLS },
	{ "another name by option", "127.0.0.2", "right", "box.example", .code = ERR_NONE,
		.http_code = ERR_NONE },
	{ "an address by option", "127.0.0.2", "right", "127.0.0.1", .code = ERR_NONE,
		.http_code = ERR_NONE },
	{ "a wrong name by option", "localhost", "right", "other.example", .code = ERR_CONN_TLS,
		.http_code = ERR_CONN_TLS },
	{ "insecure", "127.0.0.2", NULL, .insecure = true, .code = ERR_NONE,
		.http_code = ERR_NONE },
	{ "insecure and expired", "127.0.0.2", "wrong", .insecure = true, .is_expired = true,
		.code = ERR_NONE, .http_code = ERR_NONE },
	{ "expired", "localhost", "right", .is_expired = true, .code = ERR_CONN_TLS,
		.http_code = ERR_CONN_TLS },
	{ "client certificate", "localhost", "right", .with_client_cert = true,
		.client_ca = "right", .code = ERR_NONE, .http_code = ERR_NONE },
	{ "h2 agreed on", "localhost", "right", .server_alpn = "h2", .alpn = "h2",
		.code = ERR_NONE, .http_code = ERR_NONE },
	{ "h2 wanted, nothing offered", "localhost", "right", .alpn = "h2",
		.code = ERR_CONN_TLS, .http_code = ERR_NONE },
	{ "h2 wanted, http/1.1 offered", "localhost", "right", .server_alpn = "http/1.1",
		.alpn = "h2", .code = ERR_CONN_TLS, .http_code = ERR_NONE },
	{ "http/1.1 wanted, nothing offered", "localhost", "right", .alpn = "http/1.1",
		.code = ERR_NONE, .http_code = ERR_NONE },
};

static struct net_tls *client_tls(const struct tls_case *c, const struct tls_identity *own)
{
	struct net_tls_opts opts = {
		.ca_pem = c->ca == NULL     ? NULL
			  : c->ca[0] == 'r' ? own->ca_pem
					    : stranger->ca_pem,
		.server_name = c->server_name,
		.insecure = c->insecure,
		.client_cert_pem = c->with_client_cert ? identity->cert_pem : NULL,
		.client_key_pem = c->with_client_cert ? identity->key_pem : NULL,
	};
	struct net_tls *tls = net_tls_new(&opts, NULL);
	assert_non_null(tls);
	return tls;
}

static void on_http_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct result *result = arg;
	result->done++;
	result->err.code = ERR_NONE;
	err_copy(&result->err, err);
	if (err == NULL && (reply->status != 200 || !slice_equals(body, "hello")))
		result->err.code = ERR_INTERNAL;
}

static void test_tls(void **state)
{
	(void)state;
	struct tls_identity *old = tls_identity_new("DNS:localhost,IP:127.0.0.1", -1);
	for (size_t i = 0; i < sizeof tls_cases / sizeof tls_cases[0]; i++) {
		const struct tls_case *c = &tls_cases[i];
		const struct tls_identity *own = c->is_expired ? old : identity;
		struct tls_server server;
		tls_server_start(&server, loop,
			&(struct tls_server_opts){ .identity = own,
				.client_ca_pem = c->client_ca ? identity->ca_pem : NULL,
				.alpn = c->server_alpn });
		struct net_tls *tls = client_tls(c, own);
		/* the listener has 127.0.0.1 only: the others are reached by a name of their own */
		struct result result;
		const char *host = strcmp(c->host, "127.0.0.2") == 0 ? "127.0.0.1" : c->host;
		if (host != c->host && c->server_name == NULL && !c->insecure) {
			net_tls_unref(tls);
			tls = net_tls_new(&(struct net_tls_opts){ .ca_pem = own->ca_pem,
						  .server_name = c->host },
				NULL);
		}
		start(&result, (struct net_dial_opts){ .host = host,
				       .port = server.port,
				       .tls = tls,
				       .alpn = c->alpn });
		TURN_UNTIL(loop, result.done);
		if (result.err.code != c->code)
			fail_msg("%s: %s", c->what, result.err.code ? result.err.msg : "ok");
		if (result.bev != NULL) {
			/* a server learns a name, never an address */
			TURN_UNTIL(loop, server.handshakes == 1);
			const char *name = c->server_name ? c->server_name : host;
			assert_string_equal(server.sni, name[0] == '1' ? "" : name);
			bufferevent_free(result.bev);
		}
		if (c->server_alpn == NULL || strcmp(c->server_alpn, "h2") != 0) {
			struct net_http *http = net_http_new(loop, NULL);
			char url[80];
			snprintf(
				url, sizeof url, "https://%s:%u/", host, (unsigned)server.port);
			result = (struct result){ .done = 0 };
			assert_non_null(net_http_start(http,
				&(struct net_http_opts){ .method = "GET",
					.url = url,
					.tls = tls,
					.http2 = c->alpn && strcmp(c->alpn, "h2") == 0,
					.timeout_ms = 5000,
					.done = on_http_done,
					.arg = &result },
				NULL));
			TURN_UNTIL(loop, result.done);
			if (result.err.code != c->http_code)
				fail_msg("HTTP, %s: %s", c->what,
					result.err.code ? result.err.msg : "ok");
			net_http_free(http);
		}
		net_tls_unref(tls);
		tls_server_stop(&server);
	}
	tls_identity_free(old);
}

/* TLS 1.3: the client is done before the server has refused its missing certificate. */
static void test_missing_client_certificate(void **state)
{
	(void)state;
	struct tls_server server;
	tls_server_start(&server, loop,
		&(struct tls_server_opts){
			.identity = identity, .client_ca_pem = identity->ca_pem });
	struct net_tls *tls =
		net_tls_new(&(struct net_tls_opts){ .ca_pem = identity->ca_pem }, NULL);
	struct net_http *http = net_http_new(loop, NULL);
	char url[80];
	snprintf(url, sizeof url, "https://localhost:%u/", (unsigned)server.port);
	struct result result = { .done = 0 };
	assert_non_null(net_http_start(http,
		&(struct net_http_opts){ .method = "GET",
			.url = url,
			.tls = tls,
			.timeout_ms = 5000,
			.done = on_http_done,
			.arg = &result },
		NULL));
	TURN_UNTIL(loop, result.done);
	assert_true(result.err.code == ERR_CONN_TLS || result.err.code == ERR_CONN_LOST);
	net_http_free(http);
	net_tls_unref(tls);
	tls_server_stop(&server);
}

static void test_tls_to_a_plain_and_to_a_silent_server(void **state)
{
	(void)state;
	uint16_t port;
	int fd = listen_tcp(&port);
	struct net_tls *tls =
		net_tls_new(&(struct net_tls_opts){ .ca_pem = identity->ca_pem }, NULL);
	assert_int_equal(
		dial((struct net_dial_opts){
			.host = "127.0.0.1", .port = port, .tls = tls, .timeout_ms = 60 }),
		ERR_OP_TIMEOUT);
	struct result result;
	start(&result, (struct net_dial_opts){ .host = "127.0.0.1", .port = port, .tls = tls });
	turn_for(loop, 30);
	close(accept(fd, NULL, NULL)); /* the one above */
	int peer = accept(fd, NULL, NULL);
	assert_true(write(peer, "HTTP/1.1 400 Bad Request\r\n\r\n", 28) == 28);
	TURN_UNTIL(loop, result.done);
	assert_int_equal(result.err.code, ERR_CONN_TLS);
	close(peer);
	start(&result, (struct net_dial_opts){ .host = "127.0.0.1", .port = port, .tls = tls });
	turn_for(loop, 30);
	close(accept(fd, NULL, NULL));
	TURN_UNTIL(loop, result.done);
	if (result.err.code != ERR_CONN_LOST)
		fail_msg("%s", result.err.msg);
	net_tls_unref(tls);
	close(fd);
}

static void test_tls_settings_are_checked(void **state)
{
	(void)state;
	const struct net_tls_opts bad[] = {
		{ .ca_pem = "" },
		{ .ca_pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
		{ .client_cert_pem = identity->cert_pem },
		{ .client_key_pem = identity->key_pem },
		{ .client_cert_pem = identity->cert_pem, .client_key_pem = "junk" },
		{ .client_cert_pem = identity->key_pem, .client_key_pem = identity->key_pem },
		/* a key that belongs to another certificate */
		{ .client_cert_pem = identity->cert_pem, .client_key_pem = stranger->key_pem },
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = { .code = ERR_NONE };
		assert_null(net_tls_new(&bad[i], &err));
		assert_int_equal(err.code, ERR_CONN_TLS);
		assert_null(strstr(err.msg, "BEGIN"));
	}
	struct net_tls *tls = net_tls_new(&(struct net_tls_opts){ .server_name = "x" }, NULL);
	assert_ptr_equal(net_tls_ref(tls), tls);
	net_tls_unref(tls);
	assert_string_equal(net_tls_opts(tls)->server_name, "x");
	assert_non_null(net_tls_ssl_ctx(tls));
	net_tls_unref(tls);
	net_tls_unref(NULL);
}

static int set_up_all(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	identity = tls_identity_new("DNS:localhost,DNS:box.example,IP:127.0.0.1", 1);
	stranger = tls_identity_new("DNS:localhost,IP:127.0.0.1", 1);
	return 0;
}

static int tear_down_all(void **state)
{
	(void)state;
	tls_identity_free(identity);
	tls_identity_free(stranger);
	net_loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_names_that_are_not_there),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_cancel_in_every_state),
		cmocka_unit_test(test_tls),
		cmocka_unit_test(test_missing_client_certificate),
		cmocka_unit_test(test_tls_to_a_plain_and_to_a_silent_server),
		cmocka_unit_test(test_tls_settings_are_checked),
	};
	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
