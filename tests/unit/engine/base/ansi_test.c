// SPDX-License-Identifier: Apache-2.0
#include "engine/base/ansi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check(const char *from, const char *to)
{
	struct str out;
	str_init(&out, 1000);
	ansi_strip(slice_of(from), &out);
	assert_string_equal(out.p, to);
	str_deinit(&out);
}

static void test_strip(void **state)
{
	(void)state;
	check("plain", "plain");
	check("", "");
	check("\033[1;31mred\033[0m", "red");
	check("a\033[38;5;200mb", "ab");
	check("t\033]0;title\007x", "tx");
	check("t\033]8;;http://x\033\\link\033]8;;\033\\", "tlink");
	check("\033Pq#0\033\\x", "x");
	check("\033(Bx\033=y\033cz", "xyz");
	check("a\r", "a");
	/* cut in the middle */
	check("a\033", "a");
	check("a\033[", "a");
	check("a\033[31", "a");
	check("a\033]0;t", "a");
	/* a byte that ends no sequence is text again */
	check("a\033[3\007b", "a\007b");
	check("ä\033[mö", "äö");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_strip) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
