// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "tui/draw/color.h"

static void test_names_numbers_and_hex(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		draw_color want;
	} cases[] = {
		{ "default", true, DRAW_COLOR_DEFAULT },
		{ "red", true, DRAW_COLOR_INDEXED | 1 },
		{ "bright-white", true, DRAW_COLOR_INDEXED | 15 },
		{ "0", true, DRAW_COLOR_INDEXED },
		{ "255", true, DRAW_COLOR_INDEXED | 255 },
		{ "256", false, 0 },
		{ "-1", false, 0 },
		{ "#0a0B0c", true, DRAW_COLOR_RGB | 0x0a0b0c },
		{ "#12345", false, 0 },
		{ "#1234567", false, 0 },
		{ "#12345g", false, 0 },
		{ "Red", false, 0 },
		{ "", false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		draw_color color = 42;
		if (draw_color_parse(cases[i].text, &color) != cases[i].ok ||
			(cases[i].ok && color != cases[i].want))
			fail_msg("%s gave %x", cases[i].text, color);
	}
}

static void test_the_nearest_colour_of_a_palette(void **state)
{
	(void)state;
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_DEFAULT, 256), -1);
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_RGB | 0xFFFFFF, 0), -1);
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_INDEXED | 9, 256), 9);
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_INDEXED | 9, 16), 9);
	assert_int_equal(
		draw_color_to_palette(DRAW_COLOR_INDEXED | 9, 8), 1); /* bright red to red */
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_RGB | 0xFF0000, 256), 196);
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_RGB | 0x080808, 256), 232);
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_RGB | 0x00FF00, 16), 10);
	assert_int_equal(draw_color_to_palette(DRAW_COLOR_INDEXED | 21, 8), 4);
	assert_int_equal(draw_color_to_rgb(DRAW_COLOR_INDEXED | 231), 0xFFFFFF);
	assert_int_equal(draw_color_to_rgb(DRAW_COLOR_INDEXED | 255), 0xEEEEEE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_numbers_and_hex),
		cmocka_unit_test(test_the_nearest_colour_of_a_palette),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
