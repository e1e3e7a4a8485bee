// SPDX-License-Identifier: Apache-2.0
/* REST server of sandboxd v0.5.6: files, health, metadata, over HTTP/1.1. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct confine_root;
struct loop;
struct rest_server;

struct rest_server_opts {
	const struct confine_root *root; /* borrowed */
	const char *metadata_env_prefix; /* borrowed */
	int64_t idle_timeout_ms;
	bool (*is_authorized)(void *arg, struct slice authorization);
	bool is_open; /* no token is wanted: the Host must be one that no web page can have */
	void (*on_idle)(
		void *arg); /* after rest_server_shutdown: the last connection has gone */
	void *arg;
};

struct rest_server *rest_server_new(struct loop *loop, const struct rest_server_opts *opts);
void rest_server_free(struct rest_server *server);                /* closes every connection */
void rest_server_accept_take(struct rest_server *server, int fd); /* connected, non-blocking */
void rest_server_set_ready(struct rest_server *server, bool is_ready);
/* Idle connections close now, the others after the answer they are at. on_idle comes once, deferred. */
void rest_server_shutdown(struct rest_server *server);
