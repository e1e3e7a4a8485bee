// SPDX-License-Identifier: Apache-2.0
/* The methods of the process service, and its beginning and end. */
#include "local/daemon/service_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "local/daemon/quote.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

const char daemon_service_name[] = "process.v1.ProcessService";

static void rpc_write_stdin(void *arg, struct daemon_h2_call *call, struct slice message)
{
	const char *nul_in;
	Process__V1__WriteStdinRequest *request = daemon_rpc_unpack(
		call, &process__v1__write_stdin_request__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	struct daemon_process *process = daemon_service_find(arg, call, request->process_id);
	if (process != NULL) {
		if (request->data_case == PROCESS__V1__WRITE_STDIN_REQUEST__DATA_EOF)
			daemon_stdin_end(&process->in, call);
		else if (request->data_case == PROCESS__V1__WRITE_STDIN_REQUEST__DATA_INPUT)
			daemon_stdin_write(&process->in, call,
				(struct slice){ (const char *)request->input.data,
					request->input.len });
		else
			daemon_stdin_write(&process->in, call, (struct slice){ NULL, 0 });
	}
	process__v1__write_stdin_request__free_unpacked(request, NULL);
}

static void rpc_send_signal(void *arg, struct daemon_h2_call *call, struct slice message)
{
	const char *nul_in;
	Process__V1__SendSignalRequest *request = daemon_rpc_unpack(
		call, &process__v1__send_signal_request__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	int number = (int)request->signal;
	struct daemon_process *process = daemon_service_find(arg, call, request->process_id);
	process__v1__send_signal_request__free_unpacked(request, NULL);
	if (process == NULL)
		return;
	if (number == PROCESS__V1__SIGNAL__SIGNAL_UNSPECIFIED) {
		daemon_h2_call_finish(call, RPC_INVALID_ARGUMENT,
			"unsupported or unspecified signal: SIGNAL_UNSPECIFIED");
	} else if (number != SIGINT && number != SIGTERM && number != SIGKILL) {
		daemon_h2_call_finish(call, RPC_INVALID_ARGUMENT,
			"unsupported or unspecified signal: %d", number);
	} else if (!daemon_process_signal(process, number)) {
		daemon_h2_call_finish(call, RPC_INTERNAL, "failed to send signal: %s",
			daemon_quote_errno(errno));
	} else {
		Process__V1__SendSignalResponse response =
			PROCESS__V1__SEND_SIGNAL_RESPONSE__INIT;
		daemon_rpc_reply(call, &response.base);
	}
}

static void rpc_resize_tty(void *arg, struct daemon_h2_call *call, struct slice message)
{
	const char *nul_in;
	Process__V1__ResizeTTYRequest *request = daemon_rpc_unpack(
		call, &process__v1__resize_ttyrequest__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	struct winsize size = { .ws_col = (unsigned short)request->cols,
		.ws_row = (unsigned short)request->rows };
	struct daemon_process *process = daemon_service_find(arg, call, request->process_id);
	process__v1__resize_ttyrequest__free_unpacked(request, NULL);
	if (process == NULL)
		return;
	if (!process->is_tty || process->is_reaped || process->outlets[0].fd < 0) {
		daemon_h2_call_finish(call, RPC_FAILED_PRECONDITION,
			"failed to resize TTY: process is completed or has no active PTY");
	} else if (ioctl(process->outlets[0].fd, TIOCSWINSZ, &size) != 0) {
		daemon_h2_call_finish(call, RPC_FAILED_PRECONDITION, "failed to resize TTY: %s",
			daemon_quote_errno(errno));
	} else {
		Process__V1__ResizeTTYResponse response = PROCESS__V1__RESIZE_TTYRESPONSE__INIT;
		daemon_rpc_reply(call, &response.base);
	}
}

const struct daemon_h2_method *daemon_service_methods(size_t *n)
{
	static const struct daemon_h2_method methods[] = {
		{ "Start", true, daemon_rpc_start },
		{ "Execute", false, daemon_rpc_execute },
		{ "WriteStdin", false, rpc_write_stdin },
		{ "SendSignal", false, rpc_send_signal },
		{ "ResizeTTY", false, rpc_resize_tty },
	};
	*n = sizeof methods / sizeof methods[0];
	return methods;
}

struct daemon_service *daemon_service_new(
	struct net_loop *loop, const struct daemon_service_opts *opts)
{
	struct daemon_service *service = x_calloc(1, sizeof *service);
	service->loop = loop;
	service->opts = *opts;
	if (service->opts.chunk_bytes == 0)
		service->opts.chunk_bytes = CHUNK_BYTES;
	return service;
}

void daemon_service_signal_all(struct daemon_service *service, int signal_number)
{
	struct daemon_process *process;
	DL_FOREACH(service->processes, process)
		daemon_process_signal(process, signal_number);
	daemon_execution_signal_all(service, signal_number);
}

void daemon_service_free(struct daemon_service *service)
{
	if (service == NULL)
		return;
	service->on_idle = NULL;
	daemon_service_signal_all(service, SIGKILL);
	struct daemon_process *process, *next;
	DL_FOREACH_SAFE(service->processes, process, next)
		daemon_process_abandon(process);
	daemon_execution_free_all(service);
	net_loop_defer(service->loop, free, service);
}
