// SPDX-License-Identifier: Apache-2.0
/* Inside of a running process, shared by process.c (its stream), its controls (stdin.c, signal_resize.c) and
 * what they call (process_call.c).
 * Errors: ERR_ARG_INVALID, ERR_OP_READ_ONLY, ERR_PROC_GONE, ERR_PROC_NO_CWD, ERR_PROC_PROTOCOL, those of
 * engine/net/grpc.h. */
#pragma once

#include "engine/runtime/internal.h"

struct evbuffer;
struct runtime_signal_resize_call;

struct runtime_process {
	struct runtime_op op; /* one reference is the caller's handle */
	struct runtime_start_opts opts;
	struct runtime_conn
		*conn; /* the only one on which pid means this process; NULL: none (any more) */
	struct slice request;
	char *cwd;
	struct runtime_cwd_check *check;
	struct err start_failure;
	int pid, exit_code;
	bool is_pty, has_init, has_exit;
	bool is_killing;
	size_t unconsumed_bytes;

	/* stdin.c */
	struct evbuffer *stdin_queue;
	struct net_grpc_call *stdin_call;
	size_t piece_bytes;             /* the most in one call, now */
	size_t sent_bytes;              /* in the call under way */
	int64_t sent_ns, round_trip_ns; /* when it went; the shortest call so far, 0 none */
	bool wants_eof, has_sent_eof, wants_drained;
	struct err stdin_failure;
	void (*on_drained)(void *arg);

	/* signal_resize.c */
	int cols, rows;
	bool is_size_due;
	struct net_grpc_call *resize_call;
	int early_signal; /* asked for before init; 0 none */
	struct runtime_signal_resize_call *signals;
	size_t n_signals;
};

void runtime_stdin_init(struct runtime_process *process);
void runtime_stdin_pump(
	struct runtime_process *process); /* after init, and whenever there may be work */
void runtime_stdin_drop(struct runtime_process *process); /* nothing more is sent */
void runtime_stdin_deinit(struct runtime_process *process);

void runtime_signal_resize_after_init(struct runtime_process *process);
void runtime_signal_resize_cancel(struct runtime_process *process);

/* process_call.c: a unary call on the process's own connection; NULL if there is none. */
struct net_grpc_call *runtime_process_call(struct runtime_process *process, const char *method,
	char *message, size_t n, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err), void *arg, struct err *err);
