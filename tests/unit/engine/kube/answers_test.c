// SPDX-License-Identifier: Apache-2.0
/* What is made of answers (statuses, refusals, waits, a plugin's credential), and the paths that ask for them. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/status.h"
#include "engine/kube/client.h"
#include "engine/kube/config_internal.h"
#include "engine/kube/exec.h"
#include "engine/kube/portforward_error.h"
#include "engine/kube/status.h"
#include "engine/net/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- a failed answer */

static void what_a_status_becomes(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_code code;
		int sys;
		const char *message;
	} rows[] = {
		{ 406, "{\"kind\":\"Status\",\"message\":\"m\"}", ERR_KUBE_BAD_REQUEST, 406,
			"m" },
		{ 499, "no", ERR_KUBE_PROTOCOL, 499, "no" },
		{ 500, "no", ERR_KUBE_SERVER, 500, "no" },
		/* the reason beats the number */
		{ 500, "{\"kind\":\"Status\",\"reason\":\"Expired\",\"message\":\"m\"}",
			ERR_KUBE_EXPIRED, 410, "m" },
		{ 400, "{\"kind\":\"Status\",\"reason\":\"Gone\",\"message\":\"m\"}",
			ERR_KUBE_EXPIRED, 410, "m" },
		/* what is no Status says nothing but its text */
		{ 500, "{\"kind\":\"Pod\",\"reason\":\"Gone\",\"message\":\"m\"}",
			ERR_KUBE_SERVER, 500,
			"{\"kind\":\"Pod\",\"reason\":\"Gone\",\"message\":\"m\"}" },
		{ 409, "{\"reason\":\"AlreadyExists\"}", ERR_KUBE_CONFLICT, 409,
			"{\"reason\":\"AlreadyExists\"}" },
		{ 404, "{\"kind\":\"Other\"}", ERR_KUBE_NOT_SERVED, 404,
			"{\"kind\":\"Other\"}" },
		/* a Status without words */
		{ 500, "{\"kind\":\"Status\",\"reason\":\"Why\"}", ERR_KUBE_SERVER, 500,
			"the API server answered 500 Why" },
		{ 500, "{\"kind\":\"Status\",\"message\":\"\"}", ERR_KUBE_SERVER, 500,
			"the API server answered 500 " },
		{ 502, "", ERR_KUBE_SERVER, 502, "the API server answered 502 " },
		{ 502, "\r\n\n", ERR_KUBE_SERVER, 502, "the API server answered 502 " },
		{ 502, "bad gateway\r\n", ERR_KUBE_SERVER, 502, "bad gateway" },
		{ 502, "a\nb\n", ERR_KUBE_SERVER, 502, "a\nb" },
		/* the cause is looked for in all of them, and only this one */
		{ 403,
			"{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"causes\":[{},"
			"{\"reason\":\"Other\"},{\"reason\":\"NamespaceTerminating\"}]}}",
			ERR_KUBE_NAMESPACE_TERMINATING, 403, "m" },
		{ 403,
			"{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"causes\":["
			"{\"reason\":\"Other\"}]}}",
			ERR_KUBE_FORBIDDEN, 403, "m" },
		{ 403, "exceeded quota", ERR_KUBE_QUOTA, 403, "exceeded quota" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		cJSON *object = json_parse(slice_of(rows[i].body), NULL);
		assert_false(k8s_status_to_err(
			rows[i].status, object, slice_of(rows[i].body), &err));
		if (err.code != rows[i].code || err.sys != rows[i].sys ||
			strcmp(err.msg, rows[i].message) != 0)
			fail_msg("%d %s: %s %d '%s'", rows[i].status, rows[i].body,
				err_name(&err), err.sys, err.msg);
		assert_false(k8s_status_to_err(
			rows[i].status, object, slice_of(rows[i].body), NULL));
		cJSON_Delete(object);
	}
}

/* Of a page of somebody else its first 200 bytes. */
static void only_the_beginning_of_a_text_is_shown(void **state)
{
	char text[400];
	(void)state;
	memset(text, 'x', sizeof text);
	for (size_t n = 199; n <= 201; n++) {
		struct err err = { 0 };
		k8s_status_to_err(500, NULL, (struct slice){ text, n }, &err);
		assert_int_equal(strlen(err.msg), n < 200 ? n : 200);
	}
}

static void errors_of_the_transport(void **state)
{
	static const struct {
		enum err_code from, to;
		const char *message, *shown;
		int sys;
	} rows[] = {
		{ ERR_CONN_REFUSED, ERR_KUBE_TRANSPORT, "m", "https://s: m", ECONNREFUSED },
		{ ERR_CONN_LOST, ERR_KUBE_TRANSPORT, "m", "https://s: m", 7 },
		{ ERR_CONN_DNS, ERR_KUBE_TRANSPORT, "m", "https://s: m", 7 },
		{ ERR_CONN_TLS, ERR_KUBE_TLS, "m", "https://s: m", 7 },
		{ ERR_RUNTIME_PROTOCOL, ERR_KUBE_PROTOCOL, "m", "https://s: m", 7 },
		{ ERR_CONN_TLS, ERR_KUBE_TLS, "of https://s here", "of https://s here", 7 },
		{ ERR_OP_TIMEOUT, ERR_OP_TIMEOUT, "m", "m", 7 },
		{ ERR_LIMIT_RESPONSE, ERR_LIMIT_RESPONSE, "m", "m", 7 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err from = { 0 }, to = { 0 };
		err_set(&from, rows[i].from, "%s", rows[i].message);
		from.sys = 7;
		kube_transport_err(&from, "https://s", &to);
		if (to.code != rows[i].to || to.sys != rows[i].sys ||
			strcmp(to.msg, rows[i].shown) != 0)
			fail_msg("%s: %s %d '%s'", err_name(&from), err_name(&to), to.sys,
				to.msg);
		kube_transport_err(&from, "https://s", NULL);
	}
}

static void how_long_to_wait(void **state)
{
	static const struct {
		const char *header; /* NULL: none */
		const char *body;
		int64_t ms;
	} rows[] = {
		{ NULL, NULL, -1 },
		{ NULL, "{}", -1 },
		{ NULL, "{\"details\":{\"retryAfterSeconds\":2}}", 2000 },
		{ NULL, "{\"details\":{\"retryAfterSeconds\":0}}", 0 },
		{ NULL, "{\"details\":{\"retryAfterSeconds\":-3}}", -1 },
		{ NULL, "{\"details\":{\"retryAfterSeconds\":300}}", 300000 },
		{ NULL, "{\"details\":{\"retryAfterSeconds\":301}}", 300000 },
		{ "0", NULL, 0 },
		{ "1", "{\"details\":{\"retryAfterSeconds\":2}}", 1000 },
		{ "300", NULL, 300000 },
		{ "301", NULL, 300000 },
		{ "99999999999999999999", NULL, 300000 },
		{ "soon", NULL, -1 },
		{ "soon", "{\"details\":{\"retryAfterSeconds\":2}}", 2000 },
		{ "-1", NULL, -1 },
		{ "", NULL, -1 },
		/* a date that has been, and one far away */
		{ "Fri, 02 Jan 2015 03:04:05 GMT", NULL, 0 },
		{ "Fri, 02 Jan 2150 03:04:05 GMT", NULL, 300000 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct net_http_header header = { "retry-after", rows[i].header };
		const struct net_http_reply reply = {
			.status = 429, .headers = &header, .n_headers = rows[i].header ? 1 : 0
		};
		cJSON *object = rows[i].body ? json_parse(slice_of(rows[i].body), NULL) : NULL;
		int64_t ms = kube_retry_after_ms(&reply, object);
		if (ms != rows[i].ms)
			fail_msg("row %zu: %lld", i, (long long)ms);
		cJSON_Delete(object);
	}
	assert_int_equal(kube_retry_after_ms(NULL, NULL), -1);
}

/* ---- a refused port forward */

static void a_refused_forward(void **state)
{
	static const struct {
		enum err_code from;
		int status;
		const char *message;
		bool is_open;
		enum err_code to;
		const char *shown;
	} rows[] = {
		{ ERR_HTTP_STATUS, 401, "m", false, ERR_PORTFWD_DENIED, "m" },
		{ ERR_HTTP_STATUS, 403, "403: {\"message\":\"you may not\"}", false,
			ERR_PORTFWD_DENIED, "you may not" },
		{ ERR_HTTP_STATUS, 404, "m", false, ERR_PORTFWD_NO_POD, "m" },
		{ ERR_HTTP_STATUS, 400, "pod p does not have a host assigned", false,
			ERR_PORTFWD_NO_POD, "pod p does not have a host assigned" },
		{ ERR_HTTP_STATUS, 400, "m", false, ERR_PORTFWD_PROTOCOL, "m" },
		{ ERR_HTTP_STATUS, 500, "does not have a host", false, ERR_PORTFWD_LOST,
			"does not have a host" },
		{ ERR_HTTP_STATUS, 499, "m", false, ERR_PORTFWD_PROTOCOL, "m" },
		/* a status is one, open or not */
		{ ERR_HTTP_STATUS, 404, "m", true, ERR_PORTFWD_NO_POD, "m" },
		{ ERR_CONN_REFUSED, 0, "m", false, ERR_CONN_REFUSED, "m" },
		{ ERR_CONN_REFUSED, 0, "m", true, ERR_PORTFWD_LOST, "m" },
		/* what is no Status, or has no words, stays */
		{ ERR_HTTP_STATUS, 404, "x {", false, ERR_PORTFWD_NO_POD, "x {" },
		{ ERR_HTTP_STATUS, 404, "x {\"message\":\"\"}", false, ERR_PORTFWD_NO_POD,
			"x {\"message\":\"\"}" },
		{ ERR_HTTP_STATUS, 404, "x {\"message\":1}", false, ERR_PORTFWD_NO_POD,
			"x {\"message\":1}" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err from = { 0 }, to = { 0 };
		char shown[300];
		err_set(&from, rows[i].from, "%s", rows[i].message);
		from.sys = rows[i].status;
		snprintf(shown, sizeof shown, "port-forward to pod p: %s", rows[i].shown);
		kube_portforward_error(&to, "p", rows[i].is_open, &from);
		if (to.code != rows[i].to || strcmp(to.msg, shown) != 0)
			fail_msg("row %zu: %s '%s'", i, err_name(&to), to.msg);
	}
}

/* ---- paths */

static void paths_of_resources(void **state)
{
	static const struct {
		const struct k8s_resource *resource;
		const char *namespace_, *name, *sub, *path;
	} rows[] = {
		{ &k8s_pods, NULL, NULL, NULL, "/api/v1/pods" },
		{ &k8s_pods, "", "", "", "/api/v1/pods" },
		{ &k8s_pods, "n", NULL, NULL, "/api/v1/namespaces/n/pods" },
		{ &k8s_pods, "n", "p", NULL, "/api/v1/namespaces/n/pods/p" },
		{ &k8s_pods, "n", "p", "log", "/api/v1/namespaces/n/pods/p/log" },
		{ &k8s_namespaces, NULL, "n", NULL, "/api/v1/namespaces/n" },
		{ &k8s_leases, "n", "l", NULL,
			"/apis/coordination.k8s.io/v1/namespaces/n/leases/l" },
		{ &k8s_sandboxclaims, "n", "c", "status",
			"/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/n/sandboxclaims/c/status" },
		/* nothing leaves its segment */
		{ &k8s_pods, "n", "a/../b", NULL, "/api/v1/namespaces/n/pods/a%2F..%2Fb" },
		{ &k8s_pods, "..", ".", NULL, "/api/v1/namespaces/%2E%2E/pods/%2E" },
		{ &k8s_pods, "n", "...", NULL, "/api/v1/namespaces/n/pods/..." },
		{ &k8s_pods, "n", "?a=b#c%20\xff\x01", NULL,
			"/api/v1/namespaces/n/pods/%3Fa%3Db%23c%2520%FF%01" },
		{ &k8s_pods, "azAZ09-._~", "@[`{/:", NULL,
			"/api/v1/namespaces/azAZ09-._~/pods/%40%5B%60%7B%2F%3A" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = kube_path(
			rows[i].resource, rows[i].namespace_, rows[i].name, rows[i].sub);
		assert_string_equal(path, rows[i].path);
		free(path);
	}
	struct str query;
	str_init(&query, 200);
	kube_query_add(&query, "a", "1 & 2");
	kube_query_add(&query, "b=", "");
	kube_query_add(&query, "c", "x,y");
	assert_string_equal(query.p, "a=1%20%26%202&b%3D=&c=x%2Cy");
	str_deinit(&query);
}

/* ---- what a plugin wrote */

#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"v1\",\"status\":{"

static void what_a_plugin_may_answer(void **state)
{
	static const struct {
		const char *output;
		const char *problem; /* NULL: none */
		const char *token, *cert, *key;
		int64_t expires_ms;
	} rows[] = {
		{ "", "not JSON", NULL, NULL, NULL, 0 },
		{ "[]", "not an ExecCredential", NULL, NULL, NULL, 0 },
		{ "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":{\"token\":\"t\"}}",
			"not an ExecCredential", NULL, NULL, NULL, 0 },
		{ "{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}",
			"another apiVersion", NULL, NULL, NULL, 0 },
		{ "{\"kind\":\"ExecCredential\",\"apiVersion\":\"v2\",\"status\":{\"token\":\"t\"}}",
			"another apiVersion", NULL, NULL, NULL, 0 },
		{ HEAD "\"token\":\"t\"}}", NULL, "t", NULL, NULL, 0 },
		{ HEAD "}}", "neither a token nor a certificate", NULL, NULL, NULL, 0 },
		{ HEAD "\"token\":\"\"}}", "neither a token nor a certificate", NULL, NULL,
			NULL, 0 },
		{ HEAD "\"token\":\"a b\"}}", "a header cannot carry", NULL, NULL, NULL, 0 },
		{ HEAD "\"token\":\"a\\nb\"}}", "a header cannot carry", NULL, NULL, NULL, 0 },
		{ HEAD "\"token\":\"a\\u007f\"}}", "a header cannot carry", NULL, NULL, NULL,
			0 },
		{ HEAD "\"token\":\"t\",\"clientCertificateData\":\"c\"}}",
			"a certificate without a key", NULL, NULL, NULL, 0 },
		{ HEAD "\"token\":\"t\",\"clientKeyData\":\"k\"}}", "or the reverse", NULL,
			NULL, NULL, 0 },
		{ HEAD "\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}}", NULL, NULL,
			"c", "k", 0 },
		{ HEAD "\"token\":\"\",\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}}",
			NULL, NULL, "c", "k", 0 },
		{ HEAD "\"token\":\"t\",\"expirationTimestamp\":\"1970-01-01T00:00:01.5Z\"}}",
			NULL, "t", NULL, NULL, 1500 },
		{ HEAD "\"token\":\"t\",\"expirationTimestamp\":\"tomorrow\"}}",
			"not an RFC 3339 date", NULL, NULL, NULL, 0 },
	};
	const struct kube_exec_spec spec = { .api_version = (char[]){ "v1" },
		.command = (char[]){ "/usr/bin/login" } };
	(void)state;
	assert_string_equal(kube_exec_name(&spec), "login");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kube_exec_answer answer;
		struct err err = { 0 };
		bool ok = kube_exec_parse(&spec, slice_of(rows[i].output), &answer, &err);
		if (ok != (rows[i].problem == NULL))
			fail_msg("%s: %s", rows[i].output, err.msg);
		if (!ok) {
			assert_int_equal(err.code, ERR_CONFIG_EXEC_PLUGIN);
			assert_int_equal(strncmp(err.msg, "plugin login: ", 14), 0);
			if (strstr(err.msg, rows[i].problem) == NULL)
				fail_msg("%s: %s", rows[i].output, err.msg);
		}
		const char *const wanted[] = { rows[i].token, rows[i].cert, rows[i].key };
		const char *const is[] = { answer.token, answer.cert_pem, answer.key_pem };
		for (size_t j = 0; j < COUNT(is); j++) {
			assert_int_equal(is[j] == NULL, wanted[j] == NULL);
			if (is[j] != NULL)
				assert_string_equal(is[j], wanted[j]);
		}
		assert_int_equal(answer.expires_wall_ms, rows[i].expires_ms);
		kube_exec_answer_deinit(&answer);
		assert_null(answer.token);
	}
}

/* ---- servers and proxies */

static void urls_of_servers(void **state)
{
	static const struct {
		const char *url, *host; /* NULL: refused */
		int port;
	} rows[] = {
		{ "https://a", "a", 0 },
		{ "HTTP://a:1", "a", 1 },
		{ "https://a:65535/x:9", "a", 65535 },
		{ "https://a?x", "a", 0 },
		{ "https://a#x:1", "a", 0 },
		{ "https://u:p@a:7", "a", 7 },
		{ "https://[::1]", "::1", 0 },
		{ "https://[::1]:8/", "::1", 8 },
		{ "https://u@[fd00::2]:8", "fd00::2", 8 },
		{ "ftp://a", NULL, 0 },
		{ "a", NULL, 0 },
		{ "https://", NULL, 0 },
		{ "https:///x", NULL, 0 },
		{ "https://:1", NULL, 0 },
		{ "https://[]", NULL, 0 },
		{ "https://[::1", NULL, 0 },
		{ "https://[::1/]", NULL, 0 },
		{ "https://[::1]x", NULL, 0 },
		{ "https://[::1]8", NULL, 0 },
		{ "https://a:", NULL, 0 },
		{ "https://a:0", NULL, 0 },
		{ "https://a:65536", NULL, 0 },
		{ "https://a:0000080", NULL, 0 },
		{ "https://a:8x", NULL, 0 },
		{ "https://a:-8", NULL, 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *host = NULL;
		int port = -1;
		bool ok = kube_url_split(rows[i].url, &host, &port);
		if (ok != (rows[i].host != NULL) ||
			(ok && (strcmp(host, rows[i].host) != 0 || port != rows[i].port)))
			fail_msg("%s: %d %s %d", rows[i].url, ok, host ? host : "", port);
		free(host);
	}
}

static void which_hosts_are_here(void **state)
{
	static const char *const here[] = { "localhost", "LOCALHOST", "127.0.0.1",
		"127.255.255.255", "::1", "::ffff:127.0.0.1" };
	static const char *const elsewhere[] = { "", "localhost.", "localhosts", "126.0.0.1",
		"128.0.0.1", "::2", "::", "fd00::1", "::ffff:10.0.0.1", "a" };
	(void)state;
	for (size_t i = 0; i < COUNT(here); i++)
		if (!kube_host_is_loopback(here[i]))
			fail_msg("%s", here[i]);
	for (size_t i = 0; i < COUNT(elsewhere); i++)
		if (kube_host_is_loopback(elsewhere[i]))
			fail_msg("%s", elsewhere[i]);
}

static void proxies_by_their_scheme(void **state)
{
	static const char *const rows[][2] = { { "http://p:1", "http://p:1" },
		{ "HTTPS://p", "HTTPS://p" }, { "socks5://p:1", "socks5h://p:1" },
		{ "socks5h://p:1", "socks5h://p:1" }, { "p:1", "http://p:1" },
		{ "socks4://p", NULL }, { "ftp://p", NULL } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *is = kube_proxy_normalize(rows[i][0]);
		if ((is == NULL) != (rows[i][1] == NULL) || (is && strcmp(is, rows[i][1]) != 0))
			fail_msg("%s: %s", rows[i][0], is ? is : "refused");
		free(is);
	}
}

static void values_of_headers(void **state)
{
	(void)state;
	assert_true(kube_is_header_value(""));
	assert_true(kube_is_header_value(" ~\x80\xff"));
	assert_false(kube_is_header_value("a\x1f"));
	assert_false(kube_is_header_value("\t"));
	assert_false(kube_is_header_value("a\r\nb"));
	assert_false(kube_is_header_value("\x7f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_status_becomes),
		cmocka_unit_test(only_the_beginning_of_a_text_is_shown),
		cmocka_unit_test(errors_of_the_transport),
		cmocka_unit_test(how_long_to_wait),
		cmocka_unit_test(a_refused_forward),
		cmocka_unit_test(paths_of_resources),
		cmocka_unit_test(what_a_plugin_may_answer),
		cmocka_unit_test(urls_of_servers),
		cmocka_unit_test(which_hosts_are_here),
		cmocka_unit_test(proxies_by_their_scheme),
		cmocka_unit_test(values_of_headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
