// SPDX-License-Identifier: Apache-2.0
/* What an answer of the daemon means in our error codes. Pure. Every function returns false, so that a caller
 * can end with it.
 * Errors: ERR_ARG_INVALID, ERR_ARG_PATH, ERR_CONN_LOST, ERR_CONN_REFUSED, ERR_FILE_CHANGED, ERR_FILE_DENIED,
 * ERR_FILE_IS_DIR, ERR_FILE_LOOP, ERR_FILE_NOT_DIR, ERR_FILE_NOT_EMPTY, ERR_FILE_NOT_FOUND, ERR_FILE_NO_SPACE,
 * ERR_FILE_SERVER, ERR_HTTP_STATUS, ERR_LIMIT_OUTPUT, ERR_LIMIT_RESPONSE, ERR_LIMIT_UPLOAD, ERR_OP_CLOSED,
 * ERR_OP_TIMEOUT, ERR_PROC_COMMAND_NOT_FOUND, ERR_PROC_DENIED, ERR_PROC_GONE, ERR_PROC_LOST, ERR_PROC_NO_CWD,
 * ERR_PROC_NO_PTY, ERR_PROC_STDIN_CLOSED, ERR_PROC_WAIT_DELAY, ERR_ROUTER_BACKEND, ERR_ROUTER_REJECTED,
 * ERR_RUNTIME_AUTH, ERR_RUNTIME_PROTOCOL, ERR_RUNTIME_UNAVAILABLE, those of engine/net/grpc.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

struct err;

enum runtime_errors_rest {
	ERRORS_DAEMON, /* health, metadata */
	ERRORS_READ,   /* read, list, stat */
	ERRORS_WRITE,
	ERRORS_DELETE,
	ERRORS_REST_COUNT,
};
/* body: what was kept of the answer: JSON {"code","message"} or plain text, or empty (HEAD). */
bool runtime_errors_from_rest(
	struct err *err, enum runtime_errors_rest kind, int status, struct slice body);

/* Through a sandbox-router: true with *err set (router.*) if the answer is the router's own, {"detail":"…"}, or
 * that of a gateway before it. */
bool runtime_errors_is_router(struct err *err, int status, struct slice body);

enum runtime_errors_call {
	ERRORS_START,
	ERRORS_EXECUTE,
	ERRORS_CONTROL, /* WriteStdin, SendSignal, ResizeTTY */
	ERRORS_STREAM,  /* Start, after its init event */
	ERRORS_CALL_COUNT,
};
/* from: the completion of a grpc call. A NOT_FOUND at start becomes ERR_PROC_COMMAND_NOT_FOUND; the caller finds
 * out whether a missing cwd was meant, since the daemon's text blames the program either way. */
bool runtime_errors_from_grpc(
	struct err *err, enum runtime_errors_call call, const struct err *from);
