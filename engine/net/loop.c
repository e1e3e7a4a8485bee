// SPDX-License-Identifier: Apache-2.0
/* The loop over libevent: priorities, and work deferred to the end of a turn.
 *
 * A turn is one event_base_loop(EVLOOP_ONCE) followed by the deferred queue. libevent runs callbacks in several rounds
 * within one loop call: all that are urgent, or else a few of bulk, then it asks the kernel again what is ready. Under a
 * flood there is always something left, so whoever needs the end of the turn queues an event that ends it behind what is
 * ready by then. */
#include "engine/net/loop.h"

#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/net/loop_internal.h"

#include <event2/dns.h>
#include <event2/event.h>
#include <signal.h>

/* libevent's own words would go to stderr, which a terminal interface owns. */
static void on_libevent_log(int severity, const char *text)
{
	LOG("loop", severity >= EVENT_LOG_WARN ? LOG_DEBUG : LOG_TRACE, "libevent: %s", text);
}

/* Between two looks for what is urgent. */
enum { BULK_CALLBACKS = 4, BULK_US = 1000 };

static void on_break(evutil_socket_t fd, short what, void *arg)
{
	struct net_loop *loop = arg;
	(void)fd;
	(void)what;
	event_base_loopbreak(loop->base);
}

static void on_turn_end(evutil_socket_t fd, short what, void *arg)
{
	struct net_loop *loop = arg;
	(void)fd;
	(void)what;
	if (loop->ends_behind_ready) /* the kernel has been asked: now to the end of the queue */
		event_active(loop->turn_end, EV_TIMEOUT, 1);
	else
		event_base_loopbreak(loop->base);
	loop->ends_behind_ready = false;
}

static bool set_priorities(struct net_loop *loop)
{
	if (event_base_priority_init(loop->base, LOOP_N_PRIORITIES) != 0)
		return false;
	loop->turn_end = event_new(loop->base, -1, 0, on_turn_end, loop);
	loop->turn_end_urgent = event_new(loop->base, -1, 0, on_break, loop);
	return loop->turn_end != NULL && loop->turn_end_urgent != NULL &&
	       event_priority_set(loop->turn_end_urgent, LOOP_URGENT) == 0;
}

struct net_loop *net_loop_new(struct err *err)
{
	return net_loop_new_with(true, err);
}

struct net_loop *net_loop_new_with(bool has_priorities, struct err *err)
{
	event_set_log_callback(on_libevent_log);
	signal(SIGPIPE, SIG_IGN); /* a peer that has gone is an error of write(), not our end */
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;
	if (config != NULL) {
		const struct timeval most = { .tv_usec = BULK_US };
		if (has_priorities)
			event_config_set_max_dispatch_interval(
				config, &most, BULK_CALLBACKS, LOOP_BULK);
		event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
		base = event_base_new_with_config(config);
		event_config_free(config);
	}
	if (base == NULL) {
		err_set(err, ERR_SYSTEM, "cannot create the event loop");
		return NULL;
	}
	struct net_loop *loop = x_calloc(1, sizeof *loop);
	loop->base = base;
	loop->has_priorities = has_priorities;
	if (has_priorities && !set_priorities(loop))
		err_set(err, ERR_SYSTEM, "cannot create the event loop");
	else
		loop->work = net_work_pool_new(loop, err);
	if (loop->work == NULL) {
		net_loop_free(loop);
		return NULL;
	}
	return loop;
}

static void run_deferred(struct net_loop *loop)
{
	/* what is deferred meanwhile waits for the next turn, except at the end of all */
	struct net_deferred *queue = loop->queue;
	size_t n = loop->n_queue;
	loop->queue = NULL;
	loop->n_queue = loop->queue_capacity = 0;
	for (size_t i = 0; i < n; i++)
		queue[i].fn(queue[i].arg);
	if (loop->queue == NULL) { /* keep the memory */
		loop->queue = queue;
		loop->queue_capacity = n;
	} else {
		free(queue);
	}
}

void net_loop_free(struct net_loop *loop)
{
	if (loop == NULL)
		return;
	net_work_pool_free(loop->work);
	loop->has_priorities = false;
	if (loop->turn_end != NULL)
		event_free(loop->turn_end);
	if (loop->turn_end_urgent != NULL)
		event_free(loop->turn_end_urgent);
	while (loop->n_queue > 0)
		run_deferred(loop);
	net_loop_timer_free(loop->wake_timer);
	loop->wake_timer = NULL;
	if (loop->dns != NULL)
		evdns_base_free(loop->dns, 1); /* what is asked for fails, in its callback */
	loop->dns = NULL;
	/* those failures, and bufferevents that libevent frees one turn late */
	event_base_loop(loop->base, EVLOOP_NONBLOCK);
	while (loop->n_queue > 0)
		run_deferred(loop);
	free(loop->queue);
	event_base_free(loop->base);
	free(loop);
}

struct event_base *net_loop_base(struct net_loop *loop)
{
	return loop->base;
}

struct evdns_base *net_loop_dns(struct net_loop *loop)
{
	/* disabled when inactive: an idle resolver must not keep the loop alive or wake it */
	if (loop->dns == NULL)
		loop->dns = evdns_base_new(loop->base,
			EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (loop->dns == NULL) { /* no name server configured: /etc/hosts still works */
		loop->dns = evdns_base_new(loop->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
		if (loop->dns != NULL)
			evdns_base_load_hosts(loop->dns, NULL);
	}
	/* some servers do not keep the case of a question */
	if (loop->dns != NULL)
		evdns_base_set_option(loop->dns, "randomize-case:", "0");
	return loop->dns;
}

void net_loop_end_turn(struct net_loop *loop)
{
	/* no timer: it would change the order of those that are due together */
	if (loop->has_priorities)
		event_active(loop->is_in_urgent ? loop->turn_end_urgent : loop->turn_end,
			EV_TIMEOUT, 1);
}

static void turn(struct net_loop *loop, int extra_flags)
{
	int flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY | extra_flags;
	loop->turn++;
	if (loop->n_queue > 0)
		flags |= EVLOOP_NONBLOCK;
	loop->ends_behind_ready = (flags & EVLOOP_NONBLOCK) != 0;
	if (flags & EVLOOP_NONBLOCK)
		net_loop_end_turn(loop);
	event_base_loop(loop->base, flags);
	if (loop->has_priorities) {
		event_del(loop->turn_end);
		event_del(loop->turn_end_urgent);
	}
	run_deferred(loop);
}

void net_loop_run(struct net_loop *loop)
{
	loop->is_stopped = false;
	while (!loop->is_stopped)
		turn(loop, 0);
}

void net_loop_run_once(struct net_loop *loop, int64_t timeout_ms)
{
	if (timeout_ms <= 0) {
		turn(loop, EVLOOP_NONBLOCK);
		return;
	}
	struct timeval limit = { timeout_ms / 1000, (suseconds_t)(timeout_ms % 1000 * 1000) };
	struct event *end = event_new(loop->base, -1, 0, on_break, loop);
	event_add(end, &limit);
	turn(loop, 0);
	event_free(end);
}

void net_loop_stop(struct net_loop *loop)
{
	loop->is_stopped = true;
	event_base_loopbreak(loop->base);
}

void net_loop_defer(struct net_loop *loop, net_loop_fn *fn, void *arg)
{
	array_grow(&loop->queue, &loop->queue_capacity, loop->n_queue + 1, sizeof *loop->queue);
	loop->queue[loop->n_queue++] = (struct net_deferred){ fn, arg };
	net_loop_end_turn(loop);
}
