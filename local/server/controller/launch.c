// SPDX-License-Identifier: Apache-2.0
/* A plain process per sandbox, until local/isolation is there. */
#include "local/server/controller/launch.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
struct launch {
	struct loop *loop;
	pid_t pid;
	struct loop_timer *poll, *kill;
	launch_exit_fn *on_exit;
	void *arg;
};
static void launch_free(void *arg)
{
	struct launch *l = arg;
	loop_timer_free(l->poll);
	loop_timer_free(l->kill);
	free(l);
}
static void on_poll(void *arg)
{
	struct launch *l = arg;
	int status;
	if (waitpid(l->pid, &status, WNOHANG) != l->pid)
		return;
	loop_timer_disarm(l->poll);
	loop_timer_disarm(l->kill);
	loop_defer(l->loop, launch_free, l);
	l->on_exit(l->arg, status, "");
}
static void on_kill(void *arg)
{
	kill(((struct launch *)arg)->pid, SIGKILL);
}
struct launch *launch_start(struct loop *loop, const struct launch_opts *opts,
	launch_exit_fn *on_exit, void *arg, struct err *err)
{
	char host[64], root[4200];
	const char *program = opts->sandboxd;
	if (!program) {
		err_set(err, ERR_OP_UNSUPPORTED, "--sandboxd is needed");
		return NULL;
	}
	pid_t pid = fork();
	if (pid < 0) {
		err_set_errno(err, errno, "fork");
		return NULL;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(opts->log_fd, 1);
		dup2(opts->log_fd, 2);
		for (int i = 0; opts->env[i]; i++)
			putenv((char *)(uintptr_t)opts->env[i]);
		snprintf(host, sizeof host, "--listen-host=%s", opts->address);
		snprintf(root, sizeof root, "--root-dir=%s", opts->workspace);
		execl(program, program, host, "--rest-port=8080", "--grpc-port=9090", root,
			(char *)NULL);
		_exit(127);
	}
	struct launch *l = x_calloc(1, sizeof *l);
	l->loop = loop;
	l->pid = pid;
	l->on_exit = on_exit;
	l->arg = arg;
	l->poll = loop_timer_new(loop, on_poll, l);
	l->kill = loop_timer_new(loop, on_kill, l);
	loop_timer_arm_every(l->poll, 50);
	return l;
}
void launch_stop(struct launch *l, int64_t grace_ms)
{
	kill(l->pid, SIGTERM);
	loop_timer_arm(l->kill, grace_ms);
}
void launch_abandon(struct launch *l)
{
	kill(l->pid, SIGKILL);
	waitpid(l->pid, NULL, 0);
	launch_free(l);
}
pid_t launch_pid(const struct launch *l)
{
	return l->pid;
}
