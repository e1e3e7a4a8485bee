// SPDX-License-Identifier: Apache-2.0
/* REST server of sandboxd v0.5.6: files, health, metadata, over HTTP/1.1. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct daemon_confine_root;
struct net_loop;
struct daemon_rest_server;

struct daemon_rest_server_opts {
	struct daemon_confine_root *root; /* borrowed */
	const char *metadata_env_prefix;  /* borrowed */
	int64_t idle_timeout_ms;
	bool (*is_authorized)(void *arg, struct slice authorization);
	bool is_open; /* no token is wanted: the Host must be one that no web page can have */
	void (*on_idle)(
		void *arg); /* after rest_server_shutdown: the last connection has gone */
	void *arg;
};

struct daemon_rest_server *daemon_rest_server_new(
	struct net_loop *loop, const struct daemon_rest_server_opts *opts);
void daemon_rest_server_free(struct daemon_rest_server *server); /* closes every connection */
void daemon_rest_server_accept_take(
	struct daemon_rest_server *server, int fd); /* connected, non-blocking */
void daemon_rest_server_set_ready(struct daemon_rest_server *server, bool is_ready);
/* Idle connections close now, the others after the answer they are at. on_idle comes once, deferred. */
void daemon_rest_server_shutdown(struct daemon_rest_server *server);
