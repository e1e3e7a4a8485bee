// SPDX-License-Identifier: Apache-2.0
/* The one place that waits for children. Whatever ends is reaped, orphans too: the daemon may be the
 * init of its pid namespace, and makes itself the reaper of its descendants otherwise. */
#pragma once

#include <sys/types.h>

struct err;
struct loop;
struct reaper;

/* Status as from waitpid(). Called once, from the loop; the watch is over then. */
typedef void reaper_fn(void *arg, int wait_status);

struct reaper *reaper_new(struct loop *loop, struct err *err);
void reaper_free(struct reaper *reaper);
/* Right after the start of the child, before the loop turns. */
void reaper_watch(struct reaper *reaper, pid_t pid, reaper_fn *fn, void *arg);
