// SPDX-License-Identifier: Apache-2.0
/* Trees as hostile programs make them. What needs root (immutable files, mounts) is skipped without it. */
#include "tests/unit/unit.h"

#include "local/control/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char dir[64];
static int fd;

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/sandmux-remove-XXXXXX");
	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static int n_entries(void)
{
	int n = 0;
	DIR *d = opendir(dir);
	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

static void make_file(int at, const char *name)
{
	int file = openat(at, name, O_WRONLY | O_CREAT, 0600);
	assert_true(file >= 0);
	close(file);
}

/* A chain of folders with a file in each, by one descriptor; far longer than any path may be. */
static void make_chain(int depth, mode_t mode)
{
	int at = dup(fd);
	for (int i = 0; i < depth; i++) {
		assert_int_equal(mkdirat(at, "d", 0700), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		assert_true(next >= 0);
		make_file(next, "file");
		assert_int_equal(fchmod(at, i == 0 ? 0700 : mode), 0);
		close(at);
		at = next;
	}
	close(at);
}

static void test_any_depth_with_few_descriptors(void **state)
{
	struct control_remove_report report = { 0 };
	struct rlimit old, few;
	(void)state;
	make_chain(2000, 0700);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_true(control_remove_tree(fd, "d", &report));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(report.n_left, 0);
	assert_int_equal(n_entries(), 0);
}

/* What was moved up on the way goes too, whatever is emptied. */
static void test_a_deep_content(void **state)
{
	struct control_remove_report report = { .n_left = 3 };
	(void)state;
	make_chain(60, 0700);
	make_file(fd, "file");
	assert_true(control_remove_content(fd, &report));
	assert_int_equal(report.n_left, 3);
	assert_int_equal(n_entries(), 0);
	assert_false(control_remove_content(-1, &report));
	assert_int_equal(report.n_left, 4);
	make_chain(60, 0700);
	assert_true(control_remove_tree(fd, "d", NULL));
	assert_int_equal(n_entries(), 0);
}

static void test_folders_without_rights(void **state)
{
	int status = -1;
	(void)state;
	/* root is let through everywhere: somebody else has to try */
	if (geteuid() == 0)
		assert_int_equal(chown(dir, NOBODY, NOBODY), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(2);
		make_chain(100, 0000);
		_exit(control_remove_tree(fd, "d", NULL) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(n_entries(), 0);
}

static void test_what_is_not_there_is_removed(void **state)
{
	(void)state;
	assert_true(control_remove_tree(fd, "nothing", NULL));
}

static void test_many_entries(void **state)
{
	char name[32];
	(void)state;
	assert_int_equal(mkdirat(fd, "d", 0700), 0);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "d/%d", i);
		if (i % 2)
			make_file(fd, name);
		else
			assert_int_equal(mkdirat(fd, name, 0700), 0);
	}
	assert_true(control_remove_content(fd, NULL));
	assert_int_equal(n_entries(), 0);
}

static bool set_immutable(const char *name, bool on)
{
	int flags = 0, file = openat(fd, name, O_RDONLY);
	bool ok = file >= 0 && ioctl(file, FS_IOC_GETFLAGS, &flags) == 0;
	flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	ok = ok && ioctl(file, FS_IOC_SETFLAGS, &flags) == 0;
	close(file);
	return ok;
}

static void test_what_stays_is_said(void **state)
{
	struct control_remove_report report = { 0 };
	(void)state;
	assert_int_equal(mkdirat(fd, "d", 0700), 0);
	assert_int_equal(mkdirat(fd, "d/e", 0700), 0);
	make_file(fd, "d/e/fixed");
	make_file(fd, "d/other");
	if (!set_immutable("d/e/fixed", true))
		skip(); /* not root, or a file system without the flag */
	assert_false(control_remove_tree(fd, "d", &report));
	assert_string_equal(report.path, "d/e/fixed");
	assert_int_equal(report.errnum, EPERM);
	assert_int_equal(report.n_left, 1);
	assert_int_not_equal(faccessat(fd, "d/other", F_OK, 0), 0);
	/* the first that could not be removed is the one that is named */
	assert_false(control_remove_content(-1, &report));
	assert_string_equal(report.path, "d/e/fixed");
	assert_int_equal(report.errnum, EPERM);
	assert_int_equal(report.n_left, 2);
	assert_true(set_immutable("d/e/fixed", false));
}

static void test_a_mount_is_not_entered(void **state)
{
	struct control_remove_report report = { 0 };
	char mounted[96];
	(void)state;
	assert_int_equal(mkdirat(fd, "elsewhere", 0700), 0);
	make_file(fd, "elsewhere/kept");
	assert_int_equal(mkdirat(fd, "d", 0700), 0);
	assert_int_equal(mkdirat(fd, "d/m", 0700), 0);
	snprintf(mounted, sizeof mounted, "%s/d/m", dir);
	char source[96];
	snprintf(source, sizeof source, "%s/elsewhere", dir);
	if (mount(source, mounted, NULL, MS_BIND, NULL) != 0)
		skip(); /* not root */
	/* the same file system: its number does not tell */
	bool ok = control_remove_tree(fd, "d", &report);
	assert_int_equal(umount(mounted), 0);
	assert_false(ok);
	assert_string_equal(report.path, "d/m");
	assert_int_equal(report.errnum, EXDEV);
	assert_int_equal(faccessat(fd, "elsewhere/kept", F_OK, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_any_depth_with_few_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_deep_content, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folders_without_rights, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_is_not_there_is_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_entries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_stays_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_mount_is_not_entered, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
