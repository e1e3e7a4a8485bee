// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "local/server/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cJSON *lease(const char *ns, const char *name, int n)
{
	char text[256];
	snprintf(text, sizeof text,
		"{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"%s-%s\"},"
		"\"spec\":{\"n\":%d}}",
		ns, name, ns, name, n);
	return cJSON_Parse(text);
}

static struct store_object *put(struct store *s, const char *ns, const char *name, int n)
{
	struct err err = { 0 };
	struct store_object *o = store_write(s, KIND_LEASE, lease(ns, name, n), &err);
	if (!o)
		fail_msg("%s", err.msg);
	return o;
}

static struct store *open_store(const char *path, size_t history)
{
	struct err err = { 0 };
	struct store_opts opts = { .path = path, .history_max = history };
	struct store *s = store_open(&opts, &err);
	if (!s)
		fail_msg("%s", err.msg);
	return s;
}

static int64_t number(const struct store_object *o)
{
	return json_int(o->json, -1, "spec", "n", NULL);
}

static void test_versions_and_order(void **state)
{
	struct store *s = open_store(NULL, 0);
	(void)state;
	assert_int_equal(store_revision(s), 0);
	put(s, "b", "x", 1);
	put(s, "a", "z", 2);
	put(s, "a", "a", 3);
	assert_int_equal(put(s, "b", "x", 4)->rv, 4);
	assert_int_equal(store_revision(s), 4);
	assert_int_equal(store_count(s, KIND_LEASE), 3);
	assert_string_equal(store_at(s, KIND_LEASE, 0)->name, "a");
	assert_string_equal(store_at(s, KIND_LEASE, 1)->name, "z");
	assert_string_equal(store_at(s, KIND_LEASE, 2)->ns, "b");
	assert_int_equal(number(store_get(s, KIND_LEASE, "b", "x")), 4);
	assert_string_equal(json_str(store_get(s, KIND_LEASE, "b", "x")->json, "metadata",
				    "resourceVersion", NULL),
		"4");
	assert_null(store_get(s, KIND_POD, "b", "x"));
	assert_int_equal(number(store_by_uid(s, "a-a")), 3);
	assert_null(store_by_uid(s, "nobody"));
	store_close(s);
}

static void test_lists_of_the_past(void **state)
{
	struct store *s = open_store(NULL, 0);
	size_t n;
	(void)state;
	put(s, "a", "one", 1);                                                    /* 1 */
	put(s, "a", "two", 1);                                                    /* 2 */
	put(s, "a", "one", 2);                                                    /* 3 */
	assert_true(store_remove(s, store_get(s, KIND_LEASE, "a", "two"), NULL)); /* 4 */
	put(s, "b", "three", 1);                                                  /* 5 */
	struct store_object **v = store_list(s, KIND_LEASE, NULL, 2, &n);
	assert_int_equal(n, 2);
	assert_int_equal(number(v[0]), 1);
	assert_string_equal(v[1]->name, "two");
	store_list_free(v, n);
	v = store_list(s, KIND_LEASE, NULL, 3, &n);
	assert_int_equal(n, 2);
	assert_int_equal(number(v[0]), 2);
	store_list_free(v, n);
	v = store_list(s, KIND_LEASE, "a", 5, &n);
	assert_int_equal(n, 1);
	store_list_free(v, n);
	v = store_list(s, KIND_LEASE, NULL, 0, &n);
	assert_non_null(v);
	assert_int_equal(n, 0);
	store_list_free(v, n);
	assert_null(store_by_uid(s, "a-two"));
	store_close(s);
}

static void test_compaction(void **state)
{
	struct store *s = open_store(NULL, 4);
	size_t n;
	(void)state;
	for (int i = 0; i < 10; i++)
		put(s, "a", "one", i);
	assert_int_equal(store_change_count(s), 4);
	assert_int_equal(store_compacted(s), 6);
	assert_int_equal(store_change_at(s, 0)->rv, 7);
	assert_int_equal(store_change_index(s, 8), 2);
	assert_int_equal(store_change_index(s, 10), 4);
	assert_null(store_list(s, KIND_LEASE, NULL, 5, &n));
	assert_true(n == SIZE_MAX);
	struct store_object **v = store_list(s, KIND_LEASE, NULL, 6, &n);
	assert_int_equal(number(v[0]), 5);
	store_list_free(v, n);
	store_compact(s, 9);
	assert_int_equal(store_compacted(s), 9);
	assert_int_equal(store_change_count(s), 1);
	store_close(s);
}

struct seen {
	int n;
	enum store_change_type last;
	int64_t before, now;
};

static void on_change(void *arg, const struct store_change *c)
{
	struct seen *seen = arg;
	seen->n++;
	seen->last = c->type;
	seen->before = c->before ? number(c->before) : -1;
	seen->now = c->now->rv;
}

static void test_listeners(void **state)
{
	struct store *s = open_store(NULL, 0);
	struct seen seen = { 0 };
	(void)state;
	store_listen(s, on_change, &seen);
	put(s, "a", "one", 7);
	assert_int_equal(seen.last, CHANGE_ADDED);
	assert_int_equal(seen.before, -1);
	put(s, "a", "one", 8);
	assert_int_equal(seen.last, CHANGE_MODIFIED);
	assert_int_equal(seen.before, 7);
	store_remove(s, store_get(s, KIND_LEASE, "a", "one"), NULL);
	assert_int_equal(seen.last, CHANGE_DELETED);
	assert_int_equal(seen.now, 3);
	assert_int_equal(seen.n, 3);
	store_close(s);
}

static void test_reopen(void **state)
{
	char dir[] = "/tmp/sandmux-store-XXXXXX", path[64], other[80];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/objects.db", dir);
	struct store *s = open_store(path, 0);
	put(s, "a", "one", 1);
	put(s, "a", "two", 2);
	store_remove(s, store_get(s, KIND_LEASE, "a", "one"), NULL);
	assert_true(store_meta_set(s, "key", "value", NULL));
	store_close(s);
	s = open_store(path, 0);
	assert_int_equal(store_revision(s), 3);
	assert_int_equal(store_compacted(s), 3);
	assert_int_equal(store_count(s, KIND_LEASE), 1);
	assert_int_equal(number(store_by_uid(s, "a-two")), 2);
	char *value = store_meta_get(s, "key");
	assert_string_equal(value, "value");
	free(value);
	assert_true(store_meta_set(s, "key", NULL, NULL));
	assert_null(store_meta_get(s, "key"));
	assert_int_equal(put(s, "a", "one", 1)->rv, 4);
	store_close(s);
	struct err err = { 0 };
	struct store_opts opts = { .path = path };
	snprintf(other, sizeof other, "%s/missing/objects.db", dir);
	opts.path = other;
	assert_null(store_open(&opts, &err));
	static const char *const files[] = { "", "-wal", "-shm" };
	for (int i = 0; i < 3; i++) {
		snprintf(other, sizeof other, "%s%s", path, files[i]);
		unlink(other);
	}
	rmdir(dir);
}

/* The same name with another UID: the old UID leads nowhere any more. */
static void test_a_new_uid_replaces_the_old_one(void **state)
{
	struct store *s = open_store(NULL, 0);
	struct err err = { 0 };
	(void)state;
	put(s, "a", "one", 1);
	cJSON *json = lease("a", "one", 2);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "metadata");
	cJSON_ReplaceItemInObjectCaseSensitive(metadata, "uid", cJSON_CreateString("other"));
	assert_non_null(store_write(s, KIND_LEASE, json, &err));
	assert_null(store_by_uid(s, "a-one"));
	assert_int_equal(number(store_by_uid(s, "other")), 2);
	assert_int_equal(store_count(s, KIND_LEASE), 1);
	assert_true(store_remove(s, store_get(s, KIND_LEASE, "a", "one"), &err));
	assert_null(store_by_uid(s, "other"));
	store_close(s);
}

static void test_limit(void **state)
{
	struct err err = { 0 };
	struct store_opts opts = { .max_objects = 2 };
	struct store *s = store_open(&opts, &err);
	(void)state;
	put(s, "a", "one", 1);
	put(s, "a", "two", 1);
	assert_null(store_write(s, KIND_LEASE, lease("a", "three", 1), &err));
	assert_int_equal(err.code, ERR_KUBE_QUOTA);
	assert_int_equal(store_revision(s), 2);
	put(s, "a", "two", 2);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions_and_order),
		cmocka_unit_test(test_lists_of_the_past),
		cmocka_unit_test(test_compaction),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_reopen),
		cmocka_unit_test(test_a_new_uid_replaces_the_old_one),
		cmocka_unit_test(test_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
