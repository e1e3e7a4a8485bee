// SPDX-License-Identifier: Apache-2.0
/* The bytes of a server, cut at every place: delivered in two pieces everything still works, and
 * with the connection ending there each call completes exactly once. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "tests/unit/engine/net/h2_peer.h"
#include "tests/unit/engine/net/turns.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

struct cut_call {
	struct net_grpc_call *call;
	int messages, done;
	enum err_code code;
};

static int closed;

static void on_message(void *arg, struct slice message)
{
	struct cut_call *c = arg;
	assert_int_equal(c->done, 0);
	assert_true(message.n == 4 || message.n == 300);
	c->messages++;
}

static void on_done(void *arg, const struct err *err)
{
	struct cut_call *c = arg;
	assert_int_equal(c->done++, 0);
	c->code = err != NULL ? err->code : ERR_NONE;
}

static void on_closed(void *arg, const struct err *err)
{
	(void)arg;
	(void)err;
	closed++;
}

static void build(struct str *out)
{
	char large[300] = "";
	str_init(out, 1 << 16);
	h2_frame(out, NGHTTP2_SETTINGS, 0, 0, "\0\5\0\0\x40\0", 6);
	h2_frame(out, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	h2_grpc_begin(out, 1);
	h2_message(out, 1, "init", 4);
	h2_grpc_begin(out, 3);
	h2_data(out, 3, false, "\0\0", 2);
	h2_frame(out, NGHTTP2_PING, 0, 0, "12345678", 8);
	h2_message(out, 1, large, sizeof large);
	h2_data(out, 3, false, "\0\0\4abcd", 7);
	h2_grpc_end(out, 1, "0", "");
	h2_grpc_end(out, 3, "5", "gone");
}

/* Returns whether both calls ended as the server meant. */
static bool run(const struct str *bytes, size_t cut, bool end_there)
{
	struct net_loop *loop = net_loop_new(NULL);
	struct bufferevent *pair[2];
	struct cut_call calls[2] = { { .call = NULL }, { .call = NULL } };
	assert_int_equal(bufferevent_pair_new(net_loop_base(loop), 0, pair), 0);
	bufferevent_enable(pair[1], EV_READ | EV_WRITE);
	closed = 0;
	struct net_grpc_conn_opts conn_opts = { .authority = "a:1", .on_closed = on_closed };
	struct net_grpc_conn *conn = net_grpc_conn_new_take(loop, pair[0], &conn_opts, NULL);
	for (int i = 0; i < 2; i++) {
		struct net_grpc_call_opts opts = { .path = "/a/b",
			.message = { "m", 1 },
			.on_message = on_message,
			.done = on_done,
			.arg = &calls[i] };
		calls[i].call = net_grpc_start(conn, &opts, NULL);
		assert_non_null(calls[i].call);
	}
	net_loop_run_once(loop, 0);
	bufferevent_write(pair[1], bytes->p, cut);
	net_loop_run_once(loop, 0);
	if (!end_there)
		bufferevent_write(pair[1], bytes->p + cut, bytes->n - cut);
	bufferevent_flush(pair[1], EV_WRITE, BEV_FINISHED);
	for (int i = 0; i < 3; i++)
		net_loop_run_once(loop, 0);
	assert_int_equal(calls[0].done, 1);
	assert_int_equal(calls[1].done, 1);
	assert_int_equal(closed, 1);
	net_grpc_conn_free(conn);
	bufferevent_free(pair[1]);
	net_loop_free(loop);
	bool as_meant = calls[0].code == ERR_NONE && calls[0].messages == 2 &&
			calls[1].code == ERR_RPC_NOT_FOUND && calls[1].messages == 1;
	for (int i = 0; i < 2 && !as_meant; i++)
		assert_true(calls[i].code == ERR_CONN_LOST || calls[i].code == ERR_NONE);
	return as_meant;
}

static void test_two_pieces(void **state)
{
	(void)state;
	struct str bytes;
	build(&bytes);
	for (size_t cut = 0; cut <= bytes.n; cut++)
		if (!run(&bytes, cut, false))
			fail_msg("in two pieces, cut at %zu of %zu", cut, bytes.n);
	str_deinit(&bytes);
}

static void test_end_at_every_byte(void **state)
{
	(void)state;
	struct str bytes;
	build(&bytes);
	for (size_t cut = 0; cut < bytes.n; cut++)
		if (run(&bytes, cut, true))
			fail_msg("ended at %zu of %zu, and all is well?", cut, bytes.n);
	assert_true(run(&bytes, bytes.n, true));
	str_deinit(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_pieces),
		cmocka_unit_test(test_end_at_every_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
