// SPDX-License-Identifier: Apache-2.0
/* What is complained of in labels, annotations, owners and finalizers. */
#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "local/server/store/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	store_metadata_check(object, causes);
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
		cmocka_unit_test(what_is_complained_of),
		cmocka_unit_test(annotations_have_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
