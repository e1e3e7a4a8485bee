// SPDX-License-Identifier: Apache-2.0
/* Is the daemon well? A daemon that the test plays is asked, by timers that fire when the test says so. */
#include "tests/unit/local/server/world.h"

#include "local/server/kubelet/run.h"
#include "tests/unit/engine/net/turns.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_TIMERS = 200 };

static struct fake {
	struct net_loop_timer *timer;
	net_loop_fn *fn;
	void *arg;
	int64_t in_ms; /* -1: not armed */
} timers[MAX_TIMERS];
static int n_timers, listener;
static struct world *world;
static struct kubelet_run r;

struct net_loop_timer *__real_net_loop_timer_new(
	struct net_loop *loop, net_loop_fn *fn, void *arg);
struct net_loop_timer *__wrap_net_loop_timer_new(
	struct net_loop *loop, net_loop_fn *fn, void *arg);
struct net_loop_timer *__wrap_net_loop_timer_new(
	struct net_loop *loop, net_loop_fn *fn, void *arg)
{
	assert_true(n_timers < MAX_TIMERS);
	timers[n_timers] =
		(struct fake){ __real_net_loop_timer_new(loop, fn, arg), fn, arg, -1 };
	return timers[n_timers++].timer;
}

void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms);
void __wrap_net_loop_timer_arm(struct net_loop_timer *timer, int64_t delay_ms)
{
	for (int i = n_timers - 1; i >= 0; i--)
		if (timers[i].timer == timer) {
			timers[i].in_ms = delay_ms;
			return;
		}
	fail_msg("a timer that is not known");
}

/* The first timer is that of the probe, the last the deadline of the question under way. */
static int64_t armed(void)
{
	int64_t ms = timers[0].in_ms;
	timers[0].in_ms = -1;
	return ms;
}

static void fire(const struct fake *timer)
{
	timer->fn(timer->arg);
}

static int set_up(void **state)
{
	static char ns[] = "default", name[] = "p";
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(8080) };
	world_set_up(state);
	world = *state;
	n_timers = 0;
	r = (struct kubelet_run){
		.c = world->c, .ns = ns, .name = name, .daemon = (struct isolation_spawn *)&r
	};
	snprintf(r.uid, sizeof r.uid, "pod-1");
	uint8_t high = (uint8_t)(getpid() / 250 % 250), low = (uint8_t)(getpid() % 250 + 1);
	snprintf(r.address, sizeof r.address, "127.78.%u.%u", high, low);
	world_put(world, KIND_POD,
		"{'metadata':{'name':'p','uid':'pod-1'},'spec':{'containers':[{'name':'c'}]}}");
	inet_pton(AF_INET, r.address, &at.sin_addr);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, 4), 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 8) != 0)
		r.address[0] = '\0'; /* somebody has the port on every address */
	kubelet_probe_start(&r, kubelet_run_on_health);
	return 0;
}

static int tear_down(void **state)
{
	kubelet_probe_stop(&r);
	assert_null(r.probe_call);
	net_loop_run_once(world->server.loop, 0);
	net_loop_timer_free(r.probe);
	if (listener >= 0)
		close(listener);
	return world_tear_down(state);
}

/* The question comes, and this is the answer; NULL: the connection ends without one. */
static void ask(const char *answer)
{
	char bytes[300], wanted[300];
	int fd = -1;
	ssize_t n = 0;
	fire(&timers[0]);
	assert_non_null(r.probe_call);
	assert_int_equal(timers[n_timers - 1].in_ms, 2000);
	TURN_UNTIL(world->server.loop, (fd = accept(listener, NULL, NULL)) >= 0);
	TURN_UNTIL(
		world->server.loop, (n = recv(fd, bytes, sizeof bytes - 1, MSG_DONTWAIT)) > 0);
	bytes[n] = '\0';
	snprintf(wanted, sizeof wanted,
		"GET /v1/health HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.address);
	assert_string_equal(bytes, wanted);
	if (answer)
		assert_int_equal(send(fd, answer, strlen(answer), 0), strlen(answer));
	if (!answer || !strchr(answer, '\n'))
		shutdown(fd, SHUT_WR);
	TURN_UNTIL(world->server.loop, r.probe_call == NULL);
	close(fd);
}

#define WELL "HTTP/1.1 200 OK\r\n"
#define ILL "HTTP/1.1 503 Service Unavailable\r\n"

static void test_which_answer_is_well(void **state)
{
	static const struct {
		const char *answer;
		bool is_well;
	} rows[] = {
		{ WELL, true },
		{ WELL "Content-Length: 0\r\n\r\n", true },
		{ "HTTP/1.0 200 \r\n", true },
		{ "HTTP/1.1 200\r\n", true },
		{ "HTTP/1.1 200 ", true },
		{ "HTTP/1.1 200", false },
		{ "HTTP/1.1 2000 OK\r\n", false },
		{ "HTTP/1.1 204 No Content\r\n", false },
		{ "HTTP/1.1  200 OK\r\n", false },
		{ "HTTP/1.2 200 OK\r\n", false },
		{ "HTTP/2.0 200 OK\r\n", false },
		{ "HTTP/1.10 200 OK\r\n", false },
		{ "http/1.1 200 OK\r\n", false },
		{ " HTTP/1.1 200 OK\r\n", false },
		{ ILL, false },
		{ "\n", false },
		{ NULL, false },
	};
	(void)state;
	if (!r.address[0])
		skip();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		r.state = RUN_STARTING;
		ask(rows[i].answer);
		if ((r.state == RUN_READY) != rows[i].is_well)
			fail_msg("row %zu", i);
		assert_int_equal(r.probe_misses == 0, rows[i].is_well);
	}
}

/* Sooner and later while it starts; seldom when it is well; soon again when it is not. */
static void test_when_it_is_asked(void **state)
{
	static const int64_t starting[] = { 22, 33, 49, 73, 109, 163, 244, 366, 549, 549 };
	char address[16];
	(void)state;
	if (!r.address[0])
		skip();
	assert_int_equal(armed(), 15);
	snprintf(address, sizeof address, "%s", r.address);
	snprintf(r.address, sizeof r.address, "nowhere");
	for (size_t i = 0; i < sizeof starting / sizeof starting[0]; i++) {
		fire(&timers[0]);
		assert_int_equal(armed(), starting[i]);
	}
	assert_int_equal(r.state, RUN_STARTING);
	assert_int_equal(world_events(world, "p", "Unhealthy"), 0);
	snprintf(r.address, sizeof r.address, "%s", address);
	ask(WELL);
	assert_int_equal(r.state, RUN_READY);
	assert_int_equal(armed(), 10000);
	for (int i = 0; i < 2; i++) {
		ask(ILL);
		assert_int_equal(r.state, RUN_READY);
		assert_int_equal(armed(), 500);
	}
	ask(WELL); /* which counts anew */
	assert_int_equal(armed(), 10000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.state, RUN_READY);
		ask(ILL);
	}
	assert_int_equal(r.state, RUN_UNREADY);
	assert_int_equal(armed(), 10000);
	assert_int_equal(world_events(world, "p", "Unhealthy"), 1);
	ask(ILL);
	assert_int_equal(world_events(world, "p", "Unhealthy"), 1);
	ask(WELL);
	assert_int_equal(r.state, RUN_READY);
	/* a new start begins anew */
	r.probe_misses = 2;
	kubelet_probe_start(&r, kubelet_run_on_health);
	assert_int_equal(armed(), 15);
	assert_int_equal(r.probe_misses, 0);
}

/* Nothing comes in time, or the timer comes again while a question is under way. */
static void test_one_that_says_nothing(void **state)
{
	(void)state;
	if (!r.address[0])
		skip();
	fire(&timers[0]);
	assert_non_null(r.probe_call);
	fire(&timers[n_timers - 1]);
	assert_null(r.probe_call);
	assert_int_equal(r.probe_misses, 1);
	assert_int_equal(armed(), 22);
	fire(&timers[0]);
	struct kubelet_probe_call *first = r.probe_call;
	fire(&timers[0]);
	assert_ptr_not_equal(r.probe_call, first);
	assert_int_equal(r.probe_misses, 1);
	/* nobody listens any more */
	kubelet_probe_stop(&r);
	net_loop_run_once(world->server.loop, 0);
	close(listener);
	listener = -1;
	fire(&timers[0]);
	TURN_UNTIL(world->server.loop, r.probe_call == NULL);
	assert_int_equal(r.probe_misses, 2);
}

static void test_who_is_not_told(void **state)
{
	(void)state;
	r.daemon = NULL;
	kubelet_run_on_health(&r, true);
	assert_int_equal(r.state, RUN_STARTING);
	r.daemon = (struct isolation_spawn *)&r;
	kubelet_run_on_health(&r, false);
	assert_int_equal(r.state, RUN_STARTING);
	world_remove(world, KIND_POD, "p");
	kubelet_run_on_health(&r, true);
	assert_int_equal(r.state, RUN_STARTING);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_which_answer_is_well),
		TEST(test_when_it_is_asked),
		TEST(test_one_that_says_nothing),
		TEST(test_who_is_not_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
