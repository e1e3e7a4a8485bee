// SPDX-License-Identifier: Apache-2.0
/* Rows of limits in words, and where cgroups may be made, read from fake hierarchies. What cgroups do when they are real is
 * in tests/local/test_limits.py. */
#include "local/isolation/limits.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "local/control/remove.h"
#include "local/isolation/cgroup_place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void quantities(void **state)
{
	(void)state;
	static const struct {
		uint64_t value;
		enum isolation_limit_unit unit;
		const char *text;
	} cases[] = { { 1, LIMIT_BYTES, "1" }, { 1023, LIMIT_BYTES, "1023" },
		{ 1024, LIMIT_BYTES, "1Ki" }, { (uint64_t)10 << 30, LIMIT_BYTES, "10Gi" },
		{ (uint64_t)1536 << 20, LIMIT_BYTES, "1536Mi" },
		{ ((uint64_t)10 << 30) + ((uint64_t)300 << 20) + 4096, LIMIT_BYTES, "10.3Gi" },
		{ 12345, LIMIT_BYTES, "12.1Ki" }, { UINT64_MAX, LIMIT_BYTES, "16777216.0Ti" },
		{ 2000, LIMIT_MILLI_CPU, "2" }, { 500, LIMIT_MILLI_CPU, "500m" },
		{ 1000000, LIMIT_COUNT, "1000000" } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char out[LIMIT_TEXT_BYTES];
		assert_string_equal(isolation_limit_format(cases[i].value, cases[i].unit, out),
			cases[i].text);
	}
}

static void rows_as_json(void **state)
{
	(void)state;
	struct isolation_limits limits = { .n = 0 };
	isolation_limits_add(
		&limits, "memory", (uint64_t)2 << 30, LIMIT_BYTES, LIMIT_CGROUP, NULL);
	isolation_limits_add(
		&limits, "cpu", 0, LIMIT_MILLI_CPU, LIMIT_NONE, "no cgroup in %s", "here");
	cJSON *json = isolation_limits_json(&limits);
	char *text = cJSON_PrintUnformatted(json);
	assert_string_equal(text,
		"[{\"what\":\"memory\",\"value\":\"2Gi\",\"how\":\"cgroup\"},"
		"{\"what\":\"cpu\",\"how\":\"none\",\"why\":\"no cgroup in here\"}]");
	free(text);
	cJSON_Delete(json);
	for (int i = 0; i < 2 * LIMITS_MAX_ROWS; i++)
		isolation_limits_add(
			&limits, "more", 1, LIMIT_COUNT, LIMIT_WATCHED, "%0500d", i);
	assert_int_equal(limits.n, LIMITS_MAX_ROWS);
	assert_string_equal(limits.rows[1].what, "cpu");
	assert_int_equal(strlen(limits.rows[2].why), sizeof limits.rows[2].why - 1);
}

/* ---- fake hierarchies */

struct tree {
	char dir[64];
	char *self;
	struct isolation_cgroup_places places;
};

static int set_up(void **state)
{
	struct tree *t = x_calloc(1, sizeof *t);
	snprintf(t->dir, sizeof t->dir, "/tmp/limits-test-XXXXXX");
	*state = t;
	return mkdtemp(t->dir) == NULL;
}

static int tear_down(void **state)
{
	struct tree *t = *state;
	isolation_cgroup_places_deinit(&t->places);
	int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_gone = control_remove_tree(tmp, t->dir + strlen("/tmp/"), NULL);
	close(tmp);
	free(t->self);
	free(t);
	return is_gone ? 0 : 1;
}

static void put(const struct tree *t, const char *path, const char *text)
{
	char *full = x_asprintf("%s/%s", t->dir, path);
	char *folder = x_strdup(full);
	*strrchr(folder, '/') = '\0';
	assert_true(file_make_dirs(folder, 0755, NULL));
	assert_true(file_write_atomic(full, slice_of(text), 0644, NULL));
	free(folder);
	free(full);
}

static void find(struct tree *t, const char *self)
{
	put(t, "self", self);
	t->self = x_asprintf("%s/self", t->dir);
	isolation_cgroup_places_find(&t->places, t->dir, t->self);
}

static void check_dir(
	const struct tree *t, enum isolation_cgroup_controller which, const char *path)
{
	char *full = x_asprintf("%s/%s", t->dir, path);
	if (t->places.of[which].dir == NULL)
		fail_msg("%s: %s", isolation_cgroup_controller_names[which],
			t->places.of[which].why);
	assert_string_equal(t->places.of[which].dir, full);
	free(full);
}

static void v1_shares_hierarchies(void **state)
{
	struct tree *t = *state;
	put(t, "memory/user/me/x", "");
	put(t, "cpu/user/me/x", "");
	put(t, "pids/x", ""); /* a container: the path is that of the host */
	find(t, "5:pids:/docker/abc\n4:cpu,cpuacct:/user/me\n3:memory:/user/me\n"
		"2:cpuset:/elsewhere\n1:name=systemd:/memory\n");
	check_dir(t, CGROUP_MEMORY, "memory/user/me/sandmux");
	check_dir(t, CGROUP_CPU, "cpu/user/me/sandmux");
	check_dir(t, CGROUP_PIDS, "pids/sandmux");
	assert_false(t->places.of[CGROUP_MEMORY].is_v2);
}

/* The files of a real one take words and list them; these are overwritten at their beginning. */
#define LISTED "........ memory pids\n"

static void v2_moves_to_a_leaf(void **state)
{
	struct tree *t = *state;
	size_t n;
	put(t, "cgroup.controllers", "cpu memory pids\n");
	put(t, "a/own/cgroup.procs", "");
	put(t, "a/own/cgroup.type", "domain\n");
	put(t, "a/own/cgroup.subtree_control", LISTED);
	put(t, "a/own/sandmux-backend/cgroup.procs", "");
	put(t, "a/own/sandmux/cgroup.subtree_control", LISTED);
	find(t, "0::/a/own\n");
	check_dir(t, CGROUP_MEMORY, "a/own/sandmux");
	check_dir(t, CGROUP_PIDS, "a/own/sandmux");
	assert_true(t->places.of[CGROUP_MEMORY].is_v2);
	assert_null(t->places.of[CGROUP_CPU].dir);
	assert_non_null(
		strstr(t->places.of[CGROUP_CPU].why, "the cpu controller is not handed"));
	char *procs = x_asprintf("%s/a/own/sandmux-backend/cgroup.procs", t->dir);
	char *text = file_read(procs, 64, &n, NULL);
	assert_string_equal(text, "0");
	free(text);
	free(procs);
}

static void v2_at_the_root_of_all_needs_no_leaf(void **state)
{
	struct tree *t = *state;
	put(t, "cgroup.controllers", "cpu memory pids\n");
	put(t, "cgroup.procs", "");
	put(t, "cgroup.subtree_control", LISTED);
	put(t, "sandmux/cgroup.subtree_control", LISTED);
	find(t, "0::/\n");
	check_dir(t, CGROUP_MEMORY, "sandmux");
	char *leaf = x_asprintf("%s/sandmux-backend", t->dir);
	assert_int_not_equal(access(leaf, F_OK), 0);
	free(leaf);
}

static void nothing_is_said(void **state)
{
	struct tree *t = *state;
	find(t, "garbage\n::\n0:\n:memory\n1:memory\n2:memory:relative\n");
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		assert_null(t->places.of[i].dir);
		assert_non_null(
			strstr(t->places.of[i].why, isolation_cgroup_controller_names[i]));
	}
}

/* A real group of version 2 that has nothing to hand down: into the leaf, and out of it again. */
static void goes_back_if_it_is_no_use(void **state)
{
	struct tree *t = *state;
	static const char top[] = "/sys/fs/cgroup/unified";
	char group[64], line[64];
	size_t n;
	snprintf(group, sizeof group, "%s/limits-test-%d", top, (int)getpid());
	snprintf(line, sizeof line, "0::/limits-test-%d\n", (int)getpid());
	if (mkdir(group, 0755) != 0)
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		char *leaf = x_asprintf("%s/sandmux-backend", group);
		bool ok = isolation_cgroup_put(group, "cgroup.procs", "0");
		find(t, line);
		isolation_cgroup_places_deinit(&t->places);
		isolation_cgroup_places_find(&t->places, top, t->self);
		char *text = file_read("/proc/self/cgroup", 4096, &n, NULL);
		ok = ok && t->places.of[CGROUP_MEMORY].dir == NULL &&
		     strstr(text, line) != NULL && access(leaf, F_OK) != 0;
		_exit(ok ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	rmdir("/sys/fs/cgroup/unified/sandmux");
	assert_int_equal(rmdir(group), 0);
	assert_int_equal(status, 0);
}

static void what_a_killed_backend_left_goes(void **state)
{
	struct tree *t = *state;
	static const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	static const char *const names[] = { "left", "used", "new" };
	put(t, "sandmux/left/x", "");
	put(t, "sandmux/used/x", "");
	put(t, "sandmux/new/x", "");
	for (int i = 0; i < 3; i++) {
		char *path = x_asprintf("%s/sandmux/%s", t->dir, names[i]);
		char *file = x_asprintf("%s/x", path);
		if (i != 1)
			assert_int_equal(unlink(file), 0);
		if (i != 2)
			assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
		free(file);
		free(path);
	}
	char *dir = x_asprintf("%s/sandmux", t->dir);
	isolation_cgroup_place_sweep(dir, 60000);
	for (int i = 0; i < 3; i++) {
		char *path = x_asprintf("%s/%s", dir, names[i]);
		assert_int_equal(access(path, F_OK) == 0, i != 0);
		free(path);
	}
	free(dir);
	isolation_cgroup_place_sweep("/nonexistent", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantities),
		cmocka_unit_test(rows_as_json),
		cmocka_unit_test_setup_teardown(v1_shares_hierarchies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(v2_moves_to_a_leaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			v2_at_the_root_of_all_needs_no_leaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_a_killed_backend_left_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(goes_back_if_it_is_no_use, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
