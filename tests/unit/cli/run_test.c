// SPDX-License-Identifier: Apache-2.0
/* run and sh against a daemon played frame by frame: streams, limits, signals, and the exit status of each end. */
#include "tests/unit/cli/program.h"
#include "tests/unit/engine/net/h2_peer.h"

#include <arpa/inet.h>
#include <event2/listener.h>
#include <netinet/in.h>

static struct h2_peer peer;
static struct bufferevent *ends[2]; /* the program's connection, the peer's wire */
static struct evconnlistener *listener;
static uint16_t port;
static bool has_peer;
static bool refuses_input; /* WriteStdin fails */
static int32_t answered;   /* the last stream of a call that was answered */
static struct program program;
static char spoken[1 << 13];

static void on_tunnel_read(struct bufferevent *bev, void *arg)
{
	struct bufferevent *other = bev == ends[0] ? ends[1] : ends[0];
	(void)arg;
	if (other != NULL)
		bufferevent_write_buffer(other, bufferevent_get_input(bev));
}

static void drop_tunnel(void)
{
	for (int i = 0; i < 2; i++)
		if (ends[i] != NULL)
			bufferevent_free(ends[i]);
	ends[0] = ends[1] = NULL;
}

static void on_tunnel_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		drop_tunnel();
}

static void on_accept(struct evconnlistener *from, evutil_socket_t fd, struct sockaddr *address,
	int n, void *arg)
{
	struct cluster *c = arg;
	(void)address;
	(void)n;
	assert_false(has_peer);
	has_peer = true;
	answered = 1;
	ends[0] = bufferevent_socket_new(
		evconnlistener_get_base(from), fd, BEV_OPT_CLOSE_ON_FREE);
	ends[1] = h2_peer_init(&peer, c->api.loop);
	for (int i = 0; i < 2; i++) {
		bufferevent_setcb(ends[i], on_tunnel_read, NULL, on_tunnel_event, NULL);
		bufferevent_enable(ends[i], EV_READ | EV_WRITE);
	}
}

static int set_up(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof address;
	cluster_set_up(state);
	struct cluster *c = *state;
	has_peer = refuses_input = false;
	program.never_blocks = false;
	listener = evconnlistener_new_bind(net_loop_base(c->api.loop), on_accept, c,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1,
		(struct sockaddr *)(void *)&address, sizeof address);
	getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)(void *)&address, &n);
	port = ntohs(address.sin_port);
	return 0;
}

static int tear_down(void **state)
{
	drop_tunnel();
	if (has_peer)
		h2_peer_deinit(&peer);
	evconnlistener_free(listener);
	program_free(&program);
	return cluster_tear_down(state);
}

static void start(struct cluster *c, const char *line)
{
	char *whole = x_asprintf("--grpc 127.0.0.1:%u %s", (unsigned)port, line);
	program_start(c, &program, whole);
	free(whole);
}

/* The path stands before "HEADERS 3". */
static bool is_input(const char *headers)
{
	const char *call = NULL;
	for (const char *at = peer.log.p; (at = strstr(at, ":path=")) != NULL && at < headers;
		at++)
		call = at;
	return call != NULL &&
	       strncmp(call, ":path=/process.v1.ProcessService/WriteStdin", 43) == 0;
}

/* Every call but Start has an empty answer. */
static void answer_calls(void)
{
	for (const char *at = peer.log.p; (at = strstr(at, "HEADERS ")) != NULL; at += 8) {
		int32_t id = (int32_t)strtol(at + 8, NULL, 10);
		if (id <= answered)
			continue;
		answered = id;
		struct str out;
		str_init(&out, 1 << 12);
		h2_grpc_begin(&out, id);
		if (refuses_input && is_input(at)) {
			h2_grpc_end(&out, id, "8", "no room for it");
		} else {
			h2_message(&out, id, "", 0);
			h2_grpc_end(&out, id, "0", "");
		}
		h2_peer_send(&peer, out.p, out.n);
		str_deinit(&out);
	}
}

#define UNTIL(c, condition)                                                                    \
	do {                                                                                   \
		int64_t until_ = clock_mono_ms() + PROGRAM_MS;                                 \
		while (!(condition)) {                                                         \
			program_turn(c, &program);                                             \
			if (has_peer && peer.log.p != NULL)                                    \
				answer_calls();                                                \
			if (clock_mono_ms() > until_) {                                        \
				kill(program.pid, SIGKILL);                                    \
				fail_msg("never: %s\n%s\n%s", #condition, program.err.p,       \
					has_peer ? peer.log.p : "no connection");              \
			}                                                                      \
		}                                                                              \
	} while (0)

static bool was_called(const char *method)
{
	snprintf(spoken, sizeof spoken, "/process.v1.ProcessService/%s", method);
	return has_peer && peer.log.p != NULL && h2_peer_saw(&peer, spoken);
}

static int n_calls(const char *method)
{
	int n = 0;
	snprintf(spoken, sizeof spoken, "/process.v1.ProcessService/%s", method);
	for (const char *at = peer.log.p; (at = strstr(at, spoken)) != NULL; at++)
		n++;
	return n;
}

static bool was_sent(const char *bytes)
{
	return has_peer && memmem(peer.body.p, peer.body.n, bytes, strlen(bytes)) != NULL;
}

static void send_event(const char *bytes, size_t n)
{
	struct str out;
	str_init(&out, 1 << 12);
	h2_message(&out, 1, bytes, n);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
}
#define EVENT(text) send_event((text), sizeof(text) - 1)
#define OUT(text) EVENT("\x12" text)
#define ERR_OUT(text) EVENT("\x1a" text)
#define KILLED "\x22\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"

static void running(struct cluster *c, const char *line)
{
	struct str out;
	start(c, line);
	UNTIL(c, was_called("Start"));
	str_init(&out, 1 << 12);
	h2_grpc_begin(&out, 1);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
	EVENT("\x0a\x02\x08\x15"); /* pid 21 */
}

static void exits(struct cluster *c, const char *event, size_t n, int status)
{
	struct str out;
	send_event(event, n);
	str_init(&out, 1 << 12);
	h2_grpc_end(&out, 1, "0", "");
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
	program_end(c, &program);
	if (program.status != status)
		fail_msg("%d instead of %d: '%s' '%s'", program.status, status, program.out.p,
			program.err.p);
}
#define EXITS(c, event, status) exits(c, event, sizeof(event) - 1, status)

/* ---- */

/* Whoever reads us is slower than the process: the rest comes after its exit. */
static void the_rest_comes_later(void **state)
{
	enum { BYTES = 200000 };
	static char event[BYTES + 4] = "\x12\xc0\x9a\x0c"; /* the length as a varint */
	struct cluster *c = *state;
	struct str out;
	program.never_blocks = true;
	running(c, "run -- cmd");
	memset(event + 4, 'x', BYTES);
	str_init(&out, 1 << 20);
	h2_message(&out, 1, event, sizeof event);
	h2_message(&out, 1, "\x22\x02\x08\x03", 4);
	h2_grpc_end(&out, 1, "0", "");
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
	API_FOR(&c->api, 300);
	program_end(c, &program);
	assert_int_equal(program.status, 3);
	assert_int_equal(program.out.n, BYTES);
}

static void streams_and_status(void **state)
{
	struct cluster *c = *state;
	running(c, "run -e K=V --cwd d -- cmd a_b");
	assert_true(was_sent("cmd"));
	assert_true(was_sent("a b"));
	assert_true(was_sent("K"));
	OUT("\x03hi\n");
	ERR_OUT("\x03no\n");
	OUT("\x05more\n");
	EXITS(c, "\x22\x02\x08\x03", 3);
	assert_string_equal(program.out.p, "hi\nmore\n");
	assert_string_equal(program.err.p, "no\n");
}

static void collected(void **state)
{
	struct cluster *c = *state;
	running(c, "run -o json -- cmd");
	OUT("\x03hi\n");
	ERR_OUT("\x03no\n");
	EXITS(c, "\x22\x02\x08\x03", 3);
	assert_string_equal(program.err.p, "");
	assert_int_equal(strncmp(program.out.p,
				 "{\n\t\"stdout\":\t\"hi\\n\",\n\t\"stderr\":\t\"no\\n\",\n"
				 "\t\"exitCode\":\t3,\n\t\"duration\":\t",
				 64),
		0);
}

static void killed_by_another(void **state)
{
	struct cluster *c = *state;
	running(c, "run -o yaml -- cmd");
	EXITS(c, KILLED, 137);
	assert_non_null(strstr(program.out.p, "exitCode: -1\n")
				?: strstr(program.out.p, "exitCode: null\n"));
}

static void input_goes_through(void **state)
{
	struct cluster *c = *state;
	running(c, "run -- cmd");
	assert_int_equal(write(program.in, "hello", 5), 5);
	UNTIL(c, was_sent("hello"));
	assert_int_equal(n_calls("WriteStdin"), 1);
	close(program.in);
	program.in = -1;
	UNTIL(c, n_calls("WriteStdin") == 2); /* its end */
	EXITS(c, "\x22\x02\x08\x00", 0);
}

/* The process would wait for it for ever: `echo x | sandmux run -- cat` has to end. */
static void input_that_is_lost(void **state)
{
	struct cluster *c = *state;
	refuses_input = true;
	running(c, "run -- cmd");
	assert_int_equal(write(program.in, "hello", 5), 5);
	close(program.in);
	program.in = -1;
	UNTIL(c, was_called("SendSignal"));
	EXITS(c, KILLED, 125);
	assert_non_null(strstr(program.err.p, "its input could not be brought to it"));
	assert_non_null(strstr(program.err.p, "no room for it"));
}

static void input_that_is_left_alone(void **state)
{
	struct cluster *c = *state;
	start(c, "run --no-stdin -- cmd");
	assert_int_equal(write(program.in, "hello", 5), 5);
	UNTIL(c, was_called("Start"));
	struct str out;
	str_init(&out, 1 << 12);
	h2_grpc_begin(&out, 1);
	h2_peer_send(&peer, out.p, out.n);
	str_deinit(&out);
	EVENT("\x0a\x02\x08\x15");
	UNTIL(c, was_called("WriteStdin"));
	EXITS(c, "\x22\x00", 0);
	assert_false(was_sent("hello"));
	assert_int_equal(n_calls("WriteStdin"), 1); /* its end */
}

static void the_time_is_over(void **state)
{
	struct cluster *c = *state;
	running(c, "run --timeout 400ms -o json -- cmd");
	UNTIL(c, was_called("SendSignal"));
	EXITS(c, KILLED, 124);
	assert_int_equal(strncmp(program.err.p, "{\"code\":\"op.timeout\"", 20), 0);
	assert_non_null(strstr(program.err.p, "it did not end within 400 ms and was killed"));
	assert_non_null(strstr(program.out.p, "\"exitCode\":\tnull"));
}

/* Asked to end, it goes on; killed, it does not even say so. */
static void the_time_is_over_for_one_that_does_not_listen(void **state)
{
	struct cluster *c = *state;
	running(c, "run --timeout 300ms --set kill-grace=200ms -- cmd");
	UNTIL(c, n_calls("SendSignal") == 2);
	program_end(c, &program);
	assert_int_equal(program.status, 124);
	assert_non_null(strstr(program.err.p, "it did not end within 300 ms and was killed"));
}

static void asked_twice(void **state)
{
	struct cluster *c = *state;
	running(c, "run -- cmd");
	OUT("\x02hi");
	UNTIL(c, strstr(program.out.p, "hi") != NULL);
	kill(program.pid, SIGTERM);
	UNTIL(c, n_calls("SendSignal") == 1);
	kill(program.pid, SIGINT); /* now it is killed */
	UNTIL(c, n_calls("SendSignal") == 2);
	EXITS(c, KILLED, 130);
}

static void asked_to_end(void **state)
{
	static const struct {
		int number, status;
	} rows[] = { { SIGINT, 130 }, { SIGTERM, 143 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (i > 0) {
			tear_down(state);
			set_up(state);
		}
		struct cluster *c = *state;
		running(c, "run -- cmd");
		OUT("\x02hi");
		UNTIL(c, strstr(program.out.p, "hi") != NULL);
		kill(program.pid, rows[i].number);
		UNTIL(c, was_called("SendSignal"));
		EXITS(c, KILLED, rows[i].status);
	}
}

/* Its own status counts, whatever it was asked. */
static void asked_to_end_and_says_why(void **state)
{
	struct cluster *c = *state;
	running(c, "run -- cmd");
	OUT("\x02hi");
	UNTIL(c, strstr(program.out.p, "hi") != NULL);
	kill(program.pid, SIGTERM);
	UNTIL(c, was_called("SendSignal"));
	EXITS(c, "\x22\x02\x08\x09", 9);
}

static void too_much_output(void **state)
{
	struct cluster *c = *state;
	running(c, "run --output-limit 3 -- cmd");
	OUT("\x05hello");
	UNTIL(c, was_called("SendSignal"));
	EXITS(c, KILLED, 125);
	assert_string_equal(program.out.p, "hel");
	assert_string_equal(program.err.p,
		"sandmux: limit.output: it wrote more than 3 B and was killed\n");
}

static void a_lost_connection(void **state)
{
	struct cluster *c = *state;
	running(c, "run -- cmd");
	OUT("\x02hi");
	UNTIL(c, strstr(program.out.p, "hi") != NULL);
	drop_tunnel();
	evconnlistener_disable(listener);
	program_end(c, &program);
	assert_int_equal(program.status, 125);
	assert_int_equal(strncmp(program.err.p, "sandmux: ", 9), 0);
}

static void nobody_listens(void **state)
{
	struct cluster *c = *state;
	evconnlistener_disable(listener);
	program_start(c, &program, "--grpc 127.0.0.1:1 run --timeout 500ms -- cmd");
	program_end(c, &program);
	assert_int_equal(program.status, 124);
	assert_int_equal(strncmp(program.err.p, "sandmux: ", 9), 0);
	assert_string_equal(program.out.p, "");
}

static void shells(void **state)
{
	struct cluster *c = *state;
	running(c, "sh");
	assert_true(was_sent("/bin/sh"));
	assert_true(was_sent("exec bash -l || exec sh -l"));
	assert_false(was_sent("TERM="));
	EXITS(c, "\x22\x02\x08\x02", 2);
	tear_down(state);
	set_up(state);
	c = *state;
	running(c, "sh -- zsh");
	assert_true(was_sent("zsh"));
	assert_false(was_sent("bash"));
	EXITS(c, "\x22\x02\x08\x00", 0);
}

static void a_terminal_without_one_of_ours(void **state)
{
	struct cluster *c = *state;
	setenv("TERM", "xterm-test", 1);
	running(c, "run -t -- cmd");
	assert_true(was_sent("xterm-test"));
	assert_true(was_sent("LANG"));
	/* the end of our input is a key there */
	close(program.in);
	program.in = -1;
	UNTIL(c, was_sent("\x04"));
	EXITS(c, "\x22\x02\x08\x00", 0);
}

#define RUN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		RUN(streams_and_status),
		RUN(the_rest_comes_later),
		RUN(collected),
		RUN(killed_by_another),
		RUN(input_goes_through),
		RUN(input_that_is_lost),
		RUN(input_that_is_left_alone),
		RUN(the_time_is_over),
		RUN(the_time_is_over_for_one_that_does_not_listen),
		RUN(asked_twice),
		RUN(asked_to_end),
		RUN(asked_to_end_and_says_why),
		RUN(too_much_output),
		RUN(a_lost_connection),
		RUN(nobody_listens),
		RUN(shells),
		RUN(a_terminal_without_one_of_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
