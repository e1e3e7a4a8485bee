// SPDX-License-Identifier: Apache-2.0
/* What the parts of the HTTP client share. Each calls only those under it:
 *   http.c        lanes (one curl multi handle each) on the loop, start, cancel, resume, end
 *   net_http_setup.c  options of a request -> options of a curl easy handle
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
struct net_http_pool_key {
	struct net_http *http;
	char *name; /* key; "" for requests without a lane */
	CURLM *multi;
	struct net_loop_timer *timer; /* libcurl's own */
	struct net_loop_timer
		*kick; /* resumes, and removes what was cancelled inside libcurl */
	struct net_http_socket *sockets;
	struct net_http_req *requests;
	bool is_dropped; /* no longer in the table; ends with its last request */
	unsigned in_curl;
	struct net_http_pool_key *prev, *next;
};

struct net_http_name {
	char *host;
	char *addresses; /* as CURLOPT_RESOLVE wants them */
	int64_t until_ms;
};

struct net_http {
	struct net_loop *loop;
	struct net_http_pool_key *lanes;
	struct net_loop_timer *sweep; /* frees lanes that are done with */
	struct net_http_name names[HTTP_NAMES];
	size_t next_name;
};

struct net_http_req {
	struct net_http_pool_key *lane;
	CURL *easy;
	struct net_tls *tls;
	struct net_resolve *resolve;
	struct net_http_rendezvous *rendezvous; /* http_tunnel.c; NULL: none open */
	struct net_http_opts opts;              /* pointers in it are ours or NULL */
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
	struct net_http_header *reply_headers;
	size_t n_reply_headers, reply_headers_capacity, header_bytes;
	struct net_http_reply reply;
	struct str body;
	uint64_t body_bytes;

	/* back-pressure: what the caller wants, and what libcurl has been told */
	bool download_held, download_paused;
	bool upload_held, upload_paused;

	/* deadlines */
	struct net_loop_timer *deadline;
	int64_t start_ms, last_byte_ms, last_sent_ms;
	bool is_connected;
	void (*on_late)(struct net_http_req *req, const struct err *err);     /* http_wait.c */
	void (*on_resolved)(struct net_http_req *req, const struct err *err); /* http_names.c */
	unsigned attempts; /* times that the request was about to be sent */
	struct net_http_req *prev, *next;
};

/* net_http_setup.c */
bool net_http_setup(
	struct net_http_req *req, const struct net_http_opts *opts, struct err *err);
void net_http_setup_free(struct net_http_req *req);
void net_http_tunnel_setup(struct net_http_req *req);
void net_http_tunnel_free(struct net_http_req *req);
/* http_bytes.c */
size_t net_http_on_header(char *line, size_t size, size_t n, void *arg);
size_t net_http_on_body(char *bytes, size_t size, size_t n, void *arg);
size_t net_http_on_upload(char *into, size_t size, size_t n, void *arg);
void net_http_reply_clear(struct net_http_req *req);
/* http_wait.c */
/* on_late: outside libcurl, once; it ends the request. */
void net_http_wait_start(struct net_http_req *req,
	void (*on_late)(struct net_http_req *req, const struct err *err));
void net_http_wait_update(struct net_http_req *req);
/* http_names.c */
bool net_http_names_find(struct net_http_req *req); /* true: nothing to wait for */
/* done: once, unless req->resolve is cancelled; err NULL: libcurl can be given the request. */
void net_http_names_ask(struct net_http_req *req,
	void (*done)(struct net_http_req *req, const struct err *err));
void net_http_names_free(struct net_http *http);
