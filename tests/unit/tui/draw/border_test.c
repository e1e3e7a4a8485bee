// SPDX-License-Identifier: Apache-2.0
// Borders compared as text: frames, and what two lines make where they meet.
#include "tui/draw/border.h"

#include "tests/unit/unit.h"

#include <locale.h>

static const struct draw_style plain = { 0 };

static void expect(struct draw_surface *s, const char *want)
{
	struct str text;
	str_init(&text, 1 << 16);
	draw_surface_text(s, &text);
	assert_string_equal(text.p, want);
	str_deinit(&text);
	draw_surface_free(s);
}

static void frames(void **state)
{
	static const struct {
		int cols, rows;
		const char *title, *want;
		int in_cols, in_rows;
	} rows[] = {
		{ 7, 2, "t", "╭ t ──╮\n╰─────╯\n", 5, 0 },
		{ 6, 2, "t", "╭────╮\n╰────╯\n", 4, 0 },
		{ 7, 2, "", "╭─────╮\n╰─────╯\n", 5, 0 },
		{ 7, 2, NULL, "╭─────╮\n╰─────╯\n", 5, 0 },
		{ 7, 2, "abc", "╭ abc ╮\n╰─────╯\n", 5, 0 },
		{ 7, 2, "abcd", "╭ ab… ╮\n╰─────╯\n", 5, 0 },
		{ 12, 3, "a long title", "╭ a long … ╮\n│          │\n╰──────────╯\n", 10, 1 },
		{ 2, 3, "t", "╭╮\n││\n╰╯\n", 0, 1 },
		{ 1, 3, "t", "\n\n\n", 0, 0 },
		{ 3, 1, "t", "\n", 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_surface *s = draw_surface_new(rows[i].cols, rows[i].rows);
		struct draw_region in =
			draw_border_box(draw_region_whole(s), plain, plain, rows[i].title);
		assert_int_equal(in.cols, rows[i].in_cols);
		assert_int_equal(in.rows, rows[i].in_rows);
		if (in.cols) {
			assert_int_equal(in.col, 1);
			assert_int_equal(in.row, 1);
		}
		expect(s, rows[i].want);
	}
}

static void boxes_that_share_a_border_join(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(9, 5);
	struct draw_region all = draw_region_whole(s);
	draw_border_box(draw_region_sub(all, 0, 0, 5, 3), plain, plain, NULL);
	draw_border_box(draw_region_sub(all, 4, 0, 5, 3), plain, plain, NULL);
	draw_border_box(draw_region_sub(all, 0, 2, 9, 3), plain, plain, NULL);
	expect(s, "╭───┬───╮\n│   │   │\n├───┴───┤\n│       │\n╰───────╯\n");
}

static void double_lines_join_light_ones(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(9, 5);
	struct draw_region all = draw_region_whole(s);
	draw_border_box(all, plain, plain, NULL);
	draw_border_vline(all, 4, 0, 5, plain, DRAW_LINE_DOUBLE);
	draw_border_hline(all, 2, 4, 5, plain, DRAW_LINE_LIGHT);
	expect(s, "╭───╥───╮\n│   ║   │\n│   ╟───┤\n│   ║   │\n╰───╨───╯\n");

	s = draw_surface_new(9, 5);
	all = draw_region_whole(s);
	draw_border_box(all, plain, plain, NULL);
	draw_border_hline(all, 2, 0, 9, plain, DRAW_LINE_DOUBLE);
	draw_border_vline(all, 4, 0, 5, plain, DRAW_LINE_LIGHT);
	expect(s, "╭───┬───╮\n│   │   │\n╞═══╪═══╡\n│   │   │\n╰───┴───╯\n");
}

/* The order in which two lines are drawn makes no difference. */
static void every_meeting_in_both_orders(void **state)
{
	static const struct {
		int h_at, h_cols, v_at,
			v_rows; /* of a cross of three by three, through its middle */
		const char *want;
	} rows[] = { { 0, 3, 0, 3, "┼" }, { 1, 2, 0, 3, "├" }, { 0, 2, 0, 3, "┤" },
		{ 0, 3, 1, 2, "┬" }, { 0, 3, 0, 2, "┴" }, { 1, 2, 1, 2, "╭" },
		{ 0, 2, 1, 2, "╮" }, { 1, 2, 0, 2, "╰" }, { 0, 2, 0, 2, "╯" } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int order = 0; order < 2; order++) {
			struct draw_surface *s = draw_surface_new(3, 3);
			struct draw_region all = draw_region_whole(s);
			for (int k = 0; k < 2; k++)
				if ((k == 0) == (order == 0))
					draw_border_hline(all, 1, rows[i].h_at, rows[i].h_cols,
						plain, DRAW_LINE_LIGHT);
				else
					draw_border_vline(all, 1, rows[i].v_at, rows[i].v_rows,
						plain, DRAW_LINE_LIGHT);
			const struct draw_cell *cell = draw_surface_row(s, 1) + 1;
			assert_int_equal(cell->n, strlen(rows[i].want));
			assert_memory_equal(cell->text, rows[i].want, cell->n);
			draw_surface_free(s);
		}
}

static void text_is_no_border(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(5, 3);
	struct draw_region all = draw_region_whole(s);
	draw_region_text(all, 1, 0, 5, plain, "─────"); /* a program's own */
	draw_border_vline(all, 2, 0, 3, plain, DRAW_LINE_LIGHT);
	expect(s, "  │\n──│──\n  │\n");

	s = draw_surface_new(5, 1);
	all = draw_region_whole(s);
	draw_border_hline(all, 0, 0, 5, plain, DRAW_LINE_LIGHT);
	draw_region_text(all, 0, 1, 3, plain, "abc"); /* ends it there */
	draw_border_vline(all, 2, 0, 1, plain, DRAW_LINE_LIGHT);
	expect(s, "─a│c─\n");

	s = draw_surface_new(3, 2);
	all = draw_region_whole(s);
	draw_border_hline(all, 0, 0, 3, plain, DRAW_LINE_LIGHT);
	draw_region_restyle(all, 0, 0, 3, (struct draw_style){ .attrs = DRAW_BOLD });
	draw_border_vline(all, 1, 0, 2, plain, DRAW_LINE_LIGHT); /* still joins */
	expect(s, "─┬─\n │\n");

	s = draw_surface_new(3, 1);
	all = draw_region_whole(s);
	draw_border_hline(all, 0, 0, 3, plain, DRAW_LINE_LIGHT);
	draw_region_fill(all, plain);
	draw_border_vline(all, 1, 0, 1, plain, DRAW_LINE_LIGHT);
	expect(s, " │\n");
}

static void titles_and_edges(void **state)
{
	(void)state;
	struct draw_surface *s = draw_surface_new(16, 2);
	struct draw_region all = draw_region_whole(s);
	draw_border_box(all, plain, plain, NULL);
	assert_int_equal(draw_border_title(all, 0, plain, "你好"), 6);
	assert_int_equal(draw_border_title_right(all, 0, plain, "ab"), 4);
	assert_int_equal(
		draw_border_title_right(all, 1, plain, "a title that is too long"), 14);
	expect(s, "╭ 你好 ──── ab ╮\n╰ a title tha… ╯\n");

	s = draw_surface_new(4, 2); /* what is outside is cut */
	all = draw_region_whole(s);
	draw_border_hline(all, 1, -2, 20, plain, DRAW_LINE_LIGHT);
	draw_border_hline(all, 7, 0, 4, plain, DRAW_LINE_LIGHT);
	draw_border_vline(all, 3, -1, 9, plain, DRAW_LINE_LIGHT);
	draw_border_vline(all, -1, 0, 2, plain, DRAW_LINE_LIGHT);
	expect(s, "   │\n───┼\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),
		cmocka_unit_test(boxes_that_share_a_border_join),
		cmocka_unit_test(double_lines_join_light_ones),
		cmocka_unit_test(every_meeting_in_both_orders),
		cmocka_unit_test(text_is_no_border),
		cmocka_unit_test(titles_and_edges),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
