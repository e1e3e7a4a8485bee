// SPDX-License-Identifier: Apache-2.0
/* HTTP/1.1 and HTTP/2 requests over libcurl's multi interface, driven by the loop.
 * Redirects are never followed. Bodies stream both ways with back-pressure; the buffered form is
 * for small answers and has a limit enforced while bytes arrive. Proxies come from the options only (the
 * caller decides about the environment).
 * Errors: ERR_ARG_INVALID, ERR_CONN_DNS, ERR_CONN_LOST, ERR_CONN_REFUSED, ERR_CONN_TLS, ERR_INTERNAL,
 * ERR_LIMIT_RESPONSE, ERR_OP_CANCELLED, ERR_OP_TIMEOUT, ERR_RUNTIME_PROTOCOL, errno. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_loop;
struct net_tls;
struct net_http; /* one per process is enough: connection cache + curl multi */

struct net_http *net_http_new(struct net_loop *loop,
	struct err *err);                  /* Errors: ERR_INTERNAL (libcurl cannot start). */
void net_http_free(struct net_http *http); /* cancels what is running */

struct net_http_header {
	const char *name;
	const char *value;
};

/* What came back before the body. Borrowed for the callback; header names compare without case. */
struct net_http_reply {
	int status;
	int64_t content_length; /* -1 unknown */
	const struct net_http_header *headers;
	size_t n_headers;
};
const char *net_http_reply_header(
	const struct net_http_reply *reply, const char *name); /* or NULL */

/* The hook of a tunnelled lane, called for each new connection: takes over fd, a connected stream socket whose
 * other end is libcurl's, and serves it. False with *err: fd is not taken. It may be called after net_http_start
 * has returned. */
typedef bool net_http_connect_fn(void *arg, int fd_take, struct err *err);

struct net_http_opts {
	const char *method;
	const char *url;
	const struct net_http_header *headers; /* copied */
	size_t n_headers;
	struct net_tls *tls; /* for https; NULL: system store */
	const char *proxy;   /* NULL: none */
	bool http2;          /* negotiate by ALPN */
	bool accept_gzip;
	/* The most of the answer that comes at once; libcurl brings up to 100 such pieces in a turn of the loop. 0: 256 KiB
	 * with on_body (files), else 32 KiB. */
	size_t piece_bytes;
	net_http_connect_fn *connect; /* NULL: libcurl dials */
	void *connect_arg;
	const char *
		lane; /* connections are shared only between requests of the same lane; NULL ok */
	/* request body: either `body` (copied), or `read_body` with upload_bytes (-1: chunked) */
	struct slice body;
	int64_t upload_bytes;
	/* Fills up to room bytes; returns the count, 0 at the end, HTTP_BODY_PAUSE (call
	 * http_resume_upload later) or HTTP_BODY_ABORT (sets *err, which becomes the completion). */
	long (*read_body)(void *arg, char *into, size_t room, struct err *err);
	bool expect_continue; /* for large bodies: an early refusal is read before they are sent */
	/* deadlines, ms; 0 = none */
	int64_t timeout_ms;         /* whole request */
	int64_t connect_timeout_ms; /* 0: 10 s */
	int64_t headers_timeout_ms; /* until the status line */
	int64_t stall_timeout_ms;   /* without a byte either way while not paused by us */
	size_t max_body_bytes;      /* 0: 8 MiB when buffered, unlimited when streamed */
	/* Streaming answer: NULL on_body = buffered. on_reply may return false with *err to stop. */
	bool (*on_reply)(void *arg, const struct net_http_reply *reply, struct err *err);
	/* Returns true to go on. After false without *err set the body is paused: http_resume_download. The
	 * bytes of that call have been taken either way. */
	bool (*on_body)(void *arg, struct slice bytes, struct err *err);
	/* err: transport, deadline, limit or the caller's own; an HTTP error status is NOT an err. reply
	 * is NULL if no status line came. body is the buffered answer (empty when streamed). */
	void (*done)(void *arg, const struct err *err, const struct net_http_reply *reply,
		struct slice body);
	void *arg;
};
enum { HTTP_BODY_PAUSE = -1, HTTP_BODY_ABORT = -2 };

struct net_http_req;
/* Errors: ERR_ARG_INVALID (method, URL, header, proxy), ERR_CONN_TLS (a certificate that libcurl cannot use), ERR_INTERNAL.
 * Of the completion: ERR_CONN_REFUSED, ERR_CONN_LOST, ERR_CONN_DNS, ERR_CONN_TLS, ERR_OP_TIMEOUT, ERR_LIMIT_RESPONSE,
 * ERR_RUNTIME_PROTOCOL, ERR_INTERNAL, or what a callback set. */
struct net_http_req *net_http_start(
	struct net_http *http, const struct net_http_opts *opts, struct err *err);
void net_http_cancel(struct net_http_req *req);
void net_http_resume_upload(struct net_http_req *req);
void net_http_resume_download(struct net_http_req *req);
/* Closes idle connections of a lane (the pod moved, a client certificate changed). */
void net_http_drop_lane(struct net_http *http, const char *lane);
