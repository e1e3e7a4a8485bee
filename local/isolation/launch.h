// SPDX-License-Identifier: Apache-2.0
/* Everything about a sandbox that is decided before its process exists: sockets, environment, command
 * line; and the fork itself. */
#pragma once

#include "local/isolation/bwrap.h"
#include "local/isolation/spawn.h"

struct cgroup;

/* What the child needs; made before the fork. */
struct launch {
	struct bwrap_args args;
	char **env;
	size_t n_env, env_capacity;
	bool is_env_inside; /* the program started here gets none of it */
	int rest_fd, grpc_fd, log_fd;
	int info_read, info_write; /* −1 without bubblewrap */
	uint16_t rest_port, grpc_port;
};

/* The daemon's program; free() it. */
char *launch_find_daemon(const struct spawn_opts *opts, struct err *err);
bool launch_prepare(struct launch *launch, const struct spawn_opts *opts, const char *program,
	struct cgroup *cgroup, struct err *err);
/* The pid of the running program, 0 if it could not be run. */
pid_t launch_fork(struct launch *launch, struct cgroup *cgroup, struct err *err);
void launch_deinit(struct launch *launch); /* closes what is still its own */
