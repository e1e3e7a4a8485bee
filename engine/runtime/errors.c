// SPDX-License-Identifier: Apache-2.0
/* Tables from HTTP statuses, gRPC codes and message endings (sandboxd v0.5.6) to error codes. The first row
 * that fits decides. Messages are foreign text: kept short, shown through safe_text by whoever shows them. */
#include "engine/runtime/errors.h"

#include "engine/base/err.h"
#include "engine/base/json.h"

#include <string.h>

enum { TEXT_BYTES = 400 };

#define KIND(k) (1u << (k))
enum {
	FILES = KIND(ERRORS_READ) | KIND(ERRORS_WRITE) | KIND(ERRORS_DELETE),
	ALL_KINDS = FILES | KIND(ERRORS_DAEMON),
};

static const struct rest_row {
	unsigned kinds;
	int status;         /* 0: any */
	const char *code;   /* of the JSON body; NULL: any */
	const char *ending; /* of the message; NULL: any */
	enum err_code is;
} rest_rows[] = {
	{ ALL_KINDS, 0, "UNAUTHENTICATED", NULL, ERR_RUNTIME_AUTH },
	{ ALL_KINDS, 401, NULL, NULL, ERR_RUNTIME_AUTH },
	{ KIND(ERRORS_WRITE), 400, NULL, "target path is a directory", ERR_FILE_IS_DIR },
	{ FILES, 400, "INVALID_ARGUMENT", NULL, ERR_ARG_INVALID },
	{ FILES, 403, NULL, NULL, ERR_FILE_DENIED },
	{ KIND(ERRORS_DAEMON), 403, NULL, NULL, ERR_RUNTIME_AUTH },
	/* the legacy runtime's words */
	{ FILES, 404, NULL, "Path is not a directory", ERR_FILE_NOT_DIR },
	{ ALL_KINDS, 422, NULL, NULL, ERR_ARG_INVALID },
	{ FILES, 404, NULL, NULL, ERR_FILE_NOT_FOUND },
	{ KIND(ERRORS_DAEMON), 404, NULL, NULL, ERR_RUNTIME_PROTOCOL },
	{ KIND(ERRORS_DELETE), 409, NULL, NULL, ERR_FILE_NOT_EMPTY },
	{ KIND(ERRORS_READ), 412, NULL, NULL, ERR_FILE_CHANGED },
	{ KIND(ERRORS_READ), 416, NULL, NULL, ERR_FILE_CHANGED },
	{ KIND(ERRORS_WRITE), 413, NULL, NULL, ERR_LIMIT_UPLOAD },
	{ FILES, 500, NULL, "permission denied", ERR_FILE_DENIED },
	{ FILES, 500, NULL, "operation not permitted", ERR_FILE_DENIED },
	{ FILES, 500, NULL, "read-only file system", ERR_FILE_DENIED },
	{ FILES, 500, NULL, "not a directory", ERR_FILE_NOT_DIR },
	{ FILES, 500, NULL, "is a directory", ERR_FILE_IS_DIR },
	{ FILES, 500, NULL, "too many links", ERR_FILE_LOOP },
	{ FILES, 500, NULL, "too many levels of symbolic links", ERR_FILE_LOOP },
	{ FILES, 500, NULL, "file name too long", ERR_ARG_PATH },
	{ FILES, 500, NULL, "no space left on device", ERR_FILE_NO_SPACE },
	{ FILES, 500, NULL, "disk quota exceeded", ERR_FILE_NO_SPACE },
	{ FILES, 507, NULL, NULL, ERR_FILE_NO_SPACE },
	{ FILES, 500, NULL, NULL, ERR_FILE_SERVER },
	{ ALL_KINDS, 503, NULL, NULL, ERR_RUNTIME_UNAVAILABLE },
};

static bool ends_with(const char *text, const char *ending)
{
	size_t n = strlen(text), m = strlen(ending);

	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	return n >= m && memcmp(text + n - m, ending, m) == 0;
}

struct rest_text {
	char code[64];
	char message[TEXT_BYTES + 1];
};

static void put(char *to, size_t room, const char *from, size_t n)
{
	if (n >= room)
		n = room - 1;
	memcpy(to, from, n);
	to[n] = 0;
}

/* The message is cut at its front, so that the ending, which tells the reason, stays. */
static void put_ending(char *to, size_t room, const char *from, size_t n)
{
	while (n && (from[n - 1] == '\n' || from[n - 1] == '\r' || from[n - 1] == ' '))
		n--;
	if (n >= room) {
		from += n - (room - 1);
		n = room - 1;
	}
	put(to, room, from, n);
}

static void read_body(struct slice body, struct rest_text *out)
{
	*out = (struct rest_text){ 0 };
	cJSON *json = body.n && body.p[0] == '{' ? json_parse(body, NULL) : NULL;
	const char *code = json ? json_str(json, "code", NULL) : NULL;
	const char *message = json ? json_str(json, "message", NULL) : NULL;

	if (code)
		put(out->code, sizeof out->code, code, strlen(code));
	if (message)
		put_ending(out->message, sizeof out->message, message, strlen(message));
	else if (!json && body.n && body.p[0] != '<')
		put_ending(out->message, sizeof out->message, body.p, body.n);
	cJSON_Delete(json);
}

static const char *status_text(int status)
{
	switch (status) {
	case 401:
		return "the daemon wants a token";
	case 403:
		return "permission denied";
	case 404:
		return "path does not exist within the sandbox";
	case 409:
		return "directory is not empty";
	case 412:
	case 416:
		return "the file changed";
	case 422:
		return "the runtime does not accept the request";
	case 503:
		return "the daemon is shutting down";
	default:
		return NULL;
	}
}

bool runtime_errors_from_rest(
	struct err *err, enum runtime_errors_rest kind, int status, struct slice body)
{
	struct rest_text text;
	enum err_code code = ERR_HTTP_STATUS;

	read_body(body, &text);
	for (size_t i = 0; i < sizeof rest_rows / sizeof *rest_rows; i++) {
		const struct rest_row *row = &rest_rows[i];
		if ((row->kinds & KIND(kind)) && (!row->status || row->status == status) &&
			(!row->code || strcmp(row->code, text.code) == 0) &&
			(!row->ending || ends_with(text.message, row->ending))) {
			code = row->is;
			break;
		}
	}
	if (text.message[0])
		err_set(err, code, "%s", text.message);
	else if (status >= 300 && status < 400)
		err_set(err, code, "redirects are not followed (HTTP %d)", status);
	else if (status_text(status))
		err_set(err, code, "%s", status_text(status));
	else
		err_set(err, code, "the daemon answered HTTP %d", status);
	if (err)
		err->sys = status;
	return false;
}

bool runtime_errors_is_router(struct err *err, int status, struct slice body)
{
	struct rest_text text;
	bool is_backend = status == 502 || status == 504;
	bool is_other = status == 400 || status == 401 || status == 403 || status == 500 ||
			status == 503;
	cJSON *json = body.n && body.p[0] == '{' ? json_parse(body, NULL) : NULL;
	const char *detail = json ? json_str(json, "detail", NULL) : NULL;

	/* the runtime's own errors have a message (and sandboxd's a code), never a detail in words */
	read_body(body, &text);
	if (!is_backend && !(is_other && detail)) {
		cJSON_Delete(json);
		return false;
	}
	char said[TEXT_BYTES + 1] = "";
	if (detail)
		put_ending(said, sizeof said, detail, strlen(detail));
	else
		put_ending(said, sizeof said, text.message, strlen(text.message));
	err_set(err, is_backend || status >= 500 ? ERR_ROUTER_BACKEND : ERR_ROUTER_REJECTED,
		"the router says: %s (HTTP %d)", said[0] ? said : "nothing more", status);
	if (err)
		err->sys = status;
	cJSON_Delete(json);
	return true;
}

/* ---- gRPC */
#define CALL(c) (1u << (c))
enum {
	BEGINS = CALL(ERRORS_START) | CALL(ERRORS_EXECUTE),
	ALL_CALLS = BEGINS | CALL(ERRORS_CONTROL) | CALL(ERRORS_STREAM),
};

static const struct grpc_row {
	unsigned calls;
	enum err_code from;   /* ERR_NONE: any rpc.* */
	const char *contains; /* in the message; NULL: any */
	enum err_code is;
} grpc_rows[] = {
	{ ALL_CALLS, ERR_RPC_UNAUTHENTICATED, NULL, ERR_RUNTIME_AUTH },
	{ ALL_CALLS, ERR_RPC_DEADLINE_EXCEEDED, NULL, ERR_OP_TIMEOUT },
	{ BEGINS | CALL(ERRORS_CONTROL), ERR_RPC_UNAVAILABLE, NULL, ERR_CONN_LOST },
	{ CALL(ERRORS_STREAM), ERR_RPC_UNAVAILABLE, NULL, ERR_PROC_LOST },
	{ CALL(ERRORS_STREAM), ERR_CONN_LOST, NULL, ERR_PROC_LOST },
	{ CALL(ERRORS_STREAM), ERR_CONN_REFUSED, NULL, ERR_PROC_LOST },
	{ CALL(ERRORS_STREAM), ERR_OP_CLOSED, NULL, ERR_PROC_LOST },
	{ CALL(ERRORS_STREAM), ERR_RPC_CANCELLED, NULL, ERR_PROC_LOST },
	/* very old daemons gave every error as UNKNOWN: the texts decide there too */
	{ BEGINS, ERR_RPC_NOT_FOUND, NULL, ERR_PROC_COMMAND_NOT_FOUND },
	{ BEGINS, ERR_RPC_UNKNOWN, "executable file not found", ERR_PROC_COMMAND_NOT_FOUND },
	{ BEGINS, ERR_RPC_UNKNOWN, "no such file or directory", ERR_PROC_COMMAND_NOT_FOUND },
	{ BEGINS, ERR_RPC_PERMISSION_DENIED, NULL, ERR_PROC_DENIED },
	{ BEGINS, ERR_NONE, "permission denied", ERR_PROC_DENIED },
	{ BEGINS, ERR_NONE, "exec format error", ERR_PROC_DENIED },
	{ BEGINS, ERR_NONE, "argument list too long", ERR_ARG_INVALID },
	{ BEGINS, ERR_NONE, "exec: no command", ERR_ARG_INVALID },
	{ BEGINS, ERR_NONE, "not a directory", ERR_PROC_NO_CWD },
	{ CALL(ERRORS_EXECUTE), ERR_NONE, "WaitDelay expired", ERR_PROC_WAIT_DELAY },
	{ CALL(ERRORS_EXECUTE), ERR_RPC_RESOURCE_EXHAUSTED, NULL, ERR_LIMIT_OUTPUT },
	{ CALL(ERRORS_EXECUTE), ERR_LIMIT_RESPONSE, NULL, ERR_LIMIT_OUTPUT },
	{ CALL(ERRORS_CONTROL), ERR_RPC_NOT_FOUND, NULL, ERR_PROC_GONE },
	{ CALL(ERRORS_CONTROL), ERR_RPC_FAILED_PRECONDITION, NULL, ERR_PROC_NO_PTY },
	{ CALL(ERRORS_CONTROL), ERR_NONE, "file already closed", ERR_PROC_STDIN_CLOSED },
	{ CALL(ERRORS_CONTROL), ERR_NONE, "broken pipe", ERR_PROC_STDIN_CLOSED },
	{ CALL(ERRORS_CONTROL), ERR_NONE, "input/output error", ERR_PROC_STDIN_CLOSED },
};

bool runtime_errors_from_grpc(
	struct err *err, enum runtime_errors_call call, const struct err *from)
{
	for (size_t i = 0; i < sizeof grpc_rows / sizeof *grpc_rows; i++) {
		const struct grpc_row *row = &grpc_rows[i];
		if (!(row->calls & CALL(call)) ||
			(row->from == ERR_NONE ? !err_code_is_rpc(from->code)
					       : row->from != from->code) ||
			(row->contains && !strstr(from->msg, row->contains)))
			continue;
		err_set(err, row->is, "%s", from->msg);
		if (err)
			err->sys = from->sys;
		return false;
	}
	err_copy(err, from);
	return false;
}
