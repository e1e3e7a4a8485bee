// SPDX-License-Identifier: Apache-2.0
/* The tables of errors.c, row by row, with the texts that sandboxd v0.5.6 really sends. */
#include "engine/runtime/errors.h"

#include "engine/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static const struct {
	enum runtime_errors_rest kind;
	int status;
	const char *body;
	enum err_code is;
} rest[] = {
	{ ERRORS_READ, 404,
		"{\"code\":\"NOT_FOUND\",\"message\":\"path does not exist within the sandbox\"}\n",
		ERR_FILE_NOT_FOUND },
	{ ERRORS_READ, 404, "404 page not found\n", ERR_FILE_NOT_FOUND },
	{ ERRORS_READ, 404, "", ERR_FILE_NOT_FOUND },
	{ ERRORS_DAEMON, 404, "404 page not found\n", ERR_RUNTIME_PROTOCOL },
	{ ERRORS_READ, 403,
		"{\"code\":\"PERMISSION_DENIED\",\"message\":\"permission denied\"}",
		ERR_FILE_DENIED },
	{ ERRORS_READ, 401, "", ERR_RUNTIME_AUTH },
	{ ERRORS_WRITE, 401, "{\"code\":\"UNAUTHENTICATED\",\"message\":\"no\"}",
		ERR_RUNTIME_AUTH },
	{ ERRORS_READ, 403, "{\"code\":\"UNAUTHENTICATED\",\"message\":\"no\"}",
		ERR_RUNTIME_AUTH },
	{ ERRORS_DAEMON, 403, "", ERR_RUNTIME_AUTH },
	{ ERRORS_WRITE, 400,
		"{\"code\":\"INVALID_ARGUMENT\",\"message\":\"target path is a directory\"}",
		ERR_FILE_IS_DIR },
	{ ERRORS_WRITE, 400,
		"{\"code\":\"INVALID_ARGUMENT\",\"message\":\"mode \\\"600\\\" must match ^0[0-7]{3}$\"}",
		ERR_ARG_INVALID },
	{ ERRORS_READ, 400, "bad request", ERR_HTTP_STATUS },
	{ ERRORS_DELETE, 409,
		"{\"code\":\"CONFLICT\",\"message\":\"directory is not empty; pass recursive=true to remove it\"}",
		ERR_FILE_NOT_EMPTY },
	{ ERRORS_WRITE, 409, "", ERR_HTTP_STATUS },
	{ ERRORS_READ, 412, "", ERR_FILE_CHANGED },
	{ ERRORS_READ, 416, "invalid range: failed to overlap", ERR_FILE_CHANGED },
	{ ERRORS_WRITE, 500,
		"{\"code\":\"INTERNAL\",\"message\":\"failed to write file contents: write /w/.sandboxd-tmp-1: no space left on device\"}",
		ERR_FILE_NO_SPACE },
	{ ERRORS_WRITE, 500,
		"{\"code\":\"INTERNAL\",\"message\":\"failed to create: open /w/x: permission denied\"}",
		ERR_FILE_DENIED },
	{ ERRORS_READ, 500,
		"{\"code\":\"INTERNAL\",\"message\":\"failed to evaluate symlinks: not a directory\"}",
		ERR_FILE_NOT_DIR },
	{ ERRORS_READ, 500,
		"{\"code\":\"INTERNAL\",\"message\":\"failed to evaluate symlinks: EvalSymlinks: too many links\"}",
		ERR_FILE_LOOP },
	{ ERRORS_READ, 500,
		"{\"code\":\"INTERNAL\",\"message\":\"lstat /w/aaa: file name too long\"}",
		ERR_ARG_PATH },
	{ ERRORS_READ, 500,
		"{\"code\":\"INTERNAL\",\"message\":\"open /w/s: no such device or address\"}",
		ERR_FILE_SERVER },
	{ ERRORS_READ, 500, "", ERR_FILE_SERVER },
	{ ERRORS_READ, 500, "permission denied, but not at the end: other", ERR_FILE_SERVER },
	{ ERRORS_READ, 503,
		"{\"code\":\"UNAVAILABLE\",\"message\":\"sandboxd is shutting down\"}",
		ERR_RUNTIME_UNAVAILABLE },
	{ ERRORS_DAEMON, 503, "", ERR_RUNTIME_UNAVAILABLE },
	{ ERRORS_READ, 307, "<a href=\"/v1/etc/passwd\">Temporary Redirect</a>",
		ERR_HTTP_STATUS },
	{ ERRORS_READ, 405, "Method Not Allowed", ERR_HTTP_STATUS },
	{ ERRORS_DAEMON, 500, "oops", ERR_HTTP_STATUS },
	{ ERRORS_WRITE, 500, "chown /w/x: operation not permitted", ERR_FILE_DENIED },
	{ ERRORS_DELETE, 500, "unlink /w/x: read-only file system", ERR_FILE_DENIED },
	{ ERRORS_READ, 500, "read /w/x: is a directory", ERR_FILE_IS_DIR },
	{ ERRORS_READ, 500, "open /w/x: too many levels of symbolic links", ERR_FILE_LOOP },
	{ ERRORS_WRITE, 500, "write /w/x: disk quota exceeded", ERR_FILE_NO_SPACE },
	{ ERRORS_WRITE, 507, "", ERR_FILE_NO_SPACE },
	{ ERRORS_WRITE, 413, "", ERR_LIMIT_UPLOAD },
	{ ERRORS_READ, 413, "", ERR_HTTP_STATUS },
	{ ERRORS_READ, 422, "", ERR_ARG_INVALID },
	{ ERRORS_DAEMON, 422, "", ERR_ARG_INVALID },
	{ ERRORS_READ, 404, "{\"message\":\"Path is not a directory\"}", ERR_FILE_NOT_DIR },
	{ ERRORS_WRITE, 412, "", ERR_HTTP_STATUS },
	{ ERRORS_DELETE, 416, "", ERR_HTTP_STATUS },
	{ ERRORS_DELETE, 500, "unlink /w/x: permission denied\n \n", ERR_FILE_DENIED },
	/* hostile bodies */
	{ ERRORS_READ, 404, "{\"code\":5,\"message\":[1]}", ERR_FILE_NOT_FOUND },
	{ ERRORS_READ, 404, "{\"code\":", ERR_FILE_NOT_FOUND },
	{ ERRORS_READ, 418, "\x1b[31mred\r\n", ERR_HTTP_STATUS },
};

static void rest_answers_map(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		struct err err = { 0 };
		assert_false(runtime_errors_from_rest(
			&err, rest[i].kind, rest[i].status, slice_of(rest[i].body)));
		if (err.code != rest[i].is)
			fail_msg("%d %s: %s", rest[i].status, rest[i].body, err_name(&err));
		assert_int_equal(err.sys, rest[i].status);
		assert_true(err.msg[0]);
	}
}

static void http_status_is_in_the_name(void **state)
{
	struct err err = { 0 };

	(void)state;
	runtime_errors_from_rest(&err, ERRORS_READ, 418, slice_of("teapot"));
	assert_string_equal(err_name(&err), "http.418");
	assert_non_null(strstr(err.msg, "teapot"));
}

static void redirects_are_told_without_their_html(void **state)
{
	struct err err = { 0 };

	(void)state;
	runtime_errors_from_rest(
		&err, ERRORS_READ, 307, slice_of("<a href=\"/v1/etc/passwd\">x</a>"));
	assert_null(strstr(err.msg, "passwd"));
}

static void a_long_message_keeps_its_ending(void **state)
{
	char body[4000];
	struct err err = { 0 };

	(void)state;
	memset(body, 'x', sizeof body);
	memcpy(body, "{\"code\":\"INTERNAL\",\"message\":\"", 30);
	memcpy(body + sizeof body - 28, ": no space left on device\"}", 28);
	runtime_errors_from_rest(&err, ERRORS_WRITE, 500, slice_of(body));
	assert_int_equal(err.code, ERR_FILE_NO_SPACE);
	assert_true(strlen(err.msg) < ERR_MESSAGE_BYTES);
}

static void the_words_of_an_answer(void **state)
{
	static const struct {
		int status;
		const char *body, *msg;
	} rows[] = {
		{ 418, "teapot", "teapot" },
		{ 418, "tea pot \r\n \n", "tea pot" },
		{ 418, "\n", "the daemon answered HTTP 418" },
		{ 418, " ", "the daemon answered HTTP 418" },
		{ 418, "", "the daemon answered HTTP 418" },
		{ 418, "<html>", "the daemon answered HTTP 418" },
		{ 500, "{\"message\":\" m \"}", " m" },
		{ 500, "{\"message\":\"\"}", "the daemon answered HTTP 500" },
		{ 500, "{\"code\":\"INTERNAL\"}", "the daemon answered HTTP 500" },
		{ 500, "{broken", "{broken" },
		{ 300, "", "redirects are not followed (HTTP 300)" },
		{ 399, "<a>", "redirects are not followed (HTTP 399)" },
		{ 400, "", "the daemon answered HTTP 400" },
		{ 401, "", "the daemon wants a token" },
		{ 403, "", "permission denied" },
		{ 404, "", "path does not exist within the sandbox" },
		{ 409, "", "directory is not empty" },
		{ 412, "", "the file changed" },
		{ 416, "", "the file changed" },
		{ 422, "", "the runtime does not accept the request" },
		{ 503, "", "the daemon is shutting down" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		runtime_errors_from_rest(
			&err, ERRORS_READ, rows[i].status, slice_of(rows[i].body));
		if (strcmp(err.msg, rows[i].msg) != 0)
			fail_msg("row %zu: %s", i, err.msg);
	}
}

/* Plain or not, the end of a long text is what is kept: it tells the reason. */
static void long_texts_lose_their_beginning(void **state)
{
	enum { KEPT = 400 };
	static const char ending[] = ": no space left on device";
	char text[1200], json[1300];

	(void)state;
	for (size_t n = KEPT - 1; n < sizeof text; n += n < KEPT + 1 ? 1 : 300) {
		memset(text, 'x', n);
		text[0] = 'a';
		memcpy(text + n - (sizeof ending - 1), ending, sizeof ending);
		snprintf(json, sizeof json, "{\"message\":\"%s\"}", text);
		for (int i = 0; i < 2; i++) {
			struct err err = { 0 };
			runtime_errors_from_rest(
				&err, ERRORS_WRITE, 500, slice_of(i ? json : text));
			assert_int_equal(err.code, ERR_FILE_NO_SPACE);
			assert_string_equal(err.msg, text + (n > KEPT ? n - KEPT : 0));
		}
	}
}

static const struct {
	enum runtime_errors_call call;
	enum err_code from;
	const char *text;
	enum err_code is;
} grpc[] = {
	{ ERRORS_START, ERR_RPC_NOT_FOUND,
		"failed to start command: command or path not found: exec: \"x\": executable file not found in $PATH",
		ERR_PROC_COMMAND_NOT_FOUND },
	{ ERRORS_EXECUTE, ERR_RPC_NOT_FOUND,
		"fork/exec /usr/bin/pwd: no such file or directory",
		ERR_PROC_COMMAND_NOT_FOUND },
	{ ERRORS_START, ERR_RPC_UNKNOWN, "exec: \"x\": executable file not found in $PATH",
		ERR_PROC_COMMAND_NOT_FOUND },
	{ ERRORS_START, ERR_RPC_PERMISSION_DENIED,
		"cwd: access denied: path \"..\": path escapes sandbox root", ERR_PROC_DENIED },
	{ ERRORS_START, ERR_RPC_INTERNAL,
		"failed to start command: fork/exec ./x: exec format error", ERR_PROC_DENIED },
	{ ERRORS_START, ERR_RPC_INTERNAL, "chdir f: not a directory", ERR_PROC_NO_CWD },
	{ ERRORS_START, ERR_RPC_INTERNAL, "fork/exec x: argument list too long",
		ERR_ARG_INVALID },
	{ ERRORS_START, ERR_RPC_INVALID_ARGUMENT, "command is required",
		ERR_RPC_INVALID_ARGUMENT },
	{ ERRORS_START, ERR_CONN_LOST, "reset", ERR_CONN_LOST },
	{ ERRORS_STREAM, ERR_CONN_LOST, "reset", ERR_PROC_LOST },
	{ ERRORS_STREAM, ERR_OP_CLOSED, "closed", ERR_PROC_LOST },
	{ ERRORS_STREAM, ERR_RPC_INTERNAL, "x", ERR_RPC_INTERNAL },
	{ ERRORS_EXECUTE, ERR_RPC_INTERNAL,
		"failed to execute command: exec: WaitDelay expired before I/O complete",
		ERR_PROC_WAIT_DELAY },
	{ ERRORS_EXECUTE, ERR_LIMIT_RESPONSE, "a message of 5000000 bytes", ERR_LIMIT_OUTPUT },
	{ ERRORS_EXECUTE, ERR_RPC_DEADLINE_EXCEEDED, "x", ERR_OP_TIMEOUT },
	{ ERRORS_CONTROL, ERR_RPC_NOT_FOUND, "process 7 not found", ERR_PROC_GONE },
	{ ERRORS_CONTROL, ERR_RPC_INTERNAL,
		"failed to write stdin: write |1: file already closed", ERR_PROC_STDIN_CLOSED },
	{ ERRORS_CONTROL, ERR_RPC_INTERNAL, "failed to write stdin: write |1: broken pipe",
		ERR_PROC_STDIN_CLOSED },
	{ ERRORS_CONTROL, ERR_RPC_FAILED_PRECONDITION,
		"failed to resize TTY: process is completed or has no active PTY",
		ERR_PROC_NO_PTY },
	{ ERRORS_START, ERR_RPC_UNAUTHENTICATED, "x", ERR_RUNTIME_AUTH },
	{ ERRORS_CONTROL, ERR_RPC_UNAUTHENTICATED, "x", ERR_RUNTIME_AUTH },
	{ ERRORS_START, ERR_RPC_UNIMPLEMENTED, "unknown service", ERR_RPC_UNIMPLEMENTED },
	{ ERRORS_START, ERR_RPC_UNAVAILABLE, "x", ERR_CONN_LOST },
	{ ERRORS_CONTROL, ERR_RPC_UNAVAILABLE, "x", ERR_CONN_LOST },
	{ ERRORS_STREAM, ERR_RPC_UNAVAILABLE, "x", ERR_PROC_LOST },
	{ ERRORS_STREAM, ERR_CONN_REFUSED, "x", ERR_PROC_LOST },
	{ ERRORS_STREAM, ERR_RPC_CANCELLED, "x", ERR_PROC_LOST },
	{ ERRORS_START, ERR_RPC_CANCELLED, "x", ERR_RPC_CANCELLED },
	{ ERRORS_START, ERR_RPC_UNKNOWN, "fork/exec ./x: no such file or directory",
		ERR_PROC_COMMAND_NOT_FOUND },
	{ ERRORS_EXECUTE, ERR_RPC_UNKNOWN, "fork/exec ./x: permission denied",
		ERR_PROC_DENIED },
	{ ERRORS_START, ERR_RPC_INTERNAL, "exec: no command", ERR_ARG_INVALID },
	{ ERRORS_EXECUTE, ERR_RPC_RESOURCE_EXHAUSTED, "x", ERR_LIMIT_OUTPUT },
	{ ERRORS_START, ERR_RPC_RESOURCE_EXHAUSTED, "x", ERR_RPC_RESOURCE_EXHAUSTED },
	{ ERRORS_START, ERR_RPC_ALREADY_EXISTS, "x", ERR_RPC_ALREADY_EXISTS },
	{ ERRORS_START, ERR_RPC_ABORTED, "x", ERR_RPC_ABORTED },
	{ ERRORS_EXECUTE, ERR_RPC_OUT_OF_RANGE, "x", ERR_RPC_OUT_OF_RANGE },
	{ ERRORS_STREAM, ERR_RPC_DATA_LOSS, "x", ERR_RPC_DATA_LOSS },
	{ ERRORS_CONTROL, ERR_RPC_UNKNOWN, "write /dev/ptmx: input/output error",
		ERR_PROC_STDIN_CLOSED },
	{ ERRORS_CONTROL, ERR_CONN_LOST, "write |1: broken pipe", ERR_CONN_LOST },
	{ ERRORS_START, ERR_RPC_INTERNAL, "broken pipe", ERR_RPC_INTERNAL },
};

static void grpc_codes_map(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof grpc / sizeof *grpc; i++) {
		struct err from = { 0 }, err = { 0 };
		err_set(&from, grpc[i].from, "%s", grpc[i].text);
		from.sys = 13;
		assert_false(runtime_errors_from_grpc(&err, grpc[i].call, &from));
		if (err.code != grpc[i].is)
			fail_msg("%s %s: %s", err_code_name(grpc[i].from), grpc[i].text,
				err_name(&err));
		assert_string_equal(err.msg, grpc[i].text);
		assert_int_equal(err.sys, 13);
	}
}

/* What a sandbox-router says itself, told from what the runtime behind it says. */
static void the_words_of_a_router(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_code is; /* NONE: the runtime's */
	} rows[] = {
		{ 502, "", ERR_ROUTER_BACKEND },
		{ 502, "{\"detail\":\"no pod\"}", ERR_ROUTER_BACKEND },
		{ 504, "gateway timeout", ERR_ROUTER_BACKEND },
		{ 503, "{\"detail\":\"x\"}", ERR_ROUTER_BACKEND },
		{ 500, "{\"detail\":\"x\"}", ERR_ROUTER_BACKEND },
		{ 400, "{\"detail\":\"x\"}", ERR_ROUTER_REJECTED },
		{ 401, "{\"detail\":\"x\"}", ERR_ROUTER_REJECTED },
		{ 403, "{\"detail\":\"x\"}", ERR_ROUTER_REJECTED },
		{ 404, "{\"detail\":\"x\"}", ERR_NONE },
		{ 501, "{\"detail\":\"x\"}", ERR_NONE },
		{ 400, "{\"message\":\"x\"}", ERR_NONE },
		{ 403, "", ERR_NONE },
		{ 500, "{\"detail\":[1]}", ERR_NONE },
		{ 200, "{\"detail\":\"x\"}", ERR_NONE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		bool is =
			runtime_errors_is_router(&err, rows[i].status, slice_of(rows[i].body));
		if (is != (rows[i].is != ERR_NONE) || err.code != rows[i].is)
			fail_msg("%d %s: %s", rows[i].status, rows[i].body, err_name(&err));
		assert_int_equal(err.sys, is ? rows[i].status : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rest_answers_map),
		cmocka_unit_test(http_status_is_in_the_name),
		cmocka_unit_test(redirects_are_told_without_their_html),
		cmocka_unit_test(a_long_message_keeps_its_ending),
		cmocka_unit_test(the_words_of_an_answer),
		cmocka_unit_test(long_texts_lose_their_beginning),
		cmocka_unit_test(grpc_codes_map),
		cmocka_unit_test(the_words_of_a_router),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
