// SPDX-License-Identifier: Apache-2.0
/* The backend's program does it, since only it knows the store. */
#include "local/control/state.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static pid_t start(const char *locald, const char *dir, int out, int ready)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	static char state_dir[] = "--state-dir", recover[] = "--recover",
		    ready_fd[] = "--ready-fd";
	char number[16], *program = x_strdup(locald), *folder = x_strdup(dir);
	char *const argv[] = { program, recover, state_dir, folder, ready_fd, number, NULL };
	int null = open("/dev/null", O_RDWR);
	snprintf(number, sizeof number, "%d", ready);
	fcntl(ready, F_SETFD, 0);
	dup2(null, 0);
	dup2(out, 1);
	dup2(null, 2);
	execv(program, argv);
	dprintf(ready, "system: cannot run %.300s: %s\n", program, strerror(errno));
	_exit(127);
}

/* To the end, keeping what fits. */
static void read_all(int fd, struct str *out)
{
	char bytes[4096];
	ssize_t n;
	while ((n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			str_add_bytes(out, bytes, (size_t)n);
}

static bool run(const char *locald, const char *dir, struct str *report, struct err *err)
{
	int out[2], ready[2], status = -1;
	struct str line;
	if (pipe2(out, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	if (pipe2(ready, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "pipe");
		close(out[0]);
		close(out[1]);
		return false;
	}
	pid_t pid = start(locald, dir, out[1], ready[1]);
	close(out[1]);
	close(ready[1]);
	str_init(&line, LINE_BYTES);
	if (pid > 0) {
		/* the line of a failure fits into its pipe */
		read_all(out[0], report);
		read_all(ready[0], &line);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(out[0]);
	close(ready[0]);
	bool ok = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!ok) {
		char *text =
			x_strndup(line.p ? line.p : "", strcspn(line.p ? line.p : "", "\n"));
		control_state_parse_failure(text, err);
		free(text);
	}
	str_deinit(&line);
	return ok;
}

bool control_recover(const struct control_opts *opts, struct str *report, struct err *err)
{
	struct control_status status;
	if (!control_state_find(opts, &status, err))
		return false;
	control_state_look(&status);
	if (status.is_running)
		return err_set(err, ERR_OP_BUSY,
			"the local backend runs, so its store is sound; stop it first: sandmux local"
			" down");
	char *locald = control_state_find_locald(opts->locald, err);
	bool ok = locald && run(locald, status.state_dir, report, err);
	free(locald);
	return ok;
}
