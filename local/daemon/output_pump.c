// SPDX-License-Identifier: Apache-2.0
/* Reads a pipe or terminal of a process into events of its Start stream. While the stream's queue is
 * full nothing is read, so that the process blocks at its own pipe. */
#include "local/daemon/service_internal.h"

#include "engine/base/mem.h"
#include "engine/net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { READ_BYTES = 32 << 10 };

static void send_chunk(struct daemon_output_pump *outlet, unsigned char *bytes, size_t n)
{
	Process__V1__StartResponse response = PROCESS__V1__START_RESPONSE__INIT;
	ProtobufCBinaryData data = { n, bytes };
	if (outlet->is_stderr) {
		response.event_case = PROCESS__V1__START_RESPONSE__EVENT_STDERR;
		response.stderr = data;
	} else {
		response.event_case = PROCESS__V1__START_RESPONSE__EVENT_STDOUT;
		response.stdout = data;
	}
	daemon_rpc_send(outlet->process->call, &response.base);
}

static void ended(struct daemon_output_pump *outlet)
{
	struct daemon_process *process = outlet->process;
	daemon_output_pump_close(outlet);
	outlet->told(process, OUTPUT_ENDED);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct daemon_output_pump *outlet = arg;
	struct daemon_process *process = outlet->process;
	unsigned char bytes[READ_BYTES];
	(void)what;
	size_t want = sizeof bytes;
	if (outlet->budget >= 0 && outlet->budget < (int64_t)want)
		want = (size_t)outlet->budget;
	ssize_t n = want ? read(fd, bytes, want) : 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 && process->is_tty && !process->is_reaped) {
		/* EIO: nobody has the terminal open just now. The program may open it again, and
		 * closing our side would hang it up while it is on its way to exit. */
		event_del(outlet->event);
		outlet->is_armed = false;
		outlet->told(process, OUTPUT_UNUSED);
		return;
	}
	if (n <= 0) {
		ended(outlet);
		return;
	}
	size_t chunk = process->service->opts.chunk_bytes;
	for (size_t i = 0; i < (size_t)n; i += chunk)
		send_chunk(outlet, bytes + i, (size_t)n - i < chunk ? (size_t)n - i : chunk);
	if (outlet->budget >= 0)
		outlet->budget -= n;
	outlet->told(process, OUTPUT_READ);
	if (outlet->budget == 0) {
		ended(outlet);
	} else if (daemon_h2_call_queued(process->call) >= H2_QUEUE_HIGH) {
		event_del(outlet->event);
		outlet->is_armed = false;
	}
}

void daemon_output_pump_init(struct daemon_output_pump *outlet, struct daemon_process *process,
	daemon_output_pump_fn *told, int fd, bool is_stderr)
{
	*outlet = (struct daemon_output_pump){
		.process = process, .told = told, .fd = fd, .is_stderr = is_stderr, .budget = -1
	};
	if (fd < 0)
		return;
	outlet->event = event_new(net_loop_base(process->service->loop), fd,
		EV_READ | EV_PERSIST, on_readable, outlet);
	daemon_output_pump_resume(outlet);
}

void daemon_output_pump_resume(struct daemon_output_pump *outlet)
{
	if (outlet->fd < 0 || outlet->is_armed)
		return;
	outlet->is_armed = true;
	event_add(outlet->event, NULL);
}

void daemon_output_pump_limit(struct daemon_output_pump *outlet)
{
	int n = 0;
	if (outlet->fd < 0)
		return;
	if (ioctl(outlet->fd, FIONREAD, &n) != 0 || n <= 0) {
		daemon_output_pump_close(outlet);
		return;
	}
	outlet->budget = n;
}

void daemon_output_pump_close(struct daemon_output_pump *outlet)
{
	if (outlet->fd < 0)
		return;
	event_free(outlet->event);
	outlet->event = NULL;
	close(outlet->fd);
	outlet->fd = -1;
}
