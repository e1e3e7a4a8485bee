// SPDX-License-Identifier: Apache-2.0
/* How many Sandboxes a pool keeps, and which go when there are too many. */
#include "tests/unit/local/server/world.h"

static void add_template(struct world *w)
{
	world_make(w, KIND_TEMPLATE,
		"{'metadata':{'name':'t'},'spec':{'podTemplate':{'spec':{'containers':"
		"[{'name':'c','image':'i'}]}}}}");
}

static struct store_object *add_pool(struct world *w, int replicas, const char *strategy)
{
	return world_make(w, KIND_POOL,
		"{'metadata':{'name':'p'},'spec':{'replicas':%d,"
		"'sandboxTemplateRef':{'name':'t'}%s}}",
		replicas, strategy);
}

static size_t count(struct world *w)
{
	return store_count(w->server.store, KIND_SANDBOX);
}

static int64_t status_of(struct world *w, const char *field)
{
	return json_int(world_get(w, KIND_POOL, "p")->json, -1, "status", field, NULL);
}

static void make_ready(struct world *w, const char *name)
{
	world_change(w, KIND_SANDBOX, name, OBJECTS_STATUS,
		"{'conditions':[{'type':'Ready',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'True','reason':'r','message':'m'}]}");
}

/* One of the pool, with a birth that is chosen. */
static void put_sandbox(struct world *w, const char *name, const char *born, bool is_ready)
{
	struct store_object *pool = world_get(w, KIND_POOL, "p");
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'%s','uid':'uid-%s','creationTimestamp':'%s','ownerReferences':"
		"[{'kind':'SandboxWarmPool','uid':'%s','name':'p',"
		"'apiVersion':'extensions.agents.x-k8s.io/v1beta1','controller':true}]},'spec':{},"
		"'status':{'conditions':[{'type':'Ready',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'%s'}]}}",
		name, name, born, pool->uid, is_ready ? "True" : "False");
}

static void test_it_is_filled_and_counted(void **state)
{
	struct world *w = *state;
	add_template(w);
	add_pool(w, 3, "");
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(count(w), 3);
	assert_int_equal(status_of(w, "replicas"), 3);
	assert_int_equal(status_of(w, "readyReplicas"), -1);
	assert_int_equal(status_of(w, "observedGeneration"), 1);
	const cJSON *one = store_at(w->server.store, KIND_SANDBOX, 0)->json;
	assert_memory_equal(json_str(one, "metadata", "name", NULL), "p-", 2);
	assert_true(controller_is_owned_by(one, world_get(w, KIND_POOL, "p")->uid));
	assert_non_null(controller_unstructured_label(one, LABEL_WARM_POOL));
	assert_non_null(controller_unstructured_label(one, LABEL_TEMPLATE_HASH));
	assert_string_equal(controller_unstructured_label(one, LABEL_TEMPLATE_HASH),
		controller_unstructured_label(one, LABEL_POD_TEMPLATE_HASH));
	assert_string_equal(controller_unstructured_label(one, LABEL_CREATED_BY), "controller");
	assert_string_equal(
		controller_unstructured_annotation(one, ANNOTATION_TEMPLATE_REF), "t");
	char selector[128];
	snprintf(selector, sizeof selector, "%s=%s", LABEL_WARM_POOL,
		controller_unstructured_label(one, LABEL_WARM_POOL));
	assert_str(selector, world_get(w, KIND_POOL, "p")->json, "status", "selector");

	make_ready(w, store_at(w->server.store, KIND_SANDBOX, 0)->name);
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(count(w), 3);
	assert_int_equal(status_of(w, "readyReplicas"), 1);
}

static void test_it_grows_by_ten_a_pass(void **state)
{
	struct world *w = *state;
	add_template(w);
	add_pool(w, 21, "");
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 100);
	assert_int_equal(count(w), 10);
	assert_int_equal(status_of(w, "replicas"), 10);
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 100);
	assert_int_equal(count(w), 20);
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(count(w), 21);
}

static void test_the_unready_and_then_the_youngest_go(void **state)
{
	struct world *w = *state;
	add_template(w);
	add_pool(w, 3, "");
	put_sandbox(w, "young", "2026-01-03T00:00:00Z", true);
	put_sandbox(w, "old", "2026-01-01T00:00:00Z", true);
	put_sandbox(w, "unready", "2025-01-01T00:00:00Z", false);
	put_sandbox(w, "middle", "2026-01-02T00:00:00Z", true);
	world_pass(w, KIND_POOL, "p");
	assert_int_equal(count(w), 3);
	assert_null(world_get(w, KIND_SANDBOX, "unready"));
	assert_int_equal(status_of(w, "replicas"), 3);
	assert_int_equal(status_of(w, "readyReplicas"), 3);
	world_change(w, KIND_POOL, "p", OBJECTS_MAIN, "{'spec':{'replicas':1}}");
	world_pass(w, KIND_POOL, "p");
	assert_int_equal(count(w), 1);
	assert_non_null(world_get(w, KIND_SANDBOX, "old"));
	assert_int_equal(status_of(w, "replicas"), 1);
	assert_int_equal(status_of(w, "readyReplicas"), 1);
	assert_int_equal(status_of(w, "observedGeneration"), 2);
	world_change(w, KIND_POOL, "p", OBJECTS_MAIN, "{'spec':{'replicas':0}}");
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(count(w), 0);
	assert_int_equal(status_of(w, "replicas"), -1);
	assert_int_equal(status_of(w, "readyReplicas"), -1);
}

static void test_others_are_left_alone(void **state)
{
	struct world *w = *state;
	add_template(w);
	struct store_object *pool = add_pool(w, 0, "");
	char uid[64];
	snprintf(uid, sizeof uid, "%s", pool->uid);
	world_put(w, KIND_SANDBOX, "{'metadata':{'name':'free','uid':'f'},'spec':{}}");
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'elsewhere','namespace':'other','uid':'e','ownerReferences':"
		"[{'uid':'%s','controller':true}]},'spec':{}}",
		uid);
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'going','uid':'g','deletionTimestamp':'2026-01-01T00:00:00Z',"
		"'finalizers':['x/y'],'ownerReferences':[{'uid':'%s','controller':true}]},'spec':{}}",
		uid);
	world_pass(w, KIND_POOL, "p");
	assert_int_equal(count(w), 3);
	assert_int_equal(status_of(w, "replicas"), -1);
}

static void change_template(struct world *w)
{
	world_change(w, KIND_TEMPLATE, "t", OBJECTS_MAIN,
		"{'spec':{'podTemplate':{'spec':{'containers':[{'name':'c','image':'other'}]}}}}");
}

static void test_recreate_replaces_what_is_outdated(void **state)
{
	struct world *w = *state;
	char old[2][80];
	add_template(w);
	add_pool(w, 2, ",'updateStrategy':{'type':'Recreate'}");
	world_pass(w, KIND_POOL, "p");
	for (size_t i = 0; i < 2; i++) {
		snprintf(old[i], sizeof old[i], "%s",
			store_at(w->server.store, KIND_SANDBOX, i)->name);
		make_ready(w, old[i]);
	}
	world_pass(w, KIND_POOL, "p");
	assert_non_null(world_get(w, KIND_SANDBOX, old[0])); /* the template is the same */
	assert_int_equal(status_of(w, "readyReplicas"), 2);
	change_template(w);
	world_pass(w, KIND_POOL, "p");
	assert_int_equal(count(w), 2);
	assert_null(world_get(w, KIND_SANDBOX, old[0]));
	assert_null(world_get(w, KIND_SANDBOX, old[1]));
	assert_int_equal(status_of(w, "replicas"), 2);
	assert_int_equal(status_of(w, "readyReplicas"), -1);
}

static void test_without_recreate_they_stay(void **state)
{
	struct world *w = *state;
	char old[80];
	add_template(w);
	add_pool(w, 1, ",'updateStrategy':{'type':'OnReplenish'}");
	world_pass(w, KIND_POOL, "p");
	snprintf(old, sizeof old, "%s", store_at(w->server.store, KIND_SANDBOX, 0)->name);
	change_template(w);
	world_pass(w, KIND_POOL, "p");
	assert_int_equal(count(w), 1);
	assert_non_null(world_get(w, KIND_SANDBOX, old));
}

static void test_without_a_template(void **state)
{
	struct world *w = *state;
	add_pool(w, 2, "");
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(count(w), 0);
	assert_int_equal(world_events(w, "p", "WarmPoolNotProgressing"), 1);
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(world_events(w, "p", "WarmPoolNotProgressing"), 2);
	assert_int_equal(store_count(w->server.store, KIND_EVENT), 1);
	assert_int_equal(status_of(w, "observedGeneration"), 1);
	assert_int_equal(status_of(w, "replicas"), -1);
}

static void test_a_pool_that_ends_makes_none(void **state)
{
	struct world *w = *state;
	add_template(w);
	add_pool(w, 2, "");
	world_delete(w, KIND_POOL, "p", OBJECTS_FOREGROUND);
	assert_int_equal(world_pass(w, KIND_POOL, "p"), 0);
	assert_int_equal(count(w), 0);
}

/* What goes already, is nobody's, or lives elsewhere does not fill a place. */
static void test_which_count(void **state)
{
	struct world *w = *state;
	add_template(w);
	const char *uid = add_pool(w, 1, "")->uid;
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'going','uid':'g','finalizers':['x/y'],'deletionTimestamp':"
		"'2026-01-01T00:00:00Z','ownerReferences':[{'uid':'%s','controller':true}]},'spec':{}}",
		uid);
	world_put(w, KIND_SANDBOX, "{'metadata':{'name':'free','uid':'f'},'spec':{}}");
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'far','namespace':'far','uid':'r','ownerReferences':[{'uid':'%s',"
		"'controller':true}]},'spec':{}}",
		uid);
	for (int pass = 0; pass < 2; pass++) {
		world_pass(w, KIND_POOL, "p");
		assert_int_equal(count(w), 4);
		assert_int_equal(status_of(w, "replicas"), 1);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_is_filled_and_counted),
		TEST(test_it_grows_by_ten_a_pass),
		TEST(test_the_unready_and_then_the_youngest_go),
		TEST(test_others_are_left_alone),
		TEST(test_recreate_replaces_what_is_outdated),
		TEST(test_without_recreate_they_stay),
		TEST(test_which_count),
		TEST(test_without_a_template),
		TEST(test_a_pool_that_ends_makes_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
