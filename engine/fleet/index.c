// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/index.h"

#include "engine/base/map.h"

#include <stdbool.h>
#include <string.h>

/* ---- index */

void fleet_index_deinit(struct fleet_index *index)
{
	free(index->items);
	free(index->hashes);
	memset(index, 0, sizeof *index);
}

static size_t home(const struct fleet_index *index, uint32_t hash)
{
	return hash & (index->capacity - 1);
}

static void put(struct fleet_index *index, uint32_t hash, void *item)
{
	size_t at = home(index, hash);
	while (index->items[at] != NULL)
		at = (at + 1) & (index->capacity - 1);
	index->items[at] = item;
	index->hashes[at] = hash;
}

static void resize(struct fleet_index *index, size_t capacity)
{
	struct fleet_index old = *index;
	index->capacity = capacity;
	index->items = x_calloc(capacity, sizeof *index->items);
	index->hashes = x_calloc(capacity, sizeof *index->hashes);
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.items[i] != NULL)
			put(index, old.hashes[i], old.items[i]);
	}
	free(old.items);
	free(old.hashes);
}

void fleet_index_add(struct fleet_index *index, uint32_t hash, void *item)
{
	if ((index->n + 1) * 4 > index->capacity * 3)
		resize(index, index->capacity ? index->capacity * 2 : 16);
	put(index, hash, item);
	index->n++;
}

/* Linear probing without tombstones: those behind the hole move up if their home allows it. */
static void close_hole(struct fleet_index *index, size_t hole)
{
	size_t mask = index->capacity - 1;
	for (size_t at = (hole + 1) & mask; index->items[at] != NULL; at = (at + 1) & mask) {
		size_t want = home(index, index->hashes[at]);
		bool may_move = ((at - want) & mask) >= ((at - hole) & mask);
		if (!may_move)
			continue;
		index->items[hole] = index->items[at];
		index->hashes[hole] = index->hashes[at];
		hole = at;
	}
	index->items[hole] = NULL;
}

void fleet_index_remove(struct fleet_index *index, uint32_t hash, const void *item)
{
	if (index->capacity == 0)
		return;
	for (size_t at = home(index, hash); index->items[at] != NULL;
		at = (at + 1) & (index->capacity - 1)) {
		if (index->items[at] != item)
			continue;
		close_hole(index, at);
		index->n--;
		if (index->capacity > 64 && index->n * 8 < index->capacity)
			resize(index, index->capacity / 2);
		return;
	}
}

void *fleet_index_next(const struct fleet_index *index, uint32_t hash, size_t *cursor)
{
	if (index->capacity == 0)
		return NULL;
	size_t mask = index->capacity - 1;
	for (size_t step = *cursor;; step++) {
		size_t at = (home(index, hash) + step) & mask;
		if (index->items[at] == NULL)
			return NULL;
		if (index->hashes[at] == hash) {
			*cursor = step + 1;
			return index->items[at];
		}
	}
}

void *fleet_index_at(const struct fleet_index *index, size_t position)
{
	return index->items[position];
}

/* ---- texts */

struct fleet_string_pool_text {
	uint32_t refs;
	uint32_t hash;
	char text[];
};

static const char nothing[] = "";

static struct fleet_string_pool_text *text_of(const char *text)
{
	union {
		const char *borrowed;
		char *owned;
	} pointer = { text };
	return (struct fleet_string_pool_text *)(void *)(pointer.owned -
							 offsetof(struct fleet_string_pool_text,
								 text));
}

void fleet_string_pool_deinit(struct fleet_string_pool *texts)
{
	fleet_index_deinit(&texts->index);
}

const char *fleet_string_pool_get(
	struct fleet_string_pool *texts, const char *text, size_t max_bytes)
{
	if (text == NULL || text[0] == '\0')
		return nothing;
	size_t n = strnlen(text, max_bytes);
	uint32_t hash = map_hash(text, n);
	size_t cursor = INDEX_FIRST;
	struct fleet_string_pool_text *known;
	while ((known = fleet_index_next(&texts->index, hash, &cursor)) != NULL) {
		if (strncmp(known->text, text, n) == 0 && known->text[n] == '\0') {
			known->refs++;
			return known->text;
		}
	}
	struct fleet_string_pool_text *made = x_malloc(sizeof *made + n + 1);
	made->refs = 1;
	made->hash = hash;
	memcpy(made->text, text, n);
	made->text[n] = '\0';
	fleet_index_add(&texts->index, hash, made);
	return made->text;
}

const char *fleet_string_pool_ref(const char *text)
{
	if (text != nothing)
		text_of(text)->refs++;
	return text;
}

void fleet_string_pool_unref(struct fleet_string_pool *texts, const char *text)
{
	if (text == NULL || text == nothing)
		return;
	struct fleet_string_pool_text *known = text_of(text);
	if (--known->refs > 0)
		return;
	fleet_index_remove(&texts->index, known->hash, known);
	free(known);
}

void fleet_string_pool_set(
	struct fleet_string_pool *texts, const char **slot, const char *text, size_t max_bytes)
{
	const char *old = *slot;
	/* most updates change nothing: no hashing for them */
	if (old != NULL && text != NULL && strcmp(old, text) == 0)
		return;
	*slot = fleet_string_pool_get(texts, text, max_bytes);
	fleet_string_pool_unref(texts, old);
}

uint32_t fleet_string_pool_hash(const char *text)
{
	return text == nothing ? 0 : text_of(text)->hash;
}
