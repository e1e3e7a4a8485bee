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
	daemon_reaper_fn *fn;
	void *arg;
	UT_hash_handle hh;
};

struct daemon_reaper {
	struct net_watch_signal *signal;
	struct child *children;
};

static void on_child(void *arg)
{
	struct daemon_reaper *reaper = arg;
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

struct daemon_reaper *daemon_reaper_new(struct net_loop *loop, struct err *err)
{
	struct daemon_reaper *reaper = x_calloc(1, sizeof *reaper);
	reaper->signal = net_watch_signal_new(loop, SIGCHLD, on_child, reaper, err);
	if (reaper->signal == NULL) {
		free(reaper);
		return NULL;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return reaper;
}

void daemon_reaper_free(struct daemon_reaper *reaper)
{
	if (reaper == NULL)
		return;
	net_watch_signal_free(reaper->signal);
	struct child *child, *next;
	HASH_ITER(hh, reaper->children, child, next) {
		HASH_DEL(reaper->children, child);
		free(child);
	}
	free(reaper);
}

void daemon_reaper_watch(
	struct daemon_reaper *reaper, pid_t pid, daemon_reaper_fn *fn, void *arg)
{
	struct child *child = x_calloc(1, sizeof *child);
	child->pid = pid;
	child->fn = fn;
	child->arg = arg;
	HASH_ADD(hh, reaper->children, pid, sizeof child->pid, child);
}

int daemon_reaper_exit_code(int wait_status)
{
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}
