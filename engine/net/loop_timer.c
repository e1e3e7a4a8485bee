// SPDX-License-Identifier: Apache-2.0
/* Timers of the loop, and the listeners for a wall-clock jump that are built on one. */
#include "engine/base/clock.h"
#include "engine/net/loop_internal.h"

#include <event2/event.h>
#include <time.h>
#include <utlist.h>

enum {
	WAKE_CHECK_MS = 5000,
	WAKE_JUMP_MS = 5000,
	STEADY_MS = 50, /* from here on a step of libevent's clock more does not matter */
	STEP_MS = 4,
};

struct net_loop_timer {
	struct net_loop *loop;
	struct event *event;
	int64_t due_ms; /* monotonic; of a one-shot timer */
	bool is_periodic, is_urgent;
	net_loop_fn *fn;
	void *arg;
};

/* The same as clock_mono_ms(), which tests may hold. */
static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* libevent counts from a coarse clock, read once a turn, and so would fire some milliseconds early. Whoever compares the
 * clock in its callback, and waits for the next one, would then wait forever. */
static void add(struct net_loop_timer *timer, int64_t delay_ms)
{
	struct timeval delay = { delay_ms / 1000, (suseconds_t)(delay_ms % 1000 * 1000) };
	if (event_add(timer->event, &delay) != 0)
		abort();
}

static void call(struct net_loop_timer *timer)
{
	struct net_loop *loop = timer->loop;
	loop->is_in_urgent = timer->is_urgent;
	timer->fn(timer->arg);
	loop->is_in_urgent = false;
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct net_loop_timer *timer = arg;
	int64_t left_ms = timer->due_ms - now_ms();
	if (!timer->is_periodic && left_ms > 0)
		add(timer, left_ms);
	else
		call(timer); /* may free the timer */
}

struct net_loop_timer *net_loop_timer_new(struct net_loop *loop, net_loop_fn *fn, void *arg)
{
	struct net_loop_timer *timer = x_calloc(1, sizeof *timer);
	timer->loop = loop;
	timer->fn = fn;
	timer->arg = arg;
	timer->event = event_new(loop->base, -1, 0, on_timeout, timer);
	if (timer->event == NULL)
		abort();
	return timer;
}

static void arm(struct net_loop_timer *timer, int64_t delay_ms, bool is_periodic)
{
	event_del(timer->event);
	if (event_assign(timer->event, event_get_base(timer->event), -1,
		    is_periodic ? EV_PERSIST : 0, on_timeout, timer) != 0)
		abort();
	if (timer->is_urgent)
		event_priority_set(timer->event, LOOP_URGENT);
	timer->is_periodic = is_periodic;
	add(timer, delay_ms);
}

void net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms)
{
	if (delay_ms < 0)
		delay_ms = 0;
	timer->due_ms = now_ms() + delay_ms;
	arm(timer, delay_ms < STEADY_MS ? delay_ms : delay_ms + STEP_MS, false);
}

void net_loop_timer_arm_every(struct net_loop_timer *timer, int64_t period_ms)
{
	arm(timer, period_ms > 0 ? period_ms : 1, true);
}

void net_loop_timer_set_urgent(struct net_loop_timer *timer)
{
	timer->is_urgent = timer->loop->has_priorities; /* from the next time it is armed */
}

void net_loop_timer_disarm(struct net_loop_timer *timer)
{
	if (timer != NULL)
		event_del(timer->event);
}

void net_loop_timer_free(struct net_loop_timer *timer)
{
	if (timer == NULL)
		return;
	event_free(timer->event);
	free(timer);
}

/* --- wake --- */

static void sweep(struct net_loop *loop)
{
	struct net_loop_wake *wake, *next;
	DL_FOREACH_SAFE(loop->wakes, wake, next) {
		if (!wake->is_dead)
			continue;
		DL_DELETE(loop->wakes, wake);
		free(wake);
	}
	if (loop->wakes == NULL)
		net_loop_timer_disarm(loop->wake_timer);
}

static int64_t wall_minus_mono_ms(void)
{
	return clock_wall_ms() - clock_mono_ms();
}

/* The monotonic clock stands still while a machine sleeps and the wall clock does not. */
static void on_wake_check(void *arg)
{
	struct net_loop *loop = arg;
	int64_t now = wall_minus_mono_ms();
	int64_t jump = now - loop->wall_minus_mono_ms;
	loop->wall_minus_mono_ms = now;
	if (jump > -WAKE_JUMP_MS && jump < WAKE_JUMP_MS)
		return;
	loop->is_waking = true;
	struct net_loop_wake *wake;
	DL_FOREACH(loop->wakes, wake) {
		if (!wake->is_dead)
			wake->fn(wake->arg);
	}
	loop->is_waking = false;
	sweep(loop);
}

struct net_loop_wake *net_loop_wake_add(struct net_loop *loop, net_loop_fn *fn, void *arg)
{
	struct net_loop_wake *wake = x_calloc(1, sizeof *wake);
	wake->loop = loop;
	wake->fn = fn;
	wake->arg = arg;
	if (loop->wake_timer == NULL)
		loop->wake_timer = net_loop_timer_new(loop, on_wake_check, loop);
	if (loop->wakes == NULL) {
		loop->wall_minus_mono_ms = wall_minus_mono_ms();
		net_loop_timer_arm_every(loop->wake_timer, WAKE_CHECK_MS);
	}
	DL_APPEND(loop->wakes, wake);
	return wake;
}

void net_loop_wake_remove(struct net_loop_wake *wake)
{
	if (wake == NULL)
		return;
	wake->is_dead = true;
	if (!wake->loop->is_waking)
		sweep(wake->loop);
}
