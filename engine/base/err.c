// SPDX-License-Identifier: Apache-2.0
/* The error table and the few functions that fill a struct err. */
#include "engine/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum err_exit exit;
	enum err_retry retry;
	enum err_scope scope;
	const char *hint;
} table[] = {
#define X(id, code_name, exit_id, retry_id, scope_id, hint_text)                               \
	[ERR_##id] = { code_name, EXIT_STATUS_##exit_id, ERR_RETRY_##retry_id,                 \
		ERR_SCOPE_##scope_id, hint_text },
	ERR_CODES(X)
#undef X
};
_Static_assert(sizeof table / sizeof table[0] == ERR_CODE_COUNT, "one row a code");

bool err_vset(struct err *err, enum err_code code, const char *format, va_list args)
{
	if (err == NULL)
		return false;
	/* the arguments may point into err itself */
	char msg[ERR_MESSAGE_BYTES];
	vsnprintf(msg, sizeof msg, format, args);
	err->code = code;
	err->sys = 0;
	err->denied.verb[0] = '\0';
	memcpy(err->msg, msg, sizeof msg);
	return false;
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err_vset(err, code, format, args);
	va_end(args);
	return false;
}

static enum err_code code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
		return ERR_FILE_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERR_FILE_DENIED;
	case EEXIST:
		return ERR_FILE_EXISTS;
	case EISDIR:
		return ERR_FILE_IS_DIR;
	case ENOTDIR:
		return ERR_FILE_NOT_DIR;
	case ENOTEMPTY:
		return ERR_FILE_NOT_EMPTY;
	case ELOOP:
		return ERR_FILE_LOOP;
	case ENOSPC:
	case EDQUOT:
		return ERR_FILE_NO_SPACE;
	case ECONNREFUSED:
		return ERR_CONN_REFUSED;
	case ECONNRESET:
	case EPIPE:
	case ENETUNREACH:
	case EHOSTUNREACH:
		return ERR_CONN_LOST;
	case ETIMEDOUT:
		return ERR_OP_TIMEOUT;
	default:
		return ERR_SYSTEM;
	}
}

bool err_set_errno(struct err *err, int errnum, const char *format, ...)
{
	if (err == NULL)
		return false;
	va_list args;
	va_start(args, format);
	err_vset(err, code_of_errno(errnum), format, args);
	va_end(args);
	err->sys = errnum;
	size_t used = strlen(err->msg);
	snprintf(err->msg + used, sizeof err->msg - used, ": %s", strerror(errnum));
	return false;
}

bool err_prefix(struct err *err, const char *format, ...)
{
	if (err == NULL)
		return false;
	char msg[2 * ERR_MESSAGE_BYTES + 3];
	va_list args;
	va_start(args, format);
	vsnprintf(msg, ERR_MESSAGE_BYTES, format, args);
	va_end(args);
	size_t used = strlen(msg);
	snprintf(msg + used, sizeof msg - used, ": %s", err->msg);
	msg[ERR_MESSAGE_BYTES - 1] = '\0'; /* the cause comes last: what is cut is its end */
	memcpy(err->msg, msg, ERR_MESSAGE_BYTES);
	return false;
}

static bool fits(char *into, size_t bytes, const char *text)
{
	size_t n = strlen(text);
	if (n >= bytes)
		return false;
	memcpy(into, text, n + 1);
	return true;
}

bool err_set_denied(struct err *err, const char *verb, const char *group, const char *resource,
	const char *subresource, const char *namespace_)
{
	if (err == NULL)
		return false;
	struct err_denied *denied = &err->denied;
	*denied = (struct err_denied){ 0 };
	if (!fits(denied->group, sizeof denied->group, group) ||
		!fits(denied->resource, sizeof denied->resource, resource) ||
		!fits(denied->subresource, sizeof denied->subresource, subresource) ||
		!fits(denied->namespace_, sizeof denied->namespace_, namespace_) ||
		!fits(denied->verb, sizeof denied->verb, verb))
		*denied = (struct err_denied){ 0 };
	return false;
}

void err_copy(struct err *to, const struct err *from)
{
	if (to != NULL && from != NULL && to != from)
		*to = *from;
}

const char *err_code_name(enum err_code code)
{
	return (unsigned)code < ERR_CODE_COUNT ? table[code].name : table[ERR_INTERNAL].name;
}

const char *err_name(const struct err *err)
{
	static char http_name[32];
	if (err->code != ERR_HTTP_STATUS)
		return err_code_name(err->code);
	snprintf(http_name, sizeof http_name, "http.%d", err->sys);
	return http_name;
}

enum err_exit err_exit_status(const struct err *err)
{
	return table[err->code].exit;
}

const char *err_exit_meaning(enum err_exit status)
{
	static const char *const meanings[] = { "done", "failed", "wrong usage", "not found",
		"not allowed", "timed out", "unreachable",
		"refused by a rule of ours (read-only, path, limit)", "verification failed" };
	_Static_assert(sizeof meanings / sizeof *meanings == EXIT_STATUS_COUNT, "one for each");
	return meanings[status];
}

enum err_retry err_retry(const struct err *err)
{
	if (err->code == ERR_HTTP_STATUS && err->sys >= 500)
		return ERR_RETRY_SAME;
	return table[err->code].retry;
}

enum err_scope err_code_scope(enum err_code code)
{
	return table[code].scope;
}

bool err_code_is_rpc(enum err_code code)
{
	return strncmp(err_code_name(code), "rpc.", 4) == 0;
}

const char *err_hint(const struct err *err)
{
	return table[err->code].hint;
}

enum err_code err_code_of_grpc(int status)
{
	static const enum err_code codes[] = {
		ERR_NONE,
		ERR_RPC_CANCELLED,
		ERR_RPC_UNKNOWN,
		ERR_RPC_INVALID_ARGUMENT,
		ERR_RPC_DEADLINE_EXCEEDED,
		ERR_RPC_NOT_FOUND,
		ERR_RPC_ALREADY_EXISTS,
		ERR_RPC_PERMISSION_DENIED,
		ERR_RPC_RESOURCE_EXHAUSTED,
		ERR_RPC_FAILED_PRECONDITION,
		ERR_RPC_ABORTED,
		ERR_RPC_OUT_OF_RANGE,
		ERR_RPC_UNIMPLEMENTED,
		ERR_RPC_INTERNAL,
		ERR_RPC_UNAVAILABLE,
		ERR_RPC_DATA_LOSS,
		ERR_RPC_UNAUTHENTICATED,
	};
	if (status < 1 || status >= (int)(sizeof codes / sizeof codes[0]))
		return ERR_RPC_UNKNOWN;
	return codes[status];
}
