// SPDX-License-Identifier: Apache-2.0
// Names cut in the middle, gauges, sparklines and counts, as cells.
#include "tests/unit/unit.h"

#include "tui/widgets/meter.h"
#include "tui/widgets/middle.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

enum { COLS = 24 };
static const struct draw_style plain = { 0 };

static const char *row_text(struct draw_surface *surface)
{
	static char line[COLS * 8];
	struct str text;
	str_init(&text, 4096);
	draw_surface_text(surface, &text);
	snprintf(line, sizeof line, "%.*s", (int)strcspn(text.p, "\n"), text.p);
	str_deinit(&text);
	return line;
}

static void names_keep_their_ends(void **state)
{
	static const struct {
		int cols;
		const char *name, *shown;
	} rows[] = {
		{ 12, "api-1", "api-1" },
		{ 5, "api-1", "api-1" },
		{ 10, "build-agent-0001", "build…0001" },
		{ 11, "build-agent-0001", "build…-0001" },
		{ 5, "build-agent-0001", "bu…01" },
		{ 4, "build-agent-0001", "bui…" }, /* too little for an end */
		{ 8, "你好世界你好世界", "你好…界" },
		{ 9, "name-\x1b[31m-end", "name…-end" },
		{ 3, "", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct draw_surface *surface = draw_surface_new(COLS, 1);
		int used = widget_middle_draw(
			draw_region_whole(surface), 0, 0, rows[i].cols, plain, rows[i].name);
		assert_string_equal(row_text(surface), rows[i].shown);
		assert_true(used <= rows[i].cols);
		draw_surface_free(surface);
	}
}

static void gauges_do_not_lie(void **state)
{
	static const struct {
		int permille;
		const char *shown;
	} rows[] = { { 0, "░░░░" }, { 1, "▓░░░" }, { 400, "▓▓░░" }, { 710, "▓▓▓░" },
		{ 999, "▓▓▓░" }, { 1000, "▓▓▓▓" }, { 5000, "▓▓▓▓" }, { -5, "░░░░" } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct draw_surface *surface = draw_surface_new(COLS, 1);
		widget_meter_gauge(
			draw_region_whole(surface), 0, 0, 4, plain, rows[i].permille);
		assert_string_equal(row_text(surface), rows[i].shown);
		draw_surface_free(surface);
	}
}

static void sparklines_end_at_the_right(void **state)
{
	static const int16_t values[] = { 999, 0, 130, -1, 500, 1000, 4000 };
	(void)state;
	struct draw_surface *surface = draw_surface_new(COLS, 1);
	struct draw_region r = draw_region_whole(surface);
	widget_meter_sparkline(r, 0, 0, 6, plain, values, 7);
	assert_string_equal(row_text(surface), "▁▂ ▅██");
	draw_region_fill(r, plain);
	widget_meter_sparkline(r, 0, 0, 6, plain, values, 2);
	assert_string_equal(row_text(surface), "    █▁");
	draw_region_fill(r, plain);
	widget_meter_sparkline(r, 0, 0, 6, plain, values, 0);
	assert_string_equal(row_text(surface), "");
	draw_surface_free(surface);
}

static void counts_of_what_there_is(void **state)
{
	static const struct {
		int there, wanted, cols;
		const char *shown;
	} rows[] = { { 2, 2, 2, "▮▮" }, { 1, 2, 2, "▮▯" }, { 0, 2, 2, "▯▯" }, { 0, 0, 0, "" },
		{ 3, 2, 3, "▮▮▮" }, { 1, 1000, 5, "▮▯▯▯▯" }, { 999, 1000, 5, "▮▮▮▮▯" } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct draw_surface *surface = draw_surface_new(COLS, 1);
		assert_int_equal(widget_meter_count(draw_region_whole(surface), 0, 0, 5, plain,
					 rows[i].there, rows[i].wanted),
			rows[i].cols);
		assert_string_equal(row_text(surface), rows[i].shown);
		draw_surface_free(surface);
	}
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_keep_their_ends),
		cmocka_unit_test(gauges_do_not_lie),
		cmocka_unit_test(sparklines_end_at_the_right),
		cmocka_unit_test(counts_of_what_there_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
