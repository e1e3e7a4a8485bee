// SPDX-License-Identifier: Apache-2.0
/* What the files of this room share: the runtime itself, its two lanes, and the base of every operation.
 *
 *   op_launch ──lane up──> begin ──> http / grpc ──> op_finish ──> complete (the caller's done)
 *        └──lane down──> waits; connect.c runs one shared attempt per lane, and runtime.c begins or fails them all
 *
 *   process, execute, files, … ─> runtime (its life and that of operations) ─> liveness, connect ─> rest ─> route ─> address
 *
 * An operation is in runtime->ops from op_launch until it ends; it ends once. Its memory is counted: the list
 * holds one reference, each deferred call another, so a deferred call never meets freed memory. */
#pragma once

#include "engine/base/err.h"
#include "engine/net/grpc.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/runtime.h"
#include "engine/telemetry/span.h"

enum runtime_channel { LANE_REST, LANE_GRPC, LANE_COUNT };
enum runtime_channel_state { LANE_DOWN, LANE_CONNECTING, LANE_UP };

struct net_dial;

enum { RUNTIME_ROUTE_HEADERS = 5, RUNTIME_REQUEST_ID_BYTES = 17 };

/* One HTTP/2 connection. After a GOAWAY the old one lives on beside its successor until its streams are done. */
struct runtime_conn {
	struct runtime *runtime; /* NULL once the runtime let go of it */
	struct net_grpc_conn *grpc;
	struct runtime_conn *prev, *next;
};

struct runtime_channel_attempt {
	enum runtime_channel_state state;
	struct net_loop_timer *retry, *deadline;
	struct net_http_req *probe; /* REST */
	struct net_dial *dial;      /* gRPC */
	struct err last;            /* why the last try of this attempt failed */
	int64_t deadline_mono_ms;
	int64_t started_mono_ms;
	bool is_loopback; /* its address, dialled by us */
	bool has_failed;  /* the last attempt ended in failure, or the lane broke */
};

/* What becomes of an attempt. Neither calls the people who wait. */
struct runtime_channel_events {
	void (*up)(struct runtime *runtime, enum runtime_channel which);
	void (*failed)(
		struct runtime *runtime, enum runtime_channel which, const struct err *err);
};

struct runtime_liveness {
	void (*on_lost)(struct runtime *runtime, const struct err *err);
	struct net_loop_timer *timer;
	struct net_loop_wake *wake;
	struct net_http_req *req;
	bool is_on;
	int misses;
	int64_t answered_mono_ms, give_up_ms;
};

struct runtime {
	int refs; /* of who made it, who keeps it, and each operation in ops */
	bool is_closed;
	struct err over; /* why nothing more begins on it; ERR_NONE: it may */
	struct net_loop *loop;
	struct net_http *http;
	struct net_tls *tls;
	struct telemetry *telemetry;
	char *label, *rest_url, *grpc_host, *authority, *auth_header, *token, *http_lane;
	uint16_t rest_port, grpc_port;
	bool (*connect)(void *arg, uint16_t port, int fd_take, struct err *err);
	void *connect_arg;
	void (*explain)(void *arg, struct err *err);
	void *explain_arg;
	void (*release)(void *arg);
	void *release_arg;
	enum runtime_kind kind;
	struct net_http_header
		route[RUNTIME_ROUTE_HEADERS]; /* owned values; n_route 0: no router */
	size_t n_route;
	bool (*locate)(void *arg, struct str *url, struct err *err);
	void *locate_arg;
	bool (*find_token)(void *arg, char **token, struct err *err);
	void *find_token_arg;
	char *required_version;
	char *cwd;            /* of processes that name none; NULL: the daemon's */
	bool is_version_next; /* the health was good; the version is asked now */
	bool read_only, allow_plaintext_token;
	uint64_t max_download_bytes, max_upload_bytes;
	size_t max_listing_bytes, max_execute_bytes;
	int64_t connect_timeout_ms;
	const struct runtime_channel_events *channel_events;
	struct runtime_channel_attempt lanes[LANE_COUNT];
	struct runtime_conn *conns;   /* all that are open */
	struct runtime_conn *current; /* the one new calls use */
	struct runtime_op *ops;
	struct runtime_liveness liveness;
	size_t n_killing;
};

struct runtime_op {
	struct runtime *runtime; /* NULL once ended */
	struct runtime_op *prev, *next;
	int refs;
	enum runtime_channel lane;
	bool is_waiting;          /* for its lane */
	int64_t deadline_mono_ms; /* 0: none */
	struct net_loop_timer *timer;
	const char *timeout_text; /* static; or NULL */
	struct net_http_req *req;
	char request_id[RUNTIME_REQUEST_ID_BYTES]; /* X-Request-ID of all its requests */
	struct net_grpc_call *call;
	struct telemetry_span *span;
	struct err failure; /* of op_fail_later */
	/* Called when the lane is up; calls nobody back. */
	bool (*begin)(struct runtime_op *op, struct err *err);
	/* Hands the result to the caller; the op has ended already. */
	void (*complete)(struct runtime_op *op, const struct err *err);
	void (*detach)(
		struct runtime_op *op); /* cancels what is more than req and call; or NULL */
	void (*resume)(struct runtime_op *op); /* a paused body; or NULL */
	void (*release)(
		struct runtime_op *op); /* deinits the parts of the outer struct; or NULL */
};

/* ---- runtime.c */
/* timeout_ms 0: no deadline. The op is the first member of what op_new allocated (bytes). */
void *runtime_op_new(struct runtime *runtime, size_t bytes, enum runtime_channel lane,
	int64_t timeout_ms, const char *span_name, const struct telemetry_span *parent);
void runtime_op_discard(struct runtime_op *op); /* before it was launched */
/* False: it failed at once and is freed; no callback comes. */
bool runtime_op_launch(struct runtime_op *op, struct err *err);
void runtime_op_finish(struct runtime_op *op, const struct err *err);
void runtime_op_fail_later(
	struct runtime_op *op, const struct err *err); /* at the end of this turn */
void runtime_op_end_silently(struct runtime_op *op);
void runtime_op_unref(struct runtime_op *op);
/* Replaces the deadline by timeout_ms from now (0: none). */
void runtime_op_set_timeout(struct runtime_op *op, int64_t timeout_ms);

/* ---- connect.c */
void runtime_connect_init(struct runtime *runtime, const struct runtime_channel_events *events);
void runtime_connect_deinit(struct runtime *runtime);
bool runtime_connect_is_up(const struct runtime *runtime, enum runtime_channel lane);
void runtime_connect_start(struct runtime *runtime, enum runtime_channel lane);
/* A request on the REST lane failed in transport: the next call looks at the health first. */
void runtime_connect_rest_failed(struct runtime *runtime, const struct err *err);
/* For the end of every REST call: op->req is forgotten, the lane is told of a broken connection. */
void runtime_rest_ended(struct runtime_op *op, const struct err *err);
/* Why a call that still waits for its lane ends now: the last try's reason, or time. */
void runtime_connect_explain(const struct runtime *runtime, struct err *err);
void runtime_connect_drop(
	struct runtime *runtime); /* both lanes down; what used them has been detached */

/* ---- liveness.c */
void runtime_liveness_on_process(struct runtime *runtime); /* one is running */
bool runtime_liveness_is_silent(const struct runtime *runtime);
void runtime_liveness_deinit(struct runtime *runtime);

/* ---- address.c */
bool runtime_address_init(
	struct runtime *runtime, const struct runtime_opts *opts, struct err *err);
void runtime_address_deinit(struct runtime *runtime);
/* The token that has to be found first, if there is such a one and it is not known yet. */
bool runtime_find_token(struct runtime *runtime, struct err *err);
/* May our token travel to that URL? Else conn.plaintext_token. */
bool runtime_is_token_safe(const struct runtime *runtime, const char *url, struct err *err);

/* ---- rest.c */
int64_t runtime_op_remaining_ms(
	const struct runtime_op *op); /* of its deadline; 0 none, else at least 1 */
/* GET /v1/health (the version's turn: /v1/metadata, with the token; the legacy runtime: /) beside all operations.
 * done's arg is the runtime. */
struct net_http_req *runtime_rest_probe(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct net_http_reply *reply,
		struct slice body),
	struct err *err);
/* Fills in address, TLS, token, lane, traceparent; sets op->req. opts->url is the path with its query. */
bool runtime_rest_start(struct runtime_op *op, struct net_http_opts *opts, struct err *err);
bool runtime_rest_is_json(const struct net_http_reply *reply);
int64_t runtime_rest_modified_s(const struct net_http_reply *reply); /* Last-Modified or -1 */

/* The first bytes of an error answer. */
enum { REST_ERROR_BYTES = 4096 };
struct runtime_rest_failure {
	int status; /* 0: none */
	size_t n;
	char bytes[REST_ERROR_BYTES];
};
void runtime_rest_failure_add(struct runtime_rest_failure *failure, struct slice bytes);

/* ---- route.c: what stands between us and the runtime */
bool runtime_route_init(
	struct runtime *runtime, const struct runtime_opts *opts, struct err *err);
void runtime_route_deinit(struct runtime *runtime);
bool runtime_route_check(const char *what, const char *value, struct err *err);
/* Adds the router's headers, with the id (made if empty); returns how many. */
size_t runtime_route_headers(
	const struct runtime *runtime, struct net_http_header *into, char *request_id);
/* Asks where the runtime is now, if that has to be found. */
bool runtime_route_locate(struct runtime *runtime, struct err *err);
/* An answer to runtime_rest_probe(): fine? Then is_version_next says whether there is one question more. */
bool runtime_route_judge(struct runtime *runtime, const struct net_http_reply *reply,
	struct slice body, struct err *err);
bool runtime_route_is_final(enum err_code code); /* no attempt to connect can mend it */
/* runtime_errors_from_rest(), or the router's own words. */
bool runtime_route_error(const struct runtime *runtime, struct err *err,
	enum runtime_errors_rest kind, int status, struct slice body);
bool runtime_unsupported(struct err *err, const char *what); /* false */
/* The path part of a URL for a file operation. free(). */
char *runtime_route_url(
	const struct runtime *runtime, const char *legacy_endpoint, const char *path);

/* ---- cwd_check.c: is a missing cwd the reason of a NOT_FOUND at start? */
struct runtime_cwd_check;
struct runtime_cwd_check *runtime_cwd_check_start(struct runtime_op *op, const char *cwd,
	void (*done)(void *arg, bool is_missing), void *arg);
void runtime_cwd_check_cancel(struct runtime_cwd_check *check);
bool runtime_cwd_is_allowed(const char *cwd, struct err *err);

/* ---- process.c */
const char *runtime_process_executable(const char *const *argv); /* base name for spans */
bool runtime_process_argv_check(
	const char *const *argv, const char *const *env, struct err *err);
