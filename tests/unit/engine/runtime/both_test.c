// SPDX-License-Identifier: Apache-2.0
/* A daemon with both of its addresses: REST first, then gRPC; a working directory that is not there; and whether it still
 * answers while a process runs. For the last the linker puts the long waits through here: they pass at once, and the clock
 * with them. */
#include "tests/unit/unit.h"

#include "tests/unit/engine/net/h2_peer.h"
#include "tests/unit/engine/runtime/rig.h"

#include <event2/event.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- waits of liveness.c: 20 s between two questions, 5 s after one without an answer */
enum { ASK_MS = 20000, ASK_AGAIN_MS = 5000 };

static struct str waits; /* "20000 5000 …" */
static int64_t passed_ms;
static bool is_quick;
static loop_fn *woken;
static void *woken_arg;

void __real_loop_timer_arm(struct loop_timer *timer, int64_t delay_ms);
void __wrap_loop_timer_arm(struct loop_timer *timer, int64_t delay_ms);
int64_t __real_clock_mono_ms(void);
int64_t __wrap_clock_mono_ms(void);
struct loop_wake *__real_loop_wake_add(struct loop *loop, loop_fn *fn, void *arg);
struct loop_wake *__wrap_loop_wake_add(struct loop *loop, loop_fn *fn, void *arg);

void __wrap_loop_timer_arm(struct loop_timer *timer, int64_t delay_ms)
{
	if (!is_quick || (delay_ms != ASK_MS && delay_ms != ASK_AGAIN_MS)) {
		__real_loop_timer_arm(timer, delay_ms);
		return;
	}
	str_addf(&waits, "%d ", (int)delay_ms);
	passed_ms += delay_ms;
	__real_loop_timer_arm(timer, 1);
}

int64_t __wrap_clock_mono_ms(void)
{
	return __real_clock_mono_ms() + passed_ms;
}

struct loop_wake *__wrap_loop_wake_add(struct loop *loop, loop_fn *fn, void *arg)
{
	woken = fn;
	woken_arg = arg;
	return __real_loop_wake_add(loop, fn, arg);
}

/* By the real clock. */
#define UNTIL(condition)                                                                       \
	do {                                                                                   \
		int64_t until_ms_ = __real_clock_mono_ms() + 10000;                            \
		while (!(condition)) {                                                         \
			if (__real_clock_mono_ms() > until_ms_)                                \
				fail_msg("waited in vain for %s", #condition);                 \
			loop_run_once(rig.loop, 20);                                           \
		}                                                                              \
	} while (0)

/* ---- the daemon: a fake REST side, and a door to a peer that is played frame by frame */
static struct rig rig;
static struct h2_peer peer;
static struct evconnlistener *door;
static struct bufferevent *ends[2];
static bool has_peer;
static int n_health_before_peer;

static void turns(int ms)
{
	for (int64_t until = __real_clock_mono_ms() + ms; __real_clock_mono_ms() < until;)
		loop_run_once(rig.loop, 5);
}

static enum { ANSWERS, REFUSES, HANGS_UP } health;
static const char *folder_status; /* of HEAD */
static char asked[500];

static void handle(struct fake_request *request, void *arg)
{
	(void)arg;
	if (strcmp(request->path, "/v1/health") == 0) {
		if (health == HANGS_UP)
			fake_close(request);
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

static void on_tunnel_read(struct bufferevent *bev, void *arg)
{
	(void)arg;
	bufferevent_write_buffer(
		bev == ends[0] ? ends[1] : ends[0], bufferevent_get_input(bev));
}

static void on_knock(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int n, void *arg)
{
	(void)listener;
	(void)address;
	(void)n;
	(void)arg;
	assert_false(has_peer);
	n_health_before_peer = rig.fake.n_health;
	ends[0] = bufferevent_socket_new(loop_base(rig.loop), fd, BEV_OPT_CLOSE_ON_FREE);
	ends[1] = h2_peer_init(&peer, rig.loop);
	has_peer = true;
	for (int i = 0; i < 2; i++) {
		bufferevent_setcb(ends[i], on_tunnel_read, NULL, NULL, NULL);
		bufferevent_enable(ends[i], EV_READ | EV_WRITE);
	}
}

static uint16_t open_door(struct loop *loop)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof in;

	door = evconnlistener_new_bind(loop_base(loop), on_knock, NULL,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1, (struct sockaddr *)&in,
		sizeof in);
	getsockname(evconnlistener_get_fd(door), (struct sockaddr *)&in, &n);
	return ntohs(in.sin_port);
}

static int64_t connect_ms = 4000;

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	str_init(&waits, 4096);
	passed_ms = 0;
	is_quick = false;
	health = ANSWERS;
	folder_status = "404 Not Found";
	asked[0] = 0;
	has_peer = false;
	n_health_before_peer = -1;
	rig_open(&rig, handle, NULL);
	rig.fake.own_health = true;
	runtime_free(rig.runtime);
	struct runtime_opts opts = { .rest_url = rig.url,
		.grpc_host = "127.0.0.1",
		.grpc_port = open_door(rig.loop),
		.connect_timeout_ms = connect_ms,
		.label = "the-box" };
	rig.runtime = runtime_new(rig.loop, rig.http, &opts, &err);
	return rig.runtime == NULL;
}

static int set_up_hasty(void **state)
{
	connect_ms = 400;
	int rc = set_up(state);
	connect_ms = 4000;
	return rc;
}

static int tear_down(void **state)
{
	(void)state;
	if (door)
		evconnlistener_free(door);
	door = NULL;
	runtime_free(rig.runtime);
	rig.runtime = NULL;
	if (has_peer) {
		bufferevent_free(ends[0]);
		bufferevent_free(ends[1]);
		h2_peer_deinit(&peer);
	}
	http_free(rig.http);
	fake_rest_close(&rig.fake);
	loop_free(rig.loop);
	str_deinit(&waits);
	return 0;
}

/* ---- a process */
static int n_init, n_exit, exit_code;
static struct err exit_err;
static struct runtime_process *process;
static const char *const argv[] = { "sleep", NULL };

static void on_init(void *arg, int pid)
{
	(void)arg;
	(void)pid;
	n_init++;
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	(void)arg;
	(void)stream;
	(void)bytes;
}

static void on_exit_(void *arg, const struct err *err, int code)
{
	(void)arg;
	n_exit++;
	exit_code = code;
	err_copy(&exit_err, err);
}

static void send_to(int32_t id, const char *bytes, size_t n, const char *status,
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

static int n_calls(void)
{
	int n = 0;

	for (const char *at = has_peer ? peer.log.p : NULL;
		at && (at = strstr(at, "/process.v1.ProcessService/")); at++)
		n++;
	return n;
}

static void start(const char *cwd)
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

static void run(int32_t id)
{
	start(NULL);
	send_to(id, "\x0a\x02\x08\x15", 4, NULL, NULL, true);
	UNTIL(n_init == 1);
}

static void end(int32_t id)
{
	send_to(id, "\x22\x02\x08\x03", 4, "0", "", false);
	UNTIL(n_exit == 1);
	if (exit_err.code != ERR_NONE)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_int_equal(exit_code, 3);
	runtime_process_free(process);
}

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

/* ---- does it still answer? */
static void asks(int n)
{
	UNTIL(rig.fake.n_health >= n);
}

static void it_is_asked_while_a_process_runs(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	asks(5);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_UP);
	health = REFUSES; /* is an answer too */
	asks(8);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_UP);
	assert_int_equal(n_exit, 0);
	assert_memory_equal(waits.p, "20000 20000 20000 20000 20000 20000 ", 36);
	assert_null(strstr(waits.p, "5000 5000"));
	health = ANSWERS;
	end(1);
	/* and no longer than that */
	turns(50);
	int n = rig.fake.n_health;
	turns(50);
	assert_int_equal(rig.fake.n_health, n);
	run(3);
	asks(n + 2);
	end(3);
}

static void silence_and_an_answer(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	health = HANGS_UP;
	UNTIL(strstr(waits.p, "20000 5000 ") != NULL);
	UNTIL(runtime_state_of(rig.runtime) == RUNTIME_DOWN);
	/* said at the second, not at the first */
	assert_non_null(strstr(waits.p, "20000 5000 5000 "));
	assert_int_equal(n_exit, 0);
	health = ANSWERS;
	UNTIL(runtime_state_of(rig.runtime) == RUNTIME_UP);
	assert_int_equal(n_exit, 0);
	end(1);
}

static size_t count_of(const char *word)
{
	size_t n = 0;

	for (const char *at = waits.p; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

static void silence_for_too_long(void **state)
{
	(void)state;
	is_quick = true;
	health = ANSWERS;
	run(1);
	health = HANGS_UP;
	UNTIL(n_exit == 1);
	if (exit_err.code != ERR_PROC_LOST)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_non_null(strstr(exit_err.msg, "the-box has not answered for 9"));
	/* 20 s to the first question, then every 5 s up to 90 s */
	assert_int_equal(count_of(" 5000"), 14);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_DOWN);
	size_t n = waits.n;
	turns(50);
	assert_int_equal(waits.n, n); /* nothing is asked any more */
	runtime_process_free(process);
}

/* After the machine has slept nobody wants to wait that long. */
static void silence_after_a_sleep(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	assert_non_null(woken);
	health = HANGS_UP;
	str_clear(&waits);
	woken(woken_arg);
	UNTIL(n_exit == 1);
	if (exit_err.code != ERR_PROC_LOST)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_non_null(strstr(exit_err.msg, "the-box has not answered for 20 s"));
	assert_string_equal(waits.p, "5000 5000 5000 5000 ");
	runtime_process_free(process);
	/* with no process there is nothing to ask */
	int n = rig.fake.n_health;
	woken(woken_arg);
	turns(30);
	assert_int_equal(rig.fake.n_health, n);
}

static void an_answer_after_a_sleep(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	woken(woken_arg);
	asks(2);
	asks(4);
	/* the usual patience again */
	health = HANGS_UP;
	UNTIL(n_exit == 1);
	assert_non_null(strstr(exit_err.msg, "the-box has not answered for 9"));
	runtime_process_free(process);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rest_comes_first),
		cmocka_unit_test_setup_teardown(nobody_at_the_door, set_up_hasty, tear_down),
		TEST(is_it_the_folder),
		TEST(the_same_of_a_command),
		TEST(it_is_asked_while_a_process_runs),
		TEST(silence_and_an_answer),
		TEST(silence_for_too_long),
		TEST(silence_after_a_sleep),
		TEST(an_answer_after_a_sleep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
