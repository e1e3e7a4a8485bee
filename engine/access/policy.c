// SPDX-License-Identifier: Apache-2.0
/* What would be refused, and why: by read-only mode, by the runtime, because it is out of sight, for want of a right; in
 * that order. And which collections may not be read. */
#include "engine/access_review.h"

#include "engine/base/settings.h"
#include "engine/internal.h"

#include <stdio.h>
#include <string.h>

static bool may(struct engine *engine, const char *namespace_, enum engine_access_review_id id,
	enum err_code code, struct err *err)
{
	const struct engine_access_review *right = &engine_access_review_rows[id];
	if (!engine_access_review_is_refused(engine, namespace_, id))
		return true;
	const char *slash = right->subresource[0] ? "/" : "", *dot = right->group[0] ? "." : "";
	return err_set(err, code, "you may not %s %s%s%s %s%s; a Role needs: %s on %s%s%s%s%s",
		right->verb, right->resource, slash, right->subresource,
		namespace_[0] ? "in namespace " : "in all namespaces", namespace_, right->verb,
		right->resource, slash, right->subresource, dot, right->group);
}

/* ---- actions */

static size_t rights_of(const struct engine *engine, enum engine_action action,
	const struct fleet_row *row, enum engine_access_review_id out[2])
{
	bool on_sandbox = row != NULL && row->claim[0] == '\0';
	switch (action) {
	case ENGINE_CREATE:
		out[0] = RIGHT_CREATE_CLAIMS;
		return 1;
	case ENGINE_DELETE:
		out[0] = on_sandbox ? RIGHT_DELETE_SANDBOXES : RIGHT_DELETE_CLAIMS;
		return 1;
	case ENGINE_SUSPEND:
		out[0] = RIGHT_PATCH_SANDBOXES;
		return 1;
	case ENGINE_EXTEND:
		out[0] = on_sandbox ? RIGHT_PATCH_SANDBOXES : RIGHT_PATCH_CLAIMS;
		return 1;
	default:
		out[0] = RIGHT_GET_FORWARD;
		out[1] = RIGHT_CREATE_FORWARD;
		return engine->connectivity == ENGINE_PORT_FORWARD ? 2 : 0;
	}
}

static bool is_change(enum engine_action action)
{
	return action == ENGINE_CREATE || action == ENGINE_DELETE || action == ENGINE_SUSPEND ||
	       action == ENGINE_EXTEND;
}

/* runtime_can() of the runtime that engine_runtime() would make for the row. */
static bool can(
	const struct engine *engine, const struct fleet_row *row, enum runtime_feature feature)
{
	if (row == NULL)
		return engine->direct == NULL || runtime_can(engine->direct, feature);
	if (engine_connectivity_runtime(engine, row) == RUNTIME_LEGACY)
		return feature == RUNTIME_CAN_EXECUTE;
	return !engine_connectivity_is_routed(engine) || feature == RUNTIME_CAN_DELETE ||
	       feature == RUNTIME_CAN_INFO;
}

static bool check_runtime(const struct engine *engine, enum engine_action action,
	const struct fleet_row *row, struct err *err)
{
	static const struct {
		enum runtime_feature feature;
		const char *what;
	} needs[ENGINE_ACTION_COUNT] = {
		[ENGINE_SHELL] = { RUNTIME_CAN_PROCESSES, "a shell" },
		[ENGINE_MAKE_FOLDER] = { RUNTIME_CAN_EXECUTE, "making a folder" },
		[ENGINE_DELETE_FILES] = { RUNTIME_CAN_DELETE, "deleting files" },
	};
	if (needs[action].what == NULL || can(engine, row, needs[action].feature))
		return true;
	return err_set(err, ERR_OP_UNSUPPORTED, "%s is not supported by this runtime",
		needs[action].what);
}

static bool check_read_only(
	const struct engine *engine, enum engine_action action, struct err *err)
{
	static const char *const words[ENGINE_ACTION_COUNT] = {
		[ENGINE_CREATE] = "creating is off",
		[ENGINE_DELETE] = "deleting is off",
		[ENGINE_SUSPEND] = "suspending and resuming is off",
		[ENGINE_EXTEND] = "extending is off",
		[ENGINE_SHELL] = "starting processes is off",
		[ENGINE_MAKE_FOLDER] = "making folders is off",
		[ENGINE_DELETE_FILES] = "deleting is off",
	};
	if (!engine->read_only || words[action] == NULL)
		return true;
	return err_set(err, ERR_OP_READ_ONLY, "%s", words[action]);
}

/* What cannot be seen cannot be changed with sense. */
static bool check_sight(const struct engine *engine, enum engine_action action,
	const struct fleet_row *row, struct err *err)
{
	if (action == ENGINE_CREATE && fleet_forbidden(engine->fleet, FLEET_CLAIMS) != NULL)
		return err_set(err, ERR_KUBE_FORBIDDEN,
			"sandboxclaims may not be listed here, so a new one would never be seen");
	if ((action == ENGINE_DELETE || action == ENGINE_EXTEND) && row && row->is_claim_hidden)
		return err_set(err, ERR_KUBE_FORBIDDEN,
			"%s belongs to a SandboxClaim, and sandboxclaims may not be listed here",
			row->sandbox);
	if (action == ENGINE_SUSPEND && row && row->sandbox_uid[0] == '\0' &&
		fleet_forbidden(engine->fleet, FLEET_SANDBOXES) != NULL)
		return err_set(err, ERR_KUBE_FORBIDDEN,
			"sandboxes may not be listed here, so that of %s is not known",
			row->claim);
	return true;
}

bool engine_may(struct engine *engine, enum engine_action action, const char *uid,
	const char *namespace_, struct err *err)
{
	enum engine_access_review_id needed[2];
	if (engine->fleet == NULL && is_change(action))
		return err_set(
			err, ERR_OP_UNSUPPORTED, "there is no cluster behind a direct URL");
	const struct fleet_row *row =
		engine->fleet && uid ? fleet_find(engine->fleet, uid) : NULL;
	if (!check_read_only(engine, action, err) || !check_runtime(engine, action, row, err))
		return false;
	if (engine->fleet == NULL || !fleet_is_synced(engine->fleet))
		return true;
	if (!check_sight(engine, action, row, err))
		return false;
	if (row != NULL)
		namespace_ = row->namespace_;
	else if (action != ENGINE_CREATE || !namespace_[0]) /* its pool decides where */
		return true;
	size_t n = rights_of(engine, action, row, needed);
	enum err_code code = is_change(action) ? ERR_KUBE_FORBIDDEN : ERR_PORTFWD_DENIED;
	for (size_t i = 0; i < n; i++)
		if (!may(engine, namespace_, needed[i], code, err))
			return false;
	return true;
}

void engine_refused(struct engine *engine, enum engine_action action, const char *uid,
	const char *namespace_, const struct err *err)
{
	enum engine_access_review_id needed[2];
	char words[128];
	bool is_denial = err->code == ERR_KUBE_FORBIDDEN || err->code == ERR_PORTFWD_DENIED;
	if (engine->fleet == NULL || !is_denial)
		return;
	const struct fleet_row *row = uid ? fleet_find(engine->fleet, uid) : NULL;
	if (row != NULL)
		namespace_ = row->namespace_;
	size_t n = namespace_ ? rights_of(engine, action, row, needed) : 0;
	for (size_t i = 0; i < n; i++) {
		const struct engine_access_review *right =
			&engine_access_review_rows[needed[i]];
		/* RBAC's words. An admission webhook refuses one object, not the verb. */
		snprintf(words, sizeof words, "cannot %s resource \"%s%s%s\"", right->verb,
			right->resource, right->subresource[0] ? "/" : "", right->subresource);
		if (strstr(err->msg, words) != NULL)
			engine_access_review_learn(engine, namespace_, needed[i]);
	}
}

/* ---- what may not be read */

static const struct {
	enum fleet_kind kind;
	const char *group, *resource;
} collections[] = {
	{ FLEET_PODS, "", "pods" },
	{ FLEET_EVENTS, "", "events" },
	{ FLEET_SANDBOXES, "agents.x-k8s.io", "sandboxes" },
	{ FLEET_CLAIMS, "extensions.agents.x-k8s.io", "sandboxclaims" },
	{ FLEET_POOLS, "extensions.agents.x-k8s.io", "sandboxwarmpools" },
	{ FLEET_TEMPLATES, "extensions.agents.x-k8s.io", "sandboxtemplates" },
};
enum { COLLECTION_COUNT = sizeof collections / sizeof *collections };

/* The verb that the server named: list, or watch where the list is allowed. */
static const char *verb_of(const struct err *err)
{
	return strstr(err->msg, "cannot watch ") != NULL ? "watch" : "list";
}

void engine_forbidden_format(const struct engine *engine, struct str *out, struct str *fix)
{
	const char *verb = NULL;
	char interval[SETTING_TEXT_BYTES];
	const struct err *refusals[COLLECTION_COUNT];
	bool is_any_polled = false;
	for (size_t i = 0; i < COLLECTION_COUNT; i++) {
		const struct err *polled = fleet_unwatched(engine->fleet, collections[i].kind);
		is_any_polled = is_any_polled || polled != NULL;
		refusals[i] =
			polled ? polled : fleet_forbidden(engine->fleet, collections[i].kind);
		if (refusals[i] == NULL)
			continue;
		const char *now = verb_of(refusals[i]);
		bool is_new = verb == NULL || strcmp(verb, now) != 0;
		str_addf(out, "%s%s%s%s", verb == NULL ? "not allowed: " : ", ",
			is_new ? now : "", is_new ? " " : "", collections[i].resource);
		verb = now;
	}
	if (verb == NULL)
		return;
	if (engine->namespace_[0])
		str_addf(out, " in namespace %s", engine->namespace_);
	else
		str_add(out, " in all namespaces");
	if (is_any_polled)
		str_addf(fix, "what may not be watched is listed every %s; ",
			setting_format(SETTING_POLL_INTERVAL,
				setting_get(SETTING_POLL_INTERVAL), interval));
	str_addf(fix, "a %sRole needs: get, list, watch on",
		engine->namespace_[0] ? "" : "Cluster");
	bool is_first = true;
	for (size_t i = 0; i < COLLECTION_COUNT; i++) {
		if (refusals[i] == NULL)
			continue;
		const char *group = collections[i].group;
		str_addf(fix, "%s%s%s%s", is_first ? " " : ", ", collections[i].resource,
			group[0] ? "." : "", group);
		is_first = false;
	}
}
