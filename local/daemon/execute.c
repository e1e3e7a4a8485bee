// SPDX-License-Identifier: Apache-2.0
/* Execute: run to the end, answer with all output. stdin is /dev/null. */
#include "local/daemon/service_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "local/daemon/quote.h"
#include "local/daemon/reaper.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_OUTPUT_BYTES = 64 << 20, READ_BYTES = 32 << 10 };

struct capture {
	struct daemon_execution *execution;
	int fd; /* -1: at its end */
	struct event *event;
	unsigned char *bytes;
	size_t n, capacity;
};

struct daemon_execution {
	struct daemon_service *service;
	struct daemon_h2_call *call; /* NULL once the stream has ended */
	pid_t pid;
	bool is_reaped;
	int exit_code;
	struct capture captures[2]; /* stdout, stderr */
	struct net_loop_timer *delay;
	struct daemon_execution *prev, *next;
};

static void close_captures(struct daemon_execution *e)
{
	for (int i = 0; i < 2; i++) {
		struct capture *c = &e->captures[i];
		if (c->fd < 0)
			continue;
		event_free(c->event);
		close(c->fd);
		c->fd = -1;
	}
}

static void forget(void *arg)
{
	struct daemon_execution *e = arg;
	net_loop_timer_free(e->delay);
	free(e->captures[0].bytes);
	free(e->captures[1].bytes);
	free(e);
}

static void remove_execution(struct daemon_execution *e)
{
	close_captures(e);
	net_loop_timer_disarm(e->delay);
	DL_DELETE(e->service->executions, e);
	net_loop_defer(e->service->loop, forget, e);
	daemon_service_check_idle(e->service);
}

static void check_end(struct daemon_execution *e)
{
	if (!e->is_reaped || e->captures[0].fd >= 0 || e->captures[1].fd >= 0)
		return;
	if (e->call != NULL) {
		Process__V1__ExecuteResponse response = PROCESS__V1__EXECUTE_RESPONSE__INIT;
		response.exit_code = e->exit_code;
		response.stdout =
			(ProtobufCBinaryData){ e->captures[0].n, e->captures[0].bytes };
		response.stderr =
			(ProtobufCBinaryData){ e->captures[1].n, e->captures[1].bytes };
		daemon_rpc_reply(e->call, &response.base);
		e->call = NULL;
	}
	remove_execution(e);
}

/* The answer is given; the process, if there still is one, is killed and reaped later. */
static void give_up(struct daemon_execution *e)
{
	e->call = NULL;
	kill(-e->pid, SIGKILL);
	if (e->is_reaped)
		remove_execution(e);
	else
		close_captures(e);
}

static void on_delay_over(void *arg)
{
	struct daemon_execution *e = arg;
	daemon_h2_call_finish(e->call, RPC_INTERNAL,
		"failed to execute command: exec: WaitDelay expired before I/O complete");
	/* as in sandboxd, what holds the pipes open may live on */
	e->call = NULL;
	remove_execution(e);
}

static void on_reaped(void *arg, int wait_status)
{
	struct daemon_execution *e = arg;
	e->is_reaped = true;
	e->exit_code = daemon_reaper_exit_code(wait_status);
	if (e->call == NULL)
		remove_execution(e);
	else {
		net_loop_timer_arm(e->delay, WAIT_DELAY_MS);
		check_end(e);
	}
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct capture *c = arg;
	struct daemon_execution *e = c->execution;
	(void)what;
	array_grow(&c->bytes, &c->capacity, c->n + READ_BYTES, 1);
	ssize_t n = read(fd, c->bytes + c->n, READ_BYTES);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		c->n += (size_t)n;
		if (e->captures[0].n + e->captures[1].n <= MAX_OUTPUT_BYTES)
			return;
		daemon_h2_call_finish(e->call, RPC_RESOURCE_EXHAUSTED,
			"output larger than %d bytes: use Start", (int)MAX_OUTPUT_BYTES);
		give_up(e);
		return;
	}
	event_free(c->event);
	close(c->fd);
	c->fd = -1;
	check_end(e);
}

static void on_stream_closed(void *owner)
{
	give_up(owner);
}

static void start_capture(struct daemon_execution *e, int i, int fd)
{
	struct capture *c = &e->captures[i];
	c->execution = e;
	c->fd = fd;
	c->event = event_new(
		net_loop_base(e->service->loop), fd, EV_READ | EV_PERSIST, on_readable, c);
	event_add(c->event, NULL);
}

static void run(struct daemon_service *service, struct daemon_h2_call *call,
	struct daemon_command *command, const int out[2], const int err[2], int null,
	const char *nul_in)
{
	pid_t pid = daemon_command_run(
		command, "failed to execute command", nul_in, null, out[1], err[1], false);
	close(null);
	close(out[1]);
	close(err[1]);
	if (pid == 0) {
		close(out[0]);
		close(err[0]);
		daemon_h2_call_finish(call, command->status, "%s", command->message);
		return;
	}
	struct daemon_execution *e = x_calloc(1, sizeof *e);
	e->service = service;
	e->call = call;
	e->pid = pid;
	e->delay = net_loop_timer_new(service->loop, on_delay_over, e);
	evutil_make_socket_nonblocking(out[0]);
	evutil_make_socket_nonblocking(err[0]);
	start_capture(e, 0, out[0]);
	start_capture(e, 1, err[0]);
	DL_APPEND(service->executions, e);
	daemon_reaper_watch(service->opts.reaper, pid, on_reaped, e);
	daemon_h2_call_keep(call, on_stream_closed, NULL, e);
}

static bool make_pipes(int out[2], int err[2], int *null)
{
	*null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (*null < 0)
		return false;
	if (pipe2(out, O_CLOEXEC) != 0) {
		close(*null);
		return false;
	}
	if (pipe2(err, O_CLOEXEC) != 0) {
		close(*null);
		close(out[0]);
		close(out[1]);
		return false;
	}
	return true;
}

void daemon_rpc_execute(void *arg, struct daemon_h2_call *call, struct slice message)
{
	struct daemon_service *service = arg;
	const char *nul_in;
	Process__V1__ExecuteRequest *request = daemon_rpc_unpack(
		call, &process__v1__execute_request__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	struct daemon_command command;
	int out[2], err[2], null;
	if (!daemon_command_prepare(service, request->config, &command))
		daemon_h2_call_finish(call, command.status, "%s", command.message);
	else if (!make_pipes(out, err, &null))
		daemon_h2_call_finish(call, RPC_INTERNAL, "failed to execute command: %s",
			daemon_quote_errno(errno));
	else
		run(service, call, &command, out, err, null, nul_in);
	daemon_command_deinit(&command);
	process__v1__execute_request__free_unpacked(request, NULL);
}

void daemon_execution_signal_all(struct daemon_service *service, int signal_number)
{
	struct daemon_execution *e;
	DL_FOREACH(service->executions, e) {
		if (!e->is_reaped)
			kill(-e->pid, signal_number);
	}
}

void daemon_execution_free_all(struct daemon_service *service)
{
	struct daemon_execution *e, *next;
	DL_FOREACH_SAFE(service->executions, e, next)
		remove_execution(e);
}
