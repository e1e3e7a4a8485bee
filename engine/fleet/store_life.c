// SPDX-License-Identifier: Apache-2.0
/* The store as a whole: empty, and emptied. */
#include "engine/base/map.h"
#include "engine/fleet/store.h"

#include <string.h>

void fleet_store_init(struct fleet_store *store, void (*on_change)(void *arg), void *arg)
{
	memset(store, 0, sizeof *store);
	store->on_change = on_change;
	store->arg = arg;
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
	free(store->pool_list);
	free(store->rows);
	free(store->removals);
	fleet_string_pool_deinit(&store->texts);
	memset(store, 0, sizeof *store);
}
