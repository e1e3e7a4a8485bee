// SPDX-License-Identifier: Apache-2.0
// Themes: the shipped ones all load and give every role; bad ones are refused with a reason and change nothing.
#include "tests/unit/unit.h"

#include "engine/base/err.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped_themes_load),
		cmocka_unit_test(test_mono_has_no_colour),
		cmocka_unit_test(test_roles_are_read),
		cmocka_unit_test(test_bad_themes_are_refused),
		cmocka_unit_test(test_inheriting_in_circles_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
