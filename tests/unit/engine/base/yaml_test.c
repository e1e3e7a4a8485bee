// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void test_values(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "", "null" },
		{ "# only a comment\n", "null" },
		{ "a: 1\nb: two\n", "{\"a\":1,\"b\":\"two\"}" },
		{ "- 1\n- [2, 3]\n- {x: y}\n", "[1,[2,3],{\"x\":\"y\"}]" },
		{ "a:\nb: ~\nc: null\n", "{\"a\":null,\"b\":null,\"c\":null}" },
		{ "[true, True, TRUE, false]", "[true,true,true,false]" },
		{ "[yes, no, on, off, y]", "[\"yes\",\"no\",\"on\",\"off\",\"y\"]" },
		{ "['true', \"1\", !!str 2, '']", "[\"true\",\"1\",\"2\",\"\"]" },
		{ "[0x1F, 0o17, -3, +4, 1.5, 1e3, .5]", "[31,15,-3,4,1.5,1000,0.5]" },
		{ "[1.2.3, 1_000, 0x, 1e, -, ., 12abc, 2026-01-02]",
			"[\"1.2.3\",\"1_000\",\"0x\",\"1e\",\"-\",\".\",\"12abc\",\"2026-01-02\"]" },
		/* not what a double can hold: stays text */
		{ "[9007199254740993, .inf, .nan]",
			"[\"9007199254740993\",\".inf\",\".nan\"]" },
		{ "a: |\n  x\n  y\nb: >\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\"}" },
		{ "a: &n {x: 1}\nb: *n\n", "{\"a\":{\"x\":1},\"b\":{\"x\":1}}" },
		{ "- &a 1\n- &a 2\n- *a\n", "[1,2,2]" },
		{ "true: 1\n2: x\n", "{\"true\":1,\"2\":\"x\"}" },
		{ "--- {a: b}\n...\n", "{\"a\":\"b\"}" },
		{ "[!!binary aGk=, !!binary 'w7wK', !!binary \"Z\\n G 8=\", !!binary '']",
			"[\"hi\",\"ü\\n\",\"do\",\"\"]" },
		{ "{\"json\": [1, {\"x\": null}]}", "{\"json\":[1,{\"x\":null}]}" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { .code = ERR_NONE };
		cJSON *value = yaml_parse(slice_of(cases[i][0]), &err);
		if (value == NULL)
			fail_msg("%s: %s", cases[i][0], err.msg);
		char *text = cJSON_PrintUnformatted(value);
		assert_string_equal(text, cases[i][1]);
		free(text);
		cJSON_Delete(value);
	}
}

static void test_refused(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{ "a: [1", "did not find expected" },
		{ "a: 1\na: 2\n", "\"a\" occurs twice" },
		{ "a: b: c\n", "line 1, column" },
		{ "x: 1\n\ty: 2\n", "line 2" },
		{ "*nope", "unknown alias" },
		{ "&a [*a]", "unknown alias" },
		{ "? [1]\n: 2\n", "key must be plain text" },
		{ "? {a: 1}\n: 2\n", "key must be plain text" },
		{ "- &k k\n- {*k : 1}\n", "key must be plain text" },
		{ "a: 1\n---\nb: 2\n", "more than one document" },
		{ "a: \"\\0\"\n", "NUL" },
		{ "a: !!binary '*'", "not base64" },
		{ "a: !!binary /w==", "not text" },
		{ "a: !!binary AGE=", "not text" },
		{ "\xFF\xFE\xFF", "line" },
		{ "a: \x01\n", "line" },
		{ "%YAML 3.0\n---\na\n", "line" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { .code = ERR_NONE };
		cJSON *value = yaml_parse(slice_of(cases[i][0]), &err);
		if (value != NULL || err.code != ERR_CONFIG_FILE ||
			strstr(err.msg, cases[i][1]) == NULL)
			fail_msg("%s: %s", cases[i][0], value ? "accepted" : err.msg);
	}
}

static void expect_limit(struct str *text, const char *what)
{
	struct err err;
	assert_null(yaml_parse((struct slice){ text->p, text->n }, &err));
	if (strstr(err.msg, what) == NULL)
		fail_msg("%s", err.msg);
	str_deinit(text);
}

static void test_limits(void **state)
{
	(void)state;
	struct str text;
	str_init(&text, 4 << 20);
	for (int i = 0; i < 65; i++)
		str_add_char(&text, '[');
	for (int i = 0; i < 65; i++)
		str_add_char(&text, ']');
	struct err err;
	cJSON *value = yaml_parse((struct slice){ text.p + 1, 128 }, &err);
	assert_non_null(value);
	cJSON_Delete(value);
	expect_limit(&text, "nested too deeply");

	/* "billion laughs" */
	str_init(&text, 4 << 20);
	str_add(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 12; i++)
		str_addf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1,
			i - 1, i - 1, i - 1);
	expect_limit(&text, "too many aliases");

	str_init(&text, 4 << 20);
	str_add(&text, "a: &a {b: {c: {d: 1}}}\nx: ");
	for (int i = 0; i < 61; i++)
		str_add_char(&text, '[');
	str_add(&text, "*a");
	for (int i = 0; i < 61; i++)
		str_add_char(&text, ']');
	expect_limit(&text, "nested too deeply");

	str_init(&text, 4 << 20);
	for (int i = 0; i < 300; i++)
		str_addf(&text, "- &a%d x\n", i);
	expect_limit(&text, "too many anchors");

	str_init(&text, 4 << 20);
	while (text.n <= 1 << 20)
		str_add(&text, "# comment\n");
	expect_limit(&text, "more than");
}

static bool is_read(struct str *text)
{
	struct err err;
	cJSON *value = yaml_parse((struct slice){ text->p, text->n }, &err);
	bool ok = value != NULL;
	cJSON_Delete(value);
	str_deinit(text);
	return ok;
}

/* As many as allowed, and one more. */
static void test_limits_to_the_last(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct str text;
		str_init(&text, 4 << 20);
		for (int i = 0; i < 256 + more; i++)
			str_addf(&text, "- &a%d x\n", i);
		assert_int_equal(is_read(&text), !more);
		str_init(&text, 4 << 20);
		str_add(&text, "- &a x\n");
		for (int i = 0; i < 1000 + more; i++)
			str_add(&text, "- *a\n");
		assert_int_equal(is_read(&text), !more);
		/* an alias of ten nodes counts ten times */
		str_init(&text, 4 << 20);
		str_add(&text, "- &a [1,2,3,4,5,6,7,8,9]\n- &b x\n");
		for (int i = 0; i < 100; i++)
			str_add(&text, "- *a\n");
		if (more)
			str_add(&text, "- *b\n");
		assert_int_equal(is_read(&text), !more);
		/* as deep as it may be, by an alias */
		str_init(&text, 4 << 20);
		str_add(&text, "- &a [[1]]\n- ");
		for (int i = 0; i < 60 + more; i++)
			str_add_char(&text, '[');
		str_add(&text, "*a");
		for (int i = 0; i < 60 + more; i++)
			str_add_char(&text, ']');
		assert_int_equal(is_read(&text), !more);
		str_init(&text, 4 << 20);
		while (text.n < 1 << 20)
			str_add_char(&text, text.n % 100 ? '#' : '\n');
		if (more)
			str_add_char(&text, '\n');
		assert_int_equal(is_read(&text), !more);
	}
}

/* Where it is wrong, counted from one. */
static void test_places_of_errors(void **state)
{
	static const char *const cases[][2] = {
		{ "*nope", "line 1, column 1: unknown alias" },
		{ "a: 1\nb:\n  - *nope\n", "line 3, column 5: unknown alias" },
		{ "a: 1\nb: {c: 1, c: 2}\n", "line 2, column 11: the key \"c\" occurs twice" },
		{ "a: 1\n---\nb: 2\n", "line 2, column 1: more than one document" },
		{ "a: 1\nb: !!binary '*'\n", "line 2, column 4: !!binary that is not base64" },
		{ "b: !!binary /w==\n", "line 1, column 4: !!binary that is not text" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		assert_null(yaml_parse(slice_of(cases[i][0]), &err));
		assert_string_equal(err.msg, cases[i][1]);
	}
}

static void test_numbers(void **state)
{
	static const char *const cases[][2] = {
		{ "[0, 00, 007, 0o, 0o8, 0xg, -0x1, +0o1]",
			"[0,0,7,\"0o\",\"0o8\",\"0xg\",\"-0x1\",\"+0o1\"]" },
		{ "[1., .5, 1.e1, 1e, 1e+, 1E-1, 1e+1, +.5, -1.5e0]",
			"[1,0.5,10,\"1e\",\"1e+\",0.1,10,0.5,-1.5]" },
		{ "[9007199254740992, -9007199254740992]",
			"[\"9007199254740992\",\"-9007199254740992\"]" },
		{ "[1e400, 1x, 1.2.3, +, '', Null, NULL, False, FALSE]",
			"[\"1e400\",\"1x\",\"1.2.3\",\"+\",\"\",null,null,false,false]" },
		{ "[! 12, !!str true, !!int 5, ~]", "[\"12\",\"true\",5,null]" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		cJSON *value = yaml_parse(slice_of(cases[i][0]), &err);
		if (value == NULL)
			fail_msg("%s: %s", cases[i][0], err.msg);
		char *text = cJSON_PrintUnformatted(value);
		assert_string_equal(text, cases[i][1]);
		free(text);
		cJSON_Delete(value);
	}
}

static void test_the_largest_number(void **state)
{
	static const char *const texts[] = { "9007199254740991", "-9007199254740991" };
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		cJSON *value = yaml_parse(slice_of(texts[i]), NULL);
		assert_true(cJSON_IsNumber(value));
		assert_true(
			value->valuedouble == (i ? -9007199254740991.0 : 9007199254740991.0));
		cJSON_Delete(value);
	}
}

static void test_many_keys_are_fast_enough(void **state)
{
	(void)state;
	struct str text;
	str_init(&text, 1 << 20);
	for (int i = 0; i < 60000; i++)
		str_addf(&text, "key%d: 1\n", i);
	struct err err;
	cJSON *value = yaml_parse((struct slice){ text.p, text.n }, &err);
	assert_non_null(value);
	cJSON_Delete(value);
	str_deinit(&text);
}

static void test_what_is_written_reads_back(void **state)
{
	(void)state;
	static const char source[] =
		"{\"s\":\"text\",\"b\":\"true\",\"n\":\"123\",\"e\":\"\",\"t\":\"~\",\"d\":\"-\","
		"\"c\":\"a: b\",\"h\":\"# x\",\"m\":\"one\\ntwo\\n\",\"sp\":\" lead\",\"q\":\"'\\\"\","
		"\"u\":\"\xC3\xBC\",\"x\":\"\\u001b[2J\",\"i\":42,\"f\":1.5,\"y\":true,\"z\":null,"
		"\"l\":[1,[],{},[{\"k\":\"v\"}]],\"1\":\"one\",\"null\":0,\"star\":\"*a\","
		"\"nl\":\"\\n\",\"tab\":\"\\tx\",\"cr\":\"a\\r\\nb\",\"doc\":\"---\\n\"}";
	struct err err;
	cJSON *value = json_parse(slice_of(source), &err);
	assert_non_null(value);
	struct str text;
	str_init(&text, 10000);
	yaml_format(value, &text);
	cJSON *back = yaml_parse((struct slice){ text.p, text.n }, &err);
	if (back == NULL)
		fail_msg("%s\n%s", err.msg, text.p);
	char *one = cJSON_PrintUnformatted(value), *two = cJSON_PrintUnformatted(back);
	assert_string_equal(one, two);
	free(one);
	free(two);
	cJSON_Delete(value);
	cJSON_Delete(back);
	str_deinit(&text);
}

static void test_format_is_block_style(void **state)
{
	(void)state;
	struct err err;
	cJSON *value = json_parse(slice_of("{\"a\":{\"b\":[1,\"x\"]},\"c\":[]}"), &err);
	struct str text;
	str_init(&text, 1000);
	yaml_format(value, &text);
	assert_string_equal(text.p, "a:\n  b:\n  - 1\n  - x\nc: []\n");
	cJSON_Delete(value);
	/* text is plain where that is the same text, and else quoted or kept in lines */
	value = json_parse(slice_of("{\"a\":\"x y\",\"b\":\"12\",\"c\":\"\",\"d\":\"l\\nm\\n\","
				    "\"e\":{},\"f\":null,\"g\":\"\\u001b\",\"h\":\"t\\tx\"}"),
		&err);
	str_clear(&text);
	yaml_format(value, &text);
	assert_string_equal(text.p,
		"a: x y\nb: \"12\"\nc: \"\"\nd: |\n  l\n  m\ne: {}\nf: null\ng: \"\\e\"\n"
		"h: \"t\\tx\"\n");
	cJSON_Delete(value);
	str_deinit(&text);
}

static void test_file_errors_name_the_file(void **state)
{
	(void)state;
	struct err err;
	assert_null(yaml_parse_file("/nonexistent/config", 1000, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_non_null(strstr(err.msg, "/nonexistent/config"));
	char path[] = "/tmp/sandmux-yaml-test-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	fputs("a: [1", file);
	fclose(file);
	assert_null(yaml_parse_file(path, 1000, &err));
	assert_int_equal(err.code, ERR_CONFIG_FILE);
	assert_non_null(strstr(err.msg, path));
	assert_null(yaml_parse_file(path, 3, &err));
	assert_int_equal(err.code, ERR_LIMIT_RESPONSE);
	remove(path);
}

static void test_lines_of_keys(void **state)
{
	static const char text[] =
		"a: 1\nb:\n  - { c: 1 }\n  - c\nc:\n  d: { e: 1,\n    f: 2 }\n"
		"  \"g\": {}\n";
	static const struct {
		const char *keys[4];
		size_t line;
	} rows[] = { { { "a" }, 1 }, { { "b" }, 2 }, { { "c" }, 5 }, { { "c", "d" }, 6 },
		{ { "c", "d", "e" }, 6 }, { { "c", "d", "f" }, 7 }, { { "c", "g" }, 8 },
		{ { "c", "g", "x" }, 0 }, { { "b", "c" }, 0 }, { { "a", "x" }, 0 },
		{ { "x" }, 0 }, { { NULL }, 0 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(yaml_line_of(slice_of(text), rows[i].keys), rows[i].line);
	static const char *const a[] = { "a", NULL };
	assert_int_equal(yaml_line_of(slice_of(""), a), 0);
	assert_int_equal(yaml_line_of(slice_of("[a]"), a), 0);
	assert_int_equal(yaml_line_of(slice_of("{ b: 1"), a), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_limits_to_the_last),
		cmocka_unit_test(test_places_of_errors),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_the_largest_number),
		cmocka_unit_test(test_many_keys_are_fast_enough),
		cmocka_unit_test(test_what_is_written_reads_back),
		cmocka_unit_test(test_format_is_block_style),
		cmocka_unit_test(test_lines_of_keys),
		cmocka_unit_test(test_file_errors_name_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
