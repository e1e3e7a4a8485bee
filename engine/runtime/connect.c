// SPDX-License-Identifier: Apache-2.0
/* Connecting, lazily and once for all callers. Two lanes:
 *
 *   REST   down ──call──> health polled every 200 ms ──200──> up ──transport failure──> down
 *   gRPC   down ──call──> (REST up first, if there is one) ──dial──> up ──closed, GOAWAY──> down
 *
 * Who waits is told by runtime_channel_events: nothing of operations is known here.
 * A whole attempt has connect_timeout_ms; when it ends, every waiting call ends with it. Nothing is retried for
 * a call that has begun. Liveness is asked over REST and never by HTTP/2 PING: grpc-go answers those with GOAWAY. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/net/dial.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/util.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PROBE_MS = 10 * 1000, /* one health question */
	GRPC_AFTER_REST_MS =
		3000, /* both listeners start together: a refused one is no wonder for long */
	REFUSED_HERE_MS = 3000, /* nobody will come up on our own machine after that */
	REFUSED_MS = 10 * 1000, /* a daemon that still starts, or one that listens elsewhere */
	NO_BACKEND_MS = 5000,   /* the router has tried more than once itself */
	UNKNOWN_NAME_MS = 5000, /* the name of a new service may take a moment */
};

static void try_rest(struct runtime *runtime);
static void try_grpc(struct runtime *runtime);

bool runtime_connect_is_up(const struct runtime *runtime, enum runtime_channel lane)
{
	if (lane == LANE_REST)
		return runtime->lanes[LANE_REST].state == LANE_UP;
	/* a new stream on a living connection needs no new look at the health */
	return runtime->lanes[LANE_GRPC].state == LANE_UP && runtime->current &&
	       net_grpc_conn_is_usable(runtime->current->grpc);
}

static void stop_attempt(struct runtime_channel_attempt *lane)
{
	net_http_cancel(lane->probe);
	net_dial_cancel(lane->dial);
	lane->probe = NULL;
	lane->dial = NULL;
	net_loop_timer_disarm(lane->retry);
	net_loop_timer_disarm(lane->deadline);
}

static void lane_failed(
	struct runtime *runtime, enum runtime_channel which, const struct err *err)
{
	struct runtime_channel_attempt *lane = &runtime->lanes[which];
	struct err why;

	err_copy(&why, err);
	stop_attempt(lane);
	lane->state = LANE_DOWN;
	lane->has_failed = true;
	runtime->channel_events->failed(runtime, which, &why);
}

static void lane_up(struct runtime *runtime, enum runtime_channel which)
{
	struct runtime_channel_attempt *lane = &runtime->lanes[which];

	stop_attempt(lane);
	lane->state = LANE_UP;
	lane->has_failed = false;
	runtime->channel_events->up(runtime, which);
}

static bool is_worth_waiting(const struct runtime_channel_attempt *lane, enum err_code code)
{
	int64_t waited_ms = clock_mono_ms() - lane->started_mono_ms;

	if (runtime_route_is_final(code))
		return false;
	switch (code) {
	case ERR_ROUTER_BACKEND:
		return waited_ms < NO_BACKEND_MS;
	case ERR_CONN_REFUSED:
		return waited_ms < (lane->is_loopback ? REFUSED_HERE_MS : REFUSED_MS);
	case ERR_CONN_DNS:
		return waited_ms < UNKNOWN_NAME_MS;
	default:
		return true;
	}
}

/* One try failed: once more in 200 ms, unless it cannot help. */
static void try_failed(
	struct runtime *runtime, enum runtime_channel which, const struct err *err)
{
	struct runtime_channel_attempt *lane = &runtime->lanes[which];

	/* a last look that was cut short by the deadline knows less than the one before */
	if (err->code != ERR_OP_TIMEOUT || lane->last.code == ERR_NONE)
		err_copy(&lane->last, err);
	runtime->is_version_next = false;
	if (is_worth_waiting(lane, err->code))
		net_loop_timer_arm(lane->retry, setting_get(SETTING_HEALTH_POLL));
	else
		lane_failed(runtime, which, err);
}

bool runtime_trouble(const struct runtime *runtime, struct err *err)
{
	for (int i = 0; i < LANE_COUNT; i++) {
		const struct runtime_channel_attempt *lane = &runtime->lanes[i];
		if (lane->state != LANE_CONNECTING || lane->last.code == ERR_NONE ||
			lane->last.code == ERR_OP_TIMEOUT)
			continue;
		err_copy(err, &lane->last);
		err_prefix(err, "%s does not come up", runtime->label);
		return true;
	}
	return false;
}

void runtime_connect_explain(const struct runtime *runtime, struct err *err)
{
	if (runtime_trouble(runtime, err))
		return;
	err_set(err, ERR_OP_TIMEOUT, "no connection to %s in time", runtime->label);
}

static void on_deadline(struct runtime *runtime, enum runtime_channel which)
{
	struct err err = { 0 };

	runtime_connect_explain(runtime, &err);
	lane_failed(runtime, which, &err);
}

static void on_rest_deadline(void *arg)
{
	on_deadline(arg, LANE_REST);
}

static void on_grpc_deadline(void *arg)
{
	on_deadline(arg, LANE_GRPC);
}

static void on_rest_retry(void *arg)
{
	try_rest(arg);
}

static void on_grpc_retry(void *arg)
{
	try_grpc(arg);
}

void runtime_connect_start(struct runtime *runtime, enum runtime_channel which)
{
	struct runtime_channel_attempt *rest = &runtime->lanes[LANE_REST];

	if (which == LANE_GRPC && runtime->rest_url && rest->state != LANE_UP)
		which = LANE_REST;
	struct runtime_channel_attempt *lane = &runtime->lanes[which];
	if (lane->state == LANE_CONNECTING)
		return;
	lane->state = LANE_CONNECTING;
	lane->last = (struct err){ 0 };
	int64_t timeout_ms = runtime->connect_timeout_ms;
	if (which == LANE_GRPC && runtime->rest_url && timeout_ms > GRPC_AFTER_REST_MS &&
		!runtime->connect)
		timeout_ms = GRPC_AFTER_REST_MS;
	lane->started_mono_ms = clock_mono_ms();
	lane->deadline_mono_ms = lane->started_mono_ms + timeout_ms;
	net_loop_timer_arm(lane->deadline, timeout_ms);
	/* a turn later: no attempt ends inside the call that asked for it */
	net_loop_timer_arm(lane->retry, 0);
}

/* ---- REST */
static void on_health(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct runtime *runtime = arg;
	struct err failure = { 0 };

	runtime->lanes[LANE_REST].probe = NULL;
	if (err) {
		try_failed(runtime, LANE_REST, err);
	} else if (!runtime_route_judge(runtime, reply, body, &failure)) {
		try_failed(runtime, LANE_REST, &failure);
	} else if (runtime->is_version_next) {
		try_rest(runtime);
	} else {
		lane_up(runtime, LANE_REST);
	}
}

static int64_t left_ms(const struct runtime_channel_attempt *lane)
{
	int64_t left = lane->deadline_mono_ms - clock_mono_ms();

	return left < 1 ? 1 : left < PROBE_MS ? left : PROBE_MS;
}

static void try_rest(struct runtime *runtime)
{
	struct runtime_channel_attempt *lane = &runtime->lanes[LANE_REST];
	struct err err = { 0 };

	if (runtime_find_token(runtime, &err) && runtime_route_locate(runtime, &err))
		lane->probe = runtime_rest_probe(runtime, left_ms(lane), on_health, &err);
	if (!lane->probe)
		try_failed(runtime, LANE_REST, &err);
}

void runtime_connect_rest_failed(struct runtime *runtime, const struct err *err)
{
	struct runtime_channel_attempt *lane = &runtime->lanes[LANE_REST];

	switch (err->code) {
	case ERR_CONN_LOST:
	case ERR_CONN_REFUSED:
	case ERR_CONN_DNS:
	case ERR_PORTFWD_LOST:
	case ERR_PORTFWD_REFUSED:
		break;
	default:
		return;
	}
	if (lane->state != LANE_UP)
		return;
	lane->state = LANE_DOWN;
	lane->has_failed = true;
	net_http_drop_lane(runtime->http, runtime->http_lane);
}

void runtime_rest_ended(struct runtime_op *op, const struct err *err)
{
	op->req = NULL;
	if (err)
		runtime_connect_rest_failed(op->runtime, err);
}

/* ---- gRPC */
static void on_conn_free(void *arg)
{
	struct runtime_conn *conn = arg;

	net_grpc_conn_free(conn->grpc);
	free(conn);
}

static void forget_conn(struct runtime_conn *conn)
{
	struct runtime *runtime = conn->runtime;

	DL_DELETE(runtime->conns, conn);
	conn->runtime = NULL;
	if (runtime->current != conn)
		return;
	runtime->current = NULL;
	if (runtime->lanes[LANE_GRPC].state == LANE_UP)
		runtime->lanes[LANE_GRPC].state = LANE_DOWN;
}

static void on_conn_closed(void *arg, const struct err *err)
{
	struct runtime_conn *conn = arg;
	struct runtime *runtime = conn->runtime;

	if (!runtime)
		return;
	bool is_current = runtime->current == conn;
	forget_conn(conn);
	if (is_current && err)
		runtime->lanes[LANE_GRPC].has_failed = true;
	net_loop_defer(runtime->loop, on_conn_free, conn);
}

static bool adopt(struct runtime *runtime, struct bufferevent *bev, struct err *err)
{
	struct runtime_conn *conn = x_calloc(1, sizeof *conn);
	struct net_grpc_conn_opts opts = {
		.authority = runtime->authority,
		.token = runtime->token,
		.max_message_bytes = runtime->max_execute_bytes,
		.on_closed = on_conn_closed,
		.arg = conn,
	};

	conn->runtime = runtime;
	conn->grpc = net_grpc_conn_new_take(runtime->loop, bev, &opts, err);
	if (!conn->grpc) {
		free(conn);
		return false;
	}
	DL_APPEND(runtime->conns, conn);
	runtime->current = conn;
	return true;
}

static void on_dialled(void *arg, const struct err *err, struct bufferevent *bev)
{
	struct runtime *runtime = arg;
	struct err failure = { 0 };

	runtime->lanes[LANE_GRPC].dial = NULL;
	if (err)
		try_failed(runtime, LANE_GRPC, err);
	else if (!adopt(runtime, bev, &failure))
		try_failed(runtime, LANE_GRPC, &failure);
	else
		lane_up(runtime, LANE_GRPC);
}

static void try_tunnel(struct runtime *runtime)
{
	struct err err = { 0 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
		err_set_errno(&err, errno, "socketpair");
		try_failed(runtime, LANE_GRPC, &err);
		return;
	}
	if (!runtime->connect(runtime->connect_arg, runtime->grpc_port, pair[0], &err)) {
		close(pair[0]);
		close(pair[1]);
		try_failed(runtime, LANE_GRPC, &err);
		return;
	}
	struct bufferevent *bev = bufferevent_socket_new(
		net_loop_base(runtime->loop), pair[1], BEV_OPT_CLOSE_ON_FREE);
	on_dialled(runtime, NULL, bev);
}

static void try_grpc(struct runtime *runtime)
{
	struct runtime_channel_attempt *lane = &runtime->lanes[LANE_GRPC];
	struct err err = { 0 };

	if (runtime->connect) {
		try_tunnel(runtime);
		return;
	}
	struct net_dial_opts opts = {
		.host = runtime->grpc_host,
		.port = runtime->grpc_port,
		.tls = runtime->tls,
		.alpn = runtime->tls ? "h2" : NULL,
		.timeout_ms = left_ms(lane),
	};
	lane->dial = net_dial_start(runtime->loop, &opts, on_dialled, runtime, &err);
	if (!lane->dial)
		try_failed(runtime, LANE_GRPC, &err);
}

/* ---- life */
void runtime_connect_init(struct runtime *runtime, const struct runtime_channel_events *events)
{
	static net_loop_fn *const retry[] = { on_rest_retry, on_grpc_retry };
	static net_loop_fn *const deadline[] = { on_rest_deadline, on_grpc_deadline };

	runtime->channel_events = events;
	for (int i = 0; i < LANE_COUNT; i++) {
		runtime->lanes[i].retry = net_loop_timer_new(runtime->loop, retry[i], runtime);
		runtime->lanes[i].deadline =
			net_loop_timer_new(runtime->loop, deadline[i], runtime);
	}
}

void runtime_connect_drop(struct runtime *runtime)
{
	for (int i = 0; i < LANE_COUNT; i++) {
		stop_attempt(&runtime->lanes[i]);
		runtime->lanes[i].state = LANE_DOWN;
		runtime->lanes[i].has_failed = true;
	}
	while (runtime->conns) {
		struct runtime_conn *conn = runtime->conns;
		forget_conn(conn);
		/* we may be inside one of its callbacks */
		net_loop_defer(runtime->loop, on_conn_free, conn);
	}
	net_http_drop_lane(runtime->http, runtime->http_lane);
}

void runtime_connect_deinit(struct runtime *runtime)
{
	if (!runtime->lanes[0].retry)
		return;
	runtime_connect_drop(runtime);
	for (int i = 0; i < LANE_COUNT; i++) {
		net_loop_timer_free(runtime->lanes[i].retry);
		net_loop_timer_free(runtime->lanes[i].deadline);
	}
}
