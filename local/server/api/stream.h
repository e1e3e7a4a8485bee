// SPDX-License-Identifier: Apache-2.0
/* An answer that goes on: chunked, with back-pressure. One chunk is on its way at a time; when it has left,
 * on_ready asks for more. So a client that does not read costs one chunk of memory. */
#pragma once

#include "local/server/api/request.h"

struct evbuffer;
struct api_stream;

struct api_stream_callbacks {
	/* The stream may send (also once after the start, and after stream_wake). */
	void (*on_ready)(void *arg, struct api_stream *stream);
	/* Exactly once, when it has ended for whatever reason: free arg here. */
	void (*on_end)(void *arg);
};
/* Answers 200 with type. req may be deinit-ed after this. */
struct api_stream *api_stream_start(struct api_request *req, const char *type,
	const struct api_stream_callbacks *callbacks, void *arg);
bool api_stream_is_ready(const struct api_stream *stream);
/* Sends what is in buffer (emptied). Only while ready. */
void api_stream_send(struct api_stream *stream, struct evbuffer *buffer);
/* Ends the body after what was sent; on_end follows. Allowed in on_ready. */
void api_stream_finish(struct api_stream *stream);
/* Calls on_ready at the end of the turn if the stream is ready. */
void api_stream_wake(struct api_stream *stream);
void api_stream_finish_all(struct server *server);
void api_stream_wake_all(struct server *server);
