// SPDX-License-Identifier: Apache-2.0
/* Bytes of a server against the gRPC client. The first byte chooses what the client does, the second
 * the size of the pieces; the rest comes over a bufferevent pair, then the connection ends. Each call
 * must complete exactly once, or never when it was cancelled, and on_closed comes once. */
#include "engine/base/err.h"
#include "engine/net/grpc.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MANUAL_WINDOW = 1,
	UNARY = 2,
	CANCEL_IN_MESSAGE = 4,
	START_IN_DONE = 8,
	FREE_EARLY = 16,
	SMALL_LIMIT = 32,
	N_CALLS = 3,
};

static struct net_loop *loop;
static struct net_grpc_conn *conn;
static unsigned flags, n_started, n_done, n_cancelled, n_closed;

static struct one {
	struct net_grpc_call *call;
	unsigned done;
} calls[16];

static void start(void);

static void on_message(void *arg, struct slice message)
{
	struct one *one = arg;
	if (one->call == NULL || one->done)
		abort();
	static char copy[8 << 20]; /* every byte is looked at */
	memcpy(copy, message.p, message.n);
	if (flags & CANCEL_IN_MESSAGE) {
		net_grpc_cancel(one->call);
		one->call = NULL;
		n_cancelled++;
	} else if (flags & MANUAL_WINDOW) {
		net_grpc_consumed(one->call, message.n);
	}
}

static void on_done(void *arg, const struct err *err)
{
	struct one *one = arg;
	if (one->call == NULL || one->done++)
		abort();
	if (err != NULL && err->code == ERR_NONE)
		abort();
	one->call = NULL;
	n_done++;
	if (flags & START_IN_DONE)
		start();
}

static void on_closed(void *arg, const struct err *err)
{
	(void)arg;
	if (err == NULL || err->code == ERR_NONE || n_closed++)
		abort();
}

static void start(void)
{
	struct err err;
	if (n_started == sizeof calls / sizeof calls[0])
		return;
	struct one *one = &calls[n_started];
	*one = (struct one){ NULL, 0 };
	struct net_grpc_call_opts opts = {
		.path = "/process.v1.ProcessService/Start",
		.message = { "\x0a\x04\x0a\x02hi", 6 },
		.timeout_ms = 60000,
		.is_unary = flags & UNARY,
		.send_timeout = flags & UNARY,
		.manual_window = flags & MANUAL_WINDOW,
		.on_message = on_message,
		.done = on_done,
		.arg = one,
	};
	one->call = net_grpc_start(conn, &opts, &err);
	if (one->call != NULL)
		n_started++;
	else if (err.code != ERR_OP_CLOSED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct err err;
	loop = net_loop_new(&err);
	struct bufferevent *pair[2];
	if (loop == NULL || bufferevent_pair_new(net_loop_base(loop), 0, pair) != 0)
		abort();
	flags = data[0];
	size_t piece = (size_t)data[1] + 1;
	n_started = n_done = n_cancelled = n_closed = 0;
	struct net_grpc_conn_opts opts = {
		.authority = "fuzz:1",
		.token = "secret",
		.max_message_bytes = flags & SMALL_LIMIT ? 64 : 0,
		.stream_window_bytes = flags & SMALL_LIMIT ? 128 : 0,
		.on_closed = on_closed,
	};
	conn = net_grpc_conn_new_take(loop, pair[0], &opts, &err);
	bufferevent_enable(pair[1], EV_READ | EV_WRITE);
	for (int i = 0; i < N_CALLS; i++)
		start();
	net_loop_run_once(loop, 0);
	for (size_t i = 2; i < size; i += piece) {
		evbuffer_drain(bufferevent_get_input(pair[1]), SIZE_MAX);
		bufferevent_write(pair[1], data + i, size - i < piece ? size - i : piece);
		net_loop_run_once(loop, 0);
		if ((flags & FREE_EARLY) && i > size / 2)
			break;
	}
	if (!(flags & FREE_EARLY)) {
		bufferevent_flush(pair[1], EV_WRITE, BEV_FINISHED);
		for (int i = 0; i < 3; i++)
			net_loop_run_once(loop, 0);
		if (n_done + n_cancelled != n_started || n_closed != 1)
			abort();
	}
	net_grpc_conn_free(conn);
	bufferevent_free(pair[1]);
	net_loop_free(loop);
	return 0;
}
