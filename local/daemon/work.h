// SPDX-License-Identifier: Apache-2.0
/* The few things that block (fsync, large folders) run on a small pool of threads and come back
 * through the loop. Threads start when first needed. */
#pragma once

struct err;
struct loop;
struct work_pool;

struct work_pool *work_pool_new(struct loop *loop, struct err *err);
/* Waits for what is running; what has not begun still gets its done(). */
void work_pool_free(struct work_pool *pool);
/* run() on a thread: no loop, no log, nothing that the loop's thread may touch meanwhile. Then done() on
 * the loop. */
void work_start(
	struct work_pool *pool, void (*run)(void *arg), void (*done)(void *arg), void *arg);
