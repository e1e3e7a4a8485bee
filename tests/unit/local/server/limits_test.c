// SPDX-License-Identifier: Apache-2.0
/* What is said of the limits that hold, and who goes when the disk of the machine is nearly full. */
#include "tests/unit/local/server/usage.h"

#include "engine/base/file.h"

#include <unistd.h>

/* "what value how why|…" of an annotation or file; static. */
static const char *rows_of(const char *text)
{
	static char out[8192];
	cJSON *list = cJSON_Parse(text);
	const cJSON *row;
	assert_non_null(list);
	out[0] = '\0';
	cJSON_ArrayForEach(row, list)
	{
		const char *value = json_str(row, "value", NULL),
			   *why = json_str(row, "why", NULL);
		size_t n = strlen(out);
		snprintf(out + n, sizeof out - n, "%s %s %s%s%s|", json_str(row, "what", NULL),
			value ? value : "-", json_str(row, "how", NULL), why ? " " : "",
			why ? why : "");
	}
	cJSON_Delete(list);
	return out;
}

static const char *published(struct world *w, enum store_kind kind, const char *name)
{
	const char *text = json_str(world_get(w, kind, name)->json, "metadata", "annotations",
		ANNOTATION_LIMITS, NULL);
	return rows_of(text ? text : "[]");
}

/* The part of the text from this word to the next |. */
static void must_say(const char *text, const char *row)
{
	if (!strstr(text, row))
		fail_msg("%s is not in %s", row, text);
}

#define WATCHED                                                                                  \
	"looked at when the machine's memory falls, else every 5 s; each process by RLIMIT_DATA" \
	" besides"
#define PARTS ",'resources':{'limits':{'memory':'1Gi','cpu':'1500m','ephemeral-storage':'2Gi'}}"

static void test_what_holds_a_pod(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r =
		add_run(w, 0, ",'annotations':{'limits.sandmux.local/pids':'50'}", PARTS);
	kubelet_run_limits_publish(r);
	assert_string_equal(published(w, KIND_POD, "p0"),
		"memory 1Gi cgroup|cpu 1500m cgroup|processes 50 cgroup|"
		"workspace 2Gi watched stopped when it is found above, its files are kept|"
		"workspace files 1000000 watched stopped when it is found above, its files are kept|"
		"temporary files - cgroup any number, but each counts as memory|");
	/* the same again is no change */
	int64_t rv = store_revision(w->server.store);
	kubelet_run_limits_publish(r);
	assert_int_equal(store_revision(w->server.store), rv);
	/* set, and this process is not in it */
	is_held_by[CGROUP_MEMORY] = is_held_by[CGROUP_CPU] = is_held_by[CGROUP_PIDS] = false;
	kubelet_run_limits_publish(r);
	const char *text = published(w, KIND_POD, "p0");
	must_say(text, "memory 1Gi none the cgroup could not be set, or not be entered|");
	must_say(text, "cpu 1500m none the cgroup could not be set, or not be entered|");
	must_say(text, "temporary files 200000 watched in each of /tmp, /dev/shm and /run|");
	assert_true(store_revision(w->server.store) > rv);
}

static void test_what_does_not_hold_a_pod(void **state)
{
	static const char *const why[] = { "no memory here", "no pids here", "no cpu here" };
	struct world *w = *state;
	struct kubelet_run *r = add_run(w, 0, "", PARTS);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		has_group[i] = is_held_by[i] = false;
		places.of[i].dir = NULL;
		snprintf(places.of[i].why, sizeof places.of[i].why, "%s", why[i]);
	}
	r->usage.last.mounts[USAGE_SHM].size_bytes = 256 * MI;
	r->usage.last.closed_folders = 1;
	daemon_pid = getpid();
	kubelet_run_limits_publish(r);
	const char *text = published(w, KIND_POD, "p0");
	must_say(text, "memory 1Gi watched " WATCHED " (no memory here)|");
	must_say(text, "|cpu 1500m none no cpu here|");
	must_say(text, getuid() == 0
			       ? "|processes 1024 none no pids here, and process limits do not"
				 " hold root|"
			       : "|processes 1024 rlimit|");
	must_say(text,
		"|workspace 2Gi watched folders that are closed to this user are not counted:"
		" a user namespace is needed|");
	must_say(text, "|workspace files 1000000 watched folders that are closed");
	must_say(text, "|/dev/shm 256Mi tmpfs counts as memory|");
	assert_null(strstr(text, "/tmp "));
	/* of another user's process that is no root's */
	daemon_pid = 0;
	kubelet_run_limits_publish(r);
	must_say(published(w, KIND_POD, "p0"), "|processes 1024 rlimit|");
	w->server.opts.is_isolated = false;
	kubelet_run_limits_publish(r);
	text = published(w, KIND_POD, "p0");
	must_say(text,
		"|processes 1024 rlimit without isolation all processes of this user count|");
	assert_null(strstr(text, "temporary files"));
}

static void test_what_nobody_asked_for(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r = add_run(w, 0, "", "");
	kubelet_run_limits_publish(r);
	must_say(published(w, KIND_POD, "p0"),
		" cgroup half of this machine's, as none was asked for|cpu - none none was asked"
		" for|");
	has_group[CGROUP_MEMORY] = is_held_by[CGROUP_MEMORY] = false;
	kubelet_run_limits_publish(r);
	must_say(published(w, KIND_POD, "p0"),
		"; half of this machine's, as none was asked for|cpu");
	r->limits.spawn.memory_bytes = 0;
	kubelet_run_limits_publish(r);
	must_say(published(w, KIND_POD, "p0"), "memory - none the cgroup could not be set");
	/* without a daemon nothing is said */
	int64_t rv = store_revision(w->server.store);
	r->daemon = NULL;
	r->limits.spawn.memory_bytes = GI;
	kubelet_run_limits_publish(r);
	assert_int_equal(store_revision(w->server.store), rv);
	r->daemon = (struct isolation_spawn *)r;
	world_remove(w, KIND_POD, "p0");
	rv = store_revision(w->server.store);
	kubelet_run_limits_publish(r);
	assert_int_equal(store_revision(w->server.store), rv);
}

/* It is said after the first walk, and when folders close or open. */
static void test_when_it_is_said(void **state)
{
	static const struct {
		bool is_known;
		uint64_t closed_before, closed;
		bool is_said;
	} rows[] = { { false, 0, 0, true }, { true, 0, 0, false }, { true, 0, 2, true },
		{ true, 2, 0, true }, { true, 2, 3, false } };
	struct world *w = *state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		clear_runs(w);
		struct kubelet_run *r = add_run(w, 0, "", PARTS);
		n_asked = 0;
		r->usage.is_tree_known = rows[i].is_known;
		r->usage.last.closed_folders = rows[i].closed_before;
		r->usage.free_bytes = ws.free + BLOCK;
		kubelet_usage_tick(w->c);
		assert_int_equal(n_asked, 1);
		found(0, (struct isolation_usage){ .closed_folders = rows[i].closed });
		if ((strlen(published(w, KIND_POD, "p0")) > 0) != rows[i].is_said)
			fail_msg("row %zu", i);
		world_remove(w, KIND_POD, "p0");
	}
}

/* ---- of the backend ---- */

static void test_what_the_machine_can_hold(void **state)
{
	char dir[] = "/tmp/sandmux-limits-XXXXXX", path[64];
	size_t n;
	struct world *w = *state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/limits.json", dir);
	w->server.opts.state_dir = dir;
	has_sizes = true;
	places.of[CGROUP_MEMORY].why[0] = '\0';
	kubelet_limits_publish(w->c);
	assert_string_equal(published(w, KIND_NAMESPACE, "default"),
		"memory - cgroup|processes - cgroup|cpu - cgroup|/tmp 1Gi tmpfs|/dev/shm 256Mi tmpfs|"
		"/run 64Mi tmpfs|workspace - watched|workspace files - watched|"
		"free disk 1Gi watched below it the sandbox that grows most is stopped|"
		"network - namespace network policies are not enforced: a local sandbox has no network at all, so nothing that egress"
		" allows is reached, and what ingress names does not matter: programs of this machine"
		" reach the ports of its daemon|");
	char *text = file_read(path, 65536, &n, NULL);
	assert_non_null(text);
	must_say(rows_of(text), "free disk 1Gi watched");
	free(text);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		places.of[i].dir = NULL;
		snprintf(places.of[i].why, sizeof places.of[i].why, "no %d", i);
	}
	has_sizes = false;
	kubelet_limits_publish(w->c);
	const char *now = published(w, KIND_NAMESPACE, "default");
	must_say(now,
		"memory - watched " WATCHED ": no 0|processes - rlimit no 1|cpu - none no 2|");
	must_say(now, "|/tmp - none this bubblewrap cannot size it, 0.7 can|");
	must_say(now, "|/run - none this");
	w->server.opts.is_isolated = false;
	kubelet_limits_publish(w->c);
	assert_null(strstr(published(w, KIND_NAMESPACE, "default"), "/tmp"));
	unlink(path);
	rmdir(dir);
}

static void test_what_is_left_to_the_machine(void **state)
{
	struct world *w = *state;
	assert_int_equal(kubelet_limits_disk_floor(&w->server), GI);
	own.total = 20 * GI / 4096 / 100 * 4096 * 100;
	assert_int_equal(kubelet_limits_disk_floor(&w->server), own.total / 100 * 2);
	own.total = 51 * GI;
	assert_int_equal(kubelet_limits_disk_floor(&w->server), GI);
	own.fails = true;
	assert_int_equal(kubelet_limits_disk_floor(&w->server), GI);
	w->server.opts.disk_floor = 5;
	assert_int_equal(kubelet_limits_disk_floor(&w->server), 5);
}

/* ---- below the floor ---- */

/* All of them are looked at, and have this many MiB. */
static void grow(struct world *w, const uint64_t *mib, int n)
{
	int from = n_asked;
	kubelet_usage_tick(w->c);
	for (int i = from; i < n_asked; i++) {
		const struct kubelet_run_look *look = asked[i].arg;
		found(i, (struct isolation_usage){ .bytes = mib[look->run - runs] * MI });
	}
	assert_true(n_asked - from <= n);
}

static void test_who_grows_most_goes(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 3; i++)
		add_run(w, i, "", "");
	own.free = GI;
	grow(w, (const uint64_t[]){ 100, 500, 5 }, 3);
	at_ms(now_ms + 1000);
	kubelet_usage_tick(w->c); /* exactly the floor is enough */
	assert_int_equal(w->c->kubelet->floor_since_ms, 0);
	own.free = GI - BLOCK;
	kubelet_usage_tick(w->c);
	assert_int_equal(w->c->kubelet->floor_since_ms, now_ms);
	assert_int_equal(n_stopped, 0);
	/* growth counts from here; before all have been looked at nobody goes */
	at_ms(now_ms + 1000);
	found(n_asked - 3, (struct isolation_usage){ .bytes = 103 * MI });
	found(n_asked - 2, (struct isolation_usage){ .bytes = 501 * MI });
	kubelet_usage_tick(w->c);
	assert_int_equal(n_stopped, 0);
	found(3 + 2, (struct isolation_usage){ .bytes = 7 * MI });
	at_ms(now_ms + 500);
	kubelet_usage_tick(w->c);
	assert_string_equal(runs[0].stopped_for, "Evicted");
	assert_string_equal(runs[0].stopped_why,
		"The disk of this machine has less than 1Gi left, and the workspace of this pod grew"
		" most lately, by 3Mi");
	assert_int_equal(n_stopped, 1);
	assert_null(runs[1].stopped_for);
	assert_int_equal(w->c->kubelet->floor_since_ms, now_ms);
	/* and then who grows on */
	at_ms(now_ms + 1000);
	grow(w, (const uint64_t[]){ 900, 501, 9 }, 3);
	at_ms(now_ms + 1);
	kubelet_usage_tick(w->c);
	assert_string_equal(runs[2].stopped_for, "Evicted");
	assert_non_null(strstr(runs[2].stopped_why, "by 2Mi"));
	assert_null(runs[1].stopped_for);
	/* there is room again: the next time counts anew */
	own.free = GI;
	kubelet_usage_tick(w->c);
	assert_int_equal(w->c->kubelet->floor_since_ms, 0);
}

static void test_who_does_not_grow_stays(void **state)
{
	struct world *w = *state;
	struct kubelet_run *r = add_run(w, 0, "", "");
	add_run(w, 1, "", "")->daemon = NULL;
	add_run(w, 2, "", "")->is_stopping = true;
	own.free = 0;
	w->c->kubelet->floor_since_ms = now_ms;
	kubelet_usage_tick(w->c); /* not looked at yet */
	found(0, (struct isolation_usage){ .bytes = 10 * MI });
	at_ms(now_ms + 5);
	w->c->kubelet->floor_since_ms = now_ms - 5;
	kubelet_usage_tick(w->c);
	r->usage.looks[LOOK_TREE].ended_ms = now_ms;
	r->usage.last.bytes = 11 * MI - 1;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_stopped, 0);
	r->usage.last.bytes = 9 * MI;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_stopped, 0);
	r->usage.last.bytes = 11 * MI;
	kubelet_usage_tick(w->c);
	assert_int_equal(n_stopped, 1);
	assert_non_null(strstr(r->stopped_why, "by 1Mi"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_holds_a_pod),
		TEST(test_what_does_not_hold_a_pod),
		TEST(test_what_nobody_asked_for),
		TEST(test_when_it_is_said),
		TEST(test_what_the_machine_can_hold),
		TEST(test_what_is_left_to_the_machine),
		TEST(test_who_grows_most_goes),
		TEST(test_who_does_not_grow_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
