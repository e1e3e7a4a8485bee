// SPDX-License-Identifier: Apache-2.0
#include "engine/connect/check.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/connect/connections.h"
#include "engine/net/loop.h"

#include <stdlib.h>

enum { CHOSEN_MS = 30000, TRY_MS = 5000 };

/* A router and a Gateway need an address that nobody gave. */
static const enum connect_mode ways[] = { CONNECT_PORT_FORWARD, CONNECT_IN_CLUSTER_SERVICE,
	CONNECT_IN_CLUSTER_POD_IP };
enum { WAY_COUNT = sizeof ways / sizeof ways[0] };

struct connect_check {
	struct connect *connect;
	char *uid;
	void (*on_route)(
		void *arg, enum connect_mode mode, const struct err *err, const char *found);
	void (*done)(void *arg);
	void *arg;
	bool is_chosen_tried;
	size_t at; /* of the others */
	struct runtime_op *op;
	struct net_loop_timer *next;
};

static void free_check(struct connect_check *check)
{
	runtime_cancel(check->op);
	net_loop_timer_free(check->next);
	free(check->uid);
	free(check);
}

void connect_check_cancel(struct connect_check *check)
{
	if (check != NULL)
		free_check(check);
}

static void answered(struct connect_check *check, const struct err *err, const char *found)
{
	enum connect_mode mode = check->is_chosen_tried
					 ? ways[check->at++]
					 : connect_settings_of(check->connect)->mode;
	check->op = NULL;
	check->is_chosen_tried = true;
	net_loop_timer_arm(check->next, 0);
	check->on_route(check->arg, mode, err, found);
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

static void ask(struct connect_check *check, struct runtime *runtime, struct err *err)
{
	int64_t timeout_ms = check->is_chosen_tried ? TRY_MS : CHOSEN_MS;
	if (runtime != NULL && runtime_can(runtime, RUNTIME_CAN_INFO))
		check->op = runtime_health_start(runtime, timeout_ms, on_health, check, err);
	else if (runtime != NULL)
		check->op = runtime_stat_start(runtime, "", timeout_ms, on_root, check, err);
	if (check->op == NULL)
		answered(check, err, NULL);
}

static void on_next(void *arg)
{
	struct connect_check *check = arg;
	enum connect_mode chosen = connect_settings_of(check->connect)->mode;
	struct err err = { 0 };
	if (!check->is_chosen_tried) {
		ask(check, connect_get(check->connect, check->uid, &err), &err);
		return;
	}
	while (check->at < WAY_COUNT && ways[check->at] == chosen)
		check->at++;
	if (check->at < WAY_COUNT) {
		struct runtime *tried =
			connect_try(check->connect, check->uid, ways[check->at], &err);
		ask(check, tried, &err);
		runtime_unref(tried); /* the question holds it */
		return;
	}
	void (*done)(void *) = check->done;
	void *done_arg = check->arg;
	free_check(check);
	done(done_arg);
}

struct connect_check *connect_check_start(struct connect *connect, const char *uid,
	void (*on_route)(
		void *arg, enum connect_mode mode, const struct err *err, const char *found),
	void (*done)(void *arg), void *arg)
{
	struct connect_check *check = x_calloc(1, sizeof *check);
	check->connect = connect;
	check->uid = x_strdup(uid);
	check->on_route = on_route;
	check->done = done;
	check->arg = arg;
	check->next = net_loop_timer_new(connect_loop(connect), on_next, check);
	net_loop_timer_arm(check->next, 0);
	return check;
}
