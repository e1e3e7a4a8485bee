// SPDX-License-Identifier: Apache-2.0
/* One attempt of one request to the API server, with credentials (a 401 is repeated once when new ones can be
 * had), rate limits and errors as kube.* codes; buffered or streamed. kube_call (client.h) adds retries and
 * JSON; the reflector and log streams are built on this.
 * Errors: ERR_KUBE_UNAUTHORIZED. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct err;
struct net_http_reply;
struct kube_client;
struct kube_request;

enum kube_rate {
	KUBE_RATE_PERSON,     /* 20/s, burst 40: somebody waits for it */
	KUBE_RATE_BACKGROUND, /* 5/s, burst 10 */
	KUBE_RATE_NONE,       /* watches, and the later pages of a list */
};

struct kube_answer {
	int status;                 /* 0: none came */
	struct slice body;          /* "" when streamed; of a failure: its beginning */
	const struct cJSON *object; /* of a failure: the decoded Status, or NULL */
	int64_t retry_after_ms;     /* -1: not said */
};

struct kube_request_opts {
	const char *method, *path, *query; /* copied; query NULL = none */
	const char *content_type, *accept; /* NULL: application/json */
	const char *traceparent;
	struct slice body; /* copied */
	enum kube_rate rate;
	int64_t timeout_ms;                           /* whole request; 0: none (streams) */
	int64_t headers_timeout_ms, stall_timeout_ms; /* 0: none */
	size_t max_body_bytes;                        /* 0: as http.h */
	bool no_gzip;
	/* Streamed success: NULL on_body = buffered. on_begin: the status line of a success is here; may be NULL. */
	void (*on_begin)(void *arg);
	bool (*on_body)(void *arg, struct slice bytes, struct err *err);
	/* err NULL: a 2xx, whole. Borrowed for the call. Errors: ERR_KUBE_*, ERR_OP_TIMEOUT, ERR_CONFIG_EXEC_PLUGIN,
	 * ERR_LIMIT_RESPONSE, or what on_body set. */
	void (*done)(void *arg, const struct err *err, const struct kube_answer *answer);
	void *arg;
};
/* Errors: ERR_OP_READ_ONLY. */
struct kube_request *kube_request_start(
	struct kube_client *client, const struct kube_request_opts *opts, struct err *err);
void kube_request_cancel(struct kube_request *request);

/* Connections are shared within a lane. Those of that lane are no longer trusted (a deaf watch, the machine slept):
 * requests from now on use new ones. Nothing happens if the lane has been left already. */
uint64_t kube_client_lane_number(const struct kube_client *client);
void kube_client_reset_connections(struct kube_client *client, uint64_t pool_key);
struct net_loop *kube_client_loop(const struct kube_client *client);

/* Streaming lists (sendInitialEvents) are asked for unless this server was found not to offer them, or not to be
 * better off with them. One finding is for all reflectors; INT64_MAX: for good. */
bool kube_client_may_stream(const struct kube_client *client);
void kube_client_no_streams(struct kube_client *client, int64_t for_ms);
