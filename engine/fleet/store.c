// SPDX-License-Identifier: Apache-2.0
/* Objects by uid, and lists compared with what is held (mark and sweep by epoch). */
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

const struct pool *store_pool(
	const struct store *store, const char *namespace_, const char *name)
{
	size_t cursor = INDEX_FIRST;
	struct pool *pool;
	if (!name[0])
		return NULL;
	while ((pool = index_next(&store->pools, name_hash(namespace_, name), &cursor)) !=
		NULL) {
		if (pool->namespace_ == namespace_ && pool->name == name)
			return pool;
	}
	return NULL;
}

const struct template *store_template(
	const struct store *store, const char *namespace_, const char *name)
{
	size_t cursor = INDEX_FIRST;
	struct template *found;
	if (!name[0])
		return NULL;
	while ((found = index_next(&store->templates, name_hash(namespace_, name), &cursor)) !=
		NULL) {
		if (found->namespace_ == namespace_ && found->name == name)
			return found;
	}
	return NULL;
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
static bool is_old(
	const struct store *store, enum store_kind kind, uint64_t known, uint64_t revision)
{
	if (known == 0 || revision == 0)
		return false;
	return known == revision || (!store->is_listing[kind] && revision < known);
}

static bool is_full(struct store *store, const struct index *index)
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

static void remove_claim(struct store *store, struct claim *claim)
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
			remove_claim(store, claim);
		return;
	}
	if (claim == NULL) {
		/* a uid is unique over all kinds: rows rely on it, a broken server may not */
		if (is_full(store, &store->claims) || find_sandbox(store, uid) != NULL)
			return;
		claim = x_calloc(1, sizeof *claim);
		claim->uid = *uid;
		memset(uid, 0, sizeof *uid); /* handed over */
		index_add(&store->claims, uid_hash(&claim->uid), claim);
		events_now_known(store, &claim->uid);
	}
	claim->epoch = store->epoch[STORE_CLAIMS];
	if (is_old(store, STORE_CLAIMS, claim->revision, revision_of(object)))
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

static void remove_sandbox(struct store *store, struct sandbox *sandbox)
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
			remove_sandbox(store, sandbox);
		return;
	}
	if (is_new) {
		if (is_full(store, &store->sandboxes) || find_claim(store, uid) != NULL)
			return;
		sandbox = x_calloc(1, sizeof *sandbox);
		sandbox->uid = *uid;
		memset(uid, 0, sizeof *uid);
		index_add(&store->sandboxes, uid_hash(&sandbox->uid), sandbox);
		events_now_known(store, &sandbox->uid);
	}
	sandbox->epoch = store->epoch[STORE_SANDBOXES];
	if (!is_new && is_old(store, STORE_SANDBOXES, sandbox->revision, revision_of(object)))
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

static void remove_pod(struct store *store, struct pod *pod)
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
			remove_pod(store, pod);
		return;
	}
	if (pod == NULL) {
		if (is_full(store, &store->pods))
			return;
		pod = x_calloc(1, sizeof *pod);
		pod->uid = *uid;
		memset(uid, 0, sizeof *uid);
		index_add(&store->pods, uid_hash(&pod->uid), pod);
		events_now_known(store, &pod->uid);
	}
	pod->epoch = store->epoch[STORE_PODS];
	if (is_old(store, STORE_PODS, pod->revision, revision_of(object)))
		return;
	pod_index(store, pod, false);
	pod_read(store, pod, object);
	pod_index(store, pod, true);
	rows_join_pod(store, pod);
}

/* ---- pools and templates: few, and looked up by name */

static struct pool *find_pool(const struct store *store, const struct uid *uid)
{
	for (size_t i = 0; i < store->n_pools; i++) {
		if (uid_equals(&store->pool_list[i]->uid, uid))
			return store->pool_list[i];
	}
	return NULL;
}

static void remove_pool(struct store *store, struct pool *pool)
{
	index_remove(&store->pools, name_hash(pool->namespace_, pool->name), pool);
	for (size_t i = 0; i < store->n_pools; i++) {
		if (store->pool_list[i] != pool)
			continue;
		store->n_pools--;
		memmove(store->pool_list + i, store->pool_list + i + 1,
			(store->n_pools - i) * sizeof *store->pool_list);
		break;
	}
	rows_of_pool(store, pool->namespace_, pool->name);
	pool_drop(store, pool);
	free(pool);
	store->revision++;
	store->on_change(store->arg);
}

static void apply_pool(struct store *store, struct uid *uid, bool is_gone, const cJSON *object)
{
	struct pool *pool = find_pool(store, uid);
	bool is_new = pool == NULL;
	if (is_gone) {
		if (pool != NULL)
			remove_pool(store, pool);
		return;
	}
	if (is_new) {
		if (store->n_pools >= STORE_MAX_OBJECTS)
			return;
		pool = x_calloc(1, sizeof *pool);
		pool->uid = *uid;
		memset(uid, 0, sizeof *uid);
		array_grow(&store->pool_list, &store->pool_capacity, store->n_pools + 1,
			sizeof *store->pool_list);
		store->pool_list[store->n_pools++] = pool;
	}
	pool->epoch = store->epoch[STORE_POOLS];
	if (!is_new && is_old(store, STORE_POOLS, pool->revision, revision_of(object)))
		return;
	const char *template_before = is_new ? NULL : text_ref(pool->template_);
	bool was_empty = pool->ready == 0;
	if (!is_new)
		index_remove(&store->pools, name_hash(pool->namespace_, pool->name), pool);
	pool_read(store, pool, object);
	index_add(&store->pools, name_hash(pool->namespace_, pool->name), pool);
	/* counts change with every claim; rows look at the template and at "is it empty" only */
	if (is_new || template_before != pool->template_ || was_empty != (pool->ready == 0))
		rows_of_pool(store, pool->namespace_, pool->name);
	text_unref(&store->texts, template_before);
	store->revision++;
	store->on_change(store->arg);
}

static struct template *find_template(const struct store *store, const struct uid *uid)
{
	for (size_t i = 0; i < store->templates.capacity; i++) {
		struct template *item = index_at(&store->templates, i);
		if (item != NULL && uid_equals(&item->uid, uid))
			return item;
	}
	return NULL;
}

static void remove_template(struct store *store, struct template *template_)
{
	index_remove(&store->templates, name_hash(template_->namespace_, template_->name),
		template_);
	rows_of_template(store, template_->namespace_, template_->name);
	template_drop(store, template_);
	free(template_);
	store->revision++;
	store->on_change(store->arg);
}

static void apply_template(
	struct store *store, struct uid *uid, bool is_gone, const cJSON *object)
{
	struct template *template_ = find_template(store, uid);
	bool is_new = template_ == NULL;
	if (is_gone) {
		if (template_ != NULL)
			remove_template(store, template_);
		return;
	}
	if (is_new) {
		if (is_full(store, &store->templates))
			return;
		template_ = x_calloc(1, sizeof *template_);
		template_->uid = *uid;
		memset(uid, 0, sizeof *uid);
	}
	template_->epoch = store->epoch[STORE_TEMPLATES];
	if (!is_new && is_old(store, STORE_TEMPLATES, template_->revision, revision_of(object)))
		return;
	if (!is_new)
		index_remove(&store->templates,
			name_hash(template_->namespace_, template_->name), template_);
	template_read(store, template_, object);
	index_add(&store->templates, name_hash(template_->namespace_, template_->name),
		template_);
	rows_of_template(store, template_->namespace_, template_->name);
	store->revision++;
	store->on_change(store->arg);
}

void store_apply(struct store *store, enum store_kind kind, enum kube_change change,
	const struct cJSON *object)
{
	static void (*const apply[])(struct store *, struct uid *, bool, const cJSON *) = {
		[STORE_CLAIMS] = apply_claim,
		[STORE_SANDBOXES] = apply_sandbox,
		[STORE_PODS] = apply_pod,
		[STORE_POOLS] = apply_pool,
		[STORE_TEMPLATES] = apply_template,
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

/* ---- lists */

struct sweep {
	void **items;
	size_t n, capacity;
};

static void sweep_add(struct sweep *sweep, void *item)
{
	array_grow(&sweep->items, &sweep->capacity, sweep->n + 1, sizeof *sweep->items);
	sweep->items[sweep->n++] = item;
}

/* Removing changes the index: collected first. */
#define SWEEP(type, index_, condition, remove)                                                 \
	do {                                                                                   \
		struct sweep sweep = { 0 };                                                    \
		for (size_t i = 0; i < (index_)->capacity; i++) {                              \
			type *item = index_at((index_), i);                                    \
			if (item != NULL && (condition))                                       \
				sweep_add(&sweep, item);                                       \
		}                                                                              \
		for (size_t i = 0; i < sweep.n; i++)                                           \
			remove(store, sweep.items[i]);                                         \
		free(sweep.items);                                                             \
	} while (0)

static void sweep_old(struct store *store, enum store_kind kind)
{
	uint32_t epoch = store->epoch[kind];
	switch (kind) {
	case STORE_CLAIMS:
		SWEEP(struct claim, &store->claims, item->epoch != epoch, remove_claim);
		break;
	case STORE_SANDBOXES:
		SWEEP(struct sandbox, &store->sandboxes, item->epoch != epoch, remove_sandbox);
		break;
	case STORE_PODS:
		SWEEP(struct pod, &store->pods, item->epoch != epoch, remove_pod);
		break;
	case STORE_POOLS:
		SWEEP(struct pool, &store->pools, item->epoch != epoch, remove_pool);
		break;
	case STORE_TEMPLATES:
		SWEEP(struct template, &store->templates, item->epoch != epoch,
			remove_template);
		break;
	case STORE_EVENTS:
	case STORE_KIND_COUNT:
		break;
	}
}

static void refresh_all(struct store *store)
{
	for (size_t i = 0; i < store->n_rows; i++) {
		if (store->rows[i] != NULL)
			row_refresh(store, store->rows[i]);
	}
}

void store_sync(struct store *store, enum store_kind kind, bool begin)
{
	if (begin) {
		store->epoch[kind]++;
		store->is_listing[kind] = true;
		return;
	}
	bool is_first = !store->is_synced[kind];
	store->is_listing[kind] = false;
	store->is_synced[kind] = true;
	store->is_forbidden[kind] = false;
	sweep_old(store, kind);
	if (kind == STORE_CLAIMS)
		store_show_hidden(store);
	/* "the pod is gone" and "the pool does not exist" can be said only from now on */
	if (is_first && kind != STORE_CLAIMS && kind != STORE_EVENTS)
		refresh_all(store);
	store->revision++;
	store->on_change(store->arg);
}

void store_forget_named(struct store *store, enum store_kind kind, const char *namespace_,
	const char *name, const char *uid)
{
	struct uid keep = uid_parse(store, uid);
	const char *in = text_get(&store->texts, namespace_, STORE_MAX_NAME);
	const char *called = text_get(&store->texts, name, STORE_MAX_NAME);
#define IS_IT (item->namespace_ == in && item->name == called && !uid_equals(&item->uid, &keep))
	switch (kind) {
	case STORE_CLAIMS:
		SWEEP(struct claim, &store->claims, IS_IT, remove_claim);
		break;
	case STORE_SANDBOXES:
		SWEEP(struct sandbox, &store->sandboxes, IS_IT, remove_sandbox);
		break;
	case STORE_PODS:
		SWEEP(struct pod, &store->pods, IS_IT, remove_pod);
		break;
	case STORE_POOLS:
		SWEEP(struct pool, &store->pools, IS_IT, remove_pool);
		break;
	case STORE_TEMPLATES:
	case STORE_EVENTS:
	case STORE_KIND_COUNT:
		break;
	}
#undef IS_IT
	text_unref(&store->texts, in);
	text_unref(&store->texts, called);
	uid_drop(store, &keep);
}

void store_set_forbidden(struct store *store, enum store_kind kind, bool forbidden)
{
	if (store->is_forbidden[kind] == forbidden)
		return;
	store->is_forbidden[kind] = forbidden;
	if (forbidden) {
		/* what we once saw is no longer known to be true */
		store->epoch[kind]++;
		store->is_synced[kind] = false;
		sweep_old(store, kind);
		if (kind == STORE_CLAIMS)
			store_show_hidden(store);
		refresh_all(store);
	}
	store->revision++;
	store->on_change(store->arg);
}

bool store_show_hidden(struct store *store)
{
	store->n_hidden = 0;
	if (store->is_filtered)
		return false;
	for (size_t i = 0; i < store->sandboxes.capacity; i++) {
		struct sandbox *sandbox = index_at(&store->sandboxes, i);
		if (sandbox != NULL && sandbox->row == NULL)
			rows_join_sandbox(store, sandbox);
	}
	return store->n_hidden > 0;
}

void store_pack(struct store *store)
{
	if (store->n_holes == 0)
		return;
	size_t n = 0;
	for (size_t i = 0; i < store->n_rows; i++) {
		struct row *row = store->rows[i];
		if (row == NULL)
			continue;
		row->position = n;
		store->rows[n++] = row;
	}
	store->n_rows = n;
	store->n_holes = 0;
}

void store_changes(const struct store *store, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg)
{
	if (since < store->forgotten) {
		fn(arg, NULL, NULL);
		return;
	}
	size_t kept = store->n_removals < STORE_REMOVALS ? store->n_removals : STORE_REMOVALS;
	for (size_t i = store->n_removals - kept; i < store->n_removals; i++) {
		const char *uid = store->removals[i % STORE_REMOVALS].uid;
		if (store->removals[i % STORE_REMOVALS].revision > since)
			fn(arg, uid, NULL);
	}
	if (store->by_revision == NULL)
		return;
	/* newest last, and the head's prev is the tail (utlist): back to the first that is newer */
	const struct row *row = store->by_revision->prev, *first = NULL;
	while (row->shown.revision > since) {
		first = row;
		if (row == store->by_revision)
			break;
		row = row->prev;
	}
	for (row = first; row != NULL; row = row->next)
		fn(arg, row->shown.uid, &row->shown);
}

void store_deinit(struct store *store)
{
	for (size_t i = 0; i < STORE_KIND_COUNT; i++) {
		store->epoch[i]++;
		sweep_old(store, (enum store_kind)i);
	}
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
