// SPDX-License-Identifier: Apache-2.0
/* The pod behind a router's Service, and the address of a Gateway, as their watches tell. */
#include "engine/connect/gateway.h"
#include "engine/connect/internal.h"
#include "engine/connect/router.h"
#include "tests/unit/engine/cluster.h"

#define SLICE(name, ports, endpoints)                                                          \
	"{'metadata':{'name':'" name "','namespace':'demo','uid':'u-" name                     \
	"','resourceVersion':'9RV'},'ports':[" ports "],'endpoints':[" endpoints "]}"
#define POD(name, conditions)                                                                  \
	"{'targetRef':{'kind':'Pod','name':'" name "'},'conditions':{" conditions "}}"

static struct str url;
static struct connect_router *router_of_test;
static struct err err;

static bool locate(bool (*fn)(void *arg, struct str *url, struct err *err), void *arg)
{
	str_clear(&url);
	err = (struct err){ 0 };
	return fn(arg, &url, &err);
}

static int set_up(void **state)
{
	str_init(&url, 1000);
	return cluster_set_up(state);
}

static int tear_down(void **state)
{
	str_deinit(&url);
	connect_router_free(router_of_test);
	router_of_test = NULL;
	return cluster_tear_down(state);
}

static struct connect_router *open_router(struct cluster *c)
{
	cluster_open(c, (struct engine_opts){ 0 });
	router_of_test = connect_router_new(c->engine->kube, "r", "demo");
	assert_string_equal(connect_router_namespace(router_of_test), "demo");
	return router_of_test;
}

static void pods_come_and_go(void **state)
{
	struct cluster *c = *state;
	const char *namespace_, *pod;
	uint16_t port;
	struct connect_router *router = open_router(c);
	assert_false(locate(connect_router_locate, router));
	assert_int_equal(err.code, ERR_ROUTER_BACKEND);
	assert_non_null(strstr(err.msg, "the Service demo/r has not been looked up yet"));
	API_UNTIL(&c->api,
		!locate(connect_router_locate, router) && strstr(err.msg, "no ready pod"),
		5000);
	assert_false(connect_router_pod(router, &namespace_, &pod, &port));
	cluster_tell(c, "endpointslices", "ADDED",
		SLICE("s1", "{'port':9000},{'port':9001}", POD("not-ready", "'ready':false")));
	cluster_tell(c, "endpointslices", "ADDED",
		SLICE("s2", "{'port':9000},{'port':9001}",
			"{'targetRef':{'kind':'Node','name':'n'}}," POD(
				"no", "'ready':false") "," POD("yes", "'ready':true")));
	API_UNTIL(&c->api, locate(connect_router_locate, router), 5000);
	assert_string_equal(url.p, "http://127.0.0.1:9000"); /* the first port */
	assert_true(connect_router_pod(router, &namespace_, &pod, &port));
	assert_string_equal(namespace_, "demo");
	assert_string_equal(pod, "yes");
	assert_int_equal(port, 9000);
	/* its pod is not ready any more, another slice has one whose readiness is not known */
	cluster_tell(c, "endpointslices", "MODIFIED",
		SLICE("s1", "{'port':0},{'port':65536},{'port':7},{'port':8080}",
			POD("other", "")));
	cluster_tell(
		c, "endpointslices", "MODIFIED", SLICE("s2", "", POD("yes", "'ready':false")));
	API_UNTIL(&c->api,
		connect_router_pod(router, &namespace_, &pod, &port) &&
			strcmp(pod, "other") == 0,
		5000);
	assert_int_equal(port, 8080); /* the router's own port wins */
	cluster_tell(c, "endpointslices", "DELETED", SLICE("s1", "", POD("other", "")));
	API_UNTIL(&c->api, !connect_router_pod(router, &namespace_, &pod, &port), 5000);
	cluster_tell(c, "endpointslices", "ADDED", SLICE("s3", "{'port':70000}", POD("p", "")));
	API_UNTIL(&c->api, connect_router_pod(router, &namespace_, &pod, &port), 5000);
	assert_int_equal(port, 8080); /* none that could be one */
}

static void a_refusal_is_told(void **state)
{
	struct cluster *c = *state;
	cluster_collection(c, "endpointslices")->is_forbidden = true;
	struct connect_router *router = open_router(c);
	API_UNTIL(&c->api,
		!locate(connect_router_locate, router) && err.code == ERR_KUBE_FORBIDDEN, 5000);
	assert_memory_equal(err.msg, "router demo/r", 13);
}

/* --- gateways --- */

#define GATEWAY(name, addresses)                                                               \
	"{'metadata':{'name':'" name "','namespace':'default','uid':'u-" name                  \
	"','resourceVersion':'9RV'},'status':{'addresses':[" addresses "]}}"

static struct connect_gateway *open_gateway(struct cluster *c, const char *scheme)
{
	cluster_open(c, (struct engine_opts){
				.connect.gateway = "g", .connect.gateway_scheme = scheme });
	assert_non_null(c->engine->connect->gateway);
	return c->engine->connect->gateway;
}

static void a_gateway_and_its_addresses(void **state)
{
	struct cluster *c = *state;
	struct connect_gateway *gateway = open_gateway(c, NULL);
	assert_false(locate(connect_gateway_locate, gateway));
	assert_int_equal(err.code, ERR_GATEWAY_NO_ADDRESS);
	assert_non_null(strstr(err.msg, "gateway default/g is not there"));
	cluster_tell(c, "gateways", "ADDED", GATEWAY("other", "{'value':'1.1.1.1'}"));
	cluster_tell(c, "gateways", "ADDED", GATEWAY("g", ""));
	API_UNTIL(&c->api,
		!locate(connect_gateway_locate, gateway) && strstr(err.msg, "has no address"),
		5000);
	cluster_tell(c, "gateways", "MODIFIED",
		GATEWAY("g", "{'value':'10.0.0.1'},{'value':'10.0.0.2'}"));
	API_UNTIL(&c->api, locate(connect_gateway_locate, gateway), 5000);
	assert_string_equal(url.p, "http://10.0.0.1");
	cluster_tell(c, "gateways", "MODIFIED", GATEWAY("g", "{'value':'fd00::1'}"));
	API_UNTIL(&c->api,
		locate(connect_gateway_locate, gateway) &&
			strcmp(url.p, "http://[fd00::1]") == 0,
		5000);
	/* an address that would change the URL is none */
	static const char *const bad[] = { "a/b", "a?b", "u@a", "a b", "", "a#b", "a%41",
		"a[b" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		cluster_tell(c, "gateways", "MODIFIED", GATEWAY("g", "{'value':'ok.example'}"));
		API_UNTIL(&c->api, locate(connect_gateway_locate, gateway), 5000);
		cluster_tell(c, "gateways", "MODIFIED",
			"{'metadata':{'name':'g','namespace':'default','uid':'u-g','resourceVersion':"
			"'9RV'},'status':{'addresses':[{'value':'%s'}]}}",
			bad[i]);
		API_UNTIL(&c->api, !locate(connect_gateway_locate, gateway), 5000);
	}
	cluster_tell(c, "gateways", "DELETED", GATEWAY("g", ""));
	API_UNTIL(&c->api,
		!locate(connect_gateway_locate, gateway) && err.code == ERR_GATEWAY_DELETED,
		5000);
	cluster_tell(c, "gateways", "ADDED", GATEWAY("g", "{'value':'10.0.0.3'}"));
	API_UNTIL(&c->api, locate(connect_gateway_locate, gateway), 5000);
}

static void another_scheme(void **state)
{
	struct cluster *c = *state;
	cluster_add(c, "gateways", GATEWAY("g", "{'value':'gw.example'}"));
	struct connect_gateway *gateway = open_gateway(c, "https");
	API_UNTIL(&c->api, locate(connect_gateway_locate, gateway), 5000);
	assert_string_equal(url.p, "https://gw.example");
}

static void a_gateway_that_may_not_be_read(void **state)
{
	struct cluster *c = *state;
	cluster_collection(c, "gateways")->is_forbidden = true;
	struct connect_gateway *gateway = open_gateway(c, NULL);
	API_UNTIL(&c->api,
		!locate(connect_gateway_locate, gateway) && err.code == ERR_KUBE_FORBIDDEN,
		5000);
	assert_memory_equal(err.msg, "gateway default/g", 17);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pods_come_and_go),
		TEST(a_refusal_is_told),
		TEST(a_gateway_and_its_addresses),
		TEST(another_scheme),
		TEST(a_gateway_that_may_not_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
