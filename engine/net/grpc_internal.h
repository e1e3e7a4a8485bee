// SPDX-License-Identifier: Apache-2.0
/* What the parts of the gRPC client share. Each calls only those under it:
 *   grpc.c         the connection: bytes, HTTP/2 events
 *   grpc_call.c    one call and its messages
 *   grpc_conn.c    what a call asks of its connection      grpc_status.c  what it ends with */
#pragma once

#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/base/str.h"
#include "engine/net/grpc.h"

#include <nghttp2/nghttp2.h>

enum {
	GRPC_PREFIX_BYTES = 5,
	GRPC_DEFAULT_MESSAGE_BYTES = 4 << 20,
	GRPC_DEFAULT_STREAM_WINDOW = 256 << 10,
	GRPC_DEFAULT_CONNECTION_WINDOW = 16 << 20,
	GRPC_STATUS_TEXT_BYTES = 4096,
};

enum net_grpc_status {
	STATUS_NONE = -1,
	STATUS_OK = 0,
	STATUS_CANCELLED = 1,
	STATUS_UNKNOWN = 2,
	STATUS_DEADLINE_EXCEEDED = 4,
	STATUS_PERMISSION_DENIED = 7,
	STATUS_RESOURCE_EXHAUSTED = 8,
	STATUS_UNIMPLEMENTED = 12,
	STATUS_INTERNAL = 13,
	STATUS_UNAVAILABLE = 14,
	STATUS_UNAUTHENTICATED = 16,
};

struct net_grpc_call {
	int32_t stream_id; /* key */
	struct net_grpc_conn *conn;
	struct net_loop_timer *timer;
	void (*on_message)(void *arg, struct slice message);
	void (*done)(void *arg, const struct err *err);
	void *arg;
	bool manual_window, is_unary;

	struct str request; /* prefix and message */
	size_t request_sent;

	/* the message that is arriving */
	unsigned char prefix[GRPC_PREFIX_BYTES];
	size_t prefix_bytes;
	size_t message_bytes; /* its length, once the prefix is whole */
	struct str partial;
	uint64_t n_messages;
	/* bytes of a message larger than half a window are given back before the consumer has
	 * them, or the rest could not come: so many of grpc_consumed() count for nothing */
	size_t early_bytes;

	/* from the last header block */
	int http_status;
	int grpc_status; /* -1: none */
	bool is_grpc;    /* the content type says so */
	struct str status_text;
	bool is_remote_done; /* END_STREAM came */

	struct err fail; /* our own reason to reset the stream, code NONE if none */
	UT_hash_handle hh;
};

struct net_grpc_conn {
	struct net_loop *loop;
	struct bufferevent *bev;
	struct event *readable; /* a plain socket's; else the bufferevent reads */
	nghttp2_session *session;
	char *authority;
	char *authorization; /* "Bearer …" or NULL */
	const char *scheme;
	size_t max_message_bytes;
	uint32_t stream_window_bytes;
	void (*on_closed)(void *arg, const struct err *err);
	void *arg;
	void (*flush)(struct net_grpc_conn *conn); /* writes what is due; may close it */

	struct net_grpc_call *calls; /* by stream id */
	bool is_dead;                /* freed by its owner */
	bool is_closed;              /* lost: no byte is read or written any more */
	bool is_going_away;          /* no new calls */
	bool has_settings;           /* the peer does speak HTTP/2 */
	bool has_told;               /* on_closed is due or has run */
	bool is_flush_due;
	unsigned in_session; /* inside nghttp2_session_mem_recv */
	struct err closed_err;
};

/* grpc_conn.c */
void net_grpc_conn_flush_later(struct net_grpc_conn *conn);
void net_grpc_conn_settle(
	struct net_grpc_conn *conn); /* tells on_closed once no call is left */
/* grpc_call.c */
struct net_grpc_call *net_grpc_call_find(struct net_grpc_conn *conn, int32_t stream_id);
void net_grpc_call_data(struct net_grpc_call *call, const uint8_t *bytes, size_t n);
void net_grpc_call_remote_done(struct net_grpc_call *call); /* END_STREAM has come */
void net_grpc_call_complete(struct net_grpc_call *call, const struct err *err);
void net_grpc_call_discard(struct net_grpc_call *call); /* without a callback */
void net_grpc_call_stream_closed(struct net_grpc_call *call, uint32_t error_code);
/* grpc_status.c */
/* How a call whose stream has closed has ended. False: *err. */
bool net_grpc_status_is_ok(
	const struct net_grpc_call *call, uint32_t error_code, struct err *err);
void net_grpc_call_header(struct net_grpc_call *call, struct slice name, struct slice value);
void net_grpc_call_begin_headers(struct net_grpc_call *call);
