// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "engine/kube/managed_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

static void cut(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "{\"a\":1}", "{\"a\":1}" },
		{ "{\"managedFields\":[]}", "{\"managedFields\":null}" },
		{ "{\"m\":{\"managedFields\" : [ {\"x\":[1,\"]}\\\"\\\\\",{}]} ] ,\"b\":2}}",
			"{\"m\":{\"managedFields\" : null ,\"b\":2}}" },
		/* not a key, another type, another word */
		{ "[\"managedFields\",[1]]", "[\"managedFields\",[1]]" },
		{ "{\"managedFields\":{\"a\":[]}}", "{\"managedFields\":{\"a\":[]}}" },
		{ "{\"managedFields2\":[1]}", "{\"managedFields2\":[1]}" },
		/* inside a string, and the real one behind it */
		{ "{\"a\":\"{\\\"managedFields\\\":[1]}\",\"managedFields\":[2]}",
			"{\"a\":\"{\\\"managedFields\\\":[1]}\",\"managedFields\":null}" },
		/* cut short */
		{ "{\"managedFields\":[{\"a\"", "{\"managedFields\":[{\"a\"" },
		{ "{\"managedFields\":[\"a\\", "{\"managedFields\":[\"a\\" },
		{ "{\"managedFields\":", "{\"managedFields\":" },
		{ "\"managedFields\"", "\"managedFields\"" },
		{ "", "" },
	};
	struct str scratch;
	str_init(&scratch, 1 << 16);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		/* an exact copy, so that a byte too far is seen */
		size_t n = strlen(rows[i].from);
		char *copy = malloc(n ? n : 1);
		assert_non_null(copy);
		memcpy(copy, rows[i].from, n);
		struct slice is =
			kube_without_managed_fields((struct slice){ copy, n }, &scratch);
		if (!slice_equals(is, rows[i].to))
			fail_msg("%s: %.*s", rows[i].from, (int)is.n, is.p);
		free(copy);
	}
	str_deinit(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(cut) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
