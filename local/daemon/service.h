// SPDX-License-Identifier: Apache-2.0
/* The process service: Start, Execute, WriteStdin, SendSignal, ResizeTTY as sandboxd v0.5.6 answers
 * them. Processes have ids counted from 1, never kernel pids. */
#pragma once

#include "local/daemon/exec_child.h"
#include "local/daemon/h2.h"

#include <stdbool.h>

struct daemon_confine_root;
struct err;
struct net_loop;
struct daemon_reaper;
struct daemon_service;

struct daemon_service_opts {
	const struct daemon_confine_root *root; /* borrowed */
	struct daemon_reaper *reaper;           /* borrowed */
	struct daemon_exec_child_limits limits;
	size_t chunk_bytes; /* longest stdout or stderr event; 0: 4096 */
};

struct daemon_service *daemon_service_new(
	struct net_loop *loop, const struct daemon_service_opts *opts);
/* Free the h2 server first: it ends the calls. Processes still alive get SIGKILL. */
void daemon_service_free(struct daemon_service *service);

/* For h2_server_opts; the methods' arg is the service. */
extern const char daemon_service_name[];
const struct daemon_h2_method *daemon_service_methods(size_t *n);

void daemon_service_signal_all(struct daemon_service *service, int signal_number);
bool daemon_service_is_idle(const struct daemon_service *service);
/* Called, deferred, each time the last process has gone. */
void daemon_service_on_idle(struct daemon_service *service, void (*fn)(void *arg), void *arg);
