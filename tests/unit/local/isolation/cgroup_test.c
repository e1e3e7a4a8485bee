// SPDX-License-Identifier: Apache-2.0
/* Cgroups of this machine, where this process may make them: what is set, who is held, who was killed, and that nothing is
 * left. Skipped elsewhere. */
#include "tests/unit/unit.h"

#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char name[40]; /* another run may be under way */

static const struct isolation_spawn_limits limits = {
	.memory_bytes = 32 << 20, .pids = 9, .cpu_milli = 250
};

/* The text of a file of the group, "" if there is none. */
static const char *text_of(enum isolation_cgroup_controller controller, const char *file)
{
	static char text[100];
	size_t n = 0;
	const struct isolation_cgroup_place *place =
		&isolation_cgroup_places_own()->of[controller];
	char *path = x_asprintf("%s/%s/%s", place->dir ? place->dir : "/none", name, file);
	char *is = file_read(path, sizeof text - 1, &n, NULL);
	snprintf(text, sizeof text, "%s", is ? is : "");
	text[strcspn(text, "\n")] = '\0';
	free(is);
	free(path);
	return text;
}

static bool is_there(enum isolation_cgroup_controller controller)
{
	const struct isolation_cgroup_place *place =
		&isolation_cgroup_places_own()->of[controller];
	char *path = x_asprintf("%s/%s", place->dir ? place->dir : "/none", name);
	bool is = access(path, F_OK) == 0;
	free(path);
	return is;
}

#define CGROUP_OR_SKIP(cgroup)                                                                 \
	do {                                                                                   \
		(void)state;                                                                   \
		if ((cgroup) == NULL)                                                          \
			skip();                                                                \
	} while (0)

static void limits_are_set(void **state)
{
	struct isolation_cgroup *cgroup = isolation_cgroup_new(name, &limits);
	CGROUP_OR_SKIP(cgroup);
	static const struct {
		enum isolation_cgroup_controller controller;
		const char *v1, *v1_text, *v2, *v2_text;
	} rows[] = { { CGROUP_MEMORY, "memory.limit_in_bytes", "33554432", "memory.max",
			     "33554432" },
		{ CGROUP_PIDS, "pids.max", "9", "pids.max", "9" },
		{ CGROUP_CPU, "cpu.cfs_quota_us", "25000", "cpu.max", "25000 100000" },
		{ CGROUP_CPU, "cpu.cfs_period_us", "100000", "cpu.max", "25000 100000" } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool is_v2 = isolation_cgroup_places_own()->of[rows[i].controller].is_v2;
		if (!isolation_cgroup_has(cgroup, rows[i].controller))
			continue;
		assert_true(is_there(rows[i].controller));
		assert_string_equal(
			text_of(rows[i].controller, is_v2 ? rows[i].v2 : rows[i].v1),
			is_v2 ? rows[i].v2_text : rows[i].v1_text);
	}
	isolation_cgroup_free(cgroup);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++)
		assert_false(is_there((enum isolation_cgroup_controller)i));
}

/* Only what was asked for; a quota is never below what the kernel takes. */
static void each_limit_by_itself(void **state)
{
	static const struct isolation_spawn_limits each[] = { { .memory_bytes = 16 << 20 },
		{ .pids = 3 }, { .cpu_milli = 1 } };
	(void)state;
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		struct isolation_cgroup *cgroup = isolation_cgroup_new(name, &each[i]);
		if (cgroup == NULL)
			continue;
		for (int other = 0; other < CGROUP_CONTROLLER_COUNT; other++)
			assert_int_equal(isolation_cgroup_has(cgroup,
						 (enum isolation_cgroup_controller)other),
				other == i);
		if (i == CGROUP_CPU && !isolation_cgroup_places_own()->of[i].is_v2)
			assert_string_equal(text_of(CGROUP_CPU, "cpu.cfs_quota_us"), "1000");
		isolation_cgroup_free(cgroup);
	}
}

/* In a child that joins first: the group's limit is not for us. */
static int in_group(const struct isolation_cgroup *cgroup, int (*fn)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		isolation_cgroup_join(cgroup);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Takes memory and processor time, tells, and stays. */
static int told_pipe[2];
static int work(void)
{
	enum { BYTES = 8 << 20 };
	volatile char *memory = malloc(BYTES);
	struct timespec used = { 0 };
	for (size_t i = 0; memory && i < BYTES; i += 512)
		memory[i] = 1;
	while (used.tv_sec == 0 && used.tv_nsec < 100000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	if (write(told_pipe[1], "1", 1) == 1)
		pause();
	return 0;
}

static void what_it_uses(void **state)
{
	uint64_t bytes = 0, ns = 0;
	char byte;
	struct isolation_cgroup *cgroup = isolation_cgroup_new(name, &limits);
	CGROUP_OR_SKIP(cgroup);
	assert_int_equal(pipe2(told_pipe, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		isolation_cgroup_join(cgroup);
		_exit(work());
	}
	assert_int_equal(read(told_pipe[0], &byte, 1), 1);
	if (isolation_cgroup_has(cgroup, CGROUP_MEMORY)) {
		assert_true(isolation_cgroup_memory_bytes(cgroup, &bytes));
		assert_in_range(bytes, 8 << 20, 32 << 20);
	} else {
		assert_false(isolation_cgroup_memory_bytes(cgroup, &bytes));
	}
	/* v1 may count it in a hierarchy where we have no group */
	bool is_counted = isolation_cgroup_cpu_ns(cgroup, &ns);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (isolation_cgroup_places_own()->of[CGROUP_CPU].is_v2)
		assert_true(is_counted);
	if (is_counted)
		assert_in_range(ns, 20000000, UINT64_MAX); /* a quarter of a CPU is its limit */
	isolation_cgroup_free(cgroup);
	assert_false(isolation_cgroup_cpu_ns(NULL, &ns));
	assert_false(isolation_cgroup_memory_bytes(NULL, &bytes));
	close(told_pipe[0]);
	close(told_pipe[1]);
}

static int wait_to_be_killed(void)
{
	pause();
	return 0;
}

static void who_is_in_it(void **state)
{
	int status;
	struct isolation_cgroup *cgroup = isolation_cgroup_new(name, &limits);
	CGROUP_OR_SKIP(cgroup);
	pid_t pid = fork();
	if (pid == 0) {
		isolation_cgroup_join(cgroup);
		raise(SIGSTOP);
		_exit(wait_to_be_killed());
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		enum isolation_cgroup_controller controller =
			(enum isolation_cgroup_controller)i;
		bool has = isolation_cgroup_has(cgroup, controller);
		assert_int_equal(isolation_cgroup_holds(cgroup, controller, pid), has);
		assert_false(isolation_cgroup_holds(cgroup, controller, getpid()));
		assert_false(isolation_cgroup_holds(cgroup, controller, 1));
	}
	isolation_cgroup_kill(cgroup);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_false(isolation_cgroup_holds(cgroup, CGROUP_PIDS, pid));
	assert_int_equal(isolation_cgroup_oom_kills(cgroup), 0); /* that was we */
	isolation_cgroup_free(cgroup);
	assert_false(is_there(CGROUP_PIDS));
}

static int take_memory(void)
{
	enum { MUCH = 128 << 20 };
	char *bytes =
		mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return 1;
	memset(bytes, 1, MUCH);
	return 0;
}

static int take_processes(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return i;
		if (pid == 0)
			wait_to_be_killed();
	}
	return 20;
}

static void limits_hold(void **state)
{
	struct isolation_cgroup *cgroup = isolation_cgroup_new(name, &limits);
	CGROUP_OR_SKIP(cgroup);
	if (isolation_cgroup_has(cgroup, CGROUP_PIDS)) {
		int status = in_group(cgroup, take_processes);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), limits.pids - 1);
		isolation_cgroup_kill(cgroup);
	}
	if (isolation_cgroup_has(cgroup, CGROUP_MEMORY)) {
		assert_int_equal(isolation_cgroup_oom_kills(cgroup), 0);
		int status = in_group(cgroup, take_memory);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_int_equal(isolation_cgroup_oom_kills(cgroup), 1);
	}
	/* a sandbox of the same name begins at none */
	struct isolation_cgroup *next = isolation_cgroup_new(name, &limits);
	assert_non_null(next);
	assert_int_equal(isolation_cgroup_oom_kills(next), 0);
	isolation_cgroup_free(next);
	isolation_cgroup_free(cgroup);
	assert_false(is_there(CGROUP_MEMORY));
}

static void what_is_no_name(void **state)
{
	static const char *const names[] = { NULL, "", ".", "..", ".hidden", "a/b", "/a" };
	static const struct isolation_spawn_limits none = { 0 };
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_null(isolation_cgroup_new(names[i], &limits));
	assert_null(isolation_cgroup_new(name, &none));
	/* all of it is fine with none */
	isolation_cgroup_join(NULL);
	isolation_cgroup_kill(NULL);
	assert_int_equal(isolation_cgroup_oom_kills(NULL), 0);
	assert_false(isolation_cgroup_has(NULL, CGROUP_PIDS));
	assert_false(isolation_cgroup_holds(NULL, CGROUP_PIDS, getpid()));
	isolation_cgroup_free(NULL);
}

int main(void)
{
	snprintf(name, sizeof name, "cgroup-unit-test-%d", (int)getpid());
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_name),
		cmocka_unit_test(limits_are_set),
		cmocka_unit_test(each_limit_by_itself),
		cmocka_unit_test(who_is_in_it),
		cmocka_unit_test(what_it_uses),
		cmocka_unit_test(limits_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
