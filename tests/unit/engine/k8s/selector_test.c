// SPDX-License-Identifier: Apache-2.0
#include "engine/base/err.h"
#include "engine/k8s/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* labels as "k=v,k=v" */
static const char *get(const void *arg, const char *key)
{
	static char value[64];
	const char *labels = arg;
	size_t n = strlen(key);
	while (*labels) {
		size_t length = strcspn(labels, ",");
		if (strncmp(labels, key, n) == 0 && labels[n] == '=') {
			snprintf(value, sizeof value, "%.*s", (int)(length - n - 1),
				labels + n + 1);
			return value;
		}
		labels += length + (labels[length] == ',');
	}
	return NULL;
}

static void matches(void **state)
{
	static const struct {
		const char *selector, *labels;
		int is;
	} rows[] = {
		{ "", "", 1 }, { "  ", "a=b", 1 }, { "a=b", "a=b", 1 }, { "a == b", "a=b", 1 },
		{ " a=b", "a=b", 1 }, { "\ta , c", "a=b,c=d", 1 }, { "a > 3", "a=4", 1 },
		{ "a >\t3", "a=3", 0 }, { "a=b", "a=c", 0 }, { "a=b", "", 0 },
		{ "a=", "a=", 1 }, { "a=", "a=x", 0 }, { "a!=b", "a=c", 1 },
		{ "a!=b", "a=b", 0 }, { "a!=b", "", 1 }, { "a in (x, y)", "a=y", 1 },
		{ "a in (x,y)", "a=z", 0 }, { "a in (x)", "", 0 }, { "a in (,x)", "a=", 1 },
		{ "a notin (x,y)", "a=z", 1 }, { "a notin (x,y)", "a=x", 0 },
		{ "a notin (x)", "", 1 }, { "a", "a=", 1 }, { "a", "b=c", 0 },
		{ "!a", "b=c", 1 }, { "!a", "a=1", 0 }, { "! a", "a=1", 0 },
		{ "a>3", "a=4", 1 }, { "a > 3", "a=3", 0 }, { "a<3", "a=-1", 1 },
		{ "a<3", "a=x", 0 }, { "a=b,c", "a=b,c=d", 1 }, { "a=b,!c", "a=b,c=d", 0 },
		{ "example.com/a.b_c-d=1", "example.com/a.b_c-d=1", 1 },
		{ "env in (dev,test),!disabled", "env=test", 1 }, { "in in (in)", "in=in", 1 },
		{ "notin", "notin=1", 1 }, { "A=b", "a=b", 0 }, { "a==b", "a=b", 1 },
		{ " a  in ( b , c ) ", "a=c", 1 }, { "a in ()", "a=", 1 },
		{ "a notin (b,c)", "", 1 }, { "a,b=c,!d", "a=1,b=c", 1 },
		{ "a,b=c,!d", "a=1,b=c,d=", 0 }, { "x.io/y-z_1=V.1", "x.io/y-z_1=V.1", 1 },
		{ "n>4", "n=5", 1 }, { "n>5", "n=5", 0 }, { "n<5", "n=-1", 1 },
		{ "n<5", "n=word", 0 }, { "in in (notin)", "in=notin", 1 },
		{ "a\t=\r\nb\n", "a=b", 1 }, /* white space of labels.Parse */
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		char labels[128];
		snprintf(labels, sizeof labels, "%s", rows[i].labels);
		struct k8s_selector *selector =
			k8s_label_selector_parse(rows[i].selector, &err);
		if (selector == NULL)
			fail_msg("'%s': %s", rows[i].selector, err.msg);
		if (k8s_selector_matches(selector, get, labels) != rows[i].is)
			fail_msg("'%s' on '%s'", rows[i].selector, rows[i].labels);
		k8s_selector_free(selector);
	}
}

static void errors_have_a_column(void **state)
{
	static const struct {
		const char *selector;
		int column;
	} rows[] = {
		{ ",", 1 },
		{ "a,", 3 },
		{ "a,,b", 3 },
		{ "a=b c", 5 },
		{ "=b", 1 },
		{ "a=b=c", 4 },
		{ ",a", 1 },
		{ "a b", 3 },
		{ "a!b", 2 },
		{ "a foo (b)", 3 },
		{ "a in (b,", 9 },
		{ "a/b/c", 3 },
		{ "a/", 3 },
		{ "a=\x01", 3 },
		{ "n>", 3 },
		{ "a=(b)", 3 },
		{ "a=0123456789012345678901234567890123456789012345678901234567890123", 3 },
		{ "a in b", 6 },
		{ "a in (b", 8 },
		{ "a in (b c)", 9 },
		{ "a in", 5 },
		{ "a ~ b", 3 },
		{ "-a", 1 },
		{ "a-", 1 },
		{ "x/y/z", 3 },
		{ "X.com/a", 1 },
		{ ".com/a", 1 },
		{ "/a", 1 },
		{ "a=-b", 3 },
		{ "a=b!", 4 },
		{ "a>x", 3 },
		{ "a=b==c", 4 },
		{ "(a)", 1 },
		{ "!", 2 },
		{ "!!a", 2 },
		{ "a\x01=b", 1 },
		{ "a23456789012345678901234567890123456789012345678901234567890abcd=1", 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		char wanted[32];
		assert_null(k8s_label_selector_parse(rows[i].selector, &err));
		assert_int_equal(ERR_ARG_INVALID, err.code);
		snprintf(wanted, sizeof wanted, "column %d:", rows[i].column);
		if (strstr(err.msg, wanted) == NULL)
			fail_msg("wanted %s of: %s", wanted, err.msg);
	}
}

static void huge_ones_are_refused(void **state)
{
	(void)state;
	size_t n = 100000;
	char *text = malloc(n + 1);
	assert_non_null(text);
	memset(text, 'a', n);
	text[n] = '\0';
	struct err err = { 0 };
	assert_null(k8s_label_selector_parse(text, &err));
	for (size_t i = 0; i < 2000; i++)
		memcpy(text + i * 2, "a,", 2);
	text[4000] = '\0';
	assert_null(k8s_label_selector_parse(text, &err));
	free(text);
}

/* n letters */
static const char *letters(size_t n)
{
	static char text[2][600];
	static int turn;
	turn = !turn;
	memset(text[turn], 'a', n);
	text[turn][n] = '\0';
	return text[turn];
}

static bool is_taken(const char *prefix, const char *name, const char *value)
{
	char text[1200];
	struct err err;
	snprintf(text, sizeof text, "%s%s%s=%s", prefix, *prefix ? "/" : "", name, value);
	struct k8s_selector *selector = k8s_label_selector_parse(text, &err);
	k8s_selector_free(selector);
	return selector != NULL;
}

/* Names and values have up to 63 bytes, the prefix of a key up to 253. */
static void limits_of_names(void **state)
{
	(void)state;
	assert_true(is_taken("", letters(63), "v"));
	assert_false(is_taken("", letters(64), "v"));
	assert_true(is_taken("", "k", letters(63)));
	assert_false(is_taken("", "k", letters(64)));
	assert_true(is_taken(letters(253), "k", "v"));
	assert_false(is_taken(letters(254), "k", "v"));
	assert_true(is_taken("a.b", letters(63), letters(63)));
}

static void edges_of_names(void **state)
{
	(void)state;
	assert_false(is_taken("", "-a", "v"));
	assert_false(is_taken("", "a-", "v"));
	assert_true(is_taken("", "A_b.c-9", "A_b.c-9"));
	assert_false(is_taken("", "k", "-v"));
	assert_false(is_taken("", "k", "v."));
	assert_false(is_taken("P", "k", "v"));
	/* the neighbours of letters and digits */
	static const char *const ends[] = { "@", "[", "`", "{", "/", ":" };
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		char between[8];
		snprintf(between, sizeof between, "a%sb", ends[i]);
		assert_false(is_taken("", "k", ends[i]));
		assert_false(is_taken("", "k", between));
		if (ends[i][0] != '/')
			assert_false(is_taken("", between, "v"));
	}
	assert_true(is_taken("", "azAZ09", "azAZ09"));
	assert_true(is_taken("", "9", "z"));
	assert_true(is_taken("", "Z", "A"));
}

/* Fields are in the same form as labels above; "z" is not supported, and a missing one counts as empty. */
static bool is_field(const void *arg, const char *field)
{
	(void)arg;
	return strlen(field) == 1 && *field != 'z';
}

static const char *get_field(const void *arg, const char *key)
{
	const char *value = get(arg, key);
	return value ? value : "";
}

static void fields(void **state)
{
	static const struct {
		const char *selector, *object;
		int is; /* -1: an error */
	} rows[] = {
		{ "", "", 1 },
		{ "a=b", "a=b", 1 },
		{ "a==b", "a=b", 1 },
		{ "a=b", "a=c", 0 },
		{ "a!=b", "a=b", 0 },
		{ "a!=b", "", 1 },
		{ "a=", "", 1 },
		{ "a=b,c=d", "a=b,c=d", 1 },
		{ "a=b,c=e", "a=b,c=d", 0 },
		{ "a=\\b", "a=b", 1 },
		{ "a=b\\,c", "a=b,c", 0 }, /* the value is "b,c", which the object has not */
		{ "a= b", "a= b", 1 },
		{ "a", "", -1 },
		{ "a,b=c", "", -1 },
		{ "a=b,", "", -1 },
		{ "a=b,c", "", -1 },
		{ ",a=b", "", -1 },
		{ "=x", "", -1 },
		{ "a!b", "", -1 },
		{ "z=b", "", -1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		struct k8s_selector *selector =
			k8s_field_selector_parse(rows[i].selector, is_field, NULL, &err);
		int is = selector == NULL
				 ? -1
				 : k8s_selector_matches(selector, get_field, rows[i].object);
		if (is != rows[i].is)
			fail_msg("'%s' on '%s': %d %s", rows[i].selector, rows[i].object, is,
				err.msg);
		if (is < 0)
			assert_int_equal(ERR_ARG_INVALID, err.code);
		k8s_selector_free(selector);
	}
}

static void the_value_that_a_key_must_have(void **state)
{
	(void)state;
	struct k8s_selector *selector =
		k8s_field_selector_parse("a!=b,c=d", is_field, NULL, NULL);
	assert_null(k8s_selector_value(selector, "a"));
	assert_string_equal(k8s_selector_value(selector, "c"), "d");
	assert_null(k8s_selector_value(selector, "e"));
	k8s_selector_free(selector);
	selector = k8s_label_selector_parse("a in (b,c)", NULL);
	assert_null(k8s_selector_value(selector, "a"));
	k8s_selector_free(selector);
	assert_null(k8s_selector_value(NULL, "a"));
	assert_true(k8s_selector_matches(NULL, get_field, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches),
		cmocka_unit_test(errors_have_a_column),
		cmocka_unit_test(huge_ones_are_refused),
		cmocka_unit_test(limits_of_names),
		cmocka_unit_test(edges_of_names),
		cmocka_unit_test(fields),
		cmocka_unit_test(the_value_that_a_key_must_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
