// SPDX-License-Identifier: Apache-2.0
/* gRPC over HTTP/2 with prior knowledge (nghttp2) on any bufferevent: unary and server-streaming
 * calls (gRPC "PROTOCOL-HTTP2"). No HTTP/2 PING is ever sent on a timer (the server answers with GOAWAY).
 * The connection window is replenished on arrival; a stream's window is opened only by
 * net_grpc_consumed(), so a slow consumer stops its own process and nobody else.
 * Errors: ERR_CONN_LOST, ERR_INTERNAL, ERR_LIMIT_UPLOAD, ERR_OP_CLOSED, ERR_OP_TIMEOUT, ERR_RUNTIME_PROTOCOL,
 * ERR_RPC_* (the status of a call). */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bufferevent;
struct err;
struct net_loop;
struct net_grpc_conn;
struct net_grpc_call;

struct net_grpc_conn_opts {
	const char *authority;            /* host:port, copied */
	const char *token;                /* bearer token or NULL; copied, never logged */
	size_t max_message_bytes;         /* received; 0: 4 MiB */
	uint32_t stream_window_bytes;     /* 0: 256 KiB */
	uint32_t connection_window_bytes; /* 0: 16 MiB */
	/* Once, when the connection is of no more use (GOAWAY, EOF, error); calls in flight have
	 * completed before. Free the conn from here with loop_defer, or later. */
	void (*on_closed)(void *arg, const struct err *err);
	void *arg;
};
/* Takes over bev, also on failure. Errors: ERR_INTERNAL; of on_closed: ERR_CONN_LOST, ERR_RUNTIME_PROTOCOL (no HTTP/2). */
struct net_grpc_conn *net_grpc_conn_new_take(struct net_loop *loop, struct bufferevent *bev,
	const struct net_grpc_conn_opts *opts, struct err *err);
void net_grpc_conn_free(struct net_grpc_conn *conn); /* ends calls silently */
bool net_grpc_conn_is_usable(const struct net_grpc_conn *conn);

struct net_grpc_call_opts {
	const char *path;     /* "/process.v1.ProcessService/Start" */
	struct slice message; /* one protobuf message, copied */
	int64_t timeout_ms;   /* 0: none. Our own clock; never for streams that live */
	bool is_unary;        /* anything but exactly one message is rpc.internal */
	bool send_timeout; /* also as grpc-timeout: unary only: on a stream its expiry kills the process */
	const char *traceparent; /* or NULL */
	/* Each message as it is complete. A unary call gets exactly one before done(NULL). With
	 * manual_window the consumer calls grpc_consumed() with the n of bytes it has used up. */
	void (*on_message)(void *arg, struct slice message);
	bool manual_window;
	/* Errors: ERR_RPC_* with the decoded grpc-message, ERR_OP_TIMEOUT, ERR_CONN_LOST, ERR_LIMIT_RESPONSE,
	 * ERR_RUNTIME_PROTOCOL (not gRPC, not HTTP/2); sys = gRPC status number if there was one.
	 * The server's DEADLINE_EXCEEDED is op.timeout too, its UNAVAILABLE conn.lost. */
	void (*done)(void *arg, const struct err *err);
	void *arg;
};
/* Errors: ERR_OP_CLOSED (the connection), ERR_LIMIT_UPLOAD (over 4 GiB), ERR_INTERNAL. */
struct net_grpc_call *net_grpc_start(
	struct net_grpc_conn *conn, const struct net_grpc_call_opts *opts, struct err *err);
void net_grpc_cancel(struct net_grpc_call *call); /* RST_STREAM CANCEL; no callback comes */
void net_grpc_consumed(struct net_grpc_call *call, size_t message_bytes);
/* A larger stream window than the connection's default, from now; for a call whose answer has begun. */
void net_grpc_set_window(struct net_grpc_call *call, uint32_t bytes);
