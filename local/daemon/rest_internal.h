// SPDX-License-Identifier: Apache-2.0
/* Shared by rest.c (routes), rest_conn.c (one connection), rest_answer.c, rest_read.c, rest_list.c, rest_write.c and
 * rest_delete.c (one endpoint each). */
#pragma once

#include "local/daemon/confine.h"
#include "local/daemon/http1.h"
#include "local/daemon/rest.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct evbuffer;
struct event;
struct loop_timer;
struct work_pool;

struct rest_server {
	struct loop *loop;
	struct rest_server_opts opts;
	struct work_pool *pool;
	struct rest_conn *conns; /* utlist */
	char *metadata;          /* the JSON, made at start */
	int64_t start_ms;
	bool is_ready, is_shutting_down, is_idle_told;
	atomic_bool is_ending; /* for work that may take long */
};

enum rest_state {
	REST_HEAD,    /* reading a request */
	REST_BODY,    /* its body goes to on_body */
	REST_DISCARD, /* a short body that nobody wants, before the answer */
	REST_WORK,    /* a thread is busy; nothing is read */
	REST_WRITE,   /* the answer */
	REST_LINGER, /* answered before the body was read: take in what comes, so that the answer is
			 not lost to a reset, then close */
};

/* A part of an answer that comes from a file, after the text before it. */
struct rest_file_part {
	int64_t start, length;
	char *before; /* malloc'ed text, or NULL */
};

struct rest_conn {
	struct rest_server *server;
	int fd;
	enum rest_state state;
	struct event *read_event, *write_event;
	struct loop_timer *timer;
	struct http1_request request;
	struct http1_body body;
	/* while a request is handled */
	char *query; /* raw, or NULL; points into request.target */
	char *path;  /* after /v1/files/, decoded, path_n bytes */
	size_t path_n;
	void (*on_body)(struct rest_conn *conn, struct slice piece);
	void (*on_body_end)(struct rest_conn *conn);
	void (*on_gone)(void *handler); /* connection lost or request over: frees handler */
	void *handler;
	/* answer */
	struct evbuffer *out;
	bool is_answered, closes;
	bool is_routed; /* the request is sound and an endpoint answers it */
	int file_fd;    /* −1: none */
	struct rest_file_part *parts;
	size_t n_parts, part;
	char *after_parts;
	/* bytes that came too early (pipelining) */
	char *pending;
	size_t pending_n;
	bool is_dead, is_feeding, sent_continue;
	bool is_local; /* to an address of this machine alone */
	struct rest_conn *prev, *next;
};

enum { REST_HEAD_TIMEOUT_MS = 10000, REST_DISCARD_BYTES = 256 << 10 };

/* rest_conn.c */
void rest_conn_new_take(struct rest_server *server, int fd);
void rest_conn_close(struct rest_conn *conn);
void rest_conn_end_if_idle(struct rest_conn *conn);
/* The handler wants the body (sends 100 Continue if it is waited for). */
void rest_conn_read_body(struct rest_conn *conn);
/* Nothing more is read until the answer. */
void rest_conn_pause(struct rest_conn *conn);
void rest_conn_set_reading(struct rest_conn *conn, bool on);
void rest_conn_release(struct rest_conn *conn); /* ends the handler, if there still is one */
void rest_conn_next(struct rest_conn *conn);    /* the answer is out: on to the next request */

/* rest_answer.c */
void rest_conn_write(struct rest_conn *conn);       /* goes on writing */
void rest_conn_send_answer(struct rest_conn *conn); /* begins to, when the body allows it */
bool rest_conn_has_unread_body(const struct rest_conn *conn);
const char *rest_reason(int status);
/* The answer. content_type may be NULL. headers: whole lines with CRLF, or "". HEAD drops the body. */
void rest_answer(struct rest_conn *conn, int status, const char *content_type,
	const char *headers, struct slice body);
/* Answer whose body is parts of file_fd (taken over), length bytes in all; the caller has filled
 * conn->parts. */
void rest_answer_file(struct rest_conn *conn, int status, const char *content_type,
	const char *headers, int file_fd, int64_t length);
void rest_error(struct rest_conn *conn, int status, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void rest_error_text(
	struct rest_conn *conn, int status, const char *code, struct slice message);
void rest_text(struct rest_conn *conn, int status, const char *headers, const char *text);
bool rest_is_head(const struct rest_conn *conn);

/* rest.c */
void rest_route(struct rest_conn *conn);
void rest_server_check_idle(struct rest_server *server);

/* Resolves conn->path, or answers. False: answered. Always confined_deinit(). */
bool rest_resolve(struct rest_conn *conn, struct confined *target);

void rest_get(struct rest_conn *conn);    /* rest_read.c */
void rest_put(struct rest_conn *conn);    /* rest_write.c */
void rest_delete(struct rest_conn *conn); /* rest_delete.c */
/* rest_list.c; takes what it needs out of target */
void rest_list(struct rest_conn *conn, struct confined *target);

/* rest_sweep.c: temporary files of uploads */
#define REST_TEMP_PREFIX ".sandboxd-tmp-"
enum { REST_TEMP_HEX = 16 };
bool rest_temp_is_name(const char *name);
bool rest_temp_lock(int fd); /* false: somebody took it for a dead one; take another name */
void rest_sweep_start(struct rest_server *server);

/* rest_host.c */
bool rest_host_is_local(
	int fd); /* whether a connection came to an address of this machine alone */
bool rest_host_is_fine(const char *host);

enum { REST_MAX_LISTING_BYTES = 256 << 20 };
