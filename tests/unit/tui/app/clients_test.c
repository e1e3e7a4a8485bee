// SPDX-License-Identifier: Apache-2.0
// One workspace and two clients on two terminals (ptys) of different sizes, each read back through a terminal of ours.
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "tui/app/internal.h"
#include "tui/client/internal.h"
#include "tui/session/internal.h"
#include "tui/term/term.h"
#include "tui/views/shell/shell.h"
#include "tui/workspace/internal.h"

#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seat {
	struct client *client;
	int master, slave;
	struct term *term; /* what its person sees */
	char *seen;        /* as text */
	char clipboard[64];
	int n_gone;
};

struct room {
	struct net_loop *loop;
	struct engine *engine;
	struct workspace *workspace;
	struct seat a, b;
	int n_quits;
};

static void on_quit(void *arg)
{
	((struct room *)arg)->n_quits++;
}

static void on_gone(void *arg)
{
	((struct seat *)arg)->n_gone++;
}

static void on_clipboard(const char *bytes, size_t n, void *arg)
{
	struct seat *seat = arg;
	snprintf(seat->clipboard, sizeof seat->clipboard, "%.*s", (int)n, bytes);
}

static void sit_down(struct room *room, struct seat *seat, int cols, int rows, bool no_color)
{
	struct err err = { 0 };
	struct winsize size = { .ws_col = (unsigned short)cols,
		.ws_row = (unsigned short)rows };
	const struct term_opts term = { .cols = cols,
		.rows = rows,
		.callbacks = { .on_clipboard_write = on_clipboard },
		.arg = seat };
	const struct client_opts opts = {
		.no_color = no_color, .on_gone = on_gone, .arg = seat
	};
	assert_int_equal(openpty(&seat->master, &seat->slave, NULL, NULL, &size), 0);
	assert_int_equal(fcntl(seat->master, F_SETFL, O_NONBLOCK), 0);
	seat->term = term_new(&term);
	seat->client = client_new(room->loop, room->workspace, &opts, &err);
	assert_non_null(seat->client);
	if (!client_attach(
		    seat->client, seat->slave, seat->slave, "xterm-256color", NULL, &err))
		fail_msg("%s", err.msg);
}

static void get_up(struct seat *seat)
{
	client_free(seat->client);
	seat->client = NULL;
	if (seat->master >= 0)
		close(seat->master);
	close(seat->slave);
	term_free(seat->term);
	free(seat->seen);
	seat->seen = NULL;
}

/* A is at 100×30, B comes later and has 60×20 and no colours. */
static struct room *room_new(void)
{
	struct room *room = x_calloc(1, sizeof *room);
	struct err err = { 0 };
	const struct engine_opts engine = { .connect.rest_url = "http://127.0.0.1:1",
		.connect.grpc_address = "127.0.0.1:1" };
	setlocale(LC_CTYPE, "C.UTF-8");
	room->loop = net_loop_new(&err);
	assert_non_null(room->loop);
	room->engine = engine_new(room->loop, &engine, &err);
	assert_non_null(room->engine);
	const struct workspace_opts opts = { .engine = room->engine,
		.local_dir = "/",
		.commands = app_commands,
		.n_commands = app_n_commands,
		.on_quit = on_quit,
		.arg = room };
	room->workspace = workspace_new(room->loop, &opts, &err);
	assert_non_null(room->workspace);
	sit_down(room, &room->a, 100, 30, false);
	sit_down(room, &room->b, 60, 20, true);
	return room;
}

static void room_free(struct room *room)
{
	net_loop_run_once(room->loop, 0);
	if (room->a.client)
		get_up(&room->a);
	if (room->b.client)
		get_up(&room->b);
	workspace_free(room->workspace);
	engine_free(room->engine);
	net_loop_free(room->loop);
	free(room);
}

static void look(struct seat *seat)
{
	char bytes[4096];
	ssize_t n;
	struct str text;
	if (!seat->client)
		return;
	while ((n = read(seat->master, bytes, sizeof bytes)) > 0)
		term_feed(seat->term, bytes, (size_t)n);
	str_init(&text, 1 << 20);
	term_copy(seat->term, (struct term_pos){ 0, 0 },
		(struct term_pos){ term_rows(seat->term) - 1, term_cols(seat->term) - 1 }, true,
		&text);
	free(seat->seen);
	seat->seen = str_take(&text);
	str_deinit(&text);
}

static bool sees(struct seat *seat, const char *text)
{
	return strstr(seat->seen, text) != NULL;
}

#define UNTIL(room, condition)                                                                 \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + 10000;                                        \
		look(&(room)->a), look(&(room)->b);                                            \
		while (!(condition) && clock_mono_ms() < end_) {                               \
			net_loop_run_once((room)->loop, 10);                                   \
			look(&(room)->a), look(&(room)->b);                                    \
		}                                                                              \
		if (!(condition))                                                              \
			fail_msg("%s\n%s\n----\n%s", #condition,                               \
				(room)->a.seen ? (room)->a.seen : "",                          \
				(room)->b.seen ? (room)->b.seen : "");                         \
	} while (0)

static void type(struct seat *seat, const char *bytes)
{
	assert_int_equal(write(seat->master, bytes, strlen(bytes)), strlen(bytes));
}

/* ---- */

static void test_the_size_follows_who_was_there_last(void **state)
{
	(void)state;
	struct room *room = room_new();
	UNTIL(room, sees(&room->a, "sandmux") && sees(&room->b, "sandmux"));
	UNTIL(room, sees(&room->a, "one sandbox, by its") && sees(&room->b, "one sandbox"));
	assert_ptr_equal(workspace_latest(room->workspace), &room->b.client->place);
	assert_int_equal(workspace_body(room->workspace).cols, 60);
	struct workspace_rect body = workspace_body(room->workspace);
	assert_int_equal(body.row + body.rows, 19);
	type(&room->a, ":shell\r");
	UNTIL(room, workspace_n_tabs(room->workspace) == 2);
	assert_ptr_equal(workspace_latest(room->workspace), &room->a.client->place);
	UNTIL(room, workspace_body(room->workspace).cols == 100);
	body = workspace_body(room->workspace);
	assert_int_equal(body.row + body.rows, 29);
	struct views_shell *shell = shell_of(workspace_focused(room->workspace));
	UNTIL(room, term_cols(shell->term) == 100);
	UNTIL(room, session_is_over(shell->session)); /* nobody listens there */
	/* as if a program ran: both see the same grid, one of them as much as fits */
	shell->session->state = SESSION_RUNNING;
	static const char text[] = "\033[2J\033[1;1Hupper\033[1;80Hright\033[25;1Hlower";
	session_stream_take(shell->session, slice_of(text));
	UNTIL(room, sees(&room->a, "upper") && sees(&room->b, "upper"));
	UNTIL(room, sees(&room->a, "right") && sees(&room->a, "lower"));
	assert_false(sees(&room->b, "right"));
	assert_false(sees(&room->b, "lower"));
	assert_int_equal(term_cols(shell->term), 100);
	/* each has its bars */
	UNTIL(room, sees(&room->a, " then  ") && sees(&room->b, " then  "));
	/* B types: the grid is its own now, and A sees all of it, and no more */
	type(&room->b, "x");
	UNTIL(room, term_cols(shell->term) == 60);
	static const char other[] = "\033[2J\033[16;50Hcorner";
	session_stream_take(shell->session, slice_of(other));
	UNTIL(room, sees(&room->a, "corner") && sees(&room->b, "corner"));
	shell->session->state = SESSION_ENDED;
	room_free(room);
}

static void answered(void *arg, struct widget_dialog *dialog, int button)
{
	(void)dialog;
	*(int *)arg = button;
}

static struct widget_dialog *question(int *answer)
{
	struct widget_dialog *dialog = widget_dialog_new("Overwrite?", answered, answer, NULL);
	widget_dialog_add_button(dialog, "&Yes");
	widget_dialog_add_button(dialog, "&No");
	return dialog;
}

static void test_who_is_asked(void **state)
{
	(void)state;
	struct room *room = room_new();
	int answer = 99;
	UNTIL(room, sees(&room->a, "sandmux") && sees(&room->b, "sandmux"));
	/* a prompt, and a question that a hand brought, are on its own terminal alone */
	type(&room->a, ":");
	UNTIL(room, sees(&room->a, "mark a sandbox, all"));
	assert_false(sees(&room->b, "mark a sandbox, all"));
	type(&room->a, "theme no-such-theme\r");
	UNTIL(room, sees(&room->a, "[ OK ]") || sees(&room->a, "OK"));
	assert_int_equal(room->a.client->n_dialogs, 1);
	assert_int_equal(room->b.client->n_dialogs, 0);
	type(&room->a, "\r");
	UNTIL(room, room->a.client->n_dialogs == 0);
	/* what nobody asked for is on both, and whoever turns to it answers it for both */
	struct view_host *host = workspace_host(room->workspace);
	room->a.client->last_input_ms = room->b.client->last_input_ms = 0;
	host->ops->push_dialog(host, question(&answer));
	UNTIL(room, sees(&room->a, "Overwrite?") && sees(&room->b, "Overwrite?"));
	type(&room->b, "\035a");
	UNTIL(room, room->b.client->surprise.has_keys);
	assert_false(room->a.client->surprise.has_keys);
	room->b.client->surprise.since_ms -= SURPRISE_GUARD_MS;
	type(&room->b, "\r");
	UNTIL(room, answer == 0);
	UNTIL(room, !sees(&room->a, "Overwrite?") && !sees(&room->b, "Overwrite?"));
	/* notes are for all */
	host->ops->note(host, NOTE_INFO, "told to everybody");
	UNTIL(room, sees(&room->a, "told to everybody") && sees(&room->b, "told to everybody"));
	room_free(room);
}

static void test_terminals_are_their_own(void **state)
{
	(void)state;
	struct room *room = room_new();
	struct view_host *host = workspace_host(room->workspace);
	UNTIL(room, sees(&room->a, "sandmux") && sees(&room->b, "sandmux"));
	assert_string_equal(client_theme(room->a.client), "default");
	/* without colours its roles are attributes alone */
	assert_int_equal(room->b.client->theme.roles[ROLE_ERROR].fg, DRAW_COLOR_DEFAULT);
	assert_int_not_equal(room->b.client->theme.roles[ROLE_ERROR].attrs, 0);
	client_compose(room->a.client);
	assert_ptr_equal(host->theme, &room->a.client->theme);
	/* the clipboard is that of the one who works */
	host->ops->copy_text(host, slice_of("hello"));
	UNTIL(room, strcmp(room->b.clipboard, "hello") == 0);
	assert_string_equal(room->a.clipboard, "");
	type(&room->a, "j");
	UNTIL(room, workspace_latest(room->workspace) == &room->a.client->place);
	host->ops->copy_text(host, slice_of("world"));
	UNTIL(room, strcmp(room->a.clipboard, "world") == 0);
	/* one loses the focus while the other has it: the pane still has it */
	type(&room->a, ":shell\r");
	UNTIL(room, workspace_n_tabs(room->workspace) == 2);
	struct views_shell *shell = shell_of(workspace_focused(room->workspace));
	assert_true(shell->is_focused);
	type(&room->b, "\033[O");
	UNTIL(room, !room->b.client->is_focused);
	assert_true(shell->is_focused);
	type(&room->a, "\033[O");
	UNTIL(room, !room->a.client->is_focused);
	assert_false(shell->is_focused);
	type(&room->b, "\033[I");
	UNTIL(room, shell->is_focused);
	assert_ptr_equal(workspace_latest(room->workspace), &room->b.client->place);
	room_free(room);
}

static void test_one_goes_and_the_other_stays(void **state)
{
	(void)state;
	struct room *room = room_new();
	UNTIL(room, sees(&room->a, "sandmux") && sees(&room->b, "sandmux"));
	assert_int_equal(workspace_body(room->workspace).cols, 60);
	client_detach(room->b.client);
	UNTIL(room, workspace_body(room->workspace).cols == 100);
	assert_ptr_equal(workspace_latest(room->workspace), &room->a.client->place);
	assert_ptr_equal(workspace_host(room->workspace)->theme, &room->a.client->theme);
	get_up(&room->b);
	type(&room->a, ":help\r");
	UNTIL(room, sees(&room->a, "Everywhere"));
	/* its terminal goes, the work does not */
	close(room->a.master);
	room->a.master = -1;
	int64_t end = clock_mono_ms() + 10000;
	while (!room->a.n_gone && clock_mono_ms() < end)
		net_loop_run_once(room->loop, 10);
	assert_int_equal(room->a.n_gone, 1);
	assert_false(client_is_attached(room->a.client));
	assert_int_equal(room->n_quits, 0);
	assert_int_equal(workspace_n_tabs(room->workspace), 2);
	get_up(&room->a);
	assert_null(workspace_latest(room->workspace));
	/* without any client: commands of views still run, those of terminals cannot */
	struct err err;
	assert_false(workspace_command_run(room->workspace, "palette", &err));
	assert_true(workspace_command_run(room->workspace, "move last", &err));
	struct view_host *host = workspace_host(room->workspace);
	host->ops->copy_text(host, slice_of("nobody"));
	err_set(&err, ERR_KUBE_FORBIDDEN, "you may not");
	view_host_failf(host, &err, "Cannot create");
	assert_int_equal(workspace_n_surprises(room->workspace), 1);
	/* and the next one finds all of it */
	sit_down(room, &room->b, 80, 24, false);
	UNTIL(room, sees(&room->b, "2 help") && sees(&room->b, "Cannot create"));
	room_free(room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_size_follows_who_was_there_last),
		cmocka_unit_test(test_who_is_asked),
		cmocka_unit_test(test_terminals_are_their_own),
		cmocka_unit_test(test_one_goes_and_the_other_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
