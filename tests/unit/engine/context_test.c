// SPDX-License-Identifier: Apache-2.0
/* What a context itself says about the way to its sandboxes, tokens of pods, and what ends a way. */
#include "engine/connect/gateway.h"
#include "engine/connect/internal.h"
#include "tests/unit/engine/cluster.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static int n_health;
static struct err health_err;

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	assert_ptr_equal(arg, &n_health);
	(void)health;
	n_health++;
	health_err = (struct err){ 0 };
	err_copy(&health_err, err);
}

static void on_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	(void)st;
	on_health(arg, err, NULL);
}

static int set_up(void **state)
{
	n_health = 0;
	return cluster_set_up(state);
}

/* The context with this extension; NULL and the reason if it is refused. */
static struct engine *open_context(
	struct cluster *c, const char *extension, struct engine_opts opts, struct err *err)
{
	char *path = x_asprintf("%s/config", c->api.dir);
	char *text = x_asprintf(
		"clusters:\n- name: c\n  cluster:\n    server: https://127.0.0.1:%d\n"
		"    certificate-authority: ca.pem\n"
		"users:\n- name: u\n  user: {username: u, password: p}\n"
		"contexts:\n- name: x\n  context:\n    cluster: c\n    user: u\n"
		"    namespace: demo\n    extensions:\n    - name: sandmux\n"
		"      extension: {%s}\ncurrent-context: x\n",
		c->api.port, extension);
	api_write(&c->api, "config", text);
	free(text);
	*err = (struct err){ 0 };
	opts.kubeconfig = path;
	opts.no_fleet = true;
	struct engine *engine = engine_new(c->api.loop, &opts, err);
	free(path);
	return engine;
}

static void what_a_context_says(void **state)
{
	static const struct {
		const char *extension;
		enum connect_mode mode;
		bool is_local;
		enum connect_runtime runtime;
	} rows[] = {
		{ "", CONNECT_PORT_FORWARD, false, CONNECT_RUNTIME_AUTO },
		{ "local: true", CONNECT_PORT_FORWARD, true, CONNECT_RUNTIME_AUTO },
		{ "connectivity: in-cluster-pod-ip", CONNECT_IN_CLUSTER_POD_IP, false,
			CONNECT_RUNTIME_AUTO },
		{ "connectivity: router, router-url: 'http://r'", CONNECT_ROUTER, false,
			CONNECT_RUNTIME_AUTO },
		{ "connectivity: gateway, gateway: g, runtime: legacy", CONNECT_GATEWAY, false,
			CONNECT_RUNTIME_LEGACY },
		{ "runtime: sandboxd", CONNECT_PORT_FORWARD, false, CONNECT_RUNTIME_SANDBOXD },
	};
	struct cluster *c = *state;
	struct err err;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct engine *engine =
			open_context(c, rows[i].extension, (struct engine_opts){ 0 }, &err);
		if (engine == NULL)
			fail_msg("row %zu: %s", i, err.msg);
		assert_int_equal(engine_connect_mode(engine), rows[i].mode);
		assert_int_equal(engine_is_local(engine), rows[i].is_local);
		assert_int_equal(
			connect_settings_of(engine->connect)->runtime, rows[i].runtime);
		engine_free(engine);
	}
	/* the command line beats it */
	struct engine *engine = open_context(c, "connectivity: router, router-url: 'http://r'",
		(struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_SERVICE }, &err);
	assert_non_null(engine);
	assert_int_equal(engine_connect_mode(engine), CONNECT_IN_CLUSTER_SERVICE);
	assert_null(connect_settings_of(engine->connect)->router_url);
	engine_free(engine);
	engine = open_context(c, "runtime: legacy",
		(struct engine_opts){ .connect.runtime = CONNECT_RUNTIME_SANDBOXD }, &err);
	assert_non_null(engine);
	assert_int_equal(
		connect_settings_of(engine->connect)->runtime, CONNECT_RUNTIME_SANDBOXD);
	engine_free(engine);
}

/* Each word of the way, with what it stands for. */
static void words_of_a_way(void **state)
{
	struct cluster *c = *state;
	struct err err;
	api_write(&c->api, "token", "r0uter");
	char *extension =
		x_asprintf("connectivity: router, router-service: r, router-namespace: s, "
			   "router-token-file: %s/token",
			c->api.dir);
	struct engine *engine = open_context(c, extension, (struct engine_opts){ 0 }, &err);
	if (engine == NULL)
		fail_msg("%s", err.msg);
	assert_string_equal(connect_settings_of(engine->connect)->router_service, "r");
	assert_string_equal(connect_settings_of(engine->connect)->router_namespace, "s");
	assert_string_equal(connect_settings_of(engine->connect)->router_token, "r0uter");
	engine_free(engine);
	free(extension);
	/* a scheme needs a gateway, and is one of two */
	assert_null(open_context(c, "connectivity: gateway, gateway: g, gateway-scheme: ftp",
		(struct engine_opts){ 0 }, &err));
	assert_string_equal(err.msg, "context x: --gateway-scheme is http or https");
	assert_null(open_context(c, "gateway-namespace: n", (struct engine_opts){ 0 }, &err));
	assert_non_null(
		strstr(err.msg, "--gateway-namespace and --gateway-scheme need --gateway"));
}

static void what_a_context_may_not_say(void **state)
{
	static const struct {
		const char *extension;
		enum err_code code;
		const char *words;
	} rows[] = {
		{ "connectivity: nope", ERR_CONFIG_KUBECONFIG,
			"context x: unknown connectivity 'nope'" },
		{ "connectivity: router", ERR_ARG_INVALID,
			"context x: --connectivity router needs --router-url or --router-service" },
		{ "runtime: nope", ERR_CONFIG_KUBECONFIG, "unknown runtime 'nope'" },
		{ "daemon-token-file: /nonexistent/t", ERR_FILE_NOT_FOUND, NULL },
		{ "connectivity: router, router-url: 'http://r', router-token-file: /nonexistent/t",
			ERR_FILE_NOT_FOUND, NULL },
	};
	struct cluster *c = *state;
	struct err err;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_null(
			open_context(c, rows[i].extension, (struct engine_opts){ 0 }, &err));
		if (rows[i].words != NULL &&
			(err.code != rows[i].code || strcmp(err.msg, rows[i].words) != 0))
			fail_msg("row %zu: %s %s", i, err_name(&err), err.msg);
		assert_int_not_equal(err.code, ERR_NONE);
	}
}

static void tokens_of_a_context(void **state)
{
	struct cluster *c = *state;
	struct err err;
	char *one = x_asprintf("daemon-token-file: %s/token", c->api.dir);
	char *each =
		x_asprintf("daemon-token-file: '%s/token-%s'", c->api.dir, CONNECT_TOKEN_POD);
	api_write(&c->api, "token", "s3cret\n");
	struct engine *engine = open_context(c, one, (struct engine_opts){ 0 }, &err);
	assert_non_null(engine);
	assert_string_equal(connect_settings_of(engine->connect)->token, "s3cret");
	assert_null(connect_settings_of(engine->connect)->token_of_pod);
	engine_free(engine);
	/* one for each pod is read when the pod is known */
	engine = open_context(c, each, (struct engine_opts){ 0 }, &err);
	assert_non_null(engine);
	assert_null(connect_settings_of(engine->connect)->token);
	assert_non_null(strstr(connect_settings_of(engine->connect)->token_of_pod,
		"/token-" CONNECT_TOKEN_POD));
	engine_free(engine);
	/* the command line's is used instead */
	char *path = x_asprintf("%s/count", c->api.dir);
	api_write(&c->api, "count", "other");
	engine = open_context(
		c, each, (struct engine_opts){ .connect.daemon_token_file = path }, &err);
	assert_non_null(engine);
	assert_string_equal(connect_settings_of(engine->connect)->token, "other");
	assert_null(connect_settings_of(engine->connect)->token_of_pod);
	engine_free(engine);
	free(path);
	free(one);
	free(each);
}

/* ---- tokens of pods */

static void open_with_pod(struct cluster *c, const char *uid)
{
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_add(c, "pods",
		"{'metadata':{'name':'a','namespace':'demo','uid':'%s','resourceVersion':'9RV',"
		"'creationTimestamp':'2026-01-01T00:00:00Z','ownerReferences':[{'kind':'Sandbox',"
		"'name':'a','uid':'sandbox-a','controller':true}]},'spec':{},'status':{'phase':"
		"'Running','podIP':'127.0.0.9','conditions':[{'type':'Ready','status':'True'}]}}",
		uid);
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	c->engine->connect->settings.token_of_pod =
		x_asprintf("%s/token-%s.x", c->api.dir, CONNECT_TOKEN_POD);
	cluster_sync(c);
	API_UNTIL(&c->api,
		fleet_find(engine_fleet(c->engine), "claim-a") != NULL &&
			fleet_find(engine_fleet(c->engine), "claim-a")->pod_uid[0] != '\0',
		5000);
}

static void a_pods_own_token(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	open_with_pod(c, "Pod-1");
	assert_null(engine_runtime(c->engine, "claim-a", &err));
	assert_non_null(strstr(err.msg, "daemon token"));
	assert_non_null(strstr(err.msg, "/token-Pod-1.x"));
	api_write(&c->api, "token-Pod-1.x", "s3cret");
	assert_non_null(engine_runtime(c->engine, "claim-a", &err));
	char *path = x_asprintf("%s/token-Pod-1.x", c->api.dir);
	unlink(path);
	free(path);
}

/* A UID becomes a part of a path. */
static void a_uid_that_would_be_another_path(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	open_with_pod(c, "../x");
	assert_null(engine_runtime(c->engine, "claim-a", &err));
	assert_int_equal(err.code, ERR_SANDBOX_NOT_READY);
	assert_string_equal(err.msg, "sandbox a has no pod yet");
}

/* ---- no address */

static void rows_without_an_address(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes",
		"{'metadata':{'name':'a','namespace':'demo','uid':'sandbox-a','generation':1,"
		"'resourceVersion':'9RV','labels':{'agents.x-k8s.io/claim-uid':'claim-a'}},"
		"'spec':{},'status':{}}");
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	cluster_sync(c);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "claim-a") != NULL, 5000);
	assert_null(engine_runtime(c->engine, "claim-a", &err));
	assert_int_equal(err.code, ERR_SANDBOX_NO_ADDRESS);
	assert_string_equal(err.msg, "sandbox a has no pod IP");
	assert_null(
		connect_try(c->engine->connect, "claim-a", CONNECT_IN_CLUSTER_SERVICE, &err));
	assert_int_equal(err.code, ERR_SANDBOX_NO_SERVICE);
	assert_null(connect_try(c->engine->connect, "nope", CONNECT_PORT_FORWARD, &err));
	assert_int_equal(err.code, ERR_SANDBOX_NOT_FOUND);
	/* one that is tried is found by nobody else */
	struct runtime *tried =
		connect_try(c->engine->connect, "claim-a", CONNECT_PORT_FORWARD, &err);
	assert_non_null(tried);
	assert_null(engine_runtime(c->engine, "claim-a", &err));
	assert_non_null(c->engine->connect->all);
	runtime_unref(tried);
	assert_null(c->engine->connect->all);
	assert_null(engine_runtime(c->engine, NULL, &err));
	assert_string_equal(err.msg, "no sandbox named");
	assert_int_equal(engine_unfinished(c->engine), 0);
}

/* ---- behind a gateway */

#define GATEWAY(address)                                                                       \
	"{'metadata':{'name':'g','namespace':'default','uid':'u-g','resourceVersion':'9RV'},"  \
	"'status':{'addresses':[{'value':'" address "'}]}}"

static void the_address_of_a_gateway_moves(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_add(c, "gateways", GATEWAY("127.0.0.1"));
	cluster_open(c, (struct engine_opts){ .connect.gateway = "g" });
	cluster_sync(c);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "claim-a") != NULL, 5000);
	struct runtime *runtime = engine_runtime(c->engine, "claim-a", &err);
	assert_non_null(runtime);
	assert_non_null(runtime_stat_start(runtime, "", 60000, on_stat, &n_health, &err));
	struct str url;
	str_init(&url, 200);
	API_UNTIL(
		&c->api, connect_gateway_locate(c->engine->connect->gateway, &url, &err), 9000);
	str_deinit(&url);
	API_FOR(&c->api, 60); /* nobody listens there: it is tried again and again */
	assert_int_equal(n_health, 0);
	cluster_tell(c, "gateways", "MODIFIED", GATEWAY("127.0.0.1"));
	API_FOR(&c->api, 60);
	assert_int_equal(n_health, 0);
	cluster_tell(c, "gateways", "MODIFIED", GATEWAY("127.0.0.2"));
	API_UNTIL(&c->api, n_health > 0, 9000);
	assert_int_equal(health_err.code, ERR_CONN_LOST);
	assert_string_equal(health_err.msg, "gateway g has another address now");
}

/* ---- a pod that goes away under a call */

static void calls_are_told_why(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	open_with_pod(c, "pod-1");
	free(c->engine->connect->settings.token_of_pod);
	c->engine->connect->settings.token_of_pod = NULL;
	struct runtime *runtime = engine_runtime(c->engine, "claim-a", &err);
	assert_non_null(runtime);
	assert_non_null(runtime_health_start(runtime, 60000, on_health, &n_health, &err));
	API_FOR(&c->api, 20);
	cluster_tell(c, "pods", "DELETED", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	cluster_tell(c, "pods", "ADDED", CLUSTER_POD("a", "pod-2", "", "127.0.0.9"));
	API_UNTIL(&c->api, n_health > 0, 9000);
	assert_int_equal(n_health, 1);
	if (health_err.code == ERR_SANDBOX_MOVED)
		assert_string_equal(health_err.msg, "the pod of sandbox a was replaced");
	else
		assert_int_equal(health_err.code, ERR_CONN_REFUSED);
}

#define CONTEXT(test) cmocka_unit_test_setup_teardown(test, set_up, cluster_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONTEXT(what_a_context_says),
		CONTEXT(words_of_a_way),
		CONTEXT(what_a_context_may_not_say),
		CONTEXT(tokens_of_a_context),
		CONTEXT(a_pods_own_token),
		CONTEXT(a_uid_that_would_be_another_path),
		CONTEXT(rows_without_an_address),
		CONTEXT(the_address_of_a_gateway_moves),
		CONTEXT(calls_are_told_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
