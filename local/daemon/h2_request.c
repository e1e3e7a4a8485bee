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

void h2_request_header(struct h2_call *call, struct slice name, struct slice value)
{
	if (slice_equals(name, ":method")) {
		if (slice_equals(value, "POST"))
			call->header_bits |= H2_IS_POST;
	} else if (slice_equals(name, ":path")) {
		replace(&call->path, value);
	} else if (slice_equals(name, "content-type")) {
		call->header_bits |= H2_HAS_TYPE;
		if (frame_is_grpc_content(value))
			call->header_bits |= H2_HAS_GRPC_TYPE;
	} else if (slice_equals(name, "grpc-encoding")) {
		replace(&call->encoding, value);
	} else if (slice_equals(name, "authorization")) {
		replace(&call->authorization, value);
	} else if (slice_equals(name, "grpc-timeout")) {
		replace(&call->timeout, value);
		if (!frame_parse_timeout(value, &call->timeout_ms))
			call->header_bits |= H2_BAD_TIMEOUT;
	}
}

/* The client sees CANCEL and knows its own deadline; the process is killed by its owner. */
static void on_deadline(void *arg)
{
	struct h2_call *call = arg;
	struct h2_conn *conn = call->conn;
	nghttp2_submit_rst_stream(
		conn->session, NGHTTP2_FLAG_NONE, call->stream_id, NGHTTP2_CANCEL);
	h2_call_free(call);
	h2_conn_plan_flush(conn);
}

static void find_method(struct h2_call *call)
{
	const struct h2_server_opts *opts = &call->conn->server->opts;
	const char *path = call->path ? call->path : "";
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
	if (slash == NULL || slash == path) {
		h2_call_finish(
			call, RPC_UNIMPLEMENTED, "malformed method name: \"%.512s\"", path);
		return;
	}
	struct slice service = { path + 1, (size_t)(slash - path - 1) };
	if (!slice_equals(service, opts->service)) {
		h2_call_finish(call, RPC_UNIMPLEMENTED, "unknown service %.*s",
			(int)(service.n < 512 ? service.n : 512), service.p);
		return;
	}
	for (size_t i = 0; i < opts->n_methods; i++)
		if (strcmp(opts->methods[i].name, slash + 1) == 0)
			call->method = &opts->methods[i];
	if (call->method == NULL)
		h2_call_finish(call, RPC_UNIMPLEMENTED, "unknown method %.512s for service %s",
			slash + 1, opts->service);
}

void h2_request_headers_done(struct h2_call *call, bool is_end)
{
	(void)is_end;
	const struct h2_server_opts *opts = &call->conn->server->opts;
	char text[640];
	if (!(call->header_bits & H2_HAS_GRPC_TYPE)) {
		h2_call_refuse(call, "415", RPC_INVALID_ARGUMENT,
			call->header_bits & H2_HAS_TYPE
				? "invalid gRPC request content-type"
				: "invalid gRPC request content-type \"\"");
		return;
	}
	if (!(call->header_bits & H2_IS_POST)) {
		h2_call_refuse(
			call, "405", RPC_INTERNAL, "Received a request that is not a POST");
		return;
	}
	if (call->header_bits & H2_BAD_TIMEOUT) {
		snprintf(text, sizeof text, "malformed grpc-timeout: %.256s", call->timeout);
		h2_call_refuse(call, "400", RPC_INTERNAL, text);
		return;
	}
	struct slice token = slice_of(call->authorization);
	if (opts->is_authorized != NULL && !opts->is_authorized(opts->auth_arg, token)) {
		h2_call_finish(call, RPC_UNAUTHENTICATED, "missing or invalid bearer token");
		return;
	}
	find_method(call);
	if (call->is_finished)
		return;
	if (call->encoding != NULL && *call->encoding &&
		strcmp(call->encoding, "identity") != 0) {
		h2_call_finish(call, RPC_UNIMPLEMENTED,
			"grpc: Decompressor is not installed for grpc-encoding \"%.128s\"",
			call->encoding);
		return;
	}
	if (call->timeout_ms >= 0) {
		call->deadline = loop_timer_new(call->conn->server->loop, on_deadline, call);
		loop_timer_arm(call->deadline, call->timeout_ms);
	}
}

static void start(struct h2_call *call)
{
	switch (frame_flag(&call->frame)) {
	case 0:
		break;
	case 1:
		h2_call_finish(call, RPC_INTERNAL,
			"grpc: compressed flag set with identity or empty encoding");
		return;
	default:
		h2_call_finish(call, RPC_INTERNAL,
			"grpc: received unexpected payload format %u",
			frame_flag(&call->frame));
		return;
	}
	call->is_started = true;
	struct slice message = { (const char *)call->frame.body, call->frame.body_n };
	/* the handler may end the call: its message has to outlive that */
	struct frame frame = call->frame;
	call->conn->request_bytes -= frame.body_n;
	call->frame = (struct frame){ 0 };
	call->method->start(call->conn->server->opts.arg, call, message);
	frame_deinit(&frame);
}

void h2_request_data(struct h2_call *call, const unsigned char *bytes, size_t n)
{
	if (call->is_started)
		return; /* a second message: nobody asked for it */
	size_t had = call->frame.body_n;
	size_t used = frame_feed(&call->frame, bytes, n);
	call->conn->request_bytes += call->frame.body_n - had;
	if (used < n)
		call->has_extra = true;
	if (frame_state(&call->frame) == FRAME_TOO_BIG) {
		h2_call_finish(call, RPC_RESOURCE_EXHAUSTED,
			"grpc: received message larger than max (%u vs. %d)",
			frame_length(&call->frame), FRAME_MAX_MESSAGE_BYTES);
		return;
	}
	if (call->conn->request_bytes > MAX_CONN_REQUEST_BYTES) {
		h2_call_finish(call, RPC_RESOURCE_EXHAUSTED,
			"too many requests in flight on this connection");
		return;
	}
	if (frame_state(&call->frame) == FRAME_WHOLE && !call->method->waits_for_end)
		start(call);
}

void h2_request_end(struct h2_call *call)
{
	call->has_request = true;
	if (call->is_started)
		return;
	switch (frame_state(&call->frame)) {
	case FRAME_WHOLE:
		start(call);
		break;
	case FRAME_EMPTY:
		h2_call_finish(call, RPC_UNKNOWN, "EOF");
		break;
	default:
		h2_call_finish(call, RPC_UNKNOWN, "unexpected EOF");
		break;
	}
}
