// SPDX-License-Identifier: Apache-2.0
/* A port forward against an API server played by hand: what it asks, bytes both ways, every way of ending. */
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"
#include "engine/kube/portforward.h"
#include "engine/kube/portforward_wire.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "tests/unit/engine/net/raw_ws.h"
#include "tests/unit/engine/net/turns.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct net_loop *loop;
static struct net_http *http;
static struct kube_config *config;
static struct kube_client *client;
static struct raw_ws server;
static struct kube_portforward *forward;
static int user, n_closed;
static bool closed_ok;
static struct err closed_err;
static char got[1 << 16]; /* by the user */
static size_t got_n;
static bool is_user_closed;

static void on_closed(void *arg, const struct err *err)
{
	assert_ptr_equal(arg, &forward);
	assert_int_equal(n_closed++, 0);
	closed_ok = err == NULL;
	err_copy(&closed_err, err);
}

static void begin_at(const char *url)
{
	struct err err = { 0 };
	const struct kube_config_opts opts = {
		.kubeconfig = "/dev/null", .server = url, .token = "t0ken"
	};
	config = kube_config_load(&opts, &err);
	if (config == NULL)
		fail_msg("%s", err.msg);
	const struct kube_client_opts client_opts = { .config = config,
		.user_agent = "sandmux/test" };
	client = kube_client_new(loop, http, &client_opts, &err);
	assert_non_null(client);
	int pair[2];
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	user = pair[0];
	const struct kube_portforward_opts forward_opts = {
		.namespace_ = "demo",
		.pod = "p",
		.port = 0x1234,
		.on_closed = on_closed,
		.arg = &forward,
	};
	forward = kube_portforward_open(client, &forward_opts, pair[1], &err);
	assert_non_null(forward);
	assert_int_equal(n_closed, 0);
}

static void begin(const char *protocol)
{
	char url[64];
	raw_ws_open(&server, loop, protocol);
	snprintf(url, sizeof url, "http://127.0.0.1:%u/k", (unsigned)server.port);
	begin_at(url);
}

static int set_up(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	loop = net_loop_new(NULL);
	http = net_http_new(loop, NULL);
	memset(&server, 0, sizeof server);
	n_closed = 0;
	got_n = 0;
	is_user_closed = false;
	user = -1;
	return loop == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	kube_portforward_free(forward);
	forward = NULL;
	kube_client_free(client);
	client = NULL;
	kube_config_unref(config);
	config = NULL;
	net_http_free(http);
	raw_ws_close(&server);
	if (user >= 0)
		close(user);
	net_loop_free(loop);
	return 0;
}

static bool user_reads(void)
{
	ssize_t n;
	while ((n = recv(user, got + got_n, sizeof got - got_n, 0)) > 0)
		got_n += (size_t)n;
	is_user_closed = is_user_closed || n == 0;
	return true;
}

#define USER_GETS(text)                                                                        \
	TURN_UNTIL(loop, user_reads() && got_n >= strlen(text));                               \
	assert_int_equal(got_n, strlen(text));                                                 \
	assert_memory_equal(got, text, strlen(text))

static void ends(enum err_code code, const char *words)
{
	TURN_UNTIL(loop, n_closed > 0);
	if (code == ERR_NONE) {
		assert_true(closed_ok);
	} else {
		assert_int_equal(closed_err.code, code);
		if (strstr(closed_err.msg, words) == NULL)
			fail_msg("%s", closed_err.msg);
	}
	TURN_UNTIL(loop, user_reads() && is_user_closed);
}

static void user_writes(const char *text)
{
	assert_int_equal(write(user, text, strlen(text)), strlen(text));
}

static void opens(void)
{
	raw_ws_message(&server, "\0\x34\x12", 3);
	raw_ws_message(&server, "\1\x34\x12", 3);
}

/* ---- */

static void what_is_asked(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	static const char line[] =
		"GET /k/api/v1/namespaces/demo/pods/p/portforward?ports=4660 "
		"HTTP/1.1\r\n";
	assert_int_equal(strncmp(server.head.p, line, sizeof line - 1), 0);
	char *host = x_asprintf("\r\nHost: 127.0.0.1:%u\r\n", (unsigned)server.port);
	assert_non_null(strstr(server.head.p, host));
	free(host);
	assert_null(strstr(server.head.p, "t0ken")); /* not in the clear */
	assert_non_null(strstr(server.head.p, "\r\nUser-Agent: sandmux/test\r\n"));
	assert_non_null(strstr(server.head.p, "\r\nSec-WebSocket-Protocol: " PORTFORWARD_TUNNEL
					      ", " PORTFORWARD_CHANNELS "\r\n"));
	assert_int_equal(n_closed, 0);
}

static void bytes_both_ways(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	user_writes("early "); /* waits until it is open */
	TURN_UNTIL(loop, server.messages.n > 0);
	opens();
	user_writes("late");
	TURN_UNTIL(loop, server.messages.n >= 14);
	/* channel 0 before each piece */
	assert_memory_equal(server.messages.p, "\0early |\0late|", 14);
	raw_ws_message(&server, "\0hello", 6);
	raw_ws_message(&server, "\0 you", 5);
	USER_GETS("hello you");
	assert_int_equal(n_closed, 0);
}

static void through_the_tunnel(void **state)
{
	(void)state;
	begin(PORTFORWARD_TUNNEL);
	user_writes("x");
	TURN_UNTIL(loop, server.n_messages >= 2);
	/* SYN_STREAM of the streams for errors and bytes first, then a data frame of stream 3 */
	assert_memory_equal(server.messages.p, "\x80\x03\0\1", 4);
	assert_memory_equal(
		server.messages.p + server.messages.n - 10, "\0\0\0\3\0\0\0\1x|", 10);
	/* a data frame of stream 3, cut in the middle */
	raw_ws_message(&server, "\0\0\0\3\0\0", 6);
	raw_ws_message(&server, "\0\2hi", 4);
	USER_GETS("hi");
	raw_ws_message(&server, "\0\0\0\3\1\0\0\0", 8); /* FIN */
	ends(ERR_NONE, "");
}

static void the_user_leaves(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	opens();
	close(user);
	user = -1;
	TURN_UNTIL(loop, n_closed > 0);
	assert_true(closed_ok);
	TURN_UNTIL(loop, server.is_gone);
}

static void the_user_leaves_before_it_is_open(void **state)
{
	(void)state;
	begin(NULL);
	TURN_UNTIL(loop, server.head.n > 0);
	close(user);
	user = -1;
	TURN_UNTIL(loop, n_closed > 0);
	assert_true(closed_ok);
	TURN_UNTIL(loop, server.is_gone);
}

static void the_pod_closes(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	opens();
	raw_ws_message(&server, "\0last", 5);
	raw_ws_frame(&server, 8, "\x03\xe8", 2); /* close, 1000 */
	ends(ERR_NONE, "");
	assert_memory_equal(got, "last", 4);
}

static void the_pod_refuses(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	opens();
	raw_ws_message(&server, "\1connection refused", 19);
	ends(ERR_PORTFWD_REFUSED, "port-forward to pod p port 4660: connection refused");
}

static void nonsense(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	raw_ws_message(&server, "\0\x35\x12", 3);
	ends(ERR_PORTFWD_PROTOCOL, "port-forward to pod p: ");
}

static void a_reset_stream(void **state)
{
	(void)state;
	begin(PORTFORWARD_TUNNEL);
	TURN_UNTIL(loop, server.n_messages >= 1);
	raw_ws_message(&server, "\x80\x03\0\3\0\0\0\x08\0\0\0\3\0\0\0\5", 16);
	ends(ERR_PORTFWD_LOST, "port-forward to pod p: it was reset");
}

static void a_cut_connection(void **state)
{
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	user_writes("x");
	TURN_UNTIL(loop, server.n_messages > 0);
	raw_ws_cut(&server);
	ends(ERR_PORTFWD_LOST, "port-forward to pod p: ");
}

static void refused_by_the_server(void **state)
{
	static const struct {
		const char *status;
		enum err_code code;
	} rows[] = { { "403 Forbidden", ERR_PORTFWD_DENIED },
		{ "404 Not Found", ERR_PORTFWD_NO_POD }, { "500 Internal", ERR_PORTFWD_LOST } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		tear_down(state);
		set_up(state);
		begin(NULL);
		server.status = rows[i].status;
		ends(rows[i].code, "port-forward to pod p: no way");
	}
}

static void nobody_listens(void **state)
{
	(void)state;
	begin_at("http://127.0.0.1:1");
	ends(ERR_KUBE_TRANSPORT, "");
}

/* What arrived still reaches the user, however slowly it reads; and the server waits for it. */
static void a_slow_user(void **state)
{
	static char block[32 << 10];
	size_t total = 0;
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	opens();
	memset(block, 'x', sizeof block);
	block[0] = 0;
	for (int i = 0; i < 100; i++)
		raw_ws_message(&server, block, sizeof block);
	turn_for(loop, 200);
	/* three megabytes: not all of it is taken while nobody reads */
	assert_true(raw_ws_waiting(&server) > 0);
	raw_ws_frame(&server, 8, "\x03\xe8", 2);
	for (int64_t until = clock_mono_ms() + 10000;
		!is_user_closed && clock_mono_ms() < until;) {
		net_loop_run_once(loop, 20);
		got_n = 0;
		ssize_t n;
		while ((n = recv(user, got, sizeof got, 0)) > 0)
			total += (size_t)n;
		is_user_closed = n == 0;
	}
	assert_int_equal(total, 100 * (sizeof block - 1));
	assert_int_equal(n_closed, 1);
	assert_true(closed_ok);
}

/* And the other way round: what the server does not take waits with the user. */
static void a_slow_server(void **state)
{
	static char block[1 << 16];
	size_t sent = 0;
	(void)state;
	begin(PORTFORWARD_CHANNELS);
	TURN_UNTIL(loop, server.is_open);
	opens();
	raw_ws_stop(&server, true);
	for (int quiet = 0; quiet < 20;) {
		ssize_t n = write(user, block, sizeof block);
		sent += n > 0 ? (size_t)n : 0;
		quiet = n > 0 ? 0 : quiet + 1;
		net_loop_run_once(loop, 5);
		assert_true(sent < (64 << 20));
	}
	raw_ws_stop(&server, false);
	TURN_UNTIL(loop, server.n_bytes >= sent);
	assert_int_equal(n_closed, 0);
	user_writes("more");
	TURN_UNTIL(loop, server.n_bytes >= sent + 4);
}

#define FORWARD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FORWARD(what_is_asked),
		FORWARD(bytes_both_ways),
		FORWARD(through_the_tunnel),
		FORWARD(the_user_leaves),
		FORWARD(the_user_leaves_before_it_is_open),
		FORWARD(the_pod_closes),
		FORWARD(the_pod_refuses),
		FORWARD(nonsense),
		FORWARD(a_reset_stream),
		FORWARD(a_cut_connection),
		FORWARD(refused_by_the_server),
		FORWARD(nobody_listens),
		FORWARD(a_slow_user),
		FORWARD(a_slow_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
