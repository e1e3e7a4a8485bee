// SPDX-License-Identifier: Apache-2.0
/* Owners and dependents, namespaces that end, and events that add up. */
#include "tests/unit/local/server/world.h"

#include "engine/base/clock.h"

static void lease(struct world *w, const char *name, const char *owners)
{
	world_put(w, KIND_LEASE,
		"{'metadata':{'name':'%s','uid':'uid-%s','ownerReferences':[%s]},'spec':{}}",
		name, name, owners);
}

#define OWNED_BY(name)                                                                         \
	"{'uid':'uid-" name "','name':'" name "','kind':'Lease',"                              \
	"'apiVersion':'coordination.k8s.io/v1'}"

static struct store_object *get(struct world *w, const char *name)
{
	return world_get(w, KIND_LEASE, name);
}

static void test_dependents_go_with_the_owner(void **state)
{
	struct world *w = *state;
	lease(w, "root", "");
	lease(w, "child", OWNED_BY("root"));
	lease(w, "grandchild", OWNED_BY("child"));
	lease(w, "stranger", "");
	world_collect_garbage(w);
	assert_int_equal(store_count(w->server.store, KIND_LEASE), 4);
	world_delete(w, KIND_LEASE, "root", OBJECTS_BACKGROUND);
	world_collect_garbage(w);
	assert_null(get(w, "child"));
	assert_null(get(w, "grandchild"));
	assert_non_null(get(w, "stranger"));
}

static void test_one_living_owner_is_enough(void **state)
{
	struct world *w = *state;
	lease(w, "one", "");
	lease(w, "two", "");
	lease(w, "child", OWNED_BY("one") "," OWNED_BY("two"));
	world_delete(w, KIND_LEASE, "one", OBJECTS_BACKGROUND);
	world_collect_garbage(w);
	const cJSON *refs =
		json_get(get(w, "child")->json, "metadata", "ownerReferences", NULL);
	assert_int_equal(cJSON_GetArraySize(refs), 1);
	assert_str("uid-two", refs->child, "uid");
	world_delete(w, KIND_LEASE, "two", OBJECTS_BACKGROUND);
	world_collect_garbage(w);
	assert_null(get(w, "child"));
}

static void test_foreground_waits_for_the_dependents(void **state)
{
	struct world *w = *state;
	lease(w, "root", "");
	lease(w, "child", OWNED_BY("root"));
	world_change(
		w, KIND_LEASE, "child", OBJECTS_MAIN, "{'metadata':{'finalizers':['a/b']}}");
	world_delete(w, KIND_LEASE, "root", OBJECTS_FOREGROUND);
	world_collect_garbage(w);
	assert_non_null(get(w, "root"));
	assert_true(store_objects_is_terminating(get(w, "root")));
	assert_true(store_objects_is_terminating(get(w, "child")));
	world_change(w, KIND_LEASE, "child", OBJECTS_MAIN, "{'metadata':{'finalizers':null}}");
	assert_null(get(w, "child"));
	world_collect_garbage(w);
	assert_null(get(w, "root"));
}

static void test_orphans_stay(void **state)
{
	struct world *w = *state;
	lease(w, "root", "");
	lease(w, "child", OWNED_BY("root"));
	world_delete(w, KIND_LEASE, "root", OBJECTS_ORPHAN);
	world_collect_garbage(w);
	assert_null(get(w, "root"));
	assert_non_null(get(w, "child"));
	assert_null(json_get(get(w, "child")->json, "metadata", "ownerReferences", NULL));
}

static void test_what_is_terminating_for_other_reasons_keeps_its_dependents(void **state)
{
	struct world *w = *state;
	lease(w, "root", "");
	lease(w, "child", OWNED_BY("root"));
	world_change(
		w, KIND_LEASE, "root", OBJECTS_MAIN, "{'metadata':{'finalizers':['a/b']}}");
	world_delete(w, KIND_LEASE, "root", OBJECTS_BACKGROUND);
	world_collect_garbage(w);
	assert_non_null(get(w, "child"));
	assert_false(store_objects_is_terminating(get(w, "child")));
}

static void test_what_lost_its_owner_while_we_were_away(void **state)
{
	struct world *w = *state;
	lease(w, "root", "");
	lease(w, "kept", OWNED_BY("root"));
	lease(w, "lost", OWNED_BY("nobody"));
	lease(w, "ending", "");
	world_change(w, KIND_LEASE, "ending", OBJECTS_MAIN,
		"{'metadata':{'finalizers':['foregroundDeletion']}}");
	world_delete(w, KIND_LEASE, "ending", OBJECTS_BACKGROUND);
	manager_gc_close(w->c); /* as if it had not been seen */
	assert_null(w->c->gc);
	manager_gc_scan(w->c);
	world_collect_garbage(w);
	assert_null(get(w, "lost"));
	assert_null(get(w, "ending"));
	assert_non_null(get(w, "kept"));
	assert_non_null(get(w, "root"));
}

static void test_more_than_one_round(void **state)
{
	struct world *w = *state;
	char name[32];
	lease(w, "root", "");
	for (int i = 0; i < 70; i++) {
		snprintf(name, sizeof name, "child-%d", i);
		lease(w, name, OWNED_BY("root"));
	}
	world_delete(w, KIND_LEASE, "root", OBJECTS_BACKGROUND);
	assert_true(manager_gc_run(w->c));
	assert_int_equal(store_count(w->server.store, KIND_LEASE), 0);
	assert_non_null(w->c->gc); /* 71 went, 32 a round are looked after */
	world_collect_garbage(w);
}

static void test_a_namespace_is_emptied(void **state)
{
	struct world *w = *state;
	world_make(w, KIND_NAMESPACE, "{'metadata':{'name':'n'}}");
	assert_int_equal(world_pass(w, KIND_NAMESPACE, "n"), 0);
	world_put(
		w, KIND_LEASE, "{'metadata':{'name':'x','namespace':'n','uid':'x'},'spec':{}}");
	world_put(w, KIND_LEASE,
		"{'metadata':{'name':'held','namespace':'n','uid':'h','finalizers':['a/b']},"
		"'spec':{}}");
	lease(w, "outside", "");
	world_delete(w, KIND_NAMESPACE, "n", OBJECTS_BACKGROUND);
	assert_str("Terminating", world_get(w, KIND_NAMESPACE, "n")->json, "status", "phase");
	assert_int_equal(world_pass(w, KIND_NAMESPACE, "n"), 1000);
	assert_null(store_get(w->server.store, KIND_LEASE, "n", "x"));
	struct store_object *held = store_get(w->server.store, KIND_LEASE, "n", "held");
	assert_true(store_objects_is_terminating(held));
	assert_true(store_remove(w->server.store, held, NULL));
	assert_int_equal(world_pass(w, KIND_NAMESPACE, "n"), 0);
	assert_null(world_get(w, KIND_NAMESPACE, "n"));
	assert_non_null(get(w, "outside"));
}

/* --- events --- */

static void test_the_same_event_adds_up(void **state)
{
	struct world *w = *state;
	lease(w, "a", "");
	for (int i = 0; i < 3; i++)
		controller_events_record(
			w->c, get(w, "a"), EVENT_WARNING, "Broken", "Act", "for the %s", "day");
	controller_events_record(
		w->c, get(w, "a"), EVENT_NORMAL, "Broken", "Act", "for the %s", "night");
	assert_int_equal(store_count(w->server.store, KIND_EVENT), 2);
	assert_int_equal(world_events(w, "a", "Broken"), 4);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *e = store_at(w->server.store, KIND_EVENT, i)->json;
		bool is_day = strcmp(json_str(e, "message", NULL), "for the day") == 0;
		assert_int_equal(json_int(e, 0, "count", NULL), is_day ? 3 : 1);
		assert_str(is_day ? "Warning" : "Normal", e, "type");
		assert_int_equal(json_int(e, 0, "series", "count", NULL), is_day ? 3 : 0);
		assert_str("uid-a", e, "involvedObject", "uid");
		assert_str("Lease", e, "involvedObject", "kind");
		assert_str("default", e, "involvedObject", "namespace");
		assert_str("Act", e, "action");
	}
}

static void put_event(struct world *w, int i, int64_t age_s, const char *field)
{
	char date[CLOCK_RFC3339_BYTES];
	clock_format_rfc3339(clock_wall_ns() - age_s * 1000000000, 0, date);
	world_put(w, KIND_EVENT,
		"{'metadata':{'name':'e%d','uid':'e%d','creationTimestamp':'2020-01-01T00:00:00Z'},"
		"%s'%s'%s}",
		i, i, field, date, strchr(field, '{') ? "}" : "");
}

static void test_events_are_forgotten_after_an_hour(void **state)
{
	struct world *w = *state;
	put_event(w, 1, 3500, "'lastTimestamp':");
	put_event(w, 2, 3700, "'lastTimestamp':");
	put_event(w, 3, 3500, "'series':{'lastObservedTime':");
	put_event(w, 4, 3700, "'series':{'lastObservedTime':");
	world_put(w, KIND_EVENT,
		"{'metadata':{'name':'e5','uid':'e5','creationTimestamp':'2020-01-01T00:00:00Z'}}");
	controller_events_prune(w->c);
	assert_non_null(world_get(w, KIND_EVENT, "e1"));
	assert_null(world_get(w, KIND_EVENT, "e2"));
	assert_non_null(world_get(w, KIND_EVENT, "e3"));
	assert_null(world_get(w, KIND_EVENT, "e4"));
	assert_null(world_get(w, KIND_EVENT, "e5"));
}

static void test_not_more_than_5000_events(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 5000; i++)
		put_event(w, i, 3000 - i / 2, "'lastTimestamp':");
	lease(w, "a", "");
	controller_events_prune(w->c);
	assert_int_equal(store_count(w->server.store, KIND_EVENT), 5000);
	controller_events_record(w->c, get(w, "a"), EVENT_NORMAL, "Last", "Act", "x");
	assert_int_equal(store_count(w->server.store, KIND_EVENT), 4500);
	assert_int_equal(world_events(w, "a", "Last"), 1); /* the oldest went */
	assert_null(world_get(w, KIND_EVENT, "e0"));
	assert_non_null(world_get(w, KIND_EVENT, "e4999"));
}

/* --- conditions --- */

static void test_a_condition_keeps_the_time_of_its_change(void **state)
{
	(void)state;
	cJSON *o = world_json("{'status':{}}");
	cJSON *status = controller_unstructured_object(o, "status");
	controller_condition_set(status, "Ready", "False", "R", "m", 0);
	assert_false(k8s_condition_is_true(o, "Ready"));
	cJSON *c =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(status, "conditions"), 0);
	assert_null(json_get(c, "observedGeneration", NULL));
	controller_unstructured_set(c, "lastTransitionTime", "then");
	controller_condition_set(status, "Ready", "False", "Other", "n", 7);
	assert_str("then", c, "lastTransitionTime");
	assert_str("Other", c, "reason");
	assert_int_equal(json_int(c, 0, "observedGeneration", NULL), 7);
	controller_condition_set(status, "Ready", "True", "Up", "n", 8);
	assert_string_not_equal(json_str(c, "lastTransitionTime", NULL), "then");
	assert_true(k8s_condition_is_true(o, "Ready"));
	controller_condition_set(status, "Other", "True", "Up", "n", 8);
	controller_condition_drop(status, "Ready");
	assert_null(k8s_condition_find(o, "Ready"));
	assert_non_null(k8s_condition_find(o, "Other"));
	cJSON_Delete(o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dependents_go_with_the_owner),
		TEST(test_one_living_owner_is_enough),
		TEST(test_foreground_waits_for_the_dependents),
		TEST(test_orphans_stay),
		TEST(test_what_is_terminating_for_other_reasons_keeps_its_dependents),
		TEST(test_what_lost_its_owner_while_we_were_away),
		TEST(test_more_than_one_round),
		TEST(test_a_namespace_is_emptied),
		TEST(test_the_same_event_adds_up),
		TEST(test_events_are_forgotten_after_an_hour),
		TEST(test_not_more_than_5000_events),
		TEST(test_a_condition_keeps_the_time_of_its_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
