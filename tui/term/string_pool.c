// SPDX-License-Identifier: Apache-2.0
/* A table of small values. Ids are slots of an array; free slots form a stack. Lookup by content
 * goes through a small direct-mapped cache first, because programs alternate between few styles. */
#include "tui/term/string_pool.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	CACHE_SLOTS = 256,
	SWEEP_FIRST = 2048, /* no sweep below this many values */
};

struct term_entry {
	UT_hash_handle hh;
	uint32_t id;
	uint32_t refs;
	bool used;
	bool marked;
	_Alignas(8) unsigned char item[]; /* read as the struct it holds */
};

struct term_string_pool {
	size_t item_bytes;
	size_t max_items;
	struct term_entry **slots; /* by id; slot 0 is never used */
	size_t slot_count;
	size_t slot_capacity;
	uint32_t *free_ids;
	size_t free_count;
	size_t free_capacity;
	size_t live;
	size_t sweep_at;
	struct term_entry *by_content;
	uint32_t cache[CACHE_SLOTS]; /* ids, 0 = empty */
};

struct term_string_pool *term_string_pool_new(size_t item_bytes, size_t max_items)
{
	struct term_string_pool *table = x_calloc(1, sizeof *table);
	table->item_bytes = item_bytes;
	table->max_items = max_items;
	array_grow(&table->slots, &table->slot_capacity, 1, sizeof *table->slots);
	table->slots[0] = NULL;
	table->slot_count = 1;
	table->sweep_at = SWEEP_FIRST;
	return table;
}

void term_string_pool_free(struct term_string_pool *table)
{
	if (table == NULL)
		return;
	HASH_CLEAR(hh, table->by_content);
	for (size_t i = 1; i < table->slot_count; i++)
		free(table->slots[i]);
	free(table->slots);
	free(table->free_ids);
	free(table);
}

/* Only chooses a cache slot: a bad spread costs time, never correctness. */
static size_t cache_slot(const struct term_string_pool *table, const unsigned char *item)
{
	uint32_t hash = 0;
	for (size_t i = 0; i + 4 <= table->item_bytes; i += 4) {
		uint32_t word;
		memcpy(&word, item + i, sizeof word);
		hash = (hash ^ word) * 0x9e3779b1u;
		hash ^= hash >> 15;
	}
	return hash % CACHE_SLOTS;
}

static struct term_entry *take_slot(struct term_string_pool *table)
{
	if (table->free_count > 0)
		return table->slots[table->free_ids[--table->free_count]];
	if (table->slot_count > table->max_items)
		return NULL;
	array_grow(&table->slots, &table->slot_capacity, table->slot_count + 1,
		sizeof *table->slots);
	struct term_entry *entry = x_calloc(1, sizeof *entry + table->item_bytes);
	entry->id = (uint32_t)table->slot_count;
	table->slots[table->slot_count++] = entry;
	return entry;
}

uint32_t term_string_pool_add(struct term_string_pool *table, const void *item)
{
	uint32_t *cached = &table->cache[cache_slot(table, item)];
	if (*cached != 0 && memcmp(table->slots[*cached]->item, item, table->item_bytes) == 0)
		return *cached;
	struct term_entry *entry = NULL;
	HASH_FIND(hh, table->by_content, item, table->item_bytes, entry);
	if (entry == NULL) {
		entry = take_slot(table);
		if (entry == NULL)
			return 0;
		memcpy(entry->item, item, table->item_bytes);
		entry->refs = 0;
		entry->used = true;
		entry->marked = false;
		HASH_ADD_KEYPTR(hh, table->by_content, entry->item, table->item_bytes, entry);
		table->live++;
	}
	*cached = entry->id;
	return entry->id;
}

static struct term_entry *find(const struct term_string_pool *table, uint32_t id)
{
	if (id == 0 || id >= table->slot_count || !table->slots[id]->used)
		return NULL;
	return table->slots[id];
}

const void *term_string_pool_get(const struct term_string_pool *table, uint32_t id)
{
	const struct term_entry *entry = find(table, id);
	return entry ? entry->item : NULL;
}

void term_string_pool_ref(struct term_string_pool *table, uint32_t id)
{
	struct term_entry *entry = find(table, id);
	if (entry != NULL)
		entry->refs++;
}

void term_string_pool_unref(struct term_string_pool *table, uint32_t id)
{
	struct term_entry *entry = find(table, id);
	if (entry != NULL && entry->refs > 0)
		entry->refs--;
}

bool term_string_pool_sweep_is_due(const struct term_string_pool *table)
{
	return table->live >= table->sweep_at;
}

void term_string_pool_sweep_begin(struct term_string_pool *table)
{
	for (size_t i = 1; i < table->slot_count; i++)
		table->slots[i]->marked = false;
}

void term_string_pool_sweep_mark(struct term_string_pool *table, uint32_t id)
{
	struct term_entry *entry = find(table, id);
	if (entry != NULL)
		entry->marked = true;
}

void term_string_pool_sweep_end(struct term_string_pool *table)
{
	for (size_t i = 1; i < table->slot_count; i++) {
		struct term_entry *entry = table->slots[i];
		if (!entry->used || entry->marked || entry->refs > 0)
			continue;
		HASH_DEL(table->by_content, entry);
		entry->used = false;
		table->live--;
		array_grow(&table->free_ids, &table->free_capacity, table->free_count + 1,
			sizeof *table->free_ids);
		table->free_ids[table->free_count++] = entry->id;
	}
	memset(table->cache, 0, sizeof table->cache);
	/* a table that stays full is swept now and then, not at every chance */
	size_t next = table->live * 2;
	if (next > table->max_items)
		next = table->live + (table->max_items - table->live) / 2 + 1;
	table->sweep_at = next > SWEEP_FIRST ? next : SWEEP_FIRST;
}
