// SPDX-License-Identifier: Apache-2.0
/*   client ═ mux ═ leg: {stream of bytes, stream for an error} ─ TCP ─ port proxy of the sandbox
 *
 * Back-pressure: a leg is read from while the client's connection has room; a daemon that does not read stops the client's
 * whole connection, since none of the protocols can stop one stream.
 *
 * Channels (v4.channel.k8s.io): port i of the query has channels 2i and 2i + 1, whose first message is the port. SPDY: a pair
 * of streams with the same requestid. Names and words are those of the kubelet (pkg/kubelet/cri/streaming/portforward). */
#include "local/server/api/portforward.h"

#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/str.h"
#include "engine/k8s/status.h"
#include "engine/net/loop.h"
#include "local/server/api/mux.h"
#include "local/server/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

enum {
	MAX_PORTS = 32,  /* of one WebSocket with channels */
	MAX_LEGS = 128,  /* of one SPDY connection */
	PAIR_MS = 30000, /* between the two streams of a pair */
	LEG_READ_BYTES = 64 << 10,
	LEG_HIGH_BYTES = 256 << 10,
	LEG_LOW_BYTES = 64 << 10,
	PIECE_BYTES = 32 << 10,
};

struct leg {
	struct leg *prev, *next;
	struct forward *forward;
	char request_id[SPDY_VALUE_BYTES];
	uint16_t port;
	uint32_t data_id, error_id;
	bool has_data, has_error;
	struct bufferevent *bev; /* NULL: not connected (yet) */
	struct net_loop_timer *pair_timer;
	bool is_fin_owed; /* to the daemon, after what is queued */
	bool is_eof;      /* of the daemon */
	bool is_stuffed;  /* it stops the client's connection */
	bool is_dead;     /* freed at the end of the turn */
};

struct forward {
	struct server *server;
	struct api_mux *mux; /* NULL: it has ended */
	char *pod_name, *pod_uid;
	struct leg *legs;
	size_t n_legs;
	bool is_sweep_due;
};

/* ---- legs ---- */

static void leg_free(struct leg *leg)
{
	DL_DELETE(leg->forward->legs, leg);
	leg->forward->n_legs--;
	net_loop_timer_free(leg->pair_timer);
	if (leg->bev)
		bufferevent_free(leg->bev);
	free(leg);
}

static void forward_free(struct forward *f)
{
	free(f->pod_name);
	free(f->pod_uid);
	free(f);
}

static void leg_connect(struct leg *leg);

/* At the end of a turn: those that are complete are connected, those that have ended are freed. */
static void sweep(void *arg)
{
	struct forward *f = arg;
	struct leg *leg, *next;
	f->is_sweep_due = false;
	DL_FOREACH_SAFE(f->legs, leg, next) {
		if (leg->is_dead)
			leg_free(leg);
		else if (leg->has_data && leg->has_error && !leg->bev)
			leg_connect(leg);
	}
	if (!f->mux)
		forward_free(f);
	else if (!f->legs && !api_mux_is_spdy(f->mux))
		api_mux_close(f->mux); /* its last port has ended */
}

static void sweep_later(struct forward *f)
{
	if (f->is_sweep_due)
		return;
	f->is_sweep_due = true;
	net_loop_defer(f->server->loop, sweep, f);
}

static void update_pause(struct forward *f)
{
	struct leg *leg;
	bool is_stuffed = false;
	DL_FOREACH(f->legs, leg) {
		is_stuffed = is_stuffed || (leg->is_stuffed && !leg->is_dead);
	}
	if (f->mux)
		api_mux_pause(f->mux, is_stuffed);
}

static void leg_end(struct leg *leg)
{
	if (leg->is_dead)
		return;
	leg->is_dead = true;
	if (leg->bev) {
		bufferevent_setcb(leg->bev, NULL, NULL, NULL, NULL);
		bufferevent_disable(leg->bev, EV_READ | EV_WRITE);
	}
	net_loop_timer_disarm(leg->pair_timer);
	update_pause(leg->forward);
	sweep_later(leg->forward);
}

/* Both streams end, the one for errors last, with these words or without. */
static void leg_finish(struct leg *leg, struct slice words)
{
	struct api_mux *mux = leg->forward->mux;
	if (leg->is_dead || !mux)
		return;
	api_mux_fin(mux, leg->data_id);
	api_mux_send(mux, leg->error_id, words.p, words.n);
	api_mux_fin(mux, leg->error_id);
	leg_end(leg);
}

static void leg_fail(struct leg *leg, const struct err *err)
{
	struct str words;
	struct forward *f = leg->forward;
	str_init(&words, 1024);
	str_addf(&words, "error forwarding port %u to pod %s, uid %s: %s", leg->port,
		f->pod_name, f->pod_uid, err->msg);
	leg_finish(leg, (struct slice){ words.p, words.n });
	str_deinit(&words);
}

static void leg_move(struct leg *leg)
{
	struct evbuffer *in = bufferevent_get_input(leg->bev);
	struct api_mux *mux = leg->forward->mux;
	size_t n;
	while (mux && (n = evbuffer_get_length(in)) > 0 && api_mux_has_room(mux)) {
		if (n > PIECE_BYTES)
			n = PIECE_BYTES;
		api_mux_send(mux, leg->data_id, evbuffer_pullup(in, (ev_ssize_t)n), n);
		evbuffer_drain(in, n);
	}
	if (leg->is_eof && evbuffer_get_length(in) == 0)
		leg_finish(leg, slice_of(""));
}

static void on_leg_read(struct bufferevent *bev, void *arg)
{
	(void)bev;
	leg_move(arg);
}

static void on_leg_written(struct bufferevent *bev, void *arg)
{
	struct leg *leg = arg;
	size_t n = evbuffer_get_length(bufferevent_get_output(bev));
	if (leg->is_stuffed && n <= LEG_LOW_BYTES) {
		leg->is_stuffed = false;
		update_pause(leg->forward);
	}
	if (leg->is_fin_owed && n == 0) {
		leg->is_fin_owed = false;
		shutdown(bufferevent_getfd(bev), SHUT_WR);
	}
}

static void on_leg_event(struct bufferevent *bev, short what, void *arg)
{
	struct leg *leg = arg;
	struct err err = { 0 };
	if (what & BEV_EVENT_CONNECTED)
		return;
	leg->is_eof = true;
	if (what & BEV_EVENT_ERROR && evbuffer_get_length(bufferevent_get_input(bev)) == 0) {
		err_set_errno(&err, EVUTIL_SOCKET_ERROR(), "the daemon");
		leg_fail(leg, &err);
	} else {
		leg_move(leg);
	}
}

static void leg_connect(struct leg *leg)
{
	struct err err = { 0 };
	struct server *s = leg->forward->server;
	net_loop_timer_disarm(leg->pair_timer);
	int fd = s->pods ? s->pods->connect(s, leg->forward->pod_uid, leg->port, &err) : -1;
	if (fd < 0) {
		leg_fail(leg, &err);
		return;
	}
	leg->bev = bufferevent_socket_new(
		net_loop_base(s->loop), fd, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (!leg->bev)
		abort(); /* out of memory, as elsewhere */
	bufferevent_setcb(leg->bev, on_leg_read, on_leg_written, on_leg_event, leg);
	bufferevent_setwatermark(leg->bev, EV_READ, 0, LEG_READ_BYTES);
	bufferevent_enable(leg->bev, EV_READ | EV_WRITE);
}

static void on_pair_timeout(void *arg)
{
	struct leg *leg = arg;
	if (leg->forward->mux)
		api_mux_reset(leg->forward->mux, leg->has_data ? leg->data_id : leg->error_id);
	leg_end(leg);
}

static struct leg *leg_new(struct forward *f, uint16_t port)
{
	struct leg *leg = x_calloc(1, sizeof *leg);
	leg->forward = f;
	leg->port = port;
	leg->pair_timer = net_loop_timer_new(f->server->loop, on_pair_timeout, leg);
	DL_APPEND(f->legs, leg);
	f->n_legs++;
	return leg;
}

/* ---- what the client does ---- */

static struct leg *leg_of(struct forward *f, uint32_t id)
{
	struct leg *leg;
	DL_FOREACH(f->legs, leg) {
		if (!leg->is_dead && ((leg->has_data && leg->data_id == id) ||
					     (leg->has_error && leg->error_id == id)))
			return leg;
	}
	return NULL;
}

/* Clients before requestid: the data stream follows its error stream. */
static void request_id_of(uint32_t id, bool is_data, const struct api_spdy_headers *headers,
	char out[SPDY_VALUE_BYTES])
{
	if (headers->request_id[0])
		snprintf(out, SPDY_VALUE_BYTES, "%s", headers->request_id);
	else
		snprintf(out, SPDY_VALUE_BYTES, "%u", is_data ? id - 2 : id);
}

static bool on_stream(void *arg, uint32_t id, const struct api_spdy_headers *headers)
{
	struct forward *f = arg;
	struct leg *leg, *pair = NULL;
	char request_id[SPDY_VALUE_BYTES];
	int64_t port;
	bool is_data = strcmp(headers->type, "data") == 0;
	bool is_error = strcmp(headers->type, "error") == 0;
	if (!(is_data || is_error) || !num_parse_i64(headers->port, 1, 65535, &port) ||
		leg_of(f, id))
		return false;
	request_id_of(id, is_data, headers, request_id);
	DL_FOREACH(f->legs, leg) {
		if (!leg->is_dead && strcmp(leg->request_id, request_id) == 0)
			pair = leg;
	}
	if (pair && (is_data ? pair->has_data : pair->has_error))
		return false;
	if (!pair && f->n_legs >= MAX_LEGS)
		return false;
	if (!pair) {
		pair = leg_new(f, (uint16_t)port);
		memcpy(pair->request_id, request_id, sizeof request_id);
		net_loop_timer_arm(pair->pair_timer, PAIR_MS);
	}
	*(is_data ? &pair->data_id : &pair->error_id) = id;
	*(is_data ? &pair->has_data : &pair->has_error) = true;
	sweep_later(f); /* the answer to this stream goes out before anything on it */
	return true;
}

/* Bytes may come in the same turn as the second stream. */
static void connect_if_paired(struct leg *leg)
{
	if (leg->has_data && leg->has_error && !leg->bev)
		leg_connect(leg);
}

static void on_data(void *arg, uint32_t id, const void *bytes, size_t n)
{
	struct leg *leg = leg_of(arg, id);
	if (!leg || id != leg->data_id)
		return; /* nothing is expected on the other one */
	connect_if_paired(leg);
	if (leg->is_dead || leg->is_fin_owed)
		return;
	if (!leg->bev) { /* bytes before the pair is there: no client does that */
		api_mux_reset(leg->forward->mux, id);
		leg_end(leg);
		return;
	}
	struct evbuffer *out = bufferevent_get_output(leg->bev);
	evbuffer_add(out, bytes, n);
	if (evbuffer_get_length(out) > LEG_HIGH_BYTES && !leg->is_stuffed) {
		leg->is_stuffed = true;
		bufferevent_setwatermark(leg->bev, EV_WRITE, LEG_LOW_BYTES, 0);
		update_pause(leg->forward);
	}
}

static void on_fin(void *arg, uint32_t id)
{
	struct leg *leg = leg_of(arg, id);
	if (!leg || id != leg->data_id || !leg->has_data)
		return;
	connect_if_paired(leg);
	if (leg->is_dead || !leg->bev)
		return;
	leg->is_fin_owed = true;
	bufferevent_setwatermark(leg->bev, EV_WRITE, 0, 0);
	if (evbuffer_get_length(bufferevent_get_output(leg->bev)) == 0)
		on_leg_written(leg->bev, leg);
}

static void on_reset(void *arg, uint32_t id)
{
	struct leg *leg = leg_of(arg, id);
	if (leg)
		leg_end(leg);
}

static void on_room(void *arg)
{
	struct forward *f = arg;
	struct leg *leg, *next;
	DL_FOREACH_SAFE(f->legs, leg, next) {
		if (!leg->is_dead && leg->bev)
			leg_move(leg);
	}
}

static void on_end(void *arg)
{
	struct forward *f = arg;
	struct leg *leg;
	f->mux = NULL;
	DL_FOREACH(f->legs, leg) {
		leg_end(leg);
	}
	sweep_later(f);
}

/* ---- the request ---- */

/* "ports" may come again and again, or be a list with commas. Number of them; 0: the request was answered. */
static int parse_ports(struct api_request *req, uint16_t ports[MAX_PORTS])
{
	const struct evkeyval *pair;
	int n = 0;
	TAILQ_FOREACH(pair, &req->query, next)
	{
		for (const char *p = pair->value; strcmp(pair->key, "ports") == 0 && *p;) {
			char text[8];
			int64_t port;
			size_t length = strcspn(p, ",");
			snprintf(text, sizeof text, "%.*s", (int)(length < 8 ? length : 7), p);
			if (n == MAX_PORTS || !num_parse_i64(text, 0, 65535, &port)) {
				api_request_fail_take(req,
					k8s_status_bad_request(
						"cannot convert to []int32: \"%s\"", text));
				return 0;
			}
			if (port == 0) {
				api_request_reply_text(req, 400, "port \"0\" must be > 0");
				return 0;
			}
			ports[n++] = (uint16_t)port;
			p += length + (p[length] == ',');
		}
	}
	if (n == 0)
		api_request_reply_text(req, 400, "query parameter \"port\" is required");
	return n;
}

static void open_channels(struct forward *f, const uint16_t *ports, int n)
{
	for (int i = 0; i < n; i++) {
		struct leg *leg = leg_new(f, ports[i]);
		const unsigned char port[2] = { (unsigned char)(ports[i] & 0xff),
			(unsigned char)(ports[i] >> 8) };
		leg->data_id = (uint32_t)(2 * i);
		leg->error_id = (uint32_t)(2 * i + 1);
		leg->has_data = leg->has_error = true;
		api_mux_send(f->mux, leg->data_id, port, sizeof port);
		api_mux_send(f->mux, leg->error_id, port, sizeof port);
	}
	sweep_later(f); /* connects */
}

void api_portforward(struct api_request *req, const struct store_object *pod)
{
	static const char *const channels[] = { "v4.channel.k8s.io", NULL };
	static const char *const spdy[] = { "portforward.k8s.io", NULL };
	static const struct api_mux_callbacks callbacks = { on_stream, on_data, on_fin,
		on_reset, on_room, on_end };
	static const struct api_mux_opts opts = { .channel_protocols = channels,
		.tunnel_protocol = "SPDY/3.1+portforward.k8s.io",
		.spdy_protocols = spdy,
		.callbacks = &callbacks };
	uint16_t ports[MAX_PORTS];
	if (!api_mux_is_acceptable(req, &opts))
		return;
	bool is_channels = api_mux_asks_channels(req, &opts);
	int n = is_channels ? parse_ports(req, ports) : 0;
	if (is_channels && n == 0)
		return;
	struct forward *f = x_calloc(1, sizeof *f);
	f->server = req->server;
	f->pod_name = x_strdup(pod->name);
	f->pod_uid = x_strdup(pod->uid);
	f->mux = api_mux_open(req, &opts, f);
	if (!f->mux)
		forward_free(f);
	else if (is_channels)
		open_channels(f, ports, n);
}
