// SPDX-License-Identifier: Apache-2.0
#include "local/control/scope.h"

#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "local/control/control.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 300, TRY_NS = 10000000 };

size_t control_scope_prefix(char *words[static SCOPE_WORDS])
{
	static char run[] = "systemd-run", user[] = "--user", scope[] = "--scope",
		    quiet[] = "--quiet", collect[] = "--collect",
		    delegate[] = "--property=Delegate=yes", end[] = "--";
	size_t n = 0;
	words[n++] = run;
	if (geteuid() != 0)
		words[n++] = user;
	words[n++] = scope;
	words[n++] = quiet;
	words[n++] = collect;
	words[n++] = delegate;
	words[n++] = end;
	return n;
}

/* Without a manager systemd-run would wait for one, or ask for a password. */
static bool is_manager_there(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const char *dir = geteuid() == 0 ? "/run" : getenv("XDG_RUNTIME_DIR");
	int n = snprintf(un.sun_path, sizeof un.sun_path, "%s/systemd/private",
		dir && *dir == '/' ? dir : "/nonexistent");
	if (n < 0 || n >= (int)sizeof un.sun_path)
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is = fd >= 0 && connect(fd, (struct sockaddr *)&un, sizeof un) == 0;
	if (fd >= 0)
		close(fd);
	return is;
}

static void run_trial(int private_fd)
{
	static char trial[] = "true";
	char *argv[SCOPE_WORDS + 2];
	size_t n = control_scope_prefix(argv);
	argv[n++] = trial;
	argv[n] = NULL;
	close(private_fd);
	int null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execvp(argv[0], argv);
	_exit(127);
}

bool control_scope_works(int private_fd)
{
	int status = 0;
	pid_t pid = is_manager_there() ? fork() : -1;
	if (pid == 0)
		run_trial(private_fd);
	for (int i = 0; pid > 0 && i < TRIES; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		nanosleep(&(struct timespec){ .tv_nsec = TRY_NS }, NULL);
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return false;
}

bool control_ends_at_logout(const struct control_status *status)
{
	char path[64], unit[48];
	size_t n;
	const struct passwd *user = getpwuid(geteuid());
	if (!status->is_running || user == NULL || strchr(user->pw_name, '/') != NULL)
		return false;
	snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)status->pid);
	snprintf(unit, sizeof unit, "/user@%u.service", (unsigned)geteuid());
	char *groups = file_read(path, 64 << 10, &n, NULL);
	char *linger = x_asprintf("/var/lib/systemd/linger/%s", user->pw_name);
	bool ends = groups != NULL && strstr(groups, unit) != NULL && access(linger, F_OK) != 0;
	free(linger);
	free(groups);
	return ends;
}
