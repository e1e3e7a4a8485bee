// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/net/loop.h"
#include "tests/unit/engine/net/turns.h"

#include <event2/event.h>
#include <string.h>

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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
