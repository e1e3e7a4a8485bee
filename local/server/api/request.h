// SPDX-License-Identifier: Apache-2.0
/* One HTTP request of the API and the ways to answer it. Every request is answered exactly once: by a
 * reply function, or by api_stream_start. */
#pragma once

#include "engine/base/str.h"

#include <cjson/cJSON.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdbool.h>

struct server;

enum { REQUEST_MAX_SEGMENTS = 10, REQUEST_MAX_BODY = 3145728 };

/* What the client can read, best first (Accept). */
enum api_accept {
	ACCEPT_JSON,
	ACCEPT_TABLE,
	ACCEPT_METADATA,  /* PartialObjectMetadata or its List */
	ACCEPT_DISCOVERY, /* aggregated discovery, v2 */
	ACCEPT_NONE,      /* nothing of ours */
};

struct api_request {
	struct server *server;
	struct evhttp_request *ev;
	enum evhttp_cmd_type method;
	char *path; /* decoded segments point into it */
	char *segments[REQUEST_MAX_SEGMENTS];
	size_t n_segments;
	struct evkeyvalq query;
	struct slice body;
	enum api_accept accept;
	cJSON *warnings; /* strings that become Warning headers */
};

/* False if the URL cannot be taken apart. */
bool api_request_init(
	struct api_request *req, struct server *server, struct evhttp_request *ev);
void api_request_deinit(struct api_request *req);

const char *api_request_query(
	const struct api_request *req, const char *name); /* NULL if absent */
bool api_request_query_bool(const struct api_request *req, const char *name);
const char *api_request_header(const struct api_request *req, const char *name);
/* The media type without parameters, lower case, in out. */
const char *api_request_content_type(const struct api_request *req, char out[128]);
/* The body as a tree (JSON, or YAML for application/yaml and apply patches). NULL and *status set. An
 * empty body gives NULL without a status if may_be_empty. */
cJSON *api_request_parse_body(const struct api_request *req, bool may_be_empty, cJSON **status);

void api_request_reply_bytes(
	struct api_request *req, int code, const char *type, const void *bytes, size_t n);
void api_request_reply_text(struct api_request *req, int code, const char *text);
void api_request_reply_buffer(struct api_request *req, int code, struct evbuffer *body);
void api_request_reply_json_take(struct api_request *req, int code, cJSON *json);
void api_request_fail_take(struct api_request *req, cJSON *status);
/* 404 page not found, as plain text: what is not served at all. */
void api_request_reply_not_served(struct api_request *req);
/* Headers of every answer. */
void api_request_add_headers(struct api_request *req, const char *type);
