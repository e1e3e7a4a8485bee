// SPDX-License-Identifier: Apache-2.0
// A session on a real daemon: its life, its references, viewers and the one size, taps, and what is typed before it began.
#include "tests/unit/tui/script/box_process.h"
#include "tui/session/internal.h"

#include "engine/base/clock.h"

#include <stdio.h>
#include <string.h>

struct bench {
	char dir[40];
	struct box box;
	struct net_loop *loop;
	struct engine *engine;
	struct sessions *sessions;
};

static struct bench bench_new(bool has_daemon, bool read_only)
{
	struct bench bench = { .dir = "/tmp/sandmux-session.XXXXXX" };
	struct err err = { 0 };
	char url[64], address[64];
	assert_non_null(mkdtemp(bench.dir));
	if (has_daemon)
		bench.box = box_start(bench.dir);
	bench.loop = net_loop_new(&err);
	assert_non_null(bench.loop);
	snprintf(url, sizeof url, "http://127.0.0.1:%d", has_daemon ? bench.box.rest : 1);
	snprintf(address, sizeof address, "127.0.0.1:%d", has_daemon ? bench.box.grpc : 1);
	const struct engine_opts opts = {
		.connect.rest_url = url, .connect.grpc_address = address, .read_only = read_only
	};
	bench.engine = engine_new(bench.loop, &opts, &err);
	assert_non_null(bench.engine);
	bench.sessions = sessions_new(bench.engine);
	return bench;
}

static void bench_free(struct bench *bench)
{
	sessions_free(bench->sessions);
	engine_free(bench->engine);
	net_loop_free(bench->loop);
	box_stop(&bench->box);
	rmdir(bench->dir);
}

#define UNTIL(bench, condition)                                                                \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + 20000;                                        \
		while (!(condition) && clock_mono_ms() < end_)                                 \
			net_loop_run_once((bench)->loop, 10);                                  \
		assert_true(condition);                                                        \
	} while (0)

static struct session *open_program(struct bench *bench, const char *script, int cols, int rows)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	const struct session_opts opts = {
		.name = "box", .argv = argv, .cols = cols, .rows = rows
	};
	struct err err = { 0 };
	struct session *session = session_open(bench->sessions, &opts, &err);
	if (!session)
		fail_msg("%s", err.msg);
	return session;
}

static bool shows(struct session *session, const char *text)
{
	struct str out;
	struct term *term = session_term(session);
	str_init(&out, 1 << 20);
	term_copy(term, (struct term_pos){ -term_history_rows(term), 0 },
		(struct term_pos){ term_rows(term) - 1, term_cols(term) - 1 }, false, &out);
	bool found = strstr(out.p, text) != NULL;
	str_deinit(&out);
	return found;
}

/* ---- observers that write down */

struct seen {
	size_t n_changes, n_outputs, n_states, n_bells;
	char clipboard[64], warning[256];
	struct session_viewer *viewer; /* removes itself when told so */
	bool leaves;
};

static void on_change(void *arg)
{
	struct seen *seen = arg;
	seen->n_changes++;
	if (seen->leaves)
		session_viewer_remove(seen->viewer);
	seen->leaves = false;
}

static void on_output(void *arg)
{
	((struct seen *)arg)->n_outputs++;
}

static void on_state(void *arg)
{
	((struct seen *)arg)->n_states++;
}

static void on_bell(void *arg)
{
	((struct seen *)arg)->n_bells++;
}

static void on_clipboard(void *arg, struct slice bytes)
{
	struct seen *seen = arg;
	snprintf(seen->clipboard, sizeof seen->clipboard, "%.*s", (int)bytes.n, bytes.p);
}

static void on_warning(void *arg, const char *text)
{
	struct seen *seen = arg;
	snprintf(seen->warning, sizeof seen->warning, "%s", text);
}

static const struct session_events events = { on_change, on_output, on_state, on_bell,
	on_clipboard, on_warning, NULL };
static const struct session_events no_events;

struct tapped {
	char bytes[SESSION_FLOW_COUNT][4096];
	size_t n[SESSION_FLOW_COUNT];
	int cols, rows;
	struct session_tap *leaves;
};

static void on_traffic(void *arg, const struct session_traffic *traffic)
{
	struct tapped *tapped = arg;
	enum session_flow flow = traffic->flow;
	assert_true(tapped->n[flow] + traffic->bytes.n < sizeof tapped->bytes[flow]);
	if (traffic->bytes.n)
		memcpy(tapped->bytes[flow] + tapped->n[flow], traffic->bytes.p,
			traffic->bytes.n);
	tapped->n[flow] += traffic->bytes.n + (flow == SESSION_RESIZE);
	tapped->cols = traffic->cols;
	tapped->rows = traffic->rows;
	session_tap_remove(tapped->leaves);
	tapped->leaves = NULL;
}

/* ---- */

static void test_without_a_screen_from_its_begin_to_its_end(void **state)
{
	(void)state;
	struct bench bench = bench_new(true, false);
	struct session *session =
		open_program(&bench, "stty size; read x; echo \"<$x>\"; exit 3", 91, 33);
	struct tapped tapped = { .n = { 0 } };
	session_tap_add(session, on_traffic, &tapped);
	assert_int_equal(sessions_count(bench.sessions), 1);
	assert_string_equal(session_program(session), "sh");
	assert_int_equal(session_state(session), SESSION_WAITING);
	session_send(session, slice_of("early\r")); /* waits for the process */
	UNTIL(&bench, session_state(session) == SESSION_RUNNING);
	UNTIL(&bench, session_is_over(session));
	assert_true(shows(session, "33 91"));
	assert_true(shows(session, "<early>"));
	assert_non_null(strstr(tapped.bytes[SESSION_OUT], "<early>"));
	assert_string_equal(tapped.bytes[SESSION_IN], "early\r");
	assert_int_equal(tapped.n[SESSION_RESIZE], 0);
	struct str reason;
	str_init(&reason, 1024);
	session_add_reason(session, &reason);
	assert_string_equal(reason.p, "sh ended with status 3");
	str_deinit(&reason);
	assert_false(session_ended_well(session));
	session_send(session, slice_of("late")); /* nobody is there */
	assert_int_equal(tapped.n[SESSION_IN], 6);
	/* the same again, below what is there */
	struct err err;
	assert_true(session_run_again(session, &err));
	assert_false(session_run_again(session, &err));
	assert_int_equal(err.code, ERR_OP_BUSY);
	session_send(session, slice_of("again\r"));
	UNTIL(&bench, session_is_over(session));
	assert_true(shows(session, "<early>"));
	assert_true(shows(session, "<again>"));
	session_unref(session);
	assert_int_equal(sessions_count(bench.sessions), 0);
	bench_free(&bench);
}

static void test_the_size_is_that_of_the_latest_viewer(void **state)
{
	(void)state;
	struct bench bench = bench_new(true, false);
	struct session *session = open_program(
		&bench, "trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done", 0, 0);
	struct term *term = session_term(session);
	struct tapped tapped = { .n = { 0 } };
	session_tap_add(session, on_traffic, &tapped);
	struct session_viewer *a = session_viewer_add(session, &no_events, NULL);
	struct session_viewer *b = session_viewer_add(session, &no_events, NULL);
	net_loop_run_once(bench.loop, 0);
	assert_int_equal(session_state(session), SESSION_WAITING); /* nobody has drawn it */
	session_viewer_resize(b, 60, 20); /* a is nowhere on a screen */
	assert_true(session_viewer_is_latest(b));
	assert_int_equal(term_cols(term), 60);
	UNTIL(&bench, shows(session, "up"));
	session_viewer_resize(a, 100, 30);
	assert_int_equal(term_cols(term), 60);
	assert_int_equal(tapped.n[SESSION_RESIZE], 1);
	session_viewer_focus(a, true);
	assert_true(session_viewer_is_latest(a));
	assert_int_equal(term_cols(term), 100);
	assert_int_equal(term_rows(term), 30);
	assert_int_equal(tapped.n[SESSION_RESIZE], 2);
	assert_int_equal(tapped.cols, 100);
	assert_int_equal(tapped.rows, 30);
	UNTIL(&bench, shows(session, "30 100")); /* and the program knows */
	session_viewer_focus(a, false);          /* who leaves takes no size along */
	session_viewer_resize(b, 61, 21);
	assert_int_equal(term_cols(term), 100);
	session_viewer_remove(a);
	assert_int_equal(term_cols(term), 61);
	assert_int_equal(term_rows(term), 21);
	UNTIL(&bench, shows(session, "21 61"));
	session_viewer_remove(b);
	session_viewer_remove(NULL);
	assert_int_equal(
		session_state(session), SESSION_RUNNING); /* nobody looks: it goes on */
	session_unref(session);
	bench_free(&bench);
}

static void test_who_is_told_what(void **state)
{
	(void)state;
	struct bench bench = bench_new(false, false);
	struct session *session = open_program(&bench, "true", 0, 0);
	struct seen a = { 0 }, b = { 0 };
	a.viewer = session_viewer_add(session, &events, &a);
	b.viewer = session_viewer_add(session, &events, &b);
	session_viewer_focus(b.viewer, true);
	session_stream_take(session, slice_of("text\a\033]52;c;aGVsbG8=\a"));
	UNTIL(&bench, b.n_outputs == 1);
	assert_int_equal(a.n_outputs, 1);
	assert_true(a.n_changes > 0 && b.n_changes > 0);
	assert_int_equal(a.n_bells, 1);
	assert_int_equal(b.n_bells, 1);
	assert_string_equal(a.clipboard, ""); /* one person is asked, once */
	assert_string_equal(b.clipboard, "hello");
	b.clipboard[0] = 0;
	session_set_clipboard(session, SESSION_CLIPBOARD_DENY);
	session_stream_take(session, slice_of("\033]52;c;aGVsbG8=\a"));
	UNTIL(&bench, b.n_outputs == 2);
	assert_string_equal(b.clipboard, "");
	/* a program that does not read */
	char *much = x_calloc(1, SESSION_STDIN_BYTES_MAX);
	session_send(session, (struct slice){ much, SESSION_STDIN_BYTES_MAX });
	assert_string_equal(b.warning, "");
	session_send(session, slice_of("x"));
	assert_string_equal(b.warning, "box does not read: 1 bytes of input dropped");
	assert_string_equal(a.warning, "");
	free(much);
	/* one that goes in its own callback, and the other is told as well */
	a.leaves = true;
	b.n_changes = 0;
	session_stream_take(session, slice_of("more"));
	UNTIL(&bench, b.n_changes > 0);
	assert_false(a.leaves);
	assert_int_equal(session_n_viewers(session), 1);
	/* its end: nobody listens there */
	session_viewer_resize(b.viewer, 80, 24);
	UNTIL(&bench, session_is_over(session));
	assert_int_equal(b.n_states, 2);
	assert_int_equal(a.n_states, 0);
	session_viewer_remove(b.viewer);
	session_unref(session);
	bench_free(&bench);
}

static void test_a_program_learns_of_the_focus(void **state)
{
	(void)state;
	struct bench bench = bench_new(false, false);
	struct session *session = open_program(&bench, "true", 0, 0);
	struct tapped tapped = { .n = { 0 } };
	struct session_viewer *a = session_viewer_add(session, &no_events, NULL);
	struct session_viewer *b = session_viewer_add(session, &no_events, NULL);
	struct session_tap *tap = session_tap_add(session, on_traffic, &tapped);
	term_feed(session->term, "\033[?1004h", 8);
	session_viewer_focus(a, true); /* there is no program yet */
	assert_int_equal(tapped.n[SESSION_IN], 0);
	session->state = SESSION_RUNNING;
	session_viewer_focus(b, true);
	session_viewer_focus(a, false); /* the other one still looks */
	assert_string_equal(tapped.bytes[SESSION_IN], "\033[I");
	session_viewer_focus(b, false);
	assert_string_equal(tapped.bytes[SESSION_IN], "\033[I\033[O");
	tapped.leaves = tap; /* in its own callback */
	session_viewer_focus(b, true);
	session_viewer_focus(b, false);
	assert_string_equal(tapped.bytes[SESSION_IN], "\033[I\033[O\033[I");
	session->state = SESSION_WAITING;
	session_viewer_remove(a);
	session_viewer_remove(b);
	session_unref(session);
	bench_free(&bench);
}

static void count(void *arg, struct session *session)
{
	assert_string_equal(session_name(session), "box");
	++*(int *)arg;
}

static void test_references(void **state)
{
	(void)state;
	struct bench bench = bench_new(true, false);
	struct session *one = open_program(&bench, "echo one; exec sleep 60", 80, 24);
	struct session *two = open_program(&bench, "echo two; exec sleep 60", 80, 24);
	int n = 0;
	sessions_each(bench.sessions, count, &n);
	assert_int_equal(n, 2);
	UNTIL(&bench, shows(one, "one") && shows(two, "two"));
	assert_ptr_equal(session_ref(one), one);
	session_unref(one);
	assert_int_equal(sessions_count(bench.sessions), 2);
	assert_int_equal(session_state(one), SESSION_RUNNING);
	session_unref(one);
	assert_int_equal(sessions_count(bench.sessions), 1);
	/* the workspace goes, and somebody still holds one */
	sessions_free(bench.sessions);
	bench.sessions = NULL;
	assert_int_equal(session_state(two), SESSION_ENDED);
	assert_true(shows(two, "two"));
	struct err err;
	assert_false(session_run_again(two, &err));
	assert_int_equal(err.code, ERR_OP_CLOSED);
	session_unref(two);
	session_unref(NULL);
	bench_free(&bench);
}

static void test_what_is_refused_at_once(void **state)
{
	(void)state;
	struct bench bench = bench_new(false, true);
	const struct session_opts opts = { .name = "box" };
	struct err err;
	assert_null(session_open(bench.sessions, &opts, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
	assert_int_equal(sessions_count(bench.sessions), 0);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_screen_from_its_begin_to_its_end),
		cmocka_unit_test(test_the_size_is_that_of_the_latest_viewer),
		cmocka_unit_test(test_who_is_told_what),
		cmocka_unit_test(test_a_program_learns_of_the_focus),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_what_is_refused_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
