// SPDX-License-Identifier: Apache-2.0
/* What all operations share. */
#include "engine/fleet/fleet_internal.h"

#include "engine/base/map.h"
#include "engine/fleet/template_policy.h"
#include "engine/net/loop.h"

#include <string.h>

struct fleet_op *fleet_op_new(struct fleet *fleet, const char *span_name)
{
	struct fleet_op *op = x_calloc(1, sizeof *op);
	op->fleet = fleet;
	op->span = telemetry_span_start(fleet->telemetry, span_name, NULL);
	DL_APPEND(fleet->ops, op);
	return op;
}

static void end_spans(struct fleet_op *op, const struct err *err)
{
	if (op->stage_span != NULL)
		telemetry_span_end(op->stage_span, err);
	if (op->span != NULL)
		telemetry_span_end(op->span, err);
	op->stage_span = op->span = NULL;
}

void fleet_op_free(struct fleet_op *op)
{
	struct err cancelled = { .code = ERR_OP_CANCELLED };
	DL_DELETE(op->fleet->ops, op);
	op->fleet->n_ended++;
	kube_call_cancel(op->call);
	kube_call_cancel(op->second_call);
	kube_call_cancel(op->third_call);
	if (op->drop != NULL)
		op->drop(op);
	end_spans(op, &cancelled);
	net_loop_timer_free(op->deadline);
	net_loop_timer_free(op->kick);
	free(op->namespace_);
	free(op->name);
	free(op);
}

void fleet_op_cancel(struct fleet_op *op)
{
	if (op != NULL)
		fleet_op_free(op);
}

void fleet_op_end_spans(struct fleet_op *op, const struct err *err)
{
	end_spans(op, err);
}

void fleet_op_finish(struct fleet_op *op, const struct err *err)
{
	fleet_done_fn *done = op->done;
	void *arg = op->arg;
	struct err kept = { 0 };
	if (err != NULL)
		kept = *err; /* it may be the operation's own */
	end_spans(op, err);
	fleet_op_free(op);
	done(arg, err != NULL ? &kept : NULL);
}

const struct fleet_row *fleet_op_row(struct fleet *fleet, const char *uid, struct err *err)
{
	const struct fleet_store_row *row = fleet_store_find(&fleet->store, uid);
	if (row == NULL)
		err_set(err, ERR_CLAIM_NOT_FOUND, "it is gone");
	return row ? &row->shown : NULL;
}

bool fleet_op_may_write(const struct fleet *fleet, const char *verb, struct err *err)
{
	if (!fleet->read_only)
		return true;
	return err_set(err, ERR_OP_READ_ONLY, "read-only: %s is refused", verb);
}

const struct fleet_row *fleet_op_row_to_change(
	struct fleet *fleet, const char *uid, const char *verb, struct err *err)
{
	const struct fleet_row *row =
		fleet_op_may_write(fleet, verb, err) ? fleet_op_row(fleet, uid, err) : NULL;
	return row != NULL && fleet_policy_admits(fleet->policy, row, err) ? row : NULL;
}

struct kube_call *fleet_op_call(struct fleet_op *op, const char *method, const char *path,
	const char *query, const char *content_type, const cJSON *body,
	void (*done)(void *arg, const struct err *err, const cJSON *object), struct err *err)
{
	char traceparent[SPAN_TRACEPARENT_BYTES];
	char *text = body ? cJSON_PrintUnformatted(body) : NULL;
	const struct kube_call_opts opts = {
		.method = method,
		.path = path,
		.query = query,
		.content_type = content_type,
		.body = text ? slice_of(text) : (struct slice){ NULL, 0 },
		.traceparent = telemetry_span_traceparent(
			op->stage_span ? op->stage_span : op->span, traceparent),
		.done = done,
		.arg = op,
	};
	struct kube_call *call = kube_call_start(op->fleet->kube, &opts, err);
	x_free_secret(text); /* environment values may be secrets */
	return call;
}

static enum err_code failure_code(const struct fleet_store_row *row)
{
	const struct fleet_condition *finished =
		row->sandbox ? row->sandbox->finished : row->claim->finished;
	enum fleet_reason claim =
		row->claim ? (enum fleet_reason)row->claim->ready.code : REASON_OTHER;
	if (claim == REASON_InvalidMetadata || claim == REASON_EnvVarsInjectionRejected ||
		claim == REASON_VolumeClaimTemplatesError)
		return ERR_CLAIM_REJECTED;
	return finished->status == CONDITION_TRUE ? ERR_SANDBOX_FINISHED : ERR_CLAIM_FAILED;
}

/* It may be mended while the pod waits. */
static bool is_held_by_pod(const struct fleet_store_row *row)
{
	return row->claim->ready.code != REASON_WarmPoolNotFound &&
	       row->claim->ready.code != REASON_TemplateNotFound;
}

bool fleet_op_is_hopeless(
	const struct fleet *fleet, const struct fleet_row *shown, struct err *err)
{
	const struct fleet_store_row *row = fleet_store_find(&fleet->store, shown->uid);
	const char *name = shown->claim[0] ? shown->claim : shown->sandbox;
	enum err_code code = ERR_NONE;
	if (shown->state == FLEET_EXPIRED)
		code = ERR_CLAIM_EXPIRED;
	else if (shown->state == FLEET_FINISHED)
		code = ERR_SANDBOX_FINISHED;
	else if (shown->state == FLEET_BLOCKED && row->claim != NULL && !is_held_by_pod(row))
		code = row->claim->ready.code == REASON_WarmPoolNotFound
			       ? ERR_POOL_NOT_FOUND
			       : ERR_TEMPLATE_NOT_FOUND;
	else if (shown->state == FLEET_FAILED)
		code = failure_code(row);
	if (code == ERR_NONE)
		return false;
	err_set(err, code, "%s: %s", name, shown->why);
	return true;
}

cJSON *fleet_op_delete_options(const char *uid)
{
	cJSON *options = cJSON_CreateObject();
	cJSON_AddStringToObject(options, "kind", "DeleteOptions");
	cJSON_AddStringToObject(options, "apiVersion", "v1");
	cJSON_AddStringToObject(options, "propagationPolicy", "Background");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(options, "preconditions"), "uid", uid);
	return options;
}
