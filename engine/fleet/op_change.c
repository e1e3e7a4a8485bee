// SPDX-License-Identifier: Apache-2.0
/* Delete, suspend and resume, extend: each on the object that a row was, never on one that took its name since. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/binding.h"
#include "engine/fleet/binding_lease.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/time.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CONFLICTS = 3 };
#define MERGE_PATCH "application/merge-patch+json"

struct fleet_change {
	char sandbox_uid[FLEET_UID_BYTES];
	char *sandbox;
	bool suspend;
	int64_t extend_ms;
	int conflicts;
	char binding[FLEET_BINDING_DIGITS + 1]; /* of its Lease; "" */
};

static void change_drop(struct fleet_op *op)
{
	free(op->change->sandbox);
	free(op->change);
}

/* Of the labels of the row. */
static void read_binding(const struct fleet_row *row, char out[FLEET_BINDING_DIGITS + 1])
{
	const char *value = strstr(row->labels, FLEET_BINDING_LABEL "=");
	size_t n = sizeof FLEET_BINDING_LABEL;
	bool is_whole = value != NULL && (value == row->labels || value[-1] == ',') &&
			strcspn(value + n, ",") == FLEET_BINDING_DIGITS;
	snprintf(out, FLEET_BINDING_DIGITS + 1, "%.*s", is_whole ? FLEET_BINDING_DIGITS : 0,
		is_whole ? value + n : "");
}

static struct fleet_op *change_new(struct fleet *fleet, const struct fleet_row *row,
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

static struct fleet_op *started(struct fleet_op *op, const struct err *err)
{
	if (op->call != NULL)
		return op;
	fleet_op_end_spans(op, err);
	fleet_op_free(op);
	return NULL;
}

static char *object_path(const struct fleet_op *op)
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

struct fleet_op *fleet_delete_start(
	struct fleet *fleet, const char *uid, fleet_done_fn *done, void *arg, struct err *err)
{
	const struct fleet_row *row;
	if (!fleet_op_may_write(fleet, "delete", err) ||
		(row = fleet_op_row(fleet, uid, err)) == NULL)
		return NULL;
	struct fleet_op *op = change_new(fleet, row, "delete_claim", done, arg);
	struct err why = { 0 };
	char *path = object_path(op);
	cJSON *options = fleet_op_delete_options(op->uid);
	op->call = fleet_op_call(op, "DELETE", path, NULL, NULL, options, on_deleted, &why);
	cJSON_Delete(options);
	free(path);
	if (op->call == NULL)
		err_copy(err, &why);
	return started(op, &why);
}

/* ---- suspend, resume */

static void suspend_look(struct fleet_op *op)
{
	const struct fleet_row *row = fleet_find(op->fleet, op->uid);
	struct err err = { 0 };
	bool suspend = op->change->suspend;
	if (row == NULL || strcmp(row->sandbox_uid, op->change->sandbox_uid) != 0)
		err_set(&err, ERR_SANDBOX_DELETED, "Sandbox %s was deleted meanwhile",
			op->change->sandbox);
	else if (row->state == FLEET_TERMINATING)
		err_set(&err, ERR_SANDBOX_DELETED, "%s is being deleted", op->name);
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
	const struct fleet_row *row = fleet_find(op->fleet, op->uid);
	err_set(&err, op->change->suspend ? ERR_OP_TIMEOUT : ERR_SANDBOX_NOT_READY,
		"%s is not %s after %lld s: %s", op->name,
		op->change->suspend ? "suspended" : "ready",
		(long long)setting_get(SETTING_READY_TIMEOUT) / 1000,
		row ? row->why : "it is gone");
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
	if (err != NULL) {
		fleet_op_finish(op, err);
		return;
	}
	op->look = suspend_look;
	fleet_store_apply_answer(&op->fleet->store, STORE_SANDBOXES, object);
	net_loop_timer_arm(op->kick, 0);
}

struct fleet_op *fleet_suspend_start(struct fleet *fleet, const char *uid, bool suspend,
	fleet_done_fn *done, void *arg, struct err *err)
{
	const struct fleet_row *row;
	const char *verb = suspend ? "suspend" : "resume";
	if (!fleet_op_may_write(fleet, verb, err) ||
		(row = fleet_op_row(fleet, uid, err)) == NULL)
		return NULL;
	if (row->sandbox_uid[0] == '\0') {
		err_set(err, ERR_SANDBOX_NOT_FOUND, "%s has no Sandbox to %s", row->claim,
			verb);
		return NULL;
	}
	struct fleet_op *op = change_new(fleet, row, verb, done, arg);
	op->change->suspend = suspend;
	op->deadline = net_loop_timer_new(fleet->loop, on_suspend_deadline, op);
	op->kick = net_loop_timer_new(fleet->loop, on_suspend_kick, op);
	net_loop_timer_arm(op->deadline, setting_get(SETTING_READY_TIMEOUT));
	/* the uid makes the patch fail on a Sandbox that has taken the name since */
	cJSON *patch = cJSON_CreateObject();
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(patch, "metadata"), "uid", op->change->sandbox_uid);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(patch, "spec"), "operatingMode",
		suspend ? "Suspended" : "Running");
	char *path = kube_path(&k8s_sandboxes, op->namespace_, op->change->sandbox, NULL);
	struct err why = { 0 };
	op->call = fleet_op_call(op, "PATCH", path, "fieldManager=sandmux", MERGE_PATCH, patch,
		on_mode_patched, &why);
	free(path);
	cJSON_Delete(patch);
	if (op->call == NULL)
		err_copy(err, &why);
	return started(op, &why);
}

/* ---- extend */

static bool extend_read(struct fleet_op *op, struct err *err);

static void on_time_patched(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_CONFLICT &&
		++op->change->conflicts < MAX_CONFLICTS) {
		if (!extend_read(op, &why))
			fleet_op_finish(op, &why);
		return;
	}
	if (err == NULL)
		fleet_store_apply_answer(&op->fleet->store,
			op->on_sandbox ? STORE_SANDBOXES : STORE_CLAIMS, object);
	fleet_op_finish(op, err);
}

static bool has_expired(
	const cJSON *object, const char *stored, int64_t now_ns, int64_t *stored_ns)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "status", "conditions", NULL))
	{
		const char *reason = json_str(item, "reason", NULL);
		if (reason != NULL && (strcmp(reason, "ClaimExpired") == 0 ||
					      strcmp(reason, "SandboxExpired") == 0))
			return true;
	}
	return k8s_time_parse(stored, stored_ns) && *stored_ns <= now_ns;
}

/* Moving the time of a claim that has already expired and was retained would revive it with a new, empty sandbox: so
 * it is read first, and the resourceVersion makes the race fail. */
static void on_time_read(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL) {
		fleet_op_finish(op, err);
		return;
	}
	const char *uid = json_str(object, "metadata", "uid", NULL);
	const char *revision = json_str(object, "metadata", "resourceVersion", NULL);
	const char *stored =
		op->on_sandbox ? json_str(object, "spec", "shutdownTime", NULL)
			       : json_str(object, "spec", "lifecycle", "shutdownTime", NULL);
	int64_t now_ns = clock_wall_ns() + kube_client_clock_skew_ms(op->fleet->kube) * 1000000;
	int64_t stored_ns = 0;
	if (uid == NULL || strcmp(uid, op->uid) != 0 || revision == NULL) {
		err_set(&why, ERR_CLAIM_REPLACED, "%s was deleted and created again", op->name);
		fleet_op_finish(op, &why);
		return;
	}
	if (has_expired(object, stored ? stored : "", now_ns, &stored_ns)) {
		err_set(&why, ERR_CLAIM_EXPIRED, "%s has expired and cannot be extended",
			op->name);
		fleet_op_finish(op, &why);
		return;
	}
	int64_t wanted_s = (now_ns / 1000000 + op->change->extend_ms + 999) / 1000;
	if (stored != NULL && wanted_s * 1000000000 <= stored_ns) {
		err_set(&why, ERR_CLAIM_UNCHANGED,
			"%s lives until %s already, and is never shortened", op->name, stored);
		fleet_op_finish(op, &why);
		return;
	}
	char date[CLOCK_RFC3339_BYTES];
	k8s_time_format(wanted_s * 1000000000, K8S_TIME, date);
	cJSON *patch = cJSON_CreateObject();
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(patch, "metadata"), "resourceVersion", revision);
	cJSON *spec = cJSON_AddObjectToObject(patch, "spec");
	if (!op->on_sandbox)
		spec = cJSON_AddObjectToObject(spec, "lifecycle");
	cJSON_AddStringToObject(spec, "shutdownTime", date);
	char *path = object_path(op);
	op->call = fleet_op_call(op, "PATCH", path, "fieldManager=sandmux", MERGE_PATCH, patch,
		on_time_patched, &why);
	free(path);
	cJSON_Delete(patch);
	if (op->call == NULL)
		fleet_op_finish(op, &why);
}

static bool extend_read(struct fleet_op *op, struct err *err)
{
	char *path = object_path(op);
	op->call = fleet_op_call(op, "GET", path, NULL, NULL, NULL, on_time_read, err);
	free(path);
	return op->call != NULL;
}

struct fleet_op *fleet_extend_start(struct fleet *fleet, const char *uid, int64_t extend_ms,
	fleet_done_fn *done, void *arg, struct err *err)
{
	const int64_t max_ms = (int64_t)100 * 366 * 24 * 3600 * 1000;
	const struct fleet_row *row;
	if (!fleet_op_may_write(fleet, "extend", err) ||
		(row = fleet_op_row(fleet, uid, err)) == NULL)
		return NULL;
	if (extend_ms <= 0 || extend_ms > max_ms) {
		err_set(err, ERR_ARG_INVALID, "the extension must be positive");
		return NULL;
	}
	struct fleet_op *op = change_new(fleet, row, "extend", done, arg);
	struct err why = { 0 };
	op->change->extend_ms = extend_ms;
	if (!extend_read(op, &why))
		err_copy(err, &why);
	return started(op, &why);
}
