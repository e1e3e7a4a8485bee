// SPDX-License-Identifier: Apache-2.0
/* The life of a runtime and of the operations on it, which keep each other: an operation under way holds a reference,
 * and the end of a runtime ends them all. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/net/dial.h"
#include "engine/runtime/internal.h"

#include <stdlib.h>

/* ---- operations */
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

	op->runtime = runtime_ref(runtime);
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
	struct runtime *runtime = op->runtime;

	telemetry_span_end(op->span, &none);
	op->span = NULL;
	net_loop_timer_disarm(op->timer);
	op->runtime = NULL;
	runtime_op_unref(op);
	runtime_unref(runtime);
}

bool runtime_op_launch(struct runtime_op *op, struct err *err)
{
	struct runtime *runtime = op->runtime;

	if (runtime->over.code != ERR_NONE) {
		err_copy(err, &runtime->over);
		runtime_op_discard(op);
		return false;
	}
	bool is_rest = op->lane == LANE_REST;
	if (is_rest ? !runtime->rest_url : !runtime->grpc_host) {
		err_set(err, ERR_OP_UNSUPPORTED, "%s has no address for %s", runtime->label,
			is_rest ? "files (REST)" : "processes (gRPC)");
		runtime_op_discard(op);
		return false;
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

static void begin_waiting(struct runtime_op *op)
{
	struct err err = { 0 };

	op->is_waiting = false;
	if (!op->begin(op, &err))
		runtime_op_fail_later(op, &err);
}

static void on_channel_up(struct runtime *runtime, enum runtime_channel which)
{
	bool wants_grpc = false;

	for (struct runtime_op *op = runtime->ops; op; op = op->next) {
		if (!op->is_waiting)
			continue;
		if (op->lane == which)
			begin_waiting(op);
		else if (op->lane == LANE_GRPC)
			wants_grpc = true;
	}
	if (wants_grpc)
		runtime_connect_start(runtime, LANE_GRPC);
}

/* What waits for gRPC waits for REST first. */
static void on_channel_failed(
	struct runtime *runtime, enum runtime_channel which, const struct err *err)
{
	for (struct runtime_op *op = runtime->ops; op; op = op->next)
		if (op->is_waiting && (op->lane == which || which == LANE_REST))
			runtime_op_fail_later(op, err);
}

/* Takes the op out of everything; what is left is memory and the caller's callback. */
static void end(struct runtime_op *op, const struct err *err)
{
	struct runtime *runtime = op->runtime;

	DL_DELETE(runtime->ops, op);
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
	runtime_unref(runtime);
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

/* ---- the runtime */
static int64_t given_or(int64_t given, enum setting setting)
{
	return given > 0 ? given : setting_get(setting);
}

static void take_limits(struct runtime *runtime, const struct runtime_opts *opts)
{
	bool is_legacy = opts->kind == RUNTIME_LEGACY;

	runtime->max_download_bytes =
		(uint64_t)given_or((int64_t)opts->max_download_bytes, SETTING_DOWNLOAD_LIMIT);
	runtime->max_upload_bytes =
		(uint64_t)given_or((int64_t)opts->max_upload_bytes, SETTING_UPLOAD_LIMIT);
	runtime->max_listing_bytes =
		(size_t)given_or((int64_t)opts->max_listing_bytes, SETTING_LISTING_LIMIT);
	runtime->max_execute_bytes = (size_t)given_or((int64_t)opts->max_execute_bytes,
		is_legacy ? SETTING_LEGACY_OUTPUT_LIMIT : SETTING_OUTPUT_LIMIT);
	runtime->connect_timeout_ms =
		given_or(opts->connect_timeout_ms, SETTING_CONNECT_TIMEOUT);
}

static void free_memory(void *arg)
{
	struct runtime *runtime = arg;

	if (runtime->tls)
		net_tls_unref(runtime->tls);
	runtime_route_deinit(runtime);
	runtime_address_deinit(runtime);
	free(runtime->cwd);
	free(runtime->label);
	free(runtime->http_lane);
	free(runtime);
}

struct runtime *runtime_new(struct net_loop *loop, struct net_http *http,
	const struct runtime_opts *opts, struct err *err)
{
	static unsigned long serial;
	static const struct runtime_channel_events events = { on_channel_up,
		on_channel_failed };
	struct runtime *runtime = x_calloc(1, sizeof *runtime);

	runtime->refs = 1;
	runtime->loop = loop;
	runtime->http = http;
	runtime->connect = opts->connect;
	runtime->connect_arg = opts->connect_arg;
	if (!runtime_address_init(runtime, opts, err) ||
		!runtime_route_init(runtime, opts, err))
		goto fail;
	runtime->tls = opts->tls ? net_tls_ref(opts->tls) : NULL;
	runtime->telemetry = opts->telemetry;
	runtime->label = x_strdup(opts->label      ? opts->label
				  : opts->rest_url ? runtime->rest_url
						   : runtime->authority);
	runtime->http_lane = x_asprintf("runtime-%lu", ++serial);
	runtime->explain = opts->explain;
	runtime->explain_arg = opts->explain_arg;
	runtime->read_only = opts->read_only;
	runtime->release = opts->release;
	runtime->release_arg = opts->release_arg;
	runtime->liveness.on_lost = runtime_invalidate;
	take_limits(runtime, opts);
	runtime_connect_init(runtime, &events);
	return runtime;
fail:
	free_memory(runtime);
	return NULL;
}

void runtime_set_cwd(struct runtime *runtime, const char *cwd)
{
	char *old = runtime->cwd;
	runtime->cwd = x_strdup(cwd);
	free(old);
}

struct runtime *runtime_ref(struct runtime *runtime)
{
	runtime->refs++;
	return runtime;
}

void runtime_close(struct runtime *runtime)
{
	if (!runtime || runtime->is_closed)
		return;
	runtime->is_closed = true;
	err_set(&runtime->over, ERR_OP_CLOSED, "%s has been closed", runtime->label);
	runtime->refs++; /* ours, while the operations let go of theirs */
	while (runtime->ops)
		runtime_op_end_silently(runtime->ops);
	runtime->refs--;
	runtime_liveness_deinit(runtime);
	runtime_connect_deinit(runtime);
	runtime->telemetry = NULL; /* spans of those who try all the same */
	if (runtime->release)
		runtime->release(runtime->release_arg);
}

void runtime_unref(struct runtime *runtime)
{
	if (!runtime || --runtime->refs > 0)
		return;
	if (runtime->is_closed) { /* there may be no loop any more */
		free_memory(runtime);
		return;
	}
	runtime_close(runtime);
	/* whoever let go may be in a callback that an operation of it called */
	net_loop_defer(runtime->loop, free_memory, runtime);
}

const char *runtime_label(const struct runtime *runtime)
{
	return runtime->label;
}

size_t runtime_n_killing(const struct runtime *runtime)
{
	return runtime->n_killing;
}

enum runtime_state runtime_state_of(const struct runtime *runtime)
{
	bool is_up = false, is_down = runtime_liveness_is_silent(runtime);

	for (int i = 0; i < LANE_COUNT; i++) {
		if (runtime->lanes[i].state == LANE_CONNECTING)
			return RUNTIME_CONNECTING;
		is_up |= runtime->lanes[i].state == LANE_UP;
		is_down |= runtime->lanes[i].state == LANE_DOWN && runtime->lanes[i].has_failed;
	}
	return is_down ? RUNTIME_DOWN : is_up ? RUNTIME_UP : RUNTIME_IDLE;
}

void runtime_invalidate(struct runtime *runtime, const struct err *err)
{
	struct err none = { 0 };

	if (runtime->is_closed)
		return;
	if (!err) {
		err_set(&none, ERR_CONN_LOST, "the connection was given up");
		err = &none;
	}
	for (struct runtime_op *op = runtime->ops; op; op = op->next) {
		if (op->detach)
			op->detach(op);
		net_http_cancel(op->req);
		net_grpc_cancel(op->call);
		op->req = NULL;
		op->call = NULL;
		runtime_op_fail_later(op, err);
	}
	runtime_connect_drop(runtime);
}

void runtime_retire(struct runtime *runtime, const struct err *err)
{
	if (runtime->over.code == ERR_NONE)
		err_copy(&runtime->over, err);
	runtime_invalidate(runtime, err);
}
