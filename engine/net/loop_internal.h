// SPDX-License-Identifier: Apache-2.0
/* What loop.c, loop_timer.c and work_pool.c share. */
#pragma once

#include "engine/base/map.h"
#include "engine/net/loop.h"

struct net_deferred {
	net_loop_fn *fn;
	void *arg;
};

struct net_loop_wake {
	struct net_loop *loop;
	net_loop_fn *fn;
	void *arg;
	bool is_dead; /* removed while the list is walked */
	struct net_loop_wake *prev, *next;
};

enum { LOOP_URGENT = 0, LOOP_BULK = 1, LOOP_N_PRIORITIES };

struct net_loop {
	struct event_base *base;
	bool has_priorities;
	struct event *turn_end, *turn_end_urgent; /* return to net_loop_run() */
	uint64_t turn;                            /* its number */
	bool ends_behind_ready; /* turn_end was queued before the kernel was asked */
	bool is_in_urgent;      /* an urgent callback runs */
	struct evdns_base *dns;
	bool is_stopped;
	struct net_deferred *queue;
	size_t n_queue, queue_capacity;
	struct net_loop_wake *wakes;
	struct net_loop_timer *wake_timer; /* armed while somebody listens */
	int64_t wall_minus_mono_ms;
	bool is_waking;
	struct net_work_pool *work;
};

/* loop.c. Without priorities the loop is as libevent has it: for tests/bench/loop_bench.c. */
struct net_loop *net_loop_new_with(bool has_priorities, struct err *err);
/* The turn ends after what is ready now. */
void net_loop_end_turn(struct net_loop *loop);

/* work_pool.c; errors: ERR_SYSTEM and the like of err_set_errno() */
struct net_work_pool *net_work_pool_new(struct net_loop *loop, struct err *err);
void net_work_pool_free(struct net_work_pool *pool);
