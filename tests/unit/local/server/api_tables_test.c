// SPDX-License-Identifier: Apache-2.0
/* Answers that are lists of names, whole; and what of an object is the server's, field by field. One backend for all. */
#include "tests/unit/local/server/backend.h"

#include "local/server/api/request.h"
#include "local/server/store/objects_internal.h"

static cJSON *tree_of(const char *method, const char *path, const char *body, const char *type)
{
	struct got got = ask(method, path, body, type);
	if (got.status / 100 != 2)
		fail_msg("%s %s: %d %s", method, path, got.status, got.body.p);
	cJSON *tree = cJSON_Parse(got.body.p);
	assert_non_null(tree);
	str_deinit(&got.body);
	return tree;
}

static void expect_text(const cJSON *tree, const char *wanted)
{
	char *text = cJSON_PrintUnformatted(tree);
	for (char *p = text; p && *p; p++)
		if (*p == '"')
			*p = '\'';
	assert_string_equal(text ? text : "(none)", wanted);
	free(text);
}

static void test_where_everything_is(void **state)
{
	(void)state;
	cJSON *tree = tree_of("GET", "/", "", NULL);
	expect_text(tree,
		"{'paths':['/api','/api/v1','/apis','/apis/agents.x-k8s.io/v1beta1',"
		"'/apis/extensions.agents.x-k8s.io/v1beta1','/apis/coordination.k8s.io/v1','/apis/discovery.k8s.io/v1',"
		"'/apis/events.k8s.io/v1','/apis/metrics.k8s.io/v1beta1','/healthz','/livez','/openapi/v2','/openapi/v3','/readyz',"
		"'/version']}");
	cJSON_Delete(tree);
	CHECK(GET("/healthz", 200, "ok"), GET("/livez", 200, "ok"), GET("/readyz", 200, "ok"),
		GET("/health", 404, NULL));
}

/* Each answer is a whole line. */
static void test_how_an_answer_ends(void **state)
{
	static const char *const paths[] = { "/version", "/api", "/apis", POOLS, POOLS "/local",
		POOLS "/none", POOLS "/local/scale" };
	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct got got = ask("GET", paths[i], "", NULL);
		if (got.body.n < 2 || strcmp(got.body.p + got.body.n - 2, "}\n") != 0)
			fail_msg("%s: %s", paths[i], got.body.p);
		str_deinit(&got.body);
	}
}

static void test_how_large_a_body_may_be(void **state)
{
	(void)state;
	char *body = malloc(REQUEST_MAX_BODY + 2);
	assert_non_null(body);
	for (size_t n = REQUEST_MAX_BODY; n <= REQUEST_MAX_BODY + 1; n++) {
		memset(body, ' ', n);
		memcpy(body, "{}", 2);
		body[n] = '\0';
		struct got got = ask("POST", LEASES "?dryRun=All", body, NULL);
		assert_int_equal(got.status, n == REQUEST_MAX_BODY ? 422 : 413);
		str_deinit(&got.body);
	}
	free(body);
}

static void test_parameters_of_a_write(void **state)
{
	(void)state;
	cJSON *tree = tree_of("GET", "/openapi/v3/apis/coordination.k8s.io/v1", "", NULL);
	const cJSON *list = json_get(tree, "paths",
		"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases", "post",
		"parameters", NULL);
	static const char *const names[] = { "dryRun", "fieldManager", "fieldValidation" };
	assert_int_equal(cJSON_GetArraySize(list), 3);
	for (int i = 0; i < 3; i++) {
		const cJSON *p = cJSON_GetArrayItem(list, i);
		assert_string_equal(json_str(p, "name", NULL), names[i]);
		assert_string_equal(json_str(p, "in", NULL), "query");
		assert_string_equal(json_str(p, "schema", "type", NULL), "string");
	}
	cJSON_Delete(tree);
}

static void test_a_scale_in_full(void **state)
{
	static const char *const keys[] = { "name", "namespace", "uid", "resourceVersion",
		"creationTimestamp" };
	(void)state;
	cJSON *pool = tree_of("GET", POOLS "/local", "", NULL);
	cJSON *scale = tree_of("GET", POOLS "/local/scale", "", NULL);
	assert_string_equal(json_str(scale, "kind", NULL), "Scale");
	assert_string_equal(json_str(scale, "apiVersion", NULL), "autoscaling/v1");
	for (size_t i = 0; i < COUNT(keys); i++) {
		const char *is = json_str(scale, "metadata", keys[i], NULL);
		assert_non_null(is);
		assert_string_equal(is, json_str(pool, "metadata", keys[i], NULL));
	}
	assert_int_equal(cJSON_GetArraySize(json_get(scale, "metadata", NULL)), COUNT(keys));
	assert_int_equal(json_int(scale, -1, "spec", "replicas", NULL), 0);
	assert_int_equal(json_int(scale, -1, "status", "replicas", NULL), 0);
	cJSON_Delete(pool);
	cJSON_Delete(scale);
}

/* Whatever a client writes into them, and whether they were there before or not. */
static void test_what_is_the_servers(void **state)
{
	(void)state;
	cJSON *made = tree_of("POST", LEASES,
		"{'metadata':{'generateName':'own-','finalizers':['x/y'],'generation':7,'uid':'mine',"
		"'resourceVersion':'','creationTimestamp':'2001-01-01T00:00:00Z','selfLink':'/x',"
		"'deletionTimestamp':'2001-01-01T00:00:00Z','deletionGracePeriodSeconds':5,"
		"'managedFields':[{}]},'spec':{'holderIdentity':'a'}}",
		NULL);
	char path[200];
	snprintf(path, sizeof path, LEASES "/%s", json_str(made, "metadata", "name", NULL));
	assert_string_not_equal(json_str(made, "metadata", "uid", NULL), "mine");
	assert_null(json_get(made, "metadata", "deletionTimestamp", NULL));
	assert_null(json_get(made, "metadata", "deletionGracePeriodSeconds", NULL));
	assert_null(json_get(made, "metadata", "selfLink", NULL));
	assert_null(json_get(made, "metadata", "managedFields", NULL));
	cJSON *now = tree_of("PATCH", path,
		"{'metadata':{'generateName':'other-','generation':9,'selfLink':'/x',"
		"'creationTimestamp':'2002-01-01T00:00:00Z','deletionTimestamp':"
		"'2002-01-01T00:00:00Z','deletionGracePeriodSeconds':5,'managedFields':[{}],"
		"'labels':{'a':'b'}}}",
		MERGE_PATCH);
	static const char *const kept[] = { "name", "generateName", "namespace", "uid",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"generation", "selfLink", "managedFields" };
	for (size_t i = 0; i < COUNT(kept); i++) {
		const cJSON *was = json_get(made, "metadata", kept[i], NULL);
		const cJSON *is = json_get(now, "metadata", kept[i], NULL);
		if ((was == NULL) != (is == NULL) || (was && !cJSON_Compare(was, is, true)))
			fail_msg("%s", kept[i]);
	}
	assert_string_equal(json_str(now, "metadata", "labels", "a", NULL), "b");
	assert_string_not_equal(json_str(now, "metadata", "resourceVersion", NULL),
		json_str(made, "metadata", "resourceVersion", NULL));
	cJSON_Delete(made);
	cJSON_Delete(now);
}

/* A generation counts specs, and nothing else. */
static void test_a_generation(void **state)
{
	static const struct {
		const char *path, *patch;
		int generation;
	} rows[] = {
		{ CLAIMS "/g", "{'metadata':{'labels':{'a':'b'}}}", 1 },
		{ CLAIMS "/g", "{'metadata':{'generation':50}}", 1 },
		{ CLAIMS "/g", "{'spec':{'warmPoolRef':{'name':'q'}}}", 2 },
		{ CLAIMS "/g", "{'spec':{'warmPoolRef':{'name':'q'}}}", 2 },
		{ CLAIMS "/g/status", "{'status':{'sandbox':{'name':'s'}}}", 2 },
		{ CLAIMS "/g", "{'spec':{'warmPoolRef':{'name':'p'}}}", 3 },
	};
	(void)state;
	cJSON *made = tree_of("POST", CLAIMS,
		"{'metadata':{'name':'g','generation':30},'spec':{'warmPoolRef':{'name':'p'}}}",
		NULL);
	assert_int_equal(json_int(made, 0, "metadata", "generation", NULL), 1);
	cJSON_Delete(made);
	for (size_t i = 0; i < COUNT(rows); i++) {
		cJSON *now = tree_of("PATCH", rows[i].path, rows[i].patch, MERGE_PATCH);
		if (json_int(now, 0, "metadata", "generation", NULL) != rows[i].generation)
			fail_msg("row %zu", i);
		cJSON_Delete(now);
	}
	CHECK(DELETE(CLAIMS "/g", "", 200, NULL));
}

static void test_what_the_store_refuses(void **state)
{
	static const struct {
		enum err_code code;
		int status;
		const char *reason, *message;
	} rows[] = {
		{ ERR_KUBE_QUOTA, 403, "Forbidden", "exceeded quota: objects, why" },
		{ ERR_KUBE_INVALID, 422, "Invalid", "why" },
		{ ERR_KUBE_TOO_LARGE, 413, "RequestEntityTooLarge", "why" },
		{ ERR_SYSTEM, 500, "InternalError", "Internal error occurred: why" },
		{ ERR_LOCAL_STORE, 500, "InternalError", "Internal error occurred: why" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		err_set(&err, rows[i].code, "why");
		cJSON *status = store_objects_system_status(&err);
		assert_int_equal(json_int(status, 0, "code", NULL), rows[i].status);
		assert_string_equal(json_str(status, "reason", NULL), rows[i].reason);
		assert_string_equal(json_str(status, "message", NULL), rows[i].message);
		cJSON_Delete(status);
	}
}

/* Of a write that only tries, everything but the write. */
static void test_a_dry_run(void **state)
{
	(void)state;
	int64_t rv = store_revision(backend->store);
	CHECK(POST(LEASES "?dryRun=All", "{'metadata':{'name':'dry'},'spec':{}}", 201,
		      "'name':'dry'"),
		POST(LEASES "?dryRun=All", "{'metadata':{'name':'Dry'},'spec':{}}", 422, NULL),
		GET(LEASES "/dry", 404, NULL));
	assert_int_equal(store_revision(backend->store), rv);
}

static void test_an_end_of_initial_events_as_a_table(void **state)
{
	struct got got;
	(void)state;
	ask_start(&got, "GET",
		LEASES "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
		       "allowWatchBookmarks=true&labelSelector=none%3Dsuch",
		"", "application/json;as=Table;v=v1;g=meta.k8s.io",
		(struct net_http_opts){ .on_body = got_body });
	TURN_UNTIL(loop, got.body.p && strchr(got.body.p, '\n'));
	cJSON *event = cJSON_ParseWithLength(got.body.p, strcspn(got.body.p, "\n"));
	assert_string_equal(json_str(event, "type", NULL), "BOOKMARK");
	const cJSON *table = json_get(event, "object", NULL);
	assert_string_equal(json_str(table, "kind", NULL), "Table");
	assert_true(cJSON_GetArraySize(json_get(table, "columnDefinitions", NULL)) > 0);
	const cJSON *row = json_get(table, "rows", NULL)->child;
	assert_int_equal(cJSON_GetArraySize(json_get(row, "cells", NULL)),
		cJSON_GetArraySize(json_get(table, "columnDefinitions", NULL)));

	assert_string_equal(json_str(row, "object", "kind", NULL), "Lease");
	assert_string_equal(json_str(row, "object", "metadata", "annotations",
				    "k8s.io/initial-events-end", NULL),
		"true");
	cJSON_Delete(event);
	/* the columns come once */
	size_t n = got.body.n;
	TURN_UNTIL(loop, got.body.n > n && got.body.p[got.body.n - 1] == '\n');
	assert_non_null(strstr(got.body.p + n, "\"columnDefinitions\":null"));
	net_http_cancel(got.req);
	str_deinit(&got.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_everything_is),
		cmocka_unit_test(test_how_an_answer_ends),
		cmocka_unit_test(test_how_large_a_body_may_be),
		cmocka_unit_test(test_parameters_of_a_write),
		cmocka_unit_test(test_a_scale_in_full),
		cmocka_unit_test(test_what_is_the_servers),
		cmocka_unit_test(test_a_generation),
		cmocka_unit_test(test_what_the_store_refuses),
		cmocka_unit_test(test_a_dry_run),
		cmocka_unit_test(test_an_end_of_initial_events_as_a_table),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
