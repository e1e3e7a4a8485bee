// SPDX-License-Identifier: Apache-2.0
/* What a claim gets, what it is told, and when it ends. */
#include "tests/unit/local/server/world.h"

#include "engine/base/clock.h"

#define READY                                                                                  \
	"{'conditions':[{'type':'Ready',"                                                      \
	"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'True','reason':'DependenciesReady','message':'up'}]}"

static const char *ago(int64_t seconds)
{
	static char text[2][CLOCK_RFC3339_BYTES];
	static int turn;
	turn = !turn;
	return clock_format_rfc3339(clock_wall_ns() - seconds * 1000000000, 0, text[turn]);
}

static void add_pool(struct world *w)
{
	world_make(w, KIND_TEMPLATE,
		"{'metadata':{'name':'t'},'spec':{'envVarsInjectionPolicy':'Overrides',"
		"'podTemplate':{'metadata':{'labels':{'sandbox.users.io/kept':'yes'}},"
		"'spec':{'containers':[{'name':'c','image':'i'}]}}}}");
	world_make(w, KIND_POOL,
		"{'metadata':{'name':'p'},'spec':{'replicas':0,'sandboxTemplateRef':{'name':'t'}}}");
}

static struct store_object *add_claim(struct world *w, const char *more)
{
	return world_make(w, KIND_CLAIM,
		"{'metadata':{'name':'a'},'spec':{'warmPoolRef':{'name':'p'}%s}}", more);
}

static void put_warm(struct world *w, const char *name, const char *more, bool is_ready)
{
	world_put(w, KIND_SANDBOX,
		"{'metadata':{'name':'%s','uid':'uid-%s','labels':{'%s':'1','%s':'2','%s':'3'},"
		"'creationTimestamp':'2026-01-01T00:00:00Z','ownerReferences':"
		"[{'kind':'SandboxWarmPool','uid':'%s','name':'p',"
		"'apiVersion':'extensions.agents.x-k8s.io/v1beta1','controller':true}]%s},"
		"'spec':{'podTemplate':{'metadata':{'labels':{'sandbox.users.io/kept':'yes'}},'spec':"
		"{'containers':[{'name':'c','image':'i'}]}}},"
		"'status':{'podIPs':['10.0.0.1'],'conditions':[{'type':'Ready',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'%s',"
		"'reason':'DependenciesReady','message':'up'}]}}",
		name, name, LABEL_WARM_POOL, LABEL_TEMPLATE_HASH, LABEL_POD_TEMPLATE_HASH,
		world_get(w, KIND_POOL, "p")->uid, more, is_ready ? "True" : "False");
}

static const cJSON *claim(struct world *w)
{
	return world_get(w, KIND_CLAIM, "a")->json;
}

static const char *ready(struct world *w)
{
	return world_condition(w, KIND_CLAIM, "a", "Ready");
}

static void test_the_oldest_warm_one_is_adopted(void **state)
{
	struct world *w = *state;
	add_pool(w);
	put_warm(w, "z-first", "", true);
	put_warm(w, "a-second", "", true);
	put_warm(w, "m-third", "", true);
	struct store_object *o = add_claim(w, "");
	(void)o;
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("z-first", claim(w), "status", "sandbox", "name");
	assert_string_equal(ready(w), "True DependenciesReady up");
	assert_string_equal(
		controller_unstructured_annotation(claim(w), ANNOTATION_SANDBOX_NAME),
		"z-first");
	assert_non_null(
		controller_unstructured_annotation(claim(w), ANNOTATION_FIRST_OBSERVED));
	assert_non_null(controller_unstructured_annotation(claim(w), ANNOTATION_FIRST_READY));
	assert_int_equal(
		cJSON_GetArraySize(json_get(claim(w), "status", "sandbox", "podIPs", NULL)), 1);
	const cJSON *sandbox = world_get(w, KIND_SANDBOX, "z-first")->json;
	assert_true(controller_is_owned_by(sandbox, world_get(w, KIND_CLAIM, "a")->uid));
	assert_string_equal(controller_unstructured_label(sandbox, LABEL_CLAIM_UID),
		world_get(w, KIND_CLAIM, "a")->uid);
	assert_string_equal(controller_unstructured_label(sandbox, LABEL_LAUNCH_TYPE), "warm");
	assert_string_equal(
		controller_unstructured_label(sandbox, LABEL_CREATED_BY), "controller");
	assert_null(controller_unstructured_label(sandbox, LABEL_WARM_POOL));
	assert_null(controller_unstructured_label(sandbox, LABEL_TEMPLATE_HASH));
	assert_null(controller_unstructured_label(sandbox, LABEL_POD_TEMPLATE_HASH));
	assert_int_equal(world_events(w, "a", "SandboxAdopted"), 1);
	assert_non_null(controller_unstructured_label(
		world_get(w, KIND_SANDBOX, "a-second")->json, LABEL_WARM_POOL));
	/* another pass changes nothing */
	int64_t rv = world_get(w, KIND_CLAIM, "a")->rv;
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_int_equal(world_get(w, KIND_CLAIM, "a")->rv, rv);
}

static void test_what_is_not_adopted(void **state)
{
	struct world *w = *state;
	add_pool(w);
	put_warm(w, "going", ",'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['a/b']",
		true);
	put_warm(w, "foreign", ",'namespace':'other'", true);
	put_warm(w, "claimed", "", true);
	world_change(w, KIND_SANDBOX, "claimed", OBJECTS_MAIN,
		"{'metadata':{'labels':{'%s':null}}}", LABEL_WARM_POOL);
	put_warm(w, "of-another-pool", "", true);
	world_change(w, KIND_SANDBOX, "of-another-pool", OBJECTS_MAIN,
		"{'metadata':{'ownerReferences':[{'kind':'SandboxWarmPool','uid':'other','name':'p',"
		"'apiVersion':'extensions.agents.x-k8s.io/v1beta1','controller':true}]}}");
	add_claim(w, "");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("a", claim(w), "status", "sandbox", "name");
	assert_string_equal(controller_unstructured_label(
				    world_get(w, KIND_SANDBOX, "a")->json, LABEL_LAUNCH_TYPE),
		"cold");
	assert_int_equal(world_events(w, "a", "SandboxProvisioned"), 1);
	assert_string_equal(ready(w), "False SandboxNotReady Sandbox is not ready");
	assert_null(controller_unstructured_annotation(claim(w), ANNOTATION_FIRST_READY));
}

static void test_it_waits_for_one_that_is_coming_but_not_for_ever(void **state)
{
	struct world *w = *state;
	add_pool(w);
	put_warm(w, "coming", "", false);
	add_claim(w, "");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 500);
	assert_null(json_get(claim(w), "status", NULL));
	assert_null(world_get(w, KIND_SANDBOX, "a"));
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'metadata':{'annotations':{'%s':'%s'}}}", ANNOTATION_FIRST_OBSERVED, ago(60));
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_non_null(world_get(w, KIND_SANDBOX, "a"));
}

static void test_wishes_make_it_cold(void **state)
{
	struct world *w = *state;
	add_pool(w);
	put_warm(w, "warm", "", true);
	add_claim(w, ",'env':[{'name':'COLOUR','value':'red'}]");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("a", claim(w), "status", "sandbox", "name");
	const cJSON *spec = json_get(
		world_get(w, KIND_SANDBOX, "a")->json, "spec", "podTemplate", "spec", NULL);
	const cJSON *env = json_get(json_get(spec, "containers", NULL)->child, "env", NULL);
	assert_str("red", env->child, "value");
}

static void test_reasons(void **state)
{
	struct world *w = *state;
	add_claim(w, "");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 60000);
	assert_string_equal(ready(w), "False WarmPoolNotFound SandboxWarmPool \"p\" not found");
	assert_true(cJSON_IsObject(json_get(claim(w), "status", "sandbox", NULL)));
	world_make(w, KIND_POOL,
		"{'metadata':{'name':'p'},'spec':{'replicas':0,'sandboxTemplateRef':{'name':'t'}}}");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 60000);
	assert_string_equal(ready(w), "False TemplateNotFound SandboxTemplate \"t\" not found");
	world_make(w, KIND_TEMPLATE,
		"{'metadata':{'name':'t'},'spec':{'podTemplate':{'spec':{'containers':[{'name':'c'}]}}}}");
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'spec':{'env':[{'name':'A','value':'b'}]}}");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_memory_equal(ready(w), "False EnvVarsInjectionRejected", 30);
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN, "{'spec':{'env':null}}");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("a", claim(w), "status", "sandbox", "name");
}

static void test_a_pool_that_ends_is_none(void **state)
{
	struct world *w = *state;
	add_pool(w);
	world_delete(w, KIND_POOL, "p", OBJECTS_FOREGROUND);
	add_claim(w, "");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 60000);
	assert_memory_equal(ready(w), "False WarmPoolNotFound", 22);
}

static void test_a_conflict_is_tried_again(void **state)
{
	struct world *w = *state;
	add_pool(w);
	put_warm(w, "warm", "", true);
	add_claim(w, ",'additionalPodMetadata':{'labels':{'sandbox.users.io/kept':'no'}}");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 5000);
	assert_string_equal(ready(w),
		"False ReconcilerError Error seen: metadata override conflict for key "
		"\"sandbox.users.io/kept\"");
	assert_null(world_get(w, KIND_SANDBOX, "a"));
	assert_false(controller_is_owned_by(
		world_get(w, KIND_SANDBOX, "warm")->json, world_get(w, KIND_CLAIM, "a")->uid));
}

static void test_a_taken_name_is_tried_again(void **state)
{
	struct world *w = *state;
	add_pool(w);
	world_make(w, KIND_SANDBOX,
		"{'metadata':{'name':'a'},'spec':{'podTemplate':{'spec':{'containers':[{'name':'c'}]}}}}");
	add_claim(w, "");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 5000);
	assert_memory_equal(ready(w), "False ReconcilerError Error seen: ", 34);
}

static void bind(struct world *w, const char *more)
{
	add_pool(w);
	put_warm(w, "warm", "", true);
	add_claim(w, more);
	world_pass(w, KIND_CLAIM, "a");
	assert_str("warm", claim(w), "status", "sandbox", "name");
}

static void test_it_finds_its_sandbox_again(void **state)
{
	struct world *w = *state;
	bind(w, "");
	/* by the annotation, when the status was lost */
	world_change(w, KIND_CLAIM, "a", OBJECTS_STATUS, "{'sandbox':{'name':null}}");
	put_warm(w, "other", "", true);
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("warm", claim(w), "status", "sandbox", "name");
	/* by the owner alone */
	world_change(w, KIND_CLAIM, "a", OBJECTS_STATUS, "{'sandbox':{'name':null}}");
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'metadata':{'annotations':{'%s':null}}}", ANNOTATION_SANDBOX_NAME);
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("warm", claim(w), "status", "sandbox", "name");
	assert_string_equal(
		controller_unstructured_annotation(claim(w), ANNOTATION_SANDBOX_NAME), "warm");
	/* when it is gone another one is taken, and the annotation follows */
	world_remove(w, KIND_SANDBOX, "warm");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_str("other", claim(w), "status", "sandbox", "name");
	assert_string_equal(
		controller_unstructured_annotation(claim(w), ANNOTATION_SANDBOX_NAME), "other");
}

static void test_the_state_of_the_sandbox_is_forwarded(void **state)
{
	struct world *w = *state;
	bind(w, "");
	char first[64];
	snprintf(first, sizeof first, "%s",
		controller_unstructured_annotation(claim(w), ANNOTATION_FIRST_READY));
	world_change(w, KIND_SANDBOX, "warm", OBJECTS_STATUS,
		"{'podIPs':null,'conditions':[{'type':'Ready',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'False','reason':'PodFailed',"
		"'message':'Pod failed'},{'type':'Finished','status':'True','reason':'PodFailed',"
		"'message':'Pod failed','lastTransitionTime':'2026-01-01T00:00:00Z'}]}");
	world_pass(w, KIND_CLAIM, "a");
	assert_string_equal(ready(w), "False PodFailed Pod failed");
	assert_string_equal(
		world_condition(w, KIND_CLAIM, "a", "Finished"), "True PodFailed Pod failed");
	assert_null(json_get(claim(w), "status", "sandbox", "podIPs", NULL));
	world_change(w, KIND_SANDBOX, "warm", OBJECTS_STATUS,
		"{'conditions':[{'type':'Ready',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'False','reason':'SandboxExpired',"
		"'message':'x'}]}");
	world_pass(w, KIND_CLAIM, "a");
	assert_string_equal(ready(w),
		"False SandboxExpired Underlying Sandbox resource has expired independently of the "
		"Claim.");
	world_change(w, KIND_SANDBOX, "warm", OBJECTS_STATUS, READY);
	world_pass(w, KIND_CLAIM, "a");
	assert_string_equal(ready(w), "True DependenciesReady up");
	assert_string_equal(
		controller_unstructured_annotation(claim(w), ANNOTATION_FIRST_READY), first);
}

/* --- ends --- */

static void test_when_it_looks_again(void **state)
{
	struct world *w = *state;
	char more[128];
	snprintf(more, sizeof more, ",'lifecycle':{'shutdownTime':'%s'}", ago(-100));
	bind(w, more);
	int64_t again = world_pass(w, KIND_CLAIM, "a");
	assert_true(again > 90000 && again <= 100002);
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'spec':{'lifecycle':{'shutdownTime':'%s'}}}", ago(-90000));
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 3600000);
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN, "{'spec':{'lifecycle':null}}");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
}

static void test_an_end_comes_also_without_a_sandbox(void **state)
{
	struct world *w = *state;
	char more[200];
	snprintf(more, sizeof more, ",'lifecycle':{'shutdownTime':'%s'}", ago(-30));
	add_claim(w, more);
	int64_t again = world_pass(w, KIND_CLAIM, "a");
	assert_true(again > 20000 && again <= 30001);
	add_pool(w);
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'spec':{'additionalPodMetadata':{'labels':{'nope':'x'}}}}");
	again = world_pass(w, KIND_CLAIM, "a");
	assert_memory_equal(ready(w), "False InvalidMetadata", 21);
	assert_true(again > 20000 && again <= 30001);
}

static void expire(struct world *w, const char *policy)
{
	bind(w, "");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'spec':{'lifecycle':{'shutdownTime':'%s','shutdownPolicy':'%s'}}}", ago(1),
		policy);
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
}

static void test_retain(void **state)
{
	struct world *w = *state;
	expire(w, "Retain");
	assert_string_equal(
		ready(w), "False ClaimExpired Claim expired. Sandbox cleanup initiated.");
	assert_null(json_get(claim(w), "status", "sandbox", "name", NULL));
	assert_null(world_get(w, KIND_SANDBOX, "warm"));
	assert_int_equal(world_events(w, "a", "ClaimExpired"), 1);
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_int_equal(world_events(w, "a", "ClaimExpired"), 1);
}

static void test_delete(void **state)
{
	struct world *w = *state;
	expire(w, "Delete");
	assert_null(world_get(w, KIND_CLAIM, "a"));
	world_collect_garbage(w);
	assert_null(world_get(w, KIND_SANDBOX, "warm"));
}

static void test_delete_foreground(void **state)
{
	struct world *w = *state;
	expire(w, "DeleteForeground");
	assert_non_null(world_get(w, KIND_CLAIM, "a"));
	assert_true(store_objects_is_terminating(world_get(w, KIND_CLAIM, "a")));
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	world_collect_garbage(w);
	assert_null(world_get(w, KIND_SANDBOX, "warm"));
	assert_null(world_get(w, KIND_CLAIM, "a"));
}

static void test_ttl_counts_from_the_end(void **state)
{
	struct world *w = *state;
	bind(w, ",'lifecycle':{'ttlSecondsAfterFinished':100,'shutdownPolicy':'Delete'}");
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	world_change(w, KIND_SANDBOX, "warm", OBJECTS_STATUS,
		"{'conditions':[{'type':'Ready',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z','status':'False','reason':'PodSucceeded','message':"
		"'m'},{'type':'Finished','status':'True','reason':'PodSucceeded','message':'m',"
		"'lastTransitionTime':'%s'}]}",
		ago(40));
	int64_t again = world_pass(w, KIND_CLAIM, "a");
	assert_true(again > 50000 && again <= 60002);
	/* the earlier of the two counts */
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'spec':{'lifecycle':{'shutdownTime':'%s'}}}", ago(-20));
	again = world_pass(w, KIND_CLAIM, "a");
	assert_true(again > 10000 && again <= 20002);
	world_change(w, KIND_CLAIM, "a", OBJECTS_MAIN,
		"{'spec':{'lifecycle':{'shutdownTime':'%s','ttlSecondsAfterFinished':39}}}",
		ago(-2000));
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_null(world_get(w, KIND_CLAIM, "a"));
}

static void test_ttl_of_zero_ends_at_once(void **state)
{
	struct world *w = *state;
	bind(w, ",'lifecycle':{'ttlSecondsAfterFinished':0,'shutdownPolicy':'Delete'}");
	assert_non_null(world_get(w, KIND_CLAIM, "a"));
	world_change(w, KIND_CLAIM, "a", OBJECTS_STATUS,
		"{'conditions':[{'type':'Finished','status':'True','reason':'r','message':'m',"
		"'lastTransitionTime':'%s'}]}",
		ago(5));
	assert_int_equal(world_pass(w, KIND_CLAIM, "a"), 0);
	assert_null(world_get(w, KIND_CLAIM, "a"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_oldest_warm_one_is_adopted),
		TEST(test_what_is_not_adopted),
		TEST(test_it_waits_for_one_that_is_coming_but_not_for_ever),
		TEST(test_wishes_make_it_cold),
		TEST(test_reasons),
		TEST(test_a_pool_that_ends_is_none),
		TEST(test_a_conflict_is_tried_again),
		TEST(test_a_taken_name_is_tried_again),
		TEST(test_it_finds_its_sandbox_again),
		TEST(test_the_state_of_the_sandbox_is_forwarded),
		TEST(test_when_it_looks_again),
		TEST(test_an_end_comes_also_without_a_sandbox),
		TEST(test_retain),
		TEST(test_delete),
		TEST(test_delete_foreground),
		TEST(test_ttl_counts_from_the_end),
		TEST(test_ttl_of_zero_ends_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
