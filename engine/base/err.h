// SPDX-License-Identifier: Apache-2.0
/* The one error type. Functions that can fail take a struct err * as their last parameter (NULL is
 * fine), write it only on failure, and return false or NULL. Completion callbacks get a
 * const struct err *: NULL is success, and it is borrowed for the duration of the call.
 *
 * A code has a stable name, an exit status, answers to "does repeating help" and "does it end the
 * whole of a larger work", and a hint for people; all of them live in one table (err.c). Engine code returns errors and does not log them.
 * Never put a token, a key, file content or an environment value in a message. Text that came from
 * outside may be put in as it is: whoever shows it passes it through safe_text. */
#pragma once

#include "engine/base/exit_status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { ERR_MESSAGE_BYTES = 512 };

enum err_retry {
	ERR_RETRY_NO,    /* repeating unchanged cannot help */
	ERR_RETRY_SAME,  /* repeating unchanged can help */
	ERR_RETRY_AFTER, /* repeating can help after the change that the hint names */
};

/* What of a larger work ends with it: one file of a tree, or the tree. */
enum err_scope {
	ERR_SCOPE_ONE, /* the others can still do well */
	ERR_SCOPE_ALL, /* the others would meet it too */
};

/* id, name, exit status, does repeating help, what ends with it, hint */
#define ERR_CODES(X)                                                                           \
	X(NONE, "ok", OK, NO, ONE, "")                                                         \
	X(INTERNAL, "internal", FAILED, NO, ONE,                                               \
		"this is a bug: please report it with the log")                                \
	X(SYSTEM, "system", FAILED, NO, ONE, "")                                               \
	X(ARG_INVALID, "arg.invalid", USAGE, NO, ONE, "see --help")                            \
	X(ARG_PATH, "arg.path", REFUSED, NO, ONE,                                              \
		"use a path relative to the sandbox root, without '..'")                       \
	X(OP_TIMEOUT, "op.timeout", TIMEOUT, AFTER, ONE,                                       \
		"it may have happened all the same: look before repeating")                    \
	X(OP_CANCELLED, "op.cancelled", FAILED, NO, ONE, "")                                   \
	X(OP_CLOSED, "op.closed", FAILED, AFTER, ALL, "open the connection again")             \
	X(OP_ALREADY_OPEN, "op.already_open", FAILED, NO, ONE, "")                             \
	X(OP_BUSY, "op.busy", FAILED, NO, ONE, "")                                             \
	X(OP_UNSUPPORTED, "op.unsupported", REFUSED, NO, ALL,                                  \
		"this runtime or mode cannot do it")                                           \
	X(OP_READ_ONLY, "op.read_only", REFUSED, NO, ALL,                                      \
		"start without --read-only to change things")                                  \
	X(OP_RETRIES_EXHAUSTED, "op.retries_exhausted", FAILED, AFTER, ONE, "try again later") \
	X(CONFIG_NONE, "config.none", FAILED, NO, ONE,                                         \
		"set KUBECONFIG, or use the local backend: sandmux local up")                  \
	X(CONFIG_FILE, "config.file", USAGE, NO, ONE, "mend the configuration file")           \
	X(CONFIG_KUBECONFIG, "config.kubeconfig", USAGE, NO, ONE, "check the kubeconfig file") \
	X(CONFIG_EXEC_PLUGIN, "config.exec_plugin", DENIED, AFTER, ONE, "log in again")        \
	X(KUBE_UNAUTHORIZED, "kube.unauthorized", DENIED, AFTER, ONE, "log in again")          \
	X(KUBE_FORBIDDEN, "kube.forbidden", DENIED, NO, ONE, "ask for the missing right")      \
	X(KUBE_QUOTA, "kube.quota", DENIED, SAME, ONE, "delete something or wait")             \
	X(KUBE_NAMESPACE_TERMINATING, "kube.namespace_terminating", FAILED, NO, ONE,           \
		"use another namespace")                                                       \
	X(KUBE_NOT_SERVED, "kube.not_served", FAILED, NO, ONE,                                 \
		"install the Agent Sandbox CRDs in this cluster")                              \
	X(KUBE_NOT_FOUND, "kube.not_found", NOT_FOUND, NO, ONE,                                \
		"check the name and the namespace")                                            \
	X(KUBE_EXISTS, "kube.exists", FAILED, AFTER, ONE, "choose another name")               \
	X(KUBE_CONFLICT, "kube.conflict", FAILED, AFTER, ONE, "read it again and repeat")      \
	X(KUBE_INVALID, "kube.invalid", USAGE, NO, ONE, "")                                    \
	X(KUBE_BAD_REQUEST, "kube.bad_request", FAILED, NO, ONE, "")                           \
	X(KUBE_TOO_LARGE, "kube.too_large", FAILED, NO, ONE, "")                               \
	X(KUBE_EXPIRED, "kube.expired", FAILED, SAME, ONE, "")                                 \
	X(KUBE_THROTTLED, "kube.throttled", FAILED, SAME, ONE, "wait a little")                \
	X(KUBE_SERVER, "kube.server", FAILED, SAME, ONE, "try again")                          \
	X(KUBE_TRANSPORT, "kube.transport", UNREACHABLE, SAME, ALL,                            \
		"check that the API server runs and can be reached")                           \
	X(KUBE_TLS, "kube.tls", UNREACHABLE, NO, ONE,                                          \
		"check the certificate authority and the name")                                \
	X(KUBE_PROTOCOL, "kube.protocol", FAILED, NO, ONE, "is this a Kubernetes API server?") \
	X(CLAIM_NOT_FOUND, "claim.not_found", NOT_FOUND, NO, ONE, "see sandmux ls -A")         \
	X(CLAIM_EXISTS, "claim.exists", FAILED, AFTER, ONE, "adopt it or choose another name") \
	X(CLAIM_ADOPT_MISMATCH, "claim.adopt_mismatch", FAILED, NO, ONE,                       \
		"it uses another warm pool")                                                   \
	X(CLAIM_TERMINATING, "claim.terminating", FAILED, SAME, ONE, "wait until it is gone")  \
	X(CLAIM_REPLACED, "claim.replaced", FAILED, SAME, ONE, "")                             \
	X(CLAIM_REJECTED, "claim.rejected", FAILED, AFTER, ONE,                                \
		"change what the message names")                                               \
	X(CLAIM_FAILED, "claim.failed", FAILED, NO, ONE, "")                                   \
	X(CLAIM_ORPHANED, "claim.orphaned", FAILED, SAME, ONE, "delete the claim by hand")     \
	X(CLAIM_EXPIRED, "claim.expired", FAILED, NO, ONE, "create a new one")                 \
	X(CLAIM_UNCHANGED, "claim.unchanged", FAILED, NO, ONE, "")                             \
	X(POOL_NOT_FOUND, "pool.not_found", NOT_FOUND, AFTER, ONE,                             \
		"create the warm pool first")                                                  \
	X(TEMPLATE_NOT_FOUND, "template.not_found", NOT_FOUND, AFTER, ONE,                     \
		"create the template first")                                                   \
	X(TEMPLATE_UNDECLARED, "template.undeclared", REFUSED, NO, ONE, "")                    \
	X(POLICY_MISMATCH, "policy.mismatch", REFUSED, NO, ONE, "")                            \
	X(BIND_CONTENDED, "bind.contended", FAILED, SAME, ONE, "try again")                    \
	X(SANDBOX_NOT_FOUND, "sandbox.not_found", NOT_FOUND, NO, ALL, "see sandmux ls -A")     \
	X(SANDBOX_NOT_READY, "sandbox.not_ready", TIMEOUT, SAME, ALL, "see sandmux describe")  \
	X(SANDBOX_DELETED, "sandbox.deleted", NOT_FOUND, NO, ALL, "")                          \
	X(SANDBOX_SUSPENDED, "sandbox.suspended", REFUSED, AFTER, ALL, "resume it first")      \
	X(SANDBOX_FINISHED, "sandbox.finished", FAILED, NO, ALL, "create a new one")           \
	X(SANDBOX_NO_SERVICE, "sandbox.no_service", FAILED, AFTER, ALL,                        \
		"set spec.service: true in the template, or choose another --connectivity")    \
	X(SANDBOX_NO_ADDRESS, "sandbox.no_address", FAILED, AFTER, ALL,                        \
		"wait until it is Ready")                                                      \
	X(SANDBOX_MOVED, "sandbox.moved", FAILED, AFTER, ALL, "reconnect")                     \
	X(RUNTIME_VERSION, "runtime.version", REFUSED, NO, ONE, "")                            \
	X(RUNTIME_AUTH, "runtime.auth", DENIED, AFTER, ALL, "give the daemon's token")         \
	X(RUNTIME_UNAVAILABLE, "runtime.unavailable", UNREACHABLE, SAME, ALL,                  \
		"it is shutting down")                                                         \
	X(RUNTIME_PROTOCOL, "runtime.protocol", FAILED, NO, ONE, "is this a sandboxd?")        \
	X(PORTFWD_DENIED, "portfwd.denied", DENIED, NO, ALL,                                   \
		"the verbs get and create on pods/portforward are needed")                     \
	X(PORTFWD_NO_POD, "portfwd.no_pod", FAILED, AFTER, ALL, "wait until it is Ready")      \
	X(PORTFWD_REFUSED, "portfwd.refused", UNREACHABLE, SAME, ALL, "")                      \
	X(PORTFWD_LOST, "portfwd.lost", UNREACHABLE, SAME, ALL, "")                            \
	X(PORTFWD_PROTOCOL, "portfwd.protocol", FAILED, NO, ALL, "")                           \
	X(PORTFWD_RUNTIME, "portfwd.runtime", REFUSED, NO, ALL,                                \
		"use --connectivity in-cluster-service or in-cluster-pod-ip")                  \
	X(CONN_REFUSED, "conn.refused", UNREACHABLE, SAME, ALL,                                \
		"is the daemon up, and does it listen on this address?")                       \
	X(CONN_LOST, "conn.lost", UNREACHABLE, SAME, ALL, "")                                  \
	X(CONN_DNS, "conn.dns", UNREACHABLE, SAME, ALL, "check the host name")                 \
	X(CONN_TLS, "conn.tls", UNREACHABLE, NO, ALL,                                          \
		"check the certificate authority and the name")                                \
	X(CONN_PLAINTEXT_TOKEN, "conn.plaintext_token", REFUSED, NO, ALL,                      \
		"allow it with --allow-plaintext-token")                                       \
	X(GATEWAY_DELETED, "gateway.deleted", UNREACHABLE, SAME, ONE, "")                      \
	X(GATEWAY_NO_ADDRESS, "gateway.no_address", UNREACHABLE, SAME, ONE, "")                \
	X(ROUTER_REJECTED, "router.rejected", DENIED, NO, ONE, "")                             \
	X(ROUTER_BACKEND, "router.backend", UNREACHABLE, SAME, ONE, "")                        \
	X(FILE_NOT_FOUND, "file.not_found", NOT_FOUND, NO, ONE, "check the path")              \
	X(FILE_EXISTS, "file.exists", REFUSED, AFTER, ONE,                                     \
		"choose what to do with the existing file")                                    \
	X(FILE_DENIED, "file.denied", DENIED, NO, ONE, "")                                     \
	X(FILE_IS_DIR, "file.is_dir", FAILED, NO, ONE, "use -r for a directory")               \
	X(FILE_NOT_DIR, "file.not_dir", FAILED, NO, ONE, "")                                   \
	X(FILE_NOT_EMPTY, "file.not_empty", FAILED, AFTER, ONE, "delete recursively (-r)")     \
	X(FILE_LOOP, "file.loop", FAILED, NO, ONE, "")                                         \
	X(FILE_NO_SPACE, "file.no_space", FAILED, AFTER, ALL, "free some space")               \
	X(FILE_CHANGED, "file.changed", FAILED, AFTER, ONE, "copy it again from the start")    \
	X(FILE_VERIFY, "file.verify", VERIFY, AFTER, ONE, "copy it again")                     \
	X(FILE_SERVER, "file.server", FAILED, SAME, ONE, "")                                   \
	X(LIMIT_DOWNLOAD, "limit.download", REFUSED, NO, ONE, "raise the limit")               \
	X(LIMIT_UPLOAD, "limit.upload", REFUSED, NO, ONE, "raise the limit")                   \
	X(LIMIT_RESPONSE, "limit.response", REFUSED, NO, ONE, "raise the limit")               \
	X(LIMIT_ENTRIES, "limit.entries", REFUSED, NO, ALL,                                    \
		"--max-entries N or none, or the setting transfer-max-entries")                \
	X(LIMIT_OUTPUT, "limit.output", REFUSED, NO, ONE, "")                                  \
	X(PROC_COMMAND_NOT_FOUND, "proc.command_not_found", NOT_FOUND, NO, ONE,                \
		"check that the sandbox has this program")                                     \
	X(PROC_NO_CWD, "proc.no_cwd", NOT_FOUND, NO, ONE, "check the working directory")       \
	X(PROC_DENIED, "proc.denied", DENIED, NO, ONE, "")                                     \
	X(PROC_GONE, "proc.gone", FAILED, NO, ONE, "the process has ended")                    \
	X(PROC_STDIN_CLOSED, "proc.stdin_closed", FAILED, NO, ONE, "")                         \
	X(PROC_NO_PTY, "proc.no_pty", FAILED, NO, ONE, "start it with a terminal (-t)")        \
	X(PROC_EOF_ON_PTY, "proc.eof_on_pty", REFUSED, NO, ONE, "send Ctrl-D instead")         \
	X(PROC_WAIT_DELAY, "proc.wait_delay", FAILED, NO, ONE,                                 \
		"a child kept the output open: start it as a process instead")                 \
	X(PROC_PROTOCOL, "proc.protocol", FAILED, NO, ONE, "")                                 \
	X(PROC_LOST, "proc.lost", UNREACHABLE, NO, ALL, "")                                    \
	X(LOCAL_ISOLATION, "local.isolation", REFUSED, AFTER, ONE,                             \
		"install bubblewrap, or accept --isolation none")                              \
	X(LOCAL_NOT_RUNNING, "local.not_running", UNREACHABLE, AFTER, ONE,                     \
		"start it: sandmux local up")                                                  \
	X(LOCAL_STORE, "local.store", FAILED, AFTER, ONE,                                      \
		"nothing was changed; sandmux local recover keeps what can be read")           \
	X(TTY_NONE, "tty.none", USAGE, NO, ONE, "run it in a terminal")                        \
	X(RPC_CANCELLED, "rpc.cancelled", FAILED, NO, ONE, "")                                 \
	X(RPC_UNKNOWN, "rpc.unknown", FAILED, NO, ONE, "")                                     \
	X(RPC_INVALID_ARGUMENT, "rpc.invalid_argument", FAILED, NO, ONE, "")                   \
	X(RPC_DEADLINE_EXCEEDED, "rpc.deadline_exceeded", TIMEOUT, AFTER, ONE, "")             \
	X(RPC_NOT_FOUND, "rpc.not_found", NOT_FOUND, NO, ONE, "")                              \
	X(RPC_ALREADY_EXISTS, "rpc.already_exists", FAILED, NO, ONE, "")                       \
	X(RPC_PERMISSION_DENIED, "rpc.permission_denied", DENIED, NO, ONE, "")                 \
	X(RPC_RESOURCE_EXHAUSTED, "rpc.resource_exhausted", FAILED, NO, ONE, "")               \
	X(RPC_FAILED_PRECONDITION, "rpc.failed_precondition", FAILED, NO, ONE, "")             \
	X(RPC_ABORTED, "rpc.aborted", FAILED, NO, ONE, "")                                     \
	X(RPC_OUT_OF_RANGE, "rpc.out_of_range", FAILED, NO, ONE, "")                           \
	X(RPC_UNIMPLEMENTED, "rpc.unimplemented", FAILED, NO, ONE,                             \
		"the daemon does not know this call")                                          \
	X(RPC_INTERNAL, "rpc.internal", FAILED, NO, ONE, "")                                   \
	X(RPC_UNAVAILABLE, "rpc.unavailable", UNREACHABLE, SAME, ONE, "")                      \
	X(RPC_DATA_LOSS, "rpc.data_loss", FAILED, NO, ONE, "")                                 \
	X(RPC_UNAUTHENTICATED, "rpc.unauthenticated", DENIED, AFTER, ONE, "")                  \
	X(HTTP_STATUS, "http.status", FAILED, NO, ONE,                                         \
		"") /* shown as http.<status>, see err.sys */

enum err_code {
#define X(id, name, exit, retry, scope, hint) ERR_##id,
	ERR_CODES(X)
#undef X
		ERR_CODE_COUNT,
};

/* The right that is missing, as fields (authorization.k8s.io/v1 ResourceAttributes), where a server said which: of
 * kube.forbidden and portfwd.denied. verb "": it did not. namespace_ "": in all, or the resource has none. */
struct err_denied {
	char verb[24], group[128], resource[64], subresource[32], namespace_[64];
};

struct err {
	enum err_code code;
	int sys; /* errno, HTTP status or gRPC status that caused it; 0 if none */
	struct err_denied denied;
	char msg[ERR_MESSAGE_BYTES];
};

/* Each returns false, so that a function can end with `return err_set(err, …);`. err may be NULL. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool err_vset(struct err *err, enum err_code code, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
/* ERR_SYSTEM unless errno says something better (ENOENT, EACCES, ENOSPC, …); appends strerror. */
bool err_set_errno(struct err *err, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "<text>: " before the message: context, added on the way up. */
bool err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* After err_set(). A name that does not fit leaves denied empty: half a name is another right. */
bool err_set_denied(struct err *err, const char *verb, const char *group, const char *resource,
	const char *subresource, const char *namespace_);
void err_copy(struct err *to, const struct err *from); /* both may be NULL */

/* The stable name, e.g. "kube.forbidden"; for ERR_HTTP_STATUS "http.<sys>". Borrowed: static, or
 * valid until the next call. */
const char *err_name(const struct err *err);
const char *err_code_name(enum err_code code);
enum err_exit err_exit_status(const struct err *err);
const char *err_exit_meaning(enum err_exit status); /* "timed out"; static */
enum err_retry err_retry(const struct err *err);
enum err_scope err_code_scope(enum err_code code);
/* One of the codes that a gRPC status itself has. */
bool err_code_is_rpc(enum err_code code);
const char *err_hint(const struct err *err); /* "" if there is none; static */
/* The code for a gRPC status number 1…16 (google.rpc.Code); others are ERR_RPC_UNKNOWN. */
enum err_code err_code_of_grpc(int status);
