// SPDX-License-Identifier: Apache-2.0
#include "engine/net/pty.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "engine/net/work_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
	READ_BYTES = 16 << 10,
	HELD_BYTES_MAX = 1 << 20, /* input that it has not taken */
	POLL_MS = 10,
	HANGUP_MS = 2000, /* from SIGHUP to SIGKILL */
};

struct net_pty {
	struct net_loop *loop;
	int fd;
	pid_t pid;
	struct net_watch_fd *watch; /* NULL: its output has ended */
	struct net_loop_timer *poll;
	size_t ahead;
	char *held;
	size_t n_held, capacity;
	void (*on_output)(void *arg, struct slice bytes);
	void (*on_exit)(void *arg, int exit_code);
	void (*on_drained)(void *arg);
	void *arg;
};

static void want(struct net_pty *pty)
{
	if (pty->watch)
		net_watch_fd_want(pty->watch, pty->ahead<NET_PTY_AHEAD_BYTES, pty->n_held> 0);
}

static void on_poll(void *arg)
{
	struct net_pty *pty = arg;
	int status = 0;
	pid_t ended = waitpid(pty->pid, &status, WNOHANG);
	if (ended == 0) {
		net_loop_timer_arm(pty->poll, POLL_MS);
		return;
	}
	pty->pid = 0;
	pty->on_exit(pty->arg, ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* EIO: nobody has the other end open any more. */
static void output_ended(struct net_pty *pty)
{
	net_watch_fd_free(pty->watch);
	pty->watch = NULL;
	net_loop_timer_arm(pty->poll, 0);
}

static void take_output(struct net_pty *pty)
{
	char bytes[READ_BYTES];
	ssize_t n = read(pty->fd, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		output_ended(pty);
		return;
	}
	pty->ahead += (size_t)n;
	want(pty);
	pty->on_output(pty->arg, (struct slice){ bytes, (size_t)n });
}

static void give_input(struct net_pty *pty)
{
	ssize_t n = pty->n_held ? write(pty->fd, pty->held, pty->n_held) : 0;
	if (n <= 0)
		return;
	pty->n_held -= (size_t)n;
	memmove(pty->held, pty->held + n, pty->n_held);
	want(pty);
	if (!pty->n_held && pty->on_drained)
		pty->on_drained(pty->arg);
}

static void on_ready(void *arg, bool is_readable, bool is_writable)
{
	struct net_pty *pty = arg;
	if (is_writable)
		give_input(pty);
	if (is_readable)
		take_output(pty);
}

bool net_pty_write(struct net_pty *pty, struct slice bytes, struct err *err)
{
	if (pty->n_held + bytes.n > HELD_BYTES_MAX)
		return err_set(err, ERR_LIMIT_UPLOAD, "the program does not read its terminal");
	array_grow(&pty->held, &pty->capacity, pty->n_held + bytes.n, 1);
	memcpy(pty->held + pty->n_held, bytes.p, bytes.n);
	pty->n_held += bytes.n;
	want(pty);
	return true;
}

void net_pty_on_drained(struct net_pty *pty, void (*fn)(void *arg))
{
	pty->on_drained = fn;
}

void net_pty_consumed(struct net_pty *pty, size_t n)
{
	pty->ahead -= n < pty->ahead ? n : pty->ahead;
	want(pty);
}

void net_pty_resize(struct net_pty *pty, int cols, int rows)
{
	const struct winsize size = { .ws_row = (unsigned short)rows,
		.ws_col = (unsigned short)cols };
	ioctl(pty->fd, TIOCSWINSZ, &size);
}

/* ---- its begin */

static size_t name_length(const char *pair)
{
	return strcspn(pair, "=");
}

/* Ours with these instead of those of the same name; the array is the caller's to free. The size is the terminal's. */
static char **make_environment(const char *const *own)
{
	size_t n = 0, n_own = 0, at = 0;
	while (environ[n])
		n++;
	while (own && own[n_own])
		n_own++;
	char **all = x_calloc(n + n_own + 1, sizeof *all);
	for (size_t i = 0; i < n; i++) {
		size_t length = name_length(environ[i]);
		bool is_replaced = strncmp(environ[i], "LINES=", 6) == 0 ||
				   strncmp(environ[i], "COLUMNS=", 8) == 0;
		for (size_t k = 0; k < n_own; k++)
			is_replaced =
				is_replaced || (name_length(own[k]) == length &&
						       memcmp(own[k], environ[i], length) == 0);
		if (!is_replaced)
			all[at++] = environ[i];
	}
	for (size_t i = 0; i < n_own; i++)
		all[at++] = (char *)(uintptr_t)own[i];
	return all;
}

/* A session of its own: what it opens first is its terminal, and no signal of ours reaches it. */
static int spawn(struct net_pty *pty, const struct net_pty_opts *opts, const char *terminal)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	char **env = make_environment(opts->env);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int failed = posix_spawnp(&pty->pid, opts->argv[0], &actions, &attr,
		(char *const *)(uintptr_t)opts->argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(env);
	if (failed)
		pty->pid = 0;
	return failed;
}

struct net_pty *net_pty_start(
	struct net_loop *loop, const struct net_pty_opts *opts, struct err *err)
{
	char terminal[64];
	struct net_pty *pty = x_calloc(1, sizeof *pty);
	pty->loop = loop;
	pty->on_output = opts->on_output;
	pty->on_exit = opts->on_exit;
	pty->arg = opts->arg;
	pty->poll = net_loop_timer_new(loop, on_poll, pty);
	pty->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (pty->fd < 0 || grantpt(pty->fd) != 0 || unlockpt(pty->fd) != 0 ||
		ptsname_r(pty->fd, terminal, sizeof terminal) != 0) {
		err_set_errno(err, errno, "a terminal for %s", opts->argv[0]);
		goto fail;
	}
	net_pty_resize(pty, opts->cols, opts->rows);
	pty->watch = net_watch_fd_new(loop, pty->fd, on_ready, pty, err);
	if (!pty->watch)
		goto fail;
	int failed = spawn(pty, opts, terminal);
	if (failed) {
		err_set_errno(err, failed, "%s", opts->argv[0]);
		goto fail;
	}
	want(pty);
	return pty;
fail:
	net_pty_free(pty);
	return NULL;
}

/* ---- its end */

struct hangup {
	pid_t pid;
};

static void run_hangup(void *arg, const atomic_bool *is_cancelled)
{
	const struct hangup *hangup = arg;
	const struct timespec step = { 0, POLL_MS * 1000000L };
	(void)is_cancelled;
	for (int waited = 0; waited < HANGUP_MS; waited += POLL_MS) {
		if (waitpid(hangup->pid, NULL, WNOHANG) != 0)
			return;
		nanosleep(&step, NULL);
	}
	kill(-hangup->pid, SIGKILL);
	kill(hangup->pid, SIGKILL);
	waitpid(hangup->pid, NULL, 0);
}

static void hangup_done(void *arg)
{
	(void)arg;
}

static const struct net_work_kind hangups = { "hang-up", 4, run_hangup, hangup_done, free };

void net_pty_free(struct net_pty *pty)
{
	if (!pty)
		return;
	net_watch_fd_free(pty->watch);
	net_loop_timer_free(pty->poll);
	if (pty->pid > 0) {
		struct hangup *hangup = x_calloc(1, sizeof *hangup);
		hangup->pid = pty->pid;
		kill(-pty->pid, SIGHUP);
		net_work_start(pty->loop, &hangups, hangup);
	}
	if (pty->fd >= 0)
		close(pty->fd);
	free(pty->held);
	free(pty);
}
