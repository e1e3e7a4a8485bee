// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/labels.h"

#include <stdio.h>
#include <string.h>

static void labels_of(const char *json, struct str *out)
{
	cJSON *object = cJSON_Parse(json);
	assert_non_null(object);
	str_init(out, K8S_LABELS_BYTES_MAX);
	k8s_labels_format(object, out);
	cJSON_Delete(object);
}

static void labels_are_one_text(void **state)
{
	(void)state;
	struct str text;
	labels_of("{\"metadata\":{\"labels\":{\"app\":\"x\",\"empty\":\"\",\"a.b/c\":\"y\"}}}",
		&text);
	assert_string_equal(text.p, "app=x,empty=,a.b/c=y");
	str_deinit(&text);
	labels_of("{\"metadata\":{\"labels\":[\"app\"]}}", &text);
	assert_string_equal(text.p, "");
	str_deinit(&text);
}

static void what_would_read_as_another_label_is_left_out(void **state)
{
	(void)state;
	struct str text;
	labels_of(
		"{\"metadata\":{\"labels\":{\"a\":\"1,b=2\",\"c=d\":\"3\",\"n\":7,\"ok\":\"4\"}}}",
		&text);
	assert_string_equal(text.p, "ok=4");
	str_deinit(&text);
}

static void a_label_that_does_not_fit_is_left_out_whole(void **state)
{
	(void)state;
	struct str text;
	char json[2 * K8S_LABELS_BYTES_MAX], value[K8S_LABELS_BYTES_MAX];
	memset(value, 'v', sizeof value);
	value[sizeof value - 1] = '\0';
	snprintf(json, sizeof json,
		"{\"metadata\":{\"labels\":{\"huge\":\"%s\",\"app\":\"x\"}}}", value);
	labels_of(json, &text);
	assert_string_equal(text.p, "app=x");
	str_deinit(&text);
}

static void a_value_is_found_by_its_whole_key(void **state)
{
	(void)state;
	const char *labels = "app=x,empty=,apple=y";
	size_t n = 0;
	const char *value = k8s_labels_find(labels, "app", &n);
	assert_int_equal(n, 1);
	assert_memory_equal(value, "x", n);
	assert_non_null(k8s_labels_find(labels, "empty", &n));
	assert_int_equal(n, 0);
	value = k8s_labels_find(labels, "apple", &n);
	assert_memory_equal(value, "y", n);
	assert_null(k8s_labels_find(labels, "appl", &n));
	assert_null(k8s_labels_find("", "app", &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_one_text),
		cmocka_unit_test(what_would_read_as_another_label_is_left_out),
		cmocka_unit_test(a_label_that_does_not_fit_is_left_out_whole),
		cmocka_unit_test(a_value_is_found_by_its_whole_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
