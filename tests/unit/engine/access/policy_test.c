// SPDX-License-Identifier: Apache-2.0
/* What is refused before it is tried: by read-only mode, by the runtime, because it is out of sight, for want of a
 * right. */
#include "tests/unit/engine/cluster.h"

enum { ASKED = 7 }; /* reviews for a namespace */

static struct err err;

static bool may(struct cluster *c, enum access_action action, const char *uid)
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
	uint64_t before = engine_access_revision(c->engine);
	may(c, ACCESS_CREATE, NULL);
	API_UNTIL(&c->api, engine_access_revision(c->engine) >= before + ASKED, 9000);
}

static void with_all_rights_everything_may_be_done(void **state)
{
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD });
	ask_all(c);
	for (int action = 0; action < ACCESS_ACTION_COUNT; action++)
		if (!may(c, (enum access_action)action,
			    action == ACCESS_CREATE ? NULL : "claim-a"))
			fail_msg("%d: %s", action, err.msg);
}

static void each_right_forbids_what_needs_it(void **state)
{
	static const struct {
		const char *words;
		bool claim[ACCESS_ACTION_COUNT], bare[ACCESS_ACTION_COUNT]; /* refused */
	} rows[] = {
		{ "create sandboxclaims", { [ACCESS_CREATE] = true },
			{ [ACCESS_CREATE] = true } },
		{ "delete sandboxclaims", { [ACCESS_DELETE] = true }, { false } },
		{ "delete sandboxes", { false }, { [ACCESS_DELETE] = true } },
		{ "patch sandboxclaims", { [ACCESS_EXTEND] = true }, { false } },
		{ "patch sandboxes", { [ACCESS_SUSPEND] = true },
			{ [ACCESS_SUSPEND] = true, [ACCESS_EXTEND] = true } },
		{ "create pods/portforward",
			{ [ACCESS_SHELL] = true,
				[ACCESS_FILES] = true,
				[ACCESS_MAKE_FOLDER] = true,
				[ACCESS_DELETE_FILES] = true },
			{ [ACCESS_SHELL] = true,
				[ACCESS_FILES] = true,
				[ACCESS_MAKE_FOLDER] = true,
				[ACCESS_DELETE_FILES] = true } },
	};
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD });
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		c->n_refused = 0;
		c->reviews = 0;
		cluster_refuse(c, rows[i].words);
		engine_access_forget(c->engine);
		ask_all(c);
		for (int is_bare = 0; is_bare < 2; is_bare++)
			for (int action = 0; action < ACCESS_ACTION_COUNT; action++) {
				const char *uid = action == ACCESS_CREATE ? NULL
						  : is_bare               ? "sandbox-bare"
									  : "claim-a";
				bool refused =
					is_bare ? rows[i].bare[action] : rows[i].claim[action];
				if (may(c, (enum access_action)action, uid) == refused)
					fail_msg("without '%s', action %d of %s: %s",
						rows[i].words, action, uid ? uid : "none",
						refused ? "taken" : err.msg);
				if (refused)
					assert_int_equal(err.code,
						action >= ACCESS_SHELL ? ERR_PORTFWD_DENIED
								       : ERR_KUBE_FORBIDDEN);
			}
	}
	cluster_refuse(c, "create sandboxclaims");
	engine_access_forget(c->engine);
	c->reviews = 0;
	ask_all(c);
	assert_false(may(c, ACCESS_CREATE, NULL));
	assert_string_equal(err.msg,
		"you may not create sandboxclaims in namespace demo; a Role needs: create on "
		"sandboxclaims.extensions.agents.x-k8s.io");
}

static void other_ways_need_no_port_forward(void **state)
{
	struct cluster *c = *state;
	cluster_refuse(c, "create pods/portforward");
	cluster_refuse(c, "get pods/portforward");
	open_with(c, (struct engine_opts){ .connect.mode = CONNECT_IN_CLUSTER_POD_IP });
	ask_all(c);
	assert_true(may(c, ACCESS_SHELL, "claim-a"));
}

static void read_only(void **state)
{
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){
			     .connect.mode = CONNECT_PORT_FORWARD, .read_only = true });
	for (int action = 0; action < ACCESS_ACTION_COUNT; action++) {
		bool ok = may(c, (enum access_action)action,
			action == ACCESS_CREATE ? NULL : "claim-a");
		assert_int_equal(ok, action == ACCESS_FILES);
		assert_int_equal(err.code, ok ? ERR_NONE : ERR_OP_READ_ONLY);
	}
}

static void what_a_runtime_cannot(void **state)
{
	static const struct {
		struct engine_opts opts;
		bool shell, folder, delete;
	} rows[] = {
		{ { .connect.mode = CONNECT_PORT_FORWARD }, true, true, true },
		{ { .connect.mode = CONNECT_PORT_FORWARD,
			  .connect.runtime = CONNECT_RUNTIME_LEGACY },
			false, true, false },
		{ { .connect.router_url = "http://127.0.0.1:1" }, false, false, true },
		{ { .connect.router_url = "http://127.0.0.1:1",
			  .connect.runtime = CONNECT_RUNTIME_LEGACY },
			false, true, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cluster *c = *state;
		open_with(c, rows[i].opts);
		assert_int_equal(may(c, ACCESS_SHELL, "claim-a"), rows[i].shell);
		assert_int_equal(err.code, rows[i].shell ? ERR_NONE : ERR_OP_UNSUPPORTED);
		assert_int_equal(may(c, ACCESS_MAKE_FOLDER, "claim-a"), rows[i].folder);
		assert_int_equal(may(c, ACCESS_DELETE_FILES, "claim-a"), rows[i].delete);
		assert_true(may(c, ACCESS_FILES, "claim-a"));
		if (i + 1 < sizeof rows / sizeof rows[0]) {
			cluster_tear_down(state);
			cluster_set_up(state);
		}
	}
}

static void a_direct_url_has_no_cluster(void **state)
{
	struct cluster *c = *state;
	struct engine_opts opts = { .connect.rest_url = "http://127.0.0.1:1" };
	c->engine = engine_new(c->api.loop, &opts, &err);
	for (int action = ACCESS_CREATE; action <= ACCESS_EXTEND; action++) {
		assert_false(may(c, (enum access_action)action, NULL));
		assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
	}
	assert_true(may(c, ACCESS_FILES, NULL));
}

static void what_is_out_of_sight(void **state)
{
	struct cluster *c = *state;
	cluster_collection(c, "sandboxclaims")->is_forbidden = true;
	cluster_add(c, "sandboxes", CLUSTER_SANDBOX("a", "", "'127.0.0.9'", "True"));
	cluster_open(c, (struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD });
	cluster_sync(c);
	API_UNTIL(&c->api, fleet_find(engine_fleet(c->engine), "sandbox-a") != NULL, 5000);
	assert_false(may(c, ACCESS_CREATE, NULL));
	assert_int_equal(err.code, ERR_KUBE_FORBIDDEN);
	assert_false(may(c, ACCESS_DELETE, "sandbox-a"));
	assert_non_null(strstr(err.msg, "belongs to a SandboxClaim"));
	assert_false(may(c, ACCESS_EXTEND, "sandbox-a"));
	assert_true(may(c, ACCESS_SUSPEND, "sandbox-a"));
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
				.connect.mode = CONNECT_PORT_FORWARD, .all_namespaces = true });
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
	struct err refusal = { 0 };
	open_with(c, (struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD });
	ask_all(c);
	assert_true(may(c, ACCESS_DELETE, "claim-a"));
	/* one that does not say which right is missing */
	err_set(&refusal, ERR_KUBE_FORBIDDEN, "admission webhook denied the request");
	engine_refused(c->engine, &refusal);
	assert_true(may(c, ACCESS_DELETE, "claim-a"));
	/* of another namespace, and of another verb */
	err_set_denied(
		&refusal, "delete", "extensions.agents.x-k8s.io", "sandboxclaims", "", "other");
	engine_refused(c->engine, &refusal);
	err_set_denied(
		&refusal, "patch", "extensions.agents.x-k8s.io", "sandboxclaims", "", "demo");
	engine_refused(c->engine, &refusal);
	assert_true(may(c, ACCESS_DELETE, "claim-a"));
	assert_false(may(c, ACCESS_EXTEND, "claim-a"));
	err_set_denied(
		&refusal, "delete", "extensions.agents.x-k8s.io", "sandboxclaims", "", "demo");
	uint64_t before = engine_access_revision(c->engine);
	engine_refused(c->engine, &refusal);
	assert_true(engine_access_revision(c->engine) > before);
	assert_false(may(c, ACCESS_DELETE, "claim-a"));
	err_set_denied(&refusal, "create", "", "pods", "portforward", "demo");
	engine_refused(c->engine, &refusal);
	assert_false(may(c, ACCESS_FILES, "claim-a"));
	assert_string_equal(err.denied.verb, "create");
	assert_string_equal(err.denied.subresource, "portforward");
}

/* Any resource: what a kind of rows asks. */
static void any_verb_on_any_resource(void **state)
{
	static const struct access_attributes scale = { "patch", "apps", "deployments",
		"scale" };
	static const struct access_attributes look = { "list", "apps", "deployments", "" };
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){ .connect.mode = CONNECT_PORT_FORWARD });
	cluster_refuse(c, "patch deployments/scale");
	assert_true(engine_may_verb(c->engine, &scale, "demo", &err)); /* not known yet */
	API_UNTIL(&c->api, !engine_may_verb(c->engine, &scale, "demo", &err), 5000);
	assert_int_equal(err.code, ERR_KUBE_FORBIDDEN);
	assert_string_equal(err.msg,
		"you may not patch deployments/scale in namespace demo; a Role needs: patch on "
		"deployments/scale.apps");
	assert_string_equal(err.denied.verb, "patch");
	assert_string_equal(err.denied.group, "apps");
	assert_string_equal(err.denied.resource, "deployments");
	assert_string_equal(err.denied.subresource, "scale");
	assert_string_equal(err.denied.namespace_, "demo");
	assert_true(engine_may_verb(c->engine, &look, "demo", &err));
	API_UNTIL(&c->api, c->reviews == ASKED + 2, 9000);
	for (int i = 0; i < 10; i++)
		assert_true(engine_may_verb(c->engine, &look, "demo", NULL));
	API_FOR(&c->api, 50);
	assert_int_equal(c->reviews, ASKED + 2); /* kept */
}

static void any_change_is_off_in_read_only_mode(void **state)
{
	static const char *const verbs[] = { "get", "list", "watch", "create", "update",
		"patch", "delete", "deletecollection" };
	struct cluster *c = *state;
	open_with(c, (struct engine_opts){ .read_only = true });
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		const struct access_attributes about = { verbs[i], "", "pods", "" };
		err = (struct err){ 0 };
		assert_int_equal(engine_may_verb(c->engine, &about, "demo", &err), i < 3);
		assert_int_equal(err.code, i < 3 ? ERR_NONE : ERR_OP_READ_ONLY);
	}
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
		TEST(any_verb_on_any_resource),
		TEST(any_change_is_off_in_read_only_mode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
