// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/source.h"
#include "engine/fleet/tombstones.h"

static uint64_t revision(const void *self)
{
	return fleet_revision(self);
}

static const void *find(const void *self, const char *uid)
{
	return fleet_find_any(self, uid);
}

struct telling {
	const struct fleet *fleet;
	resource_change_fn *fn;
	void *arg;
};

static void tell(void *arg, const char *uid, const struct fleet_row *row)
{
	const struct telling *telling = arg;
	/* one that has left a tombstone has changed */
	if (row == NULL && uid != NULL && fleet_tombstones_are_shown(telling->fleet) &&
		fleet_find_any(telling->fleet, uid) != NULL)
		return;
	telling->fn(telling->arg, uid, row);
}

static void each(const void *self, resource_change_fn *fn, void *arg)
{
	size_t n = fleet_count(self);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_row *row = fleet_at(self, i);
		fn(arg, row->uid, row);
	}
	struct telling telling = { self, fn, arg };
	fleet_tombstone_changes(self, 0, tell, &telling);
}

static void changes(const void *self, uint64_t since, resource_change_fn *fn, void *arg)
{
	struct telling telling = { self, fn, arg };
	fleet_changes(self, since, tell, &telling);
	fleet_tombstone_changes(self, since, tell, &telling);
}

struct resource_source fleet_source(const struct fleet *fleet)
{
	static const struct resource_source_ops ops = { revision, find, each, changes };
	return (struct resource_source){ &ops, fleet };
}
