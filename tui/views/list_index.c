// SPDX-License-Identifier: Apache-2.0
// The sorted index of the sandbox list.
//
// Each item keeps the key it was sorted by, so its place can be found again by binary search after the row has
// changed. `shown` is the array of what passes filter, namespace and warm switch, in order.
#include "tui/views/list_index.h"

#include "engine/base/map.h"
#include "tui/views/filter.h"

#include <string.h>

struct item {
	char uid[FLEET_UID_BYTES];
	bool is_shown, is_marked;
	int64_t number; /* sort key of numeric columns, else 0 */
	char *text;     /* sort key of text columns, else NULL */
	char *tie;      /* "name\nnamespace" */
	UT_hash_handle hh;
};

struct list_index {
	list_row_fn *row_of;
	void *arg;
	struct item *items;
	struct item **shown;
	size_t n_shown, capacity, n_marked;
	enum list_column column;
	bool is_reversed, shows_warm, is_batch;
	char *filter_text, *namespace_;
	struct filter *filter;
};

/* The unhealthy first, the well last. */
static const int state_rank[FLEET_STATE_COUNT] = {
	[FLEET_FAILED] = 0,
	[FLEET_BLOCKED] = 1,
	[FLEET_ERROR] = 2,
	[FLEET_DEGRADED] = 3,
	[FLEET_EXPIRED] = 4,
	[FLEET_PENDING] = 5,
	[FLEET_CREATING] = 6,
	[FLEET_UNKNOWN] = 7,
	[FLEET_RESUMING] = 8,
	[FLEET_SUSPENDING] = 9,
	[FLEET_TERMINATING] = 10,
	[FLEET_FINISHED] = 11,
	[FLEET_READY] = 12,
	[FLEET_SUSPENDED] = 13,
	[FLEET_WARM] = 14,
};

static const char *name_of(const struct fleet_row *row)
{
	return *row->claim ? row->claim : row->sandbox;
}

static void set_keys(struct list_index *index, struct item *item, const struct fleet_row *row)
{
	free(item->text);
	free(item->tie);
	item->text = NULL;
	item->number = 0;
	item->tie = x_asprintf("%s\n%s", name_of(row), row->namespace_);
	switch (index->column) {
	case COLUMN_NAMESPACE:
		item->text = x_strdup(row->namespace_);
		break;
	case COLUMN_SANDBOX:
		item->text = x_strdup(row->sandbox);
		break;
	case COLUMN_POD:
		item->text = x_strdup(row->pod);
		break;
	case COLUMN_POOL:
		item->text = x_strdup(row->pool);
		break;
	case COLUMN_WHY:
		item->text = x_strdup(row->why);
		break;
	case COLUMN_STATE:
		item->number = state_rank[row->state];
		break;
	case COLUMN_AGE: /* the youngest first */
		item->number = -row->created_ms;
		break;
	case COLUMN_EXPIRES: /* the next first, those without last */
		item->number = row->expires_ms ? row->expires_ms : INT64_MAX;
		break;
	case COLUMN_RESTARTS:
		item->number = -row->restarts;
		break;
	case COLUMN_NAME:
	case COLUMN_COUNT:
		break;
	}
}

static int compare(const struct list_index *index, const struct item *a, const struct item *b)
{
	int order = a->number < b->number ? -1 : a->number > b->number;
	if (order == 0 && a->text && b->text)
		order = strcmp(a->text, b->text);
	bool is_name = index->column == COLUMN_NAME;
	if (order == 0 && is_name)
		order = strcmp(a->tie, b->tie);
	if (order != 0)
		return index->is_reversed ? -order : order;
	order = is_name ? 0 : strcmp(a->tie, b->tie);
	return order ? order : strcmp(a->uid, b->uid);
}

/* Where the item stands or would stand. */
static size_t place_of(const struct list_index *index, const struct item *item)
{
	size_t low = 0, high = index->n_shown;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(index, index->shown[middle], item) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void hide(struct list_index *index, struct item *item)
{
	if (!item->is_shown)
		return;
	item->is_shown = false;
	if (index->is_batch)
		return;
	size_t at = place_of(index, item);
	memmove(index->shown + at, index->shown + at + 1,
		(index->n_shown - at - 1) * sizeof *index->shown);
	index->n_shown--;
}

static void show(struct list_index *index, struct item *item)
{
	if (item->is_shown)
		return;
	item->is_shown = true;
	if (index->is_batch)
		return;
	size_t at = place_of(index, item);
	array_grow(&index->shown, &index->capacity, index->n_shown + 1, sizeof *index->shown);
	memmove(index->shown + at + 1, index->shown + at,
		(index->n_shown - at) * sizeof *index->shown);
	index->shown[at] = item;
	index->n_shown++;
}

static bool wanted(const struct list_index *index, const struct fleet_row *row)
{
	if (row->state == FLEET_WARM && !index->shows_warm)
		return false;
	if (*index->namespace_ && strcmp(index->namespace_, row->namespace_) != 0)
		return false;
	return filter_fits(index->filter, row);
}

static void item_free(struct list_index *index, struct item *item)
{
	index->n_marked -= item->is_marked;
	HASH_DEL(index->items, item);
	free(item->text);
	free(item->tie);
	free(item);
}

void list_index_update(struct list_index *index, const char *uid, const struct fleet_row *row)
{
	struct item *item;
	HASH_FIND_STR(index->items, uid, item);
	if (!row) {
		if (!item)
			return;
		hide(index, item); /* in a batch, end() rebuilds the order from what is left */
		item_free(index, item);
		return;
	}
	if (!item) {
		item = x_calloc(1, sizeof *item);
		strncat(item->uid, uid, sizeof item->uid - 1);
		HASH_ADD_STR(index->items, uid, item);
	} else {
		hide(index, item);
	}
	set_keys(index, item, row);
	if (wanted(index, row))
		show(index, item);
}

static _Thread_local const struct list_index *sorting; /* qsort has no argument for it */

static int compare_items(const void *a, const void *b)
{
	return compare(sorting, *(struct item *const *)a, *(struct item *const *)b);
}

static void collect(struct list_index *index)
{
	struct item *item, *next;
	index->n_shown = 0;
	array_grow(&index->shown, &index->capacity, HASH_COUNT(index->items) + 1,
		sizeof *index->shown);
	HASH_ITER(hh, index->items, item, next)
		if (item->is_shown)
			index->shown[index->n_shown++] = item;
	sorting = index;
	qsort(index->shown, index->n_shown, sizeof *index->shown, compare_items);
	sorting = NULL;
}

void list_index_begin(struct list_index *index)
{
	index->is_batch = true;
}

void list_index_end(struct list_index *index)
{
	index->is_batch = false;
	collect(index);
}

static void reconsider(struct list_index *index, bool is_resort)
{
	struct item *item, *next;
	HASH_ITER(hh, index->items, item, next) {
		const struct fleet_row *row = index->row_of(index->arg, item->uid);
		item->is_shown = row && wanted(index, row);
		if (row && is_resort)
			set_keys(index, item, row);
	}
	collect(index);
}

void list_index_sort(struct list_index *index, enum list_column column, bool is_reversed)
{
	bool is_other = column != index->column;
	index->column = column;
	index->is_reversed = is_reversed;
	reconsider(index, is_other);
}

enum list_column list_index_column(const struct list_index *index)
{
	return index->column;
}

bool list_index_is_reversed(const struct list_index *index)
{
	return index->is_reversed;
}

void list_index_filter(struct list_index *index, const char *text)
{
	if (strcmp(text, index->filter_text) == 0)
		return;
	struct filter *old = index->filter;
	index->filter = filter_parse(text);
	free(index->filter_text);
	index->filter_text = x_strdup(text);
	if (filter_narrows(old, index->filter)) {
		size_t kept = 0;
		for (size_t i = 0; i < index->n_shown; i++) {
			struct item *item = index->shown[i];
			const struct fleet_row *row = index->row_of(index->arg, item->uid);
			item->is_shown = row && filter_fits(index->filter, row);
			if (item->is_shown)
				index->shown[kept++] = item;
		}
		index->n_shown = kept;
	} else {
		reconsider(index, false);
	}
	filter_free(old);
}

const char *list_index_filter_text(const struct list_index *index)
{
	return index->filter_text;
}

void list_index_namespace(struct list_index *index, const char *namespace_)
{
	if (strcmp(namespace_, index->namespace_) == 0)
		return;
	free(index->namespace_);
	index->namespace_ = x_strdup(namespace_);
	reconsider(index, false);
}

void list_index_show_warm(struct list_index *index, bool on)
{
	index->shows_warm = on;
	reconsider(index, false);
}

bool list_index_shows_warm(const struct list_index *index)
{
	return index->shows_warm;
}

size_t list_index_count(const struct list_index *index)
{
	return index->n_shown;
}

size_t list_index_total(const struct list_index *index)
{
	return HASH_COUNT(index->items);
}

const char *list_index_at(const struct list_index *index, size_t position)
{
	return index->shown[position]->uid;
}

static struct item *find(const struct list_index *index, const char *uid)
{
	struct item *item;
	HASH_FIND_STR(index->items, uid, item);
	return item;
}

size_t list_index_find(const struct list_index *index, const char *uid)
{
	const struct item *item = find(index, uid);
	return item && item->is_shown ? place_of(index, item) : (size_t)-1;
}

void list_index_mark(struct list_index *index, const char *uid, bool on)
{
	struct item *item = find(index, uid);
	if (!item || item->is_marked == on)
		return;
	item->is_marked = on;
	index->n_marked = on ? index->n_marked + 1 : index->n_marked - 1;
}

bool list_index_is_marked(const struct list_index *index, const char *uid)
{
	const struct item *item = find(index, uid);
	return item && item->is_marked;
}

size_t list_index_marked_count(const struct list_index *index)
{
	return index->n_marked;
}

void list_index_mark_shown(struct list_index *index, bool on)
{
	for (size_t i = 0; i < index->n_shown; i++) {
		if (index->shown[i]->is_marked != on)
			index->n_marked = on ? index->n_marked + 1 : index->n_marked - 1;
		index->shown[i]->is_marked = on;
	}
}

void list_index_unmark_all(struct list_index *index)
{
	struct item *item, *next;
	if (!index->n_marked)
		return;
	HASH_ITER(hh, index->items, item, next)
		item->is_marked = false;
	index->n_marked = 0;
}

size_t list_index_marked(const struct list_index *index, const char **uids, size_t max)
{
	struct item *item, *next;
	size_t n = 0;
	if (!index->n_marked)
		return 0;
	HASH_ITER(hh, index->items, item, next)
		if (item->is_marked && n < max)
			uids[n++] = item->uid;
	return n;
}

struct list_index *list_index_new(list_row_fn *row_of, void *arg)
{
	struct list_index *index = x_calloc(1, sizeof *index);
	index->row_of = row_of;
	index->arg = arg;
	index->column = COLUMN_NAME;
	index->filter_text = x_strdup("");
	index->namespace_ = x_strdup("");
	index->filter = filter_parse("");
	return index;
}

void list_index_clear(struct list_index *index)
{
	struct item *item, *next;
	HASH_ITER(hh, index->items, item, next)
		item_free(index, item);
	index->n_shown = 0;
	index->n_marked = 0;
}

void list_index_free(struct list_index *index)
{
	if (!index)
		return;
	list_index_clear(index);
	free(index->shown);
	free(index->filter_text);
	free(index->namespace_);
	filter_free(index->filter);
	free(index);
}
