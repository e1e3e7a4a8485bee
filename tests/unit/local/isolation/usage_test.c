// SPDX-License-Identifier: Apache-2.0
/* What a look counts, and what it does not: real trees and processes. */
#include "local/isolation/usage.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "local/control/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1 << 20, NOBODY = 65534 };

struct test {
	char dir[64];
	int fd; /* of it */
	struct isolation_usage usage;
	bool is_over, has_failed;
};

static int set_up(void **state)
{
	struct test *t = x_calloc(1, sizeof *t);
	snprintf(t->dir, sizeof t->dir, "/tmp/usage-test-XXXXXX");
	*state = t;
	if (mkdtemp(t->dir) == NULL || chmod(t->dir, 0755) != 0)
		return 1;
	t->fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->fd < 0 || mkdirat(t->fd, "w", 0777) != 0 ||
	       fchmodat(t->fd, "w", 0777, 0) != 0;
}

static int tear_down(void **state)
{
	struct test *t = *state;
	close(t->fd);
	int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_gone = control_remove_tree(tmp, t->dir + strlen("/tmp/"), NULL);
	close(tmp);
	free(t);
	return is_gone ? 0 : 1;
}

static void on_usage(void *arg, const struct isolation_usage *usage, const struct err *err)
{
	struct test *t = arg;
	t->is_over = true;
	t->has_failed = err != NULL;
	if (usage != NULL)
		t->usage = *usage;
}

static void look_with(struct test *t, unsigned what, struct isolation_usage_where where)
{
	struct net_loop *loop = net_loop_new(NULL);
	char path[128];
	snprintf(path, sizeof path, "%s/w", t->dir);
	where.workspace = path;
	t->is_over = false;
	struct isolation_usage_look *look =
		isolation_usage_look_start(loop, &where, what, on_usage, t, NULL);
	int64_t end = clock_mono_ms() + 60000;
	while (look != NULL && !t->is_over && clock_mono_ms() < end)
		net_loop_run_once(loop, 100);
	net_loop_free(loop);
	if (!t->is_over || t->has_failed)
		fail_msg("the look did not end");
}

static void look(struct test *t)
{
	look_with(t, USAGE_TREE, (struct isolation_usage_where){ 0 });
}

static void fill(const struct test *t, const char *path, size_t bytes)
{
	static const char zeros[64 * KIB];
	int fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	for (size_t n = 0; n < bytes; n += sizeof zeros)
		assert_int_equal(write(fd, zeros, sizeof zeros), sizeof zeros);
	fsync(fd);
	close(fd);
}

static void assert_about(uint64_t value, uint64_t expected)
{
	if (value < expected || value > expected + 256 * KIB)
		fail_msg("%llu is not about %llu", (unsigned long long)value,
			(unsigned long long)expected);
}

static void counts_blocks_and_inodes(void **state)
{
	struct test *t = *state;
	look(t);
	assert_int_equal(t->usage.bytes + t->usage.inodes, 0);
	mkdirat(t->fd, "w/a", 0755);
	fill(t, "w/a/file", MIB);
	for (int i = 0; i < 5; i++) {
		char link[16];
		snprintf(link, sizeof link, "w/link%d", i);
		assert_int_equal(linkat(t->fd, "w/a/file", t->fd, link, 0), 0);
	}
	int fd = openat(t->fd, "w/sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate(fd, (off_t)512 * MIB), 0);
	close(fd);
	/* what links lead to is not in it */
	fill(t, "outside", 4 * MIB);
	assert_int_equal(symlinkat("../outside", t->fd, "w/out"), 0);
	assert_int_equal(symlinkat("..", t->fd, "w/up"), 0);
	assert_int_equal(mkfifoat(t->fd, "w/fifo", 0644), 0);
	look(t);
	assert_int_equal(t->usage.inodes, 6); /* a, file, sparse, out, up, fifo */
	assert_about(t->usage.bytes, MIB);
	assert_false(t->usage.is_cut);
}

static void stops_above_the_limit(void **state)
{
	struct test *t = *state;
	for (int i = 0; i < 50; i++) {
		char name[16];
		snprintf(name, sizeof name, "w/f%d", i);
		fill(t, name, 0);
	}
	look_with(t, USAGE_TREE, (struct isolation_usage_where){ .max_inodes = 50 });
	assert_false(t->usage.is_cut);
	look_with(t, USAGE_TREE, (struct isolation_usage_where){ .max_inodes = 49 });
	assert_true(t->usage.is_cut);
	assert_int_equal(t->usage.inodes, 50);
}

static void says_what_is_too_deep(void **state)
{
	struct test *t = *state;
	int fd = openat(t->fd, "w", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < USAGE_MAX_DEPTH + 50; i++) {
		assert_int_equal(mkdirat(fd, "d", 0755), 0);
		int below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = below;
		if (i == USAGE_MAX_DEPTH / 2) {
			look(t);
			assert_false(t->usage.is_too_deep);
		}
	}
	close(fd);
	look(t);
	assert_true(t->usage.is_too_deep);
	assert_true(t->usage.inodes >= USAGE_MAX_DEPTH);
}

/* In a child: it may change who it is, or its mounts. Its status tells. */
static void in_child(struct test *t, int (*fn)(struct test *t))
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(fn(t));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static int check_device(struct test *t)
{
	char path[128];
	snprintf(path, sizeof path, "%s/w/mount", t->dir);
	if (unshare(CLONE_NEWNS) != 0 || mkdir(path, 0755) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", path, "tmpfs", 0, "size=8m") != 0)
		return 77;
	fill(t, "w/mount/file", 2 * MIB);
	fill(t, "w/file", MIB);
	look(t);
	return t->usage.bytes >= MIB && t->usage.bytes < 2 * MIB && t->usage.inodes == 1 ? 0
											 : 1;
}

static void other_devices_do_not_count(void **state)
{
	in_child(*state, check_device);
}

static int check_closed(struct test *t)
{
	if (geteuid() == 0 &&
		(setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
			setresuid(NOBODY, NOBODY, NOBODY) != 0 ||
			prctl(PR_SET_DUMPABLE, 1) != 0)) /* as if it had been started so */
		return 77;
	mkdirat(t->fd, "w/closed", 0755);
	mkdirat(t->fd, "w/closed/in", 0755);
	fill(t, "w/closed/in/file", MIB);
	if (fchmodat(t->fd, "w/closed/in", 0, 0) != 0 || fchmodat(t->fd, "w/closed", 0, 0) != 0)
		return 2;
	/* the control: this user does not see it */
	if (openat(t->fd, "w/closed", O_RDONLY | O_DIRECTORY) >= 0 || errno != EACCES)
		return 3;
	look(t);
	if (t->usage.closed_folders > 0)
		return unshare(CLONE_NEWUSER) != 0 ? 77 : 4; /* no user namespaces here */
	return t->usage.bytes >= MIB && t->usage.inodes == 3 ? 0 : 5;
}

static void closed_folders_count(void **state)
{
	in_child(*state, check_closed);
}

static void swap_for_ever(const struct test *t)
{
	for (;;) {
		renameat(t->fd, "w/swap", t->fd, "w/tmp");
		renameat(t->fd, "w/link", t->fd, "w/swap");
		renameat(t->fd, "w/swap", t->fd, "w/link");
		renameat(t->fd, "w/tmp", t->fd, "w/swap");
		renameat(t->fd, "w/deep", t->fd, "w/swap/deep");
		renameat(t->fd, "w/swap/deep", t->fd, "w/deep");
	}
}

static void a_tree_that_changes_leads_nowhere(void **state)
{
	struct test *t = *state;
	mkdirat(t->fd, "outside", 0755);
	fill(t, "outside/file", 8 * MIB);
	mkdirat(t->fd, "w/swap", 0755);
	mkdirat(t->fd, "w/deep", 0755);
	mkdirat(t->fd, "w/deep/deeper", 0755);
	fill(t, "w/deep/deeper/file", 64 * KIB);
	fill(t, "w/swap/file", 64 * KIB);
	assert_int_equal(symlinkat("../outside", t->fd, "w/link"), 0);
	pid_t pid = fork();
	if (pid == 0)
		swap_for_ever(t);
	for (int i = 0; i < 15; i++) {
		t->usage = (struct isolation_usage){ 0 };
		look(t);
		assert_true(t->usage.bytes < 4 * MIB);
		assert_true(t->usage.inodes < 20);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t start(const struct test *t, const char *script)
{
	int fds[2];
	char byte;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		dup2(fds[1], 1);
		if (fchdir(t->fd) == 0)
			execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1); /* it is where it should be */
	close(fds[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void deleted_files_count_while_they_are_open(void **state)
{
	struct test *t = *state;
	pid_t pid = start(
		t, "exec 3>w/x; rm w/x; head -c 4194304 /dev/zero >&3; echo; exec sleep 600");
	look(t); /* the control: the tree alone does not show it */
	assert_int_equal(t->usage.bytes, 0);
	look_with(t, USAGE_TREE, (struct isolation_usage_where){ .daemon = pid });
	end(pid);
	assert_about(t->usage.deleted_bytes, 4 * MIB);
	assert_int_equal(t->usage.bytes, t->usage.deleted_bytes);
}

static void memory_of_all_that_descend(void **state)
{
	struct test *t = *state;
	pid_t pid = start(t,
		"(head -c 16777216 /dev/zero; sleep 600) | (tail -c 16777216) & "
		"until [ \"$(cut -d ' ' -f 2 /proc/$!/statm)\" -gt 3500 ]; do sleep 0.05; done; "
		"echo; wait");
	look_with(t, USAGE_MEMORY, (struct isolation_usage_where){ .daemon = pid });
	uint64_t exact = t->usage.memory_bytes;
	assert_true(t->usage.processes >= 3); /* a shell, sleep, tail */
	look_with(t, USAGE_MEMORY,
		(struct isolation_usage_where){
			.daemon = pid, .max_memory_bytes = UINT64_MAX });
	uint64_t bound = t->usage.memory_bytes;
	look_with(t, USAGE_MEMORY, (struct isolation_usage_where){ .daemon = getpid() });
	assert_true(t->usage.processes >= 4);
	end(pid);
	assert_true(exact >= 13 * MIB && exact < 64 * MIB);
	assert_true(bound >= exact);
}

/* Its own time, and that of a child that is not there any more. */
static void processor_time_with_those_that_ended(void **state)
{
	struct test *t = *state;
	pid_t pid = start(t, "echo; exec sleep 600");
	look_with(t, USAGE_MEMORY, (struct isolation_usage_where){ .daemon = pid });
	uint64_t idle = t->usage.cpu_ns;
	assert_true(t->usage.began_ms > 0 && t->usage.began_ms <= clock_mono_ms());
	end(pid);
	pid = start(t,
		"sh -c 'while [ \"$(cut -d\" \" -f14 /proc/$$/stat)\" -lt 20 ]; do :; done'; "
		"echo; while :; do sleep 600; done");
	look_with(t, USAGE_MEMORY, (struct isolation_usage_where){ .daemon = pid });
	end(pid);
	assert_true(idle < 100000000);
	assert_true(t->usage.cpu_ns >= 200000000);
}

/* The only child of this process. */
static pid_t child_of_ours(void)
{
	char path[64], text[64] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

static long number_of(pid_t pid, const char *file, int word)
{
	char path[64], text[1000] = "", *save = NULL;
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	/* after the name, which may hold anything */
	char *from = n > 0 && strrchr(text, ')') ? strrchr(text, ')') + 1 : text;
	for (char *w = strtok_r(from, " \n", &save); w != NULL;
		w = strtok_r(NULL, " \n", &save))
		if (word-- == 0)
			return strtol(w, NULL, 10);
	return -1000;
}

/* It stands back behind everybody, and holds nothing of ours. */
static void assert_humble(pid_t child, int held)
{
	char path[64], target[200];
	int64_t end = clock_mono_ms() + 10000;
	while (number_of(child, "oom_score_adj", 0) != 500 && clock_mono_ms() < end)
		usleep(1000);
	assert_int_equal(number_of(child, "oom_score_adj", 0), 500);
	assert_int_equal(number_of(child, "stat", 16), 10); /* nice */
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)child, held);
	ssize_t n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	assert_null(strstr(target, "kept-by-the-test"));
	snprintf(path, sizeof path, "/proc/%d/fd/0", (int)child);
	n = readlink(path, target, sizeof target - 1);
	assert_true(n > 5 && memcmp(target, "pipe:", 5) == 0);
}

static void on_failure(void *arg, const struct isolation_usage *usage, const struct err *err)
{
	struct test *t = arg;
	assert_null(usage);
	t->is_over = t->has_failed = true;
	assert_int_equal(err->code, ERR_SYSTEM);
	assert_string_equal(err->msg, "the process that measures a sandbox was stopped");
}

static void a_look_that_is_stopped_says_so(void **state)
{
	struct test *t = *state;
	struct net_loop *loop = net_loop_new(NULL);
	const struct isolation_usage_where where = { .workspace = "/" }; /* it takes a while */
	int held = openat(t->fd, "kept-by-the-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct isolation_usage_look *one =
		isolation_usage_look_start(loop, &where, USAGE_TREE, on_failure, t, NULL);
	assert_non_null(one);
	pid_t child = child_of_ours();
	if (child <= 0) {
		close(held);
		isolation_usage_look_cancel(one);
		net_loop_run_once(loop, 50);
		net_loop_free(loop);
		skip(); /* this kernel does not tell */
	}
	assert_humble(child, held);
	assert_int_equal(kill(child, SIGKILL), 0);
	close(held);
	int64_t end = clock_mono_ms() + 10000;
	while (!t->is_over && clock_mono_ms() < end)
		net_loop_run_once(loop, 50);
	net_loop_free(loop);
	assert_true(t->is_over && t->has_failed);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void cancel_leaves_nothing(void **state)
{
	struct test *t = *state;
	struct net_loop *loop = net_loop_new(NULL);
	const struct isolation_usage_where where = { .workspace = t->dir };
	struct isolation_usage_look *one =
		isolation_usage_look_start(loop, &where, USAGE_TREE, on_usage, t, NULL);
	assert_non_null(one);
	isolation_usage_look_cancel(one);
	isolation_usage_look_cancel(NULL);
	net_loop_run_once(loop, 50);
	net_loop_free(loop);
	assert_false(t->is_over);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_blocks_and_inodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stops_above_the_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_what_is_too_deep, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_devices_do_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(closed_folders_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_tree_that_changes_leads_nowhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			deleted_files_count_while_they_are_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_of_all_that_descend, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			processor_time_with_those_that_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_look_that_is_stopped_says_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cancel_leaves_nothing, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
