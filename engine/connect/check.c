// SPDX-License-Identifier: Apache-2.0
/* The ways to a sandbox, tried on demand: the chosen one and then the others, each asked for the daemon's health. */
#include "engine/internal.h"

#include "engine/base/mem.h"

#include <stdlib.h>

enum { CHOSEN_MS = 30000, TRY_MS = 5000 };

/* A router and a Gateway need an address that nobody gave. */
static const enum engine_connectivity ways[] = { ENGINE_PORT_FORWARD, ENGINE_IN_CLUSTER_SERVICE,
	ENGINE_IN_CLUSTER_POD_IP };
enum { WAY_COUNT = sizeof ways / sizeof ways[0] };

struct engine_connectivity_check {
	struct engine *engine;
	char *uid;
	void (*on_route)(void *arg, enum engine_connectivity mode, const struct err *err,
		const char *found);
	void (*done)(void *arg);
	void *arg;
	bool is_chosen_tried;
	size_t at; /* of the others */
	struct runtime_op *op;
	struct net_loop_timer *next;
};

static void routes_free(struct engine_connectivity_check *routes)
{
	runtime_cancel(routes->op);
	net_loop_timer_free(routes->next);
	free(routes->uid);
	free(routes);
}

void engine_connectivity_check_cancel(struct engine_connectivity_check *routes)
{
	if (routes != NULL)
		routes_free(routes);
}

static void answered(
	struct engine_connectivity_check *routes, const struct err *err, const char *found)
{
	enum engine_connectivity mode = routes->is_chosen_tried
						? ways[routes->at++]
						: engine_connectivity_of(routes->engine);
	routes->op = NULL;
	routes->is_chosen_tried = true;
	net_loop_timer_arm(routes->next, 0);
	routes->on_route(routes->arg, mode, err, found);
}

static void on_health(void *arg, const struct err *err, const struct runtime_health *health)
{
	answered(arg, err, err ? NULL : health->status);
}

/* The legacy runtime has no health in detail: is its root there? */
static void on_root(void *arg, const struct err *err, const struct runtime_stat *st)
{
	(void)st;
	answered(arg, err, err ? NULL : "the legacy runtime answers");
}

static void ask(
	struct engine_connectivity_check *routes, struct runtime *runtime, struct err *err)
{
	int64_t timeout_ms = routes->is_chosen_tried ? TRY_MS : CHOSEN_MS;
	if (runtime != NULL && runtime_can(runtime, RUNTIME_CAN_INFO))
		routes->op = runtime_health_start(runtime, timeout_ms, on_health, routes, err);
	else if (runtime != NULL)
		routes->op = runtime_stat_start(runtime, "", timeout_ms, on_root, routes, err);
	if (routes->op == NULL)
		answered(routes, err, NULL);
}

static void on_next(void *arg)
{
	struct engine_connectivity_check *routes = arg;
	struct engine *engine = routes->engine;
	struct err err = { 0 };
	if (!routes->is_chosen_tried) {
		ask(routes, engine_runtime(engine, routes->uid, &err), &err);
		return;
	}
	while (routes->at < WAY_COUNT && ways[routes->at] == engine->connectivity)
		routes->at++;
	if (routes->at < WAY_COUNT) {
		ask(routes, engine_connections_try(engine, routes->uid, ways[routes->at], &err),
			&err);
		return;
	}
	void (*done)(void *) = routes->done;
	void *done_arg = routes->arg;
	routes_free(routes);
	done(done_arg);
}

struct engine_connectivity_check *engine_connectivity_check_start(struct engine *engine,
	const char *uid,
	void (*on_route)(void *arg, enum engine_connectivity mode, const struct err *err,
		const char *found),
	void (*done)(void *arg), void *arg)
{
	struct engine_connectivity_check *routes = x_calloc(1, sizeof *routes);
	routes->engine = engine;
	routes->uid = x_strdup(uid);
	routes->on_route = on_route;
	routes->done = done;
	routes->arg = arg;
	routes->next = net_loop_timer_new(engine->loop, on_next, routes);
	net_loop_timer_arm(routes->next, 0);
	return routes;
}
