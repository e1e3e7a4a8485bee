// SPDX-License-Identifier: Apache-2.0
/* The request side of a call: headers, the one message, the end. Refusals are worded as grpc-go does,
 * because clients show them. */
#include "local/daemon/h2_internal.h"

#include "engine/base/mem.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONN_REQUEST_BYTES = 64 << 20 };

static void replace(char **field, struct slice value)
{
	free(*field);
	*field = x_strndup(value.p, value.n);
}

static char **pseudo_field(struct daemon_h2_call *call, struct slice name)
{
	if (slice_equals(name, ":method"))
		return &call->http_method;
	if (slice_equals(name, ":path"))
		return &call->path;
	return slice_equals(name, ":scheme") ? &call->scheme : NULL;
}

static char **field(struct daemon_h2_call *call, struct slice name)
{
	if (slice_equals(name, "content-type"))
		return &call->content_type;
	if (slice_equals(name, "grpc-encoding"))
		return &call->encoding;
	if (slice_equals(name, "grpc-timeout"))
		return &call->timeout;
	return slice_equals(name, "authorization") ? &call->authorization : NULL;
}

static bool is_connection_field(struct slice name)
{
	static const char *const names[] = { "connection", "proxy-connection", "keep-alive",
		"transfer-encoding", "upgrade" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (slice_equals(name, names[i]))
			return true;
	return false;
}

bool daemon_h2_request_header(
	struct daemon_h2_call *call, struct slice name, struct slice value)
{
	const uint8_t *n = (const uint8_t *)name.p, *v = (const uint8_t *)value.p;
	bool is_pseudo = name.n > 0 && name.p[0] == ':';
	if (!nghttp2_check_header_value(v, value.n))
		return false;
	if (is_pseudo) {
		char **to = pseudo_field(call, name);
		if (call->has_regular || (to != NULL && *to != NULL) ||
			(to == NULL && !slice_equals(name, ":authority")))
			return false;
		if (to != NULL)
			replace(to, value);
		return true;
	}
	call->has_regular = true;
	if (!nghttp2_check_header_name(n, name.n) || is_connection_field(name))
		return false;
	char **to = field(call, name);
	if (to != NULL)
		replace(to, value);
	return true;
}

/* The client sees CANCEL and knows its own deadline; the process is killed by its owner. */
static void on_deadline(void *arg)
{
	struct daemon_h2_call *call = arg;
	struct daemon_h2_conn *conn = call->conn;
	nghttp2_submit_rst_stream(
		conn->session, NGHTTP2_FLAG_NONE, call->stream_id, NGHTTP2_CANCEL);
	daemon_h2_call_free(call);
	daemon_h2_conn_plan_flush(conn);
}

static void find_method(struct daemon_h2_call *call)
{
	const struct daemon_h2_server_opts *opts = &call->conn->server->opts;
	const char *path = call->path ? call->path : "";
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
	if (slash == NULL || slash == path) {
		daemon_h2_call_finish(
			call, RPC_UNIMPLEMENTED, "malformed method name: \"%.512s\"", path);
		return;
	}
	struct slice service = { path + 1, (size_t)(slash - path - 1) };
	if (!slice_equals(service, opts->service)) {
		daemon_h2_call_finish(call, RPC_UNIMPLEMENTED, "unknown service %.*s",
			(int)(service.n < 512 ? service.n : 512), service.p);
		return;
	}
	for (size_t i = 0; i < opts->n_methods; i++)
		if (strcmp(opts->methods[i].name, slash + 1) == 0)
			call->method = &opts->methods[i];
	if (call->method == NULL)
		daemon_h2_call_finish(call, RPC_UNIMPLEMENTED,
			"unknown method %.512s for service %s", slash + 1, opts->service);
}

static void refuse_take(struct daemon_h2_call *call, const char *http_status,
	enum daemon_rpc_status status, char *message_take)
{
	daemon_h2_call_refuse(call, http_status, status, message_take);
	free(message_take);
}

/* False: refused. */
static bool check_protocol(struct daemon_h2_call *call)
{
	struct slice subtype;
	const char *type = call->content_type ? call->content_type : "";
	if (!daemon_frame_is_grpc_content(slice_of(type), &subtype)) {
		refuse_take(call, "415", RPC_INVALID_ARGUMENT,
			x_asprintf("invalid gRPC request content-type \"%.256s\"", type));
		return false;
	}
	if (subtype.n > 0)
		call->answer_type =
			x_asprintf("application/grpc+%.*s", (int)subtype.n, subtype.p);
	if (strcmp(call->http_method, "POST") != 0) {
		refuse_take(call, "405", RPC_INTERNAL,
			x_asprintf("Received a HEADERS frame with :method \"%.64s\" which "
				   "should be POST",
				call->http_method));
		return false;
	}
	return true;
}

static bool arm_deadline(struct daemon_h2_call *call)
{
	int64_t ms;
	if (call->timeout == NULL)
		return true;
	char *wrong = daemon_frame_parse_timeout(call->timeout, &ms);
	if (wrong != NULL) {
		refuse_take(call, "400", RPC_INTERNAL,
			x_asprintf("malformed grpc-timeout: %s", wrong));
		free(wrong);
		return false;
	}
	if (ms == 0) {
		daemon_h2_call_finish(call, RPC_DEADLINE_EXCEEDED, "context deadline exceeded");
		return false;
	}
	call->deadline = net_loop_timer_new(call->conn->server->loop, on_deadline, call);
	net_loop_timer_arm(call->deadline, ms);
	return true;
}

bool daemon_h2_request_headers_done(struct daemon_h2_call *call)
{
	const struct daemon_h2_server_opts *opts = &call->conn->server->opts;
	if (call->http_method == NULL || call->path == NULL || call->scheme == NULL)
		return false;
	if (!check_protocol(call) || !arm_deadline(call))
		return true;
	struct slice token = slice_of(call->authorization);
	if (opts->is_authorized != NULL && !opts->is_authorized(opts->auth_arg, token)) {
		daemon_h2_call_finish(
			call, RPC_UNAUTHENTICATED, "missing or invalid bearer token");
		return true;
	}
	find_method(call);
	if (!call->is_finished && call->encoding != NULL && *call->encoding &&
		strcmp(call->encoding, "identity") != 0)
		daemon_h2_call_finish(call, RPC_UNIMPLEMENTED,
			"grpc: Decompressor is not installed for grpc-encoding \"%.128s\"",
			call->encoding);
	return true;
}

static void start(struct daemon_h2_call *call)
{
	switch (daemon_frame_flag(&call->frame)) {
	case 0:
		break;
	case 1:
		daemon_h2_call_finish(call, RPC_INTERNAL,
			"grpc: compressed flag set with identity or empty encoding");
		return;
	default:
		daemon_h2_call_finish(call, RPC_INTERNAL,
			"grpc: received unexpected payload format %u",
			daemon_frame_flag(&call->frame));
		return;
	}
	call->is_started = true;
	struct slice message = { (const char *)call->frame.body, call->frame.body_n };
	/* the handler may end the call: its message has to outlive that */
	struct daemon_frame frame = call->frame;
	call->conn->request_bytes -= frame.body_n;
	call->frame = (struct daemon_frame){ 0 };
	call->method->start(call->conn->server->opts.arg, call, message);
	daemon_frame_deinit(&frame);
}

void daemon_h2_request_data(struct daemon_h2_call *call, const unsigned char *bytes, size_t n)
{
	if (call->is_started)
		return; /* a second message: nobody asked for it */
	size_t had = call->frame.body_n;
	size_t used = daemon_frame_feed(&call->frame, bytes, n);
	call->conn->request_bytes += call->frame.body_n - had;
	call->extra_n += n - used;
	if (daemon_frame_state(&call->frame) == FRAME_TOO_BIG) {
		daemon_h2_call_finish(call, RPC_RESOURCE_EXHAUSTED,
			"grpc: received message larger than max (%u vs. %d)",
			daemon_frame_length(&call->frame), FRAME_MAX_MESSAGE_BYTES);
		return;
	}
	if (call->conn->request_bytes > MAX_CONN_REQUEST_BYTES) {
		daemon_h2_call_finish(call, RPC_RESOURCE_EXHAUSTED,
			"too many requests in flight on this connection");
		return;
	}
	if (daemon_frame_state(&call->frame) == FRAME_WHOLE && !call->method->waits_for_end)
		start(call);
}

void daemon_h2_request_end(struct daemon_h2_call *call)
{
	call->has_request = true;
	if (call->is_started)
		return;
	/* no message, a cut one, or two; grpc-go tells it differently for streaming calls */
	bool is_stream = call->method->waits_for_end;
	enum daemon_frame_state state = daemon_frame_state(&call->frame);
	if (state == FRAME_WHOLE && is_stream && call->extra_n >= FRAME_PREFIX_BYTES)
		daemon_h2_call_finish(call, RPC_INTERNAL,
			"cardinality violation: received multiple request messages for "
			"non-client-streaming RPC");
	else if (state == FRAME_WHOLE)
		start(call);
	else if (state == FRAME_EMPTY && is_stream)
		daemon_h2_call_finish(call, RPC_INTERNAL,
			"cardinality violation: received no request message from "
			"non-client-streaming RPC");
	else if (call->frame.prefix_n < FRAME_PREFIX_BYTES)
		daemon_h2_call_finish(call, RPC_UNKNOWN, "EOF");
	else
		daemon_h2_call_finish(
			call, is_stream ? RPC_INTERNAL : RPC_UNKNOWN, "unexpected EOF");
}
