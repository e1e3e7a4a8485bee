// SPDX-License-Identifier: Apache-2.0
/* GET /v1/health and /v1/metadata. */
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/internal.h"

#include <stdlib.h>

enum { HEALTH_BYTES = 64 << 10 };

struct info_op {
	struct runtime_op op;
	const char *path;
	cJSON *json;
	struct runtime_pair *pairs;
	size_t n_pairs;
	struct runtime_health health;
	void (*on_health)(
		void *arg, const struct err *err, const struct runtime_health *health);
	void (*on_pairs)(
		void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n);
	void *arg;
};

static void release(struct runtime_op *op)
{
	struct info_op *info = (struct info_op *)op;

	cJSON_Delete(info->json);
	free(info->pairs);
}

static bool take_health(struct info_op *info, struct err *err)
{
	info->health.status = json_str(info->json, "status", NULL);
	info->health.uptime_seconds = json_int(info->json, -1, "uptime_seconds", NULL);
	if (info->health.status)
		return true;
	return err_set(err, ERR_RUNTIME_PROTOCOL, "the health answer has no status");
}

static bool take_pairs(struct info_op *info, struct err *err)
{
	const cJSON *env = json_get(info->json, "env", NULL), *item;

	if (!cJSON_IsObject(env))
		return err_set(err, ERR_RUNTIME_PROTOCOL, "the metadata answer has no env");
	info->pairs = x_calloc((size_t)cJSON_GetArraySize(env) + 1, sizeof *info->pairs);
	cJSON_ArrayForEach(item, env)
	{
		if (!item->string || !cJSON_IsString(item))
			return err_set(
				err, ERR_RUNTIME_PROTOCOL, "a metadata value is no text");
		info->pairs[info->n_pairs++] =
			(struct runtime_pair){ item->string, item->valuestring };
	}
	telemetry_span_set_int(info->op.span, "sandbox.metadata.count", (int64_t)info->n_pairs);
	return true;
}

static bool take(struct info_op *info, const struct net_http_reply *reply, struct slice body,
	struct err *err)
{
	/* a daemon without the endpoint has no metadata, which is no failure */
	if (info->on_pairs && reply->status == 404)
		return true;
	if (reply->status != 200)
		return runtime_route_error(
			info->op.runtime, err, ERRORS_DAEMON, reply->status, body);
	info->json = json_parse(body, err);
	if (!info->json)
		return false;
	return info->on_health ? take_health(info, err) : take_pairs(info, err);
}

static void on_done(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct info_op *info = arg;
	struct err failure = { 0 };

	runtime_rest_ended(&info->op, err);
	if (err)
		runtime_op_finish(&info->op, err);
	else if (take(info, reply, body, &failure))
		runtime_op_finish(&info->op, NULL);
	else
		runtime_op_finish(&info->op, &failure);
}

static bool begin(struct runtime_op *op, struct err *err)
{
	struct info_op *info = (struct info_op *)op;
	struct net_http_opts opts = {
		.method = "GET",
		.url = info->path,
		.max_body_bytes =
			info->on_health ? HEALTH_BYTES : op->runtime->max_listing_bytes,
		.done = on_done,
		.arg = info,
	};

	return runtime_rest_start(op, &opts, err);
}

static void complete(struct runtime_op *op, const struct err *err)
{
	struct info_op *info = (struct info_op *)op;

	if (info->on_health)
		info->on_health(info->arg, err, err ? NULL : &info->health);
	else
		info->on_pairs(
			info->arg, err, err ? NULL : info->pairs, err ? 0 : info->n_pairs);
}

static struct info_op *info_new(struct runtime *runtime, const char *path, int64_t timeout_ms,
	const char *span_name, void *arg)
{
	struct info_op *info = runtime_op_new(runtime, sizeof *info, LANE_REST,
		timeout_ms > 0 ? timeout_ms : setting_get(SETTING_FILE_TIMEOUT), span_name,
		NULL);

	info->path = path;
	info->arg = arg;
	info->op.begin = begin;
	info->op.complete = complete;
	info->op.release = release;
	return info;
}

struct runtime_op *runtime_health_start(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_health *health),
	void *arg, struct err *err)
{
	if (!runtime_can(runtime, RUNTIME_CAN_INFO)) {
		runtime_unsupported(err, "health with its detail");
		return NULL;
	}
	struct info_op *info = info_new(runtime, "/v1/health", timeout_ms, "health", arg);

	info->on_health = done;
	return runtime_op_launch(&info->op, err) ? &info->op : NULL;
}

struct runtime_op *runtime_metadata_start(struct runtime *runtime, int64_t timeout_ms,
	void (*done)(
		void *arg, const struct err *err, const struct runtime_pair *pairs, size_t n),
	void *arg, struct err *err)
{
	if (!runtime_can(runtime, RUNTIME_CAN_INFO)) {
		runtime_unsupported(err, "metadata");
		return NULL;
	}
	struct info_op *info = info_new(runtime, "/v1/metadata", timeout_ms, "metadata", arg);

	info->on_pairs = done;
	return runtime_op_launch(&info->op, err) ? &info->op : NULL;
}
