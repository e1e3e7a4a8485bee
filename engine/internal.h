// SPDX-License-Identifier: Apache-2.0
/* What engine.c, lanes.c and resolve.c share: not for front ends. */
#pragma once

#include "engine/base/map.h"
#include "engine/engine.h"

struct http;
struct kube_client;
struct kube_config;
struct tunnel; /* lanes.c */

/* A runtime and the pod it was made for. */
struct lane {
	struct engine *engine;
	char uid[FLEET_UID_BYTES];
	char pod_uid[FLEET_UID_BYTES];
	char *address; /* or, for a port-forward, the pod's name */
	char *namespace_;
	struct runtime *runtime;
	struct tunnel *tunnels;
	bool is_retired;
	struct lane *next; /* among the retired */
	UT_hash_handle hh;
};

struct engine {
	struct loop *loop;
	struct http *http;
	struct telemetry *telemetry;
	struct kube_config *config;
	struct kube_client *kube;
	struct fleet *fleet;
	struct lane *lanes;
	/* Lanes whose pod moved: whoever still holds a process of theirs may free it later. */
	struct lane *retired;
	struct loop_timer *sweep; /* of closed tunnels */
	struct runtime *direct;
	struct engine_resolve *resolves;
	char *namespace_; /* "" = all */
	char *label_selector;
	bool is_lazy;
	char *title;
	char *server;
	char *token;
	enum engine_connectivity connectivity;
	bool read_only, allow_plaintext_token, is_local;
	void (*on_change)(void *arg);
	void *on_change_arg;
};

/* lanes.c. With a lane its connections are port-forwards, if that is the mode; NULL: dialled. */
struct runtime *engine_make_runtime(struct engine *engine, const char *rest_url,
	const char *grpc_host, uint16_t grpc_port, const char *label, struct lane *lane,
	struct err *err);
void engine_lanes_init(struct engine *engine);
void engine_lanes_deinit(struct engine *engine);
/* Connections are tied to the pod: when it is replaced or gone, they end with the reason. */
void engine_lanes_check(struct engine *engine);

/* gVisor or Kata: the workload does not listen in the pod's host-side network namespace. */
bool engine_is_other_kernel(const char *runtime_class);

/* resolve.c */
void engine_resolves_look(struct engine *engine);
