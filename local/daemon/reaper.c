// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/reaper.h"

#include "engine/base/map.h"
#include "engine/net/watch.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct child {
	pid_t pid;
	reaper_fn *fn;
	void *arg;
	UT_hash_handle hh;
};

struct reaper {
	struct watch_signal *signal;
	struct child *children;
};

static void on_child(void *arg)
{
	struct reaper *reaper = arg;
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child *child;
		HASH_FIND(hh, reaper->children, &pid, sizeof pid, child);
		if (child == NULL)
			continue; /* an orphan */
		HASH_DEL(reaper->children, child);
		child->fn(child->arg, status);
		free(child);
	}
}

struct reaper *reaper_new(struct loop *loop, struct err *err)
{
	struct reaper *reaper = x_calloc(1, sizeof *reaper);
	reaper->signal = watch_signal_new(loop, SIGCHLD, on_child, reaper, err);
	if (reaper->signal == NULL) {
		free(reaper);
		return NULL;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return reaper;
}

void reaper_free(struct reaper *reaper)
{
	if (reaper == NULL)
		return;
	watch_signal_free(reaper->signal);
	struct child *child, *next;
	HASH_ITER(hh, reaper->children, child, next) {
		HASH_DEL(reaper->children, child);
		free(child);
	}
	free(reaper);
}

void reaper_watch(struct reaper *reaper, pid_t pid, reaper_fn *fn, void *arg)
{
	struct child *child = x_calloc(1, sizeof *child);
	child->pid = pid;
	child->fn = fn;
	child->arg = arg;
	HASH_ADD(hh, reaper->children, pid, sizeof child->pid, child);
}
