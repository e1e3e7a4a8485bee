// SPDX-License-Identifier: Apache-2.0
/* The connection half of the gRPC client: an nghttp2 client session over a bufferevent.
 *
 *   socket, or bufferevent input -> nghttp2_session_mem_recv -> grpc_call_* (by stream id)
 *   net_grpc_start, windows, resets -> flush at the end of the turn -> bufferevent output
 *
 * nghttp2 holds no pointer to a call: streams are looked up by id, so a call can go at any moment.
 * A plain socket is read here: libevent reads 4 KiB a turn, with three system calls, which was most of what the output of a
 * process cost.
 *
 * Nothing is written from inside a starting call: on a bufferevent pair that could run the other
 * side's callbacks, and one write a turn also joins small frames. */
#include "engine/net/grpc_internal.h"

#include "engine/net/loop.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
	OUTPUT_HIGH_BYTES = 1 << 20, /* more than this waits inside nghttp2 */
	OUTPUT_LOW_BYTES = 256 << 10,
	READ_BYTES = 256 << 10, /* at most this from the socket in one turn */
	MAX_HEADER_LIST_BYTES = 64 << 10,
};

static void set_lost(struct err *err, const char *why)
{
	err_set(err, ERR_CONN_LOST, "the gRPC connection is lost: %s", why);
}

static void stop_bytes(struct net_grpc_conn *conn)
{
	if (conn->readable != NULL)
		event_del(conn->readable);
	bufferevent_disable(conn->bev, EV_READ | EV_WRITE);
	bufferevent_setcb(conn->bev, NULL, NULL, NULL, NULL);
}

/* The connection is of no more use: every call ends, then the owner is told. */
static void close_conn(struct net_grpc_conn *conn, const struct err *err)
{
	if (conn->is_closed || conn->is_dead)
		return;
	conn->is_closed = conn->is_going_away = true;
	if (conn->closed_err.code == ERR_NONE)
		conn->closed_err = *err;
	stop_bytes(conn);
	/* a callback may start nothing new here, but it may cancel its neighbours */
	while (conn->calls != NULL && !conn->is_dead)
		net_grpc_call_complete(conn->calls, err);
	net_grpc_conn_settle(conn);
}

/* --- writing --- */

static void protocol_error(struct net_grpc_conn *conn, const char *why)
{
	struct err err;
	if (conn->has_settings)
		set_lost(&err, why);
	else
		err_set(&err, ERR_RUNTIME_PROTOCOL, "%s does not speak HTTP/2",
			conn->authority);
	close_conn(conn, &err);
}

static void flush(struct net_grpc_conn *conn)
{
	if (conn->is_closed || conn->is_dead)
		return;
	struct evbuffer *output = bufferevent_get_output(conn->bev);
	while (evbuffer_get_length(output) < OUTPUT_HIGH_BYTES) {
		const uint8_t *bytes;
		ssize_t n = nghttp2_session_mem_send(conn->session, &bytes);
		if (n < 0) {
			protocol_error(conn, nghttp2_strerror((int)n));
			return;
		}
		if (n == 0)
			break;
		evbuffer_add(output, bytes, (size_t)n);
		if (conn->is_closed || conn->is_dead)
			return;
	}
	if (!nghttp2_session_want_read(conn->session) &&
		!nghttp2_session_want_write(conn->session))
		protocol_error(conn, "a protocol error");
}

static void on_writable(struct bufferevent *bev, void *arg)
{
	(void)bev;
	flush(arg);
}

/* --- reading --- */

/* False if the connection is of no more use, or gone from its owner's hands. */
static bool take_bytes(struct net_grpc_conn *conn, const void *bytes, size_t n)
{
	conn->in_session++;
	ssize_t taken = nghttp2_session_mem_recv(conn->session, bytes, n);
	conn->in_session--;
	if (conn->is_dead)
		return false;
	if (taken < 0)
		protocol_error(conn, nghttp2_strerror((int)taken));
	return !conn->is_closed;
}

static bool take_input(struct net_grpc_conn *conn)
{
	struct evbuffer *input = bufferevent_get_input(conn->bev);
	while (evbuffer_get_length(input) > 0 && !conn->is_closed && !conn->is_dead) {
		struct evbuffer_iovec piece;
		evbuffer_peek(input, -1, NULL, &piece, 1);
		if (!take_bytes(conn, piece.iov_base, piece.iov_len))
			return false;
		evbuffer_drain(input, piece.iov_len);
	}
	return !conn->is_closed && !conn->is_dead;
}

static void on_readable(struct bufferevent *bev, void *arg)
{
	struct net_grpc_conn *conn = arg;
	(void)bev;
	if (!take_input(conn))
		return;
	flush(conn);
	net_grpc_conn_settle(conn);
}

static void lost(struct net_grpc_conn *conn, const char *why)
{
	struct err err;
	if (!conn->has_settings && why == NULL)
		err_set(&err, ERR_CONN_LOST,
			"%s closed the connection without a word of HTTP/2", conn->authority);
	else
		set_lost(&err, why != NULL ? why : "closed by the server");
	close_conn(conn, &err);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct net_grpc_conn *conn = arg;
	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	const char *why = what & BEV_EVENT_EOF
				  ? NULL
				  : evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR());
	if (evbuffer_get_length(bufferevent_get_input(bev)) > 0)
		on_readable(bev, conn);
	lost(conn, why);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	static char bytes[READ_BYTES]; /* of the one loop */
	struct net_grpc_conn *conn = arg;
	(void)what;
	if (!take_input(conn)) /* what had come before this was ours */
		return;
	ssize_t n = recv(fd, bytes, sizeof bytes, 0);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	if (n <= 0) {
		lost(conn, n == 0 ? NULL : evutil_socket_error_to_string(errno));
		return;
	}
	if (!take_bytes(conn, bytes, (size_t)n))
		return;
	flush(conn);
	net_grpc_conn_settle(conn);
}

/* --- events of the session --- */

/* In a callback: the session stops where it is once its owner has let it go. */
static int go_on(const struct net_grpc_conn *conn)
{
	return conn->is_dead ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)session;
	struct net_grpc_call *call = net_grpc_call_find(arg, frame->hd.stream_id);
	if (call != NULL && frame->hd.type == NGHTTP2_HEADERS)
		net_grpc_call_begin_headers(call);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags, void *arg)
{
	(void)session;
	(void)flags;
	struct net_grpc_call *call = net_grpc_call_find(arg, frame->hd.stream_id);
	if (call != NULL && frame->hd.type == NGHTTP2_HEADERS)
		net_grpc_call_header(call, (struct slice){ (const char *)name, name_bytes },
			(struct slice){ (const char *)value, value_bytes });
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream_id,
	const uint8_t *bytes, size_t n, void *arg)
{
	(void)flags;
	struct net_grpc_conn *conn = arg;
	/* always: one stream that is not consumed must not freeze the others */
	nghttp2_session_consume_connection(session, n);
	struct net_grpc_call *call = net_grpc_call_find(conn, stream_id);
	if (call != NULL)
		net_grpc_call_data(call, bytes, n);
	return go_on(conn);
}

static void on_goaway(struct net_grpc_conn *conn, const nghttp2_goaway *frame)
{
	conn->is_going_away = true;
	if (conn->closed_err.code == ERR_NONE)
		err_set(&conn->closed_err, ERR_CONN_LOST,
			"the server is closing the connection (%s%s%.*s)",
			nghttp2_http2_strerror(frame->error_code),
			frame->opaque_data_len > 0 ? ": " : "",
			(int)(frame->opaque_data_len > 128 ? 128 : frame->opaque_data_len),
			frame->opaque_data_len > 0 ? (const char *)frame->opaque_data : "");
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)session;
	struct net_grpc_conn *conn = arg;
	if (frame->hd.type == NGHTTP2_SETTINGS)
		conn->has_settings = true;
	else if (frame->hd.type == NGHTTP2_GOAWAY)
		on_goaway(conn, &frame->goaway);
	else if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
		 (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) {
		struct net_grpc_call *call = net_grpc_call_find(conn, frame->hd.stream_id);
		if (call != NULL)
			net_grpc_call_remote_done(call);
	}
	return go_on(conn);
}

static int on_stream_close(
	nghttp2_session *session, int32_t stream_id, uint32_t error_code, void *arg)
{
	(void)session;
	struct net_grpc_conn *conn = arg;
	struct net_grpc_call *call = net_grpc_call_find(conn, stream_id);
	if (call != NULL)
		net_grpc_call_stream_closed(call, error_code);
	return go_on(conn);
}

static bool make_session(struct net_grpc_conn *conn, uint32_t connection_window)
{
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	int rv = nghttp2_session_callbacks_new(&callbacks);
	if (rv == 0)
		rv = nghttp2_option_new(&option);
	if (rv != 0)
		abort(); /* out of memory */
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_option_set_no_auto_window_update(option, 1);
	rv = nghttp2_session_client_new2(&conn->session, callbacks, conn, option);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_option_del(option);
	if (rv != 0)
		return false;
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, conn->stream_window_bytes },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST_BYTES },
	};
	return nghttp2_submit_settings(conn->session, NGHTTP2_FLAG_NONE, settings,
		       sizeof settings / sizeof settings[0]) == 0 &&
	       nghttp2_session_set_local_window_size(
		       conn->session, NGHTTP2_FLAG_NONE, 0, (int32_t)connection_window) == 0;
}

/* --- life --- */

static void destroy(void *arg)
{
	struct net_grpc_conn *conn = arg;
	nghttp2_session_del(conn->session);
	if (conn->readable != NULL)
		event_free(conn->readable);
	bufferevent_free(conn->bev);
	free(conn->authority);
	if (conn->authorization != NULL) {
		volatile char *p = conn->authorization;
		while (*p != '\0')
			*p++ = '\0';
	}
	free(conn->authorization);
	free(conn);
}

static void start_bytes(struct net_grpc_conn *conn)
{
	struct bufferevent *bev = conn->bev;
	bufferevent_setcb(bev, on_readable, on_writable, on_event, conn);
	bufferevent_setwatermark(bev, EV_WRITE, OUTPUT_LOW_BYTES, 0);
	bufferevent_set_max_single_read(bev, READ_BYTES);
	bufferevent_set_max_single_write(bev, READ_BYTES);
	int fd = bufferevent_getfd(bev);
	if (fd < 0 || bufferevent_openssl_get_ssl(bev) != NULL) {
		bufferevent_enable(bev, EV_READ | EV_WRITE);
		return;
	}
	bufferevent_disable(bev, EV_READ);
	bufferevent_enable(bev, EV_WRITE);
	conn->readable =
		event_new(net_loop_base(conn->loop), fd, EV_READ | EV_PERSIST, on_socket, conn);
	if (conn->readable == NULL || event_add(conn->readable, NULL) != 0)
		abort(); /* out of memory */
}

struct net_grpc_conn *net_grpc_conn_new_take(struct net_loop *loop, struct bufferevent *bev,
	const struct net_grpc_conn_opts *opts, struct err *err)
{
	struct net_grpc_conn *conn = x_calloc(1, sizeof *conn);
	conn->loop = loop;
	conn->bev = bev;
	conn->flush = flush;
	conn->authority = x_strdup(opts->authority ? opts->authority : "localhost");
	if (opts->token != NULL)
		conn->authorization = x_asprintf("Bearer %s", opts->token);
	conn->scheme = bufferevent_openssl_get_ssl(bev) != NULL ? "https" : "http";
	conn->max_message_bytes =
		opts->max_message_bytes ? opts->max_message_bytes : GRPC_DEFAULT_MESSAGE_BYTES;
	conn->stream_window_bytes = opts->stream_window_bytes ? opts->stream_window_bytes
							      : GRPC_DEFAULT_STREAM_WINDOW;
	conn->on_closed = opts->on_closed;
	conn->arg = opts->arg;
	uint32_t connection_window = opts->connection_window_bytes
					     ? opts->connection_window_bytes
					     : GRPC_DEFAULT_CONNECTION_WINDOW;
	if (conn->stream_window_bytes > INT32_MAX || connection_window > INT32_MAX ||
		!make_session(conn, connection_window)) {
		err_set(err, ERR_INTERNAL, "no HTTP/2 session");
		conn->is_dead = true;
		destroy(conn);
		return NULL;
	}
	start_bytes(conn);
	net_grpc_conn_flush_later(conn); /* preface and settings */
	return conn;
}

void net_grpc_conn_free(struct net_grpc_conn *conn)
{
	if (conn == NULL || conn->is_dead)
		return;
	conn->is_dead = true;
	while (conn->calls != NULL)
		net_grpc_call_discard(conn->calls);
	stop_bytes(conn);
	/* what was deferred before runs before, and we may be inside the session */
	net_loop_defer(conn->loop, destroy, conn);
}
