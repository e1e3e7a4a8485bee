// SPDX-License-Identifier: Apache-2.0
/* What the parts of the HTTP client share:
 *   http.c        lanes (one curl multi handle each) on the loop, start, cancel, resume, end
 *   http_setup.c  options of a request -> options of a curl easy handle
 *   http_bytes.c  what comes and goes while a request runs: headers, bodies, their limits
 *   http_wait.c   deadlines
 *   http_tunnel.c connections that a hook serves
 *   http_names.c  host names, resolved by the loop and not by a thread of libcurl
 */
#pragma once

#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/base/str.h"
#include "engine/net/http.h"

#include <curl/curl.h>

enum {
	HTTP_DEFAULT_BODY_BYTES = 8 << 20,
	HTTP_DEFAULT_CONNECT_MS = 10000,
	HTTP_MAX_HEADER_BYTES = 256 << 10,
	HTTP_IDLE_CONNECTION_S = 45, /* sandboxd closes idle connections after 60 s */
	HTTP_STREAM_BUFFER_BYTES = 256 << 10,
	HTTP_SMALL_BUFFER_BYTES = 32 << 10,
	HTTP_NAMES = 16,
	HTTP_NAME_LIFE_MS = 30000,
};

/* Connections are kept by a curl multi handle: one of them for each lane keeps lanes apart. */
struct http_lane {
	struct http *http;
	char *name; /* key; "" for requests without a lane */
	CURLM *multi;
	struct loop_timer *timer; /* libcurl's own */
	struct loop_timer *kick;  /* resumes, and removes what was cancelled inside libcurl */
	struct http_socket *sockets;
	struct http_req *requests;
	bool is_dropped; /* no longer in the table; ends with its last request */
	unsigned in_curl;
	struct http_lane *prev, *next;
};

struct http_name {
	char *host;
	char *addresses; /* as CURLOPT_RESOLVE wants them */
	int64_t until_ms;
};

struct http {
	struct loop *loop;
	struct http_lane *lanes;
	struct loop_timer *sweep; /* frees lanes that are done with */
	struct http_name names[HTTP_NAMES];
	size_t next_name;
};

struct http_req {
	struct http_lane *lane;
	CURL *easy;
	struct net_tls *tls;
	struct net_resolve *resolve;
	struct http_rendezvous *rendezvous; /* http_tunnel.c; NULL: none open */
	struct http_opts opts;              /* pointers in it are ours or NULL */
	char *method, *url, *body_copy;
	char *host; /* whom to resolve: the proxy, or the host of the URL */
	uint16_t port;
	struct curl_slist *headers, *resolved, *connect_to;
	char curl_text[CURL_ERROR_SIZE];
	struct err fail; /* what a callback or a limit of ours said; NONE if nothing */
	bool is_added;   /* to the multi handle */
	bool is_dead;    /* cancelled: no callback any more */

	/* the answer */
	int status;
	bool is_final; /* the final header block is whole */
	int64_t content_length;
	bool is_encoded;
	struct http_header *reply_headers;
	size_t n_reply_headers, reply_headers_capacity, header_bytes;
	struct http_reply reply;
	struct str body;
	uint64_t body_bytes;

	/* back-pressure: what the caller wants, and what libcurl has been told */
	bool download_held, download_paused;
	bool upload_held, upload_paused;

	/* deadlines */
	struct loop_timer *deadline;
	int64_t start_ms, last_byte_ms, last_sent_ms;
	bool is_connected;
	unsigned attempts; /* times that the request was about to be sent */
	struct http_req *prev, *next;
};

/* http.c */
bool http_req_add(struct http_req *req, struct err *err);
void http_req_fail(struct http_req *req, const struct err *err); /* outside libcurl only */
/* http_setup.c */
bool http_setup(struct http_req *req, const struct http_opts *opts, struct err *err);
void http_setup_free(struct http_req *req);
void http_tunnel_setup(struct http_req *req);
void http_tunnel_free(struct http_req *req);
/* http_bytes.c */
size_t http_on_header(char *line, size_t size, size_t n, void *arg);
size_t http_on_body(char *bytes, size_t size, size_t n, void *arg);
size_t http_on_upload(char *into, size_t size, size_t n, void *arg);
void http_reply_clear(struct http_req *req);
/* http_wait.c */
void http_wait_start(struct http_req *req);
void http_wait_update(struct http_req *req);
/* http_names.c */
bool http_names_find(struct http_req *req); /* true: nothing to wait for */
void http_names_ask(struct http_req *req);
void http_names_free(struct http *http);
