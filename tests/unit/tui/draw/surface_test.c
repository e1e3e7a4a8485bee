// SPDX-License-Identifier: Apache-2.0
// Surfaces compared as text: clipping, wide characters, foreign text, boxes.
#include "tests/unit/unit.h"

#include "tui/draw/surface.h"

#include <locale.h>
#include <string.h>

static const struct style plain;

static void expect(struct surface *s, const char *want)
{
	struct str text;
	str_init(&text, 1 << 16);
	surface_text(s, &text);
	assert_string_equal(text.p, want);
	str_deinit(&text);
}

static void test_text_is_cut_with_an_ellipsis(void **state)
{
	(void)state;
	struct surface *s = surface_new(10, 4);
	struct region r = region_whole(s);
	assert_int_equal(region_text(r, 0, 0, 10, plain, "0123456789"), 10);
	region_text(r, 1, 0, 10, plain, "0123456789A");
	region_text(r, 2, 3, 4, plain, "abcdef");
	region_text(r, 3, 8, 10, plain, "xyz");
	expect(s, "0123456789\n012345678…\n   abc…\n        x…\n");
	surface_free(s);
}

static void test_wide_characters_keep_their_halves(void **state)
{
	(void)state;
	struct surface *s = surface_new(6, 4);
	struct region r = region_whole(s);
	region_text(r, 0, 0, 6, plain, "你好吗");
	region_text(r, 1, 0, 5, plain, "你好吗");
	region_text(r, 2, 0, 6, plain, "你好吗");
	region_text(r, 2, 1, 2, plain, "ab"); /* breaks two of them */
	region_text(r, 3, 0, 6, plain, "你好吗");
	region_fill(region_sub(r, 3, 3, 1, 1), plain);
	expect(s, "你好吗\n你好…\n ab 吗\n你  吗\n");
	for (int row = 0; row < 4; row++) {
		const struct cell *cells = surface_row(s, row);
		for (int col = 0; col < 6; col++) {
			if (cells[col].cols == 2)
				assert_int_equal(cells[col + 1].cols, 0);
			if (cells[col].cols == 0)
				assert_int_equal(cells[col - 1].cols, 2);
		}
	}
	surface_free(s);
}

static void test_foreign_text_shows_its_escapes(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "a\033[31mb", "a^[[31mb" },
		{ "two\nlines", "two^Jlines" },
		{ "bad\xff", "bad\\xFF" },
		{ "x\xe2\x80\xaey", "x<U+202E>y" },
		{ "\xc2\x9b"
		  "31m",
			"<U+009B>31m" },
		{ "e\xcc\x81t\xc3\xa9", "e\xcc\x81t\xc3\xa9" },
		{ "\x7f", "^?" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct surface *s = surface_new(20, 1);
		struct str text;
		region_text(region_whole(s), 0, 0, 20, plain, cases[i].text);
		str_init(&text, 1000);
		surface_text(s, &text);
		text.p[text.n - 1] = 0;
		assert_string_equal(text.p, cases[i].want);
		str_deinit(&text);
		surface_free(s);
	}
}

static void test_nothing_is_drawn_outside_of_a_region(void **state)
{
	(void)state;
	struct surface *s = surface_new(8, 4);
	struct region r = region_sub(region_whole(s), 2, 1, 4, 2);
	struct style mark = { .attrs = DRAW_REVERSE };
	region_fill(r, mark);
	region_text(r, -1, 0, 9, mark, "above");
	region_text(r, 2, 0, 9, mark, "below");
	region_text(r, 0, 0, 99, mark, "0123456789");
	region_text(r, 1, 4, 9, mark, "right");
	region_put(r, 1, -1, mark, "x", 1, 1);
	region_put(r, 1, 3, mark, "你", 3, 2); /* half of it would be outside */
	region_restyle(r, 0, -5, 99, mark);
	for (int row = 0; row < 4; row++)
		for (int col = 0; col < 8; col++)
			assert_int_equal(surface_row(s, row)[col].attrs == DRAW_REVERSE,
				region_contains(r, col, row));
	expect(s, "\n  012…\n\n\n");
	surface_free(s);
}

static void test_a_sub_region_never_grows(void **state)
{
	(void)state;
	struct surface *s = surface_new(10, 10);
	struct region r = region_sub(region_whole(s), 8, 8, 10, 10);
	assert_int_equal(r.cols, 2);
	assert_int_equal(r.rows, 2);
	r = region_sub(r, 5, 5, 1, 1);
	assert_int_equal(r.cols, 0);
	assert_int_equal(r.rows, 0);
	r = region_sub(region_whole(s), -3, -3, 5, 5);
	assert_int_equal(r.cols, 2);
	surface_free(s);
}

static void test_a_box_has_a_title_that_fits(void **state)
{
	(void)state;
	struct surface *s = surface_new(12, 3);
	struct region inside = region_box(region_whole(s), plain, plain, "a long title");
	region_text(inside, 0, 0, inside.cols, plain, "in");
	expect(s, "┌ a long … ┐\n│in        │\n└──────────┘\n");
	surface_free(s);
}

static void test_copying_a_surface_cuts_what_does_not_fit(void **state)
{
	(void)state;
	struct surface *from = surface_new(4, 2), *to = surface_new(5, 2);
	region_text(region_whole(from), 0, 0, 4, plain, "a你b");
	region_text(region_whole(from), 1, 0, 4, plain, "wxyz");
	region_copy(region_whole(to), 0, 3, from);
	expect(to, "   a\n   wx\n"); /* the wide one would have lost a half */
	region_copy(region_whole(to), -1, 0, from);
	expect(to, "wxyz\n   wx\n");
	surface_free(from);
	surface_free(to);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_cut_with_an_ellipsis),
		cmocka_unit_test(test_wide_characters_keep_their_halves),
		cmocka_unit_test(test_foreign_text_shows_its_escapes),
		cmocka_unit_test(test_nothing_is_drawn_outside_of_a_region),
		cmocka_unit_test(test_a_sub_region_never_grows),
		cmocka_unit_test(test_a_box_has_a_title_that_fits),
		cmocka_unit_test(test_copying_a_surface_cuts_what_does_not_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
