// SPDX-License-Identifier: Apache-2.0
/* Printer columns: what Table shows for each kind, broken objects included. */
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "local/server/store/resource.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void test_cells(void **state)
{
	static const struct {
		enum store_kind kind;
		const char *object, *cells;
	} cases[] = {
		{ KIND_CLAIM,
			"{\"metadata\":{\"name\":\"c\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},"
			"\"status\":{\"sandbox\":{\"name\":\"s\"},\"conditions\":[{\"type\":\"Ready\","
			"\"status\":\"True\",\"reason\":\"DependenciesReady\"}]}}",
			"[\"c\",\"True\",\"s\",\"DependenciesReady\",\"2m5s\"]" },
		{ KIND_CLAIM, "{\"metadata\":{\"name\":\"c\"}}",
			"[\"c\",\"\",\"\",\"\",\"<unknown>\"]" },
		{ KIND_CLAIM,
			"{\"metadata\":7,\"status\":{\"conditions\":{\"a\":[]},\"sandbox\":1}}",
			"[\"\",\"\",\"\",\"\",\"<unknown>\"]" },
		{ KIND_POOL,
			"{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},"
			"\"spec\":{\"replicas\":3},\"status\":{\"readyReplicas\":2}}",
			"[\"p\",2,3,\"2m5s\"]" },
		{ KIND_POD,
			"{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"2026-01-01T00:02:00Z\"},"
			"\"spec\":{\"containers\":[{},{}],\"nodeName\":\"n\"},\"status\":{"
			"\"phase\":\"Running\",\"podIP\":\"127.64.0.1\",\"containerStatuses\":[{\"ready\":"
			"true,\"restartCount\":2,\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}}"
			"]}}",
			"[\"p\",\"1/2\",\"CrashLoopBackOff\",\"2\",\"5s\",\"127.64.0.1\",\"n\","
			"\"<none>\",\"<none>\"]" },
		{ KIND_POD,
			"{\"metadata\":{\"name\":\"p\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}",
			"[\"p\",\"0/0\",\"Terminating\",\"0\",\"<unknown>\",\"<none>\",\"<none>\","
			"\"<none>\",\"<none>\"]" },
		{ KIND_EVENT,
			"{\"metadata\":{\"name\":\"e\"},\"lastTimestamp\":\"2026-01-01T00:02:00Z\","
			"\"type\":\"Normal\",\"reason\":\"R\",\"message\":\"m\","
			"\"involvedObject\":{\"kind\":\"SandboxClaim\",\"name\":\"C\"}}",
			"[\"5s\",\"Normal\",\"R\",\"sandboxclaim/C\",\"m\",\"e\"]" },
		{ KIND_SERVICE,
			"{\"metadata\":{\"name\":\"s\"},\"spec\":{\"clusterIP\":\"None\",\"ports\":["
			"{\"port\":80},{\"port\":53,\"protocol\":\"UDP\"}]}}",
			"[\"s\",\"ClusterIP\",\"None\",\"<none>\",\"80/TCP,53/UDP\",\"<unknown>\"]" },
	};
	int64_t now;
	(void)state;
	assert_true(clock_parse_rfc3339("2026-01-01T00:02:05Z", &now));
	clock_set_for_tests(0, now);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct store_resource *r = store_resource_of(cases[i].kind);
		cJSON *o = cJSON_Parse(cases[i].object), *cells = cJSON_CreateArray();
		assert_non_null(o);
		for (size_t c = 0; c < r->n_columns; c++)
			store_column_add(&r->columns[c], o, cells);
		assert_int_equal(cJSON_GetArraySize(cells), r->n_columns);
		char *text = cJSON_PrintUnformatted(cells);
		assert_string_equal(text, cases[i].cells);
		free(text);
		cJSON_Delete(cells);
		cJSON_Delete(o);
	}
	clock_set_for_tests(-1, -1);
}

#define AT "\"2026-01-01T00:02:00Z\"" /* 5 s ago */

/* One cell of a kind, as text. */
static const struct {
	enum store_kind kind;
	size_t column;
	const char *object, *cell;
} single_cells[] = {
	{ KIND_NAMESPACE, 1, "{\"status\":{\"phase\":\"Active\"}}", "\"Active\"" },
	{ KIND_PVC, 1, "{\"status\":{\"phase\":\"Bound\"}}", "\"Bound\"" },
	{ KIND_PVC, 2, "{\"spec\":{\"volumeName\":\"v\"}}", "\"v\"" },
	{ KIND_PVC, 3, "{\"status\":{\"capacity\":{\"storage\":\"1Gi\"}}}", "\"1Gi\"" },
	{ KIND_LEASE, 1, "{\"spec\":{\"holderIdentity\":\"me\"}}", "\"me\"" },
	{ KIND_SANDBOX, 1,
		"{\"status\":{\"conditions\":[{\"type\":\"Other\",\"status\":"
		"\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}]}}",
		"\"True\"" },
	{ KIND_POOL, 1, "{}", "0" },
	{ KIND_POOL, 2, "{}", "0" },
	{ KIND_EVENT, 0, "{\"series\":{\"lastObservedTime\":" AT "},\"lastTimestamp\":\"x\"}",
		"\"5s\"" },
	{ KIND_EVENT, 0, "{\"lastTimestamp\":" AT ",\"eventTime\":\"x\"}", "\"5s\"" },
	{ KIND_EVENT, 0, "{\"eventTime\":" AT ",\"metadata\":{\"creationTimestamp\":\"x\"}}",
		"\"5s\"" },
	{ KIND_EVENT, 0, "{\"metadata\":{\"creationTimestamp\":" AT "}}", "\"5s\"" },
	{ KIND_EVENT, 0, "{}", "\"<unknown>\"" },
	{ KIND_EVENT, 3, "{\"involvedObject\":{\"kind\":\"AZaz\",\"name\":\"AZ\"}}",
		"\"azaz/AZ\"" },
	{ KIND_EVENT, 3, "{}", "\"/\"" },
	{ KIND_POD, 2, "{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}",
		"\"Evicted\"" },
	{ KIND_POD, 2,
		"{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":"
		"{\"terminated\":{\"reason\":\"OOMKilled\"}}}]}}",
		"\"OOMKilled\"" },
	{ KIND_POD, 2,
		"{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":"
		"{\"running\":{}}}]}}",
		"\"Running\"" },
	{ KIND_POD, 1,
		"{\"spec\":{\"containers\":[{},{},{}]},\"status\":{\"containerStatuses\":"
		"[{\"ready\":true},{\"ready\":false},{\"ready\":true}]}}",
		"\"2/3\"" },
	{ KIND_POD, 3,
		"{\"status\":{\"containerStatuses\":[{\"restartCount\":2},{},"
		"{\"restartCount\":3}]}}",
		"\"5\"" },
	{ KIND_SERVICE, 1, "{\"spec\":{\"type\":\"NodePort\"}}", "\"NodePort\"" },
	{ KIND_SERVICE, 2, "{}", "\"<none>\"" },
	{ KIND_SERVICE, 4, "{}", "\"<none>\"" },
};

static void test_one_cell(void **state)
{
	int64_t now;
	(void)state;
	assert_true(clock_parse_rfc3339("2026-01-01T00:02:05Z", &now));
	clock_set_for_tests(0, now);
	for (size_t i = 0; i < COUNT(single_cells); i++) {
		cJSON *o = cJSON_Parse(single_cells[i].object), *cells = cJSON_CreateArray();
		assert_non_null(o);
		const struct store_resource *r = store_resource_of(single_cells[i].kind);
		store_column_add(&r->columns[single_cells[i].column], o, cells);
		char *text = cJSON_PrintUnformatted(cells->child);
		if (strcmp(text, single_cells[i].cell) != 0)
			fail_msg("row %zu: %s", i, text);
		free(text);
		cJSON_Delete(cells);
		cJSON_Delete(o);
	}
	clock_set_for_tests(-1, -1);
}

/* As many ports as there is room for, none of them cut. */
static void test_many_ports(void **state)
{
	cJSON *o = cJSON_Parse("{\"spec\":{\"ports\":[]}}"), *cells = cJSON_CreateArray();
	(void)state;
	for (int i = 0; i < 60; i++) {
		cJSON *port = cJSON_CreateObject();
		cJSON_AddNumberToObject(port, "port", 1000 + i);
		cJSON_AddItemToArray(
			cJSON_GetObjectItem(cJSON_GetObjectItem(o, "spec"), "ports"), port);
	}
	store_column_add(&store_resource_of(KIND_SERVICE)->columns[4], o, cells);
	const char *text = cells->child->valuestring;
	assert_int_equal(strlen(text), 8 + 27 * 9);
	assert_string_equal(text + strlen(text) - 9, ",1027/TCP");
	cJSON_Delete(cells);
	cJSON_Delete(o);
}

static void test_lookups(void **state)
{
	char text[K8S_API_VERSION_BYTES];
	(void)state;
	assert_int_equal(store_resource_find("", "v1", "pods")->kind, KIND_POD);
	assert_null(store_resource_find("", "v2", "pods"));
	assert_true(store_resource_find("events.k8s.io", "v1", "events")->is_view);
	assert_false(store_resource_of(KIND_EVENT)->is_view);
	assert_int_equal(store_resource_of_object("agents.x-k8s.io/v1beta1", "Sandbox")->kind,
		KIND_SANDBOX);
	assert_null(store_resource_of_object("v1", "Sandbox"));
	for (int k = 0; k < KIND_COUNT; k++)
		assert_non_null(store_resource_of((enum store_kind)k));
	assert_string_equal(k8s_api_version(store_resource_of(KIND_POD)->api, text), "v1");
	assert_string_equal(k8s_api_version(store_resource_of(KIND_CLAIM)->api, text),
		"extensions.agents.x-k8s.io/v1beta1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_one_cell),
		cmocka_unit_test(test_many_ports),
		cmocka_unit_test(test_lookups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
