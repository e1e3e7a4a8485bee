// SPDX-License-Identifier: Apache-2.0
/* Everything about a sandbox that is decided before its process exists: sockets, environment, command
 * line; and the fork itself. */
#pragma once

#include "local/isolation/bwrap.h"
#include "local/isolation/spawn.h"
#include "local/isolation/stage.h"

struct isolation_cgroup;

/* What the child needs; made before the fork. */
struct isolation_launch {
	struct isolation_bwrap_args args;
	struct isolation_stage stage;
	char **env;
	size_t n_env, env_capacity;
	bool is_env_inside;                /* the program started here gets none of it */
	uid_t host_uid;                    /* 0: stays who we are */
	bool keeps_keyring, may_dump_core; /* for a test */
	int rest_fd, grpc_fd, log_fd;
	int filter_fd;               /* −1: none */
	int info_read, info_write;   /* −1 without bubblewrap */
	int ready_read, ready_write; /* −1 where the daemon gets the sockets themselves */
	uint16_t rest_port, grpc_port;
};

/* The daemon's program, or another one of ours beside it; free() it. */
char *isolation_launch_find_daemon(const struct isolation_spawn_opts *opts, struct err *err);
char *isolation_launch_find_proxy(const struct isolation_spawn_opts *opts, struct err *err);
void isolation_launch_init(struct isolation_launch *launch);
bool isolation_launch_prepare(struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, const char *program,
	struct isolation_cgroup *cgroup, struct err *err);
/* The pid of the running program, 0 if it could not be run. */
pid_t isolation_launch_fork(
	struct isolation_launch *launch, struct isolation_cgroup *cgroup, struct err *err);
void isolation_launch_deinit(
	struct isolation_launch *launch); /* closes what is still its own */
