// SPDX-License-Identifier: Apache-2.0
/* evhttp details this rests on (libevent 2.1): a request that is not answered stays with its connection, which does nothing
 * by itself until then; evhttp_connection_free() frees both, and the bufferevent with them. */
#include "local/server/api/upgrade.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/k8s/status.h"
#include "engine/net/loop.h"
#include "local/server/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <string.h>
#include <strings.h>

enum { FINISH_MS = 5000 };

struct api_upgrade {
	struct api_upgrade *prev, *next;
	struct server *server;
	struct evhttp_connection *con;
	struct bufferevent *bev;
	struct api_upgrade_callbacks callbacks;
	void *arg;
	struct net_loop_timer *timer; /* idle, then the end */
	bool is_paused, is_finishing, has_ended;
	bool is_due; /* a deferred call is on its way */
};

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = list; p && *p;) {
		p += strspn(p, " \t,");
		size_t m = strcspn(p, " \t,");
		if (m == n && strncasecmp(p, word, n) == 0)
			return true;
		p += m;
	}
	return false;
}

bool api_upgrade_is_to(const struct api_request *req, const char *protocol)
{
	return has_word(api_request_header(req, "Connection"), "upgrade") &&
	       has_word(api_request_header(req, "Upgrade"), protocol);
}

/* ---- the end ---- */

static void free_later(void *arg)
{
	struct api_upgrade *u = arg;
	net_loop_timer_free(u->timer);
	evhttp_connection_free(u->con);
	free(u);
}

static void end(struct api_upgrade *u)
{
	if (u->has_ended)
		return;
	u->has_ended = true;
	bufferevent_setcb(u->bev, NULL, NULL, NULL, NULL);
	bufferevent_disable(u->bev, EV_READ | EV_WRITE);
	DL_DELETE(u->server->upgrades, u);
	u->server->n_upgrades--;
	u->callbacks.on_end(u->arg);
	if (!u->is_due)
		net_loop_defer(u->server->loop, free_later, u);
}

static void on_timer(void *arg)
{
	end(arg);
}

/* ---- bytes ---- */

static void touch(struct api_upgrade *u)
{
	if (!u->is_finishing)
		net_loop_timer_arm(u->timer, UPGRADE_IDLE_MS);
}

static void receive(struct api_upgrade *u)
{
	struct evbuffer *in = bufferevent_get_input(u->bev);
	if (u->has_ended || u->is_finishing || u->is_paused || evbuffer_get_length(in) == 0)
		return;
	touch(u);
	u->callbacks.on_bytes(u->arg, in);
}

static void on_due(void *arg)
{
	struct api_upgrade *u = arg;
	u->is_due = false;
	if (u->has_ended)
		free_later(u);
	else
		receive(u);
}

static void defer(struct api_upgrade *u)
{
	if (u->is_due || u->has_ended)
		return;
	u->is_due = true;
	net_loop_defer(u->server->loop, on_due, u);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct api_upgrade *u = arg;
	(void)bev;
	if (u->is_finishing) /* what still comes is not wanted */
		evbuffer_drain(bufferevent_get_input(u->bev), SIZE_MAX);
	else
		receive(u);
}

static void on_written(struct bufferevent *bev, void *arg)
{
	struct api_upgrade *u = arg;
	(void)bev;
	touch(u);
	if (u->is_finishing) {
		if (evbuffer_get_length(api_upgrade_output(u)) == 0)
			end(u);
	} else if (u->callbacks.on_room) {
		u->callbacks.on_room(u->arg);
	}
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT))
		end(arg);
}

struct evbuffer *api_upgrade_output(struct api_upgrade *u)
{
	return bufferevent_get_output(u->bev);
}

bool api_upgrade_has_room(struct api_upgrade *u)
{
	return !u->has_ended && evbuffer_get_length(api_upgrade_output(u)) < UPGRADE_HIGH_BYTES;
}

void api_upgrade_pause(struct api_upgrade *u, bool is_paused)
{
	if (u->has_ended || u->is_finishing || u->is_paused == is_paused)
		return;
	u->is_paused = is_paused;
	if (is_paused) {
		bufferevent_disable(u->bev, EV_READ);
	} else {
		bufferevent_enable(u->bev, EV_READ);
		defer(u); /* what came before */
	}
}

void api_upgrade_finish(struct api_upgrade *u)
{
	if (u->is_finishing || u->has_ended)
		return;
	u->is_finishing = true;
	net_loop_timer_arm(
		u->timer, evbuffer_get_length(api_upgrade_output(u)) > 0 ? FINISH_MS : 0);
	bufferevent_setwatermark(u->bev, EV_WRITE, 0, 0);
	bufferevent_enable(u->bev, EV_READ); /* so that its end is seen */
}

void api_upgrade_finish_all(struct server *server)
{
	struct api_upgrade *u, *next;
	DL_FOREACH_SAFE(server->upgrades, u, next) {
		end(u);
	}
}

struct api_upgrade *api_upgrade_take(struct api_request *req, const char *header_lines,
	const struct api_upgrade_callbacks *callbacks, void *arg)
{
	struct server *s = req->server;
	if (s->n_upgrades >= UPGRADE_MAX) {
		api_request_fail_take(
			req, k8s_status_new(K8S_TOO_MANY_REQUESTS,
				     "too many port-forwards and executions at the same time:"
				     " %d",
				     UPGRADE_MAX));
		return NULL;
	}
	struct api_upgrade *u = x_calloc(1, sizeof *u);
	u->server = s;
	u->con = evhttp_request_get_connection(req->ev);
	u->bev = evhttp_connection_get_bufferevent(u->con);
	u->callbacks = *callbacks;
	u->arg = arg;
	u->timer = net_loop_timer_new(s->loop, on_timer, u);
	DL_APPEND(s->upgrades, u);
	s->n_upgrades++;
	evhttp_connection_set_closecb(u->con, NULL, NULL);
	bufferevent_set_timeouts(u->bev, NULL, NULL);
	bufferevent_setcb(u->bev, on_read, on_written, on_event, u);
	bufferevent_setwatermark(u->bev, EV_READ, 0, UPGRADE_READ_BYTES);
	bufferevent_setwatermark(u->bev, EV_WRITE, UPGRADE_LOW_BYTES, 0);
	evbuffer_add_printf(api_upgrade_output(u),
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n%s\r\n",
		header_lines);
	bufferevent_enable(u->bev, EV_READ | EV_WRITE);
	touch(u);
	defer(u);
	return u;
}
