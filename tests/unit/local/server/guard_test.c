// SPDX-License-Identifier: Apache-2.0
/* Who may stay connected: strangers until the token is seen, in so many bytes, in so long, in so many places. */
#include "tests/unit/local/server/backend.h"

#include "local/server/api/guard.h"
#include "local/server/api/peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { MAX_CLIENTS = 160, UID_A = 12001, UID_B = 12002, UID_C = 12003, UID_D = 12004 };

/* A connection to the backend; with ssl once it has said something. */
struct client {
	int fd;
	SSL *ssl;
};
static struct client clients[MAX_CLIENTS];
static int n_clients, n_fds_before;
static SSL_CTX *ctx;

static int count_fds(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static int set_up_clients(void **state)
{
	set_up(state);
	ctx = SSL_CTX_new(TLS_client_method());
	assert_non_null(ctx);
	turn_for(loop, 1);
	n_fds_before = count_fds();
	n_clients = 0;
	return 0;
}

/* All of them go, and the backend has seen it. */
static void leave_all(void)
{
	for (int i = 0; i < n_clients; i++) {
		SSL_free(clients[i].ssl);
		close(clients[i].fd);
	}
	n_clients = 0;
	TURN_UNTIL(loop, count_fds() <= n_fds_before);
}

static int tear_down_clients(void **state)
{
	leave_all();
	SSL_CTX_free(ctx);
	return tear_down(state);
}

static struct sockaddr_in address(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons(backend->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* The socket is made as this user; root only, 0: as we are. */
static struct client *come_as(uid_t uid)
{
	struct sockaddr_in to = address();
	assert_true(n_clients < MAX_CLIENTS);
	if (uid != 0)
		assert_int_equal(seteuid(uid), 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (uid != 0)
		assert_int_equal(seteuid(0), 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)), 0);
	clients[n_clients] = (struct client){ .fd = fd };
	return &clients[n_clients++];
}

static struct client *come(void)
{
	return come_as(0);
}

static void come_many(int n, uid_t uid)
{
	for (int i = 0; i < n; i++)
		come_as(uid);
}

/* Whatever it was sent before. */
static bool has_ended(const struct client *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	return poll(&p, 1, 0) > 0;
}

static void say(struct client *c, const char *text, size_t n)
{
	if (!c->ssl) {
		c->ssl = SSL_new(ctx);
		assert_non_null(c->ssl);
		assert_int_equal(SSL_set_fd(c->ssl, c->fd), 1);
		SSL_set_connect_state(c->ssl);
	}
	for (int turns = 0; SSL_write(c->ssl, text, (int)n) <= 0; turns++) {
		assert_true(turns < 2000);
		net_loop_run_once(loop, 5);
	}
	for (int turns = 0; turns < 5; turns++) /* it is read before anybody else comes */
		net_loop_run_once(loop, 0);
}

static void say_text(struct client *c, const char *text)
{
	say(c, text, strlen(text));
}

/* What comes, up to these words; static. Cut short if the connection ends. */
static const char *answer(struct client *c, const char *until)
{
	static char bytes[2048];
	size_t n = 0;
	bytes[0] = '\0';
	for (int turns = 0; turns < 2000 && strstr(bytes, until) == NULL; turns++) {
		int got = SSL_read(c->ssl, bytes + n, (int)(sizeof bytes - 1 - n));
		if (got <= 0 && SSL_get_error(c->ssl, got) != SSL_ERROR_WANT_READ)
			break;
		n += got > 0 ? (size_t)got : 0;
		bytes[n] = '\0';
		net_loop_run_once(loop, 5);
	}
	return bytes;
}

/* Everybody from this one on is still there. */
static void must_stay(int from, int to)
{
	for (int i = from; i < to; i++)
		if (has_ended(&clients[i]))
			fail_msg("%d of %d has ended", i, n_clients);
}

static void test_the_oldest_stranger_makes_room(void **state)
{
	(void)state;
	come_many(GUARD_STRANGERS_OF_ONE + 1, 0);
	TURN_UNTIL(loop, has_ended(&clients[0]));
	must_stay(1, n_clients);
	come();
	TURN_UNTIL(loop, has_ended(&clients[1]));
	must_stay(2, n_clients);
	/* a place that is given back is free */
	leave_all();
	come_many(GUARD_STRANGERS_OF_ONE + 1, 0);
	TURN_UNTIL(loop, has_ended(&clients[0]));
	must_stay(1, n_clients);
}

static void fill_in(char *out, size_t room, const char *head)
{
	size_t n = strcspn(head, "@#");
	int token_n = head[n] == '#' ? 8 : 1000;
	snprintf(out, room, "%.*s%.*s%s", (int)n, head, token_n, head[n] ? backend->token : "",
		head[n] ? head + n + 1 : "");
}

/* A head, with @ for the token, # for the beginning of it: who has it stays, the oldest or not. */
static const struct {
	const char *head;
	bool is_known;
} heads[] = {
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer @\r\n", true },
	{ "GET /version HTTP/1.1\r\nX: y\r\nauthorization:bearer @\n", true },
	{ "GET /version HTTP/1.1\r\nAUTHORIZATION: \t BEARER   @ \t \r\n", true },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer @", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer @.\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer x@\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer@\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Basicx @\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer #\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization: Bearer \r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorizatio: Bearer @\r\n", false },
	{ "GET /version HTTP/1.1\r\nAuthorization; Bearer @\r\n", false },
	{ "GET /version HTTP/1.1\r\n X-Authorization: Bearer @\r\n", false },
	/* in a body it is none */
	{ "POST /version HTTP/1.1\r\nContent-Length: 900\r\n\r\nAuthorization: Bearer"
	  " @\r\n",
		false },
	{ "POST /version HTTP/1.1\r\nContent-Length: 900\n\nAuthorization: Bearer @\r\n",
		false },
};

static void test_the_token_is_seen_as_it_comes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(heads); i++) {
		char text[1000];
		fill_in(text, sizeof text, heads[i].head);
		say_text(come(), text);
		come_many(GUARD_STRANGERS_OF_ONE + 1, 0);
		TURN_UNTIL(loop, has_ended(&clients[1]));
		if (has_ended(&clients[0]) == heads[i].is_known)
			fail_msg("row %zu", i);
		must_stay(2, n_clients);
		leave_all();
	}
}

/* In pieces, and after a line that is too long to be looked at. */
static void test_the_token_in_pieces(void **state)
{
	static const char long_line[] = "GET /version HTTP/1.1\r\nX: ";
	char text[1200], filler[1100];
	(void)state;
	memset(filler, 'x', sizeof filler - 1);
	filler[sizeof filler - 1] = '\0';
	for (int is_late = 0; is_late < 2; is_late++) {
		struct client *c = come();
		say_text(c, long_line);
		say_text(c, filler);
		/* the end of the long line, which is no line of its own */
		snprintf(text, sizeof text, "%s\r\nAuthor", is_late ? "\n" : "");
		say_text(c, text);
		turn_for(loop, 10);
		snprintf(text, sizeof text, "ization: Bearer %s\r\n", backend->token);
		say_text(c, text);
		come_many(GUARD_STRANGERS_OF_ONE + 1, 0);
		TURN_UNTIL(loop, has_ended(&clients[1]));
		assert_int_equal(has_ended(&clients[0]), is_late);
		leave_all();
	}
}

/* One whose request was answered is known as well, and asks again. */
static void test_an_answer_makes_known(void **state)
{
	char text[300];
	(void)state;
	struct client *c = come();
	snprintf(text, sizeof text,
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
		backend->token);
	say_text(c, text);
	assert_non_null(strstr(answer(c, "\r\n\r\nok"), "HTTP/1.1 200 "));
	come_many(GUARD_STRANGERS_OF_ONE + 1, 0);
	TURN_UNTIL(loop, has_ended(&clients[1]));
	say_text(c, text);
	assert_non_null(strstr(answer(c, "\r\n\r\nok"), "HTTP/1.1 200 "));
}

/* A stranger's request of so many bytes is answered; one byte more, and it is not. */
static void test_bytes_of_a_stranger(void **state)
{
	static char body[GUARD_STRANGER_BYTES];
	char head[200];
	(void)state;
	memset(body, 'x', sizeof body);
	for (int more = 0; more < 2; more++) {
		struct client *c = come();
		int n = snprintf(head, sizeof head,
			"POST /version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 000000\r\n\r\n");
		int rest = GUARD_STRANGER_BYTES - n + more;
		snprintf(head, sizeof head,
			"POST /version HTTP/1.1\r\nHost: localhost\r\nContent-Length: %06d\r\n\r\n",
			rest);
		say_text(c, head);
		for (int at = 0; at < rest; at += 8192)
			say(c, body, (size_t)(rest - at < 8192 ? rest - at : 8192));
		assert_int_equal(
			strncmp(answer(c, "\r\n\r\n"), "HTTP/1.1 401 ", 13) == 0, !more);
		leave_all();
	}
}

/* The time runs from the first byte to none: a stranger that was there before it is over goes. */
static void test_time_of_a_stranger(void **state)
{
	(void)state;
	int64_t mono = clock_mono_ns(), wall = clock_wall_ns();
	come();
	TURN_UNTIL(loop, count_fds() == n_fds_before + 2);
	clock_set_for_tests(mono + GUARD_STRANGER_MS * INT64_C(900000), wall);
	come();
	for (int i = 0; i < 20; i++)
		net_loop_run_once(loop, 1);
	must_stay(0, 2);
	clock_set_for_tests(mono + GUARD_STRANGER_MS * INT64_C(1100000), wall);
	come();
	for (int i = 0; i < 1000 && !has_ended(&clients[0]); i++)
		net_loop_run_once(loop, 5);
	assert_true(has_ended(&clients[0]));
	must_stay(1, 3);
	clock_set_for_tests(-1, -1);
}

/* ---- several users ---- */

static void test_nobody_keeps_others_out(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();                               /* only root can be several */
	come_many(GUARD_STRANGERS_OF_ONE - 1, UID_A); /* from 0 */
	come_many(GUARD_STRANGERS_OF_ONE, UID_B);     /* from 23 */
	come_many(GUARD_STRANGERS - 2 * GUARD_STRANGERS_OF_ONE + 1, UID_C); /* 47 to 63 */
	assert_int_equal(n_clients, GUARD_STRANGERS);
	/* whoever has most of them makes room, with the oldest */
	come_as(UID_D);
	TURN_UNTIL(loop, has_ended(&clients[23]));
	must_stay(0, 23);
	must_stay(24, n_clients);
	come_as(UID_D);
	TURN_UNTIL(loop, has_ended(&clients[0]));
	must_stay(1, 23);
	must_stay(24, n_clients);
	/* and one with too many of its own, though others have as many */
	come_as(UID_B);
	come_as(UID_B);
	TURN_UNTIL(loop, has_ended(&clients[24]));
}

static void say_token(struct client *c)
{
	char text[300];
	snprintf(text, sizeof text, "GET /version HTTP/1.1\r\nAuthorization: Bearer %s\r\n",
		backend->token);
	say_text(c, text);
}

/* With few descriptors there are few places; who comes to none is sent away. */
static void test_places_by_descriptors(void **state)
{
	struct rlimit old, few;
	enum { KNOWN = 10 };
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 256 + GUARD_STRANGERS + KNOWN;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	stop();
	serve();
	n_fds_before = count_fds();
	for (int i = 0; i < KNOWN + 1; i++)
		say_token(come());
	come_many(20, UID_A);
	come_many(20, UID_B);
	come_many(23, UID_C);
	TURN_UNTIL(loop, count_fds() == n_fds_before + 2 * n_clients);
	must_stay(0, n_clients);
	come_as(UID_D);
	TURN_UNTIL(loop, has_ended(&clients[n_clients - 1]));
	must_stay(0, n_clients - 1);
	leave_all();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* ---- who is at the other end ---- */

static void test_peers(void **state)
{
	(void)state;
	int netlink = api_peer_open();
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof to;
	assert_true(netlink >= 0);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&to, n), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&to, &n), 0);
	uid_t uids[] = { geteuid(), geteuid() == 0 ? UID_A : geteuid() };
	for (size_t i = 0; i < COUNT(uids); i++) {
		assert_int_equal(seteuid(uids[i]), 0);
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(seteuid(uids[0]), 0);
		assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
		int accepted = accept(listener, NULL, NULL);
		assert_true(accepted >= 0);
		assert_int_equal(api_peer_uid(netlink, accepted), uids[i]);
		assert_int_equal(api_peer_uid(netlink, fd), uids[0]);
		assert_int_equal(api_peer_uid(-1, accepted), PEER_UNKNOWN);
		close(fd);
		close(accepted);
	}
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(api_peer_uid(netlink, pair[0]), PEER_UNKNOWN);
	assert_int_equal(api_peer_uid(netlink, listener), PEER_UNKNOWN);
	assert_int_equal(api_peer_uid(listener, pair[0]), PEER_UNKNOWN);
	close(pair[0]);
	close(pair[1]);
	close(listener);
	close(netlink);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_clients, tear_down_clients)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_oldest_stranger_makes_room),
		TEST(test_the_token_is_seen_as_it_comes),
		TEST(test_the_token_in_pieces),
		TEST(test_an_answer_makes_known),
		TEST(test_bytes_of_a_stranger),
		TEST(test_time_of_a_stranger),
		TEST(test_nobody_keeps_others_out),
		TEST(test_places_by_descriptors),
		cmocka_unit_test(test_peers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
