// SPDX-License-Identifier: Apache-2.0
/* A daemon with both of its addresses, REST and gRPC, and a process in it. The linker puts the long waits and the clock
 * through here, so that they can pass at once. For one test program each. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/telemetry/span.h"
#include "tests/unit/engine/net/h2_peer.h"
#include "tests/unit/engine/runtime/rig.h"

#include <event2/event.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- waits of liveness.c: 20 s between two questions, 5 s after one without an answer */
enum { ASK_MS = 20000, ASK_AGAIN_MS = 5000 };

static struct str waits; /* "20000 5000 …" */
static int64_t passed_ms;
static bool is_quick;
static net_loop_fn *woken;
static void *woken_arg;

void __real_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms);
void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms);
int64_t __real_clock_mono_ms(void);
int64_t __wrap_clock_mono_ms(void);
struct net_loop_wake *__real_net_loop_wake_add(
	struct net_loop *loop, net_loop_fn *fn, void *arg);
struct net_loop_wake *__wrap_net_loop_wake_add(
	struct net_loop *loop, net_loop_fn *fn, void *arg);

void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms)
{
	if (!is_quick || (delay_ms != ASK_MS && delay_ms != ASK_AGAIN_MS)) {
		__real_net_loop_timer_arm(timer, delay_ms);
		return;
	}
	str_addf(&waits, "%d ", (int)delay_ms);
	passed_ms += delay_ms;
	__real_net_loop_timer_arm(timer, 1);
}

int64_t __wrap_clock_mono_ms(void)
{
	return __real_clock_mono_ms() + passed_ms;
}

struct net_loop_wake *__wrap_net_loop_wake_add(
	struct net_loop *loop, net_loop_fn *fn, void *arg)
{
	woken = fn;
	woken_arg = arg;
	return __real_net_loop_wake_add(loop, fn, arg);
}

/* By the real clock. */
#define UNTIL(condition)                                                                       \
	do {                                                                                   \
		int64_t until_ms_ = __real_clock_mono_ms() + 10000;                            \
		while (!(condition)) {                                                         \
			if (__real_clock_mono_ms() > until_ms_)                                \
				fail_msg("waited in vain for %s", #condition);                 \
			net_loop_run_once(rig.loop, 20);                                       \
		}                                                                              \
	} while (0)

/* ---- the daemon: a fake REST side, and a door to a peer that is played frame by frame */
static struct rig rig;
static struct h2_peer peer;
static struct evconnlistener *door;
static struct bufferevent *ends[2];
static bool has_peer;
static int n_health_before_peer;

static inline void turns(int ms)
{
	for (int64_t until = __real_clock_mono_ms() + ms; __real_clock_mono_ms() < until;)
		net_loop_run_once(rig.loop, 5);
}

static enum { ANSWERS, REFUSES, HANGS_UP, NO_BACKEND } health;
static const char *folder_status; /* of HEAD */
static char asked[500];

static inline void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	if (strcmp(request->path, "/v1/health") == 0) {
		if (health == HANGS_UP)
			fake_close(request);
		else if (health == NO_BACKEND)
			fake_json(request, "502 Bad Gateway", "{\"detail\":\"none\"}");
		else
			fake_json(request,
				health == REFUSES ? "503 Service Unavailable" : "200 OK",
				"{\"status\":\"ok\"}");
		return;
	}
	snprintf(asked, sizeof asked, "%s %.400s", request->method, request->path);
	if (!folder_status)
		fake_close(request);
	else if (*folder_status)
		fake_json(request, folder_status, "{}");
}

static inline void on_tunnel_read(struct bufferevent *bev, void *arg)
{
	(void)arg;
	bufferevent_write_buffer(
		bev == ends[0] ? ends[1] : ends[0], bufferevent_get_input(bev));
}

static inline void on_knock(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int n, void *arg)
{
	(void)listener;
	(void)address;
	(void)n;
	(void)arg;
	assert_false(has_peer);
	n_health_before_peer = rig.fake.n_health;
	ends[0] = bufferevent_socket_new(net_loop_base(rig.loop), fd, BEV_OPT_CLOSE_ON_FREE);
	ends[1] = h2_peer_init(&peer, rig.loop);
	has_peer = true;
	for (int i = 0; i < 2; i++) {
		bufferevent_setcb(ends[i], on_tunnel_read, NULL, NULL, NULL);
		bufferevent_enable(ends[i], EV_READ | EV_WRITE);
	}
}

static inline uint16_t open_door(struct net_loop *loop)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof in;

	door = evconnlistener_new_bind(net_loop_base(loop), on_knock, NULL,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1, (struct sockaddr *)&in,
		sizeof in);
	getsockname(evconnlistener_get_fd(door), (struct sockaddr *)&in, &n);
	return ntohs(in.sin_port);
}

static int64_t connect_ms = 4000;
static struct telemetry *telemetry;

static inline int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	str_init(&waits, 4096);
	telemetry = telemetry_new(50, 1 << 20);
	passed_ms = 0;
	is_quick = false;
	health = ANSWERS;
	folder_status = "404 Not Found";
	asked[0] = 0;
	has_peer = false;
	n_health_before_peer = -1;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	runtime_close(rig.runtime);
	runtime_unref(rig.runtime);
	struct runtime_opts opts = { .rest_url = rig.url,
		.grpc_host = "127.0.0.1",
		.grpc_port = open_door(rig.loop),
		.connect_timeout_ms = connect_ms,
		.telemetry = telemetry,
		.label = "the-box" };
	rig.runtime = runtime_new(rig.loop, rig.http, &opts, &err);
	return rig.runtime == NULL;
}

static inline int set_up_hasty(void **state)
{
	connect_ms = 400;
	int rc = set_up(state);
	connect_ms = 4000;
	return rc;
}

static inline int tear_down(void **state)
{
	(void)state;
	if (door)
		evconnlistener_free(door);
	door = NULL;
	runtime_close(rig.runtime);
	runtime_unref(rig.runtime);
	rig.runtime = NULL;
	if (has_peer) {
		bufferevent_free(ends[0]);
		bufferevent_free(ends[1]);
		h2_peer_deinit(&peer);
	}
	net_http_free(rig.http);
	fake_rest_close(&rig.fake);
	net_loop_free(rig.loop);
	telemetry_free(telemetry);
	str_deinit(&waits);
	return 0;
}

/* ---- a process */
static int n_init, n_exit, exit_code;
static struct err exit_err;
static struct runtime_process *process;
static const char *const argv[] = { "sleep", NULL };

static inline void on_init(void *arg, int pid)
{
	(void)arg;
	(void)pid;
	n_init++;
}

static inline void on_output(void *arg, int stream, struct slice bytes)
{
	(void)arg;
	(void)stream;
	(void)bytes;
}

static inline void on_exit_(void *arg, const struct err *err, int code)
{
	(void)arg;
	n_exit++;
	exit_code = code;
	err_copy(&exit_err, err);
}

static inline void send_to(int32_t id, const char *bytes, size_t n, const char *status,
	const char *text, bool begins)
{
	struct str out;

	str_init(&out, 1 << 16);
	if (begins)
		h2_grpc_begin(&out, id);
	if (bytes)
		h2_message(&out, id, bytes, n);
	if (status)
		h2_grpc_end(&out, id, status, text);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
}

static inline int n_calls(void)
{
	int n = 0;

	for (const char *at = has_peer ? peer.log.p : NULL;
		at && (at = strstr(at, "/process.v1.ProcessService/")); at++)
		n++;
	return n;
}

static inline void start(const char *cwd)
{
	struct runtime_start_opts opts = { .argv = argv,
		.cwd = cwd,
		.init_timeout_ms = 3000,
		.on_init = on_init,
		.on_output = on_output,
		.on_exit = on_exit_ };
	int n = n_calls();

	n_init = n_exit = 0;
	exit_err = (struct err){ 0 };
	process = runtime_process_start(rig.runtime, &opts, NULL);
	assert_non_null(process);
	UNTIL(n_calls() == n + 1);
}

static inline void run(int32_t id)
{
	start(NULL);
	send_to(id, "\x0a\x02\x08\x15", 4, NULL, NULL, true);
	UNTIL(n_init == 1);
}

static inline void end(int32_t id)
{
	send_to(id, "\x22\x02\x08\x03", 4, "0", "", false);
	UNTIL(n_exit == 1);
	if (exit_err.code != ERR_NONE)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_int_equal(exit_code, 3);
	runtime_process_free(process);
}
