// SPDX-License-Identifier: Apache-2.0
/* What can still be read from a damaged database. */
#pragma once

#include "local/server/store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct store_salvaged {
	size_t n_rows,
		n_unreadable; /* rows of which the key could be read, and how many of them not further */
	int64_t revision; /* at least that of the last write that could be read */
};
/* json is taken; false: it is not wanted (a UID or a name that is there already). */
typedef bool store_salvage_object_fn(void *arg, enum store_kind kind, cJSON *json_take);
typedef void store_salvage_meta_fn(void *arg, const char *key, const char *value);
typedef void store_salvage_deleted_fn(void *arg, const char *uid);
struct store_salvage_callbacks {
	store_salvage_object_fn *on_object;
	store_salvage_meta_fn *on_meta;
	store_salvage_deleted_fn
		*on_deleted; /* UIDs that were removed by name; all of them come first */
};
/* Reads the database at path, a copy that may be changed, from both ends of its tables, past what is damaged as far as
 * that goes. Never fails: what cannot be read is not there. */
void store_salvage_read(const char *path, const struct store_salvage_callbacks *callbacks,
	void *arg, struct store_salvaged *out);
