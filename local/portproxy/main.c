// SPDX-License-Identifier: Apache-2.0
/* sandmux-port-proxy: serves the address of one sandbox. The daemon inside listens on Unix sockets, since a descriptor
 * that leads to the host's network must not be in there; this process stands outside and has no privileges.
 *
 *   sandmux-port-proxy REST-FD GRPC-FD CONTROL-FD
 *
 * The first two are listening TCP sockets. From CONTROL-FD come four bytes, the pid of the daemon (as seen here, in
 * the byte order of the machine), once it listens; its sockets are then opened through /proc/PID/root, which the
 * kernel allows to the user whose namespace the sandbox is. No connection is accepted before. The end of
 * CONTROL-FD ends the process. */
#include "local/portproxy/portproxy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* as the daemon sees it: its --socket-dir */
#define SOCKET_DIR "/run/sandmux"

static const char *const sockets[2] = { "rest.sock", "grpc.sock" };

struct control {
	struct portproxy_watched watched;
};

static void on_control(struct portproxy_watched *watched, uint32_t events)
{
	(void)watched;
	(void)events;
	_exit(0); /* nothing more is said there: the backend has gone */
}

static void fail(const char *what)
{
	char text[256];
	int n = snprintf(
		text, sizeof text, "sandmux-port-proxy: %s: %s\n", what, strerror(errno));
	if (n > 0 && write(2, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

static int number(const char *text)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (errno != 0 || *end != '\0' || end == text || value < 0 || value > INT_MAX) {
		errno = EINVAL;
		fail(text);
	}
	return (int)value;
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void watch_listener(
	struct portproxy_proxy *proxy, struct portproxy_listener *listener, int operation)
{
	struct epoll_event event = { .events = proxy->is_paused ? 0u : EPOLLIN,
		.data.ptr = &listener->watched };
	if (epoll_ctl(proxy->epoll, operation, listener->fd, &event) != 0)
		fail("epoll_ctl");
}

/* Accepting goes on while there is room, and stops while there is none. */
static void set_listening(struct portproxy_proxy *proxy, bool is_on)
{
	if (is_on && proxy->n_connections >= proxy->max_connections)
		return;
	if (proxy->is_paused == !is_on)
		return;
	proxy->is_paused = !is_on;
	for (int i = 0; i < 2; i++)
		watch_listener(proxy, &proxy->listeners[i], EPOLL_CTL_MOD);
}

static void on_listener(struct portproxy_watched *watched, uint32_t events)
{
	struct portproxy_listener *listener = (struct portproxy_listener *)watched;
	struct portproxy_proxy *proxy = listener->proxy;
	(void)events;
	for (int i = 0; i < 16; i++) {
		if (proxy->n_connections >= proxy->max_connections) {
			set_listening(proxy, false);
			return;
		}
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		portproxy_connection_open_take(proxy, listener, fd);
	}
}

/* The pid of a daemon that listens. The end: it never did, which the backend knows. */
static int wait_for_daemon(int control)
{
	int32_t pid;
	size_t n = 0;
	while (n < sizeof pid) {
		ssize_t got = read(control, (char *)&pid + n, sizeof pid - n);
		if (got == 0)
			_exit(0);
		if (got < 0 && errno != EINTR)
			fail("control");
		if (got > 0)
			n += (size_t)got;
	}
	return pid;
}

static void open_targets(struct portproxy_proxy *proxy, int pid)
{
	for (int i = 0; i < 2; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/root" SOCKET_DIR "/%s", pid, sockets[i]);
		int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			fail(path);
		proxy->listeners[i].target = fd;
	}
}

static size_t raise_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		fail("getrlimit");
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	rlim_t most = limit.rlim_cur > OWN_DESCRIPTORS
			      ? (limit.rlim_cur - OWN_DESCRIPTORS) / CONNECTION_DESCRIPTORS
			      : 1;
	return most < MAX_CONNECTIONS ? (size_t)most : MAX_CONNECTIONS;
}

static void serve(struct portproxy_proxy *proxy)
{
	int wait_ms = -1;
	for (;;) {
		struct epoll_event events[64];
		int n = epoll_wait(proxy->epoll, events, 64, wait_ms);
		if (n < 0 && errno != EINTR)
			fail("epoll_wait");
		proxy->now_ms = now_ms();
		for (int i = 0; i < n; i++) {
			struct portproxy_watched *watched = events[i].data.ptr;
			watched->ready(watched, events[i].events);
		}
		wait_ms = portproxy_connection_turn(proxy);
		set_listening(proxy, true); /* connections may have ended */
	}
}

int main(int argc, char **argv)
{
	struct portproxy_proxy proxy = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
	struct control control = { .watched = { on_control } };
	if (argc != 4) {
		errno = EINVAL;
		fail("usage: sandmux-port-proxy REST-FD GRPC-FD CONTROL-FD");
	}
	signal(SIGPIPE, SIG_IGN);
	proxy.max_connections = raise_descriptors();
	int control_fd = number(argv[3]);
	for (int i = 0; i < 2; i++) {
		struct portproxy_listener *listener = &proxy.listeners[i];
		*listener = (struct portproxy_listener){ .watched = { on_listener },
			.proxy = &proxy,
			.fd = number(argv[1 + i]),
			.target = -1 };
	}
	open_targets(&proxy, wait_for_daemon(control_fd));
	if (!portproxy_confine())
		fail("cannot give its privileges away");
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &control.watched };
	if (epoll_ctl(proxy.epoll, EPOLL_CTL_ADD, control_fd, &event) != 0)
		fail("epoll_ctl");
	for (int i = 0; i < 2; i++)
		watch_listener(&proxy, &proxy.listeners[i], EPOLL_CTL_ADD);
	serve(&proxy);
}
