// SPDX-License-Identifier: Apache-2.0
/* Signals and the size of the terminal. */
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/runtime/messages.h"
#include "engine/runtime/process.h"

#include <stdlib.h>

enum { CONTROL_MS = 10 * 1000, MAX_SIGNALS = 16 };

struct runtime_signal_resize_call {
	struct runtime_process *process;
	struct net_grpc_call *call;
	struct runtime_signal_resize_call *prev, *next;
};

/* ---- size: one call under way, the latest size wins */
static void send_size(struct runtime_process *process);

static void on_resized(void *arg, const struct err *err)
{
	struct runtime_process *process = arg;

	/* a failure means that it has ended, or is about to say so itself */
	(void)err;
	process->resize_call = NULL;
	send_size(process);
}

static void send_size(struct runtime_process *process)
{
	size_t n;

	if (!process->is_size_due || process->resize_call || !process->has_init ||
		process->has_exit || process->is_killing)
		return;
	process->is_size_due = false;
	char *message = runtime_message_resize(process->pid, process->cols, process->rows, &n);
	process->resize_call =
		runtime_process_call(process, "/process.v1.ProcessService/ResizeTTY", message,
			n, CONTROL_MS, on_resized, process, NULL);
}

void runtime_process_resize(struct runtime_process *process, int cols, int rows)
{
	if (!process->is_pty || !process->op.runtime)
		return;
	process->cols = cols < 1 ? 1 : cols > 65535 ? 65535 : cols;
	process->rows = rows < 1 ? 1 : rows > 65535 ? 65535 : rows;
	process->is_size_due = true;
	send_size(process);
}

/* ---- signals */
static void forget(struct runtime_signal_resize_call *control)
{
	DL_DELETE(control->process->signals, control);
	control->process->n_signals--;
	free(control);
}

static void on_signalled(void *arg, const struct err *err)
{
	/* NOT_FOUND: it has ended already, which is what was wanted */
	(void)err;
	forget(arg);
}

static bool send_signal(struct runtime_process *process, int signal, struct err *err)
{
	size_t n;

	if (process->n_signals >= MAX_SIGNALS && signal != RUNTIME_SIGKILL)
		return err_set(
			err, ERR_OP_BUSY, "the daemon has not taken the last signals yet");
	struct runtime_signal_resize_call *control = x_calloc(1, sizeof *control);
	control->process = process;
	char *message = runtime_message_signal(process->pid, signal, &n);
	control->call = runtime_process_call(process, "/process.v1.ProcessService/SendSignal",
		message, n, CONTROL_MS, on_signalled, control, err);
	if (!control->call) {
		free(control);
		return false;
	}
	DL_APPEND(process->signals, control);
	process->n_signals++;
	return true;
}

bool runtime_process_signal(
	struct runtime_process *process, enum runtime_signal signal, struct err *err)
{
	if (signal != RUNTIME_SIGINT && signal != RUNTIME_SIGTERM && signal != RUNTIME_SIGKILL)
		return err_set(
			err, ERR_ARG_INVALID, "the daemon knows no signal %d", (int)signal);
	if (runtime_process_is_ended(process))
		return err_set(err, ERR_PROC_GONE, "the process has ended");
	if (process->has_init)
		return send_signal(process, (int)signal, err);
	if (process->early_signal != RUNTIME_SIGKILL)
		process->early_signal = (int)signal;
	return true;
}

/* The daemon sets the size just after it has started the program, which may have looked already: the size is
 * always sent once more. */
void runtime_signal_resize_after_init(struct runtime_process *process)
{
	send_size(process);
	if (process->early_signal)
		send_signal(process, process->early_signal, NULL);
	process->early_signal = 0;
}

void runtime_signal_resize_cancel(struct runtime_process *process)
{
	net_grpc_cancel(process->resize_call);
	process->resize_call = NULL;
	while (process->signals) {
		net_grpc_cancel(process->signals->call);
		forget(process->signals);
	}
}
