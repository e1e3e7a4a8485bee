// SPDX-License-Identifier: Apache-2.0
/* The daemon of one sandbox: both servers, their shared state, and an orderly end. */
#pragma once

#include "local/daemon/exec_child.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemon;
struct err;
struct net_loop;

struct daemon_opts {
	int rest_fd, grpc_fd;     /* listening; taken over */
	const char *root_dir;     /* made (0755) if missing */
	const char *token_sha256; /* hex, or NULL: no token wanted */
	const char *metadata_env_prefix;
	int64_t shutdown_timeout_ms, idle_timeout_ms;
	size_t chunk_bytes;
	struct daemon_exec_child_limits limits; /* of the programs it runs */
	void (*on_stopped)(void *arg);          /* after daemon_shutdown() */
	void *arg;
};

struct daemon *daemon_new(
	struct net_loop *loop, const struct daemon_opts *opts, struct err *err);
void daemon_free(struct daemon *daemon);
/* Health says 503; processes get SIGTERM, after 2 s SIGKILL; then both servers finish what they are
 * answering. on_stopped comes when that is done, or after shutdown_timeout_ms. */
void daemon_shutdown(struct daemon *daemon);
