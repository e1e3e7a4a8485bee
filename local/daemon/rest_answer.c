// SPDX-License-Identifier: Apache-2.0
/* Answers of the REST server: head, and body from memory or from parts of a file. */
#include "local/daemon/rest_internal.h"

#include "engine/base/mem.h"
#include "local/daemon/quote.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *daemon_rest_reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = { { 200, "OK" }, { 204, "No Content" }, { 206, "Partial Content" },
		{ 304, "Not Modified" }, { 307, "Temporary Redirect" }, { 400, "Bad Request" },
		{ 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" },
		{ 405, "Method Not Allowed" }, { 409, "Conflict" },
		{ 412, "Precondition Failed" }, { 416, "Requested Range Not Satisfiable" },
		{ 417, "Expectation Failed" }, { 421, "Misdirected Request" },
		{ 431, "Request Header Fields Too Large" }, { 500, "Internal Server Error" },
		{ 501, "Not Implemented" }, { 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" } };
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

bool daemon_rest_is_head(const struct daemon_rest_conn *conn)
{
	return conn->request.method != NULL && strcmp(conn->request.method, "HEAD") == 0;
}

static void begin_answer(struct daemon_rest_conn *conn, int status, const char *content_type,
	const char *headers, int64_t length)
{
	daemon_rest_conn_release(
		conn); /* what a failed upload left is gone before the client hears of it */
	conn->is_answered = true;
	conn->closes =
		conn->closes || !conn->request.keep_alive || conn->server->is_shutting_down;
	bool is_short = !conn->body.is_bad && conn->body.left <= REST_DISCARD_BYTES &&
			!(conn->request.wants_continue && !conn->sent_continue);
	if (daemon_rest_conn_has_unread_body(conn) && !is_short)
		conn->closes = true;
	evbuffer_add_printf(conn->out, "HTTP/1.%d %d %s\r\n",
		conn->request.minor > 0 || conn->request.state != HTTP1_READY, status,
		daemon_rest_reason(status));
	if (content_type != NULL)
		evbuffer_add_printf(conn->out, "Content-Type: %s\r\n", content_type);
	evbuffer_add_printf(conn->out, "%s", headers);
	if (status != 204 && status != 304 && length >= 0)
		evbuffer_add_printf(conn->out, "Content-Length: %lld\r\n", (long long)length);
	add_date(conn->out);
	evbuffer_add_printf(conn->out, conn->closes ? "Connection: close\r\n\r\n" : "\r\n");
}

void daemon_rest_answer(struct daemon_rest_conn *conn, int status, const char *content_type,
	const char *headers, struct slice body)
{
	/* as sandboxd: no length where nothing was meant, nor where the end of the connection says it */
	bool is_bad = conn->closes && status >= 400 && !conn->is_routed;
	bool has_length = !is_bad && !(daemon_rest_is_head(conn) && body.n == 0);
	begin_answer(conn, status, content_type, headers, has_length ? (int64_t)body.n : -1);
	if (!daemon_rest_is_head(conn))
		evbuffer_add(conn->out, body.p, body.n);
	daemon_rest_conn_send_answer(conn);
}

void daemon_rest_answer_file(struct daemon_rest_conn *conn, int status,
	const char *content_type, const char *headers, int file_fd, int64_t length)
{
	begin_answer(conn, status, content_type, headers, length);
	conn->file_fd = file_fd;
	if (daemon_rest_is_head(conn))
		conn->part = conn->n_parts;
	daemon_rest_conn_send_answer(conn);
}

void daemon_rest_error_text(
	struct daemon_rest_conn *conn, int status, const char *code, struct slice message)
{
	struct str json;
	str_init(&json, message.n * 6 + 256);
	str_addf(&json, "{\"code\":\"%s\",\"message\":", code);
	daemon_quote_json(&json, message);
	str_add(&json, "}\n");
	daemon_rest_answer(conn, status, "application/json",
		status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
		(struct slice){ json.p, json.n });
	str_deinit(&json);
}

void daemon_rest_error(
	struct daemon_rest_conn *conn, int status, const char *code, const char *format, ...)
{
	enum { MAX_MESSAGE = 32 << 10 };
	struct str message;
	va_list args;
	str_init(&message, MAX_MESSAGE);
	va_start(args, format);
	str_vaddf(&message, format, args);
	va_end(args);
	daemon_rest_error_text(conn, status, code, (struct slice){ message.p, message.n });
	str_deinit(&message);
}

void daemon_rest_error_argument(
	struct daemon_rest_conn *conn, const char *name, const char *value, const char *rule)
{
	struct str quoted;
	str_init(&quoted, 8 << 10);
	daemon_quote_plain(&quoted, slice_of(value));
	daemon_rest_error(conn, 400, "INVALID_ARGUMENT", "%s %s %s", name, quoted.p, rule);
	str_deinit(&quoted);
}

void daemon_rest_text(
	struct daemon_rest_conn *conn, int status, const char *headers, const char *text)
{
	char *with_sniff = x_asprintf("%sX-Content-Type-Options: nosniff\r\n", headers);
	char *line = x_asprintf("%s\n", text);
	daemon_rest_answer(
		conn, status, "text/plain; charset=utf-8", with_sniff, slice_of(line));
	free(with_sniff);
	free(line);
}
