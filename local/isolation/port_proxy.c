// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/port_proxy.h"

#include "engine/base/err.h"
#include "local/isolation/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct isolation_port_proxy_start {
	const struct isolation_port_proxy_opts *opts;
	int program_fd, control;
};

/* Between fork and exec. The program is run by its descriptor: the user may not walk to it. */
static void run(void *arg)
{
	static char name[] = "sandmux-port-proxy";
	static char *const env[] = { NULL };
	struct isolation_port_proxy_start *start = arg;
	const struct isolation_port_proxy_opts *opts = start->opts;
	char rest[16], grpc[16], control[16];
	char *const argv[] = { name, rest, grpc, control, NULL };
	snprintf(rest, sizeof rest, "%d", opts->rest_fd);
	snprintf(grpc, sizeof grpc, "%d", opts->grpc_fd);
	snprintf(control, sizeof control, "%d", start->control);
	if (isolation_child_pass(opts->rest_fd) && isolation_child_pass(opts->grpc_fd) &&
		isolation_child_pass(start->control) && isolation_child_become(opts->host_uid))
		fexecve(start->program_fd, argv, env);
}

pid_t isolation_port_proxy_start(
	const struct isolation_port_proxy_opts *opts, int *control, struct err *err)
{
	int fds[2];
	struct isolation_port_proxy_start start = { .opts = opts };
	start.program_fd = open(opts->program, O_RDONLY | O_CLOEXEC);
	if (start.program_fd < 0)
		return err_set_errno(err, errno, "%s", opts->program), 0;
	if (pipe2(fds, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "pipe");
		close(start.program_fd);
		return 0;
	}
	start.control = fds[0];
	pid_t pid = isolation_child_start(&(struct isolation_child_opts){ .name = opts->program,
						  .log_fd = opts->log_fd,
						  .run = run,
						  .arg = &start },
		err);
	close(start.program_fd);
	close(fds[0]);
	if (pid > 0)
		*control = fds[1];
	else
		close(fds[1]);
	return pid;
}

bool isolation_port_proxy_serve(int control, pid_t daemon_pid)
{
	int32_t pid = (int32_t)daemon_pid;
	return write(control, &pid, sizeof pid) == (ssize_t)sizeof pid;
}
