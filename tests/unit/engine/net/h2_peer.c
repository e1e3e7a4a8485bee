// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/net/h2_peer.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>

static void pump(struct h2_peer *peer)
{
	const uint8_t *bytes;
	ssize_t n;
	while ((n = nghttp2_session_mem_send(peer->session, &bytes)) > 0) {
		if (n > 9 && bytes[3] == NGHTTP2_GOAWAY)
			peer->is_broken = true;
		bufferevent_write(peer->bev, bytes, (size_t)n);
	}
}

static void on_readable(struct bufferevent *bev, void *arg)
{
	struct h2_peer *peer = arg;
	uint8_t bytes[4096];
	size_t n;
	while ((n = bufferevent_read(bev, bytes, sizeof bytes)) > 0)
		if (nghttp2_session_mem_recv(peer->session, bytes, n) < 0)
			peer->is_broken = true;
	pump(peer);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	struct h2_peer *peer = arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		peer->is_closed = true;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags, void *arg)
{
	(void)session;
	(void)frame;
	struct h2_peer *peer = arg;
	str_addf(&peer->log, "%.*s=%.*s%s\n", (int)name_bytes, (const char *)name,
		(int)value_bytes, (const char *)value,
		flags & NGHTTP2_NV_FLAG_NO_INDEX ? " (never indexed)" : "");
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream_id,
	const uint8_t *bytes, size_t n, void *arg)
{
	(void)session;
	(void)flags;
	(void)stream_id;
	struct h2_peer *peer = arg;
	str_add_bytes(&peer->body, bytes, n);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)session;
	struct h2_peer *peer = arg;
	int id = frame->hd.stream_id;
	const char *end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM ? " END" : "";
	switch (frame->hd.type) {
	case NGHTTP2_HEADERS:
		str_addf(&peer->log, "HEADERS %d%s\n", id, end);
		break;
	case NGHTTP2_DATA:
		str_addf(&peer->log, "DATA %d %d%s\n", id, (int)frame->hd.length, end);
		break;
	case NGHTTP2_RST_STREAM:
		str_addf(&peer->log, "RST %d %u\n", id, (unsigned)frame->rst_stream.error_code);
		break;
	case NGHTTP2_PING:
		str_addf(&peer->log, "PING%s %.8s\n",
			frame->hd.flags & NGHTTP2_FLAG_ACK ? " ACK" : "",
			(const char *)frame->ping.opaque_data);
		break;
	case NGHTTP2_WINDOW_UPDATE:
		if (id == 0)
			peer->connection_window_given +=
				(uint64_t)frame->window_update.window_size_increment;
		else
			peer->window_given +=
				(uint64_t)frame->window_update.window_size_increment;
		break;
	default:
		break;
	}
	return 0;
}

struct bufferevent *h2_peer_init(struct h2_peer *peer, struct net_loop *loop)
{
	*peer = (struct h2_peer){ .session = NULL };
	str_init(&peer->log, 1 << 20);
	str_init(&peer->body, 16 << 20);
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		abort();
	evutil_make_socket_nonblocking(fds[0]);
	evutil_make_socket_nonblocking(fds[1]);
	peer->bev = bufferevent_socket_new(net_loop_base(loop), fds[0], BEV_OPT_CLOSE_ON_FREE);
	nghttp2_session_callbacks *callbacks;
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_server_new(&peer->session, callbacks, peer);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, NULL, 0);
	bufferevent_setcb(peer->bev, on_readable, NULL, on_event, peer);
	bufferevent_enable(peer->bev, EV_READ | EV_WRITE);
	pump(peer);
	return bufferevent_socket_new(net_loop_base(loop), fds[1], BEV_OPT_CLOSE_ON_FREE);
}

void h2_peer_deinit(struct h2_peer *peer)
{
	nghttp2_session_del(peer->session);
	if (peer->bev != NULL)
		bufferevent_free(peer->bev);
	str_deinit(&peer->log);
	str_deinit(&peer->body);
}

void h2_peer_send(struct h2_peer *peer, const void *bytes, size_t n)
{
	bufferevent_write(peer->bev, bytes, n);
}

void h2_peer_close(struct h2_peer *peer)
{
	/* what was sent leaves first */
	shutdown(bufferevent_getfd(peer->bev), SHUT_WR);
}

bool h2_peer_saw(const struct h2_peer *peer, const char *text)
{
	return strstr(peer->log.p, text) != NULL;
}

/* --- frames --- */

static void add_u32(struct str *out, uint32_t value)
{
	const unsigned char bytes[4] = { (unsigned char)(value >> 24),
		(unsigned char)(value >> 16), (unsigned char)(value >> 8),
		(unsigned char)value };
	str_add_bytes(out, bytes, 4);
}

void h2_frame(
	struct str *out, int type, int flags, int32_t stream_id, const void *bytes, size_t n)
{
	const unsigned char head[5] = { (unsigned char)(n >> 16), (unsigned char)(n >> 8),
		(unsigned char)n, (unsigned char)type, (unsigned char)flags };
	str_add_bytes(out, head, 5);
	add_u32(out, (uint32_t)stream_id);
	str_add_bytes(out, bytes, n);
}

/* HPACK: a literal that is not indexed, with a length of up to 16,509 (RFC 7541, section 5.1). */
static void add_hpack_string(struct str *block, const char *text)
{
	size_t n = strlen(text);
	if (n < 127) {
		str_add_char(block, (char)n);
	} else {
		str_add_char(block, 127);
		for (n -= 127; n >= 128; n >>= 7)
			str_add_char(block, (char)((n & 127) | 128));
		str_add_char(block, (char)n);
	}
	str_add(block, text);
}

void h2_header(struct str *block, const char *name, const char *value)
{
	str_add_char(block, 0);
	add_hpack_string(block, name);
	add_hpack_string(block, value);
}

void h2_headers(struct str *out, int32_t stream_id, bool end, const char *const *name_values)
{
	struct str block;
	str_init(&block, 65536);
	for (; *name_values != NULL; name_values += 2)
		h2_header(&block, name_values[0], name_values[1]);
	h2_frame(out, NGHTTP2_HEADERS,
		NGHTTP2_FLAG_END_HEADERS | (end ? NGHTTP2_FLAG_END_STREAM : 0), stream_id,
		block.p, block.n);
	str_deinit(&block);
}

void h2_data(struct str *out, int32_t stream_id, bool end, const void *bytes, size_t n)
{
	const char *p = bytes;
	do { /* no frame may have more than 16,384 bytes */
		size_t part = n > 16384 ? 16384 : n;
		n -= part;
		h2_frame(out, NGHTTP2_DATA, end && n == 0 ? NGHTTP2_FLAG_END_STREAM : 0,
			stream_id, p, part);
		p += part;
	} while (n > 0);
}

void h2_message(struct str *out, int32_t stream_id, const void *bytes, size_t n)
{
	struct str message;
	str_init(&message, n + 5);
	str_add_char(&message, 0);
	add_u32(&message, (uint32_t)n);
	str_add_bytes(&message, bytes, n);
	h2_data(out, stream_id, false, message.p, message.n);
	str_deinit(&message);
}

void h2_rst(struct str *out, int32_t stream_id, uint32_t code)
{
	struct str payload;
	str_init(&payload, 4);
	add_u32(&payload, code);
	h2_frame(out, NGHTTP2_RST_STREAM, 0, stream_id, payload.p, payload.n);
	str_deinit(&payload);
}

void h2_goaway(struct str *out, int32_t last_id, uint32_t code, const char *text)
{
	struct str payload;
	str_init(&payload, 1000);
	add_u32(&payload, (uint32_t)last_id);
	add_u32(&payload, code);
	str_add(&payload, text);
	h2_frame(out, NGHTTP2_GOAWAY, 0, 0, payload.p, payload.n);
	str_deinit(&payload);
}

void h2_grpc_begin(struct str *out, int32_t stream_id)
{
	const char *const headers[] = { ":status", "200", "content-type", "application/grpc",
		NULL };
	h2_headers(out, stream_id, false, headers);
}

void h2_grpc_end(struct str *out, int32_t stream_id, const char *status, const char *text)
{
	const char *const headers[] = { "grpc-status", status, "grpc-message", text, NULL };
	h2_headers(out, stream_id, true, headers);
}
