// SPDX-License-Identifier: Apache-2.0
/* gRPC server: HTTP/2 with prior knowledge (nghttp2) on accepted connections. It knows calls,
 * messages, statuses and deadlines, and nothing about processes.
 *
 * Everything that belongs to gRPC itself is answered here: content type, unknown methods, bad timeouts,
 * oversized, compressed or cut messages, missing token. A handler sees one whole message.
 *
 * Flow control: what a handler sends waits in the call's queue until the client's windows take it. A
 * producer asks daemon_h2_call_queued() and goes on when on_drained comes, so memory stays bounded. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemon_h2_call;
struct daemon_h2_server;
struct net_loop;

/* gRPC status numbers (statuscodes.md). */
enum daemon_rpc_status {
	RPC_OK = 0,
	RPC_UNKNOWN = 2,
	RPC_INVALID_ARGUMENT = 3,
	RPC_DEADLINE_EXCEEDED = 4,
	RPC_NOT_FOUND = 5,
	RPC_PERMISSION_DENIED = 7,
	RPC_RESOURCE_EXHAUSTED = 8,
	RPC_FAILED_PRECONDITION = 9,
	RPC_UNIMPLEMENTED = 12,
	RPC_INTERNAL = 13,
	RPC_UNAVAILABLE = 14,
	RPC_UNAUTHENTICATED = 16,
};

struct daemon_h2_method {
	const char *name;
	/* false: runs when the message is whole; true: when the client has closed its side */
	bool waits_for_end;
	/* message is borrowed for the call. Must finish the call now or keep it (h2_call_keep). */
	void (*start)(void *arg, struct daemon_h2_call *call, struct slice message);
};

struct daemon_h2_server_opts {
	const char *service; /* "process.v1.ProcessService" */
	const struct daemon_h2_method *methods;
	size_t n_methods;
	void *arg; /* of the methods */
	/* False refuses the call as UNAUTHENTICATED. authorization may be an empty slice. */
	bool (*is_authorized)(void *auth_arg, struct slice authorization);
	void (*on_idle)(
		void *auth_arg); /* after h2_server_shutdown: the last connection has gone */
	void *auth_arg;
};

struct daemon_h2_server *daemon_h2_server_new(
	struct net_loop *loop, const struct daemon_h2_server_opts *opts);
void daemon_h2_server_free(
	struct daemon_h2_server *server); /* closes every connection, calls get on_closed */
/* A connected, non-blocking socket; taken over. */
void daemon_h2_server_accept_take(struct daemon_h2_server *server, int fd);
/* GOAWAY on every connection; each closes when its calls are done. on_idle comes once, deferred. */
void daemon_h2_server_shutdown(struct daemon_h2_server *server);

/* Keeps a call past its start(). on_closed: the stream has ended without daemon_h2_call_finish (reset,
 * deadline, connection gone); the call is invalid once it has begun. on_drained: the queue has shrunk
 * to H2_QUEUE_LOW. Neither comes after daemon_h2_call_finish(). */
enum { H2_QUEUE_LOW = 32 << 10, H2_QUEUE_HIGH = 64 << 10 };
void daemon_h2_call_keep(struct daemon_h2_call *call, void (*on_closed)(void *owner),
	void (*on_drained)(void *owner), void *owner);
/* Queues one message: n bytes of protobuf. */
void daemon_h2_call_send(struct daemon_h2_call *call, const void *bytes, size_t n);
size_t daemon_h2_call_queued(const struct daemon_h2_call *call);
/* Status after what is queued; the call is invalid afterwards. Without a message sent before, the
 * status goes out as trailers-only. */
void daemon_h2_call_finish(struct daemon_h2_call *call, enum daemon_rpc_status status,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
