// SPDX-License-Identifier: Apache-2.0
/* The gRPC server with methods of the test's own, spoken to by a client that may say what it likes: requests that are refused
 * and in which words, deadlines, flow control, what is given back, and the end. */
#include "tests/unit/local/daemon/h2_client.h"

#include "local/daemon/frame.h"

enum { MIB = 1 << 20, FLOOD_BYTES = 3 * MIB };

static bool wants_token;
static int n_idle, n_closed;
static char authorization[100];

/* ---- the server's methods */

static struct daemon_h2_call *held;
static size_t flooded;
static int n_drained;

static void echo(void *arg, struct daemon_h2_call *call, struct slice message)
{
	assert_ptr_equal(arg, &server);
	daemon_h2_call_send(call, message.p, message.n);
	daemon_h2_call_finish(call, RPC_OK, "%s", "");
}

static void say_words(void *arg, struct daemon_h2_call *call, struct slice message)
{
	(void)arg;
	daemon_h2_call_finish(
		call, RPC_NOT_FOUND, "no %.*s, 100 %%", (int)message.n, message.p);
}

static void on_closed(void *owner)
{
	assert_ptr_equal(owner, &held);
	n_closed++;
	held = NULL;
}

static void hold(void *arg, struct daemon_h2_call *call, struct slice message)
{
	(void)arg;
	(void)message;
	held = call;
	daemon_h2_call_keep(call, on_closed, NULL, &held);
}

static void pour(void)
{
	static char bytes[16 << 10];
	while (flooded < FLOOD_BYTES && daemon_h2_call_queued(held) < H2_QUEUE_HIGH) {
		daemon_h2_call_send(held, bytes, sizeof bytes - FRAME_PREFIX_BYTES);
		flooded += sizeof bytes;
	}
	if (flooded == FLOOD_BYTES)
		daemon_h2_call_finish(held, RPC_OK, "%s", "");
}

static void on_drained(void *owner)
{
	assert_ptr_equal(owner, &held);
	assert_true(daemon_h2_call_queued(held) <= H2_QUEUE_LOW);
	n_drained++;
	pour();
}

static void flood(void *arg, struct daemon_h2_call *call, struct slice message)
{
	(void)arg;
	(void)message;
	held = call;
	flooded = 0;
	n_drained = 0;
	daemon_h2_call_keep(call, on_closed, on_drained, &held);
	pour();
}

static const struct daemon_h2_method methods[] = { { "Echo", false, echo },
	{ "EchoAtEnd", true, echo }, { "Words", false, say_words }, { "Hold", false, hold },
	{ "Flood", false, flood } };

static bool is_authorized(void *arg, struct slice token)
{
	assert_ptr_equal(arg, &wants_token);
	snprintf(authorization, sizeof authorization, "%.*s", (int)token.n, token.p);
	return !wants_token || slice_equals(token, "Bearer good");
}

static void on_idle(void *arg)
{
	assert_ptr_equal(arg, &wants_token);
	n_idle++;
}

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	wants_token = false;
	reads = true;
	n_idle = n_closed = n_goaway = 0;
	held = NULL;
	const struct daemon_h2_server_opts opts = { .service = "a.Box",
		.methods = methods,
		.n_methods = COUNT(methods),
		.arg = &server,
		.is_authorized = is_authorized,
		.on_idle = on_idle,
		.auth_arg = &wants_token };
	server = daemon_h2_server_new(loop, &opts);
	connect_client();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (session != NULL)
		disconnect_client();
	daemon_h2_server_free(server);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	return 0;
}

#define MESSAGE(text, n) "\0\0\0\0" n text
#define BODY(text) .body = text, .body_n = sizeof(text) - 1

/* ---- refusals */

static const struct {
	struct field change;
	const char *head; /* all of it, or "" for a reset */
} requests[] = {
	{ { NULL, NULL },
		":status=200;content-type=application/grpc;grpc-status=0;grpc-message=;" },
	{ { "content-type", "application/grpc+proto" },
		":status=200;content-type=application/grpc+proto;grpc-status=0;"
		"grpc-message=;" },
	{ { "content-type", "text/plain" },
		":status=415;content-type=application/grpc;grpc-status=3;grpc-message="
		"invalid gRPC request content-type \"text/plain\";" },
	{ { "content-type", NULL },
		":status=415;content-type=application/grpc;grpc-status=3;grpc-message="
		"invalid gRPC request content-type \"\";" },
	{ { ":method", "GET" },
		":status=405;content-type=application/grpc;grpc-status=13;grpc-message="
		"Received a HEADERS frame with :method \"GET\" which should be POST;" },
	{ { ":path", "Echo" },
		":status=200;content-type=application/grpc;grpc-status=12;grpc-message="
		"malformed method name: \"Echo\";" },
	{ { ":path", "/Echo" },
		":status=200;content-type=application/grpc;grpc-status=12;grpc-message="
		"malformed method name: \"/Echo\";" },
	{ { ":path", "/other.Box/Echo" },
		":status=200;content-type=application/grpc;grpc-status=12;grpc-message="
		"unknown service other.Box;" },
	{ { ":path", "/a.Box/Nothing" },
		":status=200;content-type=application/grpc;grpc-status=12;grpc-message="
		"unknown method Nothing for service a.Box;" },
	{ { "grpc-encoding", "identity" },
		":status=200;content-type=application/grpc;grpc-status=0;grpc-message=;" },
	{ { "grpc-encoding", "" },
		":status=200;content-type=application/grpc;grpc-status=0;grpc-message=;" },
	{ { "grpc-encoding", "gzip" },
		":status=200;content-type=application/grpc;grpc-status=12;grpc-message="
		"grpc: Decompressor is not installed for grpc-encoding \"gzip\";" },
	{ { "grpc-timeout", "10S" },
		":status=200;content-type=application/grpc;grpc-status=0;grpc-message=;" },
	{ { "grpc-timeout", "10x" },
		":status=400;content-type=application/grpc;grpc-status=13;grpc-message="
		"malformed grpc-timeout: transport: timeout unit is not recognized: "
		"\"10x\";" },
	{ { "grpc-timeout", "0S" },
		":status=200;content-type=application/grpc;grpc-status=4;grpc-message="
		"context deadline exceeded;" },
	{ { ":authority", NULL },
		":status=200;content-type=application/grpc;grpc-status=0;grpc-message=;" },
	/* no request at all (RFC 9113, 8.1.1) */
	{ { ":method", NULL }, "" },
	{ { ":path", NULL }, "" },
	{ { ":scheme", NULL }, "" },
	{ { ":other", "x" }, "" },
	{ { "a b", "x" }, "" },
	{ { "a", "b\nc" }, "" },
	{ { "connection", "close" }, "" },
	{ { "proxy-connection", "x" }, "" },
	{ { "keep-alive", "x" }, "" },
	{ { "transfer-encoding", "chunked" }, "" },
	{ { "upgrade", "x" }, "" },
};

static void what_a_request_must_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++) {
		struct stream stream = { BODY(MESSAGE("hi", "\2")) };
		answer_of(&stream, "Echo", requests[i].change);
		if (strcmp(stream.head, requests[i].head) != 0 ||
			stream.error !=
				(*requests[i].head ? NGHTTP2_NO_ERROR : NGHTTP2_PROTOCOL_ERROR))
			fail_msg("row %zu: %u %s", i, stream.error, stream.head);
		bool is_fine = strstr(requests[i].head, "grpc-status=0;") != NULL;
		assert_int_equal(stream.data.n, is_fine ? 7 : 0);
		str_deinit(&stream.data);
	}
	assert_false(is_over);
}

static void fields_that_come_twice_or_late(void **state)
{
	static const struct field rows[][3] = { { { ":method", "POST" },
							{ ":method", "POST" } },
		{ { ":path", "/a.Box/Echo" }, { ":path", "/a.Box/Echo" } },
		{ { ":method", "POST" }, { "x", "y" }, { ":scheme", "http" } } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stream stream = { .ends = true };
		nghttp2_nv fields[4];
		size_t n = 0;
		for (; n < 3 && rows[i][n].name != NULL; n++)
			fields[n] = nv_of(rows[i][n]);
		str_init(&stream.data, 100);
		nghttp2_submit_request(session, NULL, fields, n, NULL, &stream);
		UNTIL(stream.is_closed);
		if (stream.error != NGHTTP2_PROTOCOL_ERROR)
			fail_msg("row %zu: %u %s", i, stream.error, stream.head);
		str_deinit(&stream.data);
	}
}

static void messages_that_are_none(void **state)
{
	static char big[] = "\0\0\x40\0\1";
	const struct {
		const char *method, *body;
		size_t n;
		const char *status;
	} rows[] = {
		{ "Echo", "", 0, "grpc-status=2;grpc-message=EOF;" },
		{ "Echo", "\0\0\0", 3, "grpc-status=2;grpc-message=EOF;" },
		{ "Echo", "\0\0\0\0\3ab", 7, "grpc-status=2;grpc-message=unexpected EOF;" },
		{ "EchoAtEnd", "", 0,
			"grpc-status=13;grpc-message=cardinality violation: received no "
			"request message from non-client-streaming RPC;" },
		{ "EchoAtEnd", "\0\0\0", 3, "grpc-status=2;grpc-message=EOF;" },
		{ "EchoAtEnd", "\0\0\0\0\3ab", 7,
			"grpc-status=13;grpc-message=unexpected EOF;" },
		{ "EchoAtEnd", "\0\0\0\0\1a\0\0\0\0\0", 11,
			"grpc-status=13;grpc-message=cardinality violation: received multiple "
			"request messages for non-client-streaming RPC;" },
		/* of a second one that is not whole nobody speaks */
		{ "EchoAtEnd", "\0\0\0\0\1a\0\0\0\0", 10, "grpc-status=0;grpc-message=;" },
		{ "Echo", "\0\0\0\0\1a\0\0\0\0\0", 11, "grpc-status=0;grpc-message=;" },
		{ "Echo", "\1\0\0\0\1a", 6,
			"grpc-status=13;grpc-message=grpc: compressed flag set with identity or "
			"empty encoding;" },
		{ "Echo", "\2\0\0\0\1a", 6,
			"grpc-status=13;grpc-message=grpc: received unexpected payload format "
			"2;" },
		{ "Echo", big, 5,
			"grpc-status=8;grpc-message=grpc: received message larger than max "
			"(4194305 vs. 4194304);" },
		{ "Words", "\0\0\0\0\2\xc3\xa9", 7,
			"grpc-status=5;grpc-message=no %C3%A9, 100 %25;" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stream stream = { .body = rows[i].body, .body_n = rows[i].n };
		answer_of(&stream, rows[i].method, (struct field){ NULL, NULL });
		if (strstr(stream.head, rows[i].status) == NULL)
			fail_msg("row %zu: %s", i, stream.head);
		str_deinit(&stream.data);
	}
}

static void who_may_call(void **state)
{
	static const struct {
		struct field change;
		const char *status;
	} rows[] = { { { NULL, NULL }, "grpc-status=16;grpc-message=missing or invalid bearer "
				       "token;" },
		{ { "authorization", "Bearer bad" }, "grpc-status=16;" },
		{ { "authorization", "Bearer good" }, "grpc-status=0;" },
		/* and nothing is told to others */
		{ { ":path", "/a.Box/Nothing" }, "grpc-status=16;" } };
	(void)state;
	wants_token = true;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stream stream = { BODY(MESSAGE("hi", "\2")) };
		answer_of(&stream, "Echo", rows[i].change);
		if (strstr(stream.head, rows[i].status) == NULL)
			fail_msg("row %zu: %s", i, stream.head);
		str_deinit(&stream.data);
	}
}

/* ---- when a call begins, and how it ends */

static void the_end_of_a_request_is_waited_for(void **state)
{
	struct stream at_once = { BODY(MESSAGE("hi", "\2")) };
	struct stream at_end = { BODY(MESSAGE("ho", "\2")) };
	(void)state;
	begin(&at_once, "Echo", (struct field){ NULL, NULL });
	UNTIL(at_once.is_closed);
	/* answered, and the rest of the request is not wanted: no error */
	assert_int_equal(at_once.error, NGHTTP2_NO_ERROR);
	assert_memory_equal(at_once.data.p, MESSAGE("hi", "\2"), 7);
	int32_t id = begin(&at_end, "EchoAtEnd", (struct field){ NULL, NULL });
	for (int i = 0; i < 20; i++)
		turn();
	assert_string_equal(at_end.head, "");
	at_end.ends = true;
	nghttp2_session_resume_data(session, id);
	UNTIL(at_end.is_closed);
	assert_memory_equal(at_end.data.p, MESSAGE("ho", "\2"), 7);
	str_deinit(&at_once.data);
	str_deinit(&at_end.data);
}

static void a_deadline_ends_a_call(void **state)
{
	struct stream stream = { BODY(MESSAGE("hi", "\2")), .ends = true };
	(void)state;
	begin(&stream, "Hold", (struct field){ "grpc-timeout", "50m" });
	UNTIL(held != NULL);
	assert_false(stream.is_closed);
	UNTIL(stream.is_closed);
	assert_int_equal(stream.error, NGHTTP2_CANCEL);
	assert_int_equal(n_closed, 1);
	str_deinit(&stream.data);
}

static void a_call_that_is_given_up(void **state)
{
	struct stream stream = { BODY(MESSAGE("hi", "\2")), .ends = true };
	(void)state;
	int32_t id = begin(&stream, "Hold", (struct field){ NULL, NULL });
	UNTIL(held != NULL);
	nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
	UNTIL(n_closed == 1);
	str_deinit(&stream.data);
	/* with the connection all of its calls end */
	struct stream more = { BODY(MESSAGE("hi", "\2")), .ends = true };
	begin(&more, "Hold", (struct field){ NULL, NULL });
	UNTIL(held != NULL);
	disconnect_client();
	TURN_UNTIL(loop, n_closed == 2);
	str_deinit(&more.data);
}

/* A finished call tells its owner nothing more. */
static void a_call_that_is_finished(void **state)
{
	struct stream stream = { BODY(MESSAGE("hi", "\2")), .ends = true };
	(void)state;
	begin(&stream, "Hold", (struct field){ NULL, NULL });
	UNTIL(held != NULL);
	daemon_h2_call_send(held, "a", 1);
	daemon_h2_call_send(held, "bc", 2);
	daemon_h2_call_finish(held, RPC_UNAVAILABLE, "%s", "gone");
	UNTIL(stream.is_closed);
	assert_int_equal(n_closed, 0);
	assert_int_equal(stream.data.n, 13);
	assert_memory_equal(stream.data.p, "\0\0\0\0\1a\0\0\0\0\2bc", 13);
	assert_string_equal(stream.head, ":status=200;content-type=application/grpc;"
					 "grpc-status=14;grpc-message=gone;");
	str_deinit(&stream.data);
}

/* ---- how much may be on its way */

static void a_slow_client_stops_the_producer(void **state)
{
	struct stream stream = { BODY(MESSAGE("hi", "\2")), .ends = true };
	(void)state;
	nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, 8 * MIB);
	begin(&stream, "Flood", (struct field){ NULL, NULL });
	UNTIL(held != NULL);
	reads = false;
	for (int i = 0; i < 20; i++)
		turn();
	/* the window of the stream, and what may be queued; no more */
	assert_true(flooded < 64 * 1024 + 2 * H2_QUEUE_HIGH + 64 * 1024);
	reads = true;
	UNTIL(stream.is_closed);
	assert_int_equal(stream.data.n, FLOOD_BYTES);
	assert_int_equal(stream.error, NGHTTP2_NO_ERROR);
	assert_true(n_drained > 10);
	str_deinit(&stream.data);
}

/* ---- the end */

static void an_end_lets_calls_finish(void **state)
{
	struct stream stream = { BODY(MESSAGE("hi", "\2")), .ends = true };
	(void)state;
	begin(&stream, "Hold", (struct field){ NULL, NULL });
	UNTIL(held != NULL);
	daemon_h2_server_shutdown(server);
	daemon_h2_server_shutdown(server);
	UNTIL(n_goaway > 0);
	assert_false(is_over);
	assert_int_equal(n_idle, 0);
	/* nobody new */
	int pair[2];
	char byte;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	daemon_h2_server_accept_take(server, pair[1]);
	assert_int_equal(read(pair[0], &byte, 1), 0);
	close(pair[0]);
	daemon_h2_call_finish(held, RPC_OK, "%s", "");
	UNTIL(is_over && n_idle == 1);
	assert_int_equal(n_closed, 0);
	assert_non_null(strstr(stream.head, "grpc-status=0;"));
	for (int i = 0; i < 5; i++)
		net_loop_run_once(loop, 1);
	assert_int_equal(n_idle, 1);
	str_deinit(&stream.data);
}

static void an_end_without_calls(void **state)
{
	(void)state;
	turn();
	daemon_h2_server_shutdown(server);
	UNTIL(is_over && n_idle == 1);
	disconnect_client();
}

static void what_is_no_http2_is_closed(void **state)
{
	char byte;
	int pair[2];
	(void)state;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	daemon_h2_server_accept_take(server, pair[1]);
	assert_int_equal(
		send(pair[0], "GET / HTTP/1.1\r\n\r\n more than a preface has", 41, 0), 41);
	int64_t until = clock_mono_ms() + 10000;
	ssize_t n = -1;
	while (n != 0 && clock_mono_ms() < until) {
		net_loop_run_once(loop, 1);
		n = recv(pair[0], &byte, 1, 0);
	}
	assert_int_equal(n, 0);
	close(pair[0]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_request_must_be),
		TEST(fields_that_come_twice_or_late),
		TEST(messages_that_are_none),
		TEST(who_may_call),
		TEST(the_end_of_a_request_is_waited_for),
		TEST(a_deadline_ends_a_call),
		TEST(a_call_that_is_given_up),
		TEST(a_call_that_is_finished),
		TEST(a_slow_client_stops_the_producer),
		TEST(an_end_lets_calls_finish),
		TEST(an_end_without_calls),
		TEST(what_is_no_http2_is_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
