// SPDX-License-Identifier: Apache-2.0
/* The pool of threads for what blocks. Reading a FIFO whose writer writes nothing stands for a mount that hangs. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/work_pool.h"
#include "tests/unit/engine/net/turns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 2 };

struct job {
	int fd; /* read to its end; -1: no reading */
	int number;
	bool was_on_the_loop;
};

static pthread_t the_loops;
static struct net_loop *loop;
static int hang[2];
static int n_started;
static atomic_int n_begun, n_run, n_freed, n_freed_elsewhere, n_told_to_end, n_refused_threads;
static int order[64], n_done;

int __real_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*main_fn)(void *), void *arg);
int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*main_fn)(void *), void *arg);

/* The limit of threads. */
int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*main_fn)(void *), void *arg)
{
	if (n_refused_threads > 0) {
		n_refused_threads--;
		return EAGAIN;
	}
	return __real_pthread_create(thread, attr, main_fn, arg);
}

static void run(void *arg, const atomic_bool *is_cancelled)
{
	struct job *job = arg;
	char byte;
	n_begun++;
	job->was_on_the_loop = pthread_equal(pthread_self(), the_loops);
	if (job->fd >= 0 && read(job->fd, &byte, 1) < 0)
		abort();
	n_told_to_end += atomic_load(is_cancelled);
	n_run++;
}

static void done(void *arg)
{
	struct job *job = arg;
	assert_true(pthread_equal(pthread_self(), the_loops));
	assert_false(job->was_on_the_loop);
	order[n_done++] = job->number;
}

static void free_job(void *arg)
{
	n_freed_elsewhere += !pthread_equal(pthread_self(), the_loops);
	free(arg);
	n_freed++;
}

static const struct net_work_kind reads = { "reads", MOST, run, done, free_job };
static const struct net_work_kind syncs = { "syncs", 1, run, done, free_job };

static struct net_work *start(const struct net_work_kind *kind, bool hangs, int number)
{
	struct job *job = x_calloc(1, sizeof *job);
	n_started++;
	*job = (struct job){ .fd = hangs ? hang[0] : -1, .number = number };
	return net_work_start(loop, kind, job);
}

static void let_go(int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(write(hang[1], "", 1), 1);
}

static int n_before; /* a sanitizer has one of its own from the first one on */

static void *nothing(void *arg)
{
	return arg;
}

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2 - n_before;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static int set_up(void **state)
{
	struct err err = { 0 };
	(void)state;
	the_loops = pthread_self();
	n_begun = n_run = n_freed = n_freed_elsewhere = n_told_to_end = 0;
	n_started = n_done = 0;
	assert_int_equal(pipe2(hang, O_CLOEXEC), 0);
	loop = net_loop_new(&err);
	assert_non_null(loop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_loop_free(loop);
	close(hang[1]);
	/* no thread of this test is in the next one, which begins to count anew */
	for (int i = 0; i < 500 && n_freed < n_started; i++)
		usleep(10000);
	assert_int_equal(n_freed, n_started);
	close(hang[0]);
	return 0;
}

static void it_runs_elsewhere_and_ends_on_the_loop(void **state)
{
	(void)state;
	for (int i = 1; i <= 20; i++) {
		start(&reads, false, i);
		assert_int_equal(n_done, i - 1); /* never from inside */
		TURN_UNTIL(loop, n_done == i);
		assert_int_equal(n_freed, i);
	}
	assert_int_equal(n_freed_elsewhere, 0);
}

/* However many are started at once: nobody who may run waits for another one's end. */
static void each_place_has_a_thread(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		int before = n_begun;
		start(&syncs, true, 0);
		start(&reads, true, 0);
		start(&reads, true, 0);
		TURN_UNTIL(loop, n_begun == before + 3);
		let_go(3);
		TURN_UNTIL(loop, n_run == n_begun && n_done == 3);
		n_done = 0;
	}
}

static void a_kind_has_its_limit_and_its_order(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		start(&syncs, true, i);
	TURN_UNTIL(loop, n_begun == 1);
	turn_for(loop, 30);
	for (int i = 1; i < 6; i++) {
		assert_int_equal(n_begun, i);
		let_go(1);
		TURN_UNTIL(loop, n_done == i && n_begun == i + 1);
	}
	let_go(1);
	TURN_UNTIL(loop, n_done == 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(order[i], i);
}

static void what_hangs_stops_its_kind_alone(void **state)
{
	(void)state;
	for (int i = 0; i < MOST + 1; i++)
		start(&reads, true, i);
	TURN_UNTIL(loop, n_begun == MOST);
	for (int i = 1; i <= 10; i++) {
		start(&syncs, false, 100);
		TURN_UNTIL(loop, n_done == i); /* and the loop turns */
	}
	assert_int_equal(n_begun, MOST + 10);
	let_go(MOST + 1);
	TURN_UNTIL(loop, n_done == MOST + 11);
}

static void cancelled_before_it_begins_it_never_runs(void **state)
{
	(void)state;
	start(&syncs, true, 0);
	struct net_work *second = start(&syncs, false, 1);
	start(&syncs, false, 2);
	TURN_UNTIL(loop, n_begun == 1);
	net_work_cancel(second);
	assert_int_equal(n_freed, 1);
	let_go(1);
	TURN_UNTIL(loop, n_done == 2);
	assert_int_equal(order[1], 2);
	assert_int_equal(n_run, 2);
	net_work_cancel(NULL);
}

static void cancelled_while_it_runs_it_is_told_and_ends_in_silence(void **state)
{
	(void)state;
	struct net_work *work = start(&reads, true, 0);
	TURN_UNTIL(loop, n_begun == 1);
	net_work_cancel(work);
	turn_for(loop, 20);
	assert_int_equal(n_freed, 0); /* its thread uses it */
	let_go(1);
	TURN_UNTIL(loop, n_freed == 1);
	assert_int_equal(n_told_to_end, 1);
	assert_int_equal(n_done, 0);
	assert_int_equal(n_freed_elsewhere, 0);
}

static void cancelled_after_its_run_it_ends_in_silence(void **state)
{
	(void)state;
	struct net_work *work = start(&reads, false, 0);
	while (n_run == 0)
		usleep(1000);
	usleep(20000); /* by now the thread has told the loop, which has not turned */
	net_work_cancel(work);
	TURN_UNTIL(loop, n_freed == 1);
	turn_for(loop, 20);
	assert_int_equal(n_done, 0);
}

/* Whoever leaves a dead mount and goes elsewhere is not held up, but not without a limit. */
static void given_up_it_leaves_its_place(void **state)
{
	(void)state;
	for (int i = 1; i <= NET_WORK_MAX_ABANDONED; i++) {
		struct net_work *work = start(&reads, true, i);
		TURN_UNTIL(loop, n_begun == i);
		net_work_cancel(work);
	}
	for (int i = 0; i < MOST + 1; i++)
		start(&reads, true, 50 + i);
	TURN_UNTIL(loop, n_begun == NET_WORK_MAX_ABANDONED + MOST);
	turn_for(loop, 30);
	assert_int_equal(n_begun, NET_WORK_MAX_ABANDONED + MOST);
	let_go(NET_WORK_MAX_ABANDONED + MOST + 1);
	TURN_UNTIL(loop, n_freed == n_started);
	assert_int_equal(n_done, MOST + 1);
}

static void the_loop_ends_without_it(void **state)
{
	struct err err = { 0 };
	(void)state;
	start(&syncs, true, 0);
	start(&syncs, true, 1); /* never begins */
	start(&reads, true, 2);
	TURN_UNTIL(loop, n_begun == 2);
	net_loop_free(loop);
	assert_int_equal(n_freed, 1);
	let_go(2);
	for (int i = 0; i < 500 && n_freed < 3; i++)
		usleep(10000);
	assert_int_equal(n_freed, 3);
	assert_int_equal(n_freed_elsewhere, 2);
	assert_int_equal(n_told_to_end, 2);
	assert_int_equal(n_done, 0);
	loop = net_loop_new(&err);
}

/* What is over and was not told yet, too. */
static void the_loop_ends_before_it_was_told(void **state)
{
	struct err err = { 0 };
	(void)state;
	start(&reads, false, 0);
	while (n_run == 0)
		usleep(1000);
	net_loop_free(loop);
	for (int i = 0; i < 500 && n_freed < 1; i++)
		usleep(10000);
	assert_int_equal(n_freed, 1);
	assert_int_equal(n_done, 0);
	loop = net_loop_new(&err);
}

static void threads_end_when_idle(void **state)
{
	(void)state;
	TURN_UNTIL(loop, count_threads() == 0); /* of the tests before */
	for (int keeps = 0; keeps < 2; keeps++) {
		if (keeps)
			net_work_keep_thread(loop);
		n_done = 0;
		int before = n_begun;
		start(&reads, true, 0);
		start(&reads, true, 1);
		start(&syncs, true, 2);
		TURN_UNTIL(loop, n_begun == before + 3);
		assert_int_equal(count_threads(), 3);
		let_go(3);
		TURN_UNTIL(loop, n_done == 3);
		TURN_UNTIL(loop, count_threads() == keeps);
	}
	turn_for(loop, 200);
	assert_int_equal(count_threads(), 1);
	start(&reads, false, 3);
	TURN_UNTIL(loop, n_done == 4);
	assert_int_equal(count_threads(), 1);
}

static void it_waits_until_there_can_be_a_thread(void **state)
{
	(void)state;
	n_refused_threads = 3;
	start(&reads, false, 0);
	struct net_work *second = start(&reads, false, 1);
	net_work_cancel(second);
	assert_int_equal(n_freed, 1);
	assert_int_equal(n_begun, 0);
	TURN_UNTIL(loop, n_done == 1);
	assert_int_equal(n_refused_threads, 0);
}

static struct net_work *to_be_cancelled;

static void done_and_cancel(void *arg)
{
	done(arg);
	net_work_cancel(to_be_cancelled);
	start(&reads, false, 7);
}

static void a_completion_may_start_and_cancel(void **state)
{
	static const struct net_work_kind chained = { "chained", 1, run, done_and_cancel,
		free_job };
	(void)state;
	to_be_cancelled = start(&syncs, true, 0);
	start(&chained, false, 1);
	TURN_UNTIL(loop, n_done == 2);
	assert_int_equal(order[1], 7);
	let_go(1);
	TURN_UNTIL(loop, n_freed == 3);
	assert_int_equal(n_done, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_runs_elsewhere_and_ends_on_the_loop),
		TEST(each_place_has_a_thread),
		TEST(a_kind_has_its_limit_and_its_order),
		TEST(what_hangs_stops_its_kind_alone),
		TEST(cancelled_before_it_begins_it_never_runs),
		TEST(cancelled_while_it_runs_it_is_told_and_ends_in_silence),
		TEST(cancelled_after_its_run_it_ends_in_silence),
		TEST(given_up_it_leaves_its_place),
		TEST(the_loop_ends_without_it),
		TEST(the_loop_ends_before_it_was_told),
		TEST(threads_end_when_idle),
		TEST(it_waits_until_there_can_be_a_thread),
		TEST(a_completion_may_start_and_cancel),
	};
	pthread_t first;
	if (__real_pthread_create(&first, NULL, nothing, NULL) == 0)
		pthread_join(first, NULL);
	n_before = count_threads();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
