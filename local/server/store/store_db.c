// SPDX-License-Identifier: Apache-2.0
/* Rows and settings in SQLite. */
#include "local/server/store/store_db.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <sqlite3.h>
#include <stdlib.h>

enum { SCHEMA_VERSION = 1, BUSY_MS = 2000 };

struct store_db {
	sqlite3 *db;
	sqlite3_stmt *put, *del, *counter, *forget, *meta_put, *meta_get, *meta_del;
};

static bool db_fail(struct store_db *s, struct err *err, const char *what)
{
	return err_set(err, ERR_SYSTEM, "%s: %s", what,
		s->db ? sqlite3_errmsg(s->db) : "cannot open the database");
}

static bool db_exec(struct store_db *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
	       db_fail(s, err, "object store");
}

static bool db_step(struct store_db *s, sqlite3_stmt *stmt, struct err *err)
{
	int rc = sqlite3_step(stmt);
	bool ok = rc == SQLITE_DONE || rc == SQLITE_ROW || db_fail(s, err, "object store");
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return ok;
}

static bool db_commit(struct store_db *s, sqlite3_stmt *stmt, int64_t rv, struct err *err)
{
	if (!db_exec(s, "BEGIN IMMEDIATE", err))
		return false;
	sqlite3_bind_int64(s->counter, 1, rv);
	if (db_step(s, stmt, err) && db_step(s, s->counter, err) && db_exec(s, "COMMIT", err))
		return true;
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

char *store_db_meta_get(struct store_db *s, const char *key)
{
	char *value = NULL;
	sqlite3_bind_text(s->meta_get, 1, key, -1, SQLITE_STATIC);
	if (sqlite3_step(s->meta_get) == SQLITE_ROW)
		value = x_strdup((const char *)sqlite3_column_text(s->meta_get, 0));
	sqlite3_reset(s->meta_get);
	return value;
}

bool store_db_meta_set(struct store_db *s, const char *key, const char *value, struct err *err)
{
	if (!value) {
		sqlite3_bind_text(s->meta_del, 1, key, -1, SQLITE_STATIC);
		return db_step(s, s->meta_del, err);
	}
	sqlite3_bind_text(s->meta_put, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_text(s->meta_put, 2, value, -1, SQLITE_STATIC);
	return db_step(s, s->meta_put, err);
}

static bool db_prepare(struct store_db *s, const char *sql, sqlite3_stmt **out, struct err *err)
{
	return sqlite3_prepare_v2(s->db, sql, -1, out, NULL) == SQLITE_OK ||
	       db_fail(s, err, "object store");
}

bool store_db_load(
	struct store_db *s, int64_t *revision, store_db_fn *fn, void *arg, struct err *err)
{
	sqlite3_stmt *all = NULL;
	if (!db_prepare(s, "SELECT kind, json FROM objects", &all, err))
		return false;
	while (sqlite3_step(all) == SQLITE_ROW) {
		int kind = sqlite3_column_int(all, 0);
		const void *text = sqlite3_column_blob(all, 1);
		struct slice bytes = { text, (size_t)sqlite3_column_bytes(all, 1) };
		cJSON *json = kind >= 0 && kind < KIND_COUNT ? json_parse(bytes, NULL) : NULL;
		if (json)
			fn(arg, (enum kind)kind, json);
		else
			LOG("store", LOG_ERROR, "an object that cannot be read is ignored");
	}
	sqlite3_finalize(all);
	char *rv = store_db_meta_get(s, "revision");
	if (rv)
		num_parse_i64(rv, 0, INT64_MAX, revision);
	free(rv);
	return true;
}

/* What was applied to an object (api/apply.c) goes with it. */
static const char forget_sql[] = "DELETE FROM meta WHERE key GLOB 'applied/' || ? || '/*'";

static bool db_prepare_all(struct store_db *s, struct err *err)
{
	return db_prepare(s, "INSERT OR REPLACE INTO objects VALUES (?,?,?,?)", &s->put, err) &&
	       db_prepare(s, "DELETE FROM objects WHERE kind=? AND ns=? AND name=?", &s->del,
		       err) &&
	       db_prepare(s, "INSERT OR REPLACE INTO meta VALUES ('revision', ?)", &s->counter,
		       err) &&
	       db_prepare(s, forget_sql, &s->forget, err) &&
	       db_prepare(s, "INSERT OR REPLACE INTO meta VALUES (?,?)", &s->meta_put, err) &&
	       db_prepare(s, "DELETE FROM meta WHERE key=?", &s->meta_del, err) &&
	       db_prepare(s, "SELECT value FROM meta WHERE key=?", &s->meta_get, err);
}

static bool db_check_version(struct store_db *s, struct err *err)
{
	char *version = store_db_meta_get(s, "schema");
	int64_t number = 0;
	bool known = !version || (num_parse_i64(version, 0, INT32_MAX, &number) &&
					 number == SCHEMA_VERSION);
	free(version);
	if (!known)
		return err_set(err, ERR_SYSTEM,
			"object store has schema %lld, this program knows %d: use the newer program,"
			" or sandmux local reset",
			(long long)number, SCHEMA_VERSION);
	return store_db_meta_set(s, "schema", "1", err);
}

struct store_db *store_db_open(const char *path, struct err *err)
{
	struct store_db *s = x_calloc(1, sizeof *s);
	bool ok = sqlite3_open_v2(path ? path : ":memory:", &s->db,
			  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK ||
		  db_fail(s, err, path ? path : "memory");
	if (ok)
		sqlite3_busy_timeout(s->db, BUSY_MS);
	ok = ok &&
	     db_exec(s,
		     "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
		     "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
		     "CREATE TABLE IF NOT EXISTS objects (kind INTEGER, ns TEXT, name TEXT,"
		     " json TEXT NOT NULL, PRIMARY KEY (kind, ns, name)) WITHOUT ROWID;",
		     err) &&
	     db_prepare_all(s, err) && db_check_version(s, err);
	if (ok)
		return s;
	store_db_close(s);
	return NULL;
}

void store_db_close(struct store_db *s)
{
	if (!s)
		return;
	sqlite3_stmt *const all[] = { s->put, s->del, s->counter, s->forget, s->meta_put,
		s->meta_get, s->meta_del };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		sqlite3_finalize(all[i]);
	sqlite3_close(s->db);
	free(s);
}

static void bind_key(sqlite3_stmt *stmt, const struct object *o)
{
	sqlite3_bind_int(stmt, 1, (int)o->kind);
	sqlite3_bind_text(stmt, 2, o->ns, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, o->name, -1, SQLITE_STATIC);
}

bool store_db_put(struct store_db *s, const struct object *o, struct err *err)
{
	bind_key(s->put, o);
	sqlite3_bind_text(s->put, 4, o->text, (int)o->text_n, SQLITE_STATIC);
	return db_commit(s, s->put, o->rv, err);
}

bool store_db_delete(
	struct store_db *s, const struct object *o, int64_t revision, struct err *err)
{
	bind_key(s->del, o);
	if (!db_commit(s, s->del, revision, err))
		return false;
	sqlite3_bind_text(s->forget, 1, o->uid, -1, SQLITE_STATIC);
	db_step(s, s->forget, NULL); /* a stray setting hurts nobody */
	return true;
}
