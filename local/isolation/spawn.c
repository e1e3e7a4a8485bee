// SPDX-License-Identifier: Apache-2.0
/* One sandbox as a child of this process.
 *
 *   spawn_start: bind sockets ─> fork ─> cgroup, descriptors ─> exec bwrap (─> daemon) or the daemon
 *   pidfd readable ─> reaped ─> on_exit
 *
 * With bubblewrap the signal to stop must reach the daemon, not bubblewrap, whose death would kill
 * everything at once: its pid (it is pid 1 inside) comes over the info descriptor. */
#include "local/isolation/spawn.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INFO_BYTES = 4096 };

struct spawn {
	struct loop *loop;
	spawn_exit_fn *on_exit;
	void *arg;
	pid_t pid, daemon_pid; /* daemon_pid 0: not known (yet) */
	int pid_fd, info_fd;
	struct watch_fd *pid_watch, *info_watch;
	struct loop_timer *grace;
	char info[INFO_BYTES];
	size_t info_n;
	uint16_t rest_port, grpc_port;
	bool is_term_owed; /* stop was asked for before the daemon's pid was known */
	struct cgroup *cgroup;
};

static void free_spawn(void *arg)
{
	struct spawn *spawn = arg;
	watch_fd_free(spawn->pid_watch);
	watch_fd_free(spawn->info_watch);
	loop_timer_free(spawn->grace);
	if (spawn->pid_fd >= 0)
		close(spawn->pid_fd);
	if (spawn->info_fd >= 0)
		close(spawn->info_fd);
	cgroup_free(spawn->cgroup);
	free(spawn);
}

static void explain(int status, char *out, size_t n)
{
	if (WIFEXITED(status))
		snprintf(out, n, "exited with status %d", WEXITSTATUS(status));
	else
		snprintf(out, n, "killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
}

static void on_pid(void *arg, bool is_readable, bool is_writable)
{
	struct spawn *spawn = arg;
	int status;
	char reason[96];
	(void)is_readable;
	(void)is_writable;
	if (waitpid(spawn->pid, &status, WNOHANG) != spawn->pid)
		return;
	explain(status, reason, sizeof reason);
	/* bubblewrap ends as its child did, 128 + the signal */
	bool was_killed = WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
					      : WEXITSTATUS(status) == 128 + SIGKILL;
	if (was_killed && cgroup_oom_kills(spawn->cgroup) > 0)
		snprintf(reason, sizeof reason, "out of memory (memory limit reached)");
	watch_fd_want(spawn->pid_watch, false, false);
	loop_defer(spawn->loop, free_spawn, spawn);
	spawn->pid = 0;
	spawn->on_exit(spawn->arg, status, reason);
}

static void signal_daemon(struct spawn *spawn)
{
	spawn->is_term_owed = spawn->daemon_pid == 0;
	if (spawn->daemon_pid > 0)
		kill(spawn->daemon_pid, SIGTERM);
}

static void on_info(void *arg, bool is_readable, bool is_writable)
{
	struct spawn *spawn = arg;
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(spawn->info_fd, spawn->info + spawn->info_n,
		sizeof spawn->info - spawn->info_n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		spawn->info_n += (size_t)n;
		if (spawn->info_n < sizeof spawn->info)
			return;
	}
	cJSON *info = json_parse((struct slice){ spawn->info, spawn->info_n }, NULL);
	spawn->daemon_pid = (pid_t)json_int(info, 0, "child-pid", NULL);
	cJSON_Delete(info);
	watch_fd_want(spawn->info_watch, false, false);
	if (spawn->is_term_owed && spawn->daemon_pid > 0)
		signal_daemon(spawn);
}

static bool watch_child(struct spawn *spawn, struct err *err)
{
	spawn->pid_fd = (int)syscall(SYS_pidfd_open, spawn->pid, 0);
	if (spawn->pid_fd < 0)
		return err_set_errno(err, errno, "pidfd_open");
	fcntl(spawn->pid_fd, F_SETFD, FD_CLOEXEC);
	spawn->pid_watch = watch_fd_new(spawn->loop, spawn->pid_fd, on_pid, spawn, err);
	if (spawn->pid_watch == NULL)
		return false;
	watch_fd_want(spawn->pid_watch, true, false);
	if (spawn->info_fd < 0) {
		spawn->daemon_pid = spawn->pid;
		return true;
	}
	spawn->info_watch = watch_fd_new(spawn->loop, spawn->info_fd, on_info, spawn, err);
	if (spawn->info_watch == NULL)
		return false;
	watch_fd_want(spawn->info_watch, true, false);
	return true;
}

struct spawn *spawn_start(struct loop *loop, const struct spawn_opts *opts,
	spawn_exit_fn *on_exit, void *arg, struct err *err)
{
	char *program = launch_find_daemon(opts, err);
	if (program == NULL) {
		if (opts->daemon_path != NULL)
			err_set_errno(err, errno, "%s", opts->daemon_path);
		return NULL;
	}
	struct spawn *spawn = x_calloc(1, sizeof *spawn);
	struct launch launch = {
		.rest_fd = -1, .grpc_fd = -1, .log_fd = -1, .info_read = -1, .info_write = -1
	};
	spawn->loop = loop;
	spawn->on_exit = on_exit;
	spawn->arg = arg;
	spawn->pid_fd = spawn->info_fd = -1;
	spawn->cgroup = cgroup_new(opts->uid, &opts->limits);
	bool ok = launch_prepare(&launch, opts, program, spawn->cgroup, err);
	if (ok)
		spawn->pid = launch_fork(&launch, spawn->cgroup, err);
	spawn->rest_port = launch.rest_port;
	spawn->grpc_port = launch.grpc_port;
	spawn->info_fd = launch.info_read;
	launch.info_read = -1;
	ok = ok && spawn->pid > 0 && watch_child(spawn, err);
	launch_deinit(&launch);
	free(program);
	if (ok)
		return spawn;
	spawn_kill(spawn);
	return NULL;
}

static void on_grace_over(void *arg)
{
	struct spawn *spawn = arg;
	cgroup_kill(spawn->cgroup);
	kill(spawn->pid, SIGKILL); /* bubblewrap dies, and what is inside with it */
}

void spawn_stop(struct spawn *spawn, int64_t grace_ms)
{
	if (spawn->pid == 0 || spawn->grace != NULL)
		return;
	spawn->grace = loop_timer_new(spawn->loop, on_grace_over, spawn);
	loop_timer_arm(spawn->grace, grace_ms);
	signal_daemon(spawn);
}

void spawn_kill(struct spawn *spawn)
{
	if (spawn == NULL)
		return;
	if (spawn->pid > 0) {
		cgroup_kill(spawn->cgroup);
		kill(spawn->pid, SIGKILL);
		bwrap_reap(spawn->pid);
		spawn->pid = 0;
	}
	if (spawn->pid_watch != NULL)
		watch_fd_want(spawn->pid_watch, false, false);
	if (spawn->info_watch != NULL)
		watch_fd_want(spawn->info_watch, false, false);
	loop_timer_disarm(spawn->grace);
	loop_defer(spawn->loop, free_spawn, spawn);
}

uint16_t spawn_rest_port(const struct spawn *spawn)
{
	return spawn->rest_port;
}

uint16_t spawn_grpc_port(const struct spawn *spawn)
{
	return spawn->grpc_port;
}

pid_t spawn_pid(const struct spawn *spawn)
{
	return spawn->pid;
}

pid_t spawn_daemon_pid(const struct spawn *spawn)
{
	return spawn->daemon_pid;
}

const struct cgroup *spawn_cgroup(const struct spawn *spawn)
{
	return spawn->cgroup;
}
