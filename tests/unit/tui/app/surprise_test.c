// SPDX-License-Identifier: Apache-2.0
// What nobody asked for: it takes no key until it is turned to, waits half a second, says who asks, stands where the cursor
// is not, and goes without taking a key along.
#include "tests/unit/tui/app/rig.h"

static int answer, n_answers;

static void on_answer(void *arg, struct widget_dialog *dialog, int button)
{
	(void)arg;
	(void)dialog;
	answer = button;
	n_answers++;
}

static struct widget_dialog *question(const void *owner)
{
	struct widget_dialog *dialog = widget_dialog_new("Overwrite?", on_answer, NULL, NULL);
	widget_dialog_add_text(dialog, "It is there.");
	widget_dialog_set_owner(dialog, owner);
	widget_dialog_add_button(dialog, "&Yes");
	widget_dialog_add_button(dialog, "&No");
	widget_dialog_focus_button(dialog, 1);
	return dialog;
}

/* As a timer or an answer of the network would. */
static void pop_up(struct rig *rig, const void *owner)
{
	n_answers = 0;
	answer = 99;
	rig->app->workspace->host->ops->push_dialog(rig->app->workspace->host, question(owner));
	assert_non_null(strstr(rig_draw(rig), "Overwrite?"));
}

static void pop_up_behind(struct rig *rig)
{
	rig->app->workspace->host->ops->push_dialog(rig->app->workspace->host, question(NULL));
}

static void type_everything(struct rig *rig)
{
	char letters[201];
	for (int i = 0; i < 200; i++)
		letters[i] = (char)("yn YN\x7e"
				    "abcdefghijklmopqrstuvwxz0123456789"[(i * 7) % 40]);
	letters[200] = 0;
	rig_type(rig, letters);
}

static void test_whoever_types_types_on(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	pop_up(&rig, NULL);
	for (int late = 0; late < 2; late++) {
		size_t before = shell->session->n_held;
		type_everything(&rig);
		rig_key(&rig, "enter");
		rig_key(&rig, "esc");
		rig_key(&rig, "tab");
		assert_int_equal(n_answers, 0);
		assert_true(shell->session->n_held >=
			    before + 203); /* all of it went to the program */
		rig_wait_guard(&rig);
	}
	assert_non_null(strstr(rig_draw(&rig), "Overwrite?"));
	rig_free(&rig);
}

static void test_letters_do_nothing_when_it_has_the_keyboard(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	pop_up(&rig, NULL);
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "a");
	rig_wait_guard(&rig);
	type_everything(&rig);
	rig_key(&rig, "space");
	assert_int_equal(n_answers, 0);
	assert_int_equal(shell->session->n_held, 0);
	rig_key(&rig, "left");
	rig_key(&rig, "enter");
	assert_int_equal(n_answers, 1);
	assert_int_equal(answer, 0);
	rig_type(&rig, "x"); /* and the program has the keyboard again */
	assert_int_equal(shell->session->n_held, 1);
	rig_free(&rig);
}

static void test_the_first_half_second_takes_nothing(void **state)
{
	(void)state;
	int row, col;
	struct rig rig = rig_new(80, 24);
	pop_up(&rig, NULL);
	assert_true(rig_find(rig_draw(&rig), "[ No ]", &row, &col) ||
		    rig_find(rig_draw(&rig), "No", &row, &col));
	rig_click(&rig, 1, row, col + 1);
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "a");
	rig_key(&rig, "enter");
	rig_click(&rig, 1, row, col + 1);
	assert_int_equal(n_answers, 0);
	rig_wait_guard(&rig);
	rig_click(&rig, 1, row, col + 1);
	assert_int_equal(n_answers, 1);
	assert_int_equal(answer, 1);
	rig_free(&rig);
}

static void test_esc_never_answers(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	static const char *const keys[] = { "esc", "ctrl-c" };
	for (size_t i = 0; i < 2; i++) {
		pop_up(&rig, NULL);
		rig_key(&rig, "ctrl-]");
		rig_type(&rig, "a");
		rig_wait_guard(&rig);
		rig_key(&rig, keys[i]);
		assert_int_equal(n_answers, 0);
		assert_int_equal(shell->session->n_held, i);
		rig_type(&rig, "x");
		assert_int_equal(shell->session->n_held, i + 1);
		assert_non_null(strstr(rig_draw(&rig), "Overwrite?"));
		workspace_surprises_free(rig.app->workspace);
	}
	rig_free(&rig);
}

static void test_it_says_in_which_tab_and_how_many_wait(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	pop_up(&rig, shell);
	assert_non_null(strstr(rig_draw(&rig), "Overwrite? · tab 2"));
	rig.app->workspace->host->ops->push_dialog(rig.app->workspace->host, question(NULL));
	assert_non_null(strstr(rig_draw(&rig), "· 1 of 2"));
	rig_free(&rig);
}

static bool is_on_row(struct rig *rig, int row)
{
	struct draw_region at = widget_dialog_place(rig->app->workspace->surprises[0]);
	return row >= at.row && row < at.row + at.rows;
}

static void test_it_stands_where_the_cursor_is_not(void **state)
{
	static const struct {
		int cols, rows;
	} sizes[] = { { 80, 24 }, { 120, 35 }, { 40, 10 } };
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct rig rig = rig_new(sizes[i].cols, sizes[i].rows);
		struct views_shell *shell = rig_shell(&rig);
		rig_draw(&rig);
		shell->session->state = SESSION_RUNNING;
		pop_up(&rig, shell);
		for (int line = 0; line < sizes[i].rows - 2; line++) {
			char move[16];
			snprintf(move, sizeof move, "\033[%d;3H", line + 1);
			term_feed(shell->term, move, strlen(move));
			rig_draw(&rig);
			struct draw_surface_cursor cursor =
				draw_surface_cursor_of(rig.app->client->surface);
			assert_int_equal(cursor.row, line + 1);
			assert_int_not_equal(cursor.shape, CURSOR_HIDDEN);
			if (is_on_row(&rig, cursor.row))
				fail_msg("%dx%d: it covers row %d", sizes[i].cols,
					sizes[i].rows, cursor.row);
			assert_non_null(strstr(rig_draw(&rig), "Yes"));
		}
		shell->session->state = SESSION_WAITING;
		rig_free(&rig);
	}
}

static void test_moving_begins_the_pause_anew(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	shell->session->state = SESSION_RUNNING;
	term_feed(shell->term, "\033[1;1H", 6);
	pop_up(&rig, shell);
	rig_wait_guard(&rig);
	int64_t since = rig.app->client->surprise.since_ms;
	rig_draw(&rig);
	assert_int_equal(rig.app->client->surprise.since_ms, since);
	term_feed(shell->term, "\033[22;1H", 7);
	rig_draw(&rig);
	assert_true(rig.app->client->surprise.since_ms > since);
	shell->session->state = SESSION_WAITING;
	rig_free(&rig);
}

static void test_it_waits_behind_a_dialog_and_the_prompt(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	rig_type(&rig, ":");
	n_answers = 0;
	rig.app->workspace->host->ops->push_dialog(rig.app->workspace->host, question(NULL));
	assert_null(strstr(rig_draw(&rig), "Overwrite?"));
	rig_type(&rig, "hel");
	assert_string_equal(rig.app->client->prompt.edit.text.p, "hel");
	rig_key(&rig, "esc");
	assert_non_null(strstr(rig_draw(&rig), "Overwrite?"));
	rig_free(&rig);
}

static void test_it_vanishes_without_letting_keys_through(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	struct views_shell *shell = rig_shell(&rig);
	pop_up(&rig, "owner");
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "a");
	rig_wait_guard(&rig);
	const void *owner = widget_dialog_owner(rig.app->workspace->surprises[0]);
	workspace_drop_dialogs(rig.app->workspace, owner);
	rig_key(&rig, "left");
	rig_key(&rig, "enter");
	assert_int_equal(shell->session->n_held, 0);
	rig.app->client->surprise.hush_until_ms = 0;
	rig_key(&rig, "enter");
	assert_int_equal(shell->session->n_held, 1);
	assert_int_equal(n_answers, 0);
	rig_free(&rig);
}

static void test_what_was_asked_for_has_the_keyboard_at_once(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	rig.app->client->last_input_ms = clock_mono_ms();
	rig_type(&rig, "x"); /* the command */
	for (int is_late = 0; is_late < 2; is_late++) {
		struct widget_dialog *dialog = question(NULL);
		widget_dialog_set_serial(dialog, host_input_serial(rig.app->workspace->host));
		n_answers = 0;
		if (is_late)
			rig_type(&rig, "x"); /* something else meanwhile */
		rig.app->workspace->host->ops->push_dialog(rig.app->workspace->host, dialog);
		rig_draw(&rig);
		rig_type(&rig, "y");
		assert_int_equal(n_answers, !is_late);
	}
	rig_free(&rig);
}

static void test_a_failure_that_comes_later_stays_until_it_is_closed(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct rig rig = rig_new(80, 24);
	err_set(&err, ERR_KUBE_FORBIDDEN, "you may not");
	view_host_failf(rig.app->workspace->host, &err, "Cannot create");
	assert_non_null(strstr(rig_draw(&rig), "Cannot create"));
	rig_type(&rig, "o");
	rig_key(&rig, "esc"); /* too early: it was for something else */
	assert_non_null(strstr(rig_draw(&rig), "Cannot create"));
	rig_wait_guard(&rig);
	rig_type(&rig, "o ");
	assert_non_null(strstr(rig_draw(&rig), "Cannot create"));
	rig_key(&rig, "esc");
	assert_null(strstr(rig_draw(&rig), "Cannot create"));
	rig_free(&rig);
}

static void test_the_next_of_the_same_asker_keeps_the_keyboard(void **state)
{
	(void)state;
	struct rig rig = rig_new(80, 24);
	for (int i = 0; i < 2; i++)
		rig.app->workspace->host->ops->push_dialog(
			rig.app->workspace->host, question(&rig));
	rig.app->workspace->host->ops->push_dialog(
		rig.app->workspace->host, question(&rig.app));
	rig_draw(&rig);
	n_answers = 0;
	rig_key(&rig, "ctrl-]");
	rig_type(&rig, "a");
	rig_wait_guard(&rig);
	rig_key(&rig, "enter");
	rig_draw(&rig);
	rig_key(&rig, "enter"); /* still in its pause */
	assert_int_equal(n_answers, 1);
	rig_wait_guard(&rig);
	rig_key(&rig, "enter");
	assert_int_equal(n_answers, 2);
	rig_draw(&rig);
	rig_wait_guard(&rig);
	rig_type(&rig, "x");
	rig_key(&rig, "tab"); /* somebody else asks: it has to be turned to */
	assert_int_equal(n_answers, 2);
	assert_false(client_surprise_has_keys(rig.app->client));
	rig_free(&rig);
}

static void test_so_many_failures_answer_no_question(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct rig rig = rig_new(80, 24);
	err_set(&err, ERR_KUBE_FORBIDDEN, "you may not");
	n_answers = 0;
	for (int i = 0; i < 2 * WORKSPACE_SURPRISES_MAX; i++)
		view_host_failf(rig.app->workspace->host, &err, "Failure %d", i);
	pop_up_behind(&rig);
	assert_int_equal(n_answers, 0);
	assert_int_equal(rig.app->workspace->n_surprises, WORKSPACE_SURPRISES_MAX);
	assert_non_null(strstr(rig_draw(&rig), "Failure 0")); /* the one that is read stays */
	for (int i = 0; i < WORKSPACE_SURPRISES_MAX; i++)
		pop_up_behind(&rig);
	assert_int_equal(rig.app->workspace->n_surprises, WORKSPACE_SURPRISES_MAX);
	assert_int_equal(
		n_answers, 2); /* of questions alone: the newest are taken as cancelled */
	assert_int_equal(answer, DIALOG_CANCELLED);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whoever_types_types_on),
		cmocka_unit_test(test_letters_do_nothing_when_it_has_the_keyboard),
		cmocka_unit_test(test_the_first_half_second_takes_nothing),
		cmocka_unit_test(test_esc_never_answers),
		cmocka_unit_test(test_it_says_in_which_tab_and_how_many_wait),
		cmocka_unit_test(test_it_stands_where_the_cursor_is_not),
		cmocka_unit_test(test_moving_begins_the_pause_anew),
		cmocka_unit_test(test_it_waits_behind_a_dialog_and_the_prompt),
		cmocka_unit_test(test_it_vanishes_without_letting_keys_through),
		cmocka_unit_test(test_what_was_asked_for_has_the_keyboard_at_once),
		cmocka_unit_test(test_a_failure_that_comes_later_stays_until_it_is_closed),
		cmocka_unit_test(test_the_next_of_the_same_asker_keeps_the_keyboard),
		cmocka_unit_test(test_so_many_failures_answer_no_question),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
