// SPDX-License-Identifier: Apache-2.0
/* Whoever holds the rows of a kind (the fleet, an informer) offers them as a source; lists and tables of the command line
 * follow it and know nothing else about it. Rows are borrowed for the turn of the loop. */
#pragma once

#include "engine/resource/collection.h"

/* row NULL: that uid has gone. uid NULL: more has changed than is remembered, begin anew. */
typedef void resource_change_fn(void *arg, const char *uid, const void *row);

struct resource_source_ops {
	uint64_t (*revision)(const void *self); /* grows with every change */
	const void *(*find)(const void *self, const char *uid);
	/* Every row, in no order. */
	void (*each)(const void *self, resource_change_fn *fn, void *arg);
	/* Those changed since that revision, and those that went. */
	void (*changes)(const void *self, uint64_t since, resource_change_fn *fn, void *arg);
};
struct resource_source {
	const struct resource_source_ops *ops;
	const void *self; /* NULL: there is none (yet) */
};

static inline uint64_t resource_source_revision(const struct resource_source *source)
{
	return source->self ? source->ops->revision(source->self) : 0;
}

static inline const void *resource_source_find(
	const struct resource_source *source, const char *uid)
{
	return source->self ? source->ops->find(source->self, uid) : NULL;
}

/* What a collection has taken over from a source. Zeroed: nothing. */
struct resource_follower {
	const void *self; /* whose rows those are */
	uint64_t revision;
};
/* Brings the collection up to date; one of another source begins anew. Marks and the order stay. True: something has
 * changed. */
bool resource_follow(struct resource_follower *follower, const struct resource_source *source,
	struct resource_collection *rows);
/* There is something to take over. */
bool resource_follower_is_behind(
	const struct resource_follower *follower, const struct resource_source *source);
