// SPDX-License-Identifier: Apache-2.0
// Rows in order.
//
// Each member keeps the key it was sorted by, so its place can be found again by binary search after the row has
// changed. `shown` is the array of what passes the filter and the namespace, in order.
#include "engine/resource/collection.h"

#include "engine/base/map.h"
#include "engine/resource/filter.h"

#include <string.h>

struct member {
	bool is_shown, is_marked;
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
	struct member **shown;
	size_t n_shown, capacity, n_marked;
	int column;
	bool is_reversed, shows_aside, is_batch;
	char *filter_text, *namespace_;
	struct resource_filter *filter;
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

static void set_keys(
	const struct resource_collection *collection, struct member *member, const void *row)
{
	const struct resource_kind *kind = collection->kind;
	const struct resource_column *column = &kind->columns[collection->column];
	free(member->text);
	free(member->tie);
	member->text = NULL;
	member->number = 0;
	member->tie = x_asprintf("%s\n%s", text_of(collection, kind->name_column, row),
		text_of(collection, kind->namespace_column, row));
	if (collection->column == kind->name_column)
		return;
	if (column->format == RESOURCE_TEXT && !column->order)
		member->text = x_strdup(column->value(row).text);
	else
		member->number = number_of(column, row);
}

static int compare(const struct resource_collection *collection, const struct member *a,
	const struct member *b)
{
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

/* Where the member stands or would stand. */
static size_t place_of(
	const struct resource_collection *collection, const struct member *member)
{
	size_t low = 0, high = collection->n_shown;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(collection, collection->shown[middle], member) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void hide(struct resource_collection *collection, struct member *member)
{
	if (!member->is_shown)
		return;
	member->is_shown = false;
	if (collection->is_batch)
		return;
	size_t at = place_of(collection, member);
	memmove(collection->shown + at, collection->shown + at + 1,
		(collection->n_shown - at - 1) * sizeof *collection->shown);
	collection->n_shown--;
}

static void show(struct resource_collection *collection, struct member *member)
{
	if (member->is_shown)
		return;
	member->is_shown = true;
	if (collection->is_batch)
		return;
	size_t at = place_of(collection, member);
	array_grow(&collection->shown, &collection->capacity, collection->n_shown + 1,
		sizeof *collection->shown);
	memmove(collection->shown + at + 1, collection->shown + at,
		(collection->n_shown - at) * sizeof *collection->shown);
	collection->shown[at] = member;
	collection->n_shown++;
}

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
	collection->n_marked -= member->is_marked;
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
	if (!member) {
		size_t n = strlen(uid) + 1;
		member = x_calloc(1, sizeof *member + n);
		memcpy(member->uid, uid, n);
		HASH_ADD_STR(collection->members, uid, member);
	} else {
		hide(collection, member);
	}
	set_keys(collection, member, row);
	if (wanted(collection, row))
		show(collection, member);
}

static _Thread_local const struct resource_collection
	*sorting; /* qsort has no argument for it */

static int compare_members(const void *a, const void *b)
{
	return compare(sorting, *(struct member *const *)a, *(struct member *const *)b);
}

static void collect(struct resource_collection *collection)
{
	struct member *member, *next;
	collection->n_shown = 0;
	array_grow(&collection->shown, &collection->capacity,
		HASH_COUNT(collection->members) + 1, sizeof *collection->shown);
	HASH_ITER(hh, collection->members, member, next)
		if (member->is_shown)
			collection->shown[collection->n_shown++] = member;
	sorting = collection;
	qsort(collection->shown, collection->n_shown, sizeof *collection->shown,
		compare_members);
	sorting = NULL;
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
		if (row && is_resort)
			set_keys(collection, member, row);
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

void resource_collection_filter(struct resource_collection *collection, const char *text)
{
	if (strcmp(text, collection->filter_text) == 0)
		return;
	struct resource_filter *old = collection->filter;
	collection->filter = resource_filter_parse(collection->kind, text);
	free(collection->filter_text);
	collection->filter_text = x_strdup(text);
	if (resource_filter_narrows(old, collection->filter)) {
		size_t kept = 0;
		for (size_t i = 0; i < collection->n_shown; i++) {
			struct member *member = collection->shown[i];
			const void *row = collection->row_of(collection->arg, member->uid);
			member->is_shown = row && resource_filter_fits(collection->filter, row);
			if (member->is_shown)
				collection->shown[kept++] = member;
		}
		collection->n_shown = kept;
	} else {
		reconsider(collection, false);
	}
	resource_filter_free(old);
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
	return collection->n_shown;
}

size_t resource_collection_total(const struct resource_collection *collection)
{
	return HASH_COUNT(collection->members);
}

const char *resource_collection_at(
	const struct resource_collection *collection, size_t position)
{
	return collection->shown[position]->uid;
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
	return member && member->is_shown ? place_of(collection, member) : RESOURCE_NOWHERE;
}

void resource_collection_mark(struct resource_collection *collection, const char *uid, bool on)
{
	struct member *member = find(collection, uid);
	if (!member || member->is_marked == on)
		return;
	member->is_marked = on;
	collection->n_marked = on ? collection->n_marked + 1 : collection->n_marked - 1;
}

bool resource_collection_is_marked(
	const struct resource_collection *collection, const char *uid)
{
	const struct member *member = find(collection, uid);
	return member && member->is_marked;
}

size_t resource_collection_marked_count(const struct resource_collection *collection)
{
	return collection->n_marked;
}

void resource_collection_mark_shown(struct resource_collection *collection, bool on)
{
	for (size_t i = 0; i < collection->n_shown; i++) {
		if (collection->shown[i]->is_marked != on)
			collection->n_marked =
				on ? collection->n_marked + 1 : collection->n_marked - 1;
		collection->shown[i]->is_marked = on;
	}
}

void resource_collection_unmark_all(struct resource_collection *collection)
{
	struct member *member, *next;
	if (!collection->n_marked)
		return;
	HASH_ITER(hh, collection->members, member, next)
		member->is_marked = false;
	collection->n_marked = 0;
}

size_t resource_collection_marked(
	const struct resource_collection *collection, const char **uids, size_t max)
{
	struct member *member, *next;
	size_t n = 0;
	if (!collection->n_marked)
		return 0;
	HASH_ITER(hh, collection->members, member, next)
		if (member->is_marked && n < max)
			uids[n++] = member->uid;
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
	collection->filter = resource_filter_parse(kind, "");
	return collection;
}

void resource_collection_clear(struct resource_collection *collection)
{
	struct member *member, *next;
	HASH_ITER(hh, collection->members, member, next)
		member_free(collection, member);
	collection->n_shown = 0;
	collection->n_marked = 0;
}

void resource_collection_free(struct resource_collection *collection)
{
	if (!collection)
		return;
	resource_collection_clear(collection);
	free(collection->shown);
	free(collection->filter_text);
	free(collection->namespace_);
	resource_filter_free(collection->filter);
	free(collection);
}
