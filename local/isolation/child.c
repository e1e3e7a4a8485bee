// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/child.h"

#include "engine/base/err.h"
#include "local/isolation/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool isolation_child_pass(int fd)
{
	return fd < 0 || fcntl(fd, F_SETFD, 0) == 0;
}

bool isolation_child_become(uid_t uid)
{
	gid_t gid = (gid_t)uid;
	if (uid == 0)
		return true;
	if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
		setresuid(uid, uid, uid) != 0)
		return false;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user forgets it */
	return true;
}

static void run_child(const struct isolation_child_opts *opts, pid_t parent, int error_fd)
{
	sigset_t none;
	struct sigaction act = { .sa_handler = SIG_DFL };
	struct rlimit no_core = { 0, 0 };
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &act, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before the signal was asked for */
		_exit(126);
	if (!opts->may_dump_core)
		setrlimit(RLIMIT_CORE, &no_core);
	/* keys of whoever started the backend stay with them (session-keyring(7)) */
	if (!opts->keeps_keyring)
		syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 &&
		dup2(opts->log_fd >= 0 ? opts->log_fd : null, 2) >= 0 &&
		close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		opts->run(opts->arg);
	int errnum = errno;
	ssize_t n = write(error_fd, &errnum, sizeof errnum);
	_exit(n > 0 ? 127 : 126);
}

pid_t isolation_child_start(const struct isolation_child_opts *opts, struct err *err)
{
	int error_pipe[2];
	if (pipe2(error_pipe, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe"), 0;
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid_t self = getpid(), pid = fork();
	if (pid == 0)
		run_child(opts, self, error_pipe[1]);
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
		isolation_bwrap_reap(pid);
	return err_set_errno(err, errnum, "cannot run %s", opts->name), 0;
}
