// SPDX-License-Identifier: Apache-2.0
/* The whole objects of a row, fetched side by side. One that is missing or may not be read is left out. */
#include "engine/base/map.h"
#include "engine/fleet/fleet_internal.h"
#include "engine/k8s/resource.h"
#include "engine/net/loop.h"

#include <string.h>

struct fleet_op_detail {
	cJSON *claim, *sandbox, *pod;
	struct err claim_err, sandbox_err, pod_err;
	int pending;
	void (*done)(void *arg, const struct err *err, const struct fleet_detail *detail);
	void *arg;
};

static void detail_drop(struct fleet_op *op)
{
	cJSON_Delete(op->detail->claim);
	cJSON_Delete(op->detail->sandbox);
	cJSON_Delete(op->detail->pod);
	free(op->detail);
}

static void detail_finish(struct fleet_op *op)
{
	struct fleet_op_detail *detail = op->detail;
	void (*done)(void *, const struct err *, const struct fleet_detail *) = detail->done;
	void *arg = detail->arg;
	bool is_empty = detail->claim == NULL && detail->sandbox == NULL;
	struct err claim_err = detail->claim_err, sandbox_err = detail->sandbox_err,
		   pod_err = detail->pod_err;
	struct err err = claim_err.code != ERR_NONE     ? claim_err
			 : sandbox_err.code != ERR_NONE ? sandbox_err
							: pod_err;
	if (is_empty && err.code == ERR_NONE)
		err_set(&err, ERR_CLAIM_NOT_FOUND, "%s is gone", op->name);
	/* the operation ends before the callback; its objects live until after it */
	struct fleet_detail out = {
		.claim = detail->claim,
		.sandbox = detail->sandbox,
		.pod = detail->pod,
		.claim_err = claim_err.code != ERR_NONE ? &claim_err : NULL,
		.sandbox_err = sandbox_err.code != ERR_NONE ? &sandbox_err : NULL,
		.pod_err = pod_err.code != ERR_NONE ? &pod_err : NULL,
	};
	cJSON *objects[] = { detail->claim, detail->sandbox, detail->pod };
	detail->claim = detail->sandbox = detail->pod = NULL;
	fleet_op_end_spans(op, is_empty ? &err : NULL);
	fleet_op_free(op);
	done(arg, is_empty ? &err : NULL, is_empty ? NULL : &out);
	for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
		cJSON_Delete(objects[i]);
}

static void answered(struct fleet_op *op, cJSON **slot, struct err *why, const struct err *err,
	const cJSON *object)
{
	struct fleet_op_detail *detail = op->detail;
	if (err == NULL)
		*slot = cJSON_Duplicate(object, true);
	else if (err->code != ERR_KUBE_NOT_FOUND)
		*why = *err;
	if (--detail->pending == 0)
		detail_finish(op);
}

static void on_claim(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	op->call = NULL;
	answered(op, &op->detail->claim, &op->detail->claim_err, err, object);
}

static void on_sandbox(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	op->second_call = NULL;
	answered(op, &op->detail->sandbox, &op->detail->sandbox_err, err, object);
}

static void on_pod(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	op->third_call = NULL;
	answered(op, &op->detail->pod, &op->detail->pod_err, err, object);
}

static bool fetch(struct fleet_op *op, struct kube_call **slot,
	const struct k8s_resource *resource, const char *name,
	void (*done)(void *arg, const struct err *err, const cJSON *object), struct err *err)
{
	if (!name[0])
		return true;
	char *path = kube_path(resource, op->namespace_, name, NULL);
	*slot = fleet_op_call(op, "GET", path, NULL, NULL, NULL, done, err);
	free(path);
	op->detail->pending += *slot != NULL;
	return *slot != NULL;
}

struct fleet_op *fleet_detail_start(struct fleet *fleet, const char *uid,
	void (*done)(void *arg, const struct err *err, const struct fleet_detail *detail),
	void *arg, struct err *err)
{
	const struct fleet_row *row = fleet_op_row(fleet, uid, err);
	if (row == NULL)
		return NULL;
	struct fleet_op *op = fleet_op_new(fleet, "detail");
	op->detail = x_calloc(1, sizeof *op->detail);
	op->drop = detail_drop;
	op->detail->done = done;
	op->detail->arg = arg;
	op->namespace_ = x_strdup(row->namespace_);
	op->name = x_strdup(row->claim[0] ? row->claim : row->sandbox);
	struct err why = { 0 };
	if (fetch(op, &op->call, &k8s_sandboxclaims, row->claim, on_claim, &why) &&
		fetch(op, &op->second_call, &k8s_sandboxes, row->sandbox, on_sandbox, &why) &&
		fetch(op, &op->third_call, &k8s_pods, row->pod, on_pod, &why))
		return op;
	err_copy(err, &why);
	fleet_op_end_spans(op, &why);
	fleet_op_free(op);
	return NULL;
}
