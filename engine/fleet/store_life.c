// SPDX-License-Identifier: Apache-2.0
/* The store as a whole: empty, and emptied. */
#include "engine/base/map.h"
#include "engine/fleet/store.h"

#include <string.h>

static int compare_expiry(const void *arg, const void *left, const void *right)
{
	const struct fleet_store_row *a = left, *b = right;
	(void)arg;
	if (a->expiry_ms != b->expiry_ms)
		return a->expiry_ms < b->expiry_ms ? -1 : 1;
	return strcmp(a->shown.uid, b->shown.uid);
}

size_t fleet_store_n_expiring(const struct fleet_store *store, int64_t before_ms)
{
	const struct fleet_store_row then = { .expiry_ms = before_ms };
	return resource_order_place(store->by_expiry, &then);
}

int64_t fleet_store_next_end(const struct fleet_store *store)
{
	if (resource_order_count(store->by_expiry) == 0)
		return 0;
	const struct fleet_store_row *first = resource_order_at(store->by_expiry, 0);
	return first->expiry_ms;
}

void fleet_store_init(struct fleet_store *store, void (*on_change)(void *arg), void *arg)
{
	memset(store, 0, sizeof *store);
	store->on_change = on_change;
	store->arg = arg;
	store->by_expiry = resource_order_new(compare_expiry, NULL);
	store->removals = x_calloc(STORE_REMOVALS, sizeof *store->removals);
}

void fleet_store_deinit(struct fleet_store *store)
{
	store->max_tombstones = 0;
	fleet_store_forget_all(store);
	fleet_tombstones_deinit(store);
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
	resource_order_free(store->by_expiry);
	free(store->pool_list);
	free(store->rows);
	free(store->removals);
	fleet_string_pool_deinit(&store->texts);
	memset(store, 0, sizeof *store);
}
