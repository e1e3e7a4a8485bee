// SPDX-License-Identifier: Apache-2.0
/* A runtime for a row, and what the cluster has to do to end it. */
#include "engine/connect/internal.h"
#include "engine/connect/router.h"
#include "tests/unit/engine/cluster.h"

#define POD_IP(ip) "'" ip "'"

static void open_with(struct cluster *c, enum connect_mode mode)
{
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", POD_IP("127.0.0.9"), "True"));
	cluster_add(c, "pods", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	cluster_open(c, (struct engine_opts){ .connect.mode = mode });
	cluster_sync(c);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "claim-a") != NULL, 5000);
	API_UNTIL(&c->api,
		strcmp(fleet_find(engine_fleet(c->engine), "claim-a")->pod_uid, "pod-1") == 0,
		5000);
}

static struct runtime *runtime(struct cluster *c, enum err_code code)
{
	struct err err = { 0 };
	struct runtime *is = engine_runtime(c->engine, "claim-a", &err);
	if (err.code != code || (is == NULL) != (code != ERR_NONE))
		fail_msg("%s: %s", is ? "a runtime" : err_name(&err), err.msg);
	return is;
}

/* Held until the end of a test. */
static struct runtime *holds[4];

static struct runtime *hold(struct runtime *is)
{
	size_t i = 0;
	while (holds[i] != NULL)
		i++;
	return holds[i] = runtime_ref(is);
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
		runtime_unref(holds[i]);
		holds[i] = NULL;
	}
	return cluster_tear_down(state);
}

/* Its pod moved or went. */
static bool is_over(struct cluster *c, const struct runtime *runtime)
{
	const struct connect_connection *connection;
	DL_FOREACH(c->engine->connect->all, connection)
		if (connection->runtime == runtime)
			return !connection->is_current;
	fail_msg("it is held, and not there any more");
	return true;
}

static const char *pod_ip(struct cluster *c)
{
	return fleet_find(engine_fleet(c->engine), "claim-a")->pod_ip;
}

static void the_same_connection_while_nothing_moves(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_POD_IP);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	assert_ptr_equal(runtime(c, ERR_NONE), first);
	/* the address vanishes for a moment, as while the status is written anew */
	cluster_tell(c, "sandboxes", "MODIFIED", CLUSTER_SANDBOX("a", "", "", "False"));
	cluster_tell(c, "pods", "MODIFIED", CLUSTER_POD("a", "pod-1", "", ""));
	API_UNTIL(&c->api, pod_ip(c)[0] == '\0', 5000);
	API_FOR(&c->api, 50);
	assert_false(is_over(c, first));
	cluster_tell(c, "sandboxes", "MODIFIED",
		CLUSTER_SANDBOX("a", "", POD_IP("127.0.0.9"), "True"));
	cluster_tell(c, "pods", "MODIFIED", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	API_UNTIL(&c->api, pod_ip(c)[0] != '\0', 5000);
	assert_ptr_equal(runtime(c, ERR_NONE), first);
	assert_false(is_over(c, first));
}

static void another_pod_is_another_connection(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_POD_IP);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	cluster_tell(c, "pods", "DELETED", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	cluster_tell(c, "pods", "ADDED", CLUSTER_POD("a", "pod-2", "", "127.0.0.9"));
	API_UNTIL(&c->api, is_over(c, first), 5000);
	struct runtime *second = hold(runtime(c, ERR_NONE));
	assert_ptr_not_equal(first, second);
	assert_false(is_over(c, second));
}

static void another_address_is_another_connection(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_POD_IP);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	cluster_tell(c, "sandboxes", "MODIFIED",
		CLUSTER_SANDBOX("a", "", POD_IP("127.0.0.8"), "True"));
	cluster_tell(c, "pods", "MODIFIED", CLUSTER_POD("a", "pod-1", "", "127.0.0.8"));
	API_UNTIL(&c->api, is_over(c, first), 5000);
	assert_ptr_not_equal(first, runtime(c, ERR_NONE));
}

static void what_is_deleted_ends_the_connection(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_POD_IP);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	cluster_tell(c, "sandboxclaims", "DELETED", CLUSTER_CLAIM("a"));
	cluster_tell(c, "sandboxes", "DELETED",
		CLUSTER_SANDBOX("a", "", POD_IP("127.0.0.9"), "True"));
	API_UNTIL(&c->api, is_over(c, first), 5000);
	struct err err = { 0 };
	assert_null(engine_runtime(c->engine, "claim-a", &err));
	assert_int_equal(err.code, ERR_SANDBOX_NOT_FOUND);
}

static void a_suspended_sandbox_has_none(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_POD_IP);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	cluster_tell(c, "sandboxes", "MODIFIED",
		CLUSTER_SANDBOX("a", "'operatingMode':'Suspended'", "", "False"));
	API_UNTIL(&c->api, is_over(c, first), 5000);
	runtime(c, ERR_SANDBOX_SUSPENDED);
}

static void each_way_has_its_address(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_SERVICE);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	assert_string_equal(c->engine->connect->current->address, "a.demo.svc.cluster.local");
	/* the pod's address does not matter to it */
	cluster_tell(c, "sandboxes", "MODIFIED", CLUSTER_SANDBOX("a", "", "", "True"));
	cluster_tell(c, "pods", "MODIFIED", CLUSTER_POD("a", "pod-1", "", ""));
	API_UNTIL(&c->api, pod_ip(c)[0] == '\0', 5000);
	API_FOR(&c->api, 50);
	assert_false(is_over(c, first));
	assert_ptr_equal(runtime(c, ERR_NONE), first);
}

static void a_port_forward_goes_to_the_pod(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_PORT_FORWARD);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	assert_string_equal(c->engine->connect->current->address, "a");
	assert_false(is_over(c, first));
}

static int n_health;
static struct err health_err;

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	(void)arg;
	(void)health;
	n_health++;
	err_copy(&health_err, err);
}

/* A row is Ready a moment before its pod has been listed, and the token is the pod's: it is waited for. */
static void the_token_of_a_pod_that_is_not_known_yet(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", POD_IP("127.0.0.9"), "True"));
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	c->engine->connect->settings.token_of_pod =
		x_asprintf("%s/token-%s", c->api.dir, CONNECT_TOKEN_POD);
	cluster_sync(c);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "claim-a") != NULL, 5000);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "claim-a")->state == FLEET_READY,
		5000);
	n_health = 0;
	struct runtime *is = runtime(c, ERR_NONE);
	struct runtime_op *op = runtime_health_start(is, 20000, on_health, c, &err);
	assert_non_null(op);
	API_FOR(&c->api, 500);
	assert_int_equal(n_health, 0);
	api_write(&c->api, "token-pod-1", "s3cret");
	cluster_tell(c, "pods", "ADDED", CLUSTER_POD("a", "pod-1", "", "127.0.0.9"));
	API_UNTIL(&c->api, n_health, 9000);
	assert_int_equal(health_err.code, ERR_CONN_REFUSED); /* nobody listens there */
	assert_ptr_equal(runtime(c, ERR_NONE), is);
	char *path = x_asprintf("%s/token-pod-1", c->api.dir);
	unlink(path);
	free(path);
	free(c->engine->connect->settings.token_of_pod);
	c->engine->connect->settings.token_of_pod = NULL;
}

/* While it is connecting, a refusal may be a daemon that still starts. */
static void a_daemon_that_still_starts_is_waited_for(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	open_with(c, CONNECT_PORT_FORWARD);
	n_health = 0;
	struct runtime_op *op =
		runtime_health_start(runtime(c, ERR_NONE), 20000, on_health, c, &err);
	assert_non_null(op);
	API_UNTIL(&c->api, c->forwards >= 4, 9000);
	assert_int_equal(n_health, 0);
	runtime_cancel(op);
}

static void no_port_forward_into_another_kernel(void **state)
{
	struct cluster *c = *state;
	(void)c;
	assert_true(connect_is_other_kernel("gvisor"));
	assert_true(connect_is_other_kernel("my-runsc"));
	assert_true(connect_is_other_kernel("kata-qemu"));
	assert_false(connect_is_other_kernel("runc"));
	assert_false(connect_is_other_kernel(""));
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes",
		CLUSTER_SANDBOX("a", "'podTemplate':{'spec':{'runtimeClassName':'gvisor'}}",
			POD_IP("127.0.0.9"), "True"));
	cluster_add(c, "pods",
		CLUSTER_POD("a", "pod-1", "'runtimeClassName':'gvisor'", "127.0.0.9"));
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD });
	cluster_sync(c);
	API_UNTIL(&c->api,
		strcmp(fleet_find(engine_fleet(c->engine), "claim-a")->pod_uid, "pod-1") == 0,
		5000);
	runtime(c, ERR_PORTFWD_RUNTIME);
}

static void a_claim_without_a_sandbox_has_none(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims",
		"{'metadata':{'name':'a','namespace':'demo','uid':'claim-a','generation':1,"
		"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},'spec':"
		"{'warmPoolRef':{'name':'p'}}}");
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	cluster_sync(c);
	runtime(c, ERR_SANDBOX_NOT_READY);
	struct err err = { 0 };
	assert_null(engine_runtime(c->engine, "nobody", &err));
	assert_int_equal(err.code, ERR_SANDBOX_NOT_FOUND);
}

/* ---- who holds them */

static size_t n_connections(const struct cluster *c)
{
	const struct connect_connection *connection;
	size_t n = 0;
	DL_FOREACH(c->engine->connect->all, connection)
		n++;
	return n;
}

static void move_pod(struct cluster *c, int from, int to)
{
	char uid[16];
	snprintf(uid, sizeof uid, "pod-%d", from);
	cluster_tell(c, "pods", "DELETED",
		"{'metadata':{'name':'a','namespace':'demo','uid':'%s','resourceVersion':'9RV'}}",
		uid);
	snprintf(uid, sizeof uid, "pod-%d", to);
	cluster_tell(c, "pods", "ADDED",
		"{'metadata':{'name':'a','namespace':'demo','uid':'%s','resourceVersion':'9RV',"
		"'creationTimestamp':'2026-01-01T00:00:00Z','ownerReferences':[{'kind':'Sandbox',"
		"'name':'a','uid':'sandbox-a','controller':true}]},'spec':{},'status':{'phase':"
		"'Running','podIP':'127.0.0.9','conditions':[{'type':'Ready','status':'True'}]}}",
		uid);
	API_UNTIL(&c->api,
		strcmp(fleet_find(engine_fleet(c->engine), "claim-a")->pod_uid, uid) == 0,
		9000);
}

static void a_pod_that_moves_leaves_nothing(void **state)
{
	enum { TIMES = 1000 };
	struct cluster *c = *state;
	open_with(c, CONNECT_IN_CLUSTER_POD_IP);
	for (int i = 1; i <= TIMES; i++) {
		assert_non_null(runtime(c, ERR_NONE));
		assert_int_equal(n_connections(c), 1);
		move_pod(c, i, i + 1);
		assert_int_equal(n_connections(c), 0);
	}
}

static void who_holds_one_keeps_it(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	open_with(c, CONNECT_PORT_FORWARD);
	struct runtime *first = runtime_ref(runtime(c, ERR_NONE));
	move_pod(c, 1, 2);
	struct runtime *second = runtime(c, ERR_NONE);
	assert_ptr_not_equal(first, second);
	assert_int_equal(n_connections(c), 2);
	/* it says why, and does nothing any more */
	assert_string_equal(runtime_label(first), "a");
	assert_int_equal(runtime_state_of(first), RUNTIME_DOWN);
	assert_null(runtime_health_start(first, 1000, on_health, c, &err));
	assert_int_equal(err.code, ERR_SANDBOX_MOVED);
	assert_string_equal(err.msg, "the pod of sandbox a was replaced");
	runtime_unref(first);
	assert_int_equal(n_connections(c), 1);
}

/* What is under way on it is told why, and is the last to hold it. */
static void what_is_under_way_ends_with_its_pod(void **state)
{
	struct cluster *c = *state;
	open_with(c, CONNECT_PORT_FORWARD);
	n_health = 0;
	assert_non_null(runtime_health_start(runtime(c, ERR_NONE), 60000, on_health, c, NULL));
	API_UNTIL(&c->api, c->forwards > 0, 9000); /* with a tunnel */
	move_pod(c, 1, 2);
	API_UNTIL(&c->api, n_health > 0, 9000);
	assert_int_equal(n_health, 1);
	assert_int_equal(health_err.code, ERR_SANDBOX_MOVED);
	assert_int_equal(n_connections(c), 0);
}

/* A front end may let go after it has closed the engine. */
static void one_that_is_held_outlives_the_engine(void **state)
{
	struct cluster *c = *state;
	struct err err = { 0 };
	open_with(c, CONNECT_PORT_FORWARD);
	struct runtime *first = hold(runtime(c, ERR_NONE));
	n_health = 0;
	assert_non_null(runtime_health_start(first, 60000, on_health, c, NULL));
	API_UNTIL(&c->api, c->forwards > 0, 9000);
	engine_free(c->engine);
	c->engine = NULL;
	assert_int_equal(n_health, 0);
	assert_null(runtime_health_start(first, 1000, on_health, c, &err));
	assert_int_equal(err.code, ERR_OP_CLOSED);
}

static void routers_are_shared(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("b"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "", "True"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("b", "", "", "True"));
	for (int named = 0; named < 2; named++) {
		cluster_open(c, (struct engine_opts){
					.connect.router_service = "r",
					.connect.router_namespace = named ? "s" : NULL,
				});
		cluster_sync(c);
		API_UNTIL(&c->api,
			fleet_find(engine_fleet(c->engine), "claim-a")->sandbox[0] &&
				fleet_find(engine_fleet(c->engine), "claim-b")->sandbox[0],
			5000);
		assert_non_null(engine_runtime(c->engine, "claim-a", NULL));
		assert_non_null(engine_runtime(c->engine, "claim-b", NULL));
		const struct connect_routers *routers = c->engine->connect->routers;
		assert_string_equal(
			connect_router_namespace(routers->router), named ? "s" : "demo");
		assert_null(routers->next);
		engine_free(c->engine);
		c->engine = NULL;
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_same_connection_while_nothing_moves),
		TEST(another_pod_is_another_connection),
		TEST(another_address_is_another_connection),
		TEST(what_is_deleted_ends_the_connection),
		TEST(a_suspended_sandbox_has_none),
		TEST(each_way_has_its_address),
		TEST(a_port_forward_goes_to_the_pod),
		TEST(the_token_of_a_pod_that_is_not_known_yet),
		TEST(a_daemon_that_still_starts_is_waited_for),
		TEST(no_port_forward_into_another_kernel),
		TEST(a_claim_without_a_sandbox_has_none),
		TEST(a_pod_that_moves_leaves_nothing),
		TEST(who_holds_one_keeps_it),
		TEST(what_is_under_way_ends_with_its_pod),
		TEST(one_that_is_held_outlives_the_engine),
		TEST(routers_are_shared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
