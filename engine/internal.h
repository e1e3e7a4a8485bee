// SPDX-License-Identifier: Apache-2.0
/* What the files of engine/ share: not for front ends. */
#pragma once

#include "engine/access/access.h"
#include "engine/base/map.h"
#include "engine/connect/connections.h"
#include "engine/engine.h"

struct net_http;
struct kube_client;
struct kinds_informers;
struct usage_poll;
struct kube_config;
struct engine_link_monitor; /* link.c */

struct engine {
	struct net_loop *loop;
	struct net_http *http;
	struct telemetry *telemetry;
	struct kube_config *config; /* NULL, as are kube and fleet, in direct mode */
	struct kube_client *kube;
	struct fleet *fleet;
	struct connect *connect;
	struct access *access;
	struct engine_resolve *resolves;
	char *namespace_; /* "" = all */
	char *label_selector;
	bool is_lazy, keeps_deleted;
	struct fleet_policy *policy; /* NULL: none */
	char *title;
	char *server;
	struct kinds_informers *kinds;    /* kinds.c; NULL: nobody has looked yet */
	struct usage_poll *usage;         /* NULL, as fleet, in direct mode */
	struct engine_link_monitor *link; /* NULL for a daemon without REST */
	bool is_local;
	void (*on_change)(void *arg);
	void *on_change_arg;
};

/* link.c */
void engine_link_init(struct engine *engine);
void engine_link_deinit(struct engine *engine);
void engine_link_check(struct engine *engine); /* the fleet has changed */

/* kinds.c: any call about one object */
struct kube_call_opts;
struct engine_object_call *engine_object_call_start(struct engine *engine,
	const struct kube_call_opts *opts, engine_object_fn *done, void *arg, struct err *err);

/* resolve.c */
void engine_resolves_look(struct engine *engine);
