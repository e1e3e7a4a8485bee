// SPDX-License-Identifier: Apache-2.0
/* Which options go together, and which way they lead. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/connect/connectivity.h"
#include "engine/fleet/row.h"

#include <string.h>

static void options_that_contradict_each_other(void **state)
{
	static const struct {
		const char *name;
		struct connect_opts opts;
		const char *words; /* NULL: taken */
		enum connect_mode mode;
	} rows[] = {
		{ "nothing", { 0 }, NULL, CONNECT_PORT_FORWARD },
		{ "forward", { .mode = CONNECT_PORT_FORWARD }, NULL, CONNECT_PORT_FORWARD },
		{ "rest", { .rest_url = "http://x" }, NULL, CONNECT_DIRECT },
		{ "grpc", { .grpc_address = "x:1" }, NULL, CONNECT_DIRECT },
		{ "rest and its mode", { .rest_url = "http://x", .mode = CONNECT_DIRECT }, NULL,
			CONNECT_DIRECT },
		{ "rest and another mode",
			{ .rest_url = "http://x", .mode = CONNECT_PORT_FORWARD }, "contradict",
			CONNECT_PORT_FORWARD },
		{ "a mode without its address", { .mode = CONNECT_ROUTER },
			"needs --router-url or --router-service", CONNECT_ROUTER },
		{ "direct without", { .mode = CONNECT_DIRECT }, "needs --rest or --grpc",
			CONNECT_DIRECT },
		{ "gateway without", { .mode = CONNECT_GATEWAY }, "needs --gateway",
			CONNECT_GATEWAY },
		{ "router", { .router_url = "http://r" }, NULL, CONNECT_ROUTER },
		{ "router, capitals", { .router_url = "HTTPS://r" }, NULL, CONNECT_ROUTER },
		{ "router without a scheme", { .router_url = "r:80" }, "is not an http://",
			CONNECT_ROUTER },
		{ "router twice", { .router_url = "http://r", .router_service = "r" },
			"--router-url and --router-service contradict", CONNECT_ROUTER },
		{ "router and gateway", { .router_url = "http://r", .gateway = "g" },
			"--router-url and --gateway contradict", CONNECT_ROUTER },
		{ "rest and gateway", { .rest_url = "http://r", .gateway = "g" },
			"--rest or --grpc and --gateway contradict", CONNECT_DIRECT },
		{ "service", { .router_service = "r.a", .router_namespace = "n" }, NULL,
			CONNECT_ROUTER },
		{ "no name of a service", { .router_service = "R_" },
			"not the name of a Service", CONNECT_ROUTER },
		{ "a namespace of nothing", { .router_namespace = "n" },
			"needs --router-service", CONNECT_DEFAULT },
		{ "a token of nothing", { .router_token_file = "t" },
			"--router-token-file needs", CONNECT_DEFAULT },
		{ "a router's token", { .router_url = "http://r", .router_token_file = "t" },
			NULL, CONNECT_ROUTER },
		{ "a gateway's token", { .gateway = "g", .router_token_file = "t" }, NULL,
			CONNECT_GATEWAY },
		{ "a scheme of nothing", { .gateway_scheme = "http" }, "need --gateway",
			CONNECT_DEFAULT },
		{ "a gateway's namespace of nothing", { .gateway_namespace = "n" },
			"need --gateway", CONNECT_DEFAULT },
		{ "schemes", { .gateway = "g", .gateway_scheme = "https" }, NULL,
			CONNECT_GATEWAY },
		{ "scheme http", { .gateway = "g", .gateway_scheme = "http" }, NULL,
			CONNECT_GATEWAY },
		{ "a scheme of its own", { .gateway = "g", .gateway_scheme = "ftp" },
			"is http or https", CONNECT_GATEWAY },
		{ "gateway and sandboxd",
			{ .gateway = "g", .runtime = CONNECT_RUNTIME_SANDBOXD },
			"--gateway and --runtime sandboxd", CONNECT_GATEWAY },
		{ "gateway and legacy", { .gateway = "g", .runtime = CONNECT_RUNTIME_LEGACY },
			NULL, CONNECT_GATEWAY },
		{ "router and sandboxd",
			{ .router_url = "http://r", .runtime = CONNECT_RUNTIME_SANDBOXD }, NULL,
			CONNECT_ROUTER },
		{ "no header of nothing", { .no_pod_ip_header = true },
			"--no-pod-ip-header needs", CONNECT_DEFAULT },
		{ "no header", { .router_url = "http://r", .no_pod_ip_header = true }, NULL,
			CONNECT_ROUTER },
		{ "the daemon's token on a router",
			{ .router_url = "http://r", .daemon_token_file = "t" },
			"removes the daemon's token", CONNECT_ROUTER },
		{ "the daemon's token", { .rest_url = "http://r", .daemon_token_file = "t" },
			NULL, CONNECT_DIRECT },
		{ "the daemon's token and legacy",
			{ .runtime = CONNECT_RUNTIME_LEGACY, .daemon_token_file = "t" },
			"knows no token", CONNECT_DEFAULT },
		{ "grpc and legacy",
			{ .runtime = CONNECT_RUNTIME_LEGACY, .grpc_address = "x:1" },
			"--runtime legacy and --grpc", CONNECT_DIRECT },
		{ "a version", { .runtime_version = "1" }, NULL, CONNECT_PORT_FORWARD },
		{ "a version of legacy",
			{ .runtime = CONNECT_RUNTIME_LEGACY, .runtime_version = "1" },
			"tells its version", CONNECT_DEFAULT },
		{ "a version by grpc alone", { .grpc_address = "x:1", .runtime_version = "1" },
			"tells its version", CONNECT_DIRECT },
		{ "a version by rest",
			{ .grpc_address = "x:1",
				.rest_url = "http://x",
				.runtime_version = "1" },
			NULL, CONNECT_DIRECT },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		bool ok = connect_validate(&rows[i].opts, &err);
		if (ok != (rows[i].words == NULL))
			fail_msg("%s: %s", rows[i].name, ok ? "taken" : err.msg);
		if (!ok) {
			assert_int_equal(err.code, ERR_ARG_INVALID);
			if (strstr(err.msg, rows[i].words) == NULL)
				fail_msg("%s: %s", rows[i].name, err.msg);
		}
		struct connect_opts opts = rows[i].opts;
		opts.router_token_file = opts.daemon_token_file =
			NULL; /* nothing is read here */
		struct connect_settings settings;
		if (ok && !connect_settings_init(&settings, &opts, "x", NULL, &err))
			fail_msg("%s: %s", rows[i].name, err.msg);
		if (ok && settings.mode != rows[i].mode)
			fail_msg("%s: another way", rows[i].name);
		if (ok)
			connect_settings_deinit(&settings);
	}
}

static void what_listens_at_the_end(void **state)
{
	static const struct {
		enum connect_runtime runtime;
		enum connect_mode mode;
		bool is_legacy_row;
		enum runtime_kind kind;
	} rows[] = {
		{ CONNECT_RUNTIME_AUTO, CONNECT_PORT_FORWARD, false, RUNTIME_SANDBOXD },
		{ CONNECT_RUNTIME_AUTO, CONNECT_PORT_FORWARD, true, RUNTIME_LEGACY },
		{ CONNECT_RUNTIME_AUTO, CONNECT_GATEWAY, false, RUNTIME_LEGACY },
		{ CONNECT_RUNTIME_AUTO, CONNECT_ROUTER, false, RUNTIME_SANDBOXD },
		{ CONNECT_RUNTIME_SANDBOXD, CONNECT_PORT_FORWARD, true, RUNTIME_SANDBOXD },
		{ CONNECT_RUNTIME_LEGACY, CONNECT_PORT_FORWARD, false, RUNTIME_LEGACY },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct connect_settings settings = { .runtime = rows[i].runtime,
			.mode = rows[i].mode };
		struct fleet_row row = { .is_legacy = rows[i].is_legacy_row };
		assert_int_equal(connect_runtime_kind(&settings, &row), rows[i].kind);
		assert_int_equal(connect_is_routed(&settings),
			rows[i].mode == CONNECT_GATEWAY || rows[i].mode == CONNECT_ROUTER);
		row.is_legacy = false;
		if (rows[i].is_legacy_row && rows[i].runtime == CONNECT_RUNTIME_AUTO)
			assert_int_equal(
				connect_runtime_kind(&settings, NULL), RUNTIME_SANDBOXD);
	}
}

static void names_of_runtimes(void **state)
{
	enum connect_runtime runtime = CONNECT_RUNTIME_COUNT;
	(void)state;
	assert_true(connect_runtime_parse("auto", &runtime) && runtime == CONNECT_RUNTIME_AUTO);
	assert_true(connect_runtime_parse("sandboxd", &runtime) &&
		    runtime == CONNECT_RUNTIME_SANDBOXD);
	assert_true(
		connect_runtime_parse("legacy", &runtime) && runtime == CONNECT_RUNTIME_LEGACY);
	assert_false(connect_runtime_parse("", &runtime));
	assert_false(connect_runtime_parse("legacy2", &runtime));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_that_contradict_each_other),
		cmocka_unit_test(what_listens_at_the_end),
		cmocka_unit_test(names_of_runtimes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
