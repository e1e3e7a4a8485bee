// SPDX-License-Identifier: Apache-2.0
/* An answer that goes on: chunked, with back-pressure. One chunk is on its way at a time; when it has left,
 * on_ready asks for more. So a client that does not read costs one chunk of memory. */
#pragma once

#include "local/server/api/request.h"

struct evbuffer;
struct stream;

struct stream_callbacks {
	/* The stream may send (also once after the start, and after stream_wake). */
	void (*on_ready)(void *arg, struct stream *stream);
	/* Exactly once, when it has ended for whatever reason: free arg here. */
	void (*on_end)(void *arg);
};
/* Answers 200 with type. req may be deinit-ed after this. */
struct stream *stream_start(struct request *req, const char *type,
	const struct stream_callbacks *callbacks, void *arg);
bool stream_is_ready(const struct stream *stream);
/* Sends what is in buffer (emptied). Only while ready. */
void stream_send(struct stream *stream, struct evbuffer *buffer);
/* Ends the body after what was sent; on_end follows. Allowed in on_ready. */
void stream_finish(struct stream *stream);
/* Calls on_ready at the end of the turn if the stream is ready. */
void stream_wake(struct stream *stream);
void stream_finish_all(struct server *server);
void stream_wake_all(struct server *server);
