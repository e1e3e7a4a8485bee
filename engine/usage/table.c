// SPDX-License-Identifier: Apache-2.0
#include "engine/usage/table.h"

#include "engine/base/map.h"

#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 512, FORGET_S = 600 };

struct usage_entry {
	struct usage_series series;
	UT_hash_handle hh;
	char key[]; /* "namespace/pod" */
};

struct usage_table {
	struct usage_entry *entries;
	uint64_t revision;
	uint32_t now_s, patience_s, swept_s;
};

/* Names are at most 253 bytes each; what is longer is none, and 0. */
static size_t make_key(char key[KEY_BYTES], const char *namespace_, const char *pod)
{
	int n = snprintf(key, KEY_BYTES, "%s/%s", namespace_, pod);
	return n > 0 && n < KEY_BYTES && *pod ? (size_t)n : 0;
}

static struct usage_entry *find(
	const struct usage_table *table, const char *namespace_, const char *pod)
{
	char key[KEY_BYTES];
	size_t n = make_key(key, namespace_, pod);
	struct usage_entry *entry = NULL;
	if (n && table->entries)
		HASH_FIND(hh, table->entries, key, n, entry);
	return entry;
}

static bool is_known(const struct usage_table *table, const struct usage_entry *entry)
{
	uint32_t at_s = entry->series.last.at_s;
	return at_s && (at_s >= table->now_s || table->now_s - at_s <= table->patience_s);
}

const struct usage_series *usage_table_find(
	const struct usage_table *table, const char *namespace_, const char *pod)
{
	const struct usage_entry *entry = find(table, namespace_, pod);
	return entry && is_known(table, entry) ? &entry->series : NULL;
}

bool usage_table_add(struct usage_table *table, const char *namespace_, const char *pod,
	const struct usage_sample *sample)
{
	char key[KEY_BYTES];
	size_t n = make_key(key, namespace_, pod);
	struct usage_entry *entry = find(table, namespace_, pod);
	if (!n || !sample->at_s)
		return false;
	if (!entry) {
		if (HASH_COUNT(table->entries) >= USAGE_TABLE_MAX)
			return false;
		entry = x_calloc(1, sizeof *entry + n + 1);
		memcpy(entry->key, key, n + 1);
		HASH_ADD_KEYPTR(hh, table->entries, entry->key, n, entry);
	}
	if (!usage_series_add(&entry->series, sample, table->patience_s))
		return false;
	table->revision++;
	return true;
}

void usage_table_restart(struct usage_table *table, const char *namespace_, const char *pod)
{
	struct usage_entry *entry = find(table, namespace_, pod);
	if (!entry)
		return;
	uint32_t last_s = entry->series.last.at_s;
	usage_series_restart(&entry->series, table->now_s > last_s ? table->now_s : last_s);
	table->revision++;
}

void usage_table_set_now(struct usage_table *table, uint32_t now_s, uint32_t patience_s)
{
	struct usage_entry *entry, *next;
	table->now_s = now_s;
	table->patience_s = patience_s;
	if (now_s - table->swept_s < FORGET_S / 4)
		return;
	table->swept_s = now_s;
	HASH_ITER(hh, table->entries, entry, next) {
		uint32_t at_s = entry->series.last.at_s ? entry->series.last.at_s
							: entry->series.since_s;
		if (at_s >= now_s || now_s - at_s <= patience_s + FORGET_S)
			continue;
		HASH_DEL(table->entries, entry);
		free(entry);
		table->revision++;
	}
}

uint64_t usage_table_revision(const struct usage_table *table)
{
	return table->revision;
}

size_t usage_table_count(const struct usage_table *table)
{
	return HASH_COUNT(table->entries);
}

void usage_table_clear(struct usage_table *table)
{
	struct usage_entry *entry, *next;
	HASH_ITER(hh, table->entries, entry, next) {
		HASH_DEL(table->entries, entry);
		free(entry);
	}
	table->revision++;
}

struct usage_table *usage_table_new(void)
{
	return x_calloc(1, sizeof(struct usage_table));
}

void usage_table_free(struct usage_table *table)
{
	if (!table)
		return;
	usage_table_clear(table);
	free(table);
}
