// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/exec_child.h"

#include "engine/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

char *daemon_exec_child_find(const char *name)
{
	if (strchr(name, '/') != NULL)
		return x_strdup(name);
	const char *path = getenv("PATH");
	if (path == NULL)
		return NULL;
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, ":");
		char *candidate = x_asprintf("%.*s/%s", (int)n, n ? p : ".", name);
		/* a relative entry of PATH would run what lies in the daemon's folder */
		if (n > 0 && p[0] == '/' && is_program(candidate))
			return candidate;
		free(candidate);
		p += n;
		if (*p == 0)
			return NULL;
	}
}

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static void put(char **env, size_t *n, const char *variable)
{
	size_t name_n = name_length(variable);
	for (size_t i = 0; i < *n; i++) {
		if (name_length(env[i]) == name_n && strncmp(env[i], variable, name_n) == 0) {
			free(env[i]);
			env[i] = x_strdup(variable);
			return;
		}
	}
	env[(*n)++] = x_strdup(variable);
}

char **daemon_exec_child_env(char *const *extra, size_t n_extra)
{
	size_t n = 0, n_own = 0;
	while (environ[n_own] != NULL)
		n_own++;
	char **env = x_calloc(n_own + n_extra + 1, sizeof *env);
	for (size_t i = 0; i < n_own; i++)
		env[n++] = x_strdup(environ[i]);
	for (size_t i = 0; i < n_extra; i++)
		put(env, &n, extra[i]);
	return env;
}

void daemon_exec_child_env_free(char **env)
{
	if (env == NULL)
		return;
	for (size_t i = 0; env[i] != NULL; i++)
		free(env[i]);
	free(env);
}

static struct rlimit files_before;
static int score_fd = -1; /* /proc/self/oom_score_adj */
static char own_score[16];

static void open_score(void)
{
	score_fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	ssize_t n = score_fd >= 0 ? pread(score_fd, own_score, sizeof own_score - 1, 0) : 0;
	own_score[n > 0 ? n : 0] = 0;
}

void daemon_exec_child_raise_own_limits(void)
{
	open_score();
	if (getrlimit(RLIMIT_NOFILE, &files_before) != 0)
		return;
	struct rlimit raised = { files_before.rlim_max, files_before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &raised);
}

static void lower(__rlimit_resource_t resource, uint64_t value)
{
	struct rlimit limit;
	if (value == 0 || getrlimit(resource, &limit) != 0)
		return;
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = value;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

static void set_limits(const struct daemon_exec_child_limits *limits)
{
	if (files_before.rlim_max > 0)
		setrlimit(RLIMIT_NOFILE, &files_before);
	if (limits == NULL)
		return;
	lower(RLIMIT_NPROC, limits->processes);
	lower(RLIMIT_NOFILE, limits->open_files);
	lower(RLIMIT_FSIZE, limits->file_bytes);
	lower(RLIMIT_AS, limits->address_space_bytes);
	lower(RLIMIT_DATA, limits->data_bytes);
}

/* A job dies before the daemon when memory runs out. The daemon raises its own score around the fork, since a child
 * that cannot be read (jail.h) cannot open its own until it has run the program. */
static void offer_to_oom_killer(bool is_on)
{
	static const char job[] = "800";
	if (score_fd < 0)
		return;
	ssize_t n = is_on ? pwrite(score_fd, job, sizeof job - 1, 0)
			  : pwrite(score_fd, own_score, strlen(own_score), 0);
	(void)n; /* it is a wish */
}

/* Only calls that are allowed between fork and exec: other threads may hold any lock. */
static void run_child(const char *program, const struct daemon_exec_child_opts *opts,
	pid_t parent, int error_fd)
{
	struct sigaction act = { .sa_handler = SIG_DFL };
	sigset_t none;
	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &act, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* no orphan when the daemon is killed */
	if (getppid() != parent)          /* it was, before the signal was asked for */
		_exit(126);
	bool ok = opts->is_tty ? setsid() >= 0 : setpgid(0, 0) == 0;
	ok = ok && fchdir(opts->dir_fd) == 0;
	/* the three may overlap with 0…2 only if the daemon runs without them: main.c prevents it */
	ok = ok && dup2(opts->in, 0) >= 0 && dup2(opts->out, 1) >= 0 && dup2(opts->err, 2) >= 0;
	if (ok && opts->is_tty)
		ok = ioctl(0, TIOCSCTTY, 0) == 0;
	if (ok)
		set_limits(opts->limits);
	if (ok)
		execve(program, opts->argv, opts->env);
	int errnum = errno;
	ssize_t n = write(error_fd, &errnum, sizeof errnum);
	_exit(n == (ssize_t)sizeof errnum ? 127 : 126);
}

pid_t daemon_exec_child_start(const char *program, const struct daemon_exec_child_opts *opts)
{
	struct daemon_exec_child_opts with_env = *opts;
	if (with_env.env == NULL)
		with_env.env = environ;
	int error_pipe[2];
	if (pipe2(error_pipe, O_CLOEXEC) != 0)
		return -errno;
	/* no handler of ours may run in the child before it has reset them */
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	offer_to_oom_killer(true);
	pid_t self = getpid(), pid = fork();
	if (pid == 0)
		run_child(program, &with_env, self, error_pipe[1]);
	int errnum = errno;
	offer_to_oom_killer(false);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(error_pipe[1]);
	if (pid < 0) {
		close(error_pipe[0]);
		return -errnum;
	}
	ssize_t n;
	do
		n = read(error_pipe[0], &errnum, sizeof errnum);
	while (n < 0 && errno == EINTR);
	close(error_pipe[0]);
	if (n == (ssize_t)sizeof errnum) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return -errnum;
	}
	return pid;
}
