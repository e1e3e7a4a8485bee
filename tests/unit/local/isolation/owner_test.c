// SPDX-License-Identifier: Apache-2.0
/* Handing a folder to another user needs root; elsewhere only the range is tried. */
#include "local/isolation/owner.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "local/control/remove.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/owner-test-XXXXXX";

static uid_t owner(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_uid;
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void only_the_range_is_ours(void **state)
{
	(void)state;
	assert_true(isolation_owner_is_ours(OWNER_FIRST));
	assert_true(isolation_owner_is_ours(OWNER_LAST));
	assert_false(isolation_owner_is_ours(0));
	assert_false(isolation_owner_is_ours(1000));
	assert_false(isolation_owner_is_ours(OWNER_FIRST - 1));
	assert_false(isolation_owner_is_ours(OWNER_LAST + 1));
	assert_false(isolation_owner_is_ours(65534));
}

/* All in it, whatever its rights; a link is handed over, what it leads to is not. */
static void a_tree_is_handed_over_and_nothing_else(void **state)
{
	(void)state;
	struct err err = { 0 };
	const uid_t uid = OWNER_FIRST + 5;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	mkdir("tree", 0700);
	mkdir("tree/closed", 0);
	put("tree/file");
	put("outside");
	assert_int_equal(symlink("../outside", "tree/link"), 0);
	assert_int_equal(mkdir("outside-dir", 0700), 0);
	put("outside-dir/file");
	assert_int_equal(symlink("../outside-dir", "tree/link-dir"), 0);
	assert_int_equal(mknod("tree/fifo", S_IFIFO | 0600, 0), 0);
	char *path = x_asprintf("%s/tree", dir);
	assert_true(isolation_owner_change_tree(path, uid, &err));
	static const char *const handed[] = { "tree", "tree/closed", "tree/file", "tree/link",
		"tree/link-dir", "tree/fifo" };
	for (size_t i = 0; i < sizeof handed / sizeof handed[0]; i++)
		assert_int_equal(owner(handed[i]), uid);
	assert_int_equal(owner("outside"), 0);
	assert_int_equal(owner("outside-dir"), 0);
	assert_int_equal(owner("outside-dir/file"), 0);
	free(path);
}

/* Deeper than any path name: one folder in the other, by changing into each. */
static void depth_does_not_stop_it(void **state)
{
	(void)state;
	struct err err = { 0 };
	const uid_t uid = OWNER_FIRST + 6;
	enum { DEPTH = 3000 };
	if (geteuid() != 0)
		skip();
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("deep", 0700), 0);
	int top = open("deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fchdir(top), 0);
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdir("folder", 0700), 0);
		assert_int_equal(chdir("folder"), 0);
	}
	char *path = x_asprintf("%s/deep", dir);
	if (!isolation_owner_change_tree(path, uid, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(owner("."), uid);
	assert_int_equal(owner(path), uid);
	close(top);
	free(path);
}

static void what_is_not_there_is_said(void **state)
{
	(void)state;
	struct err err = { 0 };
	assert_false(
		isolation_owner_change_tree("/tmp/owner-test-not-there", OWNER_FIRST, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_non_null(strstr(err.msg, "owner-test-not-there"));
}

static int remove_all(void **state)
{
	(void)state;
	if (chdir("/tmp") == 0 && strstr(dir, "XXXXXX") == NULL)
		control_remove_tree(AT_FDCWD, dir, NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_range_is_ours),
		cmocka_unit_test(a_tree_is_handed_over_and_nothing_else),
		cmocka_unit_test(depth_does_not_stop_it),
		cmocka_unit_test(what_is_not_there_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, remove_all);
}
