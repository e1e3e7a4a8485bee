// SPDX-License-Identifier: Apache-2.0
/* One call of the gRPC client: request headers and the length-prefixed messages of the answer
 * (github.com/grpc/grpc: doc/PROTOCOL-HTTP2.md). How it ends is in grpc_status.c. */
#include "engine/net/grpc_internal.h"

#include "engine/net/loop.h"

#include <stdio.h>

struct net_grpc_call *net_grpc_call_find(struct net_grpc_conn *conn, int32_t stream_id)
{
	struct net_grpc_call *call = NULL;
	if (conn->calls != NULL)
		HASH_FIND(hh, conn->calls, &stream_id, sizeof stream_id, call);
	return call;
}

/* --- end --- */

static void unlink_call(struct net_grpc_call *call)
{
	HASH_DELETE(hh, call->conn->calls, call);
	net_loop_timer_free(call->timer);
	call->timer = NULL;
}

static void call_free(struct net_grpc_call *call)
{
	str_deinit(&call->request);
	str_deinit(&call->partial);
	str_deinit(&call->status_text);
	free(call);
}

static void on_free(void *arg)
{
	call_free(arg);
}

/* The call may be on the stack below us (a message callback that cancels it). */
static void free_later(struct net_grpc_call *call)
{
	net_loop_defer(call->conn->loop, on_free, call);
}

void net_grpc_call_complete(struct net_grpc_call *call, const struct err *err)
{
	struct err copy;
	err_copy(&copy, err);
	unlink_call(call);
	free_later(call);
	call->done(call->arg, err != NULL ? &copy : NULL);
	if (!call->conn->is_closed)
		net_grpc_conn_settle(call->conn);
}

void net_grpc_call_discard(struct net_grpc_call *call)
{
	unlink_call(call);
	free_later(call);
}

static void reset(struct net_grpc_call *call, uint32_t error_code)
{
	struct net_grpc_conn *conn = call->conn;
	nghttp2_submit_rst_stream(
		conn->session, NGHTTP2_FLAG_NONE, call->stream_id, error_code);
	net_grpc_conn_flush_later(conn);
}

void net_grpc_cancel(struct net_grpc_call *call)
{
	if (call == NULL)
		return;
	struct net_grpc_conn *conn = call->conn;
	if (!conn->is_closed)
		reset(call, NGHTTP2_CANCEL);
	net_grpc_call_discard(call);
	net_grpc_conn_settle(conn);
}

static void on_timeout(void *arg)
{
	struct net_grpc_call *call = arg;
	struct err err;
	err_set(&err, ERR_OP_TIMEOUT, "no answer in time");
	err.sys = STATUS_DEADLINE_EXCEEDED;
	reset(call, NGHTTP2_CANCEL);
	net_grpc_call_complete(call, &err);
}

/* Ends the call from inside the session: the stream is reset and closed by nghttp2. */
static void fail(struct net_grpc_call *call, enum err_code code, int status, const char *format,
	...) __attribute__((format(printf, 4, 5)));

static void fail(
	struct net_grpc_call *call, enum err_code code, int status, const char *format, ...)
{
	struct err err;
	va_list args;
	va_start(args, format);
	err_vset(&err, code, format, args);
	va_end(args);
	err.sys = status;
	reset(call, NGHTTP2_CANCEL);
	net_grpc_call_complete(call, &err);
}

/* The stream closes when both sides have ended. A server that answers before it has read all of
 * the request may leave our side open: then it is ended here. */
void net_grpc_call_remote_done(struct net_grpc_call *call)
{
	call->is_remote_done = true;
	if (call->request_sent < call->request.n)
		reset(call, NGHTTP2_NO_ERROR);
}

void net_grpc_call_stream_closed(struct net_grpc_call *call, uint32_t error_code)
{
	struct err err;
	net_grpc_call_complete(
		call, net_grpc_status_is_ok(call, error_code, &err) ? NULL : &err);
}

/* --- messages --- */

static void give_window(struct net_grpc_call *call, size_t n)
{
	struct net_grpc_conn *conn = call->conn;
	if (n == 0 || conn->is_closed)
		return;
	nghttp2_session_consume_stream(conn->session, call->stream_id, n);
	net_grpc_conn_flush_later(conn);
}

void net_grpc_consumed(struct net_grpc_call *call, size_t message_bytes)
{
	if (!call->manual_window)
		return;
	size_t early = call->early_bytes < message_bytes ? call->early_bytes : message_bytes;
	call->early_bytes -= early;
	give_window(call, message_bytes - early);
}

void net_grpc_set_window(struct net_grpc_call *call, uint32_t bytes)
{
	struct net_grpc_conn *conn = call->conn;
	if (conn->is_closed || bytes <= conn->stream_window_bytes || bytes > INT32_MAX)
		return;
	nghttp2_session_set_local_window_size(
		conn->session, NGHTTP2_FLAG_NONE, call->stream_id, (int32_t)bytes);
	net_grpc_conn_flush_later(conn);
}

/* False if the prefix is no good: the call has ended. */
static bool check_prefix(struct net_grpc_call *call)
{
	const unsigned char *p = call->prefix;
	size_t n = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
	if (p[0] != 0) {
		fail(call, ERR_RPC_INTERNAL, STATUS_INTERNAL,
			p[0] == 1 ? "a compressed message, which was not asked for"
				  : "unexpected payload format %u",
			(unsigned)p[0]);
		return false;
	}
	if (n > call->conn->max_message_bytes) {
		fail(call, ERR_LIMIT_RESPONSE, STATUS_RESOURCE_EXHAUSTED,
			"a message of %zu bytes: more than %zu", n,
			call->conn->max_message_bytes);
		return false;
	}
	call->message_bytes = n;
	return true;
}

/* Hands one message out; false if the call is gone afterwards. */
static bool hand_out(struct net_grpc_call *call, struct slice message)
{
	struct net_grpc_conn *conn = call->conn;
	int32_t stream_id = call->stream_id;
	call->n_messages++;
	call->prefix_bytes = 0;
	if (call->is_unary && call->n_messages > 1) {
		fail(call, ERR_RPC_INTERNAL, STATUS_INTERNAL, "more than one message");
		return false;
	}
	if (call->on_message != NULL)
		call->on_message(call->arg, message);
	if (conn->is_dead || net_grpc_call_find(conn, stream_id) != call)
		return false;
	str_clear(&call->partial);
	return true;
}

/* Bytes that the window gets back now: all, or with a manual window those that are not the
 * consumer's (prefixes) and those of a message that would not fit into the window. */
static void account(struct net_grpc_call *call, size_t prefix_part, size_t message_part)
{
	if (!call->manual_window) {
		give_window(call, prefix_part + message_part);
		return;
	}
	if (call->message_bytes > call->conn->stream_window_bytes / 2) {
		call->early_bytes += message_part;
		prefix_part += message_part;
	}
	give_window(call, prefix_part);
}

void net_grpc_call_data(struct net_grpc_call *call, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		if (call->prefix_bytes < GRPC_PREFIX_BYTES) {
			call->prefix[call->prefix_bytes++] = *bytes++;
			n--;
			if (call->prefix_bytes < GRPC_PREFIX_BYTES) {
				continue;
			}
			if (!check_prefix(call))
				return;
			account(call, GRPC_PREFIX_BYTES, 0);
			if (call->message_bytes > 0)
				continue;
		}
		size_t left = call->message_bytes - call->partial.n;
		size_t part = left < n ? left : n;
		struct slice message = { (const char *)bytes, part };
		account(call, 0, part);
		if (part < left || call->partial.n > 0) {
			str_add_bytes(&call->partial, bytes, part);
			message = (struct slice){ call->partial.p, call->partial.n };
		}
		bytes += part;
		n -= part;
		if (part == left && !hand_out(call, message))
			return;
	}
}

/* --- start --- */

static ssize_t read_request(nghttp2_session *session, int32_t stream_id, uint8_t *into,
	size_t room, uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	(void)session;
	(void)source;
	struct net_grpc_call *call = net_grpc_call_find(arg, stream_id);
	if (call == NULL) /* cancelled: the reset is on its way */
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	size_t left = call->request.n - call->request_sent;
	size_t n = left < room ? left : room;
	memcpy(into, call->request.p + call->request_sent, n);
	call->request_sent += n;
	if (n == left)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

/* nghttp2 copies names and values; its structure wants them without const. */
static nghttp2_nv header(const char *name, const char *value, uint8_t flags)
{
	nghttp2_nv nv = { .namelen = strlen(name), .valuelen = strlen(value), .flags = flags };
	memcpy(&nv.name, &name, sizeof name);
	memcpy(&nv.value, &value, sizeof value);
	return nv;
}

static int32_t submit(struct net_grpc_conn *conn, const struct net_grpc_call_opts *opts)
{
	enum { MAX_HEADERS = 11 };
	nghttp2_nv headers[MAX_HEADERS];
	size_t n = 0;
	char timeout[16];
	headers[n++] = header(":method", "POST", 0);
	headers[n++] = header(":scheme", conn->scheme, 0);
	headers[n++] = header(":path", opts->path, 0);
	headers[n++] = header(":authority", conn->authority, 0);
	headers[n++] = header("content-type", "application/grpc", 0);
	headers[n++] = header("te", "trailers", 0);
	headers[n++] = header("user-agent", "sandmux/" SANDMUX_VERSION, 0);
	if (opts->send_timeout && opts->timeout_ms > 0 && opts->timeout_ms <= 99999999) {
		snprintf(timeout, sizeof timeout, "%lldm", (long long)opts->timeout_ms);
		headers[n++] = header("grpc-timeout", timeout, 0);
	}
	if (opts->traceparent != NULL)
		headers[n++] = header("traceparent", opts->traceparent, 0);
	if (conn->authorization != NULL)
		headers[n++] =
			header("authorization", conn->authorization, NGHTTP2_NV_FLAG_NO_INDEX);
	nghttp2_data_provider body = { .read_callback = read_request };
	return nghttp2_submit_request(conn->session, NULL, headers, n, &body, NULL);
}

struct net_grpc_call *net_grpc_start(
	struct net_grpc_conn *conn, const struct net_grpc_call_opts *opts, struct err *err)
{
	if (!net_grpc_conn_is_usable(conn)) {
		err_set(err, ERR_OP_CLOSED, "the gRPC connection is closed");
		return NULL;
	}
	if (opts->message.n > UINT32_MAX) {
		err_set(err, ERR_LIMIT_UPLOAD, "a message of %zu bytes", opts->message.n);
		return NULL;
	}
	int32_t stream_id = submit(conn, opts);
	if (stream_id < 0) {
		err_set(err, ERR_INTERNAL, "HTTP/2: %s", nghttp2_strerror(stream_id));
		return NULL;
	}
	struct net_grpc_call *call = x_calloc(1, sizeof *call);
	call->stream_id = stream_id;
	call->conn = conn;
	call->on_message = opts->on_message;
	call->done = opts->done;
	call->arg = opts->arg;
	call->manual_window = opts->manual_window;
	call->is_unary = opts->is_unary;
	call->grpc_status = STATUS_NONE;
	size_t n = opts->message.n;
	const unsigned char prefix[GRPC_PREFIX_BYTES] = { 0, (unsigned char)(n >> 24),
		(unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n };
	str_init(&call->request, n + sizeof prefix);
	str_add_bytes(&call->request, prefix, sizeof prefix);
	str_add_bytes(&call->request, opts->message.p, n);
	str_init(&call->partial, conn->max_message_bytes);
	str_init(&call->status_text, GRPC_STATUS_TEXT_BYTES);
	HASH_ADD(hh, conn->calls, stream_id, sizeof stream_id, call);
	if (opts->timeout_ms > 0) {
		call->timer = net_loop_timer_new(conn->loop, on_timeout, call);
		net_loop_timer_arm(call->timer, opts->timeout_ms);
	}
	net_grpc_conn_flush_later(conn);
	return call;
}
