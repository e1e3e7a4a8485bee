// SPDX-License-Identifier: Apache-2.0
/* The pool of threads for what blocks. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "local/daemon/thread_pool.h"
#include "tests/unit/engine/net/turns.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { THREADS = 4 };

static pthread_t the_loops;
static sem_t may_go;
static atomic_int n_running, n_run, n_off_the_loop;
static int n_done;

static void run(void *arg)
{
	(void)arg;
	n_off_the_loop += !pthread_equal(pthread_self(), the_loops);
	n_run++;
}

static void run_when_let(void *arg)
{
	n_running++;
	sem_wait(&may_go);
	run(arg);
}

static void done(void *arg)
{
	(void)arg;
	assert_true(pthread_equal(pthread_self(), the_loops));
	n_done++;
}

static struct net_loop *loop;
static struct daemon_thread_pool *pool;

static int set_up(void **state)
{
	struct err err = { 0 };
	(void)state;
	the_loops = pthread_self();
	sem_init(&may_go, 0, 0);
	n_running = n_run = n_off_the_loop = n_done = 0;
	loop = net_loop_new(&err);
	pool = daemon_thread_pool_new(loop, &err);
	assert_non_null(pool);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	daemon_thread_pool_free(pool);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	sem_destroy(&may_go);
	return 0;
}

static void it_runs_elsewhere_and_ends_on_the_loop(void **state)
{
	(void)state;
	for (int i = 1; i <= 20; i++) {
		daemon_thread_pool_start(pool, run, done, NULL);
		assert_int_equal(n_done, i - 1); /* never from inside */
		TURN_UNTIL(loop, n_done == i);
		assert_int_equal(n_run, i);
	}
	assert_int_equal(n_off_the_loop, 20);
}

/* What blocks holds up nobody until all threads are taken; then the rest waits, and comes. */
static void one_that_blocks_holds_up_no_other(void **state)
{
	(void)state;
	for (int i = 0; i < THREADS - 1; i++)
		daemon_thread_pool_start(pool, run_when_let, done, NULL);
	TURN_UNTIL(loop, n_running == THREADS - 1);
	daemon_thread_pool_start(pool, run, done, NULL);
	TURN_UNTIL(loop, n_done == 1);
	for (int i = 0; i < 3; i++)
		daemon_thread_pool_start(pool, run_when_let, done, NULL);
	TURN_UNTIL(loop, n_running == THREADS);
	for (int i = 0; i < THREADS + 2; i++)
		sem_post(&may_go);
	TURN_UNTIL(loop, n_done == THREADS + 3);
	assert_int_equal(n_running, THREADS + 2);
	assert_int_equal(n_off_the_loop, n_run);
}

static void what_has_not_begun_ends_with_the_pool(void **state)
{
	(void)state;
	for (int i = 0; i < THREADS + 3; i++)
		daemon_thread_pool_start(pool, run_when_let, done, NULL);
	TURN_UNTIL(loop, n_running == THREADS);
	for (int i = 0; i < THREADS + 3; i++)
		sem_post(&may_go);
	daemon_thread_pool_free(pool);
	pool = NULL;
	assert_int_equal(n_done, THREADS + 3);
	assert_true(n_run >= THREADS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_runs_elsewhere_and_ends_on_the_loop),
		TEST(one_that_blocks_holds_up_no_other),
		TEST(what_has_not_begun_ends_with_the_pool),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
