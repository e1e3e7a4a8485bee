// SPDX-License-Identifier: Apache-2.0
/* The daemon's REST answers byte by byte, over a plain socket: routes and redirects, who is let in, validators and ranges,
 * listings, deletes, uploads. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/str.h"
#include "local/daemon/daemon.h"
#include "tests/unit/engine/net/turns.h"
#include "tests/unit/local/daemon/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
/* of "secret" */
#define SECRET_SHA256 "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"

static struct net_loop *loop;
static struct daemon *the_daemon;
static uint16_t port;
static char root[64];
static struct str answer; /* head and body of the last one */

static void serve(const char *token_sha256)
{
	struct err err = { 0 };
	uint16_t unused;
	struct daemon_opts opts = { .root_dir = root,
		.token_sha256 = token_sha256,
		.metadata_env_prefix = "SANDMUX_REST_TEST_",
		.shutdown_timeout_ms = 5000,
		.idle_timeout_ms = 60000 };
	opts.rest_fd = listen_anywhere(&port);
	opts.grpc_fd = listen_anywhere(&unused);
	the_daemon = daemon_new(loop, &opts, &err);
	if (the_daemon == NULL)
		fail_msg("%s", err.msg);
}

static int set_up(void **state)
{
	struct err err = { 0 };
	(void)state;
	loop = net_loop_new(&err);
	str_init(&answer, 1 << 20);
	snprintf(root, sizeof root, "/tmp/sandmux-rest-XXXXXX");
	assert_non_null(mkdtemp(root));
	serve(NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	daemon_free(the_daemon);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	str_deinit(&answer);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", root, (char *)NULL);
		_exit(127);
	}
	return 0;
}

static bool has_ended(int fd)
{
	char bytes[4096];
	ssize_t n;
	while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
		str_add_bytes(&answer, bytes, (size_t)n);
	return n == 0;
}

/* Sends bytes as they are; the answer is read to the end of the connection. */
static void say(const char *bytes)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n = strlen(bytes);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	str_clear(&answer);
	assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
	TURN_UNTIL(loop, has_ended(fd));
	close(fd);
}

struct row {
	const char *line;    /* method and target */
	const char *headers; /* each with its end */
	const char *body;    /* NULL: none */
	int status;
	const char *has, *has_not; /* or NULL */
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *row = &rows[i];
		char request[4000], length[64] = "", status[16];
		if (row->body != NULL)
			snprintf(length, sizeof length, "Content-Length: %zu\r\n",
				strlen(row->body));
		snprintf(request, sizeof request,
			"%s HTTP/1.1\r\n%s%s%sConnection: close\r\n\r\n%s", row->line,
			strstr(row->headers, "Host:") ? "" : "Host: localhost\r\n",
			row->headers, length, row->body ? row->body : "");
		say(request);
		snprintf(status, sizeof status, "HTTP/1.1 %d ", row->status);
		if (strncmp(answer.p, status, strlen(status)) != 0 ||
			(row->has && strstr(answer.p, row->has) == NULL) ||
			(row->has_not && strstr(answer.p, row->has_not) != NULL))
			fail_msg("row %zu, %s, %s: %s", i, row->line, row->headers, answer.p);
	}
}
#define CHECK(...)                                                                             \
	do {                                                                                   \
		static const struct row rows_[] = { __VA_ARGS__ };                             \
		check(rows_, COUNT(rows_));                                                    \
	} while (0)
#define ROW(line, status, has)                                                                 \
	{                                                                                      \
		line, "", NULL, status, has, NULL                                              \
	}
#define WITH(line, headers, status, has)                                                       \
	{                                                                                      \
		line, headers "\r\n", NULL, status, has, NULL                                  \
	}
#define NOT(line, status, has, has_not)                                                        \
	{                                                                                      \
		line, "", NULL, status, has, has_not                                           \
	}
#define SEND(line, body, status, has)                                                          \
	{                                                                                      \
		line, "", body, status, has, NULL                                              \
	}

static const char *in_root(const char *name)
{
	static char path[2][300];
	static int turn;
	turn = !turn;
	snprintf(path[turn], sizeof path[0], "%s/%s", root, name);
	return path[turn];
}

/* modified: seconds since 1970 */
static void put(const char *name, const char *text, time_t modified)
{
	int fd = open(in_root(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, 0640), 0);
	const struct timespec times[2] = { { .tv_sec = modified }, { .tv_sec = modified } };
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool is_there(const char *name)
{
	struct stat st;
	return lstat(in_root(name), &st) == 0;
}

/* ---- routes */

static void test_routes(void **state)
{
	(void)state;
	CHECK(ROW("GET /v1/health", 200, "{\"status\":\"ok\",\"uptime_seconds\":"),
		ROW("GET /v1/health?x=/../y", 200, "\"ok\""),
		ROW("GET /v1/%68ealth", 200, "\"ok\""), ROW("GET /%761/health", 200, "\"ok\""),
		ROW("GET /v1/healthy", 404, "404 page not found\n"),
		ROW("GET /v1/healt", 404, NULL), ROW("GET /v1/health/", 404, NULL),
		ROW("GET /v1/health%2F", 404, NULL),
		ROW("GET /v1/averylongsegmentindeed", 404, NULL), ROW("GET /", 404, NULL),
		ROW("GET /v1", 404, "X-Content-Type-Options: nosniff\r\n"),
		ROW("GET http://any/v1/health", 200, "\"ok\""),
		ROW("GET HTTP://any/v1/health", 200, "\"ok\""),
		ROW("GET http://any", 400, "400 Bad Request"), ROW("GET *", 400, NULL),
		ROW("GET v1/health", 400, NULL), ROW("GET /v1/%zz", 400, "400 Bad Request"),
		ROW("GET /v1/%4", 400, NULL),
		/* the target cleaned */
		ROW("GET /v1/files", 307, "Location: /v1/files/\r\n"),
		ROW("HEAD /v1/files", 307, "Location: /v1/files/\r\n"),
		ROW("GET /v1/files", 307, "Content-Type: text/html; charset=utf-8\r\n"),
		ROW("HEAD /v1/files", 307, "Content-Type: text/html; charset=utf-8\r\n"),
		NOT("DELETE /v1/files", 307, NULL, "Content-Type"),
		ROW("DELETE /v1/files?a=b", 307, "Location: /v1/files/?a=b\r\n"),
		ROW("GET /v1//health", 307, "Location: /v1/health\r\n"),
		ROW("GET /v1/./health", 307, "Location: /v1/health\r\n"),
		ROW("GET /v1/x/../health", 307, "Location: /v1/health\r\n"),
		ROW("GET /../v1/health", 307, "Location: /v1/health\r\n"),
		ROW("GET /v1/../../v1/health?q", 307, "Location: /v1/health?q\r\n"),
		ROW("GET /v1/files//a/./b/", 307, "Location: /v1/files/a/b/\r\n"),
		ROW("GET /v1/files/..", 307, "Location: /v1\r\n"),
		ROW("GET /v1/...", 404, NULL), ROW("GET /v1/.health", 404, NULL),
		ROW("GET /v1//files/a&b'?<\">", 307,
			"<a href=\"/v1/files/a&amp;b%27?&lt;&#34;&gt;\">Temporary Redirect</a>"),
		NOT("DELETE /v1//files/a", 307, "Location: /v1/files/a\r\n", "<a href"),
		/* methods */
		ROW("POST /v1/health", 405, "Allow: GET, HEAD\r\n"),
		ROW("PUT /v1/health", 405, "Method Not Allowed\n"),
		ROW("DELETE /v1/metadata", 405, "Allow: GET, HEAD\r\n"),
		ROW("POST /v1/files/a", 405, "Allow: DELETE, GET, HEAD, PUT\r\n"),
		ROW("POST /v1/files", 405, "Allow: DELETE, GET, HEAD, PUT\r\n"),
		NOT("HEAD /v1/health", 200, "Content-Length: ", "\"ok\""),
		NOT("HEAD /v1/nothing", 404, NULL, "404 page"));
}

static void test_what_the_environment_tells(void **state)
{
	static const char *const hidden[] = { "A_TOKEN", "SECRETS", "MyPassword", "PASSWD",
		"CREDITS", "KEY", "author", "BEARER", "PRIVATE", "CERT_DIR" };
	char name[100];
	(void)state;
	daemon_free(the_daemon);
	for (size_t i = 0; i < COUNT(hidden); i++) {
		snprintf(name, sizeof name, "SANDMUX_REST_TEST_%s", hidden[i]);
		setenv(name, "hidden", 1);
	}
	setenv("SANDMUX_REST_TEST_B", "two=2", 1);
	setenv("SANDMUX_REST_TEST_A", "\"one\"", 1);
	setenv("SANDMUX_REST_TES", "no", 1);
	serve(NULL);
	CHECK(ROW("GET /v1/metadata", 200,
		"\r\n\r\n{\"env\":{\"SANDMUX_REST_TEST_A\":\"\\\"one\\\"\","
		"\"SANDMUX_REST_TEST_B\":\"two=2\"}}\n"));
	for (size_t i = 0; i < COUNT(hidden); i++) {
		snprintf(name, sizeof name, "SANDMUX_REST_TEST_%s", hidden[i]);
		unsetenv(name);
	}
	unsetenv("SANDMUX_REST_TEST_A");
	unsetenv("SANDMUX_REST_TEST_B");
	unsetenv("SANDMUX_REST_TES");
}

/* Without a token only names that nobody can make point here; with one, any. */
static void test_who_is_let_in(void **state)
{
	(void)state;
	CHECK(WITH("GET /v1/health", "Host: 127.0.0.1:80", 200, NULL),
		WITH("GET /v1/health", "Host: [::1]:80", 200, NULL),
		WITH("GET /v1/health", "Host: box", 200, NULL),
		WITH("GET /v1/health", "Host: a.localhost", 200, NULL),
		WITH("GET /v1/health", "Host: A.LocalHost:80", 200, NULL),
		WITH("GET /v1/health", "Host: a.b.svc", 200, NULL),
		WITH("GET /v1/health", "Host: a.b.svc.cluster.local", 200, NULL),
		WITH("GET /v1/health", "Host: evil.example", 421, "without a token"),
		WITH("GET /v1/health", "Host: 127.0.0.1.example", 421, NULL),
		WITH("GET /v1/health", "Host: .svc", 421, NULL),
		WITH("GET /v1/health", "Host: a.notlocalhost", 421, NULL),
		WITH("GET /v1/files/", "Host: localhost.example", 421, "PERMISSION_DENIED"));
	daemon_free(the_daemon);
	serve(SECRET_SHA256);
	CHECK(WITH("GET /v1/health", "Host: evil.example", 200, NULL),
		ROW("GET /v1/metadata", 401, "WWW-Authenticate: Bearer\r\n"),
		ROW("GET /v1/files", 401, "missing or invalid bearer token"),
		ROW("GET /v1//files/a", 401, "UNAUTHENTICATED"),
		ROW("GET /v1/nothing", 404, NULL),
		WITH("GET /v1/metadata", "Authorization: Bearer secret", 200, NULL),
		WITH("GET /v1/files", "Authorization: Bearer secret", 307, NULL),
		WITH("GET /v1/metadata", "Authorization: Bearer secre", 401, NULL),
		WITH("GET /v1/metadata", "Authorization: Bearer secrets", 401, NULL),
		WITH("GET /v1/metadata", "Authorization: Bearer ", 401, NULL),
		WITH("GET /v1/metadata", "Authorization: Basic secret", 401, NULL),
		WITH("PUT /v1/files/a", "Authorization: secret", 401, NULL));
	assert_false(is_there("a"));
}

/* ---- reading */

#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define GET_A "GET /v1/files/a"

static void test_validators(void **state)
{
	(void)state;
	put("a", "0123456789", 784111777);
	put("old", "x", 0);
	CHECK(ROW(GET_A, 200, "Last-Modified: " DATE "\r\n"),
		ROW(GET_A, 200, "Accept-Ranges: bytes\r\n"),
		ROW(GET_A, 200, "Content-Type: application/octet-stream\r\n"),
		NOT("HEAD /v1/files/a", 200, "Content-Length: 10\r\n", "0123"),
		NOT("GET /v1/files/old", 200, "\r\n\r\nx", "Last-Modified"),
		WITH("GET /v1/files/old", "If-Modified-Since: " DATE, 200, NULL),
		WITH("GET /v1/files/old", "If-Unmodified-Since: " BEFORE, 200, NULL),
		WITH(GET_A, "If-Modified-Since: " DATE, 304, "Last-Modified: " DATE),
		WITH(GET_A, "If-Modified-Since: " BEFORE, 200, NULL),
		WITH(GET_A, "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT", 304, NULL),
		WITH(GET_A, "If-Modified-Since: Sunday, 06-Nov-94 08:49:36 GMT", 200, NULL),
		WITH(GET_A, "If-Modified-Since: Sun Nov  6 08:49:37 1994", 304, NULL),
		WITH(GET_A, "If-Modified-Since: Sun Nov  6 08:49:37 1994 x", 200, NULL),
		WITH(GET_A, "If-Modified-Since: yesterday", 200, NULL),
		WITH(GET_A, "If-Unmodified-Since: " DATE, 200, NULL),
		WITH(GET_A, "If-Unmodified-Since: " BEFORE, 412,
			"Content-Type: application/octet-stream\r\n"),
		WITH(GET_A, "If-Unmodified-Since: yesterday", 200, NULL),
		WITH(GET_A, "If-Match: *", 200, NULL),
		WITH(GET_A, "If-Match: \"x\"", 412, NULL),
		/* a match counts, and the date beside it does not */
		WITH(GET_A, "If-Match: *\r\nIf-Unmodified-Since: " BEFORE, 200, NULL),
		WITH(GET_A, "If-None-Match: *", 304, NULL),
		WITH(GET_A, "If-None-Match: \"x\"\r\nIf-Modified-Since: " DATE, 200, NULL));
}

static void test_parts(void **state)
{
	(void)state;
	put("a", "0123456789", 784111777);
	put("empty", "", 784111777);
	CHECK(WITH(GET_A, "Range: bytes=0-0", 206, "Content-Range: bytes 0-0/10\r\n"),
		WITH(GET_A, "Range: bytes=2-4", 206, "Content-Length: 3\r\n"),
		WITH(GET_A, "Range: bytes=2-4", 206, "\r\n\r\n234"),
		WITH(GET_A, "Range: bytes=-3", 206, "Content-Range: bytes 7-9/10\r\n"),
		WITH(GET_A, "Range: bytes=9-", 206, "\r\n\r\n9"),
		WITH(GET_A, "Range: bytes=10-", 416, "Content-Range: bytes */10\r\n"),
		WITH(GET_A, "Range: bytes=10-", 416, "invalid range: failed to overlap\n"),
		WITH(GET_A, "Range: bytes=x", 416, "\r\n\r\ninvalid range\n"),
		WITH(GET_A, "Range: bytes=0-9,0-9", 200, "\r\n\r\n0123456789"),
		WITH("GET /v1/files/empty", "Range: bytes=0-", 200, "Content-Length: 0\r\n"),
		WITH(GET_A, "Range: bytes=1-1\r\nIf-Range: " DATE, 206, "\r\n\r\n1"),
		WITH(GET_A, "Range: bytes=1-1\r\nIf-Range: " BEFORE, 200, "0123456789"),
		WITH(GET_A, "Range: bytes=1-1\r\nIf-Range: \"x\"", 200, "0123456789"),
		WITH(GET_A, "Range: bytes=1-1\r\nIf-Range:", 206, "\r\n\r\n1"),
		WITH(GET_A, "Range: bytes=1-1\r\nIf-Match: \"x\"", 412, NULL),
		WITH("HEAD /v1/files/a", "Range: bytes=1-2", 206, "Content-Length: 2\r\n"));
	/* several: the whole frame, and its length */
	CHECK(WITH(GET_A, "Range: bytes=0-1,8-9", 206,
		"Content-Type: multipart/byteranges; boundary="));
	char boundary[61], wanted[1000];
	snprintf(boundary, sizeof boundary, "%s", strstr(answer.p, "boundary=") + 9);
	int n = snprintf(wanted, sizeof wanted,
		"--%s\r\nContent-Range: bytes 0-1/10\r\nContent-Type: "
		"application/octet-stream\r\n\r\n01\r\n--%s\r\nContent-Range: bytes 8-9/10\r\n"
		"Content-Type: application/octet-stream\r\n\r\n89\r\n--%s--\r\n",
		boundary, boundary, boundary);
	assert_string_equal(strstr(answer.p, "\r\n\r\n") + 4, wanted);
	char length[60];
	snprintf(length, sizeof length, "Content-Length: %d\r\n", n);
	assert_non_null(strstr(answer.p, length));
}

static void test_what_is_no_file(void **state)
{
	char path[5000], request[6000];
	(void)state;
	assert_int_equal(mkfifo(in_root("pipe"), 0600), 0);
	assert_int_equal(symlink("/etc/passwd", in_root("out")), 0);
	assert_int_equal(symlink("nowhere", in_root("dead")), 0);
	assert_int_equal(symlink("ring", in_root("ring")), 0);
	put("a", "text", 784111777);
	CHECK(ROW("GET /v1/files/pipe", 500, "not a regular file"),
		ROW("GET /v1/files/out", 403, "outside sandbox root is forbidden"),
		ROW("GET /v1/files/dead", 404, "NOT_FOUND"),
		ROW("GET /v1/files/ring", 500, "failed to evaluate symlinks: "),
		ROW("GET /v1/files/none", 404, "path does not exist within the sandbox"),
		ROW("GET /v1/files/%2e%2e%2fx", 403, "PERMISSION_DENIED"));
	memset(path, 'x', sizeof path);
	for (size_t i = 0; i < sizeof path; i += 100)
		path[i] = '/';
	path[sizeof path - 1] = '\0';
	snprintf(request, sizeof request,
		"GET /v1/files%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		path);
	say(request);
	assert_memory_equal(answer.p, "HTTP/1.1 500", 12);
	assert_non_null(strstr(answer.p, "file name too long"));
}

static void test_listings(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in_root("d"), 0700), 0);
	assert_int_equal(chmod(in_root("d"), 0751), 0);
	CHECK(ROW("GET /v1/files/d", 200, "\r\n\r\n{\"path\":\"/d\",\"entries\":[]}\n"),
		ROW("GET /v1/files/d/", 200, "{\"path\":\"/d/\",\"entries\":[]}\n"));
	put("d/b\"", "12", 784111777);
	put("d/a", "1", -1);
	assert_int_equal(symlink("b\"", in_root("d/link")), 0);
	assert_int_equal(symlink("nowhere", in_root("d/dead")), 0);
	assert_int_equal(symlink("/etc", in_root("d/out")), 0);
	assert_int_equal(symlink("d", in_root("to-d")), 0);
	CHECK(ROW("GET /v1/files/d", 200,
		      "\r\n\r\n{\"path\":\"/d\",\"entries\":[{\"name\":\"a\",\"size\":1,\"type\":"
		      "\"file\",\"modified_at\":\"1969-12-31T23:59:59Z\",\"mode\":\"0640\"},"
		      "{\"name\":\"b\\\"\",\"size\":2,\"type\":\"file\",\"modified_at\":"
		      "\"1994-11-06T08:49:37Z\",\"mode\":\"0640\"},{\"name\":\"link\",\"size\":2,"
		      "\"type\":\"file\",\"modified_at\":\"1994-11-06T08:49:37Z\",\"mode\":"
		      "\"0640\"}]}\n"),
		ROW("GET /v1/files/", 200, "{\"path\":\"/\",\"entries\":[{\"name\":\"d\","),
		ROW("GET /v1/files/", 200, "{\"name\":\"to-d\",\"size\":"),
		ROW("GET /v1/files/to-d", 200,
			"{\"path\":\"/to-d\",\"entries\":[{\"name\":\"a\""),
		NOT("HEAD /v1/files/d", 200, "Content-Type: application/json\r\n", "entries"));
	CHECK(ROW("GET /v1/files/", 200, "\"type\":\"directory\",\"modified_at\""));
	const char *link = strstr(answer.p, "to-d");
	assert_non_null(link);
	assert_non_null(strstr(link, "\"mode\":\"0751\""));
}

/* ---- deleting */

static void test_words_for_recursive(void **state)
{
	static const struct {
		const char *word;
		int status;
	} rows[] = { { "1", 204 }, { "t", 204 }, { "T", 204 }, { "true", 204 }, { "TRUE", 204 },
		{ "True", 204 }, { "", 409 }, { "0", 409 }, { "f", 409 }, { "F", 409 },
		{ "false", 409 }, { "FALSE", 409 }, { "False", 409 }, { "tRUE", 400 },
		{ "yes", 400 }, { "2", 400 } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char line[100];
		mkdir(in_root("d"), 0700);
		put("d/a", "", 0);
		snprintf(line, sizeof line, "DELETE /v1/files/d?recursive=%s", rows[i].word);
		const struct row row = { line, "", NULL, rows[i].status, NULL, NULL };
		check(&row, 1);
		assert_int_equal(is_there("d"), rows[i].status != 204);
	}
	CHECK(ROW("DELETE /v1/files/d?recursive=%22a", 400,
		      "recursive \\\"\\\\\\\"a\\\" must be a boolean"),
		ROW("DELETE /v1/files/d", 409, "directory is not empty; pass recursive=true"),
		ROW("DELETE /v1/files/none?recursive=yes", 404, "NOT_FOUND"));
}

static void test_deletes(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in_root("d"), 0700), 0);
	assert_int_equal(mkdir(in_root("d/e"), 0700), 0);
	assert_int_equal(mkdir(in_root("kept"), 0700), 0);
	put("kept/a", "", 0);
	put("d/e/f", "", 0);
	put("b", "", 0);
	assert_int_equal(symlink("../kept", in_root("d/to-kept")), 0);
	assert_int_equal(symlink("/etc", in_root("d/out")), 0);
	assert_int_equal(symlink("nowhere", in_root("dead")), 0);
	assert_int_equal(symlink("b", in_root("to-b")), 0);
	assert_int_equal(symlink("/etc/passwd", in_root("out")), 0);
	CHECK(ROW("DELETE /v1/files/d?recursive=true", 204, NULL),
		ROW("DELETE /v1/files/dead", 204, NULL),
		ROW("DELETE /v1/files/out", 403, "outside sandbox root"),
		ROW("DELETE /v1/files/to-b?recursive=true", 204, NULL),
		ROW("DELETE /v1/files/none/deep", 404, NULL));
	assert_false(is_there("d"));
	assert_false(is_there("dead"));
	assert_false(is_there("b")); /* a link stands for its target */
	assert_true(is_there("to-b"));
	assert_true(is_there("kept/a"));
	/* an empty folder needs no word; the root is only ever emptied */
	CHECK(ROW("DELETE /v1/files/kept/a", 204, NULL),
		ROW("DELETE /v1/files/kept", 204, NULL),
		ROW("DELETE /v1/files/", 409, "cannot delete the sandbox root"),
		ROW("DELETE /v1/files/?recursive=true", 204, NULL));
	assert_false(is_there("kept"));
	assert_false(is_there("out"));
	assert_true(is_there("."));
}

/* ---- writing */

static void assert_file(const char *name, const char *text, mode_t mode)
{
	char bytes[100] = "";
	struct stat st;
	int fd = open(in_root(name), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(read(fd, bytes, sizeof bytes - 1), strlen(text));
	assert_string_equal(bytes, text);
	assert_int_equal(st.st_mode & 07777, mode);
	close(fd);
}

static void test_modes_of_uploads(void **state)
{
	static const struct {
		const char *mode;
		int status;
		mode_t is;
	} rows[] = { { "", 204, 0644 }, { "?mode=", 204, 0644 }, { "?mode=0600", 204, 0600 },
		{ "?mode=0777", 204, 0777 }, { "?mode=0000", 204, 0 }, { "?mode=600", 400, 0 },
		{ "?mode=1644", 400, 0 }, { "?mode=0648", 400, 0 }, { "?mode=00644", 400, 0 },
		{ "?mode=06440", 400, 0 }, { "?mode=064x", 400, 0 } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char line[100];
		struct stat st;
		unlink(in_root("a"));
		snprintf(line, sizeof line, "PUT /v1/files/a%s", rows[i].mode);
		const struct row row = { line, "", "text", rows[i].status, NULL, NULL };
		check(&row, 1);
		assert_int_equal(is_there("a"), rows[i].status == 204);
		if (rows[i].status == 204) {
			assert_int_equal(stat(in_root("a"), &st), 0);
			assert_int_equal(st.st_mode & 07777, rows[i].is);
			assert_int_equal(st.st_size, 4);
		}
	}
	CHECK(SEND(
		"PUT /v1/files/b?mode=9", "x", 400, "mode \\\"9\\\" must match ^0[0-7]{3}$"));
}

#define PART "--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"
#define FORM(body, status, has)                                                                \
	{                                                                                      \
		"PUT /v1/files/form", "Content-Type: multipart/form-data; boundary=XX\r\n",    \
			body, status, has, NULL                                                \
	}

static void test_uploads(void **state)
{
	(void)state;
	put("plain", "", 0);
	assert_int_equal(mkdir(in_root("d"), 0700), 0);
	assert_int_equal(symlink("plain", in_root("to-plain")), 0);
	CHECK(SEND("PUT /v1/files/a", "one", 204, NULL), SEND("PUT /v1/files/a", "", 204, NULL),
		SEND("PUT /v1/files/a", "two", 204, NULL),
		SEND("PUT /v1/files/x/y/z?mode=0640", "deep", 204, NULL),
		SEND("PUT /v1/files/to-plain", "through", 204, NULL),
		SEND("PUT /v1/files/d", "x", 400, "target path is a directory"),
		SEND("PUT /v1/files/", "x", 400, "target path is a directory"),
		SEND("PUT /v1/files/%2e%2e%2fx", "x", 403, "PERMISSION_DENIED"),
		SEND("PUT /v1/files/plain/below", "x", 500, "INTERNAL"),
		FORM(PART "hello\r\n--XX--", 204, NULL),
		FORM(PART "hel", 500, "failed to write file contents: unexpected EOF"),
		FORM("--XX--", 400, "INVALID_ARGUMENT"), FORM("", 400, "INVALID_ARGUMENT"),
		{ "PUT /v1/files/form", "Content-Type: multipart/form-data\r\n", "x", 400,
			"INVALID_ARGUMENT", NULL });
	assert_file("a", "two", 0644);
	assert_file("x/y/z", "deep", 0640);
	assert_file("plain", "through", 0644);
	assert_file("form", "hello", 0644);
	/* nothing is left of those that failed */
	CHECK(NOT("GET /v1/files/", 200, "\"name\":\"form\"", ".sandboxd-tmp-"));
}

/* ---- connections */

#define HOST "Host: localhost\r\n"
#define LAST HOST "Connection: close\r\n"
#define HEALTH(headers) "GET /v1/health HTTP/1.1\r\n" headers "\r\n"

static size_t count_of(const char *word)
{
	size_t n = 0;
	for (const char *p = answer.p; (p = strstr(p, word)) != NULL; p += strlen(word))
		n++;
	return n;
}

static void test_requests_of_one_connection(void **state)
{
	(void)state;
	/* sent at once, answered in turn, with empty lines before one */
	say(HEALTH(HOST) "\r\n\n" HEALTH(HOST) HEALTH(LAST));
	assert_int_equal(count_of("HTTP/1.1 200 OK\r\n"), 3);
	assert_int_equal(count_of("Connection: close\r\n"), 1);
	say("PUT /v1/files/a HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"
	    "GET /v1/files/a HTTP/1.1\r\n" LAST "\r\n");
	assert_memory_equal(answer.p, "HTTP/1.1 204 No Content\r\n", 25);
	assert_non_null(strstr(answer.p, "\r\n\r\nHTTP/1.1 200 OK\r\n"));
	assert_string_equal(answer.p + answer.n - 7, "\r\n\r\nabc");
	/* a body that nobody wants is skipped */
	say("POST /v1/health HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nGET /" HEALTH(LAST));
	assert_int_equal(count_of("HTTP/1.1 405 "), 1);
	assert_int_equal(count_of("HTTP/1.1 200 "), 1);
	/* unless it was not sent yet: then that is the end */
	say("POST /v1/health HTTP/1.1\r\n" HOST
	    "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
	assert_memory_equal(answer.p, "HTTP/1.1 405 ", 13);
	assert_int_equal(count_of("Connection: close\r\n"), 1);
	assert_int_equal(count_of("100 Continue"), 0);
	say("POST /v1/health HTTP/1.1\r\n" HOST "Content-Length: 262145\r\n\r\n");
	assert_int_equal(count_of("Connection: close\r\n"), 1);
	say("GET /v1/health HTTP/1.0\r\n\r\n");
	assert_memory_equal(answer.p, "HTTP/1.0 200 OK\r\n", 17);
}

static void test_how_bodies_come(void **state)
{
	(void)state;
	say("PUT /v1/files/a HTTP/1.1\r\n" LAST
	    "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
	assert_memory_equal(
		answer.p, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n", 50);
	assert_file("a", "abc", 0644);
	say("PUT /v1/files/a HTTP/1.1\r\n" LAST
	    "Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n2\r\n12\r\n0\r\n\r\n");
	assert_memory_equal(answer.p, "HTTP/1.1 204 ", 13);
	assert_file("a", "xyz12", 0644);
	say("PUT /v1/files/a HTTP/1.1\r\n" LAST
	    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n");
	assert_memory_equal(answer.p, "HTTP/1.1 500 ", 13);
	assert_non_null(strstr(answer.p, "invalid chunked encoding"));
	assert_file("a", "xyz12", 0644);
	say("PUT /v1/files/a HTTP/1.1\r\n" LAST "Transfer-Encoding: gzip\r\n\r\n");
	assert_memory_equal(answer.p, "HTTP/1.1 501 ", 13);
	assert_non_null(strstr(answer.p, "\r\n\r\nUnsupported transfer encoding"));
	say("PUT /v1/files/a HTTP/1.1\r\n" LAST "Expect: tea\r\nContent-Length: 1\r\n\r\nx");
	assert_memory_equal(answer.p, "HTTP/1.1 417 ", 13);
	say("GET\r\n\r\n");
	assert_memory_equal(answer.p, "HTTP/1.1 400 Bad Request\r\n", 26);
	assert_non_null(strstr(answer.p, "\r\n\r\n400 Bad Request"));
	assert_file("a", "xyz12", 0644);
}

static void test_a_body_that_ends_early(void **state)
{
	static const char request[] =
		"PUT /v1/files/a HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc";
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	(void)state;
	put("a", "old", 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	str_clear(&answer);
	assert_int_equal(
		send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
	shutdown(fd, SHUT_WR);
	TURN_UNTIL(loop, has_ended(fd));
	close(fd);
	assert_memory_equal(answer.p, "HTTP/1.1 500 ", 13);
	assert_non_null(strstr(answer.p, "failed to write file contents: unexpected EOF"));
	assert_non_null(strstr(answer.p, "Connection: close\r\n"));
	assert_file("a", "old", 0640);
	CHECK(NOT("GET /v1/files/", 200, "\"name\":\"a\"", ".sandboxd-tmp-"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_routes),
		TEST(test_what_the_environment_tells),
		TEST(test_who_is_let_in),
		TEST(test_validators),
		TEST(test_parts),
		TEST(test_what_is_no_file),
		TEST(test_listings),
		TEST(test_words_for_recursive),
		TEST(test_deletes),
		TEST(test_modes_of_uploads),
		TEST(test_uploads),
		TEST(test_requests_of_one_connection),
		TEST(test_how_bodies_come),
		TEST(test_a_body_that_ends_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
