// SPDX-License-Identifier: Apache-2.0
// The order of a collection: whatever comes, changes and goes, it equals a fresh sort of what is there.
#include "tests/unit/unit.h"

#include "engine/base/mem.h"
#include "engine/fleet/kind.h"
#include "engine/resource/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 400 };

static struct fleet_row rows[ROWS];
static bool is_there[ROWS];
static char names[ROWS][32];

static void make(int i, const char *namespace_, enum fleet_state state, int restarts)
{
	struct fleet_row *row = &rows[i];
	memset(row, 0, sizeof *row);
	snprintf(row->uid, sizeof row->uid, "uid-%04d", i);
	snprintf(names[i], sizeof names[i], "box-%04d", (i * 7919) % ROWS);
	row->namespace_ = namespace_;
	row->claim = names[i];
	row->sandbox = row->pod = row->pool = row->template_ = row->node = row->why = "";
	row->pod_ip = row->service_fqdn = row->created_by = row->runtime_class = row->next =
		row->labels = "";
	row->state = state;
	row->restarts = restarts;
	row->created_ms = 1000 * ((i * 31) % 50);
	is_there[i] = true;
}

static const void *row_of(void *arg, const char *uid)
{
	int i;
	(void)arg;
	if (sscanf(uid, "uid-%d", &i) != 1 || i < 0 || i >= ROWS || !is_there[i])
		return NULL;
	return &rows[i];
}

static int column(const char *name)
{
	return resource_find_column(&fleet_sandbox_kind, name);
}

static struct resource_collection *filled(void)
{
	struct resource_collection *index =
		resource_collection_new(&fleet_sandbox_kind, row_of, NULL);
	for (int i = 0; i < ROWS; i++) {
		make(i, i % 3 ? "default" : "other", i % 5 ? FLEET_READY : FLEET_FAILED, i % 4);
		resource_collection_update(index, rows[i].uid, &rows[i]);
	}
	return index;
}

/* The same rows in a new index, sorted in one go. */
static void expect_as_fresh(struct resource_collection *index)
{
	struct resource_collection *fresh =
		resource_collection_new(&fleet_sandbox_kind, row_of, NULL);
	resource_collection_filter(fresh, resource_collection_filter_text(index));
	resource_collection_begin(fresh);
	for (int i = 0; i < ROWS; i++)
		if (is_there[i])
			resource_collection_update(fresh, rows[i].uid, &rows[i]);
	resource_collection_end(fresh);
	resource_collection_sort(fresh, resource_collection_column(index),
		resource_collection_is_reversed(index));
	assert_int_equal(resource_collection_count(index), resource_collection_count(fresh));
	for (size_t i = 0; i < resource_collection_count(index); i++) {
		assert_string_equal(
			resource_collection_at(index, i), resource_collection_at(fresh, i));
		assert_int_equal(
			resource_collection_find(index, resource_collection_at(index, i)), i);
	}
	resource_collection_free(fresh);
}

static void test_any_order_of_changes_ends_sorted(void **state)
{
	static const char *const columns[] = { "name", "namespace", "state", "age", "expires",
		"restarts" };
	(void)state;
	for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
		struct resource_collection *index = filled();
		unsigned seed = 17;
		resource_collection_sort(index, column(columns[c]), c % 2);
		for (int step = 0; step < 3000; step++) {
			seed = seed * 1103515245U + 12345U;
			int i = (int)(seed >> 16) % ROWS;
			if ((seed >> 8) % 3 == 0) {
				is_there[i] = false;
				resource_collection_update(index, rows[i].uid, NULL);
			} else {
				make(i, (seed >> 9) % 2 ? "default" : "other",
					(enum fleet_state)((seed >> 4) % FLEET_WARM),
					(int)((seed >> 5) % 9));
				resource_collection_update(index, rows[i].uid, &rows[i]);
			}
		}
		expect_as_fresh(index);
		resource_collection_free(index);
	}
}

static void test_a_batch_gives_the_same(void **state)
{
	struct resource_collection *index = filled();
	(void)state;
	resource_collection_begin(index);
	for (int i = 0; i < ROWS; i += 2) {
		is_there[i] = false;
		resource_collection_update(index, rows[i].uid, NULL);
	}
	for (int i = 1; i < ROWS; i += 4) {
		make(i, "third", FLEET_PENDING, 0);
		resource_collection_update(index, rows[i].uid, &rows[i]);
	}
	resource_collection_end(index);
	assert_int_equal(resource_collection_count(index), ROWS / 2);
	expect_as_fresh(index);
	resource_collection_free(index);
}

static void test_filters_narrow_and_widen(void **state)
{
	static const char *const texts[] = { "b", "bo", "box-00", "box-0", "", "state:fail",
		"state:failed box-0", "!state:failed", "!state:fail", "ns:other",
		"nothing like it", "STATE:READY ns:def" };
	struct resource_collection *index = filled();
	(void)state;
	resource_collection_sort(index, column("restarts"), true);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		resource_collection_filter(index, texts[i]);
		expect_as_fresh(index);
	}
	resource_collection_filter(index, "state:failed");
	assert_int_equal(resource_collection_count(index), ROWS / 5);
	resource_collection_filter(index, "state:"); /* still being typed */
	assert_int_equal(resource_collection_count(index), ROWS);
	resource_collection_free(index);
}

static void test_namespace_and_warm(void **state)
{
	struct resource_collection *index = filled();
	(void)state;
	resource_collection_namespace(index, "other");
	assert_int_equal(resource_collection_count(index), (ROWS + 2) / 3);
	resource_collection_namespace(index, "");
	assert_int_equal(resource_collection_count(index), ROWS);
	make(3, "default", FLEET_WARM, 0);
	resource_collection_update(index, rows[3].uid, &rows[3]);
	assert_int_equal(resource_collection_count(index), ROWS - 1);
	assert_int_equal(resource_collection_find(index, rows[3].uid), RESOURCE_NOWHERE);
	resource_collection_show_aside(index, true);
	assert_int_equal(resource_collection_count(index), ROWS);
	resource_collection_free(index);
}

static void test_marks_follow_the_uid(void **state)
{
	struct resource_collection *index = filled();
	const char *uids[ROWS];
	(void)state;
	resource_collection_mark(index, "uid-0005", true);
	resource_collection_mark(index, "uid-0006", true);
	resource_collection_mark(index, "uid-0006", true);
	resource_collection_mark(index, "no-such", true);
	assert_int_equal(resource_collection_marked_count(index), 2);
	resource_collection_sort(index, column("age"), true);
	make(5, "moved", FLEET_FAILED, 99);
	resource_collection_update(index, rows[5].uid, &rows[5]);
	assert_true(resource_collection_is_marked(index, "uid-0005"));
	is_there[6] = false;
	resource_collection_update(index, "uid-0006", NULL);
	assert_int_equal(resource_collection_marked_count(index), 1);
	assert_int_equal(resource_collection_marked(index, uids, ROWS), 1);
	assert_string_equal(uids[0], "uid-0005");
	resource_collection_filter(index, "ns:other");
	resource_collection_mark_shown(index, true);
	resource_collection_filter(index, "");
	assert_int_equal(resource_collection_marked(index, uids, 3), 3);
	resource_collection_unmark_all(index);
	assert_int_equal(resource_collection_marked_count(index), 0);
	resource_collection_free(index);
}

static bool is_marked[ROWS];

static void mark(struct resource_collection *index, int i, bool on)
{
	resource_collection_mark(index, rows[i].uid, on);
	is_marked[i] = on && is_there[i];
}

static void expect_marks(struct resource_collection *index)
{
	size_t n = 0;
	const char *uids[ROWS];
	for (int i = 0; i < ROWS; i++) {
		assert_int_equal(
			resource_collection_is_marked(index, rows[i].uid), is_marked[i]);
		n += is_marked[i];
	}
	assert_int_equal(resource_collection_marked_count(index), n);
	assert_int_equal(resource_collection_marked(index, uids, ROWS), n);
	for (size_t i = 0; i < n; i++) {
		int row;
		assert_int_equal(sscanf(uids[i], "uid-%d", &row), 1);
		assert_true(is_marked[row]);
	}
}

/* Changes, marks, filters, orders and batches in any order. */
static void test_everything_at_once(void **state)
{
	static const char *const columns[] = { "name", "state", "restarts", "age" };
	static const char *const filters[] = { "", "box-0", "box-00", "!state:failed",
		"ns:other box" };
	(void)state;
	for (unsigned seed = 1; seed < 6; seed++) {
		struct resource_collection *index = filled();
		unsigned dice = seed;
		memset(is_marked, 0, sizeof is_marked);
		for (int step = 0; step < 4000; step++) {
			dice = dice * 1103515245U + 12345U;
			int i = (int)(dice >> 16) % ROWS, what = (int)(dice >> 8) % 64;
			if (what < 12) {
				is_there[i] = is_marked[i] = false;
				resource_collection_update(index, rows[i].uid, NULL);
			} else if (what < 48) {
				make(i, what % 2 ? "default" : "other",
					(enum fleet_state)(what % FLEET_WARM), what % 9);
				resource_collection_update(index, rows[i].uid, &rows[i]);
			} else if (what < 60) {
				mark(index, i, what % 3);
			} else if (what == 60) {
				resource_collection_sort(index, column(columns[i % 4]), i % 2);
			} else if (what == 61) {
				resource_collection_filter(index, filters[i % 5]);
			} else if (what == 62) {
				resource_collection_resort(index);
			} else if (i % 8 == 0) {
				resource_collection_unmark_all(index);
				memset(is_marked, 0, sizeof is_marked);
			}
			if (step % 500 == 0) {
				expect_as_fresh(index);
				expect_marks(index);
			}
		}
		expect_as_fresh(index);
		expect_marks(index);
		resource_collection_free(index);
	}
}

/* As what pods use does: the row is the same, what it says is not. */
static void test_a_resort_looks_at_every_row(void **state)
{
	struct resource_collection *index = filled();
	(void)state;
	resource_collection_sort(index, column("restarts"), false);
	for (int i = 0; i < ROWS; i++)
		rows[i].restarts = (i * 37) % 101;
	resource_collection_resort(index);
	expect_as_fresh(index);
	resource_collection_free(index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order_of_changes_ends_sorted),
		cmocka_unit_test(test_a_batch_gives_the_same),
		cmocka_unit_test(test_filters_narrow_and_widen),
		cmocka_unit_test(test_namespace_and_warm),
		cmocka_unit_test(test_marks_follow_the_uid),
		cmocka_unit_test(test_everything_at_once),
		cmocka_unit_test(test_a_resort_looks_at_every_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
