// SPDX-License-Identifier: Apache-2.0
/* The claim controller.
 *
 *   new ─> checks (pool, template, metadata, env, volumes) ─┬─> adopt a warm Sandbox ─┐
 *           └── fails: Ready False with the reason          └─> make one (cold) ──────┴─> forward its state
 *   expiry (shutdownTime, ttlSecondsAfterFinished) ─> Delete, DeleteForeground or Retain */
#include "local/server/manager/internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 512, WARM_WAIT_MS = 2000, WARM_LOOK_MS = 500, RECHECK_MS = 60000 };

static int64_t ms_since(const char *date)
{
	int64_t ns;
	if (!k8s_time_parse(date, &ns))
		return 0;
	return (clock_wall_ns() - ns) / 1000000;
}

/* ---- status ---- */

static struct store_object *write_failure(
	struct controller *c, struct store_object *o, const char *reason, const char *message)
{
	cJSON *json = cJSON_Duplicate(o->json, true);
	cJSON *status = controller_unstructured_object(json, "status");
	if (!cJSON_GetObjectItemCaseSensitive(status, "sandbox"))
		cJSON_AddObjectToObject(status, "sandbox");
	controller_condition_set(status, "Ready", "False", reason, message,
		json_int(json, 1, "metadata", "generation", NULL));
	return controller_update(c, o, json, OBJECTS_STATUS);
}

/* The Sandbox's Ready and Finished, its name and its addresses, in one write. */
static struct store_object *forward(
	struct controller *c, struct store_object *o, struct store_object *sandbox)
{
	cJSON *json = cJSON_Duplicate(o->json, true);
	cJSON *status = controller_unstructured_object(json, "status"),
	      *bound = controller_unstructured_object(status, "sandbox");
	const cJSON *ready = k8s_condition_find(sandbox->json, "Ready");
	const cJSON *finished = k8s_condition_find(sandbox->json, "Finished");
	const cJSON *ips = json_get(sandbox->json, "status", "podIPs", NULL);
	const char *reason = json_str(ready, "reason", NULL);
	controller_unstructured_set(bound, "name", sandbox->name);
	controller_unstructured_drop(bound, "podIPs");
	if (ips)
		controller_unstructured_set_item(bound, "podIPs", cJSON_Duplicate(ips, true));
	if (!ready)
		controller_condition_set(
			status, "Ready", "False", "SandboxNotReady", "Sandbox is not ready", 0);
	else if (reason && strcmp(reason, "SandboxExpired") == 0)
		controller_condition_set(status, "Ready", "False", "SandboxExpired",
			"Underlying Sandbox resource has expired independently of the Claim.",
			0);
	else
		controller_condition_put(status, ready);
	if (finished)
		controller_condition_put(status, finished);
	return controller_update(c, o, json, OBJECTS_STATUS);
}

static struct store_object *annotate(
	struct controller *c, struct store_object *o, const char *key, const char *value)
{
	cJSON *json = cJSON_Duplicate(o->json, true);
	controller_unstructured_set_annotation(json, key, value);
	return controller_update(c, o, json, OBJECTS_MAIN);
}

static struct store_object *note_first_ready(struct controller *c, struct store_object *o)
{
	char now[CLOCK_RFC3339_BYTES];
	if (!o || !k8s_condition_is_true(o->json, "Ready") ||
		controller_unstructured_annotation(o->json, ANNOTATION_FIRST_READY))
		return o;
	return annotate(c, o, ANNOTATION_FIRST_READY, k8s_time_now(K8S_NANO_TIME, now));
}

/* ---- binding ---- */

static bool is_bound_to(const struct store_object *sandbox, const struct store_object *claim)
{
	return sandbox && !store_objects_is_terminating(sandbox) &&
	       controller_is_owned_by(sandbox->json, claim->uid);
}

static struct store_object *find_bound(struct controller *c, const struct store_object *o)
{
	struct store *s = c->server->store;
	const char *name = json_str(o->json, "status", "sandbox", "name", NULL);
	struct store_object *sandbox = name ? store_get(s, KIND_SANDBOX, o->ns, name) : NULL;
	if (is_bound_to(sandbox, o))
		return sandbox;
	name = controller_unstructured_annotation(o->json, ANNOTATION_SANDBOX_NAME);
	sandbox = name ? store_get(s, KIND_SANDBOX, o->ns, name) : NULL;
	if (is_bound_to(sandbox, o))
		return sandbox;
	for (size_t i = 0; i < store_count(s, KIND_SANDBOX); i++) {
		sandbox = store_at(s, KIND_SANDBOX, i);
		if (strcmp(sandbox->ns, o->ns) == 0 && is_bound_to(sandbox, o))
			return sandbox;
	}
	return NULL;
}

/* The oldest ready Sandbox of the pool; *n_coming counts those that will be ready soon. */
static struct store_object *find_warm(
	struct controller *c, const struct store_object *pool, size_t *n_coming)
{
	struct store *s = c->server->store;
	struct store_object *best = NULL;
	*n_coming = 0;
	for (size_t i = 0; i < store_count(s, KIND_SANDBOX); i++) {
		struct store_object *o = store_at(s, KIND_SANDBOX, i);
		if (strcmp(o->ns, pool->ns) != 0 || store_objects_is_terminating(o) ||
			!controller_is_owned_by(o->json, pool->uid) ||
			!controller_unstructured_label(o->json, LABEL_WARM_POOL))
			continue;
		if (!k8s_condition_is_true(o->json, "Ready"))
			(*n_coming)++;
		else if (!best || o->rv < best->rv)
			best = o;
	}
	return best;
}

static void label_for_claim(
	cJSON *sandbox, const struct store_object *claim, const char *launch)
{
	const char *by = controller_unstructured_label(claim->json, LABEL_CREATED_BY);
	controller_unstructured_set_label(sandbox, LABEL_CREATED_BY, by ? by : "controller");
	controller_unstructured_set_label(sandbox, LABEL_CLAIM_UID, claim->uid);
	controller_unstructured_set_label(sandbox, LABEL_LAUNCH_TYPE, launch);
	controller_unstructured_set_label(sandbox, LABEL_WARM_POOL, NULL);
	controller_unstructured_set_label(sandbox, LABEL_TEMPLATE_HASH, NULL);
	controller_unstructured_set_label(sandbox, LABEL_POD_TEMPLATE_HASH, NULL);
	controller_unstructured_set_owner(sandbox, claim);
}

/* NULL with a message if the claim's metadata contradicts the Sandbox's. */
static struct store_object *adopt(struct controller *c, struct store_object *claim,
	struct store_object *warm, char *message, size_t n)
{
	cJSON *json = cJSON_Duplicate(warm->json, true);
	if (!manager_claim_apply_metadata(claim->json, json, message, n)) {
		cJSON_Delete(json);
		return NULL;
	}
	label_for_claim(json, claim, "warm");
	struct store_object *sandbox = controller_update(c, warm, json, OBJECTS_MAIN);
	if (!sandbox) {
		snprintf(message, n, "Error seen: adoption of \"%.200s\" failed", warm->name);
		return NULL;
	}
	controller_events_record(c, claim, EVENT_NORMAL, "SandboxAdopted", "Adoption",
		"Adopted warm pool Sandbox \"%s\"", sandbox->name);
	return sandbox;
}

static struct store_object *make_cold(struct controller *c, struct store_object *claim,
	const struct store_object *template, char *message, size_t n)
{
	struct err err = { 0 };
	cJSON *json = manager_sandbox_from_template(template);
	if (!manager_claim_apply_overrides(claim->json, template, json, message, n)) {
		cJSON_Delete(json);
		return NULL;
	}
	label_for_claim(json, claim, "cold");
	controller_unstructured_set(
		controller_unstructured_object(json, "metadata"), "name", claim->name);
	struct store_object *sandbox =
		controller_create(c, KIND_SANDBOX, claim->ns, json, &err);
	if (!sandbox) {
		snprintf(message, n, "Error seen: %.400s", err.msg);
		return NULL;
	}
	controller_events_record(c, claim, EVENT_NORMAL, "SandboxProvisioned", "Provision",
		"Created Sandbox \"%s\"", sandbox->name);
	return sandbox;
}

static bool wants_cold(const struct store_object *claim)
{
	return cJSON_GetArraySize(json_get(claim->json, "spec", "env", NULL)) > 0 ||
	       cJSON_GetArraySize(json_get(claim->json, "spec", "volumeClaimTemplates", NULL)) >
		       0;
}

/* Why this claim cannot have a sandbox; NULL: it can. */
static const char *refuse(const struct store_object *claim, const struct store_object *template,
	char *message, size_t n)
{
	const cJSON *spec = json_get(template->json, "spec", NULL);
	const char *reason = manager_claim_check_metadata(claim->json, message, n);
	if (!reason)
		reason = manager_claim_check_env(claim->json, spec, message, n);
	if (!reason)
		reason = manager_claim_check_volumes(claim->json, spec, message, n);
	return reason;
}

/* Gives the claim a Sandbox. Returns it, or NULL with *again set and the reason written down. */
static struct store_object *bind_claim(
	struct controller *c, struct store_object *o, int64_t *again)
{
	struct store *s = c->server->store;
	char message[MESSAGE_BYTES] = "";
	size_t n_coming;
	const char *name = json_str(o->json, "spec", "warmPoolRef", "name", NULL);
	struct store_object *pool = store_get(s, KIND_POOL, o->ns, name ? name : "");
	struct store_object *sandbox = NULL, *template;
	*again = RECHECK_MS;
	if (!pool || store_objects_is_terminating(pool)) {
		snprintf(message, sizeof message, "SandboxWarmPool \"%.253s\" not found",
			name ? name : "");
		write_failure(c, o, "WarmPoolNotFound", message);
		return NULL;
	}
	name = json_str(pool->json, "spec", "sandboxTemplateRef", "name", NULL);
	template = store_get(s, KIND_TEMPLATE, o->ns, name ? name : "");
	if (!template) {
		snprintf(message, sizeof message, "SandboxTemplate \"%.253s\" not found",
			name ? name : "");
		write_failure(c, o, "TemplateNotFound", message);
		return NULL;
	}
	const char *reason = refuse(o, template, message, sizeof message);
	if (reason) {
		*again = 0;
		write_failure(c, o, reason, message);
		return NULL;
	}
	if (!wants_cold(o)) {
		struct store_object *warm = find_warm(c, pool, &n_coming);
		int64_t age = ms_since(
			controller_unstructured_annotation(o->json, ANNOTATION_FIRST_OBSERVED));
		if (!warm && n_coming > 0 && age < WARM_WAIT_MS) {
			*again = WARM_LOOK_MS;
			return NULL;
		}
		if (warm)
			sandbox = adopt(c, o, warm, message, sizeof message);
	}
	if (!sandbox && !message[0])
		sandbox = make_cold(c, o, template, message, sizeof message);
	if (!sandbox) {
		*again = 5000;
		write_failure(c, o, "ReconcilerError", message);
	}
	return sandbox;
}

/* ---- expiry ---- */

/* Ms until the claim expires; INT64_MAX if it does not. */
static int64_t ms_left(const struct store_object *o)
{
	int64_t ns, left = INT64_MAX, now = clock_wall_ns();
	const char *date = json_str(o->json, "spec", "lifecycle", "shutdownTime", NULL);
	int64_t ttl =
		json_int(o->json, -1, "spec", "lifecycle", "ttlSecondsAfterFinished", NULL);
	if (k8s_time_parse(date, &ns))
		left = (ns - now) / 1000000 + 1;
	if (ttl >= 0 && k8s_condition_is_true(o->json, "Finished")) {
		date = json_str(
			k8s_condition_find(o->json, "Finished"), "lastTransitionTime", NULL);
		if (k8s_time_parse(date, &ns)) {
			int64_t after = (ns - now) / 1000000 + ttl * 1000 + 1;
			left = after < left ? after : left;
		}
	}
	return left < 0 ? 0 : left;
}

static void expire(struct controller *c, struct store_object *o)
{
	const char *policy = json_str(o->json, "spec", "lifecycle", "shutdownPolicy", NULL);
	const char *reason = json_str(k8s_condition_find(o->json, "Ready"), "reason", NULL);
	struct store_object *sandbox = find_bound(c, o);
	bool is_known = reason && strcmp(reason, "ClaimExpired") == 0;
	if (!is_known)
		controller_events_record(c, o, EVENT_NORMAL, "ClaimExpired", "Expire",
			"Claim expired; policy %s", policy ? policy : "Retain");
	if (policy && strncmp(policy, "Delete", 6) == 0) {
		controller_delete(c, o,
			strcmp(policy, "Delete") == 0 ? OBJECTS_BACKGROUND
						      : OBJECTS_FOREGROUND);
		return;
	}
	if (sandbox)
		controller_delete(c, sandbox, OBJECTS_BACKGROUND);
	cJSON *json = cJSON_Duplicate(o->json, true);
	cJSON *status = controller_unstructured_object(json, "status");
	controller_unstructured_set_item(status, "sandbox", cJSON_CreateObject());
	controller_condition_set(status, "Ready", "False", "ClaimExpired",
		"Claim expired. Sandbox cleanup initiated.",
		json_int(json, 1, "metadata", "generation", NULL));
	controller_update(c, o, json, OBJECTS_STATUS);
}

int64_t manager_reconcile_claim(struct controller *c, struct store_object *o)
{
	char now[CLOCK_RFC3339_BYTES];
	const char *assigned;
	int64_t left, again = 0;
	if (store_objects_is_terminating(o))
		return 0;
	if (!controller_unstructured_annotation(o->json, ANNOTATION_FIRST_OBSERVED)) {
		o = annotate(c, o, ANNOTATION_FIRST_OBSERVED, k8s_time_now(K8S_NANO_TIME, now));
		if (!o)
			return 0;
	}
	left = ms_left(o);
	if (left == 0) {
		expire(c, o);
		return 0;
	}
	struct store_object *sandbox = find_bound(c, o);
	if (!sandbox) {
		sandbox = bind_claim(c, o, &again);
		if (!sandbox)
			return left < again                     ? left
			       : again == 0 && left < INT64_MAX ? left
								: again;
		o = store_get(c->server->store, KIND_CLAIM, o->ns, o->name);
	}
	store_object_ref(sandbox);
	assigned = controller_unstructured_annotation(o->json, ANNOTATION_SANDBOX_NAME);
	if (!assigned || strcmp(assigned, sandbox->name) != 0)
		o = annotate(c, o, ANNOTATION_SANDBOX_NAME, sandbox->name);
	if (o)
		o = note_first_ready(c, forward(c, o, sandbox));
	store_object_unref(sandbox);
	if (!o)
		return 1000;
	left = ms_left(o);
	if (left == INT64_MAX)
		return 0;
	/* never 0: that would mean "do not look again", at the very moment it expires */
	return left > 3600000 ? 3600000 : left + 1;
}
