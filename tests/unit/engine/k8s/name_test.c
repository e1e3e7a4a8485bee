// SPDX-License-Identifier: Apache-2.0
/* Names of objects, keys and values of labels, at their limits. */
#include "tests/unit/unit.h"

#include "engine/k8s/name.h"

#include <stdio.h>
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

static bool is_key(const char *text)
{
	return k8s_is_label_key(text, strlen(text));
}

static bool is_value(const char *text)
{
	return k8s_is_label_value(text, strlen(text));
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
		{ "a..b/c", false, false },
		{ "a.-b/c", false, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (is_key(rows[i].text) != rows[i].is_key ||
			is_value(rows[i].text) != rows[i].is_value)
			fail_msg("'%s'", rows[i].text);
	assert_true(is_value(long_one("", 63)));
	assert_false(is_value(long_one("", 64)));
	assert_true(is_key(long_one("", 63)));
	assert_false(is_key(long_one("", 64)));
	assert_true(is_key(long_one("a.b/", 63)));
	assert_false(is_key(long_one("a.b/", 64)));
	for (size_t n = 252; n <= 255; n++) {
		char key[600];
		snprintf(key, sizeof key, "%s/x", long_one("", n));
		assert_int_equal(is_key(key), n <= 253);
	}
}

static void names_of_objects(void **state)
{
	static const struct {
		const char *text;
		bool is_name;
	} rows[] = { { "a", true }, { "9", true }, { "A", false }, { "a.b", true },
		{ "a-b", true }, { "-a", false }, { "a-", false }, { ".a", false },
		{ "a.", false }, { "a..b", false }, { "a-.b", false }, { "a.-b", false },
		{ "a_b", false }, { "a--b", true }, { "az09", true }, { "z0", true },
		{ "a`b", false }, { "a{b", false }, { "a/b", false }, { "a:b", false },
		{ "aZb", false }, { "a,b", false } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (k8s_is_dns_subdomain(rows[i].text, strlen(rows[i].text)) != rows[i].is_name)
			fail_msg("%s", rows[i].text);
	assert_true(k8s_is_dns_subdomain(long_one("", 253), 253));
	assert_false(k8s_is_dns_subdomain(long_one("", 254), 254));
	assert_false(k8s_is_dns_subdomain("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_values),
		cmocka_unit_test(names_of_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
