// SPDX-License-Identifier: Apache-2.0
/* The life of an operation: waiting for its lane, its deadline, its one end. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/runtime/internal.h"

#include <stdlib.h>

static void on_deadline(void *arg)
{
	struct runtime_op *op = arg;
	struct err err = { 0 };

	if (!op->runtime)
		return;
	if (op->is_waiting)
		runtime_connect_explain(op->runtime, &err);
	else
		err_set(&err, ERR_OP_TIMEOUT, "%s: %s", op->runtime->label,
			op->timeout_text ? op->timeout_text : "no answer in time");
	runtime_op_finish(op, &err);
}

void *runtime_op_new(struct runtime *runtime, size_t bytes, enum runtime_channel lane,
	int64_t timeout_ms, const char *span_name, const struct telemetry_span *parent)
{
	struct runtime_op *op = x_calloc(1, bytes);

	op->runtime = runtime;
	op->refs = 1;
	op->lane = lane;
	if (span_name) {
		op->span = telemetry_span_start(runtime->telemetry, span_name, parent);
		telemetry_span_set_str(op->span, "sandbox.label", runtime->label);
	}
	op->timer = net_loop_timer_new(runtime->loop, on_deadline, op);
	runtime_op_set_timeout(op, timeout_ms);
	return op;
}

void runtime_op_unref(struct runtime_op *op)
{
	if (--op->refs > 0)
		return;
	if (op->release)
		op->release(op);
	if (op->timer)
		net_loop_timer_free(op->timer);
	free(op);
}

void runtime_op_discard(struct runtime_op *op)
{
	struct err none = { .code = ERR_ARG_INVALID };

	telemetry_span_end(op->span, &none);
	op->span = NULL;
	net_loop_timer_disarm(op->timer);
	op->runtime = NULL;
	runtime_op_unref(op);
}

bool runtime_op_launch(struct runtime_op *op, struct err *err)
{
	struct runtime *runtime = op->runtime;

	if (op->lane == LANE_REST && !runtime->rest_url) {
		runtime_op_discard(op);
		return err_set(err, ERR_OP_UNSUPPORTED, "%s has no address for files (REST)",
			runtime->label);
	}
	if (op->lane == LANE_GRPC && !runtime->grpc_host) {
		runtime_op_discard(op);
		return err_set(err, ERR_OP_UNSUPPORTED,
			"%s has no address for processes (gRPC)", runtime->label);
	}
	DL_APPEND(runtime->ops, op);
	if (!runtime_connect_is_up(runtime, op->lane)) {
		op->is_waiting = true;
		runtime_connect_start(runtime, op->lane);
		return true;
	}
	struct err failure = { 0 };
	if (op->begin(op, &failure))
		return true;
	err_copy(err, &failure);
	runtime_op_end_silently(op);
	return false;
}

void runtime_op_begin_waiting(struct runtime_op *op)
{
	struct err err = { 0 };

	op->is_waiting = false;
	if (!op->begin(op, &err))
		runtime_op_fail_later(op, &err);
}

/* Takes the op out of everything; what is left is memory and the caller's callback. */
static void end(struct runtime_op *op, const struct err *err)
{
	DL_DELETE(op->runtime->ops, op);
	net_loop_timer_disarm(op->timer);
	if (op->detach)
		op->detach(op);
	net_http_cancel(op->req);
	net_grpc_cancel(op->call);
	op->req = NULL;
	op->call = NULL;
	op->is_waiting = false;
	telemetry_span_end(op->span, err);
	op->span = NULL;
	op->runtime = NULL;
}

static void on_deferred_unref(void *arg)
{
	struct runtime_op *op = arg;

	/* a handle that is kept may outlive the loop; its timer must not */
	net_loop_timer_free(op->timer);
	op->timer = NULL;
	runtime_op_unref(op);
}

/* Memory goes at the end of the turn: the end may come from inside one of the op's own callbacks. */
static void unref_later(struct net_loop *loop, struct runtime_op *op)
{
	net_loop_defer(loop, on_deferred_unref, op);
}

void runtime_op_finish(struct runtime_op *op, const struct err *err)
{
	if (!op->runtime)
		return;
	struct net_loop *loop = op->runtime->loop;
	end(op, err);
	unref_later(loop, op);
	op->complete(op, err);
}

void runtime_op_end_silently(struct runtime_op *op)
{
	if (!op->runtime)
		return;
	struct net_loop *loop = op->runtime->loop;
	struct err cancelled = { .code = ERR_OP_CANCELLED };
	end(op, &cancelled);
	unref_later(loop, op);
}

static void on_deferred_failure(void *arg)
{
	struct runtime_op *op = arg;

	runtime_op_finish(op, &op->failure);
	runtime_op_unref(op);
}

void runtime_op_fail_later(struct runtime_op *op, const struct err *err)
{
	if (op->failure.code != ERR_NONE)
		return;
	op->is_waiting = false;
	err_copy(&op->failure, err);
	if (op->failure.code == ERR_NONE)
		err_set(&op->failure, ERR_INTERNAL, "failed without a reason");
	op->refs++;
	net_loop_defer(op->runtime->loop, on_deferred_failure, op);
}

int64_t runtime_op_remaining_ms(const struct runtime_op *op)
{
	if (!op->deadline_mono_ms)
		return 0;
	int64_t left = op->deadline_mono_ms - clock_mono_ms();
	return left > 0 ? left : 1;
}

void runtime_op_set_timeout(struct runtime_op *op, int64_t timeout_ms)
{
	op->deadline_mono_ms = timeout_ms > 0 ? clock_mono_ms() + timeout_ms : 0;
	if (timeout_ms > 0)
		net_loop_timer_arm(op->timer, timeout_ms);
	else
		net_loop_timer_disarm(op->timer);
}

void runtime_cancel(struct runtime_op *op)
{
	if (op)
		runtime_op_end_silently(op);
}

void runtime_resume(struct runtime_op *op)
{
	if (op->runtime && op->req && op->resume)
		op->resume(op);
}
