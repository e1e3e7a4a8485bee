// SPDX-License-Identifier: Apache-2.0
/* SQLite stops at the first page it cannot follow. Read forwards and backwards, and each kind by itself, all rows
 * come but those around the damage. */
#include "local/server/store/salvage.h"

#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/num.h"
#include "local/server/store/sound.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 600 };

/* A row that was met: readable or not, it is counted once. */
struct met {
	UT_hash_handle hh;
	char key[KEY_BYTES];
};

struct salvage {
	const struct store_salvage_callbacks *callbacks;
	void *arg;
	struct store_salvaged *out;
	struct met *met;
};

static bool is_new(struct salvage *s, int kind, const char *ns, const char *name)
{
	struct met *m;
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "%d/%.253s/%.253s", kind, ns ? ns : "", name ? name : "");
	HASH_FIND_STR(s->met, key, m);
	if (m)
		return false;
	m = x_calloc(1, sizeof *m);
	memcpy(m->key, key, sizeof key);
	HASH_ADD_STR(s->met, key, m);
	return true;
}

static void take_row(struct salvage *s, sqlite3_stmt *row)
{
	int kind = sqlite3_column_int(row, 0);
	const char *ns = (const char *)sqlite3_column_text(row, 1);
	const char *name = (const char *)sqlite3_column_text(row, 2);
	if (!is_new(s, kind, ns, name))
		return;
	const void *text = sqlite3_column_blob(row, 3);
	struct slice bytes = { text, (size_t)sqlite3_column_bytes(row, 3) };
	int64_t rv = 0;
	cJSON *json = kind >= 0 && kind < KIND_COUNT && text
			      ? store_sound_parse((enum store_kind)kind, bytes, NULL)
			      : NULL;
	s->out->n_rows++;
	const char *version = json_str(json, "metadata", "resourceVersion", NULL);
	if (version && num_parse_i64(version, 0, INT64_MAX, &rv) && rv > s->out->revision)
		s->out->revision = rv;
	if (!json || !s->callbacks->on_object(s->arg, (enum store_kind)kind, json))
		s->out->n_unreadable++;
}

static void read_objects(struct salvage *s, sqlite3 *db, const char *sql, int kind)
{
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_int(stmt, 1, kind);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		take_row(s, stmt);
	sqlite3_finalize(stmt);
}

static void read_deleted(struct salvage *s, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *uid = (const char *)sqlite3_column_text(stmt, 0);
		if (uid)
			s->callbacks->on_deleted(s->arg, uid);
	}
	sqlite3_finalize(stmt);
}

static void read_meta(struct salvage *s, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t rv = 0;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *key = (const char *)sqlite3_column_text(stmt, 0);
		const char *value = (const char *)sqlite3_column_text(stmt, 1);
		if (!key || !value)
			continue;
		if (strcmp(key, "revision") != 0)
			s->callbacks->on_meta(s->arg, key, value);
		else if (num_parse_i64(value, 0, INT64_MAX, &rv) && rv > s->out->revision)
			s->out->revision = rv;
	}
	sqlite3_finalize(stmt);
}

void store_salvage_read(const char *path, const struct store_salvage_callbacks *callbacks,
	void *arg, struct store_salvaged *out)
{
	static const char *const orders[] = {
		"SELECT kind, ns, name, json FROM objects WHERE kind=? ORDER BY ns, name",
		"SELECT kind, ns, name, json FROM objects WHERE kind=? ORDER BY ns DESC, name DESC",
	};
	static const char *const meta_orders[] = { "SELECT key, value FROM meta",
		"SELECT key, value FROM meta ORDER BY rowid DESC" };
	static const char *const deleted_orders[] = { "SELECT uid FROM deleted ORDER BY uid",
		"SELECT uid FROM deleted ORDER BY uid DESC" };
	struct salvage s = { .callbacks = callbacks, .arg = arg, .out = out };
	struct met *m, *next;
	sqlite3 *db = NULL;
	*out = (struct store_salvaged){ 0 };
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
		for (int i = 0; i < 2; i++)
			read_deleted(&s, db, deleted_orders[i]);
		for (int kind = 0; kind < KIND_COUNT; kind++)
			for (int i = 0; i < 2; i++)
				read_objects(&s, db, orders[i], kind);
		for (int i = 0; i < 2; i++)
			read_meta(&s, db, meta_orders[i]);
	}
	sqlite3_close(db);
	HASH_ITER(hh, s.met, m, next) {
		HASH_DEL(s.met, m);
		free(m);
	}
}
