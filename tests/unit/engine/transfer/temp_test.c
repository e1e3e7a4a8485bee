// SPDX-License-Identifier: Apache-2.0
/* Temporary files: in use while their lock is held, swept when nobody holds it, and nothing else is touched. */
#include "engine/base/fatal_signal.h"
#include "engine/transfer/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STALE TRANSFER_TEMP_PREFIX "0123456789abcdef0123"

static char folder[64];
static int dir;

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-temp-XXXXXX");
	assert_non_null(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	return dir < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(dir);
	return rmdir(folder); /* every test leaves it empty */
}

static bool is_there(const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void put(const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* of the file at hand, should the test crash */
static int slot;

static void one_in_use_stays(void **state)
{
	char name[TRANSFER_TEMP_BYTES];
	struct stat st;
	struct err err = { 0 };
	int fd = transfer_temp_open(dir, name, &slot, &err);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	transfer_temp_sweep(dir);
	assert_true(is_there(name));
	/* a second descriptor of the same file keeps it: fsync runs on one */
	int second = dup(fd);
	close(fd);
	transfer_temp_sweep(dir);
	assert_true(is_there(name));
	close(second);
	transfer_temp_sweep(dir);
	assert_false(is_there(name));
}

static void one_of_a_dead_process_goes(void **state)
{
	char name[TRANSFER_TEMP_BYTES] = "";
	int ends[2], status;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int fd = transfer_temp_open(dir, name, &slot, NULL);
		if (fd < 0 || write(ends[1], name, sizeof name) != (ssize_t)sizeof name)
			_exit(1);
		pause();
	}
	close(ends[1]); /* a child that ends without a word is heard of */
	assert_int_equal(read(ends[0], name, sizeof name), sizeof name);
	transfer_temp_sweep(dir);
	assert_true(is_there(name));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	transfer_temp_sweep(dir);
	assert_false(is_there(name));
	close(ends[0]);
}

static void only_ours_goes(void **state)
{
	static const char *const others[] = { TRANSFER_TEMP_PREFIX,
		TRANSFER_TEMP_PREFIX "0123456789abcdef",
		TRANSFER_TEMP_PREFIX "0123456789abcdef01234",
		TRANSFER_TEMP_PREFIX "0123456789ABCDEF0123", "x" STALE, "notes" };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		put(others[i]);
	put(STALE);
	transfer_temp_sweep(dir);
	assert_false(is_there(STALE));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_true(is_there(others[i]));
		unlinkat(dir, others[i], 0);
	}
}

static void other_kinds_stay(void **state)
{
	(void)state;
	put("target");
	assert_int_equal(symlinkat("target", dir, STALE), 0);
	transfer_temp_sweep(dir);
	assert_true(is_there(STALE));
	unlinkat(dir, STALE, 0);
	assert_int_equal(mkfifoat(dir, STALE, 0600), 0);
	transfer_temp_sweep(dir);
	assert_true(is_there(STALE));
	unlinkat(dir, STALE, 0);
	assert_int_equal(mkdirat(dir, STALE, 0700), 0);
	transfer_temp_sweep(dir);
	assert_true(is_there(STALE));
	unlinkat(dir, STALE, AT_REMOVEDIR);
	/* a second name: somebody keeps it */
	assert_int_equal(linkat(dir, "target", dir, STALE, 0), 0);
	transfer_temp_sweep(dir);
	assert_true(is_there(STALE));
	unlinkat(dir, STALE, 0);
	unlinkat(dir, "target", 0);
	if (geteuid() == 0) {
		put(STALE);
		assert_int_equal(fchownat(dir, STALE, 12345, 12345, 0), 0);
		transfer_temp_sweep(dir);
		assert_true(is_there(STALE));
		unlinkat(dir, STALE, 0);
	}
}

/* Somebody sweeps all the time: every file that is handed out stays until it is let go. */
static void a_sweeper_at_work_takes_none_in_use(void **state)
{
	char name[TRANSFER_TEMP_BYTES];
	int status;

	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			transfer_temp_sweep(dir);
	for (int i = 0; i < 3000; i++) {
		int fd = transfer_temp_open(dir, name, &slot, NULL);
		assert_true(fd >= 0);
		if (!is_there(name))
			fail_msg("%s was taken, at %d", name, i);
		unlinkat(dir, name, 0);
		close(fd);
		fatal_signal_forget_file(slot);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_folder_that_refuses_says_so(void **state)
{
	char name[TRANSFER_TEMP_BYTES];
	struct err err = { 0 };
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY);

	(void)state;
	if (proc < 0)
		skip();
	assert_int_equal(transfer_temp_open(proc, name, &slot, &err), -1);
	assert_non_null(strstr(err.msg, "cannot write in the target folder"));
	transfer_temp_sweep(proc);
	close(proc);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_in_use_stays),
		TEST(one_of_a_dead_process_goes),
		TEST(only_ours_goes),
		TEST(other_kinds_stay),
		TEST(a_sweeper_at_work_takes_none_in_use),
		TEST(a_folder_that_refuses_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
