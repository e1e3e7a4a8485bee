// SPDX-License-Identifier: Apache-2.0
/* A whole daemon in the test's own loop, spoken to by the engine's HTTP and gRPC clients. */
#include "tests/unit/engine/net/http_harness.h"

#include "engine/net/grpc.h"
#include "local/daemon/daemon.h"
#include "tests/unit/local/daemon/listen.h"

#include <arpa/inet.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct net_loop *loop;
static struct net_http *http;
static struct daemon *the_daemon;
static struct net_grpc_conn *conn;
static uint16_t rest_port;
static char root[64];
static bool has_stopped;

static void on_stopped(void *arg)
{
	(void)arg;
	has_stopped = true;
}

static int set_up(void **state)
{
	struct err err = { 0 };
	uint16_t grpc_port;
	(void)state;
	has_stopped = false;
	loop = net_loop_new(&err);
	http = net_http_new(loop, &err);
	snprintf(root, sizeof root, "/tmp/sandmux-daemon-XXXXXX");
	assert_non_null(mkdtemp(root));
	struct daemon_opts opts = { .root_dir = root,
		.metadata_env_prefix = "SANDMUX_NO_SUCH_",
		.shutdown_timeout_ms = 5000,
		.idle_timeout_ms = 60000,
		.on_stopped = on_stopped };
	opts.rest_fd = listen_anywhere(&rest_port);
	opts.grpc_fd = listen_anywhere(&grpc_port);
	the_daemon = daemon_new(loop, &opts, &err);
	if (the_daemon == NULL)
		fail_msg("%s", err.msg);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(grpc_port) };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	struct bufferevent *bev =
		bufferevent_socket_new(net_loop_base(loop), -1, BEV_OPT_CLOSE_ON_FREE);
	assert_int_equal(
		bufferevent_socket_connect(bev, (struct sockaddr *)&address, sizeof address),
		0);
	struct net_grpc_conn_opts grpc = { .authority = "box", .max_message_bytes = 64 << 20 };
	conn = net_grpc_conn_new_take(loop, bev, &grpc, &err);
	assert_non_null(conn);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_grpc_conn_free(conn);
	net_http_free(http);
	daemon_free(the_daemon);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	char *command[] = { (char[]){ "rm" }, (char[]){ "-rf" }, root, NULL };
	if (fork() == 0) {
		execvp("rm", command);
		_exit(127);
	}
	return 0;
}

/* --- gRPC --- */

struct rpc {
	struct net_grpc_call *call;
	int messages, done;
	struct str bytes; /* messages, whole */
	struct err err;
	int pid, exit_code; /* of Start and Execute; -2: not told */
	struct str out, err_out;
};

/* The fields of an answer of Start or Execute, which differ in their numbers. */
static void take(struct rpc *rpc, const unsigned char *p, size_t n, bool is_execute)
{
	while (n >= 2) {
		unsigned field = p[0] >> 3;
		size_t at = 1, length = 0;
		for (unsigned shift = 0; at < n; shift += 7) {
			length |= (size_t)(p[at] & 0x7f) << shift;
			if (!(p[at++] & 0x80))
				break;
		}
		bool is_bytes = (p[0] & 7) == 2;
		const char *text = (const char *)p + at;
		if (is_execute && field == 1)
			rpc->exit_code = (int)length;
		else if (field == (is_execute ? 2u : 2u))
			str_add_bytes(&rpc->out, text, length);
		else if (field == 3)
			str_add_bytes(&rpc->err_out, text, length);
		else if (field == 1)
			rpc->pid = length == 2 ? text[1] : 0;
		else if (field == 4)
			rpc->exit_code = length == 0   ? 0
					 : length == 2 ? (signed char)text[1]
						       : -1;
		at += is_bytes ? length : 0;
		p += at;
		n -= at;
	}
}

static bool now_executing;

static void on_message(void *arg, struct slice message)
{
	struct rpc *rpc = arg;
	rpc->messages++;
	str_add_bytes(&rpc->bytes, message.p, message.n);
	take(rpc, (const unsigned char *)message.p, message.n, now_executing);
}

static void on_done(void *arg, const struct err *err)
{
	struct rpc *rpc = arg;
	rpc->done++;
	rpc->call = NULL;
	err_copy(&rpc->err, err);
}

static void add_field(struct str *out, unsigned field, const void *bytes, size_t n)
{
	str_add_char(out, (char)(field << 3 | 2));
	size_t left = n;
	do {
		str_add_char(out, (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0)));
		left >>= 7;
	} while (left > 0);
	str_add_bytes(out, bytes, n);
}

static void add_number(struct str *out, unsigned field, unsigned char value)
{
	str_add_char(out, (char)(field << 3));
	str_add_char(out, (char)value);
}

static void call_start(struct rpc *rpc, const char *method, const struct str *message)
{
	struct err err = { 0 };
	char path[100];
	snprintf(path, sizeof path, "/process.v1.ProcessService/%s", method);
	*rpc = (struct rpc){ .exit_code = -2 };
	str_init(&rpc->bytes, 64 << 20);
	str_init(&rpc->out, 64 << 20);
	str_init(&rpc->err_out, 64 << 20);
	now_executing = strcmp(method, "Execute") == 0;
	struct net_grpc_call_opts opts = { .path = path,
		.message = { message->p, message->n },
		.on_message = on_message,
		.done = on_done,
		.arg = rpc };
	rpc->call = net_grpc_start(conn, &opts, &err);
	if (rpc->call == NULL)
		fail_msg("%s", err.msg);
}

static void rpc_deinit(struct rpc *rpc)
{
	if (rpc->call != NULL)
		net_grpc_cancel(rpc->call);
	str_deinit(&rpc->bytes);
	str_deinit(&rpc->out);
	str_deinit(&rpc->err_out);
}

/* argv: words of a command, the script of sh -c if there is one word. */
static void add_config(struct str *request, const char *const *argv, const char *cwd,
	const char *env_name, const char *env_value)
{
	struct str config, entry;
	str_init(&config, 1 << 20);
	str_init(&entry, 1 << 20);
	for (; *argv; argv++)
		add_field(&config, 1, *argv, strlen(*argv));
	if (env_name != NULL) {
		add_field(&entry, 1, env_name, strlen(env_name));
		add_field(&entry, 2, env_value, strlen(env_value));
		add_field(&config, 2, entry.p, entry.n);
	}
	if (cwd != NULL)
		add_field(&config, 3, cwd, strlen(cwd));
	add_field(request, 1, config.p, config.n);
	str_deinit(&config);
	str_deinit(&entry);
}

static struct rpc execute(
	const char *const *argv, const char *cwd, const char *name, const char *value)
{
	struct rpc rpc;
	struct str request;
	str_init(&request, 1 << 20);
	add_config(&request, argv, cwd, name, value);
	call_start(&rpc, "Execute", &request);
	TURN_UNTIL(loop, rpc.done);
	str_deinit(&request);
	return rpc;
}

#define SH(script) ((const char *const[]){ "sh", "-c", script, NULL })

static void test_execute(void **state)
{
	static const struct {
		const char *argv[4], *cwd, *name, *value;
		int sys; /* gRPC status */
		int exit_code;
		const char *out, *err;
	} rows[] = {
		{ { "sh", "-c", "echo a; echo b >&2; exit 3" }, NULL, NULL, NULL, 0, 3, "a\n",
			"b\n" },
		{ { "true" }, NULL, NULL, NULL, 0, -2, "", "" },
		{ { "sh", "-c", "echo $A-$PWD" }, "sub", "A", "x", 0, -2, "x-", "" },
		{ { "sh", "-c", "cat; pwd" }, "sub", NULL, NULL, 0, -2, "sub\n", "" },
		{ { "/no/such" }, NULL, NULL, NULL, 5, -2, "", "no such file or directory" },
		{ { "no-such-program" }, NULL, NULL, NULL, 5, -2, "",
			"executable file not found in $PATH" },
		{ { "/etc/passwd" }, NULL, NULL, NULL, 7, -2, "", "permission denied" },
		{ { "true" }, "nope", NULL, NULL, 5, -2, "", "no such file or directory" },
		{ { "true" }, "../..", NULL, NULL, 7, -2, "", "path escapes sandbox root" },
		{ { "" }, NULL, NULL, NULL, 13, -2, "", "no command" },
		{ { NULL }, NULL, NULL, NULL, 3, -2, "", "command is required" },
	};
	char sub[100];
	(void)state;
	snprintf(sub, sizeof sub, "%s/sub", root);
	assert_int_equal(mkdir(sub, 0755), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rpc rpc =
			execute(rows[i].argv, rows[i].cwd, rows[i].name, rows[i].value);
		if (rpc.err.sys != rows[i].sys || rpc.exit_code != rows[i].exit_code)
			fail_msg("row %zu: %d %s, exit %d", i, rpc.err.sys, rpc.err.msg,
				rpc.exit_code);
		if (rows[i].sys != 0) {
			if (strstr(rpc.err.msg, rows[i].err) == NULL)
				fail_msg("row %zu: %s", i, rpc.err.msg);
		} else {
			if (strstr(rpc.out.p, rows[i].out) == NULL)
				fail_msg("row %zu: %s", i, rpc.out.p);
			assert_string_equal(rpc.err_out.p, rows[i].err);
		}
		rpc_deinit(&rpc);
	}
}

static void test_execute_has_limits(void **state)
{
	(void)state;
	/* what holds the pipes open beyond the program itself is not waited for without end */
	struct rpc rpc = execute(SH("head -c 4000000 /dev/zero; exit 1"), NULL, NULL, NULL);
	assert_int_equal(rpc.err.code, ERR_NONE);
	assert_int_equal(rpc.out.n, 4000000);
	assert_int_equal(rpc.exit_code, 1);
	rpc_deinit(&rpc);
	rpc = execute(SH("sleep 1.5 & echo x"), NULL, NULL, NULL);
	assert_int_equal(rpc.err.code, ERR_NONE);
	assert_string_equal(rpc.out.p, "x\n");
	rpc_deinit(&rpc);
}

static void start(struct rpc *rpc, const char *const *argv, bool is_tty)
{
	struct str request;
	str_init(&request, 1 << 20);
	add_config(&request, argv, NULL, NULL, NULL);
	if (is_tty)
		add_field(&request, 2, "\x08\x50\x10\x18", 4);
	call_start(rpc, "Start", &request);
	str_deinit(&request);
	TURN_UNTIL(loop, rpc->messages > 0 || rpc->done);
}

/* The gRPC status of a call about a process. */
static int about(const char *method, int pid, unsigned field, const void *bytes, size_t n,
	unsigned char number, const char **message)
{
	static struct err err;
	struct rpc rpc;
	struct str request;
	str_init(&request, 8 << 20);
	add_number(&request, 1, (unsigned char)pid);
	if (bytes != NULL)
		add_field(&request, field, bytes, n);
	else if (field != 0)
		add_number(&request, field, number);
	call_start(&rpc, method, &request);
	TURN_UNTIL(loop, rpc.done);
	err = rpc.err;
	if (message != NULL)
		*message = err.msg;
	rpc_deinit(&rpc);
	str_deinit(&request);
	return err.code == ERR_NONE ? 0 : err.sys;
}

static void test_start_streams_and_takes_input(void **state)
{
	struct rpc rpc;
	const char *why;
	(void)state;
	start(&rpc, SH("echo up; cat; echo end >&2; exit 4"), false);
	assert_int_equal(rpc.pid, 1);
	TURN_UNTIL(loop, strstr(rpc.out.p, "up\n") != NULL);
	assert_int_equal(about("WriteStdin", 1, 2, "in\n", 3, 0, NULL), 0);
	TURN_UNTIL(loop, strstr(rpc.out.p, "in\n") != NULL);
	assert_int_equal(about("WriteStdin", 1, 2, "", 0, 0, NULL), 0);
	assert_int_equal(about("WriteStdin", 1, 3, "", 0, 0, NULL), 0); /* the end */
	TURN_UNTIL(loop, rpc.done);
	assert_int_equal(rpc.err.code, ERR_NONE);
	assert_string_equal(rpc.out.p, "up\nin\n");
	assert_string_equal(rpc.err_out.p, "end\n");
	assert_int_equal(rpc.exit_code, 4);
	rpc_deinit(&rpc);
	/* the second one has the next number, and the first is gone */
	start(&rpc, SH("exec cat"), false);
	assert_int_equal(rpc.pid, 2);
	assert_int_equal(about("WriteStdin", 1, 2, "x", 1, 0, &why), 5);
	assert_int_equal(about("SendSignal", 1, 2, NULL, 0, SIGTERM, &why), 5);
	assert_int_equal(about("ResizeTTY", 9, 2, NULL, 0, 80, &why), 5);
	assert_int_equal(about("SendSignal", 2, 2, NULL, 0, 0, &why), 3);
	assert_int_equal(about("SendSignal", 2, 2, NULL, 0, SIGHUP, &why), 3);
	assert_int_equal(about("ResizeTTY", 2, 2, NULL, 0, 80, &why), 9);
	assert_int_equal(about("SendSignal", 2, 2, NULL, 0, SIGTERM, NULL), 0);
	TURN_UNTIL(loop, rpc.done);
	assert_int_equal(rpc.exit_code, -1);
	rpc_deinit(&rpc);
}

static void test_input_after_its_end(void **state)
{
	struct rpc rpc;
	const char *why;
	(void)state;
	start(&rpc, SH("exec sleep 100"), false);
	assert_int_equal(about("WriteStdin", 1, 3, "", 0, 0, NULL), 0);
	assert_int_equal(about("WriteStdin", 1, 2, "x", 1, 0, &why), 13);
	assert_non_null(strstr(why, "file already closed"));
	assert_int_equal(about("WriteStdin", 1, 3, "", 0, 0, &why), 13);
	assert_int_equal(about("SendSignal", 1, 2, NULL, 0, SIGKILL, NULL), 0);
	TURN_UNTIL(loop, rpc.done);
	rpc_deinit(&rpc);
}

static void test_a_terminal(void **state)
{
	struct rpc rpc;
	(void)state;
	start(&rpc, SH("stty size; read x; stty size; echo got-$x"), true);
	TURN_UNTIL(loop, strstr(rpc.out.p, "24 80") != NULL);
	struct str request;
	str_init(&request, 100);
	add_number(&request, 1, 1);
	add_number(&request, 2, 100);
	add_number(&request, 3, 50);
	struct rpc resize;
	call_start(&resize, "ResizeTTY", &request);
	TURN_UNTIL(loop, resize.done);
	assert_int_equal(resize.err.code, ERR_NONE);
	rpc_deinit(&resize);
	str_deinit(&request);
	assert_int_equal(about("WriteStdin", 1, 2, "word\r", 5, 0, NULL), 0);
	TURN_UNTIL(loop, rpc.done);
	assert_non_null(strstr(rpc.out.p, "50 100"));
	assert_non_null(strstr(rpc.out.p, "got-word"));
	assert_int_equal(rpc.exit_code, 0);
	rpc_deinit(&rpc);
}

static void test_a_stream_that_is_dropped_kills_its_process(void **state)
{
	struct rpc rpc;
	char path[100];
	(void)state;
	snprintf(path, sizeof path, "%s/pid", root);
	start(&rpc, SH("echo $$ > pid.new; mv pid.new pid; exec sleep 100"), false);
	TURN_UNTIL(loop, access(path, F_OK) == 0);
	FILE *file = fopen(path, "r");
	int pid = 0;
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	assert_int_equal(kill(pid, 0), 0);
	rpc_deinit(&rpc); /* cancels */
	TURN_UNTIL(loop, kill(pid, 0) != 0);
}

/* Bytes of requests are given back: one connection takes more than its limit in turn. */
static void test_many_large_requests(void **state)
{
	enum { SIZE = (4 << 20) - 64 };
	struct rpc rpc;
	char *bytes = malloc(SIZE);
	(void)state;
	memset(bytes, 'x', SIZE);
	start(&rpc, SH("wc -c"), false);
	for (int i = 0; i < 17; i++)
		assert_int_equal(about("WriteStdin", 1, 2, bytes, SIZE, 0, NULL), 0);
	assert_int_equal(about("WriteStdin", 1, 3, "", 0, 0, NULL), 0);
	TURN_UNTIL(loop, rpc.done);
	assert_int_equal(atoll(rpc.out.p), 17LL * SIZE);
	rpc_deinit(&rpc);
	free(bytes);
}

static void test_bad_messages(void **state)
{
	static const struct {
		const char *method, *bytes;
		int sys;
	} rows[] = {
		{ "Start", "\x0a\x03\x0a\x01\xff", 13 },
		{ "Start", "\x08", 13 },
		{ "Execute", "\x0a\x09", 13 },
		{ "Nothing", "", 12 },
		{ "Start", "", 3 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str request;
		struct rpc rpc;
		str_init(&request, 100);
		str_add(&request, rows[i].bytes);
		call_start(&rpc, rows[i].method, &request);
		TURN_UNTIL(loop, rpc.done);
		if (rpc.err.sys != rows[i].sys)
			fail_msg("row %zu: %d %s", i, rpc.err.sys, rpc.err.msg);
		rpc_deinit(&rpc);
		str_deinit(&request);
	}
}

/* --- REST --- */

static struct got rest(const char *method, const char *path, const char *body,
	const char *header, const char *value)
{
	struct got got;
	struct net_http_header headers[] = { { header, value } };
	got_init(&got);
	got_start(&got, http,
		(struct net_http_opts){ .method = method,
			.url = url_of(rest_port, path),
			.body = slice_of(body),
			.headers = headers,
			.n_headers = header ? 1 : 0,
			.timeout_ms = 8000 });
	TURN_UNTIL(loop, got.done);
	return got;
}

static void test_files(void **state)
{
	static const struct {
		const char *method, *path, *body, *header, *value;
		int status;
		const char *answer; /* found in it */
	} rows[] = {
		{ "GET", "/v1/health", "", NULL, NULL, 200, "\"status\":\"ok\"" },
		{ "GET", "/v1/metadata", "", NULL, NULL, 200, "{" },
		{ "GET", "/v1/nothing", "", NULL, NULL, 404, "404 page not found" },
		{ "POST", "/v1/files/a", "x", NULL, NULL, 405, "Method Not Allowed" },
		{ "GET", "/v1/files/a", "", NULL, NULL, 404, "NOT_FOUND" },
		{ "PUT", "/v1/files/a", "0123456789", NULL, NULL, 204, "" },
		{ "GET", "/v1/files/a", "", NULL, NULL, 200, "0123456789" },
		{ "GET", "/v1/files/a", "", "Range", "bytes=2-4", 206, "234" },
		{ "GET", "/v1/files/a", "", "Range", "bytes=-2", 206, "89" },
		{ "GET", "/v1/files/a", "", "Range", "bytes=0-1,8-9", 206,
			"Content-Range: bytes 8-9/10" },
		{ "GET", "/v1/files/a", "", "Range", "bytes=20-", 416, "invalid range" },
		{ "GET", "/v1/files/a", "", "If-Modified-Since",
			"Fri, 01 Jan 2999 00:00:00 GMT", 304, "" },
		{ "GET", "/v1/files/a", "", "If-Modified-Since",
			"Fri, 01 Jan 1999 00:00:00 GMT", 200, "0123456789" },
		{ "GET", "/v1/files/a", "", "If-Unmodified-Since",
			"Fri, 01 Jan 1999 00:00:00 GMT", 412, "" },
		{ "PUT", "/v1/files/d/e/f?mode=0600", "deep", NULL, NULL, 204, "" },
		{ "PUT", "/v1/files/g?mode=99", "x", NULL, NULL, 400, "INVALID_ARGUMENT" },
		{ "PUT", "/v1/files/d", "x", NULL, NULL, 400, "" },
		{ "PUT", "/v1/files/form",
			"--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n"
			"\r\nhello\r\n--XX--",
			"Content-Type", "multipart/form-data; boundary=XX", 204, "" },
		{ "GET", "/v1/files/form", "", NULL, NULL, 200, "hello" },
		{ "PUT", "/v1/files/form", "nope", "Content-Type",
			"multipart/form-data; boundary=XX", 400, "NextPart: EOF" },
		{ "GET", "/v1/files/form", "", NULL, NULL, 200, "hello" },
		{ "GET", "/v1/files/", "", NULL, NULL, 200,
			"\"name\":\"a\",\"size\":10,\"type\":\"file\"" },
		{ "GET", "/v1/files/", "", NULL, NULL, 200, "\"name\":\"d\"" },
		{ "GET", "/v1/files/d", "", NULL, NULL, 200,
			"\"path\":\"/d\",\"entries\":[{\"name\":\"e\"" },
		{ "GET", "/v1/files/d/e", "", NULL, NULL, 200, "\"mode\":\"0600\"" },
		{ "GET", "/v1/files/%2e%2e/x", "", NULL, NULL, 403, "PERMISSION_DENIED" },
		{ "DELETE", "/v1/files/d", "", NULL, NULL, 409, "CONFLICT" },
		{ "DELETE", "/v1/files/d?recursive=maybe", "", NULL, NULL, 400, "" },
		{ "DELETE", "/v1/files/d?recursive=true", "", NULL, NULL, 204, "" },
		{ "GET", "/v1/files/d", "", NULL, NULL, 404, "NOT_FOUND" },
		{ "DELETE", "/v1/files/a", "", NULL, NULL, 204, "" },
		{ "DELETE", "/v1/files/a", "", NULL, NULL, 404, "" },
		{ "DELETE", "/v1/files/", "", NULL, NULL, 409,
			"cannot delete the sandbox root" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct got got = rest(rows[i].method, rows[i].path, rows[i].body,
			rows[i].header, rows[i].value);
		if (got.status != rows[i].status || strstr(got.body.p, rows[i].answer) == NULL)
			fail_msg("row %zu, %s %s: %d %s", i, rows[i].method, rows[i].path,
				got.status, got.body.p);
		str_deinit(&got.body);
	}
}

static void test_listing_is_sorted_and_shows_no_uploads(void **state)
{
	static const char *const names[] = { "b", "a", "c", ".sandboxd-tmp-1" };
	char path[200];
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof path, "%s/%s", root, names[i]);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		close(fd);
	}
	snprintf(path, sizeof path, "%s/link", root);
	assert_int_equal(symlink("a", path), 0);
	snprintf(path, sizeof path, "%s/out", root);
	assert_int_equal(symlink("/etc", path), 0);
	struct got got = rest("GET", "/v1/files/", "", NULL, NULL);
	const char *a = strstr(got.body.p, "\"name\":\"a\""),
		   *b = strstr(got.body.p, "\"name\":\"b\""),
		   *c = strstr(got.body.p, "\"name\":\"c\"");
	assert_true(a && b && c && a < b && b < c);
	assert_non_null(strstr(got.body.p, "\"name\":\"link\""));
	assert_null(strstr(got.body.p, "\"name\":\"out\""));
	str_deinit(&got.body);
}

/* --- the end --- */

static void test_an_end_with_a_process(void **state)
{
	struct rpc rpc;
	(void)state;
	/* it ends when it is told to, so that the daemon is still there to be asked */
	start(&rpc,
		SH("trap 'echo term; until [ -e go ]; do sleep 0.02; done; exit 5' TERM; echo up; "
		   "while :; do sleep 0.05; done"),
		false);
	TURN_UNTIL(loop, strstr(rpc.out.p, "up\n") != NULL);
	daemon_shutdown(the_daemon);
	struct got got = rest("GET", "/v1/health", "", NULL, NULL);
	assert_int_equal(got.status, 503);
	str_deinit(&got.body);
	char path[sizeof root + 8];
	snprintf(path, sizeof path, "%s/go", root);
	int go = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(go >= 0);
	close(go);
	TURN_UNTIL(loop, rpc.done);
	assert_string_equal(rpc.out.p, "up\nterm\n");
	assert_int_equal(rpc.exit_code, 5);
	TURN_UNTIL(loop, has_stopped);
	rpc_deinit(&rpc);
}

static void test_an_end_that_a_process_ignores(void **state)
{
	struct rpc rpc;
	(void)state;
	start(&rpc, SH("trap '' TERM; echo up; while :; do sleep 0.05; done"), false);
	TURN_UNTIL(loop, strstr(rpc.out.p, "up\n") != NULL);
	int64_t began_ms = clock_mono_ms();
	daemon_shutdown(the_daemon);
	TURN_UNTIL(loop, rpc.done);
	assert_in_range(clock_mono_ms() - began_ms, 1900, 9000);
	assert_int_equal(rpc.exit_code, -1);
	TURN_UNTIL(loop, has_stopped);
	rpc_deinit(&rpc);
}

static void test_an_end_without_processes(void **state)
{
	(void)state;
	int64_t began_ms = clock_mono_ms();
	daemon_shutdown(the_daemon);
	daemon_shutdown(the_daemon);
	TURN_UNTIL(loop, has_stopped);
	assert_true(clock_mono_ms() - began_ms < 1900);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_execute),
		TEST(test_execute_has_limits),
		TEST(test_start_streams_and_takes_input),
		TEST(test_input_after_its_end),
		TEST(test_a_terminal),
		TEST(test_a_stream_that_is_dropped_kills_its_process),
		TEST(test_many_large_requests),
		TEST(test_bad_messages),
		TEST(test_files),
		TEST(test_listing_is_sorted_and_shows_no_uploads),
		TEST(test_an_end_with_a_process),
		TEST(test_an_end_that_a_process_ignores),
		TEST(test_an_end_without_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
