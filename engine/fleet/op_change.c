// SPDX-License-Identifier: Apache-2.0
/* Delete, suspend and resume: each on the object that a row was, never on one that took its name since. */
#include "engine/fleet/op_change.h"
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/binding.h"
#include "engine/fleet/binding_lease.h"
#include "engine/k8s/labels.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/time.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <string.h>

#define CLAIM_UID_LABEL "agents.x-k8s.io/claim-uid" /* of a Sandbox */

static void change_drop(struct fleet_op *op)
{
	free(op->change->sandbox);
	free(op->change->policy);
	free(op->change);
}

/* Of the labels of the row. */
static void read_binding(const struct fleet_row *row, char out[FLEET_BINDING_DIGITS + 1])
{
	size_t n = 0;
	const char *value = k8s_labels_find(row->labels, FLEET_BINDING_LABEL, &n);
	bool is_whole = value != NULL && n == FLEET_BINDING_DIGITS;
	snprintf(out, FLEET_BINDING_DIGITS + 1, "%.*s", is_whole ? FLEET_BINDING_DIGITS : 0,
		is_whole ? value : "");
}

struct fleet_op *fleet_change_new(struct fleet *fleet, const struct fleet_row *row,
	const char *span, fleet_done_fn *done, void *arg)
{
	struct fleet_op *op = fleet_op_new(fleet, span);
	op->change = x_calloc(1, sizeof *op->change);
	op->drop = change_drop;
	op->done = done;
	op->arg = arg;
	op->on_sandbox = row->claim[0] == '\0';
	op->namespace_ = x_strdup(row->namespace_);
	op->name = x_strdup(op->on_sandbox ? row->sandbox : row->claim);
	op->change->sandbox = x_strdup(row->sandbox);
	read_binding(row, op->change->binding);
	memcpy(op->uid, row->uid, sizeof op->uid);
	memcpy(op->change->sandbox_uid, row->sandbox_uid, sizeof row->sandbox_uid);
	telemetry_span_set_str(
		op->span, op->on_sandbox ? "sandbox.name" : "sandbox.claim.name", op->name);
	return op;
}

struct fleet_op *fleet_change_started(struct fleet_op *op, const struct err *err)
{
	if (op->call != NULL)
		return op;
	fleet_op_end_spans(op, err);
	fleet_op_free(op);
	return NULL;
}

char *fleet_change_path(const struct fleet_op *op)
{
	return kube_path(op->on_sandbox ? &k8s_sandboxes : &k8s_sandboxclaims, op->namespace_,
		op->name, NULL);
}

/* ---- delete */

static void on_deleted(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND)
		err = NULL;
	if (err != NULL && err->code == ERR_KUBE_CONFLICT) {
		err_set(&why, ERR_CLAIM_REPLACED,
			"%s is gone already; another one of that name was left alone",
			op->name);
		err = &why;
	}
	if (err == NULL && op->change->binding[0])
		fleet_unbind_start(
			op->fleet, op->namespace_, op->change->binding, op->name, op->uid);
	/* finalizers hold it: shown at once. Otherwise the watch takes the row away. */
	if (err == NULL && json_str(object, "metadata", "deletionTimestamp", NULL) != NULL)
		fleet_store_apply_answer(&op->fleet->store,
			op->on_sandbox ? STORE_SANDBOXES : STORE_CLAIMS, object);
	fleet_op_finish(op, err);
}

static cJSON *delete_options(const char *uid, const struct fleet_delete_opts *opts)
{
	static const char *const policies[] = { [FLEET_DELETE_BACKGROUND] = "Background",
		[FLEET_DELETE_FOREGROUND] = "Foreground",
		[FLEET_DELETE_ORPHAN] = "Orphan" };
	cJSON *options = fleet_op_delete_options(uid);
	if (opts == NULL)
		return options;
	cJSON_ReplaceItemInObjectCaseSensitive(
		options, "propagationPolicy", cJSON_CreateString(policies[opts->propagation]));
	if (opts->has_grace)
		cJSON_AddNumberToObject(options, "gracePeriodSeconds", (double)opts->grace_s);
	return options;
}

struct fleet_op *fleet_delete_with_start(struct fleet *fleet, const char *uid,
	const struct fleet_delete_opts *opts, fleet_done_fn *done, void *arg, struct err *err)
{
	const struct fleet_row *row;
	if ((row = fleet_op_row_to_change(fleet, uid, "delete", err)) == NULL)
		return NULL;
	struct fleet_op *op = fleet_change_new(fleet, row, "delete_claim", done, arg);
	struct err why = { 0 };
	char *path = fleet_change_path(op);
	cJSON *options = delete_options(op->uid, opts);
	op->call = fleet_op_call(op, "DELETE", path, NULL, NULL, options, on_deleted, &why);
	cJSON_Delete(options);
	free(path);
	if (op->call == NULL)
		err_copy(err, &why);
	return fleet_change_started(op, &why);
}

struct fleet_op *fleet_delete_start(
	struct fleet *fleet, const char *uid, fleet_done_fn *done, void *arg, struct err *err)
{
	return fleet_delete_with_start(fleet, uid, NULL, done, arg, err);
}

/* ---- suspend, resume */

static void suspend_look(struct fleet_op *op)
{
	const struct fleet_row *row = fleet_find(op->fleet, op->uid);
	struct err err = { 0 };
	bool suspend = op->change->suspend;
	op->change->is_unseen &= row != NULL && row->sandbox_uid[0] == '\0';
	if (row == NULL || (!op->change->is_unseen &&
				   strcmp(row->sandbox_uid, op->change->sandbox_uid) != 0))
		err_set(&err, ERR_SANDBOX_DELETED, "Sandbox %s was deleted meanwhile",
			op->change->sandbox);
	else if (row->state == FLEET_TERMINATING)
		err_set(&err, ERR_SANDBOX_DELETED, "%s is being deleted", op->name);
	else if (op->change->is_unseen)
		return;
	else if (row->state != (suspend ? FLEET_SUSPENDED : FLEET_READY) &&
		 !fleet_op_is_hopeless(op->fleet, row, &err))
		return;
	fleet_op_finish(op, err.code != ERR_NONE ? &err : NULL);
}

static void on_suspend_kick(void *arg)
{
	suspend_look(arg);
}

static void on_suspend_deadline(void *arg)
{
	struct fleet_op *op = arg;
	struct err err = { 0 };
	char because[FLEET_BECAUSE_BYTES];
	const struct fleet_row *row = fleet_find(op->fleet, op->uid);
	err_set(&err, op->change->suspend ? ERR_OP_TIMEOUT : ERR_SANDBOX_NOT_READY,
		"%s is not %s after %lld s%s", op->name,
		op->change->suspend ? "suspended" : "ready",
		(long long)setting_get(SETTING_READY_TIMEOUT) / 1000,
		row ? fleet_row_because(row, because) : ": it is gone");
	fleet_op_finish(op, &err);
}

static void on_mode_patched(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND) {
		err_set(&why, ERR_SANDBOX_NOT_FOUND, "Sandbox %s is gone", op->change->sandbox);
		err = &why;
	}
	if (err != NULL || kube_client_is_dry_run(op->fleet->kube)) { /* nothing will change */
		fleet_op_finish(op, err);
		return;
	}
	op->look = suspend_look;
	fleet_store_apply_answer(&op->fleet->store, STORE_SANDBOXES, object);
	net_loop_timer_arm(op->kick, 0);
}

static void patch_mode(struct fleet_op *op, struct err *err)
{
	/* the uid makes the patch fail on a Sandbox that has taken the name since */
	cJSON *patch = cJSON_CreateObject();
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(patch, "metadata"), "uid", op->change->sandbox_uid);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(patch, "spec"), "operatingMode",
		op->change->suspend ? "Suspended" : "Running");
	char *path = kube_path(&k8s_sandboxes, op->namespace_, op->change->sandbox, NULL);
	op->call = fleet_op_call(op, "PATCH", path, "fieldManager=sandmux", MERGE_PATCH, patch,
		on_mode_patched, err);
	free(path);
	cJSON_Delete(patch);
}

static const char *mode_verb(bool suspend)
{
	return suspend ? "suspend" : "resume";
}

/* By its label, else its controller; a Sandbox that tells neither is the one that the claim names. */
static bool is_of_another(const cJSON *sandbox, const char *claim_uid)
{
	const char *uid = json_str(sandbox, "metadata", "labels", CLAIM_UID_LABEL, NULL);
	const cJSON *owner;
	cJSON_ArrayForEach(owner, json_get(sandbox, "metadata", "ownerReferences", NULL))
	{
		if ((uid == NULL || !uid[0]) && json_bool(owner, false, "controller", NULL))
			uid = json_str(owner, "uid", NULL);
	}
	return uid != NULL && uid[0] && strcmp(uid, claim_uid) != 0;
}

static void on_named_sandbox(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	const char *uid = json_str(object, "metadata", "uid", NULL);
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code != ERR_KUBE_NOT_FOUND) {
		fleet_op_finish(op, err);
		return;
	}
	if (err != NULL || uid == NULL || is_of_another(object, op->uid)) {
		err_set(&why, ERR_SANDBOX_NOT_FOUND, "%s has no Sandbox to %s", op->name,
			mode_verb(op->change->suspend));
		fleet_op_finish(op, &why);
		return;
	}
	op->change->is_unseen = true;
	snprintf(op->change->sandbox_uid, sizeof op->change->sandbox_uid, "%s", uid);
	patch_mode(op, &why);
	if (op->call == NULL)
		fleet_op_finish(op, &why);
}

/* The claim says Ready and names a Sandbox that the watch has not told yet, as right after a creation: asked for. */
static void find_named_sandbox(struct fleet_op *op, struct err *err)
{
	char *path = kube_path(&k8s_sandboxes, op->namespace_, op->change->sandbox, NULL);
	op->call = fleet_op_call(op, "GET", path, NULL, NULL, NULL, on_named_sandbox, err);
	free(path);
}

struct fleet_op *fleet_suspend_start(struct fleet *fleet, const char *uid, bool suspend,
	fleet_done_fn *done, void *arg, struct err *err)
{
	const struct fleet_row *row;
	const char *verb = mode_verb(suspend);
	if ((row = fleet_op_row_to_change(fleet, uid, verb, err)) == NULL)
		return NULL;
	if (row->sandbox[0] == '\0') {
		char because[FLEET_BECAUSE_BYTES];
		err_set(err, ERR_SANDBOX_NOT_FOUND, "%s has no Sandbox to %s yet%s", row->claim,
			verb, fleet_row_because(row, because));
		return NULL;
	}
	struct fleet_op *op = fleet_change_new(fleet, row, verb, done, arg);
	op->change->suspend = suspend;
	op->deadline = net_loop_timer_new(fleet->loop, on_suspend_deadline, op);
	op->kick = net_loop_timer_new(fleet->loop, on_suspend_kick, op);
	net_loop_timer_arm(op->deadline, setting_get(SETTING_READY_TIMEOUT));
	struct err why = { 0 };
	if (row->sandbox_uid[0])
		patch_mode(op, &why);
	else
		find_named_sandbox(op, &why);
	if (op->call == NULL)
		err_copy(err, &why);
	return fleet_change_started(op, &why);
}
