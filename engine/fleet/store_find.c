// SPDX-License-Identifier: Apache-2.0
/* Looking things up in the store: what everything else of it stands on. */
#include "engine/fleet/store.h"

#define FIND_BY_UID(type, index_, uid_)                                                        \
	do {                                                                                   \
		size_t cursor = INDEX_FIRST;                                                   \
		type *item;                                                                    \
		if (fleet_uid_is_none(uid_))                                                   \
			return NULL;                                                           \
		while ((item = fleet_index_next((index_), fleet_uid_hash(uid_), &cursor)) !=   \
			NULL) {                                                                \
			if (fleet_uid_equals(&item->uid, (uid_)))                              \
				return item;                                                   \
		}                                                                              \
		return NULL;                                                                   \
	} while (0)

struct fleet_claim *fleet_claim_of_uid(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	FIND_BY_UID(struct fleet_claim, &store->claims, uid);
}

struct fleet_sandbox *fleet_sandbox_of_uid(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	FIND_BY_UID(struct fleet_sandbox, &store->sandboxes, uid);
}

struct fleet_pod *fleet_pod_of_uid(const struct fleet_store *store, const struct fleet_uid *uid)
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
	struct fleet_claim *claim = fleet_claim_of_uid(store, &key);
	struct fleet_sandbox *sandbox = claim ? NULL : fleet_sandbox_of_uid(store, &key);
	fleet_uid_drop(access.owned, &key);
	if (claim != NULL)
		return claim->row;
	return sandbox != NULL && sandbox->row != NULL && sandbox->row->claim == NULL
		       ? sandbox->row
		       : NULL;
}

/* ---- by name */

const struct fleet_store_pool *fleet_store_pool(
	const struct fleet_store *store, const char *namespace_, const char *name)
{
	size_t cursor = INDEX_FIRST;
	struct fleet_store_pool *pool;
	if (!name[0])
		return NULL;
	while ((pool = fleet_index_next(
			&store->pools, fleet_name_hash(namespace_, name), &cursor)) != NULL) {
		if (pool->namespace_ == namespace_ && pool->name == name)
			return pool;
	}
	return NULL;
}

const struct fleet_template *fleet_store_template(
	const struct fleet_store *store, const char *namespace_, const char *name)
{
	size_t cursor = INDEX_FIRST;
	struct fleet_template *found;
	if (!name[0])
		return NULL;
	while ((found = fleet_index_next(&store->templates, fleet_name_hash(namespace_, name),
			&cursor)) != NULL) {
		if (found->namespace_ == namespace_ && found->name == name)
			return found;
	}
	return NULL;
}

/* ---- whether to take one */

bool fleet_store_was_removed(const struct fleet_store *store, const char *uid)
{
	size_t kept = store->n_removals < STORE_REMOVALS ? store->n_removals : STORE_REMOVALS;
	for (size_t i = 0; i < kept; i++)
		if (strcmp(store->removals[i].uid, uid) == 0)
			return true;
	return false;
}

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
