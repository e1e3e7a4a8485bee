// SPDX-License-Identifier: Apache-2.0
/* Whether the API server still answers: asked only while a person looks, judged by how and how fast it answers. */
#include "tests/unit/engine/cluster.h"

#include "engine/link.h"

#include <arpa/inet.h>

enum { HELD_MAX = 64, LONG_MS = 15000 };

static int answer_with; /* a status; 0: the question is kept */
static int asked;
static struct evhttp_request *held[HELD_MAX];
static size_t n_held;
static const char *retry_after; /* said with a failure; NULL: not */

static void handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	if (strcmp(is->path, "/version") != 0) {
		cluster_handle(api, request, is);
		return;
	}
	asked++;
	if (answer_with == 0 && n_held < HELD_MAX)
		held[n_held++] = request;
	else if (answer_with < 300)
		api_reply(request, answer_with, "{}");
	else {
		if (retry_after != NULL)
			evhttp_add_header(evhttp_request_get_output_headers(request),
				"Retry-After", retry_after);
		api_status(request, answer_with, "x", "not now");
	}
}

static void release(int code)
{
	answer_with = code;
	while (n_held > 0)
		api_status(held[--n_held], code, "x", "not now");
}

static int set_up(void **state)
{
	cluster_set_up(state);
	struct cluster *c = *state;
	c->api.handle = handle;
	answer_with = 200;
	asked = 0;
	n_held = 0;
	retry_after = NULL;
	cluster_add(c, "sandboxclaims", CLUSTER_CLAIM("a"));
	return 0;
}

static int tear_down(void **state)
{
	struct cluster *c = *state;
	if (n_held > 0) {
		release(200);
		API_FOR(&c->api, 50);
	}
	return cluster_tear_down(state);
}

static struct engine_link link_of(struct cluster *c)
{
	struct engine_link link;
	assert_true(engine_link_of(c->engine, &link));
	return link;
}

static void until(struct cluster *c, enum engine_link_state state)
{
	API_UNTIL(&c->api, link_of(c).state == state, LONG_MS);
}

static void open_live(struct cluster *c)
{
	cluster_open(c, (struct engine_opts){ .namespace_ = "demo" });
	cluster_sync(c);
	engine_look(c->engine, true);
	until(c, ENGINE_LINK_LIVE);
}

static void nobody_looks_and_nobody_asks(void **state)
{
	struct cluster *c = *state;
	cluster_open(c, (struct engine_opts){ .namespace_ = "demo" });
	cluster_sync(c);
	API_FOR(&c->api, 1000);
	assert_int_equal(asked, 0);
	assert_int_equal(link_of(c).state, ENGINE_LINK_WAITING);
	answer_with = 503; /* which would be asked about twice a second */
	engine_look(c->engine, true);
	until(c, ENGINE_LINK_DOWN);
	engine_look(c->engine, false);
	int before = asked;
	API_FOR(&c->api, 1500);
	assert_int_equal(asked, before);
}

static void quiet_is_asked_about(void **state)
{
	struct cluster *c = *state;
	open_live(c);
	int64_t began = clock_mono_ms();
	API_UNTIL(&c->api, asked == 1, LONG_MS);
	assert_true(clock_mono_ms() - began > 1500); /* it was listed just now */
	API_UNTIL(&c->api, clock_wall_ms() - link_of(c).as_of_wall_ms < 1000, 1000);
	assert_int_equal(link_of(c).state, ENGINE_LINK_LIVE);
	API_FOR(&c->api, 1000);
	assert_int_equal(asked, 1); /* all is well: not more often */
}

/* Between the first rows and the first answer to the question: what is shown has a time all the same. */
static void rows_have_a_time_before_the_first_answer(void **state)
{
	struct cluster *c = *state;
	answer_with = 0;
	cluster_open(c, (struct engine_opts){ .namespace_ = "demo" });
	engine_look(c->engine, true);
	cluster_sync(c);
	API_UNTIL(&c->api, n_held > 0, LONG_MS);
	release(503);
	until(c, ENGINE_LINK_DOWN);
	assert_true(clock_wall_ms() - link_of(c).as_of_wall_ms < LONG_MS);
}

static void silence_is_told_from_being_down(void **state)
{
	struct cluster *c = *state;
	open_live(c);
	answer_with = 0;
	until(c, ENGINE_LINK_SILENT);
	struct engine_link first = link_of(c);
	assert_true(first.took_ms >= LINK_PATIENCE_MS);
	assert_true(first.as_of_wall_ms > 0);
	API_UNTIL(&c->api, link_of(c).took_ms > first.took_ms + 500, LONG_MS);
	assert_int_equal(link_of(c).as_of_wall_ms, first.as_of_wall_ms); /* stands still */
	assert_int_equal(asked, 1); /* the one question waits */
	/* it ends with a failure: still the same outage */
	release(503);
	until(c, ENGINE_LINK_DOWN);
	assert_int_equal(link_of(c).since_ms, first.since_ms);
	assert_false(link_of(c).is_refused);
	assert_non_null(strstr(link_of(c).reason, "not now"));
	int64_t back = clock_mono_ms();
	release(200);
	until(c, ENGINE_LINK_LIVE);
	assert_true(clock_mono_ms() - back < 2000);
	assert_string_equal(link_of(c).reason, "");
}

static void a_late_answer_is_slow_until_one_is_fast(void **state)
{
	struct cluster *c = *state;
	open_live(c);
	answer_with = 0;
	until(c, ENGINE_LINK_SILENT);
	uint64_t revision = link_of(c).revision;
	while (n_held > 0)
		api_reply(held[--n_held], 200, "{}");
	until(c, ENGINE_LINK_SLOW);
	assert_true(link_of(c).took_ms >= LINK_PATIENCE_MS);
	assert_true(link_of(c).revision > revision);
	/* how things were when it was asked */
	assert_true(clock_wall_ms() - link_of(c).as_of_wall_ms >= LINK_PATIENCE_MS - 100);
	API_UNTIL(&c->api, n_held > 0, LONG_MS); /* asked again soon */
	while (n_held > 0)
		api_reply(held[--n_held], 200, "{}");
	until(c, ENGINE_LINK_LIVE);
}

static void a_refusal_to_answer_is_an_answer(void **state)
{
	static const struct {
		int code;
		enum engine_link_state state;
	} cases[] = { { 500, ENGINE_LINK_DOWN }, { 401, ENGINE_LINK_LIVE },
		{ 503, ENGINE_LINK_DOWN }, { 403, ENGINE_LINK_LIVE }, { 502, ENGINE_LINK_DOWN },
		{ 404, ENGINE_LINK_LIVE } };
	struct cluster *c = *state;
	open_live(c);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		answer_with = cases[i].code;
		engine_link_try(c->engine);
		until(c, cases[i].state);
	}
}

static void nobody_listens(void **state)
{
	struct cluster *c = *state;
	cluster_open(c, (struct engine_opts){ .server = "http://127.0.0.1:1" });
	engine_look(c->engine, true);
	until(c, ENGINE_LINK_DOWN);
	assert_true(link_of(c).is_refused);
	assert_int_equal(link_of(c).as_of_wall_ms, 0); /* nothing was ever read */
}

/* It is not asked before the time that it has named, unless a person has a reason. */
static void a_pause_that_is_asked_for_is_made(void **state)
{
	struct cluster *c = *state;
	open_live(c);
	answer_with = 503;
	retry_after = "2";
	engine_link_try(c->engine);
	until(c, ENGINE_LINK_DOWN);
	int64_t then = link_of(c).next_try_ms;
	assert_in_range(then - clock_mono_ms(), 1000, 2000);
	int before = asked;
	while (clock_mono_ms() < then - 100)
		API_FOR(&c->api, 20);
	assert_int_equal(asked, before);
	API_UNTIL(&c->api, link_of(c).next_try_ms > then, 1000);
	assert_int_equal(asked, before + 1);
	retry_after = NULL;
	answer_with = 200;
	engine_link_try(c->engine);
	API_UNTIL(&c->api, link_of(c).state == ENGINE_LINK_LIVE, 1000);
	assert_int_equal(link_of(c).next_try_ms, 0);
}

static void open_direct(struct cluster *c, const char *rest_url, const char *grpc_address)
{
	struct err err;
	const struct engine_opts opts = { .connect.rest_url = rest_url,
		.connect.grpc_address = grpc_address };
	c->engine = engine_new(c->api.loop, &opts, &err);
	assert_non_null(c->engine);
	engine_look(c->engine, true);
}

static void on_daemon_asked(struct evhttp_request *request, void *arg)
{
	(void)arg;
	assert_string_equal(evhttp_request_get_uri(request), "/v1/health");
	asked++;
	if (answer_with == 0 && n_held < HELD_MAX)
		held[n_held++] = request;
	else
		evhttp_send_reply(request, answer_with, "x", NULL);
}

static void a_daemon_is_asked_too(void **state)
{
	struct cluster *c = *state;
	char url[64];
	struct evhttp *daemon = evhttp_new(net_loop_base(c->api.loop));
	struct evhttp_bound_socket *bound =
		evhttp_bind_socket_with_handle(daemon, "127.0.0.1", 0);
	struct sockaddr_in address;
	socklen_t n = sizeof address;
	assert_int_equal(getsockname(evhttp_bound_socket_get_fd(bound),
				 (struct sockaddr *)(void *)&address, &n),
		0);
	evhttp_set_gencb(daemon, on_daemon_asked, NULL);
	snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(address.sin_port));
	open_direct(c, url, NULL);
	until(c, ENGINE_LINK_LIVE);
	assert_int_equal(asked, 1);
	int64_t good = link_of(c).as_of_wall_ms;
	assert_true(good > 0);
	answer_with = 503;
	until(c, ENGINE_LINK_DOWN);
	assert_non_null(strstr(link_of(c).reason, "503"));
	assert_in_range(link_of(c).as_of_wall_ms, good - 50, good + 50); /* it stands */
	answer_with = 0;
	until(c, ENGINE_LINK_SILENT);
	int64_t back = clock_mono_ms();
	release(200);
	until(c, ENGINE_LINK_LIVE);
	assert_true(clock_mono_ms() - back < 2000);
	evhttp_free(daemon);
}

static void a_daemon_that_is_not_there(void **state)
{
	struct cluster *c = *state;
	open_direct(c, "http://127.0.0.1:1", NULL);
	until(c, ENGINE_LINK_DOWN);
	assert_true(link_of(c).is_refused);
	assert_int_equal(link_of(c).as_of_wall_ms, 0);
}

static void without_rest_there_is_nobody_to_ask(void **state)
{
	struct cluster *c = *state;
	struct engine_link link;
	open_direct(c, NULL, "127.0.0.1:1");
	assert_false(engine_link_of(c->engine, &link));
	engine_link_try(c->engine);
	API_FOR(&c->api, 50);
	assert_int_equal(asked, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_looks_and_nobody_asks),
		TEST(quiet_is_asked_about),
		TEST(rows_have_a_time_before_the_first_answer),
		TEST(silence_is_told_from_being_down),
		TEST(a_late_answer_is_slow_until_one_is_fast),
		TEST(a_refusal_to_answer_is_an_answer),
		TEST(nobody_listens),
		TEST(a_pause_that_is_asked_for_is_made),
		TEST(a_daemon_is_asked_too),
		TEST(a_daemon_that_is_not_there),
		TEST(without_rest_there_is_nobody_to_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
