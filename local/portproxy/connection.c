// SPDX-License-Identifier: Apache-2.0
/* One connection: two flows, each from one socket through a pipe to the other.
 *
 *   source ─splice─> pipe ─splice─> target
 *   source at its end, pipe empty ─> shutdown(target, SHUT_WR); both flows over ─> closed
 *   client broken ─> closed at once
 *   daemon closed ─> what it said is passed on, the client's bytes are read into nothing for LINGER_MS more, so that
 *                    a client which is still sending gets the answer and not a reset
 *
 * Both sockets are watched edge-triggered, once for all: a flow runs until it would block. A pipe belongs to a flow
 * only while bytes are in it, so an idle connection holds two descriptors. */
#include "local/portproxy/portproxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct portproxy_end {
	struct portproxy_watched watched;
	struct portproxy_connection *connection;
	int fd;
};

struct portproxy_flow {
	int source, target;
	int pipe[2];  /* -1 while empty */
	size_t held;  /* bytes in the pipe */
	bool is_over; /* its end has been passed on */
};

struct portproxy_connection {
	struct portproxy_proxy *proxy;
	struct portproxy_end tcp, local;
	struct portproxy_flow up, down; /* tcp to local; local to tcp */
	bool is_local_gone;             /* what comes up is thrown away */
	bool is_dead, is_again;
	int64_t linger_ms; /* when it is closed at the latest; 0: no limit */
	struct portproxy_connection *prev, *next, *next_again;
};

/* A pipe with bytes in it is not used again. */
static void pipe_give_back(struct portproxy_proxy *proxy, struct portproxy_flow *flow)
{
	if (flow->pipe[0] < 0)
		return;
	if (flow->held == 0 && proxy->n_spare < SPARE_PIPES) {
		memcpy(proxy->spare[proxy->n_spare++], flow->pipe, sizeof flow->pipe);
	} else {
		close(flow->pipe[0]);
		close(flow->pipe[1]);
	}
	flow->pipe[0] = flow->pipe[1] = -1;
	flow->held = 0;
}

static bool pipe_take(struct portproxy_proxy *proxy, struct portproxy_flow *flow)
{
	if (flow->pipe[0] >= 0)
		return true;
	if (proxy->n_spare > 0) {
		memcpy(flow->pipe, proxy->spare[--proxy->n_spare], sizeof flow->pipe);
		return true;
	}
	if (pipe2(flow->pipe, O_CLOEXEC | O_NONBLOCK) == 0)
		return true;
	flow->pipe[0] = flow->pipe[1] = -1;
	return false;
}

static void reset_at_close(int tcp)
{
	struct linger none = { .l_onoff = 1, .l_linger = 0 };
	setsockopt(tcp, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

static void kill_connection(struct portproxy_connection *c)
{
	struct portproxy_proxy *proxy = c->proxy;
	if (c->is_dead)
		return;
	c->is_dead = true;
	pipe_give_back(proxy, &c->up);
	pipe_give_back(proxy, &c->down);
	close(c->tcp.fd);
	close(c->local.fd);
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		proxy->connections = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	c->next = proxy->dead;
	proxy->dead = c;
	proxy->n_connections--;
}

/* Reads into the pipe. False: nothing more now. */
static bool fill(struct portproxy_connection *c, struct portproxy_flow *flow)
{
	if (!pipe_take(c->proxy, flow)) {
		kill_connection(c); /* no event would ever wake it again */
		return false;
	}
	ssize_t n = splice(flow->source, NULL, flow->pipe[1], NULL, PIPE_BYTES,
		SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n > 0) {
		flow->held = (size_t)n;
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	flow->is_over = true; /* the end, or an error after which nothing comes either */
	shutdown(flow->target, SHUT_WR);
	return false;
}

/* Writes what the pipe holds. False: not all of it. */
static bool empty(struct portproxy_connection *c, struct portproxy_flow *flow)
{
	while (flow->held > 0) {
		ssize_t n = splice(flow->pipe[0], NULL, flow->target, NULL, flow->held,
			SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n > 0) {
			flow->held -= (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (flow == &c->down) {
			kill_connection(c);
			return false;
		}
		c->is_local_gone = true;
		pipe_give_back(c->proxy, flow);
		return false;
	}
	return true;
}

/* The daemon has closed: what the client still sends goes nowhere. False: nothing more now. */
static bool throw_away(struct portproxy_flow *flow)
{
	char bytes[PIPE_BYTES];
	ssize_t n = recv(flow->source, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n > 0)
		return true;
	flow->is_over = n == 0 || (errno != EAGAIN && errno != EINTR);
	return false;
}

static void go_on_later(struct portproxy_connection *c)
{
	if (c->is_again)
		return;
	c->is_again = true;
	c->next_again = c->proxy->again;
	c->proxy->again = c;
}

static void run_flow(struct portproxy_connection *c, struct portproxy_flow *flow)
{
	if (flow->is_over || c->is_dead)
		return;
	for (size_t moved = 0; moved < TURN_BYTES; moved += PIPE_BYTES) {
		if (flow == &c->up && c->is_local_gone) {
			if (!throw_away(flow))
				return;
			continue;
		}
		if (!empty(c, flow)) {
			if (!c->is_dead && flow == &c->up && c->is_local_gone)
				continue;
			return; /* a writable target is an event */
		}
		if (!fill(c, flow)) {
			if (!c->is_dead)
				pipe_give_back(c->proxy, flow);
			return;
		}
	}
	go_on_later(c);
}

static void run(struct portproxy_connection *c)
{
	run_flow(c, &c->up);
	run_flow(c, &c->down);
	if (c->is_dead)
		return;
	if (c->up.is_over && c->down.is_over)
		kill_connection(c);
	else if (c->down.is_over && c->is_local_gone && c->linger_ms == 0)
		c->linger_ms = c->proxy->now_ms + LINGER_MS;
}

static void on_tcp(struct portproxy_watched *watched, uint32_t events)
{
	struct portproxy_connection *c = ((struct portproxy_end *)watched)->connection;
	if (c->is_dead)
		return;
	if ((events & EPOLLERR) != 0)
		kill_connection(
			c); /* reset: the daemon hears of it even while it does not read */
	else
		run(c);
}

static void on_local(struct portproxy_watched *watched, uint32_t events)
{
	struct portproxy_connection *c = ((struct portproxy_end *)watched)->connection;
	if (c->is_dead)
		return;
	if ((events & (EPOLLERR | EPOLLHUP)) != 0 && !c->up.is_over && !c->is_local_gone) {
		c->is_local_gone = true;
		pipe_give_back(c->proxy, &c->up);
	}
	run(c);
}

static int connect_to(int target)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", target);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool watch(struct portproxy_proxy *proxy, struct portproxy_connection *c,
	struct portproxy_end *end, int fd,
	void (*ready)(struct portproxy_watched *watched, uint32_t events))
{
	*end = (struct portproxy_end){ .watched = { ready }, .connection = c, .fd = fd };
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = &end->watched };
	return epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void portproxy_connection_open_take(
	struct portproxy_proxy *proxy, const struct portproxy_listener *listener, int fd)
{
	int on = 1, local = connect_to(listener->target);
	struct portproxy_connection *c = local >= 0 ? calloc(1, sizeof *c) : NULL;
	if (c == NULL) {
		if (local >= 0)
			close(local);
		reset_at_close(fd);
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	c->proxy = proxy;
	c->up = (struct portproxy_flow){ .source = fd, .target = local, .pipe = { -1, -1 } };
	c->down = (struct portproxy_flow){ .source = local, .target = fd, .pipe = { -1, -1 } };
	c->next = proxy->connections;
	if (c->next != NULL)
		c->next->prev = c;
	proxy->connections = c;
	proxy->n_connections++;
	bool ok = watch(proxy, c, &c->tcp, fd, on_tcp);
	ok = watch(proxy, c, &c->local, local, on_local) && ok;
	if (!ok)
		kill_connection(c);
}

int portproxy_connection_turn(struct portproxy_proxy *proxy)
{
	int64_t next = -1;
	struct portproxy_connection *again = proxy->again;
	proxy->again = NULL;
	while (again != NULL) {
		struct portproxy_connection *c = again;
		again = c->next_again;
		c->is_again = false;
		run(c);
	}
	for (struct portproxy_connection *c = proxy->connections, *after; c != NULL;
		c = after) {
		after = c->next;
		int64_t left = c->linger_ms - proxy->now_ms;
		if (c->linger_ms != 0 && left <= 0)
			kill_connection(c);
		else if (c->linger_ms != 0 && (next < 0 || left < next))
			next = left;
	}
	struct portproxy_connection *dead = proxy->dead;
	proxy->dead = NULL;
	while (dead != NULL) {
		struct portproxy_connection *c = dead;
		dead = c->next;
		if (c->is_again) { /* that list names it until the next turn */
			c->next = proxy->dead;
			proxy->dead = c;
		} else {
			free(c);
		}
	}
	return proxy->again != NULL ? 0 : (int)next;
}
