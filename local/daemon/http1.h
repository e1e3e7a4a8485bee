// SPDX-License-Identifier: Apache-2.0
/* HTTP/1.1 requests as bytes arrive (RFC 9112), without I/O: the head, then the body's framing.
 * Strict where laxness is dangerous: one Host, one framing, no folded or odd header lines. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP1_MAX_HEAD_BYTES = (1 << 20) + 4096 };

/* Header fields that matter here; others are checked and dropped. */
#define HTTP1_FIELDS(X)                                                                        \
	X(HOST, "host")                                                                        \
	X(CONNECTION, "connection")                                                            \
	X(CONTENT_LENGTH, "content-length")                                                    \
	X(CONTENT_TYPE, "content-type")                                                        \
	X(TRANSFER_ENCODING, "transfer-encoding")                                              \
	X(EXPECT, "expect")                                                                    \
	X(AUTHORIZATION, "authorization")                                                      \
	X(RANGE, "range")                                                                      \
	X(IF_RANGE, "if-range")                                                                \
	X(IF_MATCH, "if-match")                                                                \
	X(IF_NONE_MATCH, "if-none-match")                                                      \
	X(IF_MODIFIED_SINCE, "if-modified-since")                                              \
	X(IF_UNMODIFIED_SINCE, "if-unmodified-since")

enum daemon_http1_field {
#define X(id, name) HTTP1_##id,
	HTTP1_FIELDS(X)
#undef X
		HTTP1_FIELD_COUNT,
};

enum daemon_http1_state {
	HTTP1_HEAD,  /* more bytes wanted */
	HTTP1_READY, /* the head is whole */
	HTTP1_BAD,   /* answer with status and close */
};

struct daemon_http1_request {
	enum daemon_http1_state state;
	char *method;
	char *target;                    /* raw */
	int minor;                       /* HTTP/1.<minor> */
	char *fields[HTTP1_FIELD_COUNT]; /* NULL if absent */
	bool keep_alive, wants_continue;
	bool is_chunked;
	uint64_t content_length; /* 0 if none or chunked */
	int bad_status;
	const char *bad_detail; /* static, or "" */
	/* parsing */
	struct str line;
	size_t head_bytes;
	bool has_request_line;
};

void daemon_http1_request_init(struct daemon_http1_request *request);
void daemon_http1_request_deinit(struct daemon_http1_request *request);
/* Returns how many of n bytes belong to the head. */
size_t daemon_http1_request_feed(
	struct daemon_http1_request *request, const char *bytes, size_t n);

struct daemon_http1_body {
	bool is_chunked, is_done, is_bad;
	uint64_t left; /* of the body, or of the chunk */
	int stage;
	size_t line_n; /* of the size or trailer line */
	bool has_digit;
	uint64_t taken; /* payload so far */
};

void daemon_http1_body_init(
	struct daemon_http1_body *body, const struct daemon_http1_request *request);
/* Takes up to n bytes; the payload among them is *piece (borrowed from bytes, may be empty). Call again
 * with the rest until it is all taken, or is_done, or is_bad. */
size_t daemon_http1_body_feed(
	struct daemon_http1_body *body, const char *bytes, size_t n, struct slice *piece);

/* Percent-decoding; false at a bad escape. out gets at most n bytes. plus_is_space: for a query. */
bool daemon_http1_unescape(struct slice text, bool plus_is_space, char *out, size_t *out_n);
/* The first value of a name in a query, decoded; malloc'ed, NULL if it is not there. Pairs with a
 * bad escape or a ';' do not count. */
char *daemon_http1_query_get(const char *query, const char *name);
