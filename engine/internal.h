// SPDX-License-Identifier: Apache-2.0
/* What engine.c, connections.c and resolve.c share: not for front ends. */
#pragma once

#include "engine/base/map.h"
#include "engine/engine.h"

struct net_http;
struct kube_client;
struct kube_config;
struct engine_tunnel;         /* connections.c */
struct engine_gateway;        /* gateway.c */
struct engine_router;         /* router.c */
struct engine_access_reviews; /* access_review.c */
struct engine_link_monitor;   /* kinds.c: as fleet_hurry() */
void engine_kinds_hurry(struct engine *engine, bool is_lane_dead);

/* link.c */
struct cJSON;
struct str;

/* A runtime and the pod it was made for. */
struct engine_connection {
	struct engine *engine;
	char uid[FLEET_UID_BYTES];
	char pod_uid[FLEET_UID_BYTES];
	enum engine_connectivity mode;
	char *address; /* or, for a port-forward, the pod's name */
	char *namespace_;
	struct runtime *runtime;
	struct engine_router
		*router; /* its tunnels lead to this one's pod, not to the sandbox's; or NULL */
	struct engine_tunnel *tunnels;
	bool is_retired;
	struct engine_connection *next; /* among the retired */
	UT_hash_handle hh;
};

struct engine {
	struct net_loop *loop;
	struct net_http *http;
	struct telemetry *telemetry;
	struct kube_config *config;
	struct kube_client *kube;
	struct fleet *fleet;
	struct engine_connection *lanes;
	/* Lanes whose pod moved: whoever still holds a process of theirs may free it later. */
	struct engine_connection *retired;
	struct net_loop_timer *sweep; /* of closed tunnels */
	struct runtime *direct;
	struct engine_resolve *resolves;
	char *namespace_; /* "" = all */
	char *label_selector;
	bool is_lazy;
	char *title;
	char *server;
	char *token;
	char *token_of_pod; /* a path with ENGINE_TOKEN_POD in it: one token a pod; NULL: one for all */
	enum engine_connectivity connectivity;
	enum engine_runtime runtime;
	char *runtime_version;
	char *router_url;
	char *router_service, *router_namespace, *router_token;
	struct engine_router *routers;
	struct engine_gateway *gateway;
	struct engine_access_reviews *rights;
	struct kinds_informers *kinds;    /* kinds.c; NULL: nobody has looked yet */
	struct engine_link_monitor *link; /* NULL for a daemon without REST */
	bool no_pod_ip_header;
	bool read_only, allow_plaintext_token, is_local;
	void (*on_change)(void *arg);
	void *on_change_arg;
};

/* connections.c: a runtime at direct addresses */
struct runtime *engine_make_direct(struct engine *engine, const char *rest_url,
	const char *grpc_host, uint16_t grpc_port, const char *label, struct err *err);
void engine_connections_init(struct engine *engine);
void engine_connections_deinit(struct engine *engine);
size_t engine_connections_killing(const struct engine *engine); /* processes */
/* Connections are tied to the pod: when it is replaced or gone, they end with the reason. */
void engine_connections_check(struct engine *engine);

/* A runtime that goes another way than the chosen one, for one question; it lives until engine_free(). */
struct runtime *engine_connections_try(
	struct engine *engine, const char *uid, enum engine_connectivity mode, struct err *err);

/* What every runtime has in flight fails with why; the next call connects anew. */
void engine_connections_invalidate(struct engine *engine, const struct err *why);

/* connectivity.c: the way, and what listens at its end */
bool engine_connectivity_validate(const struct engine_opts *opts, struct err *err);
enum engine_connectivity engine_connectivity_configured(const struct engine_opts *opts);
/* With the context's own word (its extension, or NULL); engine->connectivity is decided by then. */
bool engine_connectivity_open(struct engine *engine, const struct engine_opts *opts,
	const struct cJSON *extension, struct err *err);
bool engine_connectivity_is_routed(const struct engine *engine);
enum runtime_kind engine_connectivity_runtime(
	const struct engine *engine, const struct fleet_row *row);

/* gateway.c */
struct engine_gateway *engine_gateway_new(
	struct engine *engine, const char *name, const char *namespace_, const char *scheme);
void engine_gateway_free(struct engine_gateway *gateway);
bool engine_gateway_locate(
	void *arg, struct str *url, struct err *err); /* runtime_opts.locate */

/* router.c: the one for sandboxes of that namespace; borrowed until engine_routers_free() */
struct engine_router *engine_router_of(struct engine *engine, const char *namespace_);
void engine_routers_free(struct engine *engine);
bool engine_router_locate(
	void *arg, struct str *url, struct err *err); /* runtime_opts.locate */
/* The pod to carry a connection to; false: none is ready. Borrowed for this turn. */
bool engine_router_pod(struct engine_router *router, const char **namespace_, const char **pod,
	uint16_t *port);

/* In a context's daemon-token-file it stands for the UID of the pod. */
#define ENGINE_TOKEN_POD "{pod-uid}"

/* A token's file, without the blanks around it; NULL with *err. free(). */
char *engine_read_token(const char *path, const char *whose, struct err *err);

/* gVisor or Kata: the workload does not listen in the pod's host-side network namespace. */
bool engine_is_other_kernel(const char *runtime_class);

/* access_review.c */
struct engine_access_review {
	const char *verb, *group, *resource, *subresource; /* "" = none */
	const char *needed_for;
};
enum engine_access_review_id {
	RIGHT_LIST_CLAIMS,
	RIGHT_WATCH_CLAIMS,
	RIGHT_CREATE_CLAIMS,
	RIGHT_PATCH_CLAIMS,
	RIGHT_DELETE_CLAIMS,
	RIGHT_WATCH_SANDBOXES,
	RIGHT_PATCH_SANDBOXES,
	RIGHT_DELETE_SANDBOXES,
	RIGHT_WATCH_POOLS,
	RIGHT_WATCH_PODS,
	RIGHT_LIST_EVENTS,
	RIGHT_GET_FORWARD,
	RIGHT_CREATE_FORWARD,
	RIGHT_GET_LOG,
	RIGHT_COUNT,
};
extern const struct engine_access_review engine_access_review_rows[];
/* One review; namespace_ "" = all. */
struct kube_call *engine_access_review_ask(struct engine *engine, const char *namespace_,
	enum engine_access_review_id id,
	void (*done)(void *arg, const struct err *err, const struct cJSON *object), void *arg,
	struct err *err);
bool engine_access_review_is_allowed(const struct cJSON *answer);
/* As far as is known; asks if it is not. */
bool engine_access_review_is_refused(
	struct engine *engine, const char *namespace_, enum engine_access_review_id right);
void engine_access_review_learn(struct engine *engine, const char *namespace_,
	enum engine_access_review_id right); /* a refusal */
void engine_access_reviews_init(struct engine *engine);
void engine_access_reviews_deinit(struct engine *engine);

/* connectivity_check.c: the sandbox's health by each way into a cluster, the chosen one first, one after the other: on_route for
 * each (found: what answered, or err), then done once. on_route must not cancel. */
struct engine_connectivity_check;
struct engine_connectivity_check *engine_connectivity_check_start(struct engine *engine,
	const char *uid,
	void (*on_route)(void *arg, enum engine_connectivity mode, const struct err *err,
		const char *found),
	void (*done)(void *arg), void *arg);
void engine_connectivity_check_cancel(struct engine_connectivity_check *routes);

/* link.c */
void engine_link_init(struct engine *engine);
void engine_link_deinit(struct engine *engine);
void engine_link_check(struct engine *engine); /* the fleet has changed */

/* resolve.c */
void engine_resolves_look(struct engine *engine);
