// SPDX-License-Identifier: Apache-2.0
/* The Sandbox controller: what it makes, and what it says about what it sees. */
#include "tests/unit/local/server/world.h"

#include "engine/base/clock.h"

static const char *ago(int64_t seconds)
{
	static char text[CLOCK_RFC3339_BYTES];
	return clock_format_rfc3339(clock_wall_ns() - seconds * 1000000000, 0, text);
}

/* spec: more of it, or "". */
static void add(struct world *w, const char *spec)
{
	world_make(w, KIND_SANDBOX,
		"{'metadata':{'name':'s'},'spec':{'podTemplate':{'metadata':{'labels':{'a':'1'},"
		"'annotations':{'b':'2','c':'3'}},'spec':{'containers':[{'name':'c','image':'i',"
		"'ports':[{'name':'rest','containerPort':8080}]}]}}%s}}",
		spec);
}

static const cJSON *sandbox(struct world *w)
{
	return world_get(w, KIND_SANDBOX, "s")->json;
}

static const cJSON *pod(struct world *w)
{
	struct store_object *o = world_get(w, KIND_POD, "s");
	return o ? o->json : NULL;
}

static const char *ready(struct world *w)
{
	return world_condition(w, KIND_SANDBOX, "s", "Ready");
}

static void set_pod(struct world *w, const char *phase, const char *is_ready, const char *ip)
{
	world_change(w, KIND_POD, "s", OBJECTS_STATUS,
		"{'phase':'%s','podIP':%s,'podIPs':%s%s%s,'conditions':["
		"{'type':'PodScheduled','status':'True','reason':'r','message':'m',"
		"'lastTransitionTime':'2026-01-01T00:00:00Z'},"
		"{'type':'Ready','status':'%s','lastTransitionTime':'2026-01-01T00:00:00Z'}]}",
		phase, ip, *ip == 'n' ? "null" : "[{'ip':", *ip == 'n' ? "" : ip,
		*ip == 'n' ? "" : "}]", is_ready);
}

static void test_what_is_made(void **state)
{
	struct world *w = *state;
	add(w, "");
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	assert_non_null(pod(w));
	assert_true(controller_is_owned_by(pod(w), world_get(w, KIND_SANDBOX, "s")->uid));
	assert_string_equal(controller_unstructured_label(pod(w), "a"), "1");
	assert_string_equal(controller_unstructured_annotation(pod(w), "c"), "3");
	assert_string_equal(
		controller_unstructured_annotation(pod(w), ANNOTATION_PROPAGATED_LABELS), "a");
	assert_string_equal(
		controller_unstructured_annotation(pod(w), ANNOTATION_PROPAGATED_ANNOTATIONS),
		"b,c");
	assert_null(controller_unstructured_annotation(
		pod(w), "cluster-autoscaler.kubernetes.io/safe-to-evict"));
	assert_str("sandmux-local", pod(w), "spec", "nodeName");
	assert_str("Always", pod(w), "spec", "restartPolicy");
	assert_null(json_get(pod(w), "spec", "volumes", NULL));
	assert_string_equal(
		ready(w), "False DependenciesNotReady Pod exists with phase: Pending");
	char hash[HASH8_BYTES], selector[100];
	snprintf(selector, sizeof selector, LABEL_NAME_HASH "=%s", controller_hash8("s", hash));
	assert_str(selector, sandbox(w), "status", "selector");
	assert_string_equal(controller_unstructured_label(pod(w), LABEL_NAME_HASH), hash);
	int64_t rv = store_revision(w->server.store);
	world_pass(w, KIND_SANDBOX, "s");
	assert_int_equal(store_revision(w->server.store), rv);
}

static void test_volumes_and_service(void **state)
{
	struct world *w = *state;
	add(w, ",'service':true,'volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':"
	       "{'resources':{'requests':{'storage':'1Gi'}}}},{'metadata':{'name':'more'},"
	       "'spec':{}}]");
	world_pass(w, KIND_SANDBOX, "s");
	const cJSON *pvc = world_get(w, KIND_PVC, "data-s")->json;
	assert_str("Bound", pvc, "status", "phase");
	assert_str("1Gi", pvc, "status", "capacity", "storage");
	assert_true(controller_is_owned_by(pvc, world_get(w, KIND_SANDBOX, "s")->uid));
	assert_null(
		json_get(world_get(w, KIND_PVC, "more-s")->json, "status", "capacity", NULL));
	const cJSON *volumes = json_get(pod(w), "spec", "volumes", NULL);
	assert_int_equal(cJSON_GetArraySize(volumes), 2);
	assert_str("data", volumes->child, "name");
	assert_str("data-s", volumes->child, "persistentVolumeClaim", "claimName");
	const cJSON *service = world_get(w, KIND_SERVICE, "s")->json;
	assert_str("None", service, "spec", "clusterIP");
	assert_int_equal(
		json_int(json_get(service, "spec", "ports", NULL)->child, 0, "port", NULL),
		8080);
	assert_str("s", sandbox(w), "status", "service");
	assert_str("s.default.svc.cluster.local", sandbox(w), "status", "serviceFQDN");
	set_pod(w, "Running", "True", "'10.0.0.9'");
	world_pass(w, KIND_SANDBOX, "s");
	assert_string_equal(ready(w), "True DependenciesReady Pod is Ready; Service Exists");
	/* the service goes when it is no longer wanted */
	world_change(w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'service':false}}");
	world_pass(w, KIND_SANDBOX, "s");
	assert_null(world_get(w, KIND_SERVICE, "s"));
	assert_null(json_get(sandbox(w), "status", "service", NULL));
	assert_null(json_get(sandbox(w), "status", "serviceFQDN", NULL));
	assert_string_equal(ready(w), "True DependenciesReady Pod is Ready");
}

static void test_what_is_said_of_the_pod(void **state)
{
	static const struct {
		const char *phase, *is_ready, *ip, *condition;
		bool has_address, is_finished;
	} rows[] = {
		{ "Pending", "False", "null",
			"False DependenciesNotReady Pod exists with phase: Pending", false,
			false },
		{ "Pending", "True", "'10.0.0.1'",
			"False DependenciesNotReady Pod exists with phase: Pending", true,
			false },
		{ "Running", "False", "'10.0.0.1'",
			"False DependenciesNotReady Pod is Running but not Ready", true,
			false },
		{ "Running", "True", "null",
			"False DependenciesNotReady Pod is Ready but has no podIPs yet", false,
			false },
		{ "Running", "True", "'10.0.0.1'", "True DependenciesReady Pod is Ready", true,
			false },
		{ "Failed", "False", "'10.0.0.1'", "False PodFailed Pod failed", false, true },
		{ "Succeeded", "False", "'10.0.0.1'", "False PodSucceeded Pod succeeded", false,
			true },
		{ "Running", "True", "'10.0.0.1'", "True DependenciesReady Pod is Ready", true,
			false },
	};
	struct world *w = *state;
	add(w, "");
	world_pass(w, KIND_SANDBOX, "s");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		set_pod(w, rows[i].phase, rows[i].is_ready, rows[i].ip);
		assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
		assert_string_equal(ready(w), rows[i].condition);
		const cJSON *ips = json_get(sandbox(w), "status", "podIPs", NULL);
		assert_int_equal(cJSON_GetArraySize(ips), rows[i].has_address);
		assert_str(rows[i].has_address ? "sandmux-local" : NULL, sandbox(w), "status",
			"nodeName");
		const char *finished = world_condition(w, KIND_SANDBOX, "s", "Finished");
		assert_int_equal(*finished != '\0', rows[i].is_finished);
		assert_non_null(k8s_condition_find(sandbox(w), "PodScheduled"));
	}
	world_remove(w, KIND_POD, "s");
	world_pass(w, KIND_SANDBOX, "s");
	assert_string_equal(
		ready(w), "False DependenciesNotReady Pod exists with phase: Pending");
	assert_null(k8s_condition_find(sandbox(w), "PodScheduled"));
}

static void test_a_pod_that_ends_is_not_ready(void **state)
{
	struct world *w = *state;
	add(w, "");
	world_pass(w, KIND_SANDBOX, "s");
	set_pod(w, "Running", "True", "'10.0.0.1'");
	world_delete(w, KIND_POD, "s", OBJECTS_BACKGROUND);
	world_pass(w, KIND_SANDBOX, "s");
	assert_string_equal(
		ready(w), "False DependenciesNotReady Pod exists with phase: Running");
}

static void test_suspend_and_resume(void **state)
{
	struct world *w = *state;
	add(w, ",'service':true");
	world_pass(w, KIND_SANDBOX, "s");
	set_pod(w, "Running", "True", "'10.0.0.1'");
	world_pass(w, KIND_SANDBOX, "s");
	assert_string_equal(world_condition(w, KIND_SANDBOX, "s", "Suspended"),
		"False NotSuspended Sandbox is not suspended");
	world_change(
		w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'operatingMode':'Suspended'}}");
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	assert_true(store_objects_is_terminating(world_get(w, KIND_POD, "s")));
	assert_string_equal(ready(w), "False SandboxSuspended Sandbox is suspending");
	assert_string_equal(world_condition(w, KIND_SANDBOX, "s", "Suspended"),
		"False PodTerminating Pod is being terminated");
	assert_null(json_get(sandbox(w), "status", "podIPs", NULL));
	assert_non_null(world_get(w, KIND_SERVICE, "s"));
	assert_int_equal(json_int(k8s_condition_find(sandbox(w), "Ready"), 0,
				 "observedGeneration", NULL),
		2);
	world_remove(w, KIND_POD, "s");
	world_pass(w, KIND_SANDBOX, "s");
	assert_null(pod(w));
	assert_string_equal(ready(w), "False SandboxSuspended Sandbox is suspended");
	assert_string_equal(world_condition(w, KIND_SANDBOX, "s", "Suspended"),
		"True PodTerminated Pod has been terminated");
	world_change(
		w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'operatingMode':'Running'}}");
	world_pass(w, KIND_SANDBOX, "s");
	assert_non_null(pod(w));
}

static void test_expiry(void **state)
{
	struct world *w = *state;
	char spec[200];
	snprintf(spec, sizeof spec, ",'service':true,'shutdownTime':'%s'", ago(-100));
	add(w, spec);
	int64_t again = world_pass(w, KIND_SANDBOX, "s");
	assert_true(again > 90000 && again <= 100001);
	world_change(w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'shutdownTime':'%s'}}",
		ago(-9000));
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 3600000);
	world_change(
		w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'shutdownTime':'%s'}}", ago(2));
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	assert_string_equal(ready(w), "False SandboxExpired Sandbox has expired");
	assert_true(store_objects_is_terminating(world_get(w, KIND_POD, "s")));
	assert_null(world_get(w, KIND_SERVICE, "s"));
	world_change(
		w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'shutdownPolicy':'Delete'}}");
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	assert_null(world_get(w, KIND_SANDBOX, "s"));
}

static void test_a_stranger_with_the_name(void **state)
{
	struct world *w = *state;
	world_put(w, KIND_POD,
		"{'metadata':{'name':'s','uid':'u'},'spec':{'containers':[{'name':'c'}]}}");
	add(w, "");
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 5000);
	assert_string_equal(ready(w),
		"False ReconcilerError Error seen: pod \"s\" exists and is not owned by this Sandbox");
	world_change(w, KIND_POD, "s", OBJECTS_MAIN, "{'metadata':{'labels':{'%s':'false'}}}",
		LABEL_ADOPTABLE);
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 5000);
	world_change(w, KIND_POD, "s", OBJECTS_MAIN, "{'metadata':{'labels':{'%s':'true'}}}",
		LABEL_ADOPTABLE);
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	assert_true(controller_is_owned_by(pod(w), world_get(w, KIND_SANDBOX, "s")->uid));
	assert_string_equal(controller_unstructured_label(pod(w), "a"), "1");
}

static void test_a_foreign_service_matters_only_if_one_is_wanted(void **state)
{
	struct world *w = *state;
	world_put(w, KIND_SERVICE, "{'metadata':{'name':'s','uid':'u'},'spec':{}}");
	add(w, "");
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	world_change(w, KIND_SANDBOX, "s", OBJECTS_MAIN, "{'spec':{'service':true}}");
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 5000);
	assert_memory_equal(ready(w), "False ReconcilerError Error seen: service", 41);
}

static void test_the_pod_follows_what_a_claim_brings(void **state)
{
	static const char evict[] = "cluster-autoscaler.kubernetes.io/safe-to-evict";
	struct world *w = *state;
	add(w, "");
	world_change(w, KIND_SANDBOX, "s", OBJECTS_MAIN,
		"{'metadata':{'labels':{'%s':'1','%s':'t'}}}", LABEL_WARM_POOL,
		LABEL_TEMPLATE_REF);
	world_pass(w, KIND_SANDBOX, "s");
	assert_string_equal(controller_unstructured_annotation(pod(w), evict), "true");
	assert_string_equal(controller_unstructured_label(pod(w), LABEL_TEMPLATE_REF), "t");
	world_pass(w, KIND_SANDBOX, "s");
	assert_string_equal(controller_unstructured_annotation(pod(w), evict), "true");
	world_change(w, KIND_SANDBOX, "s", OBJECTS_MAIN,
		"{'metadata':{'labels':{'%s':null}},'spec':{'podTemplate':{'metadata':{'labels':"
		"{'team':'red'}}}}}",
		LABEL_WARM_POOL);
	world_pass(w, KIND_SANDBOX, "s");
	assert_null(controller_unstructured_annotation(pod(w), evict));
	assert_string_equal(controller_unstructured_label(pod(w), "team"), "red");
}

static void test_the_name_of_the_pod_can_be_chosen(void **state)
{
	struct world *w = *state;
	add(w, "");
	world_change(w, KIND_SANDBOX, "s", OBJECTS_MAIN,
		"{'metadata':{'annotations':{'%s':'other'}}}", ANNOTATION_POD_NAME);
	world_pass(w, KIND_SANDBOX, "s");
	assert_null(pod(w));
	assert_non_null(world_get(w, KIND_POD, "other"));
}

static void test_one_that_ends_is_left_alone(void **state)
{
	struct world *w = *state;
	add(w, "");
	world_delete(w, KIND_SANDBOX, "s", OBJECTS_FOREGROUND);
	assert_int_equal(world_pass(w, KIND_SANDBOX, "s"), 0);
	assert_null(pod(w));
}

static void test_from_a_template(void **state)
{
	struct world *w = *state;
	struct store_object *t = world_make(w, KIND_TEMPLATE,
		"{'metadata':{'name':'t','labels':{'x':'y'}},'spec':{'service':true,"
		"'envVarsInjectionPolicy':'Allowed','podTemplate':{'spec':{'containers':"
		"[{'name':'c'}]}},'volumeClaimTemplates':[{'metadata':{'name':'v'},'spec':{}}]}}");
	cJSON *json = manager_sandbox_from_template(t);
	assert_true(json_bool(json, false, "spec", "service", NULL));
	assert_non_null(json_get(json, "spec", "volumeClaimTemplates", NULL));
	assert_null(json_get(json, "spec", "envVarsInjectionPolicy", NULL));
	assert_false(json_bool(json, true, "spec", "podTemplate", "spec",
		"automountServiceAccountToken", NULL));
	assert_string_equal(
		controller_unstructured_annotation(json, ANNOTATION_TEMPLATE_REF), "t");
	char hash[HASH8_BYTES];
	assert_string_equal(controller_unstructured_label(json, LABEL_TEMPLATE_REF),
		controller_hash8("t", hash));
	cJSON_Delete(json);
	world_change(w, KIND_TEMPLATE, "t", OBJECTS_MAIN,
		"{'spec':{'podTemplate':{'spec':{'automountServiceAccountToken':true}}}}");
	json = manager_sandbox_from_template(world_get(w, KIND_TEMPLATE, "t"));
	assert_true(json_bool(json, false, "spec", "podTemplate", "spec",
		"automountServiceAccountToken", NULL));
	cJSON_Delete(json);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_made),
		TEST(test_volumes_and_service),
		TEST(test_what_is_said_of_the_pod),
		TEST(test_a_pod_that_ends_is_not_ready),
		TEST(test_suspend_and_resume),
		TEST(test_expiry),
		TEST(test_a_stranger_with_the_name),
		TEST(test_a_foreign_service_matters_only_if_one_is_wanted),
		TEST(test_the_pod_follows_what_a_claim_brings),
		TEST(test_the_name_of_the_pod_can_be_chosen),
		TEST(test_one_that_ends_is_left_alone),
		TEST(test_from_a_template),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
