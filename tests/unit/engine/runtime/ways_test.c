// SPDX-License-Identifier: Apache-2.0
/* A router on the way, an address that has to be found, and the version that was asked for. */
#include "tests/unit/engine/runtime/answers.h"

/* ---- the router */
static void headers_for_the_router(void **state)
{
	struct rig rig;
	const struct runtime_router router = { .sandbox = "box",
		.namespace_ = "ns",
		.port = 8080,
		.pod_ip = "10.0.0.1",
		.uid = "u-1",
		.token = "for-the-router" };
	struct runtime_opts opts = { .router = &router, .token = "for-the-daemon" };
	static const char *const lines[] = { "X-Sandbox-ID: box\r\n",
		"X-Sandbox-Namespace: ns\r\n", "X-Sandbox-Port: 8080\r\n",
		"X-Sandbox-Pod-IP: 10.0.0.1\r\n", "X-Sandbox-UID: u-1\r\n",
		"X-Sandbox-Timeout: ", "X-Request-ID: ",
		"Authorization: Bearer for-the-router\r\n" };
	char id[2][64];

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	open_rig(&rig, &opts);
	for (int i = 0; i < 2; i++) {
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, i + 1);
		assert_false(rig.failed);
		for (size_t l = 0; l < COUNT(lines); l++)
			if (!strstr(headers, lines[l]))
				fail_msg("no %s", lines[l]);
		assert_null(strstr(headers, "for-the-daemon"));
		const char *at = strstr(headers, "X-Request-ID: ") + 14;
		snprintf(id[i], sizeof id[i], "%.*s", (int)strcspn(at, "\r"), at);
		assert_int_equal(strlen(id[i]), 16);
	}
	assert_string_not_equal(id[0], id[1]);
	rig_close(&rig);
	/* the time that is left, in seconds, and never more than the router's own limit */
	const struct {
		int64_t timeout_ms;
		double least, most;
	} rows[] = { { 5000, 4, 5 }, { 999999999, 180, 180 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		open_rig(&rig, &opts);
		assert_non_null(runtime_list_start(
			rig.runtime, "", rows[i].timeout_ms, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		double seconds = strtod(strstr(headers, "X-Sandbox-Timeout: ") + 19, NULL);
		if (seconds < rows[i].least || seconds > rows[i].most)
			fail_msg("row %zu: %f", i, seconds);
		rig_close(&rig);
	}
}

static void headers_that_are_not_sent(void **state)
{
	struct rig rig;
	struct runtime_router router = { .sandbox = "box", .namespace_ = "ns", .port = 1 };
	const struct runtime_opts opts = { .router = &router };

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	router.uid = "";
	open_rig(&rig, &opts);
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_null(strstr(headers, "X-Sandbox-Pod-IP"));
	assert_null(strstr(headers, "X-Sandbox-UID"));
	assert_null(strstr(headers, "Authorization"));
	static const char *const bad[] = { "a b", "a\r\nX-Evil: 1", "\x7f", "\xc3\xbc", "\t" };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err err = { 0 };
		struct runtime_opts with = opts;
		router.uid = bad[i];
		with.rest_url = rig.url;
		assert_null(runtime_new(rig.loop, rig.http, &with, &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
		assert_string_equal(err.msg, "X-Sandbox-UID cannot be sent in a header");
	}
	/* the limits of what can be sent */
	struct runtime_opts with = opts;
	router.uid = "!~";
	with.rest_url = rig.url;
	struct runtime *runtime = runtime_new(rig.loop, rig.http, &with, NULL);
	assert_non_null(runtime);
	runtime_close(runtime);
	runtime_unref(runtime);
	rig_close(&rig);
}

static void the_routers_own_errors(void **state)
{
	const struct runtime_router router = { .sandbox = "box", .namespace_ = "ns" };
	static const struct {
		bool has_router;
		const char *status;
		enum err_code is;
	} rows[] = { { true, "403 Forbidden", ERR_ROUTER_REJECTED },
		{ false, "403 Forbidden", ERR_FILE_DENIED },
		{ true, "502 Bad Gateway", ERR_ROUTER_BACKEND },
		{ false, "502 Bad Gateway", ERR_HTTP_STATUS } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		const struct runtime_opts opts = { .router = rows[i].has_router ? &router
										: NULL };
		answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
			{ "/v1/files/", rows[i].status, "{\"detail\":\"in words\"}" });
		open_rig(&rig, &opts);
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		rig_close(&rig);
	}
	/* refused there, no attempt to connect helps: told at once */
	struct rig rig;
	const struct runtime_opts opts = { .router = &router, .connect_timeout_ms = 5000 };
	answers = ANSWERS({ "/v1/health", "403 Forbidden", "{\"detail\":\"in words\"}" });
	open_rig(&rig, &opts);
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_ROUTER_REJECTED);
	assert_string_equal(asked, "GET /v1/health\n");
	rig_close(&rig);
}

/* ---- the version */
static void the_version_that_was_asked_for(void **state)
{
	static const struct {
		const char *status, *body;
		enum err_code is;
	} rows[] = {
		{ "200 OK", "{\"env\":{\"SANDBOX_SANDBOXD_VERSION\":\"v1\"}}", ERR_NONE },
		{ "200 OK", "{\"env\":{}}", ERR_NONE },
		{ "404 Not Found", "", ERR_NONE },
		{ "200 OK", "{\"env\":{\"SANDBOX_SANDBOXD_VERSION\":\"v2\"}}",
			ERR_RUNTIME_VERSION },
		{ "200 OK", "<", ERR_RUNTIME_PROTOCOL },
		{ "401 Unauthorized", "", ERR_RUNTIME_AUTH },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rig rig;
		struct runtime_opts opts = { .required_version = "v1",
			.token = "secret",
			.label = "the-box",
			.connect_timeout_ms = 150 };
		answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
			{ "/v1/metadata", rows[i].status, rows[i].body },
			{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
		open_rig(&rig, &opts);
		for (int again = 0; again < 2; again++) {
			assert_non_null(
				runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
			rig_wait(&rig, again + 1);
			if ((rows[i].is == ERR_NONE) == rig.failed)
				fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
			if (rig.failed)
				break;
		}
		if (rows[i].is == ERR_NONE)
			assert_string_equal(asked, "GET /v1/health\nGET /v1/metadata\n"
						   "GET /v1/files/\nGET /v1/files/\n");
		else if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		if (rows[i].is == ERR_RUNTIME_VERSION)
			assert_string_equal(rig.err.msg, "the-box runs sandboxd v2, not v1");
		/* the token is for the metadata, not for the health */
		if (rig.failed)
			assert_non_null(strstr(headers, "Authorization: Bearer secret\r\n"));
		rig_close(&rig);
	}
}

/* ---- an address that has to be found */
static const char *located; /* NULL: not yet */
static enum err_code locate_code;
static int n_located;

static bool locate(void *arg, struct str *url, struct err *err)
{
	n_located++;
	assert_ptr_equal(arg, &n_located);
	if (!located)
		return err_set(err, locate_code, "not found yet");
	str_add(url, located);
	return true;
}

static void open_located(struct rig *rig, struct runtime_opts opts)
{
	struct err err = { 0 };

	open_rig(rig, NULL);
	runtime_close(rig->runtime);
	runtime_unref(rig->runtime);
	opts.locate = locate;
	opts.locate_arg = &n_located;
	if (!opts.connect_timeout_ms)
		opts.connect_timeout_ms = 2000;
	rig->runtime = runtime_new(rig->loop, rig->http, &opts, &err);
	if (!rig->runtime)
		fail_msg("%s", err.msg);
	n_located = 0;
}

static void an_address_is_found(void **state)
{
	struct rig rig;
	char long_url[2000];

	(void)state;
	answers = ANSWERS({ "/v1/health", "200 OK", "{\"status\":\"ok\"}" },
		{ "/v1/files/", "200 OK", "{\"path\":\"/\",\"entries\":[]}" });
	open_located(&rig, (struct runtime_opts){ 0 });
	located = NULL;
	locate_code = ERR_CONN_DNS;
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	int64_t until = clock_mono_ms() + 10000;
	while (n_located < 2 && clock_mono_ms() < until)
		net_loop_run_once(rig.loop, 20);
	assert_int_equal(rig.n_done, 0);
	struct err trouble = { 0 };
	assert_true(runtime_trouble(rig.runtime, &trouble));
	assert_non_null(strstr(trouble.msg, "does not come up: not found yet"));
	located = rig.url;
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(n_located, 3);
	rig_close(&rig);
	/* one that there will never be */
	open_located(&rig, (struct runtime_opts){ 0 });
	located = NULL;
	locate_code = ERR_GATEWAY_DELETED;
	assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_GATEWAY_DELETED);
	assert_int_equal(n_located, 1);
	rig_close(&rig);
	/* where a token may not go, and what is no address */
	memset(long_url, 'x', sizeof long_url - 1);
	long_url[sizeof long_url - 1] = 0;
	memcpy(long_url, "http://", 7);
	const struct {
		const char *url, *token;
		enum err_code is;
	} rows[] = { { "http://192.0.2.1:1", "t", ERR_CONN_PLAINTEXT_TOKEN },
		{ long_url, NULL, ERR_ARG_INVALID } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		open_located(&rig, (struct runtime_opts){ .token = rows[i].token });
		located = rows[i].url;
		assert_non_null(runtime_list_start(rig.runtime, "", 0, on_list, &rig, NULL));
		rig_wait(&rig, 1);
		if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
		assert_int_equal(n_located, 1);
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_for_the_router),
		cmocka_unit_test(headers_that_are_not_sent),
		cmocka_unit_test(the_routers_own_errors),
		cmocka_unit_test(the_version_that_was_asked_for),
		cmocka_unit_test(an_address_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
