// SPDX-License-Identifier: Apache-2.0
/* What a store refuses to write, and what it refuses to open. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "local/server/store/patch.h"
#include "local/server/store/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64], wal[80], shm[80];

static int setup(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/sandmux-store-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	snprintf(wal, sizeof wal, "%s-wal", path);
	snprintf(shm, sizeof shm, "%s-shm", path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(wal);
	unlink(shm);
	return 0;
}

static struct store *try_open(bool must_exist, struct err *err)
{
	struct store_opts opts = { .path = path, .must_exist = must_exist };
	return store_open(&opts, err);
}

static void make_store(void)
{
	struct err err = { 0 };
	char text[256];
	struct store *s = try_open(false, &err);
	if (!s)
		fail_msg("%s", err.msg);
	for (int i = 0; i < 200; i++) {
		snprintf(text, sizeof text,
			"{\"metadata\":{\"namespace\":\"a\",\"name\":\"n%d\",\"uid\":\"u%d\"},\"spec\":{}}",
			i, i);
		if (!store_write(s, KIND_LEASE, cJSON_Parse(text), &err))
			fail_msg("%s", err.msg);
	}
	assert_true(store_remove(s, store_get(s, KIND_LEASE, "a", "n7"), &err));
	store_close(s);
}

static void run_sql(const char *sql)
{
	sqlite3 *db;
	char *error = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s", error);
	sqlite3_close(db);
}

static char *content(size_t *n)
{
	char *bytes = file_read(path, 64 << 20, n, NULL);
	assert_non_null(bytes);
	return bytes;
}

/* Opening fails with the path and these words, and changes no byte. */
static void must_refuse(bool must_exist, enum err_code code, const char *words)
{
	struct err err = { 0 };
	size_t before_n = 0, after_n = 0;
	bool is_there = access(path, F_OK) == 0;
	char *before = is_there ? content(&before_n) : NULL;
	assert_null(try_open(must_exist, &err));
	if (err.code != code || !strstr(err.msg, path) || !strstr(err.msg, words))
		fail_msg("%s: %s", err_name(&err), err.msg);
	assert_int_equal(access(path, F_OK) == 0, is_there);
	char *after = is_there ? content(&after_n) : NULL;
	assert_int_equal(before_n, after_n);
	if (is_there)
		assert_memory_equal(before, after, before_n);
	free(before);
	free(after);
}

static void test_a_damaged_row(void **state)
{
	(void)state;
	make_store();
	run_sql("UPDATE objects SET json='{' WHERE name='n42'");
	must_refuse(false, ERR_LOCAL_STORE, "leases \"a/n42\" cannot be read");
	run_sql("UPDATE objects SET json='{\"metadata\":{\"name\":\"n42\",\"namespace\":\"a\"}}'"
		" WHERE name='n42'");
	must_refuse(false, ERR_LOCAL_STORE, "metadata.uid is missing");
	run_sql("UPDATE objects SET json=(SELECT json FROM objects WHERE name='n41')"
		" WHERE name='n42'");
	must_refuse(false, ERR_LOCAL_STORE, "another name inside");
	run_sql("UPDATE objects SET json=(SELECT replace(json,'n41','n42') FROM objects WHERE"
		" name='n41') WHERE name='n42'");
	must_refuse(false, ERR_LOCAL_STORE, "another object has its UID");
	run_sql("UPDATE objects SET kind=99 WHERE name='n42'");
	must_refuse(false, ERR_LOCAL_STORE, "of an unknown kind");
}

static void test_a_damaged_page(void **state)
{
	size_t n;
	(void)state;
	make_store();
	char *bytes = content(&n);
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	for (long at = 4096 * 2; at + 4096 <= (long)n; at += 4096) {
		fseek(f, at, SEEK_SET);
		for (int i = 0; i < 64; i++)
			fputc(0xa5, f);
	}
	fclose(f);
	free(bytes);
	must_refuse(false, ERR_LOCAL_STORE, "damaged");
}

static void test_a_truncated_file(void **state)
{
	size_t n;
	(void)state;
	make_store();
	free(content(&n));
	assert_int_equal(truncate(path, (off_t)n / 2), 0);
	must_refuse(false, ERR_LOCAL_STORE, "");
	assert_int_equal(truncate(path, 100), 0);
	must_refuse(false, ERR_LOCAL_STORE, "");
	assert_int_equal(truncate(path, 0), 0);
	must_refuse(true, ERR_LOCAL_STORE, "is empty");
}

static void test_a_missing_or_empty_store(void **state)
{
	struct err err = { 0 };
	(void)state;
	must_refuse(true, ERR_LOCAL_STORE, "is missing");
	struct store *s = try_open(false, &err); /* a first start */
	assert_non_null(s);
	store_close(s);
	must_refuse(true, ERR_LOCAL_STORE, "has no object in it");
}

static void test_of_another_program(void **state)
{
	(void)state;
	make_store();
	run_sql("PRAGMA user_version=3");
	must_refuse(true, ERR_SYSTEM, "has schema 3");
	assert_int_equal(unlink(path), 0);
	assert_true(file_write_atomic(path, slice_of("this was never a database"), 0600, NULL));
	must_refuse(true, ERR_LOCAL_STORE, "not a database");
}

/* Schema 1 had no table of deleted objects and no user_version. */
static void test_the_schema_before(void **state)
{
	struct err err = { 0 };
	(void)state;
	make_store();
	run_sql("DROP TABLE deleted; PRAGMA user_version=0; INSERT INTO meta VALUES ('schema','1')");
	struct store *s = try_open(true, &err);
	if (!s)
		fail_msg("%s", err.msg);
	assert_int_equal(store_count(s, KIND_LEASE), 199);
	assert_false(store_was_deleted(s, "u7"));
	store_close(s);
}

static bool keep_some(void *arg, const char *uid)
{
	return strcmp(uid, arg) == 0;
}

static void test_what_was_deleted_is_known(void **state)
{
	struct err err = { 0 };
	char kept[] = "u8";
	(void)state;
	make_store();
	struct store *s = try_open(true, &err);
	assert_true(store_was_deleted(s, "u7"));
	assert_false(store_was_deleted(s, "u8"));
	assert_true(store_remove(s, store_get(s, KIND_LEASE, "a", "n8"), &err));
	store_forget_deleted(s, keep_some, kept);
	assert_false(store_was_deleted(s, "u7"));
	assert_true(store_was_deleted(s, "u8"));
	store_close(s);
}

static void test_the_counter_never_goes_back(void **state)
{
	struct err err = { 0 };
	(void)state;
	make_store();
	run_sql("DELETE FROM meta WHERE key='revision'");
	struct store *s = try_open(true, &err);
	assert_int_equal(store_revision(s), 200);
	store_close(s);
}

/* ---- what is not written ---- */

static cJSON *lease(const char *spec)
{
	char text[512];
	snprintf(text, sizeof text,
		"{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\",\"uid\":\"c\"},\"spec\":%s}",
		spec);
	cJSON *json = cJSON_Parse(text);
	if (!json)
		fail_msg("%s", text);
	return json;
}

static void must_not_write(struct store *s, cJSON *json, const char *words)
{
	struct err err = { 0 };
	int64_t rv = store_revision(s);
	assert_null(store_write(s, KIND_LEASE, json, &err));
	if (!strstr(err.msg, words))
		fail_msg("%s", err.msg);
	assert_true(err.code == ERR_KUBE_INVALID || err.code == ERR_KUBE_TOO_LARGE);
	assert_int_equal(store_revision(s), rv);
	assert_int_equal(store_count(s, KIND_LEASE), 0);
}

static void test_what_cannot_be_read_is_not_written(void **state)
{
	struct err err = { 0 };
	(void)state;
	struct store *s = try_open(false, &err);
	must_not_write(s, lease("{\"n\":1e999}"), "out of range");
	must_not_write(s, lease("{\"n\":-1e999}"), "out of range");
	cJSON *json = lease("{}");
	cJSON_AddNumberToObject(json, "nan", NAN);
	must_not_write(s, json, "out of range");
	must_not_write(s, lease("{\"a\":1,\"b\":2,\"a\":3}"), "\"a\" is there twice");
	must_not_write(s, lease("{\"a\":\"\xff\"}"), "UTF-8");
	must_not_write(s, lease("{\"\xc0\x80\":1}"), "UTF-8");
	must_not_write(s, cJSON_Parse("{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\"}}"),
		"metadata.uid is missing");
	must_not_write(s, cJSON_Parse("{\"metadata\":{\"namespace\":\"a\",\"uid\":\"b\"}}"),
		"metadata.name is missing");
	must_not_write(s, cJSON_Parse("{\"metadata\":{\"name\":\"a\",\"uid\":\"b\"}}"),
		"metadata.namespace is missing");
	json = lease("{}");
	cJSON *at = json;
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		at = cJSON_AddObjectToObject(at, "d");
	must_not_write(s, json, "nested deeper");
	json = lease("{}");
	char *large = malloc(JSON_MAX_BYTES + 1);
	assert_non_null(large);
	memset(large, 'x', JSON_MAX_BYTES);
	large[JSON_MAX_BYTES] = '\0';
	cJSON_AddStringToObject(json, "large", large);
	free(large);
	must_not_write(s, json, "more than");
	store_close(s);
}

static void test_a_patch_adds_no_depth_without_end(void **state)
{
	struct err err = { 0 };
	char at[4 * 64 + 8] = "";
	(void)state;
	cJSON *doc = cJSON_Parse("{}"), *ops = cJSON_CreateArray();
	for (int i = 0; i < 63; i++) {
		cJSON *op = cJSON_CreateObject();
		size_t n = strlen(at);
		snprintf(at + n, sizeof at - n, "/d");
		cJSON_AddStringToObject(op, "op", "add");
		cJSON_AddStringToObject(op, "path", at);
		cJSON_AddItemToObject(op, "value", cJSON_CreateObject());
		cJSON_AddItemToArray(ops, op);
	}
	assert_true(store_patch_json(&doc, ops, &err));
	cJSON *op = cJSON_CreateObject();
	size_t end = strlen(at);
	snprintf(at + end, sizeof at - end, "/d");
	cJSON_AddStringToObject(op, "op", "add");
	cJSON_AddStringToObject(op, "path", at);
	cJSON_AddItemToObject(op, "value", cJSON_CreateObject());
	cJSON *more = cJSON_CreateArray();
	cJSON_AddItemToArray(more, op);
	assert_false(store_patch_json(&doc, more, &err));
	assert_int_equal(err.code, ERR_KUBE_INVALID);
	/* a copy of everything into itself doubles the depth */
	cJSON_Delete(more);
	more = cJSON_Parse("[{\"op\":\"copy\",\"from\":\"/d\",\"path\":\"/d/d/e\"}]");
	assert_false(store_patch_json(&doc, more, &err));
	cJSON_Delete(more);
	cJSON_Delete(ops);
	cJSON_Delete(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_damaged_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_damaged_page, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_truncated_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_missing_or_empty_store, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_another_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_schema_before, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_was_deleted_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_counter_never_goes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_cannot_be_read_is_not_written, setup, teardown),
		cmocka_unit_test(test_a_patch_adds_no_depth_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
