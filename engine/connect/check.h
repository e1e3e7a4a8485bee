// SPDX-License-Identifier: Apache-2.0
/* The ways to a sandbox, tried on demand: the chosen one and then the others, each asked for the daemon's health. */
#pragma once

#include "engine/connect/connectivity.h"

struct connect;
struct connect_check;

/* One after the other: on_route for each (found: what answered, or err: why connect_get() or the runtime could not), then
 * done once. on_route must not cancel. */
struct connect_check *connect_check_start(struct connect *connect, const char *uid,
	void (*on_route)(
		void *arg, enum connect_mode mode, const struct err *err, const char *found),
	void (*done)(void *arg), void *arg);
void connect_check_cancel(struct connect_check *check);
