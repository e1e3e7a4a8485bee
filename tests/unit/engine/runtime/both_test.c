// SPDX-License-Identifier: Apache-2.0
/* REST first, then gRPC; a working directory that is not there; spans of processes; tunnels. */
#include "tests/unit/engine/runtime/both.h"

static void rest_comes_first(void **state)
{
	(void)state;
	run(1);
	assert_int_equal(n_health_before_peer, 1);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_UP);
	assert_int_equal(rig.fake.n_health, 1);
	assert_true(h2_peer_saw(&peer, ":authority=127.0.0.1:"));
	end(1);
	/* on the connection that lives there is no new look */
	run(3);
	assert_int_equal(rig.fake.n_health, 1);
	end(3);
}

static void nobody_at_the_door(void **state)
{
	(void)state;
	evconnlistener_free(door);
	door = NULL;
	struct runtime_start_opts opts = {
		.argv = argv, .on_init = on_init, .on_output = on_output, .on_exit = on_exit_
	};
	n_exit = 0;
	process = runtime_process_start(rig.runtime, &opts, NULL);
	UNTIL(runtime_trouble(rig.runtime, &exit_err));
	assert_non_null(strstr(exit_err.msg, "the-box does not come up: "));
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_CONNECTING);
	UNTIL(n_exit == 1);
	assert_int_equal(exit_err.code, ERR_CONN_REFUSED);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_DOWN);
	runtime_process_free(process);
}

/* ---- a working directory that is not there */
#define NOT_FOUND                                                                                \
	"failed to start command: command or path not found: fork/exec /bin/x: no such file or " \
	"directory"

static void is_it_the_folder(void **state)
{
	static const struct {
		const char *cwd, *status, *asked;
		enum err_code is;
		const char *says;
	} rows[] = {
		{ "d/e", "404 Not Found", "HEAD /v1/files/d/e", ERR_PROC_NO_CWD,
			"no directory d/e in the sandbox" },
		{ "//d", "404 Not Found", "HEAD /v1/files/d", ERR_PROC_NO_CWD,
			"no directory //d in the sandbox" },
		{ "d", "200 OK", "HEAD /v1/files/d", ERR_PROC_COMMAND_NOT_FOUND, "" },
		{ "d", "403 Forbidden", "HEAD /v1/files/d", ERR_PROC_COMMAND_NOT_FOUND, "" },
		{ "d", NULL, "HEAD /v1/files/d", ERR_PROC_COMMAND_NOT_FOUND, "" },
		{ NULL, "404 Not Found", "", ERR_PROC_COMMAND_NOT_FOUND, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		folder_status = rows[i].status;
		asked[0] = 0;
		start(rows[i].cwd);
		send_to((int32_t)(2 * i + 1), NULL, 0, "5", NOT_FOUND, true);
		UNTIL(n_exit == 1);
		if (exit_err.code != rows[i].is || !strstr(exit_err.msg, rows[i].says) ||
			strcmp(asked, rows[i].asked) != 0)
			fail_msg("row %zu: %s %s, asked %s", i, err_name(&exit_err),
				exit_err.msg, asked);
		runtime_process_free(process);
	}
	/* while that is asked it can be given up */
	folder_status = "";
	asked[0] = 0;
	start("d");
	send_to(13, NULL, 0, "5", NOT_FOUND, true);
	UNTIL(asked[0]);
	runtime_process_kill(process);
	turns(30);
	assert_int_equal(n_exit, 0);
}

static void on_result(void *arg, const struct err *err, const struct runtime_result *result)
{
	(void)result;
	rig_done(arg, err);
}

static void on_deleted(void *arg, const struct err *err)
{
	rig_done(arg, err);
}

static void the_same_of_a_command(void **state)
{
	static const struct {
		const char *status;
		enum err_code is;
	} rows[] = { { "404 Not Found", ERR_PROC_NO_CWD },
		{ "200 OK", ERR_PROC_COMMAND_NOT_FOUND } };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int n = n_calls();
		folder_status = rows[i].status;
		assert_non_null(runtime_execute_start(
			rig.runtime, argv, NULL, "d", 0, on_result, &rig, NULL));
		UNTIL(n_calls() == n + 1);
		send_to((int32_t)(2 * i + 1), NULL, 0, "5", NOT_FOUND, true);
		UNTIL(rig.n_done == (int)i + 1);
		if (rig.err.code != rows[i].is)
			fail_msg("row %zu: %s %s", i, err_name(&rig.err), rig.err.msg);
	}
	assert_null(runtime_execute_start(
		rig.runtime, argv, NULL, "../d", 0, on_result, &rig, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
}

/* ---- what is remembered, and told along */
static char record_text[500];

static bool on_record(void *arg, const struct telemetry_record *record)
{
	int n = snprintf(record_text, sizeof record_text, "%s %s", record->name,
		record->duration_ns < 0 ? "open" : record->status_text);

	(void)arg;
	struct str attrs;
	str_init(&attrs, sizeof record_text);
	for (size_t i = 0; i < record->n_attrs; i++) {
		str_addf(&attrs, " %s=", record->attrs[i].key);
		telemetry_attr_add_text(&attrs, &record->attrs[i]);
	}
	snprintf(record_text + n, sizeof record_text - (size_t)n, "%s", attrs.p);
	str_deinit(&attrs);
	return false;
}

static void spans_of_processes(void **state)
{
	(void)state;
	run(1);
	assert_true(h2_peer_saw(&peer, "traceparent=00-"));
	telemetry_each(telemetry, on_record, NULL);
	assert_non_null(strstr(record_text, " open sandbox.label=the-box"));
	assert_non_null(strstr(record_text, " sandbox.command.executable=sleep"));
	assert_null(strstr(record_text, "exit_code"));
	end(1);
	telemetry_each(telemetry, on_record, NULL);
	assert_null(strstr(record_text, " open"));
	assert_non_null(strstr(record_text, " sandbox.exit_code=3"));
	/* a command, whole */
	static const char *const words[] = { "/bin/ls", "secret", NULL };
	int n = n_calls();
	assert_non_null(runtime_execute_start(
		rig.runtime, words, NULL, NULL, 0, on_result, &rig, NULL));
	UNTIL(n_calls() == n + 1);
	send_to(3, "\x08\x05", 2, "0", "", true);
	UNTIL(rig.n_done == 1);
	assert_false(rig.failed);
	telemetry_each(telemetry, on_record, NULL);
	assert_string_equal(record_text, "sandmux.run  sandbox.label=the-box "
					 "sandbox.command.executable=ls sandbox.exit_code=5");
}

/* ---- signals and sizes */
static int n_of(const char *method)
{
	int n = 0;

	for (const char *at = peer.log.p; (at = strstr(at, method)); at++)
		n++;
	return n;
}

static void signals_do_not_pile_up(void **state)
{
	enum { MOST = 16 };
	struct err err = { 0 };

	(void)state;
	run(1);
	assert_false(runtime_process_signal(process, (enum runtime_signal)1, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	/* without a terminal there is no size to tell */
	runtime_process_resize(process, 100, 30);
	for (int i = 0; i < MOST; i++)
		assert_true(runtime_process_signal(process, RUNTIME_SIGINT, &err));
	assert_false(runtime_process_signal(process, RUNTIME_SIGTERM, &err));
	assert_int_equal(err.code, ERR_OP_BUSY);
	assert_true(runtime_process_signal(process, RUNTIME_SIGKILL, &err)); /* always */
	UNTIL(n_of("SendSignal") == MOST + 1);
	assert_int_equal(n_of("ResizeTTY"), 0);
	/* the peer has taken two, whatever it says of them: there is room for one more */
	send_to(3, NULL, 0, "5", "process 21 not found", true);
	send_to(5, "", 0, "0", "", true);
	int64_t until = __real_clock_mono_ms() + 10000;
	while (!runtime_process_signal(process, RUNTIME_SIGTERM, &err) &&
		__real_clock_mono_ms() < until)
		net_loop_run_once(rig.loop, 5);
	UNTIL(n_of("SendSignal") == MOST + 2);
	assert_int_equal(n_exit, 0);
	send_to(1, "\x22\x02\x08\x03", 4, "0", "", false);
	UNTIL(n_exit == 1);
	assert_false(runtime_process_signal(process, RUNTIME_SIGTERM, &err));
	assert_int_equal(err.code, ERR_PROC_GONE);
	runtime_process_free(process);
}

static void the_end_of_input_is_told_once(void **state)
{
	struct err err = { 0 };

	(void)state;
	run(1);
	assert_true(runtime_process_eof(process, &err));
	UNTIL(n_of("WriteStdin") == 1);
	assert_true(runtime_process_eof(process, &err));
	send_to(3, "", 0, "0", "", true);
	assert_true(runtime_process_signal(process, RUNTIME_SIGINT, &err));
	UNTIL(n_of("SendSignal") == 1);
	assert_true(runtime_process_eof(process, &err));
	assert_true(runtime_process_signal(process, RUNTIME_SIGINT, &err));
	UNTIL(n_of("SendSignal") == 2);
	assert_int_equal(n_of("WriteStdin"), 1);
	end(1);
}

/* ---- both through a tunnel */
static struct bufferevent *pipes[8];
static size_t n_pipes;
static uint16_t tunnelled[4];
static bool tunnel_fails;

static void on_pipe_read(struct bufferevent *bev, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < n_pipes; i++)
		if (pipes[i] == bev)
			bufferevent_write_buffer(pipes[i ^ 1], bufferevent_get_input(bev));
}

static bool on_tunnel(void *arg, uint16_t port, int fd_take, struct err *err)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	assert_ptr_equal(arg, &tunnelled);
	if (tunnel_fails)
		return err_set(err, ERR_PORTFWD_DENIED, "you may not");
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tunnelled[n_pipes / 2] = port;
	pipes[n_pipes] =
		bufferevent_socket_new(net_loop_base(rig.loop), fd_take, BEV_OPT_CLOSE_ON_FREE);
	pipes[n_pipes + 1] =
		bufferevent_socket_new(net_loop_base(rig.loop), -1, BEV_OPT_CLOSE_ON_FREE);
	n_pipes += 2;
	bufferevent_socket_connect(pipes[n_pipes - 1], (struct sockaddr *)&in, sizeof in);
	for (size_t i = n_pipes - 2; i < n_pipes; i++) {
		bufferevent_setcb(pipes[i], on_pipe_read, NULL, NULL, NULL);
		bufferevent_enable(pipes[i], EV_READ | EV_WRITE);
	}
	return true;
}

static void both_lanes_through_a_tunnel(void **state)
{
	struct err err = { 0 };
	char url[64];

	(void)state;
	/* its token may go there, whatever the address looks like */
	snprintf(url, sizeof url, "http://10.1.2.3:%u", (unsigned)rig.fake.port);
	uint16_t grpc_port = 0;
	struct sockaddr_in in;
	socklen_t n = sizeof in;
	getsockname(evconnlistener_get_fd(door), (struct sockaddr *)&in, &n);
	grpc_port = ntohs(in.sin_port);
	runtime_close(rig.runtime);
	runtime_unref(rig.runtime);
	struct runtime_opts opts = { .rest_url = url,
		.grpc_host = "10.1.2.3",
		.grpc_port = grpc_port,
		.token = "secret",
		.connect = on_tunnel,
		.connect_arg = &tunnelled,
		.connect_timeout_ms = 4000 };
	n_pipes = 0;
	tunnel_fails = false;
	rig.runtime = runtime_new(rig.loop, rig.http, &opts, &err);
	assert_non_null(rig.runtime);
	run(1);
	assert_int_equal(n_pipes, 4);
	assert_int_equal(tunnelled[0], rig.fake.port);
	assert_int_equal(tunnelled[1], grpc_port);
	assert_true(h2_peer_saw(&peer, "authorization=Bearer secret"));
	assert_true(h2_peer_saw(&peer, ":authority=10.1.2.3:"));
	end(1);
	runtime_close(rig.runtime);
	runtime_unref(rig.runtime);
	rig.runtime = NULL;
	for (size_t i = 0; i < n_pipes; i++)
		bufferevent_free(pipes[i]);
	/* refused there, no attempt helps */
	tunnel_fails = true;
	opts.rest_url = NULL;
	rig.runtime = runtime_new(rig.loop, rig.http, &opts, &err);
	struct runtime_start_opts start_opts = {
		.argv = argv, .on_init = on_init, .on_output = on_output, .on_exit = on_exit_
	};
	n_exit = 0;
	process = runtime_process_start(rig.runtime, &start_opts, NULL);
	UNTIL(n_exit == 1);
	assert_int_equal(exit_err.code, ERR_PORTFWD_DENIED);
	runtime_process_free(process);
}

/* What stands between us may be late with its backend; not for ever. */
static void a_backend_that_is_missing(void **state)
{
	(void)state;
	runtime_close(rig.runtime);
	runtime_unref(rig.runtime);
	const struct runtime_router router = { .sandbox = "box", .namespace_ = "ns" };
	const struct runtime_opts opts = {
		.rest_url = rig.url, .router = &router, .connect_timeout_ms = 60000
	};
	rig.runtime = runtime_new(rig.loop, rig.http, &opts, NULL);
	health = NO_BACKEND;
	assert_non_null(
		runtime_delete_start(rig.runtime, "x", false, 60000, on_deleted, &rig, NULL));
	UNTIL(rig.fake.n_health >= 2); /* asked again */
	assert_int_equal(rig.n_done, 0);
	passed_ms += 5000;
	UNTIL(rig.n_done == 1);
	assert_int_equal(rig.err.code, ERR_ROUTER_BACKEND);
	assert_true(rig.fake.n_health <= 5);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rest_comes_first),
		cmocka_unit_test_setup_teardown(nobody_at_the_door, set_up_hasty, tear_down),
		TEST(is_it_the_folder),
		TEST(the_same_of_a_command),
		TEST(spans_of_processes),
		TEST(signals_do_not_pile_up),
		TEST(the_end_of_input_is_told_once),
		TEST(both_lanes_through_a_tunnel),
		TEST(a_backend_that_is_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
