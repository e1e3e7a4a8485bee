// SPDX-License-Identifier: Apache-2.0
/* Inside of connections.c, for its tests. */
#pragma once

#include "engine/base/map.h"
#include "engine/connect/connections.h"
#include "engine/fleet/row.h"

struct connect_gateway;
struct connect_router;
struct connect_tunnel;

/* A runtime and the pod it was made for. It goes with the runtime (runtime_opts.release). */
struct connect_connection {
	struct connect *connect;
	char uid[FLEET_UID_BYTES];
	char pod_uid[FLEET_UID_BYTES];
	enum connect_mode mode;
	char *address; /* or, for a port-forward, the pod's name */
	char *namespace_;
	struct runtime *runtime;
	struct connect_router
		*router; /* its tunnels lead to this one's pod, not to the sandbox's; or NULL */
	struct connect_tunnel *tunnels;
	struct net_loop_timer *sweep; /* of closed tunnels */
	bool is_current;              /* found by its uid: one reference is ours */
	struct connect_connection *prev, *next;
	UT_hash_handle hh;
};

struct connect_routers { /* one for each namespace that needs it */
	struct connect_router *router;
	struct connect_routers *next;
};

struct connect {
	struct connect_parts parts;
	struct connect_settings settings;
	struct fleet *fleet;
	char *namespace_;                   /* "" = all */
	struct connect_connection *current; /* by uid */
	struct connect_connection *all;     /* also those that are retired or tried, and held */
	struct connect_routers *routers;
	struct connect_gateway *gateway;
	struct runtime *direct;
};
