// SPDX-License-Identifier: Apache-2.0
/* Rows and settings in SQLite. */
#include "local/server/store/store_db.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "local/server/store/sound.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BUSY_MS = 2000 };

struct store_db {
	sqlite3 *db;
	char *path;      /* for messages */
	bool is_durable; /* what synchronous is set to now */
	sqlite3_stmt *put, *del, *counter, *forget, *meta_put, *meta_get, *meta_del;
	sqlite3_stmt *deleted_put, *deleted_get, *deleted_del;
};

static bool db_fail(struct store_db *s, struct err *err, const char *what)
{
	int rc = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_ERROR;
	bool is_damaged = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_FORMAT ||
			  rc == SQLITE_SCHEMA || rc == SQLITE_ERROR || rc == SQLITE_MISMATCH;
	return err_set(err, is_damaged ? ERR_LOCAL_STORE : ERR_SYSTEM, "%.300s: %s: %.100s",
		s->path, what, s->db ? sqlite3_errmsg(s->db) : "cannot open the database");
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

/* FULL syncs the WAL with each commit, and with it whatever was written before. */
static bool db_set_durable(struct store_db *s, bool durable, struct err *err)
{
	if (s->is_durable == durable)
		return true;
	s->is_durable = durable;
	return db_exec(
		s, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", err);
}

/* more: a second statement in the same transaction, or NULL. */
static bool db_commit(struct store_db *s, sqlite3_stmt *stmt, sqlite3_stmt *more, int64_t rv,
	bool durable, struct err *err)
{
	if (!db_set_durable(s, durable, err) || !db_exec(s, "BEGIN IMMEDIATE", err))
		return false;
	sqlite3_bind_int64(s->counter, 1, rv);
	if (db_step(s, stmt, err) && (!more || db_step(s, more, err)) &&
		db_step(s, s->counter, err) && db_exec(s, "COMMIT", err))
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

/* One row; what it is called comes from its key, which may be readable when the object is not. */
static bool load_row(
	struct store_db *s, sqlite3_stmt *row, store_db_fn *fn, void *arg, struct err *err)
{
	struct err why = { 0 };
	int kind = sqlite3_column_int(row, 0);
	const char *ns = (const char *)sqlite3_column_text(row, 1);
	const char *name = (const char *)sqlite3_column_text(row, 2);
	const void *text = sqlite3_column_blob(row, 3);
	struct slice bytes = { text, (size_t)sqlite3_column_bytes(row, 3) };
	bool is_known = kind >= 0 && kind < KIND_COUNT;
	cJSON *json = is_known ? store_sound_parse((enum store_kind)kind, bytes, &why) : NULL;
	if (json && (strcmp(json_str(json, "metadata", "name", NULL), name ? name : "") != 0)) {
		cJSON_Delete(json);
		json = NULL;
		err_set(&why, ERR_KUBE_INVALID, "it has another name inside");
	}
	if (json && fn(arg, (enum store_kind)kind, json, &why))
		return true;
	return err_set(err, ERR_LOCAL_STORE,
		"%.250s: %s \"%.63s/%.63s\" cannot be read: %.100s", s->path,
		is_known ? store_resource_of((enum store_kind)kind)->api->plural : "a row",
		ns ? ns : "", name ? name : "", is_known ? why.msg : "of an unknown kind");
}

bool store_db_load(
	struct store_db *s, int64_t *revision, store_db_fn *fn, void *arg, struct err *err)
{
	sqlite3_stmt *all = NULL;
	if (!db_prepare(s, "SELECT kind, ns, name, json FROM objects", &all, err))
		return false;
	int rc;
	bool ok = true;
	while (ok && (rc = sqlite3_step(all)) == SQLITE_ROW)
		ok = load_row(s, all, fn, arg, err);
	if (ok && rc != SQLITE_DONE)
		ok = db_fail(s, err, "reading the objects");
	sqlite3_finalize(all);
	char *rv = ok ? store_db_meta_get(s, "revision") : NULL;
	if (rv)
		num_parse_i64(rv, 0, INT64_MAX, revision);
	free(rv);
	return ok;
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
	       db_prepare(s, "SELECT value FROM meta WHERE key=?", &s->meta_get, err) &&
	       db_prepare(
		       s, "INSERT OR REPLACE INTO deleted VALUES (?)", &s->deleted_put, err) &&
	       db_prepare(s, "SELECT 1 FROM deleted WHERE uid=?", &s->deleted_get, err) &&
	       db_prepare(s, "DELETE FROM deleted WHERE uid=?", &s->deleted_del, err);
}

static int64_t db_number(struct store_db *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t n = -1;
	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static bool db_check_version(struct store_db *s, int64_t *version, struct err *err)
{
	*version = db_number(s, "PRAGMA user_version");
	if (*version < 0)
		return db_fail(s, err, "reading the schema's version");
	return *version <= STORE_SCHEMA ||
	       err_set(err, ERR_SYSTEM,
		       "%.300s has schema %lld, this program knows %d: use the newer program, or"
		       " another --state-dir",
		       s->path, (long long)*version, STORE_SCHEMA);
}

static bool db_check_pages(struct store_db *s, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	if (!db_prepare(s, "PRAGMA quick_check(1)", &stmt, err))
		return false;
	const char *text = sqlite3_step(stmt) == SQLITE_ROW
				   ? (const char *)sqlite3_column_text(stmt, 0)
				   : NULL;
	bool ok = text && strcmp(text, "ok") == 0;
	if (!ok && text)
		err_set(err, ERR_LOCAL_STORE, "%.250s is damaged: %.200s", s->path, text);
	else if (!ok)
		db_fail(s, err, "checking the database");
	sqlite3_finalize(stmt);
	return ok;
}

/* Before SQLite sees the path: it would make a missing file, and throw away the log beside an empty one. */
static bool file_exists_if_it_must(const char *path, bool must_exist, struct err *err)
{
	struct stat st;
	if (stat(path, &st) != 0 && errno != ENOENT)
		return err_set_errno(err, errno, "%s", path);
	bool is_there = stat(path, &st) == 0;
	if (!must_exist || (is_there && st.st_size > 0))
		return true;
	return err_set(err, ERR_LOCAL_STORE,
		"%.300s is %s, but there are files of sandboxes beside it", path,
		is_there ? "empty" : "missing");
}

static const char create_sql[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS objects (kind INTEGER, ns TEXT, name TEXT,"
	" json TEXT NOT NULL, PRIMARY KEY (kind, ns, name)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS deleted (uid TEXT PRIMARY KEY) WITHOUT ROWID;"
	"PRAGMA user_version=2;"
	"COMMIT;";

struct store_db *store_db_open(const char *path, bool must_exist, struct err *err)
{
	struct store_db *s = x_calloc(1, sizeof *s);
	s->path = x_strdup(path ? path : "memory");
	bool ok = !path || file_exists_if_it_must(path, must_exist, err);
	ok = ok && (sqlite3_open_v2(path ? path : ":memory:", &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK ||
			   db_fail(s, err, "opening it"));
	if (ok)
		sqlite3_busy_timeout(s->db, BUSY_MS);
	int64_t version = 0;
	ok = ok && db_check_version(s, &version, err) && db_check_pages(s, err) &&
	     db_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;", err) &&
	     (version == STORE_SCHEMA || db_exec(s, create_sql, err)) && db_prepare_all(s, err);
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
		s->meta_get, s->meta_del, s->deleted_put, s->deleted_get, s->deleted_del };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		sqlite3_finalize(all[i]);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

static void bind_key(sqlite3_stmt *stmt, const struct store_object *o)
{
	sqlite3_bind_int(stmt, 1, (int)o->kind);
	sqlite3_bind_text(stmt, 2, o->ns, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, o->name, -1, SQLITE_STATIC);
}

bool store_db_put(
	struct store_db *s, const struct store_object *o, bool durable, struct err *err)
{
	bind_key(s->put, o);
	sqlite3_bind_text(s->put, 4, o->text, (int)o->text_n, SQLITE_STATIC);
	return db_commit(s, s->put, NULL, o->rv, durable, err);
}

bool store_db_delete(
	struct store_db *s, const struct store_object *o, int64_t revision, struct err *err)
{
	/* events own nothing, and nobody asks after them */
	bool is_remembered = o->kind != KIND_EVENT;
	bind_key(s->del, o);
	sqlite3_bind_text(s->deleted_put, 1, o->uid, -1, SQLITE_STATIC);
	if (!db_commit(s, s->del, is_remembered ? s->deleted_put : NULL, revision,
		    is_remembered, err))
		return false;
	sqlite3_bind_text(s->forget, 1, o->uid, -1, SQLITE_STATIC);
	db_step(s, s->forget, NULL); /* a stray setting hurts nobody */
	return true;
}

bool store_db_was_deleted(struct store_db *s, const char *uid)
{
	sqlite3_bind_text(s->deleted_get, 1, uid, -1, SQLITE_STATIC);
	bool found = sqlite3_step(s->deleted_get) == SQLITE_ROW;
	sqlite3_reset(s->deleted_get);
	return found;
}

void store_db_mark_deleted(struct store_db *s, const char *uid)
{
	sqlite3_bind_text(s->deleted_put, 1, uid, -1, SQLITE_STATIC);
	db_step(s, s->deleted_put, NULL);
}

void store_db_forget_deleted(
	struct store_db *s, bool (*keep)(void *arg, const char *uid), void *arg)
{
	sqlite3_stmt *all = NULL;
	char **gone = NULL;
	size_t n = 0, capacity = 0;
	if (!db_prepare(s, "SELECT uid FROM deleted", &all, NULL))
		return;
	while (sqlite3_step(all) == SQLITE_ROW) {
		const char *uid = (const char *)sqlite3_column_text(all, 0);
		if (keep(arg, uid))
			continue;
		array_grow(&gone, &capacity, n + 1, sizeof *gone);
		gone[n++] = x_strdup(uid);
	}
	sqlite3_finalize(all);
	for (size_t i = 0; i < n; i++) {
		sqlite3_bind_text(s->deleted_del, 1, gone[i], -1, SQLITE_STATIC);
		db_step(s, s->deleted_del, NULL);
		free(gone[i]);
	}
	free(gone);
}
