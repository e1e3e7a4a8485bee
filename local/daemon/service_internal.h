// SPDX-License-Identifier: Apache-2.0
/* Shared by the files of the process service. service.c (methods) calls start.c, execute.c and stdin.c; start.c calls
 * output_pump.c and stdin.c; all of them command.c (what to run), registry.c and rpc.c. */
#pragma once

#include "local/daemon/confine.h"
#include "local/daemon/h2.h"
#include "local/daemon/service.h"

#include "proto/process.pb-c.h"

#include <stdint.h>
#include <sys/types.h>

struct event;
struct evbuffer;
struct event_base;
struct net_loop_timer;

enum {
	CHUNK_BYTES = 4096,
	DRAIN_MS = 5000,       /* Start: pipes held open by a grandchild after the exit */
	WAIT_DELAY_MS = 10000, /* Execute: the same */
	TTY_QUIET_MS = 50, /* a terminal silent for so long after the exit has no more to say */
};

struct daemon_service {
	struct net_loop *loop;
	struct daemon_service_opts opts;
	struct daemon_process *processes; /* utlist: of Start */
	struct daemon_execution *executions;
	int32_t last_id;
	void (*on_idle)(void *arg);
	void *on_idle_arg;
};

/* registry.c */
void daemon_service_check_idle(struct daemon_service *service);
struct daemon_process *daemon_service_find(struct daemon_service *service,
	struct daemon_h2_call *call, int32_t id); /* or refuses the call */

/* command.c: a ProcessConfig made ready to run. */
struct daemon_command {
	char *const *argv; /* borrowed from the message, NULL-terminated copy of pointers */
	char **argv_array;
	char **env; /* NULL: the daemon's own */
	const struct daemon_exec_child_limits *limits;
	struct daemon_confined dir;
	enum daemon_rpc_status status;
	char *message; /* of the refusal */
};
/* False: status and message say why. Always daemon_command_deinit(). */
bool daemon_command_prepare(struct daemon_service *service,
	const Process__V1__ProcessConfig *config, struct daemon_command *command);
void daemon_command_deinit(struct daemon_command *command);
/* Finds the program and runs it. `what` begins the refusal ("failed to start command"); nul_in is from
 * daemon_pb_check(). The pid, or 0 with status and message. */
pid_t daemon_command_run(struct daemon_command *command, const char *what, const char *nul_in,
	int in, int out, int err, bool is_tty);

/* stdin.c: bytes on their way into a process, first come first served. */
struct daemon_stdin_channel {
	struct net_loop *loop;
	int fd; /* -1: closed */
	bool is_tty, is_closing;
	struct event *event;
	struct daemon_stdin_write *writes; /* utlist */
	size_t queued_bytes;
};
void daemon_stdin_init(
	struct daemon_stdin_channel *channel, struct net_loop *loop, int fd, bool is_tty);
void daemon_stdin_write(
	struct daemon_stdin_channel *channel, struct daemon_h2_call *call, struct slice bytes);
void daemon_stdin_end(struct daemon_stdin_channel *channel, struct daemon_h2_call *call);
void daemon_stdin_deinit(
	struct daemon_stdin_channel *channel); /* fails what waits; closes fd unless a tty */

/* output_pump.c: one descriptor read into a call's queue as fast as the client takes it. */
enum daemon_output_event {
	OUTPUT_READ,   /* some of it */
	OUTPUT_ENDED,  /* there is no more */
	OUTPUT_UNUSED, /* nobody has the terminal open just now */
};
typedef void daemon_output_pump_fn(
	struct daemon_process *process, enum daemon_output_event event);
struct daemon_output_pump {
	struct daemon_process *process;
	daemon_output_pump_fn *told;
	int fd; /* -1: at its end */
	bool is_stderr, is_armed;
	int64_t budget; /* bytes still to be read; -1: until the end */
	struct event *event;
};
void daemon_output_pump_init(struct daemon_output_pump *outlet, struct daemon_process *process,
	daemon_output_pump_fn *told, int fd, bool is_stderr);
void daemon_output_pump_close(struct daemon_output_pump *outlet); /* closes fd */
void daemon_output_pump_resume(struct daemon_output_pump *outlet);
void daemon_output_pump_limit(
	struct daemon_output_pump *outlet); /* only what is in the pipe now */

/* start.c */
struct daemon_process {
	struct daemon_service *service;
	int32_t id;
	pid_t pid;
	bool is_tty, is_reaped, is_completed;
	int exit_code;
	struct daemon_h2_call *call; /* NULL once the stream has ended */
	struct daemon_stdin_channel in;
	struct daemon_output_pump outlets[2];
	struct net_loop_timer *drain, *quiet;
	struct daemon_process *prev, *next;
};
void daemon_process_abandon(struct daemon_process *process); /* after the reaper is gone */
bool daemon_process_signal(struct daemon_process *process, int signal_number);

void daemon_rpc_start(void *arg, struct daemon_h2_call *call, struct slice message);
void daemon_rpc_execute(void *arg, struct daemon_h2_call *call, struct slice message);
void daemon_execution_signal_all(struct daemon_service *service, int signal_number);
void daemon_execution_free_all(struct daemon_service *service);

/* rpc.c. Unpacks or refuses the call. */
void *daemon_rpc_unpack(struct daemon_h2_call *call, const ProtobufCMessageDescriptor *type,
	struct slice message, const char **nul_in);
void daemon_rpc_reply(struct daemon_h2_call *call, const ProtobufCMessage *message);
void daemon_rpc_send(struct daemon_h2_call *call, const ProtobufCMessage *message);
