// SPDX-License-Identifier: Apache-2.0
/* Which options go together, and which way they lead. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/internal.h"

#include <string.h>

static void options_that_contradict_each_other(void **state)
{
	static const struct {
		const char *name;
		struct engine_opts opts;
		const char *words; /* NULL: taken */
		enum engine_connectivity mode;
	} rows[] = {
		{ "nothing", { 0 }, NULL, ENGINE_CONNECTIVITY_DEFAULT },
		{ "forward", { .connectivity = ENGINE_PORT_FORWARD }, NULL,
			ENGINE_PORT_FORWARD },
		{ "rest", { .rest_url = "http://x" }, NULL, ENGINE_DIRECT },
		{ "grpc", { .grpc_address = "x:1" }, NULL, ENGINE_DIRECT },
		{ "rest and its mode",
			{ .rest_url = "http://x", .connectivity = ENGINE_DIRECT }, NULL,
			ENGINE_DIRECT },
		{ "rest and another mode",
			{ .rest_url = "http://x", .connectivity = ENGINE_PORT_FORWARD },
			"contradict", ENGINE_PORT_FORWARD },
		{ "a mode without its address", { .connectivity = ENGINE_ROUTER },
			"needs --router-url or --router-service", ENGINE_ROUTER },
		{ "direct without", { .connectivity = ENGINE_DIRECT }, "needs --rest or --grpc",
			ENGINE_DIRECT },
		{ "gateway without", { .connectivity = ENGINE_GATEWAY }, "needs --gateway",
			ENGINE_GATEWAY },
		{ "router", { .router_url = "http://r" }, NULL, ENGINE_ROUTER },
		{ "router, capitals", { .router_url = "HTTPS://r" }, NULL, ENGINE_ROUTER },
		{ "router without a scheme", { .router_url = "r:80" }, "is not an http://",
			ENGINE_ROUTER },
		{ "router twice", { .router_url = "http://r", .router_service = "r" },
			"--router-url and --router-service contradict", ENGINE_ROUTER },
		{ "router and gateway", { .router_url = "http://r", .gateway = "g" },
			"--router-url and --gateway contradict", ENGINE_ROUTER },
		{ "rest and gateway", { .rest_url = "http://r", .gateway = "g" },
			"--rest or --grpc and --gateway contradict", ENGINE_DIRECT },
		{ "service", { .router_service = "r.a", .router_namespace = "n" }, NULL,
			ENGINE_ROUTER },
		{ "no name of a service", { .router_service = "R_" },
			"not the name of a Service", ENGINE_ROUTER },
		{ "a namespace of nothing", { .router_namespace = "n" },
			"needs --router-service", ENGINE_CONNECTIVITY_DEFAULT },
		{ "a token of nothing", { .router_token_file = "t" },
			"--router-token-file needs", ENGINE_CONNECTIVITY_DEFAULT },
		{ "a router's token", { .router_url = "http://r", .router_token_file = "t" },
			NULL, ENGINE_ROUTER },
		{ "a gateway's token", { .gateway = "g", .router_token_file = "t" }, NULL,
			ENGINE_GATEWAY },
		{ "a scheme of nothing", { .gateway_scheme = "http" }, "need --gateway",
			ENGINE_CONNECTIVITY_DEFAULT },
		{ "a gateway's namespace of nothing", { .gateway_namespace = "n" },
			"need --gateway", ENGINE_CONNECTIVITY_DEFAULT },
		{ "schemes", { .gateway = "g", .gateway_scheme = "https" }, NULL,
			ENGINE_GATEWAY },
		{ "scheme http", { .gateway = "g", .gateway_scheme = "http" }, NULL,
			ENGINE_GATEWAY },
		{ "a scheme of its own", { .gateway = "g", .gateway_scheme = "ftp" },
			"is http or https", ENGINE_GATEWAY },
		{ "gateway and sandboxd",
			{ .gateway = "g", .runtime = ENGINE_RUNTIME_SANDBOXD },
			"--gateway and --runtime sandboxd", ENGINE_GATEWAY },
		{ "gateway and legacy", { .gateway = "g", .runtime = ENGINE_RUNTIME_LEGACY },
			NULL, ENGINE_GATEWAY },
		{ "router and sandboxd",
			{ .router_url = "http://r", .runtime = ENGINE_RUNTIME_SANDBOXD }, NULL,
			ENGINE_ROUTER },
		{ "no header of nothing", { .no_pod_ip_header = true },
			"--no-pod-ip-header needs", ENGINE_CONNECTIVITY_DEFAULT },
		{ "no header", { .router_url = "http://r", .no_pod_ip_header = true }, NULL,
			ENGINE_ROUTER },
		{ "the daemon's token on a router",
			{ .router_url = "http://r", .daemon_token_file = "t" },
			"removes the daemon's token", ENGINE_ROUTER },
		{ "the daemon's token", { .rest_url = "http://r", .daemon_token_file = "t" },
			NULL, ENGINE_DIRECT },
		{ "the daemon's token and legacy",
			{ .runtime = ENGINE_RUNTIME_LEGACY, .daemon_token_file = "t" },
			"knows no token", ENGINE_CONNECTIVITY_DEFAULT },
		{ "grpc and legacy",
			{ .runtime = ENGINE_RUNTIME_LEGACY, .grpc_address = "x:1" },
			"--runtime legacy and --grpc", ENGINE_DIRECT },
		{ "a version", { .runtime_version = "1" }, NULL, ENGINE_CONNECTIVITY_DEFAULT },
		{ "a version of legacy",
			{ .runtime = ENGINE_RUNTIME_LEGACY, .runtime_version = "1" },
			"tells its version", ENGINE_CONNECTIVITY_DEFAULT },
		{ "a version by grpc alone", { .grpc_address = "x:1", .runtime_version = "1" },
			"tells its version", ENGINE_DIRECT },
		{ "a version by rest",
			{ .grpc_address = "x:1",
				.rest_url = "http://x",
				.runtime_version = "1" },
			NULL, ENGINE_DIRECT },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		bool ok = engine_connectivity_validate(&rows[i].opts, &err);
		if (ok != (rows[i].words == NULL))
			fail_msg("%s: %s", rows[i].name, ok ? "taken" : err.msg);
		if (!ok) {
			assert_int_equal(err.code, ERR_ARG_INVALID);
			if (strstr(err.msg, rows[i].words) == NULL)
				fail_msg("%s: %s", rows[i].name, err.msg);
		}
		if (engine_connectivity_configured(&rows[i].opts) != rows[i].mode)
			fail_msg("%s: another way", rows[i].name);
	}
}

static void what_listens_at_the_end(void **state)
{
	static const struct {
		enum engine_runtime runtime;
		enum engine_connectivity mode;
		bool is_legacy_row;
		enum runtime_kind kind;
	} rows[] = {
		{ ENGINE_RUNTIME_AUTO, ENGINE_PORT_FORWARD, false, RUNTIME_SANDBOXD },
		{ ENGINE_RUNTIME_AUTO, ENGINE_PORT_FORWARD, true, RUNTIME_LEGACY },
		{ ENGINE_RUNTIME_AUTO, ENGINE_GATEWAY, false, RUNTIME_LEGACY },
		{ ENGINE_RUNTIME_AUTO, ENGINE_ROUTER, false, RUNTIME_SANDBOXD },
		{ ENGINE_RUNTIME_SANDBOXD, ENGINE_PORT_FORWARD, true, RUNTIME_SANDBOXD },
		{ ENGINE_RUNTIME_LEGACY, ENGINE_PORT_FORWARD, false, RUNTIME_LEGACY },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct engine engine = { .runtime = rows[i].runtime,
			.connectivity = rows[i].mode };
		struct fleet_row row = { .is_legacy = rows[i].is_legacy_row };
		assert_int_equal(engine_connectivity_runtime(&engine, &row), rows[i].kind);
		assert_int_equal(engine_connectivity_is_routed(&engine),
			rows[i].mode == ENGINE_GATEWAY || rows[i].mode == ENGINE_ROUTER);
		row.is_legacy = false;
		if (rows[i].is_legacy_row && rows[i].runtime == ENGINE_RUNTIME_AUTO)
			assert_int_equal(
				engine_connectivity_runtime(&engine, NULL), RUNTIME_SANDBOXD);
	}
}

static void names_of_runtimes(void **state)
{
	enum engine_runtime runtime = ENGINE_RUNTIME_COUNT;
	(void)state;
	assert_true(engine_runtime_parse("auto", &runtime) && runtime == ENGINE_RUNTIME_AUTO);
	assert_true(engine_runtime_parse("sandboxd", &runtime) &&
		    runtime == ENGINE_RUNTIME_SANDBOXD);
	assert_true(
		engine_runtime_parse("legacy", &runtime) && runtime == ENGINE_RUNTIME_LEGACY);
	assert_false(engine_runtime_parse("", &runtime));
	assert_false(engine_runtime_parse("legacy2", &runtime));
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
