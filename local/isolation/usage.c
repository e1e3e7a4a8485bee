// SPDX-License-Identifier: Apache-2.0
/* One look: fork ─> (what needs this user's rights over the sandbox) ─> its namespaces ─> the tree ─> one record in a pipe.
 *
 * An ordinary user's job may close its folders (chmod 000) to the same user outside. The measuring process gets past
 * that by joining the sandbox's user namespace, where it has all rights over files of that user; or one of its own, if
 * there is none to join. */
#include "local/isolation/usage.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/isolation/usage_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_LOOK_S = 600, NICENESS = 10 };
enum { IOPRIO_WHO_SELF = 1, IOPRIO_IDLE = 3 << 13 }; /* ioprio_set(2) has no header */

struct isolation_usage_look {
	struct net_loop *loop;
	struct net_watch_fd *watch;
	int fd;
	pid_t pid;
	isolation_usage_fn *done;
	void *arg;
	bool is_over;
};

/* ---- in the measuring process ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		errno = 0; /* then without: the walk says what it could not enter */
	close(fd);
}

static void take_own_namespace(void)
{
	char text[48];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER) != 0)
		return;
	write_file("/proc/self/setgroups", "deny");
	snprintf(text, sizeof text, "0 %u 1", (unsigned)uid);
	write_file("/proc/self/uid_map", text);
	snprintf(text, sizeof text, "0 %u 1", (unsigned)gid);
	write_file("/proc/self/gid_map", text);
}

/* True if the IPC namespace is now the sandbox's. */
static bool join(const struct isolation_usage_where *where)
{
	bool is_root = geteuid() == 0, has_joined = false;
	if (where->is_isolated && where->daemon > 0) {
		int fd = (int)syscall(SYS_pidfd_open, where->daemon, 0);
		int flags = is_root ? CLONE_NEWIPC : CLONE_NEWIPC | CLONE_NEWUSER;
		has_joined = fd >= 0 && setns(fd, flags) == 0;
		if (fd >= 0)
			close(fd);
	}
	if (!is_root && !has_joined)
		take_own_namespace();
	return has_joined;
}

static uint64_t sum_memory(const struct isolation_usage_procs *procs,
	const struct isolation_usage *usage, uint64_t sysv_bytes)
{
	uint64_t hidden = procs->held_bytes + sysv_bytes;
	for (int i = 0; i < USAGE_MOUNT_COUNT; i++)
		hidden += usage->mounts[i].used_bytes;
	/* what is mapped of these is in shared_bytes too */
	return procs->anon_bytes +
	       (hidden > procs->shared_bytes ? hidden : procs->shared_bytes);
}

static void measure(
	const struct isolation_usage_where *where, unsigned what, struct isolation_usage *usage)
{
	struct isolation_usage_procs procs, exact;
	struct isolation_seen seen = { 0 };
	struct stat st = { 0 };
	int64_t begin = clock_mono_ms();
	int root = open(where->workspace, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root >= 0 && fstat(root, &st) != 0)
		st = (struct stat){ 0 };
	isolation_usage_procs_find(where, &procs);
	isolation_usage_mounts(where, usage);
	usage->processes = (uint32_t)procs.n;
	usage->cpu_ns = procs.cpu_ns;
	usage->began_ms = begin;
	isolation_usage_deleted(where, st.st_dev, &procs, &seen, usage);
	exact = procs;
	if (what & USAGE_MEMORY) {
		isolation_usage_memory(&procs, where->max_memory_bytes == 0);
		exact.anon_bytes = procs.anon_bytes;
		exact.shared_bytes = procs.shared_bytes;
		if (sum_memory(&procs, usage, 0) > where->max_memory_bytes)
			isolation_usage_memory(&exact, true);
	}
	uint64_t sysv = join(where) && (what & USAGE_MEMORY) ? isolation_usage_sysv_bytes() : 0;
	if (what & USAGE_MEMORY)
		usage->memory_bytes = sum_memory(&exact, usage, sysv);
	if ((what & USAGE_TREE) && root >= 0)
		isolation_usage_tree(root, st.st_dev, where, &seen, usage);
	if (root >= 0)
		close(root);
	isolation_usage_procs_deinit(&procs);
	isolation_seen_deinit(&seen);
	usage->took_ms = clock_mono_ms() - begin;
}

static void run_child(
	const struct isolation_usage_where *where, unsigned what, int out, pid_t parent)
{
	struct isolation_usage usage = { 0 };
	struct sigaction act = { .sa_handler = SIG_DFL };
	sigset_t deadline;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* nothing of the backend's lives on in here: not its lock, not its sockets */
	if (dup2(out, 0) != 0)
		_exit(1);
	close_range(1, ~0U, 0);
	fcntl(0, F_SETFD, FD_CLOEXEC);
	sigaction(SIGALRM, &act, NULL);
	sigemptyset(&deadline);
	sigaddset(&deadline, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &deadline, NULL);
	alarm(LONGEST_LOOK_S);
	setpriority(PRIO_PROCESS, 0, NICENESS);
	syscall(SYS_ioprio_set, IOPRIO_WHO_SELF, 0, IOPRIO_IDLE);
	write_file("/proc/self/oom_score_adj", "500");
	measure(where, what, &usage);
	_exit(write(0, &usage, sizeof usage) == (ssize_t)sizeof usage ? 0 : 1);
}

/* ---- in the caller ---- */

static void look_free(void *arg)
{
	struct isolation_usage_look *look = arg;
	net_watch_fd_free(look->watch);
	close(look->fd);
	free(look);
}

static void end_child(struct isolation_usage_look *look)
{
	if (look->pid <= 0)
		return;
	kill(look->pid, SIGKILL);
	while (waitpid(look->pid, NULL, 0) < 0 && errno == EINTR)
		;
	look->pid = 0;
}

static void on_record(void *arg, bool is_readable, bool is_writable)
{
	struct isolation_usage_look *look = arg;
	struct isolation_usage usage;
	struct err err = { 0 };
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(look->fd, &usage, sizeof usage); /* written at once: below PIPE_BUF */
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	net_watch_fd_want(look->watch, false, false);
	end_child(look);
	look->is_over = true;
	net_loop_defer(look->loop, look_free, look);
	bool ok = n == (ssize_t)sizeof usage;
	if (!ok)
		err_set(&err, ERR_SYSTEM, "the process that measures a sandbox was stopped");
	look->done(look->arg, ok ? &usage : NULL, ok ? NULL : &err);
}

struct isolation_usage_look *isolation_usage_look_start(struct net_loop *loop,
	const struct isolation_usage_where *where, unsigned what, isolation_usage_fn *done,
	void *arg, struct err *err)
{
	int fds[2];
	sigset_t all, old;
	if (pipe2(fds, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "pipe");
		return NULL;
	}
	struct isolation_usage_look *look = x_calloc(1, sizeof *look);
	*look = (struct isolation_usage_look){
		.loop = loop, .fd = fds[0], .done = done, .arg = arg
	};
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	/* no handler of the backend's may run in the child */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid_t self = getpid();
	look->pid = fork();
	if (look->pid == 0)
		run_child(where, what, fds[1], self);
	int errnum = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fds[1]);
	if (look->pid < 0)
		err_set_errno(err, errnum, "fork");
	else
		look->watch = net_watch_fd_new(loop, look->fd, on_record, look, err);
	if (look->watch == NULL) {
		end_child(look);
		look_free(look);
		return NULL;
	}
	net_watch_fd_want(look->watch, true, false);
	return look;
}

void isolation_usage_look_cancel(struct isolation_usage_look *look)
{
	if (look == NULL || look->is_over)
		return;
	look->is_over = true;
	net_watch_fd_want(look->watch, false, false);
	end_child(look);
	net_loop_defer(look->loop, look_free, look);
}
