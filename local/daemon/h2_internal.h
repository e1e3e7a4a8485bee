// SPDX-License-Identifier: Apache-2.0
/* Shared by h2.c (connections), h2_request.c (what arrives) and h2_call.c (one call). Each calls only those after it. */
#pragma once

#include "local/daemon/frame.h"
#include "local/daemon/h2.h"

#include <nghttp2/nghttp2.h>

struct bufferevent;
struct evbuffer;
struct net_loop_timer;

struct daemon_h2_server {
	struct net_loop *loop;
	struct daemon_h2_server_opts opts;
	struct daemon_h2_conn *conns; /* utlist */
	bool is_shutting_down;
	bool is_idle_told;
};

struct daemon_h2_conn {
	struct daemon_h2_server *server;
	struct bufferevent *bev;
	nghttp2_session *session;
	void (*flush)(
		struct daemon_h2_conn *conn); /* writes what the session has; may end it */
	struct daemon_h2_call *calls;         /* utlist */
	size_t request_bytes;                 /* of messages not yet whole, all calls */
	bool is_flush_planned, is_dead, is_in_session;
	struct daemon_h2_conn *prev, *next;
};

struct daemon_h2_call {
	struct daemon_h2_conn *conn;
	int32_t stream_id;
	/* request */
	char *http_method, *path, *scheme;
	char *content_type, *encoding, *timeout, *authorization; /* as sent, or NULL */
	char *answer_type;                                       /* our content-type */
	bool is_malformed;
	bool has_regular; /* a field that is no pseudo-header has come */
	const struct daemon_h2_method *method;
	struct daemon_frame frame;
	bool is_started;  /* the handler has run, or the request was refused */
	bool has_request; /* END_STREAM has come */
	size_t extra_n;   /* bytes after the first message */
	struct net_loop_timer *deadline;
	/* answer */
	struct evbuffer *out;
	bool has_headers; /* sent or submitted */
	bool is_deferred; /* the data provider waits for more */
	bool is_finished;
	bool was_high; /* on_drained is owed */
	enum daemon_rpc_status status;
	char *message; /* percent-encoded */
	/* handler */
	void (*on_closed)(void *owner);
	void (*on_drained)(void *owner);
	void *owner;
	struct daemon_h2_call *prev, *next;
};

/* h2_call.c */
void daemon_h2_conn_plan_flush(struct daemon_h2_conn *conn); /* at the end of the turn */
struct daemon_h2_call *daemon_h2_call_new(struct daemon_h2_conn *conn, int32_t stream_id);
void daemon_h2_call_free(
	struct daemon_h2_call *call); /* tells the owner if there still is one */
/* Answers at once with an HTTP status other than 200 (trailers-only). */
void daemon_h2_call_refuse(struct daemon_h2_call *call, const char *http_status,
	enum daemon_rpc_status status, const char *message);

/* h2_request.c: the request side of the session's callbacks */
/* False: the request is malformed (RFC 9113, 8.1.1), reset the stream. */
bool daemon_h2_request_header(
	struct daemon_h2_call *call, struct slice name, struct slice value);
bool daemon_h2_request_headers_done(struct daemon_h2_call *call); /* false: as above */
void daemon_h2_request_data(struct daemon_h2_call *call, const unsigned char *bytes, size_t n);
void daemon_h2_request_end(struct daemon_h2_call *call);
