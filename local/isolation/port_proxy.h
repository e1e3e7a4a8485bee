// SPDX-License-Identifier: Apache-2.0
/* Starts the small process that serves the address of a sandbox (local/portproxy). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct err;

struct isolation_port_proxy_opts {
	const char *program;  /* sandmux-port-proxy */
	int rest_fd, grpc_fd; /* listening TCP sockets; borrowed */
	int log_fd;           /* its stderr; −1: dropped */
	uid_t host_uid; /* 0: that of this process; as root, the user that the sandbox runs as */
};

/* The pid, 0 on failure. *control: its bytes are the daemon's pid; closing it ends the process, which also dies with this
 * one. */
pid_t isolation_port_proxy_start(
	const struct isolation_port_proxy_opts *opts, int *control, struct err *err);
/* The daemon listens: from now on it is served. */
bool isolation_port_proxy_serve(int control, pid_t daemon_pid);
