// SPDX-License-Identifier: Apache-2.0
#include "engine/base/err.h"
#include "engine/kube/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* labels as "k=v,k=v" */
static const char *get(void *arg, const char *key)
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
		{ "", "", 1 },
		{ "  ", "a=b", 1 },
		{ "a=b", "a=b", 1 },
		{ "a == b", "a=b", 1 },
		{ "a=b", "a=c", 0 },
		{ "a=b", "", 0 },
		{ "a=", "a=", 1 },
		{ "a=", "a=x", 0 },
		{ "a!=b", "a=c", 1 },
		{ "a!=b", "a=b", 0 },
		{ "a!=b", "", 1 },
		{ "a in (x, y)", "a=y", 1 },
		{ "a in (x,y)", "a=z", 0 },
		{ "a in (x)", "", 0 },
		{ "a in (,x)", "a=", 1 },
		{ "a notin (x,y)", "a=z", 1 },
		{ "a notin (x,y)", "a=x", 0 },
		{ "a notin (x)", "", 1 },
		{ "a", "a=", 1 },
		{ "a", "b=c", 0 },
		{ "!a", "b=c", 1 },
		{ "!a", "a=1", 0 },
		{ "! a", "a=1", 0 },
		{ "a>3", "a=4", 1 },
		{ "a > 3", "a=3", 0 },
		{ "a<3", "a=-1", 1 },
		{ "a<3", "a=x", 0 },
		{ "a=b,c", "a=b,c=d", 1 },
		{ "a=b,!c", "a=b,c=d", 0 },
		{ "example.com/a.b_c-d=1", "example.com/a.b_c-d=1", 1 },
		{ "env in (dev,test),!disabled", "env=test", 1 },
		{ "in in (in)", "in=in", 1 },
		{ "notin", "notin=1", 1 },
		{ "A=b", "a=b", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		char labels[128];
		snprintf(labels, sizeof labels, "%s", rows[i].labels);
		struct kube_selector *selector = kube_selector_parse(rows[i].selector, &err);
		if (selector == NULL)
			fail_msg("'%s': %s", rows[i].selector, err.msg);
		if (kube_selector_matches(selector, get, labels) != rows[i].is)
			fail_msg("'%s' on '%s'", rows[i].selector, rows[i].labels);
		kube_selector_free(selector);
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
		assert_null(kube_selector_parse(rows[i].selector, &err));
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
	assert_null(kube_selector_parse(text, &err));
	for (size_t i = 0; i < 2000; i++)
		memcpy(text + i * 2, "a,", 2);
	text[4000] = '\0';
	assert_null(kube_selector_parse(text, &err));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches),
		cmocka_unit_test(errors_have_a_column),
		cmocka_unit_test(huge_ones_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
