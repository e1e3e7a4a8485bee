// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/isolation.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/child.h"
#include "local/isolation/owner.h"
#include "local/isolation/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHECK_MS = 5000 };

const char isolation_none_warning[] =
	"without isolation a sandbox is a plain folder: its processes run as you, see all your "
	"files and use the network";

static const char *const names[] = { [ISOLATION_BWRAP] = "bwrap", [ISOLATION_NONE] = "none" };
_Static_assert(sizeof names / sizeof names[0] == ISOLATION_MODE_COUNT, "a name each");

const char *isolation_mode_name(enum isolation_mode mode)
{
	return names[mode];
}

bool isolation_mode_parse(const char *text, enum isolation_mode *mode)
{
	for (int i = 0; i < ISOLATION_MODE_COUNT; i++) {
		if (strcmp(text, names[i]) == 0) {
			*mode = (enum isolation_mode)i;
			return true;
		}
	}
	return false;
}

static bool setting_is(const char *path, const char *value)
{
	size_t n;
	char *text = file_read(path, 64, &n, NULL);
	bool is = text != NULL && strncmp(text, value, strlen(value)) == 0 &&
		  (text[strlen(value)] == '\n' || text[strlen(value)] == 0);
	free(text);
	return is;
}

/* Known reasons, most telling first. */
static const char *advice(const char *output)
{
	if (setting_is("/proc/sys/user/max_user_namespaces", "0"))
		return "; user namespaces are switched off: sysctl user.max_user_namespaces=10000";
	if (setting_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return "; user namespaces are for root only: sysctl "
		       "kernel.unprivileged_userns_clone=1";
	if (setting_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		return "; AppArmor restricts user namespaces: allow bwrap in a profile, or sysctl "
		       "kernel.apparmor_restrict_unprivileged_userns=0";
	if (strstr(output, "proc") != NULL)
		return "; an outer container hides parts of /proc, so no new one can be mounted: "
		       "run it unconfined (for Docker: --security-opt systempaths=unconfined)";
	if (strstr(output, "ermitted") != NULL || strstr(output, "ermission") != NULL)
		return "; creating namespaces is not allowed here (a container or a seccomp "
		       "profile)";
	return "";
}

/* Reads all output until the end or the deadline; kills the child at the deadline. */
static bool collect(int fd, pid_t pid, char *text, size_t size)
{
	size_t n = 0;
	int64_t end = clock_mono_ms() + CHECK_MS;
	bool in_time = false;
	for (;;) {
		int64_t left = end - clock_mono_ms();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR))
			break;
		if (p.revents == 0)
			continue;
		char rest[256];
		bool has_room = n < size - 1;
		ssize_t got = read(
			fd, has_room ? text + n : rest, has_room ? size - 1 - n : sizeof rest);
		if (got <= 0) {
			in_time = true;
			break;
		}
		if (has_room)
			n += (size_t)got;
	}
	text[n] = 0;
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = 0;
	if (!in_time)
		kill(pid, SIGKILL);
	return in_time;
}

/* As root as one of the users that sandboxes get: what root may do proves nothing. */
static bool become_tenant(void)
{
	const struct isolation_stage nothing = { 0 };
	if (geteuid() != 0)
		return true;
	if (isolation_stage_enter(&nothing) && isolation_child_become(OWNER_LAST))
		return true;
	dprintf(2, "root may not mount here or become another user: %s", strerror(errno));
	return false;
}

static pid_t run(struct isolation_bwrap_args *args, int out)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	int null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(out, 2);
	if (!become_tenant())
		_exit(126);
	for (size_t i = 0; i < args->n_fds; i++)
		fcntl(args->fds[i], F_SETFD, 0);
	execv(args->words[0], args->words);
	_exit(127);
}

bool isolation_check(struct err *err)
{
	struct isolation_bwrap_args args = { 0 };
	int fds[2];
	if (!isolation_bwrap_base(&args, "check", 0, err)) {
		isolation_bwrap_free(&args);
		return false;
	}
	isolation_bwrap_seal(&args);
	isolation_bwrap_add3(&args, "--", "/bin/true", NULL);
	if (pipe2(fds, O_CLOEXEC) != 0) {
		isolation_bwrap_free(&args);
		return err_set_errno(err, errno, "pipe");
	}
	pid_t pid = run(&args, fds[1]);
	close(fds[1]);
	isolation_bwrap_free(&args);
	if (pid < 0) {
		close(fds[0]);
		return err_set_errno(err, errno, "cannot run bubblewrap");
	}
	char output[256];
	bool in_time = collect(fds[0], pid, output, sizeof output);
	close(fds[0]);
	int status = isolation_bwrap_reap(pid);
	if (!in_time)
		return err_set(err, ERR_LOCAL_ISOLATION, "bubblewrap did not answer in 5 s");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	return err_set(err, ERR_LOCAL_ISOLATION, "bubblewrap does not work here: %s%s",
		*output ? output : "it failed without a word", advice(output));
}
