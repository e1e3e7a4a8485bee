// SPDX-License-Identifier: Apache-2.0
/* The table of styles. Ids are slots of an array; free slots form a list. Lookup by content goes
 * through a small direct-mapped cache first, because programs alternate between few styles. */
#include "tui/term/style.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	CACHE_SLOTS = 256,
	SWEEP_FIRST = 2048, /* no sweep below this many styles */
};

_Static_assert(sizeof(struct term_style) == 16, "compared and hashed as bytes: no padding");

struct entry {
	struct term_style style;
	uint32_t id;
	uint32_t refs;
	bool used;
	bool marked;
	UT_hash_handle hh;
};

struct style_table {
	struct entry **slots; /* by id; entries do not move, the hash points at them */
	size_t slot_count;
	size_t slot_capacity;
	uint32_t *free_ids;
	size_t free_count;
	size_t free_capacity;
	size_t live;
	size_t sweep_at;
	struct entry *by_content;
	uint32_t cache[CACHE_SLOTS]; /* ids, 0 = empty */
};

static const struct term_style default_style;

struct style_table *style_table_new(void)
{
	struct style_table *table = x_calloc(1, sizeof *table);
	array_grow(&table->slots, &table->slot_capacity, 1, sizeof *table->slots);
	table->slots[0] = NULL; /* the default style has no entry */
	table->slot_count = 1;
	table->sweep_at = SWEEP_FIRST;
	return table;
}

void style_table_free(struct style_table *table)
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

static unsigned cache_slot(const struct term_style *style)
{
	uint32_t x = style->fg * 0x9e3779b1u ^ style->bg * 0x85ebca77u ^
		     style->underline_color * 0xc2b2ae3du ^
		     ((uint32_t)style->attrs << 16 | style->underline) * 0x27d4eb2fu;
	return (x ^ x >> 15) % CACHE_SLOTS;
}

static struct entry *take_slot(struct style_table *table)
{
	if (table->free_count > 0)
		return table->slots[table->free_ids[--table->free_count]];
	if (table->slot_count >= STYLE_MAX)
		return NULL;
	array_grow(&table->slots, &table->slot_capacity, table->slot_count + 1,
		sizeof *table->slots);
	struct entry *entry = x_calloc(1, sizeof *entry);
	entry->id = (uint32_t)table->slot_count;
	table->slots[table->slot_count++] = entry;
	return entry;
}

uint32_t style_intern(struct style_table *table, const struct term_style *style)
{
	if (memcmp(style, &default_style, sizeof *style) == 0)
		return 0;
	uint32_t *cached = &table->cache[cache_slot(style)];
	if (*cached != 0 && memcmp(&table->slots[*cached]->style, style, sizeof *style) == 0)
		return *cached;
	struct entry *entry = NULL;
	HASH_FIND(hh, table->by_content, style, sizeof *style, entry);
	if (entry == NULL) {
		entry = take_slot(table);
		if (entry == NULL)
			return 0;
		entry->style = *style;
		entry->refs = 0;
		entry->used = true;
		entry->marked = false;
		HASH_ADD(hh, table->by_content, style, sizeof entry->style, entry);
		table->live++;
	}
	*cached = entry->id;
	return entry->id;
}

static struct entry *find(const struct style_table *table, uint32_t id)
{
	if (id == 0 || id >= table->slot_count || !table->slots[id]->used)
		return NULL;
	return table->slots[id];
}

const struct term_style *style_get(const struct style_table *table, uint32_t id)
{
	const struct entry *entry = find(table, id);
	return entry ? &entry->style : &default_style;
}

void style_ref(struct style_table *table, uint32_t id)
{
	struct entry *entry = find(table, id);
	if (entry != NULL)
		entry->refs++;
}

void style_unref(struct style_table *table, uint32_t id)
{
	struct entry *entry = find(table, id);
	if (entry != NULL && entry->refs > 0)
		entry->refs--;
}

bool style_sweep_is_due(const struct style_table *table)
{
	return table->live >= table->sweep_at;
}

void style_sweep_begin(struct style_table *table)
{
	for (size_t i = 1; i < table->slot_count; i++)
		table->slots[i]->marked = false;
}

void style_sweep_mark(struct style_table *table, uint32_t id)
{
	struct entry *entry = find(table, id);
	if (entry != NULL)
		entry->marked = true;
}

void style_sweep_end(struct style_table *table)
{
	for (size_t i = 1; i < table->slot_count; i++) {
		struct entry *entry = table->slots[i];
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
	table->sweep_at = table->live * 2 > SWEEP_FIRST ? table->live * 2 : SWEEP_FIRST;
	/* a full table is swept often enough to recover, but not at every feed */
	if (table->sweep_at > STYLE_MAX)
		table->sweep_at = STYLE_MAX - STYLE_MAX / 16;
}
