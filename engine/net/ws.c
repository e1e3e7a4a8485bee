// SPDX-License-Identifier: Apache-2.0
/* A WebSocket client: wslay reads the frames and writes those of control, ws_frame.c writes the messages, the
 * bufferevent moves the bytes. wslay never keeps a part of a frame, so both can write into one queue.
 *
 *   HANDSHAKE -> OPEN -> CLOSED
 *            \-> REFUSED (reading the body of the answer) -> CLOSED
 */
#include "engine/net/ws_internal.h"

#include "engine/base/digest.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

static struct evbuffer *output_of(const struct net_ws *ws)
{
	return bufferevent_get_output(ws->bev);
}

static void closed(struct net_ws *ws, const struct err *err, int close_code)
{
	if (ws->state == WS_CLOSED || ws->is_dead)
		return;
	ws->state = WS_CLOSED;
	net_loop_timer_disarm(ws->timeout);
	net_loop_timer_disarm(ws->ping);
	net_loop_timer_disarm(ws->dead);
	bufferevent_disable(ws->bev, EV_READ);
	bufferevent_setcb(ws->bev, NULL, NULL, NULL, NULL);
	if (ws->on_closed != NULL)
		ws->on_closed(ws->arg, err, close_code);
}

static void fail(struct net_ws *ws, enum err_code code, const char *why)
{
	struct err err;
	err_set(&err, code, "%s", why);
	closed(ws, &err, 0);
}

/* --- wslay: bytes in, bytes out --- */

static ssize_t on_want_bytes(
	wslay_event_context_ptr frames, uint8_t *into, size_t room, int flags, void *arg)
{
	(void)flags;
	struct net_ws *ws = arg;
	int n = 0;
	if (evbuffer_get_length(output_of(ws)) >= WS_OUTPUT_MAX_BYTES)
		ws->is_stuffed = true; /* on_drained ends it */
	if (!ws->is_stuffed && !ws->is_paused && !ws->is_dead && ws->state == WS_OPEN)
		n = evbuffer_remove(bufferevent_get_input(ws->bev), into, room);
	if (n > 0)
		return n;
	wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_have_bytes(
	wslay_event_context_ptr frames, const uint8_t *bytes, size_t n, int flags, void *arg)
{
	(void)frames;
	(void)flags;
	struct net_ws *ws = arg;
	evbuffer_add(output_of(ws), bytes, n);
	return (ssize_t)n;
}

static int on_want_mask(wslay_event_context_ptr frames, uint8_t *into, size_t n, void *arg)
{
	(void)frames;
	(void)arg;
	digest_random(into, n);
	return 0;
}

static void on_frame_message(wslay_event_context_ptr frames,
	const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
	(void)frames;
	struct net_ws *ws = arg;
	if (ws->is_dead || ws->state != WS_OPEN || wslay_is_ctrl_frame(message->opcode))
		return;
	if (ws->on_message != NULL)
		ws->on_message(ws->arg,
			(struct slice){ (const char *)message->msg, message->msg_length });
}

/* --- work --- */

static void flush(struct net_ws *ws)
{
	if (ws->state != WS_OPEN || ws->is_dead)
		return;
	if (wslay_event_want_write(ws->frames) && wslay_event_send(ws->frames) != 0)
		fail(ws, ERR_PORTFWD_PROTOCOL, "a frame cannot be sent");
}

static void receive(struct net_ws *ws)
{
	if (ws->state != WS_OPEN || ws->is_dead || ws->is_paused)
		return;
	int rv = wslay_event_recv(ws->frames);
	if (ws->is_dead || ws->state != WS_OPEN)
		return;
	flush(ws); /* pongs, and the answer to a close */
	if (ws->is_stuffed && !ws->is_dead && ws->state == WS_OPEN)
		bufferevent_disable(ws->bev, EV_READ); /* until on_drained */
	if (rv != 0)
		fail(ws, ERR_PORTFWD_PROTOCOL, "a WebSocket frame that cannot be read");
	else if (wslay_event_get_close_received(ws->frames))
		closed(ws, NULL, (int)wslay_event_get_status_code_received(ws->frames));
	else if (!wslay_event_get_read_enabled(ws->frames))
		fail(ws, ERR_PORTFWD_PROTOCOL,
			"a WebSocket message is too large or breaks the protocol");
}

static void on_work(void *arg)
{
	struct net_ws *ws = arg;
	ws->is_work_due = false;
	receive(ws);
	flush(ws);
}

static void work_later(struct net_ws *ws)
{
	if (ws->is_work_due || ws->is_dead)
		return;
	ws->is_work_due = true;
	net_loop_defer(ws->loop, on_work, ws);
}

/* --- keeping an eye on the peer --- */

static void on_ping_due(void *arg)
{
	struct net_ws *ws = arg;
	struct wslay_event_msg ping = { .opcode = WSLAY_PING };
	wslay_event_queue_msg(ws->frames, &ping);
	flush(ws);
	/* while we do not read, silence means nothing */
	if (ws->state != WS_OPEN || ws->pong_within_ms <= 0 || ws->is_paused || ws->is_awaiting)
		return;
	ws->is_awaiting = true;
	net_loop_timer_arm(ws->dead, ws->pong_within_ms);
}

static void stop_awaiting(struct net_ws *ws)
{
	ws->is_awaiting = false;
	net_loop_timer_disarm(ws->dead);
}

static void on_silence(void *arg)
{
	fail(arg, ERR_CONN_LOST, "the WebSocket peer does not answer pings");
}

static void on_timeout(void *arg)
{
	struct net_ws *ws = arg;
	struct err err;
	if (ws->state == WS_REFUSED && !net_ws_handshake_read(ws, true, &err))
		closed(ws, &err, 0); /* its status is known, its body is late */
	else
		fail(ws, ERR_OP_TIMEOUT, "no answer to the WebSocket handshake in time");
}

/* --- the stream --- */

static void shake_hands(struct net_ws *ws, bool is_end)
{
	struct err err;
	if (!net_ws_handshake_read(ws, is_end, &err)) {
		closed(ws, &err, 0);
		return;
	}
	if (ws->state != WS_OPEN)
		return;
	net_loop_timer_disarm(ws->timeout);
	if (ws->ping_every_ms > 0)
		net_loop_timer_arm_every(ws->ping, ws->ping_every_ms);
	if (ws->on_open != NULL)
		ws->on_open(ws->arg);
}

/* libevent takes two TLS records a turn, and servers send small ones between the large; here the rest of what has
 * come is taken too. What goes wrong is found by libevent in the next turn. */
static void read_ahead(struct net_ws *ws)
{
	struct evbuffer *in = bufferevent_get_input(ws->bev);
	SSL *ssl = bufferevent_openssl_get_ssl(ws->bev);
	struct evbuffer_iovec space;
	int n = 1;
	if (ssl == NULL || ws->state != WS_OPEN || ws->is_dead || ws->is_paused ||
		ws->is_stuffed)
		return;
	while (n > 0 && evbuffer_get_length(in) < WS_READ_BYTES &&
		evbuffer_reserve_space(in, WS_RECORD_BYTES, &space, 1) == 1) {
		ERR_clear_error();
		n = SSL_read(ssl, space.iov_base, WS_RECORD_BYTES);
		space.iov_len = n > 0 ? (size_t)n : 0;
		if (n > 0)
			evbuffer_commit_space(in, &space, 1);
	}
	ERR_clear_error();
}

static void on_readable(struct bufferevent *bev, void *arg)
{
	(void)bev;
	struct net_ws *ws = arg;
	stop_awaiting(ws);
	if (ws->state == WS_HANDSHAKE || ws->state == WS_REFUSED)
		shake_hands(ws, false);
	read_ahead(ws);
	receive(ws);
}

static void on_drained(struct bufferevent *bev, void *arg)
{
	struct net_ws *ws = arg;
	if (ws->is_stuffed && !ws->is_paused)
		bufferevent_enable(bev, EV_READ);
	ws->is_stuffed = false;
	receive(ws);
	if (!ws->is_full || ws->state != WS_OPEN || ws->is_dead)
		return;
	ws->is_full = false;
	if (ws->on_writable != NULL)
		ws->on_writable(ws->arg);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	struct net_ws *ws = arg;
	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	int errnum = EVUTIL_SOCKET_ERROR();
	if (ws->state == WS_HANDSHAKE || ws->state == WS_REFUSED)
		shake_hands(ws, true);
	ws->is_paused = false; /* what came before the end is still wanted */
	receive(ws);
	if (ws->state == WS_OPEN && !ws->is_dead)
		fail(ws, ERR_CONN_LOST,
			what & BEV_EVENT_EOF ? "closed without a WebSocket close"
					     : evutil_socket_error_to_string(errnum));
}

/* --- for the user --- */

const char *net_ws_protocol(const struct net_ws *ws)
{
	return ws->protocol != NULL ? ws->protocol : "";
}

bool net_ws_has_room(struct net_ws *ws)
{
	if (ws->state != WS_OPEN || ws->is_dead)
		return false;
	ws->is_full = evbuffer_get_length(output_of(ws)) >= WS_QUEUE_HIGH_BYTES;
	return !ws->is_full;
}

bool net_ws_send(struct net_ws *ws, const void *bytes, size_t n)
{
	return net_ws_has_room(ws) && net_ws_frame_add(output_of(ws), bytes, n);
}

void net_ws_pause(struct net_ws *ws, bool paused)
{
	if (ws->is_paused == paused || ws->is_dead || ws->state == WS_CLOSED)
		return;
	ws->is_paused = paused;
	stop_awaiting(ws);
	if (paused) {
		bufferevent_disable(ws->bev, EV_READ);
	} else {
		if (!ws->is_stuffed)
			bufferevent_enable(ws->bev, EV_READ);
		work_later(ws); /* bytes may be waiting in the buffer */
	}
}

static void destroy(void *arg)
{
	struct net_ws *ws = arg;
	net_loop_timer_free(ws->timeout);
	net_loop_timer_free(ws->ping);
	net_loop_timer_free(ws->dead);
	wslay_event_context_free(ws->frames);
	bufferevent_free(ws->bev);
	free(ws->protocols);
	free(ws->protocol);
	free(ws);
}

void net_ws_free(struct net_ws *ws)
{
	if (ws == NULL || ws->is_dead)
		return;
	ws->is_dead = true;
	net_loop_timer_disarm(ws->timeout);
	net_loop_timer_disarm(ws->ping);
	net_loop_timer_disarm(ws->dead);
	bufferevent_setcb(ws->bev, NULL, NULL, NULL, NULL);
	bufferevent_disable(ws->bev, EV_READ | EV_WRITE);
	/* we may be inside wslay, and deferred work comes first */
	net_loop_defer(ws->loop, destroy, ws);
}

struct net_ws *net_ws_new_take(struct net_loop *loop, struct bufferevent *bev,
	const struct net_ws_opts *opts, struct err *err)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_want_bytes,
		.send_callback = on_have_bytes,
		.genmask_callback = on_want_mask,
		.on_msg_recv_callback = on_frame_message,
	};
	struct net_ws *ws = x_calloc(1, sizeof *ws);
	ws->loop = loop;
	ws->bev = bev;
	ws->protocols = x_strdup(opts->protocols);
	ws->ping_every_ms = opts->ping_every_ms;
	ws->pong_within_ms = opts->pong_within_ms;
	ws->on_open = opts->on_open;
	ws->on_message = opts->on_message;
	ws->on_writable = opts->on_writable;
	ws->on_closed = opts->on_closed;
	ws->arg = opts->arg;
	ws->timeout = net_loop_timer_new(loop, on_timeout, ws);
	ws->ping = net_loop_timer_new(loop, on_ping_due, ws);
	ws->dead = net_loop_timer_new(loop, on_silence, ws);
	if (wslay_event_context_client_init(&ws->frames, &callbacks, ws) != 0)
		abort();
	wslay_event_config_set_max_recv_msg_length(ws->frames,
		opts->max_message_bytes ? opts->max_message_bytes : WS_DEFAULT_MESSAGE_BYTES);
	if (!net_ws_handshake_start(ws, opts, err)) {
		destroy(ws);
		return NULL;
	}
	if (opts->timeout_ms > 0)
		net_loop_timer_arm(ws->timeout, opts->timeout_ms);
	bufferevent_setcb(bev, on_readable, on_drained, on_event, ws);
	bufferevent_setwatermark(bev, EV_READ, 0, WS_READ_BYTES);
	bufferevent_setwatermark(bev, EV_WRITE, WS_QUEUE_LOW_BYTES, 0);
	bufferevent_set_max_single_read(bev, WS_READ_BYTES);
	bufferevent_set_max_single_write(bev, WS_READ_BYTES);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
	return ws;
}
