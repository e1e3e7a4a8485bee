// SPDX-License-Identifier: Apache-2.0
/* One call's answer: a queue of messages that the session takes from as windows allow, then trailers.
 *
 *   new ─> start (h2_request.c) ─> send… ─> finish ─> trailers sent ─> free (stream closed)
 *                    └── reset, deadline, connection gone ─> on_closed ─> free */
#include "local/daemon/h2_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>
#include <stdio.h>

enum { MAX_STATUS_MESSAGE = 8 << 10 };

static nghttp2_nv header(const char *name, const char *value)
{
	union { /* nghttp2 only reads, but its type is not const */
		const char *in;
		uint8_t *out;
	} n = { name }, v = { value };
	return (nghttp2_nv){ n.out, v.out, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE };
}

static void on_flush(void *arg)
{
	struct daemon_h2_conn *conn = arg;
	conn->is_flush_planned = false;
	if (!conn->is_dead)
		conn->flush(conn);
}

void daemon_h2_conn_plan_flush(struct daemon_h2_conn *conn)
{
	/* the flush is planned before the death, so it runs before the memory goes */
	if (conn->is_flush_planned || conn->is_dead)
		return;
	conn->is_flush_planned = true;
	net_loop_defer(conn->server->loop, on_flush, conn);
}

struct daemon_h2_call *daemon_h2_call_new(struct daemon_h2_conn *conn, int32_t stream_id)
{
	struct daemon_h2_call *call = x_calloc(1, sizeof *call);
	call->conn = conn;
	call->stream_id = stream_id;
	call->out = evbuffer_new();
	if (call->out == NULL)
		abort();
	DL_APPEND(conn->calls, call);
	return call;
}

void daemon_h2_call_free(struct daemon_h2_call *call)
{
	struct daemon_h2_conn *conn = call->conn;
	DL_DELETE(conn->calls, call);
	nghttp2_session_set_stream_user_data(conn->session, call->stream_id, NULL);
	void (*on_closed)(void *owner) = call->on_closed;
	void *owner = call->owner;
	conn->request_bytes -= call->frame.body_n;
	net_loop_timer_free(call->deadline);
	daemon_frame_deinit(&call->frame);
	evbuffer_free(call->out);
	free(call->http_method);
	free(call->path);
	free(call->scheme);
	free(call->content_type);
	free(call->answer_type);
	free(call->encoding);
	free(call->timeout);
	free(call->authorization);
	free(call->message);
	free(call);
	if (on_closed != NULL)
		on_closed(owner);
}

void daemon_h2_call_keep(struct daemon_h2_call *call, void (*on_closed)(void *owner),
	void (*on_drained)(void *owner), void *owner)
{
	call->on_closed = on_closed;
	call->on_drained = on_drained;
	call->owner = owner;
}

size_t daemon_h2_call_queued(const struct daemon_h2_call *call)
{
	return evbuffer_get_length(call->out);
}

static void drained(void *arg, struct daemon_h2_call *call)
{
	(void)arg;
	call->was_high = false;
	if (call->on_drained != NULL)
		call->on_drained(call->owner);
}

static int submit_trailers(struct daemon_h2_call *call)
{
	char number[12];
	snprintf(number, sizeof number, "%d", (int)call->status);
	nghttp2_nv nv[] = { header("grpc-status", number),
		header("grpc-message", call->message ? call->message : "") };
	return nghttp2_submit_trailer(
		call->conn->session, call->stream_id, nv, sizeof nv / sizeof nv[0]);
}

static ssize_t on_pull(nghttp2_session *session, int32_t stream_id, uint8_t *to, size_t n,
	uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	(void)session;
	(void)stream_id;
	(void)arg;
	struct daemon_h2_call *call = source->ptr;
	int taken = evbuffer_remove(call->out, to, n);
	if (taken < 0)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	if (call->was_high && !call->is_finished && daemon_h2_call_queued(call) <= H2_QUEUE_LOW)
		drained(arg, call);
	if (daemon_h2_call_queued(call) > 0)
		return taken;
	if (call->is_finished) {
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		submit_trailers(call);
	} else if (taken == 0) {
		call->is_deferred = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	return taken;
}

/* Something changed in the queue: the session may go on. */
static void wake(struct daemon_h2_call *call)
{
	if (call->is_deferred) {
		call->is_deferred = false;
		nghttp2_session_resume_data(call->conn->session, call->stream_id);
	}
	daemon_h2_conn_plan_flush(call->conn);
}

static void submit_headers(struct daemon_h2_call *call)
{
	nghttp2_nv nv[] = { header(":status", "200"),
		header("content-type",
			call->answer_type ? call->answer_type : "application/grpc") };
	nghttp2_data_provider provider = { .source.ptr = call, .read_callback = on_pull };
	call->has_headers = true;
	nghttp2_submit_response(
		call->conn->session, call->stream_id, nv, sizeof nv / sizeof nv[0], &provider);
}

void daemon_h2_call_send(struct daemon_h2_call *call, const void *bytes, size_t n)
{
	unsigned char prefix[FRAME_PREFIX_BYTES];
	daemon_frame_write_prefix(prefix, (uint32_t)n);
	evbuffer_add(call->out, prefix, sizeof prefix);
	evbuffer_add(call->out, bytes, n);
	if (daemon_h2_call_queued(call) >= H2_QUEUE_HIGH)
		call->was_high = true;
	if (!call->has_headers)
		submit_headers(call);
	wake(call);
}

static void submit_trailers_only(struct daemon_h2_call *call, const char *http_status)
{
	char number[12];
	snprintf(number, sizeof number, "%d", (int)call->status);
	nghttp2_nv nv[] = { header(":status", http_status),
		header("content-type",
			call->answer_type ? call->answer_type : "application/grpc"),
		header("grpc-status", number),
		header("grpc-message", call->message ? call->message : "") };
	call->has_headers = true;
	nghttp2_submit_response(
		call->conn->session, call->stream_id, nv, sizeof nv / sizeof nv[0], NULL);
}

static void set_status(
	struct daemon_h2_call *call, enum daemon_rpc_status status, const char *message)
{
	struct str encoded;
	str_init(&encoded, MAX_STATUS_MESSAGE);
	daemon_frame_encode_message(&encoded, message);
	call->is_started = true;
	call->is_finished = true;
	call->on_closed = call->on_drained = NULL;
	call->owner = NULL;
	call->status = status;
	call->message = str_take(&encoded);
	net_loop_timer_disarm(call->deadline);
}

void daemon_h2_call_refuse(struct daemon_h2_call *call, const char *http_status,
	enum daemon_rpc_status status, const char *message)
{
	set_status(call, status, message);
	submit_trailers_only(call, http_status);
	daemon_h2_conn_plan_flush(call->conn);
}

void daemon_h2_call_finish(
	struct daemon_h2_call *call, enum daemon_rpc_status status, const char *format, ...)
{
	char message[MAX_STATUS_MESSAGE];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	set_status(call, status, message);
	if (call->has_headers)
		wake(call);
	else
		submit_trailers_only(call, "200");
	daemon_h2_conn_plan_flush(call->conn);
}
