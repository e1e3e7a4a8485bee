// SPDX-License-Identifier: Apache-2.0
/* What becomes of two readings of a counter, from a cgroup and from the looks at memory. */
#include "tests/unit/local/server/usage.h"

#define MS ((uint64_t)1000000)

static const struct store_sample *sample_of(struct world *w, const char *uid)
{
	return store_samples_get(&w->server.samples, uid);
}

static void test_from_its_cgroup(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r = add_run(w, 0, "", "");
	int64_t begin = now_ms;
	group_cpu_ns = 700 * MS;
	group_memory = 5 * MI;
	kubelet_metrics_tick(w->c);
	assert_null(sample_of(w, "pod-0"));
	/* the first one soon */
	at_ms(begin + 2000);
	group_cpu_ns += 500 * MS;
	kubelet_metrics_tick(w->c);
	const struct store_sample *s = sample_of(w, "pod-0");
	assert_non_null(s);
	assert_int_equal(s->cpu_nano, 250 * MS); /* half a second in two */
	assert_int_equal(s->window_ms, 2000);
	assert_int_equal(s->memory_bytes, 5 * MI);
	assert_int_equal(s->at_ns, now_ms * (int64_t)MS);
	assert_false(s->has_disk);
	/* then every five seconds */
	group_memory = 7 * MI;
	at_ms(begin + 6000);
	kubelet_metrics_tick(w->c);
	assert_int_equal(sample_of(w, "pod-0")->memory_bytes, 5 * MI);
	r->usage.is_tree_known = true;
	r->usage.last.bytes = 12345;
	at_ms(begin + 7000);
	kubelet_metrics_tick(w->c);
	s = sample_of(w, "pod-0");
	assert_int_equal(s->memory_bytes, 7 * MI);
	assert_int_equal(s->cpu_nano, 0);
	assert_int_equal(s->window_ms, 5000);
	assert_true(s->has_disk);
	assert_int_equal(s->disk_bytes, 12345);
	/* a new run begins anew */
	kubelet_run_usage_begin(r);
	assert_null(sample_of(w, "pod-0"));
	group_cpu_ns = 1;
	kubelet_metrics_tick(w->c);
	assert_null(sample_of(w, "pod-0"));
	at_ms(now_ms + 2000);
	kubelet_metrics_tick(w->c);
	assert_int_equal(sample_of(w, "pod-0")->cpu_nano, 0);
	kubelet_run_usage_end(r);
	assert_null(sample_of(w, "pod-0"));
}

static void test_from_its_processes(void **state)
{
	struct world *w = *state;
	add_run(w, 0, "", "");
	group_counts = false;
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(0), "memory p0 tree p0 ");
	found(0, (struct isolation_usage){ .cpu_ns = 100 * MS, .began_ms = now_ms - 20 });
	assert_null(sample_of(w, "pod-0"));
	at_ms(now_ms + 1000);
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 2);
	at_ms(now_ms + 1000);
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(2), "memory p0 ");
	/* the window is between the readings, not between the answers */
	found(2,
		(struct isolation_usage){
			.cpu_ns = 300 * MS, .began_ms = now_ms - 520, .memory_bytes = 3 * MI });
	const struct store_sample *s = sample_of(w, "pod-0");
	assert_int_equal(s->window_ms, 1500);
	assert_int_equal(s->cpu_nano, 200 * MS / 1500 * 1000);
	assert_int_equal(s->memory_bytes, 3 * MI);
	assert_int_equal(s->at_ns, (now_ms - 520) * (int64_t)MS);
	at_ms(now_ms + 9999);
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 3);
	at_ms(now_ms + 1);
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(3), "memory p0 ");
	/* a process went and took what it had used with it: no time runs backwards */
	found(3, (struct isolation_usage){ .cpu_ns = 50 * MS, .began_ms = now_ms });
	assert_int_equal(sample_of(w, "pod-0")->cpu_nano, 0);
}

static void test_the_node(void **state)
{
	struct world *w = *state;
	kubelet_metrics_tick(w->c);
	assert_null(sample_of(w, ""));
	at_ms(now_ms + 1000);
	kubelet_metrics_tick(w->c);
	const struct store_sample *s = sample_of(w, "");
	assert_non_null(s);
	assert_int_equal(s->window_ms, 1000);
	assert_true(s->memory_bytes > 0 && s->memory_bytes < kubelet_limits_machine_memory());
}

static int end(void **state)
{
	struct world *w = *state;
	store_samples_deinit(&w->server.samples);
	return tear_down(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, end)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_from_its_cgroup),
		TEST(test_from_its_processes), TEST(test_the_node) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
