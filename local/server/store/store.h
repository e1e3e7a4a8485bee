// SPDX-License-Identifier: Apache-2.0
/* Every object, in memory and in one SQLite file (one row per object, JSON text, WAL), with one
 * resourceVersion counter over all of them and a bounded history of changes.
 *
 * An object that is stored never changes: a write replaces it. So lists, watches and history share
 * references instead of copies. History answers "what changed after R", "what did it look like at R"
 * and says "expired" for what it has forgotten; it begins empty at each start, at the revision of the
 * last write. */
#pragma once

#include "local/server/store/resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_loop;

struct store_object {
	unsigned refs;
	enum store_kind kind;
	int64_t rv;
	cJSON *json; /* immutable */
	char *text;  /* json, compact */
	size_t text_n;
	const char *ns; /* borrowed from json; "" when there is none */
	const char *name;
	const char *uid;
};
struct store_object *store_object_ref(struct store_object *o);
void store_object_unref(struct store_object *o); /* NULL is fine */

enum store_change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };
struct store_change {
	int64_t rv;
	enum store_change_type type;
	struct store_object
		*now; /* for CHANGE_DELETED: the last state, with rv of the deletion */
	struct store_object *before; /* NULL for CHANGE_ADDED */
};

struct store;
struct store_opts {
	const char *path;   /* of the database; NULL: in memory (tests) */
	size_t history_max; /* changes kept; 0: 20,000 */
	int64_t history_ms; /* and for how long; 0: 5 minutes, as etcd compaction */
	size_t max_objects; /* over all kinds; 0: 200,000 */
	bool must_exist;    /* there are files of sandboxes: an empty store is a lost one */
};
/* ERR_LOCAL_STORE if the file is damaged, in any row, or lost; nothing was changed then. */
struct store *store_open(const struct store_opts *opts, struct err *err);
void store_close(struct store *s);

int64_t store_revision(const struct store *s);
/* The next write gets a version over rv. History is forgotten. */
bool store_skip_to(struct store *s, int64_t rv, struct err *err);
/* Changes with rv > this are still known. */
int64_t store_compacted(const struct store *s);

/* Borrowed until the next write of that object. ns "" for kinds without namespace. */
struct store_object *store_get(
	struct store *s, enum store_kind kind, const char *ns, const char *name);
struct store_object *store_by_uid(struct store *s, const char *uid);
/* Sorted by (namespace, name); a write may move elements: collect first, then write. */
size_t store_count(const struct store *s, enum store_kind kind);
struct store_object *store_at(const struct store *s, enum store_kind kind, size_t i);
/* References to all of one kind (ns NULL: every namespace) as they were at revision rv, sorted; NULL with
 * *n = SIZE_MAX if that is forgotten. Free with store_list_free. */
struct store_object **store_list(
	struct store *s, enum store_kind kind, const char *ns, int64_t rv, size_t *n);
void store_list_free(struct store_object **list, size_t n);

/* Takes json (also on failure), gives it the next resourceVersion and stores it. The object returned is
 * borrowed. Listeners run before this returns. ERR_SYSTEM if the database refuses, ERR_KUBE_QUOTA over
 * max_objects, ERR_KUBE_INVALID and ERR_KUBE_TOO_LARGE for what could not be read again (sound.h). */
struct store_object *store_write(
	struct store *s, enum store_kind kind, cJSON *json_take, struct err *err);
/* From now on writes are on the disk before they return, or only with the next that must be. For what a client is told.
 * Removals always are. */
void store_set_durable(struct store *s, bool durable);
/* Removes it; the change carries its last state. Its UID is remembered as deleted. */
bool store_remove(struct store *s, struct store_object *o, struct err *err);

/* Whether an object with this UID was removed, and not lost with a database. Events are not remembered. */
bool store_was_deleted(struct store *s, const char *uid);
void store_mark_deleted(struct store *s, const char *uid);
/* Forgets the removed UIDs for which keep is false. */
void store_forget_deleted(struct store *s, bool (*keep)(void *arg, const char *uid), void *arg);

/* Changes of the history in order: the first with rv > after is at the index returned. */
size_t store_change_index(const struct store *s, int64_t after);
size_t store_change_count(const struct store *s);
const struct store_change *store_change_at(const struct store *s, size_t index);
/* Forgets changes up to rv (tests, and an explicit compaction). */
void store_compact(struct store *s, int64_t rv);

typedef void store_change_fn(void *arg, const struct store_change *change);
void store_listen(struct store *s, store_change_fn *fn, void *arg); /* at most 4 */

/* Small settings of the backend: text by key. */
char *store_meta_get(struct store *s, const char *key); /* free(); NULL if none */
/* value NULL removes it. */
bool store_meta_set(struct store *s, const char *key, const char *value, struct err *err);
