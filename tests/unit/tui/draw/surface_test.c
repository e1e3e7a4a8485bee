// SPDX-License-Identifier: Apache-2.0
// Surfaces compared as text: clipping, wide characters, foreign text.
#include "tests/unit/unit.h"

#include "tui/draw/surface.h"

#include <locale.h>
#include <string.h>

static const struct draw_style plain;

static void expect(struct draw_surface *s, const char *want)
{
	struct str text;
	str_init(&text, 1 << 16);
	draw_surface_text(s, &text);
	assert_string_equal(text.p, want);
	str_deinit(&text);
}

static void test_text_is_cut_with_an_ellipsis(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(10, 4);
	struct draw_region r = draw_region_whole(s);
	assert_int_equal(draw_region_text(r, 0, 0, 10, plain, "0123456789"), 10);
	draw_region_text(r, 1, 0, 10, plain, "0123456789A");
	draw_region_text(r, 2, 3, 4, plain, "abcdef");
	draw_region_text(r, 3, 8, 10, plain, "xyz");
	expect(s, "0123456789\n012345678…\n   abc…\n        x…\n");
	draw_surface_free(s);
}

static void test_wide_characters_keep_their_halves(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(6, 4);
	struct draw_region r = draw_region_whole(s);
	draw_region_text(r, 0, 0, 6, plain, "你好吗");
	draw_region_text(r, 1, 0, 5, plain, "你好吗");
	draw_region_text(r, 2, 0, 6, plain, "你好吗");
	draw_region_text(r, 2, 1, 2, plain, "ab"); /* breaks two of them */
	draw_region_text(r, 3, 0, 6, plain, "你好吗");
	draw_region_fill(draw_region_sub(r, 3, 3, 1, 1), plain);
	expect(s, "你好吗\n你好…\n ab 吗\n你  吗\n");
	for (int row = 0; row < 4; row++) {
		const struct draw_cell *cells = draw_surface_row(s, row);
		for (int col = 0; col < 6; col++) {
			if (cells[col].cols == 2)
				assert_int_equal(cells[col + 1].cols, 0);
			if (cells[col].cols == 0)
				assert_int_equal(cells[col - 1].cols, 2);
		}
	}
	draw_surface_free(s);
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
		struct draw_surface *s = draw_surface_new(20, 1);
		struct str text;
		draw_region_text(draw_region_whole(s), 0, 0, 20, plain, cases[i].text);
		str_init(&text, 1000);
		draw_surface_text(s, &text);
		text.p[text.n - 1] = 0;
		assert_string_equal(text.p, cases[i].want);
		str_deinit(&text);
		draw_surface_free(s);
	}
}

static void test_nothing_is_drawn_outside_of_a_region(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(8, 4);
	struct draw_region r = draw_region_sub(draw_region_whole(s), 2, 1, 4, 2);
	struct draw_style mark = { .attrs = DRAW_REVERSE };
	draw_region_fill(r, mark);
	draw_region_text(r, -1, 0, 9, mark, "above");
	draw_region_text(r, 2, 0, 9, mark, "below");
	draw_region_text(r, 0, 0, 99, mark, "0123456789");
	draw_region_text(r, 1, 4, 9, mark, "right");
	draw_region_put(r, 1, -1, mark, "x", 1, 1);
	draw_region_put(r, 1, 3, mark, "你", 3, 2); /* half of it would be outside */
	draw_region_restyle(r, 0, -5, 99, mark);
	for (int row = 0; row < 4; row++)
		for (int col = 0; col < 8; col++)
			assert_int_equal(draw_surface_row(s, row)[col].attrs == DRAW_REVERSE,
				draw_region_contains(r, col, row));
	expect(s, "\n  012…\n\n\n");
	draw_surface_free(s);
}

static void test_a_sub_region_never_grows(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(10, 10);
	struct draw_region r = draw_region_sub(draw_region_whole(s), 8, 8, 10, 10);
	assert_int_equal(r.cols, 2);
	assert_int_equal(r.rows, 2);
	r = draw_region_sub(r, 5, 5, 1, 1);
	assert_int_equal(r.cols, 0);
	assert_int_equal(r.rows, 0);
	r = draw_region_sub(draw_region_whole(s), -3, -3, 5, 5);
	assert_int_equal(r.cols, 2);
	draw_surface_free(s);
}

static void test_copying_a_surface_cuts_what_does_not_fit(void **state)
{
	(void)state;
	struct draw_surface *from = draw_surface_new(4, 2), *to = draw_surface_new(5, 2);
	draw_region_text(draw_region_whole(from), 0, 0, 4, plain, "a你b");
	draw_region_text(draw_region_whole(from), 1, 0, 4, plain, "wxyz");
	draw_region_copy(draw_region_whole(to), 0, 3, from);
	expect(to, "   a\n   wx\n"); /* the wide one would have lost a half */
	draw_region_copy(draw_region_whole(to), -1, 0, from);
	expect(to, "wxyz\n   wx\n");
	draw_surface_free(from);
	draw_surface_free(to);
}

static void test_sizes_and_cursor(void **state)
{
	static const int sizes[][4] = { { 0, 0, 1, 1 }, { -5, 7, 1, 7 }, { 3000, 2, 2000, 2 },
		{ 2, 1001, 2, 1000 }, { 2000, 1, 2000, 1 } };
	struct draw_surface_cursor cursor = { 3, 1, CURSOR_BAR, true };
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct draw_surface *s = draw_surface_new(sizes[i][0], sizes[i][1]);
		assert_int_equal(draw_surface_cols(s), sizes[i][2]);
		assert_int_equal(draw_surface_rows(s), sizes[i][3]);
		draw_surface_free(s);
	}
	struct draw_surface *s = draw_surface_new(5, 2), *copy = draw_surface_new(9, 9);
	draw_region_text(draw_region_whole(s), 1, 0, 5, plain, "text");
	draw_surface_set_cursor(s, &cursor);
	draw_surface_copy(copy, s);
	assert_int_equal(draw_surface_cols(copy), 5);
	assert_int_equal(draw_surface_rows(copy), 2);
	expect(copy, "\ntext\n");
	struct draw_surface_cursor got = draw_surface_cursor_of(copy);
	assert_int_equal(got.col, 3);
	assert_int_equal(got.row, 1);
	assert_int_equal(got.shape, CURSOR_BAR);
	assert_true(got.blink);
	draw_surface_resize(copy, 5, 2); /* what was there is lost */
	expect(copy, "\n\n");
	assert_int_equal(draw_surface_cursor_of(copy).shape, CURSOR_HIDDEN);
	draw_surface_free(s);
	draw_surface_free(copy);
	draw_surface_free(NULL);
}

static void test_columns_of_text(void **state)
{
	static const struct {
		const char *text;
		int cols;
	} rows[] = { { "", 0 }, { "abc", 3 }, { "\xe4\xbd\xa0", 2 }, { "e\xcc\x81", 1 },
		{ "\033", 2 }, { "\xff", 4 }, { "a\nb", 4 }, { "\xe2\x80\xae", 8 } };
	struct draw_surface *s = draw_surface_new(20, 1);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(draw_text_cols(rows[i].text), rows[i].cols);
		assert_int_equal(
			draw_region_text(draw_region_whole(s), 0, 0, 20, plain, rows[i].text),
			rows[i].cols);
	}
	draw_surface_free(s);
}

static void test_text_to_the_right(void **state)
{
	struct draw_surface *s = draw_surface_new(8, 5);
	struct draw_region r = draw_region_whole(s);
	(void)state;
	draw_region_text_right(r, 0, 0, 8, plain, "12");
	draw_region_text_right(r, 1, 1, 4, plain, "123");
	draw_region_text_right(r, 2, 1, 4, plain, "1234");
	draw_region_text_right(r, 3, 1, 4, plain, "12345");
	assert_int_equal(draw_region_textf(r, 4, 2, 5, plain, "%d-%s", 12, "x"), 4);
	expect(s, "      12\n  123\n 1234\n 123…\n  12-x\n");
	/* where nothing can be shown nothing is used */
	assert_int_equal(draw_region_text(r, 5, 0, 8, plain, "x"), 0);
	assert_int_equal(draw_region_text(r, -1, 0, 8, plain, "x"), 0);
	assert_int_equal(draw_region_text(r, 0, 8, 8, plain, "x"), 0);
	assert_int_equal(draw_region_text(r, 0, -1, 8, plain, "x"), 0);
	assert_int_equal(draw_region_text(r, 0, 0, 0, plain, "x"), 0);
	assert_int_equal(draw_region_text(r, 0, 7, 8, plain, "x"), 1);
	assert_int_equal(draw_region_text(r, 0, 0, 3, plain, "abcd"), 3);
	assert_int_equal(draw_region_text(r, 0, 0, 1, plain, "\xe4\xbd\xa0"), 1);
	expect(s, "…b…   1x\n  123\n 1234\n 123…\n  12-x\n");
	draw_surface_free(s);
}

static void test_styles_of_cells(void **state)
{
	const struct draw_style red = { DRAW_COLOR_INDEXED | 1, DRAW_COLOR_RGB | 0x102030,
		DRAW_BOLD },
				other = { DRAW_COLOR_INDEXED | 2, 0, DRAW_DIM };
	struct draw_surface *s = draw_surface_new(6, 2);
	struct draw_region r = draw_region_sub(draw_region_whole(s), 1, 0, 4, 2);
	(void)state;
	draw_region_text(r, 0, 0, 4, red, "abcd");
	draw_region_restyle(r, 0, 1, 1, other);
	draw_region_add_attrs(r, 0, 2, 9, DRAW_REVERSE);
	draw_region_add_attrs(r, 0, -3, 3, DRAW_BLINK); /* ends before the first */
	draw_region_add_attrs(r, -1, 0, 4, DRAW_BLINK);
	draw_region_add_attrs(r, 2, 0, 4, DRAW_BLINK);
	draw_region_restyle(r, -1, 0, 4, other);
	draw_region_restyle(r, 2, 0, 4, other);
	const struct draw_cell *cells = draw_surface_row(s, 0);
	static const int attrs[] = { 0, DRAW_BOLD, DRAW_DIM, DRAW_BOLD | DRAW_REVERSE,
		DRAW_BOLD | DRAW_REVERSE, 0 };
	for (int col = 0; col < 6; col++)
		assert_int_equal(cells[col].attrs, attrs[col]);
	assert_int_equal(cells[1].fg, red.fg);
	assert_int_equal(cells[1].bg, red.bg);
	assert_int_equal(cells[2].fg, other.fg);
	assert_int_equal(cells[2].bg, other.bg);
	assert_int_equal(cells[4].fg, red.fg); /* attributes alone */
	assert_int_equal(cells[2].text[0], 'b');
	draw_region_fill(r, red);
	assert_int_equal(draw_surface_row(s, 1)[1].fg, red.fg);
	assert_int_equal(draw_surface_row(s, 1)[4].bg, red.bg);
	assert_int_equal(draw_surface_row(s, 1)[4].attrs, DRAW_BOLD);
	assert_int_equal(draw_surface_row(s, 1)[5].fg, 0);
	expect(s, "\n\n");
	draw_region_fill(draw_region_sub(r, 0, 0, 0, 2), other); /* nothing */
	assert_int_equal(draw_surface_row(s, 0)[1].fg, red.fg);
	draw_surface_free(s);
}

/* A cell holds a base and four marks, and never half a character. */
static void test_clusters_are_kept_to_a_cell(void **state)
{
	static const struct {
		const char *text;
		int cols;
		size_t n;
		int is_cols;
	} rows[] = {
		{ "a", 1, 1, 1 },
		{ "e\xcc\x81", 1, 3, 1 },
		{ "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84", 1, 9, 1 },
		{ "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85", 1, 9, 1 },
		/* twenty bytes and no more */
		{ "\xf0\x9f\x91\xa8\xf0\x9f\x91\xa9\xf0\x9f\x91\xa7\xf0\x9f\x91\xa6"
		  "\xf0\x9f\x91\xa5\xf0\x9f\x91\xa5",
			2, 20, 2 },
		{ "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91"
		  "\xa7\xcc\x81",
			2, 18, 2 },
		{ "abc", 3, 1, 1 },
		{ "", 1, 1, 1 },
		{ "x", 0, 1, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_surface *s = draw_surface_new(4, 1);
		draw_region_put(draw_region_whole(s), 0, 1, plain, rows[i].text,
			strlen(rows[i].text), rows[i].cols);
		const struct draw_cell *cell = &draw_surface_row(s, 0)[1];
		assert_int_equal(cell->n, rows[i].n);
		assert_int_equal(cell->cols, rows[i].is_cols);
		if (rows[i].cols == 2) {
			assert_memory_equal(cell->text, rows[i].text, rows[i].n);
			assert_int_equal(cell[1].cols, 0);
			assert_int_equal(cell[1].n, 0);
		} else if (rows[i].cols == 3) {
			assert_int_equal(cell->text[0], ' '); /* it does not fit */
		}
		assert_int_equal(draw_surface_row(s, 0)[0].cols, 1);
		assert_int_equal(draw_surface_row(s, 0)[3].cols, 1);
		draw_surface_free(s);
	}
}

static void test_regions_contain(void **state)
{
	struct draw_surface *s = draw_surface_new(10, 10);
	struct draw_region r = draw_region_sub(draw_region_whole(s), 2, 3, 4, 5);
	static const struct {
		int col, row;
		bool is_in;
	} rows[] = { { 2, 3, 1 }, { 5, 7, 1 }, { 1, 3, 0 }, { 2, 2, 0 }, { 6, 3, 0 },
		{ 2, 8, 0 }, { 5, 3, 1 }, { 2, 7, 1 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(
			draw_region_contains(r, rows[i].col, rows[i].row), rows[i].is_in);
	struct draw_region sub = draw_region_sub(r, 1, 2, 9, 1);
	assert_int_equal(sub.col, 3);
	assert_int_equal(sub.row, 5);
	assert_int_equal(sub.cols, 3);
	assert_int_equal(sub.rows, 1);
	assert_ptr_equal(sub.surface, s);
	draw_surface_free(s);
}

static void test_copies_at_the_edges(void **state)
{
	static const struct {
		int row, col;
		const char *want;
	} rows[] = {
		{ 0, 0, "ab\ncd\n\n" },
		{ 1, 2, "\n  ab\n  cd\n" },
		{ 2, 3, "\n\n   a\n" },
		{ 3, 0, "\n\n\n" },
		{ 0, 4, "\n\n\n" },
		{ -1, 1, " cd\n\n\n" },
		{ -2, 0, "\n\n\n" },
	};
	struct draw_surface *from = draw_surface_new(2, 2);
	(void)state;
	draw_region_text(draw_region_whole(from), 0, 0, 2, plain, "ab");
	draw_region_text(draw_region_whole(from), 1, 0, 2, plain, "cd");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_surface *to = draw_surface_new(4, 3);
		draw_region_copy(draw_region_whole(to), rows[i].row, rows[i].col, from);
		struct str text;
		str_init(&text, 1000);
		draw_surface_text(to, &text);
		assert_string_equal(text.p, rows[i].want);
		str_deinit(&text);
		draw_surface_free(to);
	}
	draw_surface_free(from);
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
		cmocka_unit_test(test_copying_a_surface_cuts_what_does_not_fit),
		cmocka_unit_test(test_sizes_and_cursor),
		cmocka_unit_test(test_columns_of_text),
		cmocka_unit_test(test_text_to_the_right),
		cmocka_unit_test(test_styles_of_cells),
		cmocka_unit_test(test_clusters_are_kept_to_a_cell),
		cmocka_unit_test(test_regions_contain),
		cmocka_unit_test(test_copies_at_the_edges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
