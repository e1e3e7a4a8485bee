// SPDX-License-Identifier: Apache-2.0
/* Descriptors of every kind, signals, and the signals that end a process, on the loop. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/fatal_signal.h"
#include "engine/net/watch.h"
#include "tests/unit/engine/net/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct net_loop *loop;
static struct net_watch_fd *watch;
static struct net_watch_fatal *fatal;
static int n_read, n_write, n_told, told;
static bool frees;

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	watch = NULL;
	fatal = NULL;
	frees = false;
	n_read = n_write = n_told = told = 0;
	return loop == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	net_watch_fd_free(watch);
	net_watch_fatal_free(fatal);
	net_loop_free(loop);
	return 0;
}

static void on_ready(void *arg, bool is_readable, bool is_writable)
{
	assert_ptr_equal(arg, &watch);
	n_read += is_readable;
	n_write += is_writable;
	if (frees) {
		net_watch_fd_free(watch);
		watch = NULL;
	}
}

static void watch_one(int fd)
{
	struct err err = { 0 };
	watch = net_watch_fd_new(loop, fd, on_ready, &watch, &err);
	assert_non_null(watch);
}

static void forget(void)
{
	n_read = n_write = 0;
}

static void a_pipe(void **state)
{
	int ends[2];
	char byte;
	(void)state;
	assert_int_equal(pipe(ends), 0);
	watch_one(ends[0]);
	assert_int_equal(write(ends[1], "x", 1), 1);
	turn_for(loop, 30); /* nothing is wanted yet */
	assert_int_equal(n_read + n_write, 0);
	net_watch_fd_want(watch, true, false);
	TURN_UNTIL(loop, n_read > 0);
	assert_int_equal(n_write, 0);
	/* as long as there is something */
	forget();
	TURN_UNTIL(loop, n_read > 2);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	forget();
	turn_for(loop, 30);
	assert_int_equal(n_read, 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	net_watch_fd_want(watch, false, false);
	turn_for(loop, 30);
	assert_int_equal(n_read, 0);
	net_watch_fd_want(watch, true, false);
	frees = true;
	TURN_UNTIL(loop, n_read > 0);
	turn_for(loop, 30);
	assert_int_equal(n_read, 1);
	frees = false;
	forget();
	watch_one(ends[1]);
	net_watch_fd_want(watch, false, true);
	TURN_UNTIL(loop, n_write > 0);
	assert_int_equal(n_read, 0);
	close(ends[0]);
	close(ends[1]);
}

/* epoll refuses these: they count as ready, once a turn, while wanted. */
static void always_ready(int fd)
{
	forget();
	watch_one(fd);
	turn_for(loop, 30);
	assert_int_equal(n_read + n_write, 0);
	net_watch_fd_want(watch, true, false);
	TURN_UNTIL(loop, n_read > 1);
	assert_int_equal(n_write, 0);
	net_watch_fd_want(watch, false, true);
	forget();
	TURN_UNTIL(loop, n_write > 1);
	assert_int_equal(n_read, 0);
	net_watch_fd_want(watch, true, true);
	TURN_UNTIL(loop, n_read > 1);
	net_watch_fd_want(watch, false, false);
	forget();
	turn_for(loop, 30);
	assert_int_equal(n_read + n_write, 0);
	net_watch_fd_want(watch, true, false);
	frees = true;
	TURN_UNTIL(loop, n_read > 0);
	turn_for(loop, 30);
	assert_int_equal(n_read, 1);
	frees = false;
	close(fd);
}

static void what_is_always_ready(void **state)
{
	(void)state;
	FILE *file = tmpfile();
	assert_non_null(file);
	always_ready(dup(fileno(file)));
	fclose(file);
	always_ready(open("/dev/null", O_RDWR));
}

static void no_descriptor(void **state)
{
	struct err err = { 0 };
	(void)state;
	assert_null(net_watch_fd_new(loop, 999999, on_ready, &watch, &err));
	assert_int_equal(err.sys, EBADF);
	assert_int_equal(strncmp(err.msg, "descriptor 999999: ", 19), 0);
	net_watch_fd_free(NULL);
	net_watch_signal_free(NULL);
	net_watch_fatal_free(NULL);
}

static void on_usr1(void *arg)
{
	assert_ptr_equal(arg, &n_told);
	n_told++;
}

static void signals(void **state)
{
	struct err err = { 0 };
	struct sigaction before, after;
	(void)state;
	sigaction(SIGUSR1, NULL, &before);
	struct net_watch_signal *usr1 =
		net_watch_signal_new(loop, SIGUSR1, on_usr1, &n_told, &err);
	assert_non_null(usr1);
	kill(getpid(), SIGUSR1);
	TURN_UNTIL(loop, n_told == 1);
	kill(getpid(), SIGUSR1);
	TURN_UNTIL(loop, n_told == 2);
	net_watch_signal_free(usr1);
	sigaction(SIGUSR1, NULL, &after);
	assert_ptr_equal(before.sa_handler, after.sa_handler);
	assert_null(net_watch_signal_new(loop, SIGKILL, on_usr1, &n_told, &err));
	assert_int_equal(err.code, ERR_INTERNAL);
	assert_string_equal(err.msg, "cannot watch signal 9");
}

static void on_fatal(void *arg, int signal_number)
{
	assert_ptr_equal(arg, &fatal);
	n_told++;
	told = signal_number;
}

static void signals_that_end_a_process(void **state)
{
	struct err err = { 0 };
	(void)state;
	/* what is ignored stays so: a shell does that to what it leaves in the background */
	signal(SIGINT, SIG_DFL);
	assert_false(fatal_signal_is_caught());
	fatal = net_watch_fatal_new(loop, 3, on_fatal, &fatal, &err);
	assert_non_null(fatal);
	assert_true(fatal_signal_is_caught());
	kill(getpid(), SIGTERM);
	TURN_UNTIL(loop, n_told == 1);
	assert_int_equal(told, SIGTERM);
	kill(getpid(), SIGINT);
	TURN_UNTIL(loop, n_told == 2);
	assert_int_equal(told, SIGINT);
	turn_for(loop, 20);
	assert_int_equal(n_told, 2);
	net_watch_fatal_free(fatal);
	fatal = NULL;
	assert_false(fatal_signal_is_caught());
}

#define ON_LOOP(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_LOOP(a_pipe),
		ON_LOOP(what_is_always_ready),
		ON_LOOP(no_descriptor),
		ON_LOOP(signals),
		ON_LOOP(signals_that_end_a_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
