// SPDX-License-Identifier: Apache-2.0
/* Start: a process and its stream.
 *
 *   running ─ child ends ─> draining ─ all output read (or nobody can be waited for) ─> exit event, status
 *      └─ stream ends (reset, connection gone) ─> SIGKILL to the group ─> reaped ─> forgotten
 *
 * Draining ends at the end of both pipes; after 5 s only what is in them is still sent, since a
 * grandchild may hold them open. A terminal is at its end when its last user is gone, or when it
 * stays silent after the exit. While the client does not read, nothing is lost: the clocks only end
 * the wait for new output. */
#include "local/daemon/service_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "local/daemon/quote.h"
#include "local/daemon/reaper.h"

#include <errno.h>
#include <event2/util.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct ends {
	int ours[3], theirs[3]; /* stdin, stdout, stderr; -1 where there is none */
};

static void close_ends(int fds[3])
{
	for (int i = 0; i < 3; i++) {
		if (fds[i] >= 0 && (i == 0 || fds[i] != fds[0]))
			close(fds[i]);
	}
	fds[0] = fds[1] = fds[2] = -1;
}

static bool make_pipes(struct ends *ends)
{
	for (int i = 0; i < 3; i++) {
		int fds[2];
		if (pipe2(fds, O_CLOEXEC) != 0)
			return false;
		ends->ours[i] = i == 0 ? fds[1] : fds[0];
		ends->theirs[i] = i == 0 ? fds[0] : fds[1];
		evutil_make_socket_nonblocking(ends->ours[i]);
	}
	return true;
}

static bool make_tty(struct ends *ends, const Process__V1__PTY *size)
{
	char name[64];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		return false;
	ends->ours[0] = master;
	if (grantpt(master) != 0 || unlockpt(master) != 0 ||
		ptsname_r(master, name, sizeof name) != 0)
		return false;
	int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return false;
	ends->theirs[0] = ends->theirs[1] = ends->theirs[2] = slave;
	/* before the program can ask for it */
	struct winsize ws = { .ws_col = (unsigned short)size->cols,
		.ws_row = (unsigned short)size->rows };
	if (size->cols > 0 && size->rows > 0)
		ioctl(master, TIOCSWINSZ, &ws);
	evutil_make_socket_nonblocking(master);
	return true;
}

static void close_io(struct daemon_process *process)
{
	/* a terminal is one descriptor for both directions: the outlet owns it */
	daemon_stdin_deinit(&process->in);
	daemon_output_pump_close(&process->outlets[0]);
	daemon_output_pump_close(&process->outlets[1]);
	net_loop_timer_disarm(process->drain);
	net_loop_timer_disarm(process->quiet);
}

static void forget(void *arg)
{
	struct daemon_process *process = arg;
	net_loop_timer_free(process->drain);
	net_loop_timer_free(process->quiet);
	free(process);
}

static void remove_process(struct daemon_process *process)
{
	struct daemon_service *service = process->service;
	close_io(process);
	DL_DELETE(service->processes, process);
	net_loop_defer(service->loop, forget, process);
	daemon_service_check_idle(service);
}

void daemon_process_abandon(struct daemon_process *process)
{
	remove_process(process);
}

static void complete(struct daemon_process *process)
{
	Process__V1__StartResponse response = PROCESS__V1__START_RESPONSE__INIT;
	Process__V1__ExitEvent event = PROCESS__V1__EXIT_EVENT__INIT;
	event.exit_code = process->exit_code;
	response.event_case = PROCESS__V1__START_RESPONSE__EVENT_EXIT;
	response.exit = &event;
	process->is_completed = true;
	daemon_rpc_send(process->call, &response.base);
	daemon_h2_call_finish(process->call, RPC_OK, "%s", "");
	process->call = NULL;
	remove_process(process);
}

static void check_end(struct daemon_process *process)
{
	bool has_output = process->outlets[0].fd >= 0 || process->outlets[1].fd >= 0;
	if (process->is_reaped && !has_output && process->call != NULL)
		complete(process);
}

static void on_output(struct daemon_process *process, enum daemon_output_event event)
{
	if (event == OUTPUT_ENDED)
		check_end(process);
	else if (event == OUTPUT_UNUSED || (process->is_tty && process->is_reaped))
		net_loop_timer_arm(process->quiet, TTY_QUIET_MS);
}

static void on_drain_over(void *arg)
{
	struct daemon_process *process = arg;
	daemon_output_pump_limit(&process->outlets[0]);
	daemon_output_pump_limit(&process->outlets[1]);
	check_end(process);
}

static void on_quiet(void *arg)
{
	struct daemon_process *process = arg;
	if (!process->is_reaped) {
		daemon_output_pump_resume(&process->outlets[0]);
		return;
	}
	if (!process->outlets[0].is_armed) { /* silent only because the client does not read */
		net_loop_timer_arm(process->quiet, TTY_QUIET_MS);
		return;
	}
	daemon_output_pump_limit(&process->outlets[0]);
	check_end(process);
}

static void on_reaped(void *arg, int wait_status)
{
	struct daemon_process *process = arg;
	process->is_reaped = true;
	process->exit_code = daemon_reaper_exit_code(wait_status);
	if (process->call == NULL) {
		remove_process(process);
		return;
	}
	net_loop_timer_arm(process->drain, DRAIN_MS);
	if (process->is_tty) {
		if (daemon_h2_call_queued(process->call) < H2_QUEUE_HIGH)
			daemon_output_pump_resume(&process->outlets[0]);
		net_loop_timer_arm(process->quiet, TTY_QUIET_MS);
	}
	check_end(process);
}

static void on_stream_closed(void *owner)
{
	struct daemon_process *process = owner;
	process->call = NULL;
	kill(-process->pid, SIGKILL);
	if (process->is_reaped)
		remove_process(process);
	else
		close_io(process); /* hangs a terminal up; forgotten when reaped */
}

static void on_drained(void *owner)
{
	struct daemon_process *process = owner;
	daemon_output_pump_resume(&process->outlets[0]);
	daemon_output_pump_resume(&process->outlets[1]);
}

bool daemon_process_signal(struct daemon_process *process, int signal_number)
{
	if (process->is_completed)
		return true;
	if (kill(-process->pid, signal_number) == 0 || process->is_reaped)
		return true;
	return kill(process->pid, signal_number) == 0;
}

static void run(struct daemon_service *service, struct daemon_h2_call *call,
	struct daemon_command *command, struct ends *ends, int32_t id, bool is_tty,
	const char *nul_in)
{
	const char *what =
		is_tty ? "failed to start command with PTY" : "failed to start command";
	pid_t pid = daemon_command_run(command, what, nul_in, ends->theirs[0], ends->theirs[1],
		ends->theirs[2], is_tty);
	close_ends(ends->theirs);
	if (pid == 0) {
		close_ends(ends->ours);
		daemon_h2_call_finish(call, command->status, "%s", command->message);
		return;
	}
	struct daemon_process *process = x_calloc(1, sizeof *process);
	process->service = service;
	process->id = id;
	process->pid = pid;
	process->is_tty = is_tty;
	process->call = call;
	process->drain = net_loop_timer_new(service->loop, on_drain_over, process);
	process->quiet = net_loop_timer_new(service->loop, on_quiet, process);
	DL_APPEND(service->processes, process);
	daemon_reaper_watch(service->opts.reaper, pid, on_reaped, process);
	daemon_h2_call_keep(call, on_stream_closed, on_drained, process);

	Process__V1__StartResponse response = PROCESS__V1__START_RESPONSE__INIT;
	Process__V1__InitEvent event = PROCESS__V1__INIT_EVENT__INIT;
	event.process_id = id;
	response.event_case = PROCESS__V1__START_RESPONSE__EVENT_INIT;
	response.init = &event;
	daemon_rpc_send(call, &response.base);

	daemon_stdin_init(&process->in, service->loop, ends->ours[0], is_tty);
	daemon_output_pump_init(&process->outlets[0], process, on_output,
		is_tty ? ends->ours[0] : ends->ours[1], false);
	daemon_output_pump_init(
		&process->outlets[1], process, on_output, is_tty ? -1 : ends->ours[2], true);
}

void daemon_rpc_start(void *arg, struct daemon_h2_call *call, struct slice message)
{
	struct daemon_service *service = arg;
	const char *nul_in;
	Process__V1__StartRequest *request = daemon_rpc_unpack(
		call, &process__v1__start_request__descriptor, message, &nul_in);
	if (request == NULL)
		return;
	struct daemon_command command;
	struct ends ends = { { -1, -1, -1 }, { -1, -1, -1 } };
	if (!daemon_command_prepare(service, request->config, &command)) {
		daemon_h2_call_finish(call, command.status, "%s", command.message);
	} else {
		int32_t id = ++service->last_id; /* also spent on a start that fails */
		bool is_tty = request->pty != NULL;
		if (is_tty ? make_tty(&ends, request->pty) : make_pipes(&ends)) {
			run(service, call, &command, &ends, id, is_tty, nul_in);
		} else {
			daemon_h2_call_finish(call, RPC_INTERNAL, "failed to %s: %s",
				is_tty ? "open a terminal" : "create a pipe",
				daemon_quote_errno(errno));
			close_ends(ends.theirs);
			close_ends(ends.ours);
		}
	}
	daemon_command_deinit(&command);
	process__v1__start_request__free_unpacked(request, NULL);
}
