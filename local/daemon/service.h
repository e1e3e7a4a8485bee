// SPDX-License-Identifier: Apache-2.0
/* The process service: Start, Execute, WriteStdin, SendSignal, ResizeTTY as sandboxd v0.5.6 answers
 * them. Processes have ids counted from 1, never kernel pids. */
#pragma once

#include "local/daemon/exec_child.h"
#include "local/daemon/h2.h"

#include <stdbool.h>

struct confine_root;
struct err;
struct loop;
struct reaper;
struct service;

struct service_opts {
	const struct confine_root *root; /* borrowed */
	struct reaper *reaper;           /* borrowed */
	struct exec_child_limits limits;
	size_t chunk_bytes; /* longest stdout or stderr event; 0: 4096 */
};

struct service *service_new(struct loop *loop, const struct service_opts *opts);
/* Free the h2 server first: it ends the calls. Processes still alive get SIGKILL. */
void service_free(struct service *service);

/* For h2_server_opts; the methods' arg is the service. */
extern const char service_name[];
const struct h2_method *service_methods(size_t *n);

void service_signal_all(struct service *service, int signal_number);
bool service_is_idle(const struct service *service);
/* Called, deferred, each time the last process has gone. */
void service_on_idle(struct service *service, void (*fn)(void *arg), void *arg);
