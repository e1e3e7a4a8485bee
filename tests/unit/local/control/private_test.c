// SPDX-License-Identifier: Apache-2.0
/* Which state folders are refused. Each case is a whole folder with one thing wrong. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "local/control/private.h"
#include "local/control/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char top[64], dir[96], file[128];

static int setup(void **state)
{
	(void)state;
	snprintf(top, sizeof top, "/tmp/sandmux-private-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof dir, "%s/state", top);
	assert_int_equal(mkdir(dir, 0700), 0);
	snprintf(file, sizeof file, "%s/token", dir);
	close(open(file, O_WRONLY | O_CREAT, 0600));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	int fd = open(top, O_RDONLY | O_DIRECTORY);
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	return rmdir(top);
}

static void must_pass(const char *path)
{
	struct err err = { 0 };
	if (!control_private_check(path, &err))
		fail_msg("%s", err.msg);
}

static void must_fail(const char *path, const char *word)
{
	struct err err = { 0 };
	assert_false(control_private_check(path, &err));
	assert_int_equal(err.code, ERR_FILE_DENIED);
	if (!strstr(err.msg, word) || !strstr(err.msg, "--state-dir"))
		fail_msg("%s", err.msg);
}

static void test_ours(void **state)
{
	struct stat st;
	(void)state;
	must_pass(dir);
	/* what others may only read is closed */
	assert_int_equal(chmod(dir, 0755), 0);
	must_pass(dir);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_missing(void **state)
{
	struct err err = { 0 };
	(void)state;
	snprintf(file, sizeof file, "%s/none", top);
	assert_false(control_private_check(file, &err));
	assert_int_equal(err.sys, ENOENT);
}

static void test_writable_by_others(void **state)
{
	(void)state;
	assert_int_equal(chmod(dir, 0777), 0);
	must_fail(dir, "can be changed by others");
	assert_int_equal(chmod(dir, 0720), 0);
	must_fail(dir, "can be changed by others");
}

/* The group that is made for each user has nobody else in it. */
static void test_a_group_of_ones_own(void **state)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = user ? getgrgid(user->pw_gid) : NULL;
	(void)state;
	if (!group || strcmp(group->gr_name, user->pw_name) != 0 || *group->gr_mem != NULL)
		skip();
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_int_equal(chmod(file, 0770), 0);
	assert_int_equal(chmod(top, 0770), 0);
	must_pass(dir);
	if (geteuid() != 0)
		return; /* only root can give it to another group */
	assert_int_equal(chown(file, 0, NOBODY), 0);
	must_fail(dir, "token can be changed by others");
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chown(top, 0, NOBODY), 0);
	must_fail(dir, "can be changed by others");
}

static void test_files(void **state)
{
	char second[128];
	(void)state;
	assert_int_equal(chmod(file, 0640), 0);
	must_fail(dir, "is not private");
	assert_int_equal(chmod(file, 0600), 0);
	snprintf(second, sizeof second, "%s/elsewhere", top);
	assert_int_equal(link(file, second), 0);
	must_fail(dir, "second name");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink(second, file), 0);
	must_fail(dir, "neither a file nor a folder");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	must_fail(dir, "neither a file nor a folder");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_int_equal(chmod(file, 0777), 0);
	must_fail(dir, "can be changed by others");
}

static void test_links_and_folders_above(void **state)
{
	char link[96], below[128];
	(void)state;
	snprintf(link, sizeof link, "%s/link", top);
	assert_int_equal(symlink(dir, link), 0);
	must_fail(link, "is not a folder");
	snprintf(below, sizeof below, "%s/below", link);
	assert_int_equal(mkdir(below, 0700), 0);
	must_pass(below); /* a link of ours above it */
	assert_int_equal(chmod(top, 0777), 0);
	must_fail(dir, "can be changed by others");
	must_fail(below, "can be changed by others");
	assert_int_equal(chmod(top, 01777), 0); /* as /tmp */
	must_pass(dir);
}

static void test_of_somebody_else(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can give files away */
	assert_int_equal(chown(file, NOBODY, NOBODY), 0);
	must_fail(dir, "somebody else");
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chown(dir, NOBODY, NOBODY), 0);
	must_fail(dir, "somebody else");
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_int_equal(chown(top, NOBODY, NOBODY), 0);
	must_fail(dir, "somebody else");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_writable_by_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_group_of_ones_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_and_folders_above, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_somebody_else, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
