// SPDX-License-Identifier: Apache-2.0
// The tree of panes: no cell is lost or shared, whatever is split, dragged, removed and resized.
#include "tests/unit/unit.h"

#include "tui/workspace/layout.h"

#include <stdio.h>
#include <string.h>

static int cover[60][120];
static char cell_a[] = "a", cell_b[] = "b", cell_c[] = "c", cell_d[] = "d";

static void mark(void *arg, struct workspace_layout *leaf)
{
	struct workspace_rect r = workspace_layout_rect(leaf);
	(void)arg;
	for (int row = r.row; row < r.row + r.rows; row++)
		for (int col = r.col; col < r.col + r.cols; col++)
			cover[row][col]++;
}

static void mark_line(void *arg, int col, int row, int rows)
{
	(void)arg;
	for (int i = 0; i < rows; i++)
		cover[row + i][col]++;
}

static void expect_covered(struct workspace_layout *root, struct workspace_rect rect)
{
	memset(cover, 0, sizeof cover);
	workspace_layout_place(root, rect);
	workspace_layout_each(root, mark, NULL);
	workspace_layout_lines(root, mark_line, NULL);
	for (int row = 0; row < 60; row++)
		for (int col = 0; col < 120; col++) {
			bool inside = row >= rect.row && row < rect.row + rect.rows &&
				      col >= rect.col && col < rect.col + rect.cols;
			if (cover[row][col] != (inside ? 1 : 0))
				fail_msg("cell %d,%d is covered %d times", col, row,
					cover[row][col]);
		}
}

static const struct workspace_rect whole = { 0, 1, 100, 40 };

static void test_splits_cover_everything(void **state)
{
	struct workspace_layout *root = workspace_layout_new(cell_a), *leaf = root;
	(void)state;
	leaf = workspace_layout_split(&root, leaf, LAYOUT_RIGHT, cell_b);
	expect_covered(root, whole);
	leaf = workspace_layout_split(&root, leaf, LAYOUT_DOWN, cell_c);
	expect_covered(root, whole);
	workspace_layout_split(&root, leaf, LAYOUT_RIGHT, cell_d);
	expect_covered(root, whole);
	for (int cols = 40; cols < 120; cols += 7)
		for (int rows = 8; rows < 50; rows += 5)
			expect_covered(root, (struct workspace_rect){ 0, 1, cols, rows });
	workspace_layout_free(root);
}

static void test_the_rest_takes_the_room_of_what_goes(void **state)
{
	struct workspace_layout *root = workspace_layout_new(cell_a), *a = root;
	(void)state;
	struct workspace_layout *b = workspace_layout_split(&root, a, LAYOUT_RIGHT, cell_b);
	struct workspace_layout *c = workspace_layout_split(&root, b, LAYOUT_DOWN, cell_c);
	workspace_layout_place(root, whole);
	struct workspace_layout *next = workspace_layout_remove(&root, b);
	assert_ptr_equal(next, c);
	expect_covered(root, whole);
	next = workspace_layout_remove(&root, a);
	assert_ptr_equal(next, c);
	assert_ptr_equal(root, c);
	expect_covered(root, whole);
	assert_null(workspace_layout_remove(&root, c));
	assert_null(root);
}

static void test_borders_follow_the_mouse(void **state)
{
	struct workspace_layout *root = workspace_layout_new(cell_a), *a = root;
	bool is_border;
	(void)state;
	struct workspace_layout *b = workspace_layout_split(&root, a, LAYOUT_RIGHT, cell_b);
	workspace_layout_place(root, whole);
	int border = workspace_layout_rect(b).col - 1;
	assert_ptr_equal(workspace_layout_at(root, border, 5, &is_border), root);
	assert_true(is_border);
	for (int col = 10; col < 90; col++) {
		workspace_layout_drag(root, col, 5);
		workspace_layout_place(root, whole);
		assert_int_equal(workspace_layout_rect(b).col - 1, col);
	}
	workspace_layout_drag(root, -50, 5);
	workspace_layout_place(root, whole);
	assert_int_equal(workspace_layout_rect(a).cols, LAYOUT_COLS_MIN);
	workspace_layout_drag(root, 500, 5);
	workspace_layout_place(root, whole);
	assert_int_equal(workspace_layout_rect(b).cols, LAYOUT_COLS_MIN);
	struct workspace_layout *c = workspace_layout_split(&root, a, LAYOUT_DOWN, cell_c);
	workspace_layout_place(root, whole);
	struct workspace_rect below = workspace_layout_rect(c);
	struct workspace_layout *split =
		workspace_layout_at(root, below.col + 2, below.row, &is_border);
	assert_true(is_border);
	for (int row = 5; row < 35; row++) {
		workspace_layout_drag(split, 0, row);
		workspace_layout_place(root, whole);
		assert_int_equal(workspace_layout_rect(c).row, row);
		expect_covered(root, whole);
	}
	assert_true(workspace_layout_grow(root, c, LAYOUT_UP, 2));
	workspace_layout_place(root, whole);
	assert_int_equal(workspace_layout_rect(c).row, 32);
	workspace_layout_free(root);
}

static void test_walking(void **state)
{
	struct workspace_layout *root = workspace_layout_new(cell_a), *a = root;
	(void)state;
	struct workspace_layout *b = workspace_layout_split(&root, a, LAYOUT_RIGHT, cell_b);
	struct workspace_layout *c = workspace_layout_split(&root, b, LAYOUT_DOWN, cell_c);
	workspace_layout_place(root, whole);
	assert_ptr_equal(workspace_layout_next(root, a, true), b);
	assert_ptr_equal(workspace_layout_next(root, b, true), c);
	assert_ptr_equal(workspace_layout_next(root, c, true), a);
	assert_ptr_equal(workspace_layout_next(root, a, false), c);
	assert_ptr_equal(workspace_layout_toward(root, b, LAYOUT_LEFT), a);
	assert_ptr_equal(workspace_layout_toward(root, b, LAYOUT_DOWN), c);
	assert_ptr_equal(workspace_layout_toward(root, c, LAYOUT_UP), b);
	assert_null(workspace_layout_toward(root, c, LAYOUT_DOWN));
	assert_null(workspace_layout_toward(root, a, LAYOUT_LEFT));
	workspace_layout_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splits_cover_everything),
		cmocka_unit_test(test_the_rest_takes_the_room_of_what_goes),
		cmocka_unit_test(test_borders_follow_the_mouse),
		cmocka_unit_test(test_walking),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
