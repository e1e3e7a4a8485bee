// SPDX-License-Identifier: Apache-2.0
/* What a server writes, a client reads; and the wording that other clients look for. */
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/status.h"

#include <stdlib.h>
#include <string.h>

static char *text_of(cJSON *status)
{
	char *text = cJSON_PrintUnformatted(status);
	cJSON_Delete(status);
	return text;
}

/* Quota and RBAC share 403, everything else has a code of ours in its row. */
static void what_is_written_is_read(void **state)
{
	(void)state;
	for (int i = 0; i < K8S_REASON_COUNT; i++) {
		const struct k8s_status_row *row = k8s_status_row((enum k8s_reason)i);
		struct err err = { 0 };
		cJSON *status = k8s_status_new((enum k8s_reason)i, "no %s", "more");
		assert_int_equal(k8s_status_code(status), row->code);
		assert_string_equal(json_str(status, "reason", NULL), row->reason);
		assert_false(k8s_status_to_err(row->code, status, slice_of("x"), &err));
		assert_int_equal(err.code, row->err);
		assert_string_equal(err.msg, "no more");
		cJSON_Delete(status);
	}
}

/* A watch says 200 and has the reason in its event. */
static void an_expired_version_counts_by_its_reason(void **state)
{
	static const enum k8s_reason reasons[] = { K8S_EXPIRED, K8S_GONE };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct err err = { 0 };
		cJSON *status = k8s_status_new(reasons[i], "old");
		k8s_status_to_err(200, status, slice_of(""), &err);
		assert_int_equal(err.code, ERR_KUBE_EXPIRED);
		assert_int_equal(err.sys, 410);
		cJSON_Delete(status);
	}
}

static void wording(void **state)
{
	static const char head[] =
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},";
	static const char *const rows[] = {
		"\"status\":\"Failure\",\"message\":\"pods \\\"a\\\" not found\","
		"\"reason\":\"NotFound\",\"code\":404,"
		"\"details\":{\"name\":\"a\",\"kind\":\"pods\"}}",
		"\"status\":\"Failure\",\"message\":\"sandboxclaims.extensions.agents.x-k8s.io "
		"\\\"a\\\" already exists\",\"reason\":\"AlreadyExists\",\"code\":409,"
		"\"details\":{\"name\":\"a\",\"group\":\"extensions.agents.x-k8s.io\","
		"\"kind\":\"sandboxclaims\"}}",
		"\"status\":\"Failure\",\"message\":\"object is being deleted: pods \\\"a\\\" "
		"already exists\",\"reason\":\"AlreadyExists\",\"code\":409,"
		"\"details\":{\"name\":\"a\",\"kind\":\"pods\"}}",
		"\"status\":\"Failure\",\"message\":\"Operation cannot be fulfilled on pods "
		"\\\"a\\\": changed\",\"reason\":\"Conflict\",\"code\":409,"
		"\"details\":{\"name\":\"a\",\"kind\":\"pods\"}}",
		"\"status\":\"Success\",\"details\":{\"kind\":\"pods\"}}",
	};
	(void)state;
	cJSON *const made[] = {
		k8s_status_not_found(&k8s_pods, "a"),
		k8s_status_exists(&k8s_sandboxclaims, "a", false),
		k8s_status_exists(&k8s_pods, "a", true),
		k8s_status_conflict(&k8s_pods, "a", "changed"),
		k8s_status_about(k8s_status_success(), &k8s_pods, NULL),
	};
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		char *text = text_of(made[i]);
		assert_memory_equal(text, head, sizeof head - 1);
		assert_string_equal(text + sizeof head - 1, rows[i]);
		free(text);
	}
}

static void causes(void **state)
{
	(void)state;
	for (int n = 1; n <= 2; n++) {
		cJSON *list = cJSON_CreateArray();
		for (int i = 0; i < n; i++)
			k8s_status_add_cause(list, "FieldValueInvalid", "spec.a", "bad %d", i);
		cJSON *status = k8s_status_invalid(&k8s_pods, "p", list);
		assert_string_equal(json_str(status, "message", NULL),
			n == 1 ? "Pod \"p\" is invalid: spec.a: bad 0"
			       : "Pod \"p\" is invalid: [spec.a: bad 0, spec.a: bad 1]");
		assert_int_equal(
			cJSON_GetArraySize(json_get(status, "details", "causes", NULL)), n);
		assert_string_equal(json_str(status, "details", "kind", NULL), "Pod");
		cJSON_Delete(status);
	}
}

static void when_to_come_again(void **state)
{
	(void)state;
	cJSON *status = k8s_status_about(
		k8s_status_new(K8S_TOO_MANY_REQUESTS, "later"), &k8s_pods, "a");
	assert_int_equal(k8s_status_retry_after_s(status), -1);
	assert_int_equal(k8s_status_retry_after_s(NULL), -1);
	cJSON_AddNumberToObject(
		cJSON_GetObjectItemCaseSensitive(status, "details"), "retryAfterSeconds", 7);
	assert_int_equal(k8s_status_retry_after_s(status), 7);
	cJSON_Delete(status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(an_expired_version_counts_by_its_reason),
		cmocka_unit_test(wording),
		cmocka_unit_test(causes),
		cmocka_unit_test(when_to_come_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
