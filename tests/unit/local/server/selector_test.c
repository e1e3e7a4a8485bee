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
		struct k8s_selector *s =
			store_selector_parse_labels(cases[i].selector, &ok, &err);
		if (!ok)
			fail_msg("%s: %s", cases[i].selector, err.msg);
		cJSON *o = object(cases[i].labels);
		if (store_selector_matches_labels(s, o) != cases[i].matches)
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
		struct k8s_selector *s = store_selector_parse_labels(bad[i], &ok, &err);
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
		struct k8s_selector *s = store_selector_parse_fields(
			cases[i].selector, store_resource_of(KIND_POD), &ok, &err);
		if (!ok || store_selector_matches_fields(s, o) != cases[i].matches)
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
		k8s_selector_free(store_selector_parse_fields(
			bad[i], store_resource_of(KIND_CLAIM), &ok, &err));
		if (ok)
			fail_msg("'%s' was accepted", bad[i]);
	}
}

/* Each kind by its own fields, and by those of no other. */
static void test_which_fields(void **state)
{
	enum { POD = 1, EVENT = 2, NEW_EVENT = 4, NAMESPACE = 8, ANY = 16 };
	static const struct {
		const char *field;
		int kinds;
	} rows[] = {
		{ "metadata.name", POD | EVENT | NEW_EVENT | NAMESPACE | ANY },
		{ "metadata.namespace", POD | EVENT | NEW_EVENT | NAMESPACE | ANY },
		{ "status.phase", POD | NAMESPACE },
		{ "spec.nodeName", POD },
		{ "status.podIP", POD },
		{ "spec.restartPolicy", POD },
		{ "spec.serviceAccountName", POD },
		{ "spec.schedulerName", POD },
		{ "involvedObject.kind", EVENT },
		{ "involvedObject.namespace", EVENT },
		{ "involvedObject.name", EVENT },
		{ "involvedObject.uid", EVENT },
		{ "involvedObject.apiVersion", EVENT },
		{ "involvedObject.resourceVersion", EVENT },
		{ "involvedObject.fieldPath", EVENT },
		{ "reason", EVENT | NEW_EVENT },
		{ "reportingComponent", EVENT },
		{ "source", EVENT },
		{ "type", EVENT | NEW_EVENT },
		{ "regarding.kind", NEW_EVENT },
		{ "regarding.namespace", NEW_EVENT },
		{ "regarding.name", NEW_EVENT },
		{ "regarding.uid", NEW_EVENT },
		{ "regarding.apiVersion", NEW_EVENT },
		{ "regarding.resourceVersion", NEW_EVENT },
		{ "regarding.fieldPath", NEW_EVENT },
		{ "reportingController", NEW_EVENT },
		{ "metadata.uid", 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows) * store_resource_count; i++) {
		const struct store_resource *r =
			&store_resource_table[i % store_resource_count];
		size_t row = i / store_resource_count;
		char text[100];
		bool ok;
		int kind = r->kind == KIND_POD         ? POD
			   : r->kind == KIND_NAMESPACE ? NAMESPACE
			   : r->kind != KIND_EVENT     ? ANY
			   : r->is_view                ? NEW_EVENT
						       : EVENT;
		snprintf(text, sizeof text, "%s=x", rows[row].field);
		k8s_selector_free(store_selector_parse_fields(text, r, &ok, NULL));
		if (ok != ((rows[row].kinds & kind) != 0))
			fail_msg("%s of %s/%s", text, r->api->group, r->api->plural);
	}
}

static void test_where_fields_are(void **state)
{
	static const struct {
		const char *selector;
		bool matches;
	} rows[] = {
		{ "source=kubelet", true },
		{ "source=x", false },
		{ "type=Warning", true },
		{ "involvedObject.name=p", true },
		{ "involvedObject.name=", false },
		{ "involvedObject.uid=", true },
		{ "involvedObject.fieldPath=", true }, /* no text */
		{ "reason=", true },
	};
	(void)state;
	cJSON *o = cJSON_Parse("{\"type\":\"Warning\",\"source\":{\"component\":\"kubelet\"},"
			       "\"involvedObject\":{\"name\":\"p\",\"fieldPath\":5}}");
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool ok;
		struct k8s_selector *s = store_selector_parse_fields(
			rows[i].selector, store_resource_of(KIND_EVENT), &ok, NULL);
		if (!ok || store_selector_matches_fields(s, o) != rows[i].matches)
			fail_msg("%s", rows[i].selector);
		k8s_selector_free(s);
	}
	cJSON_Delete(o);
}

static void test_name(void **state)
{
	bool ok;
	(void)state;
	struct k8s_selector *s =
		store_selector_parse_fields("metadata.namespace=d,metadata.name=x",
			store_resource_of(KIND_CLAIM), &ok, NULL);
	assert_string_equal(store_selector_name(s), "x");
	k8s_selector_free(s);
	assert_null(store_selector_name(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_bad_labels),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_bad_fields),
		cmocka_unit_test(test_which_fields),
		cmocka_unit_test(test_where_fields_are),
		cmocka_unit_test(test_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
