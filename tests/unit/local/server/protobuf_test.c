// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "local/server/api/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* Namespace {name: "red", labels: {"a": "b"}} as kubectl writes it. */
static const char message[] = "k8s\0"
			      "\x0a\x0f"
			      "\x0a\x02v1\x12\x09Namespace"
			      "\x12\x13"
			      "\x0a\x0d"
			      "\x0a\x03red"
			      "\x5a\x06\x0a\x01"
			      "a\x12\x01"
			      "b"
			      "\x12\x00\x1a\x00"
			      "\x1a\x00\x22\x00";
enum { MESSAGE_BYTES = sizeof message - 1 };

static void test_reads(void **state)
{
	(void)state;
	cJSON *o = protobuf_namespace((struct slice){ message, MESSAGE_BYTES });
	assert_non_null(o);
	char *text = cJSON_PrintUnformatted(o);
	assert_string_equal(text, "{\"metadata\":{\"name\":\"red\",\"labels\":{\"a\":\"b\"}}}");
	free(text);
	cJSON_Delete(o);
}

/* Cut anywhere, or with any byte changed: an answer or NULL, and nothing read outside. */
static void test_broken(void **state)
{
	(void)state;
	for (size_t n = 0; n <= MESSAGE_BYTES; n++) {
		char *exact = malloc(n ? n : 1);
		memcpy(exact, message, n);
		cJSON_Delete(protobuf_namespace((struct slice){ exact, n }));
		for (size_t i = 0; n == MESSAGE_BYTES && i < n; i++)
			for (int byte = 0; byte < 256; byte++) {
				exact[i] = (char)byte;
				cJSON_Delete(protobuf_namespace((struct slice){ exact, n }));
				exact[i] = message[i];
			}
		free(exact);
	}
	assert_null(protobuf_namespace((struct slice){ "k8s", 3 }));
	assert_null(protobuf_namespace((struct slice){ "x8s\0", 4 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
