// SPDX-License-Identifier: Apache-2.0
// Two panes that show one session: the same grid, each with its own scroll position, selection and marks.
#include "tests/unit/tui/views/fake.h"

#include "tui/session/internal.h"
#include "tui/views/shell/shell.h"
#include "tui/views/views.h"

struct pair {
	struct fake *fake;
	struct view *a, *b;
};

static struct pair pair_new(void)
{
	struct pair pair = { .fake = fake_new(false) };
	struct err err;
	struct view_args args = { 0 };
	pair.fake->host.sessions = sessions_new(pair.fake->host.engine);
	pair.a = view_shell.open(&pair.fake->host, &args, &err);
	assert_non_null(pair.a);
	args.session = shell_of(pair.a)->session;
	pair.b = view_shell.open(&pair.fake->host, &args, &err);
	assert_non_null(pair.b);
	assert_int_equal(sessions_count(pair.fake->host.sessions), 1);
	return pair;
}

static void pair_free(struct pair *pair)
{
	if (pair->a)
		view_shell.free(pair->a);
	if (pair->b)
		view_shell.free(pair->b);
	assert_int_equal(sessions_count(pair->fake->host.sessions), 0);
	sessions_free(pair->fake->host.sessions);
	fake_free(pair->fake);
}

static void feed_lines(struct pair *pair, int n)
{
	struct term *term = session_term(shell_of(pair->a)->session);
	for (int i = 1; i <= n; i++) {
		char line[32];
		snprintf(line, sizeof line, "%sline %d", i > 1 ? "\r\n" : "", i);
		term_feed(term, line, strlen(line));
	}
}

static bool draws(struct view *view, int cols, int rows, const char *text)
{
	char *frame = fake_draw(view, cols, rows);
	bool found = strstr(frame, text) != NULL;
	free(frame);
	return found;
}

static void test_one_grid_and_two_places_in_it(void **state)
{
	(void)state;
	struct pair pair = pair_new();
	struct err err;
	view_shell.focus(pair.a, true);
	assert_true(draws(pair.a, 40, 10, ""));
	shell_of(pair.a)->session->state = SESSION_RUNNING; /* as if a process ran */
	feed_lines(&pair, 50);
	assert_true(draws(pair.a, 40, 10, "line 50"));
	assert_true(draws(pair.b, 40, 10, "line 50"));
	assert_true(fake_command(pair.b, "move", "first", &err));
	assert_true(draws(pair.b, 40, 10, "line 2\n"));
	assert_false(draws(pair.b, 40, 10, "line 50"));
	assert_true(draws(pair.a, 40, 10, "line 50"));
	assert_int_equal(pair.a->class->scope(pair.a), SCOPE_SHELL);
	assert_int_equal(pair.b->class->scope(pair.b), SCOPE_SCROLL);
	/* what comes in meanwhile is seen by one, and the other stays where it is */
	term_feed(session_term(shell_of(pair.a)->session), "\r\nlast words", 12);
	assert_true(draws(pair.a, 40, 10, "last words"));
	assert_false(draws(pair.b, 40, 10, "last words"));
	assert_true(draws(pair.b, 40, 10, "line 2\n"));
	assert_true(fake_command(pair.b, "select", "", &err));
	assert_true(shell_of(pair.b)->has_selection);
	assert_false(shell_of(pair.a)->has_selection);
	assert_true(fake_command(pair.b, "unscroll", "", &err));
	assert_true(draws(pair.b, 40, 10, "last words"));
	shell_of(pair.a)->session->state = SESSION_WAITING;
	pair_free(&pair);
}

static void test_one_size(void **state)
{
	(void)state;
	struct pair pair = pair_new();
	const struct term *term = session_term(shell_of(pair.a)->session);
	view_shell.focus(pair.a, true);
	assert_true(draws(pair.a, 40, 10, ""));
	shell_of(pair.a)->session->state = SESSION_RUNNING;
	feed_lines(&pair, 50);
	assert_true(draws(pair.b, 30, 6, "line 41")); /* as much as fits of the same grid */
	assert_false(draws(pair.b, 30, 6, "line 50"));
	assert_true(draws(pair.b, 60, 20, "line 50")); /* and no more than there is */
	assert_int_equal(term_cols(term), 40);
	assert_int_equal(term_rows(term), 10);
	view_shell.focus(pair.a, false);
	view_shell.focus(pair.b, true);
	assert_int_equal(term_cols(term), 60);
	assert_int_equal(term_rows(term), 20);
	shell_of(pair.a)->session->state = SESSION_WAITING;
	pair_free(&pair);
}

static void test_a_bell_is_for_who_does_not_look(void **state)
{
	(void)state;
	struct pair pair = pair_new();
	view_shell.focus(pair.a, true);
	assert_true(draws(pair.a, 40, 10, ""));
	term_feed(session_term(shell_of(pair.a)->session), "\a", 1);
	assert_int_equal(view_shell.marks(pair.a) & VIEW_BELL, 0);
	assert_int_equal(view_shell.marks(pair.b) & VIEW_BELL, VIEW_BELL);
	view_shell.focus(pair.b, true);
	assert_int_equal(view_shell.marks(pair.b) & VIEW_BELL, 0);
	pair_free(&pair);
}

/* Only with its last pane does a session go, and only then is anybody asked. */
static void test_closing_one_ends_nothing(void **state)
{
	(void)state;
	struct pair pair = pair_new();
	struct session *session = shell_of(pair.a)->session;
	struct str why;
	str_init(&why, 256);
	assert_true(draws(pair.a, 40, 10, ""));
	session->state = SESSION_RUNNING;
	assert_null(view_shell.busy(pair.a, &why));
	assert_null(view_shell.busy(pair.b, &why));
	view_shell.free(pair.a);
	pair.a = NULL;
	assert_int_equal(sessions_count(pair.fake->host.sessions), 1);
	assert_non_null(view_shell.busy(pair.b, &why));
	assert_non_null(strstr(why.p, "shell is running in "));
	str_deinit(&why);
	session->state = SESSION_WAITING;
	pair_free(&pair);
}

static draw_color background(struct view *view)
{
	struct draw_surface *surface = draw_surface_new(40, 10);
	view_shell.draw(view, draw_region_whole(surface), true);
	draw_color bg = draw_surface_row(surface, 0)[0].bg;
	draw_surface_free(surface);
	return bg;
}

/* A program that is silent: its text has the colours of the theme that is shown. */
static void test_another_theme(void **state)
{
	(void)state;
	struct pair pair = pair_new();
	assert_true(draws(pair.a, 40, 10, ""));
	shell_of(pair.a)->session->state = SESSION_RUNNING;
	feed_lines(&pair, 3);
	assert_int_equal(background(pair.a), pair.fake->theme.roles[ROLE_TEXT].bg);
	pair.fake->theme.roles[ROLE_TEXT].bg = DRAW_COLOR_RGB | 0x123456;
	assert_int_equal(background(pair.a), DRAW_COLOR_RGB | 0x123456);
	shell_of(pair.a)->session->state = SESSION_WAITING;
	pair_free(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_grid_and_two_places_in_it),
		cmocka_unit_test(test_one_size),
		cmocka_unit_test(test_a_bell_is_for_who_does_not_look),
		cmocka_unit_test(test_closing_one_ends_nothing),
		cmocka_unit_test(test_another_theme),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
