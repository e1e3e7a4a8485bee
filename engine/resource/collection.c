// SPDX-License-Identifier: Apache-2.0
// Rows in order.
//
// Each member keeps the key it was sorted by, so its place can be found again by binary search after the row has
// changed. `shown` (order.h) has those that pass the filter and the namespace, in order. A change that moves nothing and
// hides nothing, as most do, costs one look at the row.
#include "engine/resource/collection.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/resource/filter.h"
#include "engine/resource/order.h"

#include <string.h>

enum { TIE_BYTES = 512, TICK_MS = 5000 };

struct member {
	bool is_shown;
	uint32_t mark;  /* its place in `marked`, from 1; 0: it is not marked */
	int64_t number; /* sort key of numeric columns, else 0 */
	char *text;     /* sort key of text columns, else NULL */
	char *tie;      /* "name\nnamespace" */
	UT_hash_handle hh;
	char uid[];
};

struct resource_collection {
	const struct resource_kind *kind;
	resource_row_fn *row_of;
	void *arg;
	struct member *members;
	struct resource_order *shown;
	struct member **marked;
	size_t n_marked, mark_capacity;
	int column;
	bool is_reversed, shows_aside, is_batch;
	char *filter_text, *namespace_;
	struct resource_filter *filter; /* the last that was understood */
	struct err filter_err;
	int64_t ticked_ms; /* monotonic: the filter was looked at again */
};

static const char *text_of(
	const struct resource_collection *collection, int column, const void *row)
{
	return column == RESOURCE_NONE ? "" : collection->kind->columns[column].value(row).text;
}

/* The youngest, the next to end and the most come first; without an end last. */
static int64_t number_of(const struct resource_column *column, const void *row)
{
	if (column->order)
		return column->order(row);
	struct resource_value value = column->value(row);
	if (column->format == RESOURCE_LEFT)
		return value.is_known ? value.number : INT64_MAX;
	return value.is_known ? -value.number : 0;
}

/* "name\nnamespace", or as much of it as there is room for: then it is made anew each time. */
static const char *tie_of(
	const struct resource_collection *collection, const void *row, char buffer[TIE_BYTES])
{
	const struct resource_kind *kind = collection->kind;
	const char *name = text_of(collection, kind->name_column, row),
		   *namespace_ = text_of(collection, kind->namespace_column, row);
	size_t n = strlen(name), m = strlen(namespace_);
	if (n + m + 2 > TIE_BYTES)
		return NULL;
	memcpy(buffer, name, n);
	buffer[n] = '\n';
	memcpy(buffer + n + 1, namespace_, m + 1);
	return buffer;
}

/* What a member is sorted by; the texts are borrowed. */
struct resource_keys {
	int64_t number;
	const char *text, *tie; /* tie NULL: it is too long to be compared */
	char buffer[TIE_BYTES];
};

static void keys_of(const struct resource_collection *collection, const void *row,
	struct resource_keys *keys)
{
	const struct resource_kind *kind = collection->kind;
	const struct resource_column *column = &kind->columns[collection->column];
	keys->number = 0;
	keys->text = NULL;
	keys->tie = tie_of(collection, row, keys->buffer);
	if (collection->column == kind->name_column)
		return;
	if (column->format == RESOURCE_TEXT && !column->order)
		keys->text = column->value(row).text;
	else
		keys->number = number_of(column, row);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_keys(const struct member *member, const struct resource_keys *keys)
{
	return member->number == keys->number && keys->tie &&
	       is_same_text(member->tie, keys->tie) && is_same_text(member->text, keys->text);
}

static void set_keys(const struct resource_collection *collection, struct member *member,
	const void *row, const struct resource_keys *keys)
{
	const struct resource_kind *kind = collection->kind;
	if (has_keys(member, keys))
		return;
	free(member->text);
	free(member->tie);
	member->number = keys->number;
	member->text = keys->text ? x_strdup(keys->text) : NULL;
	member->tie =
		keys->tie ? x_strdup(keys->tie)
			  : x_asprintf("%s\n%s", text_of(collection, kind->name_column, row),
				    text_of(collection, kind->namespace_column, row));
}

static int compare(const void *arg, const void *left, const void *right)
{
	const struct resource_collection *collection = arg;
	const struct member *a = left, *b = right;
	int order = a->number < b->number ? -1 : a->number > b->number;
	if (order == 0 && a->text && b->text)
		order = strcmp(a->text, b->text);
	bool is_name = collection->column == collection->kind->name_column;
	if (order == 0 && is_name)
		order = strcmp(a->tie, b->tie);
	if (order != 0)
		return collection->is_reversed ? -order : order;
	order = is_name ? 0 : strcmp(a->tie, b->tie);
	return order ? order : strcmp(a->uid, b->uid);
}

static void hide(struct resource_collection *collection, struct member *member)
{
	if (!member->is_shown)
		return;
	member->is_shown = false;
	if (!collection->is_batch)
		resource_order_remove(collection->shown, member);
}

static void show(struct resource_collection *collection, struct member *member)
{
	if (member->is_shown)
		return;
	member->is_shown = true;
	if (!collection->is_batch)
		resource_order_insert(collection->shown, member);
}

/* ---- marks */

static void set_mark(struct resource_collection *collection, struct member *member, bool on)
{
	if (on == (member->mark != 0))
		return;
	if (on) {
		array_grow(&collection->marked, &collection->mark_capacity,
			collection->n_marked + 1, sizeof *collection->marked);
		collection->marked[collection->n_marked++] = member;
		member->mark = (uint32_t)collection->n_marked;
		return;
	}
	struct member *last = collection->marked[--collection->n_marked];
	collection->marked[member->mark - 1] = last;
	last->mark = member->mark;
	member->mark = 0;
}

/* ---- rows */

static bool wanted(const struct resource_collection *collection, const void *row)
{
	const struct resource_kind *kind = collection->kind;
	if (kind->is_aside && !collection->shows_aside && kind->is_aside(row))
		return false;
	if (*collection->namespace_ && kind->namespace_column != RESOURCE_NONE &&
		strcmp(collection->namespace_,
			text_of(collection, kind->namespace_column, row)) != 0)
		return false;
	return resource_filter_fits(collection->filter, row);
}

static void member_free(struct resource_collection *collection, struct member *member)
{
	set_mark(collection, member, false);
	HASH_DEL(collection->members, member);
	free(member->text);
	free(member->tie);
	free(member);
}

void resource_collection_update(
	struct resource_collection *collection, const char *uid, const void *row)
{
	struct member *member;
	HASH_FIND_STR(collection->members, uid, member);
	if (!row) {
		if (!member)
			return;
		hide(collection,
			member); /* in a batch, end() rebuilds the order from what is left */
		member_free(collection, member);
		return;
	}
	struct resource_keys keys;
	keys_of(collection, row, &keys);
	bool is_wanted = wanted(collection, row);
	if (member && member->is_shown == is_wanted && has_keys(member, &keys))
		return;
	if (!member) {
		size_t n = strlen(uid) + 1;
		member = x_calloc(1, sizeof *member + n);
		memcpy(member->uid, uid, n);
		HASH_ADD_STR(collection->members, uid, member);
	}
	hide(collection, member);
	set_keys(collection, member, row, &keys);
	if (is_wanted)
		show(collection, member);
}

static void collect(struct resource_collection *collection)
{
	struct member *member, *next;
	size_t n = 0;
	void **shown = x_calloc(HASH_COUNT(collection->members) + 1, sizeof *shown);
	HASH_ITER(hh, collection->members, member, next)
		if (member->is_shown)
			shown[n++] = member;
	resource_order_load(collection->shown, shown, n);
	free(shown);
}

void resource_collection_begin(struct resource_collection *collection)
{
	collection->is_batch = true;
}

void resource_collection_end(struct resource_collection *collection)
{
	collection->is_batch = false;
	collect(collection);
}

static void reconsider(struct resource_collection *collection, bool is_resort)
{
	struct member *member, *next;
	HASH_ITER(hh, collection->members, member, next) {
		const void *row = collection->row_of(collection->arg, member->uid);
		member->is_shown = row && wanted(collection, row);
		if (!row || !is_resort)
			continue;
		struct resource_keys keys;
		keys_of(collection, row, &keys);
		set_keys(collection, member, row, &keys);
	}
	collect(collection);
}

void resource_collection_sort(
	struct resource_collection *collection, int column, bool is_reversed)
{
	bool is_other = column != collection->column;
	collection->column = column;
	collection->is_reversed = is_reversed;
	reconsider(collection, is_other);
}

void resource_collection_resort(struct resource_collection *collection)
{
	reconsider(collection, true);
}

int resource_collection_column(const struct resource_collection *collection)
{
	return collection->column;
}

bool resource_collection_is_reversed(const struct resource_collection *collection)
{
	return collection->is_reversed;
}

static bool still_fits(void *arg, void *item)
{
	const struct resource_collection *collection = arg;
	struct member *member = item;
	const void *row = collection->row_of(collection->arg, member->uid);
	member->is_shown = row && resource_filter_fits(collection->filter, row);
	return member->is_shown;
}

void resource_collection_filter(struct resource_collection *collection, const char *text)
{
	if (strcmp(text, collection->filter_text) == 0)
		return;
	struct resource_filter *old = collection->filter;
	free(collection->filter_text);
	collection->filter_text = x_strdup(text);
	collection->filter_err.msg[0] = '\0';
	struct resource_filter *next =
		resource_filter_parse(collection->kind, text, &collection->filter_err);
	if (!next)
		return;
	collection->filter = next;
	collection->ticked_ms = clock_mono_ms();
	if (resource_filter_narrows(old, collection->filter)) {
		resource_order_keep(collection->shown, still_fits, collection);
	} else {
		reconsider(collection, false);
	}
	resource_filter_free(old);
}

const char *resource_collection_filter_error(const struct resource_collection *collection)
{
	return collection->filter_err.msg;
}

bool resource_collection_tick(struct resource_collection *collection)
{
	int64_t now = clock_mono_ms();
	if (!resource_filter_is_timed(collection->filter) ||
		now - collection->ticked_ms < TICK_MS)
		return false;
	collection->ticked_ms = now;
	reconsider(collection, false);
	return true;
}

const char *resource_collection_filter_text(const struct resource_collection *collection)
{
	return collection->filter_text;
}

void resource_collection_namespace(
	struct resource_collection *collection, const char *namespace_)
{
	if (strcmp(namespace_, collection->namespace_) == 0)
		return;
	free(collection->namespace_);
	collection->namespace_ = x_strdup(namespace_);
	reconsider(collection, false);
}

void resource_collection_show_aside(struct resource_collection *collection, bool on)
{
	collection->shows_aside = on;
	reconsider(collection, false);
}

bool resource_collection_shows_aside(const struct resource_collection *collection)
{
	return collection->shows_aside;
}

size_t resource_collection_count(const struct resource_collection *collection)
{
	return resource_order_count(collection->shown);
}

size_t resource_collection_total(const struct resource_collection *collection)
{
	return HASH_COUNT(collection->members);
}

const char *resource_collection_at(
	const struct resource_collection *collection, size_t position)
{
	const struct member *member = resource_order_at(collection->shown, position);
	return member->uid;
}

static struct member *find(const struct resource_collection *collection, const char *uid)
{
	struct member *member;
	HASH_FIND_STR(collection->members, uid, member);
	return member;
}

size_t resource_collection_find(const struct resource_collection *collection, const char *uid)
{
	const struct member *member = find(collection, uid);
	return member && member->is_shown ? resource_order_place(collection->shown, member)
					  : RESOURCE_NOWHERE;
}

void resource_collection_mark(struct resource_collection *collection, const char *uid, bool on)
{
	struct member *member = find(collection, uid);
	if (member)
		set_mark(collection, member, on);
}

bool resource_collection_is_marked(
	const struct resource_collection *collection, const char *uid)
{
	const struct member *member = find(collection, uid);
	return member && member->mark;
}

size_t resource_collection_marked_count(const struct resource_collection *collection)
{
	return collection->n_marked;
}

void resource_collection_mark_shown(struct resource_collection *collection, bool on)
{
	size_t n = resource_order_count(collection->shown);
	for (size_t i = 0; i < n; i++)
		set_mark(collection, resource_order_at(collection->shown, i), on);
}

void resource_collection_unmark_all(struct resource_collection *collection)
{
	for (size_t i = 0; i < collection->n_marked; i++)
		collection->marked[i]->mark = 0;
	collection->n_marked = 0;
}

size_t resource_collection_marked(
	const struct resource_collection *collection, const char **uids, size_t max)
{
	size_t n = collection->n_marked < max ? collection->n_marked : max;
	for (size_t i = 0; i < n; i++)
		uids[i] = collection->marked[i]->uid;
	return n;
}

struct resource_collection *resource_collection_new(
	const struct resource_kind *kind, resource_row_fn *row_of, void *arg)
{
	struct resource_collection *collection = x_calloc(1, sizeof *collection);
	collection->kind = kind;
	collection->row_of = row_of;
	collection->arg = arg;
	collection->column = kind->order_column ? kind->order_column : kind->name_column;
	collection->filter_text = x_strdup("");
	collection->namespace_ = x_strdup("");
	collection->filter = resource_filter_parse(kind, "", NULL);
	collection->shown = resource_order_new(compare, collection);
	return collection;
}

void resource_collection_clear(struct resource_collection *collection)
{
	struct member *member, *next;
	resource_order_clear(collection->shown);
	collection->n_marked = 0;
	HASH_ITER(hh, collection->members, member, next) {
		member->mark = 0;
		member_free(collection, member);
	}
}

void resource_collection_free(struct resource_collection *collection)
{
	if (!collection)
		return;
	resource_collection_clear(collection);
	resource_order_free(collection->shown);
	free(collection->marked);
	free(collection->filter_text);
	free(collection->namespace_);
	resource_filter_free(collection->filter);
	free(collection);
}
