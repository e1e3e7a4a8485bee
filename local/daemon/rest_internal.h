// SPDX-License-Identifier: Apache-2.0
/* Shared by the files of the REST server. rest.c (routes) calls the endpoints, rest_read.c, rest_list.c, rest_write.c and
 * rest_delete.c; they call rest_target.c and rest_answer.c, and these rest_conn.c, which tells rest.c by its calls. */
#pragma once

#include "local/daemon/confine.h"
#include "local/daemon/http1.h"
#include "local/daemon/rest.h"

#include <stdbool.h>
#include <sys/types.h>

struct evbuffer;
struct event;
struct net_loop_timer;
struct net_work;

struct daemon_rest_conn;
struct daemon_rest_server;

/* What a connection tells: of a request, it answers or takes over conn->on_body and what is beside it. */
struct daemon_rest_conn_calls {
	void (*request)(struct daemon_rest_conn *conn);  /* its head is there */
	void (*bad_head)(struct daemon_rest_conn *conn); /* conn->request.bad_status */
	void (*bad_body)(struct daemon_rest_conn *conn,
		const char *why);                          /* of an endpoint that reads it */
	void (*closed)(struct daemon_rest_server *server); /* one of its connections */
};

struct daemon_rest_server {
	struct net_loop *loop;
	const struct daemon_rest_conn_calls *calls;
	struct daemon_rest_server_opts opts;
	struct daemon_rest_conn *conns; /* utlist */
	char *metadata;                 /* the JSON, made at start */
	int64_t start_ms;
	bool is_ready, is_shutting_down, is_idle_told;
	struct net_work *sweep; /* NULL: over */
};

enum daemon_rest_state {
	REST_HEAD,    /* reading a request */
	REST_BODY,    /* its body goes to on_body */
	REST_DISCARD, /* a short body that nobody wants, before the answer */
	REST_WORK,    /* a thread is busy; nothing is read */
	REST_WRITE,   /* the answer */
	REST_LINGER, /* answered before the body was read: take in what comes, so that the answer is
			 not lost to a reset, then close */
};

/* A part of an answer that comes from a file, after the text before it. */
struct daemon_rest_file_part {
	int64_t start, length;
	char *before; /* malloc'ed text, or NULL */
};

struct daemon_rest_conn {
	struct daemon_rest_server *server;
	int fd;
	enum daemon_rest_state state;
	struct event *read_event, *write_event;
	struct net_loop_timer *timer;
	struct daemon_http1_request request;
	struct daemon_http1_body body;
	/* while a request is handled */
	char *query; /* raw, or NULL; points into request.target */
	char *path;  /* after /v1/files/, decoded, path_n bytes */
	size_t path_n;
	void (*on_body)(struct daemon_rest_conn *conn, struct slice piece);
	void (*on_body_end)(struct daemon_rest_conn *conn);
	void (*on_gone)(void *handler); /* connection lost or request over: frees handler */
	void *handler;
	/* answer */
	struct evbuffer *out;
	bool is_answered, closes;
	bool is_routed; /* the request is sound and an endpoint answers it */
	int file_fd;    /* −1: none */
	struct daemon_rest_file_part *parts;
	size_t n_parts, part;
	char *after_parts;
	/* bytes that came too early (pipelining) */
	char *pending;
	size_t pending_n;
	bool is_dead, is_feeding, sent_continue;
	bool is_local; /* to an address of this machine alone */
	struct daemon_rest_conn *prev, *next;
};

enum { REST_HEAD_TIMEOUT_MS = 10000, REST_DISCARD_BYTES = 256 << 10 };

/* rest_conn.c */
void daemon_rest_conn_new_take(struct daemon_rest_server *server, int fd);
void daemon_rest_conn_close(struct daemon_rest_conn *conn);
void daemon_rest_conn_end_if_idle(struct daemon_rest_conn *conn);
/* The handler wants the body (sends 100 Continue if it is waited for). */
void daemon_rest_conn_read_body(struct daemon_rest_conn *conn);
/* Nothing more is read until the answer. */
void daemon_rest_conn_pause(struct daemon_rest_conn *conn);
void daemon_rest_conn_set_reading(struct daemon_rest_conn *conn, bool on);
void daemon_rest_conn_release(
	struct daemon_rest_conn *conn); /* ends the handler, if there still is one */
void daemon_rest_conn_next(
	struct daemon_rest_conn *conn); /* the answer is out: on to the next request */

void daemon_rest_conn_write(struct daemon_rest_conn *conn); /* goes on writing */
void daemon_rest_conn_send_answer(
	struct daemon_rest_conn *conn); /* begins to, when the body allows it */
bool daemon_rest_conn_has_unread_body(const struct daemon_rest_conn *conn);

/* rest_answer.c */
const char *daemon_rest_reason(int status);
/* The answer. content_type may be NULL. headers: whole lines with CRLF, or "". HEAD drops the body. */
void daemon_rest_answer(struct daemon_rest_conn *conn, int status, const char *content_type,
	const char *headers, struct slice body);
/* Answer whose body is parts of file_fd (taken over), length bytes in all; the caller has filled
 * conn->parts. */
void daemon_rest_answer_file(struct daemon_rest_conn *conn, int status,
	const char *content_type, const char *headers, int file_fd, int64_t length);
void daemon_rest_error(struct daemon_rest_conn *conn, int status, const char *code,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void daemon_rest_error_text(
	struct daemon_rest_conn *conn, int status, const char *code, struct slice message);
/* 400: a value of the query that is refused, quoted. */
void daemon_rest_error_argument(
	struct daemon_rest_conn *conn, const char *name, const char *value, const char *rule);
void daemon_rest_text(
	struct daemon_rest_conn *conn, int status, const char *headers, const char *text);
bool daemon_rest_is_head(const struct daemon_rest_conn *conn);

/* rest_target.c. Resolves conn->path, or answers. False: answered. Always daemon_confined_deinit(). */
bool daemon_rest_resolve(struct daemon_rest_conn *conn, struct daemon_confined *target);

void daemon_rest_get(struct daemon_rest_conn *conn);    /* rest_read.c */
void daemon_rest_put(struct daemon_rest_conn *conn);    /* rest_write.c */
void daemon_rest_delete(struct daemon_rest_conn *conn); /* rest_delete.c */
/* rest_list.c; takes what it needs out of target */
void daemon_rest_list(struct daemon_rest_conn *conn, struct daemon_confined *target);

/* rest_sweep.c: temporary files of uploads */
#define REST_TEMP_PREFIX ".sandboxd-tmp-"
enum { REST_TEMP_HEX = 16 };
bool daemon_rest_temp_is_name(const char *name);
bool daemon_rest_temp_lock(
	int fd); /* false: somebody took it for a dead one; take another name */
void daemon_rest_sweep_start(struct daemon_rest_server *server);

/* rest_host.c */
bool daemon_rest_host_is_local(
	int fd); /* whether a connection came to an address of this machine alone */
bool daemon_rest_host_is_fine(const char *host);

enum { REST_MAX_LISTING_BYTES = 256 << 20 };
