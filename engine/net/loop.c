// SPDX-License-Identifier: Apache-2.0
/* The loop over libevent: timers, work deferred to the end of a turn, and detection of a wall-clock
 * jump.
 *
 * A turn is one event_base_loop(EVLOOP_ONCE) followed by the deferred queue. libevent may run its
 * callbacks in several rounds within one loop call, so the queue is never an event of its own: it
 * runs when event_base_loop has returned, after every callback of that turn. */
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

struct net_loop *net_loop_new(struct err *err)
{
	event_set_log_callback(on_libevent_log);
	signal(SIGPIPE, SIG_IGN); /* a peer that has gone is an error of write(), not our end */
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;
	if (config != NULL) {
		/* keys must be seen between two pieces of bulk data */
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

static void turn(struct net_loop *loop, int extra_flags)
{
	int flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY | extra_flags;
	if (loop->n_queue > 0)
		flags |= EVLOOP_NONBLOCK;
	event_base_loop(loop->base, flags);
	run_deferred(loop);
}

void net_loop_run(struct net_loop *loop)
{
	loop->is_stopped = false;
	while (!loop->is_stopped)
		turn(loop, 0);
}

static void on_nothing(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

void net_loop_run_once(struct net_loop *loop, int64_t timeout_ms)
{
	if (timeout_ms <= 0) {
		turn(loop, EVLOOP_NONBLOCK);
		return;
	}
	struct timeval limit = { timeout_ms / 1000, (suseconds_t)(timeout_ms % 1000 * 1000) };
	struct event *end = event_new(loop->base, -1, 0, on_nothing, NULL);
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
}
