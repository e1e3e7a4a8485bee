// SPDX-License-Identifier: Apache-2.0
/* Several streams of bytes over one upgraded connection, however the client asked for it:
 *
 *   channels   WebSocket messages whose first byte is the channel (*.channel.k8s.io). The stream's number is the channel; all
 *              exist from the begin.
 *   SPDY       streams that the client opens, over the connection itself (POST, Upgrade: SPDY/3.1) or as the bytes of
 *              WebSocket messages (SPDY/3.1+portforward.k8s.io)
 *
 * Nothing is queued: whoever sends looks at api_mux_has_room first, and who cannot take more calls api_mux_pause, which stops
 * the whole connection, as none of the protocols has flow control. */
#pragma once

#include "local/server/api/request.h"
#include "local/server/api/spdy.h"

struct api_mux;

struct api_mux_callbacks {
	/* SPDY: the client opens a stream; false: refused. */
	bool (*on_stream)(void *arg, uint32_t id, const struct api_spdy_headers *headers);
	/* of any number: whoever listens knows which there are */
	void (*on_data)(void *arg, uint32_t id, const void *bytes, size_t n);
	void (*on_fin)(void *arg, uint32_t id); /* the client sends no more on it */
	void (*on_reset)(void *arg, uint32_t id);
	void (*on_room)(void *arg);
	void (*on_end)(void *arg); /* exactly once; mux is gone after it */
};

struct api_mux_opts {
	/* Each a list that ends with NULL, or NULL: refused. */
	const char *const *
		channel_protocols; /* of WebSocket; the first is spoken when none is asked for */
	const char *tunnel_protocol; /* SPDY in WebSocket; chosen first when it is offered */
	const char *const *spdy_protocols; /* X-Stream-Protocol-Version */
	const struct api_mux_callbacks *callbacks;
};

/* Whether the request asks for an upgrade that could be had; else it was answered with what is wrong. */
bool api_mux_is_acceptable(struct api_request *req, const struct api_mux_opts *opts);
/* An acceptable request means channels. */
bool api_mux_asks_channels(const struct api_request *req, const struct api_mux_opts *opts);
/* Of an acceptable request. NULL: it was answered with an error. */
struct api_mux *api_mux_open(
	struct api_request *req, const struct api_mux_opts *opts, void *arg);
bool api_mux_is_spdy(const struct api_mux *mux);
bool api_mux_has_room(struct api_mux *mux);
void api_mux_send(struct api_mux *mux, uint32_t id, const void *bytes, size_t n);
void api_mux_fin(struct api_mux *mux, uint32_t id);   /* channels have none: nothing is sent */
void api_mux_reset(struct api_mux *mux, uint32_t id); /* SPDY alone */
void api_mux_pause(struct api_mux *mux, bool is_paused);
void api_mux_close(struct api_mux *mux); /* in order, after what was sent; on_end follows */
