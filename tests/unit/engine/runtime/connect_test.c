// SPDX-License-Identifier: Apache-2.0
/* Connecting: once for all, within its time, anew after a break; and what is refused before any byte. */
#include "tests/unit/unit.h"

#include "tests/unit/engine/runtime/rig.h"

static int n_unhealthy;
static const char *unhealthy =
	"{\"code\":\"UNAVAILABLE\",\"message\":\"sandboxd is shutting down\"}";
static const char *unhealthy_status = "503 Service Unavailable";
static bool drops;

static void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	if (drops) {
		fake_close(request);
	} else if (strcmp(request->path, "/v1/health") == 0) {
		if (n_unhealthy-- > 0)
			fake_json(request, unhealthy_status, unhealthy);
		else
			fake_json(
				request, "200 OK", "{\"status\":\"ok\",\"uptime_seconds\":7}");
	} else {
		fake_json(request, "200 OK", "{\"path\":\"/\",\"entries\":[]}");
	}
}

static void on_list(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	(void)entries;
	(void)n;
	(void)n_hidden;
	rig_done(arg, err);
}

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	struct rig *rig = arg;

	if (!err)
		rig->number = health->uptime_seconds;
	rig_done(rig, err);
}

static void list(struct rig *rig)
{
	assert_non_null(runtime_list_start(rig->runtime, "", 0, on_list, rig, NULL));
}

static void first_calls_share_one_attempt(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	n_unhealthy = 2;
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_IDLE);
	for (int i = 0; i < 5; i++)
		list(&rig);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_CONNECTING);
	rig_wait(&rig, 5);
	assert_false(rig.failed);
	assert_int_equal(rig.fake.n_health, 3);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_UP);
	list(&rig);
	rig_wait(&rig, 6);
	assert_int_equal(rig.fake.n_health, 3);
	rig_close(&rig);
}

static void an_attempt_ends_in_time_with_the_last_reason(void **state)
{
	struct rig rig;
	struct runtime_opts opts = { .connect_timeout_ms = 450 };

	(void)state;
	rig_open(&rig, handle, &opts);
	rig.fake.own_health = true;
	n_unhealthy = 1000;
	list(&rig);
	list(&rig);
	rig_wait(&rig, 2);
	assert_int_equal(rig.err.code, ERR_RUNTIME_UNAVAILABLE);
	assert_true(rig.fake.n_health <= 4);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_DOWN);
	/* the next call begins a new attempt */
	n_unhealthy = 0;
	list(&rig);
	rig_wait(&rig, 3);
	assert_false(rig.failed);
	rig_close(&rig);
}

static void a_refused_connection_is_told_as_such(void **state)
{
	struct rig rig;
	struct runtime_opts opts = { .connect_timeout_ms = 300 };

	(void)state;
	rig_open(&rig, handle, &opts);
	fake_rest_close(&rig.fake);
	list(&rig);
	rig_wait(&rig, 1);
	assert_int_equal(rig.err.code, ERR_CONN_REFUSED);
	assert_non_null(strstr(rig.err.msg, "127.0.0.1"));
	rig_close(&rig);
}

static void a_break_makes_the_next_call_look_first(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	n_unhealthy = 0;
	list(&rig);
	rig_wait(&rig, 1);
	assert_int_equal(rig.fake.n_health, 1);
	drops = true;
	list(&rig);
	rig_wait(&rig, 2);
	assert_int_equal(rig.err.code, ERR_CONN_LOST);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_DOWN);
	drops = false;
	list(&rig);
	rig_wait(&rig, 3);
	assert_false(rig.failed);
	assert_int_equal(rig.fake.n_health, 2);
	rig_close(&rig);
}

static void health_of_a_daemon_that_ends(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	n_unhealthy = 0;
	assert_non_null(runtime_health_start(rig.runtime, 0, on_health, &rig, NULL));
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(rig.number, 7);
	n_unhealthy = 1;
	assert_non_null(runtime_health_start(rig.runtime, 0, on_health, &rig, NULL));
	rig_wait(&rig, 2);
	assert_int_equal(rig.err.code, ERR_RUNTIME_UNAVAILABLE);
	rig_close(&rig);
}

static void invalidate_fails_what_waits_and_what_runs(void **state)
{
	struct rig rig;
	struct err moved = { 0 };

	(void)state;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	n_unhealthy = 1000;
	list(&rig);
	list(&rig);
	rig_turns(&rig, 50);
	err_set(&moved, ERR_SANDBOX_MOVED, "the pod was replaced");
	runtime_invalidate(rig.runtime, &moved);
	assert_int_equal(rig.n_done, 0);
	rig_wait(&rig, 2);
	assert_int_equal(rig.err.code, ERR_SANDBOX_MOVED);
	n_unhealthy = 0;
	list(&rig);
	rig_wait(&rig, 3);
	assert_false(rig.failed);
	rig_close(&rig);
}

static void a_call_has_its_own_deadline_while_it_waits(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	n_unhealthy = 1000;
	assert_non_null(runtime_list_start(rig.runtime, "", 100, on_list, &rig, NULL));
	int64_t before = clock_mono_ms();
	rig_wait(&rig, 1);
	/* with the reason, not only the time; and before the connection's own deadline */
	assert_int_equal(rig.err.code, ERR_RUNTIME_UNAVAILABLE);
	assert_true(clock_mono_ms() - before < 800);
	rig_close(&rig);
}

static const struct {
	struct runtime_opts opts;
	enum err_code is; /* NONE: accepted */
} settings[] = {
	{ { .rest_url = "http://127.0.0.1:8080" }, ERR_NONE },
	{ { .rest_url = "http://[::1]:8080" }, ERR_NONE },
	{ { .rest_url = "https://example.test/prefix" }, ERR_NONE },
	{ { .grpc_host = "10.0.0.1", .grpc_port = 9090 }, ERR_NONE },
	{ { 0 }, ERR_ARG_INVALID },
	{ { .rest_url = "127.0.0.1:8080" }, ERR_ARG_INVALID },
	{ { .rest_url = "ftp://x" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://x:99999" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://x:" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://x?y=1" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://user:pw@x" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://[::1" }, ERR_ARG_INVALID },
	{ { .grpc_host = "x" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://127.0.0.1:1", .token = "t" }, ERR_NONE },
	{ { .rest_url = "http://localhost:1", .token = "t" }, ERR_NONE },
	{ { .rest_url = "http://[::1]:1", .token = "t" }, ERR_NONE },
	{ { .rest_url = "http://10.0.0.1:1", .token = "t" }, ERR_CONN_PLAINTEXT_TOKEN },
	{ { .rest_url = "http://127.0.0.1.evil.test:1", .token = "t" },
		ERR_CONN_PLAINTEXT_TOKEN },
	{ { .rest_url = "https://10.0.0.1:1", .token = "t" }, ERR_NONE },
	{ { .grpc_host = "10.0.0.1", .grpc_port = 1, .token = "t" }, ERR_CONN_PLAINTEXT_TOKEN },
	{ { .grpc_host = "10.0.0.1",
		  .grpc_port = 1,
		  .token = "t",
		  .allow_plaintext_token = true },
		ERR_NONE },
	{ { .rest_url = "http://127.0.0.1:1", .token = "" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://127.0.0.1:1", .token = "a b" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://127.0.0.1:1", .token = "a\nX-Evil: 1" }, ERR_ARG_INVALID },
	{ { .rest_url = "http://127.0.0.1:1", .token = "\xc3\xbc" }, ERR_ARG_INVALID },
};

static void settings_are_checked(void **state)
{
	struct net_loop *loop = net_loop_new(NULL);
	struct net_http *http = net_http_new(loop, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct err err = { 0 };
		struct runtime *runtime = runtime_new(loop, http, &settings[i].opts, &err);
		if ((runtime != NULL) != (settings[i].is == ERR_NONE) ||
			err.code != settings[i].is)
			fail_msg("case %zu: %s %s", i, err_name(&err), err.msg);
		if (settings[i].opts.token && strlen(settings[i].opts.token) > 2)
			assert_null(strstr(err.msg, settings[i].opts.token));
		runtime_close(runtime);
		runtime_unref(runtime);
	}
	net_http_free(http);
	net_loop_free(loop);
}

static void what_has_no_address_is_unsupported(void **state)
{
	static const char *const argv[] = { "x", NULL };
	struct rig rig;
	struct runtime_start_opts start = { .argv = argv };
	struct err err = { 0 };

	(void)state;
	rig_open(&rig, handle, NULL);
	assert_null(runtime_process_start(rig.runtime, &start, &err));
	assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_calls_share_one_attempt),
		cmocka_unit_test(an_attempt_ends_in_time_with_the_last_reason),
		cmocka_unit_test(a_refused_connection_is_told_as_such),
		cmocka_unit_test(a_break_makes_the_next_call_look_first),
		cmocka_unit_test(health_of_a_daemon_that_ends),
		cmocka_unit_test(invalidate_fails_what_waits_and_what_runs),
		cmocka_unit_test(a_call_has_its_own_deadline_while_it_waits),
		cmocka_unit_test(settings_are_checked),
		cmocka_unit_test(what_has_no_address_is_unsupported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
