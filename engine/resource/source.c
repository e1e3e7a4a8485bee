// SPDX-License-Identifier: Apache-2.0
// A collection that follows a source: change by change, many of them as one sort, and whole where too much has changed.
#include "engine/resource/source.h"

#include "engine/base/mem.h"

#include <stdlib.h>

/* Where so many have changed, and a good part of all, one sort is less work than to put each in its place. */
enum { MANY_CHANGES = 2000, MANY_PART = 8 };

struct taking {
	struct resource_collection *rows;
	size_t n;
	bool is_lost; /* the source does not remember that far back */
};

static void count_change(void *arg, const char *uid, const void *row)
{
	struct taking *taking = arg;
	(void)row;
	taking->n++;
	taking->is_lost = taking->is_lost || !uid;
}

static void take_change(void *arg, const char *uid, const void *row)
{
	struct taking *taking = arg;
	resource_collection_update(taking->rows, uid, row);
}

static void take_all(const struct resource_source *source, struct taking *taking)
{
	struct resource_collection *rows = taking->rows;
	/* marks belong to uids, not to this index: keep them */
	size_t n = resource_collection_marked_count(rows);
	const char **marked = x_calloc(n + 1, sizeof *marked);
	n = resource_collection_marked(rows, marked, n);
	char **kept = x_calloc(n + 1, sizeof *kept);
	for (size_t i = 0; i < n; i++)
		kept[i] = x_strdup(marked[i]);
	free(marked);
	resource_collection_clear(rows);
	resource_collection_begin(rows);
	source->ops->each(source->self, take_change, taking);
	resource_collection_end(rows);
	for (size_t i = 0; i < n; i++) {
		resource_collection_mark(rows, kept[i], true);
		free(kept[i]);
	}
	free(kept);
}

bool resource_follower_is_behind(
	const struct resource_follower *follower, const struct resource_source *source)
{
	return follower->self != source->self ||
	       follower->revision != resource_source_revision(source);
}

bool resource_follow(struct resource_follower *follower, const struct resource_source *source,
	struct resource_collection *rows)
{
	struct taking taking = { .rows = rows };
	if (!resource_follower_is_behind(follower, source))
		return false;
	if (follower->self != source->self) {
		resource_collection_clear(rows);
		follower->self = source->self;
		follower->revision = 0;
	}
	if (!source->self)
		return true;
	bool is_first = follower->revision == 0;
	if (!is_first)
		source->ops->changes(source->self, follower->revision, count_change, &taking);
	if (is_first || taking.is_lost) {
		take_all(source, &taking);
	} else {
		bool is_many = taking.n > MANY_CHANGES &&
			       taking.n > resource_collection_total(rows) / MANY_PART;
		if (is_many)
			resource_collection_begin(rows);
		source->ops->changes(source->self, follower->revision, take_change, &taking);
		if (is_many)
			resource_collection_end(rows);
	}
	follower->revision = resource_source_revision(source);
	return true;
}
