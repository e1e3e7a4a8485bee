// SPDX-License-Identifier: Apache-2.0
/* The contract of the adapter: what each operation reads and does, that callers tell it nothing, and that
 * term_vterm_check() sees each state that libvterm could have for itself. The source is included, because only so
 * something can be put into libvterm behind the adapter's back. */
#include "tests/unit/unit.h"

#include "tui/term/vterm_adapter.c"

enum { COLS = 20, ROWS = 6 };

static struct term_vterm *v;
static struct term_place place;
static char said[512];

static void say(const char *text)
{
	size_t n = strlen(said);
	snprintf(said + n, sizeof said - n, "%s%s", n > 0 ? ", " : "", text);
}

static void erased(struct term_grid_rect r, bool selective, void *arg)
{
	char text[64];
	assert_ptr_equal(arg, said);
	snprintf(text, sizeof text, "%s %d-%d %d-%d", selective ? "select" : "erase", r.top,
		r.bottom, r.left, r.right);
	say(text);
}

static void scrolled(struct term_grid_rect r, int up, int left, void *arg)
{
	char text[64];
	assert_ptr_equal(arg, said);
	snprintf(text, sizeof text, "scroll %d-%d %d-%d by %d %d", r.top, r.bottom, r.left,
		r.right, up, left);
	say(text);
}

static void wrote(const char *bytes, size_t n, void *arg)
{
	assert_ptr_equal(arg, said);
	strncat(said, bytes, n);
}

static int setup(void **state)
{
	(void)state;
	struct term_vterm_callbacks callbacks = {
		.on_erase = erased, .on_scroll = scrolled, .on_output = wrote
	};
	v = term_vterm_new(COLS, ROWS, &callbacks, said);
	place = (struct term_place){ .region = { 0, ROWS, 0, COLS } };
	said[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	term_vterm_free(v);
	return 0;
}

static const struct {
	enum term_vterm_op op;
	int count;
	int row, col;
	const char *said;
	int row_after, col_after;
} operations[] = {
	{ TERM_VTERM_TAB_FORWARD, 2, 1, 3, "", 1, 16 },
	{ TERM_VTERM_TAB_FORWARD, 9, 1, 3, "", 1, 19 },
	{ TERM_VTERM_TAB_BACK, 1, 1, 9, "", 1, 8 },
	{ TERM_VTERM_INDEX, 0, 1, 3, "", 2, 3 },
	{ TERM_VTERM_INDEX, 0, 3, 3, "scroll 1-4 2-18 by 1 0", 3, 3 },
	{ TERM_VTERM_NEXT_LINE, 0, 1, 3, "", 2, 0 },
	{ TERM_VTERM_REVERSE_INDEX, 0, 1, 3, "scroll 1-4 2-18 by -1 0", 1, 3 },
	{ TERM_VTERM_INSERT_LINES, 2, 2, 3, "scroll 2-4 2-18 by -2 0", 2, 3 },
	{ TERM_VTERM_INSERT_LINES, 2, 5, 3, "", 5, 3 },
	{ TERM_VTERM_DELETE_LINES, 1, 2, 3, "scroll 2-4 2-18 by 1 0", 2, 3 },
	{ TERM_VTERM_SCROLL_UP, 1, 0, 0, "scroll 1-4 2-18 by 1 0", 0, 0 },
	{ TERM_VTERM_SCROLL_DOWN, 2, 0, 0, "scroll 1-4 2-18 by -2 0", 0, 0 },
	{ TERM_VTERM_INSERT_COLUMNS, 2, 2, 5, "scroll 1-4 5-18 by 0 -2", 2, 5 },
	{ TERM_VTERM_DELETE_COLUMNS, 2, 2, 5, "scroll 1-4 5-18 by 0 2", 2, 5 },
	{ TERM_VTERM_ERASE_DISPLAY, 0, 2, 5, "erase 2-3 5-20, erase 3-6 0-20", 2, 5 },
	{ TERM_VTERM_ERASE_DISPLAY, 1, 2, 5, "erase 0-2 0-20, erase 2-3 0-6", 2, 5 },
	{ TERM_VTERM_ERASE_DISPLAY_SELECTIVE, 2, 2, 5, "select 0-6 0-20", 2, 5 },
	{ TERM_VTERM_ERASE_LINE, 0, 5, 19, "erase 5-6 19-20", 5, 19 },
	{ TERM_VTERM_ERASE_LINE, 1, 5, 19, "erase 5-6 0-20", 5, 19 },
	{ TERM_VTERM_ERASE_LINE_SELECTIVE, 2, 0, 0, "select 0-1 0-20", 0, 0 },
};

/* Cursor and region are changed by hand before each, and nobody says so. */
static void test_operations_see_our_cursor_and_region(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
		said[0] = '\0';
		place.region = (struct term_grid_rect){ 1, 4, 2, 18 };
		place.row = operations[i].row;
		place.col = operations[i].col;
		place.at_end = true;
		term_vterm_run(v, &place, operations[i].op, operations[i].count);
		assert_string_equal(said, operations[i].said);
		assert_int_equal(place.row, operations[i].row_after);
		assert_int_equal(place.col, operations[i].col_after);
		assert_true(place.at_end);
		assert_null(term_vterm_check(v, &place));
	}
}

static void test_tab_stops_are_libvterms_until_a_reset(void **state)
{
	(void)state;
	place.col = 5;
	term_vterm_run(v, &place, TERM_VTERM_TAB_CLEAR, 3);
	term_vterm_run(v, &place, TERM_VTERM_TAB_SET, 0);
	assert_null(term_vterm_check(v, &place));
	place.col = 0;
	term_vterm_run(v, &place, TERM_VTERM_TAB_FORWARD, 1);
	assert_int_equal(place.col, 5);
	term_vterm_reset(v);
	assert_string_equal(said, ""); /* it erases nothing */
	term_vterm_run(v, &place, TERM_VTERM_TAB_FORWARD, 1);
	assert_int_equal(place.col, 8);
}

/* 0.3.3 keeps an array of lines that it does not enlarge: the sanitizer would see a row behind it. */
static void test_a_resize_reaches_the_last_row_and_column(void **state)
{
	(void)state;
	static const int sizes[][2] = { { 1, 1 }, { 300, 200 }, { 5, 3 },
		{ TERM_COLS_MAX, TERM_ROWS_MAX }, { 20, 6 } };
	char expected[64];
	place.region = (struct term_grid_rect){ 2, 4, 0, COLS };
	term_vterm_run(v, &place, TERM_VTERM_SCROLL_UP, 1);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		int cols = sizes[i][0];
		int rows = sizes[i][1];
		said[0] = '\0';
		term_vterm_resize(v, cols, rows);
		assert_string_equal(said, "");
		place = (struct term_place){ rows - 1, cols - 1, false, { 0, rows, 0, cols } };
		assert_null(term_vterm_check(v, &place));
		term_vterm_run(v, &place, TERM_VTERM_INDEX, 0);
		snprintf(expected, sizeof expected, "scroll 0-%d 0-%d by 1 0", rows, cols);
		assert_string_equal(said, expected);
		assert_int_equal(place.row, rows - 1);
		assert_int_equal(place.col, cols - 1);
		said[0] = '\0';
		term_vterm_run(v, &place, TERM_VTERM_ERASE_DISPLAY, 2);
		snprintf(expected, sizeof expected, "erase 0-%d 0-%d", rows, cols);
		assert_string_equal(said, expected);
	}
}

static void test_keys_follow_the_modes_they_are_given(void **state)
{
	(void)state;
	term_vterm_key(v, TERM_KEY_UP, 0, false, false);
	term_vterm_key(v, TERM_KEY_UP, 0, true, false);
	term_vterm_key(v, TERM_KEY_UP, TERM_MOD_CTRL, true, false);
	term_vterm_key(v, TERM_KEY_KP_0, 0, true, false);
	term_vterm_key(v, TERM_KEY_KP_0, 0, true, true);
	term_vterm_key(v, TERM_KEY_DELETE, TERM_MOD_SHIFT, true, true);
	assert_null(term_vterm_check(v, &place));
	term_vterm_reset(v);
	assert_null(term_vterm_check(v, &place));
	term_vterm_key(v, TERM_KEY_UP, 0, true, false);
	term_vterm_key(v, TERM_KEY_KP_0, 0, true, true);
	assert_string_equal(said, "\x1b[A\x1bOA\x1b[1;5A0\x1bOp\x1b[3;2~\x1bOA\x1bOp");
}

static const struct {
	const char *behind_its_back;
	const char *difference;
} strays[] = {
	{ "x", "text" },
	{ "\x1b[4h", "pending wrap or insert mode" },
	{ "\x1b[1m", "pen" },
	{ "\x1b[4m", "pen" },
	{ "\x1b[32m", "pen" },
	{ "\x1b[48;5;3m", "pen" },
	{ "\x1b[?6h", "origin mode" },
	{ "\x1b[2;3r\x1b[?6h", "size or origin mode" },
	{ "\x1b[2;3r", "region and margins: libvterm's" },
	{ "\x1b[2;3s", "region and margins: libvterm's" },
	{ "\x1b[?69l\x1b[?1l", "region and margins" }, /* it would not take ours */
	{ "\x1b[?1h", "DECCKM" },
	{ "\x1b=", "DECKPAM" },
	{ "\x1b[3;3H", NULL }, /* its cursor may be anywhere between operations */
	{ "\x1b[3g\x1bH", NULL },
};

static void test_check_sees_what_libvterm_has_for_itself(void **state)
{
	for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++) {
		teardown(state);
		setup(state);
		place.col = 3;
		assert_null(term_vterm_check(v, &place));
		print(v, strays[i].behind_its_back);
		const char *difference = term_vterm_check(v, &place);
		if (strays[i].difference == NULL) {
			assert_null(difference);
			continue;
		}
		if (difference == NULL)
			fail_msg("stray %zu is not seen", i);
		assert_memory_equal(
			difference, strays[i].difference, strlen(strays[i].difference));
	}
	v->glyphs = 0;
	print(v, "\x1b[1;1H01234567890123456789");
	v->glyphs = 0;
	assert_string_equal(
		term_vterm_check(v, &place), "pending wrap or insert mode: libvterm has one");
}

static void test_check_sees_a_place_that_libvterm_cannot_take(void **state)
{
	(void)state;
	place.col = COLS;
	assert_string_equal(term_vterm_check(v, &place), "cursor: libvterm does not take ours");
	place.col = 0;
	place.row = ROWS + 3;
	assert_string_equal(term_vterm_check(v, &place), "cursor: libvterm does not take ours");
	place.row = 0;
	place.region.bottom = ROWS + 1;
	assert_string_equal(
		term_vterm_check(v, &place), "region and margins: libvterm does not take ours");
	place.region = (struct term_grid_rect){ 3, 3, 0, COLS };
	assert_string_equal(
		term_vterm_check(v, &place), "region and margins: libvterm does not take ours");
}

/* Otherwise it would put right what an operation forgot to say. */
static void test_check_leaves_libvterm_as_it_was(void **state)
{
	(void)state;
	VTermPos pos;
	place.row = 4;
	print(v, "\x1b[2;7H");
	assert_null(term_vterm_check(v, &place));
	vterm_state_get_cursorpos(v->state, &pos);
	assert_int_equal(pos.row, 1);
	assert_int_equal(pos.col, 6);
	place.region = (struct term_grid_rect){ 1, 3, 0, COLS };
	assert_null(term_vterm_check(v, &place));
	assert_string_equal(said, "");
	print(v, "\x1b[S"); /* told nothing new */
	assert_string_equal(said, "scroll 0-6 0-20 by 1 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_operations_see_our_cursor_and_region, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_tab_stops_are_libvterms_until_a_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_resize_reaches_the_last_row_and_column, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_keys_follow_the_modes_they_are_given, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_check_sees_what_libvterm_has_for_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_check_sees_a_place_that_libvterm_cannot_take, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_check_leaves_libvterm_as_it_was, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
