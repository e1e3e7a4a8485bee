// SPDX-License-Identifier: Apache-2.0
/* What blocks (fsync, a folder of a slow or dead mount, removing a tree) runs on threads, and its end comes back through
 * the loop. One pool a loop: it is made with the first work and ends in net_loop_free().
 *
 *   static void run(void *arg, const atomic_bool *is_cancelled);  on a thread
 *   static void done(void *arg);                                  on the loop: take the results out of arg
 *   static const struct net_work_kind folder_reads = { "folder", 2, run, done, free_read };
 *
 *   pane->work = net_work_start(loop, &folder_reads, read);       read: its own copies of all that run() needs
 *   …
 *   net_work_cancel(pane->work);                                  the pane closes; in done(): pane->work = NULL
 *
 * - run() touches what arg owns and nothing else: no loop, no log, no memory of the caller. One that takes long looks at
 *   *is_cancelled between its steps.
 * - done() follows as the one completion (engine/net/loop.h); the handle is invalid once it has begun. Errors are fields
 *   of arg.
 * - free_arg() is called once, whatever happened: after done(), at the cancel of work that has not begun, and when the
 *   run of work that was cancelled has ended. That is on the loop's thread, and on the work's own if the loop has gone by
 *   then.
 *
 * Work may hang for good (a mount whose server is gone): the loop goes on, net_loop_free() and the end of the process do
 * not wait for it, and other kinds have threads of their own. Within a kind at most max_running run, in the order of
 * their starts. Cancelled work that still hangs does not count, up to NET_WORK_MAX_ABANDONED of them.
 *
 * Threads start when there is something to do and end when idle. They take no signals and have 8 MiB of stack. Where no
 * thread can be had (a limit), the work waits until one can. */
#pragma once

#include <stdatomic.h>

struct net_loop;
struct net_work;

enum { NET_WORK_MAX_ABANDONED = 8 };

/* A const row that outlives the process' loops. All functions are there. */
struct net_work_kind {
	const char *name;
	unsigned max_running; /* at least 1 */
	void (*run)(void *arg, const atomic_bool *is_cancelled);
	void (*done)(void *arg);
	void (*free_arg)(void *arg);
};

/* Takes arg over. Never fails. */
struct net_work *net_work_start(
	struct net_loop *loop, const struct net_work_kind *kind, void *arg_take);
/* No done() comes. NULL is fine. */
void net_work_cancel(struct net_work *work);
/* The last thread stays when idle: for a process that others may push to its limit of threads. */
void net_work_keep_thread(struct net_loop *loop);
