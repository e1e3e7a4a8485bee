// SPDX-License-Identifier: Apache-2.0
/* The one place that waits for children. Whatever ends is reaped, orphans too: the daemon may be the
 * init of its pid namespace, and makes itself the reaper of its descendants otherwise. */
#pragma once

#include <sys/types.h>

struct err;
struct net_loop;
struct daemon_reaper;

/* Status as from waitpid(). Called once, from the loop; the watch is over then. */
typedef void daemon_reaper_fn(void *arg, int wait_status);

struct daemon_reaper *daemon_reaper_new(struct net_loop *loop, struct err *err);
void daemon_reaper_free(struct daemon_reaper *reaper);
/* Right after the start of the child, before the loop turns. */
void daemon_reaper_watch(
	struct daemon_reaper *reaper, pid_t pid, daemon_reaper_fn *fn, void *arg);
int daemon_reaper_exit_code(int wait_status); /* -1 for a signal */
