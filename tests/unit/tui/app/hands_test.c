// SPDX-License-Identifier: Apache-2.0
// Hands that slip: keys in panes that scroll or have ended, clicks that would lose something, numbers and marks of tabs.
#include "tests/unit/tui/app/rig.h"

static void open_tabs(struct rig *rig, size_t n)
{
	struct err err = { 0 };
	while (rig->app->workspace->n_tabs < n)
		assert_true(app_run(rig->app, "shell", &err));
}

static void test_letters_in_scroll_mode_stay_in_it(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	rig_draw(&rig);
	for (int i = 0; i < 100; i++)
		term_feed(shell->term, "line\r\n", 6);
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "[");
	for (char c = '!'; c < 127; c++)
		if (c != 'v') /* what is selected follows below */
			rig_type(&rig, (char[]){ c, 0 });
	rig_type(&rig, "vgyqY:?CLlo/");
	rig_key(&rig, "F5");
	assert_true(shell->is_scrolling);
	client_dispatch_paste(rig.app->client, slice_of("rm -rf /\r"), false);
	assert_true(shell->is_scrolling);
	assert_int_equal(shell->session->n_held, 0);
	assert_int_equal(rig.app->workspace->n_tabs, 2);
	assert_int_equal(rig.app->client->prompt.kind, PROMPT_NONE);
	assert_false(rig.app->workspace->is_strip_on);
	rig_key(&rig, "esc");
	assert_false(shell->is_scrolling);
	rig_type(&rig, "x");
	assert_int_equal(shell->session->n_held, 1);
	rig_free(&rig);
}

static void turn_for(struct rig *rig, int64_t ms)
{
	for (int64_t end = clock_mono_ms() + ms; clock_mono_ms() < end;)
		net_loop_run_once(rig->loop, 10);
}

/* A letter that changes where keys go counts only if none follows it. */
static void test_a_letter_by_itself_leaves_the_scroll_mode(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	rig_draw(&rig);
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "[");
	rig_type(&rig, "quit");
	turn_for(&rig, 400);
	assert_true(shell->is_scrolling);
	rig_type(&rig, "q");
	client_dispatch_paste(rig.app->client, slice_of("uit\r"), false);
	turn_for(&rig, 400);
	assert_true(shell->is_scrolling);
	rig_type(&rig, "q");
	assert_true(shell->is_scrolling);
	turn_for(&rig, 400);
	assert_false(shell->is_scrolling);
	assert_int_equal(shell->session->n_held, 0);
	rig_free(&rig);
}

static void test_alt_in_a_form_loses_nothing(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct widget_dialog *dialog = widget_dialog_new("Form", NULL, NULL, NULL);
	widget_dialog_add_field(dialog, "name", "");
	widget_dialog_add_button(dialog, "&OK");
	rig.app->workspace->n_handling++;
	workspace_push_dialog(rig.app->workspace, dialog);
	rig.app->workspace->n_handling--;
	rig_type(&rig, "abc");
	rig_key(&rig, "alt-b");
	assert_int_equal(rig.app->client->n_dialogs, 1);
	assert_string_equal(widget_dialog_field(dialog, 0), "abc");
	rig_key(&rig, "esc");
	assert_int_equal(rig.app->client->n_dialogs, 0);
	rig_type(&rig, ":hel");
	rig_key(&rig, "alt-b");
	assert_string_equal(rig.app->client->prompt.edit.text.p, "hel");
	rig_click(&rig, 1, 5, 5);
	assert_int_equal(rig.app->client->prompt.kind, PROMPT_COMMAND);
	rig_free(&rig);
}

static void test_a_pane_that_has_ended_takes_no_letters(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	rig_draw(&rig);
	for (int64_t end = clock_mono_ms() + 10000;
		shell->session->state != SESSION_ENDED && clock_mono_ms() < end;)
		net_loop_run_once(rig.loop, 10); /* nobody listens there */
	assert_int_equal(shell->session->state, SESSION_ENDED);
	for (char c = ' '; c < 127; c++)
		rig_type(&rig, (char[]){ c, 0 });
	static const char *const keys[] = { "enter", "esc", "ctrl-c", "ctrl-d", "tab", "alt-q",
		"ctrl-z", "backspace", "F1" };
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		rig_key(&rig, keys[i]);
	assert_int_equal(shell->session->state, SESSION_ENDED);
	assert_int_equal(rig.app->workspace->n_tabs, 2);
	assert_ptr_equal(workspace_focused(rig.app->workspace), &shell->view);
	assert_int_equal(rig.app->client->n_dialogs, 0);
	assert_int_equal(rig.app->client->prompt.kind, PROMPT_NONE);
	assert_false(rig.app->workspace->is_quitting);
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "r");
	assert_int_equal(shell->session->state, SESSION_WAITING);
	rig_free(&rig);
}

static void test_a_letter_by_itself_in_a_pane_that_has_ended(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	rig_draw(&rig);
	while (shell->session->state != SESSION_ENDED)
		net_loop_run_once(rig.loop, 10);
	rig_type(&rig, "r"); /* on its way when it ended */
	turn_for(&rig, 400);
	assert_int_equal(shell->session->state, SESSION_ENDED);
	turn_for(&rig, 200);
	rig_type(&rig, "er"); /* the end of a word */
	turn_for(&rig, 600);
	assert_int_equal(shell->session->state, SESSION_ENDED);
	rig_type(&rig, "r");
	assert_int_equal(shell->session->state, SESSION_ENDED);
	turn_for(&rig, 350);
	assert_int_not_equal(shell->session->state, SESSION_ENDED);
	while (shell->session->state != SESSION_ENDED)
		net_loop_run_once(rig.loop, 10);
	turn_for(&rig, 600);
	rig_type(&rig, "x");
	turn_for(&rig, 400);
	workspace_close_pending(rig.app->workspace);
	assert_int_equal(rig.app->workspace->n_tabs, 1);
	rig_free(&rig);
}

/* A name and what a program calls itself share the room. */
static void test_a_tab_shows_name_and_title(void **state)
{
	(void)state;
	static const struct {
		const char *name, *title, *label;
	} rows[] = {
		{ "box", "vim", "1 sh box · vim " },
		{ "a-very-long-name-of-a-claim", "vim", "1 sh a-very-long-… · vim " },
		{ "box", "vim a/very/long/path/of/a/file.c", "1 sh box · vim a/very/l… " },
		{ "a-very-long-name-of-a-claim", "vim a/very/long/path.c",
			"1 sh a-ver… · vim a/ver… " },
		{ "a-very-long-name-of-a-claim", "", "1 sh a-very-long-name" },
	};
	struct rig rig = rig_new(120, 24);
	struct views_shell *shell = rig_shell(&rig);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[128];
		free(shell->session->name);
		free(shell->session->program);
		shell->session->name = x_strdup(rows[i].name);
		shell->session->program = x_strdup("sh");
		snprintf(text, sizeof text, "\033]2;%s\033\\", rows[i].title);
		term_feed(shell->term, text, strlen(text));
		const char *frame = rig_draw(&rig);
		if (strstr(frame, rows[i].label + 2) == NULL)
			fail_msg("%s\n%.300s", rows[i].label, frame);
	}
	rig_free(&rig);
}

static void drag(struct rig *rig, unsigned mods, int from_col, int to_col)
{
	struct draw_mouse mouse = { MOUSE_PRESS, 1, from_col, 1, mods, 1 };
	client_dispatch_mouse(rig->app->client, &mouse);
	mouse.action = MOUSE_DRAG;
	mouse.col = to_col;
	client_dispatch_mouse(rig->app->client, &mouse);
	mouse.action = MOUSE_RELEASE;
	client_dispatch_mouse(rig->app->client, &mouse);
}

/* A program that asks for the mouse gets it, and Shift keeps it for us. */
static void test_shift_keeps_the_mouse_from_the_program(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	rig_draw(&rig);
	term_feed(shell->term, "some words\033[?1002h\033[?1006h", 26);
	shell->session->state = SESSION_RUNNING;
	rig_draw(&rig);
	drag(&rig, MOD_SHIFT, 0, 5);
	assert_int_equal(shell->session->n_held, 0);
	assert_true(shell->has_selection);
	struct term_pos from, to;
	assert_true(views_shell_selection(shell, &from, &to));
	assert_int_equal(from.col, 0);
	assert_int_equal(to.col, 5);
	views_shell_select_clear(shell);
	drag(&rig, 0, 0, 5);
	assert_true(shell->session->n_held > 0);
	assert_false(shell->has_selection);
	/* nor while it is scrolled: what is under the mouse is not what the program thinks */
	shell->session->n_held = 0;
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "[");
	drag(&rig, 0, 0, 5);
	assert_int_equal(shell->session->n_held, 0);
	shell->session->state = SESSION_WAITING;
	rig_free(&rig);
}

static void test_middle_click_never_closes_the_list(void **state)
{
	(void)state;
	int row, col;
	struct rig rig = rig_new(80, 24);
	struct view *list = workspace_focused(rig.app->workspace);
	assert_true(rig_find(rig_draw(&rig), "1 sandboxes", &row, &col));
	rig_click(&rig, 2, row, col);
	workspace_close_pending(rig.app->workspace);
	assert_ptr_equal(workspace_focused(rig.app->workspace), list);
	assert_non_null(strstr(rig_draw(&rig), "the list stays"));
	/* nor beside something that runs: there is nothing to ask */
	struct err err = { 0 };
	assert_true(app_run(rig.app, "split right", &err));
	struct views_shell *shell = shell_of(workspace_focused(rig.app->workspace));
	shell->session->state = SESSION_RUNNING;
	rig_draw(&rig);
	rig_click(&rig, 2, 0, col);
	assert_int_equal(rig.app->client->n_dialogs, 0);
	shell->session->state = SESSION_WAITING;
	rig_draw(&rig);
	rig_click(&rig, 2, 0, col);
	workspace_close_pending(rig.app->workspace);
	assert_int_equal(workspace_tabs_number_of(rig.app->workspace, list), 1);
	rig_free(&rig);
}

static void test_middle_click_asks_where_something_runs(void **state)
{
	(void)state;
	int row, col;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	shell->session->state = SESSION_RUNNING;
	struct err err = { 0 };
	rig_draw(&rig);
	assert_true(
		app_run(rig.app, "split right", &err)); /* what runs is not the focused one */
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "d");
	assert_true(rig_find(rig_draw(&rig), " 2 ", &row, &col));
	rig_click(&rig, 2, row, col + 1);
	workspace_close_pending(rig.app->workspace);
	assert_int_equal(rig.app->workspace->n_tabs, 2);
	assert_non_null(strstr(rig_draw(&rig), "Close this tab?"));
	rig_key(&rig, "enter"); /* the safe button has the focus */
	workspace_close_pending(rig.app->workspace);
	assert_int_equal(rig.app->workspace->n_tabs, 2);
	shell->session->state = SESSION_WAITING;
	rig_click(&rig, 2, row, col + 1);
	workspace_close_pending(rig.app->workspace);
	assert_int_equal(rig.app->workspace->n_tabs, 1);
	rig_free(&rig);
}

static void test_numbers_shown_are_the_numbers_pressed(void **state)
{
	(void)state;
	struct rig rig = rig_new(240, 24);
	open_tabs(&rig, 12);
	for (int i = 1; i <= 9; i++) {
		char label[16], key[16];
		int row, col;
		snprintf(label, sizeof label, " %d ", i);
		snprintf(key, sizeof key, "alt-%d", i);
		workspace_tabs_select(rig.app->workspace, 0);
		rig_key(&rig, key);
		assert_int_equal(rig.app->workspace->current, i - 1);
		if (rig_find(rig_draw(&rig), label, &row, &col) && row == 0)
			assert_int_equal(client_tab_bar_at(rig.app->client, col + 1), i - 1);
		workspace_tabs_select(rig.app->workspace, 11);
		rig_key(&rig, "ctrl-]");
		rig_key(&rig, key + 4);
		assert_int_equal(rig.app->workspace->current, i - 1);
	}
	workspace_tabs_select(rig.app->workspace, 11);
	const char *frame = rig_draw(&rig);
	char *bar = x_strndup(frame, strcspn(frame, "\n"));
	assert_null(strstr(bar, " 10 ")); /* no key is called that */
	free(bar);
	rig_free(&rig);
}

static void test_tabs_without_room_are_counted_with_their_marks(void **state)
{
	(void)state;
	int row, col;
	struct rig rig = rig_new(80, 24);
	open_tabs(&rig, 9);
	for (size_t at = 0; at < 9;
		at++) { /* each is shown when it is the current one, and all others are counted */
		workspace_tabs_select(rig.app->workspace, at);
		rig_draw(&rig);
		assert_true(rig.app->client->tab_places[at].cols > 0);
		size_t n_shown = 0;
		for (size_t i = 0; i < 9; i++)
			n_shown += rig.app->client->tab_places[i].cols > 0;
		assert_int_equal(
			n_shown + rig.app->client->before.n + rig.app->client->after.n, 9);
	}
	workspace_tabs_select(rig.app->workspace, 0);
	rig_draw(&rig);
	size_t hidden = rig.app->client->after.nearest + 1;
	struct views_shell *shell =
		shell_of(workspace_layout_data(rig.app->workspace->tabs[hidden]->focus));
	term_feed(shell->term, "\a", 1);
	char counter[16];
	snprintf(counter, sizeof counter, "›%zu♪", rig.app->client->after.n);
	assert_true(rig_find(rig_draw(&rig), counter, &row, &col));
	rig_click(&rig, 1, 0, col);
	assert_int_equal(rig.app->workspace->current, hidden - 1);
	workspace_tabs_select(rig.app->workspace, hidden);
	assert_null(strstr(rig_draw(&rig), "♪"));
	rig_free(&rig);
}

static void test_bells_and_output_tell_the_truth(void **state)
{
	(void)state;
	struct rig rig = rig_new(120, 24);
	struct views_shell *shell = rig_shell(&rig);
	rig_draw(&rig);
	term_feed(shell->term, "\a", 1);
	assert_null(strstr(rig_draw(&rig), "♪")); /* it rang under the eyes */
	client_dispatch_focus(rig.app->client, false);
	term_feed(shell->term, "\a", 1);
	assert_non_null(strstr(rig_draw(&rig), "2 ♪ "));
	client_dispatch_focus(rig.app->client, true);
	assert_null(strstr(rig_draw(&rig), "♪"));
	workspace_tabs_select(rig.app->workspace, 0);
	rig_draw(&rig);
	shell->has_output = true;
	assert_non_null(strstr(rig_draw(&rig), "2 ● "));
	workspace_tabs_select(rig.app->workspace, 1);
	rig_draw(&rig);
	workspace_tabs_select(rig.app->workspace, 0);
	assert_null(strstr(rig_draw(&rig), "●"));
	/* of a pane that is not the focused one of its tab */
	workspace_tabs_select(rig.app->workspace, 1);
	struct err err = { 0 };
	assert_true(app_run(rig.app, "split right", &err));
	workspace_tabs_select(rig.app->workspace, 0);
	term_feed(shell->term, "\a", 1);
	assert_non_null(strstr(rig_draw(&rig), "2 ♪ "));
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters_in_scroll_mode_stay_in_it),
		cmocka_unit_test(test_a_letter_by_itself_leaves_the_scroll_mode),
		cmocka_unit_test(test_a_letter_by_itself_in_a_pane_that_has_ended),
		cmocka_unit_test(test_a_tab_shows_name_and_title),
		cmocka_unit_test(test_alt_in_a_form_loses_nothing),
		cmocka_unit_test(test_a_pane_that_has_ended_takes_no_letters),
		cmocka_unit_test(test_shift_keeps_the_mouse_from_the_program),
		cmocka_unit_test(test_middle_click_never_closes_the_list),
		cmocka_unit_test(test_middle_click_asks_where_something_runs),
		cmocka_unit_test(test_numbers_shown_are_the_numbers_pressed),
		cmocka_unit_test(test_tabs_without_room_are_counted_with_their_marks),
		cmocka_unit_test(test_bells_and_output_tell_the_truth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
