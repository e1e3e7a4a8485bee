// SPDX-License-Identifier: Apache-2.0
/* The SQLite file under the store (not for use outside of it). synchronous=NORMAL in WAL mode: a killed
 * process loses nothing, a power cut may lose the last commits but never corrupts. */
#pragma once

#include "local/server/store/store.h"

struct store_db;

/* path NULL: in memory. */
struct store_db *store_db_open(const char *path, struct err *err);
void store_db_close(struct store_db *db);
/* Hands every object to fn, which takes json; *revision is the counter. */
typedef void store_db_fn(void *arg, enum kind kind, cJSON *json_take);
bool store_db_load(
	struct store_db *db, int64_t *revision, store_db_fn *fn, void *arg, struct err *err);
/* One transaction each: the row and the counter. */
bool store_db_put(struct store_db *db, const struct object *o, struct err *err);
bool store_db_delete(
	struct store_db *db, const struct object *o, int64_t revision, struct err *err);
char *store_db_meta_get(struct store_db *db, const char *key);
bool store_db_meta_set(
	struct store_db *db, const char *key, const char *value, struct err *err);
