// SPDX-License-Identifier: Apache-2.0
/*   connect ─> Start (a stream) ─ InitEvent ─> output … ─> ExitEvent ─> on_exit
 *                                    └─> WriteStdin, one at a time; ResizeTTY, the newest size */
#include "local/server/api/process.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/grpc.h"
#include "engine/net/loop.h"
#include "local/server/server.h"
#include "proto/process.pb-c.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STDIN_PIECE_BYTES = 32 << 10, DEFAULT_COLS = 80, DEFAULT_ROWS = 24 };
enum { START_MS = 30000 }; /* until the daemon says that it runs, or why not */

#define SERVICE "/process.v1.ProcessService/"

struct api_process {
	struct net_loop *loop;
	struct api_process_opts opts; /* callbacks alone */
	struct net_grpc_conn *conn;
	struct net_grpc_call *start, *write, *resize;
	struct evbuffer *input;
	struct net_loop_timer *timer;
	int32_t pid; /* 0: not known yet */
	size_t owed; /* bytes of messages that are not consumed */
	uint32_t cols, rows;
	bool is_eof_asked, is_eof_sent, is_stdin_closed, is_full;
	bool is_resize_due, has_exit, is_over;
	int exit_code;
};

/* ---- messages ---- */

static struct slice pack(const ProtobufCMessage *message)
{
	size_t n = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes = x_malloc(n + 1);
	protobuf_c_message_pack(message, bytes);
	return (struct slice){ (const char *)bytes, n };
}

static void free_slice(struct slice s)
{
	free((void *)(uintptr_t)s.p);
}

static struct net_grpc_call *call(struct api_process *p, const char *path,
	const ProtobufCMessage *message, void (*done)(void *arg, const struct err *err))
{
	struct slice bytes = pack(message);
	struct net_grpc_call *c = net_grpc_start(p->conn,
		&(struct net_grpc_call_opts){ .path = path,
			.message = bytes,
			.is_unary = true,
			.done = done,
			.arg = p },
		NULL);
	free_slice(bytes);
	return c;
}

/* ---- the end ---- */

static void over(struct api_process *p, const struct err *err)
{
	if (p->is_over)
		return;
	p->is_over = true;
	net_loop_timer_disarm(p->timer);
	p->opts.on_exit(p->opts.arg, err, p->exit_code);
}

static void on_start_timeout(void *arg)
{
	struct api_process *p = arg;
	struct err err = { 0 };
	err_set(&err, ERR_OP_TIMEOUT, "the daemon does not answer");
	over(p, &err);
}

static void on_start_done(void *arg, const struct err *err)
{
	struct api_process *p = arg;
	struct err ended = { 0 };
	p->start = NULL;
	if (p->has_exit) {
		over(p, NULL);
		return;
	}
	if (!err) {
		err_set(&ended, ERR_RUNTIME_PROTOCOL, "the daemon told no exit status");
		err = &ended;
	}
	over(p, err);
}

static void on_conn_closed(void *arg, const struct err *err)
{
	struct api_process *p = arg;
	over(p, err); /* usually its calls have said so before */
}

/* ---- stdin ---- */

static void write_more(struct api_process *p);

static void on_written(void *arg, const struct err *err)
{
	struct api_process *p = arg;
	p->write = NULL;
	if (err) { /* it reads no more: what comes is lost, as with a pipe */
		p->is_stdin_closed = true;
		evbuffer_drain(p->input, SIZE_MAX);
	}
	if (!p->is_over)
		write_more(p);
	if (p->is_full && evbuffer_get_length(p->input) < PROCESS_STDIN_HIGH_BYTES / 4) {
		p->is_full = false;
		p->opts.on_stdin_room(p->opts.arg);
	}
}

static void write_more(struct api_process *p)
{
	Process__V1__WriteStdinRequest request = PROCESS__V1__WRITE_STDIN_REQUEST__INIT;
	Process__V1__Empty empty = PROCESS__V1__EMPTY__INIT;
	size_t n = evbuffer_get_length(p->input);
	if (p->write || p->pid == 0 || p->is_over || p->is_stdin_closed || p->is_eof_sent)
		return;
	if (n == 0 && !p->is_eof_asked)
		return;
	request.process_id = p->pid;
	if (n > 0) {
		n = n > STDIN_PIECE_BYTES ? STDIN_PIECE_BYTES : n;
		request.data_case = PROCESS__V1__WRITE_STDIN_REQUEST__DATA_INPUT;
		request.input.len = n;
		request.input.data = evbuffer_pullup(p->input, (ev_ssize_t)n);
	} else {
		request.data_case = PROCESS__V1__WRITE_STDIN_REQUEST__DATA_EOF;
		request.eof = &empty;
		p->is_eof_sent = true;
	}
	p->write = call(p, SERVICE "WriteStdin", &request.base, on_written);
	evbuffer_drain(p->input, n);
}

bool api_process_write(struct api_process *p, const void *bytes, size_t n)
{
	if (p->is_over || p->is_stdin_closed || p->is_eof_asked)
		return true;
	evbuffer_add(p->input, bytes, n);
	write_more(p);
	p->is_full = evbuffer_get_length(p->input) >= PROCESS_STDIN_HIGH_BYTES;
	return !p->is_full;
}

void api_process_write_eof(struct api_process *p)
{
	p->is_eof_asked = true;
	write_more(p);
}

/* ---- size ---- */

static void resize_now(struct api_process *p);

static void on_resized(void *arg, const struct err *err)
{
	struct api_process *p = arg;
	(void)err; /* it has ended, or has no terminal */
	p->resize = NULL;
	resize_now(p);
}

static void resize_now(struct api_process *p)
{
	Process__V1__ResizeTTYRequest request = PROCESS__V1__RESIZE_TTYREQUEST__INIT;
	if (!p->is_resize_due || p->resize || p->pid == 0 || p->is_over)
		return;
	p->is_resize_due = false;
	request.process_id = p->pid;
	request.cols = p->cols;
	request.rows = p->rows;
	p->resize = call(p, SERVICE "ResizeTTY", &request.base, on_resized);
}

void api_process_resize(struct api_process *p, uint32_t cols, uint32_t rows)
{
	p->cols = cols;
	p->rows = rows;
	p->is_resize_due = true;
	resize_now(p);
}

/* ---- what it tells ---- */

static void on_event(struct api_process *p, const Process__V1__StartResponse *event)
{
	switch (event->event_case) {
	case PROCESS__V1__START_RESPONSE__EVENT_INIT:
		p->pid = event->init->process_id;
		net_loop_timer_disarm(p->timer);
		write_more(p);
		resize_now(p);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_STDOUT:
		p->opts.on_output(p->opts.arg, false, event->stdout.data, event->stdout.len);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_STDERR:
		p->opts.on_output(p->opts.arg, true, event->stderr.data, event->stderr.len);
		break;
	case PROCESS__V1__START_RESPONSE__EVENT_EXIT:
		p->has_exit = true;
		p->exit_code = event->exit->exit_code;
		break;
	default:
		break;
	}
}

static void on_message(void *arg, struct slice message)
{
	struct api_process *p = arg;
	Process__V1__StartResponse *event = process__v1__start_response__unpack(
		NULL, message.n, (const uint8_t *)message.p);
	p->owed += message.n;
	if (event && !p->is_over)
		on_event(p, event);
	if (event)
		process__v1__start_response__free_unpacked(event, NULL);
}

void api_process_consume(struct api_process *p)
{
	if (p->start && p->owed > 0)
		net_grpc_consumed(p->start, p->owed);
	p->owed = 0;
}

/* ---- start ---- */

static bool start_call(
	struct api_process *p, const struct api_process_opts *opts, struct err *err)
{
	static char term_key[] = "TERM", term[] = "xterm";
	Process__V1__StartRequest request = PROCESS__V1__START_REQUEST__INIT;
	Process__V1__ProcessConfig config = PROCESS__V1__PROCESS_CONFIG__INIT;
	Process__V1__PTY pty = PROCESS__V1__PTY__INIT;
	Process__V1__ProcessConfig__EnvVarsEntry entry;
	Process__V1__ProcessConfig__EnvVarsEntry *entries[] = { &entry };
	size_t n = 0;
	process__v1__process_config__env_vars_entry__init(&entry);
	while (opts->argv[n])
		n++;
	char **argv = x_calloc(n + 1, sizeof *argv);
	memcpy(argv, opts->argv, n * sizeof *argv);
	config.command = argv;
	config.n_command = n;
	request.config = &config;
	if (opts->is_tty) { /* as container runtimes set it */
		entry.key = term_key;
		entry.value = term;
		config.env_vars = entries;
		config.n_env_vars = 1;
		pty.cols = DEFAULT_COLS;
		pty.rows = DEFAULT_ROWS;
		request.pty = &pty;
	}
	struct slice bytes = pack(&request.base);
	p->start = net_grpc_start(p->conn,
		&(struct net_grpc_call_opts){ .path = SERVICE "Start",
			.message = bytes,
			.on_message = on_message,
			.manual_window = true,
			.done = on_start_done,
			.arg = p },
		err);
	free_slice(bytes);
	free(argv);
	return p->start != NULL;
}

struct api_process *api_process_start(
	struct server *s, const struct api_process_opts *opts, struct err *err)
{
	char authority[32];
	char *token = NULL;
	int fd = s->pods ? s->pods->connect(s, opts->pod_uid, SERVER_GRPC_PORT, err) : -1;
	if (fd < 0)
		return NULL;
	struct bufferevent *bev =
		bufferevent_socket_new(net_loop_base(s->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (!bev)
		abort(); /* out of memory, as elsewhere */
	if (s->opts.daemon_auth && !(token = s->pods->token(s, opts->pod_uid, err))) {
		bufferevent_free(bev);
		return NULL;
	}
	struct api_process *p = x_calloc(1, sizeof *p);
	p->loop = s->loop;
	p->opts = *opts;
	p->opts.argv = NULL;
	p->opts.pod_uid = NULL;
	p->input = evbuffer_new();
	p->timer = net_loop_timer_new(s->loop, on_start_timeout, p);
	net_loop_timer_arm(p->timer, START_MS);
	snprintf(authority, sizeof authority, "127.0.0.1:%d", SERVER_GRPC_PORT);
	p->conn = net_grpc_conn_new_take(s->loop, bev,
		&(struct net_grpc_conn_opts){ .authority = authority,
			.token = token,
			.on_closed = on_conn_closed,
			.arg = p },
		err);
	x_free_secret(token);
	if (p->conn && start_call(p, opts, err))
		return p;
	p->is_over = true;
	api_process_free(p);
	return NULL;
}

void api_process_free(struct api_process *p)
{
	if (!p)
		return;
	p->is_over = true;
	net_loop_timer_free(p->timer);
	net_grpc_cancel(p->start);
	net_grpc_conn_free(p->conn);
	evbuffer_free(p->input);
	free(p);
}
