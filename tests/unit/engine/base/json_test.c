// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void test_parse_refuses(void **state)
{
	(void)state;
	static const char *const bad[] = { "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1}x", "nul",
		"\"abc", "[1 2]", "{}{}", "\xEF\xBB\xBF", "'a'" };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err err = { .code = ERR_NONE };
		if (json_parse(slice_of(bad[i]), &err) != NULL)
			fail_msg("%s was accepted", bad[i]);
		assert_int_equal(err.code, ERR_RUNTIME_PROTOCOL);
	}
}

static char *nested(size_t depth)
{
	char *text = x_malloc(2 * depth + 1);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
	return text;
}

static void test_depth_has_a_limit(void **state)
{
	(void)state;
	struct err err;
	char *text = nested(JSON_MAX_DEPTH);
	cJSON *value = json_parse(slice_of(text), &err);
	assert_non_null(value);
	cJSON_Delete(value);
	free(text);
	text = nested(JSON_MAX_DEPTH + 1);
	assert_null(json_parse(slice_of(text), &err));
	assert_int_equal(err.code, ERR_LIMIT_RESPONSE);
	free(text);
	/* brackets inside strings do not count */
	struct str quoted;
	str_init(&quoted, 10000);
	str_add(&quoted, "[\"");
	for (int i = 0; i < 1000; i++)
		str_add(&quoted, "[\\\"{");
	str_add(&quoted, "\"]");
	value = json_parse((struct slice){ quoted.p, quoted.n }, &err);
	assert_non_null(value);
	cJSON_Delete(value);
	str_deinit(&quoted);
}

static void test_size_has_a_limit(void **state)
{
	(void)state;
	size_t n = JSON_MAX_BYTES + 1;
	char *text = x_malloc(n);
	memset(text, ' ', n);
	text[0] = '1';
	struct err err;
	assert_null(json_parse((struct slice){ text, n }, &err));
	assert_int_equal(err.code, ERR_LIMIT_RESPONSE);
	cJSON *value = json_parse((struct slice){ text, n - 1 }, &err);
	assert_non_null(value);
	cJSON_Delete(value);
	free(text);
}

static void test_not_terminated_input(void **state)
{
	(void)state;
	char exact[3] = { '1', '2', '3' };
	struct err err;
	char *heap = malloc(3);
	assert_non_null(heap);
	memcpy(heap, exact, 3);
	cJSON *value = json_parse((struct slice){ heap, 3 }, &err);
	assert_non_null(value);
	assert_int_equal(value->valueint, 123);
	cJSON_Delete(value);
	free(heap);
}

static void test_look_ups_never_crash(void **state)
{
	(void)state;
	struct err err;
	cJSON *o = json_parse(
		slice_of("{\"a\":{\"b\":{\"c\":\"text\",\"n\":42,\"f\":1.9,\"t\":true,"
			 "\"big\":1e300,\"neg\":-7,\"null\":null}},\"l\":[1],\"A\":1}"),
		&err);
	assert_non_null(o);
	assert_string_equal(json_str(o, "a", "b", "c", NULL), "text");
	assert_int_equal(json_int(o, -1, "a", "b", "n", NULL), 42);
	assert_int_equal(json_int(o, -1, "a", "b", "neg", NULL), -7);
	assert_int_equal(json_int(o, -1, "a", "b", "f", NULL), 1);
	assert_int_equal(json_int(o, -1, "a", "b", "big", NULL), -1);
	assert_int_equal(json_int(o, -1, "a", "b", "c", NULL), -1);
	assert_true(json_bool(o, false, "a", "b", "t", NULL));
	assert_true(json_bool(o, true, "a", "b", "c", NULL));
	assert_false(json_bool(o, false, "a", "nope", "t", NULL));
	assert_null(json_str(o, "a", "b", "n", NULL));
	assert_null(json_str(o, "a", "b", "c", "d", NULL));
	assert_null(json_str(o, "l", "0", NULL));
	assert_null(json_str(o, "nope", "b", NULL));
	assert_null(json_str(NULL, "a", NULL));
	assert_null(json_str(o, "a", "b", "null", NULL));
	assert_int_equal(json_int(o, 0, "A", NULL), 1); /* case counts */
	assert_ptr_equal(json_get(o, NULL), o);
	cJSON_Delete(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_depth_has_a_limit),
		cmocka_unit_test(test_size_has_a_limit),
		cmocka_unit_test(test_not_terminated_input),
		cmocka_unit_test(test_look_ups_never_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
