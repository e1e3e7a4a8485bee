// SPDX-License-Identifier: Apache-2.0
// A program on a terminal of its own: what it is given and says, its size, its end, and one that is left alone.
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "engine/net/pty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct seen {
	struct net_loop *loop;
	struct net_pty *pty;
	struct str text;
	size_t n_bytes;
	bool takes; /* what comes is taken at once */
	bool is_over;
	int exit_code, n_drained;
};

static void on_output(void *arg, struct slice bytes)
{
	struct seen *seen = arg;
	assert_false(seen->is_over);
	str_add_bytes(&seen->text, bytes.p, bytes.n);
	seen->n_bytes += bytes.n;
	if (seen->takes)
		net_pty_consumed(seen->pty, bytes.n);
}

static void on_exit_code(void *arg, int exit_code)
{
	struct seen *seen = arg;
	seen->is_over = true;
	seen->exit_code = exit_code;
}

static void on_drained(void *arg)
{
	((struct seen *)arg)->n_drained++;
}

#define UNTIL(seen, condition)                                                                 \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + 20000;                                        \
		while (!(condition) && clock_mono_ms() < end_)                                 \
			net_loop_run_once((seen)->loop, 10);                                   \
		assert_true(condition);                                                        \
	} while (0)

static void begin(struct seen *seen, const char *script)
{
	static const char *const env[] = { "TERM=xterm-256color", "OWN=1", NULL };
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct err err = { 0 };
	*seen = (struct seen){ .takes = true };
	seen->loop = net_loop_new(&err);
	str_init(&seen->text, 1 << 20);
	const struct net_pty_opts opts = { argv, env, 91, 17, on_output, on_exit_code, seen };
	seen->pty = net_pty_start(seen->loop, &opts, &err);
	if (!seen->pty)
		fail_msg("%s", err.msg);
	net_pty_on_drained(seen->pty, on_drained);
}

static void end(struct seen *seen)
{
	net_pty_free(seen->pty);
	str_deinit(&seen->text);
	net_loop_free(seen->loop);
}

static void test_what_it_is_given(void **state)
{
	struct seen seen;
	(void)state;
	setenv("OWN", "0", 1);
	setenv("COLUMNS", "7", 1);
	begin(&seen,
		"stty size; echo $TERM $OWN [$COLUMNS]; test -t 0 && test -t 2 && echo tty; "
		"ps -o tty= -p $$ | grep -q pts && echo own; read a; echo got $a; exit 3");
	UNTIL(&seen, strstr(seen.text.p, "own"));
	struct err err;
	assert_true(net_pty_write(seen.pty, slice_of("hello\r"), &err));
	UNTIL(&seen, seen.is_over);
	assert_int_equal(seen.exit_code, 3);
	assert_int_equal(seen.n_drained, 1);
	assert_non_null(strstr(seen.text.p, "17 91\r\nxterm-256color 1 []\r\ntty\r\nown\r\n"));
	assert_non_null(strstr(seen.text.p, "got hello"));
	end(&seen);
}

static void test_size(void **state)
{
	struct seen seen;
	(void)state;
	begin(&seen, "trap 'stty size; exit 0' WINCH; echo up; while :; do sleep 0.05; done");
	UNTIL(&seen, strstr(seen.text.p, "up"));
	net_pty_resize(seen.pty, 40, 10);
	UNTIL(&seen, seen.is_over);
	assert_non_null(strstr(seen.text.p, "10 40"));
	assert_int_equal(seen.exit_code, 0);
	end(&seen);
}

static void test_its_end(void **state)
{
	struct seen seen;
	(void)state;
	begin(&seen, "kill -9 $$");
	UNTIL(&seen, seen.is_over);
	assert_int_equal(seen.exit_code, -1);
	end(&seen);
	const char *argv[] = { "/no/such/program", NULL };
	struct err err = { 0 };
	struct net_loop *loop = net_loop_new(&err);
	const struct net_pty_opts opts = { argv, NULL, 80, 24, on_output, on_exit_code, &seen };
	assert_null(net_pty_start(loop, &opts, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	net_loop_free(loop);
}

/* What nobody takes stops it at its own terminal. */
static void test_a_flood_waits(void **state)
{
	struct seen seen;
	(void)state;
	begin(&seen, "yes");
	seen.takes = false;
	UNTIL(&seen, seen.n_bytes >= NET_PTY_AHEAD_BYTES);
	for (int i = 0; i < 20; i++)
		net_loop_run_once(seen.loop, 5);
	size_t n = seen.n_bytes;
	for (int i = 0; i < 20; i++)
		net_loop_run_once(seen.loop, 5);
	assert_int_equal(seen.n_bytes, n);
	net_pty_consumed(seen.pty, n);
	UNTIL(&seen, seen.n_bytes > n);
	end(&seen);
}

/* Left while it runs: it is hung up, also if it does not want to be. */
static void test_left_alone(void **state)
{
	struct seen seen;
	(void)state;
	begin(&seen, "trap '' HUP; echo pid $$.; while :; do sleep 0.05; done");
	UNTIL(&seen, strchr(seen.text.p, '.'));
	pid_t pid = (pid_t)strtol(strstr(seen.text.p, "pid ") + 4, NULL, 10);
	assert_int_equal(kill(pid, 0), 0);
	net_pty_free(seen.pty);
	seen.pty = NULL;
	UNTIL(&seen, kill(pid, 0) != 0 && errno == ESRCH);
	end(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_is_given),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_its_end),
		cmocka_unit_test(test_a_flood_waits),
		cmocka_unit_test(test_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
