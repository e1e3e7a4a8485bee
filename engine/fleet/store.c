// SPDX-License-Identifier: Apache-2.0
/* Objects by uid: found, made, read anew, removed. */
#include "engine/fleet/store.h"

#include "engine/base/json.h"
#include "engine/base/map.h"

#include <string.h>

/* ---- one object */

static void claim_index(struct fleet_store *store, struct fleet_claim *claim, bool add)
{
	if (!claim->sandbox || !claim->sandbox[0])
		return;
	uint32_t hash = fleet_name_hash(claim->namespace_, claim->sandbox);
	if (add)
		fleet_index_add(&store->claims_by_sandbox, hash, claim);
	else
		fleet_index_remove(&store->claims_by_sandbox, hash, claim);
}

void fleet_store_remove_claim(struct fleet_store *store, struct fleet_claim *claim)
{
	fleet_index_remove(&store->claims, fleet_uid_hash(&claim->uid), claim);
	claim_index(store, claim, false);
	fleet_rows_leave_claim(store, claim);
	fleet_claim_drop(store, claim);
	free(claim);
}

static void apply_claim(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object)
{
	struct fleet_claim *claim = fleet_claim_of_uid(store, uid);
	if (is_gone) {
		if (claim != NULL)
			fleet_store_remove_claim(store, claim);
		return;
	}
	if (claim == NULL) {
		/* a uid is unique over all kinds: rows rely on it, a broken server may not */
		if (fleet_store_is_full(store, &store->claims) ||
			fleet_sandbox_of_uid(store, uid) != NULL)
			return;
		claim = x_calloc(1, sizeof *claim);
		claim->uid = *uid;
		memset(uid, 0, sizeof *uid); /* handed over */
		fleet_index_add(&store->claims, fleet_uid_hash(&claim->uid), claim);
		fleet_events_now_known(store, &claim->uid);
	}
	claim->epoch = store->epoch[STORE_CLAIMS];
	if (fleet_store_is_old(store, STORE_CLAIMS, claim->revision, fleet_revision_of(object)))
		return;
	claim_index(store, claim, false);
	fleet_claim_read(store, claim, object);
	claim_index(store, claim, true);
	fleet_rows_join_claim(store, claim);
}

static void sandbox_index(struct fleet_store *store, struct fleet_sandbox *sandbox, bool add)
{
	uint32_t by_name = fleet_name_hash(sandbox->namespace_, sandbox->name);
	if (add)
		fleet_index_add(&store->sandboxes_by_name, by_name, sandbox);
	else
		fleet_index_remove(&store->sandboxes_by_name, by_name, sandbox);
	if (fleet_uid_is_none(&sandbox->claim_uid))
		return;
	uint32_t by_claim = fleet_uid_hash(&sandbox->claim_uid);
	if (add)
		fleet_index_add(&store->sandboxes_by_claim, by_claim, sandbox);
	else
		fleet_index_remove(&store->sandboxes_by_claim, by_claim, sandbox);
}

void fleet_store_remove_sandbox(struct fleet_store *store, struct fleet_sandbox *sandbox)
{
	fleet_index_remove(&store->sandboxes, fleet_uid_hash(&sandbox->uid), sandbox);
	sandbox_index(store, sandbox, false);
	if (sandbox->pod != NULL)
		sandbox->pod->sandbox = NULL;
	sandbox->pod = NULL;
	fleet_rows_leave_sandbox(store, sandbox);
	fleet_sandbox_drop(store, sandbox);
	free(sandbox);
}

/* Pods that came before their Sandbox. */
static void find_pods(struct fleet_store *store, const struct fleet_sandbox *sandbox)
{
	size_t cursor = INDEX_FIRST;
	struct fleet_pod *pod;
	while ((pod = fleet_index_next(&store->pods_by_owner, fleet_uid_hash(&sandbox->uid),
			&cursor)) != NULL) {
		if (fleet_uid_equals(&pod->owner_uid, &sandbox->uid)) {
			fleet_rows_join_pod(store, pod);
			return;
		}
	}
}

static void apply_sandbox(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object)
{
	struct fleet_sandbox *sandbox = fleet_sandbox_of_uid(store, uid);
	bool is_new = sandbox == NULL;
	if (is_gone) {
		if (sandbox != NULL)
			fleet_store_remove_sandbox(store, sandbox);
		return;
	}
	if (is_new) {
		if (fleet_store_is_full(store, &store->sandboxes) ||
			fleet_claim_of_uid(store, uid) != NULL)
			return;
		sandbox = x_calloc(1, sizeof *sandbox);
		sandbox->uid = *uid;
		memset(uid, 0, sizeof *uid);
		fleet_index_add(&store->sandboxes, fleet_uid_hash(&sandbox->uid), sandbox);
		fleet_events_now_known(store, &sandbox->uid);
	}
	sandbox->epoch = store->epoch[STORE_SANDBOXES];
	if (!is_new && fleet_store_is_old(store, STORE_SANDBOXES, sandbox->revision,
			       fleet_revision_of(object)))
		return;
	if (!is_new)
		sandbox_index(store, sandbox, false);
	fleet_sandbox_read(store, sandbox, object);
	sandbox_index(store, sandbox, true);
	if (is_new)
		find_pods(store, sandbox);
	fleet_rows_join_sandbox(store, sandbox);
}

static void pod_index(struct fleet_store *store, struct fleet_pod *pod, bool add)
{
	if (fleet_uid_is_none(&pod->owner_uid))
		return;
	uint32_t hash = fleet_uid_hash(&pod->owner_uid);
	if (add)
		fleet_index_add(&store->pods_by_owner, hash, pod);
	else
		fleet_index_remove(&store->pods_by_owner, hash, pod);
}

void fleet_store_remove_pod(struct fleet_store *store, struct fleet_pod *pod)
{
	fleet_index_remove(&store->pods, fleet_uid_hash(&pod->uid), pod);
	pod_index(store, pod, false);
	fleet_rows_leave_pod(store, pod);
	fleet_pod_drop(store, pod);
	free(pod);
}

static void apply_pod(
	struct fleet_store *store, struct fleet_uid *uid, bool is_gone, const cJSON *object)
{
	struct fleet_pod *pod = fleet_pod_of_uid(store, uid);
	if (is_gone) {
		if (pod != NULL)
			fleet_store_remove_pod(store, pod);
		return;
	}
	if (pod == NULL) {
		if (fleet_store_is_full(store, &store->pods))
			return;
		pod = x_calloc(1, sizeof *pod);
		pod->uid = *uid;
		memset(uid, 0, sizeof *uid);
		fleet_index_add(&store->pods, fleet_uid_hash(&pod->uid), pod);
		fleet_events_now_known(store, &pod->uid);
	}
	pod->epoch = store->epoch[STORE_PODS];
	if (fleet_store_is_old(store, STORE_PODS, pod->revision, fleet_revision_of(object)))
		return;
	pod_index(store, pod, false);
	fleet_pod_read(store, pod, object);
	pod_index(store, pod, true);
	fleet_rows_join_pod(store, pod);
}

/* What a pool warns of is why its claims wait; it does so seldom. */
static void refresh_pool(struct fleet_store *store, const cJSON *object)
{
	const char *in = fleet_string_pool_get(&store->texts,
		json_str(object, "involvedObject", "namespace", NULL), STORE_MAX_NAME);
	const char *name = fleet_string_pool_get(&store->texts,
		json_str(object, "involvedObject", "name", NULL), STORE_MAX_NAME);
	fleet_rows_of_pool(store, in, name);
	fleet_string_pool_unref(&store->texts, in);
	fleet_string_pool_unref(&store->texts, name);
}

/* It may be why a row is not Ready. */
static void apply_event(struct fleet_store *store, const cJSON *object)
{
	struct fleet_store_row *row = fleet_events_apply(store, object);
	const char *kind = json_str(object, "involvedObject", "kind", NULL);
	const char *type = json_str(object, "type", NULL);
	if (kind != NULL && type != NULL && strcmp(kind, "SandboxWarmPool") == 0 &&
		strcmp(type, "Warning") == 0)
		refresh_pool(store, object);
	if (row != NULL && row->shown.state != FLEET_READY)
		fleet_row_refresh(store, row);
}

/* ---- all kinds */

void fleet_store_apply(struct fleet_store *store, enum fleet_store_kind kind,
	enum kube_change change, const struct cJSON *object)
{
	static void (*const apply[])(
		struct fleet_store *, struct fleet_uid *, bool, const cJSON *) = {
		[STORE_CLAIMS] = apply_claim,
		[STORE_SANDBOXES] = apply_sandbox,
		[STORE_PODS] = apply_pod,
		[STORE_POOLS] = fleet_store_apply_pool,
		[STORE_TEMPLATES] = fleet_store_apply_template,
	};
	const char *text = json_str(object, "metadata", "uid", NULL);
	const char *name = json_str(object, "metadata", "name", NULL);
	if (kind == STORE_EVENTS) {
		if (change != KUBE_DELETED) /* events outlive their hour on the server */
			apply_event(store, object);
		return;
	}
	if (text == NULL || !text[0] || name == NULL || !name[0])
		return;
	struct fleet_uid uid = fleet_uid_parse(store, text);
	apply[kind](store, &uid, change == KUBE_DELETED, object);
	fleet_uid_drop(store, &uid);
}

void fleet_store_apply_answer(
	struct fleet_store *store, enum fleet_store_kind kind, const struct cJSON *object)
{
	const char *text = json_str(object, "metadata", "uid", NULL);
	if (text == NULL || !text[0])
		return;
	struct fleet_uid uid = fleet_uid_parse(store, text);
	bool is_known = kind == STORE_CLAIMS ? fleet_claim_of_uid(store, &uid) != NULL
					     : fleet_sandbox_of_uid(store, &uid) != NULL;
	fleet_uid_drop(store, &uid);
	if (is_known)
		fleet_store_apply(store, kind, KUBE_MODIFIED, object);
}
