// SPDX-License-Identifier: Apache-2.0
#include "engine/net/watch.h"

#include "engine/base/err.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/mem.h"
#include "engine/net/loop_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct net_watch_fd {
	struct net_loop *loop;
	net_watch_fd_fn *fn;
	void *arg;
	struct event *read_event, *write_event; /* NULL for a regular file */
	struct net_loop_timer *always;          /* for a regular file */
	bool wants_read, wants_write;
	bool is_urgent;
	uint64_t turn; /* that urgent_calls counts in */
	int urgent_calls;
};

enum { MAX_URGENT_CALLS = 8 };

static void set_priority(struct net_watch_fd *watch, int priority)
{
	event_priority_set(watch->read_event, priority);
	event_priority_set(watch->write_event, priority);
}

/* One that is always ready would have the loop for itself: for the rest of the turn it is bulk. */
static void count_urgent_call(struct net_watch_fd *watch)
{
	struct net_loop *loop = watch->loop;
	if (watch->turn != loop->turn) {
		watch->turn = loop->turn;
		watch->urgent_calls = 0;
		set_priority(watch, LOOP_URGENT);
	}
	if (++watch->urgent_calls != MAX_URGENT_CALLS)
		return;
	set_priority(watch, LOOP_BULK);
	net_loop_end_turn(loop);
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct net_watch_fd *watch = arg;
	(void)fd;
	struct net_loop *loop = watch->loop;
	if (watch->is_urgent)
		count_urgent_call(watch);
	loop->is_in_urgent = watch->is_urgent && watch->urgent_calls < MAX_URGENT_CALLS;
	watch->fn(watch->arg, (what & EV_READ) != 0, (what & EV_WRITE) != 0);
	loop->is_in_urgent = false;
}

static void on_turn(void *arg)
{
	struct net_watch_fd *watch = arg;
	/* armed again first: fn may free the watch */
	net_loop_timer_arm(watch->always, 0);
	watch->fn(watch->arg, watch->wants_read, watch->wants_write);
}

struct net_watch_fd *net_watch_fd_new(
	struct net_loop *loop, int fd, net_watch_fd_fn *fn, void *arg, struct err *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0) {
		err_set_errno(err, errno, "descriptor %d", fd);
		return NULL;
	}
	struct net_watch_fd *watch = x_calloc(1, sizeof *watch);
	watch->loop = loop;
	watch->fn = fn;
	watch->arg = arg;
	if (S_ISREG(st.st_mode)) {
		watch->always = net_loop_timer_new(loop, on_turn, watch);
		return watch;
	}
	watch->read_event =
		event_new(net_loop_base(loop), fd, EV_READ | EV_PERSIST, on_ready, watch);
	watch->write_event =
		event_new(net_loop_base(loop), fd, EV_WRITE | EV_PERSIST, on_ready, watch);
	return watch;
}

void net_watch_fd_set_urgent(struct net_watch_fd *watch)
{
	watch->is_urgent = watch->loop->has_priorities && watch->read_event != NULL;
	if (watch->is_urgent)
		set_priority(watch, LOOP_URGENT);
}

static bool set_event(struct event *event, bool wanted)
{
	return (wanted ? event_add(event, NULL) : event_del(event)) == 0;
}

void net_watch_fd_want(struct net_watch_fd *watch, bool read, bool write)
{
	watch->wants_read = read;
	watch->wants_write = write;
	if (watch->read_event != NULL) {
		bool ok = set_event(watch->read_event, read);
		ok = set_event(watch->write_event, write) && ok;
		if (ok)
			return;
		/* the back end refuses this kind (/dev/null and the like): always ready */
		event_free(watch->read_event);
		event_free(watch->write_event);
		watch->read_event = watch->write_event = NULL;
		watch->always = net_loop_timer_new(watch->loop, on_turn, watch);
	}
	if (read || write)
		net_loop_timer_arm(watch->always, 0);
	else
		net_loop_timer_disarm(watch->always);
}

void net_watch_fd_free(struct net_watch_fd *watch)
{
	if (watch == NULL)
		return;
	if (watch->read_event != NULL)
		event_free(watch->read_event);
	if (watch->write_event != NULL)
		event_free(watch->write_event);
	net_loop_timer_free(watch->always);
	free(watch);
}

struct net_watch_signal {
	struct event *event;
	void (*fn)(void *arg);
	void *arg;
};

static void on_signal(evutil_socket_t signal_number, short what, void *arg)
{
	struct net_watch_signal *watch = arg;
	(void)signal_number;
	(void)what;
	watch->fn(watch->arg);
}

struct net_watch_signal *net_watch_signal_new(struct net_loop *loop, int signal_number,
	void (*fn)(void *arg), void *arg, struct err *err)
{
	struct net_watch_signal *watch = x_calloc(1, sizeof *watch);
	watch->fn = fn;
	watch->arg = arg;
	watch->event = evsignal_new(net_loop_base(loop), signal_number, on_signal, watch);
	if (watch->event != NULL && loop->has_priorities)
		event_priority_set(watch->event, LOOP_URGENT);
	if (watch->event == NULL || event_add(watch->event, NULL) != 0) {
		err_set(err, ERR_INTERNAL, "cannot watch signal %d", signal_number);
		net_watch_signal_free(watch);
		return NULL;
	}
	return watch;
}

void net_watch_signal_free(struct net_watch_signal *watch)
{
	if (watch == NULL)
		return;
	if (watch->event != NULL)
		event_free(watch->event);
	free(watch);
}

struct net_watch_fatal {
	int pipe[2];
	struct net_watch_fd *fd;
	void (*fn)(void *arg, int signal_number);
	void *arg;
};

static void on_fatal(void *arg, bool is_readable, bool is_writable)
{
	struct net_watch_fatal *watch = arg;
	unsigned char number;
	(void)is_writable;
	/* one a turn: fn may free the watch */
	if (is_readable && read(watch->pipe[0], &number, 1) == 1)
		watch->fn(watch->arg, number);
}

struct net_watch_fatal *net_watch_fatal_new(struct net_loop *loop, int patience,
	void (*fn)(void *arg, int signal_number), void *arg, struct err *err)
{
	struct net_watch_fatal *watch = x_calloc(1, sizeof *watch);
	watch->fn = fn;
	watch->arg = arg;
	if (pipe2(watch->pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
		err_set_errno(err, errno, "pipe");
		free(watch);
		return NULL;
	}
	watch->fd = net_watch_fd_new(loop, watch->pipe[0], on_fatal, watch, err);
	if (watch->fd == NULL) {
		net_watch_fatal_free(watch);
		return NULL;
	}
	net_watch_fd_set_urgent(watch->fd);
	net_watch_fd_want(watch->fd, true, false);
	fatal_signal_catch(watch->pipe[1], patience);
	return watch;
}

void net_watch_fatal_free(struct net_watch_fatal *watch)
{
	if (watch == NULL)
		return;
	fatal_signal_release();
	net_watch_fd_free(watch->fd);
	close(watch->pipe[0]);
	close(watch->pipe[1]);
	free(watch);
}
