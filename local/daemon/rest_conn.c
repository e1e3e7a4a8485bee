// SPDX-License-Identifier: Apache-2.0
/* One REST connection: HTTP/1.1 with keep-alive and pipelining, bodies handed on as they arrive (never
 * kept), files sent with sendfile.
 *
 *   HEAD ─> route ─┬─────────────────────────────────────┬─> WRITE ─> HEAD (or close)
 *                  ├─> BODY ─> (WORK: fsync, rename) ─────┤
 *                  ├─> WORK (listing, recursive delete) ──┤
 *                  └─> DISCARD a short unwanted body ─────┘   a long one: WRITE ─> LINGER ─> close
 *
 * Why not a library: evhttp and libmicrohttpd cannot answer in the middle of an upload (a full disk
 * would have to swallow the rest of it), and evhttp keeps whole bodies in memory. */
#include "local/daemon/rest_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	READ_BYTES = 256 << 10,
	READS_PER_TURN = 8,
	LINGER_MS = 1000,
	SENDFILE_BYTES = 1 << 20,
	SENDS_PER_TURN = 8,
};

static void feed(struct daemon_rest_conn *conn, const char *bytes, size_t n);

static void free_conn(void *arg)
{
	struct daemon_rest_conn *conn = arg;
	event_free(conn->read_event);
	event_free(conn->write_event);
	net_loop_timer_free(conn->timer);
	evbuffer_free(conn->out);
	daemon_http1_request_deinit(&conn->request);
	close(conn->fd);
	free(conn->pending);
	free(conn);
}

void daemon_rest_conn_release(struct daemon_rest_conn *conn)
{
	if (conn->on_gone != NULL)
		conn->on_gone(conn->handler);
	conn->on_gone = NULL;
	conn->on_body = NULL;
	conn->on_body_end = NULL;
	conn->handler = NULL;
}

static void end_request(struct daemon_rest_conn *conn)
{
	daemon_rest_conn_release(conn);
	free(conn->path);
	conn->path = NULL;
	conn->query = NULL;
	if (conn->file_fd >= 0)
		close(conn->file_fd);
	conn->file_fd = -1;
	for (size_t i = 0; i < conn->n_parts; i++)
		free(conn->parts[i].before);
	free(conn->parts);
	free(conn->after_parts);
	conn->parts = NULL;
	conn->after_parts = NULL;
	conn->n_parts = conn->part = 0;
	conn->is_answered = conn->is_routed = conn->sent_continue = false;
}

void daemon_rest_conn_close(struct daemon_rest_conn *conn)
{
	if (conn->is_dead)
		return;
	conn->is_dead = true;
	event_del(conn->read_event);
	event_del(conn->write_event);
	net_loop_timer_disarm(conn->timer);
	end_request(conn);
	DL_DELETE(conn->server->conns, conn);
	net_loop_defer(conn->server->loop, free_conn, conn);
	conn->server->calls->closed(conn->server);
}

void daemon_rest_conn_set_reading(struct daemon_rest_conn *conn, bool on)
{
	if (on)
		event_add(conn->read_event, NULL);
	else
		event_del(conn->read_event);
}

void daemon_rest_conn_next(struct daemon_rest_conn *conn)
{
	end_request(conn);
	daemon_http1_request_deinit(&conn->request);
	daemon_http1_request_init(&conn->request);
	conn->state = REST_HEAD;
	if (conn->server->is_shutting_down) {
		daemon_rest_conn_close(conn);
		return;
	}
	net_loop_timer_arm(conn->timer, conn->pending_n > 0
						? REST_HEAD_TIMEOUT_MS
						: conn->server->opts.idle_timeout_ms);
	daemon_rest_conn_set_reading(conn, true);
	if (conn->pending_n > 0)
		event_active(conn->read_event, EV_READ, 0);
}

bool daemon_rest_conn_has_unread_body(const struct daemon_rest_conn *conn)
{
	return conn->request.state == HTTP1_READY && !conn->body.is_done;
}

/* Writing. */

static void finish_write(struct daemon_rest_conn *conn)
{
	event_del(conn->write_event);
	if (!conn->closes) {
		daemon_rest_conn_next(conn);
		return;
	}
	if (conn->request.state == HTTP1_READY && !daemon_rest_conn_has_unread_body(conn)) {
		daemon_rest_conn_close(conn);
		return;
	}
	shutdown(conn->fd, SHUT_WR);
	conn->state = REST_LINGER;
	net_loop_timer_arm(conn->timer, LINGER_MS);
	daemon_rest_conn_set_reading(conn, true);
}

/* 1: all written, 0: the socket is full, −1: connection over, 2: enough for one turn. */
static int write_file(struct daemon_rest_conn *conn)
{
	for (int sends = 0; conn->part < conn->n_parts; sends++) {
		struct daemon_rest_file_part *part = &conn->parts[conn->part];
		if (part->before != NULL) {
			evbuffer_add(conn->out, part->before, strlen(part->before));
			free(part->before);
			part->before = NULL;
			return 2;
		}
		if (part->length == 0) {
			conn->part++;
			continue;
		}
		if (sends >= SENDS_PER_TURN)
			return 2;
		off_t at = part->start;
		size_t want = part->length < SENDFILE_BYTES ? (size_t)part->length
							    : (size_t)SENDFILE_BYTES;
		ssize_t n = sendfile(conn->fd, conn->file_fd, &at, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		if (n == 0)
			return -1; /* the file has shrunk: the client must see it */
		part->start += n;
		part->length -= n;
	}
	if (conn->after_parts != NULL) {
		evbuffer_add(conn->out, conn->after_parts, strlen(conn->after_parts));
		free(conn->after_parts);
		conn->after_parts = NULL;
		return 2;
	}
	return 1;
}

void daemon_rest_conn_write(struct daemon_rest_conn *conn)
{
	while (evbuffer_get_length(conn->out) > 0) {
		int n = evbuffer_write(conn->out, conn->fd);
		if (n >= 0)
			continue;
		if (errno == EAGAIN || errno == EINTR)
			event_add(conn->write_event, NULL);
		else
			daemon_rest_conn_close(conn);
		return;
	}
	switch (conn->state == REST_WRITE ? write_file(conn) : 0) {
	case 1:
		finish_write(conn);
		break;
	case -1:
		daemon_rest_conn_close(conn);
		break;
	case 2:
		event_add(conn->write_event, NULL);
		break;
	default:
		if (conn->state == REST_WRITE)
			event_add(conn->write_event, NULL);
		break;
	}
}

void daemon_rest_conn_send_answer(struct daemon_rest_conn *conn)
{
	if (daemon_rest_conn_has_unread_body(conn) && !conn->closes) {
		conn->state = REST_DISCARD;
		conn->body.taken = 0;
		net_loop_timer_arm(conn->timer, REST_HEAD_TIMEOUT_MS);
		daemon_rest_conn_set_reading(conn, true);
		if (conn->pending_n > 0)
			event_active(conn->read_event, EV_READ, 0);
		return;
	}
	conn->state = REST_WRITE;
	daemon_rest_conn_set_reading(conn, false);
	net_loop_timer_disarm(conn->timer);
	daemon_rest_conn_write(conn);
}

/* Reading. */

void daemon_rest_conn_read_body(struct daemon_rest_conn *conn)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	conn->state = REST_BODY;
	if (conn->request.wants_continue && !conn->body.is_done) {
		conn->sent_continue = true;
		evbuffer_add(conn->out, go_on, sizeof go_on - 1);
		daemon_rest_conn_write(conn);
	}
}

void daemon_rest_conn_pause(struct daemon_rest_conn *conn)
{
	conn->state = REST_WORK;
	daemon_rest_conn_set_reading(conn, false);
	net_loop_timer_disarm(conn->timer);
}

static size_t feed_head(struct daemon_rest_conn *conn, const char *bytes, size_t n)
{
	if (conn->request.head_bytes == 0 && conn->request.line.n == 0) {
		/* empty lines before a request are skipped (RFC 9112, 2.2) */
		size_t skip = 0;
		while (skip < n && (bytes[skip] == '\r' || bytes[skip] == '\n'))
			skip++;
		if (skip > 0)
			return skip;
		net_loop_timer_arm(conn->timer, REST_HEAD_TIMEOUT_MS);
	}
	size_t used = daemon_http1_request_feed(&conn->request, bytes, n);
	if (conn->request.state == HTTP1_BAD) {
		conn->server->calls->bad_head(conn);
	} else if (conn->request.state == HTTP1_READY) {
		net_loop_timer_disarm(conn->timer);
		daemon_http1_body_init(&conn->body, &conn->request);
		conn->server->calls->request(conn);
		if (!conn->is_dead && conn->state == REST_BODY && conn->body.is_done)
			conn->on_body_end(conn);
	}
	return used;
}

static size_t feed_body(struct daemon_rest_conn *conn, const char *bytes, size_t n)
{
	struct slice piece;
	size_t used = daemon_http1_body_feed(&conn->body, bytes, n, &piece);
	if (conn->state == REST_DISCARD) {
		if (conn->body.is_bad || conn->body.taken > REST_DISCARD_BYTES)
			conn->closes = true; /* the head says otherwise, the end tells */
		if (conn->body.is_done || conn->closes)
			daemon_rest_conn_send_answer(conn);
		return used;
	}
	if (piece.n > 0)
		conn->on_body(conn, piece);
	if (conn->is_dead || conn->state != REST_BODY)
		return used;
	if (conn->body.is_bad) {
		conn->server->calls->bad_body(conn, "invalid chunked encoding");
	} else if (conn->body.is_done) {
		conn->on_body_end(conn);
	}
	return used;
}

static void keep_pending(struct daemon_rest_conn *conn, const char *bytes, size_t n)
{
	/* what is fed again lies in pending itself */
	char *copy = x_malloc(n);
	memcpy(copy, bytes, n);
	free(conn->pending);
	conn->pending = copy;
	conn->pending_n = n;
	daemon_rest_conn_set_reading(conn, false);
}

static void feed(struct daemon_rest_conn *conn, const char *bytes, size_t n)
{
	while (n > 0 && !conn->is_dead) {
		size_t used;
		switch (conn->state) {
		case REST_HEAD:
			used = feed_head(conn, bytes, n);
			break;
		case REST_BODY:
		case REST_DISCARD:
			used = feed_body(conn, bytes, n);
			break;
		case REST_LINGER:
			used = n;
			break;
		default:
			keep_pending(conn, bytes, n);
			return;
		}
		bytes += used;
		n -= used;
	}
}

static void on_gone_peer(struct daemon_rest_conn *conn)
{
	if (conn->state == REST_BODY) {
		/* half closed in the middle of the body: it may still listen */
		conn->server->calls->bad_body(conn, "unexpected EOF");
		return;
	}
	daemon_rest_conn_close(conn);
}

static void feed_pending(struct daemon_rest_conn *conn)
{
	while (!conn->is_dead && conn->pending_n > 0 && conn->state != REST_WORK &&
		conn->state != REST_WRITE) {
		char *bytes = conn->pending;
		size_t n = conn->pending_n;
		conn->pending = NULL;
		conn->pending_n = 0;
		feed(conn, bytes, n);
		free(bytes);
	}
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct daemon_rest_conn *conn = arg;
	static char bytes[READ_BYTES]; /* one thread; never kept across calls */
	(void)what;
	if (conn->pending_n > 0) {
		feed_pending(conn);
		return;
	}
	for (int reads = 0; reads < READS_PER_TURN && !conn->is_dead; reads++) {
		bool is_reading = conn->state != REST_WORK && conn->state != REST_WRITE;
		if (!is_reading || conn->pending_n > 0)
			return;
		ssize_t n = recv(fd, bytes, sizeof bytes, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			daemon_rest_conn_close(conn);
		else if (n == 0)
			on_gone_peer(conn);
		else
			feed(conn, bytes, (size_t)n);
		if (n <= 0)
			return;
	}
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	daemon_rest_conn_write(arg);
}

static void on_timer(void *arg)
{
	daemon_rest_conn_close(arg);
}

void daemon_rest_conn_end_if_idle(struct daemon_rest_conn *conn)
{
	if (conn->state == REST_HEAD && conn->request.head_bytes == 0)
		daemon_rest_conn_close(conn);
}

void daemon_rest_conn_new_take(struct daemon_rest_server *server, int fd)
{
	struct daemon_rest_conn *conn = x_calloc(1, sizeof *conn);
	struct event_base *base = net_loop_base(server->loop);
	int on = 1;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	conn->server = server;
	conn->fd = fd;
	conn->is_local = daemon_rest_host_is_local(fd);
	conn->file_fd = -1;
	conn->read_event = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, conn);
	conn->write_event = event_new(base, fd, EV_WRITE, on_writable, conn);
	conn->timer = net_loop_timer_new(server->loop, on_timer, conn);
	conn->out = evbuffer_new();
	if (conn->read_event == NULL || conn->write_event == NULL || conn->out == NULL)
		abort();
	daemon_http1_request_init(&conn->request);
	DL_APPEND(server->conns, conn);
	net_loop_timer_arm(conn->timer, REST_HEAD_TIMEOUT_MS);
	daemon_rest_conn_set_reading(conn, true);
}
