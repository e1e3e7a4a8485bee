// SPDX-License-Identifier: Apache-2.0
/* A connection that is no HTTP any more: taken from evhttp with the answer 101, from then on bytes both ways. What is not read
 * stays with the client; what the client does not read is at most UPGRADE_HIGH_BYTES here and what one turn adds.
 *
 * There are places for UPGRADE_MAX of them; one on which nothing moved for UPGRADE_IDLE_MS is ended. */
#pragma once

#include "local/server/api/request.h"

struct evbuffer;
struct api_upgrade;

enum {
	UPGRADE_MAX = 256,
	UPGRADE_IDLE_MS = 4 * 3600 * 1000, /* as the kubelet's streamingConnectionIdleTimeout */
	UPGRADE_READ_BYTES = 64 << 10,
	UPGRADE_HIGH_BYTES = 256 << 10,
	UPGRADE_LOW_BYTES = 64 << 10,
};

struct api_upgrade_callbacks {
	void (*on_bytes)(
		void *arg, struct evbuffer *in); /* also what is left of the last time */
	void (*on_room)(void *arg);              /* the output has drained */
	/* Exactly once, when it has ended for whatever reason; nothing may be called on it any more. */
	void (*on_end)(void *arg);
};

/* True if the request asks for that protocol ("websocket", "SPDY/3.1") by Connection and Upgrade. */
bool api_upgrade_is_to(const struct api_request *req, const char *protocol);
/* Answers 101 with these header lines ("Name: value\r\n…"); NULL: there is no place, and the request was answered so. The
 * first on_bytes comes at the end of the turn. */
struct api_upgrade *api_upgrade_take(struct api_request *req, const char *header_lines,
	const struct api_upgrade_callbacks *callbacks, void *arg);
struct evbuffer *api_upgrade_output(struct api_upgrade *u);
bool api_upgrade_has_room(struct api_upgrade *u);
void api_upgrade_pause(struct api_upgrade *u, bool is_paused); /* reading */
/* Nothing more is read; it ends when what is in the output has left, or after some seconds. */
void api_upgrade_finish(struct api_upgrade *u);
void api_upgrade_finish_all(struct server *server); /* at once */
