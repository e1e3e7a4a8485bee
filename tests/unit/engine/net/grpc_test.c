// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "tests/unit/engine/net/h2_peer.h"
#include "tests/unit/engine/net/turns.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define START "/process.v1.ProcessService/Start"
#define EXECUTE "/process.v1.ProcessService/Execute"

static struct net_loop *loop;
static struct h2_peer peer;
static struct net_grpc_conn *conn;
static int closed;
static struct err closed_err;
static bool is_starting; /* no callback may come while it is set */

struct test_call {
	struct net_grpc_call *call;
	struct str got; /* messages, each followed by '|' */
	int messages, done;
	bool ok;
	struct err err;
	int cancel_at; /* cancel in this message */
	bool consume;
};

static void on_message(void *arg, struct slice message)
{
	struct test_call *c = arg;
	assert_false(is_starting);
	assert_int_equal(c->done, 0);
	assert_non_null(c->call);
	if (message.n < 1000)
		str_add_bytes(&c->got, message.p, message.n);
	str_add_char(&c->got, '|');
	c->messages++;
	if (c->messages == c->cancel_at) {
		net_grpc_cancel(c->call);
		c->call = NULL;
	} else if (c->consume) {
		net_grpc_consumed(c->call, message.n);
	}
}

static void on_done(void *arg, const struct err *err)
{
	struct test_call *c = arg;
	assert_false(is_starting);
	assert_int_equal(c->done++, 0);
	c->ok = err == NULL;
	err_copy(&c->err, err);
	c->call = NULL;
}

static void on_closed(void *arg, const struct err *err)
{
	assert_ptr_equal(arg, &loop);
	assert_non_null(err);
	assert_int_equal(closed++, 0);
	closed_err = *err;
}

static void connect_with(struct net_grpc_conn_opts opts)
{
	struct err err;
	struct bufferevent *bev = h2_peer_init(&peer, loop);
	opts.authority = "box:9090";
	opts.on_closed = on_closed;
	opts.arg = &loop;
	is_starting = true;
	conn = net_grpc_conn_new_take(loop, bev, &opts, &err);
	is_starting = false;
	assert_non_null(conn);
}

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	closed = 0;
	connect_with((struct net_grpc_conn_opts){ .token = "s3cret" });
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_grpc_conn_free(conn);
	net_loop_run_once(loop, 0);
	h2_peer_deinit(&peer);
	net_loop_free(loop);
	return 0;
}

static void start_with(struct test_call *c, struct net_grpc_call_opts opts)
{
	struct err err = { .code = ERR_NONE };
	if (c->got.p == NULL)
		str_init(&c->got, 1 << 20);
	opts.on_message = on_message;
	opts.done = on_done;
	opts.arg = c;
	if (opts.path == NULL)
		opts.path = START;
	is_starting = true;
	c->call = net_grpc_start(conn, &opts, &err);
	is_starting = false;
	if (c->call == NULL)
		fail_msg("%s", err.msg);
}

static void start(struct test_call *c)
{
	start_with(c, (struct net_grpc_call_opts){ .message = { "hello", 5 } });
}

static void forget(struct test_call *c)
{
	str_deinit(&c->got);
}

static void send_frames(struct str *frames)
{
	h2_peer_send(&peer, frames->p, frames->n);
	str_clear(frames);
}

static void test_what_has_come_is_read_at_once(void **state)
{
	(void)state;
	enum { MESSAGES = 24 };
	struct test_call c = { .consume = true };
	struct str out;
	char event[4096] = "";
	str_init(&out, 1 << 20);
	start(&c);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "HEADERS 1"));
	h2_grpc_begin(&out, 1);
	for (int i = 0; i < MESSAGES; i++)
		h2_message(&out, 1, event, sizeof event);
	/* in the socket before the loop turns */
	assert_int_equal(send(bufferevent_getfd(peer.bev), out.p, out.n, MSG_DONTWAIT), out.n);
	net_loop_run_once(loop, 1000);
	assert_int_equal(c.messages, MESSAGES);
	net_grpc_cancel(c.call);
	str_deinit(&out);
	forget(&c);
}

/* One more call, to see that the connection is still good. */
static void check_usable(int32_t stream_id)
{
	struct test_call c = { .call = NULL };
	struct str out;
	str_init(&out, 10000);
	start(&c);
	h2_grpc_begin(&out, stream_id);
	h2_message(&out, stream_id, "fine", 4);
	h2_grpc_end(&out, stream_id, "0", "");
	char wanted[32];
	snprintf(wanted, sizeof wanted, "HEADERS %d\n", stream_id);
	TURN_UNTIL(loop, h2_peer_saw(&peer, wanted));
	send_frames(&out);
	TURN_UNTIL(loop, c.done);
	assert_true(c.ok);
	assert_string_equal(c.got.p, "fine|");
	assert_false(peer.is_broken);
	str_deinit(&out);
	forget(&c);
}

static void test_unary_call_on_the_wire(void **state)
{
	(void)state;
	struct test_call c = { .call = NULL };
	start_with(&c, (struct net_grpc_call_opts){ .path = EXECUTE,
			       .message = { "\x0a\x00\xFF", 3 },
			       .timeout_ms = 5000,
			       .is_unary = true,
			       .send_timeout = true,
			       .traceparent = "00-11-22-01" });
	TURN_UNTIL(loop, h2_peer_saw(&peer, "END"));
	static const char *const lines[] = { ":method=POST\n", ":scheme=http\n",
		":path=" EXECUTE "\n", ":authority=box:9090\n",
		"content-type=application/grpc\n", "te=trailers\n", "user-agent=sandmux/",
		"grpc-timeout=5000m\n", "traceparent=00-11-22-01\n",
		"authorization=Bearer s3cret (never indexed)\n", "DATA 1 8 END\n" };
	for (size_t i = 0; i < COUNT(lines); i++)
		if (!h2_peer_saw(&peer, lines[i]))
			fail_msg("no %s in\n%s", lines[i], peer.log.p);
	assert_int_equal(peer.body.n, 8);
	assert_memory_equal(peer.body.p, "\0\0\0\0\3\x0a\x00\xFF", 8);
	struct str out;
	str_init(&out, 10000);
	h2_grpc_begin(&out, 1);
	h2_message(&out, 1, "answer", 6);
	h2_grpc_end(&out, 1, "0", "");
	send_frames(&out);
	TURN_UNTIL(loop, c.done);
	assert_true(c.ok);
	assert_string_equal(c.got.p, "answer|");
	str_deinit(&out);
	forget(&c);
	check_usable(3);
	assert_false(h2_peer_saw(&peer, "RST")); /* an ordinary end needs none */
}

static void test_stream_sends_no_timeout(void **state)
{
	(void)state;
	struct test_call c = { .call = NULL };
	start_with(
		&c, (struct net_grpc_call_opts){ .message = { NULL, 0 }, .timeout_ms = 60000 });
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 1 5 END"));
	assert_false(h2_peer_saw(&peer, "grpc-timeout"));
	assert_false(h2_peer_saw(&peer, "traceparent"));
	struct str out;
	str_init(&out, 10000);
	h2_grpc_begin(&out, 1);
	h2_message(&out, 1, "a", 1);
	h2_message(&out, 1, "", 0); /* an empty message is a message */
	h2_message(&out, 1, "bc", 2);
	h2_grpc_end(&out, 1, "0", "");
	send_frames(&out);
	TURN_UNTIL(loop, c.done);
	assert_true(c.ok);
	assert_string_equal(c.got.p, "a||bc|");
	str_deinit(&out);
	forget(&c);
}

/* --- every way to end --- */

struct ending {
	const char *what;
	bool is_unary;
	const char *const *headers; /* first block, NULL: none */
	bool end_in_headers;
	const char *data; /* raw bytes */
	size_t data_bytes;
	const char *const *trailers;
	bool end_in_data;
	int64_t rst; /* -1: none */
	enum err_code code;
	int sys;
	const char *msg; /* part of it */
};

#define H(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define OK_HEADERS H(":status", "200", "content-type", "application/grpc")
#define DATA(bytes) .data = bytes, .data_bytes = sizeof bytes - 1

static void test_every_ending(void **state)
{
	(void)state;
	const struct ending cases[] = {
		{ "OK", .headers = OK_HEADERS, DATA("\0\0\0\0\1x"),
			.trailers = H("grpc-status", "0"), .rst = -1, .code = ERR_NONE },
		{ "trailers-only",
			.headers = H(":status", "200", "content-type", "application/grpc",
				"grpc-status", "5", "grpc-message", "process 7 not found"),
			.end_in_headers = true, .rst = -1, .code = ERR_RPC_NOT_FOUND, .sys = 5,
			.msg = "process 7 not found" },
		{ "status after messages", .headers = OK_HEADERS, DATA("\0\0\0\0\1x"),
			.trailers = H("grpc-status", "9", "grpc-message", "no"), .rst = -1,
			.code = ERR_RPC_FAILED_PRECONDITION, .sys = 9, .msg = "no" },
		{ "percent-encoding", .headers = OK_HEADERS,
			.trailers =
				H("grpc-status", "3", "grpc-message", "100%25 %C3%BC %zz %4 %"),
			.rst = -1, .code = ERR_RPC_INVALID_ARGUMENT, .sys = 3,
			.msg = "100% \xC3\xBC %zz %4 %" },
		{ "NUL in the text", .headers = OK_HEADERS,
			.trailers = H("grpc-status", "3", "grpc-message", "a%00b"), .rst = -1,
			.code = ERR_RPC_INVALID_ARGUMENT, .sys = 3,
			.msg = "a\xEF\xBF\xBD"
			       "b" },
		{ "deadline of the server", .headers = OK_HEADERS,
			.trailers = H("grpc-status", "4"), .rst = -1, .code = ERR_OP_TIMEOUT,
			.sys = 4 },
		{ "unavailable", .headers = OK_HEADERS, .trailers = H("grpc-status", "14"),
			.rst = -1, .code = ERR_CONN_LOST, .sys = 14 },
		{ "unauthenticated", .headers = OK_HEADERS, .trailers = H("grpc-status", "16"),
			.rst = -1, .code = ERR_RPC_UNAUTHENTICATED, .sys = 16 },
		{ "a status nobody knows", .headers = OK_HEADERS,
			.trailers = H("grpc-status", "99"), .rst = -1, .code = ERR_RPC_UNKNOWN,
			.sys = 99 },
		{ "a status that is no number", .headers = OK_HEADERS,
			.trailers = H("grpc-status", "-1"), .rst = -1, .code = ERR_RPC_UNKNOWN,
			.sys = 2 },
		{ "no status in trailers", .headers = OK_HEADERS, .trailers = H("x", "y"),
			.rst = -1, .code = ERR_RPC_UNKNOWN, .sys = 2 },
		{ "no trailers", .headers = OK_HEADERS, DATA("\0\0\0\0\1x"),
			.end_in_data = true, .rst = -1, .code = ERR_RPC_UNKNOWN, .sys = 2 },
		{ "the last block counts",
			.headers = H(":status", "200", "content-type", "application/grpc",
				"grpc-status", "0"),
			.trailers = H("grpc-status", "5"), .rst = -1, .code = ERR_RPC_NOT_FOUND,
			.sys = 5 },
		{ "content type with a subtype",
			.headers =
				H(":status", "200", "content-type", "application/grpc+proto"),
			.trailers = H("grpc-status", "0"), .rst = -1, .code = ERR_NONE },
		{ "a web server", .headers = H(":status", "200", "content-type", "text/html"),
			DATA("<html>"), .end_in_data = true, .rst = -1,
			.code = ERR_RPC_INTERNAL, .sys = 13 }, /* '<' is no flag of a message */
		{ "an empty web page",
			.headers = H(":status", "200", "content-type", "text/html"),
			.end_in_headers = true, .rst = -1, .code = ERR_RUNTIME_PROTOCOL,
			.sys = 2 },
		{ "HTTP 401", .headers = H(":status", "401"), .end_in_headers = true, .rst = -1,
			.code = ERR_RPC_UNAUTHENTICATED, .sys = 16, .msg = "HTTP status 401" },
		{ "HTTP 400", .headers = H(":status", "400"), .end_in_headers = true, .rst = -1,
			.code = ERR_RPC_INTERNAL, .sys = 13 },
		{ "HTTP 403", .headers = H(":status", "403"), .end_in_headers = true, .rst = -1,
			.code = ERR_RPC_PERMISSION_DENIED, .sys = 7 },
		{ "HTTP 404", .headers = H(":status", "404"), .end_in_headers = true, .rst = -1,
			.code = ERR_RPC_UNIMPLEMENTED, .sys = 12 },
		{ "HTTP 503", .headers = H(":status", "503"), .end_in_headers = true, .rst = -1,
			.code = ERR_CONN_LOST, .sys = 14 },
		{ "HTTP 500", .headers = H(":status", "500"), .end_in_headers = true, .rst = -1,
			.code = ERR_RPC_UNKNOWN, .sys = 2 },
		{ "415 with a status",
			.headers = H(":status", "415", "content-type", "application/grpc",
				"grpc-status", "3"),
			.end_in_headers = true, .rst = -1, .code = ERR_RPC_INVALID_ARGUMENT,
			.sys = 3 },
		{ "RST NO_ERROR", .rst = 0, .code = ERR_RPC_INTERNAL, .sys = 13 },
		{ "RST PROTOCOL_ERROR", .headers = OK_HEADERS, .rst = 1,
			.code = ERR_RPC_INTERNAL, .sys = 13 },
		{ "RST INTERNAL_ERROR", .rst = 2, .code = ERR_RPC_INTERNAL, .sys = 13 },
		{ "RST FLOW_CONTROL_ERROR", .rst = 3, .code = ERR_RPC_INTERNAL, .sys = 13 },
		{ "RST STREAM_CLOSED", .rst = 5, .code = ERR_RPC_UNKNOWN, .sys = 2 },
		{ "RST REFUSED_STREAM", .rst = 7, .code = ERR_CONN_LOST, .sys = 14 },
		{ "RST CANCEL", .headers = OK_HEADERS, DATA("\0\0\0\0\1x"), .rst = 8,
			.code = ERR_RPC_CANCELLED, .sys = 1 },
		{ "RST COMPRESSION_ERROR", .rst = 9, .code = ERR_RPC_INTERNAL, .sys = 13 },
		{ "RST ENHANCE_YOUR_CALM", .rst = 11, .code = ERR_RPC_RESOURCE_EXHAUSTED,
			.sys = 8 },
		{ "RST INADEQUATE_SECURITY", .rst = 12, .code = ERR_RPC_PERMISSION_DENIED,
			.sys = 7 },
		{ "RST HTTP_1_1_REQUIRED", .rst = 13, .code = ERR_RPC_UNKNOWN, .sys = 2 },
		{ "RST after a status", .headers = OK_HEADERS,
			.trailers = H("grpc-status", "5"), .rst = 8, .code = ERR_RPC_NOT_FOUND,
			.sys = 5 },
		{ "a compressed message", .headers = OK_HEADERS, DATA("\1\0\0\0\1x"), .rst = -1,
			.code = ERR_RPC_INTERNAL, .sys = 13, .msg = "compressed" },
		{ "flag 2", .headers = OK_HEADERS, DATA("\2\0\0\0\1x"), .rst = -1,
			.code = ERR_RPC_INTERNAL, .sys = 13, .msg = "format 2" },
		{ "a message that is too large", .headers = OK_HEADERS, DATA("\0\0\x40\0\1"),
			.rst = -1, .code = ERR_LIMIT_RESPONSE, .sys = 8, .msg = "4194305" },
		{ "the largest length there is", .headers = OK_HEADERS,
			DATA("\0\xFF\xFF\xFF\xFF"), .rst = -1, .code = ERR_LIMIT_RESPONSE,
			.sys = 8 },
		{ "a cut message", .headers = OK_HEADERS, DATA("\0\0\0\0\5abc"),
			.trailers = H("grpc-status", "0"), .rst = -1, .code = ERR_RPC_INTERNAL,
			.sys = 13 },
		{ "a cut prefix", .headers = OK_HEADERS, DATA("\0\0\0"),
			.trailers = H("grpc-status", "0"), .rst = -1, .code = ERR_RPC_INTERNAL,
			.sys = 13 },
		{ "unary without a message", .is_unary = true, .headers = OK_HEADERS,
			.trailers = H("grpc-status", "0"), .rst = -1, .code = ERR_RPC_INTERNAL,
			.sys = 13 },
		{ "unary with two messages", .is_unary = true, .headers = OK_HEADERS,
			DATA("\0\0\0\0\1x\0\0\0\0\1y"), .trailers = H("grpc-status", "0"),
			.rst = -1, .code = ERR_RPC_INTERNAL, .sys = 13 },
	};
	struct str out;
	str_init(&out, 1 << 20);
	int32_t id = 1;
	for (size_t i = 0; i < COUNT(cases); i++, id += 2) {
		const struct ending *e = &cases[i];
		struct test_call c = { .call = NULL };
		start_with(&c, (struct net_grpc_call_opts){
				       .message = { "m", 1 }, .is_unary = e->is_unary });
		char wanted[32];
		snprintf(wanted, sizeof wanted, "DATA %d 6 END\n", id);
		TURN_UNTIL(loop, h2_peer_saw(&peer, wanted));
		if (e->headers != NULL)
			h2_headers(&out, id, e->end_in_headers, e->headers);
		if (e->data != NULL)
			h2_data(&out, id, e->end_in_data, e->data, e->data_bytes);
		if (e->trailers != NULL)
			h2_headers(&out, id, true, e->trailers);
		if (e->rst >= 0)
			h2_rst(&out, id, (uint32_t)e->rst);
		send_frames(&out);
		TURN_UNTIL(loop, c.done);
		if (c.ok != (e->code == ERR_NONE) ||
			(!c.ok && (c.err.code != e->code || c.err.sys != e->sys)))
			fail_msg("%s: %s %d (%s)", e->what, c.ok ? "ok" : err_name(&c.err),
				c.err.sys, c.err.msg);
		if (e->msg != NULL && strstr(c.err.msg, e->msg) == NULL)
			fail_msg("%s: %s", e->what, c.err.msg);
		assert_false(peer.is_broken);
		assert_int_equal(closed, 0);
		forget(&c);
	}
	str_deinit(&out);
	check_usable(id);
}

static void test_a_long_status_text_is_cut(void **state)
{
	(void)state;
	char text[6000];
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	struct test_call c = { .call = NULL };
	struct str out;
	str_init(&out, 1 << 20);
	start(&c);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "END"));
	h2_headers(&out, 1, true,
		H(":status", "200", "content-type", "application/grpc", "grpc-status", "13",
			"grpc-message", text));
	send_frames(&out);
	TURN_UNTIL(loop, c.done);
	assert_int_equal(c.err.code, ERR_RPC_INTERNAL);
	assert_int_equal(strlen(c.err.msg), ERR_MESSAGE_BYTES - 1);
	str_deinit(&out);
	forget(&c);
}

/* --- deadlines, cancelling --- */

static void test_deadline(void **state)
{
	(void)state;
	struct test_call c = { .call = NULL };
	start_with(&c, (struct net_grpc_call_opts){ .message = { "m", 1 }, .timeout_ms = 30 });
	int64_t before = clock_mono_ms();
	TURN_UNTIL(loop, c.done);
	assert_in_range(clock_mono_ms() - before, 25, 5000);
	assert_int_equal(c.err.code, ERR_OP_TIMEOUT);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "RST 1 8\n"));
	/* a late answer finds nobody */
	struct str out;
	str_init(&out, 10000);
	h2_grpc_begin(&out, 1);
	h2_message(&out, 1, "late", 4);
	h2_grpc_end(&out, 1, "0", "");
	send_frames(&out);
	check_usable(3);
	assert_int_equal(c.messages, 0);
	str_deinit(&out);
	forget(&c);
}

static void test_cancel_before_anything_was_sent(void **state)
{
	(void)state;
	struct test_call c = { .call = NULL };
	start(&c);
	net_grpc_cancel(c.call);
	net_grpc_cancel(NULL);
	turn_for(loop, 20);
	assert_int_equal(c.done + c.messages, 0);
	forget(&c);
	check_usable(3);
}

static void test_cancel_while_waiting_and_while_receiving(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 10000);
	struct test_call waiting = { .call = NULL }, receiving = { .call = NULL },
			 inside = { .cancel_at = 2 };
	start(&waiting);
	start(&receiving);
	start(&inside);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 5 10 END"));
	net_grpc_cancel(waiting.call);
	h2_grpc_begin(&out, 3);
	h2_message(&out, 3, "one", 3);
	h2_data(&out, 3, false, "\0\0\0\0\7hal", 8); /* half a message */
	h2_grpc_begin(&out, 5);
	/* three messages in one frame: cancelled in the second, the third must not come */
	h2_data(&out, 5, false, "\0\0\0\0\1a\0\0\0\0\1b\0\0\0\0\1c", 18);
	send_frames(&out);
	TURN_UNTIL(loop, receiving.messages == 1 && inside.messages == 2);
	net_grpc_cancel(receiving.call);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "RST 1 8\n") && h2_peer_saw(&peer, "RST 3 8\n") &&
				 h2_peer_saw(&peer, "RST 5 8\n"));
	h2_message(&out, 3, "two", 3);
	h2_grpc_end(&out, 3, "0", "");
	h2_grpc_end(&out, 5, "0", "");
	send_frames(&out);
	turn_for(loop, 20);
	assert_int_equal(waiting.done + receiving.done + inside.done, 0);
	assert_string_equal(inside.got.p, "a|b|");
	check_usable(7);
	str_deinit(&out);
	forget(&waiting);
	forget(&receiving);
	forget(&inside);
}

static struct test_call *victim;

static void on_message_cancel_other(void *arg, struct slice message)
{
	(void)message;
	struct test_call *c = arg;
	c->messages++;
	net_grpc_cancel(victim->call);
	victim->call = NULL;
}

static void test_cancel_of_a_neighbour_from_a_callback(void **state)
{
	(void)state;
	struct err err;
	struct str out;
	str_init(&out, 10000);
	struct test_call other = { .call = NULL }, c = { .call = NULL };
	victim = &other;
	start(&other);
	struct net_grpc_call_opts opts = { .path = START,
		.message = { "m", 1 },
		.on_message = on_message_cancel_other,
		.done = on_done,
		.arg = &c };
	c.call = net_grpc_start(conn, &opts, &err);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 3 6 END"));
	h2_grpc_begin(&out, 1);
	h2_grpc_begin(&out, 3);
	h2_message(&out, 3, "kill", 4);
	h2_message(&out, 1, "x", 1);
	h2_grpc_end(&out, 1, "0", "");
	h2_grpc_end(&out, 3, "0", "");
	send_frames(&out);
	TURN_UNTIL(loop, c.done);
	turn_for(loop, 10);
	assert_int_equal(other.done + other.messages, 0);
	assert_true(c.ok);
	check_usable(5);
	str_deinit(&out);
	forget(&other);
}

static void test_free_ends_calls_silently(void **state)
{
	(void)state;
	struct test_call one = { .call = NULL }, two = { .call = NULL };
	start(&one);
	net_loop_run_once(loop, 0);
	start(&two);
	net_grpc_conn_free(conn);
	conn = NULL;
	TURN_UNTIL(loop, peer.is_closed);
	assert_int_equal(one.done + two.done + closed, 0);
	forget(&one);
	forget(&two);
}

static void on_done_free_conn(void *arg, const struct err *err)
{
	on_done(arg, err);
	net_grpc_conn_free(conn);
	conn = NULL;
}

static void test_free_from_a_completion(void **state)
{
	(void)state;
	struct err err;
	struct str out;
	str_init(&out, 10000);
	struct test_call c = { .call = NULL }, other = { .call = NULL };
	struct net_grpc_call_opts opts = {
		.path = START, .message = { "m", 1 }, .done = on_done_free_conn, .arg = &c
	};
	c.call = net_grpc_start(conn, &opts, &err);
	start(&other);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 3 10 END"));
	h2_grpc_begin(&out, 1);
	h2_grpc_end(&out, 1, "0", "");
	h2_grpc_begin(&out, 3);
	h2_grpc_end(&out, 3, "0", "");
	send_frames(&out);
	TURN_UNTIL(loop, c.done);
	TURN_UNTIL(loop, peer.is_closed);
	assert_int_equal(other.done + closed, 0);
	str_deinit(&out);
	forget(&other);
}

/* --- the connection ends --- */

static void test_goaway_lets_calls_finish(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 10000);
	struct test_call c = { .call = NULL }, late = { .call = NULL };
	start(&c);
	start(&late);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 3 10 END"));
	assert_true(net_grpc_conn_is_usable(conn));
	h2_goaway(&out, 0x7FFFFFFF, 0, "graceful_stop");
	send_frames(&out);
	TURN_UNTIL(loop, !net_grpc_conn_is_usable(conn));
	struct err err;
	struct net_grpc_call_opts opts = { .path = START, .done = on_done };
	assert_null(net_grpc_start(conn, &opts, &err));
	assert_int_equal(err.code, ERR_OP_CLOSED);
	assert_int_equal(c.done + late.done + closed, 0);
	h2_goaway(&out, 1, 0, ""); /* the second one never reached the server's hands */
	send_frames(&out);
	TURN_UNTIL(loop, late.done);
	assert_int_equal(late.err.code, ERR_CONN_LOST);
	assert_int_equal(c.done + closed, 0);
	h2_grpc_begin(&out, 1);
	h2_message(&out, 1, "last", 4);
	h2_grpc_end(&out, 1, "0", "");
	send_frames(&out);
	TURN_UNTIL(loop, closed);
	assert_true(c.ok);
	assert_string_equal(c.got.p, "last|");
	assert_int_equal(closed_err.code, ERR_CONN_LOST);
	assert_non_null(strstr(closed_err.msg, "graceful_stop"));
	str_deinit(&out);
	forget(&c);
	forget(&late);
}

static void test_goaway_without_calls(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 10000);
	net_loop_run_once(loop, 10);
	h2_goaway(&out, 0, 11, "too_many_pings");
	send_frames(&out);
	TURN_UNTIL(loop, closed);
	assert_non_null(strstr(closed_err.msg, "too_many_pings"));
	h2_peer_close(&peer);
	turn_for(loop, 20);
	assert_int_equal(closed, 1);
	str_deinit(&out);
}

static void test_end_of_the_connection_fails_every_call(void **state)
{
	(void)state;
	struct test_call one = { .call = NULL }, two = { .call = NULL };
	start(&one);
	start(&two);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 3 10 END"));
	h2_peer_close(&peer);
	TURN_UNTIL(loop, closed);
	assert_int_equal(one.done + two.done, 2);
	assert_int_equal(one.err.code, ERR_CONN_LOST);
	assert_int_equal(two.err.code, ERR_CONN_LOST);
	assert_int_equal(closed_err.code, ERR_CONN_LOST);
	assert_false(net_grpc_conn_is_usable(conn));
	forget(&one);
	forget(&two);
}

static void test_not_http2(void **state)
{
	(void)state;
	struct bufferevent *pair[2];
	assert_int_equal(bufferevent_pair_new(net_loop_base(loop), 0, pair), 0);
	net_grpc_conn_free(conn);
	struct net_grpc_conn_opts opts = {
		.authority = "a:1", .on_closed = on_closed, .arg = &loop
	};
	conn = net_grpc_conn_new_take(loop, pair[0], &opts, NULL);
	struct test_call c = { .call = NULL };
	start(&c);
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	bufferevent_enable(pair[1], EV_READ | EV_WRITE);
	bufferevent_write(pair[1], answer, sizeof answer - 1);
	TURN_UNTIL(loop, closed);
	assert_int_equal(c.done, 1);
	assert_int_equal(c.err.code, ERR_RUNTIME_PROTOCOL);
	bufferevent_free(pair[1]);
	forget(&c);
}

/* --- windows --- */

static void test_pings_are_answered_and_never_sent(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 1000);
	net_loop_run_once(loop, 10);
	nghttp2_submit_ping(peer.session, 0, (const uint8_t *)"12345678");
	const uint8_t *bytes;
	ssize_t n;
	while ((n = nghttp2_session_mem_send(peer.session, &bytes)) > 0)
		h2_peer_send(&peer, bytes, (size_t)n);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "PING ACK 12345678"));
	turn_for(loop, 50);
	assert_false(h2_peer_saw(&peer, "PING 1"));
	str_deinit(&out);
}

static void reconnect(struct net_grpc_conn_opts opts)
{
	net_grpc_conn_free(conn);
	net_loop_run_once(loop, 0);
	h2_peer_deinit(&peer);
	connect_with(opts);
}

static void test_a_slow_consumer_stops_only_its_own_stream(void **state)
{
	(void)state;
	enum { WINDOW = 64 << 10, PIECE = 4096 };
	reconnect((struct net_grpc_conn_opts){
		.stream_window_bytes = WINDOW, .connection_window_bytes = WINDOW });
	struct test_call slow = { .call = NULL };
	start_with(&slow,
		(struct net_grpc_call_opts){ .message = { "m", 1 }, .manual_window = true });
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 1 6 END"));
	uint64_t connection_window = peer.connection_window_given;
	struct str out;
	str_init(&out, 1 << 20);
	char piece[PIECE] = "";
	h2_grpc_begin(&out, 1);
	int sent = 0;
	for (; (sent + 1) * (PIECE + 5) <= WINDOW; sent++)
		h2_message(&out, 1, piece, PIECE);
	send_frames(&out);
	TURN_UNTIL(loop, slow.messages == sent);
	turn_for(loop, 20);
	/* the stream's window stays shut but for the prefixes, the connection's is open again */
	assert_true(peer.window_given <= (uint64_t)sent * 5);
	assert_true(peer.connection_window_given - connection_window >= WINDOW / 2);
	check_usable(3);
	/* half of it consumed: half of it back */
	uint64_t before = peer.window_given;
	for (int i = 0; i < sent; i++)
		net_grpc_consumed(slow.call, PIECE);
	TURN_UNTIL(loop, peer.window_given - before >= WINDOW / 2);
	turn_for(loop, 10);
	assert_true(peer.window_given <= (uint64_t)sent * (PIECE + 5));
	h2_grpc_end(&out, 1, "0", "");
	send_frames(&out);
	TURN_UNTIL(loop, slow.done);
	assert_true(slow.ok);
	str_deinit(&out);
	forget(&slow);
}

/* A message larger than the window has to come in all the same. */
static void test_a_message_larger_than_the_window(void **state)
{
	(void)state;
	enum { WINDOW = 64 << 10, SIZE = 1 << 20 };
	reconnect((struct net_grpc_conn_opts){
		.stream_window_bytes = WINDOW, .connection_window_bytes = 1 << 20 });
	struct test_call c = { .call = NULL };
	start_with(&c,
		(struct net_grpc_call_opts){ .message = { "m", 1 }, .manual_window = true });
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 1 6 END"));
	struct str message, out;
	str_init(&message, SIZE + 5);
	str_init(&out, 2 << 20);
	str_add_bytes(&message, "\0\0\x10\0\0", 5);
	while (message.n < SIZE + 5)
		str_add_char(&message, 'x');
	h2_grpc_begin(&out, 1);
	send_frames(&out);
	size_t sent = 0;
	int64_t until_ms = clock_mono_ms() + 10000;
	while (sent < message.n && clock_mono_ms() < until_ms) {
		size_t window = WINDOW + (size_t)peer.window_given - sent;
		size_t part = message.n - sent < window ? message.n - sent : window;
		if (part > 0)
			h2_data(&out, 1, false, message.p + sent, part);
		send_frames(&out);
		sent += part;
		net_loop_run_once(loop, 5);
	}
	assert_int_equal(sent, message.n);
	TURN_UNTIL(loop, c.messages == 1);
	/* nothing is given back twice */
	net_grpc_consumed(c.call, SIZE);
	turn_for(loop, 20);
	assert_true(peer.window_given <= SIZE + 5);
	str_deinit(&message);
	str_deinit(&out);
	forget(&c);
	net_grpc_cancel(c.call);
}

static void test_automatic_window_follows_arrival(void **state)
{
	(void)state;
	enum { WINDOW = 64 << 10 };
	reconnect((struct net_grpc_conn_opts){ .stream_window_bytes = WINDOW });
	struct test_call c = { .call = NULL };
	start(&c);
	TURN_UNTIL(loop, h2_peer_saw(&peer, "DATA 1 10 END"));
	struct str out;
	str_init(&out, 1 << 20);
	char piece[16000] = "";
	h2_grpc_begin(&out, 1);
	for (int i = 0; i < 4; i++)
		h2_message(&out, 1, piece, sizeof piece);
	send_frames(&out);
	TURN_UNTIL(loop, c.messages == 4);
	TURN_UNTIL(loop, peer.window_given >= WINDOW / 2);
	str_deinit(&out);
	forget(&c);
	net_grpc_cancel(c.call);
}

/* Large requests obey the server's window (65,535 at first) and arrive whole. */
static void test_a_large_request(void **state)
{
	(void)state;
	enum { SIZE = 1 << 20 };
	struct test_call c = { .call = NULL };
	char *bytes = malloc(SIZE);
	assert_non_null(bytes);
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 31);
	start_with(&c, (struct net_grpc_call_opts){ .message = { bytes, SIZE } });
	TURN_UNTIL(loop, h2_peer_saw(&peer, "END"));
	assert_int_equal(peer.body.n, SIZE + 5);
	assert_memory_equal(peer.body.p + 5, bytes, SIZE);
	assert_false(peer.is_broken);
	free(bytes);
	net_grpc_cancel(c.call);
	forget(&c);
}

static void test_the_longest_message(void **state)
{
	(void)state;
	enum { LIMIT = 1000 };
	char bytes[LIMIT + 1];
	memset(bytes, 'x', sizeof bytes);
	for (size_t more = 0; more < 2; more++) {
		reconnect((struct net_grpc_conn_opts){ .max_message_bytes = LIMIT });
		struct test_call c = { .call = NULL };
		struct str out;
		start_with(&c, (struct net_grpc_call_opts){ .message = { "m", 1 } });
		TURN_UNTIL(loop, h2_peer_saw(&peer, "END"));
		str_init(&out, 10000);
		h2_grpc_begin(&out, 1);
		h2_message(&out, 1, bytes, LIMIT + more);
		h2_grpc_end(&out, 1, "0", "");
		send_frames(&out);
		TURN_UNTIL(loop, c.done);
		assert_int_equal(c.ok, more == 0);
		assert_int_equal(c.messages, more == 0);
		assert_int_equal(c.err.code, more == 0 ? ERR_NONE : ERR_LIMIT_RESPONSE);
		str_deinit(&out);
		forget(&c);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_what_has_come_is_read_at_once),
		T(test_unary_call_on_the_wire),
		T(test_stream_sends_no_timeout),
		T(test_every_ending),
		T(test_a_long_status_text_is_cut),
		T(test_deadline),
		T(test_cancel_before_anything_was_sent),
		T(test_cancel_while_waiting_and_while_receiving),
		T(test_cancel_of_a_neighbour_from_a_callback),
		T(test_free_ends_calls_silently),
		T(test_free_from_a_completion),
		T(test_goaway_lets_calls_finish),
		T(test_goaway_without_calls),
		T(test_end_of_the_connection_fails_every_call),
		T(test_not_http2),
		T(test_pings_are_answered_and_never_sent),
		T(test_a_slow_consumer_stops_only_its_own_stream),
		T(test_a_message_larger_than_the_window),
		T(test_automatic_window_follows_arrival),
		T(test_a_large_request),
		T(test_the_longest_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
