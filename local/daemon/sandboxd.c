// SPDX-License-Identifier: Apache-2.0
/* sandmux-sandboxd: the daemon inside one sandbox. In a jail it makes Unix sockets, which a process outside serves at the
 * sandbox's address; without one, for tests and --isolation none, it has TCP sockets: bound here, or passed in. */
#include "local/daemon/sandboxd.h"

#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/daemon/arguments.h"
#include "local/daemon/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* 0, 1 and 2 exist, and nothing else is passed on to the processes of the sandbox. */
static void tidy_descriptors(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (fd = 3; fd < 1024; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct daemon_program {
	struct net_loop *loop;
	struct daemon *daemon;
	int signal_fd;
};

/* As pid 1 only a signal from outside counts: its sender has no pid in here. A job may end itself, not the daemon. */
static void on_stop_signal(void *arg, bool is_readable, bool is_writable)
{
	struct daemon_program *program = arg;
	struct signalfd_siginfo info;
	(void)is_readable;
	(void)is_writable;
	while (read(program->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		if (getpid() != 1 || info.ssi_pid == 0)
			daemon_shutdown(program->daemon);
}

static struct net_watch_fd *watch_signals(struct daemon_program *program, struct err *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	/* blocked here, and reset in each program that is started */
	sigprocmask(SIG_BLOCK, &set, NULL);
	program->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (program->signal_fd < 0) {
		err_set_errno(err, errno, "signalfd");
		return NULL;
	}
	struct net_watch_fd *watch = net_watch_fd_new(
		program->loop, program->signal_fd, on_stop_signal, program, err);
	if (watch != NULL)
		net_watch_fd_want(watch, true, false);
	return watch;
}

static void on_stopped(void *arg)
{
	struct daemon_program *program = arg;
	net_loop_stop(program->loop);
}

static bool say_ready(struct daemon_arguments *args)
{
	if (args->ready_fd >= 0) {
		ssize_t n = write((int)args->ready_fd, "1", 1);
		close((int)args->ready_fd);
		return n == 1 || daemon_arguments_refuse("--ready-fd: %s", strerror(errno));
	}
	if (args->rest_fd < 0)
		daemon_sockets_print(args);
	return true;
}

static int serve(struct daemon_arguments *args)
{
	struct err err;
	struct daemon_program program = { .loop = net_loop_new(&err), .signal_fd = -1 };
	if (program.loop == NULL)
		return daemon_arguments_refuse("%s", err.msg), 1;
	args->daemon.on_stopped = on_stopped;
	args->daemon.arg = &program;
	struct net_watch_fd *signals = watch_signals(&program, &err);
	if (signals != NULL)
		program.daemon = daemon_new(program.loop, &args->daemon, &err);
	int status = 0;
	if (program.daemon == NULL) {
		daemon_arguments_refuse("%s", err.msg);
		status = 1;
	} else if (!say_ready(args)) {
		status = 1;
	} else {
		net_loop_run(program.loop);
	}
	daemon_free(program.daemon);
	net_watch_fd_free(signals);
	if (program.signal_fd >= 0)
		close(program.signal_fd);
	net_loop_free(program.loop);
	return status;
}

int daemon_main(int argc, char **argv)
{
	struct daemon_arguments args;
	int status = daemon_arguments_parse(&args, argc, argv);
	if (status >= 0)
		return status;
	tidy_descriptors();
	int death_signal = 0;
	prctl(PR_GET_PDEATHSIG, &death_signal);
	if (death_signal == 0) /* bubblewrap has set a harder one */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	daemon_exec_child_raise_own_limits();
	log_set_stderr(true);
	struct err err;
	bool is_jailed = args.socket_dir != NULL || args.jail.has_own_userns;
	if (is_jailed && !daemon_jail_enter(&args.jail, &err))
		return daemon_arguments_refuse("%s", err.msg), 1;
	if (!daemon_sockets_open(&args))
		return 1;
	return serve(&args);
}
