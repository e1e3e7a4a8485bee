// SPDX-License-Identifier: Apache-2.0
/* Lists compared with what is held (mark and sweep by epoch), what may not be read, and what has changed. */
#include "engine/base/map.h"
#include "engine/fleet/store.h"

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
			type *item = fleet_index_at((index_), i);                              \
			if (item != NULL && (condition))                                       \
				sweep_add(&sweep, item);                                       \
		}                                                                              \
		for (size_t i = 0; i < sweep.n; i++)                                           \
			remove(store, sweep.items[i]);                                         \
		free(sweep.items);                                                             \
	} while (0)

static void sweep_old(struct fleet_store *store, enum fleet_store_kind kind)
{
	uint32_t epoch = store->epoch[kind];
	switch (kind) {
	case STORE_CLAIMS:
		SWEEP(struct fleet_claim, &store->claims, item->epoch != epoch,
			fleet_store_remove_claim);
		break;
	case STORE_SANDBOXES:
		SWEEP(struct fleet_sandbox, &store->sandboxes, item->epoch != epoch,
			fleet_store_remove_sandbox);
		break;
	case STORE_PODS:
		SWEEP(struct fleet_pod, &store->pods, item->epoch != epoch,
			fleet_store_remove_pod);
		break;
	case STORE_POOLS:
		SWEEP(struct fleet_store_pool, &store->pools, item->epoch != epoch,
			fleet_store_remove_pool);
		break;
	case STORE_TEMPLATES:
		SWEEP(struct fleet_template, &store->templates, item->epoch != epoch,
			fleet_store_remove_template);
		break;
	case STORE_EVENTS:
	case STORE_KIND_COUNT:
		break;
	}
}

void fleet_store_forget_all(struct fleet_store *store)
{
	for (size_t i = 0; i < STORE_KIND_COUNT; i++) {
		store->epoch[i]++;
		sweep_old(store, (enum fleet_store_kind)i);
	}
}

static void refresh_all(struct fleet_store *store)
{
	for (size_t i = 0; i < store->n_rows; i++) {
		if (store->rows[i] != NULL)
			fleet_row_refresh(store, store->rows[i]);
	}
}

void fleet_store_sync(struct fleet_store *store, enum fleet_store_kind kind, bool begin)
{
	if (begin) {
		store->epoch[kind]++;
		store->is_listing[kind] = true;
		return;
	}
	bool is_first = !store->is_synced[kind] || store->is_forbidden[kind];
	store->is_listing[kind] = false;
	store->is_synced[kind] = true;
	store->is_forbidden[kind] = false;
	sweep_old(store, kind);
	if (kind == STORE_CLAIMS)
		fleet_store_show_hidden(store);
	/* "the pod is gone" and "the pool does not exist" can be said only from now on */
	if (is_first && kind != STORE_CLAIMS && kind != STORE_EVENTS)
		refresh_all(store);
	store->revision++;
	store->on_change(store->arg);
}

void fleet_store_forget_named(struct fleet_store *store, enum fleet_store_kind kind,
	const char *namespace_, const char *name, const char *uid)
{
	struct fleet_uid keep = fleet_uid_parse(store, uid);
	const char *in = fleet_string_pool_get(&store->texts, namespace_, STORE_MAX_NAME);
	const char *called = fleet_string_pool_get(&store->texts, name, STORE_MAX_NAME);
#define IS_IT                                                                                  \
	(item->namespace_ == in && item->name == called && !fleet_uid_equals(&item->uid, &keep))
	switch (kind) {
	case STORE_CLAIMS:
		SWEEP(struct fleet_claim, &store->claims, IS_IT, fleet_store_remove_claim);
		break;
	case STORE_SANDBOXES:
		SWEEP(struct fleet_sandbox, &store->sandboxes, IS_IT,
			fleet_store_remove_sandbox);
		break;
	case STORE_PODS:
		SWEEP(struct fleet_pod, &store->pods, IS_IT, fleet_store_remove_pod);
		break;
	case STORE_POOLS:
		SWEEP(struct fleet_store_pool, &store->pools, IS_IT, fleet_store_remove_pool);
		break;
	case STORE_TEMPLATES:
	case STORE_EVENTS:
	case STORE_KIND_COUNT:
		break;
	}
#undef IS_IT
	fleet_string_pool_unref(&store->texts, in);
	fleet_string_pool_unref(&store->texts, called);
	fleet_uid_drop(store, &keep);
}

/* Pods that are out of sight are not gone. */
static void forget_pods(struct fleet_store *store)
{
	for (size_t i = 0; i < store->sandboxes.capacity; i++) {
		struct fleet_sandbox *sandbox = fleet_index_at(&store->sandboxes, i);
		if (sandbox != NULL)
			sandbox->had_pod = false;
	}
}

void fleet_store_set_forbidden(
	struct fleet_store *store, enum fleet_store_kind kind, bool forbidden)
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
			fleet_store_show_hidden(store);
		if (kind == STORE_PODS)
			forget_pods(store);
	}
	refresh_all(store);
	store->revision++;
	store->on_change(store->arg);
}

bool fleet_store_show_hidden(struct fleet_store *store)
{
	store->n_hidden = 0;
	if (store->is_filtered)
		return false;
	for (size_t i = 0; i < store->sandboxes.capacity; i++) {
		struct fleet_sandbox *sandbox = fleet_index_at(&store->sandboxes, i);
		if (sandbox != NULL && sandbox->row == NULL)
			fleet_rows_join_sandbox(store, sandbox);
	}
	return store->n_hidden > 0;
}

void fleet_store_pack(struct fleet_store *store)
{
	if (store->n_holes == 0)
		return;
	size_t n = 0;
	for (size_t i = 0; i < store->n_rows; i++) {
		struct fleet_store_row *row = store->rows[i];
		if (row == NULL)
			continue;
		row->position = n;
		store->rows[n++] = row;
	}
	store->n_rows = n;
	store->n_holes = 0;
}

void fleet_store_changes(const struct fleet_store *store, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg)
{
	if (since < store->forgotten) {
		fn(arg, NULL, NULL);
		return;
	}
	/* their revisions rise: back to the first that is newer */
	size_t kept = store->n_removals < STORE_REMOVALS ? store->n_removals : STORE_REMOVALS;
	size_t i = store->n_removals;
	while (i > store->n_removals - kept &&
		store->removals[(i - 1) % STORE_REMOVALS].revision > since)
		i--;
	for (; i < store->n_removals; i++)
		fn(arg, store->removals[i % STORE_REMOVALS].uid, NULL);
	if (store->by_revision == NULL)
		return;
	/* newest last, and the head's prev is the tail (utlist): back to the first that is newer */
	const struct fleet_store_row *row = store->by_revision->prev, *first = NULL;
	while (row->shown.revision > since) {
		first = row;
		if (row == store->by_revision)
			break;
		row = row->prev;
	}
	for (row = first; row != NULL; row = row->next)
		fn(arg, row->shown.uid, &row->shown);
}
