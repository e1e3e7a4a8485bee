// SPDX-License-Identifier: Apache-2.0
/* Starting the backend.
 *
 *   look ──ready──> done
 *     │ held, not ready: somebody else starts it ──> look again in 30 ms
 *     └ free ──> fork, setsid, fork, exec (systemd-run) sandmux-locald ──> its first line: "ready …" or why not
 *
 * Two that start it at once both get here; the second backend finds the lock taken, and its starter
 * looks again. */
#include "local/control/state.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/control/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_MS = 20000, LOOK_MS = 30, LINE_BYTES = 1024 };

struct control_up {
	struct net_loop *loop;
	struct control_status status;
	char *locald, *isolation, *daemon_auth;
	control_up_fn *done;
	void *arg;
	struct net_loop_timer *look, *deadline;
	struct net_watch_fd *watch;
	int fd; /* the backend's first line */
	char line[LINE_BYTES];
	size_t n;
	bool is_over;
};

static void up_free(void *arg)
{
	struct control_up *up = arg;
	net_watch_fd_free(up->watch);
	if (up->fd >= 0)
		close(up->fd);
	net_loop_timer_free(up->look);
	net_loop_timer_free(up->deadline);
	free(up->locald);
	free(up->isolation);
	free(up->daemon_auth);
	free(up);
}

static void finish(struct control_up *up, const struct err *err)
{
	if (up->is_over)
		return;
	up->is_over = true;
	net_loop_defer(up->loop, up_free, up);
	net_loop_timer_disarm(up->look);
	net_loop_timer_disarm(up->deadline);
	if (up->watch)
		net_watch_fd_want(up->watch, false, false);
	up->done(up->arg, err, err ? NULL : &up->status);
}

static void on_deadline(void *arg)
{
	struct control_up *up = arg;
	struct err err = { 0 };
	err_set(&err, ERR_OP_TIMEOUT, "the local backend did not get ready; see %.300s",
		up->status.log);
	finish(up, &err);
}

char *control_state_find_locald(const char *given, struct err *err)
{
	char *found = given ? x_strdup(given) : file_find_program("sandmux-locald", err);
	if (!found && err)
		err->code = ERR_LOCAL_NOT_RUNNING;
	return found;
}

/* argv has room for SCOPE_WORDS before it. Returns only if systemd-run could not be run. */
static void exec_in_scope(char **argv)
{
	char *prefix[SCOPE_WORDS];
	size_t n = control_scope_prefix(prefix);
	memcpy(argv - n, prefix, n * sizeof *prefix);
	execvp(prefix[0], argv - n);
}

/* In the grandchild: nothing of ours stays open but the descriptor of the first line. */
static void exec_backend(const struct control_up *up, int ready_fd, const char *errors)
{
	static char state_dir[] = "--state-dir", ready[] = "--ready-fd",
		    isolation[] = "--isolation", daemon_auth[] = "--daemon-auth";
	char number[16], dir[PATH_MAX];
	/* room for the words of systemd-run before it */
	char *words[SCOPE_WORDS + 16], **argv = words + SCOPE_WORDS;
	size_t n = 0;
	argv[n++] = up->locald;
	argv[n++] = state_dir;
	argv[n++] = dir;
	argv[n++] = ready;
	argv[n++] = number;
	memcpy(dir, up->status.state_dir, sizeof dir);
	sigset_t none;
	snprintf(number, sizeof number, "%d", ready_fd);
	if (up->isolation) {
		argv[n++] = isolation;
		argv[n++] = up->isolation;
	}
	if (up->daemon_auth) {
		argv[n++] = daemon_auth;
		argv[n++] = up->daemon_auth;
	}
	argv[n] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_RDWR);
	int log = open(errors, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	dup2(null, 0);
	dup2(log >= 0 ? log : null, 1);
	dup2(log >= 0 ? log : null, 2);
	if (chdir("/") != 0)
		_exit(126);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != ready_fd)
			close(fd);
	if (control_scope_works(ready_fd))
		exec_in_scope(argv);
	execv(up->locald, argv);
	dprintf(ready_fd, "system: cannot run %.300s: %s\n", up->locald, strerror(errno));
	_exit(127);
}

static bool start_backend(struct control_up *up, struct err *err)
{
	int fds[2];
	if (!file_make_dirs(up->status.state_dir, 0700, err))
		return false;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	char *errors = path_join(up->status.state_dir, "locald.stderr");
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		fcntl(fds[1], F_SETFD, 0);
		exec_backend(up, fds[1], errors);
	}
	int error = errno;
	free(errors);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_set_errno(err, error, "fork");
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	up->fd = fds[0];
	return true;
}

static void on_look(void *arg);

/* "kube.conflict: text" back into an error. */
void control_state_parse_failure(const char *line, struct err *err)
{
	const char *colon = strstr(line, ": ");
	for (int code = 1; colon && code < ERR_CODE_COUNT; code++) {
		const char *name = err_code_name((enum err_code)code);
		if (strlen(name) == (size_t)(colon - line) &&
			strncmp(line, name, (size_t)(colon - line)) == 0) {
			err_set(err, (enum err_code)code, "%.400s", colon + 2);
			return;
		}
	}
	err_set(err, ERR_LOCAL_NOT_RUNNING, "%.400s",
		*line ? line : "the local backend ended before it was ready");
}

static void on_line(struct control_up *up)
{
	struct err err = { 0 };
	up->line[up->n] = '\0';
	up->line[strcspn(up->line, "\n")] = '\0';
	control_state_look(&up->status);
	if (up->status.is_ready) {
		finish(up, NULL);
		return;
	}
	control_state_parse_failure(up->line, &err);
	if (err.code == ERR_OP_ALREADY_OPEN || strncmp(up->line, "ready", 5) == 0)
		net_loop_timer_arm(up->look, LOOK_MS);
	else
		finish(up, &err);
}

static void on_readable(void *arg, bool is_readable, bool is_writable)
{
	struct control_up *up = arg;
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(up->fd, up->line + up->n, sizeof up->line - 1 - up->n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		up->n += (size_t)n;
	if (n > 0 && !memchr(up->line, '\n', up->n) && up->n < sizeof up->line - 1)
		return;
	net_watch_fd_want(up->watch, false, false);
	on_line(up);
}

static void on_look(void *arg)
{
	struct control_up *up = arg;
	struct err err = { 0 };
	control_state_look(&up->status);
	if (up->status.is_ready) {
		finish(up, NULL);
	} else if (up->status.is_running || up->fd >= 0) {
		if (!up->status.is_running)
			finish(up,
				(err_set(&err, ERR_LOCAL_NOT_RUNNING,
					 "the local backend ended before it was ready; see %.300s",
					 up->status.log),
					&err));
		else
			net_loop_timer_arm(up->look, LOOK_MS);
	} else if (!start_backend(up, &err)) {
		finish(up, &err);
	} else {
		up->watch = net_watch_fd_new(up->loop, up->fd, on_readable, up, &err);
		if (up->watch)
			net_watch_fd_want(up->watch, true, false);
		else
			finish(up, &err);
	}
}

struct control_up *control_up_start(struct net_loop *loop, const struct control_opts *opts,
	control_up_fn *done, void *arg, struct err *err)
{
	struct control_up *up = x_calloc(1, sizeof *up);
	up->loop = loop;
	up->fd = -1;
	up->done = done;
	up->arg = arg;
	up->isolation = x_strdup(opts->isolation);
	up->daemon_auth = x_strdup(opts->daemon_auth);
	up->locald = control_state_find_locald(opts->locald, err);
	if (!up->locald || !control_state_find(opts, &up->status, err)) {
		up_free(up);
		return NULL;
	}
	up->look = net_loop_timer_new(loop, on_look, up);
	up->deadline = net_loop_timer_new(loop, on_deadline, up);
	net_loop_timer_arm(up->look, 0);
	net_loop_timer_arm(
		up->deadline, opts->timeout_ms > 0 ? opts->timeout_ms : DEFAULT_TIMEOUT_MS);
	return up;
}

void control_up_cancel(struct control_up *up)
{
	if (!up || up->is_over)
		return;
	up->is_over = true;
	up_free(up);
}

/* ---- the blocking form: a loop of its own ---- */

struct waiting {
	struct net_loop *loop;
	struct control_status *status;
	struct err *err;
	bool ok;
};

static void on_done(void *arg, const struct err *err, const struct control_status *status)
{
	struct waiting *w = arg;
	w->ok = err == NULL;
	if (err)
		err_copy(w->err, err);
	else
		*w->status = *status;
	net_loop_stop(w->loop);
}

bool control_ensure_running(
	const struct control_opts *opts, struct control_status *status, struct err *err)
{
	struct waiting w = { .status = status, .err = err };
	w.loop = net_loop_new(err);
	if (!w.loop)
		return false;
	if (control_up_start(w.loop, opts, on_done, &w, err))
		net_loop_run(w.loop);
	net_loop_free(w.loop);
	return w.ok;
}
