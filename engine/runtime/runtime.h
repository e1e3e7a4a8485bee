// SPDX-License-Identifier: Apache-2.0
/* One sandbox's daemon (sandboxd v0.5.6: REST for files, health, metadata; gRPC for processes) over one
 * transport. Lazy: the first call connects (health polled every 200 ms until 200, within 30 s); concurrent first
 * calls share one attempt. A transport failure fails every call in flight; the next call reconnects; nothing is
 * replayed or retried. No mode falls back to another.
 * Errors: ERR_ARG_INVALID, ERR_CONN_LOST, ERR_CONN_PLAINTEXT_TOKEN, ERR_FILE_CHANGED, ERR_FILE_IS_DIR,
 * ERR_FILE_NOT_DIR, ERR_INTERNAL, ERR_LIMIT_DOWNLOAD, ERR_LIMIT_UPLOAD, ERR_OP_BUSY, ERR_OP_CANCELLED, ERR_OP_CLOSED,
 * ERR_OP_READ_ONLY, ERR_OP_TIMEOUT, ERR_OP_UNSUPPORTED, ERR_PROC_EOF_ON_PTY, ERR_PROC_GONE, ERR_PROC_NO_CWD,
 * ERR_PROC_PROTOCOL, ERR_PROC_STDIN_CLOSED, ERR_RUNTIME_PROTOCOL, ERR_RUNTIME_VERSION, errno, those of
 * engine/base/json.h, those of engine/base/path.h, those of engine/net/grpc.h, those of engine/net/http.h, those of
 * engine/runtime/errors.h, those of engine/runtime/legacy.h, those of engine/runtime/listing.h, those of
 * engine/runtime/process.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_http;
struct net_http_reply;
struct net_http_req;
struct net_loop;
struct net_tls;
struct telemetry_span;
struct telemetry;
struct runtime;

/* What listens in the sandbox. The legacy Python runtime (HTTP on port 8888) executes whole commands and moves files;
 * what it cannot do ends with op.unsupported at once: see runtime_can(). It knows no token: none is sent to it. */
enum runtime_kind { RUNTIME_SANDBOXD, RUNTIME_LEGACY, RUNTIME_KIND_COUNT };
enum runtime_feature {
	RUNTIME_CAN_EXECUTE,
	RUNTIME_CAN_PROCESSES, /* start: streams, stdin, terminals, signals */
	RUNTIME_CAN_DELETE,    /* and looking for links */
	RUNTIME_CAN_INFO,      /* health with its detail, metadata */
	RUNTIME_FEATURE_COUNT
};

/* The way through a sandbox-router, which finds the sandbox by these headers (X-Sandbox-ID, -Namespace, -Port, -Pod-IP,
 * -UID, -Timeout: seconds) and answers for itself with router.* errors. It takes Authorization for its own check and removes
 * it: the daemon's token is never sent this way. */
struct runtime_router {
	const char *sandbox, *namespace_;
	uint16_t port;
	const char *pod_ip, *uid; /* NULL or "": not sent */
	const char *
		token; /* for the router itself, under the same rule as the daemon's; or NULL */
};

struct runtime_opts {
	enum runtime_kind kind;
	const struct runtime_router *router; /* copied; NULL: no router on the way. REST only */
	/* Instead of rest_url, an address that has to be found first (a gateway's): asked at each attempt to connect, every
	 * 200 ms. Adds the URL; false with *err: not yet, or never (the code tells). */
	bool (*locate)(void *arg, struct str *url, struct err *err);
	void *locate_arg;
	/* The daemon's metadata must not name another version (SANDBOX_SANDBOXD_VERSION; absent is fine), else
	 * runtime.version. NULL: any. */
	const char *required_version;
	/* direct: both URLs known. rest_url without trailing '/', e.g. "http://127.0.0.1:8080". */
	const char *rest_url;  /* NULL: files, health, metadata are op.unsupported */
	const char *grpc_host; /* NULL: processes are op.unsupported */
	uint16_t grpc_port;
	struct net_tls *tls;
	const char *token; /* printable ASCII without spaces, or NULL; never logged */
	/* Instead of token, one that has to be found first (of a pod that is not known yet): asked at each attempt to connect
	 * until it is there. Sets *token (malloc'ed, taken over); false with *err: not yet, or never. */
	bool (*find_token)(void *arg, char **token, struct err *err);
	void *find_token_arg;
	bool allow_plaintext_token; /* else a token to a non-loopback address without TLS: conn.plaintext_token */
	/* A tunnelled lane (port-forward): for each connection, takes over fd (a connected stream socket, non-blocking)
	 * and carries it to that port. False with *err: fd is not taken. NULL: dial. */
	bool (*connect)(void *arg, uint16_t port, int fd_take, struct err *err);
	void *connect_arg;
	/* A process was lost with its connection (err says so), or was killed (err is empty): whoever knows that the
	 * sandbox went with it says so in err. NULL: nobody does. */
	void (*explain)(void *arg, struct err *err);
	void *explain_arg;
	/* It has ended: none of these is called any more. NULL: nobody needs to know. */
	void (*release)(void *arg);
	void *release_arg;
	const char *label;           /* for messages and spans: claim or URL */
	struct telemetry *telemetry; /* NULL: none */
	bool read_only;              /* start, write, delete: op.read_only */
	/* 0: the settings' (engine/base/settings.h) */
	uint64_t max_download_bytes, max_upload_bytes;
	size_t max_listing_bytes;
	size_t max_execute_bytes;
	int64_t connect_timeout_ms;
};
struct runtime *runtime_new(struct net_loop *loop, struct net_http *http,
	const struct runtime_opts *opts, struct err *err);
/* A runtime is counted: who keeps the pointer beyond the turn in which it was given takes a reference and lets go of it;
 * an operation and a process under way hold one each. With the last it is gone, also from inside a callback of it. */
struct runtime *runtime_ref(struct runtime *runtime);
void runtime_unref(struct runtime *runtime); /* NULL is fine */
/* Where processes of sandboxd begin that name no cwd; NULL: where the daemon has them. Copied. */
void runtime_set_cwd(struct runtime *runtime, const char *cwd);
/* Ends everything silently, whoever holds it; processes die with their streams. What is left is memory, on which
 * everything is op.closed: loop and HTTP may go. */
void runtime_close(struct runtime *runtime);
const char *runtime_label(const struct runtime *runtime);
enum runtime_kind runtime_kind_of(const struct runtime *runtime);
bool runtime_can(const struct runtime *runtime, enum runtime_feature feature);
enum runtime_state {
	RUNTIME_IDLE,
	RUNTIME_CONNECTING,
	RUNTIME_UP,
	RUNTIME_DOWN,
	RUNTIME_STATE_COUNT
};
enum runtime_state runtime_state_of(const struct runtime *runtime);
/* Why it is still connecting, as far as is known; false: it is not, or nothing is known. */
bool runtime_trouble(const struct runtime *runtime, struct err *err);
/* The connection is lost: fails everything in flight with err, stays usable for a reconnect. */
void runtime_invalidate(struct runtime *runtime, const struct err *err);
/* The same for good: what begins later fails with err at once. */
void runtime_retire(struct runtime *runtime, const struct err *err);

/* Does its REST side answer? Beside everything else: nothing connects because of it, and no state changes. */
struct net_http_req *runtime_ask(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct net_http_reply *reply,
		struct slice body),
	void *arg, struct err *err);

/* ---- any operation below: one completion, see engine/net/loop.h; timeout_ms 0 = the default */
struct runtime_op;
void runtime_cancel(struct runtime_op *op);

struct runtime_health {
	const char *status;
	int64_t uptime_seconds;
};
struct runtime_op *runtime_health_start(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_health *health),
	void *arg, struct err *err);

struct runtime_pair {
	const char *name, *value;
};
struct runtime_op *runtime_metadata_start(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(
		void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n),
	void *arg, struct err *err);

/* ---- files (paths: engine/base/path.h rules, checked before any request) */
struct runtime_entry {
	const char *name; /* foreign bytes; NUL-terminated */
	int64_t size_bytes;
	bool is_dir;
	int64_t modified_s; /* since 1970 UTC; -1 unknown */
	int mode;           /* permission bits; -1 unknown */
};
/* Entries that are not safe names, and uploads in flight, are left out and counted in n_hidden. */
struct runtime_op *runtime_list_start(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_entry *entries,
		size_t n, size_t n_hidden),
	void *arg, struct err *err);

struct runtime_stat {
	bool is_dir;
	int64_t size_bytes; /* -1 unknown */
	int64_t modified_s;
};
struct runtime_op *runtime_stat_start(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st),
	void *arg, struct err *err);

struct runtime_delete_opts {
	bool recursive;
};
/* The daemon follows links on delete: see runtime_links_start() to look first. */
struct runtime_op *runtime_delete_start(struct runtime *runtime, const char *path,
	bool recursive, int64_t timeout_ms, void (*done)(void *arg, const struct err *err),
	void *arg, struct err *err);

/* A whole file streamed to the caller. */
struct runtime_read_opts {
	const char *path;
	int64_t offset;                /* resume: Range, with if_unmodified_since_s set */
	int64_t if_unmodified_since_s; /* -1: none */
	/* Before the first byte: total size (-1 unknown) and Last-Modified. */
	void (*on_info)(void *arg, int64_t total_bytes, int64_t modified_s);
	/* Returns false to pause (runtime_resume), with *err set to stop. The bytes have been taken. */
	bool (*on_bytes)(void *arg, struct slice bytes, struct err *err);
	void (*done)(void *arg, const struct err *err, int64_t bytes_read);
	void *arg;
};
struct runtime_op *runtime_read_start(
	struct runtime *runtime, const struct runtime_read_opts *opts, struct err *err);

struct runtime_write_opts {
	const char *path;
	int mode; /* 0000–0777, -1: the daemon's 0644; the legacy runtime keeps none */
	int64_t total_bytes; /* -1 unknown (chunked) */
	/* Fills up to room bytes; 0 = end; HTTP_BODY_PAUSE / HTTP_BODY_ABORT as in engine/net/http.h. */
	long (*read_bytes)(void *arg, char *into, size_t room, struct err *err);
	void (*done)(void *arg, const struct err *err);
	void *arg;
};
struct runtime_op *runtime_write_start(
	struct runtime *runtime, const struct runtime_write_opts *opts, struct err *err);
void runtime_resume(struct runtime_op *op); /* a paused read or write */

/* ---- processes */
struct runtime_process;
struct runtime_start_opts {
	const char *const *argv; /* NULL-terminated; no shell is added */
	const char *const *env;  /* "K=V", NULL-terminated, or NULL */
	const char *cwd;         /* sandbox path or NULL */
	int pty_cols, pty_rows;  /* both 0: no PTY */
	uint32_t
		window_bytes; /* of output on its way at once; 0: 256 KiB, what a pane may hold */
	int64_t init_timeout_ms; /* 0: 30 s until the process has started; its life has no limit */
	const struct telemetry_span *parent;
	void (*on_init)(void *arg, int pid);
	/* stream: 1 stdout, 2 stderr. The window is given back only by runtime_process_consumed(): a consumer
	 * that stops calling it stops the process at its own pipe. */
	void (*on_output)(void *arg, int stream, struct slice bytes);
	/* Once. err NULL: exit_code (−1: killed by a signal, which one is not known). Else proc.*, conn.*: it is dead
	 * or unreachable. */
	void (*on_exit)(void *arg, const struct err *err, int exit_code);
	void *arg;
};
struct runtime_process *runtime_process_start(
	struct runtime *runtime, const struct runtime_start_opts *opts, struct err *err);
/* Queues bytes for stdin: exactly one WriteStdin outstanding, in pieces that grow with the round trip (32 KiB to 3 MiB), order
 * kept; also before init. False with ERR_LIMIT_UPLOAD over 6 MiB queued (take it up again in on_stdin_drained),
 * ERR_PROC_GONE after the exit. */
bool runtime_process_write(
	struct runtime_process *process, struct slice bytes, struct err *err);
/* fn: the queue is below 3 MiB, or there will never be room: see runtime_process_stdin_lost. It may free the process. */
void runtime_process_on_drained(struct runtime_process *process, void (*fn)(void *arg));
/* Input that was taken and did not reach a process that may still wait for it: why; NULL: nothing is lost. A process that has
 * ended, or closed its input itself, loses nothing. Borrowed. */
const struct err *runtime_process_stdin_lost(const struct runtime_process *process);
bool runtime_process_eof(struct runtime_process *process,
	struct err *err); /* after what is queued; PTY: proc.eof_on_pty */
void runtime_process_resize(
	struct runtime_process *process, int cols, int rows); /* latest wins */
enum runtime_signal { RUNTIME_SIGINT = 2, RUNTIME_SIGKILL = 9, RUNTIME_SIGTERM = 15 };
bool runtime_process_signal(
	struct runtime_process *process, enum runtime_signal signal, struct err *err);
void runtime_process_consumed(struct runtime_process *process, size_t bytes);
bool runtime_process_is_ended(const struct runtime_process *process);
/* SIGKILL to the whole group by SendSignal, up to 2 s for the exit event, then the stream is reset. No callback comes
 * after it returns; the pointer is dead. */
void runtime_process_kill(struct runtime_process *process);
void runtime_process_free(
	struct runtime_process *process); /* after on_exit; otherwise = kill */
/* Processes whose kill is still under way (2 s at most): a program that ends may turn the loop until there are none. */
size_t runtime_n_killing(const struct runtime *runtime);

struct runtime_result {
	int exit_code;
	struct slice out, err_out;
};
struct runtime_op *runtime_execute_start(struct runtime *runtime, const char *const *argv,
	const char *const *env, const char *cwd, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result),
	void *arg, struct err *err);

/* Which of these paths are links? A listing shows a link as its target, and a delete deletes the target; a person
 * should know before. Asked with `test -L` in the sandbox: op.unsupported without processes,
 * proc.command_not_found without a shell. To remove the link itself: execute "rm", "-f", "--", "./path". */
enum { RUNTIME_MAX_LINKS = 512 };
struct runtime_op *runtime_links_start(struct runtime *runtime, const char *const *paths,
	size_t n, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const bool *is_link, size_t n),
	void *arg, struct err *err);
