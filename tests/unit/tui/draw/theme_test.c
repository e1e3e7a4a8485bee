// SPDX-License-Identifier: Apache-2.0
// Themes: the shipped ones all load and give every role; bad ones are refused with a reason and change nothing.
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/yaml.h"
#include "tui/draw/background.h"
#include "tui/draw/color.h"
#include "tui/draw/theme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note_name(void *arg, const char *name)
{
	char *all = arg;
	strncat(all, name, 900 - strlen(all));
	strncat(all, " ", 900 - strlen(all));
}

static void test_shipped_themes_load(void **state)
{
	static const char *const names[] = { "default", "light", "high-contrast", "mono",
		"builtin" };
	struct draw_theme theme;
	struct err err;
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!draw_theme_load(&theme, names[i], &err))
			fail_msg("%s: %s", names[i], err.msg);
	char all[1000] = "";
	draw_theme_each(note_name, all);
	assert_non_null(strstr(all, "default "));
	assert_non_null(strstr(all, "high-contrast "));
}

static void test_mono_has_no_colour(void **state)
{
	struct draw_theme theme;
	(void)state;
	assert_true(draw_theme_load(&theme, "mono", NULL));
	for (int i = 0; i < ROLE_COUNT; i++) {
		if (i == ROLE_PANE) /* told to programs, not painted */
			continue;
		assert_int_equal(theme.roles[i].fg, DRAW_COLOR_DEFAULT);
		assert_int_equal(theme.roles[i].bg, DRAW_COLOR_DEFAULT);
	}
	assert_true(theme.roles[ROLE_CURSOR].attrs & DRAW_REVERSE);
}

static void test_roles_are_read(void **state)
{
	struct draw_theme theme;
	struct err err;
	(void)state;
	draw_theme_builtin(&theme);
	assert_true(draw_theme_parse(&theme, "x",
		slice_of(
			"inherit: mono\nroles:\n  cursor: { fg: black, bg: \"#010203\", bold: true }\n"
			"  error: { fg: 9 }\n"),
		&err));
	assert_string_equal(theme.name, "x");
	assert_int_equal(theme.roles[ROLE_CURSOR].fg, DRAW_COLOR_INDEXED);
	assert_int_equal(theme.roles[ROLE_CURSOR].bg, DRAW_COLOR_RGB | 0x010203);
	assert_int_equal(theme.roles[ROLE_CURSOR].attrs, DRAW_BOLD);
	assert_int_equal(theme.roles[ROLE_ERROR].fg, DRAW_COLOR_INDEXED | 9);
	assert_int_equal(theme.roles[ROLE_DIM].attrs, DRAW_DIM); /* inherited */
}

static void test_bad_themes_are_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"roles: 3\n",
		"roles:\n  nothing: { fg: red }\n",
		"roles:\n  text: red\n",
		"roles:\n  text: { fg: reddish }\n",
		"roles:\n  text: { bg: 256 }\n",
		"roles: {\n",
		"inherit: no-such-theme\nroles: {}\n",
	};
	struct draw_theme theme, before;
	(void)state;
	draw_theme_builtin(&theme);
	before = theme;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err err = { 0 };
		assert_false(draw_theme_parse(&theme, "bad", slice_of(cases[i]), &err));
		assert_int_not_equal(err.code, ERR_NONE);
		assert_true(err.msg[0]);
		assert_memory_equal(&theme, &before, sizeof theme);
	}
	struct err err = { 0 };
	assert_false(draw_theme_load(&theme, "no-such-theme", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

static void test_inheriting_in_circles_ends(void **state)
{
	char dir[] = "/tmp/theme-test-XXXXXX", path[128];
	struct draw_theme theme;
	struct err err = { 0 };
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/circle.yaml", dir);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "inherit: %s\nroles: {}\n", path);
	fclose(file);
	assert_false(draw_theme_load(&theme, path, &err));
	assert_int_equal(err.code, ERR_CONFIG_FILE);
	unlink(path);
	rmdir(dir);
}

/* Line and key of each mistake. */
static void test_mistakes_are_found(void **state)
{
	static const struct {
		const char *yaml, *message;
	} rows[] = {
		{ "roles:\n  text: {}\n  txt: {}\n",
			"line 3: roles.txt: there is no such role" },
		{ "roles:\n  text: red\n", "line 2: roles.text: is no mapping" },
		{ "roles: {}\nroles-16:\n  text:\n    bold: true\n    fg: reddish\n",
			"line 5: roles-16.text.fg: is no colour" },
		{ "roles:\n  text: { bold: 1 }\n",
			"line 2: roles.text.bold: is neither true nor false" },
		{ "roles:\n  text: { blod: true }\n", "line 2: roles.text.blod: is not known" },
		{ "roles: {}\nroles-32: {}\n", "line 2: roles-32: is not known" },
		{ "\nroles-8: 3\n", "line 2: roles-8: is no mapping" },
		{ "roles:\n  text: {}\n  dim: {}\n  text: {}\n",
			"line 4, column 3: the key \"text\" occurs twice" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_theme theme;
		struct err err = { 0 };
		assert_false(draw_theme_parse(&theme, "x", slice_of(rows[i].yaml), &err));
		if (!strstr(err.msg, rows[i].message))
			fail_msg("%s\nwanted %s", err.msg, rows[i].message);
	}
}

static void test_a_theme_has_a_level_for_each_terminal(void **state)
{
	struct draw_theme theme;
	(void)state;
	assert_true(draw_theme_parse(&theme, "x",
		slice_of(
			"roles: { error: { fg: \"#ff0000\" } }\nroles-16: { error: { fg: 9 } }\n"
			"roles-none: { error: { italic: true } }\n"),
		NULL));
	static const struct {
		int colors;
		draw_color fg;
		unsigned attrs;
	} rows[] = { { 1 << 24, DRAW_COLOR_RGB | 0xff0000, 0 },
		{ 256, DRAW_COLOR_RGB | 0xff0000, 0 }, { 88, DRAW_COLOR_INDEXED | 9, 0 },
		{ 16, DRAW_COLOR_INDEXED | 9, 0 }, { 8, DRAW_COLOR_INDEXED | 1, DRAW_BOLD },
		{ 0, DRAW_COLOR_DEFAULT, DRAW_ITALIC } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		draw_theme_choose(&theme, rows[i].colors);
		assert_int_equal(theme.roles[ROLE_ERROR].fg, rows[i].fg);
		assert_int_equal(theme.roles[ROLE_ERROR].attrs, rows[i].attrs);
	}
}

/* What is shipped says each role for each number of colours: nothing is left to the nearest one. */
static void test_shipped_themes_say_everything(void **state)
{
	static const char *const names[] = { "default", "light", "high-contrast", "mono" };
	static const char *const sections[] = { "roles", "roles-256", "roles-16", "roles-8",
		"roles-none" };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s.yaml", THEME_SOURCE_DIR, names[i]);
		cJSON *tree = yaml_parse_file(path, 1 << 20, NULL);
		assert_non_null(tree);
		for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++)
			for (int role = 0; role < ROLE_COUNT; role++)
				if (!json_get(tree, sections[k],
					    draw_theme_role_name((enum draw_theme_role)role),
					    NULL))
					fail_msg("%s: %s.%s is missing", path, sections[k],
						draw_theme_role_name(
							(enum draw_theme_role)role));
		cJSON_Delete(tree);
	}
}

static uint32_t rgb_or(draw_color color, uint32_t otherwise)
{
	return color == DRAW_COLOR_DEFAULT ? otherwise : draw_color_to_rgb(color);
}

static void expect_contrast(const struct draw_theme *theme, enum draw_theme_role fg,
	enum draw_theme_role bg, uint32_t ground, double least)
{
	uint32_t ink = draw_color_to_rgb(theme->roles[ROLE_PANE].fg);
	uint32_t a = rgb_or(theme->roles[fg].fg, ink), b = rgb_or(theme->roles[bg].bg, ground);
	if (draw_contrast(a, b) < least)
		fail_msg("%s: %s (#%06x) on %s (#%06x): %.2f, less than %.1f", theme->name,
			draw_theme_role_name(fg), a, draw_theme_role_name(bg), b,
			draw_contrast(a, b), least);
}

/* WCAG 2.1: 4.5 for text (1.4.3), 3 for what is only a line (1.4.11); on each background that is usual for the theme. */
static void test_everything_can_be_read(void **state)
{
	static const struct {
		const char *name;
		uint32_t grounds[3];
	} themes[] = { { "default", { 0x000000, 0x1e1e1e, 0x002b36 } },
		{ "light", { 0xffffff, 0xfdf6e3, 0xf8f8f8 } },
		{ "high-contrast", { 0x000000, 0x000000, 0x000000 } } };
	static const enum draw_theme_role tones[] = { ROLE_ERROR, ROLE_WARNING, ROLE_OK,
		ROLE_BUSY, ROLE_GONE, ROLE_DIM, ROLE_TEXT };
	(void)state;
	for (size_t i = 0; i < sizeof themes / sizeof themes[0]; i++)
		for (int colors = 1 << 24; colors >= 256; colors = colors > 256 ? 256 : 0) {
			struct draw_theme theme;
			assert_true(draw_theme_load(&theme, themes[i].name, NULL));
			draw_theme_choose(&theme, colors);
			for (int k = 0; k < 3; k++)
				for (int role = 0; role < ROLE_COUNT; role++) {
					bool is_line = role == ROLE_BORDER ||
						       role == ROLE_BORDER_FOCUSED ||
						       role == ROLE_DIALOG_BORDER;
					expect_contrast(&theme, (enum draw_theme_role)role,
						(enum draw_theme_role)role,
						themes[i].grounds[k], is_line ? 3 : 4.5);
				}
			for (size_t k = 0; k < sizeof tones / sizeof tones[0]; k++) {
				expect_contrast(&theme, tones[k], ROLE_CURSOR, 0, 4.5);
				expect_contrast(&theme, tones[k], ROLE_CURSOR_UNFOCUSED,
					themes[i].grounds[0], 4.5);
				expect_contrast(&theme, tones[k], ROLE_DIALOG,
					themes[i].grounds[0], 4.5);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped_themes_load),
		cmocka_unit_test(test_mono_has_no_colour),
		cmocka_unit_test(test_roles_are_read),
		cmocka_unit_test(test_bad_themes_are_refused),
		cmocka_unit_test(test_inheriting_in_circles_ends),
		cmocka_unit_test(test_mistakes_are_found),
		cmocka_unit_test(test_a_theme_has_a_level_for_each_terminal),
		cmocka_unit_test(test_shipped_themes_say_everything),
		cmocka_unit_test(test_everything_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
