// SPDX-License-Identifier: Apache-2.0
/* Two small containers that keep a row under a kilobyte:
 *
 * index: hash -> pointers, open addressing, 12 bytes a slot (a uthash handle takes 56 in each object). Several objects
 * may share a key. Keys are compared by the caller.
 * text:  interned, reference-counted strings. Names, namespaces, reasons and messages repeat a thousandfold, and
 * equal text is the same pointer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fleet_index {
	void **items;
	uint32_t *hashes;
	size_t n, capacity; /* capacity: 0 or a power of two */
};
void fleet_index_deinit(struct fleet_index *index);
void fleet_index_add(struct fleet_index *index, uint32_t hash, void *item);
void fleet_index_remove(struct fleet_index *index, uint32_t hash, const void *item);
enum { INDEX_FIRST = 0 };
/* The next item of that hash; *cursor begins as INDEX_FIRST. Nothing may change in between. */
void *fleet_index_next(const struct fleet_index *index, uint32_t hash, size_t *cursor);
/* All items in no order: position from 0 to capacity; NULL for an empty place. */
void *fleet_index_at(const struct fleet_index *index, size_t position);

struct fleet_string_pool {
	struct fleet_index index;
};
void fleet_string_pool_deinit(
	struct fleet_string_pool *texts); /* everything must have been given back */
/* A reference; NULL and "" give "" (which needs no giving back, but may be). At most max_bytes are kept. */
const char *fleet_string_pool_get(
	struct fleet_string_pool *texts, const char *text, size_t max_bytes);
const char *fleet_string_pool_ref(const char *text);
void fleet_string_pool_unref(struct fleet_string_pool *texts, const char *text);
/* *slot takes a reference to that text and gives its old one back. */
void fleet_string_pool_set(
	struct fleet_string_pool *texts, const char **slot, const char *text, size_t max_bytes);
uint32_t fleet_string_pool_hash(const char *text); /* of an interned one: stored */
