// SPDX-License-Identifier: Apache-2.0
// What terminals answer about their background, and what else may come.
#include "tui/draw/background.h"

#include "tests/unit/unit.h"

static void answers(void **state)
{
	static const struct {
		const char *answer;
		bool ok;
		uint32_t rgb;
	} rows[] = {
		{ "11;rgb:ffff/ffff/ffff", true, 0xFFFFFF },
		{ "11;rgb:0000/0000/0000", true, 0 },
		{ "11;rgb:1e1e/2A2a/3c3C", true, 0x1E2A3C },
		{ "11;rgb:f/8/0", true, 0xFF8800 },
		{ "11;rgb:12/34/56", true, 0x123456 },
		{ "11;rgb:800/800/800", true, 0x808080 },
		{ "11;#fdf6e3", true, 0xFDF6E3 },
		{ "", false, 0 },
		{ "11;", false, 0 },
		{ "11;?", false, 0 },
		{ "10;rgb:ffff/ffff/ffff", false, 0 },
		{ "11;rgb:", false, 0 },
		{ "11;rgb:ff/ff", false, 0 },
		{ "11;rgb:ff/ff/", false, 0 },
		{ "11;rgb:ff/ff/ff/ff", false, 0 },
		{ "11;rgb:fffff/ffff/ffff", false, 0 },
		{ "11;rgb:gg/ff/ff", false, 0 },
		{ "11;rgb:ff;ff;ff", false, 0 },
		{ "11;rgb:ff/ff/ff ", false, 0 },
		{ "11;#fff", false, 0 },
		{ "11;#fffffff", false, 0 },
		{ "11;rgba:ff/ff/ff/ff", false, 0 },
		{ "11;rgb:ffff/ffff/ffffffffffffffffffffffffffffffffffff", false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint32_t rgb = 0;
		assert_int_equal(
			draw_background_parse(slice_of(rows[i].answer), &rgb), rows[i].ok);
		if (rows[i].ok)
			assert_int_equal(rgb, rows[i].rgb);
	}
	uint32_t rgb;
	assert_false(draw_background_parse((struct slice){ "11;rgb:f/f/f\0x", 14 }, &rgb));
}

static void light_or_dark(void **state)
{
	(void)state;
	assert_true(draw_background_is_light(0xFFFFFF));
	assert_true(draw_background_is_light(0xFDF6E3)); /* Solarized */
	assert_true(draw_background_is_light(0xFFFFDD));
	assert_false(draw_background_is_light(0x000000));
	assert_false(draw_background_is_light(0x002B36));
	assert_false(draw_background_is_light(0x2E3440)); /* Nord */
	assert_false(draw_background_is_light(0x0000EE));
	assert_true(draw_contrast(0, 0xFFFFFF) > 20.99 && draw_contrast(0xFFFFFF, 0) < 21.01);
	assert_true(
		draw_contrast(0x777777, 0xFFFFFF) > 4.47 &&
		draw_contrast(0x777777, 0xFFFFFF) < 4.49); /* as WCAG's own example has it */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers),
		cmocka_unit_test(light_or_dark) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
