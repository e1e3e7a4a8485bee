// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/path.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { NO, R, RW }; /* refused, fine to read, fine to write too */

static const struct {
	const char *path;
	int allowed;
	const char *url; /* of what may be read */
} cases[] = {
	{ "", R, "/v1/files/" },
	{ ".", R, "/v1/files/" },
	{ "./.", R, "/v1/files/" },
	{ "a.txt", RW, "/v1/files/a.txt" },
	{ "./a.txt", RW, "/v1/files/a.txt" },
	{ "d/a.txt", RW, "/v1/files/d/a.txt" },
	{ "d//a.txt", RW, "/v1/files/d/a.txt" },
	{ "d/./a.txt", RW, "/v1/files/d/a.txt" },
	{ "d/", R, "/v1/files/d" },
	{ "d/.", R, "/v1/files/d" },
	{ "...", RW, "/v1/files/..." },
	{ ".hidden", RW, "/v1/files/.hidden" },
	{ "..a/b..", RW, "/v1/files/..a/b.." },
	{ "-rf", RW, "/v1/files/-rf" },
	{ "a b", RW, "/v1/files/a%20b" },
	{ "a+b%20c", RW, "/v1/files/a%2Bb%2520c" },
	{ "a?b#c&d=e", RW, "/v1/files/a%3Fb%23c%26d%3De" },
	{ "x\ny", RW, "/v1/files/x%0Ay" },
	{ "\xC3\xBC~_.-", RW, "/v1/files/%C3%BC~_.-" },
	{ "\xFF\x1B[2J", RW, "/v1/files/%FF%1B%5B2J" },
	{ "a\\..\\b", RW, "/v1/files/a%5C..%5Cb" },
	{ "%2e%2e/x", RW, "/v1/files/%252e%252e/x" },
	{ "/", NO, NULL },
	{ "/etc/passwd", NO, NULL },
	{ "//x", NO, NULL },
	{ "..", NO, NULL },
	{ "../x", NO, NULL },
	{ "d/../x", NO, NULL },
	{ "d/..", NO, NULL },
	{ "d/../", NO, NULL },
	{ "./..", NO, NULL },
};

static void test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { .code = ERR_NONE };
		bool read = path_check(cases[i].path, PATH_READ, &err);
		bool write = path_check(cases[i].path, PATH_WRITE, NULL);
		if (read != (cases[i].allowed != NO) || write != (cases[i].allowed == RW))
			fail_msg("\"%s\": read %d write %d", cases[i].path, read, write);
		assert_int_equal(err.code, read ? ERR_NONE : ERR_ARG_PATH);
	}
}

static void test_url(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].url == NULL)
			continue;
		char *url = path_to_url(cases[i].path);
		assert_string_equal(url, cases[i].url);
		free(url);
	}
}

static void test_normalize_join_base(void **state)
{
	(void)state;
	static const struct {
		const char *path, *normal, *base;
	} table[] = { { "", "", "" }, { ".", "", "." }, { "a//b/./c/", "a/b/c", "" },
		{ "./x", "x", "x" }, { "a/b", "a/b", "b" } };
	for (size_t i = 0; i < COUNT(table); i++) {
		char *normal = path_normalize(table[i].path);
		assert_string_equal(normal, table[i].normal);
		assert_string_equal(path_base(table[i].path), table[i].base);
		free(normal);
	}
	static const char *const joins[][3] = { { "", "x", "x" }, { "d", "x", "d/x" },
		{ "d/", "x", "d/x" }, { "d/", "/x", "d/x" }, { "/", "x", "/x" },
		{ "a/b", "c/d", "a/b/c/d" } };
	for (size_t i = 0; i < COUNT(joins); i++) {
		char *joined = path_join(joins[i][0], joins[i][1]);
		assert_string_equal(joined, joins[i][2]);
		free(joined);
	}
}

static void test_safe_names(void **state)
{
	(void)state;
	char name[256];
	memset(name, 'a', sizeof name);
	assert_true(path_is_safe_name("a", 1));
	assert_true(path_is_safe_name("..a", 3));
	assert_true(path_is_safe_name("\xFF", 1));
	assert_true(path_is_safe_name("\n", 1));
	assert_true(path_is_safe_name(name, 255));
	assert_false(path_is_safe_name(name, 256));
	assert_false(path_is_safe_name("", 0));
	assert_false(path_is_safe_name(".", 1));
	assert_false(path_is_safe_name("..", 2));
	assert_false(path_is_safe_name("a/b", 3));
	assert_false(path_is_safe_name("/", 1));
	assert_false(path_is_safe_name("a\0b", 3));
	assert_false(path_is_safe_name("..\0", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_url),
		cmocka_unit_test(test_normalize_join_base),
		cmocka_unit_test(test_safe_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
