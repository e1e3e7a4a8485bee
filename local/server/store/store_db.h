// SPDX-License-Identifier: Apache-2.0
/* The SQLite file under the store (not for use outside of it), in WAL mode. A killed process loses nothing that was
 * written. A power cut loses nothing that was written as durable; of the rest it may lose the last writes, and
 * never the file.
 *
 * PRAGMA user_version tells the schema: 1 (or none, with tables) objects and meta; 2 adds deleted. */
#pragma once

#include "local/server/store/store.h"

enum { STORE_SCHEMA = 2 };

struct store_db;

/* path NULL: in memory. must_exist: a database that is missing or has nothing in it is an error, not a new one. Every
 * failure that means "the file is not as we wrote it" is ERR_LOCAL_STORE with the path, and leaves the file as
 * it was. */
struct store_db *store_db_open(const char *path, bool must_exist, struct err *err);
void store_db_close(struct store_db *db);
/* Hands every object to fn, which takes json; *revision is the counter. The first row that cannot be read ends it:
 * ERR_LOCAL_STORE. */
typedef bool store_db_fn(void *arg, enum store_kind kind, cJSON *json_take, struct err *err);
bool store_db_load(
	struct store_db *db, int64_t *revision, store_db_fn *fn, void *arg, struct err *err);
/* One transaction each: the row and the counter. */
bool store_db_put(
	struct store_db *db, const struct store_object *o, bool durable, struct err *err);
/* Always durable: files are deleted because of it. Remembers the UID as deleted. */
bool store_db_delete(
	struct store_db *db, const struct store_object *o, int64_t revision, struct err *err);
bool store_db_was_deleted(struct store_db *db, const char *uid);
void store_db_mark_deleted(struct store_db *db, const char *uid);
/* Forgets the deleted UIDs for which fn is false. */
void store_db_forget_deleted(
	struct store_db *db, bool (*keep)(void *arg, const char *uid), void *arg);
char *store_db_meta_get(struct store_db *db, const char *key);
bool store_db_meta_set(
	struct store_db *db, const char *key, const char *value, struct err *err);
