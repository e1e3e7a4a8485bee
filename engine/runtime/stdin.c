// SPDX-License-Identifier: Apache-2.0
/* Standard input of a process. WriteStdin calls have no order among them, so exactly one is under way; keys that
 * come meanwhile go together in the next one. A full pipe blocks the daemon's call, so it has no deadline.
 *
 * Each call costs a round trip, in which nothing moves. So a piece doubles for as long as round trips are what it takes: until
 * one lasts SHARE times the shortest call, which leaves the trip a share of about 1/SHARE, or MAX_PIECE_BYTES are reached. A
 * process that does not read gets small pieces again. */
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/messages.h"
#include "engine/runtime/process.h"

#include <event2/buffer.h>
#include <stdlib.h>

enum {
	MIN_PIECE_BYTES = 32 << 10,
	MAX_PIECE_BYTES = 3 << 20, /* a message may have 4 MiB (gRPC's usual limit) */
	SHARE = 16,
	AT_ONCE_MS = 20, /* shorter than this is noise */
	BLOCKED_MS = 1000,
	/* one piece under way, one to follow */
	MAX_QUEUE_BYTES = 2 * MAX_PIECE_BYTES,
	DRAINED_BYTES = MAX_PIECE_BYTES,
};

static const char method[] = "/process.v1.ProcessService/WriteStdin";

void runtime_stdin_init(struct runtime_process *process)
{
	process->stdin_queue = evbuffer_new();
	process->piece_bytes = MIN_PIECE_BYTES;
}

void runtime_stdin_deinit(struct runtime_process *process)
{
	if (process->stdin_queue)
		evbuffer_free(process->stdin_queue);
}

void runtime_stdin_drop(struct runtime_process *process)
{
	net_grpc_cancel(process->stdin_call);
	process->stdin_call = NULL;
	evbuffer_drain(process->stdin_queue, evbuffer_get_length(process->stdin_queue));
	process->wants_eof = false;
}

/* A writer that waits for room has to learn of it, and also that there will never be any. */
static void tell_drained(struct runtime_process *process)
{
	if (!process->wants_drained ||
		evbuffer_get_length(process->stdin_queue) >= DRAINED_BYTES)
		return;
	process->wants_drained = false;
	if (process->on_drained)
		process->on_drained(process->opts.arg);
}

const struct err *runtime_process_stdin_lost(const struct runtime_process *process)
{
	enum err_code code = process->stdin_failure.code;
	bool is_its_own_end = code == ERR_PROC_GONE || code == ERR_PROC_STDIN_CLOSED;
	return code == ERR_NONE || is_its_own_end ? NULL : &process->stdin_failure;
}

static void learn(struct runtime_process *process)
{
	int64_t took_ns = clock_mono_ns() - process->sent_ns;

	if (process->round_trip_ns == 0 || took_ns < process->round_trip_ns)
		process->round_trip_ns = took_ns > 0 ? took_ns : 1;
	if (took_ns >= (int64_t)BLOCKED_MS * 1000000)
		process->piece_bytes = MIN_PIECE_BYTES;
	else if (process->sent_bytes == process->piece_bytes &&
		 process->piece_bytes < MAX_PIECE_BYTES &&
		 (took_ns < SHARE * process->round_trip_ns || took_ns < AT_ONCE_MS * 1000000))
		process->piece_bytes = process->piece_bytes < MAX_PIECE_BYTES / 2
					       ? 2 * process->piece_bytes
					       : MAX_PIECE_BYTES;
}

static void on_written(void *arg, const struct err *err)
{
	struct runtime_process *process = arg;

	process->stdin_call = NULL;
	if (err) {
		runtime_errors_from_grpc(&process->stdin_failure, ERRORS_CONTROL, err);
		runtime_stdin_drop(process);
		process->wants_drained = true;
	} else {
		learn(process);
		runtime_stdin_pump(process);
	}
	tell_drained(process);
}

static void send_message(struct runtime_process *process, char *message, size_t n)
{
	struct err err = { 0 };

	process->stdin_call =
		runtime_process_call(process, method, message, n, 0, on_written, process, &err);
	if (process->stdin_call)
		return;
	process->stdin_failure = err;
	runtime_stdin_drop(process);
}

void runtime_stdin_pump(struct runtime_process *process)
{
	struct evbuffer *queue = process->stdin_queue;
	size_t n = evbuffer_get_length(queue), message_n;

	if (!process->has_init || process->has_exit || process->stdin_call ||
		process->is_killing || !process->op.runtime)
		return;
	if (n) {
		if (n > process->piece_bytes)
			n = process->piece_bytes;
		process->sent_bytes = n;
		process->sent_ns = clock_mono_ns();
		const char *piece = (const char *)evbuffer_pullup(queue, (ev_ssize_t)n);
		char *message = runtime_message_stdin(
			process->pid, (struct slice){ piece, n }, &message_n);
		evbuffer_drain(queue, n);
		send_message(process, message, message_n);
	} else if (process->wants_eof) {
		process->wants_eof = false;
		process->has_sent_eof = true;
		process->sent_bytes = 0;
		process->sent_ns = clock_mono_ns();
		char *message = runtime_message_stdin_eof(process->pid, &message_n);
		send_message(process, message, message_n);
	}
}

static bool check_open(struct runtime_process *process, struct err *err)
{
	if (!process->op.runtime || process->has_exit || process->op.failure.code)
		return err_set(err, ERR_PROC_GONE, "the process has ended");
	if (process->stdin_failure.code) {
		err_copy(err, &process->stdin_failure);
		return false;
	}
	return true;
}

bool runtime_process_write(struct runtime_process *process, struct slice bytes, struct err *err)
{
	if (!check_open(process, err))
		return false;
	if (process->wants_eof || process->has_sent_eof)
		return err_set(err, ERR_PROC_STDIN_CLOSED, "its input has been closed");
	size_t queued = evbuffer_get_length(process->stdin_queue);
	if (bytes.n > MAX_QUEUE_BYTES || queued > MAX_QUEUE_BYTES - bytes.n) {
		process->wants_drained = true;
		return err_set(err, ERR_LIMIT_UPLOAD, "the process does not read its input");
	}
	evbuffer_add(process->stdin_queue, bytes.p, bytes.n);
	if (queued + bytes.n >= DRAINED_BYTES)
		process->wants_drained = true;
	runtime_stdin_pump(process);
	return true;
}

void runtime_process_on_drained(struct runtime_process *process, void (*fn)(void *arg))
{
	process->on_drained = fn;
}

bool runtime_process_eof(struct runtime_process *process, struct err *err)
{
	if (!check_open(process, err))
		return false;
	if (process->is_pty)
		/* the daemon would answer OK, and the process would see nothing and never read again */
		return err_set(err, ERR_PROC_EOF_ON_PTY, "a terminal has no end of input");
	if (process->has_sent_eof)
		return true;
	process->wants_eof = true;
	runtime_stdin_pump(process);
	return true;
}
