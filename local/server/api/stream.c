// SPDX-License-Identifier: Apache-2.0
/*   start ──> ready ──send──> in flight ──drained──> ready … ──finish──> end
 *
 * evhttp details this rests on (libevent 2.1): when the peer goes away in the middle of an answer, the
 * request is detached from its connection (evcon NULL), the close callback runs, and the request is freed
 * by evhttp_send_reply_end. */
#include "local/server/api/stream.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "local/server/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

enum { MAX_UNREAD_BYTES = 64 * 1024 };

struct api_stream {
	struct api_stream *prev, *next;
	struct server *server;
	struct evhttp_request *ev; /* NULL once it has ended */
	struct api_stream_callbacks callbacks;
	void *arg;
	bool is_in_flight;
	bool is_finishing;
	bool is_woken; /* a deferred call is on its way */
};

static void free_later(void *arg)
{
	free(arg);
}

static void stream_end(struct api_stream *s)
{
	DL_DELETE(s->server->streams, s);
	s->ev = NULL;
	s->callbacks.on_end(s->arg);
	if (!s->is_woken)
		net_loop_defer(s->server->loop, free_later, s);
}

static void on_close(struct evhttp_connection *con, void *arg)
{
	struct api_stream *s = arg;
	struct evhttp_request *ev = s->ev;
	(void)con;
	if (!ev)
		return;
	stream_end(s);
	if (!evhttp_request_get_connection(ev))
		evhttp_send_reply_end(ev);
}

static void finish_now(struct api_stream *s)
{
	struct evhttp_request *ev = s->ev;
	struct evhttp_connection *con = evhttp_request_get_connection(ev);
	if (con) {
		evhttp_connection_set_closecb(con, NULL, NULL);
		bufferevent_setwatermark(evhttp_connection_get_bufferevent(con), EV_READ, 0, 0);
	}
	stream_end(s);
	evhttp_send_reply_end(ev);
}

static void on_woken(void *arg)
{
	struct api_stream *s = arg;
	s->is_woken = false;
	if (!s->ev) {
		free(s);
		return;
	}
	if (s->is_finishing && !s->is_in_flight)
		finish_now(s);
	else if (api_stream_is_ready(s))
		s->callbacks.on_ready(s->arg, s);
}

void api_stream_wake(struct api_stream *s)
{
	if (s->is_woken)
		return;
	s->is_woken = true;
	net_loop_defer(s->server->loop, on_woken, s);
}

static void on_drained(struct evhttp_connection *con, void *arg)
{
	struct api_stream *s = arg;
	(void)con;
	s->is_in_flight = false;
	if (s->ev)
		api_stream_wake(s);
}

struct api_stream *api_stream_start(struct api_request *req, const char *type,
	const struct api_stream_callbacks *callbacks, void *arg)
{
	struct api_stream *s = x_calloc(1, sizeof *s);
	struct evhttp_connection *con = evhttp_request_get_connection(req->ev);
	s->server = req->server;
	s->ev = req->ev;
	s->callbacks = *callbacks;
	s->arg = arg;
	DL_APPEND(s->server->streams, s);
	api_request_add_headers(req, type);
	/* a stream is silent for as long as nothing happens; its own timer ends it */
	evhttp_connection_set_timeout(con, 2 * 3600);
	bufferevent_set_timeouts(evhttp_connection_get_bufferevent(con), NULL, NULL);
	/* evhttp goes on reading while it answers, to see the end: not without a limit */
	bufferevent_setwatermark(
		evhttp_connection_get_bufferevent(con), EV_READ, 0, MAX_UNREAD_BYTES);
	evhttp_connection_set_closecb(con, on_close, s);
	evhttp_send_reply_start(req->ev, 200, "OK");
	api_stream_wake(s);
	return s;
}

bool api_stream_is_ready(const struct api_stream *s)
{
	return s->ev && !s->is_in_flight && !s->is_finishing;
}

void api_stream_send(struct api_stream *s, struct evbuffer *buffer)
{
	if (evbuffer_get_length(buffer) == 0)
		return;
	s->is_in_flight = true;
	evhttp_send_reply_chunk_with_cb(s->ev, buffer, on_drained, s);
}

void api_stream_finish(struct api_stream *s)
{
	s->is_finishing = true;
	api_stream_wake(s);
}

void api_stream_wake_all(struct server *server)
{
	struct api_stream *s;
	DL_FOREACH(server->streams, s) {
		api_stream_wake(s);
	}
}

void api_stream_finish_all(struct server *server)
{
	struct api_stream *s, *next;
	DL_FOREACH_SAFE(server->streams, s, next) {
		finish_now(s);
	}
}
