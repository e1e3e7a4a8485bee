// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/launch.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
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
#include <unistd.h>

static const char inside_daemon[] = "/run/sandmux/sandboxd";

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

char *launch_find_daemon(const struct spawn_opts *opts, struct err *err)
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

static bool make_bwrap(struct launch *launch, struct cgroup *cgroup,
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
	launch->info_read = info[0];
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
		launch, opts, inside_daemon, "/workspace", cgroup_has(cgroup, CGROUP_MEMORY));
	return true;
}

/* Passed on under its own number. */
static bool pass(int fd)
{
	return fd < 0 || fcntl(fd, F_SETFD, 0) == 0;
}

/* When the machine runs out of memory a job goes first (exec_child.c raises it further), then its daemon, then the
 * backend. Anybody may raise it. */
static void offer_to_oom_killer(void)
{
	static const char score[] = "300";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, score, sizeof score - 1) < 0)
		errno = 0; /* it is higher already */
	close(fd);
}

static void run_child(struct launch *launch, struct cgroup *cgroup, pid_t parent, int error_fd)
{
	sigset_t none;
	struct sigaction act = { .sa_handler = SIG_DFL };
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &act, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before the signal was asked for */
		_exit(126);
	cgroup_join(cgroup);
	offer_to_oom_killer();
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

pid_t launch_fork(struct launch *launch, struct cgroup *cgroup, struct err *err)
{
	int error_pipe[2];
	if (pipe2(error_pipe, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe"), 0;
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid_t self = getpid(), pid = fork();
	if (pid == 0)
		run_child(launch, cgroup, self, error_pipe[1]);
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
	if (pid > 0 && n <= 0)
		return pid;
	if (pid > 0)
		bwrap_reap(pid);
	return err_set_errno(err, errnum, "cannot run %s", launch->args.words[0]), 0;
}

bool launch_prepare(struct launch *launch, const struct spawn_opts *opts, const char *program,
	struct cgroup *cgroup, struct err *err)
{
	struct stat st;
	if (stat(opts->workspace, &st) != 0)
		return err_set_errno(err, errno, "workspace %s", opts->workspace);
	if (!S_ISDIR(st.st_mode))
		return err_set_errno(err, ENOTDIR, "workspace %s", opts->workspace);
	launch->rest_fd = bind_at(opts->address, opts->rest_port, &launch->rest_port, err);
	if (launch->rest_fd < 0)
		return false;
	launch->grpc_fd = bind_at(opts->address, opts->grpc_port, &launch->grpc_port, err);
	if (launch->grpc_fd < 0)
		return false;
	if (opts->log_path != NULL) {
		launch->log_fd = open(opts->log_path,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (launch->log_fd < 0)
			return err_set_errno(err, errno, "%s", opts->log_path);
	}
	bool is_plain = opts->mode == ISOLATION_NONE;
	make_env(launch, opts, is_plain ? opts->workspace : "/workspace");
	if (!is_plain)
		return make_bwrap(launch, cgroup, opts, program, err);
	add_daemon_args(
		launch, opts, program, opts->workspace, cgroup_has(cgroup, CGROUP_MEMORY));
	return true;
}

void launch_deinit(struct launch *launch)
{
	const int fds[] = { launch->rest_fd, launch->grpc_fd, launch->info_read,
		launch->info_write, launch->log_fd };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	for (size_t i = 0; i < launch->n_env; i++)
		free(launch->env[i]);
	free(launch->env);
	bwrap_free(&launch->args);
}
