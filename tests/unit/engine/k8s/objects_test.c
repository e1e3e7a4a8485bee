// SPDX-License-Identifier: Apache-2.0
/* What is in objects: conditions, quantities, the resource table. */
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/k8s/condition.h"
#include "engine/k8s/quantity.h"
#include "engine/k8s/resource.h"

#include <string.h>

static void conditions(void **state)
{
	static const struct {
		const char *object;
		const char *reason; /* of Ready; NULL: there is none */
		bool is_true;
	} rows[] = {
		{ "{}", NULL, false },
		{ "{\"status\":7}", NULL, false },
		{ "{\"status\":{\"conditions\":{}}}", NULL, false },
		{ "{\"status\":{\"conditions\":[7,{},{\"type\":5}]}}", NULL, false },
		{ "{\"status\":{\"conditions\":[{\"type\":\"Other\",\"status\":\"True\"}]}}",
			NULL, false },
		{ "{\"status\":{\"conditions\":[{\"type\":\"Other\",\"status\":\"False\"},"
		  "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"R\"}]}}",
			"R", true },
		{ "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
		  "\"reason\":\"R\"}]}}",
			"R", false },
		{ "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"reason\":\"R\"}]}}", "R",
			false },
		{ "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":true,"
		  "\"reason\":\"R\"}]}}",
			"R", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cJSON *object = cJSON_Parse(rows[i].object);
		assert_non_null(object);
		const cJSON *found = k8s_condition_find(object, "Ready");
		const char *reason = json_str(found, "reason", NULL);
		if ((found == NULL) != (rows[i].reason == NULL) ||
			(found && strcmp(reason, rows[i].reason) != 0) ||
			k8s_condition_is_true(object, "Ready") != rows[i].is_true ||
			k8s_condition_in(json_get(object, "status", NULL), "Ready") != found)
			fail_msg("%s", rows[i].object);
		cJSON_Delete(object);
	}
	assert_null(k8s_condition_find(NULL, "Ready"));
}

static void quantities(void **state)
{
	static const struct {
		const char *text;
		uint64_t milli;
	} rows[] = { { "1", 1000 }, { "500m", 500 }, { "1m", 1 }, { "0.5", 500 },
		{ "2k", 2000000 }, { "1M", 1000000000 }, { "3G", 3000000000000 },
		{ "1T", 1000000000000000 }, { "1Ki", 1024000 }, { "256Mi", 268435456000 },
		{ "1Gi", 1073741824000 }, { "2Ti", 2199023255552000 },
		{ "1.5Gi", 1610612736000 }, { "1e3", 1000000 }, { "", 0 }, { "0", 0 },
		{ "-1", 0 }, { "x", 0 }, { "1K", 0 }, { "1Kib", 0 }, { "1 Gi", 0 },
		{ "nan", 0 }, { "inf", 0 }, { "1e12", 1000000000000000 },
		{ "1.1e12", 1100000000000000 }, { "0x10", 0 }, { "9e14", 900000000000000000 },
		{ "1e15", 0 }, { "1.1e15", 0 }, { "41234567n", 41 }, { "900u", 0 },
		{ "2500u", 2 }, { "1500000000000n", 1500000 }, { "999T", 999000000000000000 },
		{ "1000T", 0 }, { "Gi", 0 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (k8s_quantity_milli(rows[i].text) != rows[i].milli)
			fail_msg("'%s': %llu", rows[i].text,
				(unsigned long long)k8s_quantity_milli(rows[i].text));
	assert_int_equal(k8s_quantity_milli(NULL), 0);
	cJSON *list = cJSON_Parse("[2, 0.5, \"1Gi\", -1, 0, 1e15, true, null, {}]");
	static const uint64_t wanted[] = { 2000, 500, 1073741824000, 0, 0, 0, 0, 0, 0 };
	for (int i = 0; i < cJSON_GetArraySize(list); i++)
		assert_int_equal(k8s_quantity_milli_of(cJSON_GetArrayItem(list, i)), wanted[i]);
	assert_int_equal(k8s_quantity_milli_of(NULL), 0);
	cJSON_Delete(list);
}

static void resources(void **state)
{
	char text[K8S_API_VERSION_BYTES];
	(void)state;
	assert_string_equal(k8s_api_version(&k8s_pods, text), "v1");
	assert_string_equal(k8s_api_version(&k8s_sandboxes, text), "agents.x-k8s.io/v1beta1");
	assert_string_equal(k8s_api_version(&k8s_sandboxclaims, text),
		"extensions.agents.x-k8s.io/v1beta1");
	assert_string_equal(k8s_sandboxwarmpools.kind, "SandboxWarmPool");
	assert_false(k8s_namespaces.is_namespaced);
	assert_true(k8s_sandboxes.is_namespaced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions),
		cmocka_unit_test(quantities),
		cmocka_unit_test(resources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
