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

struct net_loop {
	struct event_base *base;
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

/* work_pool.c; errors: ERR_SYSTEM and the like of err_set_errno() */
struct net_work_pool *net_work_pool_new(struct net_loop *loop, struct err *err);
void net_work_pool_free(struct net_work_pool *pool);
