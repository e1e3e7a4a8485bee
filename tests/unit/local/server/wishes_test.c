// SPDX-License-Identifier: Apache-2.0
/* What a claim may ask for beyond its template, row by row. */
#include "tests/unit/local/server/world.h"

static char message[512];

static void test_metadata(void **state)
{
	static const struct {
		const char *wish, *reason;
	} rows[] = {
		{ "{}", NULL },
		{ "{'labels':{'sandbox.users.io/a':'b'}}", NULL },
		{ "{'labels':{'team.sandbox.users.io/a':'b'}}", NULL },
		{ "{'labels':{'xsandbox.users.io/a':'b'}}", "InvalidMetadata" },
		{ "{'labels':{'sandbox.users.io.evil/a':'b'}}", "InvalidMetadata" },
		{ "{'labels':{'users.io/a':'b'}}", "InvalidMetadata" },
		{ "{'labels':{'a':'b'}}", "InvalidMetadata" },
		{ "{'labels':{'sandbox.users.io/':'b'}}", "InvalidMetadata" },
		{ "{'labels':{'sandbox.users.io/a':'not ok!'}}", "InvalidMetadata" },
		{ "{'labels':{'sandbox.users.io/a':''}}", NULL },
		{ "{'annotations':{'example.org/a':'not ok!'}}", NULL },
		{ "{'annotations':{'a':'b'}}", NULL },
		{ "{'annotations':{'kubernetes.io/a':'b'}}", "InvalidMetadata" },
		{ "{'annotations':{'sub.kubernetes.io/a':'b'}}", "InvalidMetadata" },
		{ "{'annotations':{'notkubernetes.io/a':'b'}}", NULL },
		{ "{'annotations':{'k8s.io/a':'b'}}", "InvalidMetadata" },
		{ "{'annotations':{'agents.x-k8s.io/a':'b'}}", "InvalidMetadata" },
		{ "{'annotations':{'cluster-autoscaler.kubernetes.io/safe-to-evict':'b'}}",
			NULL },
		{ "{'annotations':{'cluster-autoscaler.kubernetes.io/other':'b'}}",
			"InvalidMetadata" },
		{ "{'annotations':{'example.org/a':'b','k8s.io/a':'b'}}", "InvalidMetadata" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cJSON *claim =
			world_json("{'spec':{'additionalPodMetadata':%s}}", rows[i].wish);
		message[0] = '\0';
		const char *reason =
			manager_claim_check_metadata(claim, message, sizeof message);
		if ((reason == NULL) != (rows[i].reason == NULL))
			fail_msg("%s: %s", rows[i].wish, reason ? message : "taken");
		assert_int_equal(message[0] != '\0', reason != NULL);
		cJSON_Delete(claim);
	}
}

static void test_env_policies(void **state)
{
	static const struct {
		const char *env, *template;
		bool is_refused;
	} rows[] = {
		{ "[]", "{}", false },
		{ "[{'name':'A','value':'1'}]", "{}", true },
		{ "[{'name':'A','value':'1'}]", "{'envVarsInjectionPolicy':'Disallowed'}",
			true },
		{ "[{'name':'A','value':'1'}]", "{'envVarsInjectionPolicy':'Allowed'}", false },
		{ "[{'name':'A','value':'1'}]", "{'envVarsInjectionPolicy':'Overrides'}",
			false },
		{ "[{'name':'A','value':'1'}]",
			"{'envVarsInjectionPolicy':'Allowed','podTemplate':{'spec':{'containers':"
			"[{'name':'c','envFrom':[{}]}]}}}",
			true },
		{ "[{'name':'A','value':'1'}]",
			"{'envVarsInjectionPolicy':'Overrides','podTemplate':{'spec':{'containers':"
			"[{'name':'c','envFrom':[{}]}]}}}",
			false },
		{ "[{'name':'A','value':'1','containerName':'d'}]",
			"{'envVarsInjectionPolicy':'Allowed','podTemplate':{'spec':{'containers':"
			"[{'name':'c','envFrom':[{}]},{'name':'d'}]}}}",
			false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cJSON *claim = world_json("{'spec':{'env':%s}}", rows[i].env);
		cJSON *template = world_json("%s", rows[i].template);
		const char *reason =
			manager_claim_check_env(claim, template, message, sizeof message);
		if ((reason != NULL) != rows[i].is_refused)
			fail_msg("%s with %s", rows[i].env, rows[i].template);
		cJSON_Delete(claim);
		cJSON_Delete(template);
	}
}

static void test_volume_policies(void **state)
{
#define HAVE "'volumeClaimTemplates':[{'metadata':{'name':'have'}}]"
	static const struct {
		const char *wanted, *template;
		bool is_refused;
	} rows[] = {
		{ "[]", "{" HAVE "}", false },
		{ "[{'metadata':{'name':'new'}}]", "{" HAVE "}", true },
		{ "[{'metadata':{'name':'new'}}]",
			"{'volumeClaimTemplatesPolicy':'Disallowed'," HAVE "}", true },
		{ "[{'metadata':{'name':'new'}}]",
			"{'volumeClaimTemplatesPolicy':'Allowed'," HAVE "}", false },
		{ "[{'metadata':{'name':'have'}}]",
			"{'volumeClaimTemplatesPolicy':'Allowed'," HAVE "}", true },
		{ "[{'metadata':{'name':'have'}}]",
			"{'volumeClaimTemplatesPolicy':'Overrides'," HAVE "}", false },
		{ "[{'metadata':{}}]", "{'volumeClaimTemplatesPolicy':'Overrides'}", true },
		{ "[{'metadata':{'name':''}}]", "{'volumeClaimTemplatesPolicy':'Overrides'}",
			true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cJSON *claim =
			world_json("{'spec':{'volumeClaimTemplates':%s}}", rows[i].wanted);
		cJSON *template = world_json("%s", rows[i].template);
		const char *reason =
			manager_claim_check_volumes(claim, template, message, sizeof message);
		if ((reason != NULL) != rows[i].is_refused)
			fail_msg("%s with %s", rows[i].wanted, rows[i].template);
		cJSON_Delete(claim);
		cJSON_Delete(template);
	}
}

static struct store_object *template(struct world *w, const char *policy)
{
	return world_make(w, KIND_TEMPLATE,
		"{'metadata':{'name':'t'},'spec':{'envVarsInjectionPolicy':'%s','podTemplate':"
		"{'metadata':{'labels':{'l':'1'}},'spec':{'containers':[{'name':'c','env':[{'name':'A',"
		"'value':'1'},{'name':'F','valueFrom':{'fieldRef':{'fieldPath':'x'}}}]},{'name':'d'}]}},"
		"'volumeClaimTemplates':[{'metadata':{'name':'v'},'spec':{'storageClassName':'old'}}]}}",
		policy);
}

static bool apply(struct store_object *t, const char *wishes, cJSON **sandbox)
{
	cJSON *claim = world_json("{'spec':{%s}}", wishes);
	*sandbox = manager_sandbox_from_template(t);
	message[0] = '\0';
	bool ok = manager_claim_apply_overrides(claim, t, *sandbox, message, sizeof message);
	cJSON_Delete(claim);
	return ok;
}

static void test_wishes_are_applied(void **state)
{
	struct store_object *t = template(*state, "Overrides");
	cJSON *sandbox;
	assert_true(apply(t,
		"'env':[{'name':'A','value':'2'},{'name':'N','value':'n'},{'name':'F','value':'f'},"
		"{'name':'D','value':'d','containerName':'d'}],"
		"'additionalPodMetadata':{'labels':{'l':'1','m':'2'},'annotations':{'x':'y'}},"
		"'volumeClaimTemplates':[{'metadata':{'name':'v'},'spec':{'storageClassName':'new'}},"
		"{'metadata':{'name':'w'},'spec':{}}]",
		&sandbox));
	const cJSON *pod = json_get(sandbox, "spec", "podTemplate", NULL);
	const cJSON *c = json_get(pod, "spec", "containers", NULL)->child;
	const cJSON *env = json_get(c, "env", NULL);
	assert_int_equal(cJSON_GetArraySize(env), 3);
	assert_str("2", cJSON_GetArrayItem(env, 0), "value");
	assert_str("f", cJSON_GetArrayItem(env, 1), "value");
	assert_null(json_get(cJSON_GetArrayItem(env, 1), "valueFrom", NULL));
	assert_str("N", cJSON_GetArrayItem(env, 2), "name");
	assert_str("d", json_get(c->next, "env", NULL)->child, "value");
	assert_str("2", pod, "metadata", "labels", "m");
	assert_str("y", pod, "metadata", "annotations", "x");
	const cJSON *volumes = json_get(sandbox, "spec", "volumeClaimTemplates", NULL);
	assert_int_equal(cJSON_GetArraySize(volumes), 2);
	assert_str("new", volumes->child, "spec", "storageClassName");
	cJSON_Delete(sandbox);
}

static void test_allowed_adds_and_does_not_change(void **state)
{
	struct store_object *t = template(*state, "Allowed");
	cJSON *sandbox;
	assert_false(apply(t, "'env':[{'name':'A','value':'2'}]", &sandbox));
	assert_string_equal(
		message, "Error seen: environment variable override is not allowed for \"A\"");
	cJSON_Delete(sandbox);
	assert_false(apply(t, "'env':[{'name':'F','value':'2'}]", &sandbox));
	cJSON_Delete(sandbox);
	assert_true(apply(
		t, "'env':[{'name':'A','value':'1'},{'name':'B','value':'2'}]", &sandbox));
	cJSON_Delete(sandbox);
	assert_true(apply(t, "'env':[{'name':'A','value':'2','containerName':'d'}]", &sandbox));
	cJSON_Delete(sandbox);
}

static void test_conflicts(void **state)
{
	struct store_object *t = template(*state, "Overrides");
	cJSON *sandbox;
	assert_false(
		apply(t, "'env':[{'name':'A','value':'2','containerName':'none'}]", &sandbox));
	assert_string_equal(message, "Error seen: container \"none\" not found");
	cJSON_Delete(sandbox);
	assert_false(apply(t, "'additionalPodMetadata':{'labels':{'l':'2'}}", &sandbox));
	assert_string_equal(message, "Error seen: metadata override conflict for key \"l\"");
	cJSON_Delete(sandbox);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_env_policies),
		cmocka_unit_test(test_volume_policies),
		TEST(test_wishes_are_applied),
		TEST(test_allowed_adds_and_does_not_change),
		TEST(test_conflicts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
