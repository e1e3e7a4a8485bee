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
	cJSON *o = api_protobuf_namespace((struct slice){ message, MESSAGE_BYTES });
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
		cJSON_Delete(api_protobuf_namespace((struct slice){ exact, n }));
		for (size_t i = 0; n == MESSAGE_BYTES && i < n; i++)
			for (int byte = 0; byte < 256; byte++) {
				exact[i] = (char)byte;
				cJSON_Delete(
					api_protobuf_namespace((struct slice){ exact, n }));
				exact[i] = message[i];
			}
		free(exact);
	}
	assert_null(api_protobuf_namespace((struct slice){ "k8s", 3 }));
	assert_null(api_protobuf_namespace((struct slice){ "x8s\0", 4 }));
}

/* The metadata of a Namespace, these bytes of it, in its envelope. NULL: refused. */
static void expect_metadata(const char *bytes, size_t n, const char *wanted, int line)
{
	char text[300] = "k8s";
	size_t at = 4;
	memcpy(text + at, "\x0a\x0b\x12\x09Namespace\x12", 14);
	at += 14;
	text[at++] = (char)(n + 2);
	text[at++] = 0x0a;
	text[at++] = (char)n;
	memcpy(text + at, bytes, n);
	cJSON *o = api_protobuf_namespace((struct slice){ text, at + n });
	char *is = o ? cJSON_PrintUnformatted(cJSON_GetObjectItem(o, "metadata")) : NULL;
	if ((is == NULL) != (wanted == NULL) || (is && strcmp(is, wanted) != 0))
		fail_msg("line %d: %s", line, is ? is : "refused");
	free(is);
	cJSON_Delete(o);
}
#define EXPECT(bytes, wanted) expect_metadata(bytes, sizeof(bytes) - 1, wanted, __LINE__)

static void test_fields(void **state)
{
	(void)state;
	EXPECT("", "{}");
	EXPECT("\x0a\x01n\x12\x01g", "{\"name\":\"n\",\"generateName\":\"g\"}");
	EXPECT("\x0a\x00", "{}");
	EXPECT("\x62\x06\x0a\x01k\x12\x01v", "{\"annotations\":{\"k\":\"v\"}}");
	/* the first of a key counts; a value may be missing, a key may not */
	EXPECT("\x5a\x06\x0a\x01k\x12\x01v\x5a\x06\x0a\x01k\x12\x01w\x5a\x03\x0a\x01l",
		"{\"labels\":{\"k\":\"v\",\"l\":\"\"}}");
	EXPECT("\x5a\x03\x12\x01v", "{}");
	/* other fields of every wire type are stepped over */
	EXPECT("\x08\x96\x01\x0a\x01n", "{\"name\":\"n\"}");
	EXPECT("\x09"
	       "12345678\x0a\x01n",
		"{\"name\":\"n\"}");
	EXPECT("\x0d"
	       "1234\x0a\x01n",
		"{\"name\":\"n\"}");
	EXPECT("\x1a\x01x\x0a\x01n", "{\"name\":\"n\"}");
	/* cut, of no wire type, without a number */
	EXPECT("\x09"
	       "1234567",
		NULL);
	EXPECT("\x0d"
	       "123",
		NULL);
	EXPECT("\x0a\x02n", NULL);
	EXPECT("\x08\x96", NULL);
	EXPECT("\x0b", NULL);
	EXPECT("\x0c", NULL);
	EXPECT("\x02\x01n", NULL);
	/* what is no text is no name */
	EXPECT("\x0a\x02n\0", "{}");
	EXPECT("\x0a\x01\xff", "{}");
	EXPECT("\x0a\x02\xc3\xa4", "{\"name\":\"\xc3\xa4\"}");
	EXPECT("\x0a\x02\xc3(", "{}");
}

static void test_what_is_no_namespace(void **state)
{
	static const char pod[] = "k8s\0\x0a\x05\x12\x03Pod\x12\x05\x0a\x03\x0a\x01n";
	static const char none[] = "k8s\0\x12\x05\x0a\x03\x0a\x01n";
	static const char no_kind[] = "k8s\0\x0a\x04\x0a\x02v1\x12\x05\x0a\x03\x0a\x01n";
	static const char no_body[] = "k8s\0\x0a\x0b\x12\x09Namespace";
	(void)state;
	assert_null(api_protobuf_namespace((struct slice){ pod, sizeof pod - 1 }));
	assert_null(api_protobuf_namespace((struct slice){ none, sizeof none - 1 }));
	assert_null(api_protobuf_namespace((struct slice){ no_kind, sizeof no_kind - 1 }));
	assert_null(api_protobuf_namespace((struct slice){ no_body, sizeof no_body - 1 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_what_is_no_namespace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
