// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/tombstones.h"

#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/fleet_internal.h"
#include "engine/net/loop.h"

#include <stdlib.h>

const struct fleet_row *fleet_find_any(const struct fleet *fleet, const char *uid)
{
	const struct fleet_store_row *row = fleet_store_find(&fleet->store, uid);
	const struct fleet_tombstone *stone =
		row ? NULL : fleet_tombstone_of(&fleet->store, uid);
	return row ? &row->shown : stone ? &stone->shown : NULL;
}

size_t fleet_tombstone_count(const struct fleet *fleet)
{
	return fleet->store.n_tombstones;
}

void fleet_tombstone_changes(const struct fleet *fleet, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg)
{
	const struct fleet_tombstone *stone;
	if (fleet->store.hides_tombstones)
		return;
	DL_FOREACH(fleet->store.tombstones, stone) {
		if (stone->shown.revision > since)
			fn(arg, stone->shown.uid, &stone->shown);
	}
}

bool fleet_tombstone_dismiss(struct fleet *fleet, const char *uid)
{
	struct fleet_store *store = &fleet->store;
	struct fleet_tombstone *stone =
		uid ? fleet_tombstone_named(store, uid) : store->tombstones;
	if (stone == NULL)
		return false;
	do {
		fleet_tombstone_remove(store, stone, !store->hides_tombstones);
		stone = uid ? NULL : store->tombstones;
	} while (stone != NULL);
	store->on_change(store->arg);
	return true;
}

void fleet_tombstones_show(struct fleet *fleet, bool on)
{
	struct fleet_store *store = &fleet->store;
	struct fleet_tombstone *stone;
	if (store->hides_tombstones == !on)
		return;
	store->hides_tombstones = !on;
	store->by_state[FLEET_DELETED] = on ? store->n_tombstones : 0;
	DL_FOREACH(store->tombstones, stone) {
		if (on)
			stone->shown.revision = ++store->revision;
		else
			fleet_row_record_removal(store, stone->shown.uid);
	}
	store->on_change(store->arg);
}

bool fleet_tombstones_are_shown(const struct fleet *fleet)
{
	return !fleet->store.hides_tombstones;
}

/* ---- the time they are kept */

static void on_expiry(void *arg)
{
	struct fleet *fleet = arg;
	int64_t left =
		fleet_tombstones_expire(&fleet->store, setting_get(SETTING_TOMBSTONE_TIME));
	if (left >= 0)
		net_loop_timer_arm(fleet->tombstones_end, left);
}

void fleet_tombstones_start(struct fleet *fleet)
{
	fleet->store.max_tombstones = (size_t)setting_get(SETTING_TOMBSTONES);
	if (setting_get(SETTING_TOMBSTONE_TIME) == 0)
		fleet->store.max_tombstones = 0;
	fleet->tombstones_end = net_loop_timer_new(fleet->loop, on_expiry, fleet);
}

void fleet_tombstones_watch(struct fleet *fleet)
{
	if (fleet->tombstones_end != NULL && fleet->store.tombstones != NULL)
		on_expiry(fleet);
}
