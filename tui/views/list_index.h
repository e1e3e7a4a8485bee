// SPDX-License-Identifier: Apache-2.0
/* The order of the sandbox list, kept while rows come, change and go: a change costs two binary searches and two
 * memmoves of pointers, a key nothing that grows with the number of rows. It holds uids and sort keys, never rows. */
#pragma once

#include "engine/engine.h"

struct list_index;

enum list_column {
	COLUMN_NAMESPACE,
	COLUMN_NAME,
	COLUMN_STATE,
	COLUMN_SANDBOX,
	COLUMN_POD,
	COLUMN_POOL,
	COLUMN_AGE,
	COLUMN_EXPIRES,
	COLUMN_RESTARTS,
	COLUMN_WHY,
	COLUMN_COUNT,
};

typedef const struct fleet_row *list_row_fn(void *arg, const char *uid); /* NULL: gone */

struct list_index *list_index_new(list_row_fn *row_of, void *arg);
void list_index_free(struct list_index *index);
/* row NULL: it has gone. */
void list_index_update(struct list_index *index, const char *uid, const struct fleet_row *row);
void list_index_clear(struct list_index *index);
/* Between these, updates are only collected and sorted once at the end: for many of them. */
void list_index_begin(struct list_index *index);
void list_index_end(struct list_index *index);

void list_index_sort(struct list_index *index, enum list_column column, bool is_reversed);
enum list_column list_index_column(const struct list_index *index);
bool list_index_is_reversed(const struct list_index *index);
void list_index_filter(struct list_index *index, const char *text);
const char *list_index_filter_text(const struct list_index *index);
void list_index_namespace(struct list_index *index, const char *namespace_); /* "" = all */
void list_index_show_warm(struct list_index *index, bool on);
bool list_index_shows_warm(const struct list_index *index);

size_t list_index_count(const struct list_index *index); /* shown */
size_t list_index_total(const struct list_index *index); /* all, warm ones included */
const char *list_index_at(const struct list_index *index, size_t position); /* uid */
/* The position of a uid; (size_t)-1 if it is not shown. */
size_t list_index_find(const struct list_index *index, const char *uid);

void list_index_mark(struct list_index *index, const char *uid, bool on);
bool list_index_is_marked(const struct list_index *index, const char *uid);
size_t list_index_marked_count(const struct list_index *index);
void list_index_mark_shown(struct list_index *index, bool on);
void list_index_unmark_all(struct list_index *index);
size_t list_index_marked(const struct list_index *index, const char **uids, size_t max);
