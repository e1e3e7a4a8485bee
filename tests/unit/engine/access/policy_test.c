// SPDX-License-Identifier: Apache-2.0
/* What is refused before it is tried: by read-only mode, by the runtime, because it is out of sight, for want of a
 * right. */
#include "tests/unit/engine/cluster.h"

enum { ASKED = 7 }; /* reviews for a namespace */

static struct err err;

static bool may(struct cluster *c, enum engine_action action, const char *uid)
{
	err = (struct err){ 0 };
	return engine_may(c->engine, action, uid, "demo", &err);
}

static void open_with(struct cluster *c, struct engine_opts opts)
{
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_add(c, "sandboxes",
		"{'metadata':{'name':'bare','namespace':'demo','uid':'sandbox-bare','generation':1,"
		"'resourceVersion':'9RV','creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{}}");
	cluster_open(c, opts);
	cluster_sync(c);
	API_UNTIL(&c->api,
		fleet_find(engine_fleet(c->engine), "claim-a") &&
			fleet_find(engine_fleet(c->engine), "claim-a")->sandbox_uid[0] &&
			fleet_find(engine_fleet(c->engine), "sandbox-bare"),
		5000);
}

/* Asks until all reviews have been answered. */
static void ask_all(struct cluster *c)
{
	uint64_t before = engine_access_reviews_revision(c->engine);
	may(c, ENGINE_CREATE, NULL);
	API_UNTIL(&c->api, engine_access_reviews_revision(c->engine) >= before + ASKED, 9000);
}

static void with_all_rights_everything_may_be_done(void **state)
{
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){ .connectivity = ENGINE_PORT_FORWARD });
	ask_all(c);
	for (int action = 0; action < ENGINE_ACTION_COUNT; action++)
		if (!may(c, (enum engine_action)action,
			    action == ENGINE_CREATE ? NULL : "claim-a"))
			fail_msg("%d: %s", action, err.msg);
}

static void each_right_forbids_what_needs_it(void **state)
{
	static const struct {
		const char *words;
		bool claim[ENGINE_ACTION_COUNT], bare[ENGINE_ACTION_COUNT]; /* refused */
	} rows[] = {
		{ "create sandboxclaims", { [ENGINE_CREATE] = true },
			{ [ENGINE_CREATE] = true } },
		{ "delete sandboxclaims", { [ENGINE_DELETE] = true }, { false } },
		{ "delete sandboxes", { false }, { [ENGINE_DELETE] = true } },
		{ "patch sandboxclaims", { [ENGINE_EXTEND] = true }, { false } },
		{ "patch sandboxes", { [ENGINE_SUSPEND] = true },
			{ [ENGINE_SUSPEND] = true, [ENGINE_EXTEND] = true } },
		{ "create pods/portforward",
			{ [ENGINE_SHELL] = true,
				[ENGINE_FILES] = true,
				[ENGINE_MAKE_FOLDER] = true,
				[ENGINE_DELETE_FILES] = true },
			{ [ENGINE_SHELL] = true,
				[ENGINE_FILES] = true,
				[ENGINE_MAKE_FOLDER] = true,
				[ENGINE_DELETE_FILES] = true } },
	};
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){ .connectivity = ENGINE_PORT_FORWARD });
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		c->n_refused = 0;
		c->reviews = 0;
		cluster_refuse(c, rows[i].words);
		engine_access_reviews_forget(c->engine);
		ask_all(c);
		for (int is_bare = 0; is_bare < 2; is_bare++)
			for (int action = 0; action < ENGINE_ACTION_COUNT; action++) {
				const char *uid = action == ENGINE_CREATE ? NULL
						  : is_bare               ? "sandbox-bare"
									  : "claim-a";
				bool refused =
					is_bare ? rows[i].bare[action] : rows[i].claim[action];
				if (may(c, (enum engine_action)action, uid) == refused)
					fail_msg("without '%s', action %d of %s: %s",
						rows[i].words, action, uid ? uid : "none",
						refused ? "taken" : err.msg);
				if (refused)
					assert_int_equal(err.code,
						action >= ENGINE_SHELL ? ERR_PORTFWD_DENIED
								       : ERR_KUBE_FORBIDDEN);
			}
	}
	cluster_refuse(c, "create sandboxclaims");
	engine_access_reviews_forget(c->engine);
	c->reviews = 0;
	ask_all(c);
	assert_false(may(c, ENGINE_CREATE, NULL));
	assert_string_equal(err.msg,
		"you may not create sandboxclaims in namespace demo; a Role needs: create on "
		"sandboxclaims.extensions.agents.x-k8s.io");
}

static void other_ways_need_no_port_forward(void **state)
{
	struct cluster *c = *state;
	cluster_refuse(c, "create pods/portforward");
	cluster_refuse(c, "get pods/portforward");
	open_with(c, (struct engine_opts){ .connectivity = ENGINE_IN_CLUSTER_POD_IP });
	ask_all(c);
	assert_true(may(c, ENGINE_SHELL, "claim-a"));
}

static void read_only(void **state)
{
	struct cluster *c = *state;
	open_with(c,
		(struct engine_opts){ .connectivity = ENGINE_PORT_FORWARD, .read_only = true });
	for (int action = 0; action < ENGINE_ACTION_COUNT; action++) {
		bool ok = may(c, (enum engine_action)action,
			action == ENGINE_CREATE ? NULL : "claim-a");
		assert_int_equal(ok, action == ENGINE_FILES);
		assert_int_equal(err.code, ok ? ERR_NONE : ERR_OP_READ_ONLY);
	}
}

static void what_a_runtime_cannot(void **state)
{
	static const struct {
		struct engine_opts opts;
		bool shell, folder, delete;
	} rows[] = {
		{ { .connectivity = ENGINE_PORT_FORWARD }, true, true, true },
		{ { .connectivity = ENGINE_PORT_FORWARD, .runtime = ENGINE_RUNTIME_LEGACY },
			false, true, false },
		{ { .router_url = "http://127.0.0.1:1" }, false, false, true },
		{ { .router_url = "http://127.0.0.1:1", .runtime = ENGINE_RUNTIME_LEGACY },
			false, true, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cluster *c = *state;
		open_with(c, rows[i].opts);
		assert_int_equal(may(c, ENGINE_SHELL, "claim-a"), rows[i].shell);
		assert_int_equal(err.code, rows[i].shell ? ERR_NONE : ERR_OP_UNSUPPORTED);
		assert_int_equal(may(c, ENGINE_MAKE_FOLDER, "claim-a"), rows[i].folder);
		assert_int_equal(may(c, ENGINE_DELETE_FILES, "claim-a"), rows[i].delete);
		assert_true(may(c, ENGINE_FILES, "claim-a"));
		if (i + 1 < sizeof rows / sizeof rows[0]) {
			cluster_tear_down(state);
			cluster_set_up(state);
		}
	}
}

static void a_direct_url_has_no_cluster(void **state)
{
	struct cluster *c = *state;
	struct engine_opts opts = { .rest_url = "http://127.0.0.1:1" };
	c->engine = engine_new(c->api.loop, &opts, &err);
	for (int action = ENGINE_CREATE; action <= ENGINE_EXTEND; action++) {
		assert_false(may(c, (enum engine_action)action, NULL));
		assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
	}
	assert_true(may(c, ENGINE_FILES, NULL));
}

static void what_is_out_of_sight(void **state)
{
	struct cluster *c = *state;
	cluster_collection(c, "sandboxclaims")->is_forbidden = true;
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_open(c, (struct engine_opts){ .connectivity = ENGINE_PORT_FORWARD });
	cluster_sync(c);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "sandbox-a") != NULL, 5000);
	assert_false(may(c, ENGINE_CREATE, NULL));
	assert_int_equal(err.code, ERR_KUBE_FORBIDDEN);
	assert_false(may(c, ENGINE_DELETE, "sandbox-a"));
	assert_non_null(strstr(err.msg, "belongs to a SandboxClaim"));
	assert_false(may(c, ENGINE_EXTEND, "sandbox-a"));
	assert_true(may(c, ENGINE_SUSPEND, "sandbox-a"));
	struct str out, fix;
	str_init(&out, 1000);
	str_init(&fix, 1000);
	engine_forbidden_format(c->engine, &out, &fix);
	assert_string_equal(out.p, "not allowed: list sandboxclaims in namespace demo");
	assert_string_equal(fix.p,
		"a Role needs: get, list, watch on sandboxclaims.extensions.agents.x-k8s.io");
	str_deinit(&out);
	str_deinit(&fix);
}

/* Each collection by its name and group, once. */
static void all_that_may_not_be_read(void **state)
{
	static const char *const names[] = { "pods", "events", "sandboxes", "sandboxclaims",
		"sandboxwarmpools", "sandboxtemplates" };
	static const enum fleet_kind kinds[] = { FLEET_PODS, FLEET_EVENTS, FLEET_SANDBOXES,
		FLEET_CLAIMS, FLEET_POOLS, FLEET_TEMPLATES };
	struct cluster *c = *state;
	for (size_t i = 0; i < 6; i++)
		cluster_collection(c, names[i])->is_forbidden = true;
	cluster_open(c, (struct engine_opts){
				.connectivity = ENGINE_PORT_FORWARD, .all_namespaces = true });
	for (size_t i = 0; i < 6; i++)
		API_UNTIL(&c->api, fleet_forbidden(engine_fleet(c->engine), kinds[i]) != NULL,
			9000);
	struct str out, fix;
	str_init(&out, 1000);
	str_init(&fix, 1000);
	engine_forbidden_format(c->engine, &out, &fix);
	assert_string_equal(out.p,
		"not allowed: list pods, events, sandboxes, sandboxclaims, sandboxwarmpools, "
		"sandboxtemplates in all namespaces");
	assert_string_equal(fix.p,
		"a ClusterRole needs: get, list, watch on pods, events, "
		"sandboxes.agents.x-k8s.io, sandboxclaims.extensions.agents.x-k8s.io, "
		"sandboxwarmpools.extensions.agents.x-k8s.io, "
		"sandboxtemplates.extensions.agents.x-k8s.io");
	str_deinit(&out);
	str_deinit(&fix);
}

static void a_refusal_of_the_server_is_learned(void **state)
{
	struct cluster *c = *state;
	struct err refusal;
	open_with(c, (struct engine_opts){ .connectivity = ENGINE_PORT_FORWARD });
	ask_all(c);
	assert_true(may(c, ENGINE_DELETE, "claim-a"));
	err_set(&refusal, ERR_KUBE_FORBIDDEN, "admission webhook denied the request");
	engine_refused(c->engine, ENGINE_DELETE, "claim-a", NULL, &refusal);
	assert_true(may(c, ENGINE_DELETE, "claim-a"));
	err_set(&refusal, ERR_KUBE_FORBIDDEN,
		"User \"u\" cannot delete resource \"sandboxclaims\" in API group");
	engine_refused(
		c->engine, ENGINE_SUSPEND, "claim-a", NULL, &refusal); /* of another verb */
	assert_true(may(c, ENGINE_DELETE, "claim-a"));
	engine_refused(c->engine, ENGINE_DELETE, "claim-a", NULL, &refusal);
	assert_false(may(c, ENGINE_DELETE, "claim-a"));
	err_set(&refusal, ERR_CONN_LOST, "User cannot create resource \"sandboxclaims\"");
	engine_refused(
		c->engine, ENGINE_CREATE, NULL, "demo", &refusal); /* no refusal at all */
	assert_true(may(c, ENGINE_CREATE, NULL));
	err_set(&refusal, ERR_PORTFWD_DENIED, "cannot create resource \"pods/portforward\"");
	engine_refused(c->engine, ENGINE_SHELL, "claim-a", NULL, &refusal);
	assert_false(may(c, ENGINE_FILES, "claim-a"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_set_up, cluster_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(with_all_rights_everything_may_be_done),
		TEST(each_right_forbids_what_needs_it),
		TEST(other_ways_need_no_port_forward),
		TEST(read_only),
		TEST(what_a_runtime_cannot),
		TEST(a_direct_url_has_no_cluster),
		TEST(what_is_out_of_sight),
		TEST(all_that_may_not_be_read),
		TEST(a_refusal_of_the_server_is_learned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
