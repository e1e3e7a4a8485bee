// SPDX-License-Identifier: Apache-2.0
#include "local/server/api/mux.h"

#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/status.h"
#include "local/server/api/upgrade.h"
#include "local/server/api/ws.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

enum { MAX_MESSAGE_BYTES = 32 << 10, CHANNEL_CLOSE = 255, NO_CHANNEL = -1 };

struct api_mux {
	struct api_upgrade *upgrade;
	struct api_ws *ws;       /* NULL: SPDY on the connection itself */
	struct api_spdy *spdy;   /* NULL: channels */
	struct evbuffer *tunnel; /* SPDY that becomes messages; NULL: it goes out as it is */
	struct api_mux_callbacks callbacks;
	void *arg;
	int channel;          /* of the message that comes; NO_CHANNEL: not known yet */
	bool closes_channels; /* v5: channel 255 says which one sends no more */
	bool is_closing;
};

/* ---- what is asked for ---- */

static const char *choose_of_line(const char *offered, const char *const *ours)
{
	for (const char *p = offered; *p;) {
		p += strspn(p, " \t,");
		size_t n = strcspn(p, " \t,");
		for (size_t i = 0; ours[i]; i++)
			if (strlen(ours[i]) == n && strncmp(p, ours[i], n) == 0)
				return ours[i];
		p += n;
	}
	return NULL;
}

/* The first of the client's list that is in ours; NULL. The list may be several headers. */
static const char *choose(
	const struct api_request *req, const char *header, const char *const *ours)
{
	const struct evkeyval *pair;
	const char *chosen = NULL;
	TAILQ_FOREACH(pair, evhttp_request_get_input_headers(req->ev), next)
	{
		if (!chosen && ours && strcasecmp(pair->key, header) == 0)
			chosen = choose_of_line(pair->value, ours);
	}
	return chosen;
}

static const char *choose_websocket(
	const struct api_request *req, const struct api_mux_opts *opts, bool *is_tunnel)
{
	const char *tunnel[] = { opts->tunnel_protocol, NULL };
	const char *offered = api_request_header(req, "Sec-WebSocket-Protocol");
	const char *chosen = choose(req, "Sec-WebSocket-Protocol", tunnel);
	*is_tunnel = chosen != NULL;
	if (!chosen && (!offered || !*offered))
		return "";
	return chosen ? chosen : choose(req, "Sec-WebSocket-Protocol", opts->channel_protocols);
}

static void add_header(struct api_request *req, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(req->ev), name, value);
}

/* As golang.org/x/net/websocket: no body. */
static bool refuse(struct api_request *req, int code)
{
	add_header(req, "Connection", "close");
	api_request_reply_text(req, code, "");
	return false;
}

static bool is_acceptable_websocket(struct api_request *req, const struct api_mux_opts *opts)
{
	char accept[WS_ACCEPT_BYTES];
	bool is_tunnel;
	const char *version = api_request_header(req, "Sec-WebSocket-Version");
	if (!version || strcmp(version, "13") != 0) {
		add_header(req, "Sec-WebSocket-Version", "13");
		return refuse(req, 400);
	}
	if (!api_ws_accept(api_request_header(req, "Sec-WebSocket-Key"), accept))
		return refuse(req, 400);
	return choose_websocket(req, opts, &is_tunnel) ? true : refuse(req, 403);
}

static bool is_acceptable_spdy(struct api_request *req, const struct api_mux_opts *opts)
{
	const char *offered = api_request_header(req, "X-Stream-Protocol-Version");
	if (!offered || !*offered) {
		api_request_reply_text(
			req, 400, "unable to upgrade: X-Stream-Protocol-Version is required\n");
		return false;
	}
	if (choose(req, "X-Stream-Protocol-Version", opts->spdy_protocols))
		return true;
	struct str text;
	str_init(&text, 1024);
	str_addf(&text,
		"unable to upgrade: unable to negotiate protocol: client supports [%s], server"
		" accepts [",
		offered);
	for (size_t i = 0; opts->spdy_protocols[i]; i++) {
		add_header(req, "X-Accepted-Stream-Protocol-Versions", opts->spdy_protocols[i]);
		str_addf(&text, "%s%s", i ? " " : "", opts->spdy_protocols[i]);
	}
	str_add(&text, "]\n");
	api_request_reply_text(req, 403, text.p);
	str_deinit(&text);
	return false;
}

bool api_mux_is_acceptable(struct api_request *req, const struct api_mux_opts *opts)
{
	if (req->method == EVHTTP_REQ_GET && api_upgrade_is_to(req, "websocket"))
		return is_acceptable_websocket(req, opts);
	if (api_upgrade_is_to(req, "SPDY/3.1"))
		return is_acceptable_spdy(req, opts);
	api_request_fail_take(req, k8s_status_bad_request("Upgrade request required"));
	return false;
}

bool api_mux_asks_channels(const struct api_request *req, const struct api_mux_opts *opts)
{
	bool is_tunnel = false;
	return api_upgrade_is_to(req, "websocket") && choose_websocket(req, opts, &is_tunnel) &&
	       !is_tunnel;
}

/* ---- what comes ---- */

/* What SPDY has written since, as messages. */
static void flush_tunnel(struct api_mux *m)
{
	size_t n;
	while (m->tunnel && (n = evbuffer_get_length(m->tunnel)) > 0) {
		if (n > MAX_MESSAGE_BYTES)
			n = MAX_MESSAGE_BYTES;
		api_ws_send(m->ws, NULL, 0, evbuffer_pullup(m->tunnel, (ev_ssize_t)n), n);
		evbuffer_drain(m->tunnel, n);
	}
}

static bool on_spdy_stream(void *arg, uint32_t id, const struct api_spdy_headers *headers)
{
	struct api_mux *m = arg;
	return !m->is_closing && m->callbacks.on_stream(m->arg, id, headers);
}

static void on_spdy_data(void *arg, uint32_t id, const void *bytes, size_t n)
{
	struct api_mux *m = arg;
	if (!m->is_closing)
		m->callbacks.on_data(m->arg, id, bytes, n);
}

static void on_spdy_fin(void *arg, uint32_t id)
{
	struct api_mux *m = arg;
	if (!m->is_closing)
		m->callbacks.on_fin(m->arg, id);
}

static void on_spdy_reset(void *arg, uint32_t id)
{
	struct api_mux *m = arg;
	if (!m->is_closing)
		m->callbacks.on_reset(m->arg, id);
}

static void on_goaway(void *arg)
{
	(void)arg; /* its connection ends soon; until then streams go on */
}

static void on_broken(struct api_mux *m, const struct err *err)
{
	LOG("api", LOG_DEBUG, "an upgraded connection: %s", err->msg);
	api_mux_close(m);
}

static void on_piece(void *arg, const void *bytes, size_t n, bool is_begin, bool is_text)
{
	struct api_mux *m = arg;
	struct err err = { 0 };
	const unsigned char *at = bytes;
	(void)is_text;
	if (m->is_closing)
		return;
	if (m->spdy) {
		if (!api_spdy_receive(m->spdy, bytes, n, &err))
			on_broken(m, &err);
		return;
	}
	if (is_begin)
		m->channel = NO_CHANNEL;
	if (n == 0)
		return;
	if (m->channel == NO_CHANNEL) {
		m->channel = *at++;
		n--;
	}
	if (n == 0)
		return;
	if (m->channel == CHANNEL_CLOSE && m->closes_channels)
		m->callbacks.on_fin(m->arg, *at);
	else
		m->callbacks.on_data(m->arg, (uint32_t)m->channel, at, n);
}

static void on_ws_close(void *arg)
{
	api_mux_close(arg);
}

static void on_bytes(void *arg, struct evbuffer *in)
{
	struct api_mux *m = arg;
	struct err err = { 0 };
	if (m->ws) {
		bool ok = api_ws_receive(m->ws, in, &err);
		flush_tunnel(m);
		if (!ok)
			on_broken(m, &err);
		return;
	}
	size_t n = evbuffer_get_length(in);
	const unsigned char *bytes = evbuffer_pullup(in, -1);
	bool ok = api_spdy_receive(m->spdy, bytes, n, &err);
	evbuffer_drain(in, n);
	if (!ok)
		on_broken(m, &err);
}

static void on_room(void *arg)
{
	struct api_mux *m = arg;
	if (!m->is_closing)
		m->callbacks.on_room(m->arg);
}

static void on_end(void *arg)
{
	struct api_mux *m = arg;
	m->is_closing = true;
	m->callbacks.on_end(m->arg);
	api_ws_free(m->ws);
	api_spdy_free(m->spdy);
	if (m->tunnel)
		evbuffer_free(m->tunnel);
	free(m);
}

/* ---- opening ---- */

static struct api_upgrade *take_websocket(
	struct api_request *req, const char *protocol, struct api_mux *m)
{
	static const struct api_upgrade_callbacks callbacks = { on_bytes, on_room, on_end };
	char accept[WS_ACCEPT_BYTES];
	api_ws_accept(api_request_header(req, "Sec-WebSocket-Key"), accept);
	char *lines = x_asprintf("Upgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n"
				 "Sec-WebSocket-Protocol: %s\r\n",
		accept, protocol);
	struct api_upgrade *u = api_upgrade_take(req, lines, &callbacks, m);
	free(lines);
	return u;
}

static struct api_upgrade *take_spdy(
	struct api_request *req, const struct api_mux_opts *opts, struct api_mux *m)
{
	static const struct api_upgrade_callbacks callbacks = { on_bytes, on_room, on_end };
	char *lines = x_asprintf("Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: %s\r\n",
		choose(req, "X-Stream-Protocol-Version", opts->spdy_protocols));
	struct api_upgrade *u = api_upgrade_take(req, lines, &callbacks, m);
	free(lines);
	return u;
}

struct api_mux *api_mux_open(
	struct api_request *req, const struct api_mux_opts *opts, void *arg)
{
	static const struct api_ws_callbacks ws_callbacks = { on_piece, on_ws_close };
	static const struct api_spdy_callbacks spdy_callbacks = { on_spdy_stream, on_spdy_data,
		on_spdy_fin, on_spdy_reset, on_goaway };
	struct api_mux *m = x_calloc(1, sizeof *m);
	m->callbacks = *opts->callbacks;
	m->arg = arg;
	m->channel = NO_CHANNEL;
	bool is_websocket = api_upgrade_is_to(req, "websocket"), is_tunnel = false;
	const char *protocol = is_websocket ? choose_websocket(req, opts, &is_tunnel) : NULL;
	m->closes_channels = protocol && strncmp(protocol, "v5.", 3) == 0;
	m->upgrade = is_websocket ? take_websocket(req, protocol, m) : take_spdy(req, opts, m);
	if (!m->upgrade) {
		free(m);
		return NULL;
	}
	struct evbuffer *out = api_upgrade_output(m->upgrade);
	if (is_websocket)
		m->ws = api_ws_new(out, &ws_callbacks, m);
	if (is_tunnel)
		m->tunnel = evbuffer_new();
	if (is_tunnel || !is_websocket)
		m->spdy = api_spdy_new(is_tunnel ? m->tunnel : out, &spdy_callbacks, m);
	return m;
}

bool api_mux_is_spdy(const struct api_mux *m)
{
	return m->spdy != NULL;
}

/* ---- what is sent ---- */

bool api_mux_has_room(struct api_mux *m)
{
	return !m->is_closing && api_upgrade_has_room(m->upgrade);
}

static void send_channel(struct api_mux *m, uint32_t id, const unsigned char *bytes, size_t n)
{
	unsigned char channel = (unsigned char)id;
	do {
		size_t part = n > MAX_MESSAGE_BYTES ? MAX_MESSAGE_BYTES : n;
		api_ws_send(m->ws, &channel, 1, bytes, part);
		bytes += part;
		n -= part;
	} while (n > 0);
}

void api_mux_send(struct api_mux *m, uint32_t id, const void *bytes, size_t n)
{
	if (m->is_closing || n == 0)
		return;
	if (m->spdy)
		api_spdy_send(m->spdy, id, bytes, n, false);
	else
		send_channel(m, id, bytes, n);
	flush_tunnel(m);
}

void api_mux_fin(struct api_mux *m, uint32_t id)
{
	if (m->is_closing || !m->spdy)
		return;
	api_spdy_send(m->spdy, id, "", 0, true);
	flush_tunnel(m);
}

void api_mux_reset(struct api_mux *m, uint32_t id)
{
	if (m->is_closing || !m->spdy)
		return;
	api_spdy_reset(m->spdy, id);
	flush_tunnel(m);
}

void api_mux_pause(struct api_mux *m, bool is_paused)
{
	if (!m->is_closing)
		api_upgrade_pause(m->upgrade, is_paused);
}

void api_mux_close(struct api_mux *m)
{
	if (m->is_closing)
		return;
	m->is_closing = true;
	if (m->ws)
		api_ws_close(m->ws, 1000);
	api_upgrade_finish(m->upgrade);
}
