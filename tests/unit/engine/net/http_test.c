// SPDX-License-Identifier: Apache-2.0
/* The HTTP client against an ordinary server (evhttp): methods, bodies both ways, back-pressure,
 * lanes, cancelling. Servers that misbehave are in http_odd_test.c. */
#include "tests/unit/engine/net/http_harness.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <string.h>

enum { MUCH = 3 << 20 };

static struct net_loop *loop;
static struct net_http *http;
static struct evhttp *server;
static uint16_t port;
static char last_method[16];
static int n_requests;
static char peers[64][32]; /* who asked: address and port of each request */

static const char *method_name(enum evhttp_cmd_type type)
{
	switch (type) {
	case EVHTTP_REQ_GET:
		return "GET";
	case EVHTTP_REQ_HEAD:
		return "HEAD";
	case EVHTTP_REQ_PUT:
		return "PUT";
	case EVHTTP_REQ_POST:
		return "POST";
	case EVHTTP_REQ_PATCH:
		return "PATCH";
	case EVHTTP_REQ_DELETE:
		return "DELETE";
	default:
		return "?";
	}
}

static void on_request(struct evhttp_request *req, void *arg)
{
	(void)arg;
	const char *uri = evhttp_request_get_uri(req);
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	struct evbuffer *out = evbuffer_new();
	char *address;
	uint16_t peer_port;
	evhttp_connection_get_peer(evhttp_request_get_connection(req), &address, &peer_port);
	snprintf(peers[n_requests++ % 64], sizeof peers[0], "%s:%u", address, peer_port);
	snprintf(last_method, sizeof last_method, "%s",
		method_name(evhttp_request_get_command(req)));
	evhttp_add_header(evhttp_request_get_output_headers(req), "x-test", "value: 1 ");
	int status = 200;
	if (strcmp(uri, "/echo") == 0) {
		evbuffer_add_buffer(out, in);
	} else if (strcmp(uri, "/headers") == 0) {
		struct evkeyval *header;
		struct evkeyvalq *headers = evhttp_request_get_input_headers(req);
		for (header = headers->tqh_first; header != NULL;
			header = header->next.tqe_next)
			evbuffer_add_printf(out, "%s=%s\n", header->key, header->value);
	} else if (strcmp(uri, "/much") == 0) {
		char *bytes = x_malloc(MUCH);
		for (size_t i = 0; i < MUCH; i++)
			bytes[i] = (char)(i * 7);
		evbuffer_add(out, bytes, MUCH);
		free(bytes);
	} else if (strcmp(uri, "/redirect") == 0) {
		evhttp_add_header(evhttp_request_get_output_headers(req), "Location", "/echo");
		status = 307;
	} else {
		evbuffer_add_printf(out, "%s", uri);
		status = 404;
	}
	evhttp_send_reply(req, status, "x", out);
	evbuffer_free(out);
}

static int set_up(void **state)
{
	(void)state;
	loop = net_loop_new(NULL);
	http = net_http_new(loop, NULL);
	server = evhttp_new(net_loop_base(loop));
	evhttp_set_gencb(server, on_request, NULL);
	evhttp_set_allowed_methods(server, 0xFFFF);
	struct evhttp_bound_socket *bound =
		evhttp_bind_socket_with_handle(server, "127.0.0.1", 0);
	struct sockaddr_in address;
	socklen_t n = sizeof address;
	getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &n);
	port = ntohs(address.sin_port);
	n_requests = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_http_free(http);
	evhttp_free(server);
	net_loop_free(loop);
	return 0;
}

static struct got ask(struct net_http_opts opts)
{
	struct got got;
	got_init(&got);
	got_start(&got, http, opts);
	TURN_UNTIL(loop, got.done);
	return got;
}

static void test_methods_and_bodies(void **state)
{
	(void)state;
	static const char *const methods[] = { "GET", "HEAD", "PUT", "POST", "PATCH",
		"DELETE" };
	for (size_t i = 0; i < 6; i++) {
		struct got got = ask((struct net_http_opts){ .method = methods[i],
			.url = url_of(port, "/echo"),
			.body = { "a\0b", i >= 2 ? 3 : 0 } });
		assert_int_equal(got.err.code, ERR_NONE);
		assert_int_equal(got.status, 200);
		assert_string_equal(last_method, methods[i]);
		assert_string_equal(got.header, "value: 1");
		assert_int_equal(got.body.n, i >= 2 ? 3 : 0);
		if (i >= 2)
			assert_memory_equal(got.body.p, "a\0b", 3);
		str_deinit(&got.body);
	}
}

static void test_a_status_is_not_an_error(void **state)
{
	(void)state;
	struct got got =
		ask((struct net_http_opts){ .url = url_of(port, "/a/../%2e%2e/b?c=d") });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_int_equal(got.status, 404);
	assert_string_equal(got.body.p, "/a/../%2e%2e/b?c=d"); /* as it was written */
	str_deinit(&got.body);
	got = ask((struct net_http_opts){ .url = url_of(port, "/redirect") });
	assert_int_equal(got.status, 307);
	assert_int_equal(n_requests, 2);
	str_deinit(&got.body);
}

static void test_headers_go_out(void **state)
{
	(void)state;
	const struct net_http_header headers[] = { { "Authorization", "Bearer t" },
		{ "X-Empty", "" }, { "Accept", "application/json" } };
	struct got got = ask((struct net_http_opts){ .method = "POST",
		.url = url_of(port, "/headers"),
		.headers = headers,
		.n_headers = 3,
		.body = { "x", 1 } });
	assert_non_null(strstr(got.body.p, "Authorization=Bearer t\n"));
	assert_non_null(strstr(got.body.p, "X-Empty=\n"));
	assert_non_null(strstr(got.body.p, "Accept=application/json\n"));
	assert_non_null(strstr(got.body.p, "User-Agent=sandmux/"));
	assert_null(strstr(got.body.p, "Content-Type"));
	assert_null(strstr(got.body.p, "Expect"));
	assert_null(strstr(got.body.p, "Accept-Encoding"));
	str_deinit(&got.body);
}

static void test_what_cannot_be_sent_is_refused_at_once(void **state)
{
	(void)state;
	const struct net_http_header injected[] = { { "X", "a\r\nEvil: 1" } },
				     bad_name[] = { { "X Y", "" } }, empty[] = { { "", "x" } };
	const struct net_http_opts bad[] = {
		{ .method = "GET", .url = "ftp://a/" },
		{ .method = "GET", .url = "file:///etc/passwd" },
		{ .method = "GET", .url = "nonsense" },
		{ .method = "GET", .url = "http://" },
		{ .method = "GET", .url = "http://a:99999/" },
		{ .method = "GET", .url = "http://a/b c\r\nX: y" },
		{ .method = "GET /x", .url = "http://a/" },
		{ .method = NULL, .url = "http://a/" },
		{ .method = "GET", .url = NULL },
		{ .method = "GET", .url = "http://a/", .headers = injected, .n_headers = 1 },
		{ .method = "GET", .url = "http://a/", .headers = bad_name, .n_headers = 1 },
		{ .method = "GET", .url = "http://a/", .headers = empty, .n_headers = 1 },
		{ .method = "GET", .url = "http://a/", .proxy = "http://" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = { .code = ERR_NONE };
		struct net_http_opts opts = bad[i];
		opts.done = got_done;
		struct net_http_req *req = net_http_start(http, &opts, &err);
		if (req != NULL || err.code != ERR_ARG_INVALID)
			fail_msg("case %zu: %s", i, req ? "accepted" : err_name(&err));
	}
}

/* --- streams --- */

struct stream {
	struct got got;
	size_t sent, total, since_pause;
	bool inside_resume, is_held;
	int pauses;
	struct net_loop_timer *timer;
	long end_with; /* what read_body returns at the end */
};

static long read_much(void *arg, char *into, size_t room, struct err *err)
{
	struct stream *s = arg;
	if (s->sent == s->total)
		return s->end_with;
	if (s->since_pause >= 100000 && s->pauses < 20) {
		s->since_pause = 0;
		s->pauses++;
		if (s->inside_resume)
			net_http_resume_upload(s->got.req); /* before we have even paused */
		else
			net_loop_timer_arm(s->timer, 1);
		return HTTP_BODY_PAUSE;
	}
	size_t n = s->total - s->sent < room ? s->total - s->sent : room;
	for (size_t i = 0; i < n; i++)
		into[i] = (char)((s->sent + i) * 7);
	s->sent += n;
	s->since_pause += n;
	(void)err;
	return (long)n;
}

static void on_resume_upload(void *arg)
{
	struct stream *s = arg;
	net_http_resume_upload(s->got.req);
}

static void upload(bool inside_resume, int64_t announced)
{
	struct stream s = { .total = MUCH, .inside_resume = inside_resume };
	got_init(&s.got);
	s.timer = net_loop_timer_new(loop, on_resume_upload, &s);
	got_start(&s.got, http,
		(struct net_http_opts){ .method = "PUT",
			.url = url_of(port, "/echo"),
			.read_body = read_much,
			.upload_bytes = announced,
			.expect_continue = true,
			.max_body_bytes = MUCH,
			.stall_timeout_ms = 3000 });
	TURN_UNTIL(loop, s.got.done);
	if (s.got.err.code != ERR_NONE)
		fail_msg("%s", s.got.err.msg);
	assert_int_equal(s.got.status, 200);
	assert_int_equal(s.got.body.n, MUCH);
	for (size_t i = 0; i < MUCH; i++)
		if (s.got.body.p[i] != (char)(i * 7))
			fail_msg("byte %zu", i);
	assert_in_range(s.pauses, 5, 20);
	net_loop_timer_free(s.timer);
	str_deinit(&s.got.body);
}

static void test_upload_with_pauses(void **state)
{
	(void)state;
	upload(false, MUCH);
	upload(false, -1);
	upload(true, MUCH);
}

static bool on_much(void *arg, struct slice bytes, struct err *err)
{
	struct stream *s = arg;
	(void)err;
	assert_false(s->is_held); /* nothing comes while it is paused */
	str_add_bytes(&s->got.body, bytes.p, bytes.n);
	if (++s->pauses % 3 != 0)
		return true;
	if (s->inside_resume) {
		net_http_resume_download(s->got.req);
	} else {
		s->is_held = true;
		if (s->timer != NULL)
			net_loop_timer_arm(s->timer, 1);
	}
	return false;
}

static void on_resume_download(void *arg)
{
	struct stream *s = arg;
	s->is_held = false;
	if (s->got.req != NULL)
		net_http_resume_download(s->got.req);
}

static void download(bool inside_resume)
{
	struct stream s = { .inside_resume = inside_resume };
	got_init(&s.got);
	s.timer = net_loop_timer_new(loop, on_resume_download, &s);
	got_start(&s.got, http,
		(struct net_http_opts){ .url = url_of(port, "/much"),
			.on_body = on_much,
			.stall_timeout_ms = 3000 });
	TURN_UNTIL(loop, s.got.done);
	assert_int_equal(s.got.err.code, ERR_NONE);
	assert_int_equal(s.got.content_length, MUCH);
	assert_int_equal(s.got.body.n, MUCH);
	for (size_t i = 0; i < MUCH; i++)
		if (s.got.body.p[i] != (char)(i * 7))
			fail_msg("byte %zu", i);
	assert_true(s.pauses > 10);
	net_loop_timer_free(s.timer);
	str_deinit(&s.got.body);
}

static void test_download_with_pauses(void **state)
{
	(void)state;
	download(false);
	download(true);
}

static void test_a_paused_download_is_not_a_stall(void **state)
{
	(void)state;
	struct stream s = { .pauses = 2 }; /* pauses at once */
	got_init(&s.got);
	got_start(&s.got, http,
		(struct net_http_opts){ .url = url_of(port, "/much"),
			.on_body = on_much,
			.stall_timeout_ms = 500 });
	TURN_UNTIL(loop, s.is_held);
	turn_for(loop, 900);
	assert_int_equal(s.got.done, 0);
	net_http_cancel(s.got.req);
	str_deinit(&s.got.body);
}

/* A source of a byte here and there: never paused, never done soon. */
static long read_slowly(void *arg, char *into, size_t room, struct err *err)
{
	struct stream *s = arg;
	(void)err;
	(void)room;
	if (s->sent == s->total)
		return 0;
	int64_t began_ms = clock_mono_ms();
	while (clock_mono_ms() < began_ms + 30)
		;
	into[0] = 'x';
	s->sent++;
	return 1;
}

static void test_while_we_send_no_answer_is_due(void **state)
{
	(void)state;
	struct stream s = { .total = 80 };
	int64_t began_ms = clock_mono_ms();
	got_init(&s.got);
	got_start(&s.got, http,
		(struct net_http_opts){ .method = "PUT",
			.url = url_of(port, "/echo"),
			.read_body = read_slowly,
			.upload_bytes = 80,
			.headers_timeout_ms = 2000 });
	TURN_UNTIL(loop, s.got.done);
	if (s.got.err.code != ERR_NONE)
		fail_msg("%s", s.got.err.msg);
	assert_true(clock_mono_ms() - began_ms >= 2200);
	assert_int_equal(s.got.body.n, 80);
	str_deinit(&s.got.body);
}

static void test_limits_of_the_answer(void **state)
{
	(void)state;
	struct got got = ask((struct net_http_opts){
		.url = url_of(port, "/much"), .max_body_bytes = MUCH - 1 });
	assert_int_equal(got.err.code, ERR_LIMIT_RESPONSE);
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
	got = ask(
		(struct net_http_opts){ .url = url_of(port, "/much"), .max_body_bytes = MUCH });
	assert_int_equal(got.err.code, ERR_NONE);
	assert_int_equal(got.body.n, MUCH);
	str_deinit(&got.body);
	got = ask((struct net_http_opts){
		.url = url_of(port, "/much"), .max_body_bytes = 1000, .on_body = got_body });
	assert_int_equal(got.err.code, ERR_LIMIT_RESPONSE);
	assert_true(got.body.n <= 1000);
	str_deinit(&got.body);
}

/* --- stopping --- */

static bool refuse_reply(void *arg, const struct net_http_reply *reply, struct err *err)
{
	(void)arg;
	return err_set(err, ERR_FILE_IS_DIR, "status %d", reply->status);
}

static bool refuse_body(void *arg, struct slice bytes, struct err *err)
{
	(void)arg;
	return err_set(err, ERR_FILE_NO_SPACE, "%d bytes", bytes.n > 0);
}

static long refuse_upload(void *arg, char *into, size_t room, struct err *err)
{
	(void)arg;
	(void)into;
	(void)room;
	err_set(err, ERR_FILE_DENIED, "unreadable");
	return HTTP_BODY_ABORT;
}

static void test_callbacks_can_stop_with_their_own_error(void **state)
{
	(void)state;
	struct got got = ask((struct net_http_opts){
		.url = url_of(port, "/much"), .on_reply = refuse_reply });
	assert_int_equal(got.err.code, ERR_FILE_IS_DIR);
	assert_string_equal(got.err.msg, "status 200");
	assert_int_equal(got.status, 200);
	str_deinit(&got.body);
	got = ask(
		(struct net_http_opts){ .url = url_of(port, "/much"), .on_body = refuse_body });
	assert_int_equal(got.err.code, ERR_FILE_NO_SPACE);
	str_deinit(&got.body);
	got = ask((struct net_http_opts){ .method = "PUT",
		.url = url_of(port, "/echo"),
		.read_body = refuse_upload,
		.upload_bytes = 10 });
	assert_int_equal(got.err.code, ERR_FILE_DENIED);
	str_deinit(&got.body);
}

static struct got *victims[2];

static bool cancel_in_reply(void *arg, const struct net_http_reply *reply, struct err *err)
{
	(void)reply;
	(void)err;
	struct got *got = arg;
	net_http_cancel(got->req);
	got->req = NULL;
	return true;
}

static bool cancel_in_body(void *arg, struct slice bytes, struct err *err)
{
	(void)bytes;
	(void)arg;
	(void)err;
	for (int i = 0; i < 2; i++) {
		net_http_cancel(victims[i]->req);
		victims[i]->req = NULL;
	}
	return true;
}

static long cancel_in_upload(void *arg, char *into, size_t room, struct err *err)
{
	(void)room;
	(void)err;
	struct got *got = arg;
	net_http_cancel(got->req);
	got->req = NULL;
	into[0] = 'x';
	return 1;
}

static void test_cancel_everywhere(void **state)
{
	(void)state;
	struct got got[5];
	for (int i = 0; i < 5; i++)
		got_init(&got[i]);
	got_start(&got[0], http, (struct net_http_opts){ .url = url_of(port, "/echo") });
	net_http_cancel(got[0].req); /* at once */
	got_start(&got[1], http,
		(struct net_http_opts){
			.url = url_of(port, "/much"), .on_reply = cancel_in_reply });
	/* itself and a neighbour, from inside libcurl */
	victims[0] = &got[2];
	victims[1] = &got[3];
	got_start(&got[2], http,
		(struct net_http_opts){
			.url = url_of(port, "/much"), .on_body = cancel_in_body });
	got_start(&got[3], http,
		(struct net_http_opts){
			.url = url_of(port, "/much"), .on_body = cancel_in_body });
	got_start(&got[4], http,
		(struct net_http_opts){ .method = "PUT",
			.url = url_of(port, "/echo"),
			.read_body = cancel_in_upload,
			.upload_bytes = 100 });
	TURN_UNTIL(loop, !got[1].req && !got[2].req && !got[3].req && !got[4].req);
	turn_for(loop, 20);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(got[i].done, 0);
		str_deinit(&got[i].body);
	}
	net_http_cancel(NULL);
	struct got after = ask((struct net_http_opts){ .url = url_of(port, "/echo") });
	assert_int_equal(after.err.code, ERR_NONE);
	str_deinit(&after.body);
}

static void test_cancel_after_every_turn(void **state)
{
	(void)state;
	for (int turns = 0; turns < 40; turns++) {
		struct got got;
		got_init(&got);
		/* a name: resolving is among the states */
		char url[80];
		snprintf(url, sizeof url, "http://localhost:%u/much", (unsigned)port);
		net_http_free(http);
		http = net_http_new(loop, NULL);
		got_start(
			&got, http, (struct net_http_opts){ .url = url, .on_body = got_body });
		for (int i = 0; i < turns && !got.done; i++)
			net_loop_run_once(loop, 0);
		bool was_done = got.done;
		if (!was_done)
			net_http_cancel(got.req);
		turn_for(loop, 2);
		assert_int_equal(got.done, was_done);
		str_deinit(&got.body);
	}
}

static void test_free_is_silent(void **state)
{
	(void)state;
	struct got got[3];
	for (int i = 0; i < 3; i++) {
		got_init(&got[i]);
		got_start(
			&got[i], http, (struct net_http_opts){ .url = url_of(port, "/much") });
		net_loop_run_once(loop, 0);
	}
	net_http_free(http);
	http = net_http_new(loop, NULL);
	turn_for(loop, 50);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(got[i].done, 0);
		str_deinit(&got[i].body);
	}
}

static void start_next(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	(void)err;
	(void)reply;
	(void)body;
	int *left = arg;
	if (--*left > 0) {
		struct net_http_opts opts = { .method = "GET",
			.url = url_of(port, "/echo"),
			.done = start_next,
			.arg = left };
		assert_non_null(net_http_start(http, &opts, NULL));
	}
}

static void test_start_in_a_completion(void **state)
{
	(void)state;
	int left = 20;
	struct net_http_opts opts = {
		.method = "GET", .url = url_of(port, "/echo"), .done = start_next, .arg = &left
	};
	assert_non_null(net_http_start(http, &opts, NULL));
	TURN_UNTIL(loop, left == 0);
	assert_int_equal(n_requests, 20);
	/* all on one connection */
	for (int i = 1; i < 20; i++)
		assert_string_equal(peers[i], peers[0]);
}

/* --- lanes --- */

static void ask_in_lane(const char *lane)
{
	struct got got =
		ask((struct net_http_opts){ .url = url_of(port, "/echo"), .lane = lane });
	assert_int_equal(got.err.code, ERR_NONE);
	str_deinit(&got.body);
}

static void test_lanes_share_no_connection(void **state)
{
	(void)state;
	ask_in_lane(NULL);
	ask_in_lane("a");
	ask_in_lane("b");
	ask_in_lane("a");
	ask_in_lane(NULL);
	assert_string_equal(peers[3], peers[1]);
	assert_string_equal(peers[4], peers[0]);
	assert_string_not_equal(peers[1], peers[0]);
	assert_string_not_equal(peers[1], peers[2]);
	net_http_drop_lane(http, "a");
	net_http_drop_lane(http, "nobody");
	ask_in_lane("a");
	ask_in_lane("b");
	assert_string_not_equal(peers[5], peers[1]);
	assert_string_equal(peers[6], peers[2]);
}

static void test_a_dropped_lane_finishes_what_runs(void **state)
{
	(void)state;
	struct got got;
	got_init(&got);
	got_start(&got, http,
		(struct net_http_opts){
			.url = url_of(port, "/much"), .lane = "a", .on_body = got_body });
	net_loop_run_once(loop, 0);
	net_http_drop_lane(http, "a");
	TURN_UNTIL(loop, got.done);
	assert_int_equal(got.err.code, ERR_NONE);
	assert_int_equal(got.body.n, MUCH);
	str_deinit(&got.body);
	ask_in_lane("a");
	assert_string_not_equal(peers[1], peers[0]);
}

int main(void)
{
	/* must not matter */
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(test_methods_and_bodies),
		T(test_a_status_is_not_an_error),
		T(test_headers_go_out),
		T(test_what_cannot_be_sent_is_refused_at_once),
		T(test_upload_with_pauses),
		T(test_download_with_pauses),
		T(test_a_paused_download_is_not_a_stall),
		T(test_while_we_send_no_answer_is_due),
		T(test_limits_of_the_answer),
		T(test_callbacks_can_stop_with_their_own_error),
		T(test_cancel_everywhere),
		T(test_cancel_after_every_turn),
		T(test_free_is_silent),
		T(test_start_in_a_completion),
		T(test_lanes_share_no_connection),
		T(test_a_dropped_lane_finishes_what_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
