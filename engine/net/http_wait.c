// SPDX-License-Identifier: Apache-2.0
/* The deadlines of a request: whole, connect, headers, stall. One timer sleeps until the nearest
 * and looks again; bytes only note their time. */
#include "engine/net/http_internal.h"

#include "engine/base/clock.h"
#include "engine/net/loop.h"

static int64_t connect_timeout(const struct net_http_req *req)
{
	return req->opts.connect_timeout_ms > 0 ? req->opts.connect_timeout_ms
						: HTTP_DEFAULT_CONNECT_MS;
}

struct nearest {
	int64_t at_ms; /* INT64_MAX: none */
	const char *what;
};

static void consider(struct nearest *nearest, int64_t at_ms, const char *what)
{
	if (at_ms < nearest->at_ms)
		*nearest = (struct nearest){ at_ms, what };
}

static struct nearest nearest_deadline(const struct net_http_req *req)
{
	const struct net_http_opts *opts = &req->opts;
	struct nearest nearest = { INT64_MAX, "" };
	if (opts->timeout_ms > 0)
		consider(&nearest, req->start_ms + opts->timeout_ms,
			"no complete answer in time");
	if (!req->is_connected)
		consider(&nearest, req->start_ms + connect_timeout(req),
			"no connection in time");
	/* while we send, the server has no reason to answer */
	if (!req->is_final && opts->headers_timeout_ms > 0 && !req->upload_paused)
		consider(&nearest, req->last_sent_ms + opts->headers_timeout_ms,
			"no answer in time");
	if (req->is_connected && opts->stall_timeout_ms > 0 && !req->upload_paused &&
		!req->download_paused && !req->download_held)
		consider(&nearest, req->last_byte_ms + opts->stall_timeout_ms,
			"no byte has moved for too long");
	return nearest;
}

static void on_deadline(void *arg)
{
	struct net_http_req *req = arg;
	struct nearest nearest = nearest_deadline(req);
	if (nearest.at_ms > clock_mono_ms()) {
		net_http_wait_update(req);
		return;
	}
	struct err err;
	err_set(&err, ERR_OP_TIMEOUT, "%s", nearest.what);
	req->on_late(req, &err);
}

void net_http_wait_update(struct net_http_req *req)
{
	struct nearest nearest = nearest_deadline(req);
	if (nearest.at_ms == INT64_MAX)
		net_loop_timer_disarm(req->deadline);
	else
		net_loop_timer_arm(req->deadline, nearest.at_ms - clock_mono_ms());
}

void net_http_wait_start(struct net_http_req *req,
	void (*on_late)(struct net_http_req *req, const struct err *err))
{
	req->on_late = on_late;
	req->start_ms = req->last_byte_ms = req->last_sent_ms = clock_mono_ms();
	req->deadline = net_loop_timer_new(req->lane->http->loop, on_deadline, req);
	net_http_wait_update(req);
}
