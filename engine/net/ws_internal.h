// SPDX-License-Identifier: Apache-2.0
/* What ws.c (frames, life) and ws_handshake.c share. */
#pragma once

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/ws.h"

#include <wslay/wslay.h>

enum {
	WS_DEFAULT_MESSAGE_BYTES = 64 << 10,
	WS_MAX_HEADER_BYTES = 16 << 10,
	WS_REFUSAL_BYTES = 8 << 10,      /* of the body of a refusal */
	WS_QUEUE_HIGH_BYTES = 256 << 10, /* net_ws_send says no above */
	WS_QUEUE_LOW_BYTES = 64 << 10,
	WS_OUTPUT_MAX_BYTES = 2 * WS_QUEUE_HIGH_BYTES, /* with answers to pings */
	WS_READ_BYTES = 256 << 10,
	WS_RECORD_BYTES = 16 << 10, /* the largest of TLS */
	WS_KEY_BYTES = 25,          /* base64 of 16 bytes, and NUL */
};

enum net_ws_state { WS_HANDSHAKE, WS_REFUSED, WS_OPEN, WS_CLOSED };

struct net_ws {
	struct net_loop *loop;
	struct bufferevent *bev;
	wslay_event_context_ptr frames;
	enum net_ws_state state;
	char key[WS_KEY_BYTES];
	char *protocols; /* offered */
	char *protocol;  /* chosen */
	int refusal_status;
	size_t refusal_bytes; /* of its body, as announced; SIZE_MAX if not */
	int64_t ping_every_ms, pong_within_ms;
	struct net_loop_timer *timeout; /* handshake */
	struct net_loop_timer *ping;
	struct net_loop_timer *dead;
	void (*on_open)(void *arg);
	void (*on_message)(void *arg, struct slice bytes);
	void (*on_writable)(void *arg);
	void (*on_closed)(void *arg, const struct err *err, int close_code);
	void *arg;
	bool is_dead, is_paused, is_full, is_work_due;
	bool is_stuffed;  /* with answers to pings, by a peer that does not read: nor do we */
	bool is_awaiting; /* a byte, after a ping */
};

struct evbuffer;

/* Appends one masked binary frame. */
bool net_ws_frame_add(struct evbuffer *out, const void *bytes, size_t n);
/* Writes the request. False with *err if the options cannot be sent. */
bool net_ws_handshake_start(struct net_ws *ws, const struct net_ws_opts *opts, struct err *err);
/* Reads what has come. Sets the state to WS_OPEN or WS_REFUSED when it is known; false with *err
 * when this is no answer to a WebSocket handshake, or the refusal is complete. */
bool net_ws_handshake_read(struct net_ws *ws, bool is_end, struct err *err);
