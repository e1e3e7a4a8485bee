// SPDX-License-Identifier: Apache-2.0
/* Starts one program: look-up, environment, fork, exec. A failed exec is told apart from a program that
 * ran and failed by a close-on-exec pipe that carries errno back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct daemon_exec_child_limits { /* 0: none; for every program started */
	uint64_t processes, open_files, file_bytes, address_space_bytes, data_bytes;
};

struct daemon_exec_child_opts {
	char *const *argv; /* NULL-terminated, at least one */
	char *const *env;  /* NULL-terminated; NULL: the daemon's own */
	int dir_fd;        /* working folder, O_PATH is fine */
	int in, out, err;  /* become 0, 1, 2 */
	const struct daemon_exec_child_limits *limits; /* NULL: none */
	bool is_tty; /* new session with `in` as controlling terminal; else a new process group */
};

/* The daemon itself may open as many files as the system allows; programs get what was there before. Once,
 * at the start. */
void daemon_exec_child_raise_own_limits(void);

/* The pid (its own process group), or −errno of the exec. Blocks until the program runs. */
pid_t daemon_exec_child_start(const char *program, const struct daemon_exec_child_opts *opts);

/* As a shell looks commands up: a name with '/' is taken as it is, else PATH of the daemon is
 * searched. malloc'ed, NULL if there is none. */
char *daemon_exec_child_find(const char *name);

/* The daemon's environment with extra names over it (last of a name wins); NULL-terminated, free with
 * daemon_exec_child_env_free(). */
char **daemon_exec_child_env(char *const *extra, size_t n_extra);
void daemon_exec_child_env_free(char **env);
