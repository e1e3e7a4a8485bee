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
#include "local/daemon/quote.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	HEAD_TIMEOUT_MS = 10000,
	LINGER_MS = 1000,
	READ_BYTES = 256 << 10,
	READS_PER_TURN = 8,
	SENDFILE_BYTES = 1 << 20,
	SENDS_PER_TURN = 8,
	DISCARD_BYTES = 256 << 10,
};

static void feed(struct rest_conn *conn, const char *bytes, size_t n);
static void write_more(struct rest_conn *conn);

static void free_conn(void *arg)
{
	struct rest_conn *conn = arg;
	event_free(conn->read_event);
	event_free(conn->write_event);
	loop_timer_free(conn->timer);
	evbuffer_free(conn->out);
	http1_request_deinit(&conn->request);
	close(conn->fd);
	free(conn->pending);
	free(conn);
}

static void release_handler(struct rest_conn *conn)
{
	if (conn->on_gone != NULL)
		conn->on_gone(conn->handler);
	conn->on_gone = NULL;
	conn->on_body = NULL;
	conn->on_body_end = NULL;
	conn->handler = NULL;
}

static void end_request(struct rest_conn *conn)
{
	release_handler(conn);
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

void rest_conn_close(struct rest_conn *conn)
{
	if (conn->is_dead)
		return;
	conn->is_dead = true;
	event_del(conn->read_event);
	event_del(conn->write_event);
	loop_timer_disarm(conn->timer);
	end_request(conn);
	DL_DELETE(conn->server->conns, conn);
	loop_defer(conn->server->loop, free_conn, conn);
	rest_server_check_idle(conn->server);
}

static void set_reading(struct rest_conn *conn, bool on)
{
	if (on)
		event_add(conn->read_event, NULL);
	else
		event_del(conn->read_event);
}

static void next_request(struct rest_conn *conn)
{
	end_request(conn);
	http1_request_deinit(&conn->request);
	http1_request_init(&conn->request);
	conn->state = REST_HEAD;
	if (conn->server->is_shutting_down) {
		rest_conn_close(conn);
		return;
	}
	loop_timer_arm(conn->timer,
		conn->pending_n > 0 ? HEAD_TIMEOUT_MS : conn->server->opts.idle_timeout_ms);
	set_reading(conn, true);
	if (conn->pending_n > 0)
		event_active(conn->read_event, EV_READ, 0);
}

/* The pieces of an answer. */

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = { { 200, "OK" }, { 204, "No Content" }, { 206, "Partial Content" },
		{ 304, "Not Modified" }, { 307, "Temporary Redirect" }, { 400, "Bad Request" },
		{ 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" },
		{ 405, "Method Not Allowed" }, { 409, "Conflict" },
		{ 412, "Precondition Failed" }, { 416, "Requested Range Not Satisfiable" },
		{ 417, "Expectation Failed" }, { 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" }, { 501, "Not Implemented" },
		{ 503, "Service Unavailable" }, { 505, "HTTP Version Not Supported" } };
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Unknown";
}

static void add_date(struct evbuffer *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[64];
	/* no locale is set: the names are English */
	strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
	evbuffer_add_printf(out, "Date: %s\r\n", text);
}

bool rest_is_head(const struct rest_conn *conn)
{
	return conn->request.method != NULL && strcmp(conn->request.method, "HEAD") == 0;
}

static bool has_unread_body(const struct rest_conn *conn)
{
	return conn->request.state == HTTP1_READY && !conn->body.is_done;
}

static void begin_answer(struct rest_conn *conn, int status, const char *content_type,
	const char *headers, int64_t length)
{
	release_handler(
		conn); /* what a failed upload left is gone before the client hears of it */
	conn->is_answered = true;
	conn->closes =
		conn->closes || !conn->request.keep_alive || conn->server->is_shutting_down;
	bool is_short = !conn->body.is_bad && conn->body.left <= DISCARD_BYTES &&
			!(conn->request.wants_continue && !conn->sent_continue);
	if (has_unread_body(conn) && !is_short)
		conn->closes = true;
	evbuffer_add_printf(conn->out, "HTTP/1.%d %d %s\r\n",
		conn->request.minor > 0 || conn->request.state != HTTP1_READY, status,
		reason(status));
	if (content_type != NULL)
		evbuffer_add_printf(conn->out, "Content-Type: %s\r\n", content_type);
	evbuffer_add_printf(conn->out, "%s", headers);
	if (status != 204 && status != 304 && length >= 0)
		evbuffer_add_printf(conn->out, "Content-Length: %lld\r\n", (long long)length);
	add_date(conn->out);
	evbuffer_add_printf(conn->out, conn->closes ? "Connection: close\r\n\r\n" : "\r\n");
}

static void send_answer(struct rest_conn *conn)
{
	if (has_unread_body(conn) && !conn->closes) {
		conn->state = REST_DISCARD;
		conn->body.taken = 0;
		loop_timer_arm(conn->timer, HEAD_TIMEOUT_MS);
		set_reading(conn, true);
		if (conn->pending_n > 0)
			event_active(conn->read_event, EV_READ, 0);
		return;
	}
	conn->state = REST_WRITE;
	set_reading(conn, false);
	loop_timer_disarm(conn->timer);
	write_more(conn);
}

void rest_answer(struct rest_conn *conn, int status, const char *content_type,
	const char *headers, struct slice body)
{
	/* as sandboxd: no length where nothing was meant, nor where the end of the connection says it */
	bool is_bad = conn->closes && status >= 400 && !conn->is_routed;
	bool has_length = !is_bad && !(rest_is_head(conn) && body.n == 0);
	begin_answer(conn, status, content_type, headers, has_length ? (int64_t)body.n : -1);
	if (!rest_is_head(conn))
		evbuffer_add(conn->out, body.p, body.n);
	send_answer(conn);
}

void rest_answer_file(struct rest_conn *conn, int status, const char *content_type,
	const char *headers, int file_fd, int64_t length)
{
	begin_answer(conn, status, content_type, headers, length);
	conn->file_fd = file_fd;
	if (rest_is_head(conn))
		conn->part = conn->n_parts;
	send_answer(conn);
}

void rest_error_text(struct rest_conn *conn, int status, const char *code, struct slice message)
{
	struct str json;
	str_init(&json, message.n * 6 + 256);
	str_addf(&json, "{\"code\":\"%s\",\"message\":", code);
	quote_json(&json, message);
	str_add(&json, "}\n");
	rest_answer(conn, status, "application/json",
		status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
		(struct slice){ json.p, json.n });
	str_deinit(&json);
}

void rest_error(struct rest_conn *conn, int status, const char *code, const char *format, ...)
{
	enum { MAX_MESSAGE = 32 << 10 };
	struct str message;
	va_list args;
	str_init(&message, MAX_MESSAGE);
	va_start(args, format);
	str_vaddf(&message, format, args);
	va_end(args);
	rest_error_text(conn, status, code, (struct slice){ message.p, message.n });
	str_deinit(&message);
}

void rest_text(struct rest_conn *conn, int status, const char *headers, const char *text)
{
	char *with_sniff = x_asprintf("%sX-Content-Type-Options: nosniff\r\n", headers);
	char *line = x_asprintf("%s\n", text);
	rest_answer(conn, status, "text/plain; charset=utf-8", with_sniff, slice_of(line));
	free(with_sniff);
	free(line);
}

/* Writing. */

static void finish_write(struct rest_conn *conn)
{
	event_del(conn->write_event);
	if (!conn->closes) {
		next_request(conn);
		return;
	}
	if (conn->request.state == HTTP1_READY && !has_unread_body(conn)) {
		rest_conn_close(conn);
		return;
	}
	shutdown(conn->fd, SHUT_WR);
	conn->state = REST_LINGER;
	loop_timer_arm(conn->timer, LINGER_MS);
	set_reading(conn, true);
}

/* 1: all written, 0: the socket is full, −1: connection over, 2: enough for one turn. */
static int write_file(struct rest_conn *conn)
{
	for (int sends = 0; conn->part < conn->n_parts; sends++) {
		struct rest_file_part *part = &conn->parts[conn->part];
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

static void write_more(struct rest_conn *conn)
{
	while (evbuffer_get_length(conn->out) > 0) {
		int n = evbuffer_write(conn->out, conn->fd);
		if (n >= 0)
			continue;
		if (errno == EAGAIN || errno == EINTR)
			event_add(conn->write_event, NULL);
		else
			rest_conn_close(conn);
		return;
	}
	switch (conn->state == REST_WRITE ? write_file(conn) : 0) {
	case 1:
		finish_write(conn);
		break;
	case -1:
		rest_conn_close(conn);
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

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	write_more(arg);
}

/* Reading. */

void rest_conn_read_body(struct rest_conn *conn)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	conn->state = REST_BODY;
	if (conn->request.wants_continue && !conn->body.is_done) {
		conn->sent_continue = true;
		evbuffer_add(conn->out, go_on, sizeof go_on - 1);
		write_more(conn);
	}
}

void rest_conn_pause(struct rest_conn *conn)
{
	conn->state = REST_WORK;
	set_reading(conn, false);
	loop_timer_disarm(conn->timer);
}

static void refuse_bad(struct rest_conn *conn)
{
	int status = conn->request.bad_status;
	char *text = status == 501 ? x_strdup("Unsupported transfer encoding")
				   : x_asprintf("%d %s%s", status, reason(status),
					     conn->request.bad_detail);
	conn->closes = true;
	if (status == 417) {
		conn->is_routed = true;
		rest_answer(conn, status, NULL, "", (struct slice){ "", 0 });
	} else {
		rest_answer(conn, status, "text/plain; charset=utf-8", "", slice_of(text));
	}
	free(text);
}

static size_t feed_head(struct rest_conn *conn, const char *bytes, size_t n)
{
	if (conn->request.head_bytes == 0 && conn->request.line.n == 0) {
		/* empty lines before a request are skipped (RFC 9112, 2.2) */
		size_t skip = 0;
		while (skip < n && (bytes[skip] == '\r' || bytes[skip] == '\n'))
			skip++;
		if (skip > 0)
			return skip;
		loop_timer_arm(conn->timer, HEAD_TIMEOUT_MS);
	}
	size_t used = http1_request_feed(&conn->request, bytes, n);
	if (conn->request.state == HTTP1_BAD) {
		refuse_bad(conn);
	} else if (conn->request.state == HTTP1_READY) {
		loop_timer_disarm(conn->timer);
		http1_body_init(&conn->body, &conn->request);
		rest_route(conn);
		if (!conn->is_dead && conn->state == REST_BODY && conn->body.is_done)
			conn->on_body_end(conn);
	}
	return used;
}

static size_t feed_body(struct rest_conn *conn, const char *bytes, size_t n)
{
	struct slice piece;
	size_t used = http1_body_feed(&conn->body, bytes, n, &piece);
	if (conn->state == REST_DISCARD) {
		if (conn->body.is_bad || conn->body.taken > DISCARD_BYTES)
			conn->closes = true; /* the head says otherwise, the end tells */
		if (conn->body.is_done || conn->closes)
			send_answer(conn);
		return used;
	}
	if (piece.n > 0)
		conn->on_body(conn, piece);
	if (conn->is_dead || conn->state != REST_BODY)
		return used;
	if (conn->body.is_bad) {
		conn->closes = true;
		rest_error(conn, 500, "INTERNAL",
			"failed to write file contents: invalid chunked encoding");
	} else if (conn->body.is_done) {
		conn->on_body_end(conn);
	}
	return used;
}

static void keep_pending(struct rest_conn *conn, const char *bytes, size_t n)
{
	/* what is fed again lies in pending itself */
	char *copy = x_malloc(n);
	memcpy(copy, bytes, n);
	free(conn->pending);
	conn->pending = copy;
	conn->pending_n = n;
	set_reading(conn, false);
}

static void feed(struct rest_conn *conn, const char *bytes, size_t n)
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

static void on_gone_peer(struct rest_conn *conn)
{
	if (conn->state == REST_BODY) {
		/* half closed in the middle of the body: it may still listen */
		conn->closes = true;
		rest_error(
			conn, 500, "INTERNAL", "failed to write file contents: unexpected EOF");
		return;
	}
	rest_conn_close(conn);
}

static void feed_pending(struct rest_conn *conn)
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
	struct rest_conn *conn = arg;
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
			rest_conn_close(conn);
		else if (n == 0)
			on_gone_peer(conn);
		else
			feed(conn, bytes, (size_t)n);
		if (n <= 0)
			return;
	}
}

static void on_timer(void *arg)
{
	rest_conn_close(arg);
}

void rest_conn_end_if_idle(struct rest_conn *conn)
{
	if (conn->state == REST_HEAD && conn->request.head_bytes == 0)
		rest_conn_close(conn);
}

void rest_conn_new_take(struct rest_server *server, int fd)
{
	struct rest_conn *conn = x_calloc(1, sizeof *conn);
	struct event_base *base = loop_base(server->loop);
	int on = 1;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	conn->server = server;
	conn->fd = fd;
	conn->file_fd = -1;
	conn->read_event = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, conn);
	conn->write_event = event_new(base, fd, EV_WRITE, on_writable, conn);
	conn->timer = loop_timer_new(server->loop, on_timer, conn);
	conn->out = evbuffer_new();
	if (conn->read_event == NULL || conn->write_event == NULL || conn->out == NULL)
		abort();
	http1_request_init(&conn->request);
	DL_APPEND(server->conns, conn);
	loop_timer_arm(conn->timer, HEAD_TIMEOUT_MS);
	set_reading(conn, true);
}
