// SPDX-License-Identifier: Apache-2.0
// The last minutes of a pod, and the table of them: what is kept, what is another pod's, what is too old.
#include "tests/unit/unit.h"

#include "engine/usage/table.h"

#include <stdlib.h>
#include <string.h>

enum { START_S = 1000, GAP_S = 100, MIB = 1 << 20 };

static struct usage_sample at(uint32_t at_s, uint32_t cpu_milli, int64_t memory_bytes)
{
	return (struct usage_sample){ at_s, cpu_milli, memory_bytes, -1 };
}

static bool add(struct usage_series *series, uint32_t at_s, uint32_t cpu, int64_t memory)
{
	struct usage_sample sample = at(at_s, cpu, memory);
	return usage_series_add(series, &sample, GAP_S);
}

static void the_last_are_kept_in_order(void **state)
{
	struct usage_series series = { 0 };
	int64_t out[USAGE_HISTORY];
	(void)state;
	assert_int_equal(usage_series_history(&series, USAGE_CPU, out, USAGE_HISTORY), 0);
	for (uint32_t i = 0; i < USAGE_HISTORY + 5; i++)
		assert_true(add(&series, START_S + 15 * i, i % 8, 0));
	assert_int_equal(
		usage_series_history(&series, USAGE_CPU, out, USAGE_HISTORY), USAGE_HISTORY);
	for (int i = 0; i < USAGE_HISTORY; i++)
		assert_int_equal(out[i], (i + 5) % 8);
	assert_int_equal(usage_series_history(&series, USAGE_CPU, out, 3), 3);
	assert_int_equal(out[2], (USAGE_HISTORY + 4) % 8);
	assert_int_equal(usage_series_history(&series, USAGE_DISK, out, USAGE_HISTORY), 0);
}

/* Every size comes back right to a sixteenth, the last one exactly. */
static void what_comes_back_is_near(void **state)
{
	int64_t out[1];
	(void)state;
	for (int64_t value = 0; value < (int64_t)1 << 31; value = value * 9 / 8 + 1) {
		struct usage_series series = { 0 };
		assert_true(add(&series, START_S, (uint32_t)value, value * 1024));
		assert_int_equal(series.last.cpu_milli, value);
		assert_int_equal(series.last.memory_bytes, value * 1024);
		usage_series_history(&series, USAGE_CPU, out, 1);
		assert_in_range(llabs(out[0] - value) * 16, 0, value);
		usage_series_history(&series, USAGE_MEMORY, out, 1);
		assert_in_range(llabs(out[0] / 1024 - value) * 16, 0, value);
	}
	struct usage_series series = { 0 };
	assert_true(add(&series, START_S, UINT32_MAX, INT64_MAX));
	usage_series_history(&series, USAGE_MEMORY, out, 1);
	assert_true(out[0] >= (int64_t)1 << 42);
}

static void the_same_again_is_nothing_new(void **state)
{
	struct usage_series series = { 0 };
	(void)state;
	assert_true(add(&series, START_S, 1, 0));
	assert_false(add(&series, START_S, 2, 0));
	assert_false(add(&series, START_S - 1, 2, 0));
	assert_int_equal(series.last.cpu_milli, 1);
	assert_int_equal(series.n, 1);
}

static void a_gap_is_seen(void **state)
{
	struct usage_series series = { 0 };
	int64_t out[USAGE_HISTORY];
	(void)state;
	add(&series, START_S, 1, 0);
	add(&series, START_S + GAP_S, 2, 0);
	add(&series, START_S + 2 * GAP_S + 1, 3, 0);
	assert_int_equal(usage_series_history(&series, USAGE_CPU, out, USAGE_HISTORY), 4);
	assert_int_equal(out[1], 2);
	assert_int_equal(out[2], -1);
	assert_int_equal(out[3], 3);
	assert_int_equal(usage_series_history(&series, USAGE_MEMORY, out, USAGE_HISTORY), 4);
	assert_int_equal(out[2], -1);
}

static void another_pod_begins_anew(void **state)
{
	struct usage_series series = { 0 };
	(void)state;
	add(&series, START_S, 500, 0);
	usage_series_restart(&series, START_S + 5);
	assert_int_equal(series.n, 0);
	/* measured before, told after */
	assert_false(add(&series, START_S + 5, 500, 0));
	assert_true(add(&series, START_S + 6, 7, 0));
	assert_int_equal(series.last.cpu_milli, 7);
	assert_int_equal(series.n, 1);
}

/* A tick of a clock is no work; a file that grows is, also without CPU. */
static void how_long_nothing_happened(void **state)
{
	struct usage_series series = { 0 };
	struct usage_sample sample = { .at_s = 1000, .cpu_milli = 3, .disk_bytes = -1 };
	(void)state;
	assert_true(usage_series_add(&series, &sample, 60));
	assert_int_equal(usage_series_idle_s(&series), 0); /* nothing is known of before */
	for (sample.at_s = 1016; sample.at_s <= 1160; sample.at_s += 16)
		assert_true(usage_series_add(&series, &sample, 60));
	assert_int_equal(usage_series_idle_s(&series), 160);
	sample.at_s = 1180;
	sample.disk_bytes = 10; /* told from now on */
	assert_true(usage_series_add(&series, &sample, 60));
	assert_int_equal(usage_series_idle_s(&series), 176);
	sample.at_s = 1200;
	sample.disk_bytes = 11;
	assert_true(usage_series_add(&series, &sample, 60));
	assert_int_equal(usage_series_idle_s(&series), 0);
	sample.at_s = 1300;
	assert_true(usage_series_add(&series, &sample, 60));
	assert_true(usage_series_idle_s(&series) >= 96);
	sample.at_s = 1310;
	sample.cpu_milli = USAGE_IDLE_MILLI;
	assert_true(usage_series_add(&series, &sample, 60));
	assert_int_equal(usage_series_idle_s(&series), 0);
	sample.cpu_milli = 0;
	sample.at_s += 3000000; /* a month: it stays at its most */
	assert_true(usage_series_add(&series, &sample, 60));
	assert_int_equal(usage_series_idle_s(&series), 8 * UINT16_MAX);
}

static void a_table_knows_pods_by_namespace_and_name(void **state)
{
	struct usage_table *table = usage_table_new();
	struct usage_sample one = at(START_S, 1, MIB), two = at(START_S, 2, MIB);
	char longest[600];
	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	usage_table_set_now(table, START_S, 60);
	assert_true(usage_table_add(table, "a", "pod", &one));
	assert_true(usage_table_add(table, "b", "pod", &two));
	assert_false(usage_table_add(table, "b", "pod", &two));
	assert_false(usage_table_add(table, "a", "", &one));
	assert_false(usage_table_add(table, "a", longest, &one));
	assert_int_equal(usage_table_count(table), 2);
	assert_int_equal(usage_table_find(table, "a", "pod")->last.cpu_milli, 1);
	assert_int_equal(usage_table_find(table, "b", "pod")->last.cpu_milli, 2);
	assert_null(usage_table_find(table, "c", "pod"));
	assert_null(usage_table_find(table, "a", ""));
	assert_null(usage_table_find(table, "a", longest));
	uint64_t before = usage_table_revision(table);
	usage_table_restart(table, "a", "pod");
	assert_null(usage_table_find(table, "a", "pod"));
	assert_non_null(usage_table_find(table, "b", "pod"));
	assert_true(usage_table_revision(table) > before);
	usage_table_restart(table, "none", "pod");
	usage_table_free(table);
	usage_table_free(NULL);
}

static void what_is_old_is_not_known_and_then_forgotten(void **state)
{
	struct usage_table *table = usage_table_new();
	struct usage_sample one = at(START_S, 1, MIB);
	(void)state;
	usage_table_set_now(table, START_S, 60);
	usage_table_add(table, "a", "pod", &one);
	usage_table_set_now(table, START_S + 60, 60);
	assert_non_null(usage_table_find(table, "a", "pod"));
	usage_table_set_now(table, START_S + 61, 60);
	assert_null(usage_table_find(table, "a", "pod"));
	assert_int_equal(usage_table_count(table), 1); /* its history is kept for a while */
	usage_table_set_now(table, START_S + 3600, 60);
	assert_int_equal(usage_table_count(table), 0);
	usage_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_are_kept_in_order),
		cmocka_unit_test(what_comes_back_is_near),
		cmocka_unit_test(the_same_again_is_nothing_new),
		cmocka_unit_test(a_gap_is_seen),
		cmocka_unit_test(another_pod_begins_anew),
		cmocka_unit_test(how_long_nothing_happened),
		cmocka_unit_test(a_table_knows_pods_by_namespace_and_name),
		cmocka_unit_test(what_is_old_is_not_known_and_then_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
