// SPDX-License-Identifier: Apache-2.0
/* The registry of processes and the calls that act on one of them. */
#include "local/daemon/service_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "local/daemon/pb_check.h"
#include "local/daemon/quote.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

const char service_name[] = "process.v1.ProcessService";

void *rpc_unpack(struct h2_call *call, const ProtobufCMessageDescriptor *type,
	struct slice message, const char **nul_in)
{
	const char *why = NULL;
	void *request =
		pb_unpack(type, (const unsigned char *)message.p, message.n, nul_in, &why);
	if (request == NULL)
		h2_call_finish(
			call, RPC_INTERNAL, "grpc: error unmarshalling request: %s", why);
	return request;
}

void rpc_send(struct h2_call *call, const ProtobufCMessage *message)
{
	unsigned char small[CHUNK_BYTES + 64];
	size_t n = protobuf_c_message_get_packed_size(message);
	unsigned char *bytes = n <= sizeof small ? small : x_malloc(n);
	protobuf_c_message_pack(message, bytes);
	h2_call_send(call, bytes, n);
	if (bytes != small)
		free(bytes);
}

void rpc_reply(struct h2_call *call, const ProtobufCMessage *message)
{
	rpc_send(call, message);
	h2_call_finish(call, RPC_OK, "%s", "");
}

/* Finds it or refuses the call. */
static struct process *find(struct service *service, struct h2_call *call, int32_t id)
{
	struct process *process;
	DL_FOREACH(service->processes, process) {
		if (process->id == id)
			return process;
	}
	h2_call_finish(call, RPC_NOT_FOUND, "process %d not found", id);
	return NULL;
}

static void rpc_write_stdin(void *arg, struct h2_call *call, struct slice message)
{
	const char *nul_in;
	Process__V1__WriteStdinRequest *request = rpc_unpack(
		call, &process__v1__write_stdin_request__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	struct process *process = find(arg, call, request->process_id);
	if (process != NULL) {
		if (request->data_case == PROCESS__V1__WRITE_STDIN_REQUEST__DATA_EOF)
			stdin_end(&process->in, call);
		else if (request->data_case == PROCESS__V1__WRITE_STDIN_REQUEST__DATA_INPUT)
			stdin_write(&process->in, call,
				(struct slice){ (const char *)request->input.data,
					request->input.len });
		else
			stdin_write(&process->in, call, (struct slice){ NULL, 0 });
	}
	process__v1__write_stdin_request__free_unpacked(request, NULL);
}

static void rpc_send_signal(void *arg, struct h2_call *call, struct slice message)
{
	const char *nul_in;
	Process__V1__SendSignalRequest *request = rpc_unpack(
		call, &process__v1__send_signal_request__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	int number = (int)request->signal;
	struct process *process = find(arg, call, request->process_id);
	process__v1__send_signal_request__free_unpacked(request, NULL);
	if (process == NULL)
		return;
	if (number == PROCESS__V1__SIGNAL__SIGNAL_UNSPECIFIED) {
		h2_call_finish(call, RPC_INVALID_ARGUMENT,
			"unsupported or unspecified signal: SIGNAL_UNSPECIFIED");
	} else if (number != SIGINT && number != SIGTERM && number != SIGKILL) {
		h2_call_finish(call, RPC_INVALID_ARGUMENT,
			"unsupported or unspecified signal: %d", number);
	} else if (!process_signal(process, number)) {
		h2_call_finish(
			call, RPC_INTERNAL, "failed to send signal: %s", quote_errno(errno));
	} else {
		Process__V1__SendSignalResponse response =
			PROCESS__V1__SEND_SIGNAL_RESPONSE__INIT;
		rpc_reply(call, &response.base);
	}
}

static void rpc_resize_tty(void *arg, struct h2_call *call, struct slice message)
{
	const char *nul_in;
	Process__V1__ResizeTTYRequest *request =
		rpc_unpack(call, &process__v1__resize_ttyrequest__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	struct winsize size = { .ws_col = (unsigned short)request->cols,
		.ws_row = (unsigned short)request->rows };
	struct process *process = find(arg, call, request->process_id);
	process__v1__resize_ttyrequest__free_unpacked(request, NULL);
	if (process == NULL)
		return;
	if (!process->is_tty || process->is_reaped || process->outlets[0].fd < 0) {
		h2_call_finish(call, RPC_FAILED_PRECONDITION,
			"failed to resize TTY: process is completed or has no active PTY");
	} else if (ioctl(process->outlets[0].fd, TIOCSWINSZ, &size) != 0) {
		h2_call_finish(call, RPC_FAILED_PRECONDITION, "failed to resize TTY: %s",
			quote_errno(errno));
	} else {
		Process__V1__ResizeTTYResponse response = PROCESS__V1__RESIZE_TTYRESPONSE__INIT;
		rpc_reply(call, &response.base);
	}
}

const struct h2_method *service_methods(size_t *n)
{
	static const struct h2_method methods[] = {
		{ "Start", true, rpc_start },
		{ "Execute", false, rpc_execute },
		{ "WriteStdin", false, rpc_write_stdin },
		{ "SendSignal", false, rpc_send_signal },
		{ "ResizeTTY", false, rpc_resize_tty },
	};
	*n = sizeof methods / sizeof methods[0];
	return methods;
}

struct service *service_new(struct loop *loop, const struct service_opts *opts)
{
	struct service *service = x_calloc(1, sizeof *service);
	service->loop = loop;
	service->opts = *opts;
	if (service->opts.chunk_bytes == 0)
		service->opts.chunk_bytes = CHUNK_BYTES;
	return service;
}

void service_signal_all(struct service *service, int signal_number)
{
	struct process *process;
	DL_FOREACH(service->processes, process)
		process_signal(process, signal_number);
	execution_signal_all(service, signal_number);
}

bool service_is_idle(const struct service *service)
{
	return service->processes == NULL && service->executions == NULL;
}

void service_on_idle(struct service *service, void (*fn)(void *arg), void *arg)
{
	service->on_idle = fn;
	service->on_idle_arg = arg;
}

void service_check_idle(struct service *service)
{
	if (service->on_idle != NULL && service_is_idle(service))
		loop_defer(service->loop, service->on_idle, service->on_idle_arg);
}

void service_free(struct service *service)
{
	if (service == NULL)
		return;
	service->on_idle = NULL;
	service_signal_all(service, SIGKILL);
	struct process *process, *next;
	DL_FOREACH_SAFE(service->processes, process, next)
		process_abandon(process);
	execution_free_all(service);
	loop_defer(service->loop, free, service);
}
