// SPDX-License-Identifier: Apache-2.0
/* libcurl's multi-socket interface on the loop.
 *
 *   start -> [resolving] -> added to the lane's multi handle -> done
 *
 * libcurl must not be entered from its own callbacks, so what is asked for there (cancel, resume)
 * is marked and done by the lane's kick timer or when libcurl has returned. */
#include "engine/net/http_internal.h"

#include "engine/base/clock.h"
#include "engine/net/dial.h"
#include "engine/net/loop.h"
#include "engine/net/resolve.h"

#include <errno.h>
#include <event2/event.h>
#include <strings.h>

struct net_http_socket {
	struct net_http_pool_key *lane;
	struct event *event;
	struct net_http_socket *prev, *next;
};

/* --- end of a request --- */

static void req_free(struct net_http_req *req)
{
	DL_DELETE(req->lane->requests, req);
	if (req->is_added)
		curl_multi_remove_handle(req->lane->multi, req->easy);
	net_resolve_cancel(req->resolve);
	net_loop_timer_free(req->deadline);
	if (req->easy != NULL)
		curl_easy_cleanup(req->easy);
	net_http_reply_clear(req);
	free(req->reply_headers);
	str_deinit(&req->body);
	net_http_setup_free(req);
	net_tls_unref(req->tls);
	if (req->lane->is_dropped && req->lane->requests == NULL)
		net_loop_timer_arm(req->lane->http->sweep, 0);
	free(req);
}

static void complete(struct net_http_req *req, const struct err *err)
{
	/* out of libcurl's hands first: the callback may start or cancel what it likes */
	if (req->is_added)
		curl_multi_remove_handle(req->lane->multi, req->easy);
	req->is_added = false;
	net_loop_timer_disarm(req->deadline);
	struct slice body = { req->body.p, req->body.n };
	req->opts.done(req->opts.arg, err, req->is_final ? &req->reply : NULL, body);
	req_free(req);
}

static void fail(struct net_http_req *req, const struct err *err)
{
	struct err copy;
	err_copy(&copy, err);
	complete(req, &copy);
}

static enum err_code code_of_curl(CURLcode code, long errnum)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return ERR_CONN_DNS;
	case CURLE_COULDNT_CONNECT:
		return errnum == ECONNREFUSED || errnum == ENOENT ? ERR_CONN_REFUSED
								  : ERR_CONN_LOST;
	case CURLE_OPERATION_TIMEDOUT:
		return ERR_OP_TIMEOUT;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
		return ERR_CONN_TLS;
	case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 */
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING:
		return ERR_RUNTIME_PROTOCOL;
	case CURLE_OUT_OF_MEMORY:
	case CURLE_FAILED_INIT:
	case CURLE_BAD_FUNCTION_ARGUMENT:
		return ERR_INTERNAL;
	case CURLE_FILESIZE_EXCEEDED:
		return ERR_LIMIT_RESPONSE;
	default:
		return ERR_CONN_LOST;
	}
}

static void finish(struct net_http_req *req, CURLcode code)
{
	if (req->fail.code != ERR_NONE) {
		complete(req, &req->fail);
		return;
	}
	if (code == CURLE_OK && req->is_final) {
		complete(req, NULL);
		return;
	}
	struct err err;
	long errnum = 0;
	curl_easy_getinfo(req->easy, CURLINFO_OS_ERRNO, &errnum);
	if (code == CURLE_OK)
		err_set(&err, ERR_CONN_LOST, "the connection ended inside the headers");
	else if (code == CURLE_COULDNT_CONNECT && errnum > 0)
		err_set(&err, code_of_curl(code, errnum),
			"%s: %s", /* curl's words leave out why */
			strerror((int)errnum),
			req->curl_text[0] ? req->curl_text : curl_easy_strerror(code));
	else
		err_set(&err, code_of_curl(code, errnum), "%s",
			req->curl_text[0] ? req->curl_text : curl_easy_strerror(code));
	complete(req, &err);
}

/* --- libcurl on the loop --- */

/* Requests that ended, and those cancelled while libcurl was at work. */
static void collect(struct net_http_pool_key *lane)
{
	if (lane->in_curl > 0)
		return;
	int left;
	CURLMsg *message;
	while ((message = curl_multi_info_read(lane->multi, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode code = message->data.result;
		struct net_http_req *req = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&req);
		if (req->is_dead)
			req_free(req);
		else
			finish(req, code);
	}
	struct net_http_req *req, *next;
	DL_FOREACH_SAFE(lane->requests, req, next) {
		if (req->is_dead)
			req_free(req);
	}
}

static void act(struct net_http_pool_key *lane, curl_socket_t fd, int events)
{
	int running;
	lane->in_curl++;
	curl_multi_socket_action(lane->multi, fd, events, &running);
	lane->in_curl--;
	collect(lane);
}

static void on_socket_ready(evutil_socket_t fd, short what, void *arg)
{
	struct net_http_socket *watched = arg;
	int events = (what & EV_READ ? CURL_CSELECT_IN : 0) |
		     (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
	act(watched->lane, fd, events);
}

static int on_watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	(void)easy;
	struct net_http_pool_key *lane = arg;
	struct net_http_socket *watched = socket_arg;
	if (watched != NULL)
		event_free(watched->event);
	if (what == CURL_POLL_REMOVE) {
		if (watched != NULL)
			DL_DELETE(lane->sockets, watched);
		free(watched);
		curl_multi_assign(lane->multi, fd, NULL);
		return 0;
	}
	if (watched == NULL) {
		watched = x_calloc(1, sizeof *watched);
		watched->lane = lane;
		DL_APPEND(lane->sockets, watched);
		curl_multi_assign(lane->multi, fd, watched);
	}
	short events = EV_PERSIST;
	if (what & CURL_POLL_IN)
		events |= EV_READ;
	if (what & CURL_POLL_OUT)
		events |= EV_WRITE;
	watched->event = event_new(
		net_loop_base(lane->http->loop), fd, events, on_socket_ready, watched);
	event_add(watched->event, NULL);
	return 0;
}

static int on_set_timer(CURLM *multi, long timeout_ms, void *arg)
{
	(void)multi;
	struct net_http_pool_key *lane = arg;
	if (timeout_ms < 0)
		net_loop_timer_disarm(lane->timer);
	else
		net_loop_timer_arm(lane->timer, timeout_ms);
	return 0;
}

static void on_timer(void *arg)
{
	act(arg, CURL_SOCKET_TIMEOUT, 0);
}

/* --- resume --- */

static void resume(struct net_http_req *req)
{
	bool up = req->upload_paused && !req->upload_held;
	bool down = req->download_paused && !req->download_held;
	if (!req->is_added || req->is_dead || (!up && !down))
		return;
	if (up)
		req->upload_paused = false;
	if (down)
		req->download_paused = false;
	int mask = (req->upload_paused ? CURLPAUSE_SEND : 0) |
		   (req->download_paused ? CURLPAUSE_RECV : 0);
	req->last_byte_ms = req->last_sent_ms = clock_mono_ms();
	net_http_wait_update(req);
	req->lane->in_curl++; /* it may call the body callback at once */
	curl_easy_pause(req->easy, mask);
	req->lane->in_curl--;
}

static void on_kick(void *arg)
{
	struct net_http_pool_key *lane = arg;
	struct net_http_req *req;
	DL_FOREACH(lane->requests, req) {
		resume(req);
	}
	/* libcurl 7.81 does not run a resumed transfer by itself */
	act(lane, CURL_SOCKET_TIMEOUT, 0);
}

static void resume_later(struct net_http_req *req)
{
	req->last_byte_ms = req->last_sent_ms = clock_mono_ms();
	if (req->deadline != NULL)
		net_http_wait_update(req);
	net_loop_timer_arm(req->lane->kick, 0);
}

void net_http_resume_upload(struct net_http_req *req)
{
	req->upload_held = false;
	resume_later(req);
}

void net_http_resume_download(struct net_http_req *req)
{
	req->download_held = false;
	resume_later(req);
}

void net_http_cancel(struct net_http_req *req)
{
	if (req == NULL)
		return;
	if (req->lane->in_curl == 0) {
		req_free(req);
		return;
	}
	req->is_dead = true;
	net_loop_timer_disarm(req->deadline);
	net_loop_timer_arm(req->lane->kick, 0);
}

/* --- lanes --- */

static void lane_free(struct net_http_pool_key *lane)
{
	struct net_http_req *req, *next;
	DL_FOREACH_SAFE(lane->requests, req, next) {
		req_free(req);
	}
	curl_multi_cleanup(lane->multi);
	while (lane->sockets != NULL) {
		struct net_http_socket *watched = lane->sockets;
		DL_DELETE(lane->sockets, watched);
		event_free(watched->event);
		free(watched);
	}
	net_loop_timer_free(lane->timer);
	net_loop_timer_free(lane->kick);
	DL_DELETE(lane->http->lanes, lane);
	free(lane->name);
	free(lane);
}

static void on_sweep(void *arg)
{
	struct net_http *http = arg;
	struct net_http_pool_key *lane, *next;
	DL_FOREACH_SAFE(http->lanes, lane, next) {
		if (lane->is_dropped && lane->requests == NULL)
			lane_free(lane);
	}
}

static struct net_http_pool_key *find_lane(struct net_http *http, const char *name)
{
	struct net_http_pool_key *lane;
	DL_FOREACH(http->lanes, lane) {
		if (!lane->is_dropped && strcmp(lane->name, name) == 0)
			return lane;
	}
	return NULL;
}

static struct net_http_pool_key *get_lane(struct net_http *http, const char *name)
{
	struct net_http_pool_key *lane = find_lane(http, name);
	if (lane != NULL)
		return lane;
	lane = x_calloc(1, sizeof *lane);
	lane->http = http;
	lane->name = x_strdup(name);
	lane->timer = net_loop_timer_new(http->loop, on_timer, lane);
	lane->kick = net_loop_timer_new(http->loop, on_kick, lane);
	lane->multi = curl_multi_init();
	if (lane->multi == NULL)
		abort();
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_watch_socket);
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_set_timer);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	DL_APPEND(http->lanes, lane);
	return lane;
}

void net_http_drop_lane(struct net_http *http, const char *name)
{
	struct net_http_pool_key *lane = find_lane(http, name ? name : "");
	if (lane == NULL)
		return;
	lane->is_dropped = true;
	net_loop_timer_arm(http->sweep, 0);
}

/* --- life --- */

struct net_http *net_http_new(struct net_loop *loop, struct err *err)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		err_set(err, ERR_INTERNAL, "libcurl cannot start");
		return NULL;
	}
	struct net_http *http = x_calloc(1, sizeof *http);
	http->loop = loop;
	http->sweep = net_loop_timer_new(loop, on_sweep, http);
	return http;
}

void net_http_free(struct net_http *http)
{
	if (http == NULL)
		return;
	while (http->lanes != NULL)
		lane_free(http->lanes);
	net_loop_timer_free(http->sweep);
	net_http_names_free(http);
	free(http);
	curl_global_cleanup();
}

static bool add(struct net_http_req *req, struct err *err)
{
	if (req->resolved != NULL)
		curl_easy_setopt(req->easy, CURLOPT_RESOLVE, req->resolved);
	CURLMcode code = curl_multi_add_handle(req->lane->multi, req->easy);
	if (code != CURLM_OK)
		return err_set(err, ERR_INTERNAL, "libcurl: %s", curl_multi_strerror(code));
	req->is_added = true;
	return true;
}

static void on_resolved(struct net_http_req *req, const struct err *err)
{
	struct err why;
	if (err != NULL)
		fail(req, err);
	else if (!add(req, &why))
		fail(req, &why);
}

struct net_http_req *net_http_start(
	struct net_http *http, const struct net_http_opts *opts, struct err *err)
{
	struct net_http_req *req = x_calloc(1, sizeof *req);
	req->lane = get_lane(http, opts->lane ? opts->lane : "");
	DL_APPEND(req->lane->requests, req);
	req->tls = net_tls_ref(opts->tls);
	req->easy = curl_easy_init();
	if (req->easy == NULL)
		abort();
	str_init(&req->body,
		opts->max_body_bytes ? opts->max_body_bytes : HTTP_DEFAULT_BODY_BYTES);
	if (!net_http_setup(req, opts, err) || (net_http_names_find(req) && !add(req, err))) {
		req_free(req);
		return NULL;
	}
	if (!req->is_added)
		net_http_names_ask(req, on_resolved);
	net_http_wait_start(req, fail);
	return req;
}

const char *net_http_reply_header(const struct net_http_reply *reply, const char *name)
{
	for (size_t i = 0; reply != NULL && i < reply->n_headers; i++)
		if (strcasecmp(reply->headers[i].name, name) == 0)
			return reply->headers[i].value;
	return NULL;
}
