// SPDX-License-Identifier: Apache-2.0
/* Connections of the gRPC server: bytes between a bufferevent and an nghttp2 session.
 *
 *   bufferevent input ──> session ──> h2_request.c ──> handler
 *   bufferevent output <── flush (end of the loop turn) <── session <── queues of h2_call.c
 *
 * The session is asked for bytes only while little waits in the bufferevent, so that a client that
 * does not read costs a bounded amount of memory; its requests are not read then either. */
#include "local/daemon/h2_internal.h"

#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/base/map.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	OUTPUT_HIGH = 256 << 10, /* ask the session for no more above */
	OUTPUT_LOW = 64 << 10,
	SOCKET_WRITE_MAX = 256 << 10,
	MAX_STREAMS = 1024,
	CONNECTION_WINDOW = 1 << 20,
};

static void free_conn(void *arg)
{
	struct daemon_h2_conn *conn = arg;
	nghttp2_session_del(conn->session);
	bufferevent_free(conn->bev);
	free(conn);
}

static void tell_idle(void *arg)
{
	struct daemon_h2_server *server = arg;
	if (server->opts.on_idle != NULL)
		server->opts.on_idle(server->opts.auth_arg);
}

static void check_idle(struct daemon_h2_server *server)
{
	if (!server->is_shutting_down || server->conns != NULL || server->is_idle_told)
		return;
	server->is_idle_told = true;
	net_loop_defer(server->loop, tell_idle, server);
}

/* Ends the connection: calls first (their owners kill their processes), memory at the end of the turn. */
static void kill_conn(struct daemon_h2_conn *conn)
{
	if (conn->is_dead)
		return;
	conn->is_dead = true;
	bufferevent_disable(conn->bev, EV_READ | EV_WRITE);
	while (conn->calls != NULL)
		daemon_h2_call_free(conn->calls);
	DL_DELETE(conn->server->conns, conn);
	net_loop_defer(conn->server->loop, free_conn, conn);
	check_idle(conn->server);
}

static size_t output_bytes(struct daemon_h2_conn *conn)
{
	return evbuffer_get_length(bufferevent_get_output(conn->bev));
}

static void flush_session(struct daemon_h2_conn *conn)
{
	while (output_bytes(conn) < OUTPUT_HIGH) {
		const uint8_t *bytes;
		ssize_t n = nghttp2_session_mem_send(conn->session, &bytes);
		if (n < 0) {
			kill_conn(conn);
			return;
		}
		if (n == 0)
			break;
		bufferevent_write(conn->bev, bytes, (size_t)n);
	}
	if (!nghttp2_session_want_read(conn->session) &&
		!nghttp2_session_want_write(conn->session) && output_bytes(conn) == 0)
		kill_conn(conn);
}

static void on_readable(struct bufferevent *bev, void *arg)
{
	struct daemon_h2_conn *conn = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	while (!conn->is_dead && evbuffer_get_length(in) > 0) {
		size_t n = evbuffer_get_contiguous_space(in);
		const unsigned char *bytes = evbuffer_pullup(in, (ev_ssize_t)n);
		ssize_t used = nghttp2_session_mem_recv(conn->session, bytes, n);
		if (used < 0) {
			LOG("grpc", LOG_DEBUG, "connection ended: %s",
				nghttp2_strerror((int)used));
			kill_conn(conn);
			return;
		}
		evbuffer_drain(in, (size_t)used);
	}
	if (output_bytes(conn) > OUTPUT_HIGH)
		bufferevent_disable(bev, EV_READ);
	daemon_h2_conn_plan_flush(conn);
}

static void on_writable(struct bufferevent *bev, void *arg)
{
	struct daemon_h2_conn *conn = arg;
	if (conn->is_dead)
		return;
	bufferevent_enable(bev, EV_READ);
	flush_session(conn);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT))
		kill_conn(arg);
}

/* The session's callbacks. */

static struct daemon_h2_call *call_of(nghttp2_session *session, int32_t stream_id)
{
	return nghttp2_session_get_stream_user_data(session, stream_id);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	struct daemon_h2_call *call = daemon_h2_call_new(arg, frame->hd.stream_id);
	nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, call);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
	(void)flags;
	(void)arg;
	struct daemon_h2_call *call = call_of(session, frame->hd.stream_id);
	if (call == NULL || frame->hd.type != NGHTTP2_HEADERS ||
		frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	struct slice n = { (const char *)name, name_n }, v = { (const char *)value, value_n };
	if (!call->is_malformed)
		call->is_malformed = !daemon_h2_request_header(call, n, v);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)arg;
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	struct daemon_h2_call *call = call_of(session, frame->hd.stream_id);
	if (call == NULL)
		return 0;
	bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
		if (call->is_malformed || !daemon_h2_request_headers_done(call)) {
			call->is_started = true; /* nothing more of it counts */
			nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE,
				frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
		}
		call = call_of(session, frame->hd.stream_id);
	}
	if (is_end && call != NULL)
		daemon_h2_request_end(call);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream_id,
	const uint8_t *bytes, size_t n, void *arg)
{
	(void)flags;
	(void)arg;
	struct daemon_h2_call *call = call_of(session, stream_id);
	if (call != NULL)
		daemon_h2_request_data(call, bytes, n);
	return 0;
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)arg;
	/* the answer is complete although the request is not: the rest is not wanted (RFC 9113, 8.1) */
	if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
		(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
		nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0)
		nghttp2_submit_rst_stream(
			session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
	return 0;
}

static int on_stream_close(
	nghttp2_session *session, int32_t stream_id, uint32_t error_code, void *arg)
{
	(void)error_code;
	(void)arg;
	struct daemon_h2_call *call = call_of(session, stream_id);
	if (call != NULL)
		daemon_h2_call_free(call);
	return 0;
}

static bool make_session(struct daemon_h2_conn *conn)
{
	nghttp2_session_callbacks *callbacks;
	if (nghttp2_session_callbacks_new(&callbacks) != 0)
		return false;
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	/* The session's own rules for requests are stricter than grpc-go's (it wants :authority, and a path that
	 * begins with '/'); those that matter are in h2_request.c. */
	nghttp2_option *option;
	int rv = nghttp2_option_new(&option);
	if (rv == 0) {
		nghttp2_option_set_no_http_messaging(option, 1);
		rv = nghttp2_session_server_new2(&conn->session, callbacks, conn, option);
		nghttp2_option_del(option);
	}
	nghttp2_session_callbacks_del(callbacks);
	if (rv != 0)
		return false;
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MAX_STREAMS },
	};
	nghttp2_submit_settings(conn->session, NGHTTP2_FLAG_NONE, settings,
		sizeof settings / sizeof settings[0]);
	/* one slow request must not stop the others */
	nghttp2_session_set_local_window_size(
		conn->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
	return true;
}

void daemon_h2_server_accept_take(struct daemon_h2_server *server, int fd)
{
	if (server->is_shutting_down) {
		close(fd);
		return;
	}
	int on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* keys are small */
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	struct daemon_h2_conn *conn = x_calloc(1, sizeof *conn);
	conn->server = server;
	conn->flush = flush_session;
	conn->bev =
		bufferevent_socket_new(net_loop_base(server->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (conn->bev == NULL || !make_session(conn)) {
		if (conn->bev != NULL)
			bufferevent_free(conn->bev);
		else
			close(fd);
		free(conn);
		return;
	}
	bufferevent_setcb(conn->bev, on_readable, on_writable, on_event, conn);
	bufferevent_setwatermark(conn->bev, EV_WRITE, OUTPUT_LOW, 0);
	bufferevent_set_max_single_write(conn->bev, SOCKET_WRITE_MAX);
	bufferevent_enable(conn->bev, EV_READ | EV_WRITE);
	DL_APPEND(server->conns, conn);
	daemon_h2_conn_plan_flush(conn);
}

struct daemon_h2_server *daemon_h2_server_new(
	struct net_loop *loop, const struct daemon_h2_server_opts *opts)
{
	struct daemon_h2_server *server = x_calloc(1, sizeof *server);
	server->loop = loop;
	server->opts = *opts;
	return server;
}

void daemon_h2_server_free(struct daemon_h2_server *server)
{
	if (server == NULL)
		return;
	server->is_idle_told = true;
	while (server->conns != NULL)
		kill_conn(server->conns);
	net_loop_defer(server->loop, free, server); /* after its connections */
}

void daemon_h2_server_shutdown(struct daemon_h2_server *server)
{
	if (server->is_shutting_down)
		return;
	server->is_shutting_down = true;
	struct daemon_h2_conn *conn;
	DL_FOREACH(server->conns, conn) {
		nghttp2_submit_shutdown_notice(conn->session);
		nghttp2_submit_goaway(conn->session, NGHTTP2_FLAG_NONE,
			nghttp2_session_get_last_proc_stream_id(conn->session),
			NGHTTP2_NO_ERROR, NULL, 0);
		daemon_h2_conn_plan_flush(conn);
	}
	check_idle(server);
}
