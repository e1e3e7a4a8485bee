// SPDX-License-Identifier: Apache-2.0
// Lines that are scrolled, folded and searched; and that a frame of a huge one costs what is on the screen.
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "tui/widgets/pager.h"

#include <stdlib.h>
#include <string.h>

struct text {
	const char *lines[16];
	size_t n, n_bytes; /* n_bytes: of every line; 0: to its end */
};

static struct slice line(void *self, size_t index)
{
	struct text *text = self;
	const char *is = text->lines[index];
	return (struct slice){ is, text->n_bytes ? text->n_bytes : strlen(is) };
}

static void look(
	struct widget_pager *pager, struct text *text, int cols, int rows, const char *expected)
{
	const struct widget_pager_source source = { text->n, line, NULL, text };
	const struct widget_pager_styles styles = { .match = { .attrs = DRAW_BOLD },
		.match_here = { .attrs = DRAW_REVERSE } };
	struct draw_surface *surface = draw_surface_new(cols, rows);
	struct str is;
	str_init(&is, 1 << 16);
	widget_pager_draw(pager, &source, &styles, draw_region_whole(surface));
	/* marked: a match in [], the one that was gone to in <> */
	for (int row = 0; row < rows; row++) {
		const struct draw_cell *cells = draw_surface_row(surface, row);
		int end = cols;
		while (end > 0 && (!cells[end - 1].n || cells[end - 1].text[0] == ' ') &&
			!cells[end - 1].attrs)
			end--;
		uint16_t attrs = 0;
		for (int col = 0; col <= end; col++) {
			uint16_t next = col < end ? cells[col].attrs : 0;
			if (next != attrs)
				str_add(&is, attrs == DRAW_BOLD ? "]" : attrs ? ">" : "");
			if (next != attrs)
				str_add(&is, next == DRAW_BOLD ? "[" : next ? "<" : "");
			attrs = next;
			if (col < end)
				str_add_bytes(&is, cells[col].n ? cells[col].text : " ",
					cells[col].n ? cells[col].n : 1);
		}
		str_add_char(&is, '|');
	}
	assert_string_equal(is.p, expected);
	str_deinit(&is);
	draw_surface_free(surface);
}

static void move(struct widget_pager *pager, struct text *text, const char *word)
{
	const struct widget_pager_source source = { text->n, line, NULL, text };
	struct err err;
	if (!widget_pager_move(pager, &source, word, &err))
		fail_msg("%s", err.msg);
}

static void next(struct widget_pager *pager, struct text *text, bool is_forward)
{
	const struct widget_pager_source source = { text->n, line, NULL, text };
	struct err err;
	if (!widget_pager_next(pager, &source, is_forward, &err))
		fail_msg("%s", err.msg);
}

static void search(
	struct widget_pager *pager, struct text *text, const char *needle, const char *expected)
{
	const struct widget_pager_source source = { text->n, line, NULL, text };
	struct str is;
	str_init(&is, 100);
	widget_pager_search(pager, &source, needle);
	widget_pager_format_search(pager, &is);
	assert_string_equal(is.p, expected);
	str_deinit(&is);
}

static void test_scrolling(void **state)
{
	struct widget_pager pager = { 0 };
	struct text text = { { "one", "two", "three", "four", "five" }, 5, 0 };
	struct err err;
	(void)state;
	look(&pager, &text, 8, 3, "one|two|three|");
	move(&pager, &text, "down");
	look(&pager, &text, 8, 3, "two|three|four|");
	move(&pager, &text, "page-down");
	look(&pager, &text, 8, 3, "three|four|five|");
	move(&pager, &text, "down");
	look(&pager, &text, 8, 3, "three|four|five|");
	move(&pager, &text, "first");
	move(&pager, &text, "up");
	look(&pager, &text, 8, 3, "one|two|three|");
	pager.is_following = true;
	look(&pager, &text, 8, 2, "four|five|");
	text.lines[5] = "six";
	text.n = 6;
	look(&pager, &text, 8, 2, "five|six|");
	move(&pager, &text, "up");
	assert_false(pager.is_following);
	widget_pager_dropped(&pager, 2);
	assert_int_equal(pager.top.line, 1);
	widget_pager_dropped(&pager, 5);
	assert_int_equal(pager.top.line, 0);
	const struct widget_pager_source source = { text.n, line, NULL, &text };
	assert_false(widget_pager_move(&pager, &source, "sideways", &err));
	text.n = 0;
	look(&pager, &text, 8, 2, "||");
	widget_pager_deinit(&pager);
}

static void test_long_lines(void **state)
{
	struct widget_pager pager = { 0 };
	struct text text = { { "abcdefghijklmnopqrstuvwxyz", "x\ty", "a\033[31mb" }, 3, 0 };
	(void)state;
	look(&pager, &text, 10, 3, "abcdefghi…|x       y|a^[[31mb|");
	move(&pager, &text, "right");
	look(&pager, &text, 10, 3, "ijklmnopq…|y||");
	move(&pager, &text, "left");
	look(&pager, &text, 10, 1, "abcdefghi…|");
	widget_pager_fold(&pager, true);
	look(&pager, &text, 10, 5, "abcdefghij|klmnopqrst|uvwxyz|x^Iy|a^[[31mb|");
	look(&pager, &text, 10, 2, "abcdefghij|klmnopqrst|");
	move(&pager, &text, "down");
	look(&pager, &text, 10, 2, "klmnopqrst|uvwxyz|");
	move(&pager, &text, "last");
	look(&pager, &text, 10, 2, "x^Iy|a^[[31mb|");
	move(&pager, &text, "up");
	look(&pager, &text, 10, 2, "uvwxyz|x^Iy|");
	look(&pager, &text, 5, 2, "uvwxy|z|");
	widget_pager_deinit(&pager);
}

static void test_search(void **state)
{
	struct widget_pager pager = { 0 };
	struct text text = { { "a Cat", "dog", "cat cat", "Dog", "bird cat" }, 5, 0 };
	struct err err;
	(void)state;
	look(&pager, &text, 9, 2, "a Cat|dog|");
	search(&pager, &text, "cat", "1 of 4");
	look(&pager, &text, 9, 3, "a <Cat>|dog|[cat] [cat]|");
	next(&pager, &text, true);
	next(&pager, &text, true);
	look(&pager, &text, 9, 3, "a [Cat]|dog|[cat] <cat>|");
	next(&pager, &text, true);
	look(&pager, &text, 9, 3, "[cat] [cat]|Dog|bird <cat>|");
	next(&pager, &text, true); /* around */
	look(&pager, &text, 9, 2, "a <Cat>|dog|");
	next(&pager, &text, false);
	look(&pager, &text, 9, 2, "Dog|bird <cat>|");
	search(&pager, &text, "Cat", "1 of 1"); /* a capital counts */
	look(&pager, &text, 9, 2, "a <Cat>|dog|");
	search(&pager, &text, "fish", "not found");
	const struct widget_pager_source source = { text.n, line, NULL, &text };
	assert_false(widget_pager_next(&pager, &source, true, &err));
	search(&pager, &text, "", "");
	assert_false(widget_pager_next(&pager, &source, true, &err));
	widget_pager_deinit(&pager);
}

/* A line of 4 MiB, folded: the last rows are found without a walk over it. */
static void test_a_huge_line(void **state)
{
	enum { BYTES = 4 << 20, ROUNDS = 50 };
	struct widget_pager pager = { 0 };
	char *huge = x_calloc(1, BYTES + 1);
	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		huge[i] = i % 7 == 6 ? ' ' : 'a';
	struct text text = { { huge }, 1, BYTES };
	const struct widget_pager_source source = { text.n, line, NULL, &text };
	struct draw_surface *surface = draw_surface_new(80, 24);
	const struct widget_pager_styles styles = { 0 };
	widget_pager_fold(&pager, true);
	widget_pager_draw(&pager, &source, &styles, draw_region_whole(surface));
	int64_t before = clock_mono_ms();
	move(&pager, &text, "last");
	for (int i = 0; i < ROUNDS; i++) {
		move(&pager, &text, "up");
		widget_pager_draw(&pager, &source, &styles, draw_region_whole(surface));
	}
	assert_true(pager.top.line == 0 && pager.top.at > BYTES - 16 * 1024);
	print_message("%d frames at the end of 4 MiB: %lld ms\n", ROUNDS,
		(long long)(clock_mono_ms() - before));
	draw_surface_free(surface);
	widget_pager_deinit(&pager);
	free(huge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scrolling),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_a_huge_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
