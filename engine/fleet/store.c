// SPDX-License-Identifier: Apache-2.0
/* Objects by uid: found, made, read anew, removed. */
#include "engine/fleet/store.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/map.h"

#include <string.h>

void store_init(struct store *store, void (*on_change)(void *arg), void *arg)
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
		while ((item = index_next((index_), uid_hash(uid_), &cursor)) != NULL) {       \
			if (uid_equals(&item->uid, (uid_)))                                    \
				return item;                                                   \
		}                                                                              \
		return NULL;                                                                   \
	} while (0)

static struct claim *find_claim(const struct store *store, const struct uid *uid)
{
	FIND_BY_UID(struct claim, &store->claims, uid);
}

static struct sandbox *find_sandbox(const struct store *store, const struct uid *uid)
{
	FIND_BY_UID(struct sandbox, &store->sandboxes, uid);
}

static struct pod *find_pod(const struct store *store, const struct uid *uid)
{
	FIND_BY_UID(struct pod, &store->pods, uid);
}

struct row *store_find(const struct store *store, const char *uid)
{
	/* the store is not changed by a look-up, but odd uids are interned for its length */
	union {
		const struct store *borrowed;
		struct store *owned;
	} access = { store };
	struct uid key = uid_parse(access.owned, uid);
	struct claim *claim = find_claim(store, &key);
	struct sandbox *sandbox = claim ? NULL : find_sandbox(store, &key);
	uid_drop(access.owned, &key);
	if (claim != NULL)
		return claim->row;
	return sandbox != NULL && sandbox->row != NULL && sandbox->row->claim == NULL
		       ? sandbox->row
		       : NULL;
}

/* ---- one object */

/* Nothing new: the same version, or (outside a list) an older one that a slower watch brings after we saw the
 * answer of our own write. */
bool store_is_old(
	const struct store *store, enum store_kind kind, uint64_t known, uint64_t revision)
{
	if (known == 0 || revision == 0)
		return false;
	return known == revision || (!store->is_listing[kind] && revision < known);
}

bool store_is_full(struct store *store, const struct index *index)
{
	if (index->n < STORE_MAX_OBJECTS)
		return false;
	store->n_dropped++;
	return true;
}

static void claim_index(struct store *store, struct claim *claim, bool add)
{
	if (!claim->sandbox || !claim->sandbox[0])
		return;
	uint32_t hash = name_hash(claim->namespace_, claim->sandbox);
	if (add)
		index_add(&store->claims_by_sandbox, hash, claim);
	else
		index_remove(&store->claims_by_sandbox, hash, claim);
}

void store_remove_claim(struct store *store, struct claim *claim)
{
	index_remove(&store->claims, uid_hash(&claim->uid), claim);
	claim_index(store, claim, false);
	rows_leave_claim(store, claim);
	claim_drop(store, claim);
	free(claim);
}

static void apply_claim(struct store *store, struct uid *uid, bool is_gone, const cJSON *object)
{
	struct claim *claim = find_claim(store, uid);
	if (is_gone) {
		if (claim != NULL)
			store_remove_claim(store, claim);
		return;
	}
	if (claim == NULL) {
		/* a uid is unique over all kinds: rows rely on it, a broken server may not */
		if (store_is_full(store, &store->claims) || find_sandbox(store, uid) != NULL)
			return;
		claim = x_calloc(1, sizeof *claim);
		claim->uid = *uid;
		memset(uid, 0, sizeof *uid); /* handed over */
		index_add(&store->claims, uid_hash(&claim->uid), claim);
		events_now_known(store, &claim->uid);
	}
	claim->epoch = store->epoch[STORE_CLAIMS];
	if (store_is_old(store, STORE_CLAIMS, claim->revision, revision_of(object)))
		return;
	claim_index(store, claim, false);
	claim_read(store, claim, object);
	claim_index(store, claim, true);
	rows_join_claim(store, claim);
}

static void sandbox_index(struct store *store, struct sandbox *sandbox, bool add)
{
	uint32_t by_name = name_hash(sandbox->namespace_, sandbox->name);
	if (add)
		index_add(&store->sandboxes_by_name, by_name, sandbox);
	else
		index_remove(&store->sandboxes_by_name, by_name, sandbox);
	if (uid_is_none(&sandbox->claim_uid))
		return;
	uint32_t by_claim = uid_hash(&sandbox->claim_uid);
	if (add)
		index_add(&store->sandboxes_by_claim, by_claim, sandbox);
	else
		index_remove(&store->sandboxes_by_claim, by_claim, sandbox);
}

void store_remove_sandbox(struct store *store, struct sandbox *sandbox)
{
	index_remove(&store->sandboxes, uid_hash(&sandbox->uid), sandbox);
	sandbox_index(store, sandbox, false);
	if (sandbox->pod != NULL)
		sandbox->pod->sandbox = NULL;
	sandbox->pod = NULL;
	rows_leave_sandbox(store, sandbox);
	sandbox_drop(store, sandbox);
	free(sandbox);
}

/* Pods that came before their Sandbox. */
static void find_pods(struct store *store, const struct sandbox *sandbox)
{
	size_t cursor = INDEX_FIRST;
	struct pod *pod;
	while ((pod = index_next(&store->pods_by_owner, uid_hash(&sandbox->uid), &cursor)) !=
		NULL) {
		if (uid_equals(&pod->owner_uid, &sandbox->uid)) {
			rows_join_pod(store, pod);
			return;
		}
	}
}

static void apply_sandbox(
	struct store *store, struct uid *uid, bool is_gone, const cJSON *object)
{
	struct sandbox *sandbox = find_sandbox(store, uid);
	bool is_new = sandbox == NULL;
	if (is_gone) {
		if (sandbox != NULL)
			store_remove_sandbox(store, sandbox);
		return;
	}
	if (is_new) {
		if (store_is_full(store, &store->sandboxes) || find_claim(store, uid) != NULL)
			return;
		sandbox = x_calloc(1, sizeof *sandbox);
		sandbox->uid = *uid;
		memset(uid, 0, sizeof *uid);
		index_add(&store->sandboxes, uid_hash(&sandbox->uid), sandbox);
		events_now_known(store, &sandbox->uid);
	}
	sandbox->epoch = store->epoch[STORE_SANDBOXES];
	if (!is_new &&
		store_is_old(store, STORE_SANDBOXES, sandbox->revision, revision_of(object)))
		return;
	if (!is_new)
		sandbox_index(store, sandbox, false);
	sandbox_read(store, sandbox, object);
	sandbox_index(store, sandbox, true);
	if (is_new)
		find_pods(store, sandbox);
	rows_join_sandbox(store, sandbox);
}

static void pod_index(struct store *store, struct pod *pod, bool add)
{
	if (uid_is_none(&pod->owner_uid))
		return;
	uint32_t hash = uid_hash(&pod->owner_uid);
	if (add)
		index_add(&store->pods_by_owner, hash, pod);
	else
		index_remove(&store->pods_by_owner, hash, pod);
}

void store_remove_pod(struct store *store, struct pod *pod)
{
	index_remove(&store->pods, uid_hash(&pod->uid), pod);
	pod_index(store, pod, false);
	rows_leave_pod(store, pod);
	pod_drop(store, pod);
	free(pod);
}

static void apply_pod(struct store *store, struct uid *uid, bool is_gone, const cJSON *object)
{
	struct pod *pod = find_pod(store, uid);
	if (is_gone) {
		if (pod != NULL)
			store_remove_pod(store, pod);
		return;
	}
	if (pod == NULL) {
		if (store_is_full(store, &store->pods))
			return;
		pod = x_calloc(1, sizeof *pod);
		pod->uid = *uid;
		memset(uid, 0, sizeof *uid);
		index_add(&store->pods, uid_hash(&pod->uid), pod);
		events_now_known(store, &pod->uid);
	}
	pod->epoch = store->epoch[STORE_PODS];
	if (store_is_old(store, STORE_PODS, pod->revision, revision_of(object)))
		return;
	pod_index(store, pod, false);
	pod_read(store, pod, object);
	pod_index(store, pod, true);
	rows_join_pod(store, pod);
}

/* ---- all kinds */

void store_apply(struct store *store, enum store_kind kind, enum kube_change change,
	const struct cJSON *object)
{
	static void (*const apply[])(struct store *, struct uid *, bool, const cJSON *) = {
		[STORE_CLAIMS] = apply_claim,
		[STORE_SANDBOXES] = apply_sandbox,
		[STORE_PODS] = apply_pod,
		[STORE_POOLS] = store_apply_pool,
		[STORE_TEMPLATES] = store_apply_template,
	};
	const char *text = json_str(object, "metadata", "uid", NULL);
	const char *name = json_str(object, "metadata", "name", NULL);
	if (kind == STORE_EVENTS) {
		if (change != KUBE_DELETED) /* events outlive their hour on the server */
			events_apply(store, object);
		return;
	}
	if (text == NULL || !text[0] || strlen(text) >= FLEET_UID_BYTES || name == NULL ||
		!name[0])
		return;
	struct uid uid = uid_parse(store, text);
	apply[kind](store, &uid, change == KUBE_DELETED, object);
	uid_drop(store, &uid);
}

void store_deinit(struct store *store)
{
	store_forget_all(store);
	events_deinit(store);
	index_deinit(&store->claims);
	index_deinit(&store->claims_by_sandbox);
	index_deinit(&store->sandboxes);
	index_deinit(&store->sandboxes_by_claim);
	index_deinit(&store->sandboxes_by_name);
	index_deinit(&store->pods);
	index_deinit(&store->pods_by_owner);
	index_deinit(&store->pools);
	index_deinit(&store->templates);
	free(store->pool_list);
	free(store->rows);
	free(store->removals);
	texts_deinit(&store->texts);
	memset(store, 0, sizeof *store);
}
