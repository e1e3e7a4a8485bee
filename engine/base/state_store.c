// SPDX-License-Identifier: Apache-2.0
// Pairs in a sorted array; those that this program has changed are marked, and go over the file's when it is written.
//
//   { "version": 1, "values": { "theme": "light", … } }
#include "engine/base/state_store.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORE_FILE_BYTES_MAX = 4 << 20, PROBLEM_BYTES = 1024 };

struct state_pair {
	char *key, *value; /* value NULL: forgotten */
	bool is_changed;   /* since the file was read */
};

struct state_store {
	char *path; /* NULL: none */
	bool is_kept_out;
	struct state_pair *pairs;
	size_t n, capacity;
	char problem[PROBLEM_BYTES];
	void (*on_change)(void *arg);
	void *arg;
};

static bool is_printable(const char *text, size_t max_bytes)
{
	struct slice rest = { text, strlen(text) };
	if (rest.n > max_bytes)
		return false;
	while (rest.n) {
		int32_t c;
		size_t used = safe_text_decode(rest, &c);
		if (!used || c < 0x20 || (c >= 0x7f && c < 0xa0))
			return false;
		rest.p += used;
		rest.n -= used;
	}
	return true;
}

static bool is_key(const char *key)
{
	return *key && is_printable(key, STATE_STORE_KEY_BYTES);
}

/* Where the key is, or would be. */
static size_t place_of(const struct state_store *store, const char *key, bool *is_there)
{
	size_t low = 0, high = store->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(store->pairs[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*is_there = low < store->n && strcmp(store->pairs[low].key, key) == 0;
	return low;
}

static struct state_pair *make(struct state_store *store, const char *key)
{
	bool is_there;
	size_t at = place_of(store, key, &is_there);
	if (is_there)
		return &store->pairs[at];
	if (store->n == STATE_STORE_PAIRS_MAX)
		return NULL;
	array_grow(&store->pairs, &store->capacity, store->n + 1, sizeof *store->pairs);
	memmove(&store->pairs[at + 1], &store->pairs[at],
		(store->n - at) * sizeof *store->pairs);
	store->n++;
	store->pairs[at] = (struct state_pair){ .key = x_strdup(key) };
	return &store->pairs[at];
}

static void put(struct state_pair *pair, const char *value)
{
	char *copy = value ? x_strdup(value) : NULL;
	free(pair->value);
	pair->value = copy;
}

/* ---- the file */

enum read_result { READ_OK, READ_NOTHING, READ_DAMAGED, READ_NEWER, READ_DENIED };

/* Its pairs, under what was changed here. *n_bad counts those that are not usable. */
static void take_values(struct state_store *store, const cJSON *values, size_t *n_bad)
{
	const cJSON *value;
	cJSON_ArrayForEach(value, values)
	{
		struct state_pair *pair = NULL;
		if (value->string && is_key(value->string) && cJSON_IsString(value) &&
			is_printable(value->valuestring, STATE_STORE_VALUE_BYTES))
			pair = make(store, value->string);
		*n_bad += pair == NULL;
		if (pair && !pair->is_changed)
			put(pair, value->valuestring);
	}
}

static enum read_result read_file(struct state_store *store, size_t *n_bad, struct err *err)
{
	size_t n;
	char *text = file_read(store->path, STORE_FILE_BYTES_MAX, &n, err);
	if (!text)
		return err->code == ERR_FILE_NOT_FOUND   ? READ_NOTHING
		       : err->code == ERR_LIMIT_RESPONSE ? READ_DAMAGED
							 : READ_DENIED;
	cJSON *tree = json_parse((struct slice){ text, n }, err);
	free(text);
	const cJSON *values = json_get(tree, "values", NULL);
	int64_t version = json_int(tree, 0, "version", NULL);
	enum read_result result = version > STATE_STORE_VERSION            ? READ_NEWER
				  : version < 1 || !cJSON_IsObject(values) ? READ_DAMAGED
									   : READ_OK;
	if (result == READ_OK)
		take_values(store, values, n_bad);
	cJSON_Delete(tree);
	return result;
}

static void put_aside(struct state_store *store)
{
	char *aside = x_asprintf("%s.damaged", store->path);
	bool is_moved = rename(store->path, aside) == 0;
	store->is_kept_out = !is_moved;
	snprintf(store->problem, sizeof store->problem,
		is_moved
			? "%s is damaged: it was put aside as %s, and what was remembered is forgotten"
			: "%s is damaged and cannot be put aside as %s: nothing is remembered",
		store->path, aside);
	free(aside);
}

static void read_at_first(struct state_store *store)
{
	struct err err = { 0 };
	size_t n_bad = 0;
	switch (read_file(store, &n_bad, &err)) {
	case READ_NOTHING:
		return;
	case READ_DAMAGED:
		put_aside(store);
		return;
	case READ_NEWER:
		store->is_kept_out = true;
		snprintf(store->problem, sizeof store->problem,
			"%s was written by a newer sandmux: it is left alone, and nothing is remembered",
			store->path);
		return;
	case READ_DENIED:
		store->is_kept_out = true;
		snprintf(store->problem, sizeof store->problem, "nothing is remembered: %s: %s",
			store->path, err.msg);
		return;
	case READ_OK:
		if (n_bad)
			snprintf(store->problem, sizeof store->problem,
				"%zu of the entries in %s are of no use and are forgotten",
				n_bad, store->path);
		return;
	}
}

struct state_store *state_store_new(const char *path)
{
	struct state_store *store = x_calloc(1, sizeof *store);
	store->path = path ? x_strdup(path) : NULL;
	if (path)
		read_at_first(store);
	return store;
}

void state_store_free(struct state_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->n; i++) {
		free(store->pairs[i].key);
		free(store->pairs[i].value);
	}
	free(store->pairs);
	free(store->path);
	free(store);
}

const char *state_store_problem(const struct state_store *store)
{
	return store->problem;
}

static bool has_changed(const struct state_store *store)
{
	for (size_t i = 0; i < store->n; i++)
		if (store->pairs[i].is_changed)
			return true;
	return false;
}

bool state_store_save(struct state_store *store, struct err *err)
{
	struct err unread;
	size_t n_bad = 0;
	if (!store || !store->path || store->is_kept_out || !has_changed(store))
		return true;
	enum read_result result = read_file(store, &n_bad, &unread);
	if (result == READ_NEWER || result == READ_DENIED) /* since this one was started */
		return err_set(err, ERR_SYSTEM, "%s is not ours any more", store->path);
	cJSON *tree = cJSON_CreateObject();
	cJSON_AddNumberToObject(tree, "version", STATE_STORE_VERSION);
	cJSON *values = cJSON_AddObjectToObject(tree, "values");
	for (size_t i = 0; i < store->n; i++)
		if (store->pairs[i].value)
			cJSON_AddStringToObject(
				values, store->pairs[i].key, store->pairs[i].value);
	char *text = cJSON_Print(tree);
	cJSON_Delete(tree);
	bool ok = file_write_replace(store->path, slice_of(text), 0600, err);
	cJSON_free(text);
	for (size_t i = 0; ok && i < store->n; i++)
		store->pairs[i].is_changed = false;
	return ok;
}

/* ---- pairs */

const char *state_store_get(const struct state_store *store, const char *key)
{
	bool is_there = false;
	size_t at = store ? place_of(store, key, &is_there) : 0;
	return is_there ? store->pairs[at].value : NULL;
}

bool state_store_set(struct state_store *store, const char *key, const char *value)
{
	const char *now = state_store_get(store, key);
	if (!store || !is_key(key) || (value && !is_printable(value, STATE_STORE_VALUE_BYTES)))
		return false;
	if (now == value || (now && value && strcmp(now, value) == 0))
		return true;
	struct state_pair *pair = make(store, key);
	if (!pair)
		return false;
	put(pair, value);
	pair->is_changed = true;
	if (store->on_change)
		store->on_change(store->arg);
	return true;
}

bool state_store_is_on(const struct state_store *store, const char *key, bool otherwise)
{
	const char *value = state_store_get(store, key);
	return value && strcmp(value, "on") == 0    ? true
	       : value && strcmp(value, "off") == 0 ? false
						    : otherwise;
}

bool state_store_set_on(struct state_store *store, const char *key, bool on)
{
	return state_store_set(store, key, on ? "on" : "off");
}

void state_store_each(const struct state_store *store, const char *prefix,
	void (*fn)(void *arg, const char *rest, const char *value), void *arg)
{
	size_t n = strlen(prefix);
	for (size_t i = 0; store && i < store->n; i++)
		if (store->pairs[i].value && strncmp(store->pairs[i].key, prefix, n) == 0)
			fn(arg, store->pairs[i].key + n, store->pairs[i].value);
}

void state_store_on_change(struct state_store *store, void (*fn)(void *arg), void *arg)
{
	store->on_change = fn;
	store->arg = arg;
}
