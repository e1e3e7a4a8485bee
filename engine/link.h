// SPDX-License-Identifier: Apache-2.0
/* Does the API server, or in direct mode the daemon, still answer? While a person looks, it is asked a small question (GET /version) whenever nothing has
 * come from it for a while, so that rows are never shown as live when they are not: a stopped process, a half-open
 * connection and a slow server say nothing by themselves for minutes. While it does not answer it is asked about twice a
 * second, and as soon as it does, the watches go on at once instead of waiting out their pauses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine;

enum engine_link_state {
	ENGINE_LINK_WAITING, /* no answer and no failure yet */
	ENGINE_LINK_LIVE,
	ENGINE_LINK_SLOW,   /* its last answer took longer than LINK_PATIENCE_MS */
	ENGINE_LINK_SILENT, /* it has been asked, and has not answered for so long */
	ENGINE_LINK_DOWN,   /* it cannot be reached, or answers with failures; see reason */
};

enum { LINK_PATIENCE_MS = 2000 };

struct engine_link {
	enum engine_link_state state;
	int64_t since_ms;      /* monotonic: when that was noticed */
	int64_t as_of_wall_ms; /* what is shown is as of then; 0: nothing has been read yet */
	int64_t took_ms;       /* SLOW: the last answer; SILENT: so far */
	bool is_refused;       /* DOWN: nobody listens there */
	int64_t next_try_ms; /* monotonic: the server has asked for a pause until then; 0: none */
	const char *
		reason; /* of DOWN, "" else; raw text of a server maybe; borrowed for this turn */
	uint64_t revision; /* changes with the state */
};

/* A person looks (a terminal is attached), or does not any more. */
void engine_look(struct engine *engine, bool is_looking);
/* False where there is nobody to ask: a daemon without REST. */
bool engine_link_of(const struct engine *engine, struct engine_link *out);
/* There is reason to believe that it answers again. */
void engine_link_try(struct engine *engine);
