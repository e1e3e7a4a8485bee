// SPDX-License-Identifier: Apache-2.0
/* Messages of process.v1 to and from bytes. Pure; everything received is checked here.
 * Errors: ERR_PROC_PROTOCOL. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Each encoder returns malloc()ed bytes and sets *n. */
struct runtime_message_config {
	const char *const *argv; /* NULL-terminated */
	const char *const
		*env;    /* "K=V", NULL-terminated, or NULL; the last of equal names wins */
	const char *cwd; /* or NULL */
};
char *runtime_message_start(
	const struct runtime_message_config *config, int pty_cols, int pty_rows, size_t *n);
char *runtime_message_execute(const struct runtime_message_config *config, size_t *n);
char *runtime_message_stdin(int pid, struct slice input, size_t *n);
char *runtime_message_stdin_eof(int pid, size_t *n);
char *runtime_message_signal(int pid, int signal, size_t *n);
char *runtime_message_resize(int pid, int cols, int rows, size_t *n);

enum runtime_message_event_kind {
	MESSAGE_UNKNOWN, /* of a newer daemon: skip */
	MESSAGE_INIT,
	MESSAGE_STDOUT,
	MESSAGE_STDERR,
	MESSAGE_EXIT,
	MESSAGE_EVENT_KIND_COUNT,
};
struct runtime_message_event {
	enum runtime_message_event_kind kind;
	int pid, exit_code;
	struct slice bytes; /* borrowed from owner */
	void *owner;
};
bool runtime_message_event_parse(
	struct slice message, struct runtime_message_event *event, struct err *err);
void runtime_message_event_deinit(struct runtime_message_event *event);

struct runtime_message_result {
	int exit_code;
	struct slice out, err_out; /* borrowed from owner */
	void *owner;
};
bool runtime_message_result_parse(
	struct slice message, struct runtime_message_result *result, struct err *err);
void runtime_message_result_deinit(struct runtime_message_result *result);
