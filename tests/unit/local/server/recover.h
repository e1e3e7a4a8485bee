// SPDX-License-Identifier: Apache-2.0
/* A state folder whose database is damaged and made anew. Header-only; JSON is written with ' for ". */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/str.h"
#include "local/control/remove.h"
#include "local/server/recover.h"
#include "local/server/store/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static char said[16384]; /* the last report */

static inline int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/sandmux-recover-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	return rmdir(dir);
}

static inline const char *in_dir(const char *name)
{
	static char path[4][512];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", dir, name);
	return out;
}

static inline bool is_there(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

static inline void make_file(const char *name, const char *text)
{
	assert_true(file_write_atomic(in_dir(name), slice_of(text), 0600, NULL));
}

static inline void make_folder(const char *name)
{
	assert_true(file_make_dirs(in_dir(name), 0700, NULL));
}

static inline struct store *open_store(bool must_exist)
{
	struct err err = { 0 };
	const char *path = in_dir("objects.db");
	struct store *s = store_open(
		&(struct store_opts){ .path = path, .must_exist = must_exist }, &err);
	if (!s)
		fail_msg("%s", err.msg);
	return s;
}

/* JSON with ' for ". */
static inline void write_object(struct store *s, enum store_kind kind, const char *text)
{
	struct err err = { 0 };
	char *copy = x_strdup(text);
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	cJSON *json = cJSON_Parse(copy);
	free(copy);
	if (!json || !store_write(s, kind, json, &err))
		fail_msg("%s: %s", text, err.msg);
}

static inline void write_default(struct store *s)
{
	write_object(s, KIND_NAMESPACE,
		"{'metadata':{'name':'default','uid':'the-default'},'status':{}}");
}

static inline void run_sql(const char *sql)
{
	sqlite3 *db;
	char *error = NULL;
	assert_int_equal(sqlite3_open(in_dir("objects.db"), &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s", error);
	sqlite3_close(db);
}

static inline bool try_recover(struct err *err)
{
	struct str report;
	str_init(&report, sizeof said - 1);
	bool ok = server_recover_run(dir, &report, err);
	snprintf(said, sizeof said, "%s", report.p ? report.p : "");
	str_deinit(&report);
	return ok;
}

static inline void must_recover(void)
{
	struct err err = { 0 };
	if (!try_recover(&err))
		fail_msg("%s (%s)", err.msg, said);
	assert_false(is_there("recovering"));
	assert_false(is_there("objects.db-shm"));
}

static inline void must_say(const char *words)
{
	if (!strstr(said, words))
		fail_msg("not said: %s; but: %s", words, said);
}

/* Names in the quarantine with this ending, how many; the last is kept in out. */
static inline int count_quarantine(bool want_json, char out[512])
{
	int n = 0;
	DIR *d = opendir(in_dir("quarantine"));
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL) {
		bool is_json = strstr(e->d_name, ".json") != NULL;
		if (e->d_name[0] == '.' || is_json != want_json)
			continue;
		n++;
		if (out)
			snprintf(out, 512, "quarantine/%.400s", e->d_name);
	}
	if (d)
		closedir(d);
	return n;
}
