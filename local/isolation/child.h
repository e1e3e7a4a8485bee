// SPDX-License-Identifier: Apache-2.0
/* A fork that starts a program of a sandbox: signals reset, nothing inherited, dies with this process, and the reason
 * comes back when the program could not be run. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct err;

struct isolation_child_opts {
	const char *name;   /* for the error */
	int log_fd;         /* becomes stderr; −1: dropped; stdin and stdout are /dev/null */
	bool keeps_keyring; /* for a test: that of whoever started this process */
	bool may_dump_core; /* for a test */
	/* In the child: what is left to do, then exec. Returning is a failure, errno tells. Only system calls, as after
	 * every fork. All descriptors but 0, 1, 2 are close-on-exec. */
	void (*run)(void *arg);
	void *arg;
};

/* The pid of the running program, 0 with ERR_SYSTEM. Waits for the exec. */
pid_t isolation_child_start(const struct isolation_child_opts *opts, struct err *err);

/* ---- for run() */
bool isolation_child_pass(
	int fd); /* lets the program have it, under its own number; −1 is fine */
/* Becomes an ordinary user with no groups, for good; 0: stays who it is. Dies with the parent all the same. */
bool isolation_child_become(uid_t uid);
