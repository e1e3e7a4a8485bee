// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "tests/unit/engine/net/turns.h"

#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct net_loop *loop;
static char trace[256];

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	trace[0] = '\0';
	return loop == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	net_loop_free(loop);
	clock_set_for_tests(-1, -1);
	return 0;
}

static void note(const char *what)
{
	strncat(trace, what, sizeof trace - strlen(trace) - 1);
}

static void say_a(void *arg)
{
	(void)arg;
	note("a");
}

static void say_b(void *arg)
{
	(void)arg;
	note("b");
}

static void defer_again(void *arg)
{
	(void)arg;
	note("1");
	net_loop_defer(loop, say_a, NULL);
	note("2");
}

static void test_deferred_work_runs_at_the_end_of_the_turn(void **state)
{
	(void)state;
	net_loop_defer(loop, defer_again, NULL);
	net_loop_defer(loop, say_b, NULL);
	assert_string_equal(trace, "");
	net_loop_run_once(loop, 0);
	assert_string_equal(trace, "12b"); /* in order, and what is added waits */
	net_loop_run_once(loop, 1000);     /* does not wait: there is work */
	assert_string_equal(trace, "12ba");
}

static void defer_from_event(void *arg)
{
	note(arg);
	net_loop_defer(loop, say_a, NULL);
}

static void test_deferred_work_runs_after_every_callback(void **state)
{
	(void)state;
	char one[] = "1", two[] = "2";
	struct net_loop_timer *t1 = net_loop_timer_new(loop, defer_from_event, one);
	struct net_loop_timer *t2 = net_loop_timer_new(loop, defer_from_event, two);
	net_loop_timer_arm(t1, 0);
	net_loop_timer_arm(t2, 0);
	TURN_UNTIL(loop, strlen(trace) == 4);
	assert_true(strcmp(trace, "12aa") == 0 || strcmp(trace, "21aa") == 0);
	net_loop_timer_free(t1);
	net_loop_timer_free(t2);
}

static void test_freeing_runs_what_is_deferred(void **state)
{
	(void)state;
	net_loop_defer(loop, defer_again, NULL);
	net_loop_free(loop);
	assert_string_equal(trace, "12a");
	loop = NULL;
}

static struct net_loop_timer *timer;
static int fired;

static void on_timer_again(void *arg)
{
	(void)arg;
	if (++fired < 3)
		net_loop_timer_arm(timer, 1);
}

static void on_timer_free(void *arg)
{
	(void)arg;
	fired++;
	net_loop_timer_free(timer);
}

static void on_timer_count(void *arg)
{
	(void)arg;
	fired++;
}

static void test_timers(void **state)
{
	(void)state;
	fired = 0;
	timer = net_loop_timer_new(loop, on_timer_again, NULL);
	net_loop_timer_arm(timer, 1);
	TURN_UNTIL(loop, fired == 3);
	turn_for(loop, 20);
	assert_int_equal(fired, 3); /* one-shot */
	net_loop_timer_arm(timer, 10000);
	net_loop_timer_arm(timer, 1); /* replaces */
	TURN_UNTIL(loop, fired == 4);
	net_loop_timer_arm(timer, 1);
	net_loop_timer_disarm(timer);
	turn_for(loop, 20);
	assert_int_equal(fired, 4);
	net_loop_timer_free(timer);
	net_loop_timer_free(NULL);

	fired = 0;
	timer = net_loop_timer_new(loop, on_timer_count, NULL);
	net_loop_timer_arm_every(timer, 2);
	TURN_UNTIL(loop, fired >= 5);
	net_loop_timer_arm(timer, -5); /* once again, at once */
	int before = fired;
	turn_for(loop, 20);
	assert_int_equal(fired, before + 1);
	net_loop_timer_free(timer);

	fired = 0;
	timer = net_loop_timer_new(loop, on_timer_free, NULL); /* frees itself */
	net_loop_timer_arm_every(timer, 1);
	TURN_UNTIL(loop, fired == 1);
	turn_for(loop, 10);
	assert_int_equal(fired, 1);
}

static int64_t delay_ms, armed_ms;
static int too_early;

static void on_due(void *arg)
{
	(void)arg;
	fired++;
	too_early += clock_mono_ms() - armed_ms < delay_ms;
}

/* Arms at the end of a long callback: libevent's own clock stands still meanwhile. */
static void arm_late(void *arg)
{
	(void)arg;
	for (int64_t end = clock_mono_ms() + 11; clock_mono_ms() < end;)
		;
	armed_ms = clock_mono_ms();
	net_loop_timer_arm(timer, delay_ms);
}

static void test_a_timer_is_never_early(void **state)
{
	(void)state;
	struct net_loop_timer *busy = net_loop_timer_new(loop, arm_late, NULL);
	timer = net_loop_timer_new(loop, on_due, NULL);
	static const int64_t delays[] = { 1, 2, 3, 5, 8, 13, 30, 50, 70 };
	too_early = 0;
	for (size_t i = 0; i < 3 * sizeof delays / sizeof *delays; i++) {
		fired = 0;
		delay_ms = delays[i % (sizeof delays / sizeof *delays)];
		net_loop_timer_arm(busy, 1);
		TURN_UNTIL(loop, fired == 1);
		assert_true(clock_mono_ms() - armed_ms < delay_ms + 1000);
	}
	assert_int_equal(0, too_early);
	net_loop_timer_free(busy);
	net_loop_timer_free(timer);
}

static void on_stop(void *arg)
{
	(void)arg;
	net_loop_stop(loop);
}

static void test_run_and_stop(void **state)
{
	(void)state;
	timer = net_loop_timer_new(loop, on_stop, NULL);
	net_loop_timer_arm(timer, 1);
	net_loop_run(loop);
	net_loop_timer_free(timer);
	net_loop_defer(loop, on_stop, NULL); /* from deferred work too */
	net_loop_run(loop);
}

static void test_run_once_has_a_limit(void **state)
{
	(void)state;
	int64_t before = clock_mono_ms();
	net_loop_run_once(loop, 30);
	assert_in_range(clock_mono_ms() - before, 25, 2000);
}

static struct net_loop_wake *wake;
static int woken;

static void on_wake(void *arg)
{
	(void)arg;
	woken++;
}

static void on_wake_remove(void *arg)
{
	(void)arg;
	woken++;
	net_loop_wake_remove(wake);
}

/* The check runs every five seconds of real time: this test needs one of them. */
static void test_a_jump_of_the_wall_clock_is_noticed_once(void **state)
{
	(void)state;
	woken = 0;
	clock_set_for_tests(1000000000, 1000000000);
	struct net_loop_wake *first = net_loop_wake_add(loop, on_wake, NULL);
	wake = net_loop_wake_add(loop, on_wake_remove, NULL);
	clock_set_for_tests(2000000000, 3600000000000); /* asleep for an hour */
	for (int i = 0; i < 70 && woken == 0; i++)
		net_loop_run_once(loop, 100);
	assert_int_equal(woken, 2);
	net_loop_wake_remove(first);
	net_loop_wake_remove(NULL);
}

/* --- priorities: sockets that nobody reads are the flood --- */

enum { N_FLOOD = 20, FEW = 4 };

static int flood_ends[N_FLOOD][2], key_ends[2];
static struct net_watch_fd *flood[N_FLOOD], *keys;
static int n_bulk, n_urgent, n_deferred, bulk_when_asked, bulk_when_there;
static int at_bulk; /* number of the bulk callback that does it */
static void (*do_it)(void);

static void on_bulk(void *arg, bool is_readable, bool is_writable)
{
	(void)arg;
	(void)is_readable;
	(void)is_writable;
	if (++n_bulk != at_bulk)
		return;
	bulk_when_asked = n_bulk;
	do_it();
}

static void on_counted(void *arg, bool is_readable, bool is_writable)
{
	int *n = arg;
	(void)is_readable;
	(void)is_writable;
	++*n;
	n_bulk++;
}

static void there(void *arg)
{
	(void)arg;
	n_deferred++;
	bulk_when_there = n_bulk;
}

static void on_key(void *arg, bool is_readable, bool is_writable)
{
	char byte;
	(void)is_readable;
	(void)is_writable;
	n_urgent++;
	assert_int_equal(read(key_ends[0], &byte, 1), 1);
	there(NULL);
	if (arg != NULL) {
		n_deferred = 0;
		net_loop_defer(loop, there, NULL);
	}
}

static struct net_watch_fd *watch(int fd, net_watch_fd_fn *fn, void *arg)
{
	struct net_watch_fd *made = net_watch_fd_new(loop, fd, fn, arg, NULL);
	assert_non_null(made);
	return made;
}

static int set_up_flood(void **state)
{
	if (set_up(state))
		return 1;
	for (int i = 0; i < N_FLOOD; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, flood_ends[i]), 0);
		assert_int_equal(write(flood_ends[i][1], "x", 1), 1);
		flood[i] = watch(flood_ends[i][0], on_bulk, NULL);
		net_watch_fd_want(flood[i], true, false);
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, key_ends), 0);
	n_bulk = n_urgent = n_deferred = bulk_when_asked = 0;
	bulk_when_there = -1;
	return 0;
}

static int tear_down_flood(void **state)
{
	net_watch_fd_free(keys);
	keys = NULL;
	for (int i = 0; i < N_FLOOD; i++) {
		net_watch_fd_free(flood[i]);
		close(flood_ends[i][0]);
		close(flood_ends[i][1]);
	}
	close(key_ends[0]);
	close(key_ends[1]);
	return tear_down(state);
}

static void press(void)
{
	assert_int_equal(write(key_ends[1], "k", 1), 1);
}

static void test_what_is_urgent_waits_for_few(void **state)
{
	(void)state;
	keys = watch(key_ends[0], on_key, NULL);
	net_watch_fd_set_urgent(keys);
	net_watch_fd_want(keys, true, false);
	do_it = press;
	for (at_bulk = 1; at_bulk < 3 * N_FLOOD; at_bulk = n_bulk + 7) {
		int before = n_urgent;
		TURN_UNTIL(loop, n_urgent > before);
		assert_in_range(bulk_when_there - bulk_when_asked, 0, FEW - 1);
	}
}

static void arm_timer(void)
{
	net_loop_timer_arm(timer, 0);
}

static void test_an_urgent_timer_waits_for_few(void **state)
{
	(void)state;
	timer = net_loop_timer_new(loop, there, NULL);
	net_loop_timer_set_urgent(timer);
	do_it = arm_timer;
	at_bulk = 3;
	TURN_UNTIL(loop, n_deferred == 1);
	assert_in_range(bulk_when_there - bulk_when_asked, 0, FEW - 1);
	net_loop_timer_free(timer);
}

static void test_what_a_key_defers_runs_before_more_bulk(void **state)
{
	(void)state;
	keys = watch(key_ends[0], on_key, &n_deferred);
	net_watch_fd_set_urgent(keys);
	net_watch_fd_want(keys, true, false);
	press();
	TURN_UNTIL(loop, n_deferred == 1);
	assert_int_equal(bulk_when_there, 0);
}

static void defer_there(void)
{
	net_loop_defer(loop, there, NULL);
}

/* There is always something ready: a turn ends all the same, after all that was. */
static void test_a_turn_ends_under_a_flood(void **state)
{
	(void)state;
	do_it = defer_there;
	at_bulk = 2;
	TURN_UNTIL(loop, n_deferred == 1);
	assert_in_range(bulk_when_there, N_FLOOD, 2 * N_FLOOD + FEW);
	bulk_when_there = 0;
	defer_there(); /* outside of a turn */
	net_loop_run_once(loop, 0);
	assert_int_equal(n_deferred, 2);
}

static void on_paste(void *arg, bool is_readable, bool is_writable)
{
	(void)arg;
	(void)is_readable;
	(void)is_writable;
	n_urgent++;
}

static void test_what_is_always_urgent_starves_nobody(void **state)
{
	(void)state;
	keys = watch(key_ends[0], on_paste, NULL);
	net_watch_fd_set_urgent(keys);
	net_watch_fd_want(keys, true, false);
	press();
	at_bulk = 0;
	TURN_UNTIL(loop, n_bulk >= 10 * N_FLOOD);
	assert_in_range(n_urgent, 10, 20 * N_FLOOD);
}

/* Bulk gets its turns one after the other, however few run at a time. */
static void test_bulk_is_fair(void **state)
{
	(void)state;
	int last[N_FLOOD];
	at_bulk = 0;
	for (int i = 0; i < N_FLOOD; i++) {
		net_watch_fd_free(flood[i]);
		last[i] = 0;
		flood[i] = watch(flood_ends[i][0], on_counted, &last[i]);
		net_watch_fd_want(flood[i], true, false);
	}
	TURN_UNTIL(loop, n_bulk >= 50 * N_FLOOD);
	for (int i = 0; i < N_FLOOD; i++)
		assert_in_range(last[i], n_bulk / N_FLOOD - 2, n_bulk / N_FLOOD + 2);
}

static void test_dns_is_made_once(void **state)
{
	(void)state;
	struct evdns_base *dns = net_loop_dns(loop);
	assert_non_null(dns);
	assert_ptr_equal(net_loop_dns(loop), dns);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define F(f) cmocka_unit_test_setup_teardown(f, set_up_flood, tear_down_flood)
	const struct CMUnitTest tests[] = {
		T(test_deferred_work_runs_at_the_end_of_the_turn),
		T(test_deferred_work_runs_after_every_callback),
		T(test_freeing_runs_what_is_deferred),
		T(test_timers),
		T(test_a_timer_is_never_early),
		T(test_run_and_stop),
		T(test_run_once_has_a_limit),
		T(test_a_jump_of_the_wall_clock_is_noticed_once),
		T(test_dns_is_made_once),
		F(test_what_is_urgent_waits_for_few),
		F(test_an_urgent_timer_waits_for_few),
		F(test_what_a_key_defers_runs_before_more_bulk),
		F(test_a_turn_ends_under_a_flood),
		F(test_what_is_always_urgent_starves_nobody),
		F(test_bulk_is_fair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
