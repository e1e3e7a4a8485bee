// SPDX-License-Identifier: Apache-2.0
/* Keys and values of labels, annotations, owners and finalizers, at their limits. */
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "local/server/store/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* prefix and n letters */
static const char *long_one(const char *prefix, size_t n)
{
	static char text[2][600];
	static int turn;
	turn = !turn;
	size_t at = (size_t)snprintf(text[turn], sizeof text[0], "%s", prefix);
	memset(text[turn] + at, 'a', n);
	text[turn][at + n] = '\0';
	return text[turn];
}

static void keys_and_values(void **state)
{
	static const struct {
		const char *text;
		bool is_key, is_value;
	} rows[] = {
		{ "", false, true },
		{ "a", true, true },
		{ "A-b_c.9", true, true },
		{ "-a", false, false },
		{ "a-", false, false },
		{ ".a", false, false },
		{ "a_", false, false },
		{ "a b", false, false },
		{ "a\xc3\xbc", false, false },
		{ "a/b", true, false },
		{ "/b", false, false },
		{ "a/", false, false },
		{ "a/b/c", false, false },
		{ "A/b", false, false },
		{ "a_b/c", false, false },
		{ "a.b-c/D_e", true, false },
		{ "-a/b", false, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (metadata_is_label_key(rows[i].text) != rows[i].is_key ||
			metadata_is_label_value(rows[i].text) != rows[i].is_value)
			fail_msg("'%s'", rows[i].text);
	assert_true(metadata_is_label_value(long_one("", 63)));
	assert_false(metadata_is_label_value(long_one("", 64)));
	assert_true(metadata_is_label_key(long_one("", 63)));
	assert_false(metadata_is_label_key(long_one("", 64)));
	assert_true(metadata_is_label_key(long_one("a.b/", 63)));
	assert_false(metadata_is_label_key(long_one("a.b/", 64)));
	for (size_t n = 252; n <= 255; n++) {
		char key[600];
		snprintf(key, sizeof key, "%s/x", long_one("", n));
		assert_int_equal(metadata_is_label_key(key), n <= 253);
	}
}

/* How many causes a metadata has. */
static int causes_of(const char *metadata)
{
	char *text = malloc(strlen(metadata) + 20);
	snprintf(text, strlen(metadata) + 20, "{'metadata':%s}", metadata);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	cJSON *object = cJSON_Parse(text), *causes = cJSON_CreateArray();
	assert_non_null(object);
	metadata_check(object, causes);
	int n = cJSON_GetArraySize(causes);
	cJSON_Delete(causes);
	cJSON_Delete(object);
	free(text);
	return n;
}

static void what_is_complained_of(void **state)
{
	static const struct {
		const char *metadata;
		int causes;
	} rows[] = {
		{ "{}", 0 },
		{ "{'labels':null,'annotations':null}", 0 },
		{ "{'labels':{'a':'b'},'annotations':{'a/b':'any thing'}}", 0 },
		{ "{'labels':{'-':'b'}}", 1 },
		{ "{'labels':{'a':'-'}}", 1 },
		{ "{'labels':{'-':'-'}}", 2 },
		{ "{'labels':{'a':5}}", 1 },
		{ "{'labels':[]}", 1 },
		{ "{'labels':'x'}", 1 },
		{ "{'annotations':{'-':'b'}}", 1 },
		{ "{'annotations':{'a':null}}", 1 },
		{ "{'annotations':7}", 1 },
		{ "{'ownerReferences':[{'controller':true},{'controller':false},{}]}", 0 },
		{ "{'ownerReferences':[{'controller':true},{'controller':true}]}", 1 },
		{ "{'finalizers':['a/b','c']}", 0 },
		{ "{'finalizers':['-']}", 1 },
		{ "{'finalizers':['-','a b']}", 2 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (causes_of(rows[i].metadata) != rows[i].causes)
			fail_msg("%s: %d", rows[i].metadata, causes_of(rows[i].metadata));
}

static void annotations_have_a_limit(void **state)
{
	enum { LIMIT = 262144 };
	(void)state;
	for (int over = -1; over <= 1; over++) {
		size_t n = (size_t)(LIMIT - 1 + over); /* and the key */
		char *text = malloc(n + 100);
		size_t at = (size_t)snprintf(text, 100, "{'annotations':{'k':'");
		memset(text + at, 'x', n);
		snprintf(text + at + n, 10, "'}}");
		assert_int_equal(causes_of(text), over > 0);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_values),
		cmocka_unit_test(what_is_complained_of),
		cmocka_unit_test(annotations_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
