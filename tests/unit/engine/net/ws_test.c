// SPDX-License-Identifier: Apache-2.0
/* The WebSocket client against wslay's server side and against bytes written by hand. */
#include "tests/unit/unit.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/http.h"
#include "engine/net/ws.h"
#include "tests/unit/engine/net/turns.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct net_loop *loop;
static struct net_ws *ws;
static struct bufferevent *own_bev; /* ws has it */

/* --- the server: bytes by hand until it is told to speak frames --- */

static struct {
	struct bufferevent *bev;
	wslay_event_context_ptr frames;
	struct str head; /* the request */
	char accept[40];
	struct str log;  /* "BIN 5 hello\n" "PING\n" "CLOSE 1000\n" */
	struct str last; /* the last message */
	size_t received;
	bool is_closed, is_reading;
} peer;

static ssize_t peer_recv(
	wslay_event_context_ptr frames, uint8_t *into, size_t room, int flags, void *arg)
{
	(void)flags;
	(void)arg;
	size_t n = bufferevent_read(peer.bev, into, room);
	if (n > 0)
		return (ssize_t)n;
	wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t peer_send(
	wslay_event_context_ptr frames, const uint8_t *bytes, size_t n, int flags, void *arg)
{
	(void)frames;
	(void)flags;
	(void)arg;
	bufferevent_write(peer.bev, bytes, n);
	return (ssize_t)n;
}

static void peer_message(wslay_event_context_ptr frames,
	const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
	(void)frames;
	(void)arg;
	static const char *const names[] = {
		[1] = "TEXT", [2] = "BIN", [8] = "CLOSE", [9] = "PING", [10] = "PONG"
	};
	peer.received += message->msg_length;
	str_clear(&peer.last);
	str_add_bytes(&peer.last, message->msg, message->msg_length);
	str_addf(&peer.log, "%s %zu %.*s\n", names[message->opcode], message->msg_length,
		message->msg_length < 100 ? (int)message->msg_length : 0,
		(const char *)message->msg);
}

static void work_out_accept(void)
{
	const char *key = strstr(peer.head.p, "Sec-WebSocket-Key: ");
	assert_non_null(key);
	key += strlen("Sec-WebSocket-Key: ");
	char *text = x_asprintf(
		"%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, "\r"), key);
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n;
	EVP_Digest(text, strlen(text), hash, &n, EVP_sha1(), NULL);
	char *base64 = digest_base64_encode(hash, n);
	snprintf(peer.accept, sizeof peer.accept, "%s", base64);
	free(base64);
	free(text);
}

static void peer_readable(struct bufferevent *bev, void *arg)
{
	(void)arg;
	if (peer.frames != NULL) {
		if (peer.is_reading)
			assert_int_equal(wslay_event_recv(peer.frames), 0);
		wslay_event_send(peer.frames);
		return;
	}
	char bytes[4096];
	size_t n;
	while ((n = bufferevent_read(bev, bytes, sizeof bytes)) > 0)
		str_add_bytes(&peer.head, bytes, n);
	if (strstr(peer.head.p, "\r\n\r\n") != NULL && peer.accept[0] == '\0')
		work_out_accept();
}

static void peer_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		peer.is_closed = true;
}

static void peer_write(const char *text)
{
	bufferevent_write(peer.bev, text, strlen(text));
}

/* --- the client --- */

static int opened, closed, writable, close_code;
static struct err closed_err;
static bool closed_ok, pause_at_message;
static struct str got; /* messages, each followed by '|' */
static size_t got_bytes;

static void on_open(void *arg)
{
	assert_ptr_equal(arg, &loop);
	opened++;
}

static void on_message(void *arg, struct slice bytes)
{
	(void)arg;
	assert_int_equal(opened, 1);
	assert_int_equal(closed, 0);
	got_bytes += bytes.n;
	if (bytes.n < 100)
		str_add_bytes(&got, bytes.p, bytes.n);
	str_add_char(&got, '|');
	if (pause_at_message)
		net_ws_pause(ws, true);
}

static void on_writable(void *arg)
{
	(void)arg;
	writable++;
}

static void on_closed(void *arg, const struct err *err, int code)
{
	(void)arg;
	assert_int_equal(closed++, 0);
	closed_ok = err == NULL;
	err_copy(&closed_err, err);
	close_code = code;
}

static struct net_ws_opts options(void)
{
	static const struct net_http_header headers[] = { { "Authorization", "Bearer x" } };
	return (struct net_ws_opts){ .host = "api:6443",
		.path = "/p?ports=8080",
		.protocols = "tunnel/1, v4.channel.k8s.io",
		.headers = headers,
		.n_headers = 1,
		.timeout_ms = 5000,
		.on_open = on_open,
		.on_message = on_message,
		.on_writable = on_writable,
		.on_closed = on_closed,
		.arg = &loop };
}

static void connect_with(struct net_ws_opts opts)
{
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	peer.bev = bufferevent_socket_new(net_loop_base(loop), fds[0], BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(peer.bev, peer_readable, NULL, peer_event, NULL);
	bufferevent_enable(peer.bev, EV_READ | EV_WRITE);
	struct bufferevent *bev =
		bufferevent_socket_new(net_loop_base(loop), fds[1], BEV_OPT_CLOSE_ON_FREE);
	struct err err;
	own_bev = bev;
	ws = net_ws_new_take(loop, bev, &opts, &err);
	if (ws == NULL)
		fail_msg("%s", err.msg);
	assert_int_equal(opened + closed, 0);
	TURN_UNTIL(loop, peer.accept[0] != '\0');
}

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	memset(&peer, 0, sizeof peer);
	str_init(&peer.head, 10000);
	str_init(&peer.log, 1 << 20);
	str_init(&peer.last, 1 << 20);
	peer.is_reading = true;
	str_init(&got, 1 << 20);
	opened = closed = writable = 0;
	got_bytes = 0;
	pause_at_message = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_ws_free(ws);
	ws = NULL;
	net_loop_run_once(loop, 0);
	if (peer.frames != NULL)
		wslay_event_context_free(peer.frames);
	if (peer.bev != NULL)
		bufferevent_free(peer.bev);
	str_deinit(&peer.head);
	str_deinit(&peer.log);
	str_deinit(&peer.last);
	str_deinit(&got);
	net_loop_free(loop);
	return 0;
}

static char *good_answer(void)
{
	return x_asprintf("HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n"
			  "Connection: keep-alive, upgrade\r\nSec-WebSocket-Accept: %s\r\n"
			  "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n",
		peer.accept);
}

static void open_with(struct net_ws_opts opts)
{
	static const struct wslay_event_callbacks callbacks = { .recv_callback = peer_recv,
		.send_callback = peer_send,
		.on_msg_recv_callback = peer_message };
	connect_with(opts);
	char *answer = good_answer();
	peer_write(answer);
	free(answer);
	assert_int_equal(wslay_event_context_server_init(&peer.frames, &callbacks, NULL), 0);
	TURN_UNTIL(loop, opened);
}

static void peer_say(int opcode, const void *bytes, size_t n)
{
	struct wslay_event_msg message = {
		.opcode = (uint8_t)opcode, .msg = bytes, .msg_length = n
	};
	wslay_event_queue_msg(peer.frames, &message);
	wslay_event_send(peer.frames);
}

static void test_handshake_on_the_wire(void **state)
{
	(void)state;
	connect_with(options());
	static const char *const lines[] = { "GET /p?ports=8080 HTTP/1.1\r\n",
		"Host: api:6443\r\n", "Connection: Upgrade\r\n", "Upgrade: websocket\r\n",
		"Sec-WebSocket-Version: 13\r\n",
		"Sec-WebSocket-Protocol: tunnel/1, v4.channel.k8s.io\r\n",
		"Authorization: Bearer x\r\n", "User-Agent: sandmux/" };
	for (size_t i = 0; i < COUNT(lines); i++)
		if (strstr(peer.head.p, lines[i]) == NULL)
			fail_msg("no %s in\n%s", lines[i], peer.head.p);
}

/* "%s" in an answer is the right Sec-WebSocket-Accept. */
static void test_answers_to_the_handshake(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after; /* around the accept value */
		bool close;
		enum err_code code;
		int sys;
		const char *msg;
	} cases[] = {
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x",
			"\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX: ",
			"\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: close\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
			"\r\n\r\n", false, ERR_PORTFWD_PROTOCOL, 0, "subprotocol" },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: other\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, "subprotocol" },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: tunnel\r\n\r\n", false,
			ERR_PORTFWD_PROTOCOL, 0, "subprotocol" },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: tunnel/1, v4.channel.k8s.io\r\n\r\n",
			false, ERR_PORTFWD_PROTOCOL, 0, "subprotocol" },
		{ "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
			"\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n"
			"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
			false, ERR_PORTFWD_PROTOCOL, 0, "extension" },
		{ "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\nX: ", "\r\n\r\nforbidden",
			false, ERR_HTTP_STATUS, 403, "forbidden" },
		{ "HTTP/1.1 403 Forbidden\r\nX: ", "\r\n\r\nuntil the end", true,
			ERR_HTTP_STATUS, 403, "until the end" },
		{ "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nX: ", "\r\n\r\n", false,
			ERR_HTTP_STATUS, 404, "" },
		{ "HTTP/1.1 500 Oops\r\nContent-Length: 999999999999\r\nX: ", "\r\n\r\nhalf",
			true, ERR_HTTP_STATUS, 500, "half" },
		{ "SSH-2.0-OpenSSH\r\nX: ", "\r\n\r\n", false, ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 1x1 X\r\nX: ", "\r\n\r\n", false, ERR_PORTFWD_PROTOCOL, 0, NULL },
		{ "HTTP/1.1 101 X\r\nUpg", "", true, ERR_CONN_LOST, 0, NULL },
		{ "", "", true, ERR_CONN_LOST, 0, NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (i > 0) {
			tear_down(state);
			set_up(state);
		}
		connect_with(options());
		peer_write(cases[i].before);
		if (cases[i].before[0] != '\0')
			peer_write(peer.accept);
		peer_write(cases[i].after);
		net_loop_run_once(loop, 0);
		if (cases[i].close)
			shutdown(bufferevent_getfd(peer.bev), SHUT_WR);
		TURN_UNTIL(loop, closed);
		if (closed_ok || closed_err.code != cases[i].code ||
			closed_err.sys != cases[i].sys ||
			(cases[i].msg && strstr(closed_err.msg, cases[i].msg) == NULL))
			fail_msg("case %zu: %s %d %s", i, err_name(&closed_err), closed_err.sys,
				closed_err.msg);
		assert_int_equal(opened, 0);
		assert_false(net_ws_send(ws, "x", 1));
	}
}

static void test_answer_byte_by_byte(void **state)
{
	(void)state;
	connect_with(options());
	char *answer = good_answer();
	for (const char *p = answer; *p != '\0'; p++) {
		assert_int_equal(opened, 0);
		bufferevent_write(peer.bev, p, 1);
		net_loop_run_once(loop, 20);
		net_loop_run_once(loop, 0);
	}
	free(answer);
	/* a frame right behind it */
	bufferevent_write(peer.bev, "\x82\x02hi", 4);
	TURN_UNTIL(loop, got_bytes == 2);
	assert_int_equal(opened, 1);
	assert_string_equal(got.p, "hi|");
}

static void test_frame_in_the_same_packet_as_the_answer(void **state)
{
	(void)state;
	connect_with(options());
	char *answer = good_answer();
	struct str all;
	str_init(&all, 10000);
	str_add(&all, answer);
	str_add_bytes(&all, "\x82\x02hi", 4);
	bufferevent_write(peer.bev, all.p, all.n);
	free(answer);
	str_deinit(&all);
	TURN_UNTIL(loop, got_bytes == 2);
	assert_string_equal(got.p, "hi|");
}

static void test_endless_headers(void **state)
{
	(void)state;
	connect_with(options());
	peer_write("HTTP/1.1 101 X\r\n");
	for (int i = 0; i < 3000; i++)
		peer_write("X-Y: zzzzzzzz\r\n");
	TURN_UNTIL(loop, closed);
	assert_int_equal(closed_err.code, ERR_PORTFWD_PROTOCOL);
}

static void test_handshake_deadline(void **state)
{
	(void)state;
	struct net_ws_opts opts = options();
	opts.timeout_ms = 50;
	connect_with(opts);
	TURN_UNTIL(loop, closed);
	assert_int_equal(closed_err.code, ERR_OP_TIMEOUT);
}

static void test_bad_options_are_refused(void **state)
{
	(void)state;
	const struct net_http_header injected[] = { { "X", "a\r\nEvil: 1" } };
	struct net_ws_opts bad[3] = { options(), options(), options() };
	bad[0].path = "/a HTTP/1.1\r\nX: y";
	bad[1].host = "a\nb";
	bad[2].headers = injected;
	for (size_t i = 0; i < 3; i++) {
		struct err err = { .code = ERR_NONE };
		struct bufferevent *bev =
			bufferevent_socket_new(net_loop_base(loop), -1, BEV_OPT_CLOSE_ON_FREE);
		assert_null(net_ws_new_take(loop, bev, &bad[i], &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
	}
}

static void test_messages_both_ways(void **state)
{
	(void)state;
	open_with(options());
	assert_string_equal(net_ws_protocol(ws), "v4.channel.k8s.io");
	assert_true(net_ws_send(ws, "hello", 5));
	assert_true(net_ws_send(ws, "", 0));
	char large[32769];
	memset(large, 'x', sizeof large);
	assert_true(net_ws_send(ws, large, sizeof large));
	peer_say(WSLAY_BINARY_FRAME, "one", 3);
	peer_say(WSLAY_BINARY_FRAME, "", 0);
	peer_say(WSLAY_BINARY_FRAME, large, sizeof large);
	TURN_UNTIL(loop, peer.received == 5 + sizeof large && got_bytes == 3 + sizeof large);
	assert_string_equal(peer.log.p, "BIN 5 hello\nBIN 0 \nBIN 32769 \n");
	assert_string_equal(got.p, "one|||");
}

/* wslay reads what ws_frame.c wrote: each form of the length, each remainder of the mask. */
static void test_messages_of_every_length(void **state)
{
	(void)state;
	static const size_t lengths[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 124, 125,
		126, 127, 128, 255, 256, 4095, 4096, 65534, 65535, 65536, 65537, 100003 };
	static char text[100003];
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 7 + i / 251);
	open_with(options());
	wslay_event_config_set_max_recv_msg_length(peer.frames, sizeof text);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		size_t before = peer.received;
		str_clear(&peer.log);
		assert_true(
			net_ws_send(ws, text + i, lengths[i] - (lengths[i] > 100000 ? i : 0)));
		TURN_UNTIL(loop, peer.log.n > 0);
		assert_int_equal(peer.last.n, peer.received - before);
		assert_memory_equal(peer.last.p, text + i, peer.last.n);
	}
}

static void test_a_peer_that_pings_and_does_not_read(void **state)
{
	(void)state;
	enum { PINGS = 40000, LIMIT = 600 << 10 };
	char text[120];
	memset(text, 'p', sizeof text);
	open_with(options());
	peer.is_reading = false;
	bufferevent_disable(peer.bev, EV_READ);
	size_t most = 0;
	for (int i = 0; i < PINGS; i++) {
		peer_say(WSLAY_PING, text, sizeof text);
		if (i % 100 == 0)
			net_loop_run_once(loop, 0);
		size_t n = evbuffer_get_length(bufferevent_get_output(own_bev));
		most = n > most ? n : most;
	}
	turn_for(loop, 50);
	assert_true(most > 100 << 10);
	assert_true(most < LIMIT);
	assert_int_equal(closed, 0);
	peer.is_reading = true;
	bufferevent_enable(peer.bev, EV_READ);
	TURN_UNTIL(loop, peer.received == (size_t)PINGS * sizeof text);
}

static void test_fragments_and_pings_of_the_server(void **state)
{
	(void)state;
	open_with(options());
	/* "hel" + ping + "lo" */
	bufferevent_write(peer.bev, "\x02\x03hel\x89\x02pp\x80\x02lo", 13);
	TURN_UNTIL(loop, got_bytes == 5 && strstr(peer.log.p, "PONG 2 pp") != NULL);
	assert_string_equal(got.p, "hello|");
}

static void test_closed_by_the_server(void **state)
{
	(void)state;
	open_with(options());
	peer_say(WSLAY_BINARY_FRAME, "last", 4);
	wslay_event_queue_close(peer.frames, 1000, (const uint8_t *)"bye", 3);
	wslay_event_send(peer.frames);
	TURN_UNTIL(loop, closed);
	assert_true(closed_ok);
	assert_int_equal(close_code, 1000);
	assert_string_equal(got.p, "last|");
	TURN_UNTIL(loop, strstr(peer.log.p, "CLOSE") != NULL); /* answered */
}

static void test_end_without_a_close(void **state)
{
	(void)state;
	open_with(options());
	peer_say(WSLAY_BINARY_FRAME, "last", 4);
	TURN_UNTIL(loop, evbuffer_get_length(bufferevent_get_output(peer.bev)) == 0);
	shutdown(bufferevent_getfd(peer.bev), SHUT_WR);
	TURN_UNTIL(loop, closed);
	assert_int_equal(closed_err.code, ERR_CONN_LOST);
	assert_string_equal(got.p, "last|");
}

static void test_frames_that_break_the_protocol(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {
		{ "\x82\x81\0\0\0\0x", 7 }, /* masked by the server */
		{ "\x83\x01x", 3 },         /* reserved opcode */
		{ "\xC2\x01x", 3 },         /* reserved bit */
		{ "\x09\x01x", 3 },         /* a ping in fragments */
		{ "\x89\x7E\x01\x00", 4 },  /* a ping of 256 bytes */
		{ "\x80\x01x", 3 },         /* continuation of nothing */
		{ "\x82\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
			10 },                        /* length with the top bit */
		{ "\x82\x7F\0\0\0\1\0\0\0\0x", 11 }, /* 4 GiB */
		{ "\x82\x7F\0\0\0\0\0\1\0\1x", 11 }, /* 64 KiB and one */
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (i > 0) {
			tear_down(state);
			set_up(state);
		}
		open_with(options());
		bufferevent_write(peer.bev, cases[i].bytes, cases[i].n);
		turn_for(loop, 50);
		if (!closed)
			fail_msg("case %zu: nothing", i);
		if (closed_ok || closed_err.code != ERR_PORTFWD_PROTOCOL)
			fail_msg("case %zu: %s", i, closed_ok ? "ok" : err_name(&closed_err));
		assert_int_equal(got_bytes, 0);
	}
}

/* --- keeping alive --- */

static void test_pings_and_a_dead_peer(void **state)
{
	(void)state;
	struct net_ws_opts opts = options();
	opts.ping_every_ms = 30;
	opts.pong_within_ms = 60;
	open_with(opts);
	turn_for(loop, 200);
	assert_int_equal(closed, 0); /* wslay answers */
	assert_non_null(strstr(peer.log.p, "PING"));
	peer.is_reading = false;
	bufferevent_disable(peer.bev, EV_READ);
	TURN_UNTIL(loop, closed);
	assert_int_equal(closed_err.code, ERR_CONN_LOST);
	assert_non_null(strstr(closed_err.msg, "ping"));
}

static void test_silence_while_we_do_not_read_means_nothing(void **state)
{
	(void)state;
	struct net_ws_opts opts = options();
	opts.ping_every_ms = 20;
	opts.pong_within_ms = 40;
	open_with(opts);
	net_ws_pause(ws, true);
	turn_for(loop, 200);
	assert_int_equal(closed, 0);
	net_ws_pause(ws, false);
	turn_for(loop, 60);
	assert_int_equal(closed, 0);
}

/* --- back-pressure --- */

static void test_sending_has_a_limit(void **state)
{
	(void)state;
	open_with(options());
	peer.is_reading = false;
	bufferevent_disable(peer.bev, EV_READ);
	char piece[32768];
	memset(piece, 'x', sizeof piece);
	size_t sent = 0;
	for (int i = 0; i < 200; i++) {
		if (net_ws_send(ws, piece, sizeof piece))
			sent += sizeof piece;
		else
			net_loop_run_once(loop, 1);
	}
	assert_true(sent < 4 << 20); /* the socket's buffers and our queue */
	writable = 0;
	peer.is_reading = true;
	bufferevent_enable(peer.bev, EV_READ);
	TURN_UNTIL(loop, writable > 0);
	assert_true(net_ws_send(ws, "end", 3));
	sent += 3;
	TURN_UNTIL(loop, peer.received == sent);
}

static void test_pausing_stops_messages_at_once(void **state)
{
	(void)state;
	open_with(options());
	pause_at_message = true;
	peer_say(WSLAY_BINARY_FRAME, "1", 1);
	peer_say(WSLAY_BINARY_FRAME, "2", 1);
	peer_say(WSLAY_BINARY_FRAME, "3", 1);
	TURN_UNTIL(loop, got_bytes > 0);
	turn_for(loop, 20);
	/* wslay may have read ahead within one buffer, but nothing comes after that */
	size_t before = got_bytes;
	char piece[32768];
	memset(piece, 'x', sizeof piece);
	for (int i = 0; i < 100; i++)
		peer_say(WSLAY_BINARY_FRAME, piece, sizeof piece);
	turn_for(loop, 50);
	assert_true(got_bytes == before);
	pause_at_message = false;
	net_ws_pause(ws, false);
	TURN_UNTIL(loop, got_bytes == 3 + 100 * sizeof piece);
}

/* The connection breaks while we do not read: what has come is handed out before the end is told. */
static void test_messages_come_before_a_broken_end(void **state)
{
	(void)state;
	open_with(options());
	net_ws_pause(ws, true);
	/* what read-ahead of a TLS record brings while nothing is handed out */
	struct evbuffer *in = bufferevent_get_input(own_bev);
	evbuffer_unfreeze(in, 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(evbuffer_add(in, "\x82\x01m", 3), 0);
	evbuffer_freeze(in, 0);
	turn_for(loop, 20);
	assert_int_equal(got_bytes + (size_t)closed, 0);
	bufferevent_free(peer.bev);
	peer.bev = NULL;
	net_ws_send(ws, "x", 1); /* fails: nobody reads */
	TURN_UNTIL(loop, closed);
	assert_int_equal(got_bytes, 20);
	assert_int_equal(closed_err.code, ERR_CONN_LOST);
}

/* --- freeing --- */

static void on_open_free(void *arg)
{
	(void)arg;
	opened++;
	net_ws_free(ws);
	ws = NULL;
}

static void on_message_free(void *arg, struct slice bytes)
{
	(void)arg;
	got_bytes += bytes.n;
	net_ws_free(ws);
	ws = NULL;
}

static void test_free_inside_callbacks(void **state)
{
	(void)state;
	struct net_ws_opts opts = options();
	opts.on_open = on_open_free;
	connect_with(opts);
	char *answer = good_answer();
	peer_write(answer);
	free(answer);
	bufferevent_write(peer.bev, "\x82\x02hi", 4);
	TURN_UNTIL(loop, peer.is_closed);
	assert_int_equal(opened, 1);
	assert_int_equal(got_bytes + (size_t)closed, 0);
	tear_down(state);
	set_up(state);
	opts = options();
	opts.on_message = on_message_free;
	open_with(opts);
	bufferevent_write(peer.bev, "\x82\x02hi\x82\x02ho", 8);
	TURN_UNTIL(loop, peer.is_closed);
	assert_int_equal(got_bytes, 2);
	assert_int_equal(closed, 0);
	net_ws_free(NULL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_handshake_on_the_wire),
		T(test_answers_to_the_handshake),
		T(test_answer_byte_by_byte),
		T(test_frame_in_the_same_packet_as_the_answer),
		T(test_endless_headers),
		T(test_handshake_deadline),
		T(test_bad_options_are_refused),
		T(test_messages_both_ways),
		T(test_messages_of_every_length),
		T(test_a_peer_that_pings_and_does_not_read),
		T(test_fragments_and_pings_of_the_server),
		T(test_closed_by_the_server),
		T(test_end_without_a_close),
		T(test_frames_that_break_the_protocol),
		T(test_pings_and_a_dead_peer),
		T(test_silence_while_we_do_not_read_means_nothing),
		T(test_sending_has_a_limit),
		T(test_pausing_stops_messages_at_once),
		T(test_messages_come_before_a_broken_end),
		T(test_free_inside_callbacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
