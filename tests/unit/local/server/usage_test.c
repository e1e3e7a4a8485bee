// SPDX-License-Identifier: Apache-2.0
/* When the watch looks at what pods use, and what it makes of what it finds. */
#include "tests/unit/local/server/usage.h"

static void test_the_first_look(void **state)
{
	struct world *w = *state;
	has_group[CGROUP_MEMORY] = false;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/inodes':'77'}",
			",'resources':{'limits':{'memory':'1Gi'}}");
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(0), "memory p0 tree p0 ");
	for (int i = 0; i < 2; i++) {
		assert_string_equal(asked[i].where.workspace, "/state/volumes/vol-0");
		assert_int_equal(asked[i].where.daemon, DAEMON);
		assert_true(asked[i].where.is_isolated);
		assert_int_equal(asked[i].where.max_inodes, 77);
		assert_int_equal(asked[i].where.max_memory_bytes, GI);
	}
	assert_int_equal(r->usage.free_bytes, 100 * GI);
	assert_int_equal(r->usage.free_inodes, 1000000);
	assert_int_equal(r->usage.available_bytes, 8 * GI);
	/* one at a time */
	at_ms(now_ms + 1000000);
	ws.free = 0;
	available = 0;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 2);
	assert_int_equal(r->usage.available_bytes, 8 * GI);
	kubelet_run_usage_end(r);
	assert_false(asked[0].is_open || asked[1].is_open);
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 4);
}

static void test_who_is_not_looked_at(void **state)
{
	struct world *w = *state;
	has_group[CGROUP_MEMORY] = false;
	add_run(w, 0, "", "")->is_stopping = true;
	add_run(w, 1, "", "")->stopped_for = "OOMKilled";
	add_run(w, 2, "", "")->daemon = NULL;
	add_run(w, 3, "", "");
	world_remove(w, KIND_POD, "p3");
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 0);
	add_run(w, 4, "", "");
	daemon_pid = 0; /* not known yet */
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 0);
	daemon_pid = 1;
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(0), "memory p4 tree p4 ");
}

static void test_few_walks_at_the_same_time(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 6; i++)
		add_run(w, i, "", "");
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(0), "tree p0 tree p1 tree p2 tree p3 ");
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 4);
	found(1, (struct isolation_usage){ 0 });
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(4), "tree p4 ");
	found(0, (struct isolation_usage){ 0 });
	found(2, (struct isolation_usage){ 0 });
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(5), "tree p5 ");
}

static void test_a_look_that_fails(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };
	struct kubelet_run *r = add_run(w, 0, "", "");
	is_refused = true;
	kubelet_usage_tick(w->c);
	assert_null(r->usage.looks[LOOK_TREE].look);
	is_refused = false;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 1);
	err_set(&err, ERR_SYSTEM, "killed");
	asked[0].done(asked[0].arg, NULL, &err);
	assert_false(r->usage.is_tree_known);
	assert_null(r->stopped_for);
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(1), "tree p0 ");
}

/* What a look did not ask for stays as it was. */
static void test_what_is_kept_of_a_look(void **state)
{
	struct world *w = *state;
	has_group[CGROUP_MEMORY] = false;
	struct kubelet_run *r = add_run(w, 0, "", ",'resources':{'limits':{'memory':'1Gi'}}");
	kubelet_usage_tick(w->c);
	found(1, (struct isolation_usage){
			 .bytes = 5, .inodes = 6, .memory_bytes = 7, .took_ms = 8 });
	assert_int_equal(r->usage.last.memory_bytes, 0);
	assert_int_equal(r->usage.floor_bytes, 5);
	assert_int_equal(r->usage.looks[LOOK_TREE].ended_ms, now_ms);
	found(0, (struct isolation_usage){ .bytes = 50,
			 .inodes = 60,
			 .memory_bytes = 70,
			 .processes = 3,
			 .took_ms = 80,
			 .mounts[USAGE_TMP] = { 1, 2, 3 } });
	const struct isolation_usage *last = &r->usage.last;
	assert_int_equal(last->bytes, 5);
	assert_int_equal(last->inodes, 6);
	assert_int_equal(last->took_ms, 8);
	assert_int_equal(last->memory_bytes, 70);
	assert_int_equal(last->processes, 3);
	assert_int_equal(last->mounts[USAGE_TMP].inodes, 3);
	at_ms(now_ms + 30000);
	ws.free -= BLOCK;
	kubelet_usage_tick(w->c);
	assert_string_equal(looks_from(2), "memory p0 tree p0 ");
	found(3, (struct isolation_usage){ .bytes = 9, .memory_bytes = 1 });
	assert_int_equal(last->bytes, 9);
	assert_int_equal(last->memory_bytes, 70);
	assert_int_equal(r->usage.floor_bytes, 5); /* that of the first look */
}

static void test_when_a_workspace_is_looked_at(void **state)
{
	enum { LIMIT = 1000 * BLOCK };
	/* bytes and what is free in blocks; the limits are 1000 blocks and 100 inodes */
	static const struct {
		int64_t since, took, used, taken, inodes, inodes_taken;
		bool is_full, is_unknown, is_due;
	} rows[] = {
		{ .since = 999, .taken = 1000 },
		{ .since = 1000, .taken = 1000, .is_due = true },
		{ .since = 1000, .taken = 500, .is_due = true },
		{ .since = 1000, .taken = 499 },
		{ .since = 1000, .taken = 400, .used = 200, .is_due = true },
		{ .since = 1000, .taken = 399, .used = 200 },
		{ .since = 1000, .taken = 1, .used = 1000, .is_due = true },
		{ .since = 1000, .taken = 1, .used = 2000, .is_due = true },
		{ .since = 1000000, .taken = 0, .used = 2000 },
		{ .since = 1000, .taken = -900 },
		{ .since = 29999, .taken = -1 },
		{ .since = 30000, .taken = -1, .is_due = true },
		{ .since = 30000, .taken = 1, .is_due = true },
		{ .since = 29999, .taken = 1 },
		{ .since = 1199, .taken = 600, .took = 600 },
		{ .since = 1200, .taken = 600, .took = 600, .is_due = true },
		{ .since = 39999, .taken = 1, .took = 4000 },
		{ .since = 40000, .taken = 1, .took = 4000, .is_due = true },
		{ .since = 1000000 },
		{ .since = 1000, .inodes_taken = 50, .is_due = true },
		{ .since = 1000, .inodes_taken = 49 },
		{ .since = 1000, .inodes_taken = 20, .inodes = 60, .is_due = true },
		{ .since = 1000, .inodes_taken = 19, .inodes = 60 },
		{ .since = 30000, .inodes_taken = -1, .is_due = true },
		{ .since = 29999, .inodes_taken = -1 },
		{ .since = 1000000, .taken = 1000, .is_unknown = true },
		{ .since = 999, .is_full = true },
		{ .since = 1000, .is_full = true, .took = 1000, .is_due = true },
		{ .since = 1000, .is_full = true, .took = 1001 },
	};
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/inodes':'100'}",
			",'resources':{'limits':{'ephemeral-storage':'4096000'}}");
	for (size_t i = 0; i < COUNT(rows); i++) {
		n_asked = 0;
		r->usage = (struct kubelet_run_usage){
			.is_tree_known = true, .free_bytes = 100 * GI, .free_inodes = 1000000
		};
		r->usage.last.bytes = (uint64_t)rows[i].used * BLOCK;
		r->usage.last.inodes = (uint64_t)rows[i].inodes;
		r->usage.last.took_ms = rows[i].took;
		r->usage.looks[LOOK_TREE].ended_ms = now_ms - rows[i].since;
		r->usage.floor_bytes = r->usage.last.bytes;
		ws = (struct disk){ 200 * GI,
			(uint64_t)((int64_t)(100 * GI) - rows[i].taken * BLOCK),
			(uint64_t)(1000000 - rows[i].inodes_taken), rows[i].is_unknown };
		own.free = rows[i].is_full ? GI - BLOCK : GI;
		kubelet_usage_tick(w->c);
		assert_int_equal(r->limits.disk_bytes, LIMIT);
		if ((n_asked == 1) != rows[i].is_due)
			fail_msg("row %zu", i);
	}
}

static void test_when_memory_is_looked_at(void **state)
{
	static const struct {
		int64_t since;
		uint64_t taken, used; /* MiB; the limit is 1000 */
		bool is_held, is_due;
	} rows[] = {
		{ 499, 1000, 0, false, false },
		{ 500, 1000, 0, false, true },
		{ 500, 500, 0, false, true },
		{ 500, 499, 0, false, false },
		{ 500, 100, 800, false, true },
		{ 500, 99, 800, false, false },
		{ 4999, 0, 900, false, false },
		{ 5000, 0, 0, false, true },
		{ 5000, 1000, 0, true, false },
	};
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, "", ",'resources':{'limits':{'memory':'1000Mi'}}");
	for (size_t i = 0; i < COUNT(rows); i++) {
		n_asked = 0;
		has_group[CGROUP_MEMORY] = rows[i].is_held;
		r->usage = (struct kubelet_run_usage){ .is_tree_known = true,
			.free_bytes = ws.free,
			.free_inodes = ws.inodes,
			.available_bytes = 8 * GI };
		r->usage.last.memory_bytes = rows[i].used * MI;
		r->usage.looks[LOOK_MEMORY].ended_ms = now_ms - rows[i].since;
		available = 8 * GI - rows[i].taken * MI;
		kubelet_usage_tick(w->c);
		if ((n_asked == 1) != rows[i].is_due)
			fail_msg("row %zu", i);
	}
	r->limits.spawn.memory_bytes = 0;
	assert_false(kubelet_run_is_memory_watched(r));
}

/* ---- verdicts ---- */

/* The tree and the memory of p0 are looked at, and this is found. */
static void judge(
	struct world *w, struct kubelet_run *r, bool is_memory, struct isolation_usage usage)
{
	r->usage.looks[LOOK_TREE].ended_ms = r->usage.looks[LOOK_MEMORY].ended_ms = 0;
	r->usage.is_tree_known = is_memory;
	r->usage.free_bytes = ws.free;
	r->usage.free_inodes = ws.inodes;
	has_group[CGROUP_MEMORY] = !is_memory;
	n_asked = 0;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 1);
	found(0, usage);
}

/* A later look of the same run, long after, when its file system has changed. */
static void judge_again(struct world *w, struct kubelet_run *r, struct isolation_usage usage)
{
	r->usage.looks[LOOK_TREE].ended_ms = now_ms - 3600000;
	r->usage.is_tree_known = true;
	r->usage.free_bytes = ws.free + 1;
	r->usage.free_inodes = ws.inodes + 1;
	has_group[CGROUP_MEMORY] = true;
	n_asked = 0;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_asked, 1);
	found(0, usage);
}

static void test_verdicts_on_a_workspace(void **state)
{
	static const struct {
		struct isolation_usage usage;
		const char *why;
	} rows[] = {
		{ { .bytes = 1000, .inodes = 100 }, NULL },
		{ { .bytes = 1001 }, "The workspace of this pod uses 1001, its limit is 1000" },
		{ { .bytes = 3000, .deleted_bytes = 1501 },
			"The workspace of this pod uses 3000, its limit is 1000 (most of it in"
			" deleted files that are still open)" },
		{ { .bytes = 3000, .deleted_bytes = 1500 },
			"The workspace of this pod uses 3000, its limit is 1000" },
		{ { .inodes = 101, .bytes = 5000 },
			"The workspace of this pod has more than 100 files and folders, which is its"
			" limit" },
		{ { .is_too_deep = true, .inodes = 101 },
			"The workspace of this pod has folders nested deeper than 2000, which cannot"
			" be measured" },
		{ { .memory_bytes = 100 * GI }, NULL },
	};
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/inodes':'100'}",
			",'resources':{'limits':{'ephemeral-storage':'1000','memory':'1Gi'}}");
	int events = 0;
	for (size_t i = 0; i < COUNT(rows); i++) {
		r->stopped_for = NULL;
		r->stopped_why[0] = '\0';
		n_stopped = 0;
		judge(w, r, false, rows[i].usage);
		if (strcmp(r->stopped_why, rows[i].why ? rows[i].why : "") != 0)
			fail_msg("row %zu: %s", i, r->stopped_why);
		assert_int_equal(n_stopped, rows[i].why != NULL);
		assert_int_equal(kubelet_run_is_evicted(r), rows[i].why != NULL);
		events += rows[i].why != NULL;
		assert_int_equal(world_events(w, "p0", "Evicted"), events);
	}
	/* what it had then is remembered with its volume */
	char *kept = store_meta_get(w->server.store, "evicted/vol-0");
	assert_string_equal(kept, "0 101");
	free(kept);
}

static void test_verdicts_on_memory(void **state)
{
	static const struct {
		struct isolation_usage usage;
		const char *reason, *why;
	} rows[] = {
		{ { .memory_bytes = GI, .mounts[USAGE_RUN].inodes = 50 }, NULL, "" },
		{ { .memory_bytes = GI + MI }, "OOMKilled",
			"out of memory: this pod uses 1025Mi, its limit is 1Gi" },
		{ { .mounts[USAGE_TMP].inodes = 51 }, "Evicted",
			"/tmp of this pod has 51 files and folders, its limit is 50" },
		{ { .mounts[USAGE_RUN].inodes = 52 }, "Evicted",
			"/run of this pod has 52 files and folders, its limit is 50" },
		{ { .mounts[USAGE_SHM].inodes = 53, .memory_bytes = 2 * GI }, "Evicted",
			"/dev/shm of this pod has 53 files and folders, its limit is 50" },
		{ { .bytes = 10 * GI, .inodes = 5000 }, NULL, "" },
	};
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/tmp-inodes':'50'}",
			",'resources':{'limits':{'ephemeral-storage':'1000','memory':'1Gi'}}");
	for (size_t i = 0; i < COUNT(rows); i++) {
		r->stopped_for = NULL;
		r->stopped_why[0] = '\0';
		judge(w, r, true, rows[i].usage);
		assert_string_equal_or(r->stopped_for, rows[i].reason);
		if (strcmp(r->stopped_why, rows[i].why) != 0)
			fail_msg("row %zu: %s", i, r->stopped_why);
	}
	assert_null(store_meta_get(w->server.store, "evicted/vol-0"));
	assert_int_equal(world_events(w, "p0", "OOMKilled"), 1);
}

/* It was evicted for that before, and started again: time to mend it, as long as it does not grow. */
static void test_time_to_mend(void **state)
{
	static const struct {
		const char *kept;
		struct isolation_usage usage;
		int64_t after_ms;
		bool is_evicted;
	} rows[] = {
		{ "10000000 200", { .bytes = 10000000 }, 299999, false },
		{ "10000000 200", { .bytes = 10000000 }, 300000, true },
		{ "10000000 200", { .bytes = 10000000 + (1 << 20) }, 0, false },
		{ "10000000 200", { .bytes = 10000001 + (1 << 20) }, 0, true },
		{ "10000000 200", { .inodes = 200 }, 299999, false },
		{ "10000000 200", { .inodes = 200 }, 300000, true },
		{ "10000000 200", { .inodes = 201 }, 0, true },
		{ "10000000 200", { .inodes = 200, .is_too_deep = true }, 0, false },
		{ "10000000 200", { .inodes = 201, .is_too_deep = true }, 0, true },
		{ "0 0", { .bytes = 1001 }, 0, true },
		{ "10000000 x", { .bytes = 1001 }, 0, true },
		{ "x 200", { .inodes = 101 }, 0, true },
		{ "10000000", { .bytes = 1001 }, 0, true },
	};
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/inodes':'100'}",
			",'resources':{'limits':{'ephemeral-storage':'1000'}}");
	for (size_t i = 0; i < COUNT(rows); i++) {
		r->stopped_for = NULL;
		assert_true(
			store_meta_set(w->server.store, "evicted/vol-0", rows[i].kept, NULL));
		kubelet_run_usage_begin(r);
		r->started_ms = now_ms - rows[i].after_ms;
		judge(w, r, false, (struct isolation_usage){ .bytes = 10 });
		judge_again(w, r, rows[i].usage);
		if (kubelet_run_is_evicted(r) != rows[i].is_evicted)
			fail_msg("row %zu", i);
	}
}

/* A job writes on until its pod has stopped: what it was found with is less than what is there when it starts again. */
static void test_what_was_written_until_it_stopped(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/inodes':'100'}",
			",'resources':{'limits':{'ephemeral-storage':'1000'}}");
	assert_true(store_meta_set(w->server.store, "evicted/vol-0", "2000 110", NULL));
	kubelet_run_usage_begin(r);
	r->started_ms = now_ms;
	judge(w, r, false, (struct isolation_usage){ .bytes = 30 * MI, .inodes = 150 });
	assert_false(kubelet_run_is_evicted(r));
	judge_again(w, r, (struct isolation_usage){ .bytes = 31 * MI, .inodes = 150 });
	assert_false(kubelet_run_is_evicted(r));
	judge_again(w, r, (struct isolation_usage){ .bytes = 31 * MI + 1, .inodes = 150 });
	assert_true(kubelet_run_is_evicted(r));
}

/* The folder of a pod without a volume has the same name in each. */
static void test_whose_eviction_it_was(void **state)
{
	char of_pod[] = "/state/pods/pod-0/workspace", other[] = "other";
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, "", ",'resources':{'limits':{'ephemeral-storage':'1000'}}");
	r->workspace = of_pod;
	judge(w, r, false, (struct isolation_usage){ .bytes = 2000, .inodes = 3 });
	char *kept = store_meta_get(w->server.store, "evicted/pod-0");
	assert_string_equal(kept, "2000 3");
	free(kept);
	kubelet_run_usage_begin(r);
	assert_int_equal(r->usage.known_bytes, 2000);
	assert_int_equal(r->usage.known_inodes, 3);
	r->workspace = other;
	kubelet_run_usage_begin(r);
	assert_int_equal(r->usage.known_bytes, 0);
	assert_true(store_meta_set(w->server.store, "evicted/other", "5 6", NULL));
	kubelet_run_usage_begin(r);
	assert_int_equal(r->usage.known_bytes, 5);
}

static void test_who_is_stopped_once(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r = add_run(w, 0, "", "");
	kubelet_run_stop_for(r, "Evicted", "first");
	kubelet_run_stop_for(r, "OOMKilled", "second");
	assert_string_equal(r->stopped_for, "Evicted");
	assert_string_equal(r->stopped_why, "first");
	assert_int_equal(n_stopped, 1);
	assert_true(kubelet_run_is_evicted(r));
	r->stopped_for = NULL;
	r->is_stopping = true;
	kubelet_run_stop_for(r, "OOMKilled", "third");
	r->is_stopping = false;
	r->daemon = NULL;
	kubelet_run_stop_for(r, "OOMKilled", "third");
	assert_null(r->stopped_for);
	assert_false(kubelet_run_is_evicted(r));
	r->stopped_for = "OOMKilled";
	assert_false(kubelet_run_is_evicted(r));
	assert_int_equal(n_stopped, 1);
	assert_int_equal(world_events(w, "p0", "Evicted"), 1);
}

static void test_kills_of_the_kernel(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r = add_run(w, 0, "", ",'resources':{'limits':{'memory':'1Gi'}}");
	kubelet_usage_tick(w->c);
	assert_int_equal(world_events(w, "p0", "OOMKilling"), 0);
	oom_kills = 2;
	kubelet_usage_tick(w->c);
	kubelet_usage_tick(w->c);
	assert_int_equal(world_events(w, "p0", "OOMKilling"), 1);
	assert_int_equal(r->usage.oom_kills, 2);
	oom_kills = 3;
	kubelet_usage_tick(w->c);
	assert_int_equal(world_events(w, "p0", "OOMKilling"), 2);
	const struct store_object *e = store_at(w->server.store, KIND_EVENT, 0);
	assert_string_equal(json_str(e->json, "message", NULL),
		"out of memory: the kernel killed a process at the limit of 1Gi");
	assert_string_equal(json_str(e->json, "type", NULL), "Warning");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_first_look),
		TEST(test_who_is_not_looked_at),
		TEST(test_few_walks_at_the_same_time),
		TEST(test_a_look_that_fails),
		TEST(test_what_is_kept_of_a_look),
		TEST(test_when_a_workspace_is_looked_at),
		TEST(test_when_memory_is_looked_at),
		TEST(test_verdicts_on_a_workspace),
		TEST(test_verdicts_on_memory),
		TEST(test_time_to_mend),
		TEST(test_what_was_written_until_it_stopped),
		TEST(test_whose_eviction_it_was),
		TEST(test_who_is_stopped_once),
		TEST(test_kills_of_the_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
