// SPDX-License-Identifier: Apache-2.0
/* The command line of sandmux-sandboxd. */
#pragma once

#include "local/daemon/daemon.h"
#include "local/daemon/jail.h"

#include <stdbool.h>
#include <stdint.h>

struct daemon_arguments {
	struct daemon_opts daemon;
	const char *host;
	const char *socket_dir;
	int64_t rest_fd, grpc_fd, rest_port, grpc_port, chunk_bytes, ready_fd, filter_fd;
	struct daemon_jail_opts jail;
	char token_hex[65];
};

/* −1 to go on, else the exit status; what is wrong is on stderr. The strings are those of argv. */
int daemon_arguments_parse(struct daemon_arguments *args, int argc, char **argv);
/* A line on stderr; false. */
bool daemon_arguments_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
