// SPDX-License-Identifier: Apache-2.0
/* One sandbox as a child of this process.
 *
 *   isolation_spawn_start: bind sockets ─> the port proxy, which waits
 *                └─> fork ─> cgroup, user, descriptors ─> exec bwrap (─> daemon) or the daemon
 *   the daemon listens (a byte) and its pid is known ─> told to the proxy, which serves
 *   pidfd readable ─> reaped ─> on_exit;   the proxy's ─> reaped, the daemon is killed
 *
 * With bubblewrap the signal to stop must reach the daemon, not bubblewrap, whose death would kill
 * everything at once: its pid (it is pid 1 inside) comes over the info descriptor. */
#include "local/isolation/spawn.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/launch.h"
#include "local/isolation/port_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INFO_BYTES = 4096 };

struct isolation_spawn {
	struct net_loop *loop;
	isolation_spawn_exit_fn *on_exit;
	isolation_spawn_listening_fn *on_listening;
	void *arg;
	pid_t pid, daemon_pid; /* daemon_pid 0: not known (yet) */
	pid_t proxy_pid;       /* 0: none */
	int pid_fd, info_fd, ready_fd, proxy_fd, proxy_control;
	struct net_watch_fd *pid_watch, *info_watch, *ready_watch, *proxy_watch;
	struct net_loop_timer *grace;
	char info[INFO_BYTES];
	size_t info_n;
	uint16_t rest_port, grpc_port;
	bool is_listening; /* the daemon has said so */
	bool is_term_owed; /* stop was asked for before the daemon's pid was known */
	struct isolation_cgroup *cgroup;
};

static void end_proxy(struct isolation_spawn *spawn)
{
	if (spawn->proxy_pid <= 0)
		return;
	if (spawn->proxy_watch != NULL)
		net_watch_fd_want(spawn->proxy_watch, false, false);
	kill(spawn->proxy_pid, SIGKILL);
	isolation_bwrap_reap(spawn->proxy_pid);
	spawn->proxy_pid = 0;
}

static void free_spawn(void *arg)
{
	struct isolation_spawn *spawn = arg;
	const int fds[] = { spawn->pid_fd, spawn->info_fd, spawn->ready_fd, spawn->proxy_fd,
		spawn->proxy_control };
	net_watch_fd_free(spawn->pid_watch);
	net_watch_fd_free(spawn->info_watch);
	net_watch_fd_free(spawn->ready_watch);
	net_watch_fd_free(spawn->proxy_watch);
	net_loop_timer_free(spawn->grace);
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	isolation_cgroup_free(spawn->cgroup);
	free(spawn);
}

const char *isolation_spawn_guard_name(enum isolation_spawn_guard guard)
{
	static const char *const names[] = {
#define X(name, text) [SPAWN_GUARD_##name] = text,
		SPAWN_GUARDS(X)
#undef X
	};
	return names[guard];
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
	struct isolation_spawn *spawn = arg;
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
	if (was_killed && isolation_cgroup_oom_kills(spawn->cgroup) > 0)
		snprintf(reason, sizeof reason, "out of memory (memory limit reached)");
	net_watch_fd_want(spawn->pid_watch, false, false);
	end_proxy(spawn);
	net_loop_defer(spawn->loop, free_spawn, spawn);
	spawn->pid = 0;
	spawn->on_exit(spawn->arg, status, reason);
}

static void signal_daemon(struct isolation_spawn *spawn)
{
	spawn->is_term_owed = spawn->daemon_pid == 0;
	if (spawn->daemon_pid > 0)
		kill(spawn->daemon_pid, SIGTERM);
}

/* A sandbox that nobody can reach is none. */
static void on_proxy_end(void *arg, bool is_readable, bool is_writable)
{
	struct isolation_spawn *spawn = arg;
	(void)is_readable;
	(void)is_writable;
	LOG("spawn", LOG_WARN, "the port proxy of a sandbox has ended; the sandbox ends too");
	end_proxy(spawn);
	if (spawn->pid > 0)
		kill(spawn->pid, SIGKILL);
}

static void serve_if_known(struct isolation_spawn *spawn)
{
	if (!spawn->is_listening || spawn->daemon_pid <= 0 || spawn->proxy_control < 0)
		return;
	if (!isolation_port_proxy_serve(spawn->proxy_control, spawn->daemon_pid))
		LOG("spawn", LOG_WARN, "the port proxy: %s", strerror(errno));
	spawn->is_listening = false; /* said once */
	if (spawn->on_listening != NULL)
		spawn->on_listening(spawn->arg);
}

static void on_daemon_ready(void *arg, bool is_readable, bool is_writable)
{
	struct isolation_spawn *spawn = arg;
	char byte;
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(spawn->ready_fd, &byte, 1);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	net_watch_fd_want(spawn->ready_watch, false, false);
	spawn->is_listening = n == 1; /* else it ended before, which is told elsewhere */
	serve_if_known(spawn);
}

static void on_info(void *arg, bool is_readable, bool is_writable)
{
	struct isolation_spawn *spawn = arg;
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
	net_watch_fd_want(spawn->info_watch, false, false);
	if (spawn->is_term_owed && spawn->daemon_pid > 0)
		signal_daemon(spawn);
	serve_if_known(spawn);
}

static bool watch(struct isolation_spawn *spawn, int fd, net_watch_fd_fn *fn,
	struct net_watch_fd **out, struct err *err)
{
	*out = net_watch_fd_new(spawn->loop, fd, fn, spawn, err);
	if (*out == NULL)
		return false;
	net_watch_fd_want(*out, true, false);
	return true;
}

static bool watch_pid(struct isolation_spawn *spawn, pid_t pid, net_watch_fd_fn *fn, int *fd,
	struct net_watch_fd **out, struct err *err)
{
	*fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*fd < 0)
		return err_set_errno(err, errno, "pidfd_open");
	fcntl(*fd, F_SETFD, FD_CLOEXEC);
	return watch(spawn, *fd, fn, out, err);
}

static bool watch_child(struct isolation_spawn *spawn, struct err *err)
{
	if (!watch_pid(spawn, spawn->pid, on_pid, &spawn->pid_fd, &spawn->pid_watch, err))
		return false;
	if (spawn->info_fd < 0) {
		spawn->daemon_pid = spawn->pid;
		return true;
	}
	if (!watch(spawn, spawn->info_fd, on_info, &spawn->info_watch, err))
		return false;
	if (spawn->ready_fd < 0)
		return true;
	return watch(spawn, spawn->ready_fd, on_daemon_ready, &spawn->ready_watch, err) &&
	       watch_pid(spawn, spawn->proxy_pid, on_proxy_end, &spawn->proxy_fd,
		       &spawn->proxy_watch, err);
}

static bool start_proxy(struct isolation_spawn *spawn, const struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, struct err *err)
{
	if (launch->ready_read < 0)
		return true; /* the daemon itself has the sockets */
	char *program = isolation_launch_find_proxy(opts, err);
	if (program == NULL)
		return false;
	struct isolation_port_proxy_opts proxy = { .program = program,
		.rest_fd = launch->rest_fd,
		.grpc_fd = launch->grpc_fd,
		.log_fd = launch->log_fd,
		.host_uid = launch->host_uid };
	spawn->proxy_pid = isolation_port_proxy_start(&proxy, &spawn->proxy_control, err);
	free(program);
	return spawn->proxy_pid > 0;
}

static bool start(struct isolation_spawn *spawn, struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, struct err *err)
{
	char *program = isolation_launch_find_daemon(opts, err);
	if (program == NULL)
		return false;
	bool ok = isolation_launch_prepare(launch, opts, program, spawn->cgroup, err) &&
		  start_proxy(spawn, launch, opts, err);
	free(program);
	if (!ok)
		return false;
	spawn->pid = isolation_launch_fork(launch, spawn->cgroup, err);
	spawn->rest_port = launch->rest_port;
	spawn->grpc_port = launch->grpc_port;
	spawn->info_fd = launch->info_read;
	spawn->ready_fd = launch->ready_read;
	launch->info_read = launch->ready_read = -1;
	return spawn->pid > 0 && watch_child(spawn, err);
}

struct isolation_spawn *isolation_spawn_start(struct net_loop *loop,
	const struct isolation_spawn_opts *opts, isolation_spawn_exit_fn *on_exit, void *arg,
	struct err *err)
{
	struct isolation_spawn *spawn = x_calloc(1, sizeof *spawn);
	struct isolation_launch launch;
	spawn->loop = loop;
	spawn->on_exit = on_exit;
	spawn->arg = arg;
	spawn->pid_fd = spawn->info_fd = spawn->ready_fd = spawn->proxy_fd =
		spawn->proxy_control = -1;
	spawn->cgroup = isolation_cgroup_new(opts->uid, &opts->limits);
	isolation_launch_init(&launch);
	bool ok = start(spawn, &launch, opts, err);
	isolation_launch_deinit(&launch);
	if (ok)
		return spawn;
	isolation_spawn_kill(spawn);
	return NULL;
}

void isolation_spawn_on_listening(
	struct isolation_spawn *spawn, isolation_spawn_listening_fn *fn)
{
	spawn->on_listening = fn;
}

static void on_grace_over(void *arg)
{
	struct isolation_spawn *spawn = arg;
	if (spawn->pid <=
		0) /* it ended in this same turn, and 0 would be our own process group */
		return;
	isolation_cgroup_kill(spawn->cgroup);
	kill(spawn->pid, SIGKILL); /* bubblewrap dies, and what is inside with it */
}

void isolation_spawn_stop(struct isolation_spawn *spawn, int64_t grace_ms)
{
	if (spawn->pid == 0 || spawn->grace != NULL)
		return;
	spawn->grace = net_loop_timer_new(spawn->loop, on_grace_over, spawn);
	net_loop_timer_arm(spawn->grace, grace_ms);
	signal_daemon(spawn);
}

void isolation_spawn_kill(struct isolation_spawn *spawn)
{
	if (spawn == NULL)
		return;
	if (spawn->pid > 0) {
		isolation_cgroup_kill(spawn->cgroup);
		kill(spawn->pid, SIGKILL);
		isolation_bwrap_reap(spawn->pid);
		spawn->pid = 0;
	}
	end_proxy(spawn);
	struct net_watch_fd *const watches[] = { spawn->pid_watch, spawn->info_watch,
		spawn->ready_watch };
	for (size_t i = 0; i < sizeof watches / sizeof watches[0]; i++)
		if (watches[i] != NULL)
			net_watch_fd_want(watches[i], false, false);
	net_loop_timer_disarm(spawn->grace);
	net_loop_defer(spawn->loop, free_spawn, spawn);
}

uint16_t isolation_spawn_rest_port(const struct isolation_spawn *spawn)
{
	return spawn->rest_port;
}

uint16_t isolation_spawn_grpc_port(const struct isolation_spawn *spawn)
{
	return spawn->grpc_port;
}

pid_t isolation_spawn_pid(const struct isolation_spawn *spawn)
{
	return spawn->pid;
}

pid_t isolation_spawn_daemon_pid(const struct isolation_spawn *spawn)
{
	return spawn->daemon_pid;
}

/* A pidfd is readable once its process has ended. */
static bool has_ended(int pid_fd)
{
	struct pollfd fd = { .fd = pid_fd, .events = POLLIN };
	return pid_fd >= 0 && poll(&fd, 1, 0) > 0;
}

bool isolation_spawn_is_alive(const struct isolation_spawn *spawn)
{
	return spawn->pid > 0 && !has_ended(spawn->pid_fd) && !has_ended(spawn->proxy_fd);
}

const struct isolation_cgroup *isolation_spawn_cgroup(const struct isolation_spawn *spawn)
{
	return spawn->cgroup;
}
