// SPDX-License-Identifier: Apache-2.0
/* Starts and stops the daemon of one sandbox: what the pod controller needs of local/isolation. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct launch;
struct loop;

struct launch_opts {
	const char *name; /* of the sandbox: its host name */
	const char *uid;
	const char *workspace;           /* host folder, seen as /workspace */
	const char *address;             /* 127.x.y.z */
	const char *token_sha256;        /* NULL: no token is wanted */
	const char *const *env;          /* "K=V", NULL at the end */
	int64_t cpu_milli, memory_bytes; /* 0: no limit */
	bool is_isolated;
	const char *sandboxd; /* program, or NULL: the one beside ours */
	int log_fd;           /* stdout and stderr of the daemon; borrowed */
};
/* status as from waitpid(); reason is a short text or "". The launch is freed after this. */
typedef void launch_exit_fn(void *arg, int status, const char *reason);
struct launch *launch_start(struct loop *loop, const struct launch_opts *opts,
	launch_exit_fn *on_exit, void *arg, struct err *err);
/* TERM, and KILL after grace_ms; on_exit follows. */
void launch_stop(struct launch *l, int64_t grace_ms);
/* KILL, no on_exit. */
void launch_abandon(struct launch *l);
pid_t launch_pid(const struct launch *l);
