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
#include "local/isolation/libs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { INFO_BYTES = 4096 };

static const char inside_daemon[] = "/run/sandmux/sandboxd";

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

/* What the child needs; made before the fork. */
struct launch {
	struct bwrap_args args;
	char **env;
	size_t n_env, env_capacity;
	bool is_env_inside; /* the program started here gets none of it */
	int rest_fd, grpc_fd, info_write, log_fd;
};

static int bind_at(const char *address, uint16_t port, uint16_t *bound, struct err *err)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t n = sizeof in;
	int on = 1;
	if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		err_set(err, ERR_ARG_INVALID, "'%s' is not an IPv4 address", address);
		return -1;
	}
	if ((ntohl(in.sin_addr.s_addr) >> 24) != 127) {
		err_set(err, ERR_ARG_INVALID, "sandboxes listen on 127.0.0.0/8 only, not on %s",
			address);
		return -1;
	}
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
		bind(fd, (struct sockaddr *)&in, sizeof in) != 0 ||
		listen(fd, SOMAXCONN) != 0 ||
		getsockname(fd, (struct sockaddr *)&in, &n) != 0) {
		err_set_errno(err, errno, "cannot listen on %s:%u", address, port);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*bound = ntohs(in.sin_port);
	return fd;
}

static char *find_daemon(const struct spawn_opts *opts, struct err *err)
{
	char self[PATH_MAX];
	if (opts->daemon_path != NULL)
		return realpath(opts->daemon_path, NULL);
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = 0;
	char *slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = 0;
	for (int i = 0; i < 2; i++) {
		char *path =
			i == 0 ? x_asprintf("%s/sandmux-sandboxd", self)
			       : x_asprintf("%s/../libexec/sandmux/sandmux-sandboxd", self);
		char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
		free(path);
		if (real != NULL)
			return real;
	}
	err_set(err, ERR_SYSTEM, "sandmux-sandboxd is not beside %s nor in libexec", self);
	return NULL;
}

static void add_env(struct launch *launch, const char *variable)
{
	size_t name_n = strcspn(variable, "=");
	for (size_t i = 0; i < launch->n_env; i++) {
		if (strncmp(launch->env[i], variable, name_n) == 0 &&
			launch->env[i][name_n] == '=') {
			free(launch->env[i]);
			launch->env[i] = x_strdup(variable);
			return;
		}
	}
	array_grow(&launch->env, &launch->env_capacity, launch->n_env + 2, sizeof *launch->env);
	launch->env[launch->n_env++] = x_strdup(variable);
	launch->env[launch->n_env] = NULL;
}

static void make_env(struct launch *launch, const struct spawn_opts *opts, const char *home)
{
	static const char *const fixed[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8", "TERM=xterm-256color", "USER=sandbox", "LOGNAME=sandbox",
		"SHELL=/bin/bash"
	};
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		add_env(launch, fixed[i]);
	char *variable = x_asprintf("HOME=%s", home);
	add_env(launch, variable);
	free(variable);
	for (const char *const *e = opts->env; e != NULL && *e != NULL; e++)
		if (strchr(*e, '=') != NULL)
			add_env(launch, *e);
}

static void add_number(struct bwrap_args *args, const char *option, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	bwrap_add3(args, option, text, NULL);
}

static void add_daemon_args(struct launch *launch, const struct spawn_opts *opts,
	const char *program, const char *root, bool has_cgroup_memory)
{
	struct bwrap_args *args = &launch->args;
	bwrap_add(args, program);
	add_number(args, "--rest-fd", (uint64_t)launch->rest_fd);
	add_number(args, "--grpc-fd", (uint64_t)launch->grpc_fd);
	bwrap_add3(args, "--root-dir", root, NULL);
	if (opts->token_sha256 != NULL)
		bwrap_add3(args, "--auth-token-sha256", opts->token_sha256, NULL);
	if (opts->limits.pids > 0)
		add_number(args, "--limit-processes", opts->limits.pids);
	if (opts->limits.open_files > 0)
		add_number(args, "--limit-open-files", opts->limits.open_files);
	if (opts->limits.file_bytes > 0)
		add_number(args, "--limit-file-size", opts->limits.file_bytes);
	if (opts->limits.memory_bytes > 0 && !has_cgroup_memory)
		add_number(args, "--limit-address-space", opts->limits.memory_bytes);
}

static bool make_bwrap(struct launch *launch, struct spawn *spawn,
	const struct spawn_opts *opts, const char *program, struct err *err)
{
	struct bwrap_args *args = &launch->args;
	int info[2];
	char hostname[HOST_NAME_MAX];
	snprintf(hostname, sizeof hostname, "%s", opts->name);
	if (!bwrap_base(args, hostname, err))
		return false;
	if (pipe2(info, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	spawn->info_fd = info[0];
	launch->info_write = info[1];
	fcntl(info[0], F_SETFL, O_NONBLOCK);
	bwrap_add3(args, "--perms", "0755", NULL);
	bwrap_add3(args, "--dir", "/run/sandmux", NULL);
	bwrap_add3(args, "--ro-bind", program, inside_daemon);
	char **libs = libs_outside_system(program);
	for (size_t i = 0; libs[i] != NULL; i++)
		bwrap_add3(args, "--ro-bind", libs[i], libs[i]);
	libs_free(libs);
	bwrap_add3(args, "--bind", opts->workspace, "/workspace");
	bwrap_seal(args);
	bwrap_add3(args, "--chdir", "/workspace", NULL);
	if (!bwrap_add_env(args, launch->env, err))
		return false;
	launch->is_env_inside = true;
	add_number(args, "--info-fd", (uint64_t)info[1]);
	bwrap_add(args, "--");
	add_daemon_args(
		launch, opts, inside_daemon, "/workspace", cgroup_has(spawn->cgroup, "memory"));
	return true;
}

/* Passed on under its own number. */
static bool pass(int fd)
{
	return fd < 0 || fcntl(fd, F_SETFD, 0) == 0;
}

static void run_child(struct launch *launch, struct cgroup *cgroup, int error_fd)
{
	sigset_t none;
	struct sigaction act = { .sa_handler = SIG_DFL };
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &act, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cgroup_join(cgroup);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool ok = null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 &&
		  dup2(launch->log_fd >= 0 ? launch->log_fd : null, 2) >= 0;
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	ok = ok && pass(launch->rest_fd) && pass(launch->grpc_fd) && pass(launch->info_write);
	for (size_t i = 0; i < launch->args.n_fds; i++)
		ok = ok && pass(launch->args.fds[i]);
	static char *const no_env[] = { NULL };
	if (ok)
		execve(launch->args.words[0], launch->args.words,
			launch->is_env_inside ? no_env : launch->env);
	int errnum = errno;
	ssize_t n = write(error_fd, &errnum, sizeof errnum);
	_exit(n > 0 ? 127 : 126);
}

static bool fork_child(struct spawn *spawn, struct launch *launch, struct err *err)
{
	int error_pipe[2];
	if (pipe2(error_pipe, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid_t pid = fork();
	if (pid == 0)
		run_child(launch, spawn->cgroup, error_pipe[1]);
	int errnum = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(error_pipe[1]);
	ssize_t n = 0;
	if (pid > 0) {
		do
			n = read(error_pipe[0], &errnum, sizeof errnum);
		while (n < 0 && errno == EINTR);
	}
	close(error_pipe[0]);
	if (pid > 0 && n <= 0) {
		spawn->pid = pid;
		return true;
	}
	if (pid > 0)
		bwrap_reap(pid);
	return err_set_errno(err, errnum, "cannot run %s", launch->args.words[0]);
}

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
	if (cgroup_was_oom(spawn->cgroup))
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

static bool prepare(struct spawn *spawn, struct launch *launch, const struct spawn_opts *opts,
	const char *program, struct err *err)
{
	struct stat st;
	if (stat(opts->workspace, &st) != 0 || !S_ISDIR(st.st_mode))
		return err_set_errno(
			err, errno ? errno : ENOTDIR, "workspace %s", opts->workspace);
	launch->rest_fd = bind_at(opts->address, opts->rest_port, &spawn->rest_port, err);
	if (launch->rest_fd < 0)
		return false;
	launch->grpc_fd = bind_at(opts->address, opts->grpc_port, &spawn->grpc_port, err);
	if (launch->grpc_fd < 0)
		return false;
	if (opts->log_path != NULL) {
		launch->log_fd = open(opts->log_path,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (launch->log_fd < 0)
			return err_set_errno(err, errno, "%s", opts->log_path);
	}
	spawn->cgroup = cgroup_new(opts->uid, &opts->limits);
	bool is_plain = opts->mode == ISOLATION_NONE;
	make_env(launch, opts, is_plain ? opts->workspace : "/workspace");
	if (!is_plain)
		return make_bwrap(launch, spawn, opts, program, err);
	add_daemon_args(
		launch, opts, program, opts->workspace, cgroup_has(spawn->cgroup, "memory"));
	return true;
}

static void free_launch(struct launch *launch)
{
	const int fds[] = { launch->rest_fd, launch->grpc_fd, launch->info_write,
		launch->log_fd };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	for (size_t i = 0; i < launch->n_env; i++)
		free(launch->env[i]);
	free(launch->env);
	bwrap_free(&launch->args);
}

struct spawn *spawn_start(struct loop *loop, const struct spawn_opts *opts,
	spawn_exit_fn *on_exit, void *arg, struct err *err)
{
	char *program = find_daemon(opts, err);
	if (program == NULL) {
		if (opts->daemon_path != NULL)
			err_set_errno(err, errno, "%s", opts->daemon_path);
		return NULL;
	}
	struct spawn *spawn = x_calloc(1, sizeof *spawn);
	struct launch launch = { .rest_fd = -1, .grpc_fd = -1, .info_write = -1, .log_fd = -1 };
	spawn->loop = loop;
	spawn->on_exit = on_exit;
	spawn->arg = arg;
	spawn->pid_fd = spawn->info_fd = -1;
	errno = 0;
	bool ok = prepare(spawn, &launch, opts, program, err) &&
		  fork_child(spawn, &launch, err) && watch_child(spawn, err);
	free_launch(&launch);
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

const char *spawn_limits_text(const struct spawn *spawn)
{
	return cgroup_text(spawn->cgroup);
}
