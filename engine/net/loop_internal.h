// SPDX-License-Identifier: Apache-2.0
/* What loop.c and loop_timer.c share. */
#pragma once

#include "engine/base/map.h"
#include "engine/net/loop.h"

struct deferred {
	loop_fn *fn;
	void *arg;
};

struct loop_wake {
	struct loop *loop;
	loop_fn *fn;
	void *arg;
	bool is_dead; /* removed while the list is walked */
	struct loop_wake *prev, *next;
};

struct loop {
	struct event_base *base;
	struct evdns_base *dns;
	bool is_stopped;
	struct deferred *queue;
	size_t n_queue, queue_capacity;
	struct loop_wake *wakes;
	struct loop_timer *wake_timer; /* armed while somebody listens */
	int64_t wall_minus_mono_ms;
	bool is_waking;
};
