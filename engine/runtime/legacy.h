// SPDX-License-Identifier: Apache-2.0
/* The legacy Python runtime of Agent Sandbox (HTTP on port 8888): what it wants on the wire, and the operations that
 * go another way there than in sandboxd.
 *
 *   GET /                     {"status":"ok",…}
 *   POST /execute             {"command":"…"} -> {"stdout","stderr","exit_code"}
 *   POST /upload              multipart/form-data, the part "file", its filename is the path
 *   GET /download|list|exists/ENC
 *
 * It splits the command like a shell does, without a shell: so ours is always /bin/sh -c '…'. It decodes ENC
 * twice: once as every URL is, once more itself.
 * Errors: ERR_ARG_INVALID, ERR_ARG_PATH, ERR_FILE_NOT_FOUND, ERR_LIMIT_OUTPUT, ERR_OP_READ_ONLY, ERR_RUNTIME_PROTOCOL,
 * those of engine/base/json.h, those of engine/base/path.h. */
#pragma once

#include "engine/base/str.h"
#include "engine/runtime/runtime.h"

/* ---- pure */
/* "/list/a%2Fb"; a '%' of the name comes as %2525, so that both decodings leave it; the root is "%2E". free(). */
char *runtime_legacy_url(const char *endpoint, const char *path);
/* The body of /execute. NULL with *err: not UTF-8, or nothing that `env` can start. free(). */
char *runtime_legacy_execute_body(
	const char *const *argv, const char *const *env, const char *cwd, struct err *err);

struct runtime_legacy_result {
	int exit_code; /* −N: killed by signal N */
	char *out, *err_out;
};
/* The answer of /execute; false with *err when it is none, or when the command could not be started. */
bool runtime_legacy_result_parse(
	struct slice body, struct runtime_legacy_result *out, struct err *err);
void runtime_legacy_result_deinit(struct runtime_legacy_result *result);

/* What stands before and after the bytes of a file in an upload. */
struct runtime_legacy_form {
	char boundary[48];
	char *head, *tail;
	size_t head_n, tail_n;
};
/* False with ERR_ARG_PATH for a path that would arrive as another one. */
bool runtime_legacy_form_init(
	struct runtime_legacy_form *form, const char *path, struct err *err);
void runtime_legacy_form_deinit(struct runtime_legacy_form *form); /* safe on a zeroed struct */

/* ---- operations; arguments as in engine/runtime/runtime.h */
struct runtime_op *runtime_legacy_execute(struct runtime *runtime, const char *const *argv,
	const char *const *env, const char *cwd, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result),
	void *arg, struct err *err);
/* There is no HEAD: exists, then the listing of the folder it is in. */
struct runtime_op *runtime_legacy_stat(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st),
	void *arg, struct err *err);
