// SPDX-License-Identifier: Apache-2.0
// Every view draws into a region of any size, stays inside it, and takes mouse and commands there.
#include "tests/unit/tui/views/fake.h"

static const struct view_class *const classes[] = { &view_sandboxes, &view_detail, &view_files,
	&view_log, &view_copies, &view_help };
enum { CLASSES = sizeof classes / sizeof classes[0], MARGIN = 2 };

static void draw_inside(struct view *view, int cols, int rows)
{
	struct draw_surface *surface = draw_surface_new(cols + 2 * MARGIN, rows + 2 * MARGIN);
	struct draw_region whole = draw_region_whole(surface);
	struct draw_style plain = { 0 };
	for (int row = 0; row < whole.rows; row++)
		for (int col = 0; col < whole.cols; col++)
			draw_region_put(whole, row, col, plain, "#", 1, 1);
	struct draw_region inside = draw_region_sub(whole, MARGIN, MARGIN, cols, rows);
	draw_region_fill(inside, plain);
	view->class->draw(view, inside, true);
	for (int row = 0; row < whole.rows; row++)
		for (int col = 0; col < whole.cols; col++) {
			bool is_inside = row >= MARGIN && row < MARGIN + rows &&
					 col >= MARGIN && col < MARGIN + cols;
			if (!is_inside && draw_surface_row(surface, row)[col].text[0] != '#')
				fail_msg("%s at %dx%d draws outside, at %d,%d",
					view->class->name, cols, rows, col, row);
		}
	for (int row = 0; row < rows; row++) {
		struct draw_mouse mouse = { MOUSE_PRESS, 1, cols / 2, row, 0, 1 };
		if (view->class->mouse)
			view->class->mouse(view, &mouse);
		mouse.action = MOUSE_WHEEL_DOWN;
		if (view->class->mouse)
			view->class->mouse(view, &mouse);
	}
	draw_surface_free(surface);
}

static void test_any_size(void **state)
{
	struct fake *fake = fake_new(false);
	struct view *views[CLASSES];
	struct view_args args = { 0 };
	struct err err;
	const char *paths[] = { "/nonexistent/a-file-with-quite-a-long-name.txt" };
	struct transfer_request request = {
		.from = { .is_local = true },
		.paths = paths,
		.n = 1,
		.to_dir = "a/folder",
	};
	(void)state;
	assert_true(transfer_queue_start(fake->host.copies, &request, &err));
	FAKE_UNTIL(fake, !transfer_queue_running(fake->host.copies));
	assert_true(transfer_queue_start(fake->host.copies, &request, &err));
	for (size_t i = 0; i < CLASSES; i++) {
		views[i] = classes[i]->open(&fake->host, &args, &err);
		assert_non_null(views[i]);
	}
	for (int turn = 0; turn < 20; turn++)
		net_loop_run_once(fake->host.loop, 5);
	static const int sizes[] = { 1, 2, 3, 5, 8, 13, 20, 39, 40, 61, 80, 200 };
	for (size_t i = 0; i < CLASSES; i++)
		for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++)
			for (int rows = 1; rows < 14; rows++) {
				draw_inside(views[i], sizes[c], rows);
				/* what a click has opened is not this test's matter */
				while (fake->n_dialogs)
					widget_dialog_free(fake->dialogs[--fake->n_dialogs]);
				static const char *const moves[] = { "last", "up", "first",
					"down" };
				for (size_t k = 0; k < sizeof moves / sizeof moves[0]; k++)
					fake_command(views[i], "move", moves[k], &err);
			}
	for (size_t i = 0; i < CLASSES; i++)
		views[i]->class->free(views[i]);
	fake_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
