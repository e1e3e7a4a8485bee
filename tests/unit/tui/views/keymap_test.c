// SPDX-License-Identifier: Apache-2.0
// keymap.yaml: what it binds is in force, and each mistake is named with its line and key.
#include "tui/view/keymap.h"

#include "tests/unit/unit.h"

#include "engine/base/err.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *help_of(const char *line)
{
	return strncmp(line, "delete", 6) == 0   ? "delete it (asks)"
	       : strncmp(line, "theme ", 6) == 0 ? "other colours"
						 : NULL;
}

static const char *bound(enum view_key_scope scope, const char *name)
{
	struct draw_key key;
	assert_true(draw_key_parse(name, &key));
	return view_key_lookup(scope, &key);
}

static void what_is_bound(void **state)
{
	(void)state;
	assert_string_equal(bound(SCOPE_LIST, "ctrl-d"), "delete");
	assert_true(view_keymap_parse(
		slice_of(
			"list:\n  x: delete\n  ctrl-d: none\n  s: delete now\n"
			"everywhere: { F2: theme light, tab: theme mono, \"ctrl-]\": delete }\n"),
		help_of, NULL));
	assert_string_equal(bound(SCOPE_LIST, "x"), "delete");
	assert_null(bound(SCOPE_LIST, "ctrl-d"));
	assert_string_equal(bound(SCOPE_LIST, "s"), "delete now");
	assert_string_equal(bound(SCOPE_DETAIL, "s"), "shell"); /* another place */
	assert_string_equal(bound(SCOPE_GLOBAL, "F2"), "theme light");
	assert_string_equal(view_key_of_command(SCOPE_LIST, "delete"), "x");
	struct str page;
	str_init(&page, 1 << 20);
	view_keymap_markdown(&page);
	assert_non_null(strstr(page.p, "| `x` | delete it (asks) (keymap.yaml) | `delete` |"));
	assert_non_null(strstr(page.p, "in files it is: side"));
	assert_non_null(strstr(page.p, "(keymap.yaml; never reached: it is the prefix)"));
	str_deinit(&page);
	/* read again, nothing of it is left */
	assert_true(view_keymap_parse(slice_of(""), help_of, NULL));
	assert_null(bound(SCOPE_LIST, "x"));
	assert_string_equal(bound(SCOPE_LIST, "ctrl-d"), "delete");
}

static void mistakes(void **state)
{
	static const struct {
		const char *yaml, *message;
	} rows[] = {
		{ "list:\n  x: delete\nlists:\n  y: delete\n",
			"line 3: lists: there is no such place (everywhere, list, " },
		{ "shell:\n  x: delete\n", "line 1: shell: there is no such place" },
		{ "list: x\n", "line 1: list: is no mapping" },
		{ "list:\n  x: delete\n  hyper-x: delete\n",
			"line 3: list.hyper-x: is no key" },
		{ "list:\n  x: destroy\n", "line 2: list.x: there is no command 'destroy'" },
		{ "list:\n  x: 7\n", "line 2: list.x: is no command line" },
		{ "list:\n  x: delete\n  x: delete\n",
			"line 3, column 3: the key \"x\" occurs twice" },
		{ "list:\n  ctrl-alt-x: delete\n  alt-ctrl-x: delete\n",
			"line 3: list.alt-ctrl-x: is the same key as ctrl-alt-x" },
		{ "- list\n", "a keymap is a mapping of places" },
		{ "list: {\n", "line 2, column 1: " },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		assert_false(view_keymap_parse(slice_of(rows[i].yaml), help_of, &err));
		assert_int_equal(err.code, ERR_CONFIG_FILE);
		if (strncmp(err.msg, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("%s\nwanted %s", err.msg, rows[i].message);
		assert_null(bound(SCOPE_LIST, "x"));
	}
}

static void a_file(void **state)
{
	char path[] = "/tmp/keymap.XXXXXX";
	struct err err = { 0 };
	(void)state;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "list:\n  x: no\n", 14), 14);
	close(fd);
	assert_false(view_keymap_read(path, help_of, &err));
	char wanted[128];
	snprintf(wanted, sizeof wanted, "%s: line 2: list.x: there is no command 'no'", path);
	assert_string_equal(err.msg, wanted);
	unlink(path);
	assert_true(view_keymap_read(path, help_of, &err)); /* none: fine */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_bound),
		cmocka_unit_test(mistakes), cmocka_unit_test(a_file) };
	setlocale(LC_CTYPE, "C.UTF-8");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	view_keymap_reset();
	return failed;
}
