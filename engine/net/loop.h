// SPDX-License-Identifier: Apache-2.0
/* The one event loop of the process (libevent; portable back ends only), its timers and its deferred
 * work. Everything in sandmux runs on it, on one thread.
 *
 * The async idiom of the whole project:
 * - x_start(…) begins an operation and returns a handle. It never calls a callback before it returns. If it
 *   can see at once that it will fail, it returns NULL and fills *err, and no callback comes.
 * - Otherwise exactly one completion comes: done(arg, err, …), err NULL on success. The handle is
 *   invalid once the completion has begun: forget it there.
 * - x_cancel(handle) ends it early: no callback comes after it returns. NULL is fine. Allowed anywhere,
 *   its own progress callbacks included.
 * - Nothing is freed inside its own callback: net_loop_defer() does it at the end of the turn.
 *
 * Priorities: what a person feels (the terminal's input and output, its size, the timer of a frame) is urgent, everything
 * else is bulk: sockets, watches, files, output of processes, ends of work. After a few callbacks of bulk the loop looks
 * for what is urgent and does that first. An urgent descriptor that is always ready (a large paste) queues up with bulk after
 * some callbacks, so bulk goes on.
 * Errors: ERR_CONN_DNS, ERR_CONN_TLS, ERR_SYSTEM, errno. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct err;
struct net_loop;

struct net_loop *net_loop_new(struct err *err); /* Errors: ERR_SYSTEM. */
void net_loop_free(struct net_loop *loop);      /* runs what is still deferred */
struct event_base *net_loop_base(struct net_loop *loop);
struct evdns_base *net_loop_dns(
	struct net_loop *loop);           /* asynchronous resolver, made on first use */
void net_loop_run(struct net_loop *loop); /* until net_loop_stop() */
void net_loop_run_once(struct net_loop *loop, int64_t timeout_ms); /* one turn; for tests */
void net_loop_stop(struct net_loop *loop);

typedef void net_loop_fn(void *arg);
/* Calls fn once, at the end of the current turn, when no callback is on the stack. In order. A turn ends after what was ready
 * when it was called; called from something urgent, before any more bulk. */
void net_loop_defer(struct net_loop *loop, net_loop_fn *fn, void *arg);

/* A timer. One-shot unless period_ms > 0. Delays are on the monotonic clock: a one-shot timer fires some milliseconds
 * late, and never before clock_mono_ms() has moved on by its delay. Timers that are due together fire in no order. fn may
 * cancel it or arm it again. A one-shot timer stays allocated after it fired: free it or arm it again. */
struct net_loop_timer;
struct net_loop_timer *net_loop_timer_new(struct net_loop *loop, net_loop_fn *fn, void *arg);
void net_loop_timer_arm(
	struct net_loop_timer *timer, int64_t delay_ms); /* replaces a pending one */
void net_loop_timer_arm_every(struct net_loop_timer *timer, int64_t period_ms);
void net_loop_timer_set_urgent(struct net_loop_timer *timer); /* before it is armed */
void net_loop_timer_disarm(struct net_loop_timer *timer);
void net_loop_timer_free(struct net_loop_timer *timer);

/* Called at most once per wall-clock jump of more than ~5 s against the monotonic clock (a suspended
 * laptop): connections should be distrusted. Several listeners may be added. */
struct net_loop_wake;
struct net_loop_wake *net_loop_wake_add(struct net_loop *loop, net_loop_fn *fn, void *arg);
void net_loop_wake_remove(struct net_loop_wake *wake);
