// SPDX-License-Identifier: Apache-2.0
/* A gRPC client that may say what it likes: an nghttp2 session on a socket, on the loop of the test. Header-only. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/str.h"
#include "local/daemon/h2.h"
#include "tests/unit/engine/net/turns.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { MAX_FIELDS = 12 };

static struct net_loop *loop;
static struct daemon_h2_server *server;
static int fd;
static nghttp2_session *session;
static bool is_over;      /* the server has closed the connection */
static bool reads = true; /* the client takes what comes */
static int n_goaway;

struct stream {
	char head[600]; /* "name=value;" of all headers and trailers */
	struct str data;
	size_t sent; /* of body */
	const char *body;
	size_t body_n;
	bool ends; /* the request */
	bool is_closed;
	uint32_t error;
};

static inline int on_header(nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(s, frame->hd.stream_id);
	(void)flags;
	(void)arg;
	if (stream == NULL)
		return 0;
	size_t n = strlen(stream->head);
	snprintf(stream->head + n, sizeof stream->head - n, "%.*s=%.*s;", (int)name_n,
		(const char *)name, (int)value_n, (const char *)value);
	return 0;
}

static inline int on_data(nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *bytes,
	size_t n, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(s, id);
	(void)flags;
	(void)arg;
	if (stream != NULL)
		str_add_bytes(&stream->data, (const char *)bytes, n);
	return 0;
}

static inline int on_close(nghttp2_session *s, int32_t id, uint32_t error, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(s, id);
	(void)arg;
	if (stream != NULL) {
		stream->is_closed = true;
		stream->error = error;
	}
	return 0;
}

static inline int on_frame(nghttp2_session *s, const nghttp2_frame *frame, void *arg)
{
	(void)s;
	(void)arg;
	n_goaway += frame->hd.type == NGHTTP2_GOAWAY;
	return 0;
}

static inline void connect_client(void)
{
	int pair[2];
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	fd = pair[0];
	is_over = false;
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_option_new(&option);
	nghttp2_option_set_no_http_messaging(option, 1);
	nghttp2_session_client_new2(&session, callbacks, NULL, option);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, NULL, 0);
	daemon_h2_server_accept_take(server, pair[1]);
}

static inline void disconnect_client(void)
{
	nghttp2_session_del(session);
	session = NULL;
	close(fd);
}

static inline void turn(void)
{
	const uint8_t *out;
	uint8_t in[16 << 10];
	ssize_t n;
	while (!is_over && (n = nghttp2_session_mem_send(session, &out)) > 0)
		for (ssize_t at = 0; at < n && !is_over;) {
			ssize_t put = send(fd, out + at, (size_t)(n - at), MSG_NOSIGNAL);
			if (put > 0)
				at += put;
			else if (errno != EAGAIN)
				is_over = true;
			else
				net_loop_run_once(loop, 1);
		}
	net_loop_run_once(loop, 1);
	while (reads && !is_over && (n = recv(fd, in, sizeof in, 0)) >= 0) {
		if (n == 0)
			is_over = true;
		else
			nghttp2_session_mem_recv(session, in, (size_t)n);
	}
}

#define UNTIL(condition)                                                                       \
	do {                                                                                   \
		int64_t until_ms_ = clock_mono_ms() + 10000;                                   \
		while (!(condition)) {                                                         \
			if (clock_mono_ms() > until_ms_)                                       \
				fail_msg("waited in vain for %s", #condition);                 \
			turn();                                                                \
		}                                                                              \
	} while (0)

static inline ssize_t give(nghttp2_session *s, int32_t id, uint8_t *to, size_t n,
	uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct stream *stream = source->ptr;
	(void)s;
	(void)id;
	(void)arg;
	size_t left = stream->body_n - stream->sent;
	if (left == 0 && !stream->ends)
		return NGHTTP2_ERR_DEFERRED;
	n = n < left ? n : left;
	memcpy(to, stream->body + stream->sent, n);
	stream->sent += n;
	if (stream->sent == stream->body_n && stream->ends)
		*flags = NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

struct field {
	const char *name, *value;
};

static inline nghttp2_nv nv_of(struct field field)
{
	union {
		const char *in;
		uint8_t *out;
	} name = { field.name }, value = { field.value };
	return (nghttp2_nv){ name.out, value.out, strlen(field.name), strlen(field.value),
		NGHTTP2_NV_FLAG_NONE };
}

/* The usual fields with one changed, removed (value NULL) or put behind them. */
static inline int32_t begin(struct stream *stream, const char *method, struct field change)
{
	char path[100];
	snprintf(path, sizeof path, "/a.Box/%s", method);
	const struct field usual[] = { { ":method", "POST" }, { ":scheme", "http" },
		{ ":path", path }, { ":authority", "box" },
		{ "content-type", "application/grpc" }, { "te", "trailers" } };
	nghttp2_nv fields[MAX_FIELDS];
	size_t n = 0;
	bool is_done = change.name == NULL;
	for (size_t i = 0; i < COUNT(usual); i++) {
		bool is_it = !is_done && strcmp(usual[i].name, change.name) == 0;
		is_done = is_done || is_it;
		if (!is_it)
			fields[n++] = nv_of(usual[i]);
		else if (change.value != NULL)
			fields[n++] = nv_of(change);
	}
	if (!is_done)
		fields[n++] = nv_of(change);
	str_init(&stream->data, 8 << 20);
	nghttp2_data_provider provider = { .source.ptr = stream, .read_callback = give };
	int32_t id = nghttp2_submit_request(session, NULL, fields, n, &provider, stream);
	assert_true(id > 0);
	return id;
}

static inline void answer_of(struct stream *stream, const char *method, struct field change)
{
	stream->ends = true;
	begin(stream, method, change);
	UNTIL(stream->is_closed);
}
