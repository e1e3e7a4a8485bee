// SPDX-License-Identifier: Apache-2.0
/* Calls about a process: only on the connection on which its number means that process. */
#include "engine/runtime/process.h"

#include <stdlib.h>

bool runtime_process_is_ended(const struct runtime_process *process)
{
	return process->has_exit || !process->op.runtime;
}

struct net_grpc_call *runtime_process_call(struct runtime_process *process, const char *method,
	char *message, size_t n, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err), void *arg, struct err *err)
{
	struct net_grpc_call *call = NULL;
	struct net_grpc_call_opts opts = {
		.path = method,
		.message = { message, n },
		.is_unary = true,
		.timeout_ms = timeout_ms,
		.done = done,
		.arg = arg,
	};

	if (process->op.runtime && process->conn && process->conn->runtime)
		call = net_grpc_start(process->conn->grpc, &opts, err);
	else
		err_set(err, ERR_PROC_GONE, "its connection is gone");
	free(message);
	return call;
}
