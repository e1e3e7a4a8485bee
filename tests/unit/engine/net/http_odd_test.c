// SPDX-License-Identifier: Apache-2.0
/* The HTTP client against servers that are slow, broken or hostile, and over tunnels. */
#include "tests/unit/engine/net/http_harness.h"
#include "tests/unit/engine/net/raw_server.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct net_loop *loop;
static struct net_http *http;
static struct raw_server server;
static const char *canned; /* what the server says; NULL: nothing */
static bool close_after;

static void say_canned(struct raw_conn *conn)
{
	if (canned != NULL)
		raw_send(conn, canned);
	if (close_after)
		raw_close(conn);
}

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	http = net_http_new(loop, NULL);
	raw_server_start(&server, loop, say_canned);
	canned = NULL;
	close_after = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_http_free(http);
	raw_server_stop(&server);
	net_loop_free(loop);
	return 0;
}

static struct got ask(struct net_http_opts opts)
{
	struct got got;
	got_init(&got);
	if (opts.url == NULL)
		opts.url = url_of(server.port, "/");
	if (opts.timeout_ms == 0)
		opts.timeout_ms = 8000;
	got_start(&got, http, opts);
	TURN_UNTIL(loop, got.done);
	return got;
}

static void test_answers(void **state)
{
	(void)state;
	static const struct {
		const char *answer;
		enum err_code code;
		int status;
		const char *body;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ERR_NONE, 200, "ok" },
		{ "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", ERR_NONE, 200, "ok" },
		{ "HTTP/1.0 200 OK\r\n\r\nuntil the end", ERR_NONE, 200, "until the end" },
		{ "HTTP/1.1 204 No Content\r\n\r\n", ERR_NONE, 204, "" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nT: x\r\n\r\n",
			ERR_NONE, 200, "ok" },
		{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
		  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
			ERR_NONE, 200, "ok" },
		{ "HTTP/1.1 500 \x1B[2J\r\nContent-Length: 2\r\n\r\nno", ERR_NONE, 500, "no" },
		/* fewer bytes than announced: what has come is handed out all the same */
		{ "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", ERR_CONN_LOST, 200,
			"short" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", ERR_CONN_LOST,
			200, "ab" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
			ERR_CONN_LOST, 200, "" },
		{ "HTTP/1.1 200 OK\r\nContent-Le", ERR_CONN_LOST, 0, "" },
		{ "", ERR_CONN_LOST, 0, "" },
		{ "SSH-2.0-OpenSSH_9.2\r\n", ERR_RUNTIME_PROTOCOL, 0, "" },
		{ "HTTP/1.1 abc OK\r\n\r\n", ERR_RUNTIME_PROTOCOL, 0, "" },
		{ "\0\0\x06\x04", ERR_CONN_LOST, 0, "" },
	};
	close_after = true;
	for (size_t i = 0; i < COUNT(cases); i++) {
		canned = cases[i].answer;
		struct got got = ask((struct net_http_opts){ .timeout_ms = 3000 });
		if (got.err.code != cases[i].code || got.status != cases[i].status ||
			strcmp(got.body.p, cases[i].body) != 0)
			fail_msg("case %zu: %s, status %d, \"%s\"", i,
				got.err.code ? err_name(&got.err) : "ok", got.status,
				got.body.p);
		str_deinit(&got.body);
	}
}

static void test_answer_cut_at_every_byte(void **state)
{
	(void)state;
	static const char whole[] =
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Test: y\r\nContent-Length: 5\r\n\r\nhello";
	char cut[sizeof whole];
	canned = cut;
	close_after = true;
	for (size_t n = 0; n < sizeof whole; n++) {
		memcpy(cut, whole, n);
		cut[n] = '\0';
		/* a lane each: 64 connections are all the server has */
		net_http_free(http);
		http = net_http_new(loop, NULL);
		raw_server_stop(&server);
		raw_server_start(&server, loop, say_canned);
		struct got got = ask((struct net_http_opts){ .timeout_ms = 3000 });
		bool is_whole = n == sizeof whole - 1;
		assert_int_equal(got.done, 1);
		if (is_whole != (got.err.code == ERR_NONE))
			fail_msg("cut at %zu: %s", n, got.err.code ? err_name(&got.err) : "ok");
		if (!is_whole)
			assert_true(got.err.code == ERR_CONN_LOST ||
				    got.err.code == ERR_RUNTIME_PROTOCOL);
		str_deinit(&got.body);
	}
}

static void flood_headers(struct raw_conn *conn)
{
	static char line[1100];
	raw_send(conn, "HTTP/1.1 200 OK\r\n");
	memset(line, 'x', sizeof line - 1);
	memcpy(line, "X-Y: ", 5);
	memcpy(line + sizeof line - 3, "\r\n", 3);
	for (int i = 0; i < 400; i++)
		raw_send(conn, line);
}

static void test_endless_headers(void **state)
{
	(void)state;
	server.handler = flood_headers;
	struct got got = ask((struct net_http_opts){ .timeout_ms = 5000 });
	assert_int_equal(got.err.code, ERR_LIMIT_RESPONSE);
	assert_int_equal(got.status, 0);
	str_deinit(&got.body);
}

/* --- gzip --- */

static const char hello_zipped[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa2\x00\x9f\xa1\xca\x09\x13\x00\x00\x00";
static char zipped[200000];
static size_t zipped_bytes;

/* Fixed Huffman codes (RFC 1951, section 3.2.6): one zero byte, then copies of 258 bytes from
 * distance 1, at 13 bits each. It has no end: nobody should get there. */
static void make_bomb(size_t unpacked_bytes)
{
	size_t bit = 0;
	memset(zipped, 0, sizeof zipped);
	memcpy(zipped, hello_zipped, 10); /* the gzip header */
	char *out = zipped + 10;
#define PUT(value, n)                                                                          \
	do { /* Huffman codes go in with their highest bit first */                            \
		for (int i_ = (n)-1; i_ >= 0; i_--, bit++)                                     \
			out[bit / 8] =                                                         \
				(char)(out[bit / 8] | (((value) >> i_ & 1) << bit % 8));       \
	} while (0)
	PUT(1, 1);    /* the last block */
	PUT(2, 2);    /* 01, lowest bit first */
	PUT(0x30, 8); /* literal 0 */
	for (size_t n = 0; n < unpacked_bytes; n += 258) {
		PUT(0xC5, 8); /* length 258 */
		PUT(0, 5);    /* distance 1 */
	}
#undef PUT
	zipped_bytes = 10 + bit / 8;
}

static void say_zipped(struct raw_conn *conn)
{
	char head[200];
	assert_true(raw_head_has(conn, "Accept-Encoding: gzip"));
	snprintf(head, sizeof head,
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
		zipped_bytes);
	raw_send(conn, head);
	bufferevent_write(conn->bev, zipped, zipped_bytes);
}

static void test_gzip_and_its_bomb(void **state)
{
	(void)state;
	server.handler = say_zipped;
	zipped_bytes = sizeof hello_zipped - 1;
	memcpy(zipped, hello_zipped, zipped_bytes);
	struct got got = ask((struct net_http_opts){ .accept_gzip = true });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_string_equal(got.body.p, "hello, hello, hello");
	assert_int_equal(got.content_length, -1); /* that of the packed form says nothing */
	str_deinit(&got.body);
	make_bomb(20 << 20);
	got = ask((struct net_http_opts){ .accept_gzip = true });
	assert_int_equal(got.err.code, ERR_LIMIT_RESPONSE);
	assert_true(got.body.n <= 8 << 20);
	str_deinit(&got.body);
	memset(zipped + 10, 0xFF, 100);
	got = ask((struct net_http_opts){ .accept_gzip = true });
	assert_int_equal(got.err.code, ERR_RUNTIME_PROTOCOL);
	str_deinit(&got.body);
}

/* --- deadlines --- */

static void test_deadlines(void **state)
{
	(void)state;
	int64_t before = clock_mono_ms();
	struct got got = ask((struct net_http_opts){ .timeout_ms = 60 });
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	assert_int_equal(got.status, 0);
	str_deinit(&got.body);
	got = ask((struct net_http_opts){ .headers_timeout_ms = 60 });
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	str_deinit(&got.body);
	got = ask((struct net_http_opts){ .stall_timeout_ms = 60 });
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	str_deinit(&got.body);
	/* the headers came in time, then nothing */
	canned = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
	got = ask((struct net_http_opts){ .headers_timeout_ms = 60, .stall_timeout_ms = 100 });
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	assert_int_equal(got.status, 200);
	assert_string_equal(got.body.p, "abc");
	str_deinit(&got.body);
	assert_in_range(clock_mono_ms() - before, 200, 6000);
}

static struct raw_conn *dripping;

static void say_head_and_drip(struct raw_conn *conn)
{
	raw_send(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
	dripping = conn;
}

static void on_drip(void *arg)
{
	(void)arg;
	if (dripping != NULL)
		raw_send(dripping, "x");
}

static void test_a_slow_drip_is_no_stall(void **state)
{
	(void)state;
	server.handler = say_head_and_drip;
	dripping = NULL;
	struct net_loop_timer *timer = net_loop_timer_new(loop, on_drip, NULL);
	net_loop_timer_arm_every(timer, 60);
	struct got got =
		ask((struct net_http_opts){ .stall_timeout_ms = 300, .on_body = got_body });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_string_equal(got.body.p, "xxxxxxxx");
	str_deinit(&got.body);
	net_loop_timer_disarm(timer);
	dripping = NULL;
	/* but the whole has its own deadline */
	net_loop_timer_arm_every(timer, 60);
	got = ask((struct net_http_opts){ .timeout_ms = 150, .stall_timeout_ms = 300 });
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	str_deinit(&got.body);
	net_loop_timer_free(timer);
}

static void test_connecting_has_a_deadline(void **state)
{
	(void)state;
	/* a listener whose backlog is full answers no SYN */
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0), fill[8];
	assert_int_equal(bind(fd, (struct sockaddr *)&address, n), 0);
	assert_int_equal(listen(fd, 0), 0);
	getsockname(fd, (struct sockaddr *)&address, &n);
	for (size_t i = 0; i < COUNT(fill); i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fill[i], (struct sockaddr *)&address, n);
	}
	struct got got = ask((struct net_http_opts){
		.url = url_of(ntohs(address.sin_port), "/"), .connect_timeout_ms = 100 });
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	str_deinit(&got.body);
	for (size_t i = 0; i < COUNT(fill); i++)
		close(fill[i]);
	close(fd);
	got = ask((struct net_http_opts){ .url = url_of(ntohs(address.sin_port), "/") });
	assert_int_equal(got.err.code, ERR_CONN_REFUSED);
	str_deinit(&got.body);
}

/* --- repeating, expecting --- */

static void answer_once_a_connection(struct raw_conn *conn)
{
	if (conn->requests == 1)
		raw_send(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	else
		raw_close(conn);
}

static void test_only_reading_is_repeated_on_a_dead_connection(void **state)
{
	(void)state;
	server.handler = answer_once_a_connection;
	static const char *const methods[] = { "GET", "POST", "PUT", "DELETE", "PATCH" };
	for (size_t i = 0; i < COUNT(methods); i++) {
		struct got got = ask((struct net_http_opts){ .lane = methods[i] });
		assert_int_equal(got.err.code, ERR_NONE);
		str_deinit(&got.body);
		int before = server.requests;
		got = ask((struct net_http_opts){
			.method = methods[i], .lane = methods[i], .body = { "x", i ? 1 : 0 } });
		if (i == 0)
			assert_int_equal(got.err.code, ERR_NONE);
		else
			assert_int_equal(got.err.code, ERR_CONN_LOST);
		assert_int_equal(server.requests - before, i == 0 ? 2 : 1);
		str_deinit(&got.body);
	}
}

static void refuse_after_expect(struct raw_conn *conn)
{
	assert_true(raw_head_has(conn, "Expect: 100-continue"));
	raw_send(conn,
		"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
}

static int uploads_read;

static long upload_zeros(void *arg, char *into, size_t room, struct err *err)
{
	(void)arg;
	(void)err;
	uploads_read++;
	memset(into, 0, room);
	return (long)room;
}

static void test_expect_spares_the_body(void **state)
{
	(void)state;
	server.handler = refuse_after_expect;
	uploads_read = 0;
	struct got got = ask((struct net_http_opts){ .method = "PUT",
		.read_body = upload_zeros,
		.upload_bytes = 100 << 20,
		.expect_continue = true });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_int_equal(got.status, 403);
	assert_string_equal(got.body.p, "no");
	assert_int_equal(uploads_read, 0);
	str_deinit(&got.body);
}

static void refuse_at_once(struct raw_conn *conn)
{
	assert_false(raw_head_has(conn, "Expect"));
	conn->body_bytes = 1000 << 20; /* keeps reading, as a server that lingers does */
	raw_send(conn, "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
}

static void test_an_early_refusal_ends_the_upload(void **state)
{
	(void)state;
	server.handler = refuse_at_once;
	uploads_read = 0;
	struct got got = ask((struct net_http_opts){
		.method = "PUT", .read_body = upload_zeros, .upload_bytes = 1000 << 20 });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_int_equal(got.status, 500);
	assert_true(uploads_read < 1000);
	str_deinit(&got.body);
}

/* --- tunnels and proxies --- */

static int n_tunnels;
static bool tunnel_fails;

static bool open_tunnel(void *arg, int fd_take, struct err *err)
{
	assert_ptr_equal(arg, &n_tunnels);
	n_tunnels++;
	if (tunnel_fails)
		return err_set(err, ERR_PORTFWD_DENIED, "no tunnel for you");
	raw_server_adopt(&server, fd_take);
	return true;
}

static void say_ok(struct raw_conn *conn)
{
	raw_send(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Test: tunnel\r\n\r\nok");
}

static void test_over_a_socketpair(void **state)
{
	(void)state;
	server.handler = say_ok;
	n_tunnels = 0;
	tunnel_fails = false;
	struct net_http_opts opts = { .url = "http://sandbox.invalid:8080/v1/health",
		.lane = "t",
		.connect = open_tunnel,
		.connect_arg = &n_tunnels };
	for (int i = 0; i < 3; i++) {
		struct got got = ask(opts);
		if (got.err.code != ERR_NONE)
			fail_msg("%s", got.err.msg);
		assert_string_equal(got.header, "tunnel");
		assert_true(raw_head_has(&server.conns[0], "Host: sandbox.invalid:8080\r\n"));
		str_deinit(&got.body);
	}
	assert_int_equal(n_tunnels, 1); /* kept open */
	net_http_drop_lane(http, "t");
	TURN_UNTIL(loop, server.conns[0].is_closed);
	tunnel_fails = true;
	struct got got = ask(opts);
	assert_int_equal(got.err.code, ERR_PORTFWD_DENIED);
	assert_string_equal(got.err.msg, "no tunnel for you");
	str_deinit(&got.body);
}

static void be_a_proxy(struct raw_conn *conn)
{
	if (raw_head_has(conn, "CONNECT "))
		raw_send(conn,
			"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
	else if (raw_head_has(conn, "GET http://sandbox.invalid/x HTTP/1.1\r\n"))
		say_ok(conn);
	else
		raw_send(conn, "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n");
}

static void test_a_given_proxy_is_used(void **state)
{
	(void)state;
	server.handler = be_a_proxy;
	char proxy[60];
	snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", (unsigned)server.port);
	struct got got = ask(
		(struct net_http_opts){ .url = "http://sandbox.invalid/x", .proxy = proxy });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_string_equal(got.header, "tunnel");
	str_deinit(&got.body);
	got = ask((struct net_http_opts){ .url = "https://sandbox.invalid/x", .proxy = proxy });
	assert_int_equal(got.err.code, ERR_CONN_LOST);
	assert_int_equal(got.status, 0); /* the proxy's answer is not the server's */
	str_deinit(&got.body);
}

static bool hold(void *arg, struct slice bytes, struct err *err)
{
	struct got *got = arg;
	(void)err;
	str_add_bytes(&got->body, bytes.p, bytes.n);
	return false;
}

/* The consumer holds what came, and no more comes that libcurl would have to pause. */
static void test_a_held_body_is_not_a_stall(void **state)
{
	(void)state;
	struct got got;
	canned = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
	got_init(&got);
	got_start(&got, http,
		(struct net_http_opts){ .url = url_of(server.port, "/"),
			.on_body = hold,
			.stall_timeout_ms = 300 });
	TURN_UNTIL(loop, got.body.n == 3);
	turn_for(loop, 700);
	assert_int_equal(got.done, 0);
	net_http_resume_download(got.req);
	TURN_UNTIL(loop, got.done);
	assert_int_equal(got.err.code, ERR_OP_TIMEOUT);
	str_deinit(&got.body);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_held_body_is_not_a_stall, set_up, tear_down),
		T(test_answers),
		T(test_answer_cut_at_every_byte),
		T(test_endless_headers),
		T(test_gzip_and_its_bomb),
		T(test_deadlines),
		T(test_a_slow_drip_is_no_stall),
		T(test_connecting_has_a_deadline),
		T(test_only_reading_is_repeated_on_a_dead_connection),
		T(test_expect_spares_the_body),
		T(test_an_early_refusal_ends_the_upload),
		T(test_over_a_socketpair),
		T(test_a_given_proxy_is_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
