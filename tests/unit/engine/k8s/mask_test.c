// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "engine/k8s/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *from, const char *to, size_t n)
{
	cJSON *object = json_parse(slice_of(from), NULL);
	assert_non_null(object);
	assert_int_equal(k8s_mask(object), n);
	char *text = cJSON_PrintUnformatted(object);
	assert_string_equal(text, to);
	free(text);
	cJSON_Delete(object);
}

static void test_what_is_masked(void **state)
{
	(void)state;
	check("{\"kind\":\"Secret\",\"data\":{\"a\":\"eA==\",\"b\":\"\"},\"stringData\":{\"c\":\"x\"}}",
		"{\"kind\":\"Secret\",\"data\":{\"a\":\"********\",\"b\":\"\"},"
		"\"stringData\":{\"c\":\"********\"}}",
		2);
	check("{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"eA==\"}}",
		"{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"eA==\"}}", 0);
	/* env at any depth, by name; one that is a reference stays */
	check("{\"spec\":{\"t\":[{\"env\":[{\"name\":\"my_Token\",\"value\":\"v\"},"
	      "{\"name\":\"MODE\",\"value\":\"v\"},{\"name\":\"KEY\",\"valueFrom\":{}}]}]}}",
		"{\"spec\":{\"t\":[{\"env\":[{\"name\":\"my_Token\",\"value\":\"********\"},"
		"{\"name\":\"MODE\",\"value\":\"v\"},{\"name\":\"KEY\",\"valueFrom\":{}}]}]}}",
		1);
	/* names and values that are no env */
	check("{\"spec\":{\"params\":[{\"name\":\"TOKEN\",\"value\":\"v\"}]}}",
		"{\"spec\":{\"params\":[{\"name\":\"TOKEN\",\"value\":\"v\"}]}}", 0);
}

static void test_annotations(void **state)
{
	(void)state;
	check("{\"metadata\":{\"annotations\":{\"x/api-token\":\"t\",\"x/binding-key\":\"k\","
	      "\"j\":\"eyJhbGciOiJI.eyJzdWIi.c2ln\",\"b\":\"bearer abc\",\"n\":3}}}",
		"{\"metadata\":{\"annotations\":{\"x/api-token\":\"********\",\"x/binding-key\":\"k\","
		"\"j\":\"********\",\"b\":\"********\",\"n\":3}}}",
		3);
	/* the object once more, as text */
	check("{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":"
	      "\"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"a\\\":\\\"x\\\"}}\"}}}",
		"{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":"
		"\"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"a\\\":\\\"********\\\"}}\"}}}",
		1);
	check("{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":"
	      "\"no json\"}}}",
		"{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":"
		"\"********\"}}}",
		1);
}

static void test_anything_else_is_left_alone(void **state)
{
	(void)state;
	check("{}", "{}", 0);
	check("{\"kind\":7,\"metadata\":[],\"env\":{\"name\":\"TOKEN\"}}",
		"{\"kind\":7,\"metadata\":[],\"env\":{\"name\":\"TOKEN\"}}", 0);
	check("{\"kind\":\"Secret\",\"data\":\"x\"}", "{\"kind\":\"Secret\",\"data\":\"x\"}",
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_masked),
		cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_anything_else_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
