// SPDX-License-Identifier: Apache-2.0
/* The end of life of a claim, or of a Sandbox without one: read first, changed as it was read. Moving the time of a claim that
 * has already expired and was retained would revive it with a new, empty sandbox: so that is refused, and the resourceVersion
 * makes the race fail. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/fleet/op_change.h"
#include "engine/fleet/op_create.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/time.h"

#include <string.h>

enum { MAX_CONFLICTS = 3 };

static bool read_object(struct fleet_op *op, struct err *err);

static void on_patched(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_CONFLICT &&
		++op->change->conflicts < MAX_CONFLICTS) {
		if (!read_object(op, &why))
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

static const cJSON *lifecycle_of(const struct fleet_op *op, const cJSON *object)
{
	return op->on_sandbox ? json_get(object, "spec", NULL)
			      : json_get(object, "spec", "lifecycle", NULL);
}

/* What may not be changed, or need not. */
static bool check(const struct fleet_op *op, const cJSON *object, int64_t now_ns,
	int64_t wanted_s, struct err *err)
{
	const struct fleet_change *change = op->change;
	const char *uid = json_str(object, "metadata", "uid", NULL);
	const char *stored = json_str(lifecycle_of(op, object), "shutdownTime", NULL);
	int64_t stored_ns = 0;
	if (uid == NULL || strcmp(uid, op->uid) != 0 ||
		json_str(object, "metadata", "resourceVersion", NULL) == NULL)
		return err_set(
			err, ERR_CLAIM_REPLACED, "%s was deleted and created again", op->name);
	if (has_expired(object, stored ? stored : "", now_ns, &stored_ns))
		return err_set(err, ERR_CLAIM_EXPIRED, "%s has expired and cannot be %s",
			op->name, change->never_shorter ? "extended" : "changed");
	if (change->never_shorter && stored != NULL && wanted_s * 1000000000 <= stored_ns)
		return err_set(err, ERR_CLAIM_UNCHANGED,
			"%s lives until %s already, and is never shortened", op->name, stored);
	return true;
}

static void add_end(cJSON *lifecycle, int64_t wanted_s)
{
	char date[CLOCK_RFC3339_BYTES];
	if (wanted_s == 0)
		cJSON_AddNullToObject(lifecycle, "shutdownTime");
	else
		cJSON_AddStringToObject(lifecycle, "shutdownTime",
			k8s_time_format(wanted_s * 1000000000, K8S_TIME, date));
}

static cJSON *patch_of(const struct fleet_op *op, const char *revision, int64_t wanted_s)
{
	const struct fleet_lifetime *lifetime = &op->change->lifetime;
	cJSON *patch = cJSON_CreateObject();
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(patch, "metadata"), "resourceVersion", revision);
	cJSON *spec = cJSON_AddObjectToObject(patch, "spec");
	if (!op->on_sandbox)
		spec = cJSON_AddObjectToObject(spec, "lifecycle");
	if (lifetime->end != FLEET_END_KEPT)
		add_end(spec, wanted_s);
	if (lifetime->shutdown_policy != NULL)
		cJSON_AddStringToObject(spec, "shutdownPolicy", lifetime->shutdown_policy);
	if (lifetime->has_ttl)
		cJSON_AddNumberToObject(spec, "ttlSecondsAfterFinished",
			(double)((lifetime->ttl_ms + 999) / 1000));
	else if (lifetime->clears_ttl)
		cJSON_AddNullToObject(spec, "ttlSecondsAfterFinished");
	return patch;
}

static void on_read(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	const struct fleet_lifetime *lifetime = &op->change->lifetime;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL) {
		fleet_op_finish(op, err);
		return;
	}
	int64_t now_ns = clock_wall_ns() + kube_client_clock_skew_ms(op->fleet->kube) * 1000000;
	int64_t wanted_s = 0; /* whole seconds, rounded up */
	if (lifetime->end == FLEET_END_AFTER)
		wanted_s = (now_ns / 1000000 + lifetime->end_ms + 999) / 1000;
	else if (lifetime->end == FLEET_END_AT)
		wanted_s = (lifetime->end_ms + 999) / 1000;
	if (!check(op, object, now_ns, wanted_s, &why)) {
		fleet_op_finish(op, &why);
		return;
	}
	cJSON *patch =
		patch_of(op, json_str(object, "metadata", "resourceVersion", NULL), wanted_s);
	char *path = fleet_change_path(op);
	op->call = fleet_op_call(op, "PATCH", path, "fieldManager=sandmux", MERGE_PATCH, patch,
		on_patched, &why);
	free(path);
	cJSON_Delete(patch);
	if (op->call == NULL)
		fleet_op_finish(op, &why);
}

static bool read_object(struct fleet_op *op, struct err *err)
{
	char *path = fleet_change_path(op);
	op->call = fleet_op_call(op, "GET", path, NULL, NULL, NULL, on_read, err);
	free(path);
	return op->call != NULL;
}

static struct fleet_op *begin(struct fleet *fleet, const struct fleet_row *row,
	const struct fleet_lifetime *lifetime, const char *span, fleet_done_fn *done, void *arg,
	struct err *err)
{
	struct fleet_op *op = fleet_change_new(fleet, row, span, done, arg);
	struct err why = { 0 };
	op->change->lifetime = *lifetime;
	op->change->policy = x_strdup(lifetime->shutdown_policy);
	op->change->lifetime.shutdown_policy = op->change->policy;
	op->change->never_shorter = strcmp(span, "extend") == 0;
	if (!read_object(op, &why))
		err_copy(err, &why);
	return fleet_change_started(op, &why);
}

struct fleet_op *fleet_extend_start(struct fleet *fleet, const char *uid, int64_t extend_ms,
	fleet_done_fn *done, void *arg, struct err *err)
{
	const int64_t max_ms = (int64_t)100 * 366 * 24 * 3600 * 1000;
	const struct fleet_row *row;
	if ((row = fleet_op_row_to_change(fleet, uid, "extend", err)) == NULL)
		return NULL;
	if (extend_ms <= 0 || extend_ms > max_ms) {
		err_set(err, ERR_ARG_INVALID, "the extension must be positive");
		return NULL;
	}
	const struct fleet_lifetime lifetime = { .end = FLEET_END_AFTER, .end_ms = extend_ms };
	return begin(fleet, row, &lifetime, "extend", done, arg, err);
}

struct fleet_op *fleet_lifetime_start(struct fleet *fleet, const char *uid,
	const struct fleet_lifetime *lifetime, fleet_done_fn *done, void *arg, struct err *err)
{
	const struct fleet_row *row;
	if ((row = fleet_op_row_to_change(fleet, uid, "a change of its life", err)) == NULL)
		return NULL;
	bool is_sandbox = row->claim[0] == '\0';
	const char *policy = lifetime->shutdown_policy;
	bool ok = true;
	if (lifetime->end == FLEET_END_KEPT && policy == NULL && !lifetime->has_ttl &&
		!lifetime->clears_ttl)
		ok = err_set(err, ERR_ARG_INVALID, "nothing is to be changed");
	else if (policy != NULL && !fleet_claim_is_shutdown_policy(policy))
		ok = err_set(err, ERR_ARG_INVALID,
			"'%s' is not a shutdown policy: Delete, DeleteForeground or Retain",
			policy);
	else if (is_sandbox && policy != NULL && strcmp(policy, "DeleteForeground") == 0)
		ok = err_set(err, ERR_ARG_INVALID,
			"%s has no claim: its policy is Delete or Retain", row->sandbox);
	else if (is_sandbox && (lifetime->has_ttl || lifetime->clears_ttl))
		ok = err_set(err, ERR_ARG_INVALID,
			"%s has no claim, and only claims have a time to live after their end",
			row->sandbox);
	else if (lifetime->end != FLEET_END_KEPT && lifetime->end != FLEET_END_NEVER &&
		 lifetime->end_ms <= 0)
		ok = err_set(err, ERR_ARG_INVALID, "the end must lie in the future");
	return ok ? begin(fleet, row, lifetime, "change_lifetime", done, arg, err) : NULL;
}
