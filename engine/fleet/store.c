// SPDX-License-Identifier: Apache-2.0
/* Objects by uid: found, made, read anew, removed. */
#include "engine/fleet/store.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/map.h"

#include <string.h>

void fleet_store_init(struct fleet_store *store, void (*on_change)(void *arg), void *arg)
{
	memset(store, 0, sizeof *store);
	store->on_change = on_change;
	store->arg = arg;
	store->removals = x_calloc(STORE_REMOVALS, sizeof *store->removals);
}

/* ---- look-ups */

#define FIND_BY_UID(type, index_, uid_)                                                        \
	do {                                                                                   \
		size_t cursor = INDEX_FIRST;                                                   \
		type *item;                                                                    \
		while ((item = fleet_index_next((index_), fleet_uid_hash(uid_), &cursor)) !=   \
			NULL) {                                                                \
			if (fleet_uid_equals(&item->uid, (uid_)))                              \
				return item;                                                   \
		}                                                                              \
		return NULL;                                                                   \
	} while (0)

static struct fleet_claim *find_claim(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	FIND_BY_UID(struct fleet_claim, &store->claims, uid);
}

static struct fleet_sandbox *find_sandbox(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	FIND_BY_UID(struct fleet_sandbox, &store->sandboxes, uid);
}

static struct fleet_pod *find_pod(const struct fleet_store *store, const struct fleet_uid *uid)
{
	FIND_BY_UID(struct fleet_pod, &store->pods, uid);
}

struct fleet_store_row *fleet_store_find(const struct fleet_store *store, const char *uid)
{
	/* the store is not changed by a look-up, but odd uids are interned for its length */
	union {
		const struct fleet_store *borrowed;
		struct fleet_store *owned;
	} access = { store };
	struct fleet_uid key = fleet_uid_parse(access.owned, uid);
	struct fleet_claim *claim = find_claim(store, &key);
	struct fleet_sandbox *sandbox = claim ? NULL : find_sandbox(store, &key);
	fleet_uid_drop(access.owned, &key);
	if (claim != NULL)
		return claim->row;
	return sandbox != NULL && sandbox->row != NULL && sandbox->row->claim == NULL
		       ? sandbox->row
		       : NULL;
}

/* ---- one object */

/* Nothing new: the same version, or (outside a list) an older one that a slower watch brings after we saw the
 * answer of our own write. */
bool fleet_store_is_old(const struct fleet_store *store, enum fleet_store_kind kind,
	uint64_t known, uint64_t revision)
{
	if (known == 0 || revision == 0)
		return false;
	return known == revision || (!store->is_listing[kind] && revision < known);
}

bool fleet_store_is_full(struct fleet_store *store, const struct fleet_index *index)
{
	if (index->n < STORE_MAX_OBJECTS)
		return false;
	store->n_dropped++;
	return true;
}

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
	struct fleet_claim *claim = find_claim(store, uid);
	if (is_gone) {
		if (claim != NULL)
			fleet_store_remove_claim(store, claim);
		return;
	}
	if (claim == NULL) {
		/* a uid is unique over all kinds: rows rely on it, a broken server may not */
		if (fleet_store_is_full(store, &store->claims) ||
			find_sandbox(store, uid) != NULL)
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
	struct fleet_sandbox *sandbox = find_sandbox(store, uid);
	bool is_new = sandbox == NULL;
	if (is_gone) {
		if (sandbox != NULL)
			fleet_store_remove_sandbox(store, sandbox);
		return;
	}
	if (is_new) {
		if (fleet_store_is_full(store, &store->sandboxes) ||
			find_claim(store, uid) != NULL)
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
	struct fleet_pod *pod = find_pod(store, uid);
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
			fleet_events_apply(store, object);
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
	bool is_known = kind == STORE_CLAIMS ? find_claim(store, &uid) != NULL
					     : find_sandbox(store, &uid) != NULL;
	fleet_uid_drop(store, &uid);
	if (is_known)
		fleet_store_apply(store, kind, KUBE_MODIFIED, object);
}

void fleet_store_deinit(struct fleet_store *store)
{
	fleet_store_forget_all(store);
	fleet_events_deinit(store);
	fleet_index_deinit(&store->claims);
	fleet_index_deinit(&store->claims_by_sandbox);
	fleet_index_deinit(&store->sandboxes);
	fleet_index_deinit(&store->sandboxes_by_claim);
	fleet_index_deinit(&store->sandboxes_by_name);
	fleet_index_deinit(&store->pods);
	fleet_index_deinit(&store->pods_by_owner);
	fleet_index_deinit(&store->pools);
	fleet_index_deinit(&store->templates);
	free(store->pool_list);
	free(store->rows);
	free(store->removals);
	fleet_string_pool_deinit(&store->texts);
	memset(store, 0, sizeof *store);
}
