// SPDX-License-Identifier: Apache-2.0
/* Which right a 403 was about. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/kube/denied.h"

#include <string.h>

#define NS "/namespaces/demo"
#define AGENTS "/apis/agents.x-k8s.io/v1beta1"
#define CANNOT(what) "x is forbidden: User \"u\" cannot " what " in API group \"\""

static void a_request_and_its_refusal(void **state)
{
	static const struct {
		const char *method, *path, *query, *message;
		struct err_denied denied;
	} rows[] = {
		{ "GET", "/api/v1" NS "/pods", NULL, CANNOT("list resource \"pods\""),
			{ "list", "", "pods", "", "demo" } },
		{ "GET", "/api/v1/pods", "limit=500", CANNOT("list resource \"pods\""),
			{ "list", "", "pods", "", "" } },
		{ "GET", "/api/v1/pods", "limit=5&watch=1", CANNOT("watch resource \"pods\""),
			{ "watch", "", "pods", "", "" } },
		{ "GET", "/api/v1/pods", "watch=true", CANNOT("watch resource \"pods\""),
			{ "watch", "", "pods", "", "" } },
		{ "GET", "/api/v1/pods", "notwatch=1", CANNOT("list resource \"pods\""),
			{ "list", "", "pods", "", "" } },
		{ "GET", "/api/v1" NS "/pods/a", NULL, CANNOT("get resource \"pods\""),
			{ "get", "", "pods", "", "demo" } },
		{ "GET", "/api/v1" NS "/pods/a/log", NULL, CANNOT("get resource \"pods/log\""),
			{ "get", "", "pods", "log", "demo" } },
		{ "GET", "/api/v1/namespaces", NULL, CANNOT("list resource \"namespaces\""),
			{ "list", "", "namespaces", "", "" } },
		{ "GET", "/api/v1" NS, NULL, CANNOT("get resource \"namespaces\""),
			{ "get", "", "namespaces", "", "" } },
		{ "POST", AGENTS NS "/sandboxes", NULL, CANNOT("create resource \"sandboxes\""),
			{ "create", "agents.x-k8s.io", "sandboxes", "", "demo" } },
		{ "PUT", AGENTS NS "/sandboxes/a", NULL,
			CANNOT("update resource \"sandboxes\""),
			{ "update", "agents.x-k8s.io", "sandboxes", "", "demo" } },
		{ "PATCH", AGENTS NS "/sandboxes/a/scale", NULL,
			CANNOT("patch resource \"sandboxes/scale\""),
			{ "patch", "agents.x-k8s.io", "sandboxes", "scale", "demo" } },
		{ "DELETE", AGENTS NS "/sandboxes/a", NULL,
			CANNOT("delete resource \"sandboxes\""),
			{ "delete", "agents.x-k8s.io", "sandboxes", "", "demo" } },
		{ "DELETE", AGENTS NS "/sandboxes", NULL,
			CANNOT("deletecollection resource \"sandboxes\""),
			{ "deletecollection", "agents.x-k8s.io", "sandboxes", "", "demo" } },
		/* not the right to do that, or no right at all */
		{ "DELETE", AGENTS NS "/sandboxes/a", NULL,
			"admission webhook \"x\" denied the request", { .verb = "" } },
		{ "DELETE", AGENTS NS "/sandboxes/a", NULL,
			"users \"v\" is forbidden: User \"u\" cannot impersonate resource \"users\"",
			{ .verb = "" } },
		{ "GET", "/api/v1" NS "/pods/a/log", NULL, CANNOT("get resource \"pods\""),
			{ .verb = "" } },
		{ "GET", "/version", NULL, "User \"u\" cannot get path \"/version\"",
			{ .verb = "" } },
		{ "GET", "/apis/agents.x-k8s.io", NULL, "User \"u\" cannot get path \"x\"",
			{ .verb = "" } },
		{ "GET", "/", NULL, "", { .verb = "" } },
		{ "GET", "", NULL, "", { .verb = "" } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		err_set(&err, ERR_KUBE_FORBIDDEN, "%s", rows[i].message);
		kube_denied_of_request(&err, rows[i].method, rows[i].path, rows[i].query);
		const struct err_denied *is = &err.denied, *should = &rows[i].denied;
		if (strcmp(is->verb, should->verb) != 0 ||
			strcmp(is->group, should->group) != 0 ||
			strcmp(is->resource, should->resource) != 0 ||
			strcmp(is->subresource, should->subresource) != 0 ||
			strcmp(is->namespace_, should->namespace_) != 0)
			fail_msg("%s %s: %s %s.%s/%s in '%s'", rows[i].method, rows[i].path,
				is->verb, is->resource, is->group, is->subresource,
				is->namespace_);
		assert_string_equal(err.msg, rows[i].message);
	}
}

static void one_request_that_needs_two_rights(void **state)
{
	static const char *const verbs[] = { "create", "get", NULL };
	static const char path[] = "/api/v1" NS "/pods/a/portforward?ports=80";
	struct err err = { 0 };
	(void)state;
	err_set(&err, ERR_PORTFWD_DENIED, CANNOT("get resource \"pods/portforward\""));
	kube_denied_of_verbs(&err, verbs, path);
	assert_string_equal(err.denied.verb, "get");
	err_set(&err, ERR_PORTFWD_DENIED, CANNOT("create resource \"pods/portforward\""));
	assert_string_equal(err.denied.verb, "");
	kube_denied_of_verbs(&err, verbs, path);
	assert_string_equal(err.denied.verb, "create");
	assert_string_equal(err.denied.subresource, "portforward");
	err_set(&err, ERR_PORTFWD_DENIED, "no");
	kube_denied_of_verbs(&err, verbs, path);
	assert_string_equal(err.denied.verb, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_and_its_refusal),
		cmocka_unit_test(one_request_that_needs_two_rights),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
