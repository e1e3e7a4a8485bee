// SPDX-License-Identifier: Apache-2.0
#include "engine/action.h"

#include "engine/internal.h"
#include "engine/k8s/resource.h"

static bool check_runtime(const struct engine *engine, enum access_action action,
	const struct fleet_row *row, struct err *err)
{
	static const struct {
		enum runtime_feature feature;
		const char *what;
	} needs[ACCESS_ACTION_COUNT] = {
		[ACCESS_SHELL] = { RUNTIME_CAN_PROCESSES, "a shell" },
		[ACCESS_MAKE_FOLDER] = { RUNTIME_CAN_EXECUTE, "making a folder" },
		[ACCESS_DELETE_FILES] = { RUNTIME_CAN_DELETE, "deleting files" },
	};
	if (needs[action].what == NULL ||
		connect_can(engine->connect, row, needs[action].feature))
		return true;
	return err_set(err, ERR_OP_UNSUPPORTED, "%s is not supported by this runtime",
		needs[action].what);
}

/* What cannot be seen cannot be changed with sense. */
static bool check_sight(const struct engine *engine, enum access_action action,
	const struct fleet_row *row, struct err *err)
{
	if (action == ACCESS_CREATE && fleet_forbidden(engine->fleet, FLEET_CLAIMS) != NULL)
		return err_set(err, ERR_KUBE_FORBIDDEN,
			"sandboxclaims may not be listed here, so a new one would never be seen");
	if ((action == ACCESS_DELETE || action == ACCESS_EXTEND) && row && row->is_claim_hidden)
		return err_set(err, ERR_KUBE_FORBIDDEN,
			"%s belongs to a SandboxClaim, and sandboxclaims may not be listed here",
			row->sandbox);
	if (action == ACCESS_SUSPEND && row && row->sandbox_uid[0] == '\0' &&
		fleet_forbidden(engine->fleet, FLEET_SANDBOXES) != NULL)
		return err_set(err, ERR_KUBE_FORBIDDEN,
			"sandboxes may not be listed here, so that of %s is not known",
			row->claim);
	return true;
}

bool engine_may(struct engine *engine, enum access_action action, const char *uid,
	const char *namespace_, struct err *err)
{
	if (engine->fleet == NULL && access_is_cluster_change(action))
		return err_set(
			err, ERR_OP_UNSUPPORTED, "there is no cluster behind a direct URL");
	const struct fleet_row *row =
		engine->fleet && uid ? fleet_find(engine->fleet, uid) : NULL;
	if (!access_check_read_only(engine->access, action, err) ||
		!check_runtime(engine, action, row, err))
		return false;
	if (row != NULL && !fleet_policy_admits(engine->policy, row, err))
		return false;
	if (engine->fleet == NULL || !fleet_is_synced(engine->fleet))
		return true;
	if (!check_sight(engine, action, row, err))
		return false;
	if (row != NULL)
		namespace_ = row->namespace_;
	else if (action != ACCESS_CREATE || !namespace_[0]) /* its pool decides where */
		return true;
	const struct access_target target = {
		.namespace_ = namespace_,
		.is_sandbox = row != NULL && row->claim[0] == '\0',
		.is_tunnelled =
			connect_settings_of(engine->connect)->mode == CONNECT_PORT_FORWARD,
	};
	return access_check_rights(engine->access, action, &target, err);
}

bool engine_may_verb(struct engine *engine, const struct access_attributes *about,
	const char *namespace_, struct err *err)
{
	return access_may(engine->access, namespace_, about, err);
}

void engine_refused(struct engine *engine, const struct err *err)
{
	access_learn(engine->access, &err->denied);
}

uint64_t engine_access_revision(const struct engine *engine)
{
	return access_revision(engine->access);
}

void engine_access_forget(struct engine *engine)
{
	access_forget(engine->access);
}

void engine_forbidden_format(const struct engine *engine, struct str *out, struct str *fix)
{
	static const struct {
		enum fleet_kind kind;
		const struct k8s_resource *resource;
	} collections[] = {
		{ FLEET_PODS, &k8s_pods },
		{ FLEET_EVENTS, &k8s_events },
		{ FLEET_SANDBOXES, &k8s_sandboxes },
		{ FLEET_CLAIMS, &k8s_sandboxclaims },
		{ FLEET_POOLS, &k8s_sandboxwarmpools },
		{ FLEET_TEMPLATES, &k8s_sandboxtemplates },
	};
	enum { COLLECTION_COUNT = sizeof collections / sizeof *collections };
	struct access_refusal refusals[COLLECTION_COUNT];
	for (size_t i = 0; i < COLLECTION_COUNT; i++) {
		const struct err *polled = fleet_unwatched(engine->fleet, collections[i].kind);
		refusals[i] = (struct access_refusal){
			.resource = collections[i].resource,
			.err = polled ? polled
				      : fleet_forbidden(engine->fleet, collections[i].kind),
			.is_polled = polled != NULL,
		};
	}
	access_refusals_format(refusals, COLLECTION_COUNT, engine->namespace_, out, fix);
}
