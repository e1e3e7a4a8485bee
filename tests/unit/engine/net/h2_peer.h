// SPDX-License-Identifier: Apache-2.0
/* The other end of a gRPC connection: an nghttp2 server session reads what the client sends (and so
 * checks that it is HTTP/2), notes it as text, and frames are sent by hand. */
#pragma once

#include "engine/base/str.h"
#include "engine/net/grpc.h"
#include "engine/net/loop.h"

#include <nghttp2/nghttp2.h>

struct h2_peer {
	nghttp2_session *session;
	struct bufferevent *bev;
	struct str log;  /* "HEADERS 1 :method=POST …\n" "DATA 1 6 END\n" "RST 1 8\n" … */
	struct str body; /* request bytes of all streams */
	bool is_closed;
	bool is_broken;        /* the client broke the protocol */
	uint64_t window_given; /* by WINDOW_UPDATE on streams */
	uint64_t connection_window_given;
};

/* A connected pair: the peer, and the bufferevent for the client. */
struct bufferevent *h2_peer_init(struct h2_peer *peer, struct net_loop *loop);
void h2_peer_deinit(struct h2_peer *peer);
void h2_peer_send(struct h2_peer *peer, const void *bytes, size_t n);
void h2_peer_close(struct h2_peer *peer);
bool h2_peer_saw(const struct h2_peer *peer, const char *text);

/* Frames, appended to a str. */
void h2_frame(
	struct str *out, int type, int flags, int32_t stream_id, const void *bytes, size_t n);
void h2_header(struct str *block, const char *name, const char *value);
void h2_headers(struct str *out, int32_t stream_id, bool end, const char *const *name_values);
void h2_data(struct str *out, int32_t stream_id, bool end, const void *bytes, size_t n);
void h2_message(
	struct str *out, int32_t stream_id, const void *bytes, size_t n); /* with prefix */
void h2_rst(struct str *out, int32_t stream_id, uint32_t code);
void h2_goaway(struct str *out, int32_t last_id, uint32_t code, const char *text);
/* ":status 200" and the gRPC content type; then the trailers with a status. */
void h2_grpc_begin(struct str *out, int32_t stream_id);
void h2_grpc_end(struct str *out, int32_t stream_id, const char *status, const char *text);
