// SPDX-License-Identifier: Apache-2.0
/* What the process that measures a sandbox counts, piece by piece and in this process. */
#include "tests/unit/unit.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "local/isolation/usage_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { MIB = 1 << 20, NOBODY = 65534 };

static void each_file_is_seen_once(void **state)
{
	enum { MANY = 3000 };
	struct isolation_seen seen = { 0 };
	(void)state;
	for (uint64_t i = 1; i <= MANY; i++) {
		assert_true(isolation_seen_add(&seen, 1, i));
		assert_true(isolation_seen_add(&seen, 2, i)); /* of another device */
	}
	assert_int_equal(seen.n, 2 * MANY);
	assert_true(seen.capacity >= 4 * MANY && seen.capacity <= 16 * MANY);
	for (uint64_t i = 1; i <= MANY; i++) {
		assert_false(isolation_seen_add(&seen, 1, i));
		assert_false(isolation_seen_add(&seen, 2, i));
	}
	assert_int_equal(seen.n, 2 * MANY);
	/* no inode, nothing to remember */
	assert_true(isolation_seen_add(&seen, 1, 0));
	assert_true(isolation_seen_add(&seen, 1, 0));
	assert_int_equal(seen.n, 2 * MANY);
	isolation_seen_deinit(&seen);
	assert_null(seen.slots);
	assert_int_equal(seen.n + seen.capacity, 0);
}

/* ---- the tree */

static char dir[] = "/tmp/usage-parts-XXXXXX";

static void put(const char *path, size_t n)
{
	char *bytes = calloc(1, n + 1);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	memset(bytes, 'x', n);
	assert_int_equal(write(fd, bytes, n), n);
	fsync(fd);
	close(fd);
	free(bytes);
}

static struct isolation_usage tree_of(const char *path, uint64_t max_inodes)
{
	struct isolation_usage usage = { 0 };
	struct isolation_seen seen = { 0 };
	struct stat st;
	const struct isolation_usage_where where = { .workspace = path,
		.max_inodes = max_inodes };
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	isolation_usage_tree(fd, st.st_dev, &where, &seen, &usage);
	close(fd);
	isolation_seen_deinit(&seen);
	return usage;
}

static uint64_t blocks_of(const char *const *paths, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		struct stat st;
		assert_int_equal(lstat(paths[i], &st), 0);
		sum += (uint64_t)st.st_blocks * 512;
	}
	return sum;
}

static void a_tree_is_counted_to_the_block(void **state)
{
	static const char *const counted[] = { "d", "d/e", "d/file", "once", "link", "d/e/f" };
	(void)state;
	assert_int_equal(chdir(dir), 0);
	mkdir("d", 0755);
	mkdir("d/e", 0755);
	put("d/file", 300000);
	put("once", 70000);
	put("d/e/f", 1);
	assert_int_equal(link("once", "twice"), 0);
	assert_int_equal(link("once", "d/thrice"), 0);
	assert_int_equal(symlink("/usr", "link"), 0);
	struct isolation_usage usage = tree_of(".", 0);
	assert_int_equal(usage.inodes, COUNT(counted));
	assert_int_equal(usage.bytes, blocks_of(counted, COUNT(counted)));
	assert_int_equal(usage.closed_folders, 0);
	assert_false(usage.is_cut || usage.is_too_deep);
	assert_false(tree_of(".", COUNT(counted)).is_cut);
	usage = tree_of(".", COUNT(counted) - 1);
	assert_true(usage.is_cut);
	assert_int_equal(usage.inodes, COUNT(counted));
	usage = tree_of(".", 2);
	assert_true(usage.is_cut);
	assert_int_equal(usage.inodes, 3);
}

/* In a process of its own: a status of 0 is fine, 77 cannot be tried here. */
static void in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static int look_at_closed(void)
{
	if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
		return 77;
	struct isolation_usage usage = tree_of("closed", 0);
	return usage.closed_folders == 2 && usage.inodes == 3 && !usage.is_too_deep ? 0 : 1;
}

static void folders_that_are_closed(void **state)
{
	(void)state;
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	mkdir("closed", 0755);
	chmod("closed", 0755);
	mkdir("closed/a", 0);
	mkdir("closed/b", 0);
	mkdir("closed/c", 0755);
	chmod("closed/c", 0755);
	in_child(look_at_closed);
}

static int look_with_few_files(void)
{
	enum { FILES = 60, SPARE = 32 };
	const struct rlimit few = { FILES, FILES };
	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return 77;
	struct isolation_usage usage = tree_of("deep", 0);
	/* as deep as there are descriptors for it, with some to spare */
	return usage.is_too_deep && usage.inodes == FILES - SPARE + 1 ? 0 : 1;
}

static void depth_is_bounded_by_descriptors(void **state)
{
	enum { DEPTH = 50 };
	(void)state;
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("deep", 0755), 0);
	assert_int_equal(chdir("deep"), 0);
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdir("d", 0755), 0);
		assert_int_equal(chdir("d"), 0);
	}
	assert_int_equal(chdir(dir), 0);
	struct isolation_usage usage = tree_of("deep", 0);
	assert_false(usage.is_too_deep);
	assert_int_equal(usage.inodes, DEPTH);
	in_child(look_with_few_files);
}

/* ---- processes */

static int go_pipe[2];

static pid_t start(int (*fn)(void))
{
	int ready[2];
	char byte;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int rc = fn();
		if (write(ready[1], "1", 1) != 1 || rc != 0)
			_exit(rc);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t grandchild;

static int have_a_child(void)
{
	prctl(PR_SET_NAME, "a) S 1 (b", 0, 0, 0); /* what a name can look like */
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return write(go_pipe[1], &pid, sizeof pid) == (ssize_t)sizeof pid ? 0 : 1;
}

static void all_that_descend_from_the_first(void **state)
{
	struct isolation_usage_procs procs;
	struct isolation_usage_where where = { .daemon = 0 };
	(void)state;
	isolation_usage_procs_find(&where, &procs);
	assert_int_equal(procs.n, 0);
	isolation_usage_procs_deinit(&procs);
	assert_int_equal(pipe2(go_pipe, O_CLOEXEC), 0);
	pid_t pid = start(have_a_child), other = start(have_a_child);
	assert_int_equal(read(go_pipe[0], &grandchild, sizeof grandchild), sizeof grandchild);
	where.daemon = pid;
	isolation_usage_procs_find(&where, &procs);
	assert_int_equal(procs.n, 2);
	assert_true(procs.pids[0] == pid || procs.pids[1] == pid);
	assert_true(procs.pids[0] == grandchild || procs.pids[1] == grandchild);
	isolation_usage_procs_deinit(&procs);
	where.daemon = getpid();
	isolation_usage_procs_find(&where, &procs);
	assert_int_equal(procs.n, 5);
	isolation_usage_procs_deinit(&procs);
	end(pid);
	end(other);
	close(go_pipe[0]);
	close(go_pipe[1]);
}

static int memory_fd = -1;

static int hold_much(void)
{
	static char zeros[MIB];
	enum { ANON = 20, SHARED = 12, HELD = 6 };
	char *anon = mmap(
		NULL, ANON * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared = mmap(
		NULL, SHARED * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (anon == MAP_FAILED || shared == MAP_FAILED)
		return 1;
	memset(anon, 1, ANON * MIB);
	memset(shared, 1, SHARED * MIB);
	memory_fd = memfd_create("held", 0);
	for (int i = 0; i < HELD; i++)
		if (write(memory_fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
			return 1;
	int deleted = open("deleted", O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 3; i++)
		if (write(deleted, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
			return 1;
	fsync(deleted);
	unlink("deleted");
	int empty = open("empty", O_RDWR | O_CREAT, 0600), kept = open("once", O_RDONLY);
	unlink("empty");
	return empty < 0 || kept < 0 || dup(deleted) < 0;
}

static void memory_of_a_process(void **state)
{
	struct isolation_usage_procs procs, plain;
	struct isolation_usage usage = { 0 };
	struct isolation_seen seen = { 0 };
	struct stat st;
	(void)state;
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(stat(".", &st), 0);
	pid_t pid = start(hold_much);
	const struct isolation_usage_where where = { .daemon = pid };
	isolation_usage_procs_find(&where, &procs);
	assert_int_equal(procs.n, 1);
	isolation_usage_memory(&procs, true);
	/* exact: what it shares with us counts in part */
	assert_in_range(procs.anon_bytes, 20 * MIB, 60 * MIB);
	assert_in_range(procs.shared_bytes, 12 * MIB, 14 * MIB);
	plain = procs;
	isolation_usage_memory(&plain, false);
	assert_true(plain.anon_bytes >= procs.anon_bytes);
	assert_in_range(plain.anon_bytes, 20 * MIB, 200 * MIB);
	assert_in_range(plain.shared_bytes, 12 * MIB, 14 * MIB);
	/* asked again it is not added */
	isolation_usage_memory(&plain, false);
	assert_in_range(plain.shared_bytes, 12 * MIB, 14 * MIB);
	isolation_usage_deleted(&where, st.st_dev, &procs, &seen, &usage);
	assert_in_range(usage.deleted_bytes, 3 * MIB, 3 * MIB + 65536);
	assert_int_equal(usage.bytes, usage.deleted_bytes);
	assert_int_equal(usage.inodes, 1);
	assert_in_range(procs.held_bytes, 6 * MIB, 6 * MIB + 65536);
	/* what was seen is not counted again */
	isolation_usage_deleted(&where, st.st_dev, &procs, &seen, &usage);
	assert_int_equal(usage.inodes, 1);
	end(pid);
	isolation_seen_deinit(&seen);
	isolation_usage_procs_deinit(&procs);
}

static void memory_of_the_machine(void **state)
{
	char line[200];
	uint64_t sum = 0, most = 0;
	(void)state;
	FILE *f = fopen("/proc/meminfo", "re");
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long long value = 0;
		if (sscanf(line, "MemAvailable: %llu", &value) == 1 ||
			sscanf(line, "SwapFree: %llu", &value) == 1)
			sum += value * 1024;
		if (sscanf(line, "MemTotal: %llu", &value) == 1 ||
			sscanf(line, "SwapTotal: %llu", &value) == 1)
			most += value * 1024;
	}
	fclose(f);
	uint64_t is = isolation_usage_available_memory();
	assert_true(is > 0 && is <= most);
	/* others come and go in between */
	assert_true(is > sum / 2 && is / 2 < sum);
}

/* With an IPC namespace of its own: others make segments too. */
static int look_at_segments(void)
{
	enum { SEGMENT = 4 * MIB };
	if (unshare(CLONE_NEWIPC) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0)
		return 77;
	if (isolation_usage_sysv_bytes() != 0)
		return 1;
	int id = shmget(IPC_PRIVATE, SEGMENT, IPC_CREAT | 0600);
	char *at = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
	if (at == (char *)-1)
		return 77;
	memset(at, 1, SEGMENT);
	if (isolation_usage_sysv_bytes() != SEGMENT)
		return 2;
	shmdt(at);
	shmctl(id, IPC_RMID, NULL);
	return isolation_usage_sysv_bytes() == 0 ? 0 : 3;
}

static void segments_of_system_v(void **state)
{
	(void)state;
	in_child(look_at_segments);
}

static int look_at_mounts(void)
{
	struct isolation_usage usage = { 0 };
	struct isolation_usage_where where = { .daemon = getpid(), .is_isolated = true };
	if (unshare(CLONE_NEWNS) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", "/run", "tmpfs", 0, "size=8m,nr_inodes=100") != 0 ||
		mount("none", "/tmp", "tmpfs", 0, "size=4m") != 0)
		return 77;
	put("/run/file", 2 * MIB);
	isolation_usage_mounts(&where, &usage);
	const struct isolation_usage_mount *run = &usage.mounts[USAGE_RUN],
					   *tmp = &usage.mounts[USAGE_TMP];
	if (run->size_bytes != 8 * MIB || run->used_bytes != 2 * MIB || run->inodes != 2)
		return 1;
	if (tmp->size_bytes != 4 * MIB || tmp->used_bytes != 0 || tmp->inodes != 1)
		return 2;
	/* held there, it is counted there */
	struct isolation_usage_procs procs = { 0 };
	struct isolation_seen seen = { 0 };
	int fd = open("/run/file", O_RDONLY | O_CLOEXEC);
	unlink("/run/file");
	isolation_usage_procs_find(&where, &procs);
	isolation_usage_deleted(&where, 0, &procs, &seen, &usage);
	if (fd < 0 || procs.held_bytes != 0 || usage.bytes != 0)
		return 3;
	/* with no mounts of its own it is memory like other */
	where.is_isolated = false;
	isolation_seen_deinit(&seen);
	isolation_usage_deleted(&where, 0, &procs, &seen, &usage);
	if (procs.held_bytes != 2 * MIB)
		return 4;
	usage = (struct isolation_usage){ 0 };
	isolation_usage_mounts(&where, &usage);
	where.is_isolated = true;
	where.daemon = 0;
	isolation_usage_mounts(&where, &usage);
	return usage.mounts[USAGE_RUN].size_bytes == 0 ? 0 : 5;
}

static void mounts_of_a_sandbox(void **state)
{
	(void)state;
	in_child(look_at_mounts);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_is_seen_once),
		cmocka_unit_test(a_tree_is_counted_to_the_block),
		cmocka_unit_test(folders_that_are_closed),
		cmocka_unit_test(depth_is_bounded_by_descriptors),
		cmocka_unit_test(all_that_descend_from_the_first),
		cmocka_unit_test(memory_of_a_process),
		cmocka_unit_test(memory_of_the_machine),
		cmocka_unit_test(segments_of_system_v),
		cmocka_unit_test(mounts_of_a_sandbox),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
