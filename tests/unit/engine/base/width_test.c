// SPDX-License-Identifier: Apache-2.0
/* The table of widths: facts of the Unicode Character Database, and utf8proc as another reader of it. */
#include "tests/unit/unit.h"

#include "engine/base/width.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct {
	uint32_t c;
	int width;
} facts[] = {
	{ 0x00, -1 },
	{ 0x1f, -1 },
	{ ' ', 1 },
	{ '~', 1 },
	{ 0x7f, -1 },
	{ 0x9f, -1 },
	{ 0xa0, 1 },
	{ 0xad, 1 }, /* SOFT HYPHEN */
	{ 0x2ff, 1 },
	{ 0x300, 0 }, /* the first mark */
	{ 0x36f, 0 },
	{ 0x370, 1 },
	{ 0x600, 1 }, /* prepended marks */
	{ 0x6dd, 1 },
	{ 0x6de, 1 }, /* a symbol, not a mark */
	{ 0x110bd, 1 },
	{ 0x903, 1 }, /* spacing mark */
	{ 0x115f, 2 },
	{ 0x1160, 0 }, /* vowels and finals of Hangul */
	{ 0x11ff, 0 },
	{ 0xd7b0, 0 },
	{ 0xd7fb, 0 },
	{ 0xac00, 2 },
	{ 0xd7a3, 2 },
	{ 0x200b, -1 },
	{ 0x200c, 0 },
	{ 0x200d, 0 },
	{ 0x202e, -1 },
	{ 0x2028, -1 },
	{ 0xfe0f, 0 },
	{ 0xfeff, -1 },
	{ 0xe0041, -1 },
	{ 0x2500, 1 },
	{ 0x25fc, 1 },
	{ 0x25fd, 2 },
	{ 0x2705, 2 },
	{ 0x3000, 2 },
	{ 0x303f, 1 },
	{ 0x4dbf, 2 },
	{ 0x4dc0, 2 },
	{ 0x4e00, 2 },
	{ 0x9fff, 2 },
	{ 0xa000, 2 },
	{ 0xfffd, 1 },
	{ 0xff21, 2 },
	{ 0xff61, 1 },
	{ 0x1f1e6, 1 }, /* regional indicator */
	{ 0x1f600, 2 },
	{ 0x1f7e2, 2 }, /* Unicode 12 */
	{ 0x1fae8, 2 }, /* Unicode 15 */
	{ 0x20000, 2 },
	{ 0x2ffff, 1 },
	{ 0x3fffd, 2 },
	{ 0xe0100, 0 },
	{ 0xd800, -1 },
	{ 0x10ffff, 1 },
};

static void test_facts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(facts); i++)
		if (width_of(facts[i].c) != facts[i].width)
			fail_msg("U+%04X: %d, not %d", (unsigned)facts[i].c,
				width_of(facts[i].c), facts[i].width);
}

/* What utf8proc means to have no columns or one is not always what terminals do with it, but what it calls wide, a
 * mark, or a control is decided by the same data. */
static void test_all_beside_utf8proc(void **state)
{
	(void)state;
	int wide = 0;
	for (int32_t c = 0xa0; c < 0x110000; c++) {
		utf8proc_category_t category = utf8proc_category(c);
		int width = width_of((uint32_t)c);
		bool is_hexagram = c >= 0x4dc0 && c < 0x4e00;
		if (category == UTF8PROC_CATEGORY_CN)
			continue; /* newer than this version of it, perhaps */
		if (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME) {
			if (width != 0)
				fail_msg("U+%04X is a mark of %d columns", (unsigned)c, width);
		} else if (utf8proc_charwidth(c) == 2 ? width != 2
						      : width == 2 && !is_hexagram) {
			/* the reading marks U+16FF0 and 16FF1, as an example, are wide since a later version */
			if (category != UTF8PROC_CATEGORY_MC)
				fail_msg("U+%04X: %d columns", (unsigned)c, width);
		}
		wide += width == 2;
	}
	assert_true(wide > 100000);
}

static const struct {
	uint32_t first, last;
	int width;
} rows[] = {
#include "engine/base/width_table.inc"
};

/* Where a search begins is another table: it must skip nothing. */
static void test_all_beside_the_table(void **state)
{
	(void)state;
	size_t at = 0;
	for (uint32_t c = 0xa0; c < 0x110000; c++) {
		while (at < COUNT(rows) && rows[at].last < c)
			at++;
		int width = at < COUNT(rows) && rows[at].first <= c ? rows[at].width : 1;
		if (width_of(c) != width)
			fail_msg("U+%04X: %d, not %d", (unsigned)c, width_of(c), width);
	}
	assert_int_equal(width_of(UINT32_MAX), 1);
}

/* Once for each code point, whatever the order of the ranges in the table. */
static void test_the_table_is_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(rows[i].first <= rows[i].last);
		assert_true(i == 0 || rows[i - 1].last < rows[i].first);
		assert_true(rows[i].width == 2 || rows[i].width == 0 || rows[i].width == -1);
		assert_int_equal(width_of(rows[i].first), rows[i].width);
		assert_int_equal(width_of(rows[i].last), rows[i].width);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_all_beside_utf8proc),
		cmocka_unit_test(test_all_beside_the_table),
		cmocka_unit_test(test_the_table_is_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
