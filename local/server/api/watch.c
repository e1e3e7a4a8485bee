// SPDX-License-Identifier: Apache-2.0
/* Watches. A watch is a cursor into the store's history: it costs no queue. When its stream is ready it
 * writes the changes after its cursor, up to a batch; when the history has moved past the cursor it ends
 * with the 410 event, and the client lists again.
 *
 *   [synthetic ADDED for a snapshot] ──> [bookmark initial-events-end] ──> changes … bookmarks … end */
#include "local/server/api/api.h"

#include "engine/base/digest.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/k8s/status.h"
#include "engine/net/loop.h"
#include "local/server/api/render.h"
#include "local/server/api/stream.h"
#include "local/server/server.h"
#include "local/server/store/selector.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 256 * 1024 };

struct watch {
	struct server *server;
	struct api_stream *stream;
	struct api_render view;
	char *include_object;
	struct api_filter filter;
	char *ns; /* NULL: all */
	int64_t cursor;
	struct store_object **initial; /* still to be sent as ADDED */
	size_t n_initial, at_initial;
	bool has_initial_end; /* a bookmark marks the end of the initial events */
	bool wants_bookmarks;
	bool is_bookmark_due;
	bool is_timed_out;
	struct net_loop_timer *end_timer, *bookmark_timer;
};

static void add_event(
	struct watch *w, const char *type, const struct store_object *o, struct evbuffer *out)
{
	evbuffer_add_printf(out, "{\"type\":\"%s\",\"object\":", type);
	api_render_one(&w->view, o, out);
	evbuffer_add(out, "}\n", 2);
}

static void add_bookmark(struct watch *w, bool ends_initial, struct evbuffer *out)
{
	evbuffer_add_printf(out, "{\"type\":\"BOOKMARK\",\"object\":");
	api_render_bookmark(&w->view, w->cursor, ends_initial, out);
	evbuffer_add(out, "}\n", 2);
}

static void add_expired(struct watch *w, struct evbuffer *out)
{
	cJSON *status = api_status_expired(w->cursor, store_compacted(w->server->store));
	char *text = cJSON_PrintUnformatted(status);
	evbuffer_add_printf(out, "{\"type\":\"ERROR\",\"object\":%s}\n", text);
	free(text);
	cJSON_Delete(status);
}

static bool is_in_scope(const struct watch *w, const struct store_object *o)
{
	return o->kind == w->view.r->kind && (!w->ns || strcmp(w->ns, o->ns) == 0);
}

/* A change seen through the selectors: an object that begins to match is ADDED, one that stops is
 * DELETED. */
static void add_change(struct watch *w, const struct store_change *c, struct evbuffer *out)
{
	if (!is_in_scope(w, c->now))
		return;
	bool now = c->type != CHANGE_DELETED && api_filter_matches(&w->filter, c->now);
	bool before = c->before && api_filter_matches(&w->filter, c->before);
	if (now)
		add_event(w, before ? "MODIFIED" : "ADDED", c->now, out);
	else if (before)
		add_event(w, "DELETED", c->now, out);
}

static void add_initial(struct watch *w, struct evbuffer *out)
{
	while (w->at_initial < w->n_initial && evbuffer_get_length(out) < BATCH_BYTES) {
		const struct store_object *o = w->initial[w->at_initial++];
		if (api_filter_matches(&w->filter, o))
			add_event(w, "ADDED", o, out);
	}
	if (w->at_initial < w->n_initial)
		return;
	store_list_free(w->initial, w->n_initial);
	w->initial = NULL;
	if (w->has_initial_end)
		add_bookmark(w, true, out);
}

static void on_ready(void *arg, struct api_stream *stream)
{
	struct watch *w = arg;
	struct store *s = w->server->store;
	struct evbuffer *out = evbuffer_new();
	bool is_over = false;
	if (w->initial)
		add_initial(w, out);
	if (!w->initial && w->cursor < store_compacted(s)) {
		add_expired(w, out);
		is_over = true;
	}
	size_t i = store_change_index(s, w->cursor), n = store_change_count(s);
	for (; !w->initial && !is_over && i < n && evbuffer_get_length(out) < BATCH_BYTES;
		i++) {
		const struct store_change *c = store_change_at(s, i);
		w->cursor = c->rv;
		add_change(w, c, out);
	}
	if (!is_over && !w->initial && i == n) {
		if (w->cursor < store_revision(s))
			w->cursor = store_revision(s);
		if (w->is_bookmark_due || (w->is_timed_out && w->wants_bookmarks))
			add_bookmark(w, false, out);
		w->is_bookmark_due = false;
	}
	is_over = is_over || w->is_timed_out;
	if (evbuffer_get_length(out) > 0)
		api_stream_send(stream, out);
	evbuffer_free(out);
	if (is_over)
		api_stream_finish(stream);
}

static void watch_free(void *arg)
{
	struct watch *w = arg;
	net_loop_timer_free(w->end_timer);
	net_loop_timer_free(w->bookmark_timer);
	if (w->initial)
		store_list_free(w->initial, w->n_initial);
	api_filter_deinit(&w->filter);
	free(w->include_object);
	free(w->ns);
	free(w);
}

static void on_end_timer(void *arg)
{
	struct watch *w = arg;
	w->is_timed_out = true;
	api_stream_wake(w->stream);
}

static void on_bookmark_timer(void *arg)
{
	struct watch *w = arg;
	w->is_bookmark_due = true;
	api_stream_wake(w->stream);
}

static int64_t choose_timeout_ms(struct api_request *req)
{
	const char *text = api_request_query(req, "timeoutSeconds");
	int64_t seconds;
	unsigned random;
	if (text && num_parse_i64(text, 1, 86400, &seconds))
		return seconds * 1000;
	digest_random(&random, sizeof random);
	return (1800 + (int64_t)(random % 1800)) * 1000;
}

/* Where the watch begins. */
static cJSON *choose_start(struct watch *w, struct api_request *req)
{
	const char *rv = api_request_query(req, "resourceVersion");
	const char *match = api_request_query(req, "resourceVersionMatch");
	const char *send = api_request_query(req, "sendInitialEvents");
	bool wants_initial = api_request_query_bool(req, "sendInitialEvents");
	struct store *s = w->server->store;
	int64_t asked = 0;
	cJSON *causes = cJSON_CreateArray();
	if (send && (!match || strcmp(match, "NotOlderThan") != 0))
		k8s_status_add_cause(causes, "FieldValueForbidden", "resourceVersionMatch",
			"Forbidden: sendInitialEvents requires setting resourceVersionMatch to"
			" NotOlderThan");
	else if (!send && match && *match)
		k8s_status_add_cause(causes, "FieldValueForbidden", "resourceVersionMatch",
			"Forbidden: resourceVersionMatch is forbidden for watch unless"
			" sendInitialEvents is provided");
	if (causes->child)
		return k8s_status_invalid(w->view.r->api, "", causes);
	cJSON_Delete(causes);
	if (rv && *rv && !num_parse_i64(rv, 0, INT64_MAX, &asked))
		return k8s_status_new(K8S_INTERNAL_ERROR,
			"Internal error occurred: resourceVersion: Invalid value: \"%.40s\"",
			rv);
	w->cursor = asked;
	if (asked == 0 || wants_initial) {
		w->cursor = store_revision(s);
		if (!send || wants_initial)
			w->initial =
				store_list(s, w->view.r->kind, w->ns, w->cursor, &w->n_initial);
		w->has_initial_end = w->wants_bookmarks && w->initial;
	}
	return NULL;
}

void api_watch(struct api_request *req, const struct api_target *t)
{
	static const struct api_stream_callbacks callbacks = { on_ready, watch_free };
	struct watch *w = x_calloc(1, sizeof *w);
	cJSON *status = NULL;
	w->server = req->server;
	api_render_init(&w->view, t->r, req);
	if (w->view.include_object)
		w->include_object = x_strdup(w->view.include_object);
	w->view.include_object = w->include_object;
	w->ns = x_strdup(t->ns);
	w->wants_bookmarks = api_request_query_bool(req, "allowWatchBookmarks");
	if (!api_filter_init(&w->filter, req, t->r, &status)) {
		watch_free(w);
		api_request_fail_take(req, status);
		return;
	}
	status = choose_start(w, req);
	if (status) {
		watch_free(w);
		api_request_fail_take(req, status);
		return;
	}
	w->end_timer = net_loop_timer_new(w->server->loop, on_end_timer, w);
	net_loop_timer_arm(w->end_timer, choose_timeout_ms(req));
	w->bookmark_timer = net_loop_timer_new(w->server->loop, on_bookmark_timer, w);
	if (w->wants_bookmarks)
		net_loop_timer_arm_every(w->bookmark_timer, w->server->opts.bookmark_ms);
	w->stream = api_stream_start(req,
		w->view.accept == ACCEPT_JSON ? "application/json"
					      : "application/json;stream=watch",
		&callbacks, w);
}
