// SPDX-License-Identifier: Apache-2.0
/* Does the daemon still answer while processes run? A half-open connection says nothing for hours, and HTTP/2 PINGs
 * are punished, so GET /v1/health asks on the REST leg, only while there is a process.
 *
 *   fine ──2 misses──> silent (runtime_state_of: DOWN; the streams stay: it may only be frozen)
 *     ^──any answer──────┘  └──no answer for 90 s, or soon after the machine slept──> everything fails */
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/runtime/internal.h"

#include <stdlib.h>

enum {
	ASK_MS = 20 * 1000,
	ASK_AGAIN_MS = 5 * 1000,
	ANSWER_MS = 10 * 1000,
	MISSES_TO_SAY = 2,
	GIVE_UP_MS = 90 * 1000,
	GIVE_UP_AFTER_WAKE_MS = 20 * 1000,
};

static bool has_process(const struct runtime *runtime)
{
	for (const struct runtime_op *op = runtime->ops; op; op = op->next)
		if (op->lane == LANE_GRPC && !op->is_waiting && op->call)
			return true;
	return false;
}

static void give_up(struct runtime *runtime)
{
	struct err err = { 0 };

	err_set(&err, ERR_CONN_LOST, "%s has not answered for %d s", runtime->label,
		(int)((clock_mono_ms() - runtime->liveness.answered_mono_ms) / 1000));
	runtime->liveness.misses = 0;
	runtime->liveness.is_on = false;
	runtime->liveness.on_lost(runtime, &err);
}

static void on_answer(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct runtime *runtime = arg;
	struct runtime_liveness *liveness = &runtime->liveness;

	(void)body;
	liveness->req = NULL;
	if (!err || reply) {
		/* also a refusal is an answer */
		liveness->misses = 0;
		liveness->answered_mono_ms = clock_mono_ms();
		liveness->give_up_ms = GIVE_UP_MS;
		net_loop_timer_arm(liveness->timer, ASK_MS);
		return;
	}
	liveness->misses++;
	if (liveness->misses >= MISSES_TO_SAY &&
		clock_mono_ms() - liveness->answered_mono_ms >= liveness->give_up_ms)
		give_up(runtime);
	else
		net_loop_timer_arm(liveness->timer, ASK_AGAIN_MS);
}

static void ask(void *arg)
{
	struct runtime *runtime = arg;
	struct runtime_liveness *liveness = &runtime->liveness;

	if (liveness->req)
		return;
	if (!has_process(runtime)) {
		/* the next process starts it again */
		liveness->is_on = false;
		liveness->misses = 0;
		return;
	}
	liveness->req = runtime_rest_probe(runtime, ANSWER_MS, on_answer, NULL);
	if (!liveness->req)
		net_loop_timer_arm(liveness->timer, ASK_MS);
}

static void on_wake(void *arg)
{
	struct runtime *runtime = arg;
	struct runtime_liveness *liveness = &runtime->liveness;

	if (!liveness->is_on)
		return;
	liveness->answered_mono_ms = clock_mono_ms();
	liveness->give_up_ms = GIVE_UP_AFTER_WAKE_MS;
	net_loop_timer_arm(liveness->timer, 0);
}

void runtime_liveness_on_process(struct runtime *runtime)
{
	struct runtime_liveness *liveness = &runtime->liveness;

	if (liveness->is_on || !runtime->rest_url)
		return;
	if (!liveness->timer) {
		liveness->timer = net_loop_timer_new(runtime->loop, ask, runtime);
		liveness->wake = net_loop_wake_add(runtime->loop, on_wake, runtime);
	}
	liveness->is_on = true;
	liveness->misses = 0;
	liveness->give_up_ms = GIVE_UP_MS;
	liveness->answered_mono_ms = clock_mono_ms();
	net_loop_timer_arm(liveness->timer, ASK_MS);
}

bool runtime_liveness_is_silent(const struct runtime *runtime)
{
	return runtime->liveness.is_on && runtime->liveness.misses >= MISSES_TO_SAY;
}

void runtime_liveness_deinit(struct runtime *runtime)
{
	struct runtime_liveness *liveness = &runtime->liveness;

	net_http_cancel(liveness->req);
	liveness->req = NULL;
	if (liveness->timer)
		net_loop_timer_free(liveness->timer);
	if (liveness->wake)
		net_loop_wake_remove(liveness->wake);
	liveness->timer = NULL;
	liveness->wake = NULL;
}
