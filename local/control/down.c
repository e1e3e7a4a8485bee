// SPDX-License-Identifier: Apache-2.0
/* Stopping the backend, and forgetting everything it kept. */
#include "local/control/state.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "local/control/remove.h"

#include <dirent.h>
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
		control_state_look(status);
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
	if (!control_state_find(opts, &status, err))
		return false;
	for (int i = 0; i < 2; i++) {
		control_state_look(&status);
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

/* By name: a wrong --state-dir must not cost anything but ours. The lock goes last and only then: a reset that was cut
 * short can be repeated. */
static const char *const ours[] = { "objects.db", "objects.db-wal", "objects.db-shm",
	"objects.db-journal", "tls", "token", "daemon-token", "kubeconfig", "pods", "volumes",
	"quarantine", "trash", "pid", "limits.json", "locald.log", "locald.stderr" };

static bool is_leftover(const char *name)
{
	return strncmp(name, ".removing-", 10) == 0 || file_is_temp(name);
}

/* Temporary files of a backend or a reset that was killed. */
static void remove_leftovers(int dir_fd, struct control_remove_report *report)
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL)
		if (is_leftover(e->d_name))
			control_remove_tree(dir_fd, e->d_name, report);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* Another program's folder may have a "volumes" or a "token" too. */
static bool is_state_folder(int fd)
{
	static const char *const signs[] = { "lock", "objects.db", "locald.stderr" };
	bool found = false;
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		found = found || faccessat(fd, signs[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	return found;
}

static bool fail_left(
	const char *dir, const struct control_remove_report *report, struct err *err)
{
	return err_set(err, ERR_SYSTEM, "%zu entries are left, the first is %.200s/%.120s: %s",
		report->n_left, dir, report->path,
		report->errnum == EXDEV ? "a mount point, which is not entered"
					: strerror(report->errnum));
}

static bool remove_state(const char *dir, int fd, struct err *err)
{
	struct control_remove_report report = { 0 };
	if (!is_state_folder(fd)) {
		for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
			if (faccessat(fd, ours[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
				return err_set(err, ERR_ARG_INVALID,
					"%.300s is not a state folder: there is no lock in it",
					dir);
		return true;
	}
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		control_remove_tree(fd, ours[i], &report);
	remove_leftovers(fd, &report);
	if (report.n_left == 0)
		control_remove_tree(fd, "lock", &report);
	return report.n_left == 0 || fail_left(dir, &report, err);
}

bool control_reset(const struct control_opts *opts, struct err *err)
{
	struct control_status status;
	if (!control_down(opts, err) || !control_state_find(opts, &status, err))
		return false;
	int fd = open(status.state_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || err_set_errno(err, errno, "%s", status.state_dir);
	bool ok = remove_state(status.state_dir, fd, err);
	close(fd);
	if (ok && rmdir(status.state_dir) != 0 && errno != ENOENT && errno != ENOTEMPTY &&
		errno != EEXIST && errno != EBUSY)
		return err_set_errno(err, errno, "%s", status.state_dir);
	return ok;
}
