// SPDX-License-Identifier: Apache-2.0
// The application on a terminal (a pty): taken and given back, its size, frames and when they are due, the clipboard,
// job control.
#include "tests/unit/tui/app/rig.h"

#include "engine/base/settings.h"
#include "tui/views/list/list.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct tty {
	struct rig rig;
	int master, slave;
	char out[256 << 10]; /* what it was sent since tty_forget() */
	size_t n;
	int n_quits, n_gone;
};

/* ---- linked in the place of the true ones */

static int stops;
int __wrap_kill(pid_t pid, int signal_number);
int __wrap_kill(pid_t pid, int signal_number)
{
	assert_int_equal(pid, 0);
	assert_int_equal(signal_number, SIGSTOP);
	stops++;
	return 0;
}

enum { NOT_ARMED = -1, DISARMED = -2 };
static const struct net_loop_timer *watched;
static int64_t armed = NOT_ARMED;
void __real_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms);
void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms);
void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms)
{
	if (timer == watched)
		armed = delay_ms;
	__real_net_loop_timer_arm(timer, delay_ms);
}

void __real_net_loop_timer_disarm(struct net_loop_timer *timer);
void __wrap_net_loop_timer_disarm(struct net_loop_timer *timer);
void __wrap_net_loop_timer_disarm(struct net_loop_timer *timer)
{
	if (timer == watched)
		armed = DISARMED;
	__real_net_loop_timer_disarm(timer);
}

/* ---- the terminal */

static void tty_read(struct tty *tty)
{
	ssize_t n;
	while ((n = read(tty->master, tty->out + tty->n, sizeof tty->out - 1 - tty->n)) > 0)
		tty->n += (size_t)n;
	tty->out[tty->n] = 0;
}

static void tty_forget(struct tty *tty)
{
	tty_read(tty);
	tty->n = 0;
	tty->out[0] = 0;
}

static bool tty_has(struct tty *tty, const char *text)
{
	tty_read(tty);
	return memmem(tty->out, tty->n, text, strlen(text)) != NULL;
}

#define TTY_UNTIL(tty, condition)                                                              \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + 10000;                                        \
		while (!(condition) && clock_mono_ms() < end_)                                 \
			net_loop_run_once((tty)->rig.loop, 10);                                \
		assert_true(condition);                                                        \
	} while (0)

static void on_quit(void *arg)
{
	((struct tty *)arg)->n_quits++;
}

static void on_gone(void *arg)
{
	((struct tty *)arg)->n_gone++;
}

static void cli_tty_size(struct tty *tty, int cols, int rows)
{
	struct winsize size = { .ws_col = (unsigned short)cols,
		.ws_row = (unsigned short)rows };
	assert_int_equal(ioctl(tty->master, TIOCSWINSZ, &size), 0);
}

static struct tty *tty_new(void)
{
	struct tty *tty = x_calloc(1, sizeof *tty);
	tty->rig = rig_new(80, 24);
	tty->rig.app->opts.on_quit = on_quit;
	tty->rig.app->opts.arg = tty;
	assert_int_equal(openpty(&tty->master, &tty->slave, NULL, NULL, NULL), 0);
	assert_int_equal(fcntl(tty->master, F_SETFL, O_NONBLOCK), 0);
	cli_tty_size(tty, 100, 30);
	return tty;
}

static void tty_attach(struct tty *tty)
{
	struct err err;
	if (!app_attach(
		    tty->rig.app, tty->slave, tty->slave, "xterm-256color", "truecolor", &err))
		fail_msg("%s", err.msg);
}

static void tty_free(struct tty *tty)
{
	watched = NULL;
	clock_set_for_tests(-1, -1);
	rig_free(&tty->rig);
	if (tty->master >= 0)
		close(tty->master);
	close(tty->slave);
	free(tty);
}

static void tty_type(struct tty *tty, const char *bytes)
{
	assert_int_equal(write(tty->master, bytes, strlen(bytes)), strlen(bytes));
}

/* ---- */

static void test_taken_and_given_back(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	(void)state;
	app->client->is_focused = false;
	app->client->is_every_motion = true;
	assert_false(app_is_attached(app));
	tty_attach(tty);
	assert_true(app_is_attached(app));
	assert_true(app->client->is_focused);
	assert_false(app->client->is_every_motion);
	assert_int_equal(draw_surface_cols(app->client->surface), 100);
	assert_int_equal(draw_surface_rows(app->client->surface), 30);
	assert_int_equal(workspace_body(app->workspace).rows,
		28); /* laid out at once, before any frame */
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	const char *begin = draw_screen_begin_bytes(app->client->screen);
	assert_int_equal(strncmp(tty->out, begin, strlen(begin)), 0);
	assert_true(tty_has(tty, draw_screen_mouse_bytes(app->client->screen, true, false)));
	char *end = x_strdup(draw_screen_end_bytes(app->client->screen));
	tty_forget(tty);
	app_detach(app);
	assert_false(app_is_attached(app));
	assert_null(app->client->input);
	assert_null(app->client->screen);
	assert_true(tty_has(tty, end));
	free(end);
	/* nobody looks: nothing is drawn */
	client_dirty(app->client);
	assert_false(app->client->is_dirty);
	app_resized(app);
	app_detach(app);
	/* and another one */
	cli_tty_size(tty, 50, 12);
	tty_attach(tty);
	assert_int_equal(draw_surface_cols(app->client->surface), 50);
	TTY_UNTIL(tty, tty_has(tty, "one sandbox, by its address"));
	tty_free(tty);
}

static void test_the_mouse_is_left_alone(void **state)
{
	struct tty *tty = tty_new();
	struct err err;
	(void)state;
	tty->rig.app->client->is_mouse_on = false;
	tty_attach(tty);
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	assert_false(tty_has(tty, "\033[?1002h"));
	tty_forget(tty);
	assert_true(app_run(tty->rig.app, "mouse on", &err));
	TTY_UNTIL(tty, tty_has(tty, "\033[?1002h"));
	assert_true(app_run(tty->rig.app, "mouse off", &err));
	TTY_UNTIL(tty, tty_has(tty, "\033[?1002l"));
	tty_free(tty);
}

static void test_what_is_no_terminal(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	struct err err;
	(void)state;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_false(app_attach(app, null, null, "xterm-256color", NULL, &err));
	assert_int_equal(err.code, ERR_TTY_NONE);
	assert_null(app->client->screen);
	assert_false(app_is_attached(app));
	const struct app_opts opts = { .engine = tty->rig.engine,
		.in_fd = null,
		.out_fd = null,
		.term = "xterm-256color" };
	assert_null(app_new(tty->rig.loop, &opts, &err));
	const struct app_opts themed = {
		.engine = tty->rig.engine, .in_fd = -1, .out_fd = -1, .theme = "no-such-theme"
	};
	assert_null(app_new(tty->rig.loop, &themed, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	close(null);
	tty_free(tty);
}

static void test_without_colours(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	(void)state;
	tty_attach(tty);
	assert_string_equal(app->client->theme.name, "default");
	app->client->opts.no_color = true;
	tty_attach(tty);
	assert_int_equal(app->client->theme.roles[ROLE_ERROR].fg, DRAW_COLOR_DEFAULT);
	assert_int_not_equal(app->client->theme.roles[ROLE_ERROR].attrs, 0);
	tty_free(tty);
}

static void test_bytes_are_keys(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	(void)state;
	tty_attach(tty);
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	tty_forget(tty);
	app->client->last_input_ms = 0;
	tty_type(tty, ":hel");
	TTY_UNTIL(tty, tty_has(tty, "all keys and commands"));
	assert_int_equal(app->client->prompt.kind, PROMPT_COMMAND);
	assert_true(clock_mono_ms() - app->client->last_input_ms < 10000);
	cli_tty_size(tty, 60, 20);
	app_resized(app);
	assert_int_equal(draw_surface_cols(app->client->surface), 60);
	assert_int_equal(draw_surface_rows(app->client->surface), 20);
	app->client->drag = x_calloc(1, sizeof *app->client->drag);
	app_resized(app); /* the same size: what is held stays held */
	assert_non_null(app->client->drag);
	cli_tty_size(tty, 61, 20);
	app_resized(app);
	assert_null(app->client->drag);
	tty_free(tty);
}

static void test_the_terminal_goes(void **state)
{
	struct tty *tty = tty_new();
	(void)state;
	tty_attach(tty);
	close(tty->master);
	tty->master = -1;
	TTY_UNTIL(tty, tty->n_quits == 1);
	assert_false(app_is_attached(tty->rig.app));
	tty_free(tty);
	tty = tty_new();
	tty->rig.app->opts.on_gone = on_gone;
	tty_attach(tty);
	close(tty->master);
	tty->master = -1;
	TTY_UNTIL(tty, tty->n_gone == 1);
	assert_int_equal(tty->n_quits, 0);
	tty_free(tty);
}

static void test_the_clipboard(void **state)
{
	static const struct {
		const char *text, *sent;
	} rows[] = {
		{ "", "\033]52;c;\a" },
		{ "a", "\033]52;c;YQ==\a" },
		{ "ab", "\033]52;c;YWI=\a" },
		{ "abc", "\033]52;c;YWJj\a" },
		{ "abcd", "\033]52;c;YWJjZA==\a" },
		{ "\xff\xfe\xfd\xfb\xff", "\033]52;c;//79+/8=\a" },
		{ "~?>", "\033]52;c;fj8+\a" },
	};
	struct tty *tty = tty_new();
	struct view_host *host = tty->rig.app->workspace->host;
	(void)state;
	host->ops->copy_text(host, slice_of("nobody is there"));
	tty_attach(tty);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		tty_forget(tty);
		host->ops->copy_text(host, slice_of(rows[i].text));
		TTY_UNTIL(tty, tty_has(tty, rows[i].sent));
	}
	char *large = x_calloc(1, 75001);
	tty_forget(tty);
	host->ops->copy_text(host, (struct slice){ large, 75001 });
	assert_string_equal(tty->rig.app->workspace->note,
		"75001 bytes are more than a terminal's clipboard takes");
	assert_false(tty_has(tty, "\033]52"));
	host->ops->copy_text(host, (struct slice){ large, 75000 });
	TTY_UNTIL(tty, tty_has(tty, "AAAA\a"));
	free(large);
	tty_free(tty);
}

static void test_every_motion(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	(void)state;
	tty_attach(tty);
	struct views_shell *shell = rig_shell(&tty->rig);
	shell->session->state = SESSION_RUNNING;
	term_feed(shell->term, "\033[?1003h", 8);
	client_dirty(app->client);
	TTY_UNTIL(tty, app->client->is_every_motion);
	TTY_UNTIL(tty, tty_has(tty, draw_screen_mouse_bytes(app->client->screen, true, true)));
	tty_forget(tty);
	workspace_tabs_select(app->workspace, 0);
	TTY_UNTIL(tty, !app->client->is_every_motion);
	TTY_UNTIL(tty, tty_has(tty, draw_screen_mouse_bytes(app->client->screen, true, false)));
	app->client->is_mouse_on = false;
	workspace_tabs_select(app->workspace, 1);
	tty_forget(tty);
	client_dirty(app->client);
	TTY_UNTIL(tty, !app->client->is_dirty);
	assert_false(app->client->is_every_motion);
	shell->session->state = SESSION_WAITING;
	tty_free(tty);
}

/* A terminal that takes nothing: no other frame until the last one has left. */
static void test_a_slow_terminal(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	(void)state;
	tty_attach(tty);
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	char *flood = x_calloc(1, 200000);
	memset(flood, ' ', 200000);
	draw_terminal_send(app->client->tty, (struct slice){ flood, 200000 });
	free(flood);
	assert_true(draw_terminal_is_sending(app->client->tty));
	client_dirty(app->client);
	TTY_UNTIL(tty, app->client->is_frame_due);
	assert_true(app->client->is_dirty);
	app->client->last_frame_ms = 0;
	tty_forget(tty);
	TTY_UNTIL(tty, (tty_forget(tty), app->client->last_frame_ms != 0));
	assert_false(app->client->is_dirty);
	assert_false(app->client->is_frame_due);
	tty_free(tty);
}

static void test_when_a_frame_is_due(void **state)
{
	static const struct {
		int64_t since_input, since_frame, since_dirty; /* since_dirty -1: not dirty */
		bool is_telling;
		int64_t want;
	} rows[] = {
		{ 1000, 1000, -1, false, 2 },
		{ 1000, 1000, 0, false, 2 },
		{ 1000, 1000, 13, false, 2 },
		{ 1000, 1000, 14, false, 2 },
		{ 1000, 1000, 15, false, 1 },
		{ 1000, 1000, 16, false, 0 },
		{ 1000, 1000, 40, false, 0 },
		{ 99, 16, -1, false, 0 },
		{ 99, 15, -1, false, 2 },
		{ 100, 16, -1, false, 2 },
		{ 0, 1000, -1, false, 0 },
		{ 1000, 0, -1, true, 50 },
		{ 1000, 47, -1, true, 3 },
		{ 1000, 48, -1, true, 2 },
		{ 1000, 1000, -1, true, 2 },
		{ 0, 0, 3, true, NOT_ARMED },
	};
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	const int64_t now = 1000000;
	(void)state;
	tty_attach(tty);
	clock_set_for_tests(now * 1000000, -1);
	watched = app->client->frame_timer;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		client_frame_stop(app->client);
		assert_int_equal(armed, DISARMED);
		armed = NOT_ARMED;
		app->client->is_dirty = rows[i].since_dirty >= 0;
		app->client->dirty_since_ms = now - rows[i].since_dirty;
		app->client->last_input_ms = now - rows[i].since_input;
		app->client->last_frame_ms = now - rows[i].since_frame;
		app->workspace->is_engine_telling = rows[i].is_telling;
		workspace_dirty(app->workspace);
		if (armed != rows[i].want)
			fail_msg("row %zu: %d", i, (int)armed);
		assert_true(app->client->is_dirty);
	}
	tty_free(tty);
}

/* Ages grow: the next frame comes when the first of those that are seen wants it. */
static void test_when_the_next_one_is(void **state)
{
	struct rig rig = rig_new(80, 24);
	struct err err;
	(void)state;
	watched = rig.app->client->tick_timer;
	rig_draw(&rig);
	assert_int_equal(armed, LIST_AGE_STEP_MS);
	assert_true(app_run(rig.app, "log strip", &err));
	rig_draw(&rig);
	assert_int_equal(armed, 1000);
	assert_true(app_run(rig.app, "log strip", &err));
	assert_true(app_run(rig.app, "help", &err));
	rig_draw(&rig);
	assert_int_equal(armed, DISARMED);
	/* beside it a pane that ages */
	assert_true(app_run(rig.app, "sandboxes", &err));
	assert_true(app_run(rig.app, "split right", &err));
	rig_draw(&rig);
	assert_int_equal(armed, LIST_AGE_STEP_MS);
	assert_true(app_run(rig.app, "zoom", &err));
	rig_draw(&rig);
	assert_int_equal(armed, DISARMED);
	watched = NULL;
	rig_free(&rig);
}

static void test_job_control(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	struct err err;
	(void)state;
	stops = 0;
	assert_true(app_run(app, "stop", &err)); /* no terminal: nothing to give back */
	assert_int_equal(stops, 0);
	tty_attach(tty);
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	tty_forget(tty);
	app->client->is_every_motion = true;
	assert_true(app_run(app, "stop", &err));
	assert_int_equal(stops, 1);
	assert_false(app->client->is_every_motion);
	TTY_UNTIL(tty, tty_has(tty, "sandmux")); /* all of it is painted again */
	const char *end = memmem(tty->out, tty->n, draw_screen_end_bytes(app->client->screen),
		strlen(draw_screen_end_bytes(app->client->screen)));
	assert_non_null(end);
	assert_non_null(strstr(end, draw_screen_begin_bytes(app->client->screen)));
	assert_non_null(strstr(end, draw_screen_mouse_bytes(app->client->screen, true, false)));
	tty_free(tty);
}

static void test_signals(void **state)
{
	struct tty *tty = tty_new();
	struct app *app = tty->rig.app;
	struct err err;
	(void)state;
	stops = 0;
	tty_attach(tty);
	assert_true(app_handle_signals(app, &err));
	cli_tty_size(tty, 70, 20);
	raise(SIGWINCH);
	TTY_UNTIL(tty, draw_surface_cols(app->client->surface) == 70);
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	tty_forget(tty);
	raise(SIGTSTP);
	TTY_UNTIL(tty, stops == 1);
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	tty_forget(tty);
	cli_tty_size(tty, 71, 20);
	app->client->is_mouse_on = false;
	raise(SIGCONT); /* the shell has set its own modes meanwhile */
	TTY_UNTIL(tty, tty_has(tty, draw_screen_begin_bytes(app->client->screen)));
	TTY_UNTIL(tty, tty_has(tty, "sandmux"));
	assert_false(tty_has(tty, "\033[?1002h"));
	assert_int_equal(draw_surface_cols(app->client->surface), 71);
	app_detach(app);
	raise(SIGCONT);
	for (int i = 0; i < 3; i++)
		net_loop_run_once(tty->rig.loop, 0);
	client_job_control_deinit(app->client);
	assert_null(app->client->signals[0]);
	tty_free(tty);
}

/* ---- dialogs */

static void on_answer(void *arg, struct widget_dialog *dialog, int button)
{
	(void)dialog;
	*(int *)arg = button;
}

static void test_dialogs_have_an_end(void **state)
{
	struct rig rig = rig_new(80, 24);
	struct app *app = rig.app;
	int answers[DIALOGS_MAX + 1], owner, other;
	(void)state;
	app->workspace->n_handling = 1;
	app->client->is_prefix = true;
	for (int i = 0; i <= DIALOGS_MAX; i++) {
		answers[i] = 77;
		struct widget_dialog *dialog =
			widget_dialog_new("Q", on_answer, &answers[i], NULL);
		widget_dialog_set_owner(dialog, i % 2 ? &owner : &other);
		widget_dialog_add_button(dialog, "&OK");
		workspace_push_dialog(app->workspace, dialog);
	}
	assert_false(app->client->is_prefix);
	assert_int_equal(app->client->n_dialogs, DIALOGS_MAX);
	assert_int_equal(answers[DIALOGS_MAX], DIALOG_CANCELLED);
	assert_int_equal(answers[DIALOGS_MAX - 1], 77);
	workspace_drop_dialogs(app->workspace, &owner);
	assert_int_equal(app->client->n_dialogs, DIALOGS_MAX / 2);
	for (size_t i = 0; i < app->client->n_dialogs; i++)
		assert_ptr_equal(widget_dialog_owner(app->client->dialogs[i]), &other);
	app->workspace->n_handling = 0;
	/* what a person still waits for is no surprise; what they have turned from is one */
	const int64_t now = 5000000;
	clock_set_for_tests(now * 1000000, -1);
	static const struct {
		int64_t since_input;
		uint64_t serial;
		bool is_asked;
	} rows[] = { { 1999, 9, true }, { 2000, 9, false }, { 0, 8, false }, { 0, 0, false } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		app->workspace->input_serial = 9;
		app->client->last_input_ms = now - rows[i].since_input;
		struct widget_dialog *dialog = widget_dialog_new("Late", NULL, NULL, NULL);
		widget_dialog_set_serial(dialog, rows[i].serial);
		widget_dialog_add_button(dialog, "&OK");
		size_t before = app->client->n_dialogs;
		workspace_push_dialog(app->workspace, dialog);
		assert_int_equal(app->client->n_dialogs - before, rows[i].is_asked);
	}
	clock_set_for_tests(-1, -1);
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_and_given_back),
		cmocka_unit_test(test_the_mouse_is_left_alone),
		cmocka_unit_test(test_what_is_no_terminal),
		cmocka_unit_test(test_without_colours),
		cmocka_unit_test(test_bytes_are_keys),
		cmocka_unit_test(test_the_terminal_goes),
		cmocka_unit_test(test_the_clipboard),
		cmocka_unit_test(test_every_motion),
		cmocka_unit_test(test_a_slow_terminal),
		cmocka_unit_test(test_when_a_frame_is_due),
		cmocka_unit_test(test_when_the_next_one_is),
		cmocka_unit_test(test_job_control),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_dialogs_have_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
