// SPDX-License-Identifier: Apache-2.0
/* Bytes of a running request: header lines, the body of the answer, the body of the request.
 * All of these run inside libcurl. */
#include "engine/net/http_internal.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"
#include "engine/net/loop.h"

#include <ctype.h>
#include <strings.h>

/* Never the count that was offered: tells libcurl to end the transfer. */
static const size_t stop = (size_t)-7;

void net_http_reply_clear(struct net_http_req *req)
{
	for (size_t i = 0; i < req->n_reply_headers; i++) {
		char *line; /* name and value are one allocation */
		memcpy(&line, &req->reply_headers[i].name, sizeof line);
		free(line);
	}
	req->n_reply_headers = 0;
	req->content_length = -1;
	req->is_encoded = false;
}

static size_t fail(struct net_http_req *req, enum err_code code, const char *what)
{
	err_set(&req->fail, code, "%s", what);
	return stop;
}

static struct slice trim(struct slice text)
{
	while (text.n > 0 && isspace((unsigned char)text.p[0]))
		text = (struct slice){ text.p + 1, text.n - 1 };
	while (text.n > 0 && isspace((unsigned char)text.p[text.n - 1]))
		text.n--;
	return text;
}

static void add_header(struct net_http_req *req, struct slice line)
{
	const char *colon = memchr(line.p, ':', line.n);
	if (colon == NULL || memchr(line.p, '\0', line.n) != NULL)
		return;
	size_t name_bytes = (size_t)(colon - line.p);
	struct slice name = trim((struct slice){ line.p, name_bytes });
	struct slice value = trim((struct slice){ colon + 1, line.n - name_bytes - 1 });
	char *text = x_malloc(name.n + value.n + 2);
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	char *value_text = text + name.n + 1;
	memcpy(value_text, value.p, value.n);
	value_text[value.n] = '\0';
	array_grow(&req->reply_headers, &req->reply_headers_capacity, req->n_reply_headers + 1,
		sizeof *req->reply_headers);
	req->reply_headers[req->n_reply_headers++] =
		(struct net_http_header){ text, value_text };
	if (strcasecmp(text, "content-length") == 0 &&
		!num_parse_i64(value_text, 0, INT64_MAX, &req->content_length))
		req->content_length = -1;
	if (strcasecmp(text, "content-encoding") == 0)
		req->is_encoded = true;
}

/* "HTTP/1.1 200 OK" or "HTTP/2 200" */
static int status_of_line(struct slice line)
{
	const char *space = memchr(line.p, ' ', line.n);
	if (space == NULL || (size_t)(space - line.p) + 4 > line.n)
		return 0;
	int status = 0;
	for (int i = 1; i <= 3; i++) {
		if (!isdigit((unsigned char)space[i]))
			return 0;
		status = status * 10 + (space[i] - '0');
	}
	return status;
}

static size_t end_of_headers(struct net_http_req *req, size_t line_bytes)
{
	if (req->status < 200) /* 100 Continue and its like */
		return line_bytes;
	req->is_final = true;
	req->reply = (struct net_http_reply){ req->status,
		req->is_encoded && req->opts.accept_gzip ? -1 : req->content_length,
		req->reply_headers, req->n_reply_headers };
	if (req->opts.on_reply != NULL &&
		!req->opts.on_reply(req->opts.arg, &req->reply, &req->fail)) {
		if (req->fail.code == ERR_NONE)
			err_set(&req->fail, ERR_OP_CANCELLED,
				"stopped at the answer's headers");
		return stop;
	}
	return req->is_dead ? stop : line_bytes;
}

size_t net_http_on_header(char *bytes, size_t size, size_t n, void *arg)
{
	struct net_http_req *req = arg;
	(void)size; /* 1 */
	struct slice line = { bytes, n };
	if (req->is_dead)
		return stop;
	req->last_byte_ms = clock_mono_ms();
	if (req->is_final) /* trailers after the body */
		return n;
	req->header_bytes += n;
	if (req->header_bytes > HTTP_MAX_HEADER_BYTES)
		return fail(req, ERR_LIMIT_RESPONSE, "the headers of the answer are too large");
	if (n >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
		net_http_reply_clear(req);
		req->status = status_of_line(line);
		if (req->status < 100)
			return fail(
				req, ERR_RUNTIME_PROTOCOL, "a status line without a status");
		return n;
	}
	if (trim(line).n == 0)
		return end_of_headers(req, n);
	add_header(req, line);
	return n;
}

static bool is_over_limit(struct net_http_req *req)
{
	size_t limit = req->opts.max_body_bytes;
	if (limit == 0 && req->opts.on_body == NULL)
		limit = HTTP_DEFAULT_BODY_BYTES;
	if (limit == 0 || req->body_bytes <= limit)
		return false;
	err_set(&req->fail, ERR_LIMIT_RESPONSE, "the answer has more than %zu bytes", limit);
	return true;
}

size_t net_http_on_body(char *bytes, size_t size, size_t n, void *arg)
{
	struct net_http_req *req = arg;
	(void)size;
	if (req->is_dead)
		return stop;
	if (req->download_held) {
		req->download_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	req->last_byte_ms = clock_mono_ms();
	req->body_bytes += n;
	if (is_over_limit(req))
		return stop;
	if (req->opts.on_body == NULL) {
		str_add_bytes(&req->body, bytes, n);
		return n;
	}
	/* held before the call: the callback itself may resume */
	req->download_held = true;
	bool go_on = req->opts.on_body(req->opts.arg, (struct slice){ bytes, n }, &req->fail);
	if (req->is_dead || (!go_on && req->fail.code != ERR_NONE))
		return stop;
	if (go_on)
		req->download_held = false;
	return n;
}

size_t net_http_on_upload(char *into, size_t size, size_t n, void *arg)
{
	struct net_http_req *req = arg;
	size_t room = size * n;
	if (req->is_dead)
		return CURL_READFUNC_ABORT;
	req->upload_held = true; /* the callback itself may resume */
	long got = req->opts.read_body(req->opts.arg, into, room, &req->fail);
	if (req->is_dead)
		return CURL_READFUNC_ABORT;
	if (got == HTTP_BODY_PAUSE) {
		req->upload_paused = true;
		if (!req->upload_held)
			net_loop_timer_arm(req->lane->kick, 0);
		return CURL_READFUNC_PAUSE;
	}
	req->upload_held = false;
	if (got < 0 || (size_t)got > room) {
		if (req->fail.code == ERR_NONE)
			err_set(&req->fail, ERR_OP_CANCELLED, "the upload was given up");
		return CURL_READFUNC_ABORT;
	}
	req->last_byte_ms = req->last_sent_ms = clock_mono_ms();
	return (size_t)got;
}
