// SPDX-License-Identifier: Apache-2.0
/* Shared by service.c (registry, control calls), command.c (what to run), start.c and outlet.c
 * (streams), execute.c, stdin.c. */
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
struct loop_timer;

enum {
	CHUNK_BYTES = 4096,
	DRAIN_MS = 5000,       /* Start: pipes held open by a grandchild after the exit */
	WAIT_DELAY_MS = 10000, /* Execute: the same */
	TTY_QUIET_MS = 50, /* a terminal silent for so long after the exit has no more to say */
};

struct service {
	struct loop *loop;
	struct service_opts opts;
	struct process *processes; /* utlist: of Start */
	struct execution *executions;
	int32_t last_id;
	void (*on_idle)(void *arg);
	void *on_idle_arg;
};

void service_check_idle(struct service *service);

/* command.c: a ProcessConfig made ready to run. */
struct command {
	char *const *argv; /* borrowed from the message, NULL-terminated copy of pointers */
	char **argv_array;
	char **env; /* NULL: the daemon's own */
	const struct exec_child_limits *limits;
	struct confined dir;
	enum rpc_status status;
	char *message; /* of the refusal */
};
/* False: status and message say why. Always command_deinit(). */
bool command_prepare(struct service *service, const Process__V1__ProcessConfig *config,
	struct command *command);
void command_deinit(struct command *command);
/* Finds the program and runs it. `what` begins the refusal ("failed to start command"); nul_in is from
 * pb_check(). The pid, or 0 with status and message. */
pid_t command_run(struct command *command, const char *what, const char *nul_in, int in,
	int out, int err, bool is_tty);

/* stdin.c: bytes on their way into a process, first come first served. */
struct stdin_channel {
	struct loop *loop;
	int fd; /* -1: closed */
	bool is_tty, is_closing;
	struct event *event;
	struct stdin_write *writes; /* utlist */
	size_t queued_bytes;
};
void stdin_init(struct stdin_channel *channel, struct loop *loop, int fd, bool is_tty);
void stdin_write(struct stdin_channel *channel, struct h2_call *call, struct slice bytes);
void stdin_end(struct stdin_channel *channel, struct h2_call *call);
void stdin_deinit(struct stdin_channel *channel); /* fails what waits; closes fd unless a tty */

/* outlet.c: one descriptor read into a call's queue as fast as the client takes it. */
struct outlet {
	struct process *process;
	int fd; /* -1: at its end */
	bool is_stderr, is_armed;
	int64_t budget; /* bytes still to be read; -1: until the end */
	struct event *event;
};
void outlet_init(struct outlet *outlet, struct process *process, int fd, bool is_stderr);
void outlet_close(struct outlet *outlet); /* closes fd */
void outlet_resume(struct outlet *outlet);
void outlet_limit(struct outlet *outlet); /* only what is in the pipe now */

/* start.c */
struct process {
	struct service *service;
	int32_t id;
	pid_t pid;
	bool is_tty, is_reaped, is_completed;
	int exit_code;
	struct h2_call *call; /* NULL once the stream has ended */
	struct stdin_channel in;
	struct outlet outlets[2];
	struct loop_timer *drain, *quiet;
	struct process *prev, *next;
};
void process_outlet_ended(struct process *process);
void process_tty_unused(struct process *process); /* look again a little later */
void process_outlet_read(struct process *process);
void process_abandon(struct process *process); /* after the reaper is gone */
bool process_signal(struct process *process, int signal_number);

int exit_code_of(int wait_status); /* −1 for a signal */

void rpc_start(void *arg, struct h2_call *call, struct slice message);
void rpc_execute(void *arg, struct h2_call *call, struct slice message);
void execution_signal_all(struct service *service, int signal_number);
void execution_free_all(struct service *service);

/* Unpacks or refuses the call. */
void *rpc_unpack(struct h2_call *call, const ProtobufCMessageDescriptor *type,
	struct slice message, const char **nul_in);
void rpc_reply(struct h2_call *call, const ProtobufCMessage *message);
void rpc_send(struct h2_call *call, const ProtobufCMessage *message);
