// SPDX-License-Identifier: Apache-2.0
/* Rows of a kind in order, while they come, change and go: a change that moves a row costs two binary searches and
 * two moves within a few hundred pointers (order.h), a key nothing that grows with the number of rows. It holds uids and sort keys, never rows: those are asked
 * for by `row_of` whenever the order, the filter or the namespace changes. */
#pragma once

#include "engine/resource/kind.h"

struct resource_collection;
#define RESOURCE_NOWHERE ((size_t)-1)

typedef const void *resource_row_fn(void *arg, const char *uid); /* NULL: gone */

struct resource_collection *resource_collection_new(
	const struct resource_kind *kind, resource_row_fn *row_of, void *arg);
void resource_collection_free(struct resource_collection *collection);
/* row NULL: it has gone. */
void resource_collection_update(
	struct resource_collection *collection, const char *uid, const void *row);
void resource_collection_clear(struct resource_collection *collection);
/* Between these, updates are only collected and sorted once at the end: for many of them. */
void resource_collection_begin(struct resource_collection *collection);
void resource_collection_end(struct resource_collection *collection);

void resource_collection_sort(
	struct resource_collection *collection, int column, bool is_reversed);
/* What rows say has changed without a change of theirs (what pods use): those shown are sorted and filtered once more. */
void resource_collection_resort(struct resource_collection *collection);
int resource_collection_column(const struct resource_collection *collection);
bool resource_collection_is_reversed(const struct resource_collection *collection);
/* A text that cannot be understood leaves the rows as they are, but is kept: see the next two. */
void resource_collection_filter(struct resource_collection *collection, const char *text);
const char *resource_collection_filter_text(const struct resource_collection *collection);
/* What is wrong with it; "": nothing. */
const char *resource_collection_filter_error(const struct resource_collection *collection);
/* Where what fits changes as time passes, it is looked at again, every few seconds at most. True: it was. */
bool resource_collection_tick(struct resource_collection *collection);
void resource_collection_namespace(
	struct resource_collection *collection, const char *namespace_); /* "" = all */
/* Those that the kind sets aside. */
void resource_collection_show_aside(struct resource_collection *collection, bool on);
bool resource_collection_shows_aside(const struct resource_collection *collection);

size_t resource_collection_count(const struct resource_collection *collection); /* shown */
size_t resource_collection_total(
	const struct resource_collection *collection); /* all, those set aside included */
const char *resource_collection_at(
	const struct resource_collection *collection, size_t position); /* uid */
/* The position of a uid; RESOURCE_NOWHERE if it is not shown. */
size_t resource_collection_find(const struct resource_collection *collection, const char *uid);

void resource_collection_mark(struct resource_collection *collection, const char *uid, bool on);
bool resource_collection_is_marked(
	const struct resource_collection *collection, const char *uid);
size_t resource_collection_marked_count(const struct resource_collection *collection);
void resource_collection_mark_shown(struct resource_collection *collection, bool on);
void resource_collection_unmark_all(struct resource_collection *collection);
size_t resource_collection_marked(
	const struct resource_collection *collection, const char **uids, size_t max);
