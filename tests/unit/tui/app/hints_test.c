// SPDX-License-Identifier: Apache-2.0
// The bar of hints: as many as fit at every width, always the way to help, each can be clicked; notes leave it alone; the box
// of what follows the prefix.
#include "tests/unit/tui/app/rig.h"

static const char *last_line(const char *text, int rows)
{
	for (int row = 0; row < rows - 1; row++)
		text = strchr(text, '\n') + 1;
	return text;
}

static void click(struct rig *rig, int col, int row)
{
	struct draw_mouse mouse = {
		.action = MOUSE_PRESS, .button = 1, .col = col, .row = row, .clicks = 1
	};
	client_dispatch_mouse(rig->app->client, &mouse);
	mouse.action = MOUSE_RELEASE;
	client_dispatch_mouse(rig->app->client, &mouse);
}

static void as_many_as_fit(void **state)
{
	int before = 0;
	(void)state;
	for (int cols = CLIENT_COLS_MIN; cols <= 200; cols++) {
		struct rig rig = rig_new(cols, 12);
		const char *bar = last_line(rig_draw(&rig), 12);
		assert_non_null(strstr(bar, ": cmd"));
		assert_non_null(strstr(bar, "? help"));
		assert_null(strstr(bar, "…"));
		int n = (int)rig.app->client->n_hints;
		assert_true(n >= before); /* wider is never less */
		before = n;
		rig_free(&rig);
	}
	assert_true(before > 4);
}

static void each_can_be_clicked(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	const char *bar = last_line(rig_draw(&rig), 24);
	click(&rig, (int)(strstr(bar, "? help") - bar), 23);
	assert_string_equal(workspace_focused(rig.app->workspace)->class->name, "help");
	bar = last_line(rig_draw(&rig), 24);
	click(&rig, (int)(strstr(bar, ": cmd") - bar) + 2, 23); /* on its word */
	assert_int_equal(rig.app->client->prompt.kind, PROMPT_COMMAND);
	rig_key(&rig, "esc");
	rig_draw(&rig);
	click(&rig, 79, 23); /* beside them */
	assert_int_equal(rig.app->client->prompt.kind, PROMPT_NONE);
	assert_string_equal(workspace_focused(rig.app->workspace)->class->name, "help");
	rig_free(&rig);
}

static void a_note_leaves_the_hints_alone(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	rig_draw(&rig);
	int rows = workspace_body(rig.app->workspace).rows;
	app_note(rig.app, "something was done");
	const char *text = rig_draw(&rig);
	assert_non_null(strstr(last_line(text, 24), "? help"));
	assert_non_null(strstr(last_line(text, 23), "something was done\n"));
	assert_int_equal(workspace_body(rig.app->workspace).rows, rows - 1);
	/* a program is not told another size for it */
	rig_shell(&rig);
	rig_draw(&rig);
	rows = workspace_body(rig.app->workspace).rows;
	app_note(rig.app, "and something else");
	text = rig_draw(&rig);
	assert_non_null(strstr(text, "and something else\n"));
	assert_int_equal(workspace_body(rig.app->workspace).rows, rows);
	rig_free(&rig);
}

static void what_follows_the_prefix(void **state)
{
	(void)state;
	for (int cols = 40; cols <= 200; cols += 40) {
		struct rig rig = rig_new(cols, 30);
		struct views_shell *shell = rig_shell(&rig);
		rig_draw(&rig);
		rig_key(&rig, "ctrl-]");
		rig_type(&rig, "?");
		assert_non_null(strstr(rig_draw(&rig), "After the prefix"));
		assert_non_null(strstr(rig_draw(&rig), "another shell in the sa"));
		rig_key(&rig, "esc");
		assert_null(strstr(rig_draw(&rig), "After the prefix"));
		rig_key(&rig, "ctrl-]");
		rig_type(&rig, "?");
		rig_type(&rig, "[");
		assert_true(shell->is_scrolling);
		assert_null(strstr(rig_draw(&rig), "After the prefix"));
		rig_key(&rig, "esc");
		rig_key(&rig, "ctrl-]");
		rig_type(&rig, "??"); /* and all of it */
		assert_string_equal(workspace_focused(rig.app->workspace)->class->name, "help");
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_fit),
		cmocka_unit_test(each_can_be_clicked),
		cmocka_unit_test(a_note_leaves_the_hints_alone),
		cmocka_unit_test(what_follows_the_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
