// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "local/server/store/selector.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static cJSON *object(const char *labels)
{
	char text[512];
	snprintf(text, sizeof text,
		"{\"metadata\":{\"name\":\"n\",\"namespace\":\"d\",\"labels\":%s},"
		"\"status\":{\"phase\":\"Running\"}}",
		labels);
	cJSON *o = cJSON_Parse(text);
	assert_non_null(o);
	return o;
}

static void test_labels(void **state)
{
	static const struct {
		const char *selector, *labels;
		bool matches;
	} cases[] = {
		{ "", "{}", true },
		{ " \n", "{}", true },
		{ "a=b", "{\"a\":\"b\"}", true },
		{ "a=b", "{\"a\":\"c\"}", false },
		{ "a=b", "{}", false },
		{ "!a", "null", true },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		bool ok;
		struct k8s_selector *s = selector_parse_labels(cases[i].selector, &ok, &err);
		if (!ok)
			fail_msg("%s: %s", cases[i].selector, err.msg);
		cJSON *o = object(cases[i].labels);
		if (selector_matches_labels(s, o) != cases[i].matches)
			fail_msg("%s on %s", cases[i].selector, cases[i].labels);
		cJSON_Delete(o);
		k8s_selector_free(s);
	}
}

static void test_bad_labels(void **state)
{
	static const char *const bad[] = { "=b", "a in (b", "a=-b" };
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err err = { 0 };
		bool ok = true;
		struct k8s_selector *s = selector_parse_labels(bad[i], &ok, &err);
		if (ok || s)
			fail_msg("'%s' was accepted", bad[i]);
		assert_int_equal(err.code, ERR_KUBE_BAD_REQUEST);
		assert_true(strlen(err.msg) > 0);
	}
}

static void test_fields(void **state)
{
	static const struct {
		const char *selector;
		bool matches;
	} cases[] = { { "metadata.name=n", true }, { "metadata.name==n", true },
		{ "metadata.name!=n", false }, { "metadata.name=n,metadata.namespace=d", true },
		{ "metadata.name=n,metadata.namespace=e", false },
		{ "status.phase=Running", true }, { "spec.nodeName=", true },
		{ "metadata.name=\\n", true } };
	(void)state;
	cJSON *o = object("{}");
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		bool ok;
		struct k8s_selector *s = selector_parse_fields(
			cases[i].selector, resource_of(KIND_POD), &ok, &err);
		if (!ok || selector_matches_fields(s, o) != cases[i].matches)
			fail_msg("%s", cases[i].selector);
		k8s_selector_free(s);
	}
	cJSON_Delete(o);
}

static void test_bad_fields(void **state)
{
	static const char *const bad[] = { "metadata.name", "spec.replicas=1", "=x",
		"metadata.name=a,b", "metadata.name!a", ",metadata.name=a" };
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err err = { 0 };
		bool ok = true;
		k8s_selector_free(
			selector_parse_fields(bad[i], resource_of(KIND_CLAIM), &ok, &err));
		if (ok)
			fail_msg("'%s' was accepted", bad[i]);
	}
}

static void test_name(void **state)
{
	bool ok;
	(void)state;
	struct k8s_selector *s = selector_parse_fields(
		"metadata.namespace=d,metadata.name=x", resource_of(KIND_CLAIM), &ok, NULL);
	assert_string_equal(selector_name(s), "x");
	k8s_selector_free(s);
	assert_null(selector_name(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_bad_labels),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_bad_fields),
		cmocka_unit_test(test_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
