// SPDX-License-Identifier: Apache-2.0
// Local trees: counted and deleted without ever following a link.
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/files/tree.h"
#include "engine/net/loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bed {
	struct net_loop *loop;
	char dir[64];
	bool is_done, has_failed;
	struct err err;
	struct files_totals totals;
};

static char *at(const struct bed *bed, const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s", bed->dir, name);
	return path;
}

static void put(const struct bed *bed, const char *name, const char *text)
{
	FILE *file = fopen(at(bed, name), "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int setup(void **state)
{
	struct bed *bed = calloc(1, sizeof *bed);
	struct err err;
	bed->loop = net_loop_new(&err);
	snprintf(bed->dir, sizeof bed->dir, "/tmp/files-tree-XXXXXX");
	*state = bed;
	return mkdtemp(bed->dir) == NULL;
}

static int teardown(void **state)
{
	struct bed *bed = *state;
	net_loop_free(bed->loop);
	static const char *const files[] = { "outside/kept", "link", "x" };
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		unlink(at(bed, files[i]));
	rmdir(at(bed, "outside"));
	int left = rmdir(bed->dir);
	free(bed);
	return left; /* a test that leaves more than it should fails here */
}

static void on_done(void *arg, const struct err *err, const struct files_totals *totals)
{
	struct bed *bed = arg;
	assert_false(bed->is_done);
	bed->is_done = true;
	bed->has_failed = err != NULL;
	if (err)
		bed->err = *err;
	bed->totals = *totals;
}

static void run(struct bed *bed, const char *name, bool is_deleting)
{
	struct err err;
	const char *names[] = { name };
	bed->is_done = false;
	assert_non_null(files_tree_start(
		bed->loop, bed->dir, names, 1, is_deleting, on_done, bed, &err));
	assert_false(bed->is_done);
	int64_t end = clock_mono_ms() + 10000;
	while (!bed->is_done && clock_mono_ms() < end)
		net_loop_run_once(bed->loop, 10);
	assert_true(bed->is_done);
	net_loop_run_once(bed->loop, 0);
}

static void make_tree(struct bed *bed)
{
	assert_int_equal(mkdir(at(bed, "outside"), 0755), 0);
	put(bed, "outside/kept", "kept");
	assert_int_equal(mkdir(at(bed, "t"), 0755), 0);
	assert_int_equal(mkdir(at(bed, "t/deep"), 0755), 0);
	put(bed, "t/a", "1234");
	put(bed, "t/deep/b", "56");
	assert_int_equal(symlink("../../outside", at(bed, "t/deep/way-out")), 0);
	assert_int_equal(mkfifo(at(bed, "t/pipe"), 0644), 0); /* opening it would hang */
}

static void test_counts(void **state)
{
	struct bed *bed = *state;
	make_tree(bed);
	run(bed, "t", false);
	assert_false(bed->has_failed);
	assert_int_equal(bed->totals.files, 3);
	assert_int_equal(bed->totals.folders, 2);
	assert_int_equal(bed->totals.links, 1);
	assert_int_equal(bed->totals.bytes, 6);
	run(bed, "t", true);
}

static void test_deletes_links_not_what_they_point_to(void **state)
{
	struct bed *bed = *state;
	make_tree(bed);
	run(bed, "t", true);
	assert_false(bed->has_failed);
	assert_int_equal(access(at(bed, "t"), F_OK), -1);
	assert_int_equal(access(at(bed, "outside/kept"), F_OK), 0);
	assert_int_equal(symlink("outside", at(bed, "link")), 0);
	run(bed, "link", true);
	assert_int_equal(bed->totals.links, 1);
	assert_int_equal(access(at(bed, "outside/kept"), F_OK), 0);
}

static void test_gone_already(void **state)
{
	struct bed *bed = *state;
	run(bed, "nothing", true);
	assert_false(bed->has_failed);
}

static void test_only_entries(void **state)
{
	struct bed *bed = *state;
	static const char *const bad[] = { "", ".", "..", "a/b", "/" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err;
		const char *names[] = { bad[i] };
		assert_null(files_tree_start(
			bed->loop, bed->dir, names, 1, true, on_done, bed, &err));
		assert_int_equal(err.code, ERR_ARG_PATH);
	}
}

static void test_too_deep_is_said(void **state)
{
	struct bed *bed = *state;
	int fd = open(bed->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < FILES_TREE_DEPTH_MAX + 2; i++) {
		assert_int_equal(mkdirat(fd, "d", 0755), 0);
		int below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = below;
	}
	close(fd);
	run(bed, "d", false);
	assert_true(bed->has_failed);
	assert_non_null(strstr(bed->err.msg, "too deep"));
	/* take it away from the bottom */
	for (int depth = FILES_TREE_DEPTH_MAX + 2; depth > 0; depth--) {
		char path[4096];
		size_t n = (size_t)snprintf(path, sizeof path, "%s", bed->dir);
		for (int i = 0; i < depth; i++)
			n += (size_t)snprintf(path + n, sizeof path - n, "/d");
		assert_int_equal(rmdir(path), 0);
	}
}

static void test_cancel_is_silent(void **state)
{
	struct bed *bed = *state;
	struct err err;
	const char *names[] = { "t" };
	make_tree(bed);
	/* as far as it got it got; nothing outside is touched, and nobody is told */
	for (int turns = 0; turns < 3; turns++) {
		struct files_op *tree = files_tree_start(
			bed->loop, bed->dir, names, 1, true, on_done, bed, &err);
		for (int i = 0; i < turns && !bed->is_done; i++)
			net_loop_run_once(bed->loop, 0);
		if (!bed->is_done)
			files_cancel(tree);
		bool was_done = bed->is_done;
		net_loop_run_once(bed->loop, 10);
		assert_int_equal(bed->is_done, was_done);
		bed->is_done = false;
	}
	assert_int_equal(access(at(bed, "outside/kept"), F_OK), 0);
	run(bed, "t", true);
	assert_int_equal(access(at(bed, "t"), F_OK), -1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_counts),
		CASE(test_deletes_links_not_what_they_point_to),
		CASE(test_gone_already),
		CASE(test_only_entries),
		CASE(test_too_deep_is_said),
		CASE(test_cancel_is_silent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
