// SPDX-License-Identifier: Apache-2.0
/* Where the state is, and whether somebody holds it. */
#include "local/control/state.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "local/control/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static bool join(char out[PATH_MAX], const char *dir, const char *name, struct err *err)
{
	int n = snprintf(out, PATH_MAX, "%s%s%s", dir, *name ? "/" : "", name);
	return (n > 0 && n < PATH_MAX) ||
	       err_set(err, ERR_ARG_INVALID, "the state directory's name is too long");
}

static bool is_trusted(const char *dir, struct err *err)
{
	struct err why = { 0 };
	if (control_private_check(dir, &why) || why.sys == ENOENT)
		return true;
	err_copy(err, &why);
	return false;
}

bool control_state_find(
	const struct control_opts *opts, struct control_status *status, struct err *err)
{
	const char *given = opts->state_dir ? opts->state_dir : getenv("SANDMUX_LOCAL_DIR");
	char *dir = NULL;
	memset(status, 0, sizeof *status);
	if (!given || !*given) {
		char *base = file_xdg_dir(FILE_STATE, err);
		if (!base)
			return false;
		given = dir = path_join(base, "local");
		free(base);
	} else if (*given != '/') {
		/* the backend is started from another folder, and writes the name down */
		char here[PATH_MAX];
		if (!getcwd(here, sizeof here)) {
			free(dir);
			return err_set(err, ERR_SYSTEM, "the current folder has no name");
		}
		given = dir = path_join(here, given);
	}
	bool ok = join(status->state_dir, given, "", err) &&
		  join(status->kubeconfig, given, "kubeconfig", err) &&
		  join(status->log, given, "locald.log", err) &&
		  is_trusted(status->state_dir, err);
	free(dir);
	return ok;
}

static bool is_locked(const char *dir)
{
	char *path = path_join(dir, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	free(path);
	if (fd < 0)
		return false;
	bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
	close(fd);
	return locked;
}

void control_state_look(struct control_status *status)
{
	size_t n;
	int64_t pid = 0, port = 0;
	status->is_running = is_locked(status->state_dir);
	status->is_ready = false;
	status->pid = 0;
	status->port = 0;
	if (!status->is_running)
		return;
	char *path = path_join(status->state_dir, "pid");
	char *text = file_read(path, 128, &n, NULL);
	free(path);
	if (!text)
		return;
	text[strcspn(text, "\n")] = '\0';
	char *space = strchr(text, ' ');
	if (space)
		*space++ = '\0';
	if (num_parse_i64(text, 2, INT32_MAX, &pid))
		status->pid = (pid_t)pid;
	if (space && num_parse_i64(space, 1, 65535, &port)) {
		status->port = (uint16_t)port;
		status->is_ready = true;
	}
	free(text);
}

bool control_get_status(
	const struct control_opts *opts, struct control_status *status, struct err *err)
{
	if (!control_state_find(opts, status, err))
		return false;
	control_state_look(status);
	return true;
}
