// SPDX-License-Identifier: Apache-2.0
/* {"path":"/demo","entries":[{"name":"a","size":10,"type":"file","modified_at":"…Z","mode":"0644"},…]}
 *
 * A small scanner knows strings and nesting, and cuts the elements of the top-level array "entries" out. Each is
 * parsed alone. Everything else is kept as a skeleton, with a 0 for each element, and parsed at the end, so
 * that broken JSON is found wherever it is. */
#include "engine/runtime/listing.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"

#include <stdlib.h>

enum {
	MAX_ELEMENT_BYTES = 16 << 10, /* a name of 255 bytes, every one escaped, has 1530 */
	MAX_SKELETON_BYTES = 4 << 20,
	MAX_ENTRIES = 1000 * 1000,
	MAX_KEY_BYTES = 32,
	MAX_DEPTH = 32,
};

struct runtime_listing {
	struct str skeleton, element;
	int depth;
	bool in_string, is_escaped, has_ended;
	bool in_entries; /* inside the array, depth 2 */
	bool in_element; /* collecting, depth over 2 */
	/* the last complete string at depth 1, to know the key */
	char key[MAX_KEY_BYTES];
	size_t key_n;
	bool is_value; /* a ':' came after it */

	struct runtime_entry *entries;
	size_t n, capacity, n_hidden;
};

struct runtime_listing *runtime_listing_new(void)
{
	struct runtime_listing *listing = x_calloc(1, sizeof *listing);

	str_init(&listing->skeleton, MAX_SKELETON_BYTES);
	str_init(&listing->element, MAX_ELEMENT_BYTES);
	return listing;
}

void runtime_listing_free(struct runtime_listing *listing)
{
	if (!listing)
		return;
	for (size_t i = 0; i < listing->n; i++)
		free((void *)(uintptr_t)listing->entries[i].name);
	free(listing->entries);
	str_deinit(&listing->skeleton);
	str_deinit(&listing->element);
	free(listing);
}

static int parse_mode(const char *text)
{
	int mode = 0;
	size_t n = text ? strlen(text) : 0;

	if (n < 4 || n > 5 || text[0] != '0')
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (text[i] < '0' || text[i] > '7')
			return -1;
		mode = mode * 8 + (text[i] - '0');
	}
	return mode;
}

static int64_t seconds_of(const cJSON *number)
{
	const double latest = 253402300799.0; /* the end of the year 9999 */

	if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0) ||
		number->valuedouble > latest)
		return -1;
	return (int64_t)number->valuedouble;
}

/* \u0000, and not the text \u0000, whose backslash is escaped itself. */
static bool has_nul_escape(struct slice json)
{
	for (size_t i = 0; i + 1 < json.n; i++) {
		if (json.p[i] != '\\')
			continue;
		i++;
		if (json.p[i] == 'u' && json.n - i >= 5 && memcmp(json.p + i, "u0000", 5) == 0)
			return true;
	}
	return false;
}

static bool add_element(struct runtime_listing *listing, struct err *err)
{
	struct slice bytes = { listing->element.p, listing->element.n };

	if (listing->element.truncated)
		return err_set(err, ERR_LIMIT_RESPONSE, "an entry of the listing is too long");
	/* a NUL inside would shorten a name to another one */
	bool has_nul = has_nul_escape(bytes) || memchr(bytes.p, 0, bytes.n);
	cJSON *json = json_parse(bytes, err);
	if (!json)
		return false;
	const char *name = json_str(json, "name", NULL);
	const char *type = json_str(json, "type", NULL);
	const char *modified = json_str(json, "modified_at", NULL);
	int64_t size = json_int(json, -1, "size", NULL), wall_ns = 0;
	const cJSON *mod_time =
		json_get(json, "mod_time", NULL); /* seconds: the legacy runtime */

	if (!name || !type) {
		cJSON_Delete(json);
		return err_set(err, ERR_RUNTIME_PROTOCOL,
			"an entry of the listing has no name or no type");
	}
	if (has_nul || !path_is_safe_name(name, strlen(name)) ||
		strncmp(name, LISTING_UPLOAD_PREFIX, strlen(LISTING_UPLOAD_PREFIX)) == 0) {
		listing->n_hidden++;
	} else if (listing->n >= MAX_ENTRIES) {
		cJSON_Delete(json);
		return err_set(err, ERR_LIMIT_RESPONSE, "more than a million entries");
	} else {
		array_grow(&listing->entries, &listing->capacity, listing->n + 1,
			sizeof *listing->entries);
		listing->entries[listing->n++] = (struct runtime_entry){
			.name = x_strdup(name),
			.size_bytes = size < 0 ? -1 : size,
			.is_dir = strcmp(type, "directory") == 0,
			.modified_s = modified && clock_parse_rfc3339(modified, &wall_ns)
					      ? wall_ns / 1000000000
					      : seconds_of(mod_time),
			.mode = parse_mode(json_str(json, "mode", NULL)),
		};
	}
	cJSON_Delete(json);
	return true;
}

static bool protocol(struct err *err, const char *what)
{
	return err_set(err, ERR_RUNTIME_PROTOCOL, "the listing is not valid: %s", what);
}

/* One byte of a string; strings at depth 1 are kept, they may be keys. */
static void string_byte(struct runtime_listing *listing, char c)
{
	if (listing->is_escaped)
		listing->is_escaped = false;
	else if (c == '\\')
		listing->is_escaped = true;
	else if (c == '"') {
		listing->in_string = false;
		return;
	}
	if (listing->depth == 1 && !listing->is_value && listing->key_n < MAX_KEY_BYTES - 1)
		listing->key[listing->key_n++] = c;
}

static bool open_bracket(struct runtime_listing *listing, char c, struct err *err)
{
	if (++listing->depth > MAX_DEPTH)
		return protocol(err, "nested too deeply");
	if (listing->depth == 1 && c != '{')
		return protocol(err, "it is no object");
	if (listing->depth == 2 && c == '[' && listing->is_value &&
		strcmp(listing->key, "entries") == 0)
		listing->in_entries = true;
	else if (listing->depth == 3 && listing->in_entries) {
		if (c != '{')
			return protocol(err, "an entry is no object");
		listing->in_element = true;
		str_clear(&listing->element);
	}
	return true;
}

static bool close_bracket(struct runtime_listing *listing, char c, struct err *err)
{
	if (--listing->depth < 0)
		return protocol(err, "a bracket too many");
	if (listing->in_element && listing->depth == 2) {
		str_add_char(&listing->element, c);
		listing->in_element = false;
		str_add_char(&listing->skeleton, '0');
		return add_element(listing, err);
	}
	if (listing->depth == 1)
		listing->in_entries = false;
	listing->has_ended |= listing->depth == 0;
	return true;
}

static bool feed_byte(struct runtime_listing *listing, char c, struct err *err)
{
	bool was_element = listing->in_element;

	if (listing->in_string) {
		string_byte(listing, c);
	} else if (c == '"') {
		listing->in_string = true;
		if (listing->depth == 1 && !listing->is_value) {
			memset(listing->key, 0, sizeof listing->key);
			listing->key_n = 0;
		}
	} else if (c == '{' || c == '[') {
		if (listing->has_ended)
			return protocol(err, "something follows it");
		if (!open_bracket(listing, c, err))
			return false;
	} else if (c == '}' || c == ']') {
		if (!close_bracket(listing, c, err))
			return false;
		if (was_element && !listing->in_element)
			return true;
	} else if (listing->depth == 1 && c == ':') {
		listing->is_value = true;
	} else if (listing->depth == 1 && c == ',') {
		listing->is_value = false;
	}
	str_add_char(listing->in_element ? &listing->element : &listing->skeleton, c);
	return true;
}

bool runtime_listing_feed(struct runtime_listing *listing, struct slice bytes, struct err *err)
{
	for (size_t i = 0; i < bytes.n; i++)
		if (!feed_byte(listing, bytes.p[i], err))
			return false;
	return true;
}

bool runtime_listing_finish(struct runtime_listing *listing, struct err *err)
{
	if (listing->skeleton.truncated)
		return err_set(err, ERR_LIMIT_RESPONSE, "the listing is too long");
	if (!listing->has_ended || listing->depth || listing->in_string)
		return protocol(err, "it is cut short");
	cJSON *json =
		json_parse((struct slice){ listing->skeleton.p, listing->skeleton.n }, err);
	if (!json)
		return false;
	const cJSON *entries = json_get(json, "entries", NULL);
	bool is_listing = cJSON_IsArray(entries) || cJSON_IsNull(entries);
	/* an element that is no object stayed in the skeleton as itself; ours are all 0 */
	const cJSON *item;
	cJSON_ArrayForEach(item, entries)
	{
		if (!cJSON_IsNumber(item) || item->valueint != 0)
			is_listing = false;
	}
	cJSON_Delete(json);
	return is_listing ? true : protocol(err, "no list of entries in it");
}

const struct runtime_entry *runtime_listing_entries(
	const struct runtime_listing *listing, size_t *n, size_t *n_hidden)
{
	*n = listing->n;
	*n_hidden = listing->n_hidden;
	return listing->entries;
}
