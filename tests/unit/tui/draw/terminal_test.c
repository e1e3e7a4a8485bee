// SPDX-License-Identifier: Apache-2.0
// The two descriptors of a terminal, and what the other side of a pty sees of them.
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/fatal_signal.h"
#include "engine/net/loop.h"
#include "tui/draw/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct net_loop *loop;
static struct draw_terminal *terminal;
static int there, here; /* the other side, and ours */
static struct str came, shown;
static int n_sent, n_gone;
static struct termios before;

static void on_bytes(void *arg, struct slice bytes)
{
	assert_ptr_equal(arg, &came);
	str_add_bytes(&came, bytes.p, bytes.n);
}

static void on_sent(void *arg)
{
	assert_ptr_equal(arg, &came);
	n_sent++;
}

static void on_gone(void *arg)
{
	assert_ptr_equal(arg, &came);
	n_gone++;
}

static struct draw_terminal *open_it(int in_fd, int out_fd, struct err *err)
{
	const struct draw_terminal_opts opts = { .in_fd = in_fd,
		.out_fd = out_fd,
		.end_bytes = "<end>",
		.on_bytes = on_bytes,
		.on_sent = on_sent,
		.on_gone = on_gone,
		.arg = &came };
	return draw_terminal_open(loop, &opts, err);
}

static int set_up(void **state)
{
	struct err err = { 0 };
	(void)state;
	loop = net_loop_new(&err);
	str_init(&came, 1 << 20);
	str_init(&shown, 8 << 20);
	n_sent = n_gone = 0;
	if (openpty(&there, &here, NULL, NULL, NULL) < 0)
		return -1;
	fcntl(there, F_SETFL, O_NONBLOCK);
	tcgetattr(here, &before);
	terminal = open_it(here, here, &err);
	return terminal ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	draw_terminal_close(terminal);
	terminal = NULL;
	net_loop_free(loop);
	str_deinit(&came);
	str_deinit(&shown);
	if (there >= 0)
		close(there);
	close(here);
	return 0;
}

/* What has been shown so far. */
static void look(void)
{
	char bytes[4096];
	ssize_t n;
	while ((n = read(there, bytes, sizeof bytes)) > 0)
		str_add_bytes(&shown, bytes, (size_t)n);
}

static void turns(int n)
{
	while (n-- > 0)
		net_loop_run_once(loop, 2);
}

#define UNTIL(condition)                                                                       \
	do {                                                                                   \
		int64_t until = clock_mono_ms() + 10000;                                       \
		while (!(condition) && clock_mono_ms() < until)                                \
			net_loop_run_once(loop, 10);                                           \
		assert_true(condition);                                                        \
	} while (0)

static struct termios modes(void)
{
	struct termios now;
	assert_int_equal(tcgetattr(here, &now), 0);
	return now;
}

static void assert_cooked(void)
{
	struct termios now = modes();
	assert_int_equal(now.c_lflag, before.c_lflag);
	assert_int_equal(now.c_iflag, before.c_iflag);
	assert_int_equal(now.c_oflag, before.c_oflag);
}

static void assert_raw(void)
{
	struct termios now = modes();
	assert_false(now.c_lflag & (ICANON | ECHO | ISIG));
	assert_false(now.c_oflag & OPOST);
	assert_int_equal(now.c_cc[VMIN], 1);
	assert_int_equal(now.c_cc[VTIME], 0);
}

static void it_is_raw_and_given_back(void **state)
{
	(void)state;
	assert_raw();
	/* the shell's own descriptor is not switched */
	assert_false(fcntl(here, F_GETFL) & O_NONBLOCK);
	draw_terminal_close(terminal);
	terminal = NULL;
	assert_cooked();
	look();
	assert_string_equal(shown.p, "<end>");
	assert_false(fcntl(here, F_GETFL) & O_NONBLOCK);
	draw_terminal_close(NULL);
}

static void what_is_no_terminal(void **state)
{
	struct err err = { 0 };
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	const int pairs[][2] = { { ends[0], ends[1] }, { here, ends[1] }, { ends[0], here } };
	for (size_t i = 0; i < 3; i++) {
		err = (struct err){ 0 };
		assert_null(open_it(pairs[i][0], pairs[i][1], &err));
		assert_int_equal(err.code, ERR_TTY_NONE);
		assert_string_equal(err.msg, "standard input and output are not a terminal");
	}
	close(ends[0]);
	close(ends[1]);
}

static void keys_come(void **state)
{
	(void)state;
	assert_int_equal(write(there, "a\r\003", 3), 3);
	UNTIL(came.n == 3);
	assert_string_equal(came.p, "a\r\003"); /* nothing of it is looked at */
	assert_int_equal(n_gone, 0);
	assert_int_equal(n_sent, 0);
}

static void its_size(void **state)
{
	int cols = 7, rows = 7;
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	(void)state;
	ioctl(there, TIOCSWINSZ, &size);
	assert_true(draw_terminal_size(terminal, &cols, &rows));
	assert_int_equal(cols, 80);
	assert_int_equal(rows, 24);
	static const unsigned short odd[][2] = { { 0, 80 }, { 24, 0 }, { 0, 0 } };
	for (size_t i = 0; i < 3; i++) {
		size.ws_row = odd[i][0];
		size.ws_col = odd[i][1];
		ioctl(there, TIOCSWINSZ, &size);
		assert_false(draw_terminal_size(terminal, &cols, &rows));
		assert_int_equal(cols, 80); /* not touched */
	}
	size = (struct winsize){ .ws_row = 1, .ws_col = 1 };
	ioctl(there, TIOCSWINSZ, &size);
	assert_true(draw_terminal_size(terminal, &cols, &rows));
	assert_int_equal(cols * rows, 1);
}

static void a_small_frame_leaves_at_once(void **state)
{
	(void)state;
	draw_terminal_send(terminal, slice_of("one"));
	assert_false(draw_terminal_is_sending(terminal));
	draw_terminal_send(terminal, slice_of(""));
	draw_terminal_send(terminal, slice_of(" two\n"));
	look();
	assert_string_equal(shown.p, "one two\n");
	turns(3);
	assert_int_equal(n_sent, 0); /* there was nothing to wait for */
}

static void a_slow_terminal(void **state)
{
	enum { BYTES = 300000 };
	char *frame = malloc(BYTES);
	(void)state;
	for (int i = 0; i < BYTES; i++)
		frame[i] = (char)('a' + (i / 7 + i / 1000) % 26);
	draw_terminal_send(terminal, (struct slice){ frame, BYTES });
	assert_true(draw_terminal_is_sending(terminal));
	draw_terminal_send(terminal, slice_of("last"));
	turns(5);
	assert_true(draw_terminal_is_sending(terminal));
	assert_int_equal(n_sent, 0);
	while (draw_terminal_is_sending(terminal)) {
		look();
		net_loop_run_once(loop, 10);
	}
	look();
	assert_int_equal(n_sent, 1);
	assert_int_equal(shown.n, BYTES + 4);
	assert_memory_equal(shown.p, frame, BYTES);
	assert_string_equal(shown.p + BYTES, "last");
	turns(5);
	assert_int_equal(n_sent, 1); /* said once */
	assert_int_equal(n_gone, 0);
	free(frame);
}

static void what_is_far_too_much_is_dropped(void **state)
{
	enum { BYTES = 64 << 20 };
	char *frame = calloc(1, BYTES + 1);
	(void)state;
	draw_terminal_send(terminal, (struct slice){ frame, BYTES + 1 });
	assert_false(draw_terminal_is_sending(terminal));
	look();
	assert_int_equal(shown.n, 0);
	free(frame);
}

static void the_shell_has_it_for_a_while(void **state)
{
	(void)state;
	draw_terminal_leave(terminal);
	assert_cooked();
	look();
	assert_string_equal(shown.p, "<end>");
	fatal_signal_restore_terminal(); /* nothing is owed */
	assert_int_equal(write(there, "for the shell\n", 14), 14);
	turns(5);
	assert_int_equal(came.n, 0);
	char line[40];
	assert_int_equal(read(here, line, sizeof line), 14);
	str_clear(&shown);
	look();
	str_clear(&shown); /* its echo */
	draw_terminal_enter(terminal, "<begin>");
	assert_raw();
	look();
	assert_string_equal(shown.p, "<begin>");
	assert_int_equal(write(there, "k", 1), 1);
	UNTIL(came.n == 1);
	/* a crash gives it back as well */
	str_clear(&shown);
	fatal_signal_restore_terminal();
	assert_cooked();
	look();
	assert_string_equal(shown.p, "<end>");
}

static void it_goes_away(void **state)
{
	int cols, rows;
	(void)state;
	close(there);
	there = -1;
	UNTIL(n_gone == 1);
	draw_terminal_send(terminal, slice_of("x"));
	assert_false(draw_terminal_is_sending(terminal));
	assert_false(draw_terminal_size(terminal, &cols, &rows));
	draw_terminal_leave(terminal);
	draw_terminal_enter(terminal, "<begin>");
	turns(5);
	assert_int_equal(n_gone, 1);
	assert_int_equal(n_sent, 0);
	assert_int_equal(came.n, 0);
}

static void it_goes_away_while_it_is_slow(void **state)
{
	char *frame = calloc(1, 300000);
	(void)state;
	draw_terminal_send(terminal, (struct slice){ frame, 300000 });
	assert_true(draw_terminal_is_sending(terminal));
	free(frame);
	close(there);
	there = -1;
	UNTIL(n_gone == 1);
	assert_false(draw_terminal_is_sending(terminal));
	turns(3);
	assert_int_equal(n_gone, 1);
	assert_int_equal(n_sent, 0);
}

/* Nobody reads any more: the end waits a little, not for ever, and the modes are given back. */
static void a_stuck_terminal_is_left(void **state)
{
	char *frame = calloc(1, 300000);
	(void)state;
	draw_terminal_send(terminal, (struct slice){ frame, 300000 });
	free(frame);
	int64_t began = clock_mono_ms();
	draw_terminal_leave(terminal);
	int64_t took = clock_mono_ms() - began;
	assert_true(took >= 250 && took < 5000);
	assert_false(draw_terminal_is_sending(terminal));
	assert_cooked();
	assert_int_equal(n_gone, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_raw_and_given_back),
		TEST(what_is_no_terminal),
		TEST(keys_come),
		TEST(its_size),
		TEST(a_small_frame_leaves_at_once),
		TEST(a_slow_terminal),
		TEST(what_is_far_too_much_is_dropped),
		TEST(the_shell_has_it_for_a_while),
		TEST(it_goes_away),
		TEST(it_goes_away_while_it_is_slow),
		TEST(a_stuck_terminal_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
