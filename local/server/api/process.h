// SPDX-License-Identifier: Apache-2.0
/* A process in a pod, started through the pod's daemon (gRPC, process.v1), so that it is a job of that sandbox like any other.
 * It is killed when this is freed before its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct server;
struct api_process;

enum { PROCESS_STDIN_HIGH_BYTES = 256 << 10 };

struct api_process_opts {
	const char *pod_uid;
	char *const *argv; /* ends with NULL; copied */
	bool is_tty;
	/* What was told stays unconsumed until api_process_consume: its window bounds what can come meanwhile. */
	void (*on_output)(void *arg, bool is_stderr, const void *bytes, size_t n);
	void (*on_stdin_room)(void *arg);
	/* Once: err NULL and its exit code, or why it could not be started or watched. Free it later, not from inside. */
	void (*on_exit)(void *arg, const struct err *err, int code);
	void *arg;
};
/* NULL: it cannot be reached. Errors: ERR_CONN_REFUSED, errno. */
struct api_process *api_process_start(
	struct server *s, const struct api_process_opts *opts, struct err *err);
void api_process_free(struct api_process *p);
void api_process_consume(struct api_process *p); /* all that was told */
/* Queued; false: the queue is full, on_stdin_room tells when it is not. */
bool api_process_write(struct api_process *p, const void *bytes, size_t n);
void api_process_write_eof(struct api_process *p); /* after what is queued */
void api_process_resize(struct api_process *p, uint32_t cols, uint32_t rows);
