// SPDX-License-Identifier: Apache-2.0
// A collection that follows a source has its rows, whatever came in between, and keeps its marks.
#include "tests/unit/unit.h"

#include "engine/resource/source.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3000 };

struct thing {
	char uid[16], name[16];
	bool is_there;
	uint64_t revision;
};
struct things {
	struct thing rows[ROWS];
	uint64_t revision, forgotten;
	int n_each;
};

static struct resource_value name(const void *row)
{
	return (struct resource_value){ ((const struct thing *)row)->name, 0, true };
}

static const struct resource_column columns[] = {
	{ .title = "NAME", .name = "name", .value = name }
};
static const int shown[] = { 0, RESOURCE_NONE };
static const struct resource_kind kind = { .name = "things",
	.singular = "thing",
	.columns = columns,
	.n_columns = 1,
	.name_column = 0,
	.namespace_column = RESOURCE_NONE,
	.screen = shown };

static uint64_t revision(const void *self)
{
	return ((const struct things *)self)->revision;
}

static const void *find(const void *self, const char *uid)
{
	const struct things *things = self;
	for (size_t i = 0; i < ROWS; i++)
		if (things->rows[i].is_there && strcmp(things->rows[i].uid, uid) == 0)
			return &things->rows[i];
	return NULL;
}

static void each(const void *self, resource_change_fn *fn, void *arg)
{
	const struct things *things = self;
	((struct things *)(uintptr_t)self)->n_each++;
	for (size_t i = 0; i < ROWS; i++)
		if (things->rows[i].is_there)
			fn(arg, things->rows[i].uid, &things->rows[i]);
}

static void changes(const void *self, uint64_t since, resource_change_fn *fn, void *arg)
{
	const struct things *things = self;
	if (since < things->forgotten) {
		fn(arg, NULL, NULL);
		return;
	}
	for (size_t i = 0; i < ROWS; i++)
		if (things->rows[i].revision > since)
			fn(arg, things->rows[i].uid,
				things->rows[i].is_there ? &things->rows[i] : NULL);
}

static const struct resource_source_ops ops = { revision, find, each, changes };

static void set(struct things *things, size_t i, bool is_there, const char *prefix)
{
	struct thing *row = &things->rows[i];
	row->is_there = is_there;
	row->revision = ++things->revision;
	snprintf(row->uid, sizeof row->uid, "u%zu", i);
	snprintf(row->name, sizeof row->name, "%s-%04zu", prefix, i);
}

static const void *row_of(void *arg, const char *uid)
{
	return find(arg, uid);
}

static void check(const struct things *things, const struct resource_collection *rows)
{
	size_t n = 0;
	for (size_t i = 0; i < ROWS; i++)
		n += things->rows[i].is_there;
	assert_int_equal(resource_collection_count(rows), n);
	for (size_t i = 0; i + 1 < n; i++) {
		const struct thing *a = find(things, resource_collection_at(rows, i));
		const struct thing *b = find(things, resource_collection_at(rows, i + 1));
		assert_non_null(a);
		assert_true(strcmp(a->name, b->name) < 0);
	}
}

static void test_follows(void **state)
{
	static struct things things;
	struct resource_source source = { &ops, &things }, none = { &ops, NULL };
	struct resource_follower follower = { 0 };
	struct resource_collection *rows = resource_collection_new(&kind, row_of, &things);
	(void)state;
	for (size_t i = 0; i < 50; i++)
		set(&things, i, true, "a");
	assert_true(resource_follower_is_behind(&follower, &source));
	assert_true(resource_follow(&follower, &source, rows));
	check(&things, rows);
	assert_false(resource_follower_is_behind(&follower, &source));
	assert_false(resource_follow(&follower, &source, rows));
	assert_int_equal(things.n_each, 1);

	resource_collection_mark(rows, "u7", true);
	set(&things, 3, false, "a");
	set(&things, 4, true, "z");
	assert_true(resource_follow(&follower, &source, rows)); /* change by change */
	check(&things, rows);
	for (size_t i = 0; i < ROWS; i++)
		set(&things, i, i % 3 != 0, "b");
	assert_true(resource_follow(&follower, &source, rows)); /* as one sort */
	check(&things, rows);
	assert_int_equal(things.n_each, 1);
	assert_true(resource_collection_is_marked(rows, "u7"));

	set(&things, 5, false, "b");
	set(&things, 6, true, "c");
	things.forgotten = things.revision; /* too far behind: whole */
	assert_true(resource_follow(&follower, &source, rows));
	check(&things, rows);
	assert_int_equal(things.n_each, 2);
	assert_true(resource_collection_is_marked(rows, "u7"));
	assert_int_equal(resource_collection_marked_count(rows), 1);

	assert_true(resource_follow(&follower, &none, rows));
	assert_int_equal(resource_collection_total(rows), 0);
	assert_null(resource_source_find(&none, "u7"));
	assert_false(resource_follow(&follower, &none, rows));
	assert_true(resource_follow(&follower, &source, rows));
	check(&things, rows);
	resource_collection_free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_follows) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
