// SPDX-License-Identifier: Apache-2.0
/* WebSocket frames (RFC 6455, sections 5 and 7), the server's side, without I/O. A message is told in pieces as they come, of
 * whatever length it is; pings are answered, a close is answered and told. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
struct evbuffer;
struct api_ws;

enum { WS_ACCEPT_BYTES = 29 }; /* base64 of a SHA-1, and NUL */

struct api_ws_callbacks {
	/* bytes: borrowed; may come with n 0 at the begin of a message. */
	void (*on_piece)(void *arg, const void *bytes, size_t n, bool is_begin, bool is_text);
	void (*on_close)(void *arg); /* the client ends: what is in out is the last */
};

/* Of Sec-WebSocket-Key. False: it is none. */
bool api_ws_accept(const char *key, char out[WS_ACCEPT_BYTES]);

/* What is to be sent is added to out (borrowed). */
struct api_ws *api_ws_new(
	struct evbuffer *out, const struct api_ws_callbacks *callbacks, void *arg);
void api_ws_free(struct api_ws *ws);
/* Takes from in what it can. Errors: ERR_PORTFWD_PROTOCOL. */
bool api_ws_receive(struct api_ws *ws, struct evbuffer *in, struct err *err);
/* One binary message of the two pieces. */
void api_ws_send(
	struct api_ws *ws, const void *head, size_t head_n, const void *bytes, size_t n);
void api_ws_close(struct api_ws *ws, unsigned code); /* 1000: in order */
