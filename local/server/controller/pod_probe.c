// SPDX-License-Identifier: Apache-2.0
/* Asks GET /v1/health: every few milliseconds until the first answer, then every ten seconds. Three misses in
 * a row make a pod unready. */
#include "local/server/controller/pods.h"

#include "engine/base/str.h"
#include "engine/net/loop.h"

#include <event2/http.h>
#include <stdlib.h>

enum { FIRST_MS = 15, SLOWEST_START_MS = 500, STEADY_MS = 10000, TIMEOUT_S = 2, MISSES = 3 };

static void schedule(struct run *r)
{
	if (r->state == RUN_READY)
		r->probe_delay_ms = STEADY_MS;
	else if (r->probe_delay_ms < SLOWEST_START_MS)
		r->probe_delay_ms += r->probe_delay_ms / 2;
	loop_timer_arm(r->probe, r->probe_delay_ms);
}

static void on_answer(struct evhttp_request *req, void *arg)
{
	struct run *r = arg;
	bool is_well = req && evhttp_request_get_response_code(req) == 200;
	r->probe_misses = is_well ? 0 : r->probe_misses + 1;
	if (is_well || r->probe_misses >= MISSES)
		run_on_health(r, is_well);
	if (!is_well && r->state == RUN_READY)
		loop_timer_arm(r->probe, 500);
	else
		schedule(r);
}

static void drop_connection(void *arg)
{
	evhttp_connection_free(arg);
}

static void on_probe(void *arg)
{
	struct run *r = arg;
	if (r->probe_connection)
		evhttp_connection_free(r->probe_connection);
	r->probe_connection = evhttp_connection_base_new(
		loop_base(r->c->server->loop), NULL, r->address, 8080);
	evhttp_connection_set_timeout(r->probe_connection, TIMEOUT_S);
	struct evhttp_request *req = evhttp_request_new(on_answer, r);
	struct evkeyvalq *out = evhttp_request_get_output_headers(req);
	evhttp_add_header(out, "Host", r->address);
	evhttp_add_header(out, "Connection", "close");
	if (r->c->server->daemon_token) {
		struct str text;
		str_init(&text, 512);
		str_addf(&text, "Bearer %s", r->c->server->daemon_token);
		evhttp_add_header(out, "Authorization", text.p);
		str_deinit(&text);
	}
	if (evhttp_make_request(r->probe_connection, req, EVHTTP_REQ_GET, "/v1/health") != 0)
		schedule(r);
}

void probe_start(struct run *r)
{
	if (!r->probe)
		r->probe = loop_timer_new(r->c->server->loop, on_probe, r);
	r->probe_misses = 0;
	r->probe_delay_ms = FIRST_MS;
	loop_timer_arm(r->probe, FIRST_MS);
}

void probe_stop(struct run *r)
{
	if (r->probe)
		loop_timer_disarm(r->probe);
	if (r->probe_connection)
		loop_defer(r->c->server->loop, drop_connection, r->probe_connection);
	r->probe_connection = NULL;
}
