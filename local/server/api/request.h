// SPDX-License-Identifier: Apache-2.0
/* One HTTP request of the API and the ways to answer it. Every request is answered exactly once: by a
 * reply function, or by stream_start. */
#pragma once

#include "engine/base/str.h"

#include <cjson/cJSON.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdbool.h>

struct server;

enum { REQUEST_MAX_SEGMENTS = 10, REQUEST_MAX_BODY = 3145728 };

/* What the client can read, best first (Accept). */
enum accept {
	ACCEPT_JSON,
	ACCEPT_TABLE,
	ACCEPT_METADATA,  /* PartialObjectMetadata or its List */
	ACCEPT_DISCOVERY, /* aggregated discovery, v2 */
	ACCEPT_NONE,      /* nothing of ours */
};

struct request {
	struct server *server;
	struct evhttp_request *ev;
	enum evhttp_cmd_type method;
	char *path; /* decoded segments point into it */
	char *segments[REQUEST_MAX_SEGMENTS];
	size_t n_segments;
	struct evkeyvalq query;
	struct slice body;
	enum accept accept;
	cJSON *warnings; /* strings that become Warning headers */
};

/* False if the URL cannot be taken apart. */
bool request_init(struct request *req, struct server *server, struct evhttp_request *ev);
void request_deinit(struct request *req);

const char *request_query(const struct request *req, const char *name); /* NULL if absent */
bool request_query_bool(const struct request *req, const char *name);
const char *request_header(const struct request *req, const char *name);
/* The media type without parameters, lower case, in out. */
const char *request_content_type(const struct request *req, char out[128]);
/* The body as a tree (JSON, or YAML for application/yaml and apply patches). NULL and *status set. An
 * empty body gives NULL without a status if may_be_empty. */
cJSON *request_parse_body(const struct request *req, bool may_be_empty, cJSON **status);

void request_reply_bytes(
	struct request *req, int code, const char *type, const void *bytes, size_t n);
void request_reply_text(struct request *req, int code, const char *text);
void request_reply_buffer(struct request *req, int code, struct evbuffer *body);
void request_reply_json_take(struct request *req, int code, cJSON *json);
void request_fail_take(struct request *req, cJSON *status);
/* 404 page not found, as plain text: what is not served at all. */
void request_reply_not_served(struct request *req);
/* Headers of every answer. */
void request_add_headers(struct request *req, const char *type);
