// SPDX-License-Identifier: Apache-2.0
/* The few things that block (fsync, large folders) run on a small pool of threads and come back
 * through the loop. Threads start when first needed. */
#pragma once

struct err;
struct net_loop;
struct daemon_thread_pool;

struct daemon_thread_pool *daemon_thread_pool_new(struct net_loop *loop, struct err *err);
/* Waits for what is running; what has not begun still gets its done(). */
void daemon_thread_pool_free(struct daemon_thread_pool *pool);
/* run() on a thread: no loop, no log, nothing that the loop's thread may touch meanwhile. Then done() on
 * the loop. */
void daemon_thread_pool_start(struct daemon_thread_pool *pool, void (*run)(void *arg),
	void (*done)(void *arg), void *arg);
