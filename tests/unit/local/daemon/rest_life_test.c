// SPDX-License-Identifier: Apache-2.0
/* The life of REST connections: how long they wait, what a client that goes leaves behind, answers that are larger than a
 * socket, uploads that fail, and the end of the daemon. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/str.h"
#include "local/daemon/daemon.h"
#include "tests/unit/engine/net/turns.h"
#include "tests/unit/local/daemon/listen.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HOST "Host: localhost\r\n"
#define HEALTH "GET /v1/health HTTP/1.1\r\n" HOST "\r\n"

enum { MIB = 1 << 20, IDLE_MS = 150 };

static struct net_loop *loop;
static struct daemon *the_daemon;
static uint16_t port, grpc_port;
static char root[64];
static bool has_stopped;

static void on_stopped(void *arg)
{
	(void)arg;
	has_stopped = true;
}

static void start_daemon(void)
{
	struct err err = { 0 };
	struct daemon_opts opts = { .root_dir = root,
		.metadata_env_prefix = "SANDMUX_NOTHING_",
		.shutdown_timeout_ms = 8000,
		.idle_timeout_ms = IDLE_MS,
		.on_stopped = on_stopped };
	opts.rest_fd = listen_anywhere(&port);
	opts.grpc_fd = listen_anywhere(&grpc_port);
	the_daemon = daemon_new(loop, &opts, &err);
	assert_non_null(the_daemon);
}

static int set_up(void **state)
{
	(void)state;
	has_stopped = false;
	loop = net_loop_new(NULL);
	snprintf(root, sizeof root, "/tmp/sandmux-life-XXXXXX");
	assert_non_null(mkdtemp(root));
	start_daemon();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	daemon_free(the_daemon);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", root, (char *)NULL);
		_exit(127);
	}
	return 0;
}

/* ---- a client */

struct client {
	int fd;
	struct str got;
	bool is_over;
	int errnum; /* 0: an orderly end */
};

static void connect_to(struct client *client, uint16_t to)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(to) };
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*client = (struct client){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	str_init(&client->got, 32 * MIB);
	assert_int_equal(connect(client->fd, (struct sockaddr *)&in, sizeof in), 0);
	fcntl(client->fd, F_SETFL, O_NONBLOCK);
}

static void connect_client(struct client *client)
{
	connect_to(client, port);
}

static void end_client(struct client *client)
{
	close(client->fd);
	str_deinit(&client->got);
}

/* Takes at most n bytes of what has come. True: there is no more to come. */
static bool take(struct client *client, size_t n)
{
	static char bytes[256 << 10];
	while (!client->is_over && n > 0) {
		ssize_t got = recv(client->fd, bytes, n < sizeof bytes ? n : sizeof bytes, 0);
		if (got < 0 && errno == EAGAIN)
			return false;
		client->is_over = got <= 0;
		client->errnum = got < 0 ? errno : 0;
		if (got > 0) {
			str_add_bytes(&client->got, bytes, (size_t)got);
			n -= (size_t)got;
		}
	}
	return client->is_over;
}

static void say(struct client *client, const char *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t put = send(client->fd, bytes + at, n - at, MSG_NOSIGNAL);
		if (put > 0)
			at += (size_t)put;
		else if (errno != EAGAIN)
			return;
		net_loop_run_once(loop, 0);
	}
}

/* Without a turn of the loop. */
#define SAY_LATER(client, text)                                                                \
	assert_int_equal(                                                                      \
		send((client)->fd, text, sizeof(text) - 1, MSG_NOSIGNAL), sizeof(text) - 1)
#define SAY(client, text) say(client, text, sizeof(text) - 1)
#define HAS(client, text) (take(client, SIZE_MAX), strstr((client)->got.p, text) != NULL)

static size_t files_in_root(void)
{
	size_t n = 0;
	DIR *d = opendir(root);
	struct dirent *e;
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

static const char *in_root(const char *name)
{
	static char path[200];
	snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static void make_file(const char *name, size_t n)
{
	char *bytes = malloc(n);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + (i / 4096 + i) % 26);
	int fd = open(in_root(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
	free(bytes);
}

/* ---- waiting */

static void an_idle_connection_is_closed(void **state)
{
	struct client client;
	(void)state;
	connect_client(&client);
	SAY(&client, HEALTH);
	TURN_UNTIL(loop, HAS(&client, "\"ok\""));
	int64_t began_ms = clock_mono_ms();
	/* another request begins the wait anew */
	turn_for(loop, IDLE_MS / 2);
	SAY(&client, HEALTH);
	TURN_UNTIL(loop, take(&client, SIZE_MAX));
	assert_in_range(clock_mono_ms() - began_ms, IDLE_MS + IDLE_MS / 2 - 10, 8000);
	assert_int_equal(client.errnum, 0);
	end_client(&client);
	/* before the first request that time does not count, and neither in one */
	connect_client(&client);
	turn_for(loop, IDLE_MS * 2);
	SAY(&client, "PUT /v1/files/a HTTP/1.1\r\n" HOST);
	turn_for(loop, IDLE_MS * 2);
	SAY(&client, "Content-Length: 2\r\n\r\na");
	turn_for(loop, IDLE_MS * 2);
	assert_false(take(&client, SIZE_MAX));
	SAY(&client, "b");
	TURN_UNTIL(loop, HAS(&client, "HTTP/1.1 204 "));
	end_client(&client);
}

static void a_client_that_goes_leaves_nothing(void **state)
{
	const struct linger hard = { .l_onoff = 1 };
	struct client client;
	(void)state;
	for (int i = 0; i < 2; i++) {
		connect_client(&client);
		SAY(&client,
			"PUT /v1/files/a HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\nabc");
		TURN_UNTIL(loop, files_in_root() == 1); /* the temporary one */
		if (i == 1)                             /* a reset */
			setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
		end_client(&client);
		TURN_UNTIL(loop, files_in_root() == 0);
	}
	connect_client(&client);
	SAY(&client, HEALTH);
	TURN_UNTIL(loop, HAS(&client, "\"ok\""));
	end_client(&client);
}

/* ---- large answers */

static void a_large_file_to_a_slow_client(void **state)
{
	enum { SIZE = 12 * MIB };
	struct client client;
	char *file = malloc(SIZE);
	(void)state;
	make_file("large", SIZE);
	connect_client(&client);
	SAY(&client, "GET /v1/files/large HTTP/1.1\r\n" HOST "\r\n" HEALTH);
	for (int i = 0; i < 20; i++) {
		net_loop_run_once(loop, 1);
		take(&client, 1000);
	}
	/* the other one on the same connection waits its turn, and comes whole */
	TURN_UNTIL(loop, take(&client, SIZE_MAX) || client.got.n > (size_t)SIZE + 400);
	TURN_UNTIL(loop, HAS(&client, "\"ok\"") || client.is_over);
	const char *body = strstr(client.got.p, "\r\n\r\n") + 4;
	int fd = open(in_root("large"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, file, SIZE), SIZE);
	close(fd);
	assert_memory_equal(body, file, SIZE);
	assert_memory_equal(body + SIZE, "HTTP/1.1 200 OK\r\n", 17);
	end_client(&client);
	free(file);
}

static void a_file_that_shrinks_under_way(void **state)
{
	enum { SIZE = 12 * MIB };
	struct client client;
	(void)state;
	make_file("large", SIZE);
	connect_client(&client);
	SAY(&client, "GET /v1/files/large HTTP/1.1\r\n" HOST "\r\n");
	TURN_UNTIL(loop, (take(&client, 1000), client.got.n >= 1000));
	assert_int_equal(truncate(in_root("large"), SIZE / 2), 0);
	TURN_UNTIL(loop, take(&client, SIZE_MAX)); /* the end says that it is not whole */
	assert_non_null(strstr(client.got.p, "Content-Length: 12582912\r\n"));
	assert_true(client.got.n < SIZE);
	end_client(&client);
}

static void a_client_that_stops_reading_and_goes(void **state)
{
	struct client client;
	(void)state;
	make_file("large", 12 * MIB);
	connect_client(&client);
	SAY(&client, "GET /v1/files/large HTTP/1.1\r\n" HOST "\r\n");
	TURN_UNTIL(loop, (take(&client, 1000), client.got.n >= 1000));
	end_client(&client);
	/* it is found out, and the daemon ends at once */
	daemon_shutdown(the_daemon);
	int64_t began_ms = clock_mono_ms();
	TURN_UNTIL(loop, has_stopped);
	assert_true(clock_mono_ms() - began_ms < 5000);
}

/* ---- bodies that nobody takes */

static void an_answer_before_the_body_is_not_lost(void **state)
{
	enum { SIZE = 2 * MIB };
	struct client client;
	char *body = calloc(1, SIZE);
	(void)state;
	connect_client(&client);
	SAY(&client, "POST /v1/health HTTP/1.1\r\n" HOST "Content-Length: 2097152\r\n\r\n");
	say(&client, body, SIZE);
	TURN_UNTIL(loop, take(&client, SIZE_MAX));
	assert_int_equal(client.errnum, 0);
	assert_memory_equal(client.got.p, "HTTP/1.1 405 Method Not Allowed\r\n", 33);
	assert_non_null(strstr(client.got.p, "Connection: close\r\n"));
	end_client(&client);
	/* a short one is taken in, and the connection stays */
	connect_client(&client);
	SAY(&client, "POST /v1/health HTTP/1.1\r\n" HOST "Content-Length: 262144\r\n\r\n");
	net_loop_run_once(loop, 1);
	assert_false(take(&client, SIZE_MAX));
	assert_int_equal(client.got.n, 0);
	say(&client, body, 262144);
	SAY(&client, HEALTH);
	TURN_UNTIL(loop, HAS(&client, "\"ok\""));
	assert_null(strstr(client.got.p, "Connection: close"));
	end_client(&client);
	/* one without a length is left when it grows too long, or is no body */
	static const char *const chunks[] = { "zz\r\n", "40001\r\n" };
	for (size_t i = 0; i < 2; i++) {
		connect_client(&client);
		SAY(&client, "POST /v1/health HTTP/1.1\r\n" HOST
			     "Transfer-Encoding: chunked\r\n\r\n");
		say(&client, chunks[i], strlen(chunks[i]));
		if (i == 1)
			say(&client, body, 0x40001);
		TURN_UNTIL(loop, take(&client, SIZE_MAX));
		assert_memory_equal(client.got.p, "HTTP/1.1 405 ", 13);
		end_client(&client);
	}
	free(body);
}

/* Whether little of it is left to come or much. */
static void an_upload_that_cannot_be_written(void **state)
{
	static const size_t sizes[] = { MIB + 100000, 3 * MIB };
	struct rlimit before, small;
	char *body = calloc(1, 3 * MIB), head[200];
	(void)state;
	make_file("a", 3);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ MIB, before.rlim_max };
	for (size_t i = 0; i < 2; i++) {
		struct client client;
		struct stat st;
		snprintf(head, sizeof head,
			"PUT /v1/files/a HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n",
			sizes[i]);
		setrlimit(RLIMIT_FSIZE, &small);
		connect_client(&client);
		say(&client, head, strlen(head));
		say(&client, body, sizes[i]);
		int64_t began_ms = clock_mono_ms();
		TURN_UNTIL(loop, take(&client, SIZE_MAX));
		setrlimit(RLIMIT_FSIZE, &before);
		assert_int_equal(client.errnum, 0);
		assert_memory_equal(client.got.p, "HTTP/1.1 500 ", 13);
		assert_non_null(strstr(client.got.p, "failed to write file contents: write "));
		assert_non_null(strstr(client.got.p, ": file too large\"}"));
		assert_non_null(strstr(client.got.p, "Connection: close\r\n"));
		assert_true(clock_mono_ms() - began_ms < 5000);
		assert_int_equal(files_in_root(), 1);
		assert_int_equal(stat(in_root("a"), &st), 0);
		assert_int_equal(st.st_size, 3);
		end_client(&client);
	}
	signal(SIGXFSZ, SIG_DFL);
	free(body);
}

static void a_head_that_is_too_long(void **state)
{
	enum { SIZE = MIB + 8192 };
	struct client client;
	char *head = malloc(SIZE);
	(void)state;
	memset(head, 'x', SIZE);
	connect_client(&client);
	SAY(&client, "GET /v1/health HTTP/1.1\r\nX: ");
	say(&client, head, SIZE);
	TURN_UNTIL(loop, take(&client, SIZE_MAX));
	assert_memory_equal(
		client.got.p, "HTTP/1.1 431 Request Header Fields Too Large\r\n", 46);
	end_client(&client);
	free(head);
}

/* Out of descriptors, those who knock wait; then they are served, on both sides. */
static void no_descriptor_is_left(void **state)
{
	struct rlimit before, none;
	struct client rest, grpc;
	(void)state;
	connect_client(&rest);
	connect_to(&grpc, grpc_port);
	SAY_LATER(&rest, HEALTH);
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ (rlim_t)dup(0), before.rlim_max };
	close((int)none.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &none);
	clock_t began = clock();
	turn_for(loop, 350);
	double busy_s = (double)(clock() - began) / CLOCKS_PER_SEC;
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(rest.got.n + grpc.got.n, 0);
	assert_true(busy_s < 0.25); /* it does not spin */
	TURN_UNTIL(loop, HAS(&rest, "\"ok\""));
	/* the settings of HTTP/2, unasked */
	TURN_UNTIL(loop, (take(&grpc, SIZE_MAX), grpc.got.n >= 9));
	assert_int_equal(grpc.got.p[3], 4);
	end_client(&rest);
	end_client(&grpc);
}

/* ---- what a killed daemon left */

static bool is_there(const char *name)
{
	struct stat st;
	return lstat(in_root(name), &st) == 0;
}

static void leftovers_are_swept(void **state)
{
	static const struct {
		const char *name;
		bool goes;
	} rows[] = { { ".sandboxd-tmp-0123456789abcdef", true },
		{ ".sandboxd-tmp-0123456789abcdee", false }, /* locked */
		{ ".sandboxd-tmp-0123456789abcded", false }, /* has another name */
		{ ".sandboxd-tmp-0123456789abcde", false },
		{ ".sandboxd-tmp-0123456789abcdef0", false },
		{ ".sandboxd-tmp-0123456789ABCDEF", false },
		{ "x.sandboxd-tmp-0123456789abcdef", false }, { "file", false } };
	(void)state;
	daemon_free(the_daemon);
	net_loop_run_once(loop, 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		make_file(rows[i].name, 3);
	int held = open(in_root(rows[1].name), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(held, LOCK_EX), 0);
	char second[200];
	snprintf(second, sizeof second, "%s", in_root("second"));
	assert_int_equal(link(in_root(rows[2].name), second), 0);
	assert_int_equal(mkdir(in_root("d"), 0755), 0);
	assert_int_equal(mkdir(in_root("d/.sandboxd-tmp-0123456789abcdef"), 0755), 0);
	make_file("d/.sandboxd-tmp-aaaaaaaaaaaaaaaa", 3);
	assert_int_equal(symlink("file", in_root(".sandboxd-tmp-cccccccccccccccc")), 0);
	assert_int_equal(symlink("/tmp", in_root("elsewhere")), 0);
	start_daemon();
	TURN_UNTIL(
		loop, !is_there(rows[0].name) && !is_there("d/.sandboxd-tmp-aaaaaaaaaaaaaaaa"));
	/* the pool is done with it when it is asked for something else */
	struct client client;
	connect_client(&client);
	SAY(&client, "GET /v1/files/ HTTP/1.1\r\n" HOST "\r\n");
	TURN_UNTIL(loop, HAS(&client, "\"entries\""));
	end_client(&client);
	for (size_t i = 1; i < sizeof rows / sizeof rows[0]; i++)
		if (!is_there(rows[i].name))
			fail_msg("%s is gone", rows[i].name);
	assert_true(is_there("d/.sandboxd-tmp-0123456789abcdef"));
	assert_true(is_there(".sandboxd-tmp-cccccccccccccccc"));
	close(held);
}

static void a_tree_of_any_depth_goes(void **state)
{
	enum { DEPTH = 100 };
	struct client client;
	(void)state;
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(fd, "folder", 0755), 0);
		int below = openat(fd, "folder", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = below;
		int file = openat(fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
		close(file);
	}
	close(fd);
	connect_client(&client);
	SAY(&client, "DELETE /v1/files/folder?recursive=true HTTP/1.1\r\n" HOST "\r\n");
	TURN_UNTIL(loop, HAS(&client, "HTTP/1.1 204 "));
	end_client(&client);
	assert_int_equal(files_in_root(), 0);
}

/* ---- the end of the daemon */

static void an_end_waits_for_requests_and_not_for_silence(void **state)
{
	struct client fresh, kept, busy;
	(void)state;
	connect_client(&fresh);
	connect_client(&kept);
	connect_client(&busy);
	SAY(&kept, HEALTH);
	SAY(&busy, "PUT /v1/files/a HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nab");
	TURN_UNTIL(loop, HAS(&kept, "\"ok\"") && files_in_root() == 1);
	daemon_shutdown(the_daemon);
	TURN_UNTIL(loop, take(&fresh, SIZE_MAX) && take(&kept, SIZE_MAX));
	assert_false(has_stopped);
	assert_false(take(&busy, SIZE_MAX));
	SAY(&busy, "cd" HEALTH);
	TURN_UNTIL(loop, take(&busy, SIZE_MAX));
	assert_memory_equal(busy.got.p, "HTTP/1.1 204 ", 13);
	assert_non_null(strstr(busy.got.p, "Connection: close\r\n"));
	assert_null(strstr(busy.got.p, "\"ok\"")); /* the last one */
	TURN_UNTIL(loop, has_stopped);
	struct stat st;
	assert_int_equal(stat(in_root("a"), &st), 0);
	assert_int_equal(st.st_size, 4);
	end_client(&fresh);
	end_client(&kept);
	end_client(&busy);
}

/* Freed in the middle of everything: nothing is left of it, in the folder neither. */
static void an_end_without_asking(void **state)
{
	struct client reading, writing;
	(void)state;
	make_file("large", 12 * MIB);
	connect_client(&reading);
	connect_client(&writing);
	SAY(&reading, "GET /v1/files/large HTTP/1.1\r\n" HOST "\r\n");
	SAY(&writing, "PUT /v1/files/a HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nab");
	TURN_UNTIL(loop, files_in_root() == 2 && take(&reading, 10) == false);
	daemon_free(the_daemon);
	the_daemon = NULL;
	net_loop_run_once(loop, 1);
	assert_int_equal(files_in_root(), 1);
	assert_false(has_stopped);
	TURN_UNTIL(loop, take(&writing, SIZE_MAX) && take(&reading, SIZE_MAX));
	end_client(&reading);
	end_client(&writing);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_idle_connection_is_closed),
		TEST(a_client_that_goes_leaves_nothing),
		TEST(a_large_file_to_a_slow_client),
		TEST(a_file_that_shrinks_under_way),
		TEST(a_client_that_stops_reading_and_goes),
		TEST(an_answer_before_the_body_is_not_lost),
		TEST(an_upload_that_cannot_be_written),
		TEST(a_head_that_is_too_long),
		TEST(no_descriptor_is_left),
		TEST(leftovers_are_swept),
		TEST(a_tree_of_any_depth_goes),
		TEST(an_end_waits_for_requests_and_not_for_silence),
		TEST(an_end_without_asking),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
