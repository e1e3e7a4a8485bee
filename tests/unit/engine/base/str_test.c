// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <stdlib.h>

static void test_grows_and_stays_terminated(void **state)
{
	(void)state;
	struct str s;
	str_init(&s, 1000000);
	assert_string_equal(s.p, "");
	for (int i = 0; i < 1000; i++) {
		str_add_char(&s, 'x');
		assert_int_equal(strlen(s.p), i + 1);
	}
	str_clear(&s);
	assert_string_equal(s.p, "");
	str_addf(&s, "%d %s", 7, "seven");
	str_add(&s, "!");
	assert_string_equal(s.p, "7 seven!");
	char large[1000];
	memset(large, 'y', sizeof large);
	str_clear(&s);
	str_addf(&s, "<%.*s>", (int)sizeof large,
		large); /* longer than the small buffer inside */
	assert_int_equal(s.n, 1002);
	assert_int_equal(s.p[1001], '>');
	str_deinit(&s);
	assert_string_equal(s.p, "");
}

static void test_stops_at_the_maximum(void **state)
{
	(void)state;
	struct str s;
	str_init(&s, 5);
	str_add(&s, "abc");
	assert_false(s.truncated);
	str_add(&s, "defg");
	assert_true(s.truncated);
	assert_string_equal(s.p, "abcde");
	str_add(&s, ""); /* and nothing more, even if it would fit */
	str_add_char(&s, 'x');
	assert_string_equal(s.p, "abcde");
	str_clear(&s);
	assert_false(s.truncated);
	str_add(&s, "12345");
	assert_false(s.truncated);
	str_deinit(&s);
	str_init(&s, 0);
	str_add(&s, "");
	assert_false(s.truncated);
	str_add(&s, "a");
	assert_true(s.truncated);
	assert_string_equal(s.p, "");
	str_deinit(&s);
}

static void test_take_hands_over(void **state)
{
	(void)state;
	struct str s;
	str_init(&s, 100);
	char *text = str_take(&s);
	assert_string_equal(text, "");
	free(text);
	str_add(&s, "one");
	text = str_take(&s);
	str_add(&s, "two");
	assert_string_equal(text, "one");
	assert_string_equal(s.p, "two");
	free(text);
	str_deinit(&s);
	struct str zeroed = { .p = NULL };
	str_deinit(&zeroed);
}

static void test_slices(void **state)
{
	(void)state;
	assert_int_equal(slice_of(NULL).n, 0);
	assert_true(slice_equals(slice_of("abc"), "abc"));
	assert_false(slice_equals((struct slice){ "abcd", 3 }, "abcd"));
	assert_true(slice_equals((struct slice){ "abcd", 3 }, "abc"));
	assert_false(slice_equals((struct slice){ "a\0b", 3 }, "a"));
}

static void test_arrays_grow(void **state)
{
	(void)state;
	size_t *items = NULL, capacity = 0;
	for (size_t i = 0; i < 1000; i++) {
		array_grow(&items, &capacity, i + 1, sizeof *items);
		items[i] = i;
	}
	assert_true(capacity >= 1000 && capacity < 4000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
	assert_null(x_strdup(NULL));
	char *text = x_asprintf("%s-%d", "a", 1);
	assert_string_equal(text, "a-1");
	free(text);
	text = x_strndup("hello", 2);
	assert_string_equal(text, "he");
	free(text);
	free(x_malloc(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_and_stays_terminated),
		cmocka_unit_test(test_stops_at_the_maximum),
		cmocka_unit_test(test_take_hands_over),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_arrays_grow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
