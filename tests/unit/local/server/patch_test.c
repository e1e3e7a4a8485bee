// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "local/server/store/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void expect(cJSON *got, const char *wanted, const char *what)
{
	cJSON *want = cJSON_Parse(wanted);
	assert_non_null(want);
	if (!cJSON_Compare(got, want, true)) {
		char *text = cJSON_PrintUnformatted(got);
		fail_msg("%s: got %s, want %s", what, text, wanted);
	}
	cJSON_Delete(want);
	cJSON_Delete(got);
}

static void test_merge(void **state)
{
	/* the cases of RFC 7386, appendix A */
	static const char *const cases[][3] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
			"{\"a\":{\"b\":\"d\"}}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "{\"a\":\"foo\"}", "null", "null" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
		{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		cJSON *patch = cJSON_Parse(cases[i][1]);
		expect(store_patch_merge(cJSON_Parse(cases[i][0]), patch), cases[i][2],
			cases[i][1]);
		cJSON_Delete(patch);
	}
}

static void test_json_patch(void **state)
{
	static const char *const cases[][3] = {
		{ "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]",
			"{\"a\":1,\"b\":2}" },
		{ "{\"a\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]",
			"{\"a\":[1,2,3]}" },
		{ "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2}]",
			"{\"a\":[1,2]}" },
		{ "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]",
			"{\"a\":[1,2]}" },
		{ "{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}" },
		{ "{\"a\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]",
			"{\"a\":[1,3]}" },
		{ "{\"a\":[1,2,3]}", "[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":9}]",
			"{\"a\":[1,9,3]}" },
		{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"x\":1}}]",
			"{\"x\":1}" },
		{ "{\"a\":{\"b\":1},\"c\":{}}",
			"[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c/d\"}]",
			"{\"a\":{},\"c\":{\"d\":1}}" },
		/* not below itself: only the same name begins alike */
		{ "{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/ab\"}]",
			"{\"ab\":1}" },
		{ "{\"a\":1,\"b\":2}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]",
			"{\"a\":1,\"b\":2}" },
		{ "{\"ab\":1}", "[{\"op\":\"move\",\"from\":\"/ab\",\"path\":\"/a\"}]",
			"{\"a\":1}" },
		{ "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"}]",
			"{\"a\":{\"b\":1},\"c\":{\"b\":1}}" },
		{ "{\"a/b\":1,\"m~n\":2}",
			"[{\"op\":\"test\",\"path\":\"/a~1b\",\"value\":1},"
			"{\"op\":\"remove\",\"path\":\"/m~0n\"}]",
			"{\"a/b\":1}" },
		{ "{\"a\":null}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]",
			"{\"a\":null}" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		cJSON *doc = cJSON_Parse(cases[i][0]), *ops = cJSON_Parse(cases[i][1]);
		if (!store_patch_json(&doc, ops, &err))
			fail_msg("%s: %s", cases[i][1], err.msg);
		cJSON_Delete(ops);
		expect(doc, cases[i][2], cases[i][1]);
	}
}

static void test_json_patch_changes_nothing_when_it_fails(void **state)
{
	static const struct {
		const char *ops;
		enum err_code code;
	} cases[] = {
		{ "[{\"op\":\"add\",\"path\":\"/x\",\"value\":1},"
		  "{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]",
			ERR_KUBE_INVALID },
		{ "[{\"op\":\"remove\",\"path\":\"/nope\"}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"replace\",\"path\":\"/nope\",\"value\":1}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"add\",\"path\":\"/no/pe\",\"value\":1}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"add\",\"path\":\"/l/3\",\"value\":1}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"add\",\"path\":\"/l/x\",\"value\":1}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"add\",\"path\":\"/l/-1\",\"value\":1}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"move\",\"from\":\"/o\",\"path\":\"/o/p\"}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"copy\",\"from\":\"/zip\",\"path\":\"/y\"}]", ERR_KUBE_INVALID },
		{ "[{\"op\":\"add\",\"path\":\"x\",\"value\":1}]", ERR_KUBE_BAD_REQUEST },
		{ "[{\"op\":\"add\",\"path\":\"/x\"}]", ERR_KUBE_BAD_REQUEST },
		{ "[{\"op\":\"fly\",\"path\":\"/x\"}]", ERR_KUBE_BAD_REQUEST },
		{ "[{\"op\":\"move\",\"path\":\"/x\"}]", ERR_KUBE_BAD_REQUEST },
		{ "[1]", ERR_KUBE_BAD_REQUEST },
		{ "{}", ERR_KUBE_BAD_REQUEST },
	};
	static const char before[] = "{\"a\":1,\"l\":[1,2],\"o\":{}}";
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err err = { 0 };
		cJSON *doc = cJSON_Parse(before), *ops = cJSON_Parse(cases[i].ops);
		if (store_patch_json(&doc, ops, &err))
			fail_msg("%s was applied", cases[i].ops);
		assert_int_equal(err.code, cases[i].code);
		cJSON_Delete(ops);
		expect(doc, before, cases[i].ops);
	}
}

/* Copying the document into itself doubles it each time: it must not eat the machine. */
static void test_copy_bomb(void **state)
{
	struct err err = { 0 };
	cJSON *doc = cJSON_Parse("{\"a\":[1,2,3,4,5,6,7,8]}"), *ops = cJSON_CreateArray();
	(void)state;
	for (int i = 0; i < 64; i++) {
		cJSON *op = cJSON_CreateObject();
		char path[16];
		snprintf(path, sizeof path, "/c%d", i);
		cJSON_AddStringToObject(op, "op", "copy");
		cJSON_AddStringToObject(op, "from", "");
		cJSON_AddStringToObject(op, "path", path);
		cJSON_AddItemToArray(ops, op);
	}
	assert_false(store_patch_json(&doc, ops, &err));
	assert_int_equal(err.code, ERR_KUBE_INVALID);
	cJSON_Delete(ops);
	cJSON_Delete(doc);
}

static void test_three_way(void **state)
{
	static const char *const cases[][3] = {
		{ "{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", "{\"b\":{\"c\":3}}",
			"{\"b\":{\"c\":3,\"d\":null},\"a\":null}" },
		{ "null", "{\"a\":1}", "{\"a\":1}" },
		{ "{\"a\":[1]}", "{\"a\":[2]}", "{\"a\":[2]}" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		cJSON *last = cJSON_Parse(cases[i][0]), *to = cJSON_Parse(cases[i][1]);
		expect(store_patch_three_way(last, to), cases[i][2], cases[i][1]);
		cJSON_Delete(last);
		cJSON_Delete(to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_json_patch),
		cmocka_unit_test(test_json_patch_changes_nothing_when_it_fails),
		cmocka_unit_test(test_copy_bomb),
		cmocka_unit_test(test_three_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
