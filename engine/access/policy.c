// SPDX-License-Identifier: Apache-2.0
#include "engine/access/policy.h"

#include "engine/base/settings.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"

#include <string.h>

enum access_right_id {
	RIGHT_LIST_CLAIMS,
	RIGHT_WATCH_CLAIMS,
	RIGHT_CREATE_CLAIMS,
	RIGHT_PATCH_CLAIMS,
	RIGHT_DELETE_CLAIMS,
	RIGHT_WATCH_SANDBOXES,
	RIGHT_PATCH_SANDBOXES,
	RIGHT_DELETE_SANDBOXES,
	RIGHT_WATCH_POOLS,
	RIGHT_WATCH_PODS,
	RIGHT_LIST_EVENTS,
	RIGHT_GET_FORWARD,
	RIGHT_CREATE_FORWARD,
	RIGHT_GET_LOG,
	RIGHT_CREATE_LEASES,
	RIGHT_GET_LEASES,
	RIGHT_UPDATE_LEASES,
	RIGHT_DELETE_LEASES,
	RIGHT_COUNT,
};

const struct access_right access_rights[] = {
	[RIGHT_LIST_CLAIMS] = { "list", &k8s_sandboxclaims, "", "the list" },
	[RIGHT_WATCH_CLAIMS] = { "watch", &k8s_sandboxclaims, "", "a live list" },
	[RIGHT_CREATE_CLAIMS] = { "create", &k8s_sandboxclaims, "", "create" },
	[RIGHT_PATCH_CLAIMS] = { "patch", &k8s_sandboxclaims, "", "extend" },
	[RIGHT_DELETE_CLAIMS] = { "delete", &k8s_sandboxclaims, "", "rm" },
	[RIGHT_WATCH_SANDBOXES] = { "watch", &k8s_sandboxes, "", "states and addresses" },
	[RIGHT_PATCH_SANDBOXES] = { "patch", &k8s_sandboxes, "", "suspend and resume" },
	[RIGHT_DELETE_SANDBOXES] = { "delete", &k8s_sandboxes, "",
		"rm of a Sandbox without claim" },
	[RIGHT_WATCH_POOLS] = { "watch", &k8s_sandboxwarmpools, "", "the pools" },
	[RIGHT_WATCH_PODS] = { "watch", &k8s_pods, "", "why a sandbox is not ready" },
	[RIGHT_LIST_EVENTS] = { "list", &k8s_events, "", "why a sandbox is not ready" },
	[RIGHT_GET_FORWARD] = { "get", &k8s_pods, "portforward", "port-forward" },
	[RIGHT_CREATE_FORWARD] = { "create", &k8s_pods, "portforward", "port-forward" },
	[RIGHT_GET_LOG] = { "get", &k8s_pods, "log", "pod logs" },
	[RIGHT_CREATE_LEASES] = { "create", &k8s_leases, "", "binding keys" },
	[RIGHT_GET_LEASES] = { "get", &k8s_leases, "", "binding keys" },
	[RIGHT_UPDATE_LEASES] = { "update", &k8s_leases, "", "binding keys" },
	[RIGHT_DELETE_LEASES] = { "delete", &k8s_leases, "", "binding keys" },
};
_Static_assert(
	sizeof access_rights / sizeof *access_rights == RIGHT_COUNT, "a row for each right");
const size_t access_n_rights = RIGHT_COUNT;

/* What an action needs: of a claim, and of a Sandbox without one. */
static const struct {
	bool is_change;
	const char *when_read_only; /* NULL: it may be done */
	enum access_right_id of_claim, of_sandbox;
} actions[ACCESS_ACTION_COUNT] = {
	[ACCESS_CREATE] = { true, "creating is off", RIGHT_CREATE_CLAIMS, RIGHT_CREATE_CLAIMS },
	[ACCESS_DELETE] = { true, "deleting is off", RIGHT_DELETE_CLAIMS,
		RIGHT_DELETE_SANDBOXES },
	[ACCESS_SUSPEND] = { true, "suspending and resuming is off", RIGHT_PATCH_SANDBOXES,
		RIGHT_PATCH_SANDBOXES },
	[ACCESS_EXTEND] = { true, "extending is off", RIGHT_PATCH_CLAIMS,
		RIGHT_PATCH_SANDBOXES },
	[ACCESS_SHELL] = { .when_read_only = "starting processes is off" },
	[ACCESS_MAKE_FOLDER] = { .when_read_only = "making folders is off" },
	[ACCESS_DELETE_FILES] = { .when_read_only = "deleting is off" },
};

static const enum access_right_id first[] = { RIGHT_CREATE_CLAIMS, RIGHT_PATCH_CLAIMS,
	RIGHT_DELETE_CLAIMS, RIGHT_PATCH_SANDBOXES, RIGHT_DELETE_SANDBOXES, RIGHT_GET_FORWARD,
	RIGHT_CREATE_FORWARD };

struct access_attributes access_right_attributes(const struct access_right *right)
{
	return (struct access_attributes){ right->verb, right->resource->group,
		right->resource->plural, right->subresource };
}

bool access_first(size_t i, struct access_attributes *out)
{
	if (i >= sizeof first / sizeof *first)
		return false;
	*out = access_right_attributes(&access_rights[first[i]]);
	return true;
}

/* ---- actions */

bool access_is_cluster_change(enum access_action action)
{
	return actions[action].is_change;
}

bool access_check_read_only(
	const struct access *access, enum access_action action, struct err *err)
{
	const char *words = actions[action].when_read_only;
	if (!access_is_read_only(access) || words == NULL)
		return true;
	return err_set(err, ERR_OP_READ_ONLY, "%s", words);
}

static bool has(struct access *access, const struct access_target *target,
	enum access_right_id id, enum err_code code, struct err *err)
{
	const struct access_attributes about = access_right_attributes(&access_rights[id]);
	return access_may_as(access, target->namespace_, &about, code, err);
}

bool access_check_rights(struct access *access, enum access_action action,
	const struct access_target *target, struct err *err)
{
	if (actions[action].is_change)
		return has(access, target,
			target->is_sandbox ? actions[action].of_sandbox
					   : actions[action].of_claim,
			ERR_KUBE_FORBIDDEN, err);
	return !target->is_tunnelled ||
	       (has(access, target, RIGHT_GET_FORWARD, ERR_PORTFWD_DENIED, err) &&
		       has(access, target, RIGHT_CREATE_FORWARD, ERR_PORTFWD_DENIED, err));
}

/* ---- what may not be read */

/* The verb that the server named: list, or watch where the list is allowed. */
static const char *verb_of(const struct access_refusal *refusal)
{
	return refusal->err->denied.verb[0] ? refusal->err->denied.verb : "list";
}

static void add_what(struct str *out, const struct access_refusal *refusals, size_t n)
{
	const char *verb = NULL;
	for (size_t i = 0; i < n; i++) {
		if (refusals[i].err == NULL)
			continue;
		const char *now = verb_of(&refusals[i]);
		bool is_new = verb == NULL || strcmp(verb, now) != 0;
		str_addf(out, "%s%s%s%s", verb == NULL ? "not allowed: " : ", ",
			is_new ? now : "", is_new ? " " : "", refusals[i].resource->plural);
		verb = now;
	}
}

static void add_fix(struct str *fix, const struct access_refusal *refusals, size_t n)
{
	const char *between = " ";
	for (size_t i = 0; i < n; i++) {
		if (refusals[i].err == NULL)
			continue;
		const struct k8s_resource *resource = refusals[i].resource;
		str_addf(fix, "%s%s%s%s", between, resource->plural,
			resource->group[0] ? "." : "", resource->group);
		between = ", ";
	}
}

void access_refusals_format(const struct access_refusal *refusals, size_t n,
	const char *namespace_, struct str *out, struct str *fix)
{
	char interval[SETTING_TEXT_BYTES];
	bool is_any = false, is_any_polled = false;
	for (size_t i = 0; i < n; i++) {
		is_any = is_any || refusals[i].err != NULL;
		is_any_polled =
			is_any_polled || (refusals[i].err != NULL && refusals[i].is_polled);
	}
	if (!is_any)
		return;
	add_what(out, refusals, n);
	if (namespace_[0])
		str_addf(out, " in namespace %s", namespace_);
	else
		str_add(out, " in all namespaces");
	if (is_any_polled)
		str_addf(fix, "what may not be watched is listed every %s; ",
			setting_format(SETTING_POLL_INTERVAL,
				setting_get(SETTING_POLL_INTERVAL), interval));
	str_addf(fix, "a %sRole needs: get, list, watch on", namespace_[0] ? "" : "Cluster");
	add_fix(fix, refusals, n);
}
