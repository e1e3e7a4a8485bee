// SPDX-License-Identifier: Apache-2.0
/* File descriptors and signals on the loop, for front ends (a terminal, stdin, stdout).
 * Errors: ERR_INTERNAL, errno. */
#pragma once

#include <stdbool.h>

struct err;
struct net_loop;

/* Readiness of a descriptor (borrowed, stays open). Regular files, which epoll refuses, count as always
 * ready: fn is called once a turn while wanted. fn may change or free the watch. Errors: ERR_SYSTEM (no such descriptor). */
struct net_watch_fd;
typedef void net_watch_fd_fn(void *arg, bool is_readable, bool is_writable);
struct net_watch_fd *net_watch_fd_new(
	struct net_loop *loop, int fd, net_watch_fd_fn *fn, void *arg, struct err *err);
void net_watch_fd_want(
	struct net_watch_fd *watch, bool read, bool write); /* nothing at first */
void net_watch_fd_set_urgent(struct net_watch_fd *watch);   /* engine/net/loop.h */
void net_watch_fd_free(struct net_watch_fd *watch);

/* A signal as an urgent loop event, until freed; the old disposition comes back then. Errors: ERR_INTERNAL. */
struct net_watch_signal;
struct net_watch_signal *net_watch_signal_new(struct net_loop *loop, int signal_number,
	void (*fn)(void *arg), void *arg, struct err *err);
void net_watch_signal_free(struct net_watch_signal *watch);

/* Signals that end a process (engine/base/fatal_signal.h) as urgent loop events, and crashes guarded; until freed. One at a time in
 * a process. fn is told the number of each of the first `patience` signals. Errors: ERR_SYSTEM (no descriptor left). */
struct net_watch_fatal;
struct net_watch_fatal *net_watch_fatal_new(struct net_loop *loop, int patience,
	void (*fn)(void *arg, int signal_number), void *arg, struct err *err);
void net_watch_fatal_free(struct net_watch_fatal *watch);
