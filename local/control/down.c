// SPDX-License-Identifier: Apache-2.0
/* Stopping the backend, and forgetting everything it kept. */
#include "local/control/state.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "local/control/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TERM_MS = 8000, KILL_MS = 3000, LOOK_MS = 20 };

/* The pid file may be older than the lock's holder: never signal a stranger. */
static bool is_backend(pid_t pid)
{
	char path[64], name[32] = "";
	snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool ok = fgets(name, sizeof name, f) && strncmp(name, "sandmux-locald", 14) == 0;
	fclose(f);
	return ok;
}

static bool wait_gone(struct control_status *status, int64_t ms)
{
	int64_t end = clock_mono_ms() + ms;
	struct timespec pause = { 0, LOOK_MS * 1000000 };
	do {
		state_look(status);
		if (!status->is_running)
			return true;
		nanosleep(&pause, NULL);
	} while (clock_mono_ms() < end);
	return false;
}

bool control_down(const struct control_opts *opts, struct err *err)
{
	static const struct {
		int signal;
		int64_t ms;
	} steps[] = { { SIGTERM, TERM_MS }, { SIGKILL, KILL_MS } };
	struct control_status status;
	if (!state_find(opts, &status, err))
		return false;
	for (int i = 0; i < 2; i++) {
		state_look(&status);
		if (!status.is_running)
			return true;
		if (status.pid <= 1 || !is_backend(status.pid))
			return err_set(err, ERR_SYSTEM,
				"%.300s is held by a process that is not known",
				status.state_dir);
		if (kill(status.pid, steps[i].signal) != 0 && errno != ESRCH)
			return err_set_errno(
				err, errno, "cannot stop process %ld", (long)status.pid);
		if (wait_gone(&status, steps[i].ms))
			return true;
	}
	return err_set(err, ERR_OP_TIMEOUT, "process %ld does not end", (long)status.pid);
}

bool control_reset(const struct control_opts *opts, struct err *err)
{
	/* by name: a wrong --state-dir must not cost anything but ours */
	static const char *const ours[] = { "objects.db", "objects.db-wal", "objects.db-shm",
		"tls", "token", "daemon-token", "kubeconfig", "pods", "volumes", "trash", "pid",
		"locald.log", "locald.stderr", "lock" };
	struct control_status status;
	if (!control_down(opts, err) || !state_find(opts, &status, err))
		return false;
	int fd = open(status.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || err_set_errno(err, errno, "%s", status.state_dir);
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		remove_tree(fd, ours[i]);
	close(fd);
	if (rmdir(status.state_dir) != 0 && errno != ENOENT && errno != ENOTEMPTY &&
		errno != EEXIST)
		return err_set_errno(err, errno, "%s", status.state_dir);
	return true;
}
