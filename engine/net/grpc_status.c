// SPDX-License-Identifier: Apache-2.0
/* What a gRPC call ends with: its headers, and the mapping of gRPC, HTTP and HTTP/2 codes to our
 * errors (github.com/grpc/grpc: doc/PROTOCOL-HTTP2.md and doc/http-grpc-status-mapping.md). */
#include "engine/net/grpc_internal.h"

#include "engine/base/num.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>

/* The wire's own DEADLINE_EXCEEDED and UNAVAILABLE are what our clock and our socket say. */
static enum err_code code_of_status(int status)
{
	if (status == STATUS_DEADLINE_EXCEEDED)
		return ERR_OP_TIMEOUT;
	if (status == STATUS_UNAVAILABLE)
		return ERR_CONN_LOST;
	return err_code_of_grpc(status);
}

static int status_of_http(int http_status)
{
	switch (http_status) {
	case 400:
		return STATUS_INTERNAL;
	case 401:
		return STATUS_UNAUTHENTICATED;
	case 403:
		return STATUS_PERMISSION_DENIED;
	case 404:
		return STATUS_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return STATUS_UNAVAILABLE;
	default:
		return STATUS_UNKNOWN;
	}
}

static int status_of_reset(uint32_t error_code)
{
	switch (error_code) {
	case NGHTTP2_REFUSED_STREAM:
		return STATUS_UNAVAILABLE;
	case NGHTTP2_CANCEL:
		return STATUS_CANCELLED;
	case NGHTTP2_ENHANCE_YOUR_CALM:
		return STATUS_RESOURCE_EXHAUSTED;
	case NGHTTP2_INADEQUATE_SECURITY:
		return STATUS_PERMISSION_DENIED;
	case NGHTTP2_STREAM_CLOSED:
	case NGHTTP2_HTTP_1_1_REQUIRED:
		return STATUS_UNKNOWN;
	case NGHTTP2_NO_ERROR:
	case NGHTTP2_PROTOCOL_ERROR:
	case NGHTTP2_INTERNAL_ERROR:
	case NGHTTP2_FLOW_CONTROL_ERROR:
	case NGHTTP2_SETTINGS_TIMEOUT:
	case NGHTTP2_FRAME_SIZE_ERROR:
	case NGHTTP2_COMPRESSION_ERROR:
	case NGHTTP2_CONNECT_ERROR:
		return STATUS_INTERNAL;
	default:
		return STATUS_UNKNOWN;
	}
}

static bool failed(struct err *err, int status, const char *text)
{
	err_set(err, code_of_status(status), "%s", text);
	err->sys = status;
	return false;
}

/* The answer is whole and its status is OK: is it what was asked for? */
static bool is_complete(const struct net_grpc_call *call, struct err *err)
{
	if (call->prefix_bytes > 0)
		return failed(err, STATUS_INTERNAL, "the answer ends inside a message");
	if (call->is_unary && call->n_messages != 1)
		return failed(err, STATUS_INTERNAL, "the answer has not exactly one message");
	return true;
}

bool net_grpc_status_is_ok(
	const struct net_grpc_call *call, uint32_t error_code, struct err *err)
{
	char text[128];
	if (!call->conn->has_settings) /* they come first in HTTP/2 */
		return err_set(err, ERR_RUNTIME_PROTOCOL, "%s does not speak HTTP/2",
			call->conn->authority);
	if (!call->is_remote_done) {
		snprintf(text, sizeof text, "the server reset the call (%s)",
			nghttp2_http2_strerror(error_code));
		return failed(err, status_of_reset(error_code), text);
	}
	if (call->grpc_status == STATUS_OK)
		return is_complete(call, err);
	if (call->grpc_status > STATUS_OK)
		return failed(err, call->grpc_status,
			call->status_text.n > 0 ? call->status_text.p : "no message");
	if (call->http_status != 200) {
		snprintf(text, sizeof text, "HTTP status %d", call->http_status);
		return failed(err, status_of_http(call->http_status), text);
	}
	if (!call->is_grpc) {
		err_set(err, ERR_RUNTIME_PROTOCOL, "the answer is not gRPC");
		err->sys = STATUS_UNKNOWN;
		return false;
	}
	return failed(err, STATUS_UNKNOWN, "the answer ends without a status");
}

/* --- headers --- */

void net_grpc_call_begin_headers(struct net_grpc_call *call)
{
	call->grpc_status = STATUS_NONE;
	str_clear(&call->status_text);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A bad escape stays as it is; a NUL would cut the text and becomes U+FFFD. */
static void decode_text(struct str *out, struct slice value)
{
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];
		if (c == '%' && i + 2 < value.n) {
			int high = hex_value(value.p[i + 1]), low = hex_value(value.p[i + 2]);
			if (high >= 0 && low >= 0) {
				c = (char)(high << 4 | low);
				i += 2;
			}
		}
		if (c == '\0')
			str_add(out, "\xEF\xBF\xBD");
		else
			str_add_char(out, c);
	}
}

static int parse_status(struct slice value, int64_t max)
{
	char text[12];
	int64_t status;
	if (value.n >= sizeof text)
		return STATUS_UNKNOWN;
	memcpy(text, value.p, value.n);
	text[value.n] = '\0';
	return num_parse_i64(text, 0, max, &status) ? (int)status : STATUS_UNKNOWN;
}

void net_grpc_call_header(struct net_grpc_call *call, struct slice name, struct slice value)
{
	static const char grpc_type[] = "application/grpc";
	if (slice_equals(name, ":status")) {
		call->http_status = parse_status(value, 999);
	} else if (slice_equals(name, "content-type")) {
		call->is_grpc = value.n >= sizeof grpc_type - 1 &&
				memcmp(value.p, grpc_type, sizeof grpc_type - 1) == 0;
	} else if (slice_equals(name, "grpc-status")) {
		call->grpc_status = parse_status(value, INT_MAX);
	} else if (slice_equals(name, "grpc-message")) {
		str_clear(&call->status_text);
		decode_text(&call->status_text, value);
	}
}
