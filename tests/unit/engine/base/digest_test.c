// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/digest.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void test_sha256_in_pieces(void **state)
{
	(void)state;
	char hex[DIGEST_SHA256_HEX];
	struct digest *d = digest_new();
	digest_finish_hex(d, hex);
	digest_free(d);
	assert_string_equal(
		hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	d = digest_new(); /* FIPS 180-2, appendix B.2 */
	digest_add(d, "abcdbcdecdefdefgefghfghighijhi", 30);
	digest_add(d, "jkijkljklmklmnlmnomnopnopq", 26);
	digest_finish_hex(d, hex);
	digest_free(d);
	assert_string_equal(
		hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	digest_free(NULL);
}

static void test_fnv1a(void **state)
{
	(void)state;
	assert_int_equal(digest_fnv1a32("", 0), 0x811c9dc5);
	assert_int_equal(digest_fnv1a32("a", 1), 0xe40c292c);
	assert_int_equal(digest_fnv1a32("foobar", 6), 0xbf9cf968);
}

/* RFC 4648, section 10 */
static void test_base64_vectors(void **state)
{
	(void)state;
	static const char *const cases[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" }, { "\xFB\xFF\xFE", "+//+" } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = digest_base64_encode(cases[i][0], strlen(cases[i][0]));
		assert_string_equal(text, cases[i][1]);
		size_t n = 99;
		void *bytes = digest_base64_decode(slice_of(text), &n);
		assert_non_null(bytes);
		assert_int_equal(n, strlen(cases[i][0]));
		assert_memory_equal(bytes, cases[i][0], n);
		free(bytes);
		free(text);
	}
}

static void test_base64_decode_is_strict(void **state)
{
	(void)state;
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Zg===", "Zm8",
		"====", "=Zg=", "Z===", "Zg==Zg==", "Zm9v=", "Zm 9v", "Zm9-", "Zm9_", "Zg=a" };
	size_t n = 7;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (digest_base64_decode(slice_of(bad[i]), &n) != NULL)
			fail_msg("%s was accepted", bad[i]);
	assert_int_equal(n, 7);
	char *bytes = digest_base64_decode(slice_of("Zm\r\n9v\nYg==\n"), &n);
	assert_non_null(bytes);
	assert_int_equal(n, 4);
	assert_memory_equal(bytes, "foob", 4);
	free(bytes);
}

static void test_base64_of_much(void **state)
{
	(void)state;
	size_t n = (size_t)7 * 1000 * 1000 + 1, back_bytes;
	char *bytes = malloc(n);
	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(i * 7);
	char *text = digest_base64_encode(bytes, n);
	char *back = digest_base64_decode(slice_of(text), &back_bytes);
	assert_non_null(back);
	assert_int_equal(back_bytes, n);
	assert_memory_equal(back, bytes, n);
	free(bytes);
	free(text);
	free(back);
}

static void test_random(void **state)
{
	(void)state;
	char one[33], two[33];
	digest_random_hex(one, 32);
	digest_random_hex(two, 32);
	assert_int_equal(strlen(one), 32);
	assert_int_equal(strspn(one, "0123456789abcdef"), 32);
	assert_string_not_equal(one, two);
	unsigned char big[10000] = { 0 };
	digest_random(big, sizeof big);
	size_t zeros = 0;
	for (size_t i = 0; i < sizeof big; i++)
		zeros += big[i] == 0;
	assert_true(zeros < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256_in_pieces),
		cmocka_unit_test(test_fnv1a),
		cmocka_unit_test(test_base64_vectors),
		cmocka_unit_test(test_base64_decode_is_strict),
		cmocka_unit_test(test_base64_of_much),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
