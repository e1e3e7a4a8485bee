// SPDX-License-Identifier: Apache-2.0
/* File descriptors and signals on the loop, for front ends (a terminal, stdin, stdout). */
#pragma once

#include <stdbool.h>

struct err;
struct loop;

/* Readiness of a descriptor (borrowed, stays open). Regular files, which epoll refuses, count as always
 * ready: fn is called once a turn while wanted. fn may change or free the watch. */
struct watch_fd;
typedef void watch_fd_fn(void *arg, bool is_readable, bool is_writable);
struct watch_fd *watch_fd_new(
	struct loop *loop, int fd, watch_fd_fn *fn, void *arg, struct err *err);
void watch_fd_want(struct watch_fd *watch, bool read, bool write); /* nothing at first */
void watch_fd_free(struct watch_fd *watch);

/* A signal as a loop event, until freed; the old disposition comes back then. */
struct watch_signal;
struct watch_signal *watch_signal_new(struct loop *loop, int signal_number,
	void (*fn)(void *arg), void *arg, struct err *err);
void watch_signal_free(struct watch_signal *watch);

/* Signals that end a process (engine/base/fatal_signal.h) as loop events, and crashes guarded; until freed. One at a time in
 * a process. fn is told the number of each of the first `patience` signals. */
struct watch_fatal;
struct watch_fatal *watch_fatal_new(struct loop *loop, int patience,
	void (*fn)(void *arg, int signal_number), void *arg, struct err *err);
void watch_fatal_free(struct watch_fatal *watch);
