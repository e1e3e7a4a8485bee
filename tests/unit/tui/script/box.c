// SPDX-License-Identifier: Apache-2.0
/* The daemon of a sandbox for a test of the interface: box ROOT REST_FD GRPC_FD, both listening, until its standard input
 * ends. A program of its own, because both sides have functions of the same name. */
#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void on_input(void *arg, bool is_readable, bool is_writable)
{
	char byte;
	(void)is_readable;
	(void)is_writable;
	if (read(0, &byte, 1) <= 0)
		net_loop_stop(arg);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	struct net_loop *loop = net_loop_new(&err);
	if (argc != 4 || !loop)
		return 2;
	struct daemon_opts opts = { .root_dir = argv[1],
		.rest_fd = (int)strtol(argv[2], NULL, 10),
		.grpc_fd = (int)strtol(argv[3], NULL, 10),
		.metadata_env_prefix = "SANDMUX_NO_SUCH_",
		.shutdown_timeout_ms = 5000,
		.idle_timeout_ms = 60000 };
	struct daemon *daemon = daemon_new(loop, &opts, &err);
	struct net_watch_fd *input = net_watch_fd_new(loop, 0, on_input, loop, &err);
	if (!daemon || !input) {
		fprintf(stderr, "box: %s\n", err.msg);
		return 1;
	}
	net_watch_fd_want(input, true, false);
	net_loop_run(loop);
	net_watch_fd_free(input);
	daemon_free(daemon);
	net_loop_free(loop);
	return 0;
}
